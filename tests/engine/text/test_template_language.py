"""What published chat templates expect of the language."""

from __future__ import annotations

from datetime import datetime

import pytest

from engine.errors import TemplateError
from engine.protocol import Message
from engine.text.template import ChatTemplate

MESSAGES = (Message("user", "a\n\nb", thinking="no"), Message("assistant", "c", thinking="t"))


def _render(source: str, thinking: bool = False, **tokens: str) -> str:
    template = ChatTemplate(source, tokens=tokens)
    return template.render(MESSAGES, add_generation_prompt=True, enable_thinking=thinking)


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("{% if true %}\n  {% set a = 1 %}\nx\n{% endif %}\n", "x\n"),
        ("{{ {'b': '<é&>', 'a': [1, none, true]}|tojson }}", '{"b": "<é&>", "a": [1, null, true]}'),
        ("{{ {'b': 1}|tojson(indent=2) }}", '{\n  "b": 1\n}'),
        ("{{ {'b': 'é', 'a': 1}|tojson(ensure_ascii=true, sort_keys=true) }}", '{"a": 1, "b": "\\u00e9"}'),
        ("{{ [1, 2]|tojson(separators=(',', ':')) }}", "[1,2]"),
        ("{% set ns = namespace(n=1) %}{% for i in [1, 2] %}{% set ns.n = ns.n + i %}{% endfor %}{{ ns.n }}", "4"),
        (
            "{% for i in range(9) %}{% if i == 1 %}{% continue %}{% endif %}"
            "{% if i == 3 %}{% break %}{% endif %}{{ i }}{% endfor %}",
            "02",
        ),
        ("{% generation %}x{% endgeneration %}y", "xy"),
        (
            "{% for m in messages[::-1] %}{{ m.role }}{{ loop.index0 }}{{ loop.last }} {% endfor %}",
            "assistant0False user1True ",
        ),
        ("{% for i in [1, 2, 3] if i > 1 %}{{ loop.index }}/{{ loop.length }} {% endfor %}", "1/2 2/2 "),
        ("{% for i in [1, [2, [3]]] recursive %}{{ loop(i) if i is iterable else i }}{% endfor %}", "123"),
        ("{% for k, v in {'a': 1}.items() %}{{ k }}={{ v }}{% endfor %}{{ {'b': 2}|items|list }}", "a=1[('b', 2)]"),
        ("{{ messages[0].content.split('\n')[-1].lstrip('x') }}", "b"),
        ("{{ 'a-b'.replace('-', '+') }} {{ ','.join(['x', 'y']) }} {{ 'aXb'|replace('X', '') }}", "a+b x,y ab"),
        (
            "{% macro f(a, b='z') %}{{ a }}{{ b }}{{ caller() if caller }}{% endmacro %}"
            "{{ f('q') }}{% call f(1) %}!{% endcall %}",
            "qz1z!",
        ),
        (
            "{{ '%02d|%s' % (3, 'x') }} {{ '%s-%s'|format(1, 2) }} {{ '{:>3}{a}'.format(1, a='b') }}",
            "03|x 1-2   1b",
        ),
        ("{{ messages|selectattr('role', 'equalto', 'user')|map(attribute='content')|join('') }}", "a\n\nb"),
        ("{{ 'x' ~ 1 ~ none ~ missing }} {{ missing|default('d') }} {{ missing is defined }}", "x1None d False"),
        ("{{ (1, 2)[0] }} {{ 3 in [1, 3] }} {{ 'é'|upper }} {{ ' x '|trim }} {{ 1 < 2 < 3 }}", "1 True É x True"),
        ("{{ messages is iterable and messages is not mapping and messages[0] is mapping }}", "True"),
        ("{{ [1, 2, 3]|batch(2)|list }} {{ 2.567|round(1) }} {{ 'a\nb'|indent(2) }}", "[[1, 2], [3]] 2.6 a\n  b"),
        ("{{ messages[0].reasoning_content }}|{{ messages[1].reasoning_content }}", "no|t"),
        ("{% block a %}x{% endblock %}{{ self.a() }}", "xx"),
        ("<b>{{ '<i>' }}", "<b><i>"),
    ],
)
def test_language(source: str, text: str) -> None:
    assert _render(source) == text


def test_variables() -> None:
    source = "{{ bos_token }}{{ tools is none }}{{ add_generation_prompt }}{{ enable_thinking }}"
    assert _render(source, True, bos_token="<s>") == "<s>TrueTrueTrue"


def test_today() -> None:
    assert _render("{{ strftime_now('%Y') }}") in {str(datetime.now().year), str(datetime.now().year - 1)}


def test_a_refusal_has_the_words_of_the_template() -> None:
    with pytest.raises(TemplateError, match=r"refused the conversation: No user query\."):
        _render("{{ raise_exception('No user query.') }}")


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("{{ messages[0].x.y }}", "has no attribute 'x'"),
        ("{{ 1 / 0 }}", "division by zero"),
        ("{{ nosuch() }}", "'nosuch' is undefined"),
        ("{{ 'a' + 1 }}", "concatenate"),
        ("\n{% if %}", "line 2"),
    ],
)
def test_a_failure_says_what_failed(source: str, words: str) -> None:
    with pytest.raises(TemplateError, match=rf"chat_template\.jinja.*{words}"):
        _render(source)


@pytest.mark.parametrize(
    ("source", "supported"),
    [
        ("{{ '<think>' if enable_thinking }}", True),
        ("{{ 'detailed thinking ' ~ thinking_option }}", True),
        ("{{ messages[0].content }} enable_thinking", False),
        ("{{ raise_exception('no') if enable_thinking }}", False),
    ],
)
def test_thinking_is_supported_when_it_changes_the_prompt(source: str, supported: bool) -> None:
    assert ChatTemplate(source).supports_thinking is supported


def test_a_long_conversation_is_no_attack() -> None:
    source = (
        "{% for m in messages %}<|{{ m.role }}|>{{ m.content|trim }}{% if loop.last %}!{% endif %}\n{% endfor %}"
    )
    messages = [Message("user", "word " * 400)] * 1000
    text = ChatTemplate(source).render(messages, add_generation_prompt=True, enable_thinking=False)
    assert len(text) == 1000 * (len("<|user|>") + 400 * 5 - 1) + len("!")
