"""The sending study against NumPy alone: states and drawings on a circle, equal bytes, tables."""

from __future__ import annotations

import csv
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from epic_cli.network.movement import RecordedMovement, Track
from studies import sending
from studies.sending import Way, at, bytes_for

RADIUS, OMEGA, LATE, THRESHOLD, SECONDS = 50.0, 1.0, 0.1, 0.5, 12.0
SPEED = RADIUS * OMEGA
TICKS = np.arange(int(60 * SECONDS) + 1) / 60


def circle(time: Any) -> Any:
    return RADIUS * np.exp(1j * OMEGA * time)


def recorded() -> RecordedMovement:
    track = Track(1.0)
    for time in np.arange(0, SECONDS + 0.005, 0.01):
        place, pace = circle(time), 1j * OMEGA * circle(time)
        track.add(float(time), (place.real, place.imag, 0.0), (pace.real, pace.imag, 0.0), False)
    return RecordedMovement({"": track})


def sent(straight: bool) -> np.ndarray:
    """Return the ticks of the states that exceed the threshold from the receivers' state."""
    found = [0]
    for tick in range(1, len(TICKS)):
        age = TICKS[tick] - TICKS[found[-1]]
        last = circle(TICKS[found[-1]])
        guess = last * (1 + 1j * OMEGA * age) if straight else last
        if abs(circle(TICKS[tick]) - guess) > THRESHOLD or age >= 1 - 1e-9:
            found.append(tick)
    return np.array(found)


def size(time: float, velocity: bool) -> int:
    """Return the bytes of a datagram with one full state: positions in steps of 1 cm, signed."""
    steps = [math.floor(x / 0.01 + 0.5) for x in (circle(time).real, circle(time).imag, 0.0)]
    longest = max(2 * n if n >= 0 else -2 * n - 1 for n in steps).bit_length()
    state = 8 + 8 + 1 + 4 + 7 + 3 * longest + 48 * velocity  # number, base, flags, length
    moment = 8 + 32 + 8  # how far back, stamp, how many states
    return math.ceil((8 * (20 + 8) + 16 + 8 + moment + state) / 8)  # and a number, how many moments


WAYS = (
    Way("dis", "dis+age=stamp", "predictor", "judged", "half"),
    Way("line", "buffer+delay=0.25", "buffer", "last", "none"),
)


@pytest.mark.parametrize("way", WAYS)
def test_it_is_what_numpy_makes_of_a_circle(way: Way, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sending, "WAYS", WAYS)
    monkeypatch.setattr(sending, "THRESHOLDS", (THRESHOLD / SPEED,))
    found = sending.measured(recorded(), 0, SPEED, f"latency={LATE}")
    assert found is not None
    sums = found[way.label]

    ticks = sent(straight=way.name == "dis")
    rows = np.arange(2.0, SECONDS - 1, 1 / 60)
    if way.name == "dis":
        newest = TICKS[ticks][np.searchsorted(TICKS[ticks] + LATE, rows + 1e-9) - 1]
        shown = circle(newest) * (1 + 1j * OMEGA * (rows - newest))
    else:
        shown = np.interp(rows - 0.25, TICKS[ticks], circle(TICKS[ticks]))
    seen = sending.figures(sums)
    error = np.sqrt(np.mean(np.abs(shown - circle(rows)) ** 2))
    assert float(seen["error"][0]) == pytest.approx(error, rel=0.03)
    times = TICKS[ticks][TICKS[ticks] > 2]
    each = np.mean([size(time, way.velocity == "half") for time in times.tolist()])
    rate = (len(times) - 1) / (times[-1] - times[0])
    assert float(seen["states a second"][0]) == pytest.approx(rate, rel=0.03)
    assert float(sending.bytes_of(sums, headers=True)[0]) == pytest.approx(rate * each, rel=0.03)


def test_equal_bytes_are_on_a_line_over_their_logarithm() -> None:
    spent, points = np.array([400.0, 100.0, 200.0]), np.array([80.0, 20.0, 60.0])
    asked = [at(spent, points, budget).item() for budget in (100, math.sqrt(20_000), 200, 9000)]
    assert asked == pytest.approx([20, 40, 60, 80])
    assert np.isnan(at(spent, points, 99))
    found = [bytes_for(spent, points, wanted) for wanted in (10, 40, 60, 81)]
    assert found == pytest.approx([100, math.sqrt(20_000), 200, math.inf])


def test_evenness_is_1_on_a_circle() -> None:
    moves = sending.moves([recorded()])
    assert moves == pytest.approx((SPEED, SPEED * OMEGA, 1.0), rel=0.01)


def test_text_and_picture_are_those_of_the_figures() -> None:
    folder = Path(sending.__file__).parent
    read: dict[str, list[dict[str, str]]] = {}
    for name in ("sending", "sending_seen", "sending_strategies", "sending_movement"):
        with (folder / f"{name}.csv").open(newline="") as file:
            read[name] = list(csv.DictReader(file))
    text = (folder / "README.md").read_text()
    for table in sending.tables(read):
        assert "\n".join(f"  {line}" for line in table) in text
    drawn = sending.picture([{**row, "bytes": float(row["bytes"])} for row in read["sending"]])
    assert drawn == (folder / "sending.svg").read_text()
    lines = [line.split('d="M')[1] for line in drawn.splitlines() if 'fill="none"' in line]
    reached = [float(line.split("L")[-1].split()[0]) - float(line.split()[0]) for line in lines]
    assert max(reached[:24]) == pytest.approx(300)  # from the smallest budget to the largest
