"""The shell command that a finding proposes to sort lines."""

from __future__ import annotations

import json
import random
import subprocess
from pathlib import Path

import pytest
from support.running import epic

ROWS = [(index / 10, index * 0.3, f"p{index % 3}") for index in range(300)]
SEPARATORS = {"commas": ",", "semicolons": ";", "tabs": "\t", "bars": "|", "blanks": " "}


def proposed(file: Path) -> str:
    found = json.loads(epic("inspect", "--format", "json", file.name, cwd=file.parent).stdout)
    return next(
        (finding["cure"] for finding in found["findings"] if finding["code"] in ("E104", "E106")),
        "",
    )


def rows_of(file: Path) -> list[str]:
    done = epic("convert", "--to", "csv", file.name, cwd=file.parent)
    return done.stdout.decode().splitlines()


def pasted(file: Path) -> list[str]:
    """Return the rows of the file that the command makes."""
    before = set(file.parent.iterdir())
    subprocess.run(["bash", "-c", proposed(file)], check=True, cwd=file.parent)
    (made,) = set(file.parent.iterdir()) - before
    assert not proposed(made)
    return rows_of(made)


@pytest.mark.parametrize(
    ("above", "name", "how"),
    [
        ("", "log.csv", "shuffled"),
        ("# a logger\n# of three lines\n", "a log's file.csv", "down"),
    ],
)
@pytest.mark.parametrize("separator", SEPARATORS.values(), ids=SEPARATORS)
def test_a_table(tmp_path: Path, separator: str, name: str, above: str, how: str) -> None:
    rows = ROWS[::-1] if how == "down" else random.Random(7).sample(ROWS, len(ROWS))

    def table(rows: list[tuple[float, float, str]]) -> str:
        cells = [("player", "x", "y", "time"), *((p, x, 0, t) for t, x, p in rows)]
        return above + "".join(separator.join(map(str, cell)) + "\n" for cell in cells)

    (tmp_path / name).write_text(table(rows))
    expected = tmp_path / "expected"
    expected.write_text(table(ROWS))
    wanted = rows_of(expected)
    expected.unlink()
    assert pasted(tmp_path / name) == wanted


@pytest.mark.parametrize("ending", ["\n", "\r\n", ""])
def test_dates_and_packet_text(tmp_path: Path, ending: str) -> None:
    lines = [f"2024-01-05T12:{t // 60:02}:{t % 60:02}Z,{t},0" for t in range(100)]
    for some, file in ((lines, "sorted.csv"), (lines[::-1], "down.csv")):
        text = (ending or "\n").join(["time,x,y", *some])
        (tmp_path / file).write_bytes((text + ending).encode())
    wanted = rows_of(tmp_path / "sorted.csv")
    (tmp_path / "sorted.csv").unlink()
    assert pasted(tmp_path / "down.csv") == wanted


def test_arrivals_further_apart_than_the_window(tmp_path: Path) -> None:
    rng = random.Random(2)
    rows = [(t / 10, float(t), round(t / 10 + rng.choice((0.1, 4.0)), 3)) for t in range(300)]

    def table(rows: list[tuple[float, float, float]]) -> str:
        body = "".join(f"{t},{x},0,0,1,0,0,{a}\n" for t, x, a in rows)
        return f"time,x,y,z,vx,vy,vz,arrival\n{body}"

    (tmp_path / "log.csv").write_text(table(rows))
    expected = epic("replay", stdin=table(sorted(rows, key=lambda one: one[2])).encode()).stdout
    subprocess.run(["bash", "-c", proposed(tmp_path / "log.csv")], check=True, cwd=tmp_path)
    done = epic("replay", "sorted.csv", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, expected)


@pytest.mark.parametrize(
    "table",
    [
        'time,x,y,"a, b"\n' + "".join(f'{t / 10},{t},0,"{t}, 1"\n' for t in range(99, 0, -1)),
        "time;x;y\n" + "".join(f"{t // 10},{t % 10};{t};0\n" for t in range(99, 0, -1)),
    ],
    ids=["quotes", "commas in numbers"],
)
def test_what_sort_could_not_is_said_in_words(tmp_path: Path, table: str) -> None:
    (tmp_path / "a.csv").write_text(table)
    assert proposed(tmp_path / "a.csv") == "sort the recording by time"
