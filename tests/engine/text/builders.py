"""Small checkpoints' text files in the published style: byte-level BPE and templates written for these tests."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import tokenizers
from tokenizers import AddedToken, Regex, decoders, models, normalizers, pre_tokenizers

from engine.text.decoder import token_bytes

SPLIT = r"\p{N}|[^\s\p{L}\p{N}]?[\p{L}\p{M}]+| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
MERGES = [("Ċ", "Ċ"), ("Ġ", "t"), ("h", "e"), ("Ġt", "he"), ("l", "l"), ("<", "/"), ("ð", "Ł")]

# Name → special. The thinking and tool tokens are added tokens that decoding keeps, as published.
CHATML_CONTROL = {
    "<|endoftext|>": True,
    "<|im_start|>": True,
    "<|im_end|>": True,
    "<tool_call>": False,
    "</tool_call>": False,
    "<think>": False,
    "</think>": False,
}
ROLE_CONTROL = {
    "<|startoftext|>": True,
    "<|endoftext|>": True,
    "<|role_end|>": True,
    "<think>": True,
    "</think>": True,
    "<role>": True,
    "</role>": True,
}

CHATML = r"""
{%- macro turn(role, text) %}
{{- '<|im_start|>' ~ role ~ '\n' ~ text ~ '<|im_end|>\n' }}
{%- endmacro %}
{%- set ns = namespace(asked=-1) %}
{%- for m in messages if m.role == 'user' %}
    {%- set ns.asked = loop.index0 %}
{%- endfor %}
{%- if ns.asked < 0 %}
    {{- raise_exception('There is no question to answer.') }}
{%- endif %}
{%- set ns.seen = -1 %}
{%- for m in messages %}
    {%- set content = m.content | trim %}
    {%- if m.role == 'system' %}
        {%- if not loop.first %}
            {{- raise_exception('Only the first message may be of the system.') }}
        {%- endif %}
        {{- turn('system', content) }}
    {%- elif m.role == 'user' %}
        {%- set ns.seen = ns.seen + 1 %}
        {{- turn('user', content) }}
    {%- else %}
        {%- set thought = m.reasoning_content if m.reasoning_content is string else '' %}
        {%- if not thought and '</think>' in content %}
            {%- set thought = content.split('</think>')[0].split('<think>')[-1].strip('\n') %}
            {%- set content = content.split('</think>')[-1].lstrip('\n') %}
        {%- endif %}
        {%- if ns.seen == ns.asked %}
            {%- set content = '<think>\n' ~ thought | trim ~ '\n</think>\n\n' ~ content %}
        {%- endif %}
        {{- turn('assistant', content) }}
    {%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}
    {{- '<|im_start|>assistant\n' }}
    {{- '<think>\n\n</think>\n\n' if enable_thinking is defined and enable_thinking is false else '<think>\n' }}
{%- endif %}
"""

ROLE = r"""
{%- set ns = namespace(system='') %}
{%- set directive = 'detailed thinking ' ~ ('on' if enable_thinking else 'off') %}
{%- if messages[0].role == 'system' %}
    {%- set ns.system = messages[0].content %}
{%- endif %}
{%- if 'detailed thinking o' not in ns.system %}
    {%- set ns.system = ns.system ~ '\n' ~ directive if ns.system else directive %}
{%- endif %}
{{- '<role>SYSTEM</role>' ~ ns.system ~ '<|role_end|>' }}
{%- for m in messages %}
    {%- if m.role == 'user' %}
        {{- '<role>HUMAN</role>' ~ m.content ~ '<|role_end|>' }}
    {%- elif m.role == 'assistant' %}
        {%- set thought = m.reasoning_content if m.reasoning_content is defined and loop.last else '' %}
        {{- '<role>ASSISTANT</role>\n<think>' ~ thought ~ '</think>' ~ m.content ~ '<|role_end|>' }}
    {%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}
    {{- '<role>ASSISTANT</role>\n<think>' ~ ('' if enable_thinking else '</think>') }}
{%- endif %}
"""


@dataclass(frozen=True)
class Tier:
    """What distinguishes the two published styles."""

    template: str
    control: dict[str, bool]
    eos: str


CHATML_TIER = Tier(CHATML, CHATML_CONTROL, "<|im_end|>")
ROLE_TIER = Tier(ROLE, ROLE_CONTROL, "<|role_end|>")


def byte_level(control: dict[str, bool]) -> tokenizers.Tokenizer:
    """256 byte tokens, a few merges, then the control tokens."""
    letters = {letter: token_bytes(letter)[0] for letter in pre_tokenizers.ByteLevel.alphabet()}
    vocab = dict(letters)
    for left, right in MERGES:
        vocab[left + right] = len(vocab)
    raw = tokenizers.Tokenizer(models.BPE(vocab=vocab, merges=MERGES))
    raw.normalizer = normalizers.NFC()
    raw.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(SPLIT), behavior="isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    raw.decoder = decoders.ByteLevel()
    raw.add_tokens([AddedToken(name, special=special, normalized=False) for name, special in control.items()])
    return raw


def write_checkpoint(directory: Path, tier: Tier) -> Path:
    """tokenizer.json, chat_template.jinja and the three small configs."""
    directory.mkdir(parents=True, exist_ok=True)
    raw = byte_level(tier.control)
    raw.save(str(directory / "tokenizer.json"))
    (directory / "chat_template.jinja").write_text(tier.template)
    write_json(directory / "generation_config.json", {"eos_token_id": [raw.token_to_id(tier.eos)]})
    write_json(directory / "config.json", {"eos_token_id": raw.token_to_id("<|endoftext|>")})
    write_json(directory / "tokenizer_config.json", {"eos_token": tier.eos})
    return directory


def write_json(path: Path, body: object) -> None:
    """`body` as the file's JSON."""
    path.write_text(json.dumps(body))
