"""Look at queues of states: by frames, by a timer, and as fast as many states wait."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from epic_cli.engine.replay.strategy_spec import StrategySpec
from epic_cli.jobs.diagnose.fitted import FittedStrategy
from epic_cli.jobs.diagnose.mechanism.compositions import INSERTS_LATE
from epic_cli.jobs.diagnose.mechanism.packet_path import find_nearest_places
from epic_cli.jobs.diagnose.mechanism.partial import find_kind
from epic_cli.jobs.diagnose.mechanism.readings import FEW
from epic_cli.jobs.diagnose.mechanism.reserves import look_at_reserves
from epic_cli.jobs.diagnose.mechanism.ticks import TICKS, find_ticks
from epic_cli.jobs.diagnose.mechanism.waypoints import iterate_waypoint_queues

if TYPE_CHECKING:
    from epic_cli.jobs.diagnose.frames import Frames
    from epic_cli.jobs.diagnose.mechanism.state import SearchState

#: Phases of a timer that are tried, and how much faster a queue is played for each waiting state.
PHASES, RATES = 10, (0.1, 0.5, 1.0)

#: How much faster a queue of equal times is played, from which number of states on, and how many
#: must wait when it was empty.
FILLS: dict[str, tuple[Any, ...]] = {
    "catch_up_rate": (0.05, 0.1, 0.25), "catch_up_from": (1, 2, 3), "min_buffer": (1, 2, 3),
}  # fmt: skip

#: The most states that wait in such a queue, the largest distance of its frames to the path (usual
#: steps), and the largest errors of its speed and of one that no waiting state changes, as a share.
WAITING, BESIDE, STEADY, CONSTANT = 16, 0.01, 0.02, 0.03

#: Ticks of such a timer, and how many states may wait then; they are shorter than this share of it.
TIMED: tuple[dict[str, Any], ...] = tuple(
    {"every": every, "tick_time": "own", "max_buffer": most}
    for every in (1 / 60, 1 / 50, 1 / 30)
    for most in (2, 0)
)
FEWER = 0.8

#: Kinds of frames for which ticks are tried, and the distance of phases that are (s).
BETWEEN, FINE = ("path", "two-states"), 0.001

#: A timer that is this long, in frames, may bend the path each other time; and how near a usual
#: length one is.
LONG, NEAR = 4.0, 0.005

#: Numbers of states between which a game may clamp its own time.
CLAMPS = (2, 3)


def look_at_queues(search: SearchState) -> None:
    """Look at queues that are played by frames, until one is exact."""
    if search.results.is_settled:
        return
    for interval in (None, *TICKS):
        if not search.results.is_exact:
            queue = {"catch_up": "queue", "interval": interval}
            search.look_at([search.variants.change(StrategySpec("buffer", {}), queue)])
    if not search.results.is_exact:
        search.look_at(list(iterate_waypoint_queues(search.frames, search.exact)))
    for stamps, states in itertools.product(({}, {"stamps": "ticks"}), CLAMPS):
        if not search.results.is_exact:
            clamped = {**stamps, "delay": 0.0, "catch_up": "clamp", "keep": states}
            search.look_at([StrategySpec("buffer", clamped)])
    look_at_reserves(search)


def look_at_timed_queues(search: SearchState) -> None:
    """Look at queues by a timer, unless what is drawn by the stamps is found."""
    frames, results = search.frames, search.results
    if results.is_settled:
        return
    order = {} if frames.taken is None else INSERTS_LATE
    kind = find_kind(frames.taken or frames, search.exact, ["linear"])
    ticks = find_ticks(frames, search.exact)  # those at which the path bends, if any
    usual = _find_usual_length(frames.interval)
    length = usual if ticks is None else ticks.every
    beats = [length, length / 2] if ticks is not None and length > LONG * frames.frame else [length]
    for length in beats:
        usual = _find_usual_length(length)
        beat = usual if abs(usual / length - 1) < NEAR else length
        if not results.is_exact:
            timed = {"stamps": "ticks", **order, "catch_up": "timed-queue", "interval": beat}
            # one beat up, so that a fit can go below 0
            phases = np.linspace(beat, 2 * beat, PHASES, endpoint=False).tolist()
            found = FittedStrategy(StrategySpec("buffer", {**timed, "phase": beat}))
            found = search.comparison.fit(search.comparison.search(found, "phase", phases, 6), 2)
            phase = float(found.candidate.settings["phase"]) % beat
            results.add(search.comparison.measure_error(found.change({"phase": phase})))
    beat = _find_usual_length(frames.interval)
    for ticked in TIMED if kind in BETWEEN else ():
        if not results.is_settled and ticked["every"] < FEWER * beat:
            timed = {"stamps": "ticks", **order, "catch_up": "timed-queue", "interval": beat}
            found = FittedStrategy(StrategySpec("buffer", {**timed, **ticked}))
            phases = np.arange(0.0, beat, FINE).tolist()
            for tick in search.variants.ticks[:1]:  # that frames which stand show
                phases += np.arange(tick["phase"], beat, tick["every"]).tolist()
            results.add(search.comparison.search(found, "phase", sorted(phases), 10))


def _find_usual_length(length: float) -> float:
    """Return the length of a timer that games have, the nearest one (s)."""
    return min(TICKS, key=lambda tick: abs(tick - length))


def look_at_fills(search: SearchState) -> None:
    """Look at queues that are played as fast as many states wait, unless one is found."""
    if search.results.is_settled:
        return
    fill = {"catch_up": "fill", "still": "skip", "pace": 0.95}
    found = FittedStrategy(StrategySpec("buffer", fill))
    found = search.comparison.search(found, "catch_up_rate", RATES, 0)
    order = {} if search.frames.taken is None else INSERTS_LATE
    interval = _find_usual_length(search.frames.interval)
    even = {"stamps": "ticks", "interval": interval, **order, "catch_up": "fill", "still": "skip"}
    for settings in _iterate_even_fills(search.frames.taken or search.frames):
        if not search.results.is_exact:
            search.look_at([StrategySpec("buffer", {**even, **settings})])
    refilled = [
        search.comparison.measure_error(
            FittedStrategy(StrategySpec("buffer", even | dict(zip(FILLS, counts, strict=True))))
        )
        for counts in itertools.product(*FILLS.values())
    ]
    for one in (found, min(refilled, key=lambda one: one.apart)):
        search.results.add(search.comparison.fit(one, 6, ("pace", "catch_up_rate")))


def _iterate_even_fills(frames: Frames) -> Iterator[dict[str, float]]:
    """Yield the time of a state, and the rate for each that waits, of queues that frames show.

    The speed (states/s) is (1 + rate * (waiting - 1)) / time, and ways without movement take none.
    """
    frames = frames.drop_repeated()
    before = frames.newest - 1
    places, beside = find_nearest_places(
        frames.positions, frames.drawn, before, range(0, -WAITING, -1)
    )
    states = np.floor(places)
    inside = (beside < BESIDE * frames.unit) & (np.abs(places - states - 0.5) < 0.499)
    same = (np.diff(states) == 0) & inside[1:] & inside[:-1] & frames.settled[1:]
    waiting = (frames.newest - states)[1:][same]
    speed = (np.diff(places) / np.diff(frames.times))[same]
    if len(speed) < FEW or not np.ptp(waiting):
        return
    weights = np.ones(len(speed))
    for _ in range(4):
        parts = np.stack((weights, waiting * weights), axis=1)
        base, slope = np.linalg.lstsq(parts, speed * weights, rcond=None)[0].tolist()
        off = np.abs(base + slope * waiting - speed)
        weights = 1 / np.sqrt(np.maximum(off, np.median(off) + 1e-9))
    first = base + slope
    if first > 0 and slope > CONSTANT * first and np.median(off) < STEADY * np.median(speed):
        rate = float(f"{slope / first:.2g}")
        yield {"interval": 1 / first, "catch_up_rate": rate}
