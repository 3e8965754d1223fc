"""A user's own program, whatever it does: it ends, and its failure is reported."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from support.places import SAMPLES

from epic_cli.engine.replay.strategy_spec import read_specs
from epic_cli.jobs.check.case_file import make_builtin_cases
from epic_cli.jobs.check.outcome import CaseStatus, Outcome
from epic_cli.jobs.check.port import Ending, Port
from epic_cli.jobs.check.report import explain_failure, write_rows_around
from epic_cli.jobs.check.run import check
from epic_cli.jobs.check.spec import CheckSpec, DrawSpec
from epic_cli.main import main

MOST = 100_000

Cases = Callable[[str], str]

#: What the program does (``w`` writes, ``r`` reads all), how that ends, and what is said of it.
BEHAVIORS = {
    "prints rows": ("r(); w(b'a')", Ending.DONE, b"a"),
    "prints nothing": ("r()", Ending.DONE, b""),
    "never reads": ("w(b'a')", Ending.DONE, b"a"),
    "prints while it reads": ("[w(b'a' * 65) for _ in sys.stdin.buffer]", Ending.DONE, None),
    "raises": ("r(); w(b'a'); 1 / 0", Ending.FAILED, b"a"),
    "exits": ("sys.exit(3)", Ending.FAILED, b""),
    "crashes": ("os.kill(os.getpid(), 11)", Ending.FAILED, b""),
    "hangs": ("r(); time.sleep(600)", Ending.TIMEOUT, b""),
    "hangs with its output closed": (
        "os.close(1); os.close(2); time.sleep(600)",
        Ending.TIMEOUT,
        b"",
    ),
    "hangs and ignores signals": (
        "signal.signal(15, signal.SIG_IGN); w(b'a'); time.sleep(600)",
        Ending.TIMEOUT,
        b"a",
    ),
    "never stops": ("while 1: w(b'row\\n' * 999)", Ending.TOO_MUCH, None),
    "writes 100 MB without an end of line": ("w(b'x' * 10**8)", Ending.TOO_MUCH, None),
    "floods stderr": ("r(); os.write(2, b'e' * 10**6); w(b'a')", Ending.DONE, b"a"),
    "leaves a child with the pipe": (
        "r(); w(b'a'); os.fork() or time.sleep(600)",
        Ending.DONE,
        b"a",
    ),
}


def command(folder: Path, does: str) -> tuple[str, ...]:
    path = folder / "port.py"
    path.write_text(
        "import os, signal, sys, time\n"
        "def w(text):\n    sys.stdout.buffer.write(text)\n    sys.stdout.buffer.flush()\n"
        f"def r(): return sys.stdin.buffer.read()\n{does}\n"
    )
    return sys.executable, "-S", str(path)


@pytest.mark.parametrize("name", BEHAVIORS)
def test_it_ends_and_it_is_known_how(name: str, tmp_path: Path) -> None:
    does, ending, output = BEHAVIORS[name]
    limit = 0.6 if ending is Ending.TIMEOUT else 120.0
    given = b"0,0,0 / 1,0,0 / 0\n" * (100 if name == "prints while it reads" else 100_000)
    begun = time.monotonic()
    run = Port(command(tmp_path, does), limit).run(given, {}, MOST)
    while ending is Ending.TIMEOUT and run.output != output and limit < 30:
        limit *= 2  # a busy machine had not yet started it
        run = Port(command(tmp_path, does), limit).run(given, {}, MOST)
    assert run.ending is ending
    assert len(run.output) <= MOST + 65536
    assert len(run.said) <= 2000
    assert time.monotonic() - begun < 300
    if output is not None:
        assert run.output == output
    if name == "crashes":
        assert run.status == -11


def test_the_children_end_with_it(tmp_path: Path) -> None:
    alive = tmp_path / "alive"
    does = f"os.fork()\nr()\nwhile 1: open({str(alive)!r}, 'w').write('x'); time.sleep(0.05)"
    limit = 0.4
    while not alive.exists():
        limit *= 2
        run = Port(command(tmp_path, does), limit).run(b"", {}, MOST)
        assert run.ending is Ending.TIMEOUT
    alive.unlink()
    time.sleep(0.2)
    assert not alive.exists()


def test_it_cannot_be_started(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("no program")
    for path in ("none", "text"):
        run = Port((str(tmp_path / path),)).run(b"", {}, MOST)
        assert run.ending is Ending.NOT_STARTED
        assert run.said in (b"No such file or directory", b"Permission denied")


def outcome(folder: Path, does: str, strategy: str = "lerp") -> Outcome:
    case = make_builtin_cases(DrawSpec((), tuple(read_specs([strategy]))))[0]
    return check(case, CheckSpec(Port(command(folder, does), 120.0)))


GARBAGE = {
    "hello": "line 1: 'hello' is not a row: print epic rows, CSV, TSV or JSON lines",
    "time,x\\n0.1": "line 2: 1 cells, expected 2: time,x",
    "time,x\\n0.1,1\\n0.15,": None,
    "time,x\\n0.1,b": "line 2: 'b' is not a number, expected x",
    "time,x\\n,1": "line 2: '' is not a number, expected time",
    "time,x,x\\n1,1,1": "line 1: 'time,x,x' is not a header of rows: time,x,y,z,...",
    'time,x\\n"0.1,1': "line 2: this is not CSV: unexpected end of data",
    "time\\tx\\n0.1": "line 2: 1 cells, expected 2: time,x",
    "pos: 1,2": "line 1: 'pos: 1,2' is not a row, expected pos: x,y,z  vel: x,y,z  time: t",
    "{": "line 1: '{' is not JSON: Expecting property name",
    '{"time": 1}': 'line 1: an object with time, expected "time", "x", "y", ...',
    '{"time": 1, "x": [2]}': "line 1: '['2']' is not a number, expected x",
    '{"time": 1, "x": 1}\\n{"time": 2, "y": 1}': "line 2: an object with time, y, expected",
    '{"time": 1, "x": 1}\\n[': "line 2: '[' is not JSON",
    "\\xff\\xfe\\x00": "line 1: ",
}


@pytest.mark.parametrize("printed", GARBAGE)
def test_garbage_is_a_finding(printed: str, tmp_path: Path) -> None:
    found = outcome(tmp_path, f"w(b'''{printed}\\n''')")
    words = GARBAGE[printed]
    if words is None:
        assert found.status is CaseStatus.DIFFERS
        return
    assert found.status is CaseStatus.PORT_FAILED
    assert words.replace("'['2']'", "\"['2']\"") in explain_failure(found)[0]


def test_what_an_engine_prints_above_the_rows_is_skipped(tmp_path: Path) -> None:
    plain, below = (
        outcome(tmp_path, f"w(b'{above}time,x\\n1.1,nan\\n')") for above in ("", "Godot 3\\n \\n")
    )
    assert below.status is CaseStatus.DIFFERS
    assert explain_failure(below) == explain_failure(plain)


def test_odd_numbers_and_no_rows(tmp_path: Path) -> None:
    for printed, words in (
        ("time,x\\n1.1,nan\\n1.15,inf", "x is nan, expected "),
        ("", "rows are missing"),
        ("time,x,y,z", "rows are missing"),
        ("time,x\\nnan,1", "time is nan, expected 1.1"),
    ):
        found = outcome(tmp_path, f"w(b'''{printed}\\n''')")
        assert found.status is CaseStatus.DIFFERS
        assert words in "\n".join(explain_failure(found))


def test_rows_that_are_too_wide_lose_the_columns_that_tell_least(tmp_path: Path) -> None:
    found = outcome(tmp_path, "w(b'time,x,y,z,vx,vy,vz\\n1.1,9,0,0,0,0,0\\n')").difference
    assert found is not None
    for columns in (16, 24, 30):
        head, *lines = write_rows_around(found, columns)
        assert head.split()[:2] == ["time", "x"]
        assert max(map(len, [head, *lines])) <= columns < len(write_rows_around(found)[0])


def test_what_it_says_is_told(tmp_path: Path) -> None:
    words = explain_failure(
        outcome(tmp_path, "r(); w(b'time,x\\n'); sys.exit('it is broken\\x1b[2J')")
    )
    assert words == [
        "it ended with status 1 after 1 line of output",
        "it said: it is broken\x1b[2J",
    ]


# ---------------------------------------------------------------- cases of what a program prints

#: A program that is no strategy here: each position, drawn when it is sent.
OWN = """
import sys
print("time,x,y,z")
for line in sys.stdin:
    place, _, rest = line.partition("/")
    print(f"{float(rest.partition('/')[2].split()[0]) + 0.1:.17g},{place.strip()}")
"""


def test_a_case_of_what_a_program_prints(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("own.py").write_text(OWN)
    Path("changed.py").write_text(OWN.replace("0.1", "0.2"))
    recording = str(SAMPLES / "turn.txt")
    program = f"{sys.executable} -S own.py"
    assert main(["check", "--new", "case", recording, "--against", program]) == 0
    out, error = capfd.readouterr()
    rows = len(Path(recording).read_text().splitlines())
    assert f"case/case.toml: a case of {rows} rows, printed by {program}" in out
    assert "epic draws other rows" in error
    assert Path("case/expected.csv").read_text().startswith("time,x,y,z\n0.1")
    assert f'printed_by = "{program}"' in Path("case/case.toml").read_text()
    # the program is held to what it printed, and so is the next build of it
    assert main(["check", "--against", program, "case"]) == 0
    assert main(["check", "--against", program.replace("own", "changed"), "case"]) == 5
    # without it, epic is: and draws something else, which is not offered as what to expect
    assert main(["check", "case"]) == 5
    assert not Path("case/expected.new").exists()


@pytest.mark.parametrize(
    ("row_format", "more"),
    [("epic", ["--atol", "1e-9"]), ("csv", []), ("tsv", []), ("jsonl", ["--atol", "1e-9"])],
)
def test_a_case_printed_by_what_epic_draws_too_holds(
    row_format: str, more: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    program = f"{sys.executable} -m epic_cli replay -s lerp -f {row_format}"
    new = ["check", "--new", "case", str(SAMPLES / "turn.txt"), "-s", "lerp"]
    assert main([*new, "--against", program, *more]) == 0
    assert main(["check", "case"]) == 0
    assert main(["check", "case", "--against", program]) == 0
    expected = Path(f"case/expected.{row_format}")
    expected.write_text(expected.read_text().replace("5", "6", 1))
    assert main(["check", "case"]) == 5
    assert main(["check", "case", "--against", program]) == 5


def test_a_case_of_many_printed_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """More than a program may print beside what is drawn."""
    monkeypatch.chdir(tmp_path)
    Path("long.txt").write_text("".join(f"{t},0,0 / 1,0,0 / {t}\n" for t in range(40)))
    program = f"{sys.executable} -m epic_cli replay -s lerp -f csv"
    new = ["check", "--new", "case", "long.txt", "-s", "lerp", "--tick", "1/1000"]
    assert main([*new, "--against", program]) == 0
    assert Path("case/expected.csv").stat().st_size > 1_000_000


def test_a_program_that_prints_no_rows_makes_no_case(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    for program in ("echo hello", "false", "true"):
        new = ["check", "--new", "case", str(SAMPLES / "turn.txt"), "--against", program]
        assert main(new) == 2
        assert "--against: it" in capfd.readouterr().err
        assert not Path("case").exists()


@pytest.fixture
def cases(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> Cases:
    """Return a check of a program by three cases; it returns what is printed."""
    monkeypatch.chdir(tmp_path)
    lines = (SAMPLES / "jitter.txt").read_text().splitlines(keepends=True)
    counts = ("40", "60", "80")
    for count in counts:
        Path(f"{count}.txt").write_text("".join(lines[: int(count)]))
        assert main(["check", "--new", count, f"{count}.txt", "-s", "lerp"]) == 0

    def run(words: str) -> str:
        capfd.readouterr()
        assert main(["check", *counts, "--against", f"{sys.executable} -m epic_cli {words}"]) == 5
        return capfd.readouterr().out

    return run


def test_what_would_help_all_cases_is_said_once_at_the_end(cases: Cases) -> None:
    lines = cases("replay -s lerp --pacing demo --clock single").splitlines()
    assert sum("--pacing demo" in line for line in lines) == 2  # at the first case, and at the end
    assert lines[-2].endswith("these are the rows of --pacing demo --clock single: give epic these")
