"""Lua 5.1 to 5.4 and LuaJIT."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from epic_cli.jobs.code.languages import LanguageWriter
from epic_cli.jobs.code.translate import Method

_SINGLE = """\
-- As the original computes; Lua 5.3 and later.
local function f32(number) return (string.unpack("f", string.pack("f", number))) end"""

#: Characters in a line, unless luacheck is told otherwise.
LONGEST = 120

_REMOVE = """\
local function remove(list, value)
    for i = 1, #list do if list[i] == value then return table.remove(list, i) end end
end"""


#: What Roblox' own vectors have, and how a rotation is a table with its names.
_OF_ROBLOX = {
    "length": "{0}.Magnitude", "dot": "{0}:Dot({1})",
    "Quat": "{{ X = {0}, Y = {1}, Z = {2}, W = {3} }}",
}  # fmt: skip


class Lua(LanguageWriter):
    """A writer of Lua, whose lists begin at 1."""

    name = "lua"
    suffix = ".lua"
    engine = "Roblox"
    runs = "lua {file}"
    rounds = "f32"
    comment = "--"
    opens = ""
    closes = "end"
    ends = ""
    conjunctions = ("and", "or", "not")
    types = {}  # noqa: RUF012
    functions = {  # noqa: RUF012
        "length": "length", "dot": "dot", "float": "{0}", "len": "#{0}", "Vec3": "Vec3",
        "Quat": "{{ x = {0}, y = {1}, z = {2}, w = {3} }}",
    }  # fmt: skip
    maths = "math.{}"
    parameter = "{1}"
    vectors = {  # noqa: RUF012
        "add": "vector.__add = function(a, b) return Vec3(a.x + b.x, a.y + b.y, a.z + b.z) end",
        "subtract": "vector.__sub = function(a, b) return Vec3(a.x - b.x, a.y - b.y, a.z - b.z) end",
        "scale": "vector.__mul = function(a, s) return Vec3(a.x * s, a.y * s, a.z * s) end",
        "dot": "local function dot(a, b) return a.x * b.x + a.y * b.y + a.z * b.z end",
        "remove": _REMOVE,
        "length": "local function length(a) return math.sqrt(dot(a, a)) end",
    }
    changes = {  # noqa: RUF012
        "append": "{0}[#{0} + 1] = {1}", "insert": "table.insert({0}, {1} + 1, {2})",
        "remove": "remove({0}, {1})", "pop": "table.remove({0}, 1)", "pop last": "{0}[#{0}] = nil",
        "clear": "{0} = {{}}",
    }  # fmt: skip
    record = "{{ {} }}", "{} = {}"

    def print_beginning(self, main: bool) -> None:
        self.print_line()
        self.print_constants("local {} = {}")
        self.lines += _SINGLE.splitlines() if self.rounding else []
        if self.by_engine:
            self.print_line("-- luacheck: read globals Vector3")
            self.print_line("local Vec3 = Vector3.new")
            self.lines += _REMOVE.splitlines() if "remove" in self.program.uses() else []
            return
        self.print_line("local vector = {}")
        parts = ", ".join(f"{axis} = {self.write_rounded(axis)}" for axis in "xyz")
        self.print_line(
            f"local function Vec3(x, y, z) return setmetatable({{ {parts} }}, vector) end"
        )
        self.print_vector_functions()

    @property
    def real(self) -> str:
        return self.rounding or "tonumber"

    def print_end(self, main: bool) -> None:
        if main:
            super().print_end(main)
        else:
            self.lines += ["", "return Smoothing"]

    def name_member(self, name: str) -> str:
        return name.upper() if self.by_engine and name in "xyzw" else name

    def write_function_call(self, name: str, values: list[str], nodes: list[ast.expr]) -> str:
        if self.by_engine and name in _OF_ROBLOX:
            return self.fill_call(_OF_ROBLOX[name], values, nodes)
        return super().write_function_call(name, values, nodes)

    def write_comparison_sign(self, sign: str) -> str:
        return "~=" if sign == "!=" else sign

    def write_quotient(self, left: str, right: str) -> tuple[str, int]:
        return f"math.floor({left} / {right})", 8

    def write_declaration(self, name: str, kind: str, value: ast.expr) -> str:
        return f"local {name} = {self.write_expression(value)}"

    def write_change(self, node: ast.AugAssign) -> str:
        sign = "+" if isinstance(node.op, ast.Add) else "-"
        target = self.write_expression(node.target)
        return f"{target} = {target} {sign} {self.write_expression(node.value, 6 if sign == '-' else 5)}"

    def write_if(self, test: str) -> str:
        return f"if {test} then"

    def write_else_if(self, test: str) -> str:
        return f"elseif {test} then"

    def write_else(self) -> str:
        return "else"

    def write_while(self, test: str) -> str:
        return f"while {test} do"

    def write_for(self, name: str, first: str, end: str) -> str:
        return f"for {name} = {first}, {end} - 1 do"

    def write_item(self, name: str, index: ast.expr) -> str:
        if isinstance(index, ast.Constant) and isinstance(index.value, int):
            return f"{name}[{index.value + 1}]"
        if (
            isinstance(index, ast.BinOp)
            and isinstance(index.op, ast.Add | ast.Sub)
            and isinstance(index.right, ast.Constant)
            and isinstance(index.right.value, int)
        ):
            change = index.right.value if isinstance(index.op, ast.Add) else -index.right.value
            rest = {0: "", 1: " + 1", -1: " - 1"}.get(change + 1, f" + {change + 1}")
            return f"{name}[{self.write_expression(index.left, 5)}{rest}]"
        return f"{name}[{self.write_expression(index, 5)} + 1]"

    def name_own_method(self, name: str) -> str:
        return f"self:{name}"

    def write_empty_list(self, kind: str) -> str:
        return "{}"

    def print_smoothing(self) -> None:
        self.print_line()
        self.print_comment(self.program.smoothing_doc)
        self.print_line("local Smoothing = {}")
        self.print_line("Smoothing.__index = Smoothing")
        self.print_line()
        self.open_block("function Smoothing.new()")
        self.print_line("local self = setmetatable({}, Smoothing)")
        for field in self.program.fields:
            self.print_line(
                f"self.{field.name} = {self.write_zero(field)}{self.write_end_comment(field.comment)}"
            )
        self.print_line("self:reset()")
        self.print_line("return self")
        self.close_block()
        for method in self.program.methods:
            self.print_method(method)

    def print_body(self, method: Method) -> None:
        if method.is_public and not self.by_engine:
            for name in (each.name for each in method.parameters if each.type == "Vec3"):
                if method.reads(name):  # a game's own table has no arithmetic
                    self.print_line(f"{name} = Vec3({name}.x, {name}.y, {name}.z)")
        super().print_body(method)

    def write_signature(self, method: Method) -> str:
        taken = self.list_parameters(method)
        if method.is_public or method.reads("self"):
            return f"function Smoothing:{method.name}({taken})"
        return f"function Smoothing.{method.name}({', '.join(filter(None, ('_', taken)))})"

    def write(self, head: Sequence[str], main: bool) -> str:
        # a command stands in one line, so that it can be copied
        long = any(len(f"{self.comment} {line}") > LONGEST for line in head)
        rule = ["luacheck: no max comment line length", ""] if long else []
        return super().write([*rule, *head], main)


WRITER = Lua
