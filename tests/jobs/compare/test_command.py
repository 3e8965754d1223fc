"""``epic compare`` as a user runs it."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from xml.etree import ElementTree

import pytest
from support.places import SAMPLES
from support.running import epic

VARIANTS = "epic,epic+calc_ahead=0.1"
TURN, TANKS, JITTER = (SAMPLES / name for name in ("turn.txt", "two_tanks.csv", "jitter.txt"))
STEADY = b"".join(b"%d,0,0 / 10,0,0 / %.1f\n" % (k, k / 10) for k in range(50))


def rows(*args: str | Path, stdin: bytes = b"") -> list[dict[str, str]]:
    done = epic("compare", "--format", "csv", *args, stdin=stdin)
    assert done.returncode == 0, done.stderr
    return list(csv.DictReader(io.StringIO(done.stdout.decode())))


def refusal(*args: str | Path, stdin: bytes = b"", status: int = 2) -> str:
    done = epic("compare", *args, stdin=stdin)
    text = done.stderr.decode()
    assert done.returncode == status, text
    assert done.stdout == b""
    assert "Traceback" not in text
    return text


def test_a_given_truth_is_used() -> None:
    truth = rows(TURN, "--truth", TURN, "-s", "epic")
    assert truth == rows(TURN, "-s", "epic")
    done = epic("compare", TURN, "--truth", TURN, "-s", "epic", "--explain")
    assert b"Truth: given." in done.stdout


def test_each_of_several_recordings_is_judged_as_alone(tmp_path: Path) -> None:
    """Begin each at its own first packet, of Unix times, as alone: to the last bit."""
    files = []
    for begin in (1764470000, 1764480000):
        lines = (f"{begin + n / 20},{begin + n / 20 + 0.05},{n * n % 97}" for n in range(99))
        files.append(tmp_path / f"{begin}.csv")
        files[-1].write_text("\n".join(["time,arrival,x", *lines, ""]))
    how = ("-s", "lerp", "--by", "recording")
    assert rows(*files, *how) == [row for file in files for row in rows(file, *how)]


def test_timing_options_are_those_of_replay() -> None:
    (late,) = rows(TURN, "-s", "dumb-terminal", "--latency", "0.2", "--tick", "1/60")
    assert float(late["tick"]) == pytest.approx(1 / 60)
    (early,) = rows(TURN, "-s", "dumb-terminal", "--latency", "0.1", "--tick", "1/60")
    assert float(late["lag"]) - float(early["lag"]) == pytest.approx(0.1, abs=0.02)


def test_pictures_are_written(tmp_path: Path) -> None:
    svg, html = tmp_path / "a.svg", tmp_path / "a.html"
    args = ("compare", TANKS, "-s", VARIANTS, "--svg", svg, "--html", html)
    assert epic(*args).returncode == 0
    first = svg.read_bytes(), html.read_bytes()
    ElementTree.fromstring(first[0])
    assert b'id="data"' in first[1]
    assert epic(*args).returncode == 0
    assert (svg.read_bytes(), html.read_bytes()) == first


def test_color_where_it_is_asked_for() -> None:
    assert b"\x1b[" in epic("compare", TURN, "--color", "always", "--chart", "x").stdout
    assert b"\x1b[" not in epic("compare", TURN, "--chart", "x").stdout


def test_clocks_that_differ(tmp_path: Path) -> None:
    lines = STEADY.splitlines()
    (tmp_path / "truth.txt").write_bytes(STEADY)
    same = b"\n".join(b"%s arrival=%.2f" % (one, k / 10 + 0.05) for k, one in enumerate(lines))
    later = b"\n".join(b"%s arrival=%.2f" % (one, k / 10 + 90.05) for k, one in enumerate(lines))
    (plain,) = rows("-s", "dumb-terminal", stdin=same)
    (moved,) = rows("-s", "dumb-terminal", "--truth", "offset=90", stdin=later)
    assert float(moved["error"]) == pytest.approx(float(plain["error"]))
    assert float(moved["lag"]) == pytest.approx(float(plain["lag"]))
    # by itself the fastest packet, which took 50 ms, is taken for undelayed
    (found,) = rows("-s", "dumb-terminal", stdin=later)
    assert float(found["lag"]) == pytest.approx(float(plain["lag"]) - 0.05, abs=0.002)
    refused = refusal("-s", "dumb-terminal", "--truth", tmp_path / "truth.txt", stdin=later)
    assert "do not overlap; --truth FILE,offset" in refused


@pytest.mark.parametrize("source", ["path", "truth"])
def test_what_is_sent_over_networks_turns(source: str, tmp_path: Path) -> None:
    """Half a turn a second drawn with a buffer of 0.2 s is 36 degrees late, and nothing else."""
    sent = "circle,turning=spin,duration=6"
    if source == "truth":
        truth = tmp_path / "truth.csv"
        epic("simulate", "--movement", sent, "--truth-out", truth)
        sent = f"truth={truth},duration=6"
    how = ["--seeds", "1", "--latency", "60ms", "-s", "snapshot", "-f", "jsonl", "-q"]
    done = epic("compare", "--movement", sent, "--send", "20hz", *how)
    [found] = map(json.loads, done.stdout.splitlines())
    assert found["turn_lag"] == pytest.approx(0.2, abs=1e-4)
    assert found["angle"] == pytest.approx(36, abs=1e-3)
    assert found["angle_residual"] < 1e-3
    done = epic("compare", "--movement", sent, "--send", "20hz,rotation_bits=6", *how)
    [coarse] = map(json.loads, done.stdout.splitlines())
    assert 0.1 < coarse["angle_residual"] < 3
