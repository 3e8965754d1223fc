"""The words of the code: class names, the first words of docstrings, and banned words."""

import ast
import inspect
import re
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from support.places import ROOT

import epic_cli
from epic_cli.shell.command_line import load
from epic_cli.shell.commands import COMMANDS

PACKAGE = ROOT / "epic_cli"

#: Words that stand for one of the field, or for nothing.
BANNED = re.compile(
    r"cannot be told|beyond doubt|of one's own\b|\banew\b|\bso many\b|\bnobody\b"
    r"|\btold of\b|turned away|\bfor one in (?:a|the|\d)|(?<!there )is no number",
    re.IGNORECASE,
)

#: First words of a docstring that only the next words explain.
RIDDLE = re.compile(
    r"\W*(?:About|Also|And|Any|As|At|But|By|For|From|Here|How|If|In|Is|Its?|None|Not|Nothing|Of|On"
    r"|Only|Or|Same|So|Some|Something|Such|That|Their|Them|There|These|They|This|Those|To|What|When"
    r"|Where|Whether|Which|Who|Whose|Why|With|Without)\b"
)

#: First words of a function's docstring that are no verbs in the imperative form.
NO_VERB = re.compile(
    r"(?!(?:Pass|Press|Process|Compress|Guess|Bring|Feed|Need|Embed|Seed)\b)"
    r"(?:(?:A|An|All|Both|Each|False|First|Last|One|The|True|Two)\b|\w+(?:s|ed|ing)\b|[^A-Z])"
)

#: The first line of a definition.
HEAD = re.compile(r" *(?:async def|cdef class|cpdef|cdef|class|def)\b")


@cache
def classes(path: Path) -> set[str]:
    """Return the public classes of a module, of Python or Cython."""
    text = path.read_text()
    if path.suffix == ".pyx":
        found = set(re.findall(r"^(?:cdef )?class (\w+)", text, re.MULTILINE))
    else:
        found = {node.name for node in ast.walk(ast.parse(text)) if isinstance(node, ast.ClassDef)}
    return {name for name in found if not name.startswith("_")}


def test_no_public_class_name_stands_in_two_modules() -> None:
    places = defaultdict(list)
    for path in sorted([*PACKAGE.rglob("*.py"), *PACKAGE.rglob("*.pyx")]):
        if path.parent.name == "sources":  # each is written to a file of its own
            continue
        for name in classes(path):
            places[name].append(str(path.relative_to(PACKAGE)))
    assert {name: found for name, found in places.items() if len(found) > 1} == {}


def docstrings(path: Path) -> Iterator[tuple[int, bool, str]]:
    """Yield each docstring's line number, whether it is a function's, and its first line."""
    function, before = False, ":"
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if HEAD.match(line):
            function = "class " not in line and "property" not in before
        elif before.endswith(":") and (found := re.match(r' *r?"""(.+)', line)):
            yield number, function, found[1]
        before = line


def test_docstrings_of_functions_begin_with_a_verb_and_none_with_a_riddle() -> None:
    wrong = [
        f"{path.relative_to(ROOT)}:{line}: {text}"
        for path in (
            *PACKAGE.rglob("*.py"),
            *PACKAGE.rglob("*.pyx"),
            *(ROOT / "tests").rglob("*.py"),
        )
        for line, function, text in docstrings(path)
        if RIDDLE.match(text) or (function and "/test_" not in str(path) and NO_VERB.match(text))
    ]
    assert wrong == []


def test_the_words_are_those_of_the_field() -> None:
    found = [
        f"{path.relative_to(ROOT)}:{number}: {line}"
        for path in (ROOT / "README.md", *PACKAGE.rglob("*"))
        if path.suffix in (".py", ".pyx", ".pxd", ".h", ".js", ".md")
        for number, line in enumerate(path.read_text().splitlines(), 1)
        if BANNED.search(line)
    ]
    assert found == []


def test_what_users_read_names_no_class_that_they_cannot_have() -> None:
    defined = {
        name
        for path in [*PACKAGE.rglob("*.py"), *PACKAGE.rglob("*.pyx")]
        for name in classes(path)
        if re.search("[a-z][A-Z]", name) and name != "TypeScript"
    }
    network = (name for path in (PACKAGE / "network").glob("*.py") for name in classes(path))
    private = defined - {*epic_cli.__all__, *network}
    name = re.compile(rf"\b(?:{'|'.join(private)})\b")
    offered = [epic_cli.strategy(each.name) for each in epic_cli.strategies()]
    offered += [getattr(epic_cli, name) for name in epic_cli.__all__]
    read = [inspect.getdoc(one) or "" for one in offered]
    read += [load(name).help or "" for name in COMMANDS]
    read += [path.read_text() for path in (ROOT / "README.md", ROOT / "sample_inputs/README.md")]
    assert [found for text in read for found in name.findall(text)] == []
