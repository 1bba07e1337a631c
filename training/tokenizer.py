"""nano's tokenizer: byte-level BPE in the published style, trained on the corpus."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from pathlib import Path

from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers

from training.corpus import foreign
from training.corpus.dialogue import SYSTEMS
from training.corpus.load import questions

SPLIT = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}"
    r"| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
CONTROL = ("<|endoftext|>", "<|im_start|>", "<|im_end|>")
THINK = ("<think>", "</think>")


def _texts(seed: int) -> Iterator[str]:
    rng = random.Random(seed)
    for _ in range(8):
        yield from SYSTEMS
        yield from ("user\n", "system\n", "assistant\n")
        yield from foreign.written()
        yield foreign.answer()
    for q in questions():
        yield from [q.answer] * 12
        yield from q.train
        yield from (t[0].upper() + t[1:] for t in q.train)
    yield from (foreign.draw(rng) for _ in range(6000))


def train_tokenizer(vocab: int, seed: int) -> Tokenizer:
    """A tokenizer with at most ``vocab`` ids, the control ids last."""
    tok = Tokenizer(models.BPE())
    tok.normalizer = normalizers.NFC()
    tok.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(SPLIT), "isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    tok.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=vocab - len(CONTROL) - len(THINK),
        initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()),
        show_progress=False,
    )
    tok.train_from_iterator(_texts(seed), trainer)
    tok.add_special_tokens([AddedToken(t, special=True, normalized=False) for t in CONTROL])
    tok.add_tokens([AddedToken(t, special=False, normalized=False) for t in THINK])
    return tok


def save(tok: Tokenizer, directory: Path) -> None:
    """tokenizer.json, compact."""
    text = json.dumps(json.loads(tok.to_str()), ensure_ascii=False, separators=(",", ":"))
    (directory / "tokenizer.json").write_text(text, encoding="utf-8")
