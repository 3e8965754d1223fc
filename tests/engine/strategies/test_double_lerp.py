"""Tests of Unity's interpolator up to 1.11, as the strategy draws it, against the original."""

from __future__ import annotations

from typing import Any

import pytest
from support.conformance import load
from support.delivery import beside, streams

from epic_cli import strategy

RUNS = load("unity_ngo_legacy")["streams"]
STREAMS = streams()
#: The second smoothing takes this part of the way a frame: 0.05 s of 0.1 s.
PART = 0.5


@pytest.mark.parametrize("run", RUNS, ids=lambda run: run["stream"])
def test_common_streams(run: dict[str, Any]) -> None:
    """The strategy equals the original's run once the difference of their starts has faded.

    The run began at the origin, and the strategy begins at the first state, as an object does. The
    difference shrinks by the second smoothing, from when the first state is taken from the queue;
    the original's numbers have single precision.
    """
    stream = STREAMS[run["stream"]]
    first = min(stream["packets"], key=lambda packet: packet["recv_ms"])
    begin = [first[key] for key in ("x", "y", "vx", "vy")]
    made = strategy("unity-ngo", mode="double-lerp", tick_rate=20, latency=0.08, server_buffer=0.05)
    for row, sample in beside(made, stream, run["rows"]):
        now = row["tick_ms"] / 1000
        assert row["server_time"] == pytest.approx(now - 0.13)
        assert row["render_time"] == pytest.approx(row["server_time"] - 0.05)
        if row["out"] is None:
            assert sample.status == "none"
            continue
        if row["server_time"] >= first["t_ms"] / 1000 - 1e-9:
            begin = [(1 - PART) * value for value in begin]
        wanted = [
            row["out"][key] + rest for key, rest in zip(("x", "y", "vx", "vy"), begin, strict=True)
        ]
        found = [*sample.position[:2], *sample.velocity[:2]]
        assert found == pytest.approx(wanted, rel=1e-6, abs=1e-5)
