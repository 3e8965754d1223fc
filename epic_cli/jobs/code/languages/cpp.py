"""C++17; only the standard library is used."""

from __future__ import annotations

import re

from epic_cli.jobs.code.languages import LanguageWriter
from epic_cli.jobs.code.translate import PUBLIC_FIELDS, Method

#: The headers of a program.
_PROGRAM = "algorithm cmath cstdio cstdlib iostream sstream string utility vector"


class Cpp(LanguageWriter):
    """A writer of C++: a class in one header or source file, in a namespace."""

    name = "cpp"
    suffix = ".cpp"
    engine = "Unreal"
    builds = "g++ -std=c++17 -O2 -ffp-contract=off -o {stem} {file}"
    runs = "./{stem}"
    types = {  # noqa: RUF012
        "float": "double", "single": "float", "int": "int", "bool": "bool", "": "void", "list": "std::vector<{}>",
    }  # fmt: skip
    functions = {  # noqa: RUF012
        "length": "length", "dot": "dot", "float": "double({0})", "len": "int({0}.size())",
        "Vec3": "Vec3{{{0}, {1}, {2}}}", "Quat": "Quat{{{0}, {1}, {2}, {3}}}",
    }  # fmt: skip
    maths = "std::{}"
    vectors = {  # noqa: RUF012
        "add": "inline Vec3 operator+(Vec3 a, Vec3 b) { return {a.x + b.x, a.y + b.y, a.z + b.z}; }",
        "subtract": "inline Vec3 operator-(Vec3 a, Vec3 b) { return {a.x - b.x, a.y - b.y, a.z - b.z}; }",
        "scale": "inline Vec3 operator*(Vec3 a, $real s) { return {a.x * s, a.y * s, a.z * s}; }",
        "dot": "inline $real dot(Vec3 a, Vec3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }",
        "length": "inline $real length(Vec3 a) { return std::sqrt(dot(a, a)); }",
    }
    changes = {  # noqa: RUF012
        "append": "{0}.push_back({1})", "insert": "{0}.insert({0}.begin() + {1}, {2})",
        "remove": "{0}.erase(std::find({0}.begin(), {0}.end(), {1}))",
        "pop": "{0}.erase({0}.begin())", "pop last": "{0}.pop_back()",
        "clear": "{0}.clear()",
    }  # fmt: skip
    declared_state = "struct State", "{0} {1};", ";"
    record = "State{{{}}}", "{1}"
    arguments = {  # noqa: RUF012
        "time": "Real(packet.time)", "arrival": "Real(packet.arrival)",
        "position": "packet.position", "velocity": "packet.velocity",
        "rotation": "packet.rotation",
    }  # fmt: skip

    def print_beginning(self, main: bool) -> None:
        uses = self.program.uses()
        headers = (
            {"vector"} if any("list" in field.type for field in self.program.fields) else set()
        )
        headers |= {"algorithm"} if uses & {"min", "max", "remove"} else set()
        maths = {"sqrt", "exp", "cos", "abs", "floor", "length", "acos", "sin"}
        headers |= {"cmath"} if uses & maths else set()
        headers |= set(_PROGRAM.split()) if main else set()
        if not main:
            self.print_line("#pragma once")
        self.print_line()
        for header in sorted(headers):
            self.print_line(f"#include <{header}>")
        real = self.write_type("float")
        self.print_line()
        if main:
            self.print_line(f"using Real = {real};")
            self.print_line()
        self.print_line(f"namespace {self.namespace} {{")
        self.print_line()
        self.print_constants("constexpr {2} {0} = {1};")
        self.print_struct("Vec3", real, "xyz", "FVector")
        if self.turns:
            self.print_struct("Quat", "double", "xyzw", "FQuat")
        self.print_vector_functions()

    @property
    def namespace(self) -> str:
        """The namespace, by the name of the file: files with other names can stand beside it."""
        name = re.sub(r"\W", "_", self.stem.lower(), flags=re.ASCII)
        known = re.match("[a-z]", name) and "smoothing" in name
        return name if known else "_".join(filter(None, ("smoothing", name)))

    def print_end(self, main: bool) -> None:
        self.print_line()
        self.print_line(f"}}  // namespace {self.namespace}")
        if main:
            self.print_line()
            self.print_line(f"using namespace {self.namespace};")
            self.print_line()
        super().print_end(main)

    def print_struct(self, own: str, real: str, axes: str, engine: str) -> None:
        """Write a record of numbers.

        For an engine, with conversions from and to the engine's type.
        """
        if not self.by_engine:
            self.print_line(f"struct {own} {{ {real} {', '.join(axes)}; }};")
            return
        self.open_block(f"struct {own}")
        self.print_line(f"{real} {', '.join(f'{axis} = 0' for axis in axes)};")
        self.print_line(f"{own}() = default;")
        given = ", ".join(f"{real} {axis}_" for axis in axes)
        self.print_line(f"{own}({given}) : {', '.join(f'{axis}({axis}_)' for axis in axes)} {{}}")
        taken = ", ".join(f"{axis}({real}(a.{axis.upper()}))" for axis in axes)
        self.print_line(f"{own}(const {engine}& a) : {taken} {{}}")
        self.print_line(f"operator {engine}() const {{ return {engine}({', '.join(axes)}); }}")
        self.close_block(";")

    def write_number(self, value: float) -> str:
        return super().write_number(value) + ("f" if self.single else "")

    def name_own_field(self, name: str) -> str:
        return f"this->{name}" if name in self.declared else name

    def list_parameters(self, method: Method) -> str:
        return re.sub(r" _\w+", "", super().list_parameters(method))  # no name where it is not read

    def name_own_method(self, name: str) -> str:
        return name

    def print_smoothing(self) -> None:
        self.print_line()
        self.print_comment(self.program.smoothing_doc)
        self.print_line("class Smoothing {")
        self.print_line("public:")
        self.depth = 1
        hidden = []
        for field in self.program.fields:
            if field.name in PUBLIC_FIELDS:
                self.print_line(
                    f"{field.type} {field.name}{{}};{self.write_end_comment(field.comment)}"
                )
            else:
                hidden.append(field)
        self.print_line()
        self.print_line("Smoothing() { reset(); }")
        public = [method for method in self.program.methods if method.is_public]
        for method in public:
            self.print_method(method)
        self.print_line()
        self.lines.append("private:")
        for field in hidden:
            self.print_line(
                f"{self.write_type(field.type)} {field.name}{{}};{self.write_end_comment(field.comment)}"
            )
        for method in self.program.methods:
            if method not in public:
                self.print_method(method)
        self.depth = 0
        self.print_line("};")

    def write_signature(self, method: Method) -> str:
        constant = "" if method.changes else " const"
        return f"{self.write_type(method.returns)} {method.name}({self.list_parameters(method)}){constant}"


WRITER = Cpp
