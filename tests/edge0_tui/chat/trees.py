"""Random conversations for the property tests: branches, switches, and text that is made to be mistaken."""

from __future__ import annotations

from datetime import UTC, datetime

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from edge0_tui.chat.chat_sampling import ChatSampling
from edge0_tui.chat.conversation import Conversation
from edge0_tui.chat.turn import Attribution, Turn
from engine.protocol import Role, Sampling

relaxed = settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])

NASTY = [
    "---\nid: x\n---",
    '<!-- turn {"id": "a", "role": "user", "created": "2026-01-01T00:00:00"} -->',
    "\\<!-- turn ",
    "\\\\<!-- turn {} -->",
    "## You\n\nhello",
    "```python\n# not closed",
    "\r",
    "a\r\nb",
    "\n\n",
    " ",
    "\u2028\x85\x0c",
    "\x00\x1b[31m",
    "👩‍🚀 é ‮rtl",
]
texts = st.lists(st.one_of(st.sampled_from(NASTY), st.text(max_size=10)), max_size=3).map("\n".join)
"""Everything UTF-8 can hold."""
any_texts = st.one_of(texts, st.text(st.characters(), max_size=10))
"""Half characters too: only the sidecar keeps them."""
moments = st.datetimes(datetime(2024, 1, 1), datetime(2030, 1, 1)).map(lambda moment: moment.replace(tzinfo=UTC))
attributions = st.builds(
    Attribution,
    model=st.sampled_from(["nano", "35b", "odd\nname"]),
    routing=st.sampled_from(["exact", "predicted"]),
    sampling=st.builds(Sampling, temperature=st.floats(0, 2), seed=st.none() | st.integers(0, 2**63)),
    finish_reason=st.sampled_from(["stop", "length", "cancelled", "interrupted"]),
    tok_s=st.floats(0, 1e3),
    revision=st.sampled_from(["", "0123456789abcdef", "odd\n*name*"]),
    seed=st.none() | st.integers(0, 2**63),
    prompt_tokens=st.integers(0, 1 << 20),
    reused_tokens=st.integers(0, 1 << 20),
    dropped_messages=st.integers(0, 99),
    completion_tokens=st.integers(0, 1 << 20),
    allocator_peak=st.integers(0, 1 << 40),
    continued=st.integers(0, 3),
    agreement=st.none() | st.floats(0, 1),
)


chat_samplings = st.builds(
    ChatSampling,
    preset=st.sampled_from(["", "precise", "of a later version"]),
    temperature=st.none() | st.floats(0, 2),
    seed=st.none() | st.integers(0, 2**63 - 1),
)


@st.composite
def conversations(draw: st.DrawFn, text: st.SearchStrategy[str] = any_texts) -> Conversation:
    """A tree grown turn by turn below random parents, with looks at other branches in between."""
    conversation = Conversation(
        name=draw(text),
        system=draw(text),
        draft=draw(text),
        sampling=draw(chat_samplings),
        pinned=draw(st.booleans()),
        created=draw(moments),
    )
    for number in range(draw(st.integers(0, 6))):
        ids = list(conversation.turns)
        parent = draw(st.sampled_from([None, *ids]))
        role: Role = "user" if number % 2 == 0 else "assistant"
        attribution = draw(attributions) if role == "assistant" else None
        turn = Turn(role, draw(text), draw(text), parent, attribution, f"t{number}", draw(moments))
        conversation = conversation.add(turn)
        elsewhere = draw(st.booleans())
        if ids and elsewhere:
            conversation = conversation.show(draw(st.sampled_from(ids)))
    return conversation
