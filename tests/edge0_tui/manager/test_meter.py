"""Rate, time left and stalls, with a clock of their own."""

from __future__ import annotations

from edge0_tui.commands.models_get import line
from edge0_tui.manager.events import Progress
from edge0_tui.manager.hub import RemoteFile
from edge0_tui.manager.meter import Meter
from edge0_tui.manager.transfer import FileState


class Course:
    """One file of 1000 MB of which 400 MB were there before."""

    def __init__(self) -> None:
        self.now = 100.0
        self.state = FileState(RemoteFile("model.safetensors", 1_000_000_000, "0" * 64), arrived=400_000_000)
        self.meter = Meter([self.state], lambda: self.now)

    def go(self, seconds: float, received: int) -> Progress:
        for _ in range(10):
            self.now += seconds / 10
            self.state.arrived += received // 10
            self.state.received += received // 10
            progress = self.meter.look()
        return progress


def test_what_was_there_before_does_not_count_as_speed() -> None:
    course = Course()
    assert course.meter.look().rate is None
    progress = course.go(4.0, 40_000_000)
    assert progress.rate and abs(progress.rate - 10e6) < 0.1e6
    assert progress.eta_s and abs(progress.eta_s - 56) < 1 and progress.done_bytes == 440_000_000


def test_a_stall_is_told_and_is_not_part_of_the_speed_after_it() -> None:
    course = Course()
    course.go(5.0, 50_000_000)
    assert course.go(2.0, 0).stalled == ""
    course.state.stalled = "hub answered 503; next attempt in 1 s"
    assert course.go(0.1, 0).stalled.startswith("hub answered 503")
    course.state.stalled = ""
    assert course.go(3.0, 0).stalled == "no data for 5 s"
    assert "no data for 5 s" in line(course.go(0.0, 0))
    after = course.go(1.0, 20_000_000)
    assert after.stalled == "" and after.rate and after.rate > 15e6


def test_hashing_what_is_there_is_a_phase_of_its_own() -> None:
    course = Course()
    course.go(1.0, 600_000_000)
    course.state.hashed = 100_000_000
    progress = course.meter.look()
    assert (progress.phase, progress.done_bytes, progress.stalled, progress.rate) == (
        "verifying",
        100_000_000,
        "",
        None,
    )
    course.now += 1.0
    course.state.hashed = 600_000_000
    progress = course.meter.look()
    assert progress.rate == 600e6 and progress.eta_s is not None and 0.6 < progress.eta_s < 0.7
    course.state.hashed, course.state.done = 1_000_000_000, True
    assert course.meter.look().phase == "done" and course.meter.look().share == 1.0
