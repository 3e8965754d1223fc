"""A log sorted by send time gives the same rows by every way in, also across blocks."""

import io
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.running import epic

import epic_cli
from epic_cli import Packet

Log = list[tuple[float, float, float]]


@pytest.fixture(scope="module")
def log() -> Log:
    """Return position, send time and arrival of enough packets for several blocks of text."""
    rng = random.Random(3)
    times = [at / 20 for at in range(4000)]
    return [(t * 3 + rng.random() / 9, t, round(t + 0.05 + rng.random() * 0.7, 6)) for t in times]


@pytest.fixture(scope="module")
def sorted_rows(log: Log) -> list[bytes]:
    text = "".join(line(*row) for row in sorted(log, key=lambda row: row[2]))
    return epic("replay", stdin=text.encode()).stdout.splitlines()


def line(x: float, time: float, arrival: float) -> str:
    return f"{x!r},0,0 / 3,0,0 / {time!r} arrival={arrival!r}\n"


def table(log: Log) -> str:
    rows = "".join(f"{t!r},{x!r},0,0,3,0,0,{a!r}\n" for x, t, a in log)
    return f"time,x,y,z,vx,vy,vz,arrival\n{rows}"


@pytest.mark.parametrize("form", ["text", "csv"])
@pytest.mark.parametrize("options", [(), ("--strict",)])
def test_files(
    tmp_path: Path, log: Log, sorted_rows: list[bytes], form: str, options: tuple[str, ...]
) -> None:
    file = tmp_path / "log"
    file.write_text("".join(line(*point) for point in log) if form == "text" else table(log))
    done = epic("replay", *options, file)
    assert (done.returncode, done.stdout.splitlines()) == (0, sorted_rows)


def test_strict_draws_all_that_stands_above_the_refused_line(tmp_path: Path, log: Log) -> None:
    file, above = tmp_path / "log", log[:3000]
    lines = [line(*point) for point in above]
    file.write_text("".join([*lines, "nonsense\n", *(line(*point) for point in log[3000:])]))
    expected = "".join(line(*row) for row in sorted(above, key=lambda row: row[2]))
    last = max(a for _, _, a in above)
    rows = epic("replay", stdin=expected.encode()).stdout.splitlines()
    done = epic("replay", "--strict", file)
    found = done.stdout.splitlines()
    assert done.returncode == 1
    assert b"log:3001:1" in done.stderr
    assert found == rows[: len(found)]
    assert float(found[-1].split()[-1]) > last - 0.1


def packets(log: Log) -> list[Packet]:
    return [Packet((x, 0, 0), (3, 0, 0), t, a) for x, t, a in log]


def columns(log: Log) -> dict[str, list[float]]:
    x, time, arrival = map(list, zip(*log, strict=True))
    zero = [0.0] * len(x)
    return {
        "time": time, "x": x, "y": zero, "z": zero, "vx": [3.0] * len(x), "vy": zero, "vz": zero,
        "arrival": arrival,
    }  # fmt: skip


@pytest.mark.parametrize(
    "given",
    [
        packets,
        columns,
        lambda log: [
            {name: values[0] for name, values in columns([point]).items()} for point in log
        ],
        lambda log: io.StringIO(table(log)),
        lambda log: io.BytesIO(table(log).encode()),
    ],
    ids=["packets", "columns", "dicts", "StringIO", "BytesIO"],
)  # fmt: skip
def test_python(log: Log, given: Callable[[Log], Any]) -> None:
    expected = list(epic_cli.replay(packets(sorted(log, key=lambda one: one[2]))))
    assert list(epic_cli.replay(given(log))) == expected


def test_rows_before_a_wrong_line_come_in_python_too(tmp_path: Path, log: Log) -> None:
    (tmp_path / "log.csv").write_text(table(log[:100]) + "nonsense\n")
    found: list[epic_cli.Sample] = []
    with pytest.raises(epic_cli.RefusedLine):
        found += epic_cli.replay(tmp_path / "log.csv")  # list.extend keeps what came
    assert found[-1].time > log[90][1]
