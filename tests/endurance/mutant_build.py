"""A copy of the tree whose engine contains all mutants at once; a switch activates one."""

from __future__ import annotations

import mmap
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

from endurance.mutation import DECLARATIONS, HEADER, USED, HeaderMutation, Mutant, Mutation

ROOT = Path(__file__).parent.parent.parent
ENGINE = Path("epic_cli/engine")
PAGE = 1 << 16  # for mutants of the engine, then for blocks of Python

# Where Cython or g++ reports an error.
_PLACE = re.compile(
    r"^\S*?(epic_cli/\S+\.(?:p[yx][xd]|h)):(\d+):\d+: (?!note|warning)", re.MULTILINE
)


def copy_tree(folder: Path) -> None:
    """Copy the files that git knows."""
    listed = subprocess.run(
        ["git", "ls-files", "-zco", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    for name in listed.stdout.split("\0"):
        source = ROOT / name
        if source.is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(source, folder / name)


def build(folder: Path, rooms: list[str]) -> list[Mutant]:
    """Build the engine in a copy of the tree, with the mutants of these rooms; list the mutants.

    A mutant that the compiler refuses is made in another way, then left out with those of its line.
    """
    (folder / ENGINE / "switches.h").write_text(HEADER.replace('"PAGE"', f'"{folder / "page"}"'))
    (folder / ENGINE / "switches.pxd").write_text(DECLARATIONS)
    sources = {
        str(file.relative_to(folder)): file.read_text()
        for room in rooms
        for file in sorted((folder / ENGINE / room).rglob("*"))
        if file.suffix in (".pyx", ".pxd", ".h") and file.name not in ("keys.h", "__init__.pxd")
    }
    refused: dict[tuple[str, int], int] = {}
    while True:
        mutation = Mutation(refused)
        headers = HeaderMutation(mutation.mutants, refused)
        for name, source in sources.items():
            if name.endswith(".h"):
                text = headers.mutate(name, source)
                text = text.replace("#pragma once\n\n", '#pragma once\n#include "switches.h"\n', 1)
            else:
                text = mutation.of(name, source)
                text = text.replace('"""\n\n', f'"""\n{USED}', 1)
            (folder / name).write_text(text)
        print(f"translating {len(mutation.mutants)} mutants", flush=True)
        answer = run_code(folder, TRANSLATE)
        if "Traceback (most recent call last)" in answer:
            raise SystemExit(answer[-3000:])
        wrong = set(_PLACE.findall(answer))
        if not wrong:
            break
        print(f"  {len(wrong)} lines are refused", flush=True)
        for name, line in sorted(wrong):
            if not name.startswith("epic_cli/") or name.endswith("switches.h"):
                raise SystemExit(f"{name}:{line} does not compile")
            lines = [
                mutant.line
                for mutant in mutation.mutants
                if mutant.file == name and mutant.line <= int(line)
            ]
            key = (name, max(lines))  # where the statement begins
            refused[key] = 3 if key in refused else 1
    answer = run_code(
        folder, "from setuptools import setup; setup(script_args=['build_ext', '--inplace'])"
    )
    written = {name: (folder / name).read_text() for name in sources}
    modules = {module.parent for module in (folder / ENGINE).rglob("*.so")}
    if modules != {file.parent for file in (folder / ENGINE).rglob("*.pyx")}:
        raise SystemExit(answer[-3000:])
    # what stands in a comparison has two numbers, of which one is written
    return [one for one in mutation.mutants if f"({one.number}, " in written[one.file]]


TRANSLATE = """
import subprocess
from setuptools.errors import CompileError
from epic_cli.engine.build import HERE, BuildEngine, make_extensions
import sysconfig
for room in make_extensions():
    try:
        source = BuildEngine._translate_to_cpp(room)
    except CompileError:
        continue
    command = ["g++", "-fsyntax-only", "-w", "-fmax-errors=0", f"-I{HERE}"]
    command += ["-I" + sysconfig.get_path("include"), *room.extra_compile_args]
    command += [f"-D{name}={value}" for name, value in room.define_macros]
    subprocess.run([*command, "-DCYTHON_EXTERN_C=extern", source])
"""


def run_code(folder: Path, code: str) -> str:
    """Run this Python code in a folder; return its output."""
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=folder,
        env={**os.environ, "EPIC_COMPILED": str(folder / "compiled"), "PYTHONPATH": str(folder)},
        capture_output=True,
        text=True,
        check=False,
    )
    return done.stdout + done.stderr


class Switch:
    """A shared memory page that activates one mutant and records which mutants were executed."""

    def __init__(self, path: Path) -> None:
        path.write_bytes(bytes(PAGE))
        with path.open("r+b") as file:
            self._page = mmap.mmap(file.fileno(), PAGE)

    def activate(self, number: int) -> None:
        """Activate this mutant; 0 for none."""
        self._page[:8] = number.to_bytes(8, sys.byteorder)

    def take_reached(self) -> list[int]:
        """Return the mutants whose code was executed since the last call."""
        marks = self._page[8:]
        self._page[8:] = bytes(PAGE - 8)
        return [match.start() for match in re.finditer(b"\1", marks)]


def read_equivalents() -> list[tuple[str, re.Pattern[str]]]:
    """Return the mutants that are no faults, with the reason."""
    document = tomllib.loads(Path(__file__).with_name("equivalent.toml").read_text())
    return [
        (reason, re.compile(pattern)) for reason, several in document.items() for pattern in several
    ]
