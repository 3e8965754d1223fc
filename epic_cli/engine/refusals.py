"""Refused lines of a recording, with reasons as values; ``recordings/wording.py`` has the words."""

from enum import Enum, auto
from typing import NamedTuple

from epic_cli.engine.keys import WORDS, KeyType, type_of_key

#: The numbers of a line of packet text in their order, and what separates them.
PIECES = ("x", "y", "z", "vx", "vy", "vz", "t")
SEPARATORS = (",", ",", "/", ",", ",", "/")


class Reason(Enum):
    """A reason to refuse a line; comments name the fields of ``Refusal`` that its wording needs."""

    # packet text: one of PIECES (field)
    PIECE_MISSING = auto()
    PIECE_NOT_A_NUMBER = auto()
    SEPARATOR_MISSING = auto()  # after that piece
    TORN = auto()

    # the whole
    NO_PACKETS = auto()

    # fields with names, in any format (field)
    FIELD_MISSING = auto()
    FIELD_NOT_A_NUMBER = auto()
    NOT_SECONDS = auto()
    NOT_A_DATE = auto()
    NOT_DEGREES = auto()
    NOT_A_COUNT = auto()
    NOT_A_ROTATION = auto()
    NOT_A_SPIN = auto()
    NOT_AN_ANGLE = auto()
    NOT_A_FLAG = auto()
    NAME_EMPTY = auto()
    NAME_NOT_UTF8 = auto()

    # lines of CSV and JSON
    LINE_TOO_LONG = auto()  # limit: bytes
    NOT_UTF8 = auto()
    NUL_BYTE = auto()
    COLUMNS_MISSING = auto()  # names: what the header lacks; expected: the columns needed
    COLUMN_TWICE = auto()  # field
    COLUMN_UNKNOWN = auto()  # field; detail: what was given for it; names: the nearest
    STARS_IN_A_TABLE = auto()  # detail: a column with several
    COLUMN_UNCLEAR = auto()  # field; names: those that exist; detail: how to do without
    COLUMN_AMBIGUOUS = auto()  # field; names: the allowed ones
    ENTITIES_IN_A_ROW = auto()  # names: theirs
    TICKS_WITHOUT_RATE = auto()  # field; detail: the column that counts
    DATE_UNCLEAR = auto()  # field; detail: the first date; names: the formats that it may have
    NO_HEADER = auto()  # found: this many columns
    FIELD_COUNT = auto()  # found: this many; expected: the columns
    QUOTES_OPEN = auto()  # expected: the columns, where they are known
    NOT_JSON = auto()  # detail: the message of Python's decoder
    NESTED_TOO_DEEP = auto()
    PACKETS_ELSEWHERE = auto()
    NOT_AN_OBJECT = auto()  # found: this many objects in an array
    KEY_TWICE = auto()  # field
    KEY_MISSING = auto()  # field; expected: the names needed
    NOT_A_SINGLE_VALUE = auto()  # field
    NOT_UNICODE = auto()  # field

    # lines in which a pattern is looked for
    IN_SENTENCES = auto()
    PATTERN_NOT_FOUND = auto()
    PATTERN_TOO_SLOW = auto()  # limit: seconds
    GROUP_MISSING = auto()  # field

    # cells of other tables (field)
    CELL_NOT_FINITE = auto()
    CELL_OUT_OF_RANGE = auto()  # limit: the largest magnitude
    CELL_NOT_A_FLAG = auto()
    TABLE_TOO_LONG = auto()  # limit: lines

    # rows of a movement or of a recorded network (field)
    TIME_GOES_BACK = auto()  # limit: seconds, the time before
    ARRIVES_BEFORE_SENT = auto()
    DELAY_TOO_LONG = auto()  # limit: seconds
    NO_DELAY_COLUMN = auto()  # expected: one of these

    # packets without a place on the clock
    NO_ARRIVAL = auto()
    ARRIVAL_GOES_BACK = auto()
    TOO_FAR = auto()  # limit: ticks in one gap
    SINGLE_CLOCK_STALLS = auto()  # limit: seconds
    BEYOND_CLOCK = auto()  # limit: seconds


class Reading(NamedTuple):
    """A way to read a recording: entries of ``--read``, and the first packet that they give.

    ``first`` is None if this way has not been tried.
    """

    entries: tuple[tuple[str, str], ...]
    first: str = ""


class Refusal(NamedTuple):
    """A refused line: its place, the reason, and the facts that the reason's wording needs.

    ``line`` and ``column`` count from 1, columns in bytes. ``text`` is the line (or the piece of it
    that was read as one) and ``caret`` the offset of the wrong character in it. ``field`` is the
    field that is wrong. A packet without a place on the clock has the field that its pacing uses,
    ``time`` or ``arrival``. ``readings`` are those that are possible where names say too little.
    """

    line: int
    column: int
    text: bytes
    caret: int
    reason: Reason
    field: str = ""
    limit: float = 0
    found: int = 0
    names: tuple[str, ...] = ()
    expected: tuple[str, ...] = ()
    detail: str = ""
    readings: tuple[Reading, ...] = ()


#: Why the text of a key is refused, by what it has to be.
REASONS = {
    KeyType.MOMENT: Reason.NOT_SECONDS,
    KeyType.DURATION: Reason.NOT_SECONDS,
    KeyType.COUNT: Reason.NOT_A_COUNT,
    KeyType.FLAG: Reason.NOT_A_FLAG,
    KeyType.NAME: Reason.NAME_EMPTY,
    KeyType.ROTATION: Reason.NOT_A_ROTATION,
    KeyType.SPIN: Reason.NOT_A_SPIN,
    KeyType.ANGLE: Reason.NOT_AN_ANGLE,
}

#: The prefixes of a number that are not yet one.
_BEGUN = (b"+", b"-", b".", b"+.", b"-.")


def reason_for(code: int, rest: bytes) -> tuple[Reason, str]:
    """Return the reason and the field for an ``Expected`` code of the line scanner.

    ``rest`` is the text from the wrong character on.
    """
    if code > 13:
        words = list(WORDS)
        word = words[code - 14] if code - 14 < len(words) else ""
        return (REASONS[type_of_key(word)], word) if word else (Reason.NAME_NOT_UTF8, "entity")
    field = PIECES[code // 2]
    if code % 2:
        return Reason.SEPARATOR_MISSING, field
    ended = not rest.strip() or rest[:1] in (b",", b"/")
    return Reason.PIECE_MISSING if ended else Reason.PIECE_NOT_A_NUMBER, field


def piece_after(code: int, rest: bytes) -> int | None:
    """Return the code of the piece of packet text that can complete the rest of a line.

    That is the piece with this code, or the piece after it if its number has begun; None if the
    rest cannot be completed.
    """
    begun = code % 2 == 0 and rest.strip() in _BEGUN
    return None if rest.strip() and not begun else code + begun


def find_word(text: bytes, key: str, begin: int) -> int:
    """Return the offset of the value of the last ``key=value`` word in a line of packet text.

    ``begin`` is the offset of the seventh number, which is returned if there is no such word. As in
    ``scan.h``, a word that begins with ``#`` ends the words, and a NUL the line.
    """
    import re  # needed for refused packets only

    start = key.encode() + b"="
    found = begin
    for word in re.finditer(rb"(?<=\s)\S+", text[begin:].partition(b"\0")[0]):
        if word.group().startswith(b"#"):
            break
        if word.group().startswith(start):
            found = begin + word.start() + len(start)
    return found
