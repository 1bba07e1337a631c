from __future__ import annotations

import html.parser
import re
from pathlib import Path

import pytest
from hypothesis import given, settings

from edge0_tui.chat.conversation import Conversation
from edge0_tui.chat.errors import FormatError, StoreError
from edge0_tui.chat.store import TranscriptStore
from edge0_tui.chat.turn import Attribution, Turn
from edge0_tui.exchange.branches import branches
from edge0_tui.exchange.formats import FORMATS, Format, export, parse, read_file
from tests.edge0_tui.chat.trees import conversations, relaxed, texts

few = settings(relaxed, max_examples=15)


def talk() -> Conversation:
    """Two versions of the answer, the older one continued."""
    chat = Conversation(system="Be <short>.").add(Turn("user", "Which <b>one</b>?", id="q"))
    chat = chat.add(Turn("assistant", "First.", "hm", "q", Attribution(model="nano", finish_reason="stop"), "a1"))
    chat = chat.add(Turn("user", "And then?", "", "a1", id="q2"))
    return chat.add(Turn("assistant", "Second, `code` --> here.", "", "q", id="a2"))


@pytest.mark.parametrize("format", FORMATS)
@few
@given(chat=conversations())
def test_every_format_brings_everything_back(format: Format, chat: Conversation) -> None:
    taken = parse(export(chat, format))
    assert (taken.conversation, taken.note) == (chat, "")


@pytest.mark.parametrize("format", FORMATS)
def test_the_visible_branch_alone(format: Format) -> None:
    data = export(talk(), format, branch=True)
    assert b"First." not in data and b"Second" in data
    assert [turn.id for turn in parse(data).conversation.turns.values()] == ["q", "a2"]
    assert b"First." in export(talk(), format)


@few
@given(conversations())
def test_every_turn_is_on_the_path_or_on_one_branch_below_what_it_follows(chat: Conversation) -> None:
    seen = [turn.id for turn in chat.path]
    for branch in branches(chat):
        assert branch.turns[0].parent == (branch.after.id if branch.after else None)
        for turn in branch.turns:
            assert turn.parent is None or turn.parent in seen
            seen.append(turn.id)
    assert sorted(seen) == sorted(chat.turns)


def test_a_chat_whose_path_ends_early_is_exported_whole() -> None:
    chat = talk()
    cut = Conversation(turns=chat.turns, chosen={None: "q"})
    assert len(branches(cut)) == 2
    for format in FORMATS:
        assert parse(export(cut, format)).conversation.turns == cut.turns


@few
@given(conversations(texts))
def test_edited_markdown_comes_back_as_it_reads(chat: Conversation) -> None:
    data = export(chat, "md")
    edited = data.replace(b"\n# ", b"\n# Edited ", 1)
    taken = parse(edited)
    assert "edited" in taken.note
    shown = {turn.id: (turn.parent, turn.role, turn.text) for turn in taken.conversation.turns.values()}
    assert shown == {turn.id: (turn.parent, turn.role, turn.text) for turn in chat.turns.values()}
    assert [turn.id for turn in taken.conversation.path[: len(chat.path)]] == [turn.id for turn in chat.path]


def test_windows_line_ends_do_not_count_as_an_edit() -> None:
    chat = talk()
    taken = parse(b"\xef\xbb\xbf" + export(chat, "md").replace(b"\n", b"\r\n"))
    assert (taken.conversation, taken.note) == (chat, "")


def test_how_exported_markdown_reads() -> None:
    lines = [line for line in export(talk(), "md").decode().split("\n") if not line.startswith("<!--")]
    text = "\n".join(lines)
    assert text.index("Second") < text.index("# Another version after “Which <b>one</b>?”") < text.index("First.")
    assert text.index("First.") < text.index("And then?")


class Page(html.parser.HTMLParser):
    """Which elements and attributes a page has, and its text."""

    def __init__(self, data: bytes) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str]] = []
        self.text = ""
        self.feed(data.decode())

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [(name, value or "") for name, value in attrs]

    def handle_data(self, data: str) -> None:
        self.text += data


HOSTILE = """
<script>alert(1)</script> <img src=x onerror=alert(1)> </script></article></body> <!-- ]]>
[a](javascript:alert(1)) [b](https://example.org/"onmouseover=x) ![c](https://example.org/x.png "t")
[d](data:text/html,<script>alert(1)</script>) <https://example.org/?a=1&b=2> $x<y$

```html" onload="x
<script>alert(2)</script>
```

$$
<script>
$$
"""


def test_nothing_in_a_chat_becomes_markup_of_the_page() -> None:
    attribution = Attribution(model="<i>m</i>", adapter="<u>", finish_reason='"><script>')
    chat = Conversation(name="</title><script>", system=HOSTILE).add(Turn("user", HOSTILE, id='q"><script>'))
    chat = chat.add(Turn("assistant", HOSTILE, HOSTILE, 'q"><script>', attribution, "a"))
    data = export(chat, "html")
    page = Page(data)
    assert page.tags.count("script") == 1
    assert not {"img", "iframe", "i", "u", "link", "object", "base"} & set(page.tags)
    assert not [name for name, _ in page.attributes if name.startswith("on")]
    links = [value for name, value in page.attributes if name in ("href", "src")]
    assert links and all(re.match(r"https://|#", link) for link in links)
    assert "default-src 'none'" in data.decode()
    assert "alert(2)" in page.text
    assert parse(data).conversation == chat


def test_the_page_follows_the_readers_colours_and_fetches_nothing() -> None:
    text = export(talk(), "html").decode()
    assert "prefers-color-scheme: dark" in text
    assert "url(" not in text and "@import" not in text and " src=" not in text
    assert "<code>code</code>" in text and "<summary>Thinking</summary>" in text


def test_the_page_is_read_from_the_right_where_the_text_is_and_tasks_have_boxes() -> None:
    answer = "\u05e9\u05dc\u05d5\u05dd\n\n- \u05d0\n\n> \u05d1\n\n- [x] done\n- [ ] to do\n- [b] not a task"
    chat = (
        Conversation().add(Turn("user", "\u05e9\u05dc\u05d5\u05dd", id="q")).add(Turn("assistant", answer, "", "q"))
    )
    text = export(chat, "html").decode()
    for element in ("h1", 'div class="said"', "p", "ul", "blockquote"):
        assert f'<{element} dir="auto">' in text
    assert '<li class="task">☑ done</li>' in text and '<li class="task">☐ to do</li>' in text
    assert "<li>[b] not a task</li>" in text


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "neither Markdown, JSON nor HTML"),
        (b"# Only notes", "neither Markdown, JSON nor HTML"),
        (b"\x89PNG\r\n", "neither Markdown, JSON nor HTML"),
        (b"---\ntitle: Notes\n---\n\nhello", "front matter"),
        (b"{", "not JSON"),
        (b"[" * 100_000, "neither"),
        (b'{"a":' * 100_000, "not JSON"),
        (b'{"messages": []}', "no chat exported by edge0-tui"),
        (b'{"kind": "edge0-chat", "version": 7}', "version 7"),
        (b'{"kind": "edge0-chat", "version": 1, "conversation": []}', "an object was expected"),
        (b"{\xff\xfe}", "not UTF-8"),
        (b"<!doctype html><p>hello", "without a chat"),
    ],
)
def test_foreign_files_are_refused(data: bytes, message: str) -> None:
    with pytest.raises(FormatError, match=message):
        parse(data)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"parent": "q"', '"parent": "ghost"'),
        ('"role": "user"', '"role": "root"'),
        ('"tok_s": 0.0', '"tok_s": "fast"'),
        ('"tok_s": 0.0', '"tok_s": 1e999'),
        ('"temperature": 0.7', '"temperature": null'),
        ('"model": "nano"', '"model": ["nano"]'),
        ('"id": "a1"', '"id": "q"'),
        ('"created": "2', '"created": "x'),
        ('"text": "First."', '"text": 7'),
    ],
)
def test_damaged_exports_are_refused(old: str, new: str) -> None:
    text = export(talk(), "json").decode()
    assert old in text
    with pytest.raises(FormatError):
        parse(text.replace(old, new).encode())


def test_marks_that_lead_in_a_circle_are_refused() -> None:
    mark = b'<!-- turn {"id": "a", "role": "user", "created": "2026-01-01", "parent": "a"} -->\n## You\n\nhi\n\n'
    with pytest.raises(FormatError, match="which is not there"):
        parse(b'---\nid: "x"\ncreated: "2026-01-01"\nupdated: "2026-01-01"\n---\n\n' + mark)


def test_a_transcript_is_taken_with_its_sidecar_and_named_when_it_is_refused(tmp_path: Path) -> None:
    chat = talk()
    path = TranscriptStore(tmp_path).save(chat).path
    assert path is not None
    assert read_file(path).conversation == read_file(path.with_suffix(".json")).conversation == chat
    path.write_bytes(path.read_bytes() + b"more\n")
    assert len(read_file(path).conversation.turns) == 2
    bad = tmp_path / "bad.json"
    bad.write_text("{")
    with pytest.raises(StoreError, match="cannot be imported") as caught:
        read_file(bad)
    assert caught.value.filename == str(bad)
    with pytest.raises(StoreError, match="no such file"):
        read_file(tmp_path / "nothing.md")
