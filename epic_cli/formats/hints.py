"""What looks wrong in a recording that can be read: guesses from its first packets, as values."""

from __future__ import annotations

import re
from enum import Enum
from typing import NamedTuple

from epic_cli.engine.measure import Survey, survey
from epic_cli.engine.packets import PacketBlock
from epic_cli.formats.wording import FrontEnd

#: Stretches that have to agree before velocities are doubted, and packets where there are none.
_STRETCHES, _PACKETS = 5, 12

#: Velocities are the slope of the positions to about a tenth where they can be judged (``survey``
#: leaves out what bends too much): five times that is beyond noise and rounding.
_FACTOR, _SAME_WAY, _OTHER_WAY = 2.0, 0.9, 0.5

#: Another order of axes has to fit as a velocity does that is right.
_EXACT = 0.98

_UNITS = {"ms": 1e3, "us": 1e6, "ns": 1e9}
_UNIT_NAMES = {"ms": "milliseconds", "us": "microseconds", "ns": "nanoseconds"}

#: Whole-numbered times with such steps are no seconds, but for the usual rates of slow loggers.
_LONG_STEP, _LOGGERS = 5, (5, 10, 15, 30, 60)

#: Unix times from 1998 to 2128, in seconds.
_UNIX = (9e8, 5e9)

#: The orders of axes that ``Survey.cosines`` is about, after their own.
_ORDERS = ("xzy", "yxz", "zyx", "yzx", "zxy")

#: The words that packet text knows, and how like one of them a misspelt one is.
_WORDS, _SPELT = ("arrival", "entity", "seq", "teleport", "delta"), 0.75

_WORD = re.compile(rb"[ \t]([A-Za-z][A-Za-z_]*)=")

#: So much of the text is looked at.
_TEXT = 16384


class Doubt(Enum):
    """What looks wrong, in words with the facts of a ``Hint``."""

    #: ``name``: ms, us or ns; ``value``: the median step
    TIME_UNIT = (
        "times look like {unit} ({value:,.6g} from packet to packet) and are taken for seconds;"
        " for a table, {time_unit}"
    )
    #: ``value``: the latest time
    UNIX_TIMES = (
        "times look like Unix times, of which single precision keeps minutes at best;"
        " subtract the first; for a table, {time_origin}"
    )
    ZERO_VELOCITIES = (
        "all velocities are 0, though the positions move; for a table, {no_velocities} leaves them"
        " out"
    )
    #: ``value``: how many times too long they are
    VELOCITY_SCALE = (
        "velocities are about {value:.3g} times as long as the positions move in a second"
    )
    #: ``name``: the order of the velocity's axes that fits
    VELOCITY_AXES = "velocities fit the positions if their x, y, z are taken for {axes}"
    VELOCITY_UNRELATED = "velocities do not go the way that the positions go"
    #: ``name``: the word; ``near``: the known one
    MISSPELT_WORD = "{name}= is not known and passed over; did you mean {near}=?"


class Hint(NamedTuple):
    """Something that looks wrong, and the facts that belong to it."""

    doubt: Doubt
    name: str = ""
    near: str = ""
    value: float = 0

    @property
    def option(self) -> str:
        """The name of the option that would have said what is doubted; empty: there is none."""
        return {Doubt.TIME_UNIT: "time-unit", Doubt.UNIX_TIMES: "time-origin"}.get(self.doubt, "")

    @property
    def key(self) -> tuple[object, ...]:
        """What makes two hints the same; their numbers may differ."""
        return self.doubt, self.name

    def words(self, front_end: FrontEnd) -> str:
        """What looks wrong, and what may help."""
        return self.doubt.value.format(
            **self._asdict(),
            unit=_UNIT_NAMES.get(self.name),
            axes=", ".join(self.name),
            time_unit=front_end.option("time-unit", self.name),
            time_origin=front_end.option("time-origin", "first"),
            no_velocities=front_end.option("columns", "vx=,vy=,vz="),
        )


def hints(packets: PacketBlock) -> list[Hint]:
    """What looks wrong with the packets with which a recording begins."""
    figures = survey(packets)
    found = [_unit(figures), _unix(figures), _velocity(figures)]
    return [hint for hint in found if hint is not None]


def word_hints(text: bytes) -> list[Hint]:
    """What looks misspelt behind the numbers of packet text."""
    lines = (line.partition(b"#")[0] for line in text[:_TEXT].splitlines())
    words = {word.decode() for line in lines for word in _WORD.findall(line)}
    words.difference_update(_WORDS)
    if not words:
        return []
    from difflib import get_close_matches  # only a mistake needs it

    near = {word: get_close_matches(word.lower(), _WORDS, 1, _SPELT) for word in sorted(words)}
    return [Hint(Doubt.MISSPELT_WORD, word, known[0]) for word, known in near.items() if known]


def _unit(figures: Survey) -> Hint | None:
    """Times in a smaller unit: by the velocities, or else by the steps."""
    for name, size in _UNITS.items():
        if _judged(figures):
            fits = figures.cosines[0] >= _SAME_WAY and _near(figures.ratio, size)
        else:
            fits = (
                figures.packets >= _PACKETS
                and figures.moves > 0
                and figures.velocities == figures.zeros
                and figures.whole
                and _LONG_STEP <= figures.step < size
                and figures.step not in _LOGGERS
            )
        if fits:
            return Hint(Doubt.TIME_UNIT, name, value=figures.step)
    return None


def _unix(figures: Survey) -> Hint | None:
    begins = figures.packets > 0 and _UNIX[0] <= figures.latest <= _UNIX[1]
    return Hint(Doubt.UNIX_TIMES, value=figures.latest) if begins else None


def _velocity(figures: Survey) -> Hint | None:
    if figures.zeros == figures.velocities >= _PACKETS and figures.moves >= _PACKETS - 2:
        return Hint(Doubt.ZERO_VELOCITIES)
    if not _judged(figures):
        return None
    own, *others = figures.cosines
    if own >= _SAME_WAY:
        scaled = not _near(figures.ratio, 1) and not any(
            _near(figures.ratio, size) for size in _UNITS.values()
        )
        return Hint(Doubt.VELOCITY_SCALE, value=figures.ratio) if scaled else None
    best = max(others)
    if best >= _EXACT and _near(figures.ratio, 1):
        return Hint(Doubt.VELOCITY_AXES, _ORDERS[others.index(best)])
    return Hint(Doubt.VELOCITY_UNRELATED) if own < _OTHER_WAY else None


def _judged(figures: Survey) -> bool:
    return figures.stretches >= _STRETCHES


def _near(ratio: float, size: float) -> bool:
    return size / _FACTOR <= ratio <= size * _FACTOR
