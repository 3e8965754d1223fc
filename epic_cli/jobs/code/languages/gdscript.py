"""GDScript for Godot 4, with types."""

from __future__ import annotations

import ast
import re

from epic_cli.jobs.code.languages import LONGEST, IndentedWriter
from epic_cli.jobs.code.translate import Method, Variable


class GDScript(IndentedWriter):
    """A writer of GDScript, whose vectors are Godot's, in single precision."""

    name = "gdscript"
    suffix = ".gd"
    runs = "godot --headless --script {file}"
    rounds = "f32"
    tolerance = "--rtol 1e-4 --atol 1e-3"
    indent = "\t"
    types = {  # noqa: RUF012
        "Vec3": "Vector3", "Quat": "Quaternion", "State": "Dictionary", "list": "Array[{0}]",
        "": "void",
    }  # fmt: skip
    functions = {  # noqa: RUF012
        "length": "{0}.length()", "dot": "{0}.dot({1})", "float": "float({0})", "len": "{0}.size()", "Vec3": "Vector3",
        "Quat": "Quaternion",
    }  # fmt: skip
    vectors = {  # noqa: RUF012
        "f32": "# As the original computes.\nstatic func f32(number: float) -> float:\n"
        "\treturn Vector3(number, 0.0, 0.0).x",
    }
    changes = {  # noqa: RUF012
        "append": "{0}.append({1})", "insert": "{0}.insert({1}, {2})", "remove": "{0}.erase({1})",
        "pop": "{0}.pop_front()", "pop last": "{0}.pop_back()", "clear": "{0}.clear()",
    }  # fmt: skip
    record = "{{{}}}", '"{}": {}'
    columns = ', "qx", "qy", "qz", "qw"'
    arguments = {  # noqa: RUF012
        name: f'packet["{name}"]'
        for name in ("time", "arrival", "position", "velocity", "rotation")
    }

    def break_line(self, line: str) -> list[str]:
        """Break a line that is too long; one of code between two arguments."""
        lines = super().break_line(line)
        if len(lines) > 1 or len(line.expandtabs(4)) <= LONGEST:
            return lines
        cut = line.rfind(", ", 0, LONGEST - 4 * line.count("\t")) + 1
        indent = line[: len(line) - len(line.lstrip())] + 2 * self.indent
        return [line[:cut], *self.break_line(indent + line[cut:].lstrip())] if cut else lines

    def fill_template(self, template: str) -> str:
        text = super().fill_template(template)
        return text if self.rounding else re.sub(r"\bfloat\((now|.*?\))\)", r"\1", text)

    def print_beginning(self, main: bool) -> None:
        self.inner = main
        self.print_line("extends SceneTree" if main else "class_name Smoothing")
        self.print_line()
        self.print_constants("const {0}: {2} = {1}")

    @property
    def real(self) -> str:
        return "Smoothing.f32" if self.rounding else "float"

    def write_quotient(self, left: str, right: str) -> tuple[str, int]:
        return f"int({left} / {right})", 8

    def write_declaration(self, name: str, kind: str, value: ast.expr) -> str:
        return f"var {self.write_typed(Variable(name, kind))} = {self.write_expression(value)}"

    def write_typed(self, variable: Variable) -> str:
        """Return a variable's name with its type."""
        return f"{variable.name}: {self.write_type(variable.type)}"

    def write_call(self, node: ast.Call) -> str:
        if isinstance(node.func, ast.Attribute) and node.func.attr == "slerp":
            start, end, u = (self.write_expression(argument) for argument in node.args)
            return f"{start}.slerp({end}, {u})"
        return super().write_call(node)

    def name_own_field(self, name: str) -> str:
        return f"self.{name}" if name in self.declared else name

    def name_own_method(self, name: str) -> str:
        return name

    def print_smoothing(self) -> None:
        self.lines += ["", ""]
        self.print_comment(self.program.smoothing_doc)
        if self.inner:
            self.open_block("class Smoothing")
        for field in self.program.fields:
            self.print_line(
                f"var {self.write_typed(field)} = {self.write_zero(field)}{self.write_end_comment(field.comment)}"
            )
        self.print_line()
        self.open_block("func _init() -> void")
        self.print_line("reset()")
        self.close_block()
        methods = tuple(method for method in self.program.methods if method.name != "slerp")
        uses = self.program._replace(methods=methods).uses() | {self.rounding}
        for text in (text for use, text in self.vectors.items() if use in uses):
            self.lines += ["", *(self.indent * self.depth + line for line in text.splitlines())]
        for method in methods:
            self.print_method(method)
        if self.inner:
            self.close_block()

    def write_signature(self, method: Method) -> str:
        taken = ", ".join(
            self.write_typed(parameter._replace(name=method.parameter(parameter)))
            for parameter in method.parameters
        )
        return f"func {method.name}({taken}) -> {self.write_type(method.returns)}"


WRITER = GDScript
