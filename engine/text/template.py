"""The chat template of a checkpoint."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from jinja2 import TemplateSyntaxError

from engine.errors import TemplateError
from engine.protocol import Message
from engine.text.files import read_bounded, read_optional_json
from engine.text.limits import MAX_SECONDS, LimitExceededError, Meter
from engine.text.sandbox import BoundedEnvironment, RefusedError
from engine.text.stops import token_name

FILE, CONFIG = "chat_template.jinja", "tokenizer_config.json"
MAX_BYTES = 256 * 1024
_PROBE = (Message("user", "x"),)
_THOUGHT, _ANSWER = "thought-7q", "answer-7q"


class ChatTemplate:
    """A compiled template. One rendering at a time."""

    def __init__(self, source: str, name: str = FILE, tokens: dict[str, str] | None = None) -> None:
        """`tokens`: bos_token, eos_token and the like, as templates name them. Raises `TemplateError`."""
        self.name = name
        self._tokens = tokens or {}
        if len(source.encode("utf-8", "surrogatepass")) > MAX_BYTES:
            raise TemplateError(f"{name} is larger than the {MAX_BYTES:,} bytes a chat template may have.")
        self._environment = BoundedEnvironment()
        try:
            self._template = self._environment.from_string(source)
        except TemplateSyntaxError as error:
            raise TemplateError(f"{name}, line {error.lineno}: {error.message}") from None
        except Exception as error:  # noqa: BLE001 - whatever a hostile source provokes in the compiler
            raise TemplateError(f"{name} is no usable template: {_words(error)}.") from None

    @classmethod
    def find(cls, directory: Path) -> ChatTemplate | None:
        """chat_template.jinja, else the entry in tokenizer_config.json, else None. Raises `TemplateError`, or
        `CheckpointError` for a damaged tokenizer_config.json."""
        path, config = directory / FILE, read_optional_json(directory / CONFIG)
        tokens = {key: token_name(config, key) for key in ("bos_token", "eos_token", "pad_token", "unk_token")}
        tokens = {key: token for key, token in tokens.items() if token}
        if path.exists():
            try:
                return cls(read_bounded(path, MAX_BYTES).decode(), str(path), tokens)
            except UnicodeDecodeError as error:
                raise TemplateError(f"{path} is not UTF-8: {error.reason} at byte {error.start}.") from None
        entry = config.get("chat_template")
        if entry is None:
            return None
        return cls(_default(entry, directory / CONFIG), str(directory / CONFIG), tokens)

    def render(
        self,
        messages: Sequence[Message],
        *,
        add_generation_prompt: bool,
        enable_thinking: bool,
        seconds: float = MAX_SECONDS,
    ) -> str:
        """The conversation as the model reads it. A failure is an error, never a fallback.

        `seconds` bounds the processor time. Raises `TemplateError`, with the template's own words if it has any."""
        self._environment.meter = Meter(seconds)
        variables = {
            **self._tokens,
            "messages": [_as_dict(message) for message in messages],
            "tools": None,
            "documents": None,
            "add_generation_prompt": add_generation_prompt,
            # One switch under the names in use.
            "enable_thinking": enable_thinking,
            "thinking": enable_thinking,
            "thinking_option": "on" if enable_thinking else "off",
        }
        try:
            return "".join(self._template.generate(variables))
        except RefusedError as error:
            raise TemplateError(f"The chat template refused the conversation: {error}") from None
        except LimitExceededError as error:
            raise TemplateError(f"{self.name} was stopped: it asked for {error}.") from None
        except Exception as error:  # noqa: BLE001 - a template can provoke any error of the language
            raise TemplateError(f"{self.name} failed: {_words(error)}.") from None

    @cached_property
    def supports_thinking(self) -> bool:
        """Whether the switch changes what the model reads, found by trying it on one question."""
        try:
            on, off = (self.render(_PROBE, add_generation_prompt=True, enable_thinking=on) for on in (True, False))
        except TemplateError:
            return False
        return on != off

    @cached_property
    def thought_end(self) -> str | None:
        """What stands between a thought and the answer, line ends included; None where thoughts are left out."""
        turn = Message("assistant", _ANSWER, thinking=_THOUGHT)
        try:
            text = self.render((*_PROBE, turn), add_generation_prompt=False, enable_thinking=True)
        except TemplateError:
            return None
        _, found, rest = text.partition(_THOUGHT)
        between, answered, _ = rest.partition(_ANSWER)
        return between if found and answered else None


def _as_dict(message: Message) -> dict[str, Any]:
    turn = {"role": message.role, "content": message.content}
    return {**turn, "reasoning_content": message.thinking} if message.thinking else turn


def _default(entry: object, path: Path) -> str:
    """The template in an entry that is one string or a list of named ones."""
    if isinstance(entry, str):
        return entry
    named = [item for item in entry if isinstance(item, dict)] if isinstance(entry, list) else []
    found = next((item.get("template") for item in named if item.get("name") == "default"), None)
    if not isinstance(found, str):
        raise TemplateError(f"{path} has a chat_template without a default.")
    return found


def _words(error: Exception) -> str:
    return str(error).rstrip(".") or type(error).__name__
