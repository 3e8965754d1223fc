"""Rust 2018 and later."""

from __future__ import annotations

import ast
import ctypes
import math
import re

from epic_cli.jobs.code.languages import LanguageWriter
from epic_cli.jobs.code.translate import PUBLIC_FIELDS, Method, get_type


class Rust(LanguageWriter):
    """A writer of Rust, with vectors and states that are copied."""

    name = "rust"
    suffix = ".rs"
    builds = "rustc -O {file}"
    runs = "./{stem}"
    types = {  # noqa: RUF012
        "float": "f64", "single": "f32", "int": "i64", "bool": "bool", "list": "Vec<{}>",
    }  # fmt: skip
    functions = {  # noqa: RUF012
        "length": "length", "dot": "dot", "float": "{0} as f64", "len": "{0}.len() as i64",
        "Vec3": "Vec3 {{ x: {0}, y: {1}, z: {2} }}",
        "Quat": "Quat {{ x: {0}, y: {1}, z: {2}, w: {3} }}",
    }  # fmt: skip
    changes = {  # noqa: RUF012
        "append": "{0}.push({1})", "insert": "{0}.insert({1} as usize, {2})",
        "remove": "{0}.remove({0}.iter().position(|value| *value == {1}).unwrap())",
        "pop": "{0}.remove(0)", "pop last": "{0}.pop()", "clear": "{0}.clear()",
    }  # fmt: skip
    vectors = {  # noqa: RUF012
        "dot": "fn dot(a: Vec3, b: Vec3) -> $real {\n    a.x * b.x + a.y * b.y + a.z * b.z\n}",
        "length": "fn length(a: Vec3) -> $real {\n    dot(a, a).sqrt()\n}",
    }
    declared_state = "#[derive(Clone, Copy)]\nstruct State", "{1}: {0},", ""
    record = "State {{ {} }}", "{}: {}"
    brief = True
    arguments = {  # noqa: RUF012
        "time": "packet.time as Real", "arrival": "packet.arrival as Real",
        "position": "packet.position", "velocity": "packet.velocity",
        "rotation": "packet.rotation",
    }  # fmt: skip

    def begin(self, main: bool) -> None:
        uses = self.program.uses()
        real = self.type("float")
        self.line()
        if main:
            self.line(f"type Real = {real};")
        self.constants("const {0}: {2} = {1};")
        self.line()
        for name, axes in (("Vec3", "xyz"), ("Quat", "xyzw")):
            if name == "Vec3" or self.turns:
                self.line("#[derive(Clone, Copy, Default)]")
                fields = ", ".join(f"pub {axis}: {real}" for axis in axes)
                self.line(f"pub struct {name} {{ {fields} }}")
        for trait, name, sign in (("Add", "add", "+"), ("Sub", "subtract", "-")):
            if name in uses:
                self.operator(trait, "Vec3", "o", sign, ".{0}")
        if "scale" in uses:
            self.operator("Mul", real, "s", "*", "")
        self.vector_functions()

    def operator(self, trait: str, other: str, name: str, sign: str, part: str) -> None:
        """Write an operator on vectors."""
        self.open(f"impl std::ops::{trait}{'' if other == 'Vec3' else f'<{other}>'} for Vec3")
        self.line("type Output = Vec3;")
        parts = ", ".join(f"{axis}: self.{axis} {sign} {name}{part.format(axis)}" for axis in "xyz")
        self.line(f"fn {trait.lower()}(self, {name}: {other}) -> Vec3 {{ Vec3 {{ {parts} }} }}")
        self.close()

    def declaration(self, name: str, kind: str, value: ast.expr) -> str:
        word = "let mut" if name in self.reassigned else "let"
        return f"{word} {name}: {self.type(kind)} = {self.text(value)};"

    def if_(self, test: str) -> str:
        return f"if {test}"

    def else_if(self, test: str) -> str:
        return f"}} else if {test}"

    def while_(self, test: str) -> str:
        return f"while {test}"

    def for_(self, name: str, count: str) -> str:
        return f"for {name} in 0..{count}"

    def item(self, name: str, index: ast.expr) -> str:
        if isinstance(index, ast.Constant):
            return f"{name}[{index.value!r}]"
        return f"{name}[{self.text(index, 7)} as usize]"

    def function(self, name: str, values: list[str], nodes: list[ast.expr]) -> str:
        if name in self.functions:
            return super().function(name, values, nodes)
        kind = self.type(get_type(nodes[0]))
        inner = nodes[0]
        if name == "min" and isinstance(inner, ast.Call) and ast.unparse(inner.func) == "max":
            high = self.value(nodes[1])
            for low, value in (inner.args[::-1], inner.args):
                least = self.value(low)
                # clamp panics where the bounds are exchanged
                if least is not None and high is not None and least <= high:
                    name, values = "clamp", [self.text(value), self.text(low), values[1]]
                    break
        return f"{kind}::{name}({', '.join(values)})"

    def value(self, node: ast.expr) -> float | None:
        """Return the value of a number or a constant, negated or not.

        None for other expressions.
        """
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            value = self.value(node.operand)
            return None if value is None else -value
        if isinstance(node, ast.Constant):
            return float(node.value) if isinstance(node.value, float | int) else None
        named = {constant.name: constant.value for constant in self.program.constants}
        return named.get(node.id) if isinstance(node, ast.Name) else None

    def range_test(self, node: ast.BoolOp) -> tuple[ast.expr, ast.expr, ast.expr] | None:
        """Return value, low and high of ``value >= low and value <= high``; None for other tests.

        The bounds are constants.
        """
        if len(node.values) != 2 or not isinstance(node.op, ast.And):
            return None
        low, high = node.values
        if (
            isinstance(low, ast.Compare)
            and isinstance(high, ast.Compare)
            and isinstance(low.ops[0], ast.GtE)
            and isinstance(high.ops[0], ast.LtE)
            and ast.unparse(low.left) == ast.unparse(high.left)
            and self.value(low.comparators[0]) is not None
            and self.value(high.comparators[0]) is not None
        ):
            return low.left, low.comparators[0], high.comparators[0]
        return None

    def number(self, value: float) -> str:
        """Return a float with the digits that its type holds."""
        if value == math.pi:
            return f"std::{self.type('float')}::consts::PI"
        if not self.single:
            return super().number(value)
        for digits in range(1, 10):
            text = f"{value:.{digits}g}"
            if ctypes.c_float(float(text)).value == ctypes.c_float(value).value:
                break
        return super().number(float(text))

    def statement(self, node: ast.stmt) -> None:
        if (
            isinstance(node, ast.Assign)
            and isinstance(node.value, ast.BinOp)
            and isinstance(node.value.op, ast.Add | ast.Sub)
            and get_type(node.value) != "Vec3"
            and ast.unparse(node.value.left) == ast.unparse(node.targets[0])
        ):
            target = node.targets[0]
            assert isinstance(target, ast.Name | ast.Attribute)
            node = ast.AugAssign(target, node.value.op, node.value.right)
        super().statement(node)

    def bound_text(self, node: ast.expr) -> tuple[str, int]:
        if isinstance(node, ast.BoolOp) and (within := self.range_test(node)):
            value, low, high = within
            return f"({self.text(low)}..={self.text(high)}).contains(&{self.text(value)})", 8
        text, binds = super().bound_text(node)
        # "as" binds less tightly than a sign, and more than "*"
        return text, 6 if " as " in text and isinstance(node, ast.Call) and not text.endswith(
            ")"
        ) else binds

    def smoothing(self) -> None:
        self.line()
        self.print_comment(self.program.smoothing_doc)
        self.line("#[derive(Default)]")
        self.open("pub struct Smoothing")
        for field in self.program.fields:
            public = "pub " if field.name in PUBLIC_FIELDS else ""
            self.line(
                f"{public}{field.name}: {self.type(field.type)},{self.end_comment(field.comment)}"
            )
        self.close()
        self.line()
        self.open("impl Smoothing")
        self.open("pub fn new() -> Smoothing")
        self.line("let mut made = Smoothing::default();")
        self.line("made.reset();")
        self.line("made")
        self.close()
        for method in self.program.methods:
            self.print_method(method)
        self.close()

    def print_comment(self, text: str) -> None:
        for line in text.replace("``", "`").splitlines():
            self.line(f"/// {line}".rstrip())

    def print_method(self, method: Method) -> None:
        """Print a method."""
        self.line()
        self.print_comment(method.doc)
        own = "&mut self" if method.changes else "&self"
        taken = "".join(
            f", {'mut ' if parameter.name in method.assigned() else ''}{method.parameter(parameter)}: "
            + self.type(parameter.type)
            for parameter in method.parameters
        )
        returns = f" -> {self.type(method.returns)}" if method.returns else ""
        public = "pub " if method.is_public else ""
        self.open(f"{public}fn {method.name}({own}{taken}){returns}")
        self.body(method)
        if isinstance(method.body[-1], ast.Return):  # the last expression is the value
            self.lines[-1] = self.lines[-1].replace("return ", "", 1).removesuffix(";")
        self.close()

    def fill_template(self, template: str) -> str:
        text = super().fill_template(template)
        return text if self.single else re.sub(r"f64::from\((p\.\w)\)", r"\1", text)


WRITER = Rust
