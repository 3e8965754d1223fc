"""Positions on a lattice so coarse that it shows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from epic_cli.analysis.diagnosis.finding import Detector, Finding
from epic_cli.analysis.diagnosis.robust import lattice

if TYPE_CHECKING:
    from epic_cli.analysis.diagnosis.traffic import Floats, Stream, Traffic

#: In usual steps from packet to packet.
COARSE = 0.1

#: Different coordinates of an axis: fewer make no lattice.
FEWEST = 10

#: A share of the steps: rounded ones differ from their neighbours so often.
UNEVEN = 0.1

#: And go so many different ways at least, in steps of the lattice: 0, 1, 2.
TURNS = 2


def look(traffic: Traffic) -> list[Finding]:
    """The step of the positions' lattice against the usual step of the movement."""
    worst: Finding | None = None
    for stream in traffic.streams:
        moving = stream.steps[stream.steps > 0]
        if len(moving) < 10:
            continue
        kind, step = _lattice_of(stream)
        coarse = step / float(np.median(moving))
        if coarse < COARSE or (worst is not None and coarse <= worst.statistic):
            continue
        worst = Finding(
            "quantisation",
            min(1.0, coarse),
            coarse,
            COARSE,
            {"step": step, "usual": float(np.median(moving)), "kind": kind},
            entities=(stream.name,) if stream.name else (),
        )
    return [] if worst is None else [worst]


def _lattice_of(stream: Stream) -> tuple[str, float]:
    axes = stream.positions[:, np.ptp(stream.positions, axis=0) > 0]
    if not axes.size:
        return "", 0.0
    if _are_halves(axes):
        return "half precision", float(np.spacing(np.float16(np.abs(axes).max())))
    return "fixed steps", max(map(_step, axes.T), default=0.0)


def _step(axis: Floats) -> float:
    """The lattice of an axis; 0 if it is only that of an even movement."""
    step = lattice(axis)
    if not step or len(np.unique(axis)) < FEWEST:
        return 0.0
    turns = np.unique(np.abs(np.round(np.diff(axis) / step)))
    bends = np.abs(np.diff(axis, 2)) > 0.5 * step
    return step if len(turns) > TURNS and float(bends.mean()) > UNEVEN else 0.0


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
    "Positions stand on a lattice of {step:number} ({kind}), where a step from packet to packet is"
    " {usual:number}.",
    "Slow movement goes in stairs, and its direction wavers; velocities taken from positions do so"
    " even more.",
    "Send more bits, or positions relative to a near origin; against stairs a strategy that smooths"
    " (a filter, a spline with a delay).",
    "least distance between different coordinates, of which all others are multiples; whether all"
    " are half-precision numbers",
    "a tenth of the usual step",
    "IEEE 754 binary16; lattice of least differences",
    look,
    explains=("stamps", "fixed-step", "velocity"),
    rank=68,
)
