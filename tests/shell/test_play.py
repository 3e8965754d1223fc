"""``epic play`` without a screen: its output, and its messages about bad input."""

import csv
import io
import json
import math
import subprocess
from pathlib import Path

import pytest
from support import running
from support.places import ROOT

GOLDEN = ROOT / "tests" / "play" / "golden"


def epic(*arguments: str, data: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    return running.epic(*arguments, stdin=data, cwd=ROOT)


def play(*arguments: str, data: bytes = b"") -> str:
    done = epic("play", *arguments, data=data)
    assert (done.returncode, done.stderr) == (0, b"")
    return done.stdout.decode()


def read(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


SUMMARY = ("--show", "summary", "--player", "A", "-f", "csv")


def named(summary: str) -> dict[str, float]:
    """Return the figures of a summary by name; NaN where there is none."""
    return {row["name"]: float(row["value"] or math.nan) for row in read(summary)}


def figure(name: str, *arguments: str) -> str:
    return play("-q", name, *arguments)


def test_rows_on_stdout_and_a_summary_on_stderr() -> None:
    done = epic("play", "--duration", "1")
    assert done.returncode == 0
    assert done.stdout.splitlines()[0].split() == [
        b"time", b"view", b"player", b"x", b"y", b"vx", b"vy", b"error", b"status", b"yaw",
    ]  # fmt: skip
    assert done.stderr.startswith(b"player A (0 bumps in all)\n  input delay            0.000 s\n")


def test_every_format_has_the_same_numbers() -> None:
    base = ("-q", "--duration", "0.5", "--view", "B", "--player", "A")
    table = [line.split() for line in play(*base).splitlines()[1:]]
    values = read(play(*base, "-f", "csv"))
    tabs = list(csv.DictReader(io.StringIO(play(*base, "-f", "tsv")), delimiter="\t"))
    objects = [json.loads(line) for line in play(*base, "-f", "jsonl").splitlines()]
    rows = play(*base, "-f", "epic").splitlines()
    assert values == tabs
    assert len(table) == len(values) == len(objects) == len(rows) > 5
    for cells, value, item, row in zip(table, values, objects, rows, strict=True):
        assert float(value["x"]) == item["x"]
        assert cells[3] == f"{item['x']:.3f}"
        assert row.startswith(f"pos: {item['x']:.2f},{item['y']:.2f},0.00  vel: ")


def test_received_packets_are_a_recording(tmp_path: Path) -> None:
    packets, truth = tmp_path / "packets.txt", tmp_path / "truth.csv"
    as_drawn = "snapshot+interpolation_time=0.15"
    options = ("--jitter", "20ms", "--loss", "10%", "-s", as_drawn, "--duration", "5")
    wanted = ("-q", "-f", "csv", "--view", "A", "--player", "B", "--packets", str(packets))
    rows = read(play(*wanted, *options, "--truth-out", str(truth)))
    as_before = ("--strategy", "snapshot+interpolation_time=0.15", "--tick", "33ms")
    replayed = epic("replay", *as_before, "-f", "csv", str(packets))
    assert replayed.stderr == b""
    drawn = {round(float(row["time"]), 6): row for row in read(replayed.stdout.decode())}
    compared = 0
    for row in rows:
        again = drawn.get(round(float(row["time"]), 6))
        if again and again["status"] == row["status"]:
            assert float(again["x"]) == pytest.approx(float(row["x"]), abs=1e-6)
            compared += 1
    assert compared > 100
    head = "entity,time,x,y,z,vx,vy,vz,qx,qy,qz,qw,teleport\nB,0,19,12,0,"
    assert truth.read_text().startswith(head)
    assert len({row.split(" rotation=")[1] for row in packets.read_text().splitlines()}) > 10
    judged = epic("compare", "-q", "-f", "jsonl", "-s", "snapshot", str(packets), "--truth",
                  str(truth))  # fmt: skip
    [found] = map(json.loads, judged.stdout.splitlines())
    assert 0.1 < found["turn_lag"] < 0.4
    assert found["angle_residual"] < found["angle"] / 2


def test_the_picture_of_a_moment_is_the_golden_one(tmp_path: Path) -> None:
    drawn = tmp_path / "cover.svg"
    figure("question-8", "--duration", "1.13", "--picture", str(drawn))
    assert drawn.read_bytes() == (GOLDEN / "cover.svg").read_bytes()


def test_the_golden_match_has_the_same_bytes_on_every_machine() -> None:
    """Jitter, losses, collisions, shots and corrections of two bots are equal to the last digit."""
    options = ("-q", "--seed", "2", "--match", "bot.B=chaser", "--jitter", "20ms", "--loss", "10%",
               "--duration", "4", "-f", "jsonl")  # fmt: skip
    rows = play(*options, "--view", "A").splitlines(keepends=True)
    events = play(*options, "--show", "events")
    assert '"what": "correction"' in events
    assert '"what": "effect confirmed"' in events
    found = "".join(rows[::10]) + events
    assert found == (GOLDEN / "match.jsonl").read_text()


def test_what_is_given_goes_before_what_a_script_begins_with() -> None:
    text = b"set latency=0.3 remote_strategy=lerp remote.lerp_time=0.5\n0 A right\n"
    command = ("play", "-q", "-", "--duration", "1")
    plain = epic(*command, data=text).stdout
    assert epic(*command, "--latency", "300ms", "-s", "lerp+lerp_time=0.5",
                data=b"0 A right\n").stdout == plain  # fmt: skip
    assert epic(*command, "-s", "lerp+lerp_time=0.1", data=text).stdout != plain
    other = epic(*command, "-s", "dumb-terminal", "--latency", "0", data=text)
    assert (other.returncode, other.stderr) == (0, b"")
    assert epic(*command, "-s", "dumb-terminal", "--latency", "0",
                data=b"0 A right\n").stdout == other.stdout  # fmt: skip


def test_a_recorded_network_carries_both_ways(tmp_path: Path) -> None:
    trace = tmp_path / "network.csv"
    trace.write_text("send_time,owd_down_ms,owd_up_ms\n0,40,90\n0.05,50,80\n0.1,45,85\n")
    rows = named(play("-q", "--link", f"trace={trace}", *SUMMARY))
    assert rows["rtt of the link"] == pytest.approx(0.13, abs=0.01)
    assert rows["rtt estimate"] == pytest.approx(0.13, abs=0.02)


def test_a_wrong_line_of_a_script_is_told_with_its_place() -> None:
    done = epic("play", "-", data=b"0 A left\n1 A jmup\n")
    assert done.returncode == 1
    assert done.stderr.startswith(b"<stdin>:2:5: 'jmup' is not an input\n  1 A jmup\n      ^ ")


def test_a_setting_that_goes_wrong_in_the_middle_is_told() -> None:
    done = epic("play", "-", data=b"1 set remote.nonsense=1\n")
    assert done.returncode == 2
    assert b"nonsense" in done.stderr
    assert b"Traceback" not in done.stderr


@pytest.mark.parametrize("given", [("{}",), ("--link", "trace={}")])
def test_a_file_that_is_not_there(given: tuple[str, ...], tmp_path: Path) -> None:
    done = epic("play", *(word.format(tmp_path / "none") for word in given))
    assert done.returncode == 3
    assert b"cannot read" in done.stderr


def test_garbage_is_no_script() -> None:
    for data in (b"\xff\xfe", b"\0" * 100, b"\x1b[31m", b"a" * 10**6):
        done = epic("play", "-", data=data)
        assert done.returncode == 1
        assert b"Traceback" not in done.stderr
        assert b"\x1b" not in done.stderr
