"""Velocities that are not how the positions change."""

from __future__ import annotations

import numpy as np

from epic_cli.jobs.diagnose.detectors import Detector, Finding, worst
from epic_cli.metrics.arrays import lengths
from epic_cli.metrics.traffic import FEWEST_STATES, Flags, Floats, Stream, Traffic

#: How far velocities may be off the positions' own, in their length.
OFF = 0.25

#: The same, where one change mends them this many times over, and the steadier half of the steps,
#: too: where velocities change, the mean of two is off by what there is between states.
LEAST = 0.04
MENDED = 3.0

#: Over so many steps velocities lead where positions go: by this many times better than over one,
#: it is the positions that waver.
SOME, RIGHT = 8, 2.5

#: Stamps are regular where so much of the intervals is nearly the usual one.
REGULAR = 0.8

#: In packets: velocities of so much earlier or later states are recognised.
SHIFTS = 6

ORDERS = {"x, z, y": (0, 2, 1), "y, x, z": (1, 0, 2), "z, y, x": (2, 1, 0),
          "y, z, x": (1, 2, 0), "z, x, y": (2, 0, 1)}  # fmt: skip


def detect(traffic: Traffic) -> list[Finding]:
    """The median distance of velocities from displacement over time, and what would mend it."""
    return worst(_of(stream.excerpt) for stream in traffic.streams)


def _of(stream: Stream) -> Finding | None:
    given: Flags = np.asarray(np.isfinite(stream.velocities).all(axis=1))
    if given.mean() < 0.9:
        return None
    near: Flags = (stream.intervals < 2.5 * stream.period) & ~stream.teleports[1:]
    usable = np.logical_and.reduce((near, given[1:], given[:-1], stream.steps > 0))
    regular = np.abs(stream.intervals - stream.period) < 0.25 * stream.period
    if regular.mean() > REGULAR:  # states of one moment were not sent in time
        usable &= stream.intervals > 0.25 * stream.period
    if int(usable.sum()) < FEWEST_STATES:
        return None
    moved = np.diff(stream.positions, axis=0)[usable]
    lasted = stream.intervals[usable, None]
    said = ((stream.velocities[1:] + stream.velocities[:-1]) / 2)[usable] * lasted
    off = _off(said, moved)
    if off < LEAST or _right_over_some(said, moved, usable) * RIGHT < off:
        return None
    kind, mended, right = _explanation(stream, usable, moved, said)
    if off < OFF:
        changes = lengths(np.diff(stream.velocities, axis=0)[usable])
        steady = changes <= np.median(changes)
        worse = _off(right[steady], moved[steady]) > _off(said[steady], moved[steady])
        if worse or mended > off / MENDED:
            return None
    return Finding(
        "velocity",
        min(1.0, off),
        off,
        OFF,
        {"off": off, "kind": kind, "rest": mended},
        entities=stream.entities,
    )


def _right_over_some(said: Floats, moved: Floats, usable: Flags) -> float:
    """How far velocities are off over ``SOME`` steps in a row: noise and stamps even out there."""
    places = np.flatnonzero(usable)
    rows = np.arange(len(places) - SOME + 1)
    rows = rows[places[rows + SOME - 1] - places[rows] < 2 * SOME][:: SOME // 2]
    if len(rows) < FEWEST_STATES // 2:
        return np.inf
    ways = [np.add.reduce([one[rows + step] for step in range(SOME)]) for one in (said, moved)]
    return _off(*ways)


def _off(said: Floats, moved: Floats) -> float:
    """How far it is from where velocities lead to where steps do, in direction or in length.

    Stamps that are not the states' times change the lengths of steps and send some of them back,
    but not their sum; the longest, of which some may be teleports, do not count.
    """
    steps, driven = lengths(moved), lengths(said)
    usual = steps <= 2 * np.quantile(steps, 0.9)
    ahead = np.sign(np.einsum("ij,ij->i", said, moved))
    with np.errstate(invalid="ignore", divide="ignore"):
        ways = said / driven[:, None] - moved * (ahead / steps)[:, None]
    turned = lengths(np.where(np.isfinite(ways), ways, 1.0))
    apart = float((driven - ahead * steps)[usual].sum() / steps[usual].sum())
    return max(float(turned.mean()), abs(apart))


def _explanation(
    stream: Stream, usable: Flags, moved: Floats, said: Floats
) -> tuple[str, float, Floats]:
    """What makes the velocities right, what is left then, and where they lead then."""
    if not said.any():
        return "all of them are zero", 1.0, said
    ratio = float(lengths(said).sum() / lengths(moved).sum())
    options = {f"they are {ratio:.3g} times as long": said / ratio if ratio else said}
    for words, order in ORDERS.items():
        options[f"their axes are {words}"] = said[:, order]
    options["they point backwards"] = -said
    for axis, name in enumerate("xyz"):
        options[f"the sign of {name} is wrong"] = said * np.where(np.arange(3) == axis, -1.0, 1.0)
    for shift in range(1, SHIFTS + 1):
        for way, words in ((-1, "before"), (1, "after")):
            moved_by = np.roll(stream.velocities, way * shift, axis=0)
            mean = ((moved_by[1:] + moved_by[:-1]) / 2 * stream.intervals[:, None])[usable]
            options[f"they are those of {shift * stream.period:.3g} s {words}"] = mean
    rests = {words: _off(one, moved) for words, one in options.items()}
    best = min(rests, key=lambda words: rests[words])
    if rests[best] < OFF / 2:
        return best, rests[best], options[best]
    turned, words = _turned(said, moved)
    rest = _off(turned, moved)
    if rest < min(OFF, rests[best]):
        return words, rest, turned
    return (best if rests[best] < OFF else _other(said, moved)), rests[best], options[best]


def _turned(said: Floats, moved: Floats) -> tuple[Floats, str]:
    """The velocities in the axes that fit best, and which rotation leads there.

    W. Kabsch, "A solution for the best rotation to relate two sets of vectors", Acta
    Crystallographica A 32, 1976.
    """
    usual = lengths(moved) <= 2 * np.quantile(lengths(moved), 0.9)
    left, _, right = np.linalg.svd(said[usual].T @ moved[usual])
    proper = np.sign(np.linalg.det(left @ right))
    turn = left @ np.diag([1.0, 1.0, proper]) @ right
    angle = float(np.degrees(np.arccos(np.clip((np.trace(turn) - 1) / 2, -1, 1))))
    axis = np.array([turn[1, 2] - turn[2, 1], turn[2, 0] - turn[0, 2], turn[0, 1] - turn[1, 0]])
    size = float(np.linalg.norm(axis))
    if not size:
        return said @ turn, f"they are turned by {angle:.3g} degrees"
    axis = axis / size
    main = int(np.abs(axis).argmax())
    around = ", ".join(f"{row:.2g}" for row in axis)
    if abs(axis[main]) > 0.99:
        around, angle = "xyz"[main], angle * float(np.sign(axis[main]))
    return said @ turn, f"a turn by {angle:.3g} degrees around {around} makes them right"


def _other(said: Floats, moved: Floats) -> str:
    """What is wrong with velocities that no axes make right."""
    long = (lengths(said) > 0) & (lengths(moved) > 0)
    ways = said[long] / lengths(said[long])[:, None]
    there = moved[long] / lengths(moved[long])[:, None]
    ratio = lengths(said[long]) / lengths(moved[long])
    if not len(ways) or abs(float(np.median(ratio)) - 1) > 0.1:
        return "they go another way"
    middle, spread = ways.mean(axis=0), float(np.linalg.norm(there.mean(axis=0)))
    if float(np.linalg.norm(middle)) > max(0.8, spread + 0.2):
        main = int(np.abs(middle).argmax())
        forward = ("-" if middle[main] < 0 else "") + "xyz"[main]
        return (
            f"they are in the entity's own axes, where {forward} is forward; turn them by its"
            " heading"
        )
    return "they are as long, but go another way: in the entity's own axes, or a camera's"


DETECTOR = Detector(
    "velocity",
    "velocities do not match the positions",
    "Velocities are off by {off:share} of the speed: {kind}.",
    "Everything that extrapolates or blends with velocities overshoots at every packet (dead"
    " reckoning, Hermite splines, the EPIC demo).",
    "Correct the column (in --read, world axes and not the entity's own, units per second"
    " and not per tick), or leave velocities out: they are then estimated from the positions.",
    "mean difference of the directions of a step's velocity and displacement, or the ratio of their"
    " lengths; the same after scaling, in other axes, turned, of packets before and after",
    "0.25; 0.04 where one of these leaves at most a third of it, and no more in steady steps",
    "displacement is the integral of velocity",
    detect,
    explains=("stamps", "fixed-step"),
    rank=67,
)
