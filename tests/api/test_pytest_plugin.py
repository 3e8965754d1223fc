"""The pytest plugin, in a run of pytest of its own, as the users' suites have it."""

from __future__ import annotations

import inspect
import subprocess
import sys
from pathlib import Path

import pytest
from support.places import SAMPLES
from support.running import environment

from epic_cli.api.pytest_plugin import Golden

LISTING = """
import sys
import pytest
before = set(sys.modules)
import epic_cli.api.pytest_plugin
print(*sorted(set(sys.modules) - before))
"""

SUITE = """
import pytest
from epic_cli import replay

def test_rows(epic_golden):
    epic_golden(replay("turn.txt", "lerp"))

@pytest.mark.parametrize("name", ["a/b", "c"])
def test_more(epic_golden, name):
    epic_golden("time,x\\n0.1,1\\n", "first", atol=0.1)
    epic_golden(b"time,x\\n0.1,1\\n", "second")

def test_twice(epic_golden):
    epic_golden("time,x\\n")
    with pytest.raises(ValueError, match="is used twice"):
        epic_golden("time,x\\n")

def test_broken(epic_golden):
    epic_golden.case("cases/b")

def test_case(epic_golden):
    assert epic_golden.case("cases/a").drawing.replay.row_format == "tsv"
"""


def run_pytest(folder: Path, *words: str, **changes: str) -> tuple[int, str]:
    bare = ("-p", "no:cacheprovider", "-p", "no:hypothesispytest")  # which is slow to load
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", *bare, "--tb=short", *words],
        cwd=folder,
        env=environment(**changes),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stderr == "" or done.returncode == pytest.ExitCode.USAGE_ERROR
    return done.returncode, done.stdout + done.stderr


def test_cases_run_code_only_where_the_project_says_so(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "mine.py").write_text('open("ran", "w").close()\nclass Mine: pass\n')
    recording = str(SAMPLES / "turn.txt")
    case = f"recording = {recording!r}\nstrategy = '../mine.py:Mine'\n"
    (tmp_path / "a" / "case.toml").write_text(case)
    status, out = run_pytest(tmp_path)
    assert status == pytest.ExitCode.TESTS_FAILED
    assert "needs epic_trust = true" in out
    assert not (tmp_path / "ran").exists()
    (tmp_path / "pyproject.toml").write_text("[tool.pytest.ini_options]\nepic_trust = true\n")
    assert "needs epic_trust" not in run_pytest(tmp_path)[1]
    assert (tmp_path / "ran").exists()


def test_loading_costs_nothing_where_it_is_not_used() -> None:
    done = subprocess.run([sys.executable, "-c", LISTING], capture_output=True, check=True)
    assert done.stdout.decode().split() == [
        "epic_cli",
        "epic_cli.api",
        "epic_cli.api.pytest_plugin",
    ]


def test_cases_and_rows_of_a_suite(tmp_path: Path) -> None:
    # five runs of pytest, each of which takes half a second or more
    (tmp_path / "turn.txt").write_bytes((SAMPLES / "turn.txt").read_bytes())
    (tmp_path / "test_mine.py").write_text(SUITE)
    (tmp_path / "pytest.ini").write_text("[pytest]\nfilterwarnings = error\n")
    for name, text in (
        ("a", "recording = '../../turn.txt'\n"),
        ("b", "recordin = '../../turn.txt'\nstrategy = 'epic'\n"),
        ("others", "this is = 'no case of ours'\n"),
    ):
        (tmp_path / "cases" / name).mkdir(parents=True)
        (tmp_path / "cases" / name / "case.toml").write_text(text)
    (tmp_path / "cases" / "c.case.toml").write_text(
        "strategy = 'lerp'\nrecording = '../turn.txt'\n"
    )

    status, out = run_pytest(tmp_path, CI="true")
    assert status == pytest.ExitCode.TESTS_FAILED
    assert "cases/a: nothing is expected yet" in out
    assert "case.toml:1:1: there is no key 'recordin'; did you mean 'recording'?" in out
    assert "drawn: " in out
    assert "Traceback" not in out
    assert 'epic_golden.case("cases/b")' in out
    assert "case_file.py" not in out
    assert "8 failed, 1 passed" in out

    status, out = run_pytest(tmp_path, "--epic-accept", CI="true")
    assert status == pytest.ExitCode.USAGE_ERROR
    assert "needs a person to decide, but CI is set" in out

    assert "2 failed, 7 passed" in run_pytest(tmp_path, "--epic-accept", CI="")[1]
    golden = sorted(path.name for path in (tmp_path / "golden").iterdir())
    assert golden == [
        "test_more_a_b_-first.csv",
        "test_more_a_b_-second.csv",
        "test_more_c_-first.csv",
        "test_more_c_-second.csv",
        "test_rows.tsv",
        "test_twice.csv",
    ]

    (tmp_path / "cases" / "a" / "case.toml").write_text(
        "recording = '../../turn.txt'\nstrategy = 'lerp'\n"
    )
    (tmp_path / "golden" / "test_rows.tsv").write_text("time\tx\n0.05\t1\n")
    for name in ("first", "second"):  # one of which may be off by 0.1
        (tmp_path / "golden" / f"test_more_c_-{name}.csv").write_text("time,x\n0.1,1.05\n")
    status, out = run_pytest(tmp_path, "-n0")
    assert "cases/a: differs" in out
    assert "first: line 2, at 0.05 s: x is " in out
    assert 'epic_golden(replay("turn.txt", "lerp"))' in out
    assert "pytest_plugin.py" not in out
    assert "test_mine.py::test_rows: differs" in out
    assert "columns on one side only: " in out
    assert "test_more[c] second: differs" in out
    assert "first: differs" not in out
    assert "5 failed, 4 passed" in out

    status, out = run_pytest(tmp_path, "-o", "epic_cases=false", "--collect-only")
    assert "case" not in out.replace("test_case", "")


def test_rows_have_to_be_equal_unless_a_tolerance_is_given() -> None:
    given = inspect.signature(Golden.__call__).parameters
    assert (given["atol"].default, given["rtol"].default) == (0, 0)
