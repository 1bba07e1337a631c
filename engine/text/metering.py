"""Rewrites a parsed template so that every repetition and every new container is accounted for."""

from __future__ import annotations

from jinja2 import nodes
from jinja2.visitor import NodeTransformer

CHARGE, HOLD, CONCAT, STEP = "__charge", "__hold", "__concat", "__step"


class Metering(NodeTransformer):
    """Loop, macro, call and block bodies are charged each time they run, with the literal text they can write;
    list, tuple and dict displays are weighed when made; `a ~ b` becomes a checked join; comparisons are counted.

    Without this a nested loop with an empty body, or a list that holds itself twice forty times over, would hold
    the process where no hook of the sandbox is reached."""

    def visit_For(self, node: nodes.For) -> nodes.Node:  # noqa: N802
        return self._charged(node)

    def visit_Macro(self, node: nodes.Macro) -> nodes.Node:  # noqa: N802
        return self._charged(node)

    def visit_CallBlock(self, node: nodes.CallBlock) -> nodes.Node:  # noqa: N802
        return self._charged(node)

    def visit_Block(self, node: nodes.Block) -> nodes.Node:  # noqa: N802
        return self._charged(node)

    def visit_List(self, node: nodes.List) -> nodes.Node:  # noqa: N802
        return _filter(self.generic_visit(node), HOLD)

    def visit_Dict(self, node: nodes.Dict) -> nodes.Node:  # noqa: N802
        return _filter(self.generic_visit(node), HOLD)

    def visit_Tuple(self, node: nodes.Tuple) -> nodes.Node:  # noqa: N802
        self.generic_visit(node)
        return _filter(node, HOLD) if node.ctx == "load" else node

    def visit_Concat(self, node: nodes.Concat) -> nodes.Node:  # noqa: N802
        self.generic_visit(node)
        return _filter(nodes.List(node.nodes, lineno=node.lineno), CONCAT)

    def visit_Compare(self, node: nodes.Compare) -> nodes.Node:  # noqa: N802
        return _filter(self.generic_visit(node), STEP)

    def _charged(self, node: nodes.For | nodes.Macro | nodes.CallBlock | nodes.Block) -> nodes.Node:
        written = sum(len(text.data) for text in node.find_all(nodes.TemplateData))
        written += sum(len(c.value) for c in node.find_all(nodes.Const) if isinstance(c.value, str))
        self.generic_visit(node)
        node.body.insert(0, nodes.ExprStmt(_charge(written, node.lineno), lineno=node.lineno))
        if isinstance(node, nodes.For) and node.test is not None:
            # An item that the test turns away never reaches the body.
            node.test = nodes.And(_charge(0, node.lineno), node.test, lineno=node.lineno)
        return node


def _charge(written: int, lineno: int) -> nodes.Filter:
    return _filter(nodes.Const(written, lineno=lineno), CHARGE)


def _filter(node: nodes.Node, name: str) -> nodes.Filter:
    return nodes.Filter(node, name, [], [], None, None, lineno=node.lineno)
