"""Asks the shipped checkpoint everything: ``python -m training.evaluate [--backend engine|mlx-lm]``."""

from __future__ import annotations

import argparse
import datetime
import json
import time
from collections import defaultdict
from pathlib import Path

from training.backends import BACKENDS, Answer
from training.card import write_card
from training.corpus.load import questions
from training.evalset import BARS, Case, cases
from training.scoring import correct


def ask_all(answer: Answer, chosen: list[Case]) -> list[tuple[Case, str, bool]]:
    """Every case with its reply and whether that is correct."""
    out = []
    for case in chosen:
        reply = answer(case.ask).strip()
        out.append((case, reply, correct(reply, case.reference, case.must)))
    return out


def table(results: list[tuple[Case, str, bool]]) -> str:
    """The Markdown table with the bars."""
    right: dict[str, list[bool]] = defaultdict(list)
    for case, _, good in results:
        right[case.set].append(good)
    rows = ["| questions | asked | correct | share | bar |", "|---|---|---|---|---|"]
    for name, bar in BARS.items():
        if hits := right.get(name):
            share = sum(hits) / len(hits)
            rows.append(f"| {name} | {len(hits)} | {sum(hits)} | {share:.1%} | {bar:.0%} |")
    return "\n".join(rows)


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--backend", choices=sorted(BACKENDS), default="engine")
    parser.add_argument("--model", type=Path, default=Path("engine/nano"))
    parser.add_argument("--limit", type=int, default=0, help="only every n-th question, for a quick look")
    parser.add_argument("--wrong", type=Path, help="write the wrong replies here, one JSON object a line")
    parser.add_argument("--card", action="store_true", help="write the table into the model's README.md")
    args = parser.parse_args()
    start = time.perf_counter()
    results = ask_all(BACKENDS[args.backend](args.model), cases()[:: args.limit or 1])
    minutes = (time.perf_counter() - start) / 60
    print(f"backend {args.backend}, {datetime.date.today()}, {minutes:.1f} minutes\n")
    print(table(results))
    if args.card:
        write_card(args.model, args.backend, table(results), len(questions()))
    if args.wrong:
        wrong = [{"set": c.set, "id": c.id, "ask": c.ask, "reply": r} for c, r, good in results if not good]
        args.wrong.write_text("".join(json.dumps(w) + "\n" for w in wrong), encoding="utf-8")


if __name__ == "__main__":
    main()
