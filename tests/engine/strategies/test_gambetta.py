"""Tests of the entity interpolation of Gambetta's live demo against a table of the formula."""

from __future__ import annotations

from typing import Any

import pytest
from support.conformance import load
from support.delivery import check_rows, streams

from epic_cli import Packet, strategy

RUNS = load("gambetta_interp")["streams"]
STREAMS = streams()


@pytest.mark.parametrize("run", RUNS, ids=lambda run: run["stream"])
def test_common_streams_as_the_demo(run: dict[str, Any]) -> None:
    made = strategy("gambetta", update_rate=20, quirks="on")
    check_rows(made, STREAMS[run["stream"]], run["rows"])


@pytest.mark.parametrize(
    "run",
    [run for run in RUNS if run["stream"] not in ("duplicates", "jitter_small")],
    ids=lambda run: run["stream"],
)
def test_common_streams_in_order(run: dict[str, Any]) -> None:
    check_rows(strategy("gambetta", update_rate=20), STREAMS[run["stream"]], run["rows"])


def test_late_packets_and_copies_are_discarded_except_with_quirks() -> None:
    for quirks in ("off", "on"):
        made = strategy("gambetta", quirks=quirks)
        taken = [
            made.update(Packet((x, 0, 0), (0, 0, 0), timestamp), now)
            for x, timestamp, now in ((0, 0.0, 0.1), (1, 0.1, 0.2), (1, 0.1, 0.21), (0, 0.05, 0.22))
        ]
        assert taken == [True, True, quirks == "on", quirks == "on"]


def test_the_measured_rate_is_the_delay() -> None:
    made = strategy("gambetta")
    for count in range(40):
        made.update(Packet((float(count), 0, 0), (0, 0, 0), count / 4), count / 4 + 0.07)
    assert made.read(39 / 4 + 0.07 + 0.125).position[0] == pytest.approx(38.5)
