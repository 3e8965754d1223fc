"""``epic simulate`` as its users call it."""

from __future__ import annotations

import os
import signal
import subprocess
from pathlib import Path

import pytest
from support.running import EPIC, epic

from epic_cli.main import main


def simulate(*args: str, stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    return epic("simulate", *args, stdin=stdin)


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


def test_garbage_is_refused_without_reading_all_of_it(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["simulate", "--movement", "truth=/dev/zero"]) == 1
    assert "/dev/zero:1:1: the recording has no packet" in capsys.readouterr().err
