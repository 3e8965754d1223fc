"""The default output of ``epic inspect``, and the output on demand."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from support.running import shell

from epic_cli.main import main
from epic_cli.recordings.findings import KINDS

MILLISECONDS = "time,x,y\n" + "".join(f"{50 * k},{k},0\n" for k in range(40))


def printed(capsys: pytest.CaptureFixture[str], *words: str | Path) -> str:
    assert main(["inspect", *map(str, words)]) in (0, 1)
    return capsys.readouterr().out


def test_what_a_finding_means_is_said_on_demand(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (file := tmp_path / "packets.csv").write_text(MILLISECONDS)
    short, whole = printed(capsys, file), printed(capsys, "--explain", file)
    code = next(code for code in KINDS if code in short)
    means = KINDS[code].explanation
    assert means not in " ".join(short.split())
    assert means in " ".join(whole.split())
    assert "Facts of time and speed" in " ".join(whole.split())


def test_a_gap_in_even_packets_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    even, broken = tmp_path / "even.csv", tmp_path / "broken.csv"
    times = [k / 20 for k in range(200)]
    for file, at in ((even, times), (broken, [t + 0.5 * (t >= 5) for t in times])):
        rows = "".join(f"{t:.2f},{t * 3:.2f},0\n" for t in at)
        file.write_text(f"time,x,y\n{rows}")
    assert "even\n" in printed(capsys, even)
    assert "even; longest gap 550 ms\n" in printed(capsys, broken)


@pytest.mark.parametrize("rate", [8, 20, 30, 60])
def test_the_send_rate_is_found_whatever_is_lost(
    rate: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    generator = np.random.default_rng(rate)
    sent = np.arange(600) / rate + 1000
    uneven = 1000 + np.cumsum(generator.exponential(1 / rate, 600))
    for times, loss in ((sent, 0.0), (sent, 0.3), (uneven, 0.0)):
        file = tmp_path / "packets.csv"
        kept = times[generator.random(600) >= loss]
        file.write_text("time,x,y\n" + "".join(f"{t:.3f},{3 * t:.3f},0\n" for t in kept))
        found = json.loads(printed(capsys, file, "--format", "json"))["interval"]
        if times is uneven:
            assert found is None
        else:
            assert found == pytest.approx(1 / rate, rel=1e-3)


def test_quiet_leaves_out_messages(tmp_path: Path) -> None:
    file = tmp_path / "wrong.txt"
    file.write_text("0,0,0 / 1,0,0 / 0\nx\n1,0,0 / 1,0,0 / 1\n")
    loud, quiet = shell(f"epic inspect {file}"), shell(f"epic inspect -q {file}")
    assert loud.returncode == quiet.returncode == 1
    assert loud.stdout == quiet.stdout
    assert loud.stderr
    assert not quiet.stderr
