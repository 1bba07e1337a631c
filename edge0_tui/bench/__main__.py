"""`edge0-tui bench start screen ui search download verify`: the application's own measurements, as a table."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence

from edge0_tui.bench import screen, search, start, transfer, ui
from edge0_tui.bench.ui_texts import TOKENS_A_SECOND
from engine.bench.table import Result, as_json, as_text, at_least


def bench_start() -> list[Result]:
    ours, empty = start.measure()
    note = f"median of {start.RUNS}; ours until a key is echoed, the empty app until its first picture"
    return [Result("start to a usable prompt", ours / empty, "≤ 2 ×", ours <= 2 * empty, ours, empty, "s", note)]


def bench_screen() -> list[Result]:
    with_screen, headless = screen.measure()
    note = f"nano, {len(screen.QUESTIONS)} replies, {screen.RUNS} rounds"
    return [
        at_least(
            "decode with the screen open", with_screen, headless, 0.97, "tok/s", lower_is_better=False, note=note
        )
    ]


def bench_ui() -> list[Result]:
    """The screen against Textual's own widgets, and a long chat against a short one."""
    ours, stock = (ui.measured(side, "stream") for side in ("ours", "stock"))
    pace = f"lists, tables and code at {TOKENS_A_SECOND} tok/s; the whole application against one stock Markdown"
    focus = [ui.measured(side, "focus") for side in ("ours", "stock")]
    opening, echo = (ui.measured("ours", name) for name in ("opening", "echo"))
    return [
        _ratio("CPU of the screen while streaming", ours["cpu"], stock["cpu"], 0.25, pace),
        _ratio("event-loop lag p99 while streaming", ours["lag_p99"], stock["lag_p99"], 0.15, pace),
        _ratio(f"blur + focus with {ui.RICH} rich messages", focus[0], focus[1], 0.05, "processor time"),
        _ratio(
            f"opening {ui.MANY} messages / {ui.FEW}", opening[1], opening[0], 2, "processor time, from the file"
        ),
        _ratio(f"key press to echo with {ui.MANY} messages / 0", echo[1], echo[0], 1.5, "median of the clock"),
    ]


def _ratio(name: str, value: float, of: float, bar: float, note: str) -> Result:
    return Result(name, value / of, f"≤ {bar:g} ×", value <= bar * of, value, of, "s", note)


def bench_download() -> list[Result]:
    ours, curl = transfer.measure_download()
    note = f"median of {transfer.ROUNDS}; one file of {transfer.BYTES >> 20} MiB, ours hashed on the way"
    return [_rates("download from loopback", ours, curl, note)]


def bench_verify() -> list[Result]:
    ours, peer = transfer.measure_verify()
    note = f"median of {transfer.ROUNDS}; {transfer.BYTES >> 20} MiB in the page cache, against sha256sum"
    return [_rates("verify", ours, peer, note)]


def _rates(name: str, ours: float, peer: float, note: str) -> Result:
    return at_least(name, ours / 1e6, peer / 1e6, 0.9, "MB/s", lower_is_better=False, note=note)


def bench_search() -> list[Result]:
    usual, longest = search.measure()
    note = f"median from key to first result among {search.CHATS:,} chats, against the time to the next key"
    note += f"; longest {longest:.2f} s"
    share = usual / search.NEXT_KEY
    return [Result("search in saved chats", share, "≤ 1 ×", share <= 1, usual, search.NEXT_KEY, "s", note)]


BENCHES: dict[str, Callable[[], list[Result]]] = {
    "start": bench_start,
    "screen": bench_screen,
    "ui": bench_ui,
    "search": bench_search,
    "download": bench_download,
    "verify": bench_verify,
}


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="edge0-tui bench", description=__doc__)
    parser.add_argument("names", nargs="+", choices=[*BENCHES])
    parser.add_argument("--json", action="store_true", help="print the results as JSON")
    options = parser.parse_args(argv)
    results = [result for name in options.names for result in BENCHES[name]()]
    print(as_json(results) if options.json else as_text(results))
    return 0


if __name__ == "__main__":
    sys.exit(main())
