"""Drawn positions that change only at the simulation's ticks, not in each frame."""

from __future__ import annotations

from epic_cli.jobs.diagnose.detectors import DRAWN, Detector, Finding
from epic_cli.jobs.diagnose.remedies import make_drawing_remedy
from epic_cli.metrics.traffic import Traffic


def detect(traffic: Traffic) -> list[Finding]:
    """Find frames that repeat the previous frame's position while the entity moves."""
    from epic_cli.metrics.drawn_path import REPEATED  # where nothing was drawn, nothing needs it

    match = traffic.drawn
    assert match is not None
    if not match.tick:
        return []
    ratio = match.tick / match.frame
    beats = abs(ratio - round(ratio)) > 0.02
    return [
        Finding(
            "ticks",
            1 - 1 / ratio,
            ratio,
            REPEATED,
            {
                "ratio": ratio,
                "tick": 1 / match.tick,
                "frames": 1 / match.frame,
                "kind": "now for more frames, now for fewer, which beats" if beats else "each time",
            },
            entities=tuple(entity.entity for entity in match.entities if entity.entity),
            remedy=make_drawing_remedy(match.best.candidate),
        )
    ]


DETECTOR = Detector(
    "ticks",
    "it is drawn at ticks, not at frames",
    "Frames come at {frames:number} Hz, but positions change at {tick:number} Hz: each stays for"
    " {ratio:number} frames, {kind}.",
    "It moves in steps however smooth the strategy is, and on a fast screen it is no smoother than"
    " on a slow one.",
    "Read the strategy in each frame, at the frame's time; or interpolate between the last two"
    " ticks (Rigidbody.interpolation in Unity, physics interpolation in Godot).",
    "frames from one change of the position to the next, where it moves",
    "they are 1.12 on average, one of two neighboring numbers 93 % of the times, and no strategy"
    " with one changed setting draws that in each frame",
    'G. Fiedler, "Fix Your Timestep!", 2004',
    detect,
    needs=(DRAWN,),
    rank=82,
)
