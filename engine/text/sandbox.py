"""The environment chat templates of unknown origin run in: no way out, no writing, no unbounded work."""

from __future__ import annotations

import functools
import types
from collections.abc import Callable
from datetime import datetime
from typing import Any, NoReturn, cast

from jinja2 import Undefined, nodes, pass_context
from jinja2.exceptions import SecurityError
from jinja2.ext import Extension, loopcontrols
from jinja2.parser import Parser
from jinja2.runtime import Context, Macro
from jinja2.sandbox import ImmutableSandboxedEnvironment
from jinja2.utils import Namespace

from engine.text import metering, operations
from engine.text.filters import bounded_filters
from engine.text.limits import LimitExceededError, Meter, weigh

# fmt: off
_METHODS: dict[type, frozenset[str]] = {
    str: frozenset({
        "capitalize", "casefold", "count", "endswith", "find", "index", "isalnum", "isalpha", "isascii",
        "isdecimal", "isdigit", "islower", "isnumeric", "isspace", "istitle", "isupper", "lower", "lstrip",
        "partition", "removeprefix", "removesuffix", "rfind", "rindex", "rpartition", "rsplit", "rstrip",
        "split", "splitlines", "startswith", "strip", "swapcase", "title", "upper",
    }),
    dict: frozenset({"copy", "get", "items", "keys", "values"}),
    list: frozenset({"copy", "count", "index"}),
    tuple: frozenset({"count", "index"}),
}
# fmt: on


class RefusedError(Exception):
    """The template called raise_exception; the message is its own."""


class BoundedEnvironment(ImmutableSandboxedEnvironment):
    """Sandboxed, immutable and metered. Renders one template at a time; `meter` is set before each rendering."""

    intercepted_binops = frozenset({"*", "+", "**", "%"})

    def __init__(self) -> None:
        super().__init__(trim_blocks=True, lstrip_blocks=True, extensions=[loopcontrols, GenerationTag])
        self.meter = Meter()
        self.binop_table = dict(operations.OPERATORS)
        self.finalize = self._write
        self.filters = bounded_filters(lambda: self.meter)
        self.tests = {name: self._stepping(cast("Callable[..., Any]", test)) for name, test in self.tests.items()}
        self.filters[metering.STEP] = self._stepping(lambda value: value)
        self.filters[metering.HOLD] = lambda value: self.meter.hold(value)
        self.filters[metering.CONCAT] = lambda items: operations.join("", items)
        self.filters[metering.CHARGE] = pass_context(lambda _, written: self._charge(written))
        self.globals = {
            "range": self.globals["range"],
            "dict": lambda **items: items,
            "namespace": _Namespace,
            "raise_exception": _raise,
            "strftime_now": _strftime_now,
        }

    def _parse(self, source: str, name: str | None, filename: str | None) -> nodes.Template:
        tree: nodes.Template = metering.Metering().visit(super()._parse(source, name, filename))
        return tree.set_environment(self)  # type: ignore[return-value]

    def call(self, context: Context, obj: Any, /, *args: Any, **kwargs: Any) -> Any:
        """Every call a template makes."""
        self.meter.step()
        if isinstance(obj, (types.BuiltinMethodType, types.MethodWrapperType)):
            # Jinja adds these to calls inside loops and blocks, for macros.
            kwargs = {name: value for name, value in kwargs.items() if name not in ("_loop_vars", "_block_vars")}
            return self.meter.hold(self._method(obj.__self__, obj.__name__, obj, args, kwargs))
        if isinstance(obj, Macro):
            weigh([args, kwargs])
        return self.meter.hold(super().call(context, obj, *args, **kwargs))

    def unsafe_undefined(self, obj: Any, attribute: str) -> NoReturn:
        """At once, not when the value is used: a template that reaches for internals is not run further."""
        raise SecurityError(f"access to {attribute!r} of a {type(obj).__name__} is unsafe")

    def wrap_str_format(self, value: Any) -> Callable[..., str] | None:
        """`str.format`, sandboxed and with its size checked."""
        inner = super().wrap_str_format(value)
        if inner is None:
            return None
        sandboxed, pattern = inner, str(value.__self__)

        def run(*args: Any, **kwargs: Any) -> str:
            operations.check_braces(pattern, [args, kwargs])
            return sandboxed(*args, **kwargs)

        return run

    @staticmethod
    def _method(owner: Any, name: str, method: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if isinstance(owner, str) and name == "replace":
            return operations.replace(owner, *args, **kwargs)
        if isinstance(owner, str) and name == "join":
            return operations.join(owner, *args, **kwargs)
        if not any(isinstance(owner, kind) and name in names for kind, names in _METHODS.items()):
            raise SecurityError(f"the method {name!r} of a {type(owner).__name__} is not available")
        return method(*args, **kwargs)

    def getitem(self, obj: Any, argument: Any) -> Any:
        """Every subscript; a slice copies."""
        self.meter.step()
        return super().getitem(obj, argument)

    def _stepping(self, function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def run(*args: Any, **kwargs: Any) -> Any:
            self.meter.step()
            return function(*args, **kwargs)

        return run

    def _charge(self, written: int) -> bool:
        self.meter.step()
        self.meter.emit(written)
        return True

    def _write(self, value: Any) -> Any:
        self.meter.step()
        if not isinstance(value, Undefined):
            self.meter.emit(weigh(value))
        return value


class GenerationTag(Extension):
    """{% generation %} marks what training code learns from; for a prompt it is just its body."""

    tags = {"generation"}

    def parse(self, parser: Parser) -> nodes.Node:
        """The body in its own scope."""
        lineno = next(parser.stream).lineno
        return nodes.Scope(parser.parse_statements(("name:endgeneration",), drop_needle=True), lineno=lineno)


class _Namespace(Namespace):
    def __repr__(self) -> str:
        # Jinja's writes out every attribute, so namespaces that hold each other would grow without bound.
        return "<namespace>"


def _raise(message: object = "") -> NoReturn:
    raise RefusedError(str(message))


def _strftime_now(pattern: str) -> str:
    if len(pattern) > 256:
        raise LimitExceededError("a date format of more than 256 characters")
    return datetime.now().strftime(pattern)
