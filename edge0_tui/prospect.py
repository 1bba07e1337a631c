"""What the plan card is drawn from: a model and a machine, looked at once and re-planned while a slider moves."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from edge0_tui.paths import Paths
from edge0_tui.planning import Planned, planned
from engine.errors import EngineError

if TYPE_CHECKING:
    from collections.abc import Callable

    from engine.outlook.engine_facts import DeviceFacts
    from engine.outlook.types import Learned, Machine, Outlook
    from engine.plan import ModelFacts
    from engine.protocol import Routing


@dataclass(frozen=True)
class Prospect:
    """`cached` are bytes of its weights in the page cache when it was looked at; measurements are in `store`."""

    what: Planned
    facts: ModelFacts
    machine: Machine
    cached: int
    store: Path

    def outlook(
        self, budget: int | None = None, context: int | None = None, routing: str = "", held: int = 0
    ) -> Outlook:
        """What to expect, with what replies have taught about it. Fast enough to follow a slider.

        A context that the model does not have becomes its longest. `held` is the footprint of the engine that a
        load would replace.
        """
        from engine.outlook.learned import learned, learning_key
        from engine.outlook.outlook import outlook

        def make(known: Learned | None = None) -> Outlook:
            return outlook(
                self.facts,
                self.machine,
                budget=budget,
                context=min(context, self.facts.max_context) if context else None,
                routing=_possible(routing, self.facts),
                learned=known,
                held=held,
                cached=self.cached,
                download=self.what.download,
            )

        plain = make()
        known = learned(self.store, learning_key(plain))
        return make(known) if known else plain


def look(
    model: str, paths: Paths, device: DeviceFacts | None = None, window: float = 0.0, opened: Planned | None = None
) -> Prospect:
    """`model` is nano, 8b, 35b or a directory; a published tier need not be installed. Blocks.

    `window` is how long swap is watched, in seconds; `opened` spares reading the model's headers again. Raises
    CheckpointError for what is no checkpoint.
    """
    return _prospect(opened or planned(model, paths), paths, device, window)


def look_at_repository(repo: str, paths: Paths, device: DeviceFacts | None = None) -> Prospect:
    """A repository of the hub, before any of its weights is fetched. Blocks; raises HubError or CheckpointError."""
    from edge0_tui.manager.repo_id import parse_repo
    from edge0_tui.manager.skeleton import skeleton
    from engine.outlook.model import open_model

    try:
        with skeleton(parse_repo(repo)) as folder:
            model = open_model(folder)
    except OSError as error:  # of the folder for temporary files
        raise EngineError(f"No plan can be made: {error}", "Free some space there.") from None
    return _prospect(Planned(repo, model, None, paths.models, model.stored_bytes), paths, device, 0.0)


def measured(prospect: Prospect, paths: Paths, progress: Callable[[str], None]) -> Prospect:
    """The same with the disk and the layers measured anew, which takes some fifteen seconds, up to a minute on a
    slow disk. Blocks.

    Raises EngineError saying what cannot be measured.
    """
    from dataclasses import replace

    from edge0_tui.manager.repo_id import is_repo, parse_repo
    from edge0_tui.manager.skeleton import skeleton
    from engine.outlook.measure import measure

    what = prospect.what
    if what.directory is None and is_repo(what.id):
        with skeleton(parse_repo(what.id)) as folder:
            machine = measure(prospect.machine, what.model, str(folder), paths.data, again=True, progress=progress)
    else:
        machine = measure(prospect.machine, what.model, what.probe_name, paths.data, again=True, progress=progress)
    return replace(prospect, machine=machine)


def _prospect(what: Planned, paths: Paths, device: DeviceFacts | None, window: float) -> Prospect:
    from engine.outlook.machine import this_machine

    machine = this_machine(what.volume, paths.data, device=device, window=window)
    return Prospect(what, what.model.facts(machine.activation_bytes), machine, what.cached, paths.data)


def _possible(routing: str, facts: ModelFacts) -> Routing | None:
    """None, which is the model's own, for what has no meaning with it."""
    if routing == "exact":
        return "exact"
    return "predicted" if routing == "predicted" and facts.predicted_layers else None
