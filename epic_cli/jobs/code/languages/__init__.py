"""Writers that print a strategy in a programming language, one module for each language.

A writer prints a ``ParsedSource``. What languages have in common is here: how conditions,
arithmetic and statements nest. A language says how it spells each of them, how it defines vectors,
records and the class; ``programs/`` has the lines that make a program of it.
"""

from __future__ import annotations

import ast
import ctypes
import importlib
import pkgutil
import re
import textwrap
from collections.abc import Iterable, Sequence
from functools import cache
from importlib.resources import files
from typing import ClassVar

from epic_cli.jobs.code.translate import Method, ParsedSource, Variable, get_type

#: Ranks of operators, from the loosest to the tightest binding.
_OR, _AND, _NOT, _COMPARE, _ADD, _MULTIPLY, _SIGN, _CALL = range(1, 9)

#: A comment that is a command.
_COMMAND = re.compile("(?:Made by: )?epic ")

#: Columns of the longest line, unless code is longer.
LONGEST = 100

_COMPARED = {
    ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!=",
}  # fmt: skip
_ARITHMETIC = {ast.Add: ("+", _ADD), ast.Sub: ("-", _ADD), ast.Mult: ("*", _MULTIPLY),
               ast.Div: ("/", _MULTIPLY), ast.FloorDiv: ("/", _MULTIPLY)}  # fmt: skip


class LanguageWriter:
    """A writer of programs in one language.

    Subclasses override what the language spells otherwise.
    """

    name: ClassVar[str]
    suffix: ClassVar[str]
    comment: ClassVar[str] = "//"
    indent: ClassVar[str] = "    "
    #: What begins and ends a block.
    opens: ClassVar[str] = " {"
    closes: ClassVar[str] = "}"
    ends: ClassVar[str] = ";"
    conjunctions: ClassVar[tuple[str, str, str]] = ("&&", "||", "!")
    types: ClassVar[dict[str, str]]
    #: How functions are called: by name, or "{0}" where arguments stand elsewhere.
    functions: ClassVar[dict[str, str]]
    #: How those of mathematics are called that stand there under no name of their own.
    maths: ClassVar[str] = "{}"
    #: How a parameter is declared: its type and name.
    parameter: ClassVar[str] = "{} {}"
    #: The lines of vectors, by what needs them; ``$real`` is the type of a number.
    vectors: ClassVar[dict[str, str]] = {}
    #: How a list is changed, by the method: {0} is the list, what follows the arguments.
    changes: ClassVar[dict[str, str]]
    #: The record of a state, and each of its fields: a name and a value.
    record: ClassVar[tuple[str, str]] = ("State({})", "{1}")
    #: A field named as its value stands alone.
    brief: ClassVar[bool] = False
    #: How the record of a state is declared: its beginning, a field's type and name, what follows its end.
    declared_state: ClassVar[tuple[str, str, str]] = ("", "", "")
    #: What rounds to single precision where the original computes in it: without, there is a type.
    rounds: ClassVar[str] = ""
    #: The engine whose vectors it may take and give; empty if there is none.
    engine: ClassVar[str] = ""
    #: How a program is made of {file}, and run.
    builds: ClassVar[str] = ""
    runs: ClassVar[str]
    #: How far its numbers may be off (relative to a strategy's in double precision).
    tolerance: ClassVar[str] = "--atol 1e-9"
    #: What a recording's packet is in ``main``, by the parameter of ``receive``.
    arguments: ClassVar[dict[str, str]] = {
        name: f"packet.{name}" for name in ("time", "arrival", "position", "velocity", "rotation")
    }
    #: How its header and its rows go on with a rotation.
    columns: ClassVar[str] = r"\tqx\tqy\tqz\tqw"
    cells: ClassVar[str] = ""

    def __init__(
        self, program: ParsedSource, single: bool, by_engine: bool = False, stem: str = ""
    ) -> None:
        self.program = program
        self.by_engine = by_engine
        self.stem = stem  # the file's name without its suffix; empty if it is unknown
        self.single = single
        self.rounding = self.rounds if single else ""
        self.lines: list[str] = []
        self.depth = 0
        self.declared: set[str] = set()

    @property
    def real(self) -> str:
        """The language's function that makes a number of a value."""
        return self.rounding or "float"

    # ------------------------------------------------------------ the file

    @classmethod
    def proof(cls, strategy: str, file: str) -> list[str]:
        """Return the commands that build a program and check it against the strategy."""
        runs = cls.runs.format(file=file, stem=file.removesuffix(cls.suffix))
        lines = [cls.builds.format(file=file, stem=file.removesuffix(cls.suffix))]
        lines.append(f"epic check --builtin -s {strategy} {cls.tolerance} --against '{runs}'")
        return [line for line in lines if line]

    def write(self, head: Sequence[str], main: bool) -> str:
        """Return the text of the file; ``head`` are the lines of the comment at its top."""
        for line in head:
            self.lines.append(f"{self.comment} {line}".rstrip())
        self.begin(main)
        if self.program.state:
            self.state()
        self.smoothing()
        self.finish(main)
        lines = [part for line in self.lines for part in self.fit(line)]
        return "\n".join(lines).rstrip() + "\n"

    def fit(self, line: str) -> list[str]:
        """Break a line that is too long; a comment at the line's end moves above the line."""
        if len(line.expandtabs(4)) <= LONGEST:
            return [line]
        text = line.lstrip()
        indent = line.removesuffix(text)
        sign = rf"{re.escape(self.comment)}[/!]? "
        found = re.fullmatch(rf"(?P<code>[^'\"]*?\S  )?(?P<sign>{sign})(?P<comment>.*)", text)
        if found is None or (self.comment == "//" and _COMMAND.match(found["comment"])):
            return [line]  # in C++, a comment that ends with a backslash goes on
        width = LONGEST - len(f"{indent}{found['sign']}".expandtabs(4))
        above = [f"{indent}{found['sign']}{part}" for part in wrap_comment(found["comment"], width)]
        return [*above, f"{indent}{found['code'].rstrip()}"] if found["code"] else above

    def begin(self, main: bool) -> None:
        """Write the lines before the classes."""
        raise NotImplementedError

    def state(self) -> None:
        """Write the record type of a state, in a language that declares record types."""
        begin, form, end = self.declared_state
        if begin:
            self.line()
            self.print_comment(self.program.state_doc)
            self.open(begin)
            for field in self.program.state:
                text = form.format(self.type(field.type), self.member(field.name))
                self.line(text + self.end_comment(field.comment))
            self.close(end)

    def smoothing(self) -> None:
        """Write the class of the strategy."""
        raise NotImplementedError

    def finish(self, main: bool) -> None:
        """Write the lines after the classes."""
        if main:
            program = files(__name__) / "programs" / f"{self.name}.txt"
            self.lines += self.fill_template(program.read_text("utf-8")).splitlines()

    def fill_template(self, template: str) -> str:
        """Return the program of ``main`` with the arguments that ``receive`` takes."""
        taken = [parameter.name for parameter in self.program.method("receive").parameters]
        passed = ", ".join(self.arguments[name] for name in taken)
        lines = [line for line in template.splitlines() if self.turns or "$turns" not in line]
        columns, cells = (self.columns, self.cells) if self.turns else ("", "")
        return (
            "\n".join(line.replace("$turns", "") for line in lines)
            .replace("$columns", columns)
            .replace("$cells", cells)
            .replace("$arguments", passed)
            .replace("$real", self.real)
            .replace("$now", self.rounded("now"))
        )

    @property
    def turns(self) -> bool:
        """True if the program draws rotations."""
        return any(field.name == "rotation" for field in self.program.fields)

    def constants(self, form: str) -> None:
        """Write the constants; ``form`` makes a line of a name, a value and a type."""
        for constant in self.program.constants:
            kind = self.type(type(constant.value).__name__)
            text = form.format(
                self.variable_name(constant.name), self.constant(constant.value), kind
            )
            self.line(text + self.end_comment(constant.comment))

    def vector_functions(self) -> None:
        """Write the functions on vectors that the program uses."""
        uses = self.program.uses()
        uses |= {"dot"} & self.vectors.keys() if "length" in uses else set()
        for use, text in self.vectors.items():
            if use in uses:
                self.line(text.replace("$real", self.type("float")))

    def print_method(self, method: Method) -> None:
        """Write a method with its comment."""
        self.line()
        self.print_comment(method.doc)
        self.open(self.signature(method))
        self.body(method)
        self.close()

    def list_parameters(self, method: Method) -> str:
        """Return a method's parameters, as its declaration lists them."""
        return ", ".join(
            self.parameter.format(
                self.type(parameter.type), self.variable_name(method.parameter(parameter))
            )
            for parameter in method.parameters
        )

    def signature(self, method: Method) -> str:
        """Return the first line of a method."""
        raise NotImplementedError

    # ------------------------------------------------------------ lines

    def line(self, text: str = "") -> None:
        """Add a line at the current indentation."""
        self.lines.append(f"{self.indent * self.depth}{text}".rstrip())

    def print_comment(self, text: str) -> None:
        """Print a comment above a method or a class."""
        for line in text.replace("``", "").splitlines():
            self.line(f"{self.comment} {line}".rstrip())

    def end_comment(self, text: str) -> str:
        """Return the comment at the end of a line."""
        return f"  {self.comment} {text}" if text else ""

    def open(self, text: str) -> None:
        """Open a block."""
        self.line(text + self.opens)
        self.depth += 1

    def close(self, after: str = "") -> None:
        """Close the current block."""
        self.depth -= 1
        if self.closes:
            self.line(self.closes + after)

    # ------------------------------------------------------------ statements

    def body(self, method: Method) -> None:
        """Write the statements of a method."""
        self.declared = method.locals()
        self.reassigned = method.assigned()
        self.statements(method.body)

    def statements(self, body: Iterable[ast.stmt]) -> None:
        """Write statements with their comments."""
        for statement in body:
            for text in self.program.comments.get(getattr(statement, "lineno", 0), ()):
                self.line(f"{self.comment} {text}")
            self.statement(statement)

    def statement(self, node: ast.stmt) -> None:
        """Write a statement."""
        if isinstance(node, ast.AnnAssign):
            assert isinstance(node.target, ast.Name)
            assert node.value is not None
            self.line(self.declaration(node.target.id, ast.unparse(node.annotation), node.value))
        elif isinstance(node, ast.Assign):
            self.line(f"{self.text(node.targets[0])} = {self.text(node.value)}{self.ends}")
        elif isinstance(node, ast.AugAssign):
            self.line(self.changed_text(node))
        elif isinstance(node, ast.If):
            self.branches(node)
        elif isinstance(node, ast.While):
            self.open(self.while_(self.text(node.test)))
            self.statements(node.body)
            self.close()
        elif isinstance(node, ast.For):
            assert isinstance(node.target, ast.Name)
            assert isinstance(node.iter, ast.Call)
            self.open(self.for_(self.variable_name(node.target.id), self.text(node.iter.args[0])))
            self.statements(node.body)
            self.close()
        elif isinstance(node, ast.Return):
            value = f" {self.text(node.value)}" if node.value is not None else ""
            self.line(f"return{value}{self.ends}")
        elif isinstance(node, ast.Expr):
            self.line(f"{self.text(node.value)}{self.ends}")
        else:
            raise ValueError(
                f"{ast.unparse(node)} is not in the subset of Python that is translated"
            )

    def declaration(self, name: str, kind: str, value: ast.expr) -> str:
        """Return the declaration of a local variable."""
        return f"{self.type(kind)} {self.variable_name(name)} = {self.text(value)}{self.ends}"

    def changed_text(self, node: ast.AugAssign) -> str:
        """Return the text of ``+=`` or ``-=``."""
        sign, _ = _ARITHMETIC[type(node.op)]
        return f"{self.text(node.target)} {sign}= {self.text(node.value)}{self.ends}"

    def branches(self, node: ast.If) -> None:
        """Write ``if``, ``else if`` and ``else`` with their blocks."""
        self.open(self.if_(self.text(node.test)))
        self.statements(node.body)
        while len(node.orelse) == 1 and isinstance(node.orelse[0], ast.If):
            node = node.orelse[0]
            self.depth -= 1
            self.open(self.else_if(self.text(node.test)))
            self.statements(node.body)
        if node.orelse:
            self.depth -= 1
            self.open(self.else_())
            self.statements(node.orelse)
        self.close()

    def if_(self, test: str) -> str:
        """Return the line that begins an ``if``."""
        return f"if ({test})"

    def else_if(self, test: str) -> str:
        """Return the line that ends a block and begins an ``else if``."""
        return f"}} else if ({test})"

    def else_(self) -> str:
        """Return the line that ends a block and begins an ``else``."""
        return "} else"

    def while_(self, test: str) -> str:
        """Return the line that begins a loop."""
        return f"while ({test})"

    def for_(self, name: str, count: str) -> str:
        """Return the line that begins a loop from 0 to below ``count``."""
        return f"for ({self.type('int')} {name} = 0; {name} < {count}; {name}++)"

    # ------------------------------------------------------------ expressions

    def text(self, node: ast.expr, around: int = 0) -> str:
        """Return the text of an expression, in brackets if ``around`` binds more tightly."""
        text, binds = self.bound_text(node)
        return f"({text})" if binds < around else text

    def bound_text(self, node: ast.expr) -> tuple[str, int]:  # noqa: PLR0911 - one for each kind
        """Return the text of an expression, and the rank of its operator (``_OR`` to ``_CALL``)."""
        if isinstance(node, ast.Constant):
            return self.constant(node.value), _CALL
        if isinstance(node, ast.Name):
            return self.variable_name(node.id), _CALL
        if isinstance(node, ast.Attribute):
            if isinstance(node.value, ast.Name) and node.value.id == "self":
                return self.own_field(node.attr), _CALL
            return f"{self.text(node.value, _CALL)}.{self.member(node.attr)}", _CALL
        if isinstance(node, ast.Subscript):
            return self.item(self.text(node.value, _CALL), node.slice), _CALL
        if isinstance(node, ast.Compare):
            sign = self.comparison_sign(_COMPARED[type(node.ops[0])])
            left = self.text(node.left, _COMPARE + 1)
            return f"{left} {sign} {self.text(node.comparators[0], _COMPARE + 1)}", _COMPARE
        if isinstance(node, ast.BoolOp):
            both = isinstance(node.op, ast.And)
            binds = _AND if both else _OR
            word = self.conjunctions[0 if both else 1]
            # brackets around "and" within "or": compilers and readers ask for them
            return f" {word} ".join(self.text(value, _NOT) for value in node.values), binds
        if isinstance(node, ast.UnaryOp):
            return self.unary_text(node)
        if isinstance(node, ast.BinOp):
            return self.operation(node)
        if isinstance(node, ast.Call):
            return self.call_text(node), _CALL
        raise ValueError(f"{ast.unparse(node)} is not in the subset of Python that is translated")

    def unary_text(self, node: ast.UnaryOp) -> tuple[str, int]:
        """Return the text of ``not x`` or ``-x``, and the rank of its operator."""
        if isinstance(node.op, ast.USub):
            return f"-{self.text(node.operand, _SIGN)}", _SIGN
        word = self.conjunctions[2]
        if word == "!":
            return f"!{self.text(node.operand, _CALL)}", _SIGN
        return f"{word} {self.text(node.operand, _NOT)}", _NOT

    def operation(self, node: ast.BinOp) -> tuple[str, int]:
        """Return the text of an arithmetic operation."""
        sign, binds = _ARITHMETIC[type(node.op)]
        if isinstance(node.op, ast.FloorDiv):
            return self.quotient_text(self.text(node.left, binds), self.text(node.right, binds + 1))
        if self.rounding and get_type(node) == "float":
            return self.rounded(
                f"{self.text(node.left, binds)} {sign} {self.text(node.right, binds + 1)}"
            ), _CALL
        return f"{self.text(node.left, binds)} {sign} {self.text(node.right, binds + 1)}", binds

    def rounded(self, text: str) -> str:
        """Return the text of a result rounded to single precision, where the original rounds it."""
        return f"{self.rounding}({text})" if self.rounding else text

    def quotient_text(self, left: str, right: str) -> tuple[str, int]:
        """Return the text of a quotient without its fraction, and its operator's rank."""
        return f"{left} / {right}", _MULTIPLY

    def call_text(self, node: ast.Call) -> str:
        """Return the text of a call of a function or method, or of a change of a list."""
        values = [self.text(argument) for argument in node.args]
        if isinstance(node.func, ast.Name):
            if node.func.id == "State":
                return self.new_state(values)
            return self.function(node.func.id, values, node.args)
        assert isinstance(node.func, ast.Attribute)
        if isinstance(node.func.value, ast.Name) and node.func.value.id == "self":
            return f"{self.own_method(node.func.attr)}({', '.join(values)})"
        return self.changed_list(self.text(node.func.value, _CALL), node.func.attr, values)

    def function(self, name: str, values: list[str], nodes: list[ast.expr]) -> str:
        """Return the text of a call of one of ``FUNCTIONS``."""
        del nodes
        spelled = self.functions.get(name) or self.maths.format(name)
        if "{" in spelled:
            return spelled.format(*values)
        return f"{spelled}({', '.join(values)})"

    def new_state(self, values: list[str]) -> str:
        """Return a new state with the values of its fields."""
        whole, part = self.record
        names = (self.member(field.name) for field in self.program.state)
        return whole.format(
            ", ".join(
                name if self.brief and name == value else part.format(name, value)
                for name, value in zip(names, values, strict=True)
            )
        )

    def changed_list(self, name: str, method: str, values: list[str]) -> str:
        """Return the text of a list's ``append``, ``insert``, ``remove``, ``pop`` or ``clear``."""
        if method == "pop" and not values:
            method = "pop last"
        return self.changes[method].format(name, *values)

    def item(self, name: str, index: ast.expr) -> str:
        """Return the text of an item of a list."""
        return f"{name}[{self.text(index)}]"

    def comparison_sign(self, sign: str) -> str:
        """Return the language's spelling of a comparison's sign."""
        return sign

    # ------------------------------------------------------------ names and numbers

    def constant(self, value: object) -> str:
        """Return the text of a number or a truth value."""
        if isinstance(value, bool):
            return "true" if value else "false"
        if isinstance(value, float):
            return self.number(value)
        return str(value)

    def number(self, value: float) -> str:
        """Return a float with all its digits."""
        text = repr(ctypes.c_float(value).value if self.rounding else value)
        if "e" in text and "." not in text:
            text = text.replace("e", ".0e")
        return text

    def type(self, kind: str) -> str:
        """Return the language's name of a type of the source."""
        if kind.startswith("list["):
            return self.types["list"].format(self.type(kind[5:-1]))
        if self.single and kind == "float" and not self.rounding:
            return self.types["single"]
        return self.types.get(kind, kind)

    def variable_name(self, name: str) -> str:
        """Return the language's spelling of a local variable, a parameter or a constant."""
        return name

    def member(self, name: str) -> str:
        """Return the language's spelling of a field of a state or a vector."""
        return name

    def own_field(self, name: str) -> str:
        """Return the language's spelling of a field of the class, from within the class."""
        return f"self.{name}"

    def own_method(self, name: str) -> str:
        """Return the language's spelling of a method of the class, from within the class."""
        return f"self.{name}"

    def zero(self, variable: Variable) -> str:
        """Return the initial value of a field."""
        if variable.type.startswith("list["):
            return self.empty(variable.type)
        if variable.type in ("Vec3", "Quat"):
            parts = (0.0, 0.0, 0.0) if variable.type == "Vec3" else (0.0, 0.0, 0.0, 1.0)
            return self.function(variable.type, list(map(self.number, parts)), [])
        kind: object = {"float": 0.0, "int": 0, "bool": False}[variable.type]
        return self.constant(kind)

    def empty(self, kind: str) -> str:
        """Return the language's expression for an empty list of a type."""
        del kind
        return "[]"


class IndentedWriter(LanguageWriter):
    """A writer of a language whose blocks are indented, as Python's are."""

    comment = "#"
    opens = ":"
    closes = ""
    ends = ""
    conjunctions = ("and", "or", "not")

    def if_(self, test: str) -> str:
        return f"if {test}"

    def else_if(self, test: str) -> str:
        return f"elif {test}"

    def else_(self) -> str:
        return "else"

    def while_(self, test: str) -> str:
        return f"while {test}"

    def for_(self, name: str, count: str) -> str:
        return f"for {name} in range({count})"


def wrap_comment(text: str, width: int) -> list[str]:
    """Return the lines of a comment; a command is continued after a backslash, as in a shell."""
    if not _COMMAND.match(text):
        return textwrap.wrap(text, width, break_long_words=False, break_on_hyphens=False)
    lines = [""]
    for part in re.findall(r"'[^']*'|[^ +]*[ +]|[^ +]+", text):
        if len(lines[-1] + part.rstrip()) >= width:
            lines[-1] += "\\"
            lines.append("")
        lines[-1] += part
    return lines


def camel(name: str) -> str:
    """Convert ``drawn_time`` to ``drawnTime``."""
    return re.sub(r"(?<=.)_(\w)", lambda match: match[1].upper(), name)


def pascal(name: str) -> str:
    """Convert ``drawn_time`` to ``DrawnTime``."""
    text = camel(name.lower())
    return text[0].upper() + text[1:]


@cache
def languages() -> dict[str, type[LanguageWriter]]:
    """Return the writers by the names of their languages."""
    found = {}
    for module in pkgutil.iter_modules(__path__):
        writer: type[LanguageWriter] = importlib.import_module(f"{__name__}.{module.name}").WRITER
        found[writer.name] = writer
    return found
