"""Words for frames that no strategy explains."""

from __future__ import annotations

from typing import TYPE_CHECKING

from epic_cli.jobs.diagnose.report.parts import SAME_TIME
from epic_cli.jobs.diagnose.report.sentences import fill_template
from epic_cli.metrics.digits import format_seconds

if TYPE_CHECKING:
    from epic_cli.jobs.diagnose.drawn.drawn_match import DrawnMatch

#: What the remaining difference goes with, where frames are understood in part.
_RESTS = {
    "path": " What is left lies along its path: it is sooner or later than that.",
    "velocity": " What is left follows the entity's velocity.",
    "age": " What is left follows the entity's velocity, and grows until the next packet.",
    "packets": " It moves only when a packet comes, and stands in between: advance its time in each"
    " frame.",
}


#: What is true of frames that are not understood.
_KINDS = {
    "two-states": " Nearly all frames lie on the line through the last two states.",
    "path": " Nearly all frames lie on the straight lines between received states",
    "hermite": " Nearly all frames lie on curves by the packets' velocities",
    "slopes": " Nearly all frames lie on curves by the slopes between received states",
    "catmull-rom": " Nearly all frames lie on curves through the packets",
    "goal": " Nearly all steps lead straight to the newest state: what is not understood is how"
    " far.",
}


#: What is true of frames that are of no kind.
_OBSERVATIONS = {
    "turns-at-packets": "Between packets it goes straight: it turns when one comes.",
    "stands": "It stands in {share:share} of the frames in which the packets go on.",
    "ahead": "It is ahead of the newest state in {share:share} of the frames in which the packets"
    " go on.",
    "jerks": "In frames with a new packet it goes {times:number} times as fast as in others.",
    "near-path": "95 % of the frames lie within {off:share} of a step of the lines between received"
    " states, {low:s} to {high:s} behind the fastest packets (5 to 95 %).",
}


def describe_unexplained(match: DrawnMatch) -> str:
    """Return what is true of frames that are not understood, and of what is left, as sentences."""
    return _describe_kind(match) + _RESTS.get(match.rest, "")


def _describe_kind(match: DrawnMatch) -> str:
    """Return what is true of frames that are not understood, as a further sentence."""
    words = _KINDS.get(match.kind, "")
    words += "".join(
        f" {fill_template(_OBSERVATIONS[each.name], each.values)}" for each in match.seen
    )
    if match.delays is None:
        return words
    low, high = match.delays
    span = f"{format_seconds(low)} to {format_seconds(high)}"
    late = f"{span} behind the fastest packets (5 to 95 %)"
    if high - low < SAME_TIME:
        late = f"{format_seconds((low + high) / 2)} behind the fastest packets"
    return f"{words}, {late}: what is not understood is when it shows which."
