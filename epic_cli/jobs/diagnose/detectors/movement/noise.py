"""Positions with noise around the path."""

from __future__ import annotations

import numpy as np

from epic_cli.jobs.diagnose.detectors import VELOCITIES, Detector, Finding, select_worst
from epic_cli.metrics.traffic import Stream, Traffic, find_lattice

#: Least noise in usual steps.
SHARE = 0.02

#: Correlation of neighboring errors of steps, -0.5 for independent errors of positions.
BACK = (-0.65, -0.35)


#: Error that rounding to a lattice adds to a step, in lattice steps (sigma).
ROUNDING = 0.41


def detect(traffic: Traffic) -> list[Finding]:
    """Find sideways steps that the next step takes back."""
    return select_worst(_detect_in_stream(stream.excerpt) for stream in traffic.streams)


def _detect_in_stream(stream: Stream) -> Finding | None:
    found = stream.wavering if stream.has_velocities else None
    if found is None:
        return None
    across, back = found
    # noise makes steps longer than they are by their velocities
    usual = min(stream.usual_step, stream.usual_speed * stream.period)
    low, high = BACK
    if not (across > SHARE * usual and low < back < high):
        return None
    axis = stream.positions[:, np.argmax(np.ptp(stream.positions, axis=0))]
    if across < 2 * ROUNDING * find_lattice(axis):
        return None
    share = across / usual
    values = {"noise": across, "usual": usual}
    return Finding("noise", min(1.0, share), share, SHARE, values, entities=stream.entities)


DETECTOR = Detector(
    "noise",
    "positions are noisy",
    "Positions waver by {noise:number} around the path (1 sigma on each axis), where a step from"
    " packet to packet is {usual:number}.",
    "What is drawn trembles, the more the slower it moves; velocities derived from positions"
    " tremble more, and predictions multiply it.",
    "Send the simulation's state, not a measured or a blended one; where it is measured, filter it"
    " (one-euro, kalman-cv, alpha-beta).",
    "robust spread of the displacements across the mean velocity of each step over 1.41, and the"
    " correlation of each with the next, which is -0.5 for independent errors of positions",
    "the spread is 2 % of the usual step, and the correlation -0.65 to -0.35",
    "first-order moving average with a unit root",
    detect,
    needs=(VELOCITIES,),
    explains=("stamps", "velocity", "fixed-step"),
    rank=66,
)
