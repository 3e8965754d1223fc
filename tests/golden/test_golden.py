"""Run every transcript of this folder and compare all output of ``epic``, byte for byte.

``support/transcripts.py`` says what a transcript looks like. After a change that is meant, ``pytest
tests/golden --update-goldens`` writes what is expected again; read it with ``git diff``.
"""

import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from support.places import GOLDEN, SAMPLES
from support.running import epic
from support.transcripts import Command, File, Transcript, read

CASES = sorted(GOLDEN.glob("*/*.txt"))


@pytest.mark.parametrize("case", CASES, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_golden(case: Path, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    expected = read(case.read_text())
    found = carried_out(expected, tmp_path)
    if request.config.getoption("--update-goldens"):
        case.write_text(str(found))
    else:
        assert str(found) == str(expected)
        assert found == expected


def carried_out(transcript: Transcript, folder: Path) -> Transcript:
    """Return the same files and commands with the present output of ``epic``."""
    if "sample_inputs" in str(transcript):
        shutil.copytree(SAMPLES, folder / "sample_inputs")
    steps: list[File | Command] = []
    for step in transcript.steps:
        if isinstance(step, File):
            (folder / step.name).parent.mkdir(parents=True, exist_ok=True)
            (folder / step.name).write_bytes(step.content)
            steps.append(step)
        else:
            before = files(folder)
            steps.append(answer := step.run(epic, folder))
            if answer.status in (2, 4):  # what cannot be done leaves nothing behind
                assert files(folder) == before, step.line
    return replace(transcript, steps=tuple(steps))


def files(folder: Path) -> set[Path]:
    return {path for path in folder.rglob("*") if "__pycache__" not in path.parts}


def test_a_transcript_is_written_as_it_is_read() -> None:
    assert len(CASES) > 60
    for case in CASES:
        assert str(read(case.read_text())) == case.read_text()


AWKWARD = b"--- \n$ \\ \0\x1b\xff\xef\xbb\xbf\t\r\nno end"


def test_any_bytes_have_a_place_in_a_transcript() -> None:
    command = Command("epic", stdout=AWKWARD, stderr=AWKWARD, usage_error=AWKWARD, status=3)
    transcript = Transcript("Awkward.\n\n", (File("a", AWKWARD), File("b", b""), command))
    assert read(str(transcript)) == transcript
    assert str(transcript).isprintable() is False
    assert set(str(transcript)) - {"\n"} <= set(map(chr, range(32, 127)))
