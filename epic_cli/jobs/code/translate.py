"""Translation of one source into many languages; code that the settings do not use is left out.

A source (``sources/*.py``) is a Python module in a small, typed subset of the language: one class
``Smoothing``, a record ``State`` where states are kept, and a constant for each setting or of a
fixed value; ``FLAGS`` names the counters that may become truth values. What sources share are the
bases of their classes. ``parse`` reads it with the settings' values: conditions on constants are
decided, and what is then neither read nor called is left out. What remains is a ``ParsedSource``,
whose expressions have types; the writers of ``languages/`` print it.

The subset: ``float``, ``int``, ``bool``, ``Vec3``, ``Quat``, ``State``, lists of these;
declarations ``x: float = ...``, assignments (``=``, ``+=``, ``-=``), ``if``, ``while``, ``for i in
range(..)`` with one or two bounds, ``return``; arithmetic, comparisons of two values, ``and``,
``or``, ``not``; calls of methods and of ``FUNCTIONS``. A record is never changed after it was made,
so that languages may copy or share it.
"""

from __future__ import annotations

import ast
import copy
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple, TypeGuard

#: Functions of numbers and vectors, with what they return; "same": the type of their arguments.
FUNCTIONS = {
    "min": "same",
    "max": "same",
    "abs": "float",
    "sqrt": "float",
    "exp": "float",
    "cos": "float",
    "floor": "float",
    "sin": "float",
    "acos": "float",
    "length": "float",
    "dot": "float",
    "float": "float",
    "len": "int",
    "range": "int",
    "Vec3": "Vec3",
    "Quat": "Quat",
    "State": "State",
}

#: Methods of lists, with what they return.
LIST_METHODS = {"append": "", "insert": "", "clear": "", "pop": "", "remove": ""}

#: The methods and fields that callers use.
PUBLIC = ("reset", "receive", "teleport", "draw")
PUBLIC_FIELDS = ("position", "rotation")

#: A method that returns a value of at most this many characters is written where it is called.
_SHORT = 48


class Constant(NamedTuple):
    """A constant of a program, with its value and its meaning."""

    name: str
    value: float | int
    comment: str


class Variable(NamedTuple):
    """A field or a parameter of a program, with its type and its meaning."""

    name: str
    type: str
    comment: str = ""


class Method(NamedTuple):
    """A method of a program; ``changes``: it assigns to fields, directly or through calls."""

    name: str
    doc: str
    parameters: tuple[Variable, ...]
    returns: str
    body: list[ast.stmt]
    changes: bool

    @property
    def is_public(self) -> bool:
        """True if callers use the method."""
        return self.name in PUBLIC

    def reads(self, name: str) -> bool:
        """Return True if the method reads a variable."""
        return any(_count_reads(statement, name) for statement in self.body)

    def parameter(self, variable: Variable) -> str:
        """Return the name of a parameter, with ``_`` before it if the method does not read it."""
        return variable.name if self.reads(variable.name) else f"_{variable.name}"

    def assigned(self) -> set[str]:
        """Return the local variables that are assigned to after their declaration."""
        return {
            target.id
            for node in walk(self.body)
            for target in _list_targets(node)
            if isinstance(target, ast.Name) and not isinstance(node, ast.AnnAssign)
        }

    def locals(self) -> set[str]:
        """Return the names of parameters and local variables."""
        names = {parameter.name for parameter in self.parameters}
        for node in walk(self.body):
            if (isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name)) or (
                isinstance(node, ast.For) and isinstance(node.target, ast.Name)
            ):
                names.add(node.target.id)
        return names


class ParsedSource(NamedTuple):
    """A program to print: constants, the fields of states (possibly none), fields and methods."""

    doc: str
    constants: tuple[Constant, ...]
    state: tuple[Variable, ...]
    state_doc: str
    smoothing_doc: str
    fields: tuple[Variable, ...]
    methods: tuple[Method, ...]
    comments: Mapping[int, tuple[str, ...]]

    def uses(self) -> set[str]:
        """Return the functions, list methods and vector operations that the program needs."""
        names = {ast.Add: "add", ast.Sub: "subtract", ast.Mult: "scale"}
        found = set()
        for method in self.methods:
            for node in walk(method.body):
                if isinstance(node, ast.BinOp) and get_type(node) == "Vec3":
                    found.add(names[type(node.op)])
                elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                    found.add(node.func.id)
                elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                    found.add(node.func.attr)
        return found

    def method(self, name: str) -> Method:
        """Return the method with this name."""
        return next(method for method in self.methods if method.name == name)


def get_type(node: ast.expr) -> str:
    """Return the type of an expression of a ``ParsedSource``."""
    kind: str = node.typed  # type: ignore[attr-defined]
    return kind


def walk(body: Sequence[ast.stmt]) -> Iterator[ast.AST]:
    """Yield all nodes of the syntax trees of these statements."""
    for statement in body:
        yield from _list_nodes(statement)


def _list_nodes(node: ast.AST) -> list[ast.AST]:
    """Return a node and all below it in the order of ``ast.walk``.

    Operators and contexts are left out.
    """
    nodes = [node]
    for each in nodes:  # which grows
        for name in _HOLDING[type(each)]:
            held = getattr(each, name, None)
            if isinstance(held, list):
                nodes += held
            elif isinstance(held, ast.AST):
                nodes.append(held)
    return nodes


#: By a node's class: its fields that hold nodes.
_HOLDING = {
    kind: tuple(
        name for name in kind._fields
        if name not in {"ctx", "op", "ops", "id", "attr", "name", "arg", "kw_defaults"}
    )
    for kind in vars(ast).values() if isinstance(kind, type) and issubclass(kind, ast.AST)
} | {ast.Constant: ()}  # fmt: skip


def parse(source: str, values: Mapping[str, object], comments: Mapping[str, str]) -> ParsedSource:
    """Return the program that a source becomes with these values of its constants.

    ``values`` has a number, text or truth value for each constant that the source declares;
    ``comments`` says what it means. Raise ``ValueError`` where the source leaves the subset.
    """
    tree = ast.parse(source)
    for record in tree.body:
        if isinstance(record, ast.ClassDef):
            _refuse_other_syntax(record)
    classes = {node.name: node for node in tree.body if isinstance(node, ast.ClassDef)}
    smoothing = classes["Smoothing"]
    for base in smoothing.bases:
        smoothing.body += classes[ast.unparse(base)].body
    states = _parse_fields(classes["State"], source) if "State" in classes else ()
    fields = _parse_fields(smoothing, source)
    methods = {node.name: node for node in smoothing.body if isinstance(node, ast.FunctionDef)}
    functions = _decide_branches(methods, values)
    annotator = _TypeAnnotator(values, fields, states, functions)
    for function in functions.values():
        annotator.annotate(function)
    states, fields, functions = _drop_unused_definitions(states, fields, functions)
    found = _find_comments(source)
    for _ in range(2):  # what is joined may be short, and what is short be joined
        changing = _find_changing_methods(functions)
        for function in functions.values():
            _VariableInliner(function, changing, found).body(function.body)
        functions = _inline_short_methods(functions)
    written = _find_written_fields(functions)
    for function in functions.values():
        function.body = _merge_tests(function.body, written, found)
    fields = _convert_counters(fields, functions, _read_flags(tree))
    used = {node.id for function in functions.values() for node in _list_nodes(function)
            if isinstance(node, ast.Name)}  # fmt: skip
    for function in functions.values():
        targets = [target for node in _list_nodes(function) for target in _list_targets(node)]
        if same := set(functions).intersection(map(ast.unparse, targets)):
            raise ValueError(f"{function.name}: a local variable is named as the method {same}")
    if same := {name.lower() for name in values} & set(functions):
        raise ValueError(f"a constant is named as the method {same}, which C# writes alike")
    return ParsedSource(
        doc=ast.get_docstring(tree) or "",
        constants=tuple(
            Constant(name, value, comments.get(name, ""))
            for name, value in values.items()
            if name in used and isinstance(value, int | float)
        ),
        state=states,
        state_doc=ast.get_docstring(classes["State"]) or "" if "State" in classes else "",
        smoothing_doc=ast.get_docstring(smoothing) or "",
        fields=fields,
        methods=tuple(
            _make_method(function, name in changing) for name, function in functions.items()
        ),
        comments=found,
    )


def _refuse_other_syntax(record: ast.ClassDef) -> None:
    """Raise ``ValueError`` for what the writers would write in part only."""
    for node in _list_nodes(record):
        if isinstance(node, ast.For | ast.While):
            outside = bool(node.orelse)
            if isinstance(node, ast.For):
                outside |= not re.fullmatch(r"range\(.*\)", ast.unparse(node.iter))
        elif isinstance(node, ast.Call):
            called, count = getattr(node.func, "id", getattr(node.func, "attr", "")), len(node.args)
            outside = bool(node.keywords) or (called == "range" and count not in (1, 2))
            outside |= called == "pop" and count > 0 and ast.unparse(node.args[0]) != "0"
        elif isinstance(node, ast.Compare):
            outside = len(node.ops) > 1
        elif isinstance(node, ast.Assign):
            outside = len(node.targets) > 1
        elif isinstance(node, ast.AugAssign):
            outside = not isinstance(node.op, ast.Add | ast.Sub)
        else:
            continue
        if outside:
            raise ValueError(
                f"line {node.lineno}: {ast.unparse(node)} is not in the subset of Python that is"
                " translated"
            )


def _read_flags(tree: ast.Module) -> dict[str, tuple[str, str]]:
    """Return the table ``FLAGS`` of a source: counters that may become truth values.

    The name and comment of a counter that is only tested against 0.
    """
    for node in tree.body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "FLAGS":
            found: dict[str, tuple[str, str]] = ast.literal_eval(node.value)
            return found
    return {}


def _make_method(function: ast.FunctionDef, changes: bool) -> Method:
    return Method(
        function.name,
        ast.get_docstring(function) or "",
        tuple(
            Variable(argument.arg, ast.unparse(argument.annotation))
            for argument in function.args.args[1:]
            if argument.annotation is not None
        ),
        "" if function.returns is None else ast.unparse(function.returns).replace("None", ""),
        _get_statements(function),
        changes,
    )


def _get_statements(function: ast.FunctionDef) -> list[ast.stmt]:
    """Return a function's body without the docstring."""
    return function.body[1:] if ast.get_docstring(function) is not None else function.body


def _parse_fields(record: ast.ClassDef, source: str) -> tuple[Variable, ...]:
    """Return a record's declarations, with the comments at the ends of their lines."""
    lines = source.splitlines()
    return tuple(
        Variable(
            node.target.id,
            ast.unparse(node.annotation),
            lines[node.lineno - 1].partition("# ")[2],
        )
        for node in record.body
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name)
    )


def _find_comments(source: str) -> dict[int, tuple[str, ...]]:
    """Return the comments before each statement, by the line number of the statement."""
    found: dict[int, tuple[str, ...]] = {}
    pending: list[str] = []
    for number, line in enumerate(source.splitlines(), 1):
        text = line.strip()
        if text.startswith("#"):
            pending.append(text.lstrip("# "))
        elif pending and text:
            found[number] = tuple(pending)
            pending = []
    return found


# ---------------------------------------------------------------- deciding what settings decide


def _decide_branches(
    methods: Mapping[str, ast.FunctionDef], values: Mapping[str, object]
) -> dict[str, ast.FunctionDef]:
    """Return the methods that callers reach, with only the branches that the values choose."""
    decider = _BranchDecider(values)
    reached: set[str] = set()
    waiting = list(PUBLIC)
    while waiting:
        name = waiting.pop()
        if name in methods and name not in reached:
            reached.add(name)
            waiting += _find_called_methods(_list_nodes(decider.visit(methods[name])))
    return {name: method for name, method in methods.items() if name in reached}


def _find_called_methods(nodes: Sequence[ast.AST]) -> set[str]:
    return {
        node.func.attr
        for node in nodes
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
    }


class _BranchDecider(ast.NodeTransformer):
    """A transformer that keeps only the branches that the constants' values choose."""

    def __init__(self, values: Mapping[str, object]) -> None:
        self._values = values

    def visit_If(self, node: ast.If) -> ast.AST | list[ast.stmt]:
        test = self._decide_test(node.test)
        body = [statement for part in node.body for statement in self._visit_statement(part)]
        orelse = [statement for part in node.orelse for statement in self._visit_statement(part)]
        if test is True:
            return body
        if test is False:
            return orelse
        if not body and not orelse:
            return []
        node.test, node.body, node.orelse = test, body or [ast.Pass()], orelse
        return node

    def visit_IfExp(self, node: ast.IfExp) -> ast.AST:
        test = self._decide_test(node.test)
        if not isinstance(test, bool):
            raise ValueError(
                f"line {node.lineno}: constants do not decide {ast.unparse(node)}: write an if"
                " statement"
            )
        chosen: ast.AST = self.visit(node.body if test else node.orelse)
        return chosen

    def visit_While(self, node: ast.While) -> ast.AST:
        test = self._decide_test(node.test)
        node.test = ast.Constant(test) if isinstance(test, bool) else test
        node.body = [statement for part in node.body for statement in self._visit_statement(part)]
        return node

    def visit_Return(self, node: ast.Return) -> ast.AST:
        if isinstance(node.value, ast.Compare | ast.BoolOp | ast.UnaryOp):
            value = self._decide_test(node.value)
            node.value = ast.Constant(value) if isinstance(value, bool) else value
        return self.generic_visit(node)

    def _visit_statement(self, node: ast.stmt) -> list[ast.stmt]:
        made = self.visit(node)
        return made if isinstance(made, list) else [made]

    def _decide_test(self, node: ast.expr) -> bool | ast.expr:
        """Return the truth value of a condition if constants decide it, else the undecided part."""
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            inner = self._decide_test(node.operand)
            return not inner if isinstance(inner, bool) else ast.UnaryOp(ast.Not(), inner)
        if isinstance(node, ast.BoolOp):
            stops = isinstance(node.op, ast.Or)
            left = []
            for value in node.values:
                decided = self._decide_test(value)
                if decided is stops:
                    return stops
                if not isinstance(decided, bool):
                    left.append(decided)
            if not left:
                return not stops
            return left[0] if len(left) == 1 else ast.BoolOp(node.op, left)
        if all(
            isinstance(part, ast.Constant)
            or (isinstance(part, ast.Name) and part.id in self._values)
            for part in _list_nodes(node)
            if isinstance(part, ast.expr) and not isinstance(part, ast.Compare)
        ):
            return bool(eval(compile(ast.Expression(node), "", "eval"), {}, dict(self._values)))  # noqa: S307 - our own source
        return node


# ---------------------------------------------------------------- types


class _TypeAnnotator:
    """An annotator that gives each expression of a method its type, as ``typed``."""

    def __init__(
        self,
        values: Mapping[str, object],
        fields: tuple[Variable, ...],
        states: tuple[Variable, ...],
        functions: Mapping[str, ast.FunctionDef],
    ) -> None:
        self._constants = {name: type(value).__name__ for name, value in values.items()}
        self._fields = {field.name: field.type for field in fields}
        self._members = {
            "State": {field.name: field.type for field in states},
            "Vec3": dict.fromkeys("xyz", "float"),
            "Quat": dict.fromkeys("xyzw", "float"),
        }
        self._returns = {
            name: ast.unparse(function.returns) if function.returns else ""
            for name, function in functions.items()
        }
        self._names: dict[str, str] = {}

    def annotate(self, function: ast.FunctionDef) -> None:
        self._names = dict(self._constants)
        for argument in function.args.args[1:]:
            assert argument.annotation is not None
            self._names[argument.arg] = ast.unparse(argument.annotation)
        for node in _list_nodes(function):
            if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
                self._names[node.target.id] = ast.unparse(node.annotation)
            elif isinstance(node, ast.For) and isinstance(node.target, ast.Name):
                self._names[node.target.id] = "int"
        for statement in _get_statements(function):
            for node in _list_nodes(statement):
                if isinstance(node, ast.expr) and not hasattr(node, "typed"):
                    self._infer_type(node)

    def _infer_type(self, node: ast.expr) -> str:
        kind = getattr(node, "typed", None)
        if kind is None:
            kind = self._derive_type(node)
            node.typed = kind  # type: ignore[attr-defined]
        return str(kind)

    def _derive_type(self, node: ast.expr) -> str:  # noqa: PLR0911 - one for each kind
        if isinstance(node, ast.Constant):
            return type(node.value).__name__
        if isinstance(node, ast.Name):
            return self._names.get(node.id, "name")
        if isinstance(node, ast.Attribute):
            if isinstance(node.value, ast.Name) and node.value.id == "self":
                return self._fields.get(node.attr, "method")
            inner = self._infer_type(node.value)
            return self._members.get(inner, {}).get(node.attr, "method")
        if isinstance(node, ast.Subscript):
            return self._infer_type(node.value).removeprefix("list[").removesuffix("]")
        if isinstance(node, ast.Compare | ast.BoolOp):
            return "bool"
        if isinstance(node, ast.UnaryOp):
            return "bool" if isinstance(node.op, ast.Not) else self._infer_type(node.operand)
        if isinstance(node, ast.BinOp):
            kinds = {self._infer_type(node.left), self._infer_type(node.right)}
            return "Vec3" if "Vec3" in kinds else "float" if "float" in kinds else "int"
        if isinstance(node, ast.Call):
            return self._infer_call_type(node)
        if isinstance(node, ast.List):
            return "list"
        raise ValueError(f"line {node.lineno}: {ast.unparse(node)} is not in the subset")

    def _infer_call_type(self, node: ast.Call) -> str:
        if isinstance(node.func, ast.Name):
            found = FUNCTIONS[node.func.id]
            return self._infer_type(node.args[0]) if found == "same" else found
        assert isinstance(node.func, ast.Attribute)
        if isinstance(node.func.value, ast.Name) and node.func.value.id == "self":
            return self._returns[node.func.attr]
        return LIST_METHODS[node.func.attr]


# ---------------------------------------------------------------- leaving out what is not used


def _drop_unused_definitions(
    states: tuple[Variable, ...],
    fields: tuple[Variable, ...],
    functions: dict[str, ast.FunctionDef],
) -> tuple[tuple[Variable, ...], tuple[Variable, ...], dict[str, ast.FunctionDef]]:
    """Return states, fields and functions without unused ones; repeat until nothing changes."""
    before: list[ast.AST] = []
    while len(nodes := list(walk([*functions.values()]))) != len(before):
        before = nodes
        called = _find_called_methods(nodes)
        functions = {
            name: function
            for name, function in functions.items()
            if name in PUBLIC or name in called
        }
        used = _find_read_fields(functions) | (
            _find_assigned_fields(functions).intersection(PUBLIC_FIELDS)
        )
        fields = tuple(field for field in fields if field.name in used)
        kept = {field.name for field in fields}
        copied = _find_copied_fields(nodes, states)
        members = {
            node.attr
            for node in nodes
            if isinstance(node, ast.Attribute)
            and isinstance(node.ctx, ast.Load)
            and node not in copied
            and getattr(node.value, "typed", "") == "State"
        }
        gone = [index for index, field in enumerate(states) if field.name not in members]
        states = tuple(field for field in states if field.name in members)
        empty = {
            name
            for name, function in functions.items()
            if all(isinstance(statement, ast.Pass) for statement in _get_statements(function))
        } - {"reset", "receive", "draw"}
        parameters = {
            name: [
                index
                for index, argument in enumerate(function.args.args[1:])
                if argument.arg not in read
            ]
            for name, function in functions.items()
            if name != "draw"
            for read in [_list_read_names(function)]
        }
        for function in functions.values():
            for node in _list_nodes(function):
                if isinstance(node, ast.Call):
                    _drop_arguments(node, gone, parameters)
            function.body = _StatementSweeper(kept, empty, function).body(function.body)
        for name, indices in parameters.items():
            if name in functions:
                arguments = functions[name].args.args
                functions[name].args.args = [
                    argument for index, argument in enumerate(arguments) if index - 1 not in indices
                ]
        functions = {name: function for name, function in functions.items() if name not in empty}
    return states, fields, functions


def _find_copied_fields(nodes: Sequence[ast.AST], states: tuple[Variable, ...]) -> set[ast.expr]:
    """Return the reads of a state's field that only copy it to the same field of another state."""
    return {
        value
        for node in nodes
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
        if node.func.id == "State"
        for field, value in zip(states, node.args, strict=True)
        if isinstance(value, ast.Attribute) and value.attr == field.name
    }


def _inline_short_methods(functions: dict[str, ast.FunctionDef]) -> dict[str, ast.FunctionDef]:
    """Return the functions, with calls of short methods replaced by what they return."""
    for name, function in functions.items():
        (last, *more) = reversed(_get_statements(function))
        value = last.value if isinstance(last, ast.Return) and not more else None
        if value is None or name in PUBLIC or len(ast.unparse(value)) > _SHORT:
            continue
        parameters = [argument.arg for argument in function.args.args[1:]]
        if all(_count_reads(value, parameter) == 1 for parameter in parameters):
            others = {key: each for key, each in functions.items() if key != name}
            for other in others.values():
                _MethodInliner(name, parameters, value).visit(other)
            return _inline_short_methods(others)
    return functions


class _MethodInliner(ast.NodeTransformer):
    """A transformer that replaces each call of a method by the expression that it returns."""

    def __init__(self, name: str, parameters: list[str], value: ast.expr) -> None:
        self._name, self._parameters, self._value = name, parameters, value

    def visit_Call(self, node: ast.Call) -> ast.expr:
        self.generic_visit(node)
        if _get_own_field(node.func) != self._name:
            return node
        values = dict(zip(self._parameters, node.args, strict=True))
        inlined: ast.expr = _NameReplacer(values).visit(copy.deepcopy(self._value))
        return inlined


def _list_read_names(function: ast.FunctionDef) -> set[str]:
    """Return the names of the variables that are read, but for their own next value."""
    nodes = list(walk(function.body))
    own = {
        id(node)
        for assignment in nodes
        if isinstance(assignment, ast.Assign) and isinstance(assignment.targets[0], ast.Name)
        for node in _list_nodes(assignment.value)
        if isinstance(node, ast.Name) and node.id == assignment.targets[0].id
    }
    return {
        node.id
        for node in nodes
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and id(node) not in own
    }


def _get_own_field(node: ast.AST) -> str | None:
    """Return the field's name in ``self.field``; None for other expressions."""
    if (
        isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and node.value.id == "self"
    ):
        return node.attr
    return None


def _find_changed_list(node: ast.AST) -> str | None:
    """Return the field whose list a call changes, as ``append`` does; None for other calls."""
    if (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in LIST_METHODS
    ):
        return _get_own_field(node.func.value)
    return None


def _find_assigned_fields(functions: Mapping[str, ast.FunctionDef]) -> set[str]:
    return {
        field
        for function in functions.values()
        for node in _list_nodes(function)
        for target in _list_targets(node)
        if (field := _get_own_field(target)) is not None
    }


def _find_read_fields(functions: Mapping[str, ast.FunctionDef]) -> set[str]:
    """Return the fields whose values are used beyond assigning and appending to them."""
    found: set[str] = set()
    for function in functions.values():
        for statement in function.body:
            found |= _find_reads(statement)
    return found


def _find_reads(node: ast.AST) -> set[str]:
    if isinstance(node, ast.Expr) and _find_changed_list(node.value) is not None:
        assert isinstance(node.value, ast.Call)
        return {name for argument in node.value.args for name in _find_reads(argument)}
    if isinstance(node, ast.Assign | ast.AugAssign):
        own = {_get_own_field(target) for target in _list_targets(node)}
        return {name for name in _find_reads(node.value) if name not in own or None in own}
    name = _get_own_field(node)
    if name is not None:
        return {name}
    return {name for child in ast.iter_child_nodes(node) for name in _find_reads(child)}


def _list_targets(node: ast.AST) -> list[ast.expr]:
    if isinstance(node, ast.Assign):
        return node.targets
    return [node.target] if isinstance(node, ast.AugAssign | ast.AnnAssign) else []


def _drop_arguments(
    call: ast.Call, members: list[int], parameters: Mapping[str, list[int]]
) -> None:
    """Remove from a call the arguments of dropped parameters."""
    if isinstance(call.func, ast.Name) and call.func.id == "State":
        gone = members
    else:
        gone = parameters.get(_get_own_field(call.func) or "", [])
    call.args = [argument for index, argument in enumerate(call.args) if index not in gone]


class _StatementSweeper:
    """A transformer that removes a method's statements without effect."""

    def __init__(self, fields: set[str], empty: set[str], function: ast.FunctionDef) -> None:
        self._fields = fields
        self._empty = empty
        self._read = _list_read_names(function)

    def body(self, body: list[ast.stmt]) -> list[ast.stmt]:
        kept = []
        for statement in body:
            if self._is_useless(statement):
                continue
            if isinstance(statement, ast.If):
                statement.body = self.body(statement.body)
                statement.orelse = self.body(statement.orelse)
                if not statement.body and not statement.orelse:
                    continue
                if not statement.body:  # languages differ in how they write nothing
                    statement.test = _negate_test(statement.test)
                    statement.body, statement.orelse = statement.orelse, []
            elif isinstance(statement, ast.While | ast.For):
                statement.body = self.body(statement.body)
                if isinstance(statement, ast.For) and not statement.body:
                    continue
            kept.append(statement)
            if isinstance(statement, ast.Return):
                break
        return kept

    def _is_useless(self, statement: ast.stmt) -> bool:
        if isinstance(statement, ast.Pass):
            return True
        for target in _list_targets(statement):
            name = _get_own_field(target)
            if name is not None and name not in self._fields:
                return True
            if isinstance(target, ast.Name) and target.id not in self._read:
                return True
        if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
            changed = _find_changed_list(statement.value)
            called = _get_own_field(statement.value.func)
            return (changed is not None and changed not in self._fields) or called in self._empty
        return False


class _VariableInliner:
    """A transformer that writes a variable's value where only the next statement reads it.

    What decided conditions leave behind is full of these.
    """

    WIDTH = 76

    def __init__(
        self, function: ast.FunctionDef, changing: set[str], comments: Mapping[int, object]
    ) -> None:
        self._function = function
        self._changing = changing
        self._comments = comments

    def body(self, body: list[ast.stmt]) -> None:
        """Inline variables in the statements of a body and of its nested bodies."""
        index = 0
        while index < len(body):
            statement = body[index]
            while isinstance(statement, ast.If) and self._is_nested_condition(statement):
                (inner,) = statement.body
                assert isinstance(inner, ast.If)
                tests = [
                    part
                    for test in (statement.test, inner.test)
                    for part in (test.values if _is_conjunction(test) else [test])
                ]
                statement.test, statement.body = ast.BoolOp(ast.And(), tests), inner.body
            joined = (
                self._join_statements(statement, body[index + 1]) if index + 1 < len(body) else None
            )
            if joined is not None:
                body[index : index + 2] = [joined]
                index = max(index - 1, 0)
                continue
            for part in (getattr(statement, "body", []), getattr(statement, "orelse", [])):
                self.body(part)
            index += 1

    def _is_nested_condition(self, statement: ast.If) -> bool:
        """Return True if the statement is a condition whose body is one other condition."""
        inner = statement.body[0]
        return (
            len(statement.body) == 1 and isinstance(inner, ast.If)
            and not statement.orelse and not inner.orelse and inner.lineno not in self._comments
        )  # fmt: skip

    def _join_statements(self, first: ast.stmt, then: ast.stmt) -> ast.stmt | None:
        if not isinstance(first, ast.AnnAssign) or first.value is None:
            return None
        if first.lineno in self._comments or then.lineno in self._comments:
            return None
        name = ast.unparse(first.target)
        used = getattr(then, "value", None)
        if used is None or isinstance(then, ast.AugAssign) or _count_reads(used, name) != 1:
            return None
        if [ast.unparse(target) for target in _list_targets(then)] == [name]:
            joined: ast.stmt = ast.AnnAssign(first.target, first.annotation, used, simple=1)
        elif (
            _count_reads(self._function, name) == 1
            and _count_assignments(self._function, name) == 1
        ):
            joined = then
        else:
            return None
        calls = [*_list_nodes(first.value), *_list_nodes(used)]
        if not isinstance(used, ast.Name) and any(
            isinstance(call, ast.Call) and call is not used
            and _get_own_field(call.func) in self._changing for call in calls
        ):  # fmt: skip
            return None  # it would be computed from something else
        made: ast.stmt = _NameReplacer({name: first.value}).visit(copy.deepcopy(joined))
        short = len(ast.unparse(made)) <= self.WIDTH
        return ast.copy_location(made, first) if short else None


# ---------------------------------------------------------------- tests


def _find_written_fields(functions: Mapping[str, ast.FunctionDef]) -> dict[str, set[str]]:
    """Return the fields that each method changes, directly or through calls."""
    written: dict[str, set[str]] = {name: set() for name in functions}
    while True:
        more = {name: _find_changes(function.body, written) for name, function in functions.items()}
        if more == written:
            return written
        written = more


def _find_changes(body: list[ast.stmt], written: Mapping[str, set[str]]) -> set[str]:
    """Return the fields and local variables that statements change."""
    found: set[str] = set()
    for node in walk(body):
        for target in _list_targets(node):
            found.add(_get_own_field(target) or ast.unparse(target))
        if isinstance(node, ast.Call):
            found |= {_find_changed_list(node) or ""} | written.get(
                _get_own_field(node.func) or "", set()
            )
    return found


def _merge_tests(
    body: list[ast.stmt], written: Mapping[str, set[str]], comments: Mapping[int, object]
) -> list[ast.stmt]:
    """Return the statements, conditions with a common test that follow each other merged."""
    merged: list[ast.stmt] = []
    for statement in body:
        before = merged[-1] if merged else None
        if isinstance(before, ast.If) and isinstance(statement, ast.If):
            one = _merge_pair(before, statement, written, comments)
            if one is not None:
                merged[-1] = one
                continue
        merged.append(statement)
    for statement in merged:
        for name in ("body", "orelse"):
            if getattr(statement, name, None):
                setattr(statement, name, _merge_tests(getattr(statement, name), written, comments))
    return merged


def _merge_pair(
    first: ast.If, then: ast.If, written: Mapping[str, set[str]], comments: Mapping[int, object]
) -> ast.If | None:
    """Return one condition for two that begin with the same test; None if they do not."""
    tests = [
        each.test.values if _is_conjunction(each.test) else [each.test] for each in (first, then)
    ]
    common = 0
    while common < min(map(len, tests)) and len({ast.unparse(test[common]) for test in tests}) == 1:
        common += 1
    other = then.orelse and len(tests[1]) > common  # it would have to stand twice
    if not common or first.orelse or other or then.lineno in comments:
        return None
    shared = tests[0][:common]
    nodes = [node for test in shared for node in _list_nodes(test)]
    read = {_get_own_field(node) or getattr(node, "id", "self") for node in nodes} - {"self"}
    if not isinstance(first.body[-1], ast.Return) and _find_changes(first.body, written) & read:
        return None
    parts: list[ast.stmt] = []
    for each, test in zip((first, then), tests, strict=True):
        rest = test[common:]
        parts += (
            [ast.copy_location(ast.If(_join_tests(rest), each.body, []), each)]
            if rest
            else each.body
        )
    return ast.copy_location(ast.If(_join_tests(shared), parts, then.orelse), first)


def _join_tests(tests: list[ast.expr]) -> ast.expr:
    """Return a test that is true where all tests are."""
    return tests[0] if len(tests) == 1 else ast.BoolOp(ast.And(), tests)


def _convert_counters(
    fields: tuple[Variable, ...],
    functions: Mapping[str, ast.FunctionDef],
    names: Mapping[str, tuple[str, str]],
) -> tuple[Variable, ...]:
    """Replace each counter that is only compared with 0 by a truth value; return the fields."""
    nodes = [node for function in functions.values() for node in _list_nodes(function)]
    for counter, (name, comment) in names.items():
        reads = [node for node in nodes if _get_own_field(node) == counter and _is_value_read(node)]
        tests = [
            node for node in nodes
            if isinstance(node, ast.Compare) and _get_own_field(node.left) == counter
            and isinstance(node.ops[0], ast.Gt | ast.Eq) and ast.unparse(node.comparators[0]) == "0"
        ]  # fmt: skip
        if not reads or len(tests) < len(reads):
            continue
        for function in functions.values():
            _CounterReplacer(counter, name).visit(function)
        fields = tuple(
            Variable(name, "bool", comment) if field.name == counter else field for field in fields
        )
    return fields


def _is_value_read(node: ast.AST) -> bool:
    return isinstance(getattr(node, "ctx", None), ast.Load)


class _CounterReplacer(ast.NodeTransformer):
    """A transformer that replaces a counter by a truth value."""

    def __init__(self, counter: str, name: str) -> None:
        self._counter, self._name = counter, name

    def _replace_counter(self, node: ast.AST) -> ast.Attribute:
        assert isinstance(node, ast.Attribute)
        node.attr = self._name
        node.typed = "bool"  # type: ignore[attr-defined]
        return node

    def visit_Compare(self, node: ast.Compare) -> ast.expr:
        if _get_own_field(node.left) != self._counter:
            return node
        flag = self._replace_counter(node.left)
        if isinstance(node.ops[0], ast.Gt):
            return flag
        opposite = ast.UnaryOp(ast.Not(), flag)
        opposite.typed = "bool"  # type: ignore[attr-defined]
        return opposite

    def visit_Assign(self, node: ast.Assign) -> ast.stmt:
        self.generic_visit(node)
        return self._set_flag(node, node.targets[0], False)

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.stmt:
        return self._set_flag(node, node.target, True)

    def _set_flag(self, node: ast.stmt, target: ast.expr, value: bool) -> ast.stmt:
        if _get_own_field(target) != self._counter:
            return node
        constant = ast.Constant(value)
        constant.typed = "bool"  # type: ignore[attr-defined]
        return ast.copy_location(ast.Assign([self._replace_counter(target)], constant), node)


def _count_assignments(function: ast.FunctionDef, name: str) -> int:
    """Return the number of assignments to a name in a function."""
    return sum(
        ast.unparse(target) == name
        for node in _list_nodes(function)
        for target in _list_targets(node)
    )


def _count_reads(node: ast.AST, name: str) -> int:
    """Return the number of reads of a name below a node."""
    return sum(
        isinstance(part, ast.Name) and part.id == name and isinstance(part.ctx, ast.Load)
        for part in _list_nodes(node)
    )


def _is_conjunction(test: ast.expr) -> TypeGuard[ast.BoolOp]:
    return isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And)


class _NameReplacer(ast.NodeTransformer):
    def __init__(self, values: Mapping[str, ast.expr]) -> None:
        self._values = values

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return self._values.get(node.id, node) if isinstance(node.ctx, ast.Load) else node


_OPPOSITES: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.GtE, ast.GtE: ast.Lt, ast.Gt: ast.LtE, ast.LtE: ast.Gt,
    ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
}  # fmt: skip


def _negate_test(test: ast.expr) -> ast.expr:
    """Return the negation of a test."""
    if isinstance(test, ast.Compare) and len(test.ops) == 1:
        return ast.Compare(test.left, [_OPPOSITES[type(test.ops[0])]()], test.comparators)
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return test.operand
    return ast.UnaryOp(ast.Not(), test)


def _find_changing_methods(functions: Mapping[str, ast.FunctionDef]) -> set[str]:
    """Return the methods that assign to fields, directly or through calls."""
    changing: set[str] = set()
    while True:
        more = {
            name
            for name, function in functions.items()
            if any(
                any(_get_own_field(target) is not None for target in _list_targets(node))
                or _find_changed_list(node) is not None
                or (isinstance(node, ast.Call) and _get_own_field(node.func) in changing)
                for node in _list_nodes(function)
            )
        }
        if more == changing:
            return changing
        changing = more
