"""``epic convert`` as its users call it."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from support.places import SAMPLES
from support.running import PACKET, epic, shell
from support.terminals import on_terminal

TANKS = SAMPLES / "two_tanks.csv"

#: A recording that has no velocities.
LOG = b"t,x,y\n0,1,2\n1,3,4\n"


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.parametrize("ending", ["txt", "csv", "tsv", "jsonl", "ndjson", "parquet"])
def test_what_is_converted_is_drawn_as_before(tmp_path: Path, ending: str) -> None:
    new = tmp_path / f"new.{ending}"
    done = epic("convert", TANKS, "-o", new)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    rows = epic("replay", "-f", "csv", new)
    assert (rows.returncode, rows.stderr) == (0, b"")
    assert rows.stdout == epic("replay", "-f", "csv", TANKS).stdout


def test_packets_are_picked_and_moved() -> None:
    args = ["--entity", "tank7", "--span", "0.1:0.3", "--shift", "-100ms", "--to", "jsonl"]
    done = epic("convert", *args, TANKS)
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    before = [
        json.loads(line)
        for line in epic("convert", "--to", "jsonl", TANKS).stdout.split(b"\n")[:-1]
    ]
    wanted = [item for item in before if item["entity"] == "tank7" and 0.1 <= item["time"] <= 0.3]
    assert wanted
    for one, old in zip(lines, wanted, strict=True):
        assert one == old | {"time": old["time"] - 0.1, "arrival": old["arrival"] - 0.1}


def test_refused_lines_are_told_and_the_rest_is_written(tmp_path: Path) -> None:
    done = epic("convert", "-o", "a.csv", stdin=PACKET + b"hello\n" + PACKET, cwd=tmp_path)
    assert done.returncode == 1
    assert done.stderr.startswith(b"<stdin>:2:1: ")
    assert len((tmp_path / "a.csv").read_bytes().splitlines()) == 3


def test_strict_stops_at_the_first_and_leaves_the_old_file(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("old")
    done = epic("convert", "--strict", "-o", "a.csv", stdin=PACKET + b"hello\nno\n", cwd=tmp_path)
    assert done.returncode == 1
    assert done.stderr.count(b"<stdin>:") == 1
    assert (tmp_path / "a.csv").read_text() == "old"
    shown = epic("convert", "--strict", "--to", "text", stdin=PACKET + b"hello\n" + PACKET)
    assert shown.stdout == PACKET


def test_a_file_can_be_converted_in_its_place(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_bytes(LOG)
    assert epic("convert", "--in-place", "a.csv", cwd=tmp_path).returncode == 0
    assert (tmp_path / "a.csv").read_bytes().splitlines()[2] == b",1,3,4,0,,,,,,0,0"


def test_parquet_in_a_pipe() -> None:
    script = f"epic convert --to parquet {TANKS} | epic replay"
    done = shell(f"set -o pipefail; {script}")
    assert done.returncode == 2
    assert b"Parquet is read from a file, not from a stream" in done.stderr


def test_parquet_is_not_written_to_a_terminal() -> None:
    shown = on_terminal("convert", "--to", "parquet", TANKS)
    assert (shown.status, shown.terminal) == (2, b"")
    assert shown.pipe.rstrip() == b"epic: Parquet is not for a terminal: add --output"


def test_without_the_library_nothing_is_written(tmp_path: Path) -> None:
    script = (
        "import sys; sys.modules['pyarrow'] = None\n"
        "from epic_cli.main import main\n"
        "sys.exit(main(sys.argv[1:]))"
    )
    (tmp_path / "no_library.py").write_text(script)
    done = shell(f"{sys.executable} no_library.py convert {TANKS} -o a.parquet", cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr == b"epic: Parquet needs a library: pip install pyarrow\n"
    assert names(tmp_path) == ["no_library.py"]
