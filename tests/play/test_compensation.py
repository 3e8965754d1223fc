"""Lag compensation: as Mirror and Source compute it, and in a match."""

from typing import Any

import pytest
from support.conformance import load
from support.play_links import shots

from epic_cli.network.link_spec import TwoWays
from epic_cli.play import LinkConditions, Match, MatchSpec, PlayerConfig
from epic_cli.play.server import (
    COMPENSATIONS,
    DEFAULT_HISTORY,
    HISTORY_LIMIT,
    LARGEST_DIFFERENCE,
    MirrorCompensation,
    PoseHistory,
    SentPoses,
    Shooter,
    SourceCompensation,
    estimate_time,
    find_captures,
    find_past_position,
    find_target_tick,
)
from epic_cli.play.world import View


def judged(name: str, **settings: object) -> tuple[int, int, set[str]]:
    """Return the hits on the shooter's screen, those confirmed, and the kinds of views."""
    link = LinkConditions(latency=0.1, jitter=0.02)
    ways = TwoWays.from_conditions(link)
    played = Match(MatchSpec(link=ways, seed=5, lag_compensation=name, **settings))  # type: ignore[arg-type]
    played.run_until(7)
    # before that, the server has no history that is as long as the delay
    known = [(event, right) for event, right in shots(played) if event.time > 0.5]
    hits = [bool(event.details["rewound"]) for event, right in known if right]
    return len(hits), sum(hits), {str(event.details["view"]) for event, _ in known}


@pytest.mark.parametrize("name", COMPENSATIONS)
def test_honest_shots_hit_where_the_server_knows_the_delay(name: str) -> None:
    right, hits, views = judged(name)
    assert right > 5
    assert hits == right
    known = {"view": {"exact"}, "mirror": {"estimated"}, "source": {"claimed"}}[name]
    assert views == known


def test_a_server_that_estimates_misjudges_a_client_whose_clock_is_off() -> None:
    """A draws B later than the server estimates; A's own report would be believed."""
    players = (
        PlayerConfig("A", (5.0, 12.0), "hunter", offset=-0.15),
        PlayerConfig("B", (19.0, 12.0), "runner"),
    )
    hits = {}
    for name, sync in (
        ("view", "free-running"),
        ("mirror", "free-running"),
        ("mirror", "lightyear"),
    ):
        right, hit, _ = judged(name, players=players, clock_sync=sync)
        hits[name, sync] = hit / right
    assert hits["view", "free-running"] == 1
    assert hits["mirror", "free-running"] < 0.9
    assert hits["mirror", "lightyear"] > 0.95


@pytest.mark.parametrize("latency", [0.0, 0.05, 0.2])
def test_the_server_measures_the_round_trip_to_each_client(latency: float) -> None:
    played = Match(MatchSpec(link=TwoWays.from_conditions(LinkConditions(latency=latency)), seed=1))
    played.run_until(3)
    for connection in played.server.connections:
        assert connection.round_trip.estimate == pytest.approx(2 * latency, abs=1e-6)


MIRROR = load("mirror_lagcomp")


@pytest.mark.parametrize(
    "case", MIRROR["sample"], ids=lambda case: f"{len(case['entries'])}-{case['query']}"
)
def test_a_time_is_found_between_the_captures_as_in_mirror(case: dict[str, Any]) -> None:
    found = find_captures([float(key) for key in case["entries"]], case["query"], case["interval"])
    assert (found is not None) == case["ok"]
    if found is None:
        assert (case["before"], case["after"], case["t"]) == (None, None, None)
    else:
        before, after, fraction = found
        # the file's key k holds the value 10 k
        assert (10 * case["entries"][before], 10 * case["entries"][after]) == (
            case["before"], case["after"],
        )  # fmt: skip
        assert fraction == pytest.approx(case["t"], abs=1e-12)


@pytest.mark.parametrize("case", MIRROR["estimate_time"])
def test_what_the_client_saw_is_as_old_as_in_mirror(case: dict[str, float]) -> None:
    time = estimate_time(case["server_time"], case["rtt"], case["buffer_time"])
    assert time == pytest.approx(case["out"], abs=1e-12)


def captured(ticks: int) -> MirrorCompensation:
    """Return a history in which player 1 moves at 10 units a second, with ticks every 50 ms."""
    compensation = MirrorCompensation(PoseHistory(), 0.033)
    for tick in range(ticks):
        compensation.capture_positions(tick / 20, {1: (tick / 2, 3.0)})
    return compensation


def test_it_goes_back_half_a_round_trip_and_the_buffer() -> None:
    shooter = Shooter(1.0, 0.1, 0.12, {}, SentPoses())
    seen = captured(21).rewind(shooter, {1: (10.0, 3.0)})
    assert seen.view == "estimated"
    assert seen.positions[1] == pytest.approx((10 * (1.0 - 0.05 - 0.12), 3.0))


def test_it_extrapolates_past_the_newest_capture_but_not_further_than_an_interval() -> None:
    seen = captured(20).rewind(Shooter(0.98, 0.0, 0.0, {}, SentPoses()), {1: (9.5, 3.0)})
    assert seen.view == "estimated"
    assert seen.positions[1] == pytest.approx((9.8, 3.0))
    late = captured(20).rewind(Shooter(1.1, 0.0, 0.0, {}, SentPoses()), {1: (9.5, 3.0)})
    assert late == ({1: (9.5, 3.0)}, "beyond the history")


def test_what_is_older_than_six_captures_is_judged_by_the_present() -> None:
    compensation, present = captured(21), {1: (10.0, 3.0)}
    oldest = 1.0 - (HISTORY_LIMIT - 1) * 0.1
    within = compensation.rewind(Shooter(1.0, 0.0, 1.0 - oldest - 1e-6, {}, SentPoses()), present)
    assert within.positions[1] == pytest.approx((10 * oldest, 3.0), abs=1e-4)
    beyond = compensation.rewind(Shooter(1.0, 0.0, 1.0 - oldest + 1e-6, {}, SentPoses()), present)
    assert beyond == (present, "beyond the history")


SOURCE = load("source_lagcomp_smoothing")


def test_the_constants_are_those_of_source() -> None:
    assert SOURCE["defaults"]["sv_maxunlag"] == DEFAULT_HISTORY
    assert SOURCE["defaults"]["max_delta_before_fallback"] == LARGEST_DIFFERENCE


@pytest.mark.parametrize("case", SOURCE["target_tick"], ids=lambda case: str(case["target_tick"]))
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


@pytest.mark.parametrize("case", SOURCE["backtrack"], ids=lambda case: str(case["value"]))
def test_a_player_is_moved_back_as_in_source(case: dict[str, Any]) -> None:
    records = [(time, (value, 0.0)) for time, value in case["records_newest_first"]]
    current = (case["current"][1], 0.0)
    teleport = SOURCE["defaults"]["sv_lagcompensation_teleport_dist"]
    found = find_past_position(records, current, case["target"], teleport)
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
    assert find_past_position(records, (10.0, 0.0), 0.5, 64) == found


def shot(view: View, now: float = 1.0, round_trip: float = 0.1) -> tuple[float, str]:
    """Return the rewound position of player 1, who moves at 10 units a second."""
    history = PoseHistory()
    for snapshot in range(21):
        history.add(snapshot, snapshot * 50_000, {1: (snapshot / 2, 3.0)})
    compensation = SourceCompensation(history, 0.01)
    seen = compensation.rewind(
        Shooter(now, round_trip, 0.1, {1: view}, SentPoses()), {1: (10.0, 3.0)}
    )
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
