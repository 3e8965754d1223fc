"""Clock synchronizations in a whole match, each with the properties that it promises."""

import itertools
from dataclasses import replace
from functools import cache
from typing import Any, NamedTuple

import pytest
from support.play_links import Dropping, match
from support.recordings import few_of, few_rows

from epic_cli.engine.contract import Packet, Sample
from epic_cli.engine.strategies import create
from epic_cli.network.link_spec import TwoWays
from epic_cli.network.sender import SenderSpec
from epic_cli.play import LinkConditions, Match, MatchSpec, PlayerConfig
from epic_cli.play.clock import CLOCK_SYNCS
from epic_cli.play.run import Row, iterate_rows
from epic_cli.play.world import convert_to_seconds

STEP = 0.033

SYNCS = [name for name in CLOCK_SYNCS if name != "free-running"]


class Frame(NamedTuple):
    """A frame of A: A's time and A's estimate of the server's time, at the server's ``time``."""

    time: float
    own: float
    error: float


def played(
    name: str, seconds: float, clock: tuple[float, float] = (0.0, 1.0), **settings: Any
) -> tuple[list[Frame], Match]:
    """Play a match in which A's clock has this offset and rate."""
    offset, rate = clock
    players = (
        PlayerConfig("A", (300.0, 300.0), offset=offset, rate=rate),
        PlayerConfig("B", (600.0, 600.0)),
    )
    game = match("0 B right\n", players, clock_sync=name, **settings)
    frames = []

    def note(participant: Any) -> None:
        client = participant.client
        server_us = client.timekeeper.estimate_server_us(client.now_us)
        if participant.config.name == "A" and server_us is not None:
            error = convert_to_seconds(server_us - game.now_us)
            frames.append(Frame(game.now, client.now, error))

    game.on_frame = note
    game.run_until(seconds)
    return frames, game


def errors(frames: list[Frame], since: float) -> list[float]:
    return [abs(frame.error) for frame in frames if frame.time >= since]


def steps_back(frames: list[Frame]) -> list[float]:
    """Return the times at which A's estimate of the server's time went back, or A's time stood."""
    return [
        after.time
        for before, after in itertools.pairwise(frames)
        if after.own <= before.own or after.time + after.error < before.time + before.error
    ]


@pytest.mark.parametrize("name", SYNCS)
@few_rows(1)
@pytest.mark.parametrize(("offset", "latency"), [(-100.0, 0.2), (0.0, 0.2), (5.0, 0.0)])
def test_under_constant_latency_it_is_within_a_tick_after_five_seconds_and_stays(
    name: str, offset: float, latency: float
) -> None:
    frames, game = played(
        name, 9, (offset, 1.0), link=TwoWays.from_conditions(LinkConditions(latency=latency))
    )
    assert frames[0].time < 1.0
    assert max(errors(frames, 5)) < STEP
    of_a = [event for event in game.events if event.player == "A"]
    assert [event.what for event in of_a if event.what.startswith("clock")] in ([], ["clock set"])
    assert steps_back(frames) == []


@pytest.mark.parametrize(("name", "seed"), [(name, seed) for seed, name in enumerate(SYNCS, 1)])
def test_under_jitter_and_loss_time_never_runs_backwards(name: str, seed: int) -> None:
    link = LinkConditions(latency=0.1, jitter=0.05, loss=0.1, distribution="normal")
    frames, _ = played(name, 11, (0.5, 1.0), link=TwoWays.from_conditions(link), seed=seed)
    assert steps_back(frames) == []
    assert max(errors(frames, 6)) < 0.05 + STEP
    assert len(frames) > 300


class Stepping(Dropping):
    """A link whose delay changes at one moment."""

    def __init__(self, delays: tuple[float, float], at: float) -> None:
        super().__init__(delays[0])
        self._after, self._at = delays[1], at

    def send(self, time: float, size: float = 0) -> tuple[float, ...]:  # noqa: ARG002
        self._delay = self._delay if time < self._at else self._after
        return super().send(time)


@pytest.mark.parametrize("name", SYNCS)
@pytest.mark.parametrize("delays", few_of([(0.03, 0.2), (0.2, 0.03)], 1))
def test_after_a_step_of_the_latency_it_is_within_a_tick_again(
    name: str, delays: tuple[float, float]
) -> None:
    frames, _ = played(name, 14, trace=lambda _: Stepping(delays, 6.0))
    assert max(errors(frames, 12)) < STEP
    assert steps_back(frames) == []


@pytest.mark.parametrize("name", SYNCS)
@pytest.mark.parametrize("rate", few_of([1.01, 0.99], 1))
def test_it_follows_a_server_whose_clock_runs_at_another_rate(name: str, rate: float) -> None:
    """The clock would be off by 140 ms at the end without synchronization.

    In frames, it is off by no more than GGPO's wait and the frames between two waits.
    """
    frames, game = played(
        name, 14, (0.0, rate), link=TwoWays.from_conditions(LinkConditions(latency=0.05))
    )
    longest = {"netfox": 0.035, "lightyear": 2 * STEP, "ggpo": 0.165}[name]
    assert max(errors(frames, 5)) < longest
    assert steps_back(frames) == []
    # all of its moves are carried out: none are refused, and it is as far as it thinks it is
    assert not game.server.connections[0].refused
    held = [event.details["frames"] for event in game.events if event.what == "clock held"]
    assert bool(held) == (name == "ggpo")
    assert all((int(waited) > 0) == (rate > 1) for waited in held)


def test_a_free_running_clock_drifts_away() -> None:
    frames, _ = played(
        "free-running", 20, (0.0, 1.01), link=TwoWays.from_conditions(LinkConditions(latency=0.05))
    )
    assert frames[-1].error == pytest.approx(0.2, abs=0.01)


@cache
def drawn(name: str, offset: float) -> Row:
    """Return the final drawing of B, who runs at 8 units a second, on A's screen."""
    _, game = played(
        name, 7, (offset, 1.0), link=TwoWays.from_conditions(LinkConditions(latency=0.05))
    )
    [row] = [row for row in iterate_rows(game) if (row.view, row.player) == ("A", "B")]
    return row


@pytest.mark.parametrize("name", SYNCS)
def test_a_clock_that_is_wrong_draws_the_others_as_a_right_one_does(name: str) -> None:
    right, wrong, left_alone = drawn(name, 0.0), drawn(name, -3.0), drawn("free-running", -3.0)
    assert left_alone.status == "held"
    assert left_alone.error > 2 * wrong.error
    assert wrong.status == "interpolated"
    assert wrong.x == pytest.approx(right.x, abs=8 * 0.005)
    assert wrong.error < 8 * (0.15 + 2 * STEP)


def test_after_a_jump_the_others_are_drawn_by_the_new_time(monkeypatch: Any) -> None:
    """States, but not moves, are 1.2 s late from a moment on: lightyear's estimate jumps."""
    spied: list[list[float]] = []

    def spy(name: str, settings: Any) -> Any:
        strategy, times = create(name, settings), list[float]()
        spied.append(times)

        class Spy:
            def reset(self) -> None:
                strategy.reset()

            def update(self, packet: Packet, now: float) -> bool:
                times.append(now)
                return strategy.update(packet, now)

            def read(self, at: float) -> Sample:
                times.append(at)
                return strategy.read(at)

        return Spy()

    monkeypatch.setattr("epic_cli.play.match.create", spy)
    frames, game = played(
        "lightyear",
        12,
        trace=lambda purpose: Stepping((0.03, 1.2 if purpose == "down/A" else 0.03), 5.0),
    )
    jumps = [event for event in game.events if event.what == "clock set" and event.time > 5]
    assert jumps
    for times in spied:
        assert times == sorted(times)
    [row] = [row for row in iterate_rows(game) if (row.view, row.player) == ("A", "B")]
    assert row.error < 8 * (1.2 + 0.15 + 2 * STEP)
    assert frames[-1].error == pytest.approx(-(1.2 - 0.03) / 2, abs=2 * STEP)


def test_lightyears_clock_comes_with_its_own_delay() -> None:
    settings = MatchSpec(
        link=TwoWays.from_conditions(LinkConditions(latency=0.08, jitter=0.01)),
        send=SenderSpec(25.0),
    )
    by_hand = settings.compute_strategy_settings()["interpolation_time"]
    assert by_hand == pytest.approx(0.08 + 0.01 + 2 / 25)
    lightyears = replace(settings, clock_sync="lightyear").compute_strategy_settings()
    assert lightyears["interpolation_time"] == pytest.approx(0.09 + 1.7 / 25 + 4 * 0.01 + STEP)


def test_a_clock_sync_can_be_chosen_while_the_match_runs() -> None:
    players = (PlayerConfig("A", (300.0, 300.0), offset=2.0), PlayerConfig("B", (600.0, 600.0)))
    played = match("0 B right\n2 set clock_sync=lightyear\n", players)
    client = played.participants[0].client
    played.run_until(1.9)
    assert client.timekeeper.estimate_server_us(client.now_us) == client.now_us
    played.run_until(4)
    server_us = client.timekeeper.estimate_server_us(client.now_us)
    assert server_us is not None
    assert server_us == pytest.approx(played.now_us, abs=STEP * 1e6)
