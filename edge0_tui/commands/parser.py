"""The command line's grammar. Commands name their handler as text, so that only the one that runs is imported."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from edge0_tui import exit_codes
from edge0_tui.commands.values import real, size, whole

if TYPE_CHECKING:
    Commands = argparse._SubParsersAction[argparse.ArgumentParser]

ENGINE_OPTIONS = ("model", "adapter", "routing", "memory", "context")
APP_OPTIONS = (*ENGINE_OPTIONS, "resume", "continue_last", "plain")
PLAN_OPTIONS = ("memory", "context", "routing")
MODEL_HELP = "nano, 8b, 35b or a checkpoint's directory"


def build_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="edge0-tui",
        description="Chat with mixture-of-experts models larger than the machine's memory.",
        epilog=exit_codes.EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.set_defaults(handler="", takes=APP_OPTIONS)
    parser.add_argument("--version", action="store_true", help="print the version and leave")
    _add_engine_options(parser)
    _add_conversation_options(parser)
    plain = "lines instead of a full screen, for screen readers (also where TERM is dumb)"
    parser.add_argument("--plain", action="store_true", help=plain)
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")
    _add_run(commands)
    _add_models(commands)
    _add_adapters(commands)
    _add_transcripts(commands)
    _add_json(_command(commands, "doctor", "doctor:run", "versions, device, memory, paths and models, for reports"))
    _add_serve(commands)
    commands.add_parser("bench", help="measure the engine; see bench --help", add_help=False)
    return parser


def _add_engine_options(parser: argparse.ArgumentParser, default: object = None) -> None:
    add = parser.add_argument
    add("-m", "--model", default=default, metavar="MODEL", help=MODEL_HELP)
    add("-a", "--adapter", default=default, metavar="ADAPTER", help="an adapter's name or file, or none")
    add("--routing", choices=("exact", "predicted"), default=default, help="who chooses the experts")
    add("--memory", type=size, default=default, metavar="SIZE", help="what the engine may use, as 3GiB")
    add("--context", type=whole(1), default=default, metavar="N", help="tokens to keep room for")


def _add_conversation_options(parser: argparse.ArgumentParser, default: object = None) -> None:
    add = parser.add_argument
    add("--resume", metavar="ID", default=default, help="open this conversation")
    last = "open the last conversation"
    add("--continue", dest="continue_last", action="store_true", default=default or False, help=last)


def _add_run(commands: Commands) -> None:
    parser = _command(commands, "run", "run:run", "one reply without a screen", ENGINE_OPTIONS)
    add = parser.add_argument
    add("-p", "--prompt", metavar="TEXT", help="what to say; - reads it from standard input")
    add("standard_input", nargs="?", choices=("-",), metavar="-", help="the same as -p -")
    # Without a default of their own these keep what was given before the command.
    _add_engine_options(parser, argparse.SUPPRESS)
    add("--messages", metavar="FILE", help="earlier turns: a JSON list of {role, content}")
    add("--system", metavar="TEXT", help="the system message")
    add("--thinking", action="store_true", help="let the model think; goes to standard error")
    add("--raw", action="store_true", help="take the prompt as it is, without a template")
    add("--json", action="store_true", help="print one object at the end, with ids and figures")
    add("--measure-agreement", action="store_true", help="compare with the true router (slower)")
    add = parser.add_argument_group("sampling", "What is not given is taken from the checkpoint.").add_argument
    add("--temperature", type=real(0, 10), metavar="X", help="0 is greedy")
    add("--greedy", action="store_true", help="always the likeliest token")
    add("--top-k", type=whole(0), metavar="N", help="choose among the N likeliest; 0: no limit")
    add("--top-p", type=real(0, 1, above_low=True), metavar="X", help="among those making up this probability")
    add("--min-p", type=real(0, 1), metavar="X", help="not those below this share of the likeliest")
    add("--repetition-penalty", type=real(0, 10, above_low=True), metavar="X", help="above 1: fewer repetitions")
    add("--seed", type=whole(0, 2**63 - 1), metavar="N", help="the same seed gives the same reply")
    add("--max-tokens", type=whole(1), metavar="N", help="longest reply, thinking included")


def _add_serve(commands: Commands) -> None:
    takes = tuple(name for name in APP_OPTIONS if name != "plain")
    parser = _command(commands, "serve", "serve:run", "the application in a browser (extra: serve)", takes)
    _add_engine_options(parser, argparse.SUPPRESS)
    _add_conversation_options(parser, argparse.SUPPRESS)
    parser.add_argument(
        "--host", default="127.0.0.1", metavar="ADDRESS", help="where to listen; else this machine only"
    )
    parser.add_argument(
        "--port", type=whole(0, 65535), default=8000, metavar="N", help="0: any that is free; else 8000"
    )


def _add_models(commands: Commands) -> None:
    models = _group(commands, "models", "installed models, and fetching more")
    _add_json(_command(models, "ls", "models:ls", "list what is installed"))
    info = _command(models, "info", "models:info", "what a checkpoint is", ("model",))
    info.add_argument("model", metavar="MODEL", help=MODEL_HELP)
    _add_json(info)
    _add_plan(models)
    get = _command(models, "get", "models_get:get", "fetch a model, or go on with an interrupted download")
    get.add_argument("what", metavar="WHAT", help="8b, 35b, or a repository of the hub as owner/name[@revision]")
    get.add_argument("--into", metavar="DIR", help="the folder to put the model's folder into")
    _add_json(get)
    verify = _command(models, "verify", "models_keep:verify", "read and hash every file of a model", ("model",))
    verify.add_argument("model", metavar="MODEL", help=MODEL_HELP)
    _add_json(verify)
    rm = _command(models, "rm", "models_keep:rm", "delete a model that was fetched", ("model",))
    rm.add_argument("model", metavar="MODEL", help="a name of the list, or a directory")
    rm.add_argument("--yes", action="store_true", help="do not ask")
    _add_json(rm)


def _add_plan(models: Commands) -> None:
    plan = _command(models, "plan", "plan:run", "what to expect of a model here", ("model", *PLAN_OPTIONS))
    add = plan.add_argument
    add("model", metavar="MODEL", nargs="?", help=f"{MODEL_HELP}; without: all tiers, and which to take")
    add("--memory", type=size, default=argparse.SUPPRESS, metavar="SIZE", help="what the engine may use, as 3GiB")
    add("--context", type=whole(1), default=argparse.SUPPRESS, metavar="N", help="tokens to keep room for")
    add("--routing", choices=("exact", "predicted"), default=argparse.SUPPRESS, help="who chooses the experts")
    add("--volume", metavar="DIR", help="the disk to plan for; without: where the model is or would be put")
    add("--measure", action="store_true", help="measure disk and kernels (some 15 s, a minute where slow)")
    _add_json(plan)


def _add_adapters(commands: Commands) -> None:
    adapters = _group(commands, "adapters", "adapters and prerouter heads")
    ls = _command(adapters, "ls", "adapters:ls", "list those beside the models and in the folder", ("model",))
    info = _command(adapters, "info", "adapters:info", "what one is, and what a model takes of it", ("model",))
    info.add_argument("which", metavar="ADAPTER", help="a name from the list, a file or a folder")
    add = _command(adapters, "add", "adapters:add", "copy a file or folder into the adapters folder", ("model",))
    add.add_argument("path", metavar="PATH", help="published, mlx-lm's or PEFT's")
    add.add_argument("--name", metavar="NAME", help="what to call it")
    rm = _command(adapters, "rm", "adapters:rm", "delete from the adapters folder")
    rm.add_argument("name", metavar="NAME", help="as in the list")
    for parser, help in ((ls, "only this model's"), (info, "compare with it"), (add, "it must fit this model")):
        parser.add_argument("-m", "--model", default=argparse.SUPPRESS, metavar="MODEL", help=help)
    for parser in (ls, info, add, rm):
        _add_json(parser)


def _add_transcripts(commands: Commands) -> None:
    transcripts = _group(commands, "transcripts", "saved conversations")
    ls = _command(transcripts, "ls", "transcripts:ls", "list them: pinned first, then the latest")
    which = ls.add_mutually_exclusive_group()
    which.add_argument("--archived", action="store_true", help="the archived ones instead")
    which.add_argument("--deleted", action="store_true", help="those in the trash instead, with their keys")
    _add_json(ls)
    _add_json(_transcript(transcripts, "show", "transcripts:show", "print one"))
    search = _command(transcripts, "search", "transcripts_exchange:search", "find words in titles and texts")
    search.add_argument("words", nargs="+", metavar="WORD", help="all must be there; without case and accents")
    search.add_argument("--archived", action="store_true", help="in archived ones, too")
    _add_json(search)
    export = _transcript(transcripts, "export", "transcripts_exchange:export", "write one as a file to give away")
    export.add_argument("--format", choices=("md", "json", "html"), help="as the file's name ends; else md")
    export.add_argument("--branch", action="store_true", help="the visible branch alone, not the whole tree")
    export.add_argument("-o", "--output", metavar="FILE", help="a file or folder; not given: standard output")
    export.add_argument("--force", action="store_true", help="write over a file that is there")
    _add_json(export)
    take = _command(transcripts, "import", "transcripts_exchange:take_in", "take in exported files")
    take.add_argument("files", nargs="+", metavar="FILE", help="Markdown, JSON or HTML, as exported")
    _add_json(take)
    rm = _command(transcripts, "rm", "transcripts:rm", "move some to the trash, where they stay for 30 days")
    rm.add_argument("ids", nargs="+", metavar="ID", help="as in the list; its beginning is enough")
    _add_json(rm)
    restore = _command(transcripts, "restore", "transcripts:restore", "bring a deleted one back")
    restore.add_argument("key", metavar="KEY", help="as `ls --deleted` and `rm` say it")
    _add_json(restore)


def _transcript(commands: Commands, name: str, handler: str, help: str) -> argparse.ArgumentParser:
    parser = _command(commands, name, handler, help)
    parser.add_argument("id", metavar="ID", help="as in the list; its beginning is enough")
    return parser


def _group(commands: Commands, name: str, help: str) -> Commands:
    parser = commands.add_parser(name, help=help, description=_sentence(help), allow_abbrev=False)
    return parser.add_subparsers(dest="action", metavar="ACTION", required=True)


def _command(
    commands: Commands, name: str, handler: str, help: str, takes: tuple[str, ...] = ()
) -> argparse.ArgumentParser:
    """`handler` is `module:function` in `edge0_tui.commands`; `takes` are the options it shares with the app."""
    parser = commands.add_parser(
        name,
        help=help,
        description=_sentence(help),
        epilog=exit_codes.EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.set_defaults(handler=handler, takes=takes)
    return parser


def _add_json(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print JSON")


def _sentence(help: str) -> str:
    return f"{help[0].upper()}{help[1:]}."
