"""Templates that try to get out, to write, to hang or to fill the memory. Each must end in a `TemplateError`."""

from __future__ import annotations

import copy
import time

import pytest

from engine.errors import TemplateError
from engine.protocol import Message
from engine.text.template import ChatTemplate

MESSAGES = (Message("user", "hi"),)
SECONDS = 0.2

ESCAPES = {
    "class": "{{ ''.__class__.__mro__[1].__subclasses__() }}",
    "class, unused": "{% set x = messages.__class__ %}",
    "subscript": "{{ ''['__class__'] }}",
    "attr filter": "{{ ''|attr('__class__') }}",
    "map attribute": "{{ ['']|map(attribute='__class__')|list }}",
    "globals of a function": "{{ raise_exception.__globals__ }}",
    "globals of a class": "{{ namespace.__init__.__globals__ }}",
    "context": "{{ self._TemplateReference__context }}",
    "format": "{{ '{0.__class__}'.format(messages) }}",
    "format of an item": "{{ '{a[0].__class__}'.format_map({'a': ['']}) }}",
    "bytes": "{{ 'a'.encode() }}",
    "import": "{% import 'os' as os %}",
    "from import": "{% from 'os' import path %}",
    "include": "{% include '/etc/passwd' %}",
    "extends": "{% extends '/etc/passwd' %}",
}
WRITES = {
    "append": "{{ messages.append(1) }}",
    "pop": "{{ messages.pop() }}",
    "update": "{{ messages[0].update({'content': 'x'}) }}",
    "subscript pop": "{{ messages[0]['pop']('content') }}",
    "assignment": "{% set messages.x = 1 %}",
}
GROW = "{% set ns = namespace(s='aaaaaaaa', t=1, u=1) %}{% for i in range(64) %}BODY{% endfor %}"
MEMORY = {
    "repeat, constant": "{{ 'a' * 10**10 }}",
    "repeat": "{% set n = 10000000000 %}{{ 'a' * n }}",
    "repeat a list": "{% set n = 10000000000 %}{% set x = [0] * n %}",
    "add": GROW.replace("BODY", "{% set ns.s = ns.s + ns.s %}"),
    "concat": GROW.replace("BODY", "{% set ns.s = ns.s ~ ns.s %}"),
    "captured": GROW.replace("BODY", "{% set x %}{{ ns.s }}{{ ns.s }}{% endset %}{% set ns.s = x %}"),
    "replace method": "{% set s = 'a' * 100000 %}{{ s.replace('a', s) }}",
    "replace filter": "{% set s = 'a' * 100000 %}{{ s|replace('a', s) }}",
    "join method": "{% set s = 'a' * 100000 %}{{ s.join(s) }}",
    "join filter": "{% set s = 'a' * 100000 %}{{ s|join(s) }}",
    "join attribute": "{% set ns = namespace(x='a' * 1000000) %}{{ ([ns] * 10000)|join(attribute='x') }}",
    "format width": "{{ '%1000000000d' % 1 }}",
    "format star": "{{ '%*d' % (1000000000, 1) }}",
    "format many": "{% set s = 'a' * 1000000 %}{{ ('%(s)s' * 1000) % {'s': s} }}",
    "format filter": "{{ '%1000000000d'|format(1) }}",
    "braces width": "{{ '{:1000000000}'.format(1) }}",
    "braces nested": "{{ '{:{w}}'.format(1, w=10**9) }}",
    "braces many": "{% set s = 'a' * 1000000 %}{{ ('{0}' * 1000).format(s) }}",
    "center": "{{ 'a'.center(10**10) }}",
    "zfill": "{{ 'a'.zfill(10**10) }}",
    "expandtabs": "{{ '\\t'.expandtabs(10**10) }}",
    "to_bytes": "{{ (1).to_bytes(10**10) }}",
    "batch": "{{ ['a']|batch(10000000000, 'x')|list }}",
    "indent": "{{ 'a\nb'|indent(10000000000) }}",
    "indent lines": "{{ ('\n' * 100000)|indent(10000, blank=true) }}",
    "round": "{{ 1|round(1000000000) }}",
    "json indent": "{{ [1]|tojson(indent=10000000000) }}",
    "power": "{% set n = 1000000 %}{{ n ** n }}",
    "squares": "{% set ns = namespace(s=9) %}{% for i in range(64) %}{% set ns.s = ns.s * ns.s %}{% endfor %}",
    "lipsum": "{{ lipsum(n=1000000000) }}",
    "output": "{% set s = 'a' * 1000000 %}{% for i in range(100000) %}{{ s }}{% endfor %}",
    "literal output": "{% for a in range(100000) %}" + "x" * 50_000 + "{% endfor %}",
    "constant output": "{% for a in range(100000) %}{{ '" + "x" * 50_000 + "' }}{% endfor %}",
    "macro output": "{% macro f() %}"
    + "x" * 50_000
    + "{% endmacro %}{% for a in range(100000) %}{% set z = f() %}{% endfor %}",
    "date": "{{ strftime_now('%c' * 1000) }}",
}
TIME = {
    "range": "{% for i in range(10**9) %}{% endfor %}",
    "nested loops": "{% for a in range(100000) %}{% for b in range(100000) %}{% endfor %}{% endfor %}",
    "three loops over one range": "{% set r = range(100000) %}" + "{% for a in r %}" * 3 + "x" + "{% endfor %}" * 3,
    "loop that skips": "{% set r = range(100000) %}"
    "{% for a in r %}{% for b in r if false %}{% endfor %}{% endfor %}",
    "map over map": "{% set r = range(100000)|list %}{{ r|map('default', r)|map('list')|list }}"
    "{% for i in r %}{{ r|select('equalto', -1)|list }}{% endfor %}",
    "macro tree": "{% macro f(n) %}{% if n %}{{ f(n-1) }}{{ f(n-1) }}{% endif %}{% endmacro %}{{ f(100) }}",
    "endless macro": "{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}",
    "endless loop": "{% for a in [1, 2] recursive %}{{ loop([1, 2]) }}{% endfor %}",
    "comparing shared lists": GROW.replace("BODY", "{% set ns.t = [ns.t, ns.t] %}{% set ns.u = [ns.u, ns.u] %}")
    + "{{ ns.t == ns.u }}",
    "hashing shared tuples": GROW.replace("BODY", "{% set ns.t = (ns.t, ns.t) %}") + "{{ {ns.t: 1} }}",
    "printing shared dicts": GROW.replace("BODY", "{% set ns.t = {'a': ns.t, 'b': ns.t} %}") + "{{ ns.t }}",
    "dict calls": GROW.replace("BODY", "{% set ns.t = dict(a=ns.t, b=ns.t) %}") + "{{ ns.t }}",
    "shared arguments": "{% macro f(n) %}{{ f(n-1, varargs, varargs) if n else '' }}{% endmacro %}"
    "{{ f(60, 1, 2) }}",
}
SOURCES = {
    "deep parentheses": "{{ " + "(" * 50_000 + "1" + ")" * 50_000 + " }}",
    "deep blocks": "{% if 1 %}" * 3000 + "{% endif %}" * 3000,
    "deep loops": "{% for i in [1] %}" * 300 + "{% endfor %}" * 300,
    "not not": "{{ " + "not " * 50_000 + "1 }}",
    "open comments": "{#" * 100_000,
    "open expressions": "{{" * 100_000,
    "unknown filter": "{{ 1|nosuch }}",
    "syntax": "{% if %}",
    "too large": "x" * (256 * 1024 + 1),
}
ALL = {
    f"{group}: {name}": source
    for group, sources in {
        "escape": ESCAPES,
        "write": WRITES,
        "memory": MEMORY,
        "time": TIME,
        "source": SOURCES,
    }.items()
    for name, source in sources.items()
}


@pytest.mark.parametrize("source", ALL.values(), ids=ALL.keys())
def test_is_stopped(source: str) -> None:
    start = time.thread_time()
    with pytest.raises(TemplateError, match=r"chat_template\.jinja"):
        template = ChatTemplate(source)
        template.render(MESSAGES, add_generation_prompt=True, enable_thinking=False, seconds=SECONDS)
    # Wide of the limit, which is looked at between operations, but nowhere near what is asked for.
    assert time.thread_time() - start < 5


def test_a_template_cannot_change_what_the_next_rendering_sees() -> None:
    messages = [Message("user", "hi"), Message("assistant", "ho")]
    before = copy.deepcopy(messages)
    template = ChatTemplate("{% set messages = messages[:1] %}{% set range = 1 %}{{ messages|length }}{{ range }}")
    for _ in range(2):
        assert template.render(messages, add_generation_prompt=True, enable_thinking=False) == "11"
    assert messages == before


def test_a_namespace_is_not_written_out() -> None:
    source = GROW.replace("BODY", "{% set ns.t = namespace(a=ns.t, b=ns.t) %}")
    template = ChatTemplate(source + "{{ ns.t }}")
    assert template.render(MESSAGES, add_generation_prompt=True, enable_thinking=False) == "<namespace>"


def test_a_stopped_template_can_render_again() -> None:
    template = ChatTemplate("{% for m in messages %}{% for i in range(m.content|int) %}{% endfor %}{% endfor %}ok")
    work = [Message("user", "100000")] * 50
    with pytest.raises(TemplateError, match=r"more than 0\.05 s of processor time"):
        template.render(work, add_generation_prompt=True, enable_thinking=False, seconds=0.05)
    assert template.render(work[:1], add_generation_prompt=True, enable_thinking=False) == "ok"
