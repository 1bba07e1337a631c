"""The lines of the models screen: what can be loaded or fetched, the adapters, the routing. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from edge0_tui import units
from edge0_tui.choice import Choice
from edge0_tui.installed import BUILT_IN
from edge0_tui.shelf import Shelf, Stored
from engine.protocol import ModelInfo

if TYPE_CHECKING:
    from edge0_tui.adapters import Offer
    from edge0_tui.manager.available import Available
    from edge0_tui.manager.events import Download

Kind = Literal["heading", "installed", "fetch", "other", "adapter", "routing", "agreement"]
OTHER = "another repository…"


@dataclass(frozen=True)
class MenuLine:
    """One line. `note` stands beside its text, `marked` for what is loaded or switched on.

    choice   what `enter` loads; None where there is nothing to load, or it cannot be had
    plan     what a plan is made for: as `planning.planned` takes it, or a repository; empty: none
    enabled  whether the cursor can stand on it
    """

    id: str
    kind: Kind
    text: str
    note: str = ""
    choice: Choice | None = None
    plan: str = ""
    marked: bool = False
    enabled: bool = True
    stored: Stored | None = None
    fetch: Available | None = None
    download: Download | None = None
    offer: Offer | None = None

    @property
    def directory(self) -> str:
        """Where it lies or is going to lie, whichever group it stands in; empty: unknown, or nowhere."""
        if self.stored is not None:
            return str(self.stored.model.path)
        return self.download.key if self.download else self.fetch.path if self.fetch else ""

    @property
    def running(self) -> bool:
        """Whether it is being fetched now."""
        return self.download is not None and self.download.state == "running"


def menu(
    shelf: Shelf,
    loaded: Choice | None,
    info: ModelInfo | None,
    downloads: Mapping[str, Download] | None = None,
    agreement: bool = False,
    loading: Choice | None = None,
) -> list[MenuLine]:
    """All lines. `downloads` by directory. A choice keeps the memory budget and context of the present one."""
    base = loaded or Choice()
    lines = [_heading("installed"), *_installed(shelf, loaded, base, loading)]
    lines += [_heading("available"), *_available(shelf, downloads or {})]
    lines.append(MenuLine("other", "other", OTHER))
    if info is not None and loaded is not None:
        lines += [_heading("adapter"), *_adapters(shelf, base, info)]
        lines += [_heading("routing"), *_routing(base, info)]
        note = "on" if agreement else "off"
        lines.append(MenuLine("agreement", "agreement", "measure agreement", note, plan=base.model))
    return lines


def _heading(text: str) -> MenuLine:
    return MenuLine(f"heading-{text}", "heading", text, enabled=False)


def _installed(shelf: Shelf, loaded: Choice | None, base: Choice, loading: Choice | None) -> Iterator[MenuLine]:
    for stored in shelf.installed:
        model = stored.model
        path = BUILT_IN if model.name == BUILT_IN else str(model.path)
        here = loaded is not None and loaded.model == path
        choice = replace(base, model=path, label=model.name, adapter="", routing="", reason="")
        comes = loading is not None and loading.model == path
        note = f"{units.size(stored.bytes):>8}  {'loading' if comes else model.status}"
        yield MenuLine(
            f"model:{path}",
            "installed",
            model.name,
            note,
            (loaded if here else choice) if model.loadable else None,
            path,
            here,
            stored=stored,
        )


def _available(shelf: Shelf, downloads: Mapping[str, Download]) -> Iterator[MenuLine]:
    listed = {stored.model.repo for stored in shelf.installed if stored.model.loadable}
    for item in shelf.available:
        listed |= {item.name, item.repo}
        download = downloads.get(item.path)
        if download is not None and download.state == "done":
            download = None  # it was, but a verification has found it damaged since
        id = f"get:{item.path if item.into else item.name}"  # the same may have been begun in several folders
        note = _fetch_note(item, download)
        yield MenuLine(id, "fetch", item.name, note, plan=item.name, fetch=item, download=download)
    by_repository = {download.repo: download for download in downloads.values()}
    for repo in shelf.asked:
        if repo not in listed:
            download = by_repository.get(repo.partition("@")[0])
            note = download.state if download else "not here"
            yield MenuLine(f"get:{repo}", "fetch", repo, f"{'':8}  {note}", plan=repo, download=download)


def _fetch_note(item: Available, download: Download | None) -> str:
    if download is None or download.state == "cancelled":
        size = f"{units.size(item.total_bytes):>8}" if item.total_bytes else " " * 8
        return f"{size}  {'unfinished' if item.state == 'unfinished' else 'not here'}"
    size = units.size(download.progress.total_bytes or item.total_bytes or None)
    return f"{size:>8}  {download.state}"


def _adapters(shelf: Shelf, base: Choice, info: ModelInfo) -> Iterator[MenuLine]:
    offers = {offer.adapter.name: offer for offer in shelf.adapters}
    for name in dict.fromkeys([*info.adapters_available, *offers]):
        if name == "none":
            continue  # it has a line of its own, the last
        offer = offers.get(name)
        fits = offer is None or offer.fit.fits
        yield MenuLine(
            f"adapter:{name}",
            "adapter",
            name.rpartition("/")[2],
            _adapter_note(offer),
            replace(base, adapter=name) if fits else None,
            base.model,
            name == info.adapter,
            offer=offer,
        )
    none = replace(base, adapter="none")
    yield MenuLine("adapter:none", "adapter", "none", "the base alone", none, base.model, info.adapter == "none")


def _adapter_note(offer: Offer | None) -> str:
    if offer is None:
        return ""
    if not offer.fit.fits:
        return "does not fit"
    place = {"beside": "beside it", "folder": "in folder"}.get(offer.adapter.place, "")
    return f"rank {offer.adapter.rank}, {place}" if offer.adapter.rank else place


def _routing(base: Choice, info: ModelInfo) -> Iterator[MenuLine]:
    predicted = replace(base, routing="predicted") if info.predicted_available else None
    note = "by prerouter heads" if predicted else "no prerouter heads"
    yield MenuLine(
        "routing:predicted", "routing", "predicted", note, predicted, base.model, info.routing == "predicted"
    )
    exact = replace(base, routing="exact")
    yield MenuLine(
        "routing:exact", "routing", "exact", "by its own router", exact, base.model, info.routing == "exact"
    )
