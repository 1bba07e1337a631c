"""Waiting for reads, with the wait accounted for."""

from __future__ import annotations

from collections.abc import Sequence

from engine.experts.counters import Traffic
from engine.experts.readers import Job, ReaderPool


def deliver(pool: ReaderPool, jobs: Sequence[Job], traffic: Traffic) -> None:
    """Block until all jobs are finished; raise the first error among them."""
    traffic.wait_s += pool.wait(jobs)
    failed = [job for job in jobs if not job.arrived]
    traffic.dropped += len(failed)
    for job in failed:
        job.check()
