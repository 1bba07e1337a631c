"""`edge0-tui serve`: the application in a browser."""

from __future__ import annotations

import argparse
import asyncio
import secrets
import sys
from importlib.util import find_spec

from edge0_tui.console import Console
from edge0_tui.exit_codes import DONE
from edge0_tui.serving.access import LOCAL, address
from engine.errors import UsageError

NEEDED = ("textual_serve", "aiohttp")


def run(options: argparse.Namespace) -> int:
    """Until ctrl+c. Listens where it was asked to and says so."""
    if any(find_spec(name) is None for name in NEEDED):
        raise UsageError(
            "`serve` needs the extra that brings textual-serve.", "pip install 'edge0-tui[serve]' adds it."
        )
    from edge0_tui.serving.server import Server

    console, secret = Console(), secrets.token_urlsafe(16)

    def listening(port: int) -> None:
        console.message(f"Open {address(options.host, port, secret)} in a browser; ctrl+c ends it.")
        if options.host in LOCAL:
            console.message(
                "Only this machine can reach it. Whoever has the address can read and write your chats."
            )
        else:
            console.message(
                f"Other machines reach it at {options.host}, without encryption. Whoever has the address can read "
                "and write your chats."
            )

    try:
        asyncio.run(Server(command(options), options.host, secret).run(options.port, listening))
    except OSError as error:
        raise UsageError(
            f"Cannot listen on {options.host}:{options.port}: {error.strerror or error}.", "--port takes another."
        ) from None
    except KeyboardInterrupt:
        pass
    return DONE


def command(options: argparse.Namespace) -> list[str]:
    """The application as it is started for the browser, with the options that were given."""
    arguments = [sys.executable, "-P", "-m", "edge0_tui.cli"]
    for name in ("model", "adapter", "routing", "context", "resume"):
        if value := getattr(options, name):
            arguments.append(f"--{name}={value}")
    if options.memory:
        arguments.append(f"--memory={options.memory}")
    if options.continue_last:
        arguments.append("--continue")
    return arguments
