"""TypeScript for any runtime; ``main`` needs Node."""

from __future__ import annotations

import ast

from epic_cli.jobs.code.languages import LanguageWriter, convert_to_camel_case
from epic_cli.jobs.code.translate import PUBLIC_FIELDS, Method, get_type


class TypeScript(LanguageWriter):
    """A writer of TypeScript, whose vectors are plain objects, so that an engine's fit."""

    name = "typescript"
    suffix = ".ts"
    rounds = "Math.fround"
    builds = "tsc --strict --target es2020 --module commonjs {file}"
    runs = "node {stem}.js"
    indent = "  "
    types = {  # noqa: RUF012
        "float": "number", "int": "number", "bool": "boolean", "": "void", "list": "{}[]",
    }  # fmt: skip
    functions = {  # noqa: RUF012
        "length": "magnitude", "dot": "dot", "float": "{0}", "len": "{0}.length",
        "Vec3": "{{ x: {0}, y: {1}, z: {2} }}", "Quat": "{{ x: {0}, y: {1}, z: {2}, w: {3} }}",
    }  # fmt: skip
    maths = "Math.{}"
    parameter = "{1}: {0}"
    columns = ', "qx", "qy", "qz", "qw"'
    cells = ", qx, qy, qz, qw"
    changes = {  # noqa: RUF012
        "append": "{0}.push({1})", "insert": "{0}.splice({1}, 0, {2})",
        "remove": "{0}.splice({0}.indexOf({1}), 1)", "pop": "{0}.shift()", "pop last": "{0}.pop()", "clear": "{0}.length = 0",
    }  # fmt: skip
    vectors = {  # noqa: RUF012
        "dot": "const dot = (a: Vec3, b: Vec3): number => a.x * b.x + a.y * b.y + a.z * b.z;",
        "length": "const magnitude = (a: Vec3): number => Math.sqrt(dot(a, a));",
    }
    declared_state = "type State =", "{1}: {0};", ";"
    record = "{{ {} }}", "{}: {}"
    brief = True

    def print_beginning(self, main: bool) -> None:
        del main
        uses = self.program.uses()
        self.print_line()
        self.print_constants("const {} = {};")
        self.print_line("export type Vec3 = { x: number; y: number; z: number };")
        if self.turns:
            self.print_line("export type Quat = { x: number; y: number; z: number; w: number };")
        for name, sign in (("add", "+"), ("subtract", "-")):
            if name in uses:
                self.print_vector(f"const {name} = (a: Vec3, b: Vec3)", f"a.{{0}} {sign} b.{{0}}")
        if "scale" in uses:
            self.print_vector("const scale = (a: Vec3, s: number)", "a.{0} * s")
        self.print_vector_functions()

    def print_vector(self, head: str, part: str) -> None:
        """Write a function that computes a vector."""
        parts = ", ".join(f"{axis}: {self.write_rounded(part.format(axis))}" for axis in "xyz")
        self.print_line(f"{head}: Vec3 => ({{ {parts} }});")

    def write_operation(self, node: ast.BinOp) -> tuple[str, int]:
        if get_type(node) != "Vec3":
            return super().write_operation(node)
        names = {ast.Add: "add", ast.Sub: "subtract", ast.Mult: "scale"}
        return (
            f"{names[type(node.op)]}({self.write_expression(node.left)}, {self.write_expression(node.right)})",
            8,
        )

    @property
    def real(self) -> str:
        return "((word) => Math.fround(Number(word)))" if self.rounding else "Number"

    def write_quotient(self, left: str, right: str) -> tuple[str, int]:
        return f"Math.floor({left} / {right})", 8

    def write_comparison_sign(self, sign: str) -> str:
        return {"==": "===", "!=": "!=="}.get(sign, sign)

    def name_variable(self, name: str) -> str:
        return name if name.isupper() else convert_to_camel_case(name)

    def name_member(self, name: str) -> str:
        return convert_to_camel_case(name)

    def name_own_field(self, name: str) -> str:
        return f"this.{convert_to_camel_case(name)}"

    def name_own_method(self, name: str) -> str:
        return f"this.{convert_to_camel_case(name)}"

    def write_declaration(self, name: str, kind: str, value: ast.expr) -> str:
        word = "let" if name in self.reassigned else "const"
        return f"{word} {self.name_variable(name)} = {self.write_expression(value)};"

    def write_for(self, name: str, first: str, end: str) -> str:
        return f"for (let {name} = {first}; {name} < {end}; {name}++)"

    def print_smoothing(self) -> None:
        self.print_line()
        self.print_comment(self.program.smoothing_doc)
        self.open_block("export class Smoothing")
        for field in self.program.fields:
            private = "" if field.name in PUBLIC_FIELDS else "private "
            kind = (
                f": {self.write_type(field.type)}"
                if field.type.startswith("list") or field.type in ("Vec3", "Quat")
                else ""
            )
            self.print_line(
                f"{private}{convert_to_camel_case(field.name)}{kind} = {self.write_zero(field)};{self.write_end_comment(field.comment)}"
            )
        self.print_line()
        self.open_block("constructor()")
        self.print_line("this.reset();")
        self.close_block()
        for method in self.program.methods:
            self.print_method(method)
        self.close_block()

    def write_signature(self, method: Method) -> str:
        private = "" if method.is_public else "private "
        return f"{private}{convert_to_camel_case(method.name)}({self.list_parameters(method)}): {self.write_type(method.returns)}"


WRITER = TypeScript
