"""Which files are shards; index and shards must agree; names stay inside the directory."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from engine.checkpoint import open_checkpoint
from engine.checkpoint.files import INDEX, find_files
from engine.checkpoint.synthetic import write_synthetic
from engine.checkpoint.synthetic.presets_8b import tiny_8b
from engine.choice import choose
from engine.errors import CheckpointError
from engine.protocol import Load

EditJson = Callable[[Path, Callable[[dict[str, Any]], object]], None]
EditShard = Callable[[Path, Callable[[dict[str, Any]], object]], None]

SECOND = "model-00002-of-00003.safetensors"


def test_shards_adapters_and_heads_are_told_apart(tiny_copy: Path) -> None:
    (tiny_copy / "model-00009-of-00009.safetensors.part").write_bytes(b"half")
    (tiny_copy / "adapters").mkdir()
    (tiny_copy / "lora_edge0_synthetic.safetensors").rename(tiny_copy / "adapters" / "lora_mine.safetensors")
    for indexed in (True, False):
        files = find_files(tiny_copy)
        assert [path.name for path in files.shards] == [f"model-0000{i}-of-00003.safetensors" for i in (1, 2, 3)]
        assert [path.name for path in files.adapters] == ["lora_mine.safetensors"]
        assert [path.name for path in files.heads] == ["prerouter_edge0_synthetic.safetensors"]
        assert (files.index is not None) == indexed
        assert len(open_checkpoint(tiny_copy).tensors) == len(open_checkpoint(tiny_copy, repo="a/b").tensors)
        (tiny_copy / INDEX).unlink(missing_ok=True)


def test_names_in_capitals_are_adapters_and_heads_all_the_same(tiny_copy: Path) -> None:
    """Taken for weights they would make the checkpoint damaged, passed over the person would miss them."""
    (tiny_copy / "lora_edge0_synthetic.safetensors").rename(tiny_copy / "LORA_Mine.SAFETENSORS")
    (tiny_copy / "prerouter_edge0_synthetic.safetensors").rename(tiny_copy / "PreRouter_Mine.safetensors")
    (tiny_copy / INDEX).unlink()
    for path in sorted(tiny_copy.glob("model-*.safetensors")):  # the weights under names that are not model*
        path.rename(tiny_copy / f"x{path.name}")
    chosen = choose(Load("x", str(tiny_copy)))
    assert [path.name for path in chosen.checkpoint.files.shards] == [
        f"xmodel-0000{i}-of-00003.safetensors" for i in (1, 2, 3)
    ]
    assert chosen.adapter and chosen.adapter.name == "LORA_Mine" and chosen.routing == "predicted"
    assert choose(Load("x", str(tiny_copy), adapter="LORA_Mine")).adapter is not None


def write_other_heads(path: Path) -> None:
    """Heads for a model of other dimensions: 32 experts, 96 features."""
    shapes = {"fc1": [8, 96], "fc2": [32, 8], "linear_init": [32, 96]}
    header: dict[str, object] = {}
    end = 0
    for piece, shape in shapes.items():
        begin, end = end, end + 2 * shape[0] * shape[1]
        header[f"layers.2.{piece}.weight"] = {"dtype": "F16", "shape": shape, "data_offsets": [begin, end]}
    text = json.dumps(header).encode()
    path.write_bytes(len(text).to_bytes(8, "little") + text + bytes(end))


def test_heads_are_chosen_by_fit_and_two_that_fit_are_refused(tiny_copy: Path) -> None:
    heads = "prerouter_edge0_synthetic.safetensors"
    write_other_heads(tiny_copy / "prerouter_a_other_tier.safetensors")
    chosen = choose(Load("x", str(tiny_copy)))
    assert chosen.heads and chosen.heads.path.name == heads and chosen.routing == "predicted"
    (tiny_copy / "adapters").mkdir()
    shutil.copy(tiny_copy / heads, tiny_copy / "adapters" / "prerouter_a.safetensors")
    chosen = choose(Load("x", str(tiny_copy)))
    assert chosen.heads and chosen.heads.path == tiny_copy / heads, "those beside the weights come first"
    shutil.copy(tiny_copy / heads, tiny_copy / "prerouter_second.safetensors")
    with pytest.raises(CheckpointError, match=f"2 files of prerouter heads that fit: {heads}, prerouter_second"):
        choose(Load("x", str(tiny_copy)))
    (tiny_copy / "prerouter_second.safetensors").unlink()
    (tiny_copy / heads).unlink()
    (tiny_copy / "adapters" / "prerouter_a.safetensors").unlink()
    with pytest.raises(CheckpointError, match=r"prerouter_a_other_tier.* does not belong to"):
        choose(Load("x", str(tiny_copy)))


def test_the_default_adapter_is_one_that_fits(tiny_copy: Path, tmp_path: Path) -> None:
    foreign = write_synthetic(tmp_path / "other", tiny_8b(), seed=0)
    shutil.copy(next(foreign.glob("lora_*")), tiny_copy / "lora_a_other_tier.safetensors")
    chosen = choose(Load("x", str(tiny_copy)))
    assert chosen.adapter and chosen.adapter.name == "lora_edge0_synthetic"
    with pytest.raises(CheckpointError, match=r"lora_a_other_tier.* does not belong to"):
        choose(Load("x", str(tiny_copy), adapter="lora_a_other_tier"))
    (tiny_copy / "lora_edge0_synthetic.safetensors").unlink()
    with pytest.raises(CheckpointError, match=r"lora_a_other_tier.* does not belong to"):
        choose(Load("x", str(tiny_copy)))


def test_missing_shard_is_named(tiny_copy: Path) -> None:
    (tiny_copy / SECOND).rename(tiny_copy / f"{SECOND}.part")
    for _ in range(2):
        with pytest.raises(CheckpointError, match=rf"{SECOND}: is missing: its download was not finished"):
            open_checkpoint(tiny_copy)
        (tiny_copy / INDEX).unlink(missing_ok=True)


def test_truncated_shard_is_named(tiny_copy: Path) -> None:
    shard = tiny_copy / SECOND
    shard.write_bytes(shard.read_bytes()[:-1000])
    with pytest.raises(CheckpointError, match=rf"{SECOND}: tensor '.*switch_mlp.*': the file is truncated"):
        open_checkpoint(tiny_copy)


def test_stale_total_size_is_not_trusted(tiny_copy: Path, edit_json: EditJson) -> None:
    edit_json(tiny_copy / INDEX, lambda index: index["metadata"].update(total_size=1))
    assert open_checkpoint(tiny_copy).expert_bytes == 8 * 16 * 13824


@pytest.mark.parametrize(
    "name",
    ["../secret.safetensors", "/etc/x.safetensors", "a\\b.safetensors", "c:x.safetensors", "..", "x.bin", 7, ""],
)
def test_index_cannot_leave_the_directory(name: object, tiny_copy: Path, edit_json: EditJson) -> None:
    (tiny_copy.parent / "secret.safetensors").write_bytes(b"")
    edit_json(tiny_copy / INDEX, lambda index: index["weight_map"].update({"norm.weight": name}))
    with pytest.raises(
        CheckpointError, match=r"index\.json: tensor 'norm\.weight': names the file .* not a plain file"
    ):
        open_checkpoint(tiny_copy)


def test_index_and_shards_must_agree(tiny_copy: Path, edit_json: EditJson) -> None:
    name = "language_model.model.norm.weight"
    edit_json(tiny_copy / INDEX, lambda index: index["weight_map"].update({name: SECOND}))
    with pytest.raises(CheckpointError, match=rf"'{name}': says '{SECOND}', but it is in model-00003"):
        open_checkpoint(tiny_copy)
    edit_json(tiny_copy / INDEX, lambda index: index["weight_map"].pop(name))
    with pytest.raises(CheckpointError, match=rf"'{name}': says 'no file'"):
        open_checkpoint(tiny_copy)


def test_index_listing_what_no_shard_holds(tiny_copy: Path, edit_json: EditJson) -> None:
    edit_json(tiny_copy / INDEX, lambda index: index["weight_map"].update({"vision_tower.x": SECOND}))
    assert open_checkpoint(tiny_copy).tier == "custom"  # vision leftovers are no concern
    edit_json(tiny_copy / INDEX, lambda index: index["weight_map"].update({"model.more": SECOND}))
    with pytest.raises(CheckpointError, match=rf"{SECOND}: tensor 'model.more': is missing, although the index"):
        open_checkpoint(tiny_copy)


def test_one_tensor_in_two_shards(tiny_copy: Path, edit_shard: EditShard) -> None:
    (tiny_copy / INDEX).unlink()
    name = "language_model.model.norm.weight"
    edit_shard(tiny_copy / SECOND, lambda tensors: tensors.update({name: ("BF16", [1], b"\0\0")}))
    with pytest.raises(CheckpointError, match=rf"tensor '{name}': is also in {SECOND}"):
        open_checkpoint(tiny_copy)


def test_one_weight_under_two_names(single_copy: Path, edit_shard: EditShard) -> None:
    edit_shard(
        single_copy / "model.safetensors", lambda tensors: tensors.update({"model.norm.weight": ("U8", [0], b"")})
    )
    with pytest.raises(
        CheckpointError, match=r"'model\.norm\.weight': is the same weight as language_model\.model\.norm"
    ):
        open_checkpoint(single_copy)


def test_directories_without_weights(tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match="no such checkpoint directory"):
        find_files(tmp_path / "absent")
    (tmp_path / "lora_x.safetensors").write_bytes(b"")
    with pytest.raises(CheckpointError, match="holds no weights, no "):
        find_files(tmp_path)
    (tmp_path / "model.safetensors.part").write_bytes(b"")
    with pytest.raises(CheckpointError, match=r"only the unfinished model\.safetensors\.part"):
        find_files(tmp_path)


def test_hub_cache_of_links(tiny_path: Path, tmp_path: Path) -> None:
    commit = "1ff9f4478890faec0368c5463b621d1036d5b518"
    snapshot = tmp_path / "models--Edge0--Tiny--x" / "snapshots" / commit
    snapshot.mkdir(parents=True)
    for file in tiny_path.iterdir():
        (snapshot / file.name).symlink_to(file)
    checkpoint = open_checkpoint(snapshot)
    assert (checkpoint.name, checkpoint.revision) == ("Edge0/Tiny--x", commit)


def test_hub_download_to_a_folder(tiny_copy: Path) -> None:
    sidecar = tiny_copy / ".cache" / "huggingface" / "download" / "config.json.metadata"
    sidecar.parent.mkdir(parents=True)
    sidecar.write_text("3fe15cbf2bd5bbcdfd611035e1ac88971ff1cdab\netag\n1.0\n")
    assert open_checkpoint(tiny_copy).revision == "3fe15cbf2bd5bbcdfd611035e1ac88971ff1cdab"
    sidecar.write_text("main\n")
    assert open_checkpoint(tiny_copy).revision == ""
