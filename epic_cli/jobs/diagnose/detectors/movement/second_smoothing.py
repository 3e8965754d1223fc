"""Two smoothings on top of each other: a low-pass after a strategy that already smooths."""

from __future__ import annotations

import math

from epic_cli.jobs.diagnose.detectors import DRAWN, Detector, Finding
from epic_cli.jobs.diagnose.remedies import make_drawing_remedy
from epic_cli.metrics.traffic import Traffic


def detect(traffic: Traffic) -> list[Finding]:
    """Find frames that strategies explain only with an additional low-pass."""
    from epic_cli.jobs.diagnose.drawn.drawn_match import (  # needed where something was drawn
        CLEARER,
        DrawnMatch,
    )

    match = traffic.drawn
    assert isinstance(match, DrawnMatch)
    if not match.smoothed:
        return []
    best, without = match.best, match.without
    if match.mechanism is not None and best.constant < match.mechanism.interval:
        return []  # a short one behind a buffer only rounds the corners at its states
    statistic = without.residual / max(best.residual, match.enough)
    return [
        Finding(
            "second-smoothing",
            min(1.0, without.residual / match.step),
            statistic,
            CLEARER,
            {
                "strategy": best.candidate.label,
                "constant": best.constant,
                "alpha": -math.expm1(-match.frame / best.constant),
                "frame": match.frame,
                "left": best.residual / match.step,
                "without": without.residual / match.step,
                "other": without.candidate.label,
            },
            entities=tuple(row.entity for row in match.entities if row.entity and row.constant),
            remedy=make_drawing_remedy(best.candidate, "lag"),
        )
    ]


DETECTOR = Detector(
    "second-smoothing",
    "it is smoothed twice",
    "What the game drew is what {strategy} draws, behind a low-pass with a time constant of"
    " {constant:s}: the error is {left:share} of a usual step; without the low-pass {other} comes"
    " nearest, with {without:share}.",
    "Everything is drawn another {constant:s} later, corners are cut, and each correction is spread"
    " out: it floats.",
    "Keep one of the two: draw what {strategy} gives as it is. A lerp by {alpha:share} in each"
    " frame of {frame:s}, or a damping with this time constant, is on top of it.",
    "RMS distance between what the game drew and what each strategy draws in the same frames,"
    " behind a low-pass and without one",
    "it is twice as large without a low-pass, and below 5 % of a usual step with it",
    "least squares of a first-order lag; settings by coordinate search over their tuning ranges",
    detect,
    cost="n times the settings that are tried",
    needs=(DRAWN,),
    rank=81,
)
