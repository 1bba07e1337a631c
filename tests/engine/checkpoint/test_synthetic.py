"""The writer: same bytes for the same seed, all or nothing, every variation of the format readable."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from engine.checkpoint import from_bfloat16, open_checkpoint, read_header, read_tensor, to_bfloat16
from engine.checkpoint.synthetic import SyntheticSpec, sliced, tiny, write, write_synthetic
from engine.checkpoint.synthetic.__main__ import main
from engine.checkpoint.synthetic.spec import PREFIXES
from engine.checkpoint.synthetic.words import TILE_BYTES, Randomness
from engine.errors import PlanError, UsageError


def contents(directory: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in directory.iterdir()}


def test_same_seed_same_bytes(tiny_path: Path, tmp_path: Path) -> None:
    assert contents(write_synthetic(tmp_path / "again", tiny(), seed=0)) == contents(tiny_path)
    other = contents(write_synthetic(tmp_path / "other", tiny(), seed=1))
    assert other["model-00001-of-00003.safetensors"] != contents(tiny_path)["model-00001-of-00003.safetensors"]
    assert other["config.json"] == contents(tiny_path)["config.json"]


def test_offsets_are_odd_but_in_the_first_shard(tiny_path: Path) -> None:
    headers = [read_header(path) for path in open_checkpoint(tiny_path).files.shards]
    assert [header.data_start % 2 for header in headers] == [0, 1, 1]
    assert headers[0].data_start % 8 == 0
    assert all(info.offset % 2 for header in headers[1:] for info in header.tensors.values())


@pytest.mark.parametrize("prefix", PREFIXES)
@pytest.mark.parametrize("raw_layout", [False, True])
def test_prefixes_and_layouts_are_one_model(prefix: str, raw_layout: bool, tiny_path: Path, tmp_path: Path) -> None:
    spec = replace(tiny(), prefix=prefix, raw_layout=raw_layout, shards=1)
    checkpoint, plain = open_checkpoint(write_synthetic(tmp_path / "x", spec)), open_checkpoint(tiny_path)
    assert checkpoint.raw_layout == raw_layout
    assert list(checkpoint.tensors) == list(plain.tensors)
    for name in ("layers.3.input_layernorm.weight", "norm.weight", "layers.3.self_attn.k_norm.weight"):
        stored = from_bfloat16(read_tensor(checkpoint.tensors[name])) + (1 if raw_layout else 0)
        np.testing.assert_array_equal(to_bfloat16(stored), read_tensor(plain.tensors[name]))
    for name in ("layers.0.linear_attn.norm.weight", "lm_head.weight", "layers.0.linear_attn.A_log"):
        np.testing.assert_array_equal(read_tensor(checkpoint.tensors[name]), read_tensor(plain.tensors[name]))
    conv = read_tensor(checkpoint.tensors["layers.0.linear_attn.conv1d.weight"])
    assert conv.shape == ((256, 1, 4) if raw_layout else (256, 4, 1))
    np.testing.assert_array_equal(
        conv.reshape(256, 4), read_tensor(plain.tensors["layers.0.linear_attn.conv1d.weight"]).reshape(256, 4)
    )


def test_quantised_values_are_centred_with_unit_gain(tiny_path: Path) -> None:
    checkpoint = open_checkpoint(tiny_path)
    for module, bits, gain in (("layers.0.linear_attn.in_proj_qkv", 4, 1.0), ("layers.1.mlp.gate", 8, 2.0)):
        words = read_tensor(checkpoint.tensors[f"{module}.weight"])
        q = words[..., None] >> np.arange(0, 32, bits, dtype=np.uint32) & np.uint32(2**bits - 1)
        q = q.reshape(words.shape[0], -1, 64).astype(np.float32)
        scales = from_bfloat16(read_tensor(checkpoint.tensors[f"{module}.scales"]))[..., None]
        biases = from_bfloat16(read_tensor(checkpoint.tensors[f"{module}.biases"]))[..., None]
        w = (q * scales + biases).reshape(words.shape[0], -1)
        assert abs(float(w.mean())) < 0.05 * float(w.std())
        assert float(w.std()) * w.shape[1] ** 0.5 == pytest.approx(gain, rel=0.1)


def test_optional_files_and_flat_config(tmp_path: Path) -> None:
    spec = replace(tiny(), lora_rank=0, owners=(), shards=1, flat_config=True)
    checkpoint = open_checkpoint(write_synthetic(tmp_path / "x", spec))
    assert checkpoint.files.adapters == checkpoint.files.heads == () and checkpoint.files.index is None
    assert checkpoint.config == tiny().model


def test_slice_keeps_the_real_dimensions() -> None:
    spec = sliced(4)
    assert spec.model.hidden_size == 2048 and spec.model.num_experts == 256
    assert spec.model.consumers(spec.owners) == (2,)
    assert write.total_bytes(spec) < 2_000_000_000
    assert spec.special_base + 26 <= spec.model.vocab_size == 4096


def test_an_existing_directory_is_left_alone(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="exists already"):
        write_synthetic(tmp_path, tiny())
    assert list(tmp_path.iterdir()) == []


def test_too_little_room_is_said_before_the_first_byte(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda path: SimpleNamespace(free=1_000_000))
    with pytest.raises(PlanError, match=r"0\.0 GB to write, 0\.0 GB free"):
        write_synthetic(tmp_path / "x", tiny())
    assert list(tmp_path.iterdir()) == []


def test_an_interrupted_write_leaves_nothing(tmp_path: Path) -> None:
    def stop(done: int, total: int) -> None:
        assert [path.name[:3] for path in tmp_path.iterdir()] == [".x."]
        if done > total // 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_synthetic(tmp_path / "x", tiny(), progress=stop)
    assert list(tmp_path.iterdir()) == []


def test_wrong_amount_of_content_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def short(*_: object) -> Iterator[np.ndarray]:
        yield np.zeros(1, np.uint8)

    monkeypatch.setattr(write, "tensor_bytes", short)
    with pytest.raises(ValueError, match="1 bytes made, 32768 promised"):
        write_synthetic(tmp_path / "x", tiny())
    assert list(tmp_path.iterdir()) == []


def test_big_tensors_are_cut_from_a_tile_of_random_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pieces wrap around the tile's end; two names start at different places; no repetition inside a tensor."""
    monkeypatch.setattr("engine.checkpoint.synthetic.words.TILE_BYTES", 1009)
    monkeypatch.setattr("engine.checkpoint.synthetic.words.DRAWN_BYTES", 100)
    monkeypatch.setattr("engine.checkpoint.synthetic.words.CHUNK_BYTES", 64)
    random = Randomness(3)
    tile = random.generator("tile").bytes(1009)
    made = {name: b"".join(piece.tobytes() for piece in random.chunks(name, 1000)) for name in ("a", "b")}
    assert all(len(data) == 1000 and data in tile * 2 for data in made.values()) and made["a"] != made["b"]
    assert TILE_BYTES > 256 * 512 * 256 * 4


def test_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["tiny", str(tmp_path / "x"), "--seed", "5"]) == 0
    assert open_checkpoint(tmp_path / "x").experts_per_token == 4
    assert main(["tiny", str(tmp_path / "x")]) == 2
    out, err = capsys.readouterr()
    assert out == "" and "written in" in err and "exists already" in err


def test_spec_needs_room_for_control_tokens(tmp_path: Path) -> None:
    spec: SyntheticSpec = replace(tiny(), special_base=100)
    with pytest.raises(ValueError, match="control tokens must start at"):
        write_synthetic(tmp_path / "x", spec)
