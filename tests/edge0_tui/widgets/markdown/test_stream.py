"""Whatever the pieces, the blocks are those of the whole text."""

from __future__ import annotations

import time

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from textual.content import Content

from edge0_tui.widgets.markdown.blocks import Block, Code, Heading, Item, Math, Paragraph, Quote, Table
from edge0_tui.widgets.markdown.stream import MarkdownStream, parse

relaxed = settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])

LINES = [
    *["", "", "", "text", "*emphasis* and `code`", "# Heading", "===", "---", "***", "a\\", "a  ", "\r"],
    *["- item", "  - nested", "    deep", "+ other", "* a", "-", "- [x] done"],
    *["1. one", "2. two", "1", "7) seven", "  2. indented"],
    *["> quote", ">", "> - list in quote", "```python", "```", "~~~", "    code", "\tcode"],
    *["| a | b |", "|---|:-:|", "| 1 | 2 |", "|", "$$", "\\[", "x_1 * y_2", "\\]"],
    *["[ref]: https://example.org", "[ref]", "[other]: <x", "<div>", "https://example.org/a"],
]
documents = st.lists(st.one_of(st.sampled_from(LINES), st.text(max_size=8)), max_size=14).map("\n".join)


@st.composite
def pieces(draw: st.DrawFn) -> list[str]:
    text = draw(documents)
    cuts = sorted(draw(st.lists(st.integers(0, len(text)), max_size=12)))
    return [text[start:end] for start, end in zip([0, *cuts], [*cuts, len(text)], strict=True)]


def looks(blocks: list[Block]) -> list[object]:
    """Everything that is shown of blocks, styled contents included, which their equality leaves out."""
    result: list[object] = []
    for block in blocks:
        match block:
            case Paragraph(content=content) | Heading(content=content):
                result.append((block, content.plain, content.spans))
            case Quote(children=children) | Item(children=children):
                result.append((block, looks(list(children))))
            case Table(header=header, rows=rows):
                result.append((block, [(cell.plain, cell.spans) for row in (header, *rows) for cell in row]))
            case _:
                result.append(block)
    return result


@relaxed
@given(pieces())
def test_streamed_in_any_pieces_it_is_as_when_given_whole(parts: list[str]) -> None:
    stream = MarkdownStream()
    for part in parts:
        stream.append(part)
    stream.append("", final=True)
    assert looks(stream.blocks) == looks(parse("".join(parts)))


@relaxed
@given(pieces())
def test_what_is_closed_stays_as_it_is(parts: list[str]) -> None:
    stream = MarkdownStream()
    for part in parts:
        before, generation = list(stream.closed), stream.generation
        stream.append(part)
        assert stream.generation != generation or stream.closed[: len(before)] == before or not stream.closed


def test_a_growing_list_leaves_only_its_last_item_open() -> None:
    stream = MarkdownStream()
    for number in range(50):
        stream.append(f"{number + 1}. item\n")
    assert len(stream.closed) == 49
    assert [block.ordinal for block in stream.blocks if isinstance(block, Item)] == list(range(1, 51))


def test_a_definition_gives_a_meaning_to_text_above_it() -> None:
    stream = MarkdownStream()
    stream.append("see [here]\n\nmore\n\n")
    (first, _) = stream.blocks
    assert isinstance(first, Paragraph) and first.content.plain == "see [here]"
    generation = stream.generation
    stream.append("[here]: https://example.org\n")
    (first, _) = stream.blocks
    assert isinstance(first, Paragraph) and first.content.plain == "see here"
    assert stream.generation > generation


def one(text: str) -> Block:
    (block,) = parse(text)
    return block


def content(text: str) -> Content:
    block = one(text)
    assert isinstance(block, Paragraph)
    return block.content


def test_a_fence_is_closed_by_its_end_or_by_the_end_of_the_text() -> None:
    stream = MarkdownStream()
    stream.append("```py\nx = 1\n")
    assert stream.blocks == [Code("```py\nx = 1", text="x = 1", language="py", closed=False)]
    stream.append("```")
    (block,) = stream.blocks
    assert isinstance(block, Code) and block.closed
    whole = one("```py\nx = 1\n")
    assert isinstance(whole, Code) and whole.closed


@pytest.mark.parametrize("text", ["[bold red]x[/]", "[@click=app.quit]x[/]", "<b>x</b>", "[/]"])
def test_markup_and_html_are_text(text: str) -> None:
    assert content(text).plain == text


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("$a_1 + b_1 * c * d$ is", "a_1 + b_1 * c * d is"),
        ("\\(x_1\\) and \\[y_2\\]", "x_1 and y_2"),
        ("$5 and $6", "$5 and $6"),
        ("a\\$b", "a$b"),
    ],
)
def test_mathematics_is_left_readable(text: str, plain: str) -> None:
    assert content(text).plain == plain


def test_display_mathematics_is_a_block() -> None:
    assert one("$$\na_1\n= b\n$$") == Math("$$\na_1\n= b\n$$", text="a_1\n= b")


@pytest.mark.parametrize("href", ["javascript:alert(1)", "file:///etc/passwd", "data:text/html,x"])
def test_only_web_and_mail_addresses_become_links(href: str) -> None:
    assert not any(
        "href" in str(span.style) or getattr(span.style, "link", None) for span in content(f"[x]({href})").spans
    )


def test_a_web_address_is_a_link_and_a_file_name_is_not() -> None:
    found = content("see https://example.org/a_b and main.py")
    (link,) = {span.style.link for span in found.spans if not isinstance(span.style, str)}
    assert link == "https://example.org/a_b"


def test_nothing_can_steer_the_terminal() -> None:
    assert content("a\x1b[31mb\x9bc\ud800\u202ed").plain == "a\ufffd[31mb\ufffdc\ufffd\ufffdd"


def test_tasks_and_nested_items() -> None:
    first, second = parse("- [x] done\n- [ ] open\n  - inner\n")
    assert isinstance(first, Item) and first.checked is True
    assert isinstance(second, Item) and second.checked is False
    inner = second.children[1]
    assert isinstance(inner, Item) and (inner.depth, inner.checked) == (1, None)


@pytest.mark.parametrize("opening", ["\\(", "\\["])
def test_mathematics_that_never_closes_is_looked_for_once(opening: str) -> None:
    began = time.process_time()
    parse(opening * 10_000)  # half a minute, when each is followed to the end of the text
    assert time.process_time() - began < 2.0


def test_mathematics_before_some_that_never_closes_is_still_found() -> None:
    (block,) = parse("[ \\(a_b\\) and \\(c_d_e [f")
    assert isinstance(block, Paragraph) and "a_b" in block.content.plain and "\\(a" not in block.content.plain
