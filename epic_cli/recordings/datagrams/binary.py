"""Binary records, as games send them: ``time:u32*0.001 x:f32 y:f32 z:f32 id:u16``."""

from __future__ import annotations

from dataclasses import astuple

from epic_cli.engine.intake import RecordReader
from epic_cli.recordings.datagrams.counts import Refused
from epic_cli.recordings.datagrams.layout_grammar import LayoutParser

# By what has stopped the reading (`Why` in `record_program.h`).
_CUT, _UNEQUAL, _UNKNOWN, _NO_TIME = 2, 3, 4, 6
_REFUSED = {
    1: Refused.EMPTY, _CUT: Refused.NOT_RECORDS, _UNEQUAL: Refused.OTHER_VALUE,
    _UNKNOWN: Refused.OTHER_TYPE, 5: Refused.BAD_NAME, _NO_TIME: Refused.NOT_PACKETS,
}  # fmt: skip


class RecordLayout:
    """What a datagram holds, in the order of its bytes: records, or messages with groups of them.

    A field is ``NAME:TYPE``. Names are ``time``, ``x``, ``y``, ``z``, ``vx``, ``vy``, ``vz``,
    ``qx`` to ``qw``, ``wx`` to ``wz`` (rad/s), ``id`` (that names the entity), ``seq`` and
    ``teleport`` (not 0: yes); ``_`` is skipped, ``_:12`` are so many bytes, ``...`` all that is
    left. Types are ``i1`` to ``i64`` and ``u1`` to ``u64``, of as many bits, ``f16`` to ``f64``,
    ``char[16]``, a text that ends there or before a zero byte, and ``char[]``, one up to and with a
    zero byte. Numbers are big-endian, and begin with a byte's highest bits, from the word ``big``
    on, little-endian from its lowest bits on from ``little`` on and before. There is no implicit
    padding, except that texts, skipped bytes, messages and records up to the end begin with a byte.
    ``&MASK`` takes some of the bits, ``*FACTOR`` or ``/DIVISOR`` and then ``+OFFSET`` make other
    units, ``=VALUE`` refuses what is not that.

    ``{...}[n]`` are so many records: a number, a field before them, a type for a count in front of
    them, or nothing: up to the end. What stands before them holds in each. Texts have their lengths
    in the same way. ``kind=1{...} kind=2{...} else{...}`` is there for one value of a field before
    it, ``flags&4{...}`` for one of the bits; ``NAME:FIELD&MASK`` are bits of one. Fields that are
    referred to, or have a ``=VALUE``, may have any name. The whole is repeated to the end of the
    datagram. Raises ``ValueError`` for anything else, with its place.
    """

    def __init__(self, text: str) -> None:
        parser = LayoutParser(text)
        #: Bytes of a record; the least where they differ.
        self.size = parser.least
        self._fixed = parser.fixed
        self._steps = [astuple(one) for one in parser.steps]
        self._words = parser.words
        spans = set(parser.spans)
        #: Seconds after which an unsigned time field below 64 bits starts over; None: never.
        self.time_span = spans.pop() if len(spans) == 1 else None

    def reader(self) -> RecordReader:
        """A scanner of such datagrams."""
        return RecordReader(self._steps)

    def refusal(self, size: int, stop: tuple[int, ...]) -> tuple[Refused, str]:
        """The reason, and in words where the reader stopped in a datagram of so many bytes."""
        _, why, step, place, record, value = stop
        words = f"a datagram of {size:,} bytes"
        if why == _CUT and self._fixed:
            return _REFUSED[why], f"{words}; a record has {self.size:,}"
        words += f": reading stopped at byte {place:,}, at {self._words[step]!r}"
        words += f" of record {record:,}" if record else ""
        if why in (_UNEQUAL, _UNKNOWN) and not isinstance(self._steps[step][-1], bytes):
            words += f", where {value} ({value % 2**64:#x}) stands"
        return _REFUSED[why], words + (", which has no time" if why == _NO_TIME else "")
