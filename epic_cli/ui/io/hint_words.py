"""Hints in words: what looks wrong in a recording, and what may help."""

from __future__ import annotations

from epic_cli.formats.hints import Doubt, Hint
from epic_cli.formats.wording import FrontEnd

_UNIT_NAMES = {"ms": "milliseconds", "us": "microseconds", "ns": "nanoseconds"}


def hint_words(hint: Hint, front_end: FrontEnd) -> str:
    """What looks wrong in a recording, and what may help."""
    unit = front_end.option("time-unit", hint.name)
    origin = front_end.option("time-origin", "first")
    without = front_end.option("columns", "vx=,vy=,vz=")
    return {
        Doubt.TIME_UNIT: f"times look like {_UNIT_NAMES.get(hint.name)} ({hint.value:,.6g} from"
        f" packet to packet) and are taken for seconds; for a table, {unit}",
        Doubt.UNIX_TIMES: "times look like Unix times, of which single precision keeps minutes at"
        f" best; subtract the first; for a table, {origin}",
        Doubt.ZERO_VELOCITIES: "all velocities are 0, though the positions move; for a table,"
        f" {without} leaves them out",
        Doubt.VELOCITY_SCALE: f"velocities are about {hint.value:.3g} times as long as the"
        " positions move in a second",
        Doubt.VELOCITY_AXES: "velocities fit the positions if their x, y, z are taken for"
        f" {', '.join(hint.name)}",
        Doubt.VELOCITY_UNRELATED: "velocities do not go the way that the positions go",
        Doubt.MISSPELT_WORD: f"{hint.name}= is not known and passed over; did you mean"
        f" {hint.near}=?",
    }[hint.doubt]
