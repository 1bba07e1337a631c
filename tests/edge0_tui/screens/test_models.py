"""The models screen, with a scripted engine and a hub on loopback: plans, downloads, keeping, switching."""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import AsyncGenerator, Iterator
from pathlib import Path

import pytest
from textual.containers import VerticalScroll
from textual.widgets import Input, OptionList, Static

from edge0_tui.choice import Choice
from edge0_tui.model_menu import MenuLine
from edge0_tui.notices import Notice
from edge0_tui.options import AppOptions
from edge0_tui.screens.ask import AskScreen
from edge0_tui.screens.ask_repository import AskRepositoryScreen
from edge0_tui.screens.models import ModelsScreen
from edge0_tui.screens.palette import Palette
from edge0_tui.startup import first_choice
from edge0_tui.widgets.header import HeaderLine
from edge0_tui.widgets.menu_list import MenuList
from edge0_tui.widgets.models_list import ModelsList
from edge0_tui.widgets.plan.about import EXACT, PREDICTED
from edge0_tui.widgets.plan_card import PlanCard
from edge0_tui.widgets.rows import Rows
from edge0_tui.widgets.slider import Slider
from engine import probe
from engine.checkpoint.synthetic import tiny, write_synthetic
from engine.protocol import Event, Load
from tests.edge0_tui.manager.fake_hub import Answer, FakeHub, Repo, fake_hub
from tests.edge0_tui.screens.driver import SHORT, Driver, opened

REPO = "someone/real-moe"
HEADS = {"replies": [SHORT], "info": {"predicted_available": True, "routing": "predicted", "adapter": "none"}}


@pytest.fixture
def hub(home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeHub]:
    """A repository with a small checkpoint; its largest file stops half way until the gate opens."""
    folder = write_synthetic(home / "tiny", tiny(), seed=0)

    def fault(name: str, asked: dict[str, str], answer: Answer) -> None:
        if len(answer.body) > 400_000:
            answer.pause_at = len(answer.body) // 2

    with fake_hub() as hub:
        hub.repos[REPO] = Repo({path.name: path.read_bytes() for path in folder.iterdir()})
        hub.fault = fault
        monkeypatch.setenv("HF_ENDPOINT", hub.endpoint)
        monkeypatch.setenv("HF_HOME", str(home / "hf"))
        yield hub


class Models:
    """The open models screen, as a person reads it."""

    def __init__(self, driver: Driver) -> None:
        self.driver = driver

    @classmethod
    async def open(cls, driver: Driver) -> Models:
        await driver.ready()
        await driver.pilot.press("ctrl+o")
        await driver.on_screen(ModelsScreen)
        models = cls(driver)
        await driver.until(lambda: models.view.line)
        return models

    @property
    def screen(self) -> ModelsScreen:
        return next(item for item in self.driver.app.screen_stack if isinstance(item, ModelsScreen))

    @property
    def view(self) -> ModelsList:
        return self.screen.query_one(ModelsList)

    @property
    def line(self) -> MenuLine:
        assert self.view.line is not None
        return self.view.line

    @property
    def card(self) -> str:
        return "\n".join(rows.text for rows in self.screen.query(Rows))

    @property
    def note(self) -> str:
        return str(self.screen.query_one("#models-note", Static).content)

    @property
    def keys(self) -> str:
        return str(self.screen.query_one("#models-keys", Static).content)

    def at(self, id: str) -> MenuLine:
        return next(line for line in self.view.lines if line.id == id)

    async def go_to(self, id: str) -> None:
        """With the arrow keys, and until its plan is there, where it has one."""
        for _ in range(40):
            if self.line.id == id:
                break
            await self.driver.pilot.press("down")
        assert self.line.id == id, f"no line {id}: {[line.id for line in self.view.lines]}"

    async def planned(self) -> None:
        card = self.screen.query_one(PlanCard)
        await self.driver.until(lambda: card.outlook is not None)

    async def ask_for(self, repo: str) -> None:
        await self.driver.pilot.press("o")
        await self.driver.on_screen(AskRepositoryScreen)
        await self.driver.until(lambda: self.driver.app.screen.query(Input))
        self.driver.app.screen.query_one(Input).value = repo
        await self.driver.pilot.press("enter")


async def test_a_plan_before_any_weight_then_a_download_that_survives_the_screen(home: Path, hub: FakeHub) -> None:
    async with opened(home) as driver:
        models = await Models.open(driver)
        await models.ask_for("not a name")
        await driver.until(
            lambda: "not a repository" in str(driver.app.screen.query_one("#repository-error").render())
        )
        driver.app.screen.query_one(Input).value = REPO
        await driver.pilot.press("enter")
        await driver.until(lambda: models.view.line and models.view.line.id == f"get:{REPO}")
        await models.planned()
        shards = [name for name in hub.repos[REPO].files if name.startswith("model")]
        assert sum(hub.sent[name] for name in shards) <= len(shards) * (256 << 10), "only headers so far"
        assert "memory plan" in models.card and "free there" in models.card and "unknown" in models.card
        await driver.pilot.press("d")
        await driver.until(lambda: models.line.running and "files" in models.card)
        await driver.pilot.press("escape")
        header = driver.app.chat.query_one(HeaderLine)
        await driver.until(lambda: "↓ someone/real-moe" in str(header.render()))
        assert await driver.ask("Still here?") == "One two three."
        await driver.pilot.press("ctrl+q")
        await driver.on_screen(AskScreen)
        await driver.pilot.press("enter")
        await driver.until(lambda: driver.app.screen is driver.app.chat)
        assert driver.app.jobs.running, "staying leaves the download alone"

        models = await Models.open(driver)
        await models.go_to(f"get:{REPO}")
        await driver.pilot.press("p")
        await driver.until(lambda: models.line.download and models.line.download.state == "paused")
        before = models.line.download
        assert before and before.progress.done_bytes > 0
        hub.gate.set()
        await driver.until(lambda: "go on" in str(models.screen.query_one("#models-keys").render()))
        await driver.pilot.press("enter")
        await driver.until(lambda: any(line.text == REPO and line.stored for line in models.view.lines))
        stored = next(line for line in models.view.lines if line.text == REPO)
        assert stored.stored and stored.stored.model.status == "verified"
        assert "installed and verified" in driver.banner


async def test_cancelling_asks_and_discarding_frees(home: Path, hub: FakeHub) -> None:
    async with opened(home) as driver:
        models = await Models.open(driver)
        await models.ask_for(REPO)
        await driver.until(lambda: models.view.line and models.view.line.id == f"get:{REPO}")
        await driver.pilot.press("d")
        folder = home / "data" / "models" / "someone--real-moe"
        await driver.until(lambda: hub.waiting.is_set() and models.line.running)
        await driver.pilot.press("x")
        await driver.on_screen(AskScreen)
        assert "have arrived" in str(driver.app.screen.query_one("#ask-text", Static).content)
        await driver.pilot.press("down", "enter")
        await driver.until(lambda: "freed" in models.note)
        assert not folder.exists()
        await driver.until(lambda: not models.line.running)


async def test_errors_of_the_hub_say_what_to_do(home: Path, hub: FakeHub) -> None:
    async with opened(home) as driver:
        models = await Models.open(driver)
        await models.ask_for("someone/nothing")
        await driver.until(lambda: "does not exist" in models.card)
        assert "Check the name" in models.card
        await driver.pilot.press("d")
        await driver.until(lambda: models.line.download and models.line.download.state == "failed")
        await driver.until(lambda: "failed" in models.card)
        assert "does not exist" in driver.banner


@pytest.fixture
def stored(home: Path) -> Path:
    """A checkpoint in the models folder."""
    return write_synthetic(home / "data" / "models" / "small", tiny(), seed=0)


async def test_verify_details_and_deleting_which_is_refused_while_loaded(home: Path, stored: Path) -> None:
    async with opened(home) as driver:
        models = await Models.open(driver)
        await models.go_to(f"model:{stored}")
        await models.planned()
        await driver.pilot.press("v")
        await driver.until(lambda: "Verified:" in models.card)
        await driver.pilot.press("i")
        await driver.until(lambda: "quantisation" in models.card)
        assert str(stored) in models.card.replace("\n", "").replace(" ", "")
        await driver.pilot.press("enter")
        await driver.until(lambda: driver.chat.link.loaded and driver.chat.link.loaded.model == str(stored))

        models = await Models.open(driver)
        await models.go_to(f"model:{stored}")
        await driver.pilot.press("delete")
        await driver.until(lambda: "is loaded" in models.note)
        await models.go_to("model:nano")
        await driver.pilot.press("enter")
        await driver.until(lambda: driver.chat.link.loaded and driver.chat.link.loaded.model == "nano")
        await driver.ready()

        models = await Models.open(driver)
        await models.go_to(f"model:{stored}")
        await driver.pilot.press("delete")
        await driver.on_screen(AskScreen)
        answers = driver.app.screen.query_one(MenuList)
        assert "frees" in str(answers.options[1].prompt)
        await driver.pilot.press("down", "enter")
        await driver.until(lambda: "freed" in models.note)
        assert not stored.exists()
        assert f"model:{stored}" not in {line.id for line in models.view.lines}


async def test_the_slider_plans_live_by_keys_and_mouse_and_its_budget_is_loaded(home: Path, stored: Path) -> None:
    async with opened(home) as driver:
        models = await Models.open(driver)
        await models.go_to(f"model:{stored}")
        await models.planned()
        card, slider = models.screen.query_one(PlanCard), models.screen.query_one("#budget", Slider)
        usual = card.outlook
        assert usual and models.screen.budget is None and "usual" in slider.text
        await driver.pilot.press("left")
        await driver.until(lambda: card.outlook and card.outlook.budget < usual.budget)
        await driver.pilot.press("b")
        assert models.screen.budget is None
        region = slider.region
        await driver.pilot.mouse_down(offset=(region.x + 10, region.y))
        await driver.pilot.hover(offset=(region.x + 11, region.y))
        await driver.pilot.mouse_up(offset=(region.x + 11, region.y))
        await driver.until(lambda: models.screen.budget is not None)
        chosen = models.screen.budget
        assert chosen and chosen < usual.budget and card.outlook and card.outlook.budget == chosen
        nano, small = ((models.view.region.x + 4, models.view.region.y + row) for row in (1, 2))
        await driver.pilot.click(offset=nano)
        assert models.line.id == "model:nano" and driver.app.screen is models.screen, "a click shows, and no more"
        await driver.pilot.click(offset=small)
        await driver.pilot.click(offset=small)
        await driver.until(lambda: driver.chat.link.loaded and driver.chat.link.loaded.model == str(stored))
        assert driver.chat.link.loaded and driver.chat.link.loaded.memory_bytes == chosen


async def test_what_does_not_fit_is_not_loaded(home: Path, stored: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    little = dataclasses.replace(probe.memory(), total=200 << 20, available=100 << 20, limit=None)
    monkeypatch.setattr("engine.outlook.machine.probe.memory", lambda: little)
    async with opened(home) as driver:
        models = await Models.open(driver)
        await models.go_to(f"model:{stored}")
        await driver.until(lambda: "✕ no" in models.card)
        assert "memory it needs at the least" in models.card
        await driver.pilot.press("enter")
        await driver.until(lambda: "Not loaded" in models.note)
        assert driver.chat.link.loaded and driver.chat.link.loaded.model == "nano"


async def test_routing_is_explained_and_agreement_is_measured_when_asked(home: Path) -> None:
    async with opened(home, HEADS) as driver:
        models = await Models.open(driver)
        await models.go_to("routing:predicted")
        assert " ".join(models.card.split()).count(PREDICTED) == 1
        await models.go_to("routing:exact")
        assert EXACT in " ".join(models.card.split())
        await models.go_to("agreement")
        await driver.pilot.press("enter")
        await driver.until(lambda: driver.app.settings.model.measure_agreement)
        assert models.line.note == "on"
        await driver.pilot.press("escape")
        asked: list[bool] = []
        generate = driver.chat.link.generate
        driver.chat.link.generate = lambda request: (  # type: ignore[method-assign]
            asked.append(request.measure_agreement) or generate(request)  # type: ignore[func-returns-value]
        )
        await driver.ask("And now?")
        assert asked == [True]


async def test_on_a_narrow_terminal_enter_shows_the_plan_first(home: Path, stored: Path) -> None:
    async with opened(home, size=(80, 24)) as driver:
        models = await Models.open(driver)
        await models.go_to(f"model:{stored}")
        card = models.screen.query_one(PlanCard)
        assert not card.display
        await driver.pilot.press("enter")
        await driver.until(lambda: card.display and "memory plan" in models.card)
        await driver.pilot.press("escape")
        await driver.until(lambda: not card.display)
        assert driver.app.screen is models.screen
        await driver.pilot.press("enter", "enter")
        await driver.until(lambda: driver.chat.link.loaded and driver.chat.link.loaded.model == str(stored))


def palette_lines(driver: Driver) -> str:
    return "\n".join(str(option.prompt) for view in driver.app.screen.query(OptionList) for option in view.options)


async def test_the_palette_opens_the_plan_of_what_was_chosen(home: Path, stored: Path) -> None:
    async with opened(home) as driver:
        await driver.ready()
        await driver.pilot.press("ctrl+p", *"load smal")
        await driver.until(lambda: "Load small" in palette_lines(driver))
        await driver.pilot.press("enter")
        await driver.on_screen(ModelsScreen)
        models = Models(driver)
        await driver.until(lambda: models.view.line)
        assert models.line.id == f"model:{stored}"
        await models.planned()


async def test_every_size_of_terminal_keeps_its_rows_within_the_card(home: Path, stored: Path) -> None:
    async with opened(home, size=(200, 60)) as driver:
        models = await Models.open(driver)
        await models.go_to(f"model:{stored}")
        await models.planned()
        for size in ((100, 30), (60, 20)):
            await driver.pilot.resize_terminal(*size)
            await driver.pilot.pause()
            if models.screen.narrow and not models.screen.on_card:
                await driver.pilot.press("enter")
            await driver.pilot.pause()
            for rows in models.screen.query(Rows):
                widest = max((row.cell_length for row in rows.rows), default=0)
                assert widest <= rows.content_size.width, (size, rows.id)


async def test_the_start_says_once_why_it_chose_a_tier(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from edge0_tui.automatic import Automatic

    folder = write_synthetic(home / "eight", tiny(), seed=0)
    chosen = Automatic(str(folder), "8b", "8B: needs 2.90 GiB of 5 GiB available now.")
    monkeypatch.setattr("edge0_tui.startup.automatic", lambda *_: chosen)
    told: list[Notice] = []
    async with opened(home) as driver:
        monkeypatch.setattr(driver.app.chat, "show_notice", told.append)
        await driver.ready()
        assert driver.chat.link.loaded and driver.chat.link.loaded.model == str(folder)
    assert [notice.message for notice in told] == [f"Chosen for this machine: {chosen.reason}"]
    async with opened(home, options=AppOptions(model="nano")) as driver:
        await driver.ready()
        assert driver.chat.link.loaded and driver.chat.link.loaded.model == "nano"


async def test_the_keys_shown_are_those_of_the_line(home: Path, stored: Path) -> None:
    async with opened(home) as driver:
        models = await Models.open(driver)
        await models.go_to(f"model:{stored}")
        await models.planned()
        await driver.until(lambda: "budget" in models.keys and "pgdn more" in models.keys)
        await driver.pilot.press("delete")
        await driver.until(lambda: isinstance(driver.app.screen, AskScreen))
        await driver.pilot.press("escape")
        models.screen.tell(Notice("About this one."))
        await models.go_to("other")
        await driver.until(lambda: "type a name" in models.keys)
        assert "budget" not in models.keys and "measure" not in models.keys
        assert models.note == "", "what was told about another line is taken back"


async def test_the_page_keys_scroll_the_card_and_details_come_first(home: Path, stored: Path) -> None:
    async with opened(home, size=(120, 30)) as driver:
        models = await Models.open(driver)
        await models.go_to(f"model:{stored}")
        await models.planned()
        scroll = models.screen.query_one("#card-scroll", VerticalScroll)
        await driver.until(lambda: scroll.max_scroll_y > 0)
        await driver.pilot.press("pagedown")
        await driver.until(lambda: scroll.scroll_y > 0)
        assert models.line.id == f"model:{stored}", "the cursor of the list stays"
        await driver.pilot.press("i")
        await driver.until(lambda: "quantisation" in models.card)
        await driver.until(lambda: scroll.scroll_y == 0)
        assert models.card.index("details") < models.card.index("memory plan")
        await driver.pilot.press("pagedown")
        await models.go_to("other")
        assert scroll.scroll_y == 0


async def test_a_load_that_ends_while_the_screen_is_open_is_seen(home: Path, stored: Path) -> None:
    async with opened(home, HEADS) as driver:
        models = await Models.open(driver)
        gate = asyncio.Event()
        loads = driver.engine.load

        async def slow(request: Load) -> AsyncGenerator[Event, None]:
            await gate.wait()
            async for event in loads(request):
                yield event

        driver.engine.load = slow  # type: ignore[method-assign]
        driver.app.spawn(driver.chat.link.load(Choice(str(stored))))
        await driver.until(lambda: "loading" in models.at(f"model:{stored}").note)
        gate.set()
        await driver.until(lambda: models.at(f"model:{stored}").marked)
        assert any(line.kind == "routing" and line.marked for line in models.view.lines)


async def test_a_model_is_chosen_for_every_start_and_given_back(home: Path, stored: Path) -> None:
    async with opened(home) as driver:
        models = await Models.open(driver)
        await models.go_to(f"model:{stored}")
        await driver.pilot.press("s")
        await driver.until(lambda: driver.app.settings.model.default == str(stored))
        assert "at every start" in models.note and "Loaded at every start" in models.card
        assert first_choice(AppOptions(), driver.app.settings, driver.app.paths)[0].model == str(stored)
        await driver.until(lambda: "automatic start" in models.keys)
        await driver.pilot.press("s")
        await driver.until(lambda: driver.app.settings.model.default == "automatic")
        assert "Loaded at every start" not in models.card


async def test_what_has_arrived_in_whole_is_not_thrown_away_by_a_question_from_before(
    home: Path, hub: FakeHub
) -> None:
    folder = home / "data" / "models" / "someone--real-moe"
    async with opened(home) as driver:
        models = await Models.open(driver)
        await models.ask_for(REPO)
        await driver.until(lambda: models.view.line and models.view.line.id == f"get:{REPO}")
        await driver.pilot.press("d")
        await driver.until(lambda: hub.waiting.is_set() and models.line.running)
        await driver.pilot.press("x")
        await driver.on_screen(AskScreen)
        hub.gate.set()
        await driver.until(lambda: not driver.app.jobs.running)
        await driver.pilot.press("down", "enter")
        await driver.until(lambda: "arrived in whole" in models.note)
        assert (folder / "config.json").exists()
        await driver.until(lambda: models.line.id == f"model:{folder}")
        assert f"get:{REPO}" not in {line.id for line in models.view.lines}


async def test_a_plan_that_is_known_is_drawn_for_the_width_there_is(home: Path, stored: Path) -> None:
    async with opened(home) as driver:
        models = await Models.open(driver)
        await models.go_to("model:nano")
        await models.planned()
        await driver.pilot.press("escape")
        await driver.until(lambda: driver.app.screen is driver.app.chat)
        models = await Models.open(driver)
        await models.planned()
        rows = models.screen.query_one("#card-body", Rows)
        await driver.until(lambda: max(row.cell_length for row in rows.rows) > 50)


async def test_a_palette_closed_while_it_searches_ends_nothing(home: Path) -> None:
    async with opened(home) as driver:
        await driver.ready()
        await driver.pilot.press("ctrl+p")
        await driver.on_screen(Palette)
        palette = driver.app.screen
        assert isinstance(palette, Palette)
        await palette.query_one("#--container").remove()  # as closing does before the search has ended
        await palette._gather_commands("load").wait()
        await driver.pilot.press("escape")
        await driver.until(lambda: driver.app.screen is driver.app.chat)


async def test_the_palette_does_not_wait_for_a_slow_disk(home: Path) -> None:
    async with opened(home) as driver:
        await driver.ready()
        never = asyncio.Event()
        driver.app.desk.look_around = never.wait  # type: ignore[method-assign,assignment]
        await driver.pilot.press("ctrl+p", *"saved")
        await driver.until(lambda: "Chats" in palette_lines(driver))
        never.set()


async def test_what_is_found_damaged_keeps_the_cursor_and_says_what_is_wrong(home: Path, hub: FakeHub) -> None:
    hub.fault = None
    folder = home / "data" / "models" / "someone--real-moe"
    async with opened(home) as driver:
        models = await Models.open(driver)
        await models.ask_for(REPO)
        await driver.until(lambda: models.view.line and models.view.line.id == f"get:{REPO}")
        await driver.pilot.press("d")
        await driver.until(lambda: models.line.id == f"model:{folder}")
        shard = folder / "model-00001-of-00003.safetensors"
        data = bytearray(shard.read_bytes())
        data[len(data) // 2] ^= 1
        shard.write_bytes(data)
        await driver.pilot.press("v")
        await driver.until(lambda: models.line.fetch and models.line.fetch.path == str(folder))
        assert models.line.note.endswith("unfinished")
        await driver.until(lambda: "Not as it should be" in models.card and shard.name in models.card)
        await driver.until(lambda: "go on fetching" in models.keys)
