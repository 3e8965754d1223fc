"""States that are only sent when they have changed."""

from __future__ import annotations

import numpy as np

from epic_cli.jobs.diagnose.detectors import Detector, Finding, worst
from epic_cli.metrics.arrays import lengths
from epic_cli.metrics.traffic import Flags, Numbers, Stream, Traffic

#: In periods.
LONG = 2.5

LEAST = 3

#: In usual steps: an entity that rested and has just begun to move has come no further.
REST = 1.5

#: In what it would have come at its usual pace.
SLOW = 0.45

#: In its usual speed: the velocity of an entity that rests, where one is given.
STILL = 0.2


def detect(traffic: Traffic) -> list[Finding]:
    """Holes in time while an entity rests, without holes in the sequence numbers."""
    return worst((_of(stream) for stream in traffic.streams), by=lambda one: one.share)


def _of(stream: Stream) -> Finding | None:
    silent = stream.stretched(LONG)
    places = silent[rested(stream, silent)]
    if len(places) < LEAST:
        return None
    silences = stream.intervals[places]
    return Finding(
        "on-change",
        float(silences.sum()) / float(stream.times[-1] - stream.times[0]),
        float(len(places)),
        float(LEAST),
        {
            "times": float(len(places)),
            "longest": float(silences.max()),
            "least": float(stream.steps[stream.steps > 0].min()),
        },
        float(stream.times[places[0]]),
        float(stream.times[places[int(silences.argmax())]]),
        stream.entities,
    )


def rested(stream: Stream, places: Numbers) -> Flags:
    """In which of these intervals the entity has come no further than in a usual step."""
    usual = stream.usual_step
    pace = usual / stream.period
    steps = stream.steps[places]
    rests = (steps <= REST * usual) & (steps <= SLOW * pace * stream.intervals[places])
    if stream.has_velocities:
        rests &= lengths(np.nan_to_num(stream.velocities[places])) <= STILL * stream.usual_speed
    return np.asarray(rests & (usual > 0))


DETECTOR = Detector(
    "on-change",
    "states are only sent when they change",
    "{times:number} times nothing is sent for up to {longest:s} while the entity rests; the"
    " smallest change that is sent is {least:number}.",
    "An interpolator creeps from the old state to the new one over the whole silence, instead of"
    " resting and then starting.",
    "Repeat the last state every period while an entity rests (or once before it starts), or have"
    " the strategy take silence for rest.",
    "intervals above 2.5 periods without a gap in the sequence numbers, in which the entity moves"
    " by no more than 1.5 usual steps",
    "3 of them",
    "definition of sending on change",
    detect,
    rank=46,
)
