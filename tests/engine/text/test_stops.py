"""Stop ids come from everywhere they may be named."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.errors import CheckpointError
from engine.text.stops import stop_ids
from engine.text.tokenizer import Tokenizer
from tests.engine.text.builders import CHATML_CONTROL, ROLE_CONTROL, byte_level, write_json

CHATML = Tokenizer(byte_level(CHATML_CONTROL))
ROLE = Tokenizer(byte_level(ROLE_CONTROL))


def _names(ids: frozenset[int], tokenizer: Tokenizer) -> set[str | None]:
    return {tokenizer.token_of(i) for i in ids}


def test_known_names_count_without_any_config(tmp_path: Path) -> None:
    assert _names(stop_ids(tmp_path, CHATML), CHATML) == {"<|im_end|>", "<|endoftext|>"}
    assert _names(stop_ids(tmp_path, ROLE), ROLE) == {"<|role_end|>", "<|endoftext|>"}


@pytest.mark.parametrize(
    ("file", "body"),
    [
        ("generation_config.json", {"eos_token_id": [7, 9]}),
        ("generation_config.json", {"eos_token_id": 7}),
        ("config.json", {"eos_token_id": 7}),
        ("config.json", {"text_config": {"eos_token_id": [7]}}),
        ("tokenizer_config.json", {"eos_token": "ć"}),
        ("tokenizer_config.json", {"eos_token": {"content": "ć", "special": True}}),
    ],
)
def test_every_place_is_read(tmp_path: Path, file: str, body: object) -> None:
    write_json(tmp_path / file, body)
    assert CHATML.token_of(7) == "ć"
    assert stop_ids(tmp_path, CHATML) > stop_ids(tmp_path / "none", CHATML)
    assert 7 in stop_ids(tmp_path, CHATML)


@pytest.mark.parametrize("eos", [None, True, "x", -1, 10**12, 100_000, {"a": 1}, [None, [3]]])
def test_nonsense_is_no_stop_id(tmp_path: Path, eos: object) -> None:
    write_json(tmp_path / "config.json", {"eos_token_id": eos, "text_config": []})
    assert stop_ids(tmp_path, CHATML) == stop_ids(tmp_path / "none", CHATML)


def test_a_damaged_config_is_named(tmp_path: Path) -> None:
    (tmp_path / "generation_config.json").write_text('{"eos_token_id": [7')
    with pytest.raises(CheckpointError, match=r"generation_config\.json is damaged"):
        stop_ids(tmp_path, CHATML)


def test_a_config_that_is_no_object_is_named(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text("[" * 100_000)
    with pytest.raises(CheckpointError, match=r"config\.json is damaged"):
        stop_ids(tmp_path, CHATML)
    (tmp_path / "config.json").write_text("[]")
    with pytest.raises(CheckpointError, match="a JSON object was expected"):
        stop_ids(tmp_path, CHATML)
