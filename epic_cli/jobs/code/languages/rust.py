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

    def print_beginning(self, main: bool) -> None:
        uses = self.program.uses()
        real = self.write_type("float")
        self.print_line()
        if main:
            self.print_line(f"type Real = {real};")
        self.print_constants("const {0}: {2} = {1};")
        self.print_line()
        for name, axes in (("Vec3", "xyz"), ("Quat", "xyzw")):
            if name == "Vec3" or self.turns:
                self.print_line("#[derive(Clone, Copy, Default)]")
                fields = ", ".join(f"pub {axis}: {real}" for axis in axes)
                self.print_line(f"pub struct {name} {{ {fields} }}")
        for trait, name, sign in (("Add", "add", "+"), ("Sub", "subtract", "-")):
            if name in uses:
                self.print_operator(trait, "Vec3", "o", sign, ".{0}")
        if "scale" in uses:
            self.print_operator("Mul", real, "s", "*", "")
        self.print_vector_functions()

    def print_operator(self, trait: str, other: str, name: str, sign: str, part: str) -> None:
        """Write an operator on vectors."""
        self.open_block(f"impl std::ops::{trait}{'' if other == 'Vec3' else f'<{other}>'} for Vec3")
        self.print_line("type Output = Vec3;")
        parts = ", ".join(f"{axis}: self.{axis} {sign} {name}{part.format(axis)}" for axis in "xyz")
        self.print_line(
            f"fn {trait.lower()}(self, {name}: {other}) -> Vec3 {{ Vec3 {{ {parts} }} }}"
        )
        self.close_block()

    def write_declaration(self, name: str, kind: str, value: ast.expr) -> str:
        word = "let mut" if name in self.reassigned else "let"
        return f"{word} {name}: {self.write_type(kind)} = {self.write_expression(value)};"

    def write_if(self, test: str) -> str:
        return f"if {test}"

    def write_else_if(self, test: str) -> str:
        return f"}} else if {test}"

    def write_while(self, test: str) -> str:
        return f"while {test}"

    def write_for(self, name: str, first: str, end: str) -> str:
        return f"for {name} in {first}..{end}"

    def write_item(self, name: str, index: ast.expr) -> str:
        if isinstance(index, ast.Constant):
            return f"{name}[{index.value!r}]"
        return f"{name}[{self.write_expression(index, 7)} as usize]"

    def write_list_change(self, name: str, method: str, values: list[str]) -> str:
        text = super().write_list_change(name, method, values)
        return text.replace("insert(0 as usize", "insert(0")  # which clippy refuses

    def write_function_call(self, name: str, values: list[str], nodes: list[ast.expr]) -> str:
        if name in self.functions:
            return super().write_function_call(name, values, nodes)
        kind = self.write_type(get_type(nodes[0]))
        inner = nodes[0]
        if name == "min" and isinstance(inner, ast.Call) and ast.unparse(inner.func) == "max":
            high = self.write_value(nodes[1])
            for low, value in (inner.args[::-1], inner.args):
                least = self.write_value(low)
                # clamp panics where the bounds are exchanged
                if least is not None and high is not None and least <= high:
                    name, values = (
                        "clamp",
                        [self.write_expression(value), self.write_expression(low), values[1]],
                    )
                    break
        return f"{kind}::{name}({', '.join(values)})"

    def write_value(self, node: ast.expr) -> float | None:
        """Return the value of a number or a constant, negated or not.

        None for other expressions.
        """
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            value = self.write_value(node.operand)
            return None if value is None else -value
        if isinstance(node, ast.Constant):
            return float(node.value) if isinstance(node.value, float | int) else None
        named = {constant.name: constant.value for constant in self.program.constants}
        return named.get(node.id) if isinstance(node, ast.Name) else None

    def write_range_test(self, node: ast.BoolOp) -> tuple[ast.expr, ast.expr, ast.expr] | None:
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
            and self.write_value(low.comparators[0]) is not None
            and self.write_value(high.comparators[0]) is not None
        ):
            return low.left, low.comparators[0], high.comparators[0]
        return None

    def write_number(self, value: float) -> str:
        """Return a float with the digits that its type holds."""
        if value == math.pi:
            return f"std::{self.write_type('float')}::consts::PI"
        if not self.single:
            return super().write_number(value)
        for digits in range(1, 10):
            text = f"{value:.{digits}g}"
            if ctypes.c_float(float(text)).value == ctypes.c_float(value).value:
                break
        return super().write_number(float(text))

    def print_statement(self, node: ast.stmt) -> None:
        if (
            isinstance(node, ast.Assign)
            and isinstance(node.value, ast.BinOp)
            and isinstance(node.value.op, ast.Add | ast.Sub | ast.Div)
            and get_type(node.value) != "Vec3"
            and ast.unparse(node.value.left) == ast.unparse(node.targets[0])
        ):
            target = node.targets[0]
            assert isinstance(target, ast.Name | ast.Attribute)
            node = ast.AugAssign(target, node.value.op, node.value.right)
        super().print_statement(node)

    def write_bound_expression(self, node: ast.expr) -> tuple[str, int]:
        if isinstance(node, ast.BoolOp) and (within := self.write_range_test(node)):
            value, low, high = within
            return (
                f"({self.write_expression(low)}..={self.write_expression(high)}).contains(&{self.write_expression(value)})",
                8,
            )
        text, binds = super().write_bound_expression(node)
        # "as" binds less tightly than a sign, and more than "*"
        return text, 6 if " as " in text and isinstance(node, ast.Call) and not text.endswith(
            ")"
        ) else binds

    def print_smoothing(self) -> None:
        self.print_line()
        self.print_comment(self.program.smoothing_doc)
        self.print_line("#[derive(Default)]")
        self.open_block("pub struct Smoothing")
        for field in self.program.fields:
            public = "pub " if field.name in PUBLIC_FIELDS else ""
            self.print_line(
                f"{public}{field.name}: {self.write_type(field.type)},{self.write_end_comment(field.comment)}"
            )
        self.close_block()
        self.print_line()
        self.open_block("impl Smoothing")
        self.open_block("pub fn new() -> Smoothing")
        self.print_line("let mut made = Smoothing::default();")
        self.print_line("made.reset();")
        self.print_line("made")
        self.close_block()
        for method in self.program.methods:
            self.print_method(method)
        self.close_block()

    def print_comment(self, text: str) -> None:
        for line in text.replace("``", "`").splitlines():
            self.print_line(f"/// {line}".rstrip())

    def print_method(self, method: Method) -> None:
        """Print a method."""
        self.print_line()
        self.print_comment(method.doc)
        own = "&mut self" if method.changes else "&self"
        taken = "".join(
            f", {'mut ' if parameter.name in method.assigned() else ''}{method.parameter(parameter)}: "
            + self.write_type(parameter.type)
            for parameter in method.parameters
        )
        returns = f" -> {self.write_type(method.returns)}" if method.returns else ""
        public = "pub " if method.is_public else ""
        self.open_block(f"{public}fn {method.name}({own}{taken}){returns}")
        self.print_body(method)
        if isinstance(method.body[-1], ast.Return):  # the last expression is the value
            self.lines[-1] = self.lines[-1].replace("return ", "", 1).removesuffix(";")
        self.close_block()

    def fill_template(self, template: str) -> str:
        text = super().fill_template(template)
        return text if self.single else re.sub(r"f64::from\((p\.\w)\)", r"\1", text)


WRITER = Rust
