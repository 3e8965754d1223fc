"""Compile binary layouts of datagrams: a line of text becomes the steps that read a record."""

from __future__ import annotations

import math
import re
from dataclasses import astuple, dataclass, field
from typing import Any, NoReturn

from epic_cli.engine.intake import PARTS, RecordReader
from epic_cli.engine.keys import BY_NAME, KEYS, KeyType
from epic_cli.recordings.datagrams.counts import Refused

# By what has stopped the reading (`Why` in `record_program.h`).
_CUT, _UNEQUAL, _UNKNOWN, _NO_TIME = 2, 3, 4, 6
_REFUSED = {
    1: Refused.EMPTY, _CUT: Refused.NOT_RECORDS, _UNEQUAL: Refused.OTHER_VALUE,
    _UNKNOWN: Refused.OTHER_TYPE, 5: Refused.BAD_NAME, _NO_TIME: Refused.NOT_PACKETS,
}  # fmt: skip


class RecordLayout:
    """The content of a datagram, in the order of its bytes.

    Records, or messages with groups of records. Fields: a field is ``NAME:TYPE``. Names are
    ``time``, ``x``, ``y``, ``z``, ``vx``, ``vy``, ``vz``, ``qx`` to ``qw``, ``wx`` to ``wz``
    (rad/s), ``id`` (the entity's name), ``seq`` and ``teleport`` (any value but 0). ``_`` skips a
    field, ``_:12`` skips 12 bytes, ``...`` skips the rest.

    Types: ``i1`` to ``i64`` and ``u1`` to ``u64`` have this number of bits; ``f16`` to ``f64``;
    ``char[16]`` is a text of 16 bytes, or up to a zero byte among them; ``char[]`` is a text up to
    a zero byte, which belongs to it. From the word ``big`` on, numbers are big-endian and begin
    with the highest bits of a byte; from ``little`` on, which is the default, little-endian with
    the lowest bits first. There is no implicit padding, except that texts, skipped bytes, messages,
    and records up to the end begin with a whole byte. ``&MASK`` selects bits, ``*FACTOR`` or
    ``/DIVISOR`` and then ``+OFFSET`` convert units, ``=VALUE`` refuses all other values.

    Groups: ``{...}[n]`` are n records, where n is a number, an earlier field, or a type for a count
    in front of the records; without n, records go on to the end. Earlier fields outside of the
    group hold for each record. Texts have their lengths in the same way. ``kind=1{...} kind=2{...}
    else{...}`` is a choice by the value of an earlier field, ``flags&4{...}`` by its bits;
    ``NAME:FIELD&MASK`` is a field made of bits of an earlier field. Fields that are referred to, or
    have a ``=VALUE``, may have any name. The whole layout is repeated to the end of the datagram.

    Raises ``ValueError`` for anything else, with the place in the text.
    """

    def __init__(self, text: str) -> None:
        parser = LayoutParser(text)
        #: Bytes of a record; the least where they differ.
        self.size = parser.least
        self._fixed = parser.fixed
        self._steps = [astuple(step) for step in parser.steps]
        self._words = parser.words
        spans = set(parser.spans)
        #: Seconds after which an unsigned time field below 64 bits starts over; None: never.
        self.time_span = spans.pop() if len(spans) == 1 else None

    def make_reader(self) -> RecordReader:
        """Return a scanner of such datagrams."""
        return RecordReader(self._steps)

    def describe_refusal(self, size: int, stop: tuple[int, ...]) -> tuple[Refused, str]:
        """Return the reason of a refusal and, in words, where the reader stopped.

        ``size`` is the length of the datagram in bytes.
        """
        _, why, step, place, record, value = stop
        words = f"a datagram of {size:,} bytes"
        if why == _CUT and self._fixed:
            return _REFUSED[why], f"{words}; a record has {self.size:,}"
        words += f": reading stopped at byte {place:,}, at {self._words[step]!r}"
        words += f" of record {record:,}" if record else ""
        if why in (_UNEQUAL, _UNKNOWN) and not isinstance(self._steps[step][-1], bytes):
            words += f", where {value} ({value % 2**64:#x}) stands"
        return _REFUSED[why], words + (", which has no time" if why == _NO_TIME else "")


#: By name: the letter that the reader has for it, and its bytes.
TYPES = {
    "i8": ("b", 1), "u8": ("B", 1), "i16": ("h", 2), "u16": ("H", 2), "i24": ("t", 3),
    "u24": ("T", 3), "i32": ("i", 4), "u32": ("I", 4), "i64": ("q", 8), "u64": ("Q", 8),
    "f16": ("e", 2), "f32": ("f", 4), "f64": ("d", 8),
}  # fmt: skip

_BITS = re.compile(r"([ui])([1-9]|[1-5]\d|6[0-4])")


def parse_type(word: str) -> tuple[str, int] | None:
    """Return the reader's letter for a type, and the type's bits; 12 for ``u12``."""
    if word in TYPES:
        return TYPES[word][0], 8 * TYPES[word][1]
    found = _BITS.fullmatch(word)
    return ("N" if found[1] == "u" else "n", int(found[2])) if found else None


# What a step does, and that it goes on to the end: as `record_program.h` has them.
TAKE, TEXT, SKIP, LOOP, NEXT, BRANCH, JUMP, UNKNOWN, EMIT = range(9)
REST = -2


@dataclass
class LayoutStep:
    """A step of a layout's program; fields stand in the order in which the reader takes them."""

    code: int
    part: str = ""
    kind: str = ""
    big: bool = False
    mask: int = 0
    scale: float = 1.0
    per: float = 1.0
    add: float = 0.0
    source: int = -1
    variable: int = -1
    jump: int = 0
    number: int = 0
    value: int | bytes | None = None


@dataclass
class Scope:
    """The names that a word of the layout can refer to: the fields before it, and whole numbers.

    ``variables`` hold the step that reads each number, and the number's type. ``blocks`` are the
    names in each part of the record that is present or absent as a whole.
    """

    given: set[str]
    variables: dict[str, tuple[int, str]]
    blocks: list[set[str]] = field(default_factory=list)


_ORDERS = ("little", "big")
_RESERVED = (*_ORDERS, "char", "else")
_WHOLE = [
    part
    for key in KEYS
    if key.type in (KeyType.NAME, KeyType.COUNT, KeyType.FLAG)
    for part in key.parts
]
_AXES, _SPEEDS, _TURNS, _SPINS = (
    set(BY_NAME[name].parts) for name in ("position", "velocity", "rotation", "spin")
)

#: Bytes; no datagram holds more. And this many words, and groups within groups.
_LONGEST, _MOST_WORDS, _DEEPEST = 65507, 1000, 12

_NUMBER = r"[\w.]+(?:(?<=[eE])[-+]\d+)?"
_FIELD = re.compile(
    r"(?P<name>[A-Za-z_]\w*):(?P<type>\w+)(?:\[(?P<length>\w*)\])?(?:&(?P<mask>\w+))?"
    rf"(?:(?P<by>[*/])(?P<factor>[-+]?{_NUMBER}))?(?P<add>[-+]{_NUMBER})?(?:=(?P<value>.+))?"
)
_CONDITION = re.compile(r"(\w+)([=&])([-+]?\w+)")
_TOKEN = re.compile(r"\}(?:\[\w*\])?|\{|[^\s,{}]+")


class LayoutParser:
    """A parser of layouts; raises ``ValueError`` with the place of the mistake.

    ``least`` is the least length of a message (bytes), which is its only length if it is ``fixed``.
    ``words`` are the words that the ``steps`` come from, ``spans`` the seconds after which times
    start over.
    """

    def __init__(self, text: str) -> None:
        self._tokens = [(match[0], match.start() + 1) for match in _TOKEN.finditer(text)]
        self._at = self._depth = 0
        self._big = self._emits = False
        self._unknown: dict[str, int] = {}
        self.steps: list[LayoutStep] = []
        self.words: list[str] = []
        self.spans: list[float | None] = []
        self.fixed = True
        if len(self._tokens) > _MOST_WORDS:
            raise ValueError(f"a layout has at most {_MOST_WORDS:,} words")
        self.least = -(-self._parse_record(Scope(set(), {})) // 8)
        if self._current_word:
            self._raise_error("no { is open")
        for name, at in self._unknown.items():
            self._at = at
            known = ", ".join(("time", *(part for part in PARTS if part != "time")))
            self._raise_error(
                f"{name!r} is not a field: {known}, _ to skip, or what is referred to"
            )
        if not self._emits:
            raise ValueError(f"a record needs {'x' if self.spans else 'time'}, as time:f32 x:f32")
        if self.least > _LONGEST:
            raise ValueError(
                f"a record of {self.least:,} bytes is too long for a datagram: leave out fields"
            )

    @property
    def _current_word(self) -> str:
        return self._tokens[self._at][0] if self._at < len(self._tokens) else ""

    def _raise_error(self, words: str) -> NoReturn:
        place = f"at character {self._tokens[self._at][1]}" if self._current_word else "at the end"
        raise ValueError(f"{words} ({place})")

    def _add_step(self, code: int, **more: Any) -> int:
        """Add a step that belongs to the current word; return the step's index."""
        self.words.append(self._current_word)
        self.steps.append(LayoutStep(code, **more))
        return len(self.steps) - 1

    def _parse_whole_number(self, text: str, what: str, least: int, most: int) -> int:
        try:
            number = int(text, 0)
        except ValueError:
            number = most + 1
        if not least <= number <= most:
            self._raise_error(f"{self._current_word!r}: {text!r} is not {what}")
        return number

    def _parse_record(self, scope: Scope) -> int:
        """Parse a record, the whole layout or a repeated group; return its smallest size in bits.

        A record with a position is a packet.
        """
        scope = Scope(set(scope.given), dict(scope.variables))
        least = self._parse_body(scope)
        names = set[str]().union(*scope.blocks)
        for block in scope.blocks:
            if block & _AXES and "x" not in block:
                self._raise_error("a record needs x, as x:f32, beside y and z")
            axes = [block & _AXES] if block & _AXES else [group & _AXES for group in scope.blocks]
            if (speeds := {packet[1] for packet in block & _SPEEDS}) and speeds not in axes:
                self._raise_error("velocities are of the same axes as the position, or left out")
            turns, spins = len(block & _TURNS), len(block & _SPINS)
            if turns % 4 or spins % 3 or (spins and not names & _TURNS):
                self._raise_error("a rotation is qx, qy, qz and qw; wx, wy and wz may be beside it")
        if names & _AXES:
            if "time" not in scope.given:
                self._raise_error("a record needs time, as time:f32, in it or before it")
            self._add_step(EMIT)
            self._emits = True
        if not least and (names or self._depth):
            self._raise_error("this may have no bytes at all")
        return least

    def _parse_body(self, scope: Scope) -> int:
        """Parse the words up to a closing brace or the end; return their smallest size in bits."""
        least = 0
        scope.blocks.append(set())
        self._depth += 1
        if self._depth > _DEEPEST:
            self._raise_error(f"more than {_DEEPEST} groups are within each other")
        while self._current_word and self._current_word[0] != "}":
            following = self._tokens[self._at + 1][0] if self._at + 1 < len(self._tokens) else "}"
            if self._current_word in _ORDERS:
                self._big = self._current_word == "big"
            elif self._current_word == "...":
                self.fixed = False
                self._add_step(SKIP, source=REST)
                if following[0] != "}":
                    self._raise_error("nothing can stand behind ...")
            elif self._current_word == "{":
                least += self._parse_group(scope)
            elif following == "{" and ":" not in self._current_word:
                least += self._parse_choice(scope)
                continue
            else:
                least += self._parse_field(scope, scope.blocks[-1])
            self._at += 1
        self._depth -= 1
        return least

    def _parse_group(self, scope: Scope) -> int:
        """Parse ``{...}[n]``; return the smallest size of the group in bits."""
        self.fixed = False
        big = self._big
        self._at += 1
        counted = self._add_step(SKIP)  # becomes a count in front, where there is one
        loop = self._add_step(LOOP)
        each = self._parse_record(scope)
        if "[" not in self._current_word:
            self._raise_error(
                "}[n] is expected: a number, a field, a type, or nothing for up to the end"
            )
        length = self._current_word[2:-1]
        source, number, least = (
            self._parse_amount(length, scope, counted) if length else (REST, 0, 0)
        )
        self.steps[counted].big = big
        self.steps[loop].source, self.steps[loop].number = source, number
        self.steps[loop].jump = self._add_step(NEXT, source=source, jump=loop)
        return least + each * number

    def _parse_choice(self, scope: Scope) -> int:
        """Parse ``kind=1{...} kind=2{...} else{...}``, or ``flags&4{...} else{...}``.

        Return least bits.
        """
        self.fixed = False
        ends: list[int] = []
        leasts: list[int] = []
        values: set[int] = set()
        given: set[str] = set()
        found, otherwise = _CONDITION.fullmatch(self._current_word), False
        while True:
            if not otherwise:
                if found is None:
                    self._raise_error(
                        f"{self._current_word!r} is not FIELD=VALUE or FIELD&MASK, before {{"
                    )
                name, mark, text = found.groups()
                value = (
                    self._parse_whole_number(text, "a whole number", -(2**63), 2**64 - 1) % 2**64
                )
                if value in values or (mark == "&" and not value):
                    self._raise_error(f"{self._current_word!r} is never true")
                values.add(value)
                source = self._find_reference(name, scope)
                mask = value if mark == "&" else 0
                branch = self._add_step(BRANCH, mask=mask, source=source, value=value)
            self._at += 2
            inner = Scope(set(scope.given), dict(scope.variables), scope.blocks)
            leasts.append(self._parse_body(inner))
            given |= inner.given
            if self._current_word != "}":
                self._raise_error("} is expected")
            ends.append(self._add_step(JUMP))
            self._at += 1
            if otherwise:
                break
            self.steps[branch].jump = len(self.steps) - 1
            found, otherwise = (
                _CONDITION.fullmatch(self._current_word),
                self._current_word == "else",
            )
            same = mark == "=" and found is not None and found.groups()[:2] == (name, "=")
            if not same and not otherwise:
                if mark == "&":
                    leasts.append(0)
                else:
                    self._add_step(UNKNOWN, source=source)
                    self.words[-1] = name
                break
        for end in ends:
            self.steps[end].jump = len(self.steps) - 1
        scope.given |= given
        return min(leasts)

    def _find_reference(self, name: str, scope: Scope) -> int:
        if name not in scope.variables:
            self._raise_error(f"{self._current_word!r}: no whole number {name!r} stands before it")
        self._unknown.pop(name, None)
        return scope.variables[name][0]

    def _parse_amount(
        self, text: str, scope: Scope, before: int | None = None
    ) -> tuple[int, int, int]:
        """Parse a length or count.

        Return its variable or -1, its number, and the bits that store it. A count in front of the
        counted records is a step of its own, which replaces the step at ``before``.
        """
        if text.isdigit():
            return -1, self._parse_whole_number(text, f"from 1 to {_LONGEST}", 1, _LONGEST), 0
        known = parse_type(text)
        if known is None:
            return self._find_reference(text, scope), 0, 0
        kind, bits = known
        if text[0] == "f":
            self._raise_error(f"{self._current_word!r}: a count is a whole number")
        at = self._add_step(SKIP) if before is None else before
        size = bits if kind in "nN" else bits // 8
        self.steps[at] = LayoutStep(TAKE, kind=kind, big=self._big, variable=at, number=size)
        return at, 0, bits

    def _parse_field(self, scope: Scope, names: set[str]) -> int:
        """Parse a field; return its smallest size in bits."""
        word = self._current_word
        found = _FIELD.fullmatch(word)
        name, kind, length = found.group("name", "type", "length") if found else ("", "", None)
        if word[:2] == "_:" and word[2:].isdigit():
            size = self._parse_whole_number(word[2:], f"from 1 to {_LONGEST}", 1, _LONGEST)
            self._add_step(SKIP, number=size)
            return 8 * size
        text = kind == "char" and length is not None
        known = text or (length is None and (parse_type(kind) or kind in scope.variables))
        if found is None or not known:
            types = ", ".join(TYPES)
            self._raise_error(
                f"{word!r} is not NAME:TYPE, with a type of {types}, u1 to u64, char[16]"
            )
        if name in PARTS:
            if name in scope.given:
                self._raise_error(f"{name} is given twice")
            scope.given.add(name)
            names.add(name)
        elif name in _RESERVED or parse_type(name):
            self._raise_error(f"{name!r} is no name for a field")
        elif name != "_" and found["value"] is None:
            self._unknown[name] = self._at
        return (self._parse_text if text else self._parse_number)(found.groupdict(), scope)

    def _parse_text(self, found: dict[str, Any], scope: Scope) -> int:
        """Parse a text, ``id:char[16]``, or up to a zero byte, ``id:char[]``.

        Return its least bits.
        """
        name, value = found["name"], found["value"]
        if (name in PARTS and name != "id") or found["mask"] or found["by"] or found["add"]:
            self._raise_error(f"{self._current_word!r}: a text is not a number")
        length = found["length"]
        source, number, before = self._parse_amount(length, scope) if length else (REST, 0, 8)
        self.fixed &= source == -1
        expected = value and value.encode()
        if expected is not None and number and len(expected) != number:
            self._raise_error(
                f"{self._current_word!r}: {value!r} has {len(expected)} bytes, not {number}"
            )
        part = name if name == "id" else ""
        self._add_step(TEXT, part=part, source=source, number=number, value=expected)
        return before + 8 * number

    def _parse_number(self, found: dict[str, Any], scope: Scope) -> int:
        """Parse a number, ``x:i16*0.01-100`` or ``teleport:flags&4``; return its size in bits."""
        name, kind, value = found["name"], found["type"], found["value"]
        source = -1 if parse_type(kind) else self._find_reference(kind, scope)
        kind = kind if source < 0 else scope.variables[kind][1]
        letter, bits = parse_type(kind) or ("", 0)
        size, real = bits if letter in "nN" else bits // 8, kind[0] == "f"
        if real and (found["mask"] or value is not None):
            self._raise_error(f"{self._current_word!r}: only whole numbers have &MASK and =VALUE")
        mask = (
            self._parse_whole_number(found["mask"], "a mask for it", 1, 2**bits - 1)
            if found["mask"]
            else 0
        )
        if mask:
            kind, letter = "u64", {"q": "Q", "n": "N"}.get(letter, letter)
        signed = kind[0] == "i"
        if (name in ("id", "seq") and real) or (name == "seq" and signed):
            self._raise_error(f"{name} is a whole number, as {name}:u16")
        if value is not None:
            least = -(2 ** (bits - 1)) if signed else 0
            value = (
                self._parse_whole_number(value, f"a number of {bits} bits", least, 2**bits - 1)
                % 2**64
            )
        by = "per" if found["by"] == "/" else "scale"
        factor = self._parse_factor(found["factor"] or "1", name, 1e-12)
        at = self._add_step(TAKE, kind=letter, big=self._big, mask=mask, **{by: factor})
        step = self.steps[at]
        step.part, step.source, step.number = name if name in PARTS else "", source, size
        step.add, step.value = self._parse_factor(found["add"] or "0", name, 0.0), value
        if name != "_" and not real:
            step.variable = at
            scope.variables[name] = at, kind
        if name == "time":
            width = mask.bit_length() - (mask & -mask).bit_length() + 1 if mask else bits
            span = 2.0**width * abs(step.scale) / abs(step.per)
            self.spans.append(span if kind[0] == "u" and width < 64 else None)
        return bits if source < 0 else 0

    def _parse_factor(self, text: str, name: str, least: float) -> float:
        try:
            number = float(text)
        except ValueError:
            number = math.nan
        if text not in "01" and (name in _WHOLE or name not in PARTS):
            number = math.nan
        if not least <= abs(number) <= 1e12:
            self._raise_error(f"{self._current_word!r}: {text!r} is not a valid factor for {name}")
        return number
