"""Angular velocities that disagree with the rotations."""

from __future__ import annotations

import numpy as np

from epic_cli.jobs.diagnose.detectors import ROTATIONS, SPINS, Detector, Finding
from epic_cli.jobs.diagnose.detectors.movement import turning as of_turning
from epic_cli.jobs.diagnose.detectors.movement.turning import (
    Spins,
    Turning,
    fit_lag,
    interpolate_vectors,
    rotate_vectors,
)
from epic_cli.metrics.arrays import compute_lengths
from epic_cli.metrics.traffic import USUAL_RATES, Floats

#: Least difference of spins that one change mends, as a share of the rotations' rates.
OFF = 0.08

#: Units by the factor of spins in them, and the largest deviation of a factor (a share).
UNITS = {"degrees a second": 180 / np.pi, "turns a second": 1 / (2 * np.pi),
         "turns a minute": 60 / (2 * np.pi),
         **{f"radians per tick at {rate} Hz": 1 / rate for rate in USUAL_RATES}}  # fmt: skip
NEAR = 0.15

#: Largest difference that a factor which is no unit may leave.
ODD = 0.2


def _detect_in_turns(turning: Turning) -> Finding | None:
    spins, stream = of_turning.find_spins(turning), turning.stream
    if spins is None:
        return None
    off = spins.measure_error(spins.interpolate_spins())
    there = rotate_vectors(stream.turns[:, 4:], turning.rotations)
    body = interpolate_vectors(stream.times, there, spins.times)
    rest, kind = _explain_spins(spins, body, stream.period)
    if off < OFF or rest > min(off / of_turning.MENDED, of_turning.EXPLAINED):
        return None
    values: dict[str, float | str] = {"off": off, "kind": kind, "rest": rest}
    return Finding("spin", min(1.0, off), off, OFF, values, entities=stream.entities)


def _explain_spins(spins: Spins, body: Floats, period: float) -> tuple[float, str]:
    """Return the difference that remains after the best correction, and the correction in words."""
    found = []
    for axes, given in (
        ("", spins.interpolate_spins()),
        ("about the axes of the turning body", body),
    ):
        ratio = float(compute_lengths(given).sum() / compute_lengths(spins.rates).sum())
        for way, words in ((1.0, [axes]), (-1.0, [axes, "backwards"])):
            found.append((spins.measure_error(way * given), words))
            if ratio and not 1 / 1.5 < ratio < 1.5:
                left, unit = spins.measure_error(way * given / ratio), _find_unit(ratio)
                if unit or (left < ODD and spins.steady):
                    found.append((left, [*words, unit or f"{ratio:.3g} times as fast"]))
    lag = fit_lag(lambda late: spins.measure_error(spins.interpolate_spins(late)))
    if lag.seconds < 0 and lag.is_clear(period):
        found.append((lag.left, [f"those of {-lag.seconds:.3g} s before"]))
    best = min(left for left, _ in found) + 0.01  # the plainest of what is as good
    left, words = next(pair for pair in found if pair[0] <= best)
    return left, "they are " + ", ".join(filter(None, words))


def _find_unit(ratio: float) -> str:
    """Return the unit that explains spins wrong by this factor; empty if none does."""
    unit = min(UNITS, key=lambda one: abs(np.log(ratio / UNITS[one])))
    return f"in {unit}" if abs(ratio / UNITS[unit] - 1) < NEAR else ""


DETECTOR = Detector(
    "spin",
    "angular velocities do not match the rotations",
    "Angular velocities are off by {off:share} of what the rotations do: {kind}.",
    "Everything that turns on with them overshoots at every packet (dead reckoning, Hermite"
    " curves).",
    "Send them in radians a second about the world's axes (turn those of the body by the rotation;"
    " --read angles=deg reads degrees), or leave them out: they are then estimated from the"
    " rotations.",
    "mean distance of the given angular velocities from those between rotations; the same about the"
    " body's axes, in other units, reversed, or of an earlier state",
    f"it is {OFF}, and one of these changes leaves at most 1/{of_turning.MENDED} of it",
    "the angle between two rotations is the integral of the angular velocity",
    lambda traffic: of_turning.find_worst_turning(traffic, _detect_in_turns),
    needs=(ROTATIONS, SPINS),
    rank=72,
)
