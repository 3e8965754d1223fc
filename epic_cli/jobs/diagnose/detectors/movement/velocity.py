"""Velocities that disagree with the change of the positions."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from epic_cli.engine.contract import Packet
from epic_cli.engine.replay.strategy_spec import read_spec
from epic_cli.jobs.diagnose.detectors import Detector, Finding, select_worst
from epic_cli.jobs.diagnose.remedies import Remedy
from epic_cli.jobs.diagnose.remedies.packets import rewrite
from epic_cli.metrics.arrays import compute_lengths
from epic_cli.metrics.traffic import FEWEST_STATES, Flags, Floats, Stream, Traffic

#: Least difference of velocities from the positions' own, as a share of their length.
OFF = 0.25

#: The least one if one change improves it by this factor, in the steadier half of the steps, too:
#: the mean of two changing velocities is off by what happens between states.
LEAST = 0.04
MENDED = 3.0

#: If velocities fit better by this factor over this many steps than over one, the positions waver.
SOME, RIGHT = 8, 2.5

#: Least share of usual intervals in regular stamps.
REGULAR = 0.8

#: Most packets by which velocities may be those of earlier or later states.
SHIFTS = 6

ORDERS = {"x, z, y": (0, 2, 1), "y, x, z": (1, 0, 2), "z, y, x": (2, 1, 0),
          "y, z, x": (1, 2, 0), "z, x, y": (2, 0, 1)}  # fmt: skip


def detect(traffic: Traffic) -> list[Finding]:
    """Measure how far velocities are from displacement over time, and find a correction."""
    return select_worst(_detect_in_stream(stream.excerpt) for stream in traffic.streams)


def _detect_in_stream(stream: Stream) -> Finding | None:
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
    off = _measure_difference(said, moved)
    if off < LEAST or _measure_mean_difference(said, moved, usable) * RIGHT < off:
        return None
    kind, mended, right, mend = _explain_velocities(stream, usable, moved, said)
    if off < OFF:
        changes = compute_lengths(np.diff(stream.velocities, axis=0)[usable])
        steady = changes <= np.median(changes)
        worse = _measure_difference(right[steady], moved[steady]) > _measure_difference(
            said[steady], moved[steady]
        )
        if worse or mended > off / MENDED:
            return None
    return Finding(
        "velocity",
        min(1.0, off),
        off,
        OFF,
        {"off": off, "kind": kind, "rest": mended},
        entities=stream.entities,
        remedy=_make_remedy(mend),
    )


#: A strategy that draws by velocities, unlike a buffer in straight lines.
_BY_VELOCITY = read_spec("chase+ahead=velocity+how=exponential+time=0.03")


#: A function that corrects velocities (n, 3).
_Mend = Callable[[Floats], Floats]


def _make_remedy(mend: _Mend | None) -> Remedy:
    """Return the remedy: corrected velocities or, without a correction, no velocities."""

    def correct_packet(packet: Packet) -> Packet:
        if mend is None or packet.velocity is None:
            return packet._replace(velocity=None)
        x, y, z = mend(np.array([packet.velocity]))[0].tolist()
        return packet._replace(velocity=(x, y, z))

    command = "--read vx=,vy=,vz=" if mend is None else "velocities corrected for that"
    return Remedy(command, "step_error", packets=lambda block: rewrite(block, correct_packet),
                against=_BY_VELOCITY)  # fmt: skip


def _measure_mean_difference(said: Floats, moved: Floats, usable: Flags) -> float:
    """Return the difference of velocities over ``SOME`` steps in a row, which evens out noise."""
    places = np.flatnonzero(usable)
    rows = np.arange(len(places) - SOME + 1)
    rows = rows[places[rows + SOME - 1] - places[rows] < 2 * SOME][:: SOME // 2]
    if len(rows) < FEWEST_STATES // 2:
        return np.inf
    ways = [np.add.reduce([way[rows + step] for step in range(SOME)]) for way in (said, moved)]
    return _measure_difference(*ways)


def _measure_difference(said: Floats, moved: Floats) -> float:
    """Return the difference of velocities from displacements, in direction or length.

    Stamps that are not the states' times change the lengths of steps and send some of them back,
    but not their sum; the longest steps, some of which may be teleports, do not count.
    """
    steps, driven = compute_lengths(moved), compute_lengths(said)
    usual = steps <= 2 * np.quantile(steps, 0.9)
    ahead = np.sign(np.einsum("ij,ij->i", said, moved))
    with np.errstate(invalid="ignore", divide="ignore"):
        ways = said / driven[:, None] - moved * (ahead / steps)[:, None]
    turned = compute_lengths(np.where(np.isfinite(ways), ways, 1.0))
    apart = float((driven - ahead * steps)[usual].sum() / steps[usual].sum())
    return max(float(turned.mean()), abs(apart))


def _explain_velocities(
    stream: Stream, usable: Flags, moved: Floats, said: Floats
) -> tuple[str, float, Floats, _Mend | None]:
    """Return the best correction.

    Words, the difference left, the result, and the change (or None).
    """
    if not said.any():
        return "all of them are zero", 1.0, said, None
    ratio = float(compute_lengths(said).sum() / compute_lengths(moved).sum())
    mends: dict[str, _Mend] = {
        f"they are {ratio:.3g} times as long": lambda some: some / (ratio or 1.0),
        "they point backwards": lambda some: -some,
    }
    for words, order in ORDERS.items():
        mends[f"their axes are {words}"] = partial(_take_axes, order=order)
    for axis, name in enumerate("xyz"):
        signs = np.where(np.arange(3) == axis, -1.0, 1.0)
        mends[f"the sign of {name} is wrong"] = partial(np.multiply, signs)
    options = {words: mend(said) for words, mend in mends.items()}
    for shift in range(1, SHIFTS + 1):
        for way, words in ((-1, "before"), (1, "after")):
            moved_by = np.roll(stream.velocities, way * shift, axis=0)
            mean = ((moved_by[1:] + moved_by[:-1]) / 2 * stream.intervals[:, None])[usable]
            options[f"they are those of {shift * stream.period:.3g} s {words}"] = mean
    rests = {words: _measure_difference(one, moved) for words, one in options.items()}
    best = min(rests, key=lambda words: rests[words])
    if rests[best] < OFF / 2:
        return best, rests[best], options[best], mends.get(best)
    turned, words = _fit_axes(said, moved)
    rest = _measure_difference(turned, moved)
    if rest < min(OFF, rests[best]):
        return words, rest, turned, None
    other = best if rests[best] < OFF else _explain_unmended_velocities(said, moved)
    return other, rests[best], options[best], mends.get(best) if rests[best] < OFF else None


def _take_axes(some: Floats, order: tuple[int, int, int]) -> Floats:
    return some[:, order]


def _fit_axes(said: Floats, moved: Floats) -> tuple[Floats, str]:
    """Return the velocities in the axes that fit best, and the rotation into these axes.

    W. Kabsch, "A solution for the best rotation to relate two sets of vectors", Acta
    Crystallographica A 32, 1976.
    """
    usual = compute_lengths(moved) <= 2 * np.quantile(compute_lengths(moved), 0.9)
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


def _explain_unmended_velocities(said: Floats, moved: Floats) -> str:
    """Return what is wrong with velocities that no choice of axes corrects."""
    long = (compute_lengths(said) > 0) & (compute_lengths(moved) > 0)
    ways = said[long] / compute_lengths(said[long])[:, None]
    there = moved[long] / compute_lengths(moved[long])[:, None]
    ratio = compute_lengths(said[long]) / compute_lengths(moved[long])
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
    "it is 0.25; or 0.04, and one of these changes leaves at most a third of it, and no more than"
    " before in steady steps",
    "displacement is the integral of velocity",
    detect,
    explains=("stamps", "fixed-step"),
    rank=67,
)
