"""A pattern for a log in sentences, proposed from one of its lines, and the reader of such logs."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import NamedTuple

from epic_cli.engine.packets import PacketBlock
from epic_cli.engine.refusals import Reading, Reason
from epic_cli.engine.text import RecordScanner
from epic_cli.recordings.lines import LineReader
from epic_cli.recordings.names.guess import AmbiguousLayout, infer_layout, join_value
from epic_cli.recordings.names.spellings import EYES, OTHER_WORDS, POSITION_WORDS, VELOCITY_WORDS
from epic_cli.recordings.read_spec import compile_pattern, split_joined

#: What stands behind a name, which may be in quotes.
_NAMED = r"[\x22']?\s*[=:]"

_NUMBER = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?"

#: So much of a line is looked at, and for so long (s).
_LOOKED_AT, _LIMIT = 1000, 0.1

#: What a group takes, by what it took in the line: as simple as can be.
_TAKES_NUMBER, _TAKES_COUNT, _TAKES_NAME = r"[-+.e\d]+", r"\d+", r"\w+"
_TAKES_DATE, _TAKES_TIME = r"[-.\d]+[T -][\d:.,]+", r"[\d:.,]+"

#: Times with a name: the sender's, the receiver's, and those that do not say whose they are.
_NAMED_TIME = re.compile(
    r"\b(?P<key>t|ts|now|\w*(?:time|stamp|sent|recv|received|arrival|arrived)(?:_ms)?)[\x22']?\s*[=:]"
    rf"\s*(?P<value>{_NUMBER})(?![\d:]|-\d)",
    re.I,
)
_SENT = re.compile("sent|send|server|remote", re.I)
_RECEIVED = re.compile("rec|arriv|local|now", re.I)

#: Others: the game's own come before those of the logger.
_TIMES = (
    (re.compile(r"\b(?P<key>tick|frame)[\x22']?\s*[=:]?\s*(?P<value>\d+)", re.I), _TAKES_COUNT),
    (
        re.compile(r"(?P<value>\d{4}[-.]\d\d[-.]\d\d[T -]\d\d[:.]\d\d[:.]\d\d(?:[.,:]\d+)?)"),
        _TAKES_DATE,
    ),
    (re.compile(r"(?P<value>\d\d:\d\d:\d\d(?:[.,]\d+)?)"), _TAKES_TIME),
    (
        re.compile(rf"^\s*(?:\[\s*|[Aa]t\s+)?(?P<value>{_NUMBER})(?=[,\s(\[\]]|:\s)"),
        _TAKES_NUMBER,
    ),
    (re.compile(r"\s(?P<value>\d{10,19})\s*$"), _TAKES_COUNT),  # InfluxDB's line protocol
)

#: A unit behind a time at the front of a line: ``[139 ms]``.
_MILLISECONDS = re.compile(r"\s*(?:ms|msec|millis)\b", re.I)
_VECTOR = re.compile(
    r"(?:(?P<word>[A-Za-z]*)\s*[=:@]*\s*(?:V|D?Vec[234]A?|Vector[23f]*|FVector)?[(\[<{]"
    r"|\b(?P<place>(?i:set)?(?i:pos|position|origin|loc|location))[\s=:]+"
    rf"|\b(?P<bare>[A-Za-z]+)(?:\s*[=:]\s*(?:[A-Za-z_]\w*,\s*)?|\s+)"
    rf"(?={_NUMBER},\s*{_NUMBER},\s*{_NUMBER}(?![,\w])))"
    r"\s*(?:[Xx]\s*[=:]\s*)?"
    rf"(?P<x>{_NUMBER})[dfF]?[,;\s]+(?:[Yy]\s*[=:]\s*)?(?P<y>{_NUMBER})[dfF]?"
    rf"(?:[,;\s]+(?:[Zz]\s*[=:]\s*)?(?P<z>{_NUMBER})[dfF]?)?(?![,;\s]*[-+]?\.?\d)\s*"
    r"(?:[)\]>}]|(?!\S)|(?=[;|])|(?<=\s)(?=[A-Za-z]))"
)
_AXIS = re.compile(rf"\b(?P<axis>v?[xyz]){_NAMED}\s*(?P<value>{_NUMBER})", re.I)
#: Numbers with decimals that may be a position: ``col 9.81 row 10.07``, ``at 9.81/10.07``; and
#: words in front of other numbers.
_NAMED_NUMBERS = re.compile(
    r"\b(?P<first>[A-Za-z]\w*)\s*[=:]?\s*(?P<x>[-+]?\d+\.\d+)"
    r"(?:\s*/\s*|,?\s+(?P<second>[A-Za-z]\w*)\s*[=:]?\s*)(?P<y>[-+]?\d+\.\d+)(?![\w./])"
)
_NO_PLACES = OTHER_WORDS | VELOCITY_WORDS | frozenset((
    "dt", "fps", "hp", "health", "lag", "latency", "loss", "ping", "rate", "rtt", "score",
    "jitter", "ms", "s", "after", "within", "took", "version", "v1", "hz",
))  # fmt: skip
_OTHERS = (
    ("seq", re.compile(r"\bseq\w*[\x22']?\s*[=:#]\s*(?P<value>\d+)", re.I), _TAKES_COUNT),
    (
        "entity",
        re.compile(
            r"\b(?:entity|player|actor|(?:net|player)?id|name)[\x22']?\s*[=:]\s*[\x22']?"
            r"(?P<value>\w+)",
            re.I,
        ),
        _TAKES_NAME,
    ),
)


#: Names of vectors that are positions.
_POSITIONS = POSITION_WORDS | {"at", "setpos", "to"}


class _Vector(NamedTuple):
    """A vector in the line: its name, and where its components stand."""

    name: str
    spans: dict[str, tuple[int, int]]


class _Piece(NamedTuple):
    """The place of a field in a line, and the pattern of its group."""

    begin: int
    end: int
    name: str
    takes: str


def propose(
    line: str, ahead: Sequence[str] = (), counts: bool = True, logged: bool = False
) -> tuple[Reading, ...]:
    """Return patterns with a group for each field found in the line; empty: too few fields.

    There is one for each vector that may be the position. ``ahead`` are lines below: a word that
    changes there may name the entity. Without ``counts`` a tick is no time beside another. With
    ``logged`` the time is that at which the line was written, if it begins with one.
    """
    line = line[:_LOOKED_AT]
    written = _find_time_of_line(line) if logged else None
    times = [written] if written is not None else _find_times(line, counts)
    others = [*times, *_find_other_pieces(line)]
    found = list(_find_vectors(line)) or list(_find_named_numbers(line))
    velocity = next(
        (vector for vector in found if set(_split_words(vector)[-1:]) & VELOCITY_WORDS), None
    )
    patterns = []
    for position in _find_positions(found):
        pieces = sorted([*others, *_split_axes(position, "")])
        if velocity is not None:
            pieces = sorted([*pieces, *_split_axes(velocity, "v")])
        if not any(piece.name == "entity" for piece in pieces):
            pieces = sorted([*pieces, *_find_changing_words(line, ahead, pieces)])
        pattern = _make_pattern(line, pieces)
        rate = [("unit", "ticks@HZ")] if any(piece.name == "tick" for piece in pieces) else []
        if pattern is not None:
            patterns.append(Reading((("pattern", pattern), *rate)))
    return tuple(patterns)


def _make_pattern(line: str, pieces: Sequence[_Piece]) -> str | None:
    """Return a pattern that finds these pieces in this line and similar ones; None if it fails."""
    pattern, at = "", 0
    for piece in pieces:
        if piece.begin < at:
            return None
        before = line[at : piece.begin]
        pattern += f"{_make_group_pattern(before, at == 0)}(?P<{piece.name}>{piece.takes})"
        at = piece.end
    try:
        found = compile_pattern(pattern).search(line, timeout=_LIMIT)
    except (ValueError, TimeoutError):
        return None
    values = {} if found is None else found.groupdict()
    right = all(values.get(piece.name) == line[piece.begin : piece.end] for piece in pieces)
    whole = {"x", "y"} <= set(values) and {"time", "time_ms", "tick"} & set(values)
    return pattern if right and whole else None


def _make_group_pattern(text: str, first: bool) -> str:
    """Return the regular expression in front of a group.

    It has the end of ``text`` that names the group's number (``pos: (``); what stands before that
    end may be anything, except in the ``first`` group of a line.
    """
    kept = re.search(
        r"(?:[^\s\d]+[=:]\s|[A-Za-z]+\s(?=[(\[<{]+$))?[^\s\d]*[^\w\s]*\s?$|^\D{1,4}$", text
    )
    lead = kept.group() if kept else ""
    passed = "" if first or len(lead) == len(text) else ".*?"
    plain = re.escape(lead).replace("\\ ", " ").replace("\\=", "=").replace("\\:", ":")
    return passed + re.sub("  +", r"\\s*", plain)  # which numbers of more digits need not have


def _find_times(line: str, counts: bool) -> list[_Piece]:
    """Return the pieces of a line that are times; with ``counts`` a tick comes before a clock."""
    named = {found["key"].lower(): found for found in _NAMED_TIME.finditer(line)}
    if named:
        received = [one for key, one in named.items() if _RECEIVED.search(key)]
        others = [hit for hit in named.values() if hit not in received] or received
        sent = next((other for other in others if _SENT.search(other["key"])), others[0])
        received += [other for other in others if other is not sent]
        name = "time_ms" if sent["key"].lower().endswith("_ms") else "time"
        pieces = [_Piece(*sent.span("value"), name, _TAKES_NUMBER)]
        if received and received[0] is not sent:
            pieces.append(_Piece(*received[0].span("value"), "arrival", _TAKES_NUMBER))
        written = _find_time_of_line(line) or _find_number_of_line(line) if counts else None
        if len(pieces) == 1 and written is not None and written.end <= pieces[0].begin:
            pieces.append(written._replace(name=written.name.replace("time", "arrival")))
        return pieces
    ticks: list[_Piece] = []
    for pattern, takes in _TIMES:
        found = pattern.search(line)
        if found and "key" in found.groupdict():
            ticks = [_Piece(*found.span("value"), "tick", takes)] if counts else []
        elif found and (not ticks or found.end("value") <= ticks[0].begin):
            # in front of a tick it says when the line was written
            unit = "_ms" if _MILLISECONDS.match(line, found.end("value")) else ""
            name = "arrival" if ticks else "time"
            return [_Piece(*found.span("value"), name + unit, takes), *ticks]
    return ticks


def _find_time_of_line(line: str) -> _Piece | None:
    """Return the time of day or the date with which a line begins, if any."""
    for pattern, takes in _TIMES[1:3]:
        found = pattern.match(line, len(line) - len(line.lstrip(" \t[(<")))
        if found:
            return _Piece(*found.span("value"), "time", takes)
    return None


def _find_number_of_line(line: str) -> _Piece | None:
    """Return the seconds or milliseconds with which a line begins, if any."""
    pattern, takes = _TIMES[3]
    found = pattern.match(line)
    if found is None:
        return None
    unit = "_ms" if _MILLISECONDS.match(line, found.end("value")) else "_s"
    counts = unit == "_s" and "." not in found["value"]  # lines, or frames
    return None if counts else _Piece(*found.span("value"), f"time{unit}", takes)


def _find_changing_words(
    line: str, ahead: Sequence[str], pieces: Sequence[_Piece]
) -> Iterator[_Piece]:
    """Yield the word that takes a few values repeatedly in similar lines."""
    words = list(re.finditer(r"[^\s,;:\"'\[\](){}=]+(?:\(\w+\))?", line))
    rows = [re.findall(r"[^\s,;:\"'\[\](){}=]+(?:\(\w+\))?", name) for name in ahead]
    alike = [row for row in rows if len(row) == len(words)]
    for place, word in enumerate(words):
        values = [word.group(), *(row[place] for row in alike)]
        begin, end = word.span()
        apart = all(end <= piece.begin or piece.end <= begin for piece in pieces)
        named = all(re.search(r"[A-Za-z_]", item) or item.isdigit() for item in values)
        clock = re.search(r"\d[:.]$", line[:begin]) or re.match(r"[:.]\d", line[end:])
        if apart and named and not clock and 1 < len(set(values)) <= len(values) // 3:
            takes = (
                _TAKES_NAME
                if all(re.fullmatch(r"\w+", value) for value in values)
                else r"[^\s,;:]+"
            )
            yield _Piece(begin, end, "entity", takes)
            return


def _find_positions(found: Sequence[_Vector]) -> list[_Vector]:
    """Return the vectors that may be the position: those with the likeliest names."""
    meant = [
        vector for vector in found if not set(_split_words(vector)) & (OTHER_WORDS | VELOCITY_WORDS)
    ]
    seen = [vector for vector in meant if not EYES & set(_split_words(vector))]
    named = [vector for vector in seen if set(_split_words(vector)[-1:]) & _POSITIONS]
    likeliest = named or seen or meant
    return likeliest if all(vector.name for vector in likeliest) else likeliest[:1]


def _split_words(one: _Vector) -> list[str]:
    """Return the words of a vector's name: ``localPosition`` is a position, ``lookAt`` is none."""
    return [word.lower() for word in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+", one.name)]


def _split_axes(one: _Vector, prefix: str) -> Iterator[_Piece]:
    for axis, span in one.spans.items():
        yield _Piece(*span, prefix + axis, _TAKES_NUMBER)


def _find_vectors(line: str) -> Iterator[_Vector]:
    """Yield the possible vectors of a line: in brackets, behind a name, or with named axes."""
    for found in _VECTOR.finditer(line):
        spans = {axis: found.span(axis) for axis in "xyz" if found[axis] is not None}
        yield _Vector(found["word"] or found["place"] or found["bare"] or "", spans)
    axes = list(_AXIS.finditer(line))
    for prefix in ("", "v"):
        spans = {}
        for found in axes:
            if found["axis"].lower().startswith("v") == bool(prefix):
                spans.setdefault(found["axis"].lower()[-1], found.span("value"))
        if {"x", "y"} <= set(spans):
            yield _Vector("velocity" if prefix else "", spans)


def _find_named_numbers(line: str) -> Iterator[_Vector]:
    """Yield the first two numbers with decimals side by side, each behind a word of its own."""
    for found in _NAMED_NUMBERS.finditer(line):
        words = {(found["first"] or "").lower(), (found["second"] or "").lower()}
        if not words & _NO_PLACES:
            yield _Vector("", {axis: found.span(axis) for axis in "xy"})
            return


def _find_other_pieces(line: str) -> list[_Piece]:
    found = ((name, pattern.search(line), takes) for name, pattern, takes in _OTHERS)
    return [_Piece(*one.span("value"), name, takes) for name, one, takes in found if one]


#: This many lines are looked at for one that a pattern can be made of.
_PATIENCE = 100

#: How Unreal's logs write the time of day.
_UNREAL_TIME = re.compile(r"(\d{4})\.(\d\d)\.(\d\d)-(\d\d)\.(\d\d)\.(\d\d):(\d{3})")
_SHORTEST_TIME = len("2024.05.01-12.34.56:789")

#: So long (s of the processor) a pattern is looked for in a line: one that backtracks has no end.
LIMIT = 1.0


class PatternReader(LineReader):
    """A reader of the lines in which ``layout.pattern`` is found; others are skipped.

    Its named groups are to a line what the columns are to a row of a table. Without a pattern the
    first line from which one can be made is refused, with that.
    """

    def begin(self) -> None:
        """Set the reader's own state, with the compiled pattern of the layout."""
        pattern = self.layout.pattern
        self._pattern = None if pattern is None else compile_pattern(pattern)
        self._fields: dict[str, int] = {}
        self._joined: dict[str, list[int]] = {}  # groups that together have a field
        self._adopted = False  # the pattern is that of a line of this file
        self._first: tuple[int, bytes] | None = None

    def take_line(self, block: PacketBlock, line: str, raw: bytes, begin: int) -> None:
        """Take a packet from a line in which the pattern is found."""
        if self._pattern is None and not self._adopt_proposal(line):
            self._propose(block, line, raw)
            return
        self._first = self._first or (self._line, raw)
        assert self._pattern is not None
        try:
            found = self._pattern.search(line.rstrip("\r\n"), timeout=LIMIT)
        except TimeoutError:
            self.refuse(block, raw, 0, Reason.PATTERN_TOO_SLOW, limit=LIMIT)
            self.ended = True
            return
        if found is None and self.records is None and self._adopt_proposal(line):
            found = self._pattern.search(line.rstrip("\r\n"), timeout=LIMIT)
        waits = self.records is None and self._inherits and self._has_lines_of_its_own
        if found is None or waits:
            return
        if self.records is not None or self._settle_layout(block, found.groupdict(""), raw):
            groups = found.groups("")
            fields = {field: _simplify_text(groups[place]) for field, place in self._fields.items()}
            for field, parts in self._joined.items():
                texts = (groups[place] for place in parts)
                fields[field] = join_value(field, self.layout.places[field], texts)
            self.add(block, fields, begin, raw)

    @property
    def _inherits(self) -> bool:
        """True for a file beside the recording without a pattern of its own."""
        beside = self.layout.packets is not None and self.layout.own.pattern is None
        return beside and not self._adopted

    @cached_property
    def _has_lines_of_its_own(self) -> bool:
        """True for a file that has the packets' lines, and lines of frames among them."""
        if self._pattern is None:
            return False
        lines = [chunk.decode("utf-8", "replace") for chunk in self._ahead]
        try:
            own = [line for line in lines if not self._pattern.search(line, timeout=LIMIT)]
        except TimeoutError:
            return False
        return len(own) < len(lines) and any(self._find_own_pattern(line) for line in own)

    def _find_own_pattern(self, line: str) -> str | None:
        """Return the pattern of a line of a file beside the recording; None if none is sure."""
        packets = self.layout.packet_layout
        ahead = [chunk.decode("utf-8", "replace") for chunk in self._ahead]
        logged = packets is not None and packets.arrival_unit == "iso"
        readings = propose(line, ahead, counts=False, logged=logged)
        if len(readings) != 1 or len(readings[0].entries) != 1:
            return None
        return readings[0].entries[0][1]

    def _adopt_proposal(self, line: str) -> bool:
        """Take the pattern of a line of a file beside the recording; False if none is sure."""
        pattern = self._find_own_pattern(line) if self._inherits else None
        if pattern is None:
            return False
        self.layout = self.layout._replace(pattern=pattern)
        self._pattern, self._adopted = compile_pattern(pattern), True
        return True

    def _propose(self, block: PacketBlock, line: str, raw: bytes) -> None:

        self._first = self._first or (self._line, raw)
        readings = propose(line, [chunk.decode("utf-8", "replace") for chunk in self._ahead])
        if readings or self._line >= _PATIENCE:
            if not readings:
                self._line, raw = self._first
            self.refuse(block, raw, 0, Reason.IN_SENTENCES, readings=readings)
            self.ended = True

    def _settle_layout(self, block: PacketBlock, groups: dict[str, str], raw: bytes) -> bool:
        try:
            layout = infer_layout(
                self.layout, {name: _simplify_text(text) for name, text in groups.items()}
            )
        except AmbiguousLayout as ambiguous:
            named = ambiguous.reason is Reason.COLUMN_UNCLEAR
            reason = Reason.GROUP_MISSING if named else ambiguous.reason
            self.refuse(block, raw, 0, reason, **ambiguous.facts)
            self.ended = True
            return False
        assert self._pattern is not None
        numbers = self._pattern.groupindex
        places = layout.places
        self._fields = {
            field: numbers[name] - 1 for field, name in places.items() if name in numbers
        }
        self._joined = {
            field: [numbers[part] - 1 for part in split_joined(column)]
            for field, column in places.items()
            if column not in numbers
        }
        self.records = RecordScanner(self.entities, decimal_comma=True, **layout.units)
        self.settle(layout)
        return True

    def take_end(self, block: PacketBlock) -> None:
        """Refuse the recording if the pattern was found in no line."""
        if self.records is None and self._first is not None:
            self._line, raw = self._first
            given = self._pattern is not None
            self.refuse(block, raw, 0, Reason.PATTERN_NOT_FOUND if given else Reason.IN_SENTENCES)

    def split_cells(self, raw: bytes) -> dict[str, str]:
        """Return the groups of a line by name."""
        line = raw.decode("utf-8", "replace").rstrip("\r\n")
        with contextlib.suppress(TimeoutError):
            found = None if self._pattern is None else self._pattern.search(line, timeout=LIMIT)
            return {} if found is None else dict(found.groupdict(""))
        return {}

    def find_field(self, raw: bytes, name: str) -> int:
        """Return the offset of a field in a line."""
        line = raw.decode("utf-8", "replace").rstrip("\r\n")
        if self._pattern is None or name not in self._fields:
            return 0
        with contextlib.suppress(TimeoutError):
            found = self._pattern.search(line, timeout=LIMIT)
            begin = found.start(self._fields[name] + 1) if found else 0
            return len(line[: max(begin, 0)].encode())
        return 0


def _simplify_text(text: str) -> str:
    if len(text) < _SHORTEST_TIME:
        return text
    return _UNREAL_TIME.sub(r"\1-\2-\3T\4:\5:\6.\7", text)
