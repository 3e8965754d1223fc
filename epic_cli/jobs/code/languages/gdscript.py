"""GDScript: one body for Godot 3 and 4; the lines of ``main`` are Godot 3's."""

from __future__ import annotations

import ast

from epic_cli.jobs.code.languages import IndentedWriter, Method


class GDScript(IndentedWriter):
    """Vectors are Godot's, in single precision."""

    name = "gdscript"
    suffix = ".gd"
    runs = "godot3-server --no-window --script {file}"
    tolerance = "--rtol 1e-4 --atol 1e-3"
    indent = "\t"
    types = {}  # noqa: RUF012
    functions = {  # noqa: RUF012
        "min": "min", "max": "max", "abs": "abs", "sqrt": "sqrt", "exp": "exp", "cos": "cos",
        "length": "{0}.length()", "dot": "{0}.dot({1})", "float": "float({0})", "len": "{0}.size()", "Vec3": "Vector3",
    }  # fmt: skip
    arguments = {name: f'packet["{name}"]' for name in ("time", "arrival", "position", "velocity")}  # noqa: RUF012

    def begin(self, main: bool) -> None:
        if main:
            self.line("extends SceneTree")
        self.line()
        self.constants("const {} = {}")

    def divided(self, left: str, right: str) -> tuple[str, int]:
        return f"int({left} / {right})", 8

    def function(self, name: str, values: list[str], nodes: list[ast.expr]) -> str:
        if name in ("length", "dot") and isinstance(nodes[0], ast.BinOp):
            values = [f"({values[0]})", *values[1:]]
        return super().function(name, values, nodes)

    def declaration(self, name: str, kind: str, value: ast.expr) -> str:
        return f"var {name} = {self.text(value)}"

    def own(self, name: str) -> str:
        return f"self.{name}" if name in self.declared else name

    def own_method(self, name: str) -> str:
        return name

    def made(self, values: list[str]) -> str:
        fields = zip(self.program.state, values, strict=True)
        return "{" + ", ".join(f'"{field.name}": {value}' for field, value in fields) + "}"

    def changed_list(self, name: str, method: str, values: list[str]) -> str:
        if method == "append":
            return f"{name}.append({values[0]})"
        if method == "insert":
            return f"{name}.insert({values[0]}, {values[1]})"
        if method == "remove":
            return f"{name}.erase({values[0]})"
        return f"{name}.pop_front()" if method == "pop" else f"{name}.clear()"

    def state(self) -> None:
        """States are dictionaries."""

    def smoothing(self) -> None:
        self.lines += ["", ""]
        self.documented(self.program.smoothing_doc)
        self.open("class Smoothing")
        for field in self.program.fields:
            self.line(f"var {field.name} = {self.zero(field)}{self.noted(field.comment)}")
        self.line()
        self.open("func _init()")
        self.line("reset()")
        self.close()
        for method in self.program.methods:
            self.written(method)
        self.close()

    def written(self, method: Method) -> None:
        """A method."""
        self.line()
        self.documented(method.doc)
        self.open(
            f"func {method.name}({', '.join(parameter.name for parameter in method.parameters)})"
        )
        self.body(method)
        self.close()


WRITER = GDScript
