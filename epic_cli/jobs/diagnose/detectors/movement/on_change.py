"""States that are sent only when they have changed."""

from __future__ import annotations

from epic_cli.jobs.diagnose.detectors import Detector, Finding, select_worst
from epic_cli.jobs.diagnose.remedies import Remedy
from epic_cli.jobs.diagnose.remedies.packets import fill_rests
from epic_cli.metrics.digits import format_seconds
from epic_cli.metrics.traffic import FEWEST_RESTS, RESTED, SILENT, Stream, Traffic


def detect(traffic: Traffic) -> list[Finding]:
    """Find pauses in sending while an entity rests, without missing sequence numbers."""
    return select_worst(
        (_detect_in_stream(stream) for stream in traffic.streams), by=lambda one: one.share
    )


def _detect_in_stream(stream: Stream) -> Finding | None:
    places = stream.rests
    if not len(places):
        return None
    silences = stream.intervals[places]
    return Finding(
        "on-change",
        float(silences.sum()) / float(stream.times[-1] - stream.times[0]),
        float(len(places)),
        float(FEWEST_RESTS),
        {
            "times": float(len(places)),
            "longest": float(silences.max()),
            "least": float(stream.steps[stream.steps > 0].min()),
        },
        float(stream.times[places[0]]),
        float(stream.times[places[int(silences.argmax())]]),
        stream.entities,
        remedy=Remedy(
            f"the last state repeated every {format_seconds(stream.period)} while it rests",
            "step_error",
            packets=fill_rests,
        ),
    )


DETECTOR = Detector(
    "on-change",
    "states are only sent when they change",
    "{times:time} nothing is sent for up to {longest:s} while the entity rests; the"
    " smallest change that is sent is {least:number}.",
    "An interpolator creeps from the old state to the new one over the whole silence, instead of"
    " resting and then starting.",
    "Repeat the last state every period while an entity rests (or once before it starts), or have"
    " the strategy take silence for rest.",
    f"intervals above {SILENT} periods without a gap in the sequence numbers, in which the entity"
    f" moves by no more than {RESTED} usual steps",
    f"there are {FEWEST_RESTS} of them",
    "definition",
    detect,
    rank=46,
)
