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

#: The first argument of a function that is written with nothing around it.
_BARE = re.compile(r"^#?\{0\}|\{0\}\.")

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
    def list_proof_commands(cls, strategy: str, file: str) -> list[str]:
        """Return the commands that build a program and check it against the strategy."""
        runs = cls.runs.format(file=file, stem=file.removesuffix(cls.suffix))
        lines = [cls.builds.format(file=file, stem=file.removesuffix(cls.suffix))]
        lines.append(f"epic check --builtin -s {strategy} {cls.tolerance} --against '{runs}'")
        return [line for line in lines if line]

    def write(self, head: Sequence[str], main: bool) -> str:
        """Return the text of the file; ``head`` are the lines of the comment at its top."""
        for line in head:
            self.lines.append(f"{self.comment} {line}".rstrip())
        self.print_beginning(main)
        if self.program.state:
            self.print_state()
        self.print_smoothing()
        self.print_end(main)
        lines = [part for line in self.lines for part in self.break_line(line)]
        return "\n".join(lines).rstrip() + "\n"

    def break_line(self, line: str) -> list[str]:
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

    def print_beginning(self, main: bool) -> None:
        """Write the lines before the classes."""
        raise NotImplementedError

    def print_state(self) -> None:
        """Write the record type of a state, in a language that declares record types."""
        begin, form, end = self.declared_state
        if begin:
            self.print_line()
            self.print_comment(self.program.state_doc)
            self.open_block(begin)
            for field in self.program.state:
                text = form.format(self.write_type(field.type), self.name_member(field.name))
                self.print_line(text + self.write_end_comment(field.comment))
            self.close_block(end)

    def print_smoothing(self) -> None:
        """Write the class of the strategy."""
        raise NotImplementedError

    def print_end(self, main: bool) -> None:
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
            .replace("$now", self.write_rounded("now"))
        )

    @property
    def turns(self) -> bool:
        """True if the program draws rotations."""
        return any(field.name == "rotation" for field in self.program.fields)

    def print_constants(self, form: str) -> None:
        """Write the constants; ``form`` makes a line of a name, a value and a type."""
        for constant in self.program.constants:
            kind = self.write_type(type(constant.value).__name__)
            text = form.format(
                self.name_variable(constant.name), self.write_constant(constant.value), kind
            )
            self.print_line(text + self.write_end_comment(constant.comment))

    def print_vector_functions(self) -> None:
        """Write the functions on vectors that the program uses."""
        uses = self.program.uses()
        uses |= {"dot"} & self.vectors.keys() if "length" in uses else set()
        for use, text in self.vectors.items():
            if use in uses:
                self.print_line(text.replace("$real", self.write_type("float")))

    def print_method(self, method: Method) -> None:
        """Write a method with its comment."""
        self.print_line()
        self.print_comment(method.doc)
        self.open_block(self.write_signature(method))
        self.print_body(method)
        self.close_block()

    def list_parameters(self, method: Method) -> str:
        """Return a method's parameters, as its declaration lists them."""
        return ", ".join(
            self.parameter.format(
                self.write_type(parameter.type), self.name_variable(method.parameter(parameter))
            )
            for parameter in method.parameters
        )

    def write_signature(self, method: Method) -> str:
        """Return the first line of a method."""
        raise NotImplementedError

    # ------------------------------------------------------------ lines

    def print_line(self, text: str = "") -> None:
        """Add a line at the current indentation."""
        self.lines.append(f"{self.indent * self.depth}{text}".rstrip())

    def print_comment(self, text: str) -> None:
        """Print a comment above a method or a class."""
        for line in text.replace("``", "").splitlines():
            self.print_line(f"{self.comment} {line}".rstrip())

    def write_end_comment(self, text: str) -> str:
        """Return the comment at the end of a line."""
        return f"  {self.comment} {text}" if text else ""

    def open_block(self, text: str) -> None:
        """Open a block."""
        self.print_line(text + self.opens)
        self.depth += 1

    def close_block(self, after: str = "") -> None:
        """Close the current block."""
        self.depth -= 1
        if self.closes:
            self.print_line(self.closes + after)

    # ------------------------------------------------------------ statements

    def print_body(self, method: Method) -> None:
        """Write the statements of a method."""
        self.declared = method.locals()
        self.reassigned = method.assigned()
        self.print_statements(method.body)

    def print_statements(self, body: Iterable[ast.stmt]) -> None:
        """Write statements with their comments."""
        for statement in body:
            for text in self.program.comments.get(getattr(statement, "lineno", 0), ()):
                self.print_line(f"{self.comment} {text}")
            self.print_statement(statement)

    def print_statement(self, node: ast.stmt) -> None:
        """Write a statement."""
        if isinstance(node, ast.AnnAssign):
            assert isinstance(node.target, ast.Name)
            assert node.value is not None
            self.print_line(
                self.write_declaration(node.target.id, ast.unparse(node.annotation), node.value)
            )
        elif isinstance(node, ast.Assign):
            self.print_line(
                f"{self.write_expression(node.targets[0])} = {self.write_expression(node.value)}{self.ends}"
            )
        elif isinstance(node, ast.AugAssign):
            self.print_line(self.write_change(node))
        elif isinstance(node, ast.If):
            self.print_branches(node)
        elif isinstance(node, ast.While):
            self.open_block(self.write_while(self.write_expression(node.test)))
            self.print_statements(node.body)
            self.close_block()
        elif isinstance(node, ast.For):
            assert isinstance(node.target, ast.Name)
            assert isinstance(node.iter, ast.Call)
            bounds = [self.write_expression(argument) for argument in node.iter.args]
            self.open_block(
                self.write_for(self.name_variable(node.target.id), *["0", *bounds][-2:])
            )
            self.print_statements(node.body)
            self.close_block()
        elif isinstance(node, ast.Return):
            value = f" {self.write_expression(node.value)}" if node.value is not None else ""
            self.print_line(f"return{value}{self.ends}")
        elif isinstance(node, ast.Expr):
            self.print_line(f"{self.write_expression(node.value)}{self.ends}")
        else:
            raise ValueError(
                f"{ast.unparse(node)} is not in the subset of Python that is translated"
            )

    def write_declaration(self, name: str, kind: str, value: ast.expr) -> str:
        """Return the declaration of a local variable."""
        return f"{self.write_type(kind)} {self.name_variable(name)} = {self.write_expression(value)}{self.ends}"

    def write_change(self, node: ast.AugAssign) -> str:
        """Return the text of ``+=``, ``-=`` or ``/=``."""
        sign, _ = _ARITHMETIC[type(node.op)]
        return f"{self.write_expression(node.target)} {sign}= {self.write_expression(node.value)}{self.ends}"

    def print_branches(self, node: ast.If) -> None:
        """Write ``if``, ``else if`` and ``else`` with their blocks."""
        self.open_block(self.write_if(self.write_expression(node.test)))
        self.print_statements(node.body)
        while len(node.orelse) == 1 and isinstance(node.orelse[0], ast.If):
            node = node.orelse[0]
            self.depth -= 1
            self.open_block(self.write_else_if(self.write_expression(node.test)))
            self.print_statements(node.body)
        if node.orelse:
            self.depth -= 1
            self.open_block(self.write_else())
            self.print_statements(node.orelse)
        self.close_block()

    def write_if(self, test: str) -> str:
        """Return the line that begins an ``if``."""
        return f"if ({test})"

    def write_else_if(self, test: str) -> str:
        """Return the line that ends a block and begins an ``else if``."""
        return f"}} else if ({test})"

    def write_else(self) -> str:
        """Return the line that ends a block and begins an ``else``."""
        return "} else"

    def write_while(self, test: str) -> str:
        """Return the line that begins a loop."""
        return f"while ({test})"

    def write_for(self, name: str, first: str, end: str) -> str:
        """Return the line that begins a loop from ``first`` to below ``end``."""
        return f"for ({self.write_type('int')} {name} = {first}; {name} < {end}; {name}++)"

    # ------------------------------------------------------------ expressions

    def write_expression(self, node: ast.expr, around: int = 0) -> str:
        """Return the text of an expression, in brackets if ``around`` binds more tightly."""
        text, binds = self.write_bound_expression(node)
        return f"({text})" if binds < around else text

    def write_bound_expression(self, node: ast.expr) -> tuple[str, int]:  # noqa: PLR0911 - one for each kind
        """Return the text of an expression, and the rank of its operator (``_OR`` to ``_CALL``)."""
        if isinstance(node, ast.Constant):
            return self.write_constant(node.value), _CALL
        if isinstance(node, ast.Name):
            return self.name_variable(node.id), _CALL
        if isinstance(node, ast.Attribute):
            if isinstance(node.value, ast.Name) and node.value.id == "self":
                return self.name_own_field(node.attr), _CALL
            return (
                f"{self.write_expression(node.value, _CALL)}.{self.name_member(node.attr)}",
                _CALL,
            )
        if isinstance(node, ast.Subscript):
            return self.write_item(self.write_expression(node.value, _CALL), node.slice), _CALL
        if isinstance(node, ast.Compare):
            sign = self.write_comparison_sign(_COMPARED[type(node.ops[0])])
            left = self.write_expression(node.left, _COMPARE + 1)
            return (
                f"{left} {sign} {self.write_expression(node.comparators[0], _COMPARE + 1)}",
                _COMPARE,
            )
        if isinstance(node, ast.BoolOp):
            both = isinstance(node.op, ast.And)
            binds = _AND if both else _OR
            word = self.conjunctions[0 if both else 1]
            # brackets around "and" within "or": compilers and readers ask for them
            return f" {word} ".join(
                self.write_expression(value, _NOT) for value in node.values
            ), binds
        if isinstance(node, ast.UnaryOp):
            return self.write_unary(node)
        if isinstance(node, ast.BinOp):
            return self.write_operation(node)
        if isinstance(node, ast.Call):
            return self.write_call(node), _CALL
        raise ValueError(f"{ast.unparse(node)} is not in the subset of Python that is translated")

    def write_unary(self, node: ast.UnaryOp) -> tuple[str, int]:
        """Return the text of ``not x`` or ``-x``, and the rank of its operator."""
        if isinstance(node.op, ast.USub):
            return f"-{self.write_expression(node.operand, _SIGN)}", _SIGN
        word = self.conjunctions[2]
        if word == "!":
            return f"!{self.write_expression(node.operand, _CALL)}", _SIGN
        return f"{word} {self.write_expression(node.operand, _NOT)}", _NOT

    def write_operation(self, node: ast.BinOp) -> tuple[str, int]:
        """Return the text of an arithmetic operation."""
        sign, binds = _ARITHMETIC[type(node.op)]
        if isinstance(node.op, ast.FloorDiv):
            return self.write_quotient(
                self.write_expression(node.left, binds),
                self.write_expression(node.right, binds + 1),
            )
        if self.rounding and get_type(node) == "float":
            return self.write_rounded(
                f"{self.write_expression(node.left, binds)} {sign} {self.write_expression(node.right, binds + 1)}"
            ), _CALL
        return (
            f"{self.write_expression(node.left, binds)} {sign} {self.write_expression(node.right, binds + 1)}",
            binds,
        )

    def write_rounded(self, text: str) -> str:
        """Return the text of a result rounded to single precision, where the original rounds it."""
        return f"{self.rounding}({text})" if self.rounding else text

    def write_quotient(self, left: str, right: str) -> tuple[str, int]:
        """Return the text of a quotient without its fraction, and its operator's rank."""
        return f"{left} / {right}", _MULTIPLY

    def write_call(self, node: ast.Call) -> str:
        """Return the text of a call of a function or method, or of a change of a list."""
        values = [self.write_expression(argument) for argument in node.args]
        if isinstance(node.func, ast.Name):
            if node.func.id == "State":
                return self.write_new_state(values)
            return self.write_function_call(node.func.id, values, node.args)
        assert isinstance(node.func, ast.Attribute)
        if isinstance(node.func.value, ast.Name) and node.func.value.id == "self":
            return f"{self.name_own_method(node.func.attr)}({', '.join(values)})"
        return self.write_list_change(
            self.write_expression(node.func.value, _CALL), node.func.attr, values
        )

    def write_function_call(self, name: str, values: list[str], nodes: list[ast.expr]) -> str:
        """Return the text of a call of one of ``FUNCTIONS``."""
        spelled = self.functions.get(name) or self.maths.format(name)
        if "{" in spelled:
            return self.fill_call(spelled, values, nodes)
        return f"{spelled}({', '.join(values)})"

    def fill_call(self, spelled: str, values: list[str], nodes: list[ast.expr]) -> str:
        """Return a call written by a template; an operation that stands bare is in brackets."""
        if nodes and not isinstance(nodes[0], ast.Call) and _BARE.search(spelled):
            values = [self.write_expression(nodes[0], _CALL), *values[1:]]
        return spelled.format(*values)

    def write_new_state(self, values: list[str]) -> str:
        """Return a new state with the values of its fields."""
        whole, part = self.record
        names = (self.name_member(field.name) for field in self.program.state)
        return whole.format(
            ", ".join(
                name if self.brief and name == value else part.format(name, value)
                for name, value in zip(names, values, strict=True)
            )
        )

    def write_list_change(self, name: str, method: str, values: list[str]) -> str:
        """Return the text of a list's ``append``, ``insert``, ``remove``, ``pop`` or ``clear``."""
        if method == "pop" and not values:
            method = "pop last"
        return self.changes[method].format(name, *values)

    def write_item(self, name: str, index: ast.expr) -> str:
        """Return the text of an item of a list."""
        return f"{name}[{self.write_expression(index)}]"

    def write_comparison_sign(self, sign: str) -> str:
        """Return the language's spelling of a comparison's sign."""
        return sign

    # ------------------------------------------------------------ names and numbers

    def write_constant(self, value: object) -> str:
        """Return the text of a number or a truth value."""
        if isinstance(value, bool):
            return "true" if value else "false"
        if isinstance(value, float):
            return self.write_number(value)
        return str(value)

    def write_number(self, value: float) -> str:
        """Return a float with all its digits."""
        text = repr(ctypes.c_float(value).value if self.rounding else value)
        if "e" in text and "." not in text:
            text = text.replace("e", ".0e")
        return text

    def write_type(self, kind: str) -> str:
        """Return the language's name of a type of the source."""
        if kind.startswith("list["):
            return self.types["list"].format(self.write_type(kind[5:-1]))
        if self.single and kind == "float" and not self.rounding:
            return self.types["single"]
        return self.types.get(kind, kind)

    def name_variable(self, name: str) -> str:
        """Return the language's spelling of a local variable, a parameter or a constant."""
        return name

    def name_member(self, name: str) -> str:
        """Return the language's spelling of a field of a state or a vector."""
        return name

    def name_own_field(self, name: str) -> str:
        """Return the language's spelling of a field of the class, from within the class."""
        return f"self.{name}"

    def name_own_method(self, name: str) -> str:
        """Return the language's spelling of a method of the class, from within the class."""
        return f"self.{name}"

    def write_zero(self, variable: Variable) -> str:
        """Return the initial value of a field."""
        if variable.type.startswith("list["):
            return self.write_empty_list(variable.type)
        if variable.type in ("Vec3", "Quat"):
            parts = (0.0, 0.0, 0.0) if variable.type == "Vec3" else (0.0, 0.0, 0.0, 1.0)
            return self.write_function_call(variable.type, list(map(self.write_number, parts)), [])
        kind: object = {"float": 0.0, "int": 0, "bool": False}[variable.type]
        return self.write_constant(kind)

    def write_empty_list(self, kind: str) -> str:
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

    def write_if(self, test: str) -> str:
        return f"if {test}"

    def write_else_if(self, test: str) -> str:
        return f"elif {test}"

    def write_else(self) -> str:
        return "else"

    def write_while(self, test: str) -> str:
        return f"while {test}"

    def write_for(self, name: str, first: str, end: str) -> str:
        return (
            f"for {name} in range({end})"
            if first == "0"
            else f"for {name} in range({first}, {end})"
        )


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


def convert_to_camel_case(name: str) -> str:
    """Convert ``drawn_time`` to ``drawnTime``."""
    return re.sub(r"(?<=.)_(\w)", lambda match: match[1].upper(), name)


def convert_to_pascal_case(name: str) -> str:
    """Convert ``drawn_time`` to ``DrawnTime``."""
    text = convert_to_camel_case(name.lower())
    return text[0].upper() + text[1:]


@cache
def load_languages() -> dict[str, type[LanguageWriter]]:
    """Return the writers by the names of their languages."""
    found = {}
    for module in pkgutil.iter_modules(__path__):
        writer: type[LanguageWriter] = importlib.import_module(f"{__name__}.{module.name}").WRITER
        found[writer.name] = writer
    return found
