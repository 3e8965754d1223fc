"""What a video shows: who is where at a time, and from when to when it goes."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from epic_cli.analysis.arrays import lengths
from epic_cli.analysis.notes import NothingToDraw
from epic_cli.analysis.turns import headings
from epic_cli.views.pictures.scenes import chosen_of, ground_axes

if TYPE_CHECKING:
    from epic_cli.analysis.arrays import Floats
    from epic_cli.analysis.scenes.scene import Scene
    from epic_cli.views.video.spec import VideoSpec

#: Seconds: what is chosen is about so long; a longer recording is cut. What ``worst`` shows.
USUAL, LONGEST, WORST = 10.0, 12.0, 3.0

#: A place where it loops is looked for at so many times at most.
_TIMES = 20_000

#: Of more tracks than this, only the first are looked at.
_LOOKED_AT = 12


class Track(NamedTuple):
    """What moves: at ``times`` (n, s) it is at ``places`` (n, 2), NaN where it is not drawn.

    ``rank`` is that of its colour, -1: it is the truth. ``errors`` (n) are NaN in rows that do not
    count; ``headings`` (n, 2) are None where nothing turns.
    """

    name: str
    rank: int
    times: Floats
    places: Floats
    errors: Floats
    headings: Floats | None = None

    def at(self, times: Floats) -> Floats:
        """Where it is (k, 2)."""
        return between(self.times, self.places, times)


class Stage(NamedTuple):
    """Who moves, later tracks above earlier ones, from ``start`` to ``end`` (s).

    ``packet_times`` (m, s) are when ``packets`` (m, 2) came, or were sent where that is not known.
    """

    tracks: tuple[Track, ...]
    packet_times: Floats
    packets: Floats
    axes: str
    start: float
    end: float

    @property
    def drawn(self) -> list[Track]:
        """All but the truth, the best one first."""
        return [one for one in reversed(self.tracks) if one.rank >= 0]

    @property
    def alone(self) -> bool:
        """Whether there is one truth."""
        return sum(one.rank < 0 for one in self.tracks) == 1


def between(times: Floats, values: Floats, at: Floats) -> Floats:
    """The values (k, d) between rows (n, d); before a hole it stays where it was last."""
    right = np.clip(np.searchsorted(times, at, side="right"), 1, len(times) - 1)
    left = right - 1
    span = times[right] - times[left]
    share = np.clip((at - times[left]) / np.where(span > 0, span, 1.0), 0, 1)[:, None]
    found = np.where(
        share < 1, values[left] + share * (values[right] - values[left]), values[right]
    )
    found = np.where(np.isnan(found), values[left], found)
    # a snap has a row that is all NaN at the time of the row before it
    last = np.maximum(left - 1, 0)
    snap = np.isnan(values[left]) & (times[last] == times[left])[:, None]
    return np.where(np.isnan(found) & snap, values[last], found)


def stage_of(scenes: Sequence[Scene], labels: Sequence[str] = ()) -> Stage:
    """The stage of these entities; ``labels`` chooses strategies, the best one first, none: all.

    Raises ``NothingToDraw``.
    """
    scenes = [one for one in scenes if len(one.times) > 1]
    if not scenes:
        raise NothingToDraw
    plane = ground_axes(max(scenes, key=lambda one: len(one.times)))
    truths, tracks = [], []
    for number, scene in enumerate(scenes):
        several = len(scenes) > 1
        turns = None if scene.rotations is None else headings(scene.rotations, plane)
        nothing = np.full(len(scene.times), np.nan)
        name = "" if several else "truth"
        truths.append(Track(name, -1, scene.times, scene.truth[:, plane], nothing, turns))
        for rank, one in chosen_of(scene, labels):
            turns = None if one.rotations is None else headings(one.rotations, plane)
            shown = (number, scene.entity) if several else (rank, one.label)
            tracks.append(
                Track(shown[1], shown[0], one.times, one.positions[:, plane], one.errors, turns)
            )
    came = [np.where(np.isnan(s.arrivals), s.packet_times, s.arrivals) for s in scenes]
    order = np.argsort(np.concatenate(came), kind="stable")
    return Stage(
        (*truths, *tracks),
        np.concatenate(came)[order],
        np.concatenate([one.packets[:, plane] for one in scenes])[order],
        f"{'xyz'[plane[1]]} over {'xyz'[plane[0]]}",
        min(float(one.times[0]) for one in scenes),
        max(float(one.times[-1]) for one in scenes),
    )


def seconds_of(stage: Stage, spec: VideoSpec, fps: float) -> tuple[float, float]:
    """From when to when it goes: as given, or such that it loops, or around the worst moment.

    Raises ``ValueError`` where that is nothing of the recording.
    """
    start = stage.start if math.isnan(spec.start) else max(spec.start, stage.start)
    end = stage.end if math.isnan(spec.end) else min(spec.end, stage.end)
    if not start < end:
        raise ValueError(f"it goes from {stage.start:.2f} to {stage.end:.2f} s")
    if spec.worst:
        return _around(_worst(stage, start, end), WORST, start, end)
    if not (math.isnan(spec.start) and math.isnan(spec.end)):
        return start, end
    found = _loop(stage, fps / spec.speed)
    if found is None and end - start > LONGEST:
        return _around(_worst(stage, start, end), USUAL, start, end)
    return found or (start, end)


def _worst(stage: Stage, start: float, end: float) -> float:
    """When the largest error is drawn that counts."""
    worst, moment = -1.0, start
    for one in stage.drawn:
        errors = np.where((one.times >= start) & (one.times <= end), one.errors, np.nan)
        if np.isfinite(errors).any() and np.nanmax(errors) > worst:
            row = int(np.nanargmax(errors))
            worst, moment = float(errors[row]), float(one.times[row])
    return moment


def _around(moment: float, length: float, start: float, end: float) -> tuple[float, float]:
    first = max(start, min(moment - length / 2, end - length))
    return first, min(end, first + length)


def _loop(stage: Stage, rate: float) -> tuple[float, float] | None:
    """The two moments, some ten seconds apart, at which most is alike; None: nothing is.

    At them the truth and every strategy are at about the same place, on the same way.
    """
    step = max(1 / rate, (stage.end - stage.start) / _TIMES)
    times = np.arange(stage.start + 0.5, stage.end, step)  # there is something before it
    shifts = np.arange(round(0.6 * USUAL / step), round(LONGEST / step) + 1)
    shifts = shifts[(shifts > 0) & (shifts < len(times))]
    if not len(shifts):
        return None
    places = [one.at(times) for one in stage.tracks[:_LOOKED_AT]]
    ways = [0.2 * np.gradient(places[0], step, axis=0)]
    state = np.hstack([*places, *ways])
    costs = [np.square(state[n:] - state[:-n]).max(axis=1) for n in shifts]
    least = [float(np.nanmin(one, initial=math.inf)) for one in costs]
    best = int(np.argmin(least))
    room = np.ptp(places[0][~np.isnan(places[0][:, 0])], axis=0).max(initial=0.0)
    if not least[best] <= (0.02 * float(room)) ** 2:
        return None
    first = int(np.nanargmin(costs[best]))
    return float(times[first]), float(times[first] + shifts[best] * step)


def rows_between(track: Track, start: float, end: float) -> Iterator[tuple[Floats, Floats]]:
    """Its times (n) and places (n, 2) from ``start`` to ``end`` (s), in unbroken runs."""
    ends = np.array([start, end])
    inside = slice(*np.searchsorted(track.times, ends, side="right"))
    first, last = track.at(ends)
    rows = np.vstack([first, track.places[inside], last])
    times = np.concatenate([ends[:1], track.times[inside], ends[1:]])
    known = ~np.isnan(rows[:, 0])
    for run in np.split(np.arange(len(rows)), np.flatnonzero(~known)):
        if known[run].any():
            yield times[run[known[run]]], rows[run[known[run]]]


def typical_error(stage: Stage, start: float, end: float) -> float:
    """How far what is drawn is from the truth, at times: the 90th percentile (length)."""
    found = [
        one.errors[(one.times >= start) & (one.times <= end) & np.isfinite(one.errors)]
        for one in stage.drawn
    ]
    errors = np.concatenate(found) if found else np.empty(0)
    return float(np.quantile(errors, 0.9)) if len(errors) else 0.0


def bounds(stage: Stage, start: float, end: float) -> Floats:
    """The least and the largest place (2, 2) of what moves, without what leaves the truth by far.

    Raises ``NothingToDraw``.
    """
    runs = [(one.rank, run) for one in stage.tracks for _, run in rows_between(one, start, end)]
    nothing = np.empty((0, 2))
    truth = np.vstack([nothing, *(run for rank, run in runs if rank < 0)])
    everything = np.vstack([nothing, *(run for _, run in runs)])
    if not len(everything):
        raise NothingToDraw
    if len(truth):
        middle, room = (truth.min(axis=0) + truth.max(axis=0)) / 2, np.ptp(truth, axis=0).max()
        near = lengths(everything - middle) <= 3 * max(room, 1e-9)
        everything = everything[near] if near.any() else truth
    return np.array([everything.min(axis=0), everything.max(axis=0)])
