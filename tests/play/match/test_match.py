"""The match: machines with their own clocks, and changes while it runs."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.play_links import dropping, match

from epic_cli.network.link_spec import TwoWays
from epic_cli.network.sender import SenderSpec
from epic_cli.play import LinkConditions, Match, MatchSpec, PlayerConfig
from epic_cli.play.run import iterate_rows


def ticks(played: Match, end: float) -> list[float]:
    """Return the times at which the server has sent states, to the millisecond."""
    times, before = [], played.server.snapshot
    for step in range(round(played.now * 1000), round(end * 1000)):
        played.run_until(step / 1000)
        assert played.now == step / 1000
        if played.server.snapshot > before:
            times.append(step / 1000)
        before = played.server.snapshot
    return times


@pytest.mark.parametrize("rate", [4.0, 7.0, 40.0])
def test_another_send_rate_counts_from_the_tick_that_is_due(rate: float) -> None:
    played = match(f"0 A right\n1.52 set send={rate:g}hz\n", trace=dropping())
    played.run_until(1.501)
    times = ticks(played, 5)
    assert times[0] == 1.55
    gaps = [after - before for before, after in itertools.pairwise(times)]
    assert gaps == pytest.approx([1 / rate] * len(gaps), abs=0.0011)
    assert len(gaps) == pytest.approx(3.45 * rate, abs=1)


@pytest.mark.parametrize("offset", [-100.0, -0.01, 0.0, 5.0])
def test_a_clock_that_is_wrong_changes_nothing_that_is_seen(offset: float) -> None:
    drawn = []
    for ahead in (0.0, offset):
        players = (
            PlayerConfig("A", (300.0, 300.0), offset=ahead),
            PlayerConfig("B", (303.0, 300.3)),
        )
        played = match("0 A right\n", players, trace=dropping(), remote_strategy="dumb-terminal")
        played.run_until(2)
        drawn.append([row[:8] for row in iterate_rows(played)])
    assert drawn[0] == drawn[1]


def test_each_machine_makes_its_frames_at_its_own_rate() -> None:
    players = (PlayerConfig("A", (300.0, 300.0)), PlayerConfig("B", (600.0, 600.0), rate=2.0))
    frames: list[str] = []
    played = match(players=players, trace=dropping())
    played.on_frame = lambda participant: frames.append(participant.config.name)
    played.run_until(3.3)
    assert frames.count("A") == 101
    assert frames.count("B") == 200


@given(
    st.floats(0, 0.5), st.floats(0, 0.2), st.sampled_from([5.0, 20.0, 60.0]), st.booleans()
)  # fmt: skip
def test_a_delay_covers_the_link_and_two_periods(
    latency: float, jitter: float, rate: float, chosen: bool
) -> None:
    link = LinkConditions(latency=latency, jitter=jitter)
    own = (("interpolation_time", 0.3),) if chosen else ()
    spec = MatchSpec(link=TwoWays(link, link), send=SenderSpec(rate), remote_settings=own)
    assert spec.view_delay == pytest.approx(0.3 if chosen else latency + jitter + 2 / rate)
