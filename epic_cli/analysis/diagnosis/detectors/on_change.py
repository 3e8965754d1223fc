"""States that are only sent when they have changed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from epic_cli.analysis.diagnosis.finding import Detector, Finding
from epic_cli.analysis.truth import lengths

if TYPE_CHECKING:
    from epic_cli.analysis.diagnosis.traffic import Flags, Stream, Traffic

#: In periods.
LONG = 2.5

LEAST = 3

#: In usual steps: an entity that rested and has just begun to move has come no further.
REST = 1.5

#: In what it would have come at its usual pace.
SLOW = 0.45

#: In its usual pace: the velocity of an entity that rests, where one is given.
STILL = 0.2


def look(traffic: Traffic) -> list[Finding]:
    """Holes in time while an entity rests, without holes in the sequence numbers."""
    worst: Finding | None = None
    for stream in traffic.streams:
        silent = _silent(stream)
        places = np.flatnonzero(silent)
        if len(places) < LEAST:
            continue
        lengths = stream.intervals[places]
        share = float(lengths.sum()) / float(stream.times[-1] - stream.times[0])
        if worst is not None and share <= worst.share:
            continue
        moving = stream.steps[stream.steps > 0]
        worst = Finding(
            "on-change",
            share,
            float(len(places)),
            float(LEAST),
            {
                "times": float(len(places)),
                "longest": float(lengths.max()),
                "least": float(moving.min()),
            },
            float(stream.times[places[0]]),
            float(stream.times[places[int(lengths.argmax())]]),
            (stream.name,) if stream.name else (),
        )
    return [] if worst is None else [worst]


def _silent(stream: Stream) -> Flags:
    long = stream.intervals > LONG * stream.period
    return np.asarray(long & rested(stream) & stream.follows)


def rested(stream: Stream) -> Flags:
    """In which intervals the entity has come no further than in a usual step."""
    moving = stream.steps > 0
    if not moving.any():
        return np.zeros(len(moving), bool)
    usual = float(np.median(stream.steps[moving]))
    pace = usual / stream.period
    slow = stream.steps <= SLOW * pace * stream.intervals
    if stream.has_velocities:
        speeds = lengths(np.nan_to_num(stream.velocities[:-1]))
        slow &= speeds <= STILL * pace
    return np.asarray((stream.steps <= REST * usual) & slow)


DETECTOR = Detector(
    "on-change",
    "states are only sent when they change",
    "{times:number} times nothing is sent for up to {longest:s} while the entity rests; the least"
    " change that is sent is {least:number}.",
    "An interpolator goes slowly from the old state to the new one over the whole silence, instead"
    " of resting and then starting.",
    "Repeat the last state once a period while something rests (or once before it starts), or tell"
    " the strategy that silence is rest.",
    "intervals above 2.5 periods without a hole in the sequence numbers, in which the entity moves"
    " by no more than 1.5 usual steps",
    "3 of them",
    "definition of sending on change",
    look,
    explains=("send-rate",),
    rank=46,
)
