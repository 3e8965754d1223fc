"""Velocities that are not how the positions change."""

from __future__ import annotations

import numpy as np

from epic_cli.analysis.arrays import lengths
from epic_cli.analysis.diagnosis.detector import Detector, Finding, worst
from epic_cli.analysis.diagnosis.robust import Flags, Floats
from epic_cli.analysis.diagnosis.stream import FEWEST_STATES, Stream
from epic_cli.analysis.diagnosis.traffic import Traffic

#: How far velocities may be off the positions' own, in their length.
OFF = 0.25

#: The same, where one change mends them so many times over.
LEAST = 0.04
MENDED = 3.0

#: In packets: velocities of so much earlier or later states are recognised.
SHIFTS = 6

ORDERS = {"x, z, y": (0, 2, 1), "y, x, z": (1, 0, 2), "z, y, x": (2, 1, 0),
          "y, z, x": (1, 2, 0), "z, x, y": (2, 0, 1)}  # fmt: skip


def detect(traffic: Traffic) -> list[Finding]:
    """The median distance of velocities from displacement over time, and what would mend it."""
    return worst(_of(one.excerpt) for one in traffic.streams)


def _of(stream: Stream) -> Finding | None:
    given: Flags = np.asarray(np.isfinite(stream.velocities).all(axis=1))
    if given.mean() < 0.9:
        return None
    near: Flags = (stream.intervals < 2.5 * stream.period) & ~stream.teleports[1:]
    usable = np.logical_and.reduce((near, given[1:], given[:-1], stream.steps > 0))
    if int(usable.sum()) < FEWEST_STATES:
        return None
    moved = (np.diff(stream.positions, axis=0) / stream.intervals[:, None])[usable]
    said = ((stream.velocities[1:] + stream.velocities[:-1]) / 2)[usable]
    off = _off(said, moved)
    if off < LEAST:
        return None
    kind, mended = _explanation(stream, usable, moved, said)
    if off < OFF and mended > off / MENDED:
        return None
    return Finding(
        "velocity",
        min(1.0, off),
        off,
        OFF,
        {"off": off, "kind": kind, "rest": mended},
        entities=stream.entities,
    )


def _off(said: Floats, moved: Floats) -> float:
    """How far the velocities are off, in direction or in length, on average.

    Stamps that are not the states' times change the lengths of steps, but not their sum; the
    longest, of which some may be teleports, do not count.
    """
    steps, driven = lengths(moved), lengths(said)
    usual = steps <= 2 * np.quantile(steps, 0.9)
    with np.errstate(invalid="ignore", divide="ignore"):
        ways = said / lengths(said)[:, None] - moved / lengths(moved)[:, None]
    turned = lengths(np.where(np.isfinite(ways), ways, 1.0))
    return max(float(turned.mean()), abs(float(driven[usual].sum() / steps[usual].sum()) - 1))


def _explanation(stream: Stream, usable: Flags, moved: Floats, said: Floats) -> tuple[str, float]:
    """What makes the velocities right, and what is left then."""
    if not said.any():
        return "all of them are zero", 1.0
    with np.errstate(invalid="ignore", divide="ignore"):
        ratios = lengths(said) / lengths(moved)
    ratio = float(np.median(ratios[np.isfinite(ratios)]))
    options = {f"they are {ratio:.3g} times as long": said / ratio if ratio else said}
    for words, order in ORDERS.items():
        options[f"their axes are {words}"] = said[:, order]
    options["they point backwards"] = -said
    for shift in range(1, SHIFTS + 1):
        for way, words in ((-1, "before"), (1, "after")):
            moved_by = np.roll(stream.velocities, way * shift, axis=0)
            mean = ((moved_by[1:] + moved_by[:-1]) / 2)[usable]
            options[f"they are those of {shift * stream.period:.3g} s {words}"] = mean
    rests = {words: _off(one, moved) for words, one in options.items()}
    best = min(rests, key=lambda words: rests[words])
    return (best, rests[best]) if rests[best] < OFF else ("they go another way", rests[best])


DETECTOR = Detector(
    "velocity",
    "velocities do not match the positions",
    "Velocities are off by {off:share} of the speed: {kind}.",
    "Everything that extrapolates or blends with velocities overshoots at every packet (dead"
    " reckoning, Hermite splines, the EPIC demo).",
    "Correct the column (--columns, --axes, units per second and not per tick), or leave velocities"
    " out: they are then estimated from the positions.",
    "mean difference of the directions of a step's velocity and displacement, or the ratio of their"
    " lengths; the same after scaling, in other axes, of packets before and after",
    "0.25; 0.04 where one of these leaves at most a third of it",
    "displacement is the integral of velocity",
    detect,
    explains=("stamps", "fixed-step"),
    rank=67,
)
