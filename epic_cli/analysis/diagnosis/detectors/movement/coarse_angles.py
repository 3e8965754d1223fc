"""Rotations on a lattice so coarse that it shows."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from epic_cli.analysis.diagnosis.detector import ROTATIONS, Detector, Finding, worst
from epic_cli.analysis.diagnosis.robust import Floats, concentration, median
from epic_cli.analysis.diagnosis.stream import Stream
from epic_cli.analysis.diagnosis.traffic import Traffic
from epic_cli.analysis.diagnosis.turning import Turning, turning_of
from epic_cli.analysis.turns import euler

#: Bits of a lattice that is looked for; of one that is too fine nobody sees it.
BITS = range(4, 13)

#: Degrees: a step that always shows, and one that never does.
SHOWS, FINE = 0.5, 0.1

#: Between them: in usual steps from packet to packet.
COARSE = 0.1

#: How well values stand on a lattice, and how many different ones do.
STANDS, FEWEST = 0.98, 10


def detect(traffic: Traffic) -> list[Finding]:
    """The coarsest lattice of the angles, or of a quaternion's three least components."""
    return worst(_of(one.excerpt) for one in traffic.streams)


def _of(stream: Stream) -> Finding | None:
    turning = turning_of(stream)
    if turning is None:
        return None
    angles = np.degrees(turning.angles)
    usual = median(angles[turning.near & (angles > 1e-6)])
    for step, kind in _lattices(turning):
        coarse = step / usual
        if step < FINE or (step < SHOWS and coarse < COARSE):
            continue
        bits = math.log2(360 / step)
        return Finding(
            "coarse-angles",
            min(1.0, coarse),
            step,
            SHOWS,
            {"step": step, "bits": bits, "usual": usual, "kind": kind},
            entities=stream.entities,
        )
    return None


def _lattices(turning: Turning) -> Iterator[tuple[float, str]]:
    """Steps in degrees, and of what."""
    for up, angles in euler(turning.rotations).items():
        for values, name in zip(angles, ("yaw", "pitch", "roll"), strict=True):
            for steps in sorted(
                [2**bits for bits in BITS] + [2**bits - 1 for bits in BITS] + [360]
            ):
                if _stand(values / 360 * steps):
                    yield 360 / steps, f"{name}, {up} up"
                    break
    largest = np.abs(turning.rotations).argmax(axis=1)
    signs = np.sign(np.take_along_axis(turning.rotations, largest[:, None], 1))
    small = np.ones(turning.rotations.shape, bool)
    np.put_along_axis(small, largest[:, None], False, 1)
    three = (turning.rotations * signs)[small]
    for bits in BITS:
        steps = 2**bits - 1
        if _stand((three * math.sqrt(2) + 1) / 2 * steps):
            yield math.degrees(2 * math.sqrt(2) / steps), f"{bits} bits a component"
            break


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
    detect,
    needs=(ROTATIONS,),
    explains=("spin", "late-turns"),
    rank=70,
)
