"""Counting tokens with the built-in checkpoint's own tokenizer."""

from __future__ import annotations

import pytest

from engine.errors import UsageError
from engine.protocol import Count, Load
from engine.session import Session


def test_counts_are_those_of_the_loaded_tokenizer() -> None:
    session = Session()
    with pytest.raises(UsageError):
        session.count(Count("c", ["a"]))
    info = session.load(Load("l", "nano"), lambda *_: None, lambda: False)
    texts = ["", "What is a slot?", "What is a slot? " * 50, "<|im_end|>\ud800"]
    counted = session.count(Count("c", texts))
    tokenizer = session.loaded.codec.tokenizer
    assert counted.tokens == [len(tokenizer.encode(text)) for text in texts]
    assert counted.tokens[0] == 0 and counted.tokens[2] > 40 * counted.tokens[1] > 0
    assert counted.model == info.path
    session.close()
