"""Every setting once: its default, its bounds and what it does. The file and the settings screen follow from this.

`Settings` is a value. Whoever changes one makes a new `Settings` and hands it on; nothing here is global.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Option:
    """What the file reader and the settings screen need to know about one setting."""

    title: str
    help: str
    low: float | None = None
    high: float | None = None
    choices: tuple[str, ...] = ()
    kind: str = ""
    restart: bool = False


def _option(default: Any, title: str, help: str, **more: Any) -> Any:
    return field(default=default, metadata={"option": Option(title, help, **more)})


@dataclass(frozen=True)
class Look:
    """Look"""

    theme: str = _option("tidepool", "Theme", "The colours, by the name of a theme.", kind="theme")
    panel: bool = _option(True, "Live figures", "Show the panel of figures where the terminal is wide enough.")
    animations: bool = _option(True, "Animations", "Let things move: the blinking cursor and smooth scrolling.")


@dataclass(frozen=True)
class Attention:
    """Attention. While the terminal is out of focus."""

    when_answered: str = _option(
        "desktop",
        "When an answer ends",
        "Call you back with the terminal's bell or a desktop notification, if the window is not in front.",
        choices=("off", "bell", "desktop"),
    )
    after_seconds: float = _option(
        20.0, "Only after", "Seconds an answer must have taken to be worth it.", low=0.0, high=3600.0
    )
    title: bool = _option(True, "Window title", "Name the terminal's window after the chat.")


@dataclass(frozen=True)
class Chat:
    """Chat"""

    enter_sends: bool = _option(
        True,
        "Enter sends",
        "Off: the keys that send and those for a new line change places, which suits input methods.",
    )
    thinking: bool = _option(False, "Thinking", "Ask models that can to think before they answer.")
    show_thinking: bool = _option(False, "Unfold thinking", "Show the thinking itself instead of one folded line.")
    keep_prompts: bool = _option(True, "Keep prompts", "Remember what you send, to find it again in any chat.")
    autosave_seconds: float = _option(
        1.0, "Autosave interval", "Seconds between saves of what is being written.", low=0.5, high=60.0
    )


@dataclass(frozen=True)
class Model:
    """Model"""

    default: str = _option(
        "automatic",
        "Load at start",
        "automatic: the tier that suits the memory free then; or always nano, 8b, 35b or a directory.",
        kind="model",
        restart=True,
    )
    memory: str = _option(
        "", "Memory budget", "What the engine may use, as 3GiB. Empty: planned for this machine.", kind="size"
    )
    context: int = _option(0, "Context", "Tokens to keep room for. 0: what the plan allows.", low=0, high=1_048_576)
    measure_agreement: bool = _option(
        False,
        "Measure agreement",
        "With predicted routing also ask the model's own router, and show how often they agree. Slower.",
    )


@dataclass(frozen=True)
class Models:
    """Models"""

    folders: tuple[str, ...] = _option(
        (),
        "More folders",
        "Where else checkpoints lie, as on an external disk; several with : between.",
        kind="paths",
    )


@dataclass(frozen=True)
class SamplingDefaults:
    """Sampling. What is left empty is taken from the checkpoint."""

    temperature: float | None = _option(
        None, "Temperature", "0 always takes the likeliest token; higher is freer.", low=0.0, high=2.0
    )
    top_k: int | None = _option(
        None, "Top k", "Choose among the k likeliest tokens. 0: no limit.", low=0, high=1000
    )
    top_p: float | None = _option(
        None, "Top p", "Choose among the tokens that make up this share of the probability.", low=0.01, high=1.0
    )
    min_p: float | None = _option(
        None, "Min p", "Leave out tokens less likely than this share of the likeliest.", low=0.0, high=1.0
    )
    repetition_penalty: float | None = _option(
        None, "Repetition penalty", "Above 1 the reply avoids its own words.", low=0.5, high=2.0
    )
    max_tokens: int | None = _option(None, "Longest answer", "Tokens, thinking included.", low=1, high=131_072)


@dataclass(frozen=True)
class Storage:
    """Storage"""

    data_dir: str = _option(
        "", "Data directory", "Where conversations are kept. Empty: the usual place.", kind="path", restart=True
    )


@dataclass(frozen=True)
class Settings:
    """All settings, by section as in the file."""

    look: Look = field(default_factory=Look)
    attention: Attention = field(default_factory=Attention)
    chat: Chat = field(default_factory=Chat)
    model: Model = field(default_factory=Model)
    models: Models = field(default_factory=Models)
    sampling: SamplingDefaults = field(default_factory=SamplingDefaults)
    storage: Storage = field(default_factory=Storage)
