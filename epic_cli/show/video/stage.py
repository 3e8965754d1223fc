"""What a video shows: who is where at a time, and from when to when it goes."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from epic_cli.metrics.notes import NothingToDraw
from epic_cli.metrics.turns import headings
from epic_cli.show.pictures.scenes import chosen_of, ground_axes

if TYPE_CHECKING:
    from epic_cli.metrics.arrays import Floats
    from epic_cli.show.scenes.scene import Scene
    from epic_cli.show.video.spec import VideoSpec

#: Seconds: what is chosen is about so long; a longer recording is cut. What ``worst`` shows.
USUAL, LONGEST, WORST = 10.0, 12.0, 3.0

#: Where it loops is looked for at so many times at most, in so many tracks.
_TIMES, _TRACKS = 20_000, 12


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

    def within(self, start: float, end: float) -> tuple[Floats, Floats]:
        """Its times (m) and errors (m) from ``start`` to ``end`` (s)."""
        inside = (self.times >= start) & (self.times <= end)
        return self.times[inside], self.errors[inside]

    def rows(self, start: float, end: float) -> Iterator[tuple[Floats, Floats]]:
        """Its times (m) and places (m, 2) from ``start`` to ``end`` (s), in unbroken runs."""
        ends = np.array([start, end])
        inside = slice(*np.searchsorted(self.times, ends, side="right"))
        times = np.concatenate([ends[:1], self.times[inside], ends[1:]])
        places = np.vstack([self.at(ends[:1]), self.places[inside], self.at(ends[1:])])
        known = ~np.isnan(places[:, 0])
        for run in np.split(np.arange(len(times)), np.flatnonzero(~known)):
            if known[run].any():
                yield times[run[known[run]]], places[run[known[run]]]


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

    def errors(self, start: float, end: float) -> tuple[Floats, Floats]:
        """When (n, s), and how far off (n) those are that are drawn, in rows that count."""
        every = np.hstack([np.empty((2, 0)), *(one.within(start, end) for one in self.drawn)])
        times, errors = every[:, np.isfinite(every[1])]
        return times, errors


def between(times: Floats, values: Floats, at: Floats) -> Floats:
    """The values (k, d) between rows (n, d); before a hole it stays where it was last."""
    right = np.clip(np.searchsorted(times, at, side="right"), 1, len(times) - 1)
    left = right - 1
    span = times[right] - times[left]
    share = np.clip((at - times[left]) / np.where(span > 0, span, 1.0), 0, 1)[:, None]
    inside = values[left] + share * (values[right] - values[left])
    found = np.where(share < 1, inside, values[right])
    found = np.where(np.isnan(found), values[left], found)
    # a snap has a row that is all NaN at the time of the row before it
    last = np.maximum(left - 1, 0)
    snap = np.isnan(found) & (times[last] == times[left])[:, None]
    return np.where(snap, values[last], found)


def stage_of(scenes: Sequence[Scene], labels: Sequence[str] = ()) -> Stage:
    """The stage of these entities; ``labels`` chooses strategies, the best one first, none: all.

    Raises ``NothingToDraw``.
    """
    scenes = [one for one in scenes if len(one.times) > 1]
    if not scenes:
        raise NothingToDraw
    plane = ground_axes(max(scenes, key=lambda one: len(one.times)))

    def seen(rotations: Floats | None) -> Floats | None:
        return None if rotations is None else headings(rotations, plane)

    several, truths, tracks = len(scenes) > 1, [], []
    for number, scene in enumerate(scenes):
        name, turns = "" if several else "truth", seen(scene.rotations)
        truths.append(
            Track(name, -1, scene.times, scene.truth[:, plane], scene.times * np.nan, turns)
        )
        for rank, one in chosen_of(scene, labels):
            name, color = (scene.entity, number) if several else (one.label, rank)
            places, turns = one.positions[:, plane], seen(one.rotations)
            tracks.append(Track(name, color, one.times, places, one.errors, turns))
    came = np.concatenate(
        [np.where(np.isnan(one.arrivals), one.packet_times, one.arrivals) for one in scenes]
    )
    order = np.argsort(came, kind="stable")
    return Stage(
        (*truths, *tracks),
        came[order],
        np.concatenate([one.packets[:, plane] for one in scenes])[order],
        f"{'xyz'[plane[1]]} over {'xyz'[plane[0]]}",
        min(float(one.times[0]) for one in scenes),
        max(float(one.times[-1]) for one in scenes),
    )


def seconds_of(stage: Stage, spec: VideoSpec, fps: float) -> tuple[float, float]:
    """From when to when it goes: as given, or such that it loops, or around the worst moment.

    Raises ``ValueError`` where that is nothing of the recording.
    """
    start, end = np.fmax(spec.start, stage.start).item(), np.fmin(spec.end, stage.end).item()
    if not start < end:
        raise ValueError(f"it goes from {stage.start:.2f} to {stage.end:.2f} s")
    chosen = math.isnan(spec.start) and math.isnan(spec.end) and not spec.worst
    loop = _loop(stage, fps / spec.speed) if chosen else None
    if loop is not None:
        return loop
    length = WORST if spec.worst else USUAL if chosen and end - start > LONGEST else end - start
    times, errors = stage.errors(start, end)
    worst = float(times[errors.argmax()]) if len(times) else start
    first = max(start, min(worst - length / 2, end - length))
    return first, min(end, first + length)


def _loop(stage: Stage, rate: float) -> tuple[float, float] | None:
    """The two moments, some ten seconds apart, at which most is alike; None: nothing is.

    At them the truth and every strategy are at about the same place, on the same way.
    """
    step = max(1 / rate, (stage.end - stage.start) / _TIMES)
    times = np.arange(stage.start + 0.5, stage.end, step)  # there is something before it
    shifts = np.arange(max(1, round(0.6 * USUAL / step)), round(LONGEST / step) + 1)
    shifts = shifts[shifts < len(times)]
    if not len(shifts):
        return None
    places = [one.at(times) for one in stage.tracks[:_TRACKS]]
    state = np.hstack([*places, 0.2 * np.gradient(places[0], step, axis=0)])
    costs = [np.square(state[n:] - state[:-n]).max(axis=1) for n in shifts]
    least = [float(np.nanmin(one, initial=math.inf)) for one in costs]
    best = int(np.argmin(least))
    room = np.ptp(places[0][~np.isnan(places[0][:, 0])], axis=0).max(initial=0.0)
    if not least[best] <= (0.02 * float(room)) ** 2:
        return None
    first = float(times[np.nanargmin(costs[best])])
    return first, first + float(shifts[best] * step)
