"""``epic compare`` over several recordings and over simulated networks, as a user runs it."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest
from support.places import SAMPLES
from support.running import epic

from epic_cli.main import main

TURN, TANKS, JITTER = (SAMPLES / name for name in ("turn.txt", "two_tanks.csv", "jitter.txt"))
FEW = ("-s", "dis,snapshot")
CIRCLE = ("--movement", "circle,duration=3", "--latency", "80ms", "--jitter", "20ms")


def rows(*args: str | Path) -> list[dict[str, str]]:
    done = epic("compare", "--format", "csv", *FEW, *args)
    assert done.returncode == 0, done.stderr
    return list(csv.DictReader(io.StringIO(done.stdout.decode())))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for path in (TURN, JITTER):
        (tmp_path / path.name).write_bytes(path.read_bytes())
    (tmp_path / "notes.md").write_text("no recording")
    (tmp_path / ".hidden.txt").write_text("none either")
    return tmp_path


def test_a_broken_recording_is_named_and_passed_over(folder: Path) -> None:
    good = rows(folder)
    (folder / "broken.csv").write_text("a,b\n1,2\n")
    (folder / "empty.txt").write_text("")
    done = epic("compare", "--format", "csv", *FEW, folder)
    assert done.returncode == 1
    told = done.stderr.decode()
    assert "broken.csv" in told
    assert "broken.csv: there are no packets" in " ".join(told.split())
    assert "empty.txt: there are no packets" in " ".join(told.split())
    assert list(csv.DictReader(io.StringIO(done.stdout.decode()))) == good


def test_a_movement_is_sent_over_as_many_networks_as_there_are_seeds() -> None:
    found = rows(*CIRCLE, "--seeds", "6")
    assert found == rows(*CIRCLE, "--seeds", "6", "--threads", "1")
    assert found != rows(*CIRCLE, "--seeds", "6", "--seed", "1")
    snapshot = next(record for record in found if record["strategy"] == "snapshot")
    assert float(snapshot["error_low"]) <= float(snapshot["error"]) <= float(snapshot["error_high"])
    assert float(snapshot["lag"]) == pytest.approx(0.2, abs=0.01)


def test_figures_have_the_same_names_and_values_everywhere() -> None:
    done = epic("compare", "--format", "jsonl", *FEW, JITTER)
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    for line, row in zip(lines, rows(JITTER), strict=True):
        assert list(line) == list(row)
        for name, value in line.items():
            told = row[name]
            assert told == ("" if value is None else str(value))
    best, other = sorted(lines, key=lambda one: -one["score"])
    assert best["behind"] == 0
    assert {best["rank"], other["rank"]} == {None}  # too short to tell them apart
    assert other["behind"] == pytest.approx(best["score"] - other["score"])
    assert other["behind_low"] < other["behind"] < other["behind_high"]
    assert {game for line in lines for game in line["best_for"].split()} == {
        "shooter",
        "vehicle",
        "fighting",
        "observer",
    }


@pytest.mark.parametrize(
    ("condition", "status", "told"),
    [
        ("error>100", 0, ""),
        ("error(snapshot)>0.3", 5, "epic: snapshot: error is 0.348"),
        ("score<0", 0, ""),
        ("error_low>0.0001", 5, "epic: dis: error_low is "),
        ("lag(snapshot)>150ms", 5, "epic: snapshot: lag is 0.200"),
        ("smeared>1", 5, "epic: dis: smeared is unknown"),
    ],
)
def test_conditions_decide_the_status(condition: str, status: int, told: str) -> None:
    done = epic("compare", *FEW, JITTER, "--format", "csv", "--fail-if", condition)
    assert done.returncode == status
    assert told in done.stderr.decode()
    assert (condition in done.stderr.decode()) == bool(told)


def test_a_folder_without_recordings_cannot_be_read(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    for command in ("compare", "diagnose", "tune"):
        assert main([command, str(tmp_path)]) == 3
        printed = capfd.readouterr()
        assert printed.out == ""
        assert f"epic: cannot read {tmp_path}: " in printed.err
        assert "there is no recording in this folder; their names end with .txt" in printed.err


def test_a_path_that_has_no_room_is_refused_at_once() -> None:
    done = epic("compare", "--movement", "strafe,duration=1e6", "--seeds", "2")
    assert done.returncode == 2
    assert b"up to 50,000 s" in done.stderr
