"""Read frames that show received states as they are: a queue, or a buffer without a curve."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from epic_cli.engine.replay.strategy_spec import StrategySpec
from epic_cli.jobs.diagnose.mechanism.compositions import INSERTS_LATE, add_settings
from epic_cli.jobs.diagnose.mechanism.readings import FEW, MOSTLY
from epic_cli.jobs.diagnose.mechanism.restarting_ticks import find_restarting_tick
from epic_cli.jobs.diagnose.mechanism.ticks import TICKS, find_ticks
from epic_cli.metrics.arrays import compute_lengths

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from epic_cli.jobs.diagnose.frames import Frames
    from epic_cli.jobs.diagnose.mechanism.clocks import TimeAxis

#: The most states behind the newest one that a frame may show, and the frames that are tried first.
BEHIND, TRIED = 256, 60

#: Least share of the frames on a state of a queue that goes on by itself where it is empty.
OFTEN = 0.3

#: Clocks, those that fit best, that are tried for a buffer that shows states as they are.
FITTING = 4


def find_shown_states(
    frames: Frames, exact: float, least: float = MOSTLY
) -> NDArray[np.int_] | None:
    """Return the index of the state that each frame shows (m), -1 for none.

    None if less than that share of the frames is on a state. A difference up to ``exact`` is none
    (length).
    """
    some = np.linspace(0, len(frames.times) - 1, TRIED).astype(int)
    if (_find_states(frames, some, exact) >= 0).mean() < least:
        return None
    shown = _find_states(frames, np.arange(len(frames.times)), exact)
    return shown if (shown >= 0).mean() >= least else None


def _find_states(frames: Frames, at: NDArray[np.int_], exact: float) -> NDArray[np.int_]:
    """Return the newest state that each frame ``at`` an index shows; -1 for none."""
    newest, drawn = frames.newest[at], frames.drawn[at]
    shown = np.full(len(at), -1)
    for behind in range(BEHIND):
        open_ = np.flatnonzero((shown < 0) & (newest >= behind))
        if not len(open_):
            break
        states = newest[open_] - behind
        on = compute_lengths(frames.positions[states] - drawn[open_]) <= 2 * exact
        shown[open_[on]] = states[on]
    return shown


def iterate_shown_states(
    frames: Frames, every: list[TimeAxis], exact: float
) -> Iterator[StrategySpec]:
    """Yield strategies that may show the states as the frames do, if these are on states."""
    for takes_late, view in frames.iterate_views():
        shown = find_shown_states(view, exact, OFTEN)
        if shown is None or (shown == view.newest).mean() > MOSTLY:
            continue
        order = {"stamps": "arrival", **INSERTS_LATE} if takes_late else {}
        for spec in _iterate_tick_queues(view, shown, exact):
            yield add_settings(spec, order)
        if (shown >= 0).mean() < MOSTLY:
            continue
        steps = np.diff(shown)[shown[:-1] >= 0]
        if np.isin(steps, (0, 1)).mean() > MOSTLY:
            yield from _iterate_queues(view, shown, takes_late)
        if not takes_late:
            yield from _iterate_buffers(view, shown, every)


def _iterate_queues(
    frames: Frames, shown: NDArray[np.int_], takes_late: bool
) -> Iterator[StrategySpec]:
    """Yield queues of which each frame, or each period, takes the next state."""
    order = {"stamps": "arrival", **(INSERTS_LATE if takes_late else {})}
    # where a state is left, the queue is as short as it may be; of two in one place none is told
    moves = np.append(np.diff(frames.positions, axis=0).any(axis=1), True)[shown]
    waiting = (frames.newest - shown)[:-1][(np.diff(shown) == 0) & moves[:-1]]
    least = int(np.quantile(waiting, 1 - MOSTLY)) if len(waiting) else 0
    reserve = {"reserve": least} if least > 0 else {}
    yield StrategySpec("buffer", {**order, "catch_up": "dequeue", **reserve})
    changed = frames.times[1:][np.diff(shown) == 1]
    if len(changed) > FEW:
        usual = float(np.median(np.diff(changed)))
        for interval in sorted(TICKS, key=lambda tick: abs(tick - usual))[:2]:
            queue = {"catch_up": "queue", "interval": interval, "between": "hold"}
            yield StrategySpec("buffer", {**order, **queue, **reserve})


def _iterate_tick_queues(
    frames: Frames, shown: NDArray[np.int_], exact: float
) -> Iterator[StrategySpec]:
    """Yield queues of which each tick takes the next state."""
    ticks, tick = find_ticks(frames, exact), find_restarting_tick(frames, frames.newest > shown)
    clocks: list[dict[str, Any]] = [{"every": tick, "phase": "step"}] if tick else []
    clocks += [{"every": tick, "phase": "frame"}] if tick else []
    clocks += [ticks.settings] if ticks is not None and not ticks.smooth else []
    waiting, steps = (frames.newest - shown)[1:], np.diff(shown)
    jumps = (steps > 1) & (shown[:-1] >= 0) & (shown[1:] >= 0)
    keep = {"keep": int(np.median(waiting[jumps])) + 2} if jumps.sum() > FEW else {}
    for clock, empty in itertools.product(clocks, ({}, {"beyond": "repeat"})):
        yield StrategySpec("buffer", {"catch_up": "dequeue", **clock, **keep, **empty})


def _iterate_buffers(
    frames: Frames, shown: NDArray[np.int_], every: list[TimeAxis]
) -> Iterator[StrategySpec]:
    """Yield buffers that show the state before until the next, by the clocks that fit best.

    A state is shown once it is as old as the delay, and was younger in the frame before, if it was
    there.
    """
    change = np.flatnonzero((np.diff(shown) > 0) & (shown[:-1] >= 0)) + 1
    # of states in one place none tells when it is shown
    moves = compute_lengths(np.diff(frames.positions, axis=0, prepend=frames.positions[:1])) > 0
    change = change[frames.settled[change] & moves[shown[change]]]
    before = change[shown[change] <= frames.newest[change - 1]] - 1
    if len(change) < FEW or not len(before):
        return
    found = []
    for axis in every:
        old, young = (
            frames.times[at] - axis.offsets[frames.newest[at]] - axis.stamps[shown[of]]
            for at, of in ((change, change), (before, before + 1))
        )
        low, high = young.max(), old.min()
        if low > high:
            low, high = np.quantile(young, MOSTLY), np.quantile(old, 1 - MOSTLY)
        found.append((max(float(low - high), 0.0), float(low + high) / 2, axis.settings))
    for _, delay, settings in sorted(found, key=lambda each: each[0])[:FITTING]:
        yield StrategySpec("buffer", {**settings, "delay": max(delay, 0.0), "between": "hold"})
