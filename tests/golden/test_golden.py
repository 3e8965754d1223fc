"""Runs every case of this folder and compares all that ``epic`` says, byte for byte.

A case is a folder with ``cmd`` (a command line, run there without a shell), ``input`` if there is
something on stdin, the files that it reads, and what is expected: ``stdout``, ``stderr``,
``status``. After a change that is meant, ``pytest tests/golden --update-goldens`` writes what is
expected anew; read it with ``git diff``.
"""

import shlex
from pathlib import Path

import pytest
from support.running import epic

CASES = sorted(path.parent for path in Path(__file__).parent.glob("*/cmd"))


@pytest.mark.parametrize("case", CASES, ids=lambda path: path.name)
def test_golden(case: Path, request: pytest.FixtureRequest) -> None:
    program, *args = shlex.split((case / "cmd").read_text())
    assert program == "epic"
    stdin = case / "input"
    done = epic(*args, stdin=stdin.read_bytes() if stdin.exists() else b"", cwd=case)
    answer = {
        "stdout": done.stdout,
        "stderr": done.stderr,
        "status": b"%d\n" % done.returncode,
    }
    if request.config.getoption("--update-goldens"):
        for name, text in answer.items():
            (case / name).write_bytes(text)
    for name, text in answer.items():
        assert text == (case / name).read_bytes(), f"{case.name}/{name}"


def test_no_case_is_a_stray_folder() -> None:
    folders = {path for path in Path(__file__).parent.iterdir() if path.is_dir()}
    assert {path for path in folders if path.name != "__pycache__"} == set(CASES)
