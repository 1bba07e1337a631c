"""Rows about what a line of the models screen is: a routing, an adapter, a repository, a model's files."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.content import Content

from edge0_tui import units
from edge0_tui.widgets.plan.rows import Rows, bullet, pair, section, wrapped

if TYPE_CHECKING:
    from edge0_tui.adapters import Offer
    from edge0_tui.manager.details import Details
    from engine.protocol import AdapterReport

PREDICTED = (
    "The prerouter heads choose every layer's experts one token ahead, so that they are read from the disk while "
    "the token before is still being computed, and replies come faster. The model's own router would sometimes "
    "have chosen others, so replies can differ in their words from those with exact routing."
)
EXACT = (
    "The model's own router decides when a layer is reached, and the layer waits for experts that are not there. "
    "Replies are the model's own, at the price of waiting for the disk."
)
AGREEMENT = (
    "With predicted routing the model's own router is asked as well, and the panel shows which share of its "
    "experts were used. This costs some speed; it changes no reply."
)
OTHER = (
    "Any repository of the hub with a mixture of experts in a layout this engine knows. The plan is made from "
    "its config.json and the headers of its weights, before any weight is fetched."
)


def routing_rows(name: str, width: int) -> Rows:
    return wrapped(PREDICTED if name == "predicted" else EXACT, width)


def adapter_rows(offer: Offer, width: int) -> Rows:
    """What it says of itself, and how it fits the loaded model."""
    adapter, fit = offer.adapter, offer.fit
    if not fit.fits:
        return wrapped(f"It cannot be put on: {fit.reason or adapter.problem}", width, "$error")
    rows = [_counts(fit.applied, fit.not_found, fit.skipped)]
    rows += wrapped(fit.reason, width, "$text-muted")
    facts = [f"{adapter.format} format"]
    if adapter.rank:
        facts.append(f"rank {adapter.rank}")
    if adapter.scale is not None:
        facts.append(f"scale {adapter.scale:g}")
    facts.append(units.size(adapter.bytes))
    rows += pair("file", " · ".join(facts), width)
    rows += pair("made for", adapter.base or "it does not say", width)
    if fit.names:
        rows += pair("not applied", ", ".join(fit.names), width)
    return rows


def report_rows(report: AdapterReport, width: int) -> Rows:
    """What became of the adapter that is on."""
    took = f"put on in {units.seconds(report.seconds)}"
    return [*pair("this load", took, width), *(row for note in report.notes for row in bullet(note, width))]


def _counts(applied: int, not_found: int, skipped: int) -> Content:
    return Content.assemble(
        (f"{applied:,}", "$success"), (" modules applied", "$text-muted"),
        (" · ", "$text-disabled"), (f"{not_found:,}", "$warning" if not_found else "$foreground"),
        (" not found", "$text-muted"),
        (" · ", "$text-disabled"), (f"{skipped:,}", "$foreground"), (" skipped", "$text-muted"),
    )  # fmt: skip


def details_rows(found: Details, width: int) -> Rows:
    """What the files say, and where they came from."""
    rows = section("details", width)
    rows += pair("tier, family", f"{found.tier}, {found.family}", width)
    rows += pair("from", _origin(found), width)
    rows += pair("directory", found.path, width)
    rows += pair("files", f"{found.files:,} with {found.tensors:,} tensors, {units.size(found.bytes)}", width)
    dense, experts = units.size(found.dense_bytes), units.size(found.expert_bytes)
    rows += pair("of that", f"{dense} dense, {experts} experts of {units.size(found.record_bytes)} each", width)
    forms = ", ".join(f"{form} ({count:,})" for form, count in found.quantisation.items())
    rows += pair("quantisation", forms or "none", width)
    rows += pair("layers", f"{found.layers}, {found.expert_layers} of them with experts", width)
    rows += pair("experts", f"{found.experts_per_layer} a layer, {found.experts_per_token} a token", width)
    rows += pair("context", f"{found.context:,} tokens, vocabulary of {found.vocabulary:,}", width)
    rows += pair("prerouter heads", ", ".join(found.heads) or "none", width)
    rows += pair("adapters", ", ".join(found.adapters) or "none beside it", width)
    seen = found.verified
    rows += pair("verified", f"{seen.at[:10]}: {seen.message}" if seen else "never", width)
    for note in found.notes:
        rows += bullet(note, width)
    return rows


def _origin(found: Details) -> str:
    if not found.repo:
        return "unknown"
    return f"{found.repo} at {found.revision[:12]}" if found.revision else found.repo
