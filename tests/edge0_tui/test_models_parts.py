"""The pure parts of the models screen: lines, slider, rows, what is said after a load, the start."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from edge0_tui import automatic as automatic_module
from edge0_tui.automatic import automatic
from edge0_tui.choice import Choice
from edge0_tui.installed import Installed
from edge0_tui.load_report import load_report
from edge0_tui.manager.available import Available
from edge0_tui.manager.events import Download, Progress
from edge0_tui.model_menu import menu
from edge0_tui.options import AppOptions
from edge0_tui.paths import Paths, find_paths
from edge0_tui.prospect import Prospect, look
from edge0_tui.settings import Model, Settings
from edge0_tui.shelf import Shelf, Stored, read_shelf
from edge0_tui.startup import first_choice
from edge0_tui.widgets.plan.machine import machine_rows
from edge0_tui.widgets.plan.memory import memory_rows, tokens_short
from edge0_tui.widgets.plan.speed import speed_rows
from edge0_tui.widgets.plan.transfer import left, short, transfer_rows
from edge0_tui.widgets.plan_card import budget_scale, contexts
from edge0_tui.widgets.slider import Scale
from engine.checkpoint.synthetic import tiny, write_synthetic
from engine.outlook.types import ComputeSpeed, DiskSpeed, Learned
from engine.protocol import AdapterReport, ModelInfo

DISK = DiskSpeed(
    ((1, 1e8), (2, 2e8), (4, 4e8), (8, 6e8), (16, 6e8)), 3e9, 1e-10, 1 << 20, 9, 1 << 28, 1.0, "checkpoint"
)


@pytest.fixture
def paths(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Paths:
    monkeypatch.setenv("EDGE0_HOME", str(tmp_path))
    monkeypatch.setenv("HF_HOME", str(tmp_path / "hf"))
    for name in ("EDGE0_35B_MODEL", "EDGE0_8B_MODEL", "HF_HUB_CACHE"):
        monkeypatch.delenv(name, raising=False)
    return find_paths()


def measured(prospect: Prospect) -> Prospect:
    """As if disk and layers had been measured."""
    compute = ComputeSpeed(prospect.facts.shape, 0.02, 0.02, 0.002, 0.001, ((64, 0.5), (512, 3.0)), "cpu", "", 1.0)
    return replace(prospect, machine=replace(prospect.machine, disk=DISK, computed=(compute,)))


@given(
    low=st.integers(1, 1 << 34),
    width=st.integers(0, 1 << 36),
    step=st.integers(1, 1 << 30),
    value=st.integers(0, 1 << 37),
    steps=st.integers(-9, 9),
)
def test_a_slider_never_leaves_its_bounds_and_every_step_moves(
    low: int, width: int, step: int, value: int, steps: int
) -> None:
    scale = Scale(low, low + width, step, low)
    start = scale.near(value)
    moved = scale.moved(start, steps)
    assert low <= start <= low + width and low <= moved <= low + width
    assert (moved > start) if steps > 0 and start < scale.high else True
    assert (moved < start) if steps < 0 and start > scale.low else True
    assert 0 <= scale.share(moved) <= 1 and scale.low <= scale.at(scale.share(moved)) <= scale.high


def test_no_row_of_a_plan_is_wider_than_the_card(paths: Paths) -> None:
    for prospect in (look("35b", paths), measured(look("35b", paths))):
        for budget in (None, 1 << 20, 5 << 30):
            out = prospect.outlook(budget, 32768)
            out = replace(out, learned=Learned(0.8, 3, 3.0, 2.4))
            for width in (30, 40, 57, 80, 110):
                rows = [*memory_rows(out, width), *speed_rows(out, width), *machine_rows(out.machine, width)]
                assert max(row.cell_length for row in rows) <= width


def test_a_plan_says_what_is_unknown_and_what_is_known(paths: Paths) -> None:
    unknown = look("35b", paths)
    text = "\n".join(row.plain for row in speed_rows(unknown.outlook(), 90))
    assert "unknown" in text and "disk has not been measured" in text
    machine = replace(unknown.machine, chip=None, cores=None, swapping=None)
    text = "\n".join(row.plain for row in machine_rows(machine, 90))
    assert "chip              unknown, unknown" in text and "trend unknown" in text and "not measured" in text
    known = measured(unknown).outlook(learned_budget := 5 << 30)
    assert known.budget == learned_budget
    assert "●" in speed_rows(known, 90)[2].plain
    items = {item.name for item in known.items if item.bytes}
    shown = "\n".join(row.plain for row in memory_rows(known, 90))
    assert all(name in shown for name in items) and "at 4k" in shown and "at 32k" in shown


def test_a_budget_can_be_anything_between_the_least_and_what_is_of_use(paths: Paths) -> None:
    out = look("35b", paths).outlook()
    scale = budget_scale(out)
    assert scale.low == out.least and out.least <= scale.high <= max(out.least, out.most)
    assert 16 <= (scale.high - scale.low) / scale.step <= 48
    assert contexts(out)[0] == 4096 and contexts(out)[-1] == out.facts.max_context
    assert [tokens_short(count) for count in (4096, 32768, 1 << 20, 5000)] == ["4k", "32k", "1M", "5,000"]


def test_downloads_are_told_in_columns_that_stay() -> None:
    assert {len(left(seconds)) for seconds in (None, 3, 59.9, 61, 3599)} == {9}
    progress = Progress("downloading", 5 << 20, 100 << 20, 2e6, 50.0, "no data for 7 s", 1, 4)
    item = Download("/m/8b", "E/8b", "", "/m/8b", "running", progress)
    text = "\n".join(row.plain for row in transfer_rows(item, 60))
    assert "no data for 7 s" in text and "5.0 %" in text and "1 of 4 files" in text
    assert short(item) == "8b stalled  5 %"
    failed = replace(item, state="failed", error="The disk is full.", hint="Free some space.")
    text = "\n".join(row.plain for row in transfer_rows(failed, 60))
    assert "The disk is full." in text and "Free some space." in text


def test_an_unfinished_download_is_available_and_a_damaged_model_says_why() -> None:
    damaged = Installed("bad", Path("/m/bad"), "models folder", "damaged", "model.safetensors: different")
    fetch = Available("8b", "Edge0 8B", "E/8b", "r", "/m/8b", 100, 40, "unfinished")
    running = Download("/m/8b", "E/8b", "r", "/m/8b", "running", Progress("downloading", 40, 100))
    lines = menu(Shelf((Stored(damaged, 5),), (fetch,), (), ("a/b",)), None, None, {"/m/8b": running})
    by_id = {line.id: line for line in lines}
    assert by_id["model:/m/bad"].choice is None and "damaged" in by_id["model:/m/bad"].note
    assert by_id["get:8b"].running and by_id["get:a/b"].plan == "a/b" and "other" in by_id
    assert not [line for line in lines if line.kind in ("adapter", "routing")], "nothing is loaded"


def test_the_shelf_offers_a_tier_only_while_it_is_not_here(paths: Paths) -> None:
    assert {item.name for item in read_shelf(paths, None).available} == {"8b", "35b"}
    write_synthetic(paths.models / "8b", tiny(), seed=0)
    shelf = read_shelf(paths, Choice())
    assert {item.name for item in shelf.available} == {"35b"}
    assert [stored.model.name for stored in shelf.installed] == ["nano", "8b"]
    assert [stored.removable for stored in shelf.installed] == [False, True]


def test_what_is_said_after_a_switch() -> None:
    base = ModelInfo("35b", "35B", "/m", adapter="a", load_seconds=0.4, base_seconds=12.0, routing="predicted")
    report = AdapterReport("PEFT", "/a", 16, 2.0, 186, 2, 1)
    said = load_report(replace(base, adapter="b", adapter_report=report), base).message
    assert said == "Adapter b: 186 modules applied, 2 not found, 1 skipped, in 0.40 s (a full load took 12.0 s)."
    assert load_report(replace(base, adapter="none"), base).message.startswith("No adapter, in 0.40 s")
    assert load_report(replace(base, routing="exact"), base).message.startswith("Routing is exact now")
    assert "35b is loaded" in load_report(replace(base, base_seconds=0.4), None).message


def test_without_other_tiers_nano_is_taken_and_nothing_is_opened(
    paths: Paths, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(automatic_module, "look", lambda *_: pytest.fail("no plan is needed"))
    assert first_choice(AppOptions(), Settings(), paths) == (Choice(), None)


def test_the_recommended_tier_is_loaded_with_its_reason_unless_another_is_asked_for(
    paths: Paths, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = write_synthetic(paths.models / "8b", tiny(), seed=0)

    def planned(model: str, places: Paths) -> Prospect:
        found = look("8b" if model == "8b" else "nano", places)
        if model == "nano":
            return found
        checkpoint = replace(found.what.model.checkpoint, tier="8b")
        return replace(
            found, what=replace(found.what, id=model, model=replace(found.what.model, checkpoint=checkpoint))
        )

    monkeypatch.setattr(automatic_module, "look", planned)
    found = automatic(paths)
    assert (found.model, found.label) == (str(folder), "8b") and found.reason.startswith("8B: needs")
    choice, notice = first_choice(AppOptions(adapter="none"), Settings(), paths)
    assert choice.model == str(folder) and choice.adapter == "none"
    assert notice and "8B: needs" in notice.message
    assert first_choice(AppOptions(model="nano"), Settings(), paths)[0].model == "nano"
    assert first_choice(AppOptions(), Settings(model=Model(default="nano")), paths) == (Choice(), None)
