"""Which files of a repository are fetched. What the hub lists is untrusted: only plain, expected names pass."""

from __future__ import annotations

import re
from collections.abc import Iterable

MAX_FILES = 4096
MAX_SMALL_BYTES = 256 << 20
"""Above this a .json or .jinja file is not one of a checkpoint."""
_PLAIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,199}")
_SMALL = (".json", ".jinja")
_WEIGHTS = ".safetensors"
ADAPTERS = "adapters"
"""The only folder inside a checkpoint, as in `engine.checkpoint.files`."""
# What other programs keep in the same repositories, in these formats.
_UNNEEDED = (
    "vocab.json",
    "trainer_state.json",
    "training_args.json",
    "preprocessor_config.json",
    "added_tokens.json",
)


def is_safe(name: str) -> bool:
    """A plain name, or one in adapters/, that ends as files of a checkpoint do. Never hidden, never upwards."""
    folder, slash, last = name.rpartition("/")
    if slash and (folder != ADAPTERS or not last.endswith(_WEIGHTS)):
        return False
    # A doubled dot is harmless in a plain name; refused so that nobody has to think about it.
    return bool(_PLAIN.fullmatch(last)) and ".." not in last and last.endswith((*_SMALL, _WEIGHTS))


def is_adapter(name: str) -> bool:
    """Whether a file of this name, with or without a folder, holds an adapter or heads."""
    return name.rpartition("/")[2].lower().startswith(("lora_", "prerouter_"))


def wanted(names: Iterable[str]) -> list[str]:
    """What to fetch of a repository's listing, sorted: weights, adapters, configuration, tokenizer, template.

    As the loader does: where weights are called model*, files of other names are not the base's.
    """
    safe = sorted({name for name in names if is_safe(name)} - {*_UNNEEDED})
    base = [name for name in safe if name.endswith(_WEIGHTS) and not is_adapter(name)]
    base = [name for name in base if name.startswith("model")] or base
    return [name for name in safe if name in base or is_adapter(name) or name.endswith(_SMALL)]
