"""Text: tokenizer, sandboxed chat template, incremental decoding, thinking channel. No MLX here."""

from engine.text.channels import ReplyDecoder, ReplyStart
from engine.text.codec import TextCodec
from engine.text.prompt import Prompt

__all__ = ["Prompt", "ReplyDecoder", "ReplyStart", "TextCodec"]
