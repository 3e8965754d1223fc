"""Positions on a lattice so coarse that it shows."""

from __future__ import annotations

import numpy as np

from epic_cli.jobs.diagnose.detectors import Detector, Finding, worst
from epic_cli.metrics.traffic import Flags, Floats, Stream, Traffic, lattice

#: In usual steps from packet to packet.
COARSE = 0.1

#: Steps that lead somewhere, or different coordinates of an axis: fewer make no lattice.
FEWEST_STEPS = 10

#: A share of the steps: rounded ones differ from their neighbours by a step so often.
UNEVEN = 0.1

#: The same where they go no more different ways than this, in steps of the lattice: 0 and 1.
TURNS = 2
VERY_UNEVEN = 0.4

#: Or, where the movement is slow: a share of the steps that go somewhere, between two that do not.
ISOLATED = 0.5


def detect(traffic: Traffic) -> list[Finding]:
    """The step of the positions' lattice against the usual step of the movement."""
    return worst(_of(stream.excerpt) for stream in traffic.streams)


def _of(stream: Stream) -> Finding | None:
    if int((stream.steps > 0).sum()) < FEWEST_STEPS:
        return None
    kind, step = _lattice_of(stream)
    coarse = step / stream.usual_step
    if coarse < COARSE:
        return None
    return Finding(
        "quantisation",
        min(1.0, coarse),
        coarse,
        COARSE,
        {"step": step, "usual": stream.usual_step, "kind": kind},
        entities=stream.entities,
    )


def _lattice_of(stream: Stream) -> tuple[str, float]:
    axes = stream.positions[:, np.ptp(stream.positions, axis=0) > 0]
    if not axes.size:
        return "", 0.0
    if _are_halves(axes):
        return "half precision", float(np.spacing(np.float16(np.abs(axes).max())))
    usual = stream.intervals < 1.5 * stream.period  # not those in which packets were lost
    return "fixed steps", max((_step(axis, usual) for axis in axes.T), default=0.0)


def _step(axis: Floats, usual: Flags) -> float:
    """The lattice of an axis; 0 if it is only that of an even movement."""
    step = lattice(axis)
    if not step or len(np.unique(axis)) < FEWEST_STEPS:
        return 0.0
    turns = np.where(usual, np.round(np.diff(axis) / step), 0)
    bent = np.diff(turns)[usual[1:] & usual[:-1]] != 0
    bends = float(bent.mean()) if len(bent) else 0.0
    if len(np.unique(np.abs(turns))) > TURNS:
        return step if bends > UNEVEN else 0.0
    moving = np.concatenate(([False], turns != 0, [False]))
    alone = moving[1:-1] & ~moving[2:] & ~moving[:-2]
    isolated = float(alone.sum() / max(moving.sum(), 1))
    return step if bends > VERY_UNEVEN or isolated > ISOLATED else 0.0


def _are_halves(axes: Floats) -> bool:
    largest = float(np.abs(axes).max())
    if largest > float(np.finfo(np.float16).max):
        return False
    rounded = axes.astype(np.float16).astype(float)
    # numbers in text have six digits and more
    exact = np.abs(rounded - axes) <= 1e-6 * np.maximum(np.abs(axes), 1)
    return bool(exact.all()) and len(np.unique(axes)) > 20 and lattice(axes[:, 0]) == 0


DETECTOR = Detector(
    "quantisation",
    "positions are rounded too coarsely",
    "Positions are multiples of {step:number} ({kind}), while a step from packet to packet is"
    " {usual:number}.",
    "Slow movement goes in stairs, and its direction wavers; velocities derived from positions"
    " waver even more.",
    "Send more bits, or positions relative to a near origin; a strategy that smooths (a filter, a"
    " spline with a delay) hides stairs.",
    "least distance between different coordinates, of which all others are multiples; whether all"
    " are half-precision numbers",
    "a tenth of the usual step",
    "IEEE 754 binary16; lattice of least differences",
    detect,
    explains=("stamps", "fixed-step", "velocity"),
    rank=68,
)
