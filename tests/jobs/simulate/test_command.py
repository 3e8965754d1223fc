"""``epic simulate`` as its users call it."""

from __future__ import annotations

import os
import signal
import subprocess
from pathlib import Path

import pytest
from support.running import EPIC, epic

from epic_cli.main import main
from epic_cli.recordings.reading import read

BAD = ["--latency", "80ms", "--jitter", "20ms", "--loss", "5%"]


def simulate(*args: str, stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    return epic("simulate", *args, stdin=stdin)


def packets(path: Path) -> list[object]:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        blocks = list(read(descriptor))
    finally:
        os.close(descriptor)
    assert not any(block.refusals for block in blocks)
    return [block[index] for block in blocks for index in range(len(block))]


def test_rows_on_stdout_and_a_summary_on_stderr() -> None:
    done = simulate("--movement", "straight,duration=0.1", "--latency", "50ms")
    assert done.stdout == (
        b"0,0,0 / 5,0,0 / 0 arrival=0.05 seq=0\n"
        b"0.25,0,0 / 5,0,0 / 0.05 arrival=0.1 seq=1\n"
        b"0.5,0,0 / 5,0,0 / 0.1 arrival=0.15 seq=2\n"
    )
    assert done.stderr == (
        b"3 sent, 0 lost (0.0%), 0 duplicated, 3 arrived, 0 reordered\n"
        b"delay in ms: min 50, 50% 50, 95% 50, 99% 50, max 50\n"
    )
    assert done.returncode == 0
    assert simulate("--movement", "circle,duration=0", "--quiet").stderr == b""


def test_nothing_arrives() -> None:
    done = simulate("--loss", "100%", "--movement", "circle,duration=1")
    assert done.stdout == b""
    assert done.stderr == (
        b"21 sent, 21 lost (100.0%, up to 21 in a row), 0 duplicated, 0 arrived, 0 reordered\n"
    )


def test_same_seed_same_bytes() -> None:
    args = ("--movement", "strafe", *BAD, "--link", "distribution=gamma,correlation=30%")
    assert simulate(*args, "--seed", "5").stdout == simulate(*args, "--seed", "5").stdout
    assert simulate(*args, "--seed", "5").stdout != simulate(*args, "--seed", "6").stdout


def test_all_formats_hold_the_same_packets(tmp_path: Path) -> None:
    found = []
    for packet_format in ("text", "csv", "jsonl"):
        path = tmp_path / packet_format
        args = [*BAD, "--movement", "teleport,entity=tank7", "--format", packet_format]
        assert main(["simulate", *args, "--output", str(path), "--quiet"]) == 0
        found.append(packets(path))
    assert found[0] == found[1] == found[2]
    assert len(found[0]) > 150


def test_replays_through_a_pipe() -> None:
    made = simulate(*BAD)
    rows = epic("--strategy", "epic", stdin=made.stdout)
    assert rows.stdout.count(b"\n") == pytest.approx(201, abs=6)
    assert rows.stderr == b""


@pytest.mark.parametrize("turning", ["none", "flick"])
def test_truth_out_can_be_the_next_truth(turning: str, tmp_path: Path) -> None:
    truth, again = tmp_path / "truth.csv", tmp_path / "again.csv"
    moves = f"teleport,duration=9,turning={turning}"
    args = ["--movement", moves, "--output", os.devnull, "--quiet"]
    assert main(["simulate", *args, "--truth-out", str(truth), "--truth-rate", "50"]) == 0
    rows = truth.read_text().splitlines()
    turns = "" if turning == "none" else "qx,qy,qz,qw,"
    assert rows[0] == f"entity,time,x,y,z,vx,vy,vz,{turns}teleport"
    assert len(rows) == 452
    teleports = [row for row in rows if row.endswith(",1")]
    assert 2 <= len(teleports) <= 9
    recorded = ["--movement", f"truth={truth}", "--truth-out", str(again), "--truth-rate", "50"]
    assert main(["simulate", *recorded, "--output", os.devnull, "--quiet"]) == 0
    assert again.read_text() == truth.read_text()


def test_truth_from_stdin_over_a_recorded_network(tmp_path: Path) -> None:
    trace = tmp_path / "trace.csv"
    trace.write_text("flow,send_time,owd_ms\nup,0,5\ndown,0,10\nup,1,5\ndown,1,\n")
    done = simulate(
        "--movement",
        "truth=-",
        "--link",
        f"trace={trace},trace_flow=down",
        stdin=b"time,x,y,z\n5,0,0,0\n6,1,0,0\n7,2,0,0\n",
    )
    assert done.stdout == (
        b"0,0,0 / 1,0,0 / 5 arrival=5.01 seq=0\n2,0,0 / 1,0,0 / 7 arrival=7.01 seq=2\n"
    )


def test_interrupted_it_still_sums_up() -> None:
    with subprocess.Popen(
        [*EPIC, "simulate", "--movement", "circle,duration=endless"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdout is not None
        process.stdout.readline()
        process.send_signal(signal.SIGINT)
        _, stderr = process.communicate()
    assert process.returncode == 130
    assert b" sent, 0 lost" in stderr
    assert b"Traceback" not in stderr


def test_a_bad_line_is_shown(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    truth = tmp_path / "truth.csv"
    truth.write_text("time,x,y,z\n0,0,0,0\n1,0,oops,0\n")
    output = tmp_path / "packets.txt"
    assert main(["simulate", "--movement", f"truth={truth}", "--output", str(output)]) == 1
    assert capsys.readouterr().err == (
        f"{truth}:3:5: y is not a number\n  1,0,oops,0\n      ^ expected a number\n"
    )
    assert not output.exists()


@pytest.mark.parametrize("option", ["--movement", "--link"])
def test_files_that_cannot_be_read(option: str, tmp_path: Path) -> None:
    key = {"--movement": "truth", "--link": "trace"}[option]
    missing = simulate(option, f"{key}={tmp_path / 'none.csv'}")
    assert missing.returncode == 3
    assert b"none.csv: No such file" in missing.stderr
    assert simulate(option, f"{key}={tmp_path}").returncode == 3
    empty = simulate(option, f"{key}={os.devnull}")
    status, reason = {
        "--movement": (2, b"there is no state in it"),
        "--link": (1, b"the header has no column"),
    }[option]
    assert empty.returncode == status
    assert reason in empty.stderr


def test_garbage_is_refused_without_reading_all_of_it(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["simulate", "--movement", "truth=/dev/zero"]) == 1
    assert "/dev/zero:1:1: there is no packet in it" in capsys.readouterr().err
