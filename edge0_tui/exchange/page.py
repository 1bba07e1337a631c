"""The page around an exported chat. `$` marks what is filled in."""

PAGE = """\
<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<meta name="generator" content="edge0-tui">
<title>$title</title>
<style>
:root { color-scheme: light dark; --text: #1c2326; --quiet: #5b676c; --ground: #fbfcfb; --raised: #eef2f1;
  --line: #d5dddb; --accent: #0b6b64; }
@media (prefers-color-scheme: dark) {
  :root { --text: #dfe7e6; --quiet: #93a2a3; --ground: #121819; --raised: #1c2526; --line: #303c3d;
    --accent: #6fd0c5; }
}
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 2rem 1.25rem 4rem; max-width: 46rem; color: var(--text); background: var(--ground);
  font: 1rem/1.6 system-ui, sans-serif; overflow-wrap: break-word; }
h1 { font-size: 1.5rem; line-height: 1.3; }
header h1 { margin: 0; }
h2 { font-size: 1.2rem; } h3 { font-size: 1rem; }
header p, .figures { color: var(--quiet); font-size: .85rem; margin: .2rem 0 0; }
article, aside { margin: 1.75rem 0; }
article > h3 { margin: 0; color: var(--accent); }
.user .said { margin-top: .4rem; padding: .7rem 1rem; border-radius: .5rem; background: var(--raised);
  white-space: pre-wrap; }
a { color: var(--accent); }
/* Each line in its own direction, whatever stands around it. */
p, li, th, td, .said { unicode-bidi: plaintext; }
aside pre { white-space: pre-wrap; }
pre { overflow-x: auto; padding: .8rem 1rem; border-radius: .5rem; background: var(--raised); }
code, pre, .math { font-family: ui-monospace, Menlo, Consolas, monospace; font-size: .9em; }
:not(pre) > code { padding: .1em .3em; border-radius: .25rem; background: var(--raised); }
table { border-collapse: collapse; display: block; overflow-x: auto; }
th, td { border: 1px solid var(--line); padding: .3rem .6rem; text-align: start; }
blockquote { margin: 0; padding-inline-start: 1rem; border-inline-start: 3px solid var(--line);
  color: var(--quiet); }
ul, ol { padding-inline-start: 1.6rem; }
li.task { list-style: none; margin-inline-start: -1.3rem; }
li.task > ul, li.task > ol { margin-inline-start: 1.3rem; }
details { margin: .6rem 0 1rem; padding: .3rem .8rem; border: 1px solid var(--line); border-radius: .5rem; }
summary { cursor: pointer; color: var(--quiet); }
hr { border: 0; border-top: 1px solid var(--line); }
</style>
</head>
<body>
<header>
<h1 dir="auto">$title</h1>
<p>$date · a conversation kept by edge0-tui</p>
</header>
<main>
$body
</main>
$chat
</body>
</html>
"""
