"""`python -P -m engine.layer_probe MODEL`: one JSON object on standard output, progress on standard error.

MODEL is a checkpoint's directory, or 35b or 8b for a tier that need not be there.
"""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import asdict
from pathlib import Path

from engine.errors import EngineError
from engine.process.lifeline import die_with_parent


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -P -m engine.layer_probe", description=__doc__)
    parser.add_argument("model", help="a checkpoint's directory, 35b or 8b")
    options = parser.parse_args(argv)
    die_with_parent()
    try:
        json.dump(measure(options.model), sys.stdout)
    except EngineError as error:
        print(error, file=sys.stderr)
        return error.exit_code
    return 0


def measure(model: str) -> dict[str, object]:
    """The fields of a `ComputeSpeed`. Raises CheckpointError for a directory that is no checkpoint."""
    from engine.kernels import get_kernels
    from engine.layer_probe.measure import measure_layers
    from engine.outlook.model import open_model
    from engine.outlook.published import SPECS, published_model

    planned = published_model(model) if model in SPECS else open_model(Path(model))
    return asdict(measure_layers(planned, get_kernels(), lambda text: print(text, file=sys.stderr, flush=True)))


if __name__ == "__main__":
    sys.exit(main())
