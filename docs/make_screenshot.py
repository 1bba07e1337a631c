"""Draws docs/screenshot.png: the real application with nano, after two questions.

python docs/make_screenshot.py docs/screenshot.svg && rsvg-convert docs/screenshot.svg -o docs/screenshot.png
"""

from __future__ import annotations

import asyncio
import os
import sys
import tempfile
from pathlib import Path

QUESTIONS = ("What is the allocator peak?", "What does routing predicted mean?")
SIZE = (120, 40)


async def main(target: Path) -> None:
    os.environ["EDGE0_HOME"] = tempfile.mkdtemp(prefix="edge0-screenshot-")
    from edge0_tui import settings_file
    from edge0_tui.app import Edge0App
    from edge0_tui.first_run import remember
    from edge0_tui.options import AppOptions
    from edge0_tui.paths import find_paths
    from engine.client import EngineClient

    paths = find_paths()
    remember(paths)  # the introduction would stand before the chat
    engine = EngineClient(log_path=paths.engine_log)
    app = Edge0App(AppOptions(model="nano"), paths, settings_file.read(paths.settings), engine)
    try:
        async with app.run_test(size=SIZE) as pilot:
            for question in QUESTIONS:
                while app.controller.link.info is None or app.controller.reply is not None:
                    await pilot.pause(0.2)
                await pilot.press(*question.replace("?", ""), "question_mark", "enter")
                await pilot.pause(1.0)
            while app.controller.reply is not None:
                await pilot.pause(0.2)
            await pilot.pause(1.0)
            # Renderers other than browsers drop spaces at the ends of a text unless told not to.
            drawing = app.export_screenshot(title="edge0-tui").replace("<svg ", '<svg xml:space="preserve" ', 1)
            target.write_text(drawing)
    finally:
        await engine.close()


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1])))
