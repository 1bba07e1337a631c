"""How patient and how parallel a download is. Tests make it hasty."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Tuning:
    """Times in seconds, sizes in bytes.

    silence      longest time without a byte before a connection is given up
    patience     longest time without a byte, over all attempts, before a file is given up
    first_wait   before the second attempt; doubled for each further one up to `longest_wait`
    parallel     files in transfer at the same time
    piece        most bytes taken from a connection at once
    synced_every after so many bytes of a file they are forced to the disk, which is what a power cut may cost
    reserve      free space to leave on the volume
    """

    silence: float = 20.0
    patience: float = 900.0
    first_wait: float = 1.0
    longest_wait: float = 30.0
    parallel: int = 4
    piece: int = 1 << 20
    synced_every: int = 256 << 20
    reserve: int = 256 << 20
