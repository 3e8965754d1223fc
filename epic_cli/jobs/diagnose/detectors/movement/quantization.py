"""Positions on a visibly coarse lattice."""

from __future__ import annotations

import math

import numpy as np

from epic_cli.jobs.diagnose.detectors import Detector, Finding, select_worst
from epic_cli.metrics.arrays import compute_lengths, compute_median
from epic_cli.metrics.traffic import Flags, Floats, Stream, Traffic, find_lattice

#: Least step of the lattice, in usual steps from packet to packet.
COARSE = 0.1

#: Packets over which rounding does not lengthen the way.
FAR = 8

#: Fewest steps above 0, or different coordinates of an axis, of a lattice.
FEWEST_STEPS = 10

#: Least share of rounded steps that differ from their neighbors by a lattice step.
UNEVEN = 0.1

#: Or most different directions, in steps of the lattice: 0 and 1.
STEP_COUNTS = 2
VERY_UNEVEN = 0.4

#: Or, in a slow movement, least share of the steps above 0 between two that are 0.
ISOLATED = 0.5


def detect(traffic: Traffic) -> list[Finding]:
    """Compare the step of the positions' lattice with the usual step of the movement."""
    return select_worst(_detect_in_stream(stream.excerpt) for stream in traffic.streams)


def _detect_in_stream(stream: Stream) -> Finding | None:
    if int((stream.steps > 0).sum()) < FEWEST_STEPS:
        return None
    axes = stream.positions[:, np.ptp(stream.positions, axis=0) > 0]
    near = stream.intervals < 1.5 * stream.period  # not those in which packets were lost
    kind, steps = _find_lattice(axes, near)
    coarse = float(steps.max(initial=0.0)) / stream.usual_step
    if coarse < COARSE:
        return None
    squares = steps * steps / 12
    # what is rounded to a few steps is a longer way from packet to packet than it was
    far = compute_lengths(stream.positions[FAR:] - stream.positions[:-FAR]) / FAR
    true = (
        min(stream.usual_step, compute_median(far[far > 0]))
        if (far > 0).any()
        else stream.usual_step
    )
    bits = max(1, math.ceil(math.log2(steps.max() / (COARSE * true))))
    alone = np.diff((stream.steps > 0).astype(int), 2) == -2
    regular = near[2:] & near[1:-1] & near[:-2]
    stairs = float(alone[regular].mean()) / stream.period if regular.any() else 0.0
    values: dict[str, float | str] = {
        "step": float(steps.max()), "usual": stream.usual_step, "kind": kind,
        "rms": math.sqrt(float(squares.sum() / np.count_nonzero(steps))),
        "off": math.sqrt(2 * float(squares.sum())) / stream.usual_step,
        "bits": bits, "finer": float(steps.max()) / 2**bits,
        "stairs": f"; it stands and leaps {stairs:.2g} times a second" if stairs >= 0.05 else "",
    }  # fmt: skip
    return Finding(
        "quantization", min(1.0, coarse), coarse, COARSE, values, entities=stream.entities
    )


def _find_lattice(axes: Floats, usual: Flags) -> tuple[str, Floats]:
    """Return the way in which positions (n, axes) were rounded, and each axis's step; 0: none."""
    if axes.size and _is_half_precision(axes):
        spacings = np.spacing(np.abs(axes).astype(np.float16)).astype(float)
        return "half precision", np.sqrt(np.square(spacings).mean(axis=0))
    return "fixed steps", np.array([_measure_axis_step(axis, usual) for axis in axes.T])


def _measure_axis_step(axis: Floats, usual: Flags) -> float:
    """Return the quantization step of an axis; 0 if an even movement alone explains the step."""
    step = find_lattice(axis)
    if not step or len(np.unique(axis)) < FEWEST_STEPS:
        return 0.0
    counts = np.where(usual, np.round(np.diff(axis) / step), 0)
    bent = np.diff(counts)[usual[1:] & usual[:-1]] != 0
    bends = float(bent.mean()) if len(bent) else 0.0
    if len(np.unique(np.abs(counts))) > STEP_COUNTS:
        return step if bends > UNEVEN else 0.0
    moving = np.concatenate(([False], counts != 0, [False]))
    alone = moving[1:-1] & ~moving[2:] & ~moving[:-2]
    isolated = float(alone.sum() / max(moving.sum(), 1))
    return step if bends > VERY_UNEVEN or isolated > ISOLATED else 0.0


def _is_half_precision(axes: Floats) -> bool:
    largest = float(np.abs(axes).max())
    if largest > float(np.finfo(np.float16).max):
        return False
    rounded = axes.astype(np.float16).astype(float)
    # numbers in text have six digits and more
    exact = np.abs(rounded - axes) <= 1e-6 * np.maximum(np.abs(axes), 1)
    return bool(exact.all()) and len(np.unique(axes)) > 20 and find_lattice(axes[:, 0]) == 0


DETECTOR = Detector(
    "quantization",
    "positions are rounded too coarsely",
    "Positions are multiples of {step:number} ({kind}), while a step from packet to packet is"
    " {usual:number}: each is off by {rms:number} (RMS of an axis), each step by {off:share} of"
    " that{stairs}.",
    "Slow movement goes in stairs, and its direction wavers; velocities derived from positions"
    " are off by as large a share of the usual speed.",
    "Send {bits:bit} more of each coordinate, a step of {finer:number}, or positions"
    " relative to a near origin; a strategy that smooths (a filter, a spline with a delay) hides"
    " stairs.",
    "least distance between different coordinates, of which all others are multiples; whether all"
    " are half-precision numbers",
    "the distance is a tenth of the usual step",
    "IEEE 754 binary16; lattice of least differences; uniform rounding is off by step/sqrt(12)",
    detect,
    explains=("stamps", "fixed-step", "velocity"),
    rank=68,
)
