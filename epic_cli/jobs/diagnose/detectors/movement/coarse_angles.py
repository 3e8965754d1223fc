"""Rotations on a visibly coarse lattice."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np

from epic_cli.jobs.diagnose.detectors import ROTATIONS, Detector, Finding
from epic_cli.jobs.diagnose.detectors.movement.turning import Turning, find_worst_turning
from epic_cli.metrics.arrays import compute_median
from epic_cli.metrics.traffic import Floats, measure_concentration
from epic_cli.metrics.turns import compute_euler_angles

#: Numbers of steps of a quaternion's component that are tried.
PART = [2**bits - 1 for bits in range(4, 13)]

#: A step (degrees) that always shows, one that never does, and the share of the usual step that
#: shows between them.
SHOWS, FINE, COARSE = 0.5, 0.1, 0.1

#: Least mean cosine of values on a lattice, and fewest different values.
STANDS, FEWEST = 0.98, 10

#: Fewer values will do if it does not look ahead (mean resultant length), or moves in directions
#: with a smaller mean cosine.
FEW, AHEAD, ELSEWHERE = 5, 0.7, 0.5

#: Angles closer than this (degrees) are equal, and so are distances, or within this share of one.
GRAIN, EXACT, ROUGH = 0.02, 0.005, 0.03


def _detect_in_turns(turning: Turning) -> Finding | None:
    angles = np.degrees(turning.angles)[turning.near]
    usual = compute_median(angles[angles > 0])
    # angles about other axes than it turns about are on finer ones, too
    for step, kind in sorted(_find_lattices(turning), key=lambda one: -one[0]):
        coarse = step / usual
        if step >= SHOWS or (step >= FINE and coarse >= COARSE):
            numbers = {"step": step, "bits": math.log2(360 / step), "usual": usual}
            values: dict[str, float | str] = {**numbers, "kind": kind}
            share, entities = min(1.0, coarse), turning.stream.entities
            return Finding("coarse-angles", share, step, SHOWS, values, entities=entities)
    return None


def _find_lattices(turning: Turning) -> Iterator[tuple[float, str]]:
    """Yield the steps of lattices, in degrees, and the angles that stand on each lattice."""
    rotations, stream = turning.rotations, turning.stream
    moves = turning.near & (stream.steps > 0.2 * stream.usual_step)
    x, y, z = np.diff(stream.positions, axis=0)[moves].T
    ways = {"z": np.degrees(np.arctan2(y, x)), "y": np.degrees(np.arctan2(x, z))}
    for up, angles in compute_euler_angles(rotations).items():
        for values, name in zip(angles, ("yaw", "pitch", "roll"), strict=True):
            # those below 0 may have been rounded above 180
            step, count = _find_step(values)
            if not step:
                step, count = _find_step(values % 360)
            if step and (
                count >= FEWEST or not _is_facing_ahead(values[:-1][moves], [*ways.values()], step)
            ):
                yield step, f"{name}, {up} up"
    largest = np.arange(4) == np.abs(rotations).argmax(axis=1)[:, None]
    signed = rotations * np.sign(rotations[largest])[:, None]
    shares = (signed[~largest] * math.sqrt(2) + 1) / 2
    if steps := next((item for item in PART if _has_whole_numbers(shares * item)), 0):
        yield math.degrees(2 * math.sqrt(2) / steps), f"{math.log2(steps + 1):.0f} bits a component"


def _is_facing_ahead(angles: Floats, several: Sequence[Floats], step: float) -> bool:
    """Return True if the entity faces its direction of movement, rounded to such steps."""
    return any(
        abs(np.exp(1j * np.radians(angles + way * ways)).mean()) > AHEAD
        and measure_concentration(ways, step) > ELSEWHERE
        for ways in several
        for way in (-1, 1)
        if len(ways)
    )


def _find_step(angles: Floats) -> tuple[float, int]:
    """Return the step of angles (degrees; 0: no lattice), and the number of different angles."""
    ordered = np.sort(angles)
    different = ordered[np.append(True, np.diff(ordered) > GRAIN)]
    if len(different) < FEW:
        return 0.0, 0
    step, gaps = 0.0, np.diff(different)
    rest = gaps
    while len(rest):  # Euclid: the greatest common divisor
        step = float(rest.min())
        if step < FINE - EXACT:
            return 0.0, 0
        rest = np.abs(gaps - np.round(gaps / step) * step)
        rest = rest[rest > max(EXACT, ROUGH * step)]
    step = float(gaps.sum() / np.round(gaps / step).sum())
    whole = 360 / round(360 / step)
    step = whole if abs(whole - step) < EXACT else step
    return (step, len(different)) if measure_concentration(angles, step) > STANDS else (0.0, 0)


def _has_whole_numbers(values: Floats) -> bool:
    """Return True if there are enough values, and all are whole numbers."""
    return (
        measure_concentration(values, 1.0) > STANDS and len(np.unique(np.round(values))) >= FEWEST
    )


DETECTOR = Detector(
    "coarse-angles",
    "rotations are rounded too coarsely",
    "Rotations are multiples of {step:number}° ({kind}; a turn has {bits:number} bits),"
    " while a step from packet to packet is {usual:number}°.",
    "Slow turning goes in stairs, and an aim is off by up to half a step; angular velocities"
    " derived from rotations waver.",
    "Send more bits: 16 for each angle, or 10 and more for each of a quaternion's three least"
    " components; a byte is 1.4 degrees.",
    "mean cosine of the phases of yaw, pitch and roll on the lattice of their least distance, or of"
    " a quaternion's three least components on those of 4 to 12 bits",
    f"the step is {SHOWS} degrees, or {FINE} degrees and a tenth of the usual step",
    'Rayleigh\'s test (K. V. Mardia, P. E. Jupp, "Directional Statistics", 2000)',
    lambda traffic: find_worst_turning(traffic, _detect_in_turns),
    needs=(ROTATIONS,),
    explains=("spin", "late-turns"),
    rank=70,
)
