"""Positions that waver around the path."""

from __future__ import annotations

from epic_cli.jobs.diagnose.detectors import VELOCITIES, Detector, Finding, worst
from epic_cli.metrics.traffic import Stream, Traffic

#: In usual steps.
SHARE = 0.02

#: What follows an error of a step has the opposite one: half of it, and no more.
BACK = (-0.65, -0.35)


def detect(traffic: Traffic) -> list[Finding]:
    """The spread of the steps across the velocity, where each is taken back by the next."""
    return worst(_of(stream.excerpt) for stream in traffic.streams)


def _of(stream: Stream) -> Finding | None:
    steady = stream.elapsed
    if steady is None or not steady.across > SHARE * stream.usual_step:
        return None
    low, high = BACK
    if not low < steady.back < high or steady.across < 2 * steady.rounding * stream.usual_speed:
        return None
    share = steady.across / stream.usual_step
    return Finding(
        "noise",
        min(1.0, share),
        share,
        SHARE,
        {"noise": steady.across, "usual": stream.usual_step},
        entities=stream.entities,
    )


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
    "2 % of the usual step, and a correlation of -0.65 to -0.35",
    "first-order moving average with a unit root",
    detect,
    needs=(VELOCITIES,),
    explains=("stamps", "velocity", "fixed-step"),
    rank=66,
)
