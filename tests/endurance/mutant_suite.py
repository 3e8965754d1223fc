"""Faults of one token in any room of ``epic``: which does the suite see, and by which test?

A fault is an operator, a bound, a constant, a unit, an order, a default or a reset that is changed.
It is drawn by a seed, and put into a copy of the tree: in Python at the token's place, in Cython
and C++ by a switch, since that copy's engine contains all mutants at once. First the suite runs
once in the copy with marks in each block of Python, which tells the tests that execute a fault.
Then each fault meets those tests until one fails: first those of its room, and those that execute
little else. It survives if none does within the time that ``--seconds`` allows. Faults of the
engine meet them in forks of a process that has loaded all tests (``mutant_serving.py``), which
takes half a second where one fails.
"""

from __future__ import annotations

import argparse
import contextlib
import csv
import json
import math
import os
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import venv
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import IO, NamedTuple, TextIO

from endurance.mutant_build import ROOT, Switch, build, copy_tree, read_equivalents
from endurance.mutation import Mutant
from endurance.python_mutation import Site, Source

TABLE = Path(__file__).with_name("results") / "mutants.csv"
ENGINE_ROOMS = ["arrow", "intake", "link", "measure", "packets", "replay", "strategies", "text"]

# Not marked: Python that is read as text, to be translated to other languages.
_UNMARKED = "epic_cli/jobs/code/sources/"

# Marks of blocks begin there; before it are those of compiled mutants.
_BLOCKS = 1 << 15

# Bytes that a process of the tests may ask for: a fault can make a loop that fills the memory.
_MOST_MEMORY = 4 << 30

# Tests of a mutant at most, and the share of the seconds, in each attempt.
_STAGES = ((300, 0.2), (500, 0.2), (1500, 0.6))

_LEFT_OUT = ["studies", "benchmarks", "pictures", "endurance"]

_MARKING = """
import builtins, mmap, os
def _mark_block(number, _pages=[]):
    if not _pages:
        with open(os.environ.get("MUTANT_PAGE", {page!r}), "r+b") as file:
            _pages.append(mmap.mmap(file.fileno(), 0))
    _pages[0][8 + number] = 1
builtins.mark_block = _mark_block
"""


class Fault(NamedTuple):
    """A mutant of the suite: in Python a site, in Cython and C++ the number of a switch."""

    room: str
    file: str
    line: int
    kind: str
    old: str
    new: str
    mark: int  # of its block, or the number of its switch
    site: Site | None

    def __str__(self) -> str:
        change = f" -> {self.new}" if self.site else ""  # of a switch the kind says it
        return f"{self.file}:{self.line}: {self.kind}: {self.old}{change}"


class Covered(NamedTuple):
    """A test that passes without a fault: its time in seconds, and how many marks it reaches."""

    test: str
    seconds: float
    marks: int


class Cover(NamedTuple):
    """The first mark and the number of marks of each file; the tests by mark and by file."""

    blocks: dict[str, tuple[int, int]]
    by_mark: dict[int, list[Covered]]
    by_file: dict[str, list[Covered]]


# ---------------------------------------------------------------- the copy


class Copy:
    """A copy of the tree with an environment of its own, in ``folder``."""

    def __init__(self, folder: Path, engine: bool) -> None:
        self._folder = folder
        self.tree = folder / "tree"
        self._python = folder / "venv/bin/python"
        listing = folder / "mutants.json"
        if not listing.exists():
            copy_tree(self.tree)
            self._make_environment()
            Switch(self.tree / "page")
            if not engine:
                for module in (ROOT / "epic_cli").rglob("*.so"):
                    shutil.copy(module, self.tree / module.relative_to(ROOT))
            listing.write_text(json.dumps(build(self.tree, ENGINE_ROOMS) if engine else []))
        self._pipes: tuple[TextIO, TextIO] | None = None  # of a process that has loaded all tests
        self.mutants = [Mutant(*load) for load in json.loads(listing.read_text())]
        self.switch = Switch(self.tree / "page")

    def _make_environment(self) -> None:
        """Make an environment whose ``epic`` is that of the copy, and the rest that of this one."""
        venv.create(self._folder / "venv", symlinks=True)
        (packages,) = (self._folder / "venv").glob("lib/python*/site-packages")
        (packages / "marking.py").write_text(_MARKING.format(page=str(self.tree / "page")))
        outer = next(path for path in sys.path if path.endswith("site-packages"))
        (packages / "copy.pth").write_text(f"{self.tree}\n{outer}\nimport marking\n")
        script = Path(sys.executable).with_name("epic").read_text().split("\n", 1)[1]
        place = self._python.with_name("epic")
        place.write_text(f"#!{self._python}\n{script}")
        place.chmod(0o755)

    def cover(self, workers: int, given: list[str]) -> None:
        """Run the suite with marks in all blocks, unless that is done; then take them out."""
        if (self._folder / "covered.json").exists():
            return
        offset, blocks, originals = _BLOCKS, {}, {}
        for file in sorted((self.tree / "epic_cli").rglob("*.py")):
            name = str(file.relative_to(self.tree))
            if name.startswith(_UNMARKED):
                continue
            originals[file] = file.read_text()
            text, count = Source(originals[file]).mark_blocks(offset)
            file.write_text(text)
            blocks[name] = (offset, count)
            offset += count
        for old in self._folder.glob("covered-*.jsonl"):
            old.unlink()
        words = ["-p", "endurance.mutant_covering", "-q", "-n", str(workers)]
        words += [f"--ignore=tests/{name}" for name in _LEFT_OUT]
        self.run_pytest([*words, *given], 3 * 3600, "cover.txt")
        for file, text in originals.items():
            file.write_text(text)
        records = [
            json.loads(line)
            for path in sorted(self._folder.glob("covered-*.jsonl"))
            for line in path.read_text().splitlines()
        ]
        (self._folder / "covered.json").write_text(json.dumps([blocks, records]))

    def read_cover(self) -> Cover:
        """Return what the run with marks has shown."""
        blocks, records = json.loads((self._folder / "covered.json").read_text())
        cover = Cover(blocks, defaultdict(list), defaultdict(list))
        for record in records:
            if record["passed"]:
                covered = Covered(record["test"], record["seconds"], len(record["reached"]))
                cover.by_file[record["test"].partition("::")[0]].append(covered)
                for mark in record["reached"]:
                    cover.by_mark[mark].append(covered)
        return cover

    def run_pytest(self, words: list[str], limit: float, log: str) -> tuple[int | None, str]:
        """Run pytest in the copy; return its status, None if it was stopped, and its output."""
        place = self._folder / log
        with place.open("wb") as out:
            process = self._start_pytest(words, out)
            try:
                status: int | None = process.wait(limit)
            except subprocess.TimeoutExpired:
                status = None
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)  # with what a test has left behind
            process.wait()
        return status, place.read_text(errors="replace")

    def serve_tests(self) -> None:
        """Start the process in whose forks tests run, with all covered tests and so all of Python.

        No mutant may be active then: what modules compute would remain.
        """
        if self._pipes is not None:
            return
        asked, answers = os.pipe(), os.pipe()
        words = ["-p", "endurance.mutant_serving", "-q", "-n", "0", *self.read_cover().by_file]
        with (self._folder / "served.txt").open("wb") as out:
            self._start_pytest(words, out, (asked[0], answers[1]))
        self._pipes = os.fdopen(asked[1], "w"), os.fdopen(answers[0])
        os.close(asked[0])
        os.close(answers[1])
        self.find_failing([], 600)  # waits until it has loaded them

    def find_failing(self, tests: list[str], limit: float) -> str:
        """Return the first of these tests that fails, or how they ended; empty: none failed."""
        assert self._pipes is not None
        to, back = self._pipes
        print(json.dumps([tests, limit]), file=to, flush=True)
        answer = back.readline()
        if not answer:
            raise SystemExit((self._folder / "served.txt").read_text()[-2000:])
        return answer.strip()

    def _start_pytest(
        self, words: list[str], out: IO[bytes], pipes: tuple[int, ...] = ()
    ) -> subprocess.Popen[bytes]:
        environment = {
            **os.environ,
            "MUTANT_FOLDER": str(self._folder),
            "MUTANT_PIPES": " ".join(map(str, pipes)),
            "PATH": f"{self._python.parent}:{os.environ['PATH']}",
            "PYTHONPATH": str(self.tree / "tests"),
        }
        environment.pop("VIRTUAL_ENV", None)
        return subprocess.Popen(
            [self._python, "-m", "pytest", "-p", "no:cacheprovider", *words],
            cwd=self.tree,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            pass_fds=pipes,
            preexec_fn=_limit_memory,  # noqa: PLW1509  # no threads
        )


def _limit_memory() -> None:
    """Limit the memory of this process and of those that it starts, but not the addresses, which a
    browser reserves.
    """
    resource.setrlimit(resource.RLIMIT_DATA, (_MOST_MEMORY, _MOST_MEMORY))


# ---------------------------------------------------------------- drawing


def find_room(file: str) -> str:
    """Return the room of a file, with the language where it is not Python."""
    room = file.split("/")[1]
    if room == "engine":
        return {".py": room, ".h": f"{room}, C++"}.get(Path(file).suffix, f"{room}, Cython")
    return room if "/" in file.removeprefix("epic_cli/") else "api"


def draw(copy: Copy, seed: int, rooms: list[str]) -> Iterator[Fault]:
    """Yield faults without end, each room in its turn, larger rooms more often.

    In a room a file is drawn by its length, then a kind of fault, then one of that kind.
    """
    dice = random.Random(seed)
    blocks = copy.read_cover().blocks
    sources: dict[str, list[tuple[str, int]]] = defaultdict(list)
    for file in sorted((copy.tree / "epic_cli").rglob("*.py")):
        name = str(file.relative_to(copy.tree))
        if name in blocks:
            sources[find_room(name)].append((name, file.read_text().count("\n")))
    compiled: dict[str, list[Mutant]] = defaultdict(list)
    for mutant in copy.mutants:
        compiled[mutant.file].append(mutant)
    for name, several in compiled.items():
        sources[find_room(name)].append((name, 2 * len(several)))
    wanted = [room for room in sorted(sources) if not rooms or room in rooms]
    weights = {room: math.sqrt(sum(length for _, length in sources[room])) for room in wanted}
    drawn = dict.fromkeys(wanted, dice.random())
    seen: set[str] = set()
    while True:
        room = min(wanted, key=lambda one: (drawn[one] + 0.5) / weights[one])
        drawn[room] += 1
        names, lengths = zip(*sources[room], strict=True)
        fault = None
        while fault is None or str(fault) in seen:
            (name,) = dice.choices(names, lengths)
            if name in compiled:
                fault = draw_compiled(dice, room, compiled[name])
            else:
                fault = draw_python(dice, room, name, copy.tree, blocks[name][0])
        seen.add(str(fault))
        yield fault


def draw_compiled(dice: random.Random, room: str, mutants: list[Mutant]) -> Fault:
    kind = dice.choice(sorted({mutant.kind for mutant in mutants}))
    mutant = dice.choice([mutant for mutant in mutants if mutant.kind == kind])
    return Fault(room, mutant.file, mutant.line, kind, mutant.text, "", mutant.number, None)


def draw_python(dice: random.Random, room: str, name: str, tree: Path, offset: int) -> Fault | None:
    source = Source((tree / name).read_text())
    sites = source.sites
    if not sites:
        return None
    kind = dice.choice(sorted({site.kind for site in sites}))
    site = dice.choice([site for site in sites if site.kind == kind])
    mark = offset + site.block if site.block else 0
    if not source.is_valid(site):
        return None
    return Fault(room, name, site.line, kind, site.old, site.new, mark, site)


# ---------------------------------------------------------------- the run


def run(options: argparse.Namespace) -> bool:
    """Try mutants until there are as many as wanted; return False."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # takes the mutant out first
    copy = Copy(options.built, options.engine)
    copy.cover(options.workers, options.tests)
    cover = copy.read_cover()
    options.table.touch()
    with options.table.open(newline="") as file:
        rows = list(csv.DictReader(file))
    known = {row["fault"] for row in rows}
    with options.table.open("a", newline="") as file:
        writer = csv.DictWriter(file, ["room", "fault", "result", "test"], lineterminator="\n")
        if not rows:
            writer.writeheader()
        for number, fault in enumerate(draw(copy, options.seed, options.rooms)):
            if number >= options.count:
                break
            if shorten(str(fault)) in known:
                continue
            result, test = judge(
                copy, fault, choose_tests(fault, cover, copy.tree), options.seconds
            )
            writer.writerow(
                {"room": fault.room, "fault": shorten(str(fault)), "result": result, "test": test}
            )
            file.flush()
            print(f"{number + 1} {result:9} {shorten(str(fault))}   {test}", flush=True)
    return False


def run_again(options: argparse.Namespace) -> bool:
    """Try faults of the table once more, as they are in the copy now; return False.

    A fault whose line has moved is the nearest of the same kind and text; one that is gone is left.
    """
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # takes the mutant out first
    copy = Copy(options.built, options.engine)
    named = [Covered(test, 0.0, 0) for test in options.by]
    files = (copy.tree / "epic_cli").rglob("*.py")
    cover = Cover({str(file.relative_to(copy.tree)): (0, 0) for file in files}, {}, {})
    if not named:
        copy.cover(options.workers, options.tests)
        cover = copy.read_cover()
    with options.table.open(newline="") as file:
        rows = list(csv.DictReader(file))
    for number, row in enumerate(rows):
        wanted = row["result"] in options.results
        if not wanted or not re.search(options.only, f"{row['fault']} {row['test']}"):
            continue
        fault = find_fault(copy, cover.blocks, row)
        if fault is None:
            continue
        found = named or choose_tests(fault, cover, copy.tree)
        result, test = judge(copy, fault, found, options.seconds)
        rows[number] = row | {"fault": shorten(str(fault)), "result": result, "test": test}
        if not named or result == "killed":
            write_table(options.table, rows)
        print(f"{result:9} {shorten(str(fault))}   {test}", flush=True)
    return False


def find_fault(copy: Copy, blocks: dict[str, tuple[int, int]], row: dict[str, str]) -> Fault | None:
    """Return the fault that a row of the table describes, if the copy can have it."""
    name, line, rest = row["fault"].split(":", 2)
    if not (copy.tree / name).exists():
        return None
    faults = []
    if name in blocks:
        for site in Source((copy.tree / name).read_text()).sites:
            mark = blocks[name][0] + site.block if site.block else 0
            faults.append(
                Fault(row["room"], name, site.line, site.kind, site.old, site.new, mark, site)
            )
    for one in copy.mutants:
        if one.file == name:
            faults.append(
                Fault(row["room"], name, one.line, one.kind, one.text, "", one.number, None)
            )
    same = [one for one in faults if shorten(str(one)).split(":", 2)[2].strip() == rest.strip()]
    return min(same, key=lambda one: abs(one.line - int(line)), default=None)


def write_table(path: Path, rows: list[dict[str, str]]) -> None:
    """Replace the table."""
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, ["room", "fault", "result", "test"], lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def shorten(text: str) -> str:
    """Return a text as one line of at most 160 characters."""
    line = re.sub(r"\s+", " ", text)
    return line if len(line) <= 160 else line[:159] + "…"


def choose_tests(fault: Fault, cover: Cover, tree: Path) -> list[Covered]:
    """Return the tests that execute a fault or import its module: those of its room first."""
    if fault.mark:
        found = cover.by_mark.get(fault.mark, [])
    else:  # of a module: whatever executes any block of it
        offset, count = cover.blocks[fault.file]
        marks = range(offset + 1, offset + count + 1)
        found = [one for mark in marks for one in cover.by_mark.get(mark, ())]
    module = fault.file.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
    parent, _, name = module.rpartition(".")
    imported = re.compile(
        rf"\b{re.escape(module)}\b|from {re.escape(parent)} import (\([^)]*|.*)\b{name}\b"
    )
    for file, tests in cover.by_file.items():
        if fault.site and imported.search((tree / file).read_text()):
            found = found + tests
    found = list({one.test: one for one in found}.values())
    home = f"tests/{fault.file.split('/')[1]}/"
    stem = f"test_{Path(fault.file).stem}"
    found = sorted(found, key=lambda one: (one.seconds > 2, one.marks + 300 * one.seconds))
    turns: dict[str, int] = defaultdict(int)
    order: list[tuple[bool, int, int, Covered]] = []
    for one in found:  # all of the file that mirrors it, then three of each other function,
        function = one.test.partition("[")[0]
        turns[function] += 1
        near = 2 * (stem in function) + function.startswith(home)
        near = near if one.seconds < 0.5 else 0  # quick ones first, of whatever file
        order.append((near < 3 and turns[function] > 3, -near, len(order), one))
    return [one for *_, one in sorted(order)]


def take_tests(tests: list[Covered], count: int, seconds: float) -> list[Covered]:
    """Return the first tests, as many as take this time, at least one."""
    taken: list[Covered] = []
    for one in tests[:count]:
        if taken and seconds <= 0:
            break
        seconds -= one.seconds + 0.02
        taken.append(one)
    return taken


def judge(copy: Copy, fault: Fault, found: list[Covered], seconds: float) -> tuple[str, str]:
    """Return "killed" and the test, "survived" and how many tests, or "unreached".

    The tests took these ``seconds`` at most when they were covered.
    """
    if not found:
        return "unreached", ""
    if fault.site is None and found[0].marks:
        return judge_compiled(copy, fault.mark, found, seconds)
    place = copy.tree / fault.file
    original = place.read_bytes()
    try:
        if fault.site:
            place.write_text(Source(original.decode()).replace(fault.site))
        else:
            copy.switch.activate(fault.mark)
        rest = found
        for count, share in _STAGES:
            taken = take_tests(rest, count, share * seconds)
            if not taken:
                break
            rest = rest[len(taken) :]
            words = ["-x", "-q", "-n", "0", "--tb=no", *(one.test for one in taken)]
            # the time of tests that are named is not known
            limit = max(seconds, 60 + 6 * sum(one.seconds for one in taken))
            status, output = copy.run_pytest(words, limit, "last.txt")
            if status is None:
                return "killed", "(a test that did not end)"
            if status not in (0, 5):
                failed = re.search(
                    r"^(?:FAILED|ERROR) (\S+?(?:\[.*?\])?)(?: - |$)", output, re.MULTILINE
                )
                if "ERROR: not found: " in output:  # the names of tests are wrong
                    raise SystemExit(output[-2000:])
                how = "(a crash)" if status < 0 else "(import)"
                return "killed", failed[1] if failed else how
        return "survived", f"{len(found) - len(rest)} of {len(found)} tests"
    finally:
        copy.switch.activate(0)
        place.write_bytes(original)


def judge_compiled(
    copy: Copy, number: int, found: list[Covered], seconds: float
) -> tuple[str, str]:
    """Judge a mutant of the engine by covered tests: without loading Python for each."""
    taken = take_tests(found, len(found), seconds)
    copy.serve_tests()
    copy.switch.activate(number)
    try:
        limit = 30 + 2 * sum(one.seconds for one in taken)
        failed = copy.find_failing([one.test for one in taken], limit)
    finally:
        copy.switch.activate(0)
    return ("killed", failed) if failed else ("survived", f"{len(taken)} of {len(found)} tests")


# ---------------------------------------------------------------- the table


def print_table(options: argparse.Namespace) -> bool:
    """Print the kill rate of each room, then the survivors; return False."""
    reasons = read_equivalents()
    with options.table.open(newline="") as file:
        rows = list(csv.DictReader(file))
    counts: dict[str, dict[str, int]] = defaultdict(lambda: defaultdict(int))
    survivors = []
    for row in rows:
        alive = row["result"] != "killed"
        if alive and any(rule.search(row["fault"]) for _, rule in reasons):
            counts[row["room"]]["equivalent"] += 1
            continue
        counts[row["room"]][row["result"]] += 1
        if alive:
            survivors.append(row)
    total: dict[str, int] = defaultdict(int)
    print("room          mutants  killed  survived  unreached  equivalent  killed of real ones")
    for room in sorted(counts):
        print_rates(room, counts[room])
        for name, count in counts[room].items():
            total[name] += count
    print_rates("all", total)
    for row in sorted(survivors, key=lambda one: one["fault"]):
        print(f"{row['result']:9} {row['fault']}   {row['test']}")
    return False


def print_rates(room: str, counts: dict[str, int]) -> None:
    """Print a line of the table."""
    names = ("killed", "survived", "unreached")
    real = sum(counts.get(name, 0) for name in names)
    killed, survived, unreached = (counts.get(name, 0) for name in names)
    equivalent = counts.get("equivalent", 0)
    rate = f"{100 * killed / real:.0f} %" if real else "-"
    print(
        f"{room:13} {real + equivalent:7} {killed:7} {survived:9} {unreached:10} {equivalent:11}"
        f"  {rate}"
    )
