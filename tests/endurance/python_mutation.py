"""Faults of one token in Python sources, and marks that tell which blocks a test executes."""

from __future__ import annotations

import ast
from typing import NamedTuple

# A number that converts a unit, and another such number.
_UNITS = {
    1000: "100",
    1e-3: "1e-2",
    10**6: "10**3",
    1e6: "1e3",
    1e-6: "1e-3",
    60: "100",
    3600: "60",
    10**9: "10**6",
    1e9: "1e6",
    1e-9: "1e-6",
    100: "10",
    1024: "1000",
}
_BOUNDS = {ast.Lt: ("<", "<="), ast.LtE: ("<=", "<"), ast.Gt: (">", ">="), ast.GtE: (">=", ">")}
_UNTOUCHED_CALLS = {"isinstance", "issubclass", "getattr", "hasattr", "setattr", "zip", "cast"}
_Function = ast.FunctionDef | ast.AsyncFunctionDef


class Site(NamedTuple):
    """A fault: the bytes ``begin`` to ``end`` of the source, replaced by ``new``.

    ``block`` is the innermost block that contains it, numbered from 1; 0 for a module or a class.
    """

    line: int
    kind: str
    old: str
    new: str
    begin: int
    end: int
    block: int


class Source:
    """A Python file: where its blocks begin, and which faults it could have."""

    def __init__(self, text: str) -> None:
        self._bytes = text.encode()
        self._tree = ast.parse(text)
        self._starts = [0]
        for line in self._bytes.splitlines(keepends=True):
            self._starts.append(self._starts[-1] + len(line))
        self.sites: list[Site] = []
        self._heads: list[ast.stmt] = []  # the first statement of each block
        self._block = 0
        self._ignored: set[int] = set()
        for node in ast.walk(self._tree):
            self._ignore_what_is_no_code(node)
        self._walk(self._tree, "")

    def is_valid(self, site: Site) -> bool:
        """Return whether the file with a fault is still valid Python."""
        try:
            ast.parse(self.replace(site))
        except SyntaxError:
            return False
        return True

    def replace(self, site: Site) -> str:
        """Return the text of the file with a fault."""
        changed = self._bytes[: site.begin] + site.new.encode() + self._bytes[site.end :]
        return changed.decode()

    def mark_blocks(self, offset: int) -> tuple[str, int]:
        """Return the text in which each block first calls ``mark_block``; and how many there are.

        The number of a block is increased by ``offset``.
        """
        lines = self._bytes.decode().splitlines(keepends=True)
        inserted: dict[int, list[str]] = {}
        for index, head in enumerate(self._heads):
            first = min([head.lineno, *(one.lineno for one in getattr(head, "decorator_list", []))])
            text = lines[first - 1]
            indent = text[: len(text) - len(text.lstrip())]
            if len(indent.encode()) == head.col_offset:  # the block begins on a line of its own
                mark = f"{indent}mark_block({offset + index + 1})\n"
                inserted.setdefault(first, []).append(mark)
        for first in sorted(inserted, reverse=True):
            lines[first - 1 : first - 1] = inserted[first]
        return "".join(lines), len(self._heads)

    def _ignore_what_is_no_code(self, node: ast.AST) -> None:
        ignored: list[ast.AST | None] = []
        if isinstance(node, _Function):
            arguments = node.args
            every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
            every += [one for one in (arguments.vararg, arguments.kwarg) if one is not None]
            ignored += [node.returns, *(one.annotation for one in every)]
            if node.name == "__repr__":
                ignored.append(node)
        elif isinstance(node, ast.AnnAssign):
            ignored.append(node.annotation)
        elif isinstance(node, (ast.JoinedStr, ast.Assert)) or (
            isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test)
        ):
            ignored.append(node)
        for one in ignored:
            if one is not None:
                self._ignored.update(id(part) for part in ast.walk(one))

    # ------------------------------------------------------------ the walk

    def _walk(self, node: ast.AST, function: str) -> None:
        if id(node) in self._ignored:
            return
        if isinstance(node, ast.expr):
            self._find_in_expression(node)
        if isinstance(node, ast.AugAssign) and not _has_text(node.value):
            self._swap_signs(node, node.target, node.value, "=")
        if isinstance(node, _Function):
            function = node.name
            for default in [*node.args.defaults, *node.args.kw_defaults]:
                self._change_default(default)
        blocks = [
            (name, block)
            for name in ("body", "orelse", "finalbody")
            if isinstance(block := getattr(node, name, None), list) and block
        ]
        inside = {id(one) for _, block in blocks for one in block}
        for child in ast.iter_child_nodes(node):
            if id(child) not in inside:
                self._walk(child, function)
        outer = self._block
        for _, block in blocks:
            if function and isinstance(block[0], ast.stmt) and not self._is_elif(block[0]):
                self._open_block(block, isinstance(node, _Function))
            for index, statement in enumerate(block):
                if isinstance(statement, ast.stmt) and id(statement) not in self._ignored:
                    self._find_in_statement(statement, block[index + 1 :], node, function)
                self._walk(statement, function)
            self._block = outer

    def _open_block(self, block: list[ast.stmt], is_body: bool) -> None:
        first = block[0]
        is_docstring = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)
        if is_body and is_docstring:
            if len(block) == 1:
                return
            first = block[1]
        self._heads.append(first)
        self._block = len(self._heads)

    def _is_elif(self, statement: ast.stmt) -> bool:
        return self._bytes.startswith(b"elif", self._span(statement)[0])

    def _find_in_expression(self, node: ast.expr) -> None:
        match node:
            case ast.Compare():
                items = [node.left, *node.comparators]
                for operator, left, right in zip(node.ops, items, items[1:], strict=False):
                    if type(operator) in _BOUNDS:
                        self._replace_between(left, right, *_BOUNDS[type(operator)], "bound")
            case ast.BinOp(op=ast.Add() | ast.Sub()):
                if not (_has_text(node.left) or _has_text(node.right)):
                    self._swap_signs(node, node.left, node.right, "")
            case ast.Constant(value=int() | float()) if not isinstance(node.value, bool):
                self._change_number(node)
            case ast.BoolOp():
                words = ("and", "or") if isinstance(node.op, ast.And) else ("or", "and")
                for left, right in zip(node.values, node.values[1:], strict=False):
                    self._replace_between(left, right, *words, "and/or")
            case ast.UnaryOp(op=ast.Not()):
                begin, _ = self._span(node)
                self._add("not removed", begin, self._span(node.operand)[0], "")
            case ast.Call():
                self._find_in_call(node)
            case ast.Subscript(slice=ast.Slice(lower=lower, upper=upper)):
                for part in (lower, upper):
                    if part is not None and not isinstance(part, (ast.Constant, ast.UnaryOp)):
                        self._add("slice", *self._span(part), f"{self._text(part)} + 1")

    def _find_in_call(self, node: ast.Call) -> None:
        name = node.func.id if isinstance(node.func, ast.Name) else ""
        if name in ("min", "max"):
            self._add("min/max", *self._span(node.func), "max" if name == "min" else "min")
        elif name not in _UNTOUCHED_CALLS:
            for left, right in zip(node.args, node.args[1:], strict=False):
                if all(isinstance(one, (ast.Name, ast.Attribute)) for one in (left, right)):
                    gap = self._bytes[self._span(left)[1] : self._span(right)[0]].decode()
                    swapped = self._text(right) + gap + self._text(left)
                    begin, end = self._span(left)[0], self._span(right)[1]
                    self._add("arguments swapped", begin, end, swapped)

    def _find_in_statement(
        self, statement: ast.stmt, rest: list[ast.stmt], parent: ast.AST, function: str
    ) -> None:
        match statement:
            case ast.If(body=[*_, ast.Return() as last], orelse=[]) if rest and function:
                self._add("early return removed", *self._span(last), "pass")
            case ast.Continue():
                self._add("continue removed", *self._span(statement), "pass")
            case ast.Assign(targets=[ast.Attribute()]) if function not in ("", "__init__"):
                if _is_reset(statement.value):
                    self._add("reset removed", *self._span(statement), "pass")
            case ast.Expr(value=ast.Call(func=ast.Attribute(attr="clear" | "reset"), args=[])):
                self._add("reset removed", *self._span(statement), "pass")
            case ast.AnnAssign() if isinstance(parent, ast.ClassDef):
                self._change_default(statement.value)

    def _change_number(self, node: ast.Constant) -> None:
        value = node.value
        assert isinstance(value, (int, float))
        if value in _UNITS:
            new = _UNITS[value]
            new += ".0" if isinstance(value, float) and new.isdigit() else ""
            self._add("unit", *self._span(node), new)
        elif isinstance(value, int):
            self._add("constant", *self._span(node), str(value + 1))
        else:
            new = repr(float(f"{value * 1.02:.6g}")) if value else "0.01"
            self._add("constant", *self._span(node), new)

    def _change_default(self, node: ast.expr | None) -> None:
        if isinstance(node, ast.Constant):
            value = node.value
            if isinstance(value, bool):
                self._add("default", *self._span(node), str(not value))
            elif isinstance(value, int):
                self._add("default", *self._span(node), str(value + 1))
            elif isinstance(value, float):
                self._add("default", *self._span(node), repr(value * 2 or 1.0))

    def _swap_signs(
        self, node: ast.BinOp | ast.AugAssign, left: ast.expr, right: ast.expr, tail: str
    ) -> None:
        signs = {ast.Add: ("+", "-"), ast.Sub: ("-", "+")}.get(type(node.op))
        if signs:
            self._replace_between(left, right, signs[0] + tail, signs[1] + tail, "plus/minus")

    def _replace_between(
        self, left: ast.expr, right: ast.expr, old: str, new: str, kind: str
    ) -> None:
        begin, end = self._span(left)[1], self._span(right)[0]
        gap = self._bytes[begin:end].decode()
        if gap.count(old) == 1 and "#" not in gap:
            begin += len(gap[: gap.index(old)].encode())
            self._add(kind, begin, begin + len(old), new)

    def _add(self, kind: str, begin: int, end: int, new: str) -> None:
        old = self._bytes[begin:end].decode()
        if old != new:
            line = self._bytes[:begin].count(b"\n") + 1
            self.sites.append(Site(line, kind, old, new, begin, end, self._block))

    def _span(self, node: ast.expr | ast.stmt) -> tuple[int, int]:
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        return (
            self._starts[node.lineno - 1] + node.col_offset,
            self._starts[node.end_lineno - 1] + node.end_col_offset,
        )

    def _text(self, node: ast.expr) -> str:
        begin, end = self._span(node)
        return self._bytes[begin:end].decode()


def _has_text(node: ast.expr) -> bool:
    """Return whether a sum is one of texts or lists, which have no difference."""
    return any(
        isinstance(part, (ast.JoinedStr, ast.List, ast.Tuple, ast.ListComp))
        or (isinstance(part, ast.Constant) and isinstance(part.value, (str, bytes)))
        for part in ast.walk(node)
    )


def _is_reset(value: ast.expr) -> bool:
    """Return whether a value is one that something begins with."""
    match value:
        case ast.Constant(value=None | bool() | int() | float()):
            return True
        case ast.List(elts=[]) | ast.Dict(keys=[]):
            return True
        case ast.Call(func=ast.Name(id="set" | "dict" | "list" | "deque"), args=[]):
            return True
    return False
