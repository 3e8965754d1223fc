"""The engine's layers. ``lint-imports`` checks those of the Python files; it cannot read Cython."""

from __future__ import annotations

import re
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

import epic_cli
from epic_cli.engine import build

PACKAGE = Path(epic_cli.__file__).parent
ENGINE = "epic_cli.engine"

#: The rooms by floor, from the ground up; rooms of one floor do not use each other.
FLOORS = {
    "": 0,
    "packets": 1,
    "text": 2,
    "strategies": 2,
    "intake": 2,
    "replay": 3,
    "link": 3,
    "measure": 4,
}

IMPORT = re.compile(
    r"^\s*(?:from\s+([\w.]+)\s+c?import\s+(\([^)]*\)|[^\n]*)|c?import\s+([\w.]+))", re.MULTILINE
)

#: A C++ header, included by another one or declared to Cython.
HEADER = re.compile(r'^\s*(?:#include|cdef extern from) "([\w./]+\.h)"', re.MULTILINE)


def module_of(file: Path) -> str:
    """Return the module of a file; a room's Cython files are one module."""
    for room in ROOMS:
        if file.suffix == ".pyx" and room in file.parents:
            file = room
    parts = ["epic_cli", *file.relative_to(PACKAGE).with_suffix("").parts]
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


ROOMS = build.list_rooms()
FILES = sorted(
    file
    for file in (PACKAGE / "engine").rglob("*")
    if file.suffix in (".py", ".pyi", ".pyx", ".pxd")
)
MODULES = {module_of(file) for file in FILES}


def imported(text: str) -> set[str]:
    """Return the project's modules that a file's text imports, at its top or in a function."""
    found = set()
    for source, names, plain in IMPORT.findall(text):
        words = [name.split()[0] for name in names.strip("()").split(",") if name.strip()]
        submodules = {f"{source}.{word}" for word in words} & MODULES
        found |= submodules or {source or plain}
    return {name for name in found if name.split(".")[0] == "epic_cli"}


def room_of(module: str) -> str:
    """Return the engine's room of a module; the ground floor has no name."""
    first = module.removeprefix(ENGINE).strip(".").partition(".")[0]
    return first if (PACKAGE / "engine" / first).is_dir() else ""


IMPORTS = {module: set[str]() for module in MODULES}
for path in FILES:
    IMPORTS[module_of(path)] |= imported(path.read_text()) - {module_of(path)}


def test_every_way_to_import_is_seen() -> None:
    text = (
        "from epic_cli.engine.packets cimport Vec3, dot\n"
        "    from epic_cli.engine import contract as loaded\n"
        "from epic_cli.engine.strategies.parts cimport (\n    Strategy,\n    Filter,\n)\n"
        "cimport epic_cli.engine.text\n"
        "from libc.math cimport isnan\n"
    )
    assert imported(text) == {
        "epic_cli.engine.packets",
        "epic_cli.engine.contract",
        "epic_cli.engine.strategies.parts",
        "epic_cli.engine.text",
    }
    assert sum(map(len, IMPORTS.values())) > 60


@pytest.mark.parametrize("module", sorted(MODULES))
def test_a_module_imports_only_from_its_room_and_the_floors_below(module: str) -> None:
    room = room_of(module)
    for other in IMPORTS[module]:
        assert other.startswith(ENGINE), f"the engine knows nobody: {module} imports {other}"
        below = room_of(other)
        assert below == room or FLOORS[below] < FLOORS[room], f"{module} imports {other}"


def test_headers_keep_to_the_floors_as_well() -> None:
    engine, found = PACKAGE / "engine", 0
    for file in engine.rglob("*"):
        for name in (
            HEADER.findall(file.read_text()) if file.suffix in (".h", ".pyx", ".pxd") else ()
        ):
            header = next(path for path in (engine / name, file.parent / name) if path.exists())
            room, below = room_of(module_of(file)), room_of(module_of(header))
            assert below == room or FLOORS[below] < FLOORS[room], f"{file.name} includes {name}"
            found += 1
    assert found > 5


NAMES = re.compile(
    r"^from [\w.]+ c?import (\([^)]*\)|[^\n]*)"  # imported
    r"|^(?:cdef|cpdef|def) (?!extern)(?:[\w\[\]]+[ *]+)*(\w+) *(?:\(|=|:)",  # defined
    re.MULTILINE,
)
#: Types and constants, and functions that are called.
USED = re.compile(r"\b[A-Z]\w+|(?<![\w\]] )\b[a-z_]\w*(?=\()")

#: What is no code of a file: texts, comments, attributes, the names of arguments, enum members.
SAID = re.compile(r'(?m)"""(?:.|\n)*?"""|"(?:\\.|[^"\n])*"|#[^\n]*|\.\w+|\b\w+=|^ +[A-Z_]+$')


def names_in(file: Path) -> tuple[set[str], set[str]]:
    """Return the names that a file imports, and those that it defines at its top."""
    imported, defined = set[str](), set[str]()
    for names, name in NAMES.findall(file.read_text()):
        imported |= {word.split()[-1] for word in names.strip("()").split(",") if word.strip()}
        defined |= {name} - {""}
    return imported, defined


def test_a_strategy_uses_no_other_strategy_and_imports_what_it_uses() -> None:
    checked = 0
    families = [room for room in ROOMS if room.parent.name == "strategies" != room.name != "parts"]
    for family in families:
        names = {file: names_in(file) for file in family.glob("*.pyx")}
        for file, (has, defined) in names.items():
            words = set(re.findall(USED, SAID.sub("", file.read_text())))
            for other, (known, own) in names.items():
                assert words & own <= defined | has, f"{file.name} uses {other.name}"
                assert words & known <= has | defined, f"{file.name} lacks an import"
            checked += 1
            assert all(
                name.startswith(f"{ENGINE}.strategies.parts") or ".strategies." not in name
                for name in imported(file.read_text())
            ), f"{file.name} imports a strategy of another family than {family.name}"
    assert checked > 20


def test_there_is_no_circle() -> None:
    assert set(TopologicalSorter(IMPORTS).static_order()) >= MODULES
