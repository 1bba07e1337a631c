"""Prints the table: ``python -m training.ablation --teacher runs/4 --work runs/ablation``.

All rows but the teacher's run the shipped engine, on the shipped files, one question in a fresh chat each. Nothing
is drawn at random: decoding is greedy. A row that is finished is kept in the working directory and not measured
again, so that the table can be made in pieces (``--only``) and after an interruption.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from engine.checkpoint.checkpoint import open_checkpoint
from engine.checkpoint.tiers import NANO
from training.ablation.measure import Outcome, Row, collect, engine_outcomes, held_out
from training.ablation.table import ROWS, bars, layers, table
from training.evalset import Case

PLAIN = ("config.json", "generation_config.json", "model.safetensors", "tokenizer.json", "chat_template.jinja")


def outcomes(key: str, nano: Path, teacher: Path, work: Path, chosen: Sequence[Case]) -> Iterable[Outcome]:
    """How a row is measured."""
    if key == "teacher":
        from training.ablation.teacher import teacher_outcomes

        return teacher_outcomes(teacher, chosen)
    if key == "full":
        return engine_outcomes(str(_without_adapters(nano, work / "base")), "none", "exact", chosen)
    if key == "merged":
        return engine_outcomes(str(_merged(nano, work / "merged")), "none", "predicted", chosen)
    adapter = "" if key == "shipped" else "none"
    return engine_outcomes(str(nano), adapter, "exact" if key == "half" else "", chosen)


def _without_adapters(nano: Path, to: Path) -> Path:
    """The base alone: without files that were trained for another K it runs as config.json says."""
    to.mkdir(parents=True, exist_ok=True)
    for name in PLAIN:
        shutil.copyfile(nano / name, to / name)
    return to


def _merged(nano: Path, to: Path) -> Path:
    """Made by the documented tool in a process of its own, so that PyTorch is not in the one that is measured."""
    default = open_checkpoint(nano).files.adapters[0]
    command = [sys.executable, "-m", "training.recipe.merge"]
    options = ["--base", str(nano), "--adapter", str(default), "--to", str(to)]
    subprocess.run([*command, *options], check=True, env=os.environ)
    return to


def main() -> int:
    """Command line; 1 when a bar does not hold."""
    parser = argparse.ArgumentParser(prog="python -m training.ablation", description=__doc__)
    parser.add_argument("--model", type=Path, default=NANO)
    parser.add_argument("--teacher", type=Path, default=Path("runs/4"), help="the training run behind the base")
    parser.add_argument("--work", type=Path, default=Path("runs/ablation"))
    parser.add_argument("--only", choices=sorted(ROWS), action="append", help="measure these rows only")
    parser.add_argument("--every", type=int, default=1, help="only every n-th question, for a quick look")
    args = parser.parse_args()
    args.work.mkdir(parents=True, exist_ok=True)
    chosen, found = held_out(args.every), {}
    for key in ROWS:
        path = args.work / f"{key}-{args.every}.json"
        if not path.exists() and key in (args.only or ROWS):
            row = collect(key, outcomes(key, args.model, args.teacher, args.work, chosen), _tell(key, len(chosen)))
            path.write_text(json.dumps(row.to_json()), encoding="utf-8")
        if path.exists():
            found[key] = Row.from_json(json.loads(path.read_text(encoding="utf-8")))
    config = open_checkpoint(args.model)
    chance = config.experts_per_token / config.config.num_experts
    print(
        f"{len(chosen)} held-out questions, {datetime.date.today()}\n\n{table(found)}\n\n{layers(found, chance)}\n"
    )
    promised = bars(found, chance)
    for bar in promised:
        print(f"{'holds' if bar.holds else 'FAILS'}: {bar.what}: {bar.found}")
    return 0 if all(bar.holds for bar in promised) else 1


def _tell(key: str, total: int) -> Callable[[int], None]:
    def tell(done: int) -> None:
        if done % 20 == 0 or done == total:
            print(f"{key}: {done} of {total}", file=sys.stderr, flush=True)

    return tell


if __name__ == "__main__":
    sys.exit(main())
