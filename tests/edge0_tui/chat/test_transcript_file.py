from __future__ import annotations

import pytest
from hypothesis import given

from edge0_tui.chat import sidecar, transcript_file
from edge0_tui.chat.conversation import Conversation
from edge0_tui.chat.errors import FormatError
from edge0_tui.chat.sidecar import Sidecar
from edge0_tui.chat.turn import Attribution, Turn
from tests.edge0_tui.chat.trees import any_texts, conversations, relaxed, texts


@relaxed
@given(conversations(any_texts))
def test_the_sidecar_brings_everything_back(chat: Conversation) -> None:
    assert sidecar.read(sidecar.write(Sidecar(chat, ("x",)))) == Sidecar(chat, ("x",))


@relaxed
@given(conversations(texts))
def test_the_markdown_alone_brings_the_path_back(chat: Conversation) -> None:
    back = transcript_file.read(transcript_file.write(chat))
    shown = [(turn.id, turn.parent, turn.role, turn.text, turn.created) for turn in chat.path]
    assert [(turn.id, turn.parent, turn.role, turn.text, turn.created) for turn in back.path] == shown
    assert (back.id, back.name, back.pinned, back.created) == (chat.id, chat.name, chat.pinned, chat.created)


@relaxed
@given(conversations(any_texts))
def test_every_transcript_can_be_written_and_read(chat: Conversation) -> None:
    assert len(transcript_file.read(transcript_file.write(chat)).path) == len(chat.path)


def test_how_a_transcript_reads() -> None:
    figures = Attribution(
        model="nano", tier="nano", adapter="none", routing="predicted", finish_reason="cancelled", tok_s=41.23,
        completion_tokens=1214, reused_tokens=1820, prompt_tokens=1910, allocator_peak=3 << 30, seed=42,
            revision="0123456789abcdef0123",
    )  # fmt: skip
    chat = Conversation(id="5f0c").add(Turn("user", "What is *that*?", id="q"))
    chat = chat.add(Turn("assistant", "A thing.", "", "q", figures, "a"))
    text = transcript_file.write(chat).decode()
    assert text.startswith('---\nid: "5f0c"\ntitle: "What is *that*?"\n')
    assert '\nmodel: "nano"\n' in text
    body = [line for line in text.split("---\n", 2)[2].split("\n") if not line.startswith("<!--")]
    assert "\n".join(body) == (
        "\n# What is *that*?\n\n## You\n\nWhat is *that*?\n\n"
        "## nano\n*predicted · 41.2 tok/s · 1,214 tokens · reused 1,820 of 1,910 tokens · allocator peak 3.00 GiB"
        " · temperature 0.7 · seed 42 · revision 0123456789ab · cancelled*\n\nA thing.\n\n"
    )


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"# Just notes", "line 1: no front matter"),
        (b"---\nid: 1\n", "no end"),
        (b"---\n???\n---\n", "line 2"),
        (b'---\nid: "x"\n---\n', "created"),
        (b'---\nid: "x"\n---\n\n<!-- turn {"id": 1} -->\n## You\n\nhi\n\n', "damaged"),
    ],
)
def test_damage_is_named(data: bytes, message: str) -> None:
    with pytest.raises(FormatError, match=message):
        transcript_file.read(data)


@pytest.mark.parametrize(
    "damage",
    [
        lambda data: data[: len(data) // 2],
        lambda data: data.replace(b'"parent": null', b'"parent": "ghost"'),
        lambda data: data.replace(b'"role": "user"', b'"role": "root"'),
        lambda data: data.replace(b'"text": "hi"', b'"text": 7'),
        lambda data: data.replace(b'"format": 1', b'"format": 99'),
        lambda data: b"[" * 100_000,
    ],
)
def test_a_damaged_sidecar_is_refused(damage: object) -> None:
    data = sidecar.write(Sidecar(Conversation().add(Turn("user", "hi")), ("x",)))
    assert callable(damage)
    with pytest.raises(FormatError):
        sidecar.read(damage(data))
