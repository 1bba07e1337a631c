"""A byte-level BPE tokenizer with the published control tokens, at any size of vocabulary."""

from __future__ import annotations

from collections.abc import Mapping

from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers

# Kept when special tokens are skipped, as in the published files.
TEXTUAL = {"<tool_call>", "</tool_call>", "<tool_response>", "</tool_response>", "<think>", "</think>"}
_WORDS = " the, of, and, to, in, is, system, user, assistant, Hello, what, expert, token, layer, memory, a, you"
_SYLLABLES = tuple(first + vowel for first in "bdfgklmnprstvz" for vowel in "aeiou")
_SPLIT = r"""(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"""  # noqa: E501


def tokenizer_json(controls: Mapping[str, int]) -> str:
    """tokenizer.json: 256 bytes and a few merges, filler words up to the first of `controls`, then these.

    Every id up to the last control decodes to something. ValueError when the first leaves too little room.
    """
    special_base = min(controls.values())
    vocabulary = {symbol: i for i, symbol in enumerate(sorted(pre_tokenizers.ByteLevel.alphabet()))}
    merges: list[tuple[str, str]] = []
    for word in _WORDS.split(","):
        _merge(word.replace(" ", "Ġ"), vocabulary, merges)
    if len(vocabulary) > special_base:
        raise ValueError(f"control tokens must start at {len(vocabulary)} or later")
    for i in range(len(vocabulary), special_base):
        vocabulary[_filler(i)] = i
    vocabulary |= controls
    tokenizer = Tokenizer(models.BPE(vocab=vocabulary, merges=merges))
    tokenizer.normalizer = normalizers.NFC()
    split = pre_tokenizers.Split(Regex(_SPLIT), behavior="isolated")
    byte_level = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([split, byte_level])
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_tokens([AddedToken(name, special=name not in TEXTUAL, normalized=False) for name in controls])
    return tokenizer.to_str()


def _merge(word: str, vocabulary: dict[str, int], merges: list[tuple[str, str]]) -> None:
    left = word[0]
    for symbol in word[1:]:
        if left + symbol not in vocabulary:
            vocabulary[left + symbol] = len(vocabulary)
            merges.append((left, symbol))
        left += symbol


def _filler(number: int) -> str:
    """An invented word for each number, different from every merged one by its ending."""
    word = ""
    while number:
        number, digit = divmod(number, len(_SYLLABLES))
        word += _SYLLABLES[digit]
    return f"Ġ{word}x"
