"""Positions that stand still for a while though velocities are not zero."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from epic_cli.jobs.diagnose.detectors import VELOCITIES, Detector, Finding
from epic_cli.jobs.diagnose.detectors.freezes import FAR, LEAST, find_freezes
from epic_cli.jobs.diagnose.detectors.movement.teleport import find_leaps, mark_leaps
from epic_cli.metrics.traffic import Traffic


def detect(traffic: Traffic) -> list[Finding]:
    """Find runs of one repeated position whose velocities are not zero."""
    found = [(stream, run) for stream in traffic.streams for run in find_freezes(stream)]
    if not found:
        return []
    lasted = [float(one.times[run.end] - one.times[run.begin]) for one, run in found]
    begins = [float(one.times[run.begin]) for one, run in found]
    together = len(traffic.streams) > 1 and len(found) == len(traffic.streams) * len(
        set(np.round(begins, 3))
    )
    names = sorted({one.name for one, _ in found} - {""})
    return [
        Finding(
            "frozen",
            min(1.0, 2 * sum(lasted) / max(traffic.duration, 1.0)),
            max(lasted),
            0.0,
            {
                "times": float(len(set(np.round(begins, 3))) if together else len(found)),
                "longest": max(lasted),
                "what": "the positions of all entities stay" if together else "the position stays",
                "cure": "Look for what blocks the simulation's step while its sender goes on: all"
                " entities freeze at once."
                if together
                else "Send the position that goes with the velocity: look for a transform that is"
                " read before the step, is asleep, or is replicated at another rate than the"
                " velocity.",
            },
            min(begins),
            begins[int(np.argmax(lasted))],
            tuple(names),
        )
    ]


def remove_cause(traffic: Traffic) -> Traffic:
    """Return the traffic with the leaps at the ends of these runs marked as teleports."""
    streams = []
    for stream in traffic.streams:
        ends = {place for run in find_freezes(stream) for place in range(run.end - 1, run.end + 2)}
        own = [leap for leap in find_leaps(stream) if ends & set(range(leap.begin, leap.end + 1))]
        streams.append(mark_leaps(stream, own))
    return replace(traffic, streams=tuple(streams))


DETECTOR = Detector(
    "frozen",
    "positions freeze while velocities go on",
    "{times:time} {what} the same for up to {longest:s} while the velocity says"
    " that the entity moves; then it leaps to where it should be.",
    "Interpolators stop and then slide after it, predictors shake between the velocity and the old"
    " place.",
    "{cure}",
    f"runs of {LEAST} and more equal positions, whose velocities lead {FAR:g} usual steps away",
    "there is one such run",
    "displacement is the integral of velocity",
    detect,
    needs=(VELOCITIES,),
    explains=("teleport", "velocity", "stamps", "fixed-step", "noise"),
    mended=remove_cause,
    rank=4,
)
