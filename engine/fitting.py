"""A conversation longer than the context, without its oldest turns. Only on request, and reported."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from engine.protocol import Message
from engine.text import Prompt

ROOM_FOR_THE_REPLY = 4
"""At least one part in so many of the context stays free for the answer, if that many tokens are allowed."""


def without_oldest(
    encode: Callable[[Sequence[Message]], Prompt], messages: Sequence[Message], most: int
) -> tuple[Prompt, int]:
    """The prompt of at most `most` tokens that leaves out as few of the oldest turns as possible, and how many
    messages those are. A system message and the last question always stay, even when that is more than `most`."""
    questions = [index for index, message in enumerate(messages) if message.role == "user"]
    system = [message for message in messages[:1] if message.role == "system"]

    def cut(at: int) -> Prompt:
        """With the turns from the `at`-th question on."""
        return encode([*system, *messages[questions[at] :]] if at else messages)

    low, high = 0, max(0, len(questions) - 1)
    while low < high:
        middle = (low + high) // 2
        if len(cut(middle).ids) <= most:
            high = middle
        else:
            low = middle + 1
    return cut(low), questions[low] - len(system) if low else 0
