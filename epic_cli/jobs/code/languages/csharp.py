"""C# 6 and later, for Unity, Godot .NET, MonoGame or a server."""

from __future__ import annotations

import ast

from epic_cli.jobs.code.languages import (
    LanguageWriter,
    convert_to_camel_case,
    convert_to_pascal_case,
)
from epic_cli.jobs.code.translate import PUBLIC_FIELDS, Method


class CSharp(LanguageWriter):
    """A writer of C#: a class that uses no engine."""

    name = "csharp"
    suffix = ".cs"
    engine = "Unity"
    builds = "mcs {file}"
    runs = "mono {stem}.exe"
    types = {  # noqa: RUF012
        "float": "double", "single": "float", "int": "int", "bool": "bool", "": "void", "list": "List<{}>",
    }  # fmt: skip
    functions = {  # noqa: RUF012
        "min": "Math.Min", "max": "Math.Max", "abs": "Math.Abs", "sqrt": "Math.Sqrt", "exp": "Math.Exp",
        "cos": "Math.Cos", "floor": "Math.Floor", "sin": "Math.Sin", "acos": "Math.Acos", "length": "Vec3.Length", "dot": "Vec3.Dot", "float": "{0}", "len": "{0}.Count",
        "Vec3": "new Vec3", "Quat": "new Quat",
    }  # fmt: skip
    vectors = {  # noqa: RUF012
        "add": "public static Vec3 operator +(Vec3 a, Vec3 b) => new Vec3(a.X + b.X, a.Y + b.Y, a.Z + b.Z);",
        "subtract": "public static Vec3 operator -(Vec3 a, Vec3 b) => new Vec3(a.X - b.X, a.Y - b.Y, a.Z - b.Z);",
        "scale": "public static Vec3 operator *(Vec3 a, $real s) => new Vec3(a.X * s, a.Y * s, a.Z * s);",
        "dot": "public static $real Dot(Vec3 a, Vec3 b) => a.X * b.X + a.Y * b.Y + a.Z * b.Z;",
        "length": "public static $real Length(Vec3 a) => Math.Sqrt(Dot(a, a));",
    }
    changes = {  # noqa: RUF012
        "append": "{0}.Add({1})", "insert": "{0}.Insert({1}, {2})", "remove": "{0}.Remove({1})",
        "pop": "{0}.RemoveAt({1})", "pop last": "{0}.RemoveAt({0}.Count - 1)",
        "clear": "{0}.Clear()",
    }  # fmt: skip
    declared_state = "public struct State", "public {0} {1};", ""
    record = "new State {{ {} }}", "{} = {}"
    arguments = {  # noqa: RUF012
        "time": "(Real)packet.Time", "arrival": "(Real)packet.Arrival",
        "position": "packet.Position", "velocity": "packet.Velocity",
        "rotation": "packet.Rotation",
    }  # fmt: skip

    def print_beginning(self, main: bool) -> None:
        self.print_line()
        if main:
            self.print_line(f"using Real = System.{'Single' if self.single else 'Double'};")
        self.print_line("using System;")
        if main or any("list" in field.type for field in self.program.fields):
            self.print_line("using System.Collections.Generic;")
        if main:
            self.print_line("using System.Globalization;")
            self.print_line("using System.Linq;")
        real = self.write_type("float")
        self.print_line()
        self.open_block("public struct Vec3")
        self.print_line(f"public {real} X, Y, Z;")
        self.print_line(f"public Vec3({real} x, {real} y, {real} z) {{ X = x; Y = y; Z = z; }}")
        self.print_vector_functions()
        if self.by_engine:
            self.convert("Vec3", "Vector3", "XYZ")
        self.close_block()
        if self.turns:
            self.print_line()
            self.open_block("public struct Quat")
            self.print_line("public double X, Y, Z, W;")
            self.print_line(
                "public Quat(double x, double y, double z, double w) { X = x; Y = y; Z = z; W = w; }"
            )
            if self.by_engine:
                self.convert("Quat", "Quaternion", "XYZW")
            self.close_block()

    def convert(self, own: str, engine: str, axes: str) -> None:
        """Write the conversions from and to a type of Unity."""
        other = f"UnityEngine.{engine}"
        single = ", ".join(f"(float)a.{axis}" for axis in axes)
        double = ", ".join(f"a.{axis.lower()}" for axis in axes)
        self.print_line(
            f"public static implicit operator {other}({own} a) => new {other}({single});"
        )
        self.print_line(f"public static implicit operator {own}({other} a) => new {own}({double});")

    def write_number(self, value: float) -> str:
        return super().write_number(value) + ("f" if self.single else "")

    def write_operation(self, node: ast.BinOp) -> tuple[str, int]:
        left, right = node.left, node.right
        both = all(
            ast.unparse(part).startswith("float(") and isinstance(part, ast.Call)
            for part in (left, right)
        )
        if both and isinstance(node.op, ast.Div):  # of two whole numbers C# drops the fraction
            assert isinstance(left, ast.Call)
            text = f"({self.write_type('float')}){self.write_expression(left.args[0], 8)}"
            return f"{text} / {self.write_expression(right)}", 6
        return super().write_operation(node)

    def name_variable(self, name: str) -> str:
        return convert_to_pascal_case(name) if name.isupper() else convert_to_camel_case(name)

    def name_member(self, name: str) -> str:
        return convert_to_pascal_case(name)

    def name_own_field(self, name: str) -> str:
        if name in PUBLIC_FIELDS:
            return convert_to_pascal_case(name)
        return (
            f"this.{convert_to_camel_case(name)}"
            if name in self.declared
            else convert_to_camel_case(name)
        )

    def name_own_method(self, name: str) -> str:
        return convert_to_pascal_case(name)

    def write_empty_list(self, kind: str) -> str:
        return f"new {self.write_type(kind)}()"

    def print_smoothing(self) -> None:
        self.print_line()
        self.print_comment(self.program.smoothing_doc)
        self.open_block("public class Smoothing")
        self.print_constants("const {2} {0} = {1};")
        for field in self.program.fields:
            if field.name in PUBLIC_FIELDS:
                self.print_line(
                    f"public {field.type} {convert_to_pascal_case(field.name)};{self.write_end_comment(field.comment)}"
                )
                continue
            begins = (
                f" = {self.write_empty_list(field.type)}" if field.type.startswith("list") else ""
            )
            self.print_line(
                f"{self.write_type(field.type)} {convert_to_camel_case(field.name)}{begins};{self.write_end_comment(field.comment)}"
            )
        self.print_line()
        self.print_line("public Smoothing() { Reset(); }")
        for method in self.program.methods:
            self.print_method(method)
        self.close_block()

    def write_signature(self, method: Method) -> str:
        taken = ", ".join(
            f"{self.write_type(parameter.type)} {convert_to_camel_case(parameter.name)}"
            for parameter in method.parameters
        )
        public = "public " if method.is_public else ""
        return f"{public}{self.write_type(method.returns)} {convert_to_pascal_case(method.name)}({taken})"


WRITER = CSharp
