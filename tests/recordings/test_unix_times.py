"""Unix times under this program's own names: near 0 in drawn rows, unchanged in written files."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest
from support.running import epic
from support.typed_session import TypedSession

from epic_cli import inspect, read_packets, replay
from epic_cli.jobs.inspect.report import record

START = 1_700_000_000
SAID = b"read with --read origin=first\n"


def circle(begin: int, end: int, unix: float, arrives: bool = False) -> str:
    """Return a table of an entity on a circle, ten times a second."""
    rows = ["time,x,y,z" + ",arrival" * arrives]
    for k in range(begin, end):
        t, angle = unix + k / 10, k / 10
        row = f"{t:.1f},{5 * math.cos(angle):.4f},{5 * math.sin(angle):.4f},0"
        rows.append(row + f",{t + 0.05:.2f}" * arrives)
    return "\n".join(rows) + "\n"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with recordings, with Unix times and without, that begin 2 s into their
    truth.
    """
    folder = tmp_path_factory.mktemp("unix")
    for name, unix in (("unix", START), ("plain", 0)):
        (folder / f"truth-{name}.csv").write_text(circle(0, 150, unix))
        (folder / f"{name}.csv").write_text(circle(20, 150, unix, arrives=True))
    epic("convert", folder / "truth-unix.csv", "-o", folder / "truth-unix.parquet")
    return folder


def figures(folder: Path, *words: str) -> list[float]:
    done = epic("compare", "-s", "lerp", "-f", "jsonl", *words, cwd=folder)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout.splitlines()[0])
    return [found[name] for name in ("error", "lag", "residual")]


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_a_recording_and_its_truth_begin_at_one_moment(folder: Path, ending: str) -> None:
    wanted = figures(folder, "plain.csv", "--truth", "truth-plain.csv")
    truth = f"truth-unix.{ending}"
    for more in ((), ("--read", "origin=first"), ("--read", f"origin={START + 2}")):
        found = figures(folder, "unix.csv", "--truth", truth, *more)
        assert found == pytest.approx(wanted, rel=1e-3)


def test_a_session_begins_at_the_first_packet(folder: Path) -> None:
    typed = TypedSession()
    said = typed.type(f":load {folder / 'unix.csv'}")
    assert f"unix.csv: {SAID.decode()}" in said
    [block] = typed.session.iterate_blocks()
    assert [block[index].time for index in range(2)] == pytest.approx([0, 0.1])
    assert "look like" not in said
    text = folder / "packets.txt"
    epic("convert", "--fill-velocities", folder / "unix.csv", "-o", text)
    said = TypedSession().type(":clock exact", f":load {text}")
    assert "times look like Unix times" in said


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_simulated_packets_of_a_truth_begin_at_its_first_state(folder: Path, ending: str) -> None:
    truth = folder / f"truth-unix.{ending}"
    done = epic("simulate", "--movement", f"truth={truth},duration=1", "--send", "10hz")
    assert SAID in done.stderr
    plain = folder / "truth-plain.csv"
    wanted = epic("simulate", "--movement", f"truth={plain},duration=1", "--send", "10hz").stdout
    numbers, others = (
        [float(word) for line in chunk.splitlines() for word in line.split(b" ")[0].split(b",")]
        for chunk in (done.stdout, wanted)
    )
    assert numbers == pytest.approx(others, abs=1e-5)


def test_a_truth_has_hints(tmp_path: Path) -> None:
    truth = tmp_path / "truth.csv"
    rows = "".join(f"{k * 100},{k},0,0\n" for k in range(60))
    truth.write_text(f"time,x,y,z\n{rows}")
    args = ("simulate", "--movement", f"truth={truth},duration=1,max_gap=1000")
    assert b"times look like milliseconds" in epic(*args).stderr
    assert b"look like" not in epic(*args, "--read", "unit=s").stderr


def test_python_replays_and_inspects_what_the_command_does(folder: Path) -> None:
    rows = epic("replay", "-f", "jsonl", folder / "unix.csv").stdout.splitlines()
    drawn = [(sample.time, sample.position) for sample in replay(folder / "unix.csv")]
    told = [(row["time"], tuple(row[axis] for axis in "xyz")) for row in map(json.loads, rows)]
    assert drawn == told
    found = json.loads(epic("inspect", "-f", "json", folder / "unix.csv").stdout)
    assert json.loads(json.dumps(record(inspect(folder / "unix.csv")))) == found


def test_what_is_converted_or_read_from_python_stays_as_written(folder: Path) -> None:
    line = epic("convert", "--to", "jsonl", folder / "unix.csv").stdout.splitlines()[0]
    assert json.loads(line)["time"] == START + 2
    shifted = epic("convert", "--to", "jsonl", "--read", "origin=first", folder / "unix.csv")
    assert json.loads(shifted.stdout.splitlines()[0])["time"] == 0
    assert next(read_packets(folder / "unix.csv")).time == START + 2
    assert next(read_packets(folder / "unix.csv", read="origin=first")).time == 0
    first = next(read_packets(folder / "truth-unix.parquet"))
    assert (first.time, first.position) == (START, (5.0, 0.0, 0.0))
