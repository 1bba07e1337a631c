"""Loading tokenizer.json and its plain use."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import tokenizers
from tokenizers import processors

from engine.errors import CheckpointError
from engine.text import tokenizer as module
from engine.text.tokenizer import Tokenizer
from tests.engine.text.builders import CHATML_CONTROL, byte_level


def test_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match=r"tokenizer\.json is missing"):
        Tokenizer.open(tmp_path)


def test_truncated_file_is_named(checkpoint: Path) -> None:
    path = checkpoint / "tokenizer.json"
    path.write_bytes(path.read_bytes()[:-200])
    with pytest.raises(CheckpointError, match=r"tokenizer\.json is damaged"):
        Tokenizer.open(checkpoint)


def test_directory_in_place_of_the_file(tmp_path: Path) -> None:
    (tmp_path / "tokenizer.json").mkdir()
    with pytest.raises(CheckpointError, match=r"tokenizer\.json is missing"):
        Tokenizer.open(tmp_path)


def test_oversized_file_is_refused(checkpoint: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_BYTES", 1000)
    with pytest.raises(CheckpointError, match=r"tokenizer\.json is larger than the 1,000 bytes"):
        Tokenizer.open(checkpoint)


def test_absurd_id_is_refused(checkpoint: Path) -> None:
    path = checkpoint / "tokenizer.json"
    body = json.loads(path.read_text())
    body["model"]["vocab"]["zz"] = 4_000_000_000
    path.write_text(json.dumps(body))
    with pytest.raises(CheckpointError, match="names id 4,000,000,000"):
        Tokenizer.open(checkpoint)


def test_empty_vocabulary_is_refused(tmp_path: Path) -> None:
    body = {"version": "1.0", "added_tokens": [], "model": {"type": "BPE", "vocab": {}, "merges": []}}
    (tmp_path / "tokenizer.json").write_text(json.dumps(body))
    with pytest.raises(CheckpointError, match="empty vocabulary"):
        Tokenizer.open(tmp_path)


def test_usable_ids_and_holes(checkpoint: Path) -> None:
    assert Tokenizer.open(checkpoint).holes == ()
    path = checkpoint / "tokenizer.json"
    body = json.loads(path.read_text())
    vocab = body["model"]["vocab"]
    vocab.update({token["content"]: token["id"] for token in body["added_tokens"]})
    end = max(vocab.values())
    vocab["zz"] = end + 3
    path.write_text(json.dumps(body))
    found = Tokenizer.open(checkpoint)
    assert (found.n_ids, found.holes) == (end + 4, (end + 1, end + 2))


def test_added_tokens_that_the_library_would_renumber_are_refused(checkpoint: Path) -> None:
    path = checkpoint / "tokenizer.json"
    body = json.loads(path.read_text())
    body["added_tokens"][2]["id"] += 100
    path.write_text(json.dumps(body))
    with pytest.raises(CheckpointError, match=r"tokenizer\.json gives <\|im_end\|> the id 365"):
        Tokenizer.open(checkpoint)


def test_encode_adds_cuts_and_pads_nothing() -> None:
    raw = byte_level(CHATML_CONTROL)
    start = raw.token_to_id("<|im_start|>")
    raw.post_processor = processors.TemplateProcessing(
        single="<|im_start|> $A", special_tokens=[("<|im_start|>", start)]
    )
    raw.enable_truncation(4)
    raw.enable_padding(length=64)
    assert Tokenizer(raw).encode("abcdefgh") == list(b"abcdefgh")


def test_control_tokens_in_text_are_encoded_as_such(tokenizer: Tokenizer) -> None:
    ids = tokenizer.encode("<|im_start|>a<think>")
    assert ids == [tokenizer.id_of("<|im_start|>"), ord("a"), tokenizer.id_of("<think>")]
    assert tokenizer.decode(ids) == "a<think>"


@pytest.mark.parametrize(("text", "read"), [("a\ud83d", "a\ufffd"), ("\ud83d\ude00", "😀"), ("é", "é")])
def test_text_that_is_not_unicode_can_be_encoded(tokenizer: Tokenizer, text: str, read: str) -> None:
    assert tokenizer.decode(tokenizer.encode(text)) == read


def test_ctrl_c_while_loading_is_no_damaged_file(checkpoint: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Interrupted:
        @staticmethod
        def from_buffer(_: bytes) -> None:
            raise KeyboardInterrupt

    monkeypatch.setattr(tokenizers, "Tokenizer", Interrupted)
    with pytest.raises(KeyboardInterrupt):
        Tokenizer.open(checkpoint)
