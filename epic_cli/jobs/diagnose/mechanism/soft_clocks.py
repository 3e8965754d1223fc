"""Read buffers whose drawn time catches up: at a rate, outside of a dead zone, or by a share."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from epic_cli.engine.replay.strategy_spec import StrategySpec
from epic_cli.jobs.diagnose.mechanism.packet_path import find_nearest_places
from epic_cli.jobs.diagnose.mechanism.readings import FEW, separate
from epic_cli.metrics.arrays import compute_lengths

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from epic_cli.jobs.diagnose.frames import Frames
    from epic_cli.jobs.diagnose.mechanism.clocks import TimeAxis
    from epic_cli.metrics.arrays import Floats

#: Pieces of the path before the newest state in which a frame is sought; the farthest from it, in
#: usual steps.
REACH, BESIDE = 12, 0.01

#: A speed is even within this; rates of catching up are below the second number.
EVEN, FASTEST = 0.004, 0.6

#: Fewest frames that catch up, and the least shares of them that do so at one rate, or a lower one:
#: the last step of a way to the clock is shorter.
SOME, ALIKE, WITHIN = 3, 0.3, 0.9
#: The quantile of the rates that is the usual one.
FULL = 0.85

#: The quantile of the rates that is their limit, and the least share of the frames that go by it.
FASTER, LIMITED = 0.97, 0.05

#: Least mean correction (s) that tells what it follows, and the most of it that is left.
LEAST_CHANGE, FOLLOWS = 5e-5, 0.15

#: Errors (s) beyond which such a clock is set, in the code of games.
LIMITS = (0.1, 0.25)

#: A clock is as likely as the best if it is not more often wrong than this multiple, and share.
MUCH, SLIGHT = 2.0, 0.02

#: Clocks, the likeliest, for which a buffer is returned; dead zones below this (s) are none.
CLOCKS, NARROW = 3, 1e-3


def iterate_soft_clocks(frames: Frames, every: list[TimeAxis]) -> Iterator[StrategySpec]:
    """Yield buffers whose drawn time catches up as the frames show it, if they do."""
    sent, seen = _find_sent_times(frames)
    yield from _iterate_following_clocks(frames, every, sent, seen)
    yield from _iterate_rates(frames, every, sent, seen)


def _iterate_following_clocks(
    frames: Frames, every: list[TimeAxis], sent: Floats, seen: NDArray[np.bool_]
) -> Iterator[StrategySpec]:
    """Yield buffers whose drawn time goes a share of its error in each frame, or a second."""
    span = np.diff(frames.times)
    change = np.diff(sent) - span
    told = seen[1:] & seen[:-1] & frames.settled[1:] & (np.abs(change) < FASTEST * span)
    usual = np.abs(change[told]).mean() if told.any() else 0.0
    if told.sum() < FEW or usual < LEAST_CHANGE:
        return
    paces = np.abs(change) / span
    limit: dict[str, float] = {}
    for most in np.quantile(paces[told], (FASTER, FULL)).tolist():
        slight = 0.03 * most + EVEN / 2
        if not limit and (np.abs(paces[told] - most) < slight).mean() > LIMITED:
            limit = {"catch_up_most": most}
            told &= paces < most - 2 * slight
    usual = np.abs(change[told]).mean() if told.any() else 0.0
    if told.sum() < FEW or usual < LEAST_CHANGE:
        return
    found = []
    for words, goal in _iterate_goals(frames, every):
        # the age of what would be drawn next, without a correction
        age = goal[1:] - (sent[:-1] + span)
        for how, unit in (("share", np.ones(len(span))), ("lerp", span)):
            parts = np.stack((age * unit, unit), axis=1)[told]
            weights = np.ones(len(parts))
            for _ in range(3):
                rate, level = np.linalg.lstsq(
                    parts * weights[:, None], change[told] * weights, rcond=None
                )[0]
                off = np.abs(parts @ (rate, level) - change[told])
                weights = 1 / np.sqrt(np.maximum(off, np.median(off) + 1e-9))
            if np.median(off) < FOLLOWS * usual and rate > 0:
                settings = {**words, "delay": max(-float(level / rate), 0.0)}
                settings |= {"catch_up": how, "catch_up_rate": float(rate), **limit}
                found.append((float(off.mean()), StrategySpec("buffer", settings)))
    found.sort(key=lambda one: one[0])
    yield from (spec for _, spec in found[: 2 * CLOCKS])


def _iterate_rates(
    frames: Frames, every: list[TimeAxis], sent: Floats, seen: NDArray[np.bool_]
) -> Iterator[StrategySpec]:
    """Yield buffers that catch up at the one rate that the frames show, if they show one."""
    span = np.diff(frames.times)
    speed = np.diff(sent) / np.maximum(span, 1e-9) - 1
    seen = seen[1:] & seen[:-1] & frames.settled[1:]
    off = np.abs(speed)
    catching = seen & (off > EVEN) & (off < FASTEST)
    if catching.sum() < SOME:
        return
    rate = float(np.quantile(off[catching], FULL))
    slight = 0.03 * rate + EVEN / 2
    alike = np.abs(off - rate) < slight
    if alike[catching].mean() < ALIKE or (off[catching] < rate + slight).mean() < WITHIN:
        return
    even, fast, slow = (
        seen & (off < EVEN), catching & alike & (speed > 0), catching & alike & (speed < 0),
    )  # fmt: skip
    leaps = seen & (off >= FASTEST)
    found = []
    for words, goal in _iterate_goals(frames, every):
        # the age of what would be drawn next, without a correction
        age = goal[1:] - (sent[:-1] + span)
        high, missed = separate(age[even | slow], age[fast])
        low, wrong = separate(-age[even | fast], -age[slow])
        low = -low
        delay, near = (high + low) / 2, max((high - low) / 2, 0.0)
        settings: dict[str, Any] = {
            **words, "delay": max(delay, 0.0), "catch_up": "rate", "catch_up_rate": rate,
        }  # fmt: skip
        if near > NARROW:
            settings["catch_up_near"] = near
        error = np.abs(age - delay)
        if leaps.any() and (limit := separate(error[seen & ~leaps], error[leaps])[0]) > near:
            settings["catch_up_limit"] = limit
        found.append((missed + wrong, StrategySpec("buffer", settings)))
    found.sort(key=lambda one: one[0])
    most = MUCH * found[0][0] + SLIGHT
    for _, spec in [one for one in found[:CLOCKS] if one[0] <= most]:
        for empty in ({}, {"when_empty": "run"}):
            settings = {**spec.settings, **empty}
            yield StrategySpec("buffer", settings)
            for limit in LIMITS:  # which shows in frames that are at the newest state
                yield StrategySpec("buffer", {**settings, "catch_up_limit": limit})


def _iterate_goals(
    frames: Frames, every: list[TimeAxis]
) -> Iterator[tuple[Mapping[str, Any], Floats]]:
    """Yield what the drawn time follows, a delay later, in each frame (m; s), and its settings.

    It is that of a clock, also of one that counts from the frame before the newest packet, or the
    stamp of the newest state.
    """
    for axis in every:
        yield axis.settings, frames.times - axis.offsets[frames.newest]
    begun = frames.times[np.maximum(np.searchsorted(frames.times, frames.arrivals) - 1, 0)]
    last = (begun - frames.stamps)[frames.newest]
    yield {"clock": "newest", "start": "last"}, frames.times - last
    yield {"delay_from": "newest"}, frames.stamps[frames.newest]


def _find_sent_times(frames: Frames) -> tuple[Floats, NDArray[np.bool_]]:
    """Return when the state that each frame shows was sent (m; s), and where that is sure.

    Frames lie on straight lines between the states, before the newest one.
    """
    path, before = frames.positions, frames.newest - 1
    places, least = find_nearest_places(path, frames.drawn, before, range(0, -REACH, -1))
    sent = np.interp(places, np.arange(len(path)), frames.stamps)
    inside = np.abs(places % 1 - 0.5) < 0.499
    moving = compute_lengths(np.diff(path, axis=0))[before] > 0.3 * frames.unit
    return sent, inside & moving & (least < BESIDE * frames.unit)
