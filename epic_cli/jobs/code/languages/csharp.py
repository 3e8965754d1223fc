"""C# 6 and later, for Unity, Godot .NET, MonoGame or a server."""

from __future__ import annotations

from epic_cli.jobs.code.languages import LanguageWriter, camel, pascal
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

    def begin(self, main: bool) -> None:
        self.line()
        if main:
            self.line(f"using Real = System.{'Single' if self.single else 'Double'};")
        self.line("using System;")
        if main or any("list" in field.type for field in self.program.fields):
            self.line("using System.Collections.Generic;")
        if main:
            self.line("using System.Globalization;")
            self.line("using System.Linq;")
        real = self.type("float")
        self.line()
        self.open("public struct Vec3")
        self.line(f"public {real} X, Y, Z;")
        self.line(f"public Vec3({real} x, {real} y, {real} z) {{ X = x; Y = y; Z = z; }}")
        self.vector_functions()
        if self.by_engine:
            self.convert("Vec3", "Vector3", "XYZ")
        self.close()
        if self.turns:
            self.line()
            self.open("public struct Quat")
            self.line("public double X, Y, Z, W;")
            self.line(
                "public Quat(double x, double y, double z, double w) { X = x; Y = y; Z = z; W = w; }"
            )
            if self.by_engine:
                self.convert("Quat", "Quaternion", "XYZW")
            self.close()

    def convert(self, own: str, engine: str, axes: str) -> None:
        """Write the conversions from and to a type of Unity."""
        other = f"UnityEngine.{engine}"
        single = ", ".join(f"(float)a.{axis}" for axis in axes)
        double = ", ".join(f"a.{axis.lower()}" for axis in axes)
        self.line(f"public static implicit operator {other}({own} a) => new {other}({single});")
        self.line(f"public static implicit operator {own}({other} a) => new {own}({double});")

    def number(self, value: float) -> str:
        return super().number(value) + ("f" if self.single else "")

    def variable_name(self, name: str) -> str:
        return pascal(name) if name.isupper() else camel(name)

    def member(self, name: str) -> str:
        return pascal(name)

    def own_field(self, name: str) -> str:
        if name in PUBLIC_FIELDS:
            return pascal(name)
        return f"this.{camel(name)}" if name in self.declared else camel(name)

    def own_method(self, name: str) -> str:
        return pascal(name)

    def empty(self, kind: str) -> str:
        return f"new {self.type(kind)}()"

    def smoothing(self) -> None:
        self.line()
        self.print_comment(self.program.smoothing_doc)
        self.open("public class Smoothing")
        self.constants("const {2} {0} = {1};")
        for field in self.program.fields:
            if field.name in PUBLIC_FIELDS:
                self.line(
                    f"public {field.type} {pascal(field.name)};{self.end_comment(field.comment)}"
                )
                continue
            begins = f" = {self.empty(field.type)}" if field.type.startswith("list") else ""
            self.line(
                f"{self.type(field.type)} {camel(field.name)}{begins};{self.end_comment(field.comment)}"
            )
        self.line()
        self.line("public Smoothing() { Reset(); }")
        for method in self.program.methods:
            self.print_method(method)
        self.close()

    def signature(self, method: Method) -> str:
        taken = ", ".join(
            f"{self.type(parameter.type)} {camel(parameter.name)}"
            for parameter in method.parameters
        )
        public = "public " if method.is_public else ""
        return f"{public}{self.type(method.returns)} {pascal(method.name)}({taken})"


WRITER = CSharp
