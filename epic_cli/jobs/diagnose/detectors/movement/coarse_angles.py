"""Rotations on a lattice so coarse that it shows."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from epic_cli.jobs.diagnose.detectors import ROTATIONS, Detector, Finding
from epic_cli.jobs.diagnose.detectors.movement.turning import Turning, worst_turning
from epic_cli.metrics.arrays import median
from epic_cli.metrics.traffic import Floats, concentration
from epic_cli.metrics.turns import euler

#: Steps of a turn that are looked for, and of a component.
TURN = sorted([360, *(2**bits - low for bits in range(4, 13) for low in (0, 1))])
PART = [2**bits - 1 for bits in range(4, 13)]

#: Degrees: a step that always shows, and one that never does; between them, in usual steps from
#: packet to packet.
SHOWS, FINE, COARSE = 0.5, 0.1, 0.1

#: How well values stand on a lattice, and how many different ones do.
STANDS, FEWEST = 0.98, 10


def _of(turning: Turning) -> Finding | None:
    angles = np.degrees(turning.angles)[turning.near]
    usual = median(angles[angles > 0])
    for step, kind in _lattices(turning.rotations):
        coarse = step / usual
        if step >= SHOWS or (step >= FINE and coarse >= COARSE):
            figures = {"step": step, "bits": math.log2(360 / step), "usual": usual}
            values: dict[str, float | str] = {**figures, "kind": kind}
            share, entities = min(1.0, coarse), turning.stream.entities
            return Finding("coarse-angles", share, step, SHOWS, values, entities=entities)
    return None


def _lattices(rotations: Floats) -> Iterator[tuple[float, str]]:
    """The coarsest steps, in degrees, and of what."""
    for up, angles in euler(rotations).items():
        for values, name in zip(angles, ("yaw", "pitch", "roll"), strict=True):
            if steps := next((item for item in TURN if _stand(values / 360 * item)), 0):
                yield 360 / steps, f"{name}, {up} up"
    largest = np.arange(4) == np.abs(rotations).argmax(axis=1)[:, None]
    signed = rotations * np.sign(rotations[largest])[:, None]
    shares = (signed[~largest] * math.sqrt(2) + 1) / 2
    if steps := next((item for item in PART if _stand(shares * item)), 0):
        yield math.degrees(2 * math.sqrt(2) / steps), f"{math.log2(steps + 1):.0f} bits a component"


def _stand(values: Floats) -> bool:
    """Whether values are whole numbers, of which enough are there."""
    return concentration(values, 1.0) > STANDS and len(np.unique(np.round(values))) >= FEWEST


DETECTOR = Detector(
    "coarse-angles",
    "rotations are rounded too coarsely",
    "Rotations are {step:number} degrees apart ({kind}; a turn has {bits:number} bits), while a"
    " step from packet to packet is {usual:number} degrees.",
    "Slow turning goes in stairs, and an aim is off by up to half a step; angular velocities"
    " derived from rotations waver.",
    "Send more bits: 16 for each angle, or 10 and more for each of a quaternion's three least"
    " components; a byte is 1.4 degrees.",
    "mean cosine of the phases of yaw, pitch and roll, or of a quaternion's three least components,"
    " on lattices of 4 to 12 bits",
    f"{SHOWS} degrees, or a tenth of the usual step and {FINE} degrees",
    'Rayleigh\'s test (K. V. Mardia, P. E. Jupp, "Directional Statistics", 2000)',
    lambda traffic: worst_turning(traffic, _of),
    needs=(ROTATIONS,),
    explains=("spin", "late-turns"),
    rank=70,
)
