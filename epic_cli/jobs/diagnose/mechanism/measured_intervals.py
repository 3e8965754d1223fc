"""Read ways that take a measured interval: how it is measured, limited and averaged."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from epic_cli.jobs.diagnose.frames import move_to_frames
from epic_cli.jobs.diagnose.mechanism.readings import FEW, MOSTLY
from epic_cli.jobs.diagnose.mechanism.ways import EASES, read_curve
from epic_cli.metrics.arrays import compute_lengths

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from epic_cli.jobs.diagnose.frames import Frames
    from epic_cli.metrics.arrays import Floats

#: A measured interval is at least this long (s), as in ``chase`` and ``buffer``.
LEAST_PERIOD = 1e-6

#: The time (s) in which nothing seems to move.
STAYS = 60.0

#: Shares of the newest interval in a mean.
SHARES = (0.05, 0.1, 0.2, 0.25, 0.3, 0.5)

#: Intervals that differ by less, as a share of them, are the same; and the least fractions of the
#: way, and of the usual step, that tell the interval.
ALIKE, TOLD, AWAY = 0.02, 0.1, 0.1


#: The limits of an interval that it may have nearly always.
LIMITS = ("interval_least", "interval_most")


class MeasuredWay(NamedTuple):
    """The time (m; s) since the newest packet, and the interval measured at each packet (n; s).

    ``settings`` say how both are measured.
    """

    settings: dict[str, Any]
    since: Floats
    measured: Floats


def iterate_measured_ways(frames: Frames) -> Iterator[MeasuredWay]:
    """Yield ways of measuring the time from packet to packet, and since the newest one."""
    begins, arrivals = frames.taking, frames.arrivals
    taken = move_to_frames(arrivals, frames.times, frames.frame)
    before = frames.times[np.maximum(np.searchsorted(frames.times, taken) - 1, 0)]
    for measure, at in (
        ("frames", taken), ("steps", before), ("arrivals", arrivals), ("stamps", frames.stamps)
    ):  # fmt: skip
        measured = np.diff(at, prepend=at[0])
        for start, begun in (
            ("last", frames.times[np.maximum(begins - 1, 0)]),
            ("drawn", arrivals[frames.newest]),
            ("frame", frames.times[begins]),
        ):
            settings = {"time": "1i", "interval": measure}
            settings |= {"start": start} if start != "drawn" else {}
            yield MeasuredWay(settings, frames.times - begun, measured)


def compute_intervals(measured: Floats, settings: Mapping[str, Any]) -> Floats:
    """Return intervals (n; s) that are limited and averaged as ``chase`` does it."""
    least, late = settings.get("interval_least", LEAST_PERIOD), settings.get("interval_late", 0.0)
    share = settings.get("interval_share", 1.0)
    known = np.where((measured > 0) | (late == 0), measured, late)
    if share < 1:
        mean, found = 0.0, []
        for one in known.tolist():
            mean = mean + (one - mean) * share if mean > least else one
            found.append(mean)
        known = np.array(found)
    return np.clip(known, least, max(settings.get("interval_most", math.inf), least))


def iterate_measured_chases(frames: Frames) -> Iterator[tuple[dict[str, Any], Floats]]:
    """Yield chases over a measured time: their settings, and how far off each frame is (m, 3)."""
    begins = frames.taking
    start = frames.drawn[np.maximum(begins - 1, 0)]
    last = np.concatenate((frames.drawn[:1], frames.drawn[:-1]))
    elapsed = np.diff(frames.times, prepend=frames.times[0])
    newest = frames.positions[frames.newest]
    speed = frames.velocities[frames.newest]
    apart = frames.clock_offset
    words = {"age_offset": apart} if apart else {}
    old = (frames.arrivals - frames.stamps - apart)[frames.newest][:, None]
    goals: list[tuple[dict[str, Any], Floats]] = [
        ({}, newest), ({"ahead": "arrival", **words}, newest + speed * old)
    ]  # fmt: skip
    if old.min() < 0:
        absolute = {"ahead": "arrival", "age": "absolute"}
        goals.append((absolute, newest + speed * np.abs(old)))
    for way in iterate_measured_ways(frames):
        plain = compute_intervals(way.measured, {})[frames.newest]
        one_interval: dict[str, Any] = {"ahead": "interval", "ahead_time": "unlimited"}
        led = one_interval, newest + speed * plain[:, None]
        kinds = [("linear", start, way), ("growing", last, way)]
        if "start" not in way.settings:  # a frame's share is the same whenever the way began
            kinds.append(("lerp", last, way._replace(since=elapsed)))
        for how, begin, part in kinds:
            for ahead, goal in (*goals, led):
                for limits in ({}, *iterate_limits(frames, part, begin, goal)):
                    most = limits.get("overshoot", 1.0)
                    most = math.inf if most == "on" else most
                    lasts = compute_intervals(way.measured, limits)[frames.newest]
                    u = np.clip(part.since / lasts, 0, most)[:, None]
                    off = begin + (goal - begin) * u - frames.drawn
                    yield {"how": how, **way.settings, **limits, **ahead}, off
            if how == "linear":
                u = np.clip(way.since / plain, 0, 1)
                for ease, curve in EASES.items():
                    if ease != "linear":
                        off = (
                            begin + (newest - begin) * read_curve(curve, u)[:, None] - frames.drawn
                        )
                        yield {"how": "eased", "ease": ease, **way.settings}, off


def iterate_limits(
    frames: Frames, way: MeasuredWay, begin: Floats, goal: Floats
) -> Iterator[dict[str, Any]]:
    """Yield the limits, or the mean, of the intervals that ways from ``begin`` to ``goal`` took.

    Both are positions (m, 3). Nothing is yielded where the ways took the measured intervals.
    """
    left = goal - begin
    length = compute_lengths(left)
    moving = frames.settled & (length > AWAY * frames.unit) & (way.since > 0)
    if moving.sum() < FEW:
        return
    share = ((frames.drawn - begin) * left).sum(axis=1)[moving] / length[moving] ** 2
    beyond: dict[str, Any] = {}
    top = 1.0
    if (share > 1 + ALIKE).mean() > ALIKE:
        top = float(np.quantile(share, 0.995))
        ends = np.abs(share / top - 1) < 0.1 * ALIKE
        beyond = {"overshoot": float(f"{top:.3g}") if ends.sum() > FEW else "on"}
    on_way = (share > TOLD) & (share < top - ALIKE)
    if on_way.sum() < FEW:
        return
    # an interval that is not above 0 may be no way at all
    late = (way.measured[frames.newest] <= 0)[moving]
    stays = {"interval_late": STAYS} if late.any() and (share[late] < ALIKE).mean() > 0.5 else {}
    took = way.since[moving][on_way] / share[on_way]
    newest = frames.newest[moving][on_way]
    found = [{**_fit_limits(way.measured[newest], took), **stays}]
    found += [{"interval_share": part} for part in SHARES]
    for settings in found:
        known = compute_intervals(way.measured, settings)[newest]
        limits = [settings[key] for key in LIMITS if key in settings]
        if any((known == limit).mean() > MOSTLY for limit in limits):
            continue  # it takes that constant time
        if (_is_alike(known, took)).mean() > MOSTLY - AWAY and (settings or beyond):
            yield {**settings, **beyond}


def _fit_limits(measured: Floats, took: Floats) -> dict[str, Any]:
    """Return the limits of the intervals that were measured (k; s), by those that ways took."""
    unlike, limits = ~_is_alike(np.maximum(measured, LEAST_PERIOD), took), {}
    for name, there in (
        ("interval_late", measured <= 0),
        ("interval_least", (measured > 0) & (took > measured)),
        ("interval_most", took < measured),
    ):
        limited = took[there & unlike]
        if len(limited) > (0 if name == "interval_late" else 2):
            limits[name] = float(np.median(limited))
    return limits


def _is_alike(one: Floats, other: Floats) -> NDArray[np.bool_]:
    return np.asarray(np.abs(one / other - 1) < ALIKE)
