"""Every reading that a finding or a refusal proposes has been tried, and solves its problem."""

import io
import json
import math
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.recordings import EXHAUSTIVE, examples
from support.running import epic

from epic_cli import inspect
from epic_cli.recordings.read_spec import ReadSpec

WILD = Path(__file__).parent / "wild"

Write = Callable[[list[dict[str, object]]], str]


def table(rows: list[dict[str, object]]) -> str:
    cells: list[list[object]] = [list(rows[0]), *(list(row.values()) for row in rows)]
    return "\n".join(",".join(map(str, row)) for row in cells)


def lines(rows: list[dict[str, object]]) -> str:
    return "\n".join(map(json.dumps, rows)) + "\n"


def document(rows: list[dict[str, object]]) -> str:
    return json.dumps({"map": "dust", "frames": rows}, indent=1)


def run(count: int = 60, **change: Callable[[int], object]) -> list[dict[str, object]]:
    """Return the rows of an entity that runs along x at 20 Hz, with columns changed or added."""
    usual: dict[str, Callable[[int], object]] = {
        "t": lambda n: n * 0.05,
        "x": lambda n: n * 0.5,
        "y": lambda _: 3,
    }
    return [{name: of(n) for name, of in {**usual, **change}.items()} for n in range(count)]


CASES: dict[str, list[dict[str, object]]] = {
    "ms": run(t=lambda n: n * 50),
    "us": run(t=lambda n: n * 50_000),
    "both in ms": run(t=lambda n: n * 50, recv=lambda n: n * 50 + 33),
    "stamps in ms": run(t=lambda n: n * 50, recv=lambda n: n * 0.05 + 0.033),
    "arrivals in ms": run(recv=lambda n: n * 50 + 33),
    "arrivals in us": run(recv=lambda n: n * 50_000),
    "unix": run(t=lambda n: 1.7e9 + n * 0.05),
    "missing": run(
        x=lambda n: -999 if n % 9 == 4 else n * 0.5, y=lambda n: -999 if n % 9 == 4 else 3
    ),
    "two mixed": run(x=lambda n: n * 0.5 + n % 2 * 400, nr=lambda n: n % 2),
    "laps": run(t=lambda n: n % 20 * 0.05, x=lambda n: n % 20, lap=lambda n: n // 20),
    "a name each": run(id=lambda n: n),
    "no velocity": run(vx=lambda _: 0, vy=lambda _: 0),
    "radians": run(x=lambda n: n % 9, y=lambda n: n % 7, yaw=lambda n: n % 60 / 10),
    "rotation": run(rot_x=lambda _: 0, rot_y=lambda _: 1, rot_z=lambda n: n % 60 * 3),
    "heading": run(heading=lambda n: n),
    "ticks": run(tick=lambda n: 3 * n, t=lambda _: "a"),
    "no time": [{"x": n, "y": n % 3} for n in range(30)],
    "two times": run(ts=lambda n: n * 0.05, stamp=lambda n: n * 0.05),
    "degrees": run(lat=lambda n: 52 + n * 1e-5, lon=lambda _: 5.0, x=lambda _: "", y=lambda _: ""),
    "dates": run(t=lambda n: f"03/04/2026 10:00:{n % 60:02d}"),
}


@pytest.mark.parametrize("write", [table, lines, document])
@pytest.mark.parametrize("case", CASES)
def test_each_finding_is_mended_by_what_it_proposes(case: str, write: Write) -> None:
    text = write(CASES[case]).encode()
    _hold_to_proposals(text)


@pytest.mark.parametrize("file", sorted(path.name for path in WILD.iterdir() if path.is_file()))
def test_in_files_of_other_programs(file: str) -> None:
    _hold_to_proposals((WILD / file).read_bytes())


def _hold_to_proposals(text: bytes) -> None:
    found = inspect(io.BytesIO(text))
    for finding in found.findings:
        if finding.read:
            again = inspect(io.BytesIO(text), read=ReadSpec.parse(finding.read))
            assert finding.code not in [other.code for other in again.findings], finding
            assert again.packets >= found.packets / 2, finding


@pytest.mark.parametrize(
    ("case", "write"),
    [
        (case, write)
        for number, case in enumerate(CASES)
        for place, write in enumerate((table, lines, document))
        if EXHAUSTIVE or place == number % 6
    ],
)
def test_each_refusal_proposes_what_can_be_read(case: str, write: Write) -> None:
    text = write(CASES[case]).encode()
    said = epic("inspect", stdin=text).stderr.decode()
    for quoted, plain in re.findall(r"--read (?:'([^']+)'|(\S+))", said):
        told = (quoted or plain).replace("@HZ", "@60").rstrip(",;")
        if "NAME" in told:
            continue
        again = epic("inspect", "--read", told, stdin=text)
        assert b"No packet could be read" not in again.stdout, told


@given(
    names=st.lists(st.sampled_from(["e", "n", "along", "over", "q", "gx"]), min_size=2, max_size=2,
                   unique=True),
    above=st.sampled_from(["", "boat.", "me.at."]),
    write=st.sampled_from([table, lines]),
    others=st.sampled_from([[], ["hp"], ["hp", "seed"]]),
)  # fmt: skip
@examples(12)
def test_places_are_proposed_by_their_values(
    names: list[str], above: str, write: Write, others: list[str]
) -> None:
    first, second = (above + name for name in names)
    rows: list[dict[str, object]] = [
        {"ms": n * 50, **dict.fromkeys(others, 7), first: round(math.sin(n / 9), 3), second: n / 4}
        for n in range(60)
    ]
    said = epic("inspect", stdin=write(rows).encode()).stderr.decode()
    assert said.count("no column is clearly x") == 1
    found = re.search(r"--read (\S+)", said)
    assert found is not None, said
    assert f"x={first},y={second}" in found[1].replace("\\", "")  # a dot in a key


def test_of_two_dates_the_one_that_did_not_arrive_is_the_time() -> None:
    rows: list[dict[str, object]] = [
        {
            "receivedAt": f"2026-03-01T10:00:{n:02d}.360Z",
            "data": {"id": "ab"[n % 2], "madeAt": f"2026-03-01T10:00:{n:02d}Z", "x": n, "y": 3},
        }
        for n in range(40)
    ]
    found = inspect(io.BytesIO(lines(rows).encode()))
    assert "time=data.madeAt," in found.read
    assert "arrival=receivedAt,entity=data.id" in found.read
