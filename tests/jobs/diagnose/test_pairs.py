"""Two faults in one recording: both are reported, neither as a consequence, and nothing else is.

Pairs that hide each other are left out: velocities, stamps and positions are judged by each other,
and packets that wait for a heap no longer overtake each other.
"""

from __future__ import annotations

import pytest
from support.faulty_traffic import MOVEMENTS, faulty, make_table_traffic
from support.recordings import EXHAUSTIVE

from epic_cli.jobs.diagnose.run import diagnose

PAIRS = {
    ("drift", "clock step"): "clock-drift clock-step",
    ("drift", "longer route"): "clock-drift route-change",
    ("half the rate", "loss"): "loss repeats",
    ("half the rate", "queue"): "queue repeats",
    ("half the rate", "velocity scaled"): "repeats velocity",
    ("loss", "two under one id"): "loss two-senders",
    ("velocity scaled", "two under one id"): "two-senders velocity",
    ("holes", "queue"): "gap queue",
    ("stalled sender", "head of line"): "head-of-line server-stall",
    ("stalled sender", "clock step"): "clock-step server-stall",
    ("clock step", "queue"): "clock-step queue",
    ("clock step", "teleport"): "clock-step teleport",
    ("clock step", "velocity scaled"): "clock-step velocity",
    ("irregular sending", "clock step"): "clock-step send-rate",
    ("irregular sending", "stalled sender"): "send-rate server-stall",
    ("irregular sending", "stamps at sending"): "send-rate stamps",
    ("irregular sending", "64 Hz steps"): "fixed-step send-rate",
    ("stamps at sending", "loss"): "loss stamps",
    ("loss", "longer route"): "loss route-change",
    ("sent on change", "loss"): "loss on-change",
    ("stalled sender", "half precision"): "quantization server-stall",
    ("queue", "head of line"): "head-of-line queue",
    ("queue", "stalled frames"): "frame-stall queue",
    ("teleport", "velocity scaled"): "teleport velocity",
    ("smeared teleport", "velocity's axes"): "teleport velocity",
}


@pytest.mark.parametrize("pair", PAIRS, ids=" and ".join)
def test_both_are_told_and_nothing_else(pair: tuple[str, str]) -> None:
    first = list(PAIRS).index(pair) % 3  # each pair has one of the movements
    every = list(zip(MOVEMENTS, (1, 2, 3), strict=True))
    for movement, seed in every if EXHAUSTIVE else every[first : first + 1]:
        rows = faulty(pair, movement, seed)
        found = diagnose(make_table_traffic({"": rows})).findings
        assert sorted(finding.cause for finding in found) == PAIRS[pair].split(), (movement, seed)
