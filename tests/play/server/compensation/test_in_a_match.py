"""The ways to rewind, in whole matches."""

import pytest

from epic_cli.play import LinkConditions, Match, MatchSpec, PlayerConfig
from epic_cli.play.server.compensation import COMPENSATIONS


def judged(name: str, **settings: object) -> tuple[int, int, set[str]]:
    """How many shots were right on the screen, how many of these hit, and how it was known."""
    link = LinkConditions(latency=0.1, jitter=0.02)
    played = Match(MatchSpec(link=link, seed=5, lag_compensation=name, **settings))  # type: ignore[arg-type]
    played.run_until(10)
    events = played.take_events()
    right = {
        (event.player, event.details["stamp"])
        for event in events
        if event.what == "predicted effect" and event.details.get("hit")
    }
    # before that, the server has no history that is as long as the delay
    shots = [event for event in events if event.what == "shot" and event.time > 0.5]
    hits = [
        event
        for event in shots
        if (event.player, event.details["stamp"]) in right and event.details["rewound"]
    ]
    of_these = [event for event in shots if (event.player, event.details["stamp"]) in right]
    return len(of_these), len(hits), {str(event.details["view"]) for event in shots}


@pytest.mark.parametrize("name", COMPENSATIONS)
def test_honest_shots_hit_where_the_server_knows_the_delay(name: str) -> None:
    right, hits, views = judged(name)
    assert right > 5
    assert hits == right
    known = {"view": {"exact"}, "mirror": {"estimated"}, "source": {"claimed"}}[name]
    assert views == known


def test_a_server_that_estimates_misjudges_a_client_whose_clock_is_off() -> None:
    """A draws B later than the server thinks; by its own word it would be believed."""
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
    played = Match(MatchSpec(link=LinkConditions(latency=latency), seed=1))
    played.run_until(3)
    for connection in played.server.connections:
        assert connection.round_trip.estimate == pytest.approx(2 * latency, abs=1e-6)
