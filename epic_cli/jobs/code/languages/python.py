"""Python 3.8 and later."""

from __future__ import annotations

import ast

from epic_cli.jobs.code.languages import IndentedWriter
from epic_cli.jobs.code.translate import Method

_SINGLE = """

def f32(number: float) -> float:
    return ctypes.c_float(number).value  # as the original computes


"""

_QUAT = """

class Quat(NamedTuple):
    x: float
    y: float
    z: float
    w: float
"""

_LENGTH = """

def length(a: Vec3) -> float:
    return math.sqrt(a.x * a.x + a.y * a.y + a.z * a.z)
"""

_DOT = """

def dot(a: Vec3, b: Vec3) -> float:
    return a.x * b.x + a.y * b.y + a.z * b.z
"""


class Python(IndentedWriter):
    """A writer of Python, in which the source stays as it is."""

    name = "python"
    suffix = ".py"
    rounds = "f32"
    runs = "python3 {file}"
    types = {}  # noqa: RUF012
    functions = {  # noqa: RUF012
        "min": "min", "max": "max", "abs": "abs", "length": "length", "dot": "dot", "float": "{0}", "len": "len", "Vec3": "Vec3",
        "Quat": "Quat",
    }  # fmt: skip
    maths = "math.{}"
    columns = ', "qx", "qy", "qz", "qw"'
    cells = ", *player.rotation"
    arguments = {name: name for name in ("time", "arrival", "position", "velocity", "rotation")}  # noqa: RUF012

    def print_beginning(self, main: bool) -> None:
        uses = self.program.uses()
        maths = {"sqrt", "exp", "cos", "floor", "length", "acos", "sin"}
        modules = ["math"] if main or uses & maths else []
        modules += ["ctypes"] if self.rounding else []
        self.print_line()
        self.lines += [
            f"import {name}" for name in sorted(modules + (["os", "sys"] if main else []))
        ]
        self.lines.append("from typing import NamedTuple\n")
        self.print_constants("{} = {}")
        self.lines += (_SINGLE if self.rounding else "\n\n").splitlines()
        self.open_block("class Vec3(NamedTuple)")
        for axis in "xyz":
            self.print_line(f"{axis}: float")
        self.print_vector("add", "add", "o", "self.{0} + o.{0}")
        self.print_vector("subtract", "sub", "o", "self.{0} - o.{0}")
        self.print_vector("scale", "mul", "s", "self.{0} * s")
        self.close_block()
        self.lines += (_QUAT if self.turns else "").splitlines()
        self.lines += (_LENGTH if "length" in uses else "").splitlines()
        self.lines += (_DOT if "dot" in uses else "").splitlines()

    @property
    def real(self) -> str:
        return "(lambda word: f32(float(word)))" if self.rounding else "float"

    def print_vector(self, use: str, name: str, other: str, part: str) -> None:
        """Write an operator on vectors."""
        if use in self.program.uses():
            self.print_line()
            self.open_block(f"def __{name}__(self, {other})")
            self.print_line(
                f"return Vec3({', '.join(self.write_rounded(part.format(axis)) for axis in 'xyz')})"
            )
            self.close_block()

    def write_constant(self, value: object) -> str:
        return str(value) if isinstance(value, bool) else super().write_constant(value)

    def write_declaration(self, name: str, kind: str, value: ast.expr) -> str:
        return f"{name} = {self.write_expression(value)}"

    def write_quotient(self, left: str, right: str) -> tuple[str, int]:
        return f"{left} // {right}", 6

    def write_list_change(self, name: str, method: str, values: list[str]) -> str:
        return f"{name}.{method}({', '.join(values)})"

    def print_comment(self, text: str) -> None:
        self.print_line(f'"""{text.replace("``", "")}"""')

    def print_state(self) -> None:
        self.lines += ["", ""]
        self.open_block("class State(NamedTuple)")
        for field in self.program.state:
            self.print_line(
                f"{field.name}: {self.write_type(field.type)}{self.write_end_comment(field.comment)}"
            )
        self.close_block()

    def print_smoothing(self) -> None:
        self.lines += ["", ""]
        self.open_block("class Smoothing")
        self.print_comment(self.program.smoothing_doc)
        self.print_line()
        self.open_block("def __init__(self) -> None")
        for field in self.program.fields:
            self.print_line(
                f"self.{field.name} = {self.write_zero(field)}{self.write_end_comment(field.comment)}"
            )
        self.print_line("self.reset()")
        self.close_block()
        for method in self.program.methods:
            self.print_method(method)
        self.close_block()

    def print_method(self, method: Method) -> None:
        """Print a method."""
        self.print_line()
        taken = "".join(
            f", {parameter.name}: {self.write_type(parameter.type)}"
            for parameter in method.parameters
        )
        self.open_block(
            f"def {method.name}(self{taken}) -> {self.write_type(method.returns) or 'None'}"
        )
        self.print_comment(method.doc)
        self.print_body(method)
        self.close_block()


WRITER = Python
