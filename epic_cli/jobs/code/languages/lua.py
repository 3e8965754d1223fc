"""Lua 5.1 to 5.4 and LuaJIT."""

from __future__ import annotations

import ast

from epic_cli.jobs.code.languages import LanguageWriter, Method


class Lua(LanguageWriter):
    """Lists begin at 1."""

    name = "lua"
    suffix = ".lua"
    runs = "lua {file}"
    comment = "--"
    opens = ""
    closes = "end"
    ends = ""
    conjunctions = ("and", "or", "not")
    types = {}  # noqa: RUF012
    functions = {  # noqa: RUF012
        "min": "math.min", "max": "math.max", "abs": "math.abs", "sqrt": "math.sqrt", "exp": "math.exp",
        "cos": "math.cos", "sin": "math.sin", "acos": "math.acos", "length": "length", "dot": "dot", "float": "{0}", "len": "#{0}", "Vec3": "Vec3",
        "Quat": "{{ x = {0}, y = {1}, z = {2}, w = {3} }}",
    }  # fmt: skip
    arguments = {  # noqa: RUF012
        name: f"packet.{name}" for name in ("time", "arrival", "position", "velocity", "rotation")
    }

    def begin(self, main: bool) -> None:
        uses = self.program.uses()
        self.line()
        self.constants("local {} = {}")
        self.line("local vector = {}")
        self.line(
            "local function Vec3(x, y, z) return setmetatable({ x = x, y = y, z = z }, vector) end"
        )
        if "add" in uses:
            self.line(
                "vector.__add = function(a, b) return Vec3(a.x + b.x, a.y + b.y, a.z + b.z) end"
            )
        if "subtract" in uses:
            self.line(
                "vector.__sub = function(a, b) return Vec3(a.x - b.x, a.y - b.y, a.z - b.z) end"
            )
        if "scale" in uses:
            self.line("vector.__mul = function(a, s) return Vec3(a.x * s, a.y * s, a.z * s) end")
        if uses & {"dot", "length"}:
            self.line("local function dot(a, b) return a.x * b.x + a.y * b.y + a.z * b.z end")
        if "remove" in uses:
            self.open("local function remove(list, value)")
            self.line(
                "for i = 1, #list do if list[i] == value then return table.remove(list, i) end end"
            )
            self.close()
        if "length" in uses:
            self.line("local function length(a) return math.sqrt(dot(a, a)) end")

    def finish(self, main: bool) -> None:
        if main:
            super().finish(main)
        else:
            self.lines += ["", "return Smoothing"]

    def compared(self, sign: str) -> str:
        return "~=" if sign == "!=" else sign

    def divided(self, left: str, right: str) -> tuple[str, int]:
        return f"math.floor({left} / {right})", 8

    def declaration(self, name: str, kind: str, value: ast.expr) -> str:
        return f"local {name} = {self.text(value)}"

    def changed(self, node: ast.AugAssign) -> str:
        sign = "+" if isinstance(node.op, ast.Add) else "-"
        target = self.text(node.target)
        return f"{target} = {target} {sign} {self.text(node.value, 6 if sign == '-' else 5)}"

    def if_(self, test: str) -> str:
        return f"if {test} then"

    def else_if(self, test: str) -> str:
        return f"elseif {test} then"

    def else_(self) -> str:
        return "else"

    def while_(self, test: str) -> str:
        return f"while {test} do"

    def for_(self, name: str, count: str) -> str:
        return f"for {name} = 0, {count} - 1 do"

    def item(self, name: str, index: ast.expr) -> str:
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
            return f"{name}[{self.text(index.left, 5)}{rest}]"
        return f"{name}[{self.text(index, 5)} + 1]"

    def own_method(self, name: str) -> str:
        return f"self:{name}"

    def made(self, values: list[str]) -> str:
        fields = zip(self.program.state, values, strict=True)
        return "{ " + ", ".join(f"{field.name} = {value}" for field, value in fields) + " }"

    def empty(self, kind: str) -> str:
        return "{}"

    def changed_list(self, name: str, method: str, values: list[str]) -> str:
        if method == "append":
            return f"{name}[#{name} + 1] = {values[0]}"
        if method == "insert":
            return f"table.insert({name}, {values[0]} + 1, {values[1]})"
        if method == "remove":
            return f"remove({name}, {values[0]})"
        return f"table.remove({name}, 1)" if method == "pop" else f"{name} = {{}}"

    def state(self) -> None:
        """States are tables."""

    def smoothing(self) -> None:
        self.line()
        self.documented(self.program.smoothing_doc)
        self.line("local Smoothing = {}")
        self.line("Smoothing.__index = Smoothing")
        self.line()
        self.open("function Smoothing.new()")
        self.line("local self = setmetatable({}, Smoothing)")
        for field in self.program.fields:
            self.line(f"self.{field.name} = {self.zero(field)}{self.noted(field.comment)}")
        self.line("self:reset()")
        self.line("return self")
        self.close()
        for method in self.program.methods:
            self.written(method)

    def written(self, method: Method) -> None:
        """A method."""
        self.line()
        self.documented(method.doc)
        self.open(
            f"function Smoothing:{method.name}({', '.join(parameter.name for parameter in method.parameters)})"
        )
        self.body(method)
        self.close()


WRITER = Lua
