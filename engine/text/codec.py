"""Everything the engine needs to know about text, for one checkpoint."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path

from engine.errors import TemplateError
from engine.protocol import Message
from engine.text.channels import ReplyDecoder, ReplyStart, ThinkIds
from engine.text.literals import LiteralGuard
from engine.text.prompt import Prompt, chat_prompt, raw_prompt
from engine.text.stops import stop_ids
from engine.text.template import ChatTemplate
from engine.text.tokenizer import Tokenizer


class TextCodec:
    """Conversation → prompt ids, reply ids → pieces of text. For one thread at a time."""

    def __init__(
        self, tokenizer: Tokenizer, template: ChatTemplate | None, stops: frozenset[int], source: str
    ) -> None:
        self.tokenizer = tokenizer
        self.template = template
        self.stop_ids = stops
        self._source = source
        self._think = ThinkIds.of(tokenizer)
        self._guard = LiteralGuard(tokenizer)

    @classmethod
    def open(cls, directory: Path) -> TextCodec:
        """Reads tokenizer.json, the template if there is one, and the stop ids.

        Raises `CheckpointError` for a missing tokenizer or a damaged file, `TemplateError` for a template that is
        too large or no template. A checkpoint without any template still serves raw prompts."""
        tokenizer = Tokenizer.open(directory)
        template = ChatTemplate.find(directory)
        return cls(tokenizer, template, stop_ids(directory, tokenizer), str(directory))

    @property
    def n_ids(self) -> int:
        """Highest id in use + 1; logit rows from here on must never be sampled."""
        return self.tokenizer.n_ids

    @property
    def holes(self) -> tuple[int, ...]:
        """Ids below `n_ids` that stand for nothing and must never be sampled."""
        return self.tokenizer.holes

    @cached_property
    def supports_thinking(self) -> bool:
        """Whether asking for thinking changes the prompt, and the vocabulary can mark a thought."""
        return self._think is not None and self.template is not None and self.template.supports_thinking

    def encode_chat(self, messages: Sequence[Message], thinking: bool = False) -> Prompt:
        """The prompt for the next assistant turn. Raises `TemplateError`, also when there is no template."""
        if self.template is None:
            raise TemplateError(
                f"{self._source} has no chat template (chat_template.jinja or tokenizer_config.json).",
                "Use --raw to continue plain text.",
            )
        return chat_prompt(self.template, self._guard, self._think, messages, thinking)

    def encode_raw(self, text: str) -> Prompt:
        """The prompt as typed, without a template."""
        return raw_prompt(self.tokenizer, self._think, text)

    def reply_decoder(self, start: ReplyStart | None = None) -> ReplyDecoder:
        """A decoder for one reply; `start` is the prompt's. Stop ids are not to be fed."""
        return ReplyDecoder(self.tokenizer, self._think, start or ReplyStart())
