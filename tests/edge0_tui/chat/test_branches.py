"""Where turns stand among their siblings, and that attributions of older files still load."""

from __future__ import annotations

from hypothesis import given

from edge0_tui.chat import codec
from edge0_tui.chat.branches import neighbour, places
from edge0_tui.chat.conversation import Conversation
from edge0_tui.chat.turn import Attribution, Turn
from tests.edge0_tui.chat.trees import conversations, relaxed


@relaxed
@given(conversations())
def test_places_are_positions_among_siblings(chat: Conversation) -> None:
    found = places(chat)
    for turn in chat.turns.values():
        family = [sibling.id for sibling in chat.siblings(turn.id)]
        assert found.get(turn.id, (1, 1)) == (family.index(turn.id) + 1, len(family))
        after = neighbour(chat, turn.id, 1)
        if after is not None:
            back = neighbour(chat, after.id, -1)
            assert back is not None and back.id == turn.id
        else:
            assert family[-1] == turn.id


def test_an_attribution_without_the_newer_figures_loads() -> None:
    value = codec.turn_to_json(Turn("assistant", "x", attribution=Attribution(model="nano", tok_s=2.0)))
    for name in ("dropped_messages", "continued"):
        del value["attribution"][name]
    turn = codec.turn_from_json(value)
    assert turn.attribution == Attribution(model="nano", tok_s=2.0)
