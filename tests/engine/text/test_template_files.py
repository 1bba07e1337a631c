"""Where the template of a checkpoint is found."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.errors import CheckpointError, TemplateError
from engine.protocol import Message
from engine.text import template as module
from engine.text.template import ChatTemplate
from tests.engine.text.builders import write_json


def _text(directory: Path) -> str:
    template = ChatTemplate.find(directory)
    assert template is not None
    return template.render([Message("user", "hi")], add_generation_prompt=True, enable_thinking=False)


def test_none(tmp_path: Path) -> None:
    assert ChatTemplate.find(tmp_path) is None


def test_the_file_goes_before_the_config(tmp_path: Path) -> None:
    write_json(tmp_path / "tokenizer_config.json", {"chat_template": "config", "eos_token": {"content": "</s>"}})
    assert _text(tmp_path) == "config"
    (tmp_path / "chat_template.jinja").write_text("file é {{ eos_token }}", encoding="utf-8")
    assert _text(tmp_path) == "file é </s>"


def test_the_default_of_named_templates(tmp_path: Path) -> None:
    named = [{"name": "tool_use", "template": "t"}, {"name": "default", "template": "d"}]
    write_json(tmp_path / "tokenizer_config.json", {"chat_template": named})
    assert _text(tmp_path) == "d"


@pytest.mark.parametrize("entry", [[], {}, 3, [{"name": "tool_use", "template": "t"}], [{"name": ["x"]}], [1]])
def test_an_entry_without_a_default_is_refused(tmp_path: Path, entry: object) -> None:
    write_json(tmp_path / "tokenizer_config.json", {"chat_template": entry})
    with pytest.raises(TemplateError, match=r"tokenizer_config\.json has a chat_template without a default"):
        ChatTemplate.find(tmp_path)


def test_damaged_files_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "chat_template.jinja").write_bytes(b"ab\xff")
    with pytest.raises(TemplateError, match=r"chat_template\.jinja is not UTF-8: .* at byte 2"):
        ChatTemplate.find(tmp_path)
    (tmp_path / "chat_template.jinja").write_text("x" * 101)
    monkeypatch.setattr(module, "MAX_BYTES", 100)
    with pytest.raises(CheckpointError, match=r"chat_template\.jinja is larger than the 100 bytes"):
        ChatTemplate.find(tmp_path)
    (tmp_path / "tokenizer_config.json").write_text("{")
    with pytest.raises(CheckpointError, match=r"tokenizer_config\.json is damaged"):
        ChatTemplate.find(tmp_path)
