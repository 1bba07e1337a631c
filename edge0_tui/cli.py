"""The command line: `edge0-tui` opens the application, its subcommands work without a screen."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from edge0_tui import exit_codes
from edge0_tui.commands.values import size, whole
from engine.errors import EngineError

_ENGINE_OPTIONS = ("model", "adapter", "routing", "memory", "context")
_APP_OPTIONS = (*_ENGINE_OPTIONS, "resume", "continue_last")


def main(argv: list[str] | None = None) -> int:
    """The exit code. Raises `SystemExit` only from argparse (2 for wrong usage, 0 for --help)."""
    arguments = sys.argv[1:] if argv is None else argv
    try:
        if arguments[:1] == ["bench"]:
            from edge0_tui.commands import bench

            return bench.run(arguments[1:])
        return _dispatch(build_parser(), arguments)
    except EngineError as error:
        print(f"edge0-tui: {error}", file=sys.stderr)
        return error.exit_code
    except BrokenPipeError:
        # Whatever is still buffered must not raise again when the interpreter flushes it.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return exit_codes.STOPPED
    except KeyboardInterrupt:
        return exit_codes.STOPPED


def build_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="edge0-tui",
        description="Chat with mixture-of-experts models larger than the machine's memory.",
        epilog=exit_codes.EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="store_true", help="print the version and leave")
    _add_engine_options(parser)
    parser.add_argument("--resume", metavar="ID", help="open this conversation")
    parser.add_argument("--continue", dest="continue_last", action="store_true", help="open the last conversation")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")
    _add_run(commands)
    _add_models(commands)
    _add_transcripts(commands)
    doctor = _command(commands, "doctor", "versions, device, memory, paths and models, for reports")
    _add_json(doctor)
    commands.add_parser("bench", help="measure the engine; see bench --help", add_help=False)
    return parser


def _dispatch(parser: argparse.ArgumentParser, arguments: list[str]) -> int:
    options = parser.parse_args(arguments)
    if options.version:
        from engine import __version__

        print(f"edge0-tui {__version__}")
        return exit_codes.DONE
    if options.command is None:
        return _open_application(parser, options)
    _refuse_idle_options(parser, options)
    match options.command, getattr(options, "action", None):
        case "run", _:
            from edge0_tui.commands import run

            return run.run(options)
        case "doctor", _:
            from edge0_tui.commands import doctor

            return doctor.run(options)
        case "models", action:
            from edge0_tui.commands import models

            return models.ls(options) if action == "ls" else models.info(options)
        case "adapters", _:
            from edge0_tui.commands import adapters

            return adapters.ls(options)
        case "transcripts", action:
            from edge0_tui.commands import transcripts

            return transcripts.ls(options) if action == "ls" else transcripts.show(options)
    parser.error(f"{options.command}: an option before the command cannot be used with it")


def _open_application(parser: argparse.ArgumentParser, options: argparse.Namespace) -> int:
    from edge0_tui.options import AppOptions

    if options.resume and options.continue_last:
        parser.error("--resume and --continue exclude each other")
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        parser.error("the application needs a terminal; `edge0-tui run -p TEXT` works without one")
    from edge0_tui.app import run_app

    return run_app(AppOptions(**{name: getattr(options, name) or _EMPTY[name] for name in _APP_OPTIONS}))


_EMPTY = {"memory": None, "context": None, "continue_last": False} | dict.fromkeys(
    ("model", "adapter", "routing", "resume"), ""
)


def _refuse_idle_options(parser: argparse.ArgumentParser, options: argparse.Namespace) -> None:
    """An option of the application before a command that does not take it would silently do nothing."""
    taken = {"run": _ENGINE_OPTIONS, "adapters": ("model",), "models": ("model",)}.get(options.command, ())
    for name in _APP_OPTIONS:
        if name not in taken and getattr(options, name, None):
            parser.error(f"--{name.removesuffix('_last')} has no effect with {options.command}")


def _add_engine_options(parser: argparse.ArgumentParser, default: object = None) -> None:
    add = parser.add_argument
    add("-m", "--model", default=default, metavar="MODEL", help="nano, 8b, 35b or a checkpoint's directory")
    add("-a", "--adapter", default=default, metavar="ADAPTER", help="an adapter's name or file, or none")
    add("--routing", choices=("exact", "predicted"), default=default, help="who chooses the experts")
    add("--memory", type=size, default=default, metavar="SIZE", help="what the engine may use, as 3GiB")
    add("--context", type=whole(1), default=default, metavar="N", help="tokens to keep room for")


def _add_run(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    from edge0_tui.commands import run

    parser = _command(commands, "run", "one reply without a screen")
    # Without a default of their own these keep what was given before the command.
    _add_engine_options(parser, argparse.SUPPRESS)
    run.add_arguments(parser)


def _add_models(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    models = _actions(_command(commands, "models", "installed models"))
    _add_json(_command(models, "ls", "list what is installed"))
    info = _command(models, "info", "what a checkpoint is")
    info.add_argument("model", metavar="MODEL", help="nano, 8b, 35b or a checkpoint's directory")
    _add_json(info)
    adapters = _actions(_command(commands, "adapters", "adapters and prerouter heads"))
    ls = _command(adapters, "ls", "list those beside the installed models")
    ls.add_argument("-m", "--model", default=argparse.SUPPRESS, metavar="MODEL", help="only this model's")
    _add_json(ls)


def _add_transcripts(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    transcripts = _actions(_command(commands, "transcripts", "saved conversations"))
    _add_json(_command(transcripts, "ls", "list them, newest first"))
    show = _command(transcripts, "show", "print one")
    show.add_argument("id", metavar="ID", help="as in the list; its beginning is enough")
    _add_json(show)


def _actions(parser: argparse.ArgumentParser) -> argparse._SubParsersAction[argparse.ArgumentParser]:
    return parser.add_subparsers(dest="action", metavar="ACTION", required=True)


def _command(
    commands: argparse._SubParsersAction[argparse.ArgumentParser], name: str, help: str
) -> argparse.ArgumentParser:
    return commands.add_parser(
        name,
        help=help,
        description=help[0].upper() + help[1:] + ".",
        epilog=exit_codes.EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )


def _add_json(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print JSON")


if __name__ == "__main__":
    sys.exit(main())
