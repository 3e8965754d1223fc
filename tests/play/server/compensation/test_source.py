"""The Source engine's lag compensation: its values, and what it believes."""

from typing import Any

import pytest
from support.conformance import load

from epic_cli.play.server.compensation.contract import Shooter
from epic_cli.play.server.compensation.source import (
    LARGEST_DIFFERENCE,
    SourceCompensation,
    backtrack,
    find_target_tick,
)
from epic_cli.play.server.rewind import DEFAULT_HISTORY, PoseHistory
from epic_cli.play.world.moves import View

FILE = load("source_lagcomp_smoothing")


def test_the_constants_are_those_of_source() -> None:
    assert FILE["defaults"]["sv_maxunlag"] == DEFAULT_HISTORY
    assert FILE["defaults"]["max_delta_before_fallback"] == LARGEST_DIFFERENCE


@pytest.mark.parametrize("case", FILE["target_tick"], ids=lambda case: str(case["target_tick"]))
def test_a_command_is_rewound_to_the_tick_of_source(case: dict[str, Any]) -> None:
    found = find_target_tick(
        case["server_tick"],
        case["cmd_tick"],
        case["lerp_s"],
        case["latency"],
        case["tick_interval"],
        case["sv_maxunlag"],
    )
    assert found == (case["target_tick"], case["fallback"])
    # what the file says on the way there
    interval = case["tick_interval"]
    correct = min(case["latency"] + case["lerp_ticks"] * interval, case["sv_maxunlag"])
    assert correct == pytest.approx(case["correct"])
    before = case["cmd_tick"] - case["lerp_ticks"]
    delta = correct - (case["server_tick"] - before) * interval
    assert delta == pytest.approx(case["delta_time"], abs=1e-9)
    assert (abs(delta) > LARGEST_DIFFERENCE) == case["fallback"]


@pytest.mark.parametrize("case", FILE["backtrack"], ids=lambda case: str(case["value"]))
def test_a_player_is_moved_back_as_in_source(case: dict[str, Any]) -> None:
    records = [(time, (value, 0.0)) for time, value in case["records_newest_first"]]
    current = (case["current"][1], 0.0)
    teleport = FILE["defaults"]["sv_lagcompensation_teleport_dist"]
    found = backtrack(records, current, case["target"], teleport)
    assert (found[0] if found else None) == pytest.approx(case["value"])


@pytest.mark.parametrize(
    ("records", "found"),
    [
        ([], None),
        ([(1.0, (10.0, 0.0))], (10.0, 0.0)),  # older than what is known: the oldest
        ([(0.4, (10.0, 0.0)), (0.3, (9.0, 0.0))], (10.0, 0.0)),  # newer than that: the newest
    ],
)
def test_at_the_ends_of_the_records(records: Any, found: Any) -> None:
    assert backtrack(records, (10.0, 0.0), 0.5, 64) == found


def shot(view: View, now: float = 1.0, round_trip: float = 0.1) -> tuple[float, str]:
    """Where player 1, who moves at 10 units a second, is put for a shot."""
    history = PoseHistory()
    for snapshot in range(21):
        history.add(snapshot, snapshot * 50_000, {1: (snapshot / 2, 3.0)})
    compensation = SourceCompensation(history, 0.01)
    seen = compensation.rewind(Shooter(now, round_trip, 0.1, {1: view}), {1: (10.0, 3.0)})
    return seen.positions[1][0], seen.view


@pytest.mark.parametrize(
    ("view", "x", "how"),
    [
        (View(16, 17, 0.6), 8.3, "claimed"),  # 0.85 s is expected
        (View(14, 15, 0.0), 7.0, "claimed"),
        (View(2, 3, 0.0), 8.5, "estimated"),
        (View(99, 99, 0.0), 8.5, "estimated"),  # was never sent
    ],
)
def test_a_claim_is_believed_if_it_is_near_what_the_server_expects(
    view: View, x: float, how: str
) -> None:
    found, known = shot(view)
    assert found == pytest.approx(x)
    assert known == how
