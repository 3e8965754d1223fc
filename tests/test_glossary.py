"""One word, one meaning: class names are unique, and words outside the field are banned."""

import ast
import inspect
import re
from collections import defaultdict
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
    r"|\btold of\b|turned away|\bfor one in\b|(?<!there )is no number",
    re.IGNORECASE,
)


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
