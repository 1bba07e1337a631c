"""What can go wrong with files, in words a person can act on."""

from __future__ import annotations

import errno
from pathlib import Path


class StoreError(OSError):
    """A file could not be read or written. `filename` is the path, `strerror` what happened to it."""

    @classmethod
    def at(cls, path: Path, error: OSError) -> StoreError:
        return cls(error.errno or errno.EIO, error.strerror or str(error), str(path))

    @classmethod
    def because(cls, path: Path, reason: str) -> StoreError:
        return cls(errno.EINVAL, reason, str(path))


class FormatError(ValueError):
    """A file is not what its name says. The message names the place."""
