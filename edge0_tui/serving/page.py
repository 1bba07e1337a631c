"""The page that shows the application. All of it comes from this server: no fonts or scripts from elsewhere."""

from __future__ import annotations

from html import escape
from string import Template

HEADERS = {
    "Content-Security-Policy": "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; "
    "font-src 'self' data:; connect-src 'self' ws: wss:; frame-ancestors 'none'",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "no-store",
}
_PAGE = Template("""\
<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>edge0</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/static/css/xterm.css">
<script src="/static/js/textual.js"></script>
<style>
@font-face { font-family: "Roboto Mono"; src: url("/static/fonts/RobotoMono-VariableFont_wght.ttf"); }
html, body { margin: 0; height: 100%; overflow: hidden; background: #10171a; color: #cfd8d6;
  font: 16px "Roboto Mono", monospace; }
.textual-terminal { height: 100vh; }
p { position: absolute; inset: 0; margin: 0; padding: 3rem; background: #10171a; z-index: 10; }
body.-first-byte .begin, body:not(.-closed) .end { display: none; }
</style>
</head>
<body>
<p class="begin">edge0 is starting…</p>
<p class="end">The session has ended, or edge0 is open in another tab. Reload to go on; conversations are kept.</p>
<div id="terminal" class="textual-terminal" data-session-websocket-url="$socket" data-font-size="15"></div>
</body>
</html>
""")


def page(socket: str) -> str:
    """`socket` is the address of the web socket that leads to the application."""
    return _PAGE.substitute(socket=escape(socket))
