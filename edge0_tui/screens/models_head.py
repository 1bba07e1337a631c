"""What the models screen's card begins with: the title, and what is special to a line."""

from __future__ import annotations

from edge0_tui import units
from edge0_tui.model_desk import ModelDesk
from edge0_tui.model_menu import MenuLine
from edge0_tui.shelf import Stored
from edge0_tui.widgets.plan import about
from edge0_tui.widgets.plan.rows import Rows, pair, wrapped
from edge0_tui.widgets.plan.transfer import check_rows, transfer_rows


def title(line: MenuLine) -> str:
    if line.kind in ("routing", "adapter"):
        return f"{line.kind} {line.text}"
    return line.fetch.title if line.fetch is not None else line.text


def unusable(line: MenuLine) -> bool:
    """An adapter that does not fit, or a routing the checkpoint has no heads for."""
    return line.kind in ("adapter", "routing") and line.choice is None


def head_rows(desk: ModelDesk, line: MenuLine, width: int) -> Rows:
    """What is special to the line: a download, a verification, an adapter, a routing."""
    rows: Rows = []
    if line.kind == "routing":
        rows += about.routing_rows(line.text, width)
        if unusable(line):
            rows += wrapped("This checkpoint has no prerouter heads.", width, "$error")
    if line.kind == "agreement":
        rows += wrapped(about.AGREEMENT, width)
    if line.offer is not None:
        rows += about.adapter_rows(line.offer, width)
    info = desk.link.info
    if line.kind == "adapter" and line.marked and info and info.adapter_report:
        rows += about.report_rows(info.adapter_report, width)
    if line.kind == "adapter" and line.text == "none":
        rows += wrapped("The checkpoint without any adapter.", width)
    if line.stored is not None:
        rows += _where(line.stored, width)
        loaded = desk.link.loaded
        if desk.begins(line):
            rows += wrapped("Loaded at every start.", width, "$text-muted")
        if line.marked and loaded is not None and loaded.reason:
            rows += wrapped(f"Chosen at the start: {loaded.reason}", width, "$text-muted")
    if line.directory in desk.jobs.checks and not line.running:
        rows += check_rows(desk.jobs.checks[line.directory], width)
    if line.kind == "fetch":
        rows += _fetch_rows(desk, line, width)
    return rows


def _fetch_rows(desk: ModelDesk, line: MenuLine, width: int) -> Rows:
    seen = desk.seen(line.plan)
    place = (line.fetch.into if line.fetch else "") or str(desk.paths.models)
    free = desk.free(place)
    total = line.fetch.total_bytes if line.fetch else 0
    if not total and seen and seen.prospect:
        total = seen.prospect.what.download
    have = line.fetch.have_bytes if line.fetch else 0
    rest = f"{units.size(max(0, total - have))} to fetch" if total else "size not known yet"
    if have:
        rest = "what is damaged is fetched again" if have >= total > 0 else rest
        rest += f", {units.size(have)} are here"
    room = f", {units.size(free)} free there" if free is not None else ""
    rows = pair("download", rest + room, width)
    rows += pair("into", place, width)
    return rows + (transfer_rows(line.download, width) if line.download else [])


def _where(stored: Stored, width: int) -> Rows:
    """Where it lies and how it stands; what is wrong with it in red."""
    model = stored.model
    if model.status in ("damaged", "unfinished"):
        reason = wrapped(f"{model.status}: {model.note}", width, "$error")
        return reason + wrapped(str(model.path), width, "$text-muted")
    if model.status == "built in":
        return wrapped("built in: small, always there, knows this program and little else", width, "$text-muted")
    source = "" if model.source in str(model.path) else f" · {model.source}"
    return wrapped(f"{model.note}{source} · {model.path}", width, "$text-muted")
