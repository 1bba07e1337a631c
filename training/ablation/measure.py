"""One row of the table: every held-out question with its reference answer, forced and, where needed, generated."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from training.evalset import Case, cases
from training.scoring import correct

HELD_OUT = ("held-out phrasing", "held-out foreign")
END = "<|im_end|>"


@dataclass(frozen=True)
class Outcome:
    """One case: the answer's log-probability and ids, whether the greedy reply is correct, and the heads' agreement
    (sums and counts by layer); `experts` asked for in `steps` decoded tokens."""

    log_probability: float
    ids: int
    right: bool
    experts: int = 0
    steps: int = 0
    agreement: dict[str, float] = field(default_factory=dict)
    counted: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Row:
    """The outcomes of one setting."""

    name: str
    outcomes: tuple[Outcome, ...]

    @property
    def perplexity(self) -> float:
        """Of all ids of all answers together."""
        return math.exp(-sum(o.log_probability for o in self.outcomes) / sum(o.ids for o in self.outcomes))

    @property
    def right(self) -> int:
        """Questions answered correctly."""
        return sum(o.right for o in self.outcomes)

    @property
    def by_layer(self) -> dict[int, float]:
        """Share of the router's experts that the heads named."""
        layers = sorted({int(layer) for o in self.outcomes for layer in o.counted})
        return {
            layer: sum(o.agreement.get(str(layer), 0.0) for o in self.outcomes)
            / sum(o.counted.get(str(layer), 0) for o in self.outcomes)
            for layer in layers
        }

    @property
    def agreement(self) -> float | None:
        """Over all consumer layers."""
        shares = self.by_layer.values()
        return sum(shares) / len(shares) if shares else None

    @property
    def experts(self) -> float | None:
        """Per decoded token, over all layers."""
        steps = sum(o.steps for o in self.outcomes)
        return sum(o.experts for o in self.outcomes) / steps if steps else None

    def to_json(self) -> dict[str, Any]:
        """For the working directory."""
        return {"name": self.name, "outcomes": [asdict(o) for o in self.outcomes]}

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Row:
        """Back from `to_json`."""
        return cls(data["name"], tuple(Outcome(**o) for o in data["outcomes"]))


def held_out(every: int = 1) -> list[Case]:
    """The held-out cases, or every n-th of them."""
    return [case for case in cases() if case.set in HELD_OUT][::every]


def engine_outcomes(model: str, adapter: str, routing: str, chosen: Sequence[Case]) -> Iterable[Outcome]:
    """Through the shipped engine. A reply is only generated where forcing showed another id to be likelier: where
    none was, greedy decoding gives the reference itself."""
    from engine.bench.forced import force
    from engine.protocol import Generate, Load, Message, Sampling
    from engine.session import Session

    session = Session()
    info = session.load(Load("load", model, adapter=adapter, routing=routing), lambda *_: None, lambda: False)
    for case in chosen:
        messages = [Message("user", case.ask)]
        forced = force(session, messages, case.reference + END, info.routing)
        right = forced.followed
        if not right:
            request = Generate("ask", messages, Sampling(temperature=0.0, max_tokens=96))
            reply = session.generate(request, lambda _: None, lambda: False).text
            right = correct(reply.strip(), case.reference, case.must)
        yield Outcome(
            log_probability=sum(forced.log_probabilities),
            ids=len(forced.log_probabilities),
            right=right,
            experts=forced.experts,
            steps=forced.steps,
            agreement={str(layer): value for layer, value in forced.agreement.items()},
            counted={str(layer): count for layer, count in forced.counted.items()},
        )
    session.close()


def collect(name: str, outcomes: Iterable[Outcome], tell: Callable[[int], None]) -> Row:
    """The whole row; `tell` gets the number of cases done."""
    found: list[Outcome] = []
    for outcome in outcomes:
        found.append(outcome)
        tell(len(found))
    return Row(name, tuple(found))
