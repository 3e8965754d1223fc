"""The data that a buffer had in its frames, and the delay that it needs."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from epic_cli.engine.replay.strategy_spec import StrategySpec
from epic_cli.engine.strategies import get_declaration
from epic_cli.jobs.diagnose.mechanism.clocks import make_time_axis
from epic_cli.jobs.diagnose.mechanism.compositions import CLOCKLESS, draws_last_two_states
from epic_cli.jobs.diagnose.settings import compute_used_values
from epic_cli.metrics.arrays import compute_lengths
from epic_cli.network.link import are_clocks_apart

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from epic_cli.jobs.diagnose.frames import Frames
    from epic_cli.jobs.diagnose.mechanism.clocks import TimeAxis
    from epic_cli.metrics.arrays import Floats

#: Shortest silence in send intervals, and the most usual steps that the entity moves in it.
SILENT, RESTS = 3.0, 2.0

#: A buffer that is empty in more of the frames shows no past.
NEARLY_ALWAYS = 0.9

#: Ticks that differ by less from the packets' interval, as a share of it, are as long.
LIKE_PACKETS = 0.02

#: A shorter delay behind the newest packet, as a share of the interval, is none.
NO_DELAY = 0.1

#: Numbers that no game has (s): an offset of clocks that do not differ so, and longer times of a
#: mean clock and of a jitter.
ODD_OFFSET, ODD_MEAN, ODD_JITTER = 1.0, 10.5, 60.0

#: The goals of a chase that a velocity leads.
BY_VELOCITY = ("velocity", "arrival", "interval", "fixed")


class Supply(NamedTuple):
    """The data that a buffer had in its frames, except silences at rest and the end.

    ``empty``: the share of the frames later than the newest packet (NaN: of a buffer that does not
    snap to its clock); ``wait``: the usual delay; ``needed``: the delay for 99 % of the frames;
    ``unsteady``: the distance of the clock's 5 % and 95 % (without a drift), or of the arrivals'
    behind the stamps; ``grown``: its delay when it has settled and at the end. All but the first in
    seconds. ``apart``: the stamps are taken as they are, though the clocks disagree.
    """

    empty: float
    wait: float
    needed: float
    unsteady: float
    grown: tuple[float, float]
    apart: bool


def convert_to_seconds(span: float, interval: float) -> float:
    """Convert a time to seconds; a negative number counts send intervals."""
    return span if span >= 0 else -span * interval


def mark_watched_frames(frames: Frames) -> NDArray[np.bool_]:
    """Return the frames (m) that a buffer must cover: settled frames, without silences at rest."""
    silent = np.append(_mark_silences(frames), True)  # nothing comes after the last packet
    return np.asarray(frames.settled & ~silent[frames.newest])


def compute_needed_delays(frames: Frames, axis: TimeAxis, curve: str) -> Floats:
    """Return the delay (m; s) with which each frame has a newer state to draw towards."""
    needed = frames.times - axis.offsets[frames.newest] - axis.stamps[frames.newest]
    # a Catmull-Rom curve goes by the state behind the next one, too
    return np.asarray(needed + frames.interval if curve == "catmull-rom" else needed)


def measure_supply(frames: Frames, strategy: StrategySpec) -> Supply | None:
    """Return the data that a buffer had; None if nothing was sent, or for a chase."""
    counted = mark_watched_frames(frames)
    if strategy.name != "buffer" or not counted.any():
        return None
    if strategy.values["catch_up"] in CLOCKLESS:
        return None
    words, interval = strategy.values, frames.interval
    used: dict[str, Any] = get_declaration("buffer").converted(words)
    delay = convert_to_seconds(used["delay"], interval)
    axis = make_time_axis(frames, strategy.settings)
    arrivals, newest = frames.arrivals, frames.newest[counted]
    offsets = axis.offsets if words["stamps"] == "sender" else arrivals - frames.stamps
    drift = np.polyfit(arrivals, offsets, 1) if len(arrivals) > 2 else np.zeros(2)
    wander = np.ptp(np.quantile(offsets - np.polyval(drift, arrivals), (0.05, 0.95)))
    low, high = (convert_to_seconds(used[key], interval) for key in ("delay_least", "delay_most"))
    wait = np.clip(delay + used["jitter_margin"] * axis.jitter[newest], low, max(low, high))
    times = arrivals[newest] if used["every"] < 0 else frames.times[counted]  # once a packet
    missed = times - axis.offsets[newest] - axis.stamps[newest] > wait
    empty, grown = float(missed.mean()), (delay, delay)
    if words["catch_up"] != "snap":  # it is not where its clock says
        empty = math.nan
    if words["catch_up"] == "none":
        sent = arrivals if words["stamps"] == "arrival" else frames.stamps
        shown = [float(axis.stamps[0] - delay)]
        for elapsed, known in zip(np.diff(arrivals), axis.stamps[:-1], strict=True):
            shown.append(min(shown[-1] + elapsed, known))
        ages = arrivals - np.interp(shown, axis.stamps, sent) - (arrivals[0] - sent[0])
        grown = ages[newest[0]].item(), ages[-1].item()
    needed = float(
        np.quantile(compute_needed_delays(frames, axis, str(words["curve"]))[counted], 0.99)
    )
    plain = words["stamps"] == "sender" and words["clock"] == "agree"
    apart = plain and are_clocks_apart(float((arrivals - frames.stamps).min()))
    return Supply(empty, float(np.median(wait)), needed, float(wander), grown, apart)


def make_plain_chase(strategy: StrategySpec, interval: float) -> StrategySpec | None:
    """Return the chase that goes as the smoothing on top of a buffer without a delay; else None."""
    if strategy.name != "buffer":
        return None
    settings = compute_used_values(strategy)
    follow, late = settings["follow"], convert_to_seconds(settings["delay"], interval)
    shares = follow == "share"
    if late > NO_DELAY * interval or not (shares or settings["low_pass"] > 0) or follow == "speed":
        return None
    number = {"share": settings["follow_share"]} if shares else {"time": settings["low_pass"]}
    return StrategySpec("chase", {"how": follow, **number})


def is_exotic(frames: Frames, strategy: StrategySpec) -> bool:
    """Return True for a way of drawing that few games have, beside delays, arrivals and chases.

    A buffer that is nearly always empty, behind a low-pass, is a chase in other words, and a chase
    in ticks that are as long as the packets' interval a buffer. One at no speed goes nowhere, and
    no game has a velocity that packets do not carry, or a number that a fit alone finds.
    """
    settings = compute_used_values(strategy)
    odd = _has_odd_numbers(frames, settings)
    if strategy.name == "chase":
        stands = settings["how"] == "speed" and settings["speed"] == 0
        # in ticks of the packets, which any buffer shows
        apart = abs(settings["every"] - frames.interval)
        like_packets = settings["between"] == "lerp" and apart < LIKE_PACKETS * frames.interval
        overdone = settings["drift"] > 1  # which a goal that is ahead does, too
        moves = settings["drift"] or settings["ahead"] in BY_VELOCITY
        unsent = moves and settings["velocity"] == "sent" and not frames.has_velocities
        return bool(odd or stands or like_packets or overdone or unsent)
    counts = settings["stamps"] == "ticks"
    delay = convert_to_seconds(settings["delay"], frames.interval)
    shows_newest = settings["between"] == "hold" and delay < NO_DELAY * frames.interval
    if odd or (counts and not draws_last_two_states(settings, frames.interval)):
        return True
    if settings["catch_up"] != "snap" or shows_newest:
        return True
    follows = settings["low_pass"] > 0 or settings["follow"] == "share"
    if not follows or settings["beyond"] > 0:
        return False
    supply = measure_supply(frames, strategy)
    if delay < NO_DELAY * frames.interval and make_plain_chase(strategy, frames.interval):
        return True
    return supply is not None and supply.empty > NEARLY_ALWAYS


def _has_odd_numbers(frames: Frames, settings: Mapping[str, Any]) -> bool:
    """Return True for numbers that no programmer writes, but a fit to other drawings finds."""
    offset = settings.get("age_offset", 0.0)
    apart = offset and abs(offset - frames.clock_offset) > ODD_OFFSET
    time = settings.get("clock_time", 0.0)
    means = settings.get("clock") == "mean" and ODD_MEAN < time < math.inf
    deviates = settings.get("jitter_margin", 0.0) > 0 and settings["jitter_time"] > ODD_JITTER
    return bool(apart or means or deviates)


def _mark_silences(frames: Frames) -> NDArray[np.bool_]:
    """Mark the intervals (n - 1) in which nothing was sent because nothing moved."""
    far = compute_lengths(np.diff(frames.positions, axis=0))
    long = np.diff(frames.stamps) > SILENT * frames.interval
    return np.asarray(long & (far <= RESTS * frames.unit))
