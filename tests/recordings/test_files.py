"""Recordings of real programs, each replayed unchanged to its expected rows."""

import os
from pathlib import Path

import pytest
from support.running import epic

from epic_cli import Packet
from epic_cli.recordings.read_spec import ReadSpec
from epic_cli.recordings.reading import read

HERE = Path(__file__).parent
FILES = sorted((HERE / "files").iterdir())
GUIDE = (HERE / "files.md").read_text()

#: What a program cannot tell from the file alone: what a person has to add.
ADDED = {
    "godot_print.txt": "time=1,x=2,y=3",
    "motion_capture_marker.csv": "unit=ticks@100,scale=0.001",
    "source_demo_dump.csv": "unit=ticks@64",
    "unity_log.csv": "axes=xzy",
    "unreal_csv_profiler.csv": "scale=0.01",
}


def packets(file: Path, spec: ReadSpec) -> tuple[list[Packet], list[ReadSpec]]:
    """Return the packets of a file, and the messages about it."""
    told: list[ReadSpec] = []
    descriptor = os.open(file, os.O_RDONLY)
    try:
        blocks = list(read(descriptor, spec, told.append))
    finally:
        os.close(descriptor)
    assert not [refusal for block in blocks for refusal in block.refusals]
    return [block[index] for block in blocks for index in range(len(block))], told


@pytest.mark.parametrize("file", FILES, ids=lambda path: path.name)
def test_a_recording_is_replayed_as_it_is(file: Path, request: pytest.FixtureRequest) -> None:
    added = ADDED.get(file.name, "")
    done = epic("replay", "-f", "csv", "--read", added, file.name, cwd=file.parent)
    assert done.returncode == 0
    found = done.stderr + done.stdout
    golden = HERE / "golden" / f"{file.name}.txt"
    if request.config.getoption("--update-goldens"):
        golden.write_bytes(found)
    assert found == golden.read_bytes()


@pytest.mark.parametrize("file", FILES, ids=lambda path: path.name)
def test_what_is_told_says_the_same_and_is_silent(file: Path) -> None:
    found, told = packets(file, ReadSpec.parse(ADDED.get(file.name, "")))
    assert len(found) >= 8
    for layout in told:
        again, silence = packets(file, ReadSpec.parse(layout.write()))
        assert (again, silence) == (found, [])


def test_the_guide_names_the_kind_of_each_file() -> None:
    assert len(FILES) >= 25
    for file in FILES:
        row = f"| `{file.name}` |"
        assert GUIDE.count(row) == 1, row
        how = GUIDE.partition(row)[2].partition("\n")[0].split("|")[-2].strip()
        assert how.strip("`") == ADDED.get(file.name, "")
