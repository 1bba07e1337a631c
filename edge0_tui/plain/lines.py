"""Lines from standard input without blocking the event loop."""

from __future__ import annotations

import asyncio
import codecs
import os
from collections.abc import AsyncIterator

_CONTINUES = "\\"
_MOST = 1 << 20


async def lines(descriptor: int) -> AsyncIterator[str]:
    """What a person enters, until the end of the input. A line that ends in a backslash goes on in the next one."""
    loop = asyncio.get_running_loop()
    chunks: asyncio.Queue[bytes] = asyncio.Queue()

    def readable() -> None:
        try:
            data = os.read(descriptor, 65536)
        except OSError:
            data = b""  # the terminal is gone
        if not data:
            loop.remove_reader(descriptor)
        chunks.put_nowait(data)

    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    text, said = "", ""
    loop.add_reader(descriptor, readable)
    try:
        while data := await chunks.get():
            text = (text + decoder.decode(data))[-_MOST:]
            *whole, text = text.split("\n")
            for line in whole:
                if line.endswith(_CONTINUES):
                    said += line.removesuffix(_CONTINUES) + "\n"
                else:
                    yield said + line
                    said = ""
        if said + text:
            yield said + text
    finally:
        loop.remove_reader(descriptor)
