"""The table of the README, the agreement by layer, and what the recipe promises."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from training.ablation.measure import Row

ROWS = {
    "teacher": "teacher, full precision",
    "full": "int4, full width, exact",
    "half": "int4, half width, exact",
    "predicted": "int4, half width, predicted",
    "shipped": "the same + recovery adapter (shipped)",
    "merged": "the same, adapter merged and re-quantised",
}
RECOVERED, KEPT, TIMES_CHANCE = 0.60, 0.50, 5.0


@dataclass(frozen=True)
class Bar:
    """A promise, the figure found, and whether it holds."""

    what: str
    found: str
    holds: bool


def table(rows: Mapping[str, Row]) -> str:
    """Markdown, the rows that were measured."""
    names = ("row", "perplexity on held-out text", "questions right", "agreement with the true router")
    out = ["| " + " | ".join((*names, "experts per token")) + " |", "|---|---|---|---|---|"]
    for key, title in ROWS.items():
        if key not in rows:
            continue
        row = rows[key]
        agreement = f"{row.agreement:.1%}" if row.agreement is not None else "–" if key == "teacher" else "100 %"
        experts = f"{row.experts:.0f}" if row.experts is not None else "–"
        share = f"{row.right} of {len(row.outcomes)} ({row.right / len(row.outcomes):.1%})"
        out.append(f"| {title} | {row.perplexity:.4f} | {share} | {agreement} | {experts} |")
    return "\n".join(out)


def layers(rows: Mapping[str, Row], chance: float) -> str:
    """Agreement by consumer layer, Markdown."""
    chosen = [(key, rows[key]) for key in ("predicted", "shipped", "merged") if key in rows]
    names = sorted({layer for _, row in chosen for layer in row.by_layer})
    out = ["| layer | " + " | ".join(ROWS[key] for key, _ in chosen) + " | chance |"]
    out.append("|---" * (len(chosen) + 2) + "|")
    for layer in names:
        shares = " | ".join(f"{row.by_layer[layer]:.1%}" for _, row in chosen)
        out.append(f"| {layer} | {shares} | {chance:.1%} |")
    return "\n".join(out)


def bars(rows: Mapping[str, Row], chance: float) -> list[Bar]:
    """What can be said of the rows measured."""
    out: list[Bar] = []
    if {"teacher", "predicted", "shipped"} <= rows.keys():
        lost = rows["predicted"].perplexity - rows["teacher"].perplexity
        won = rows["predicted"].perplexity - rows["shipped"].perplexity
        share = won / lost if lost > 0 else 0.0
        what = f"the shipped row recovers at least {RECOVERED:.0%} of the perplexity lost to the fourth row"
        out.append(Bar(what, f"{share:.0%} of {lost:.4f}", share >= RECOVERED))
        if "merged" in rows and won > 0:
            kept = (rows["predicted"].perplexity - rows["merged"].perplexity) / won
            what = f"merged and re-quantised, less than {KEPT:.0%} of that recovery is left"
            out.append(Bar(what, f"{kept:.0%}", kept < KEPT))
    for key in ("predicted", "shipped"):
        if key in rows and rows[key].by_layer:
            layer, least = min(rows[key].by_layer.items(), key=lambda item: item[1])
            what = f"agreement at least {TIMES_CHANCE:.0f} times chance on every layer ({ROWS[key]})"
            out.append(Bar(what, f"{least:.1%} on layer {layer}", least >= TIMES_CHANCE * chance))
    return out
