"""The command line: `edge0-tui` opens the application, its subcommands work without a screen."""

from __future__ import annotations

import argparse
import gc
import os
import sys
from collections.abc import Callable
from importlib import import_module

from edge0_tui import exit_codes
from edge0_tui.commands.parser import APP_OPTIONS, build_parser
from edge0_tui.in_browser import in_browser
from edge0_tui.options import AppOptions
from engine import __version__
from engine.errors import EngineError


def main(argv: list[str] | None = None) -> int:
    """The exit code. Raises `SystemExit` only from argparse (2 for wrong usage, 0 for --help)."""
    arguments = sys.argv[1:] if argv is None else argv
    try:
        if arguments[:1] == ["bench"]:
            from edge0_tui.commands import bench

            return bench.run(arguments[1:])
        return _run(arguments)
    except EngineError as error:
        print(f"edge0-tui: {error}", file=sys.stderr)
        return error.exit_code
    except BrokenPipeError:
        # Whatever is still buffered must not raise again when the interpreter flushes it.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return exit_codes.STOPPED
    except KeyboardInterrupt:
        return exit_codes.STOPPED


def _run(arguments: list[str]) -> int:
    parser = build_parser()
    options = parser.parse_args(arguments)
    if options.version:
        print(f"edge0-tui {__version__}")
        return exit_codes.DONE
    for name in APP_OPTIONS:
        if name not in options.takes and getattr(options, name):
            parser.error(f"--{name.removesuffix('_last')} has no effect with {options.command}")
    if options.command == "bench":
        parser.error("bench passes its arguments on; options before it have no effect")
    if not options.handler:
        return _open_application(parser, options)
    module, _, function = options.handler.partition(":")
    handler: Callable[[argparse.Namespace], int] = getattr(import_module(f"edge0_tui.commands.{module}"), function)
    return handler(options)


def _open_application(parser: argparse.ArgumentParser, options: argparse.Namespace) -> int:
    if options.resume and options.continue_last:
        parser.error("--resume and --continue exclude each other")
    browser = in_browser()
    plain = not browser and (options.plain or os.environ.get("TERM") == "dumb")
    if not browser and not (sys.stdin.isatty() and (plain or sys.stdout.isatty())):
        parser.error("the application needs a terminal; `edge0-tui run -p TEXT` works without one")
    chosen = AppOptions(
        model=options.model or "",
        adapter=options.adapter or "",
        routing=options.routing or "",
        memory=options.memory,
        context=options.context,
        resume=options.resume or "",
        continue_last=options.continue_last,
    )
    if plain:
        from edge0_tui.plain.session import run_plain

        return run_plain(chosen)
    # Imports and the first picture only make objects that stay, and the collector would go through them again and
    # again. `Edge0App` turns it on once that picture is drawn.
    gc.disable()
    from edge0_tui.app import run_app

    return run_app(chosen)


if __name__ == "__main__":
    sys.exit(main())
