"""Guesses of what an unreadable recording is, from its first refused lines."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from enum import Enum

from epic_cli.engine.refusals import Reason, Refusal
from epic_cli.recordings.entries.sentences import is_sentence
from epic_cli.recordings.entries.text import is_packet


class Appearance(Enum):
    """A kind of unreadable recording, in words that continue "this looks like"."""

    PARQUET = "a Parquet file; it is no text"
    BINARY = "binary data; packets are text"
    ROWS = "the rows that epic replay writes; it takes packets"
    MARKUP = "XML or HTML; a table or JSON lines can be read"
    JSON_LINES = "JSON lines: --read jsonl"
    JSON_DOCUMENT = "one JSON document: --read json, if it is an array"
    TABLE = "a table: --read csv"
    PACKET_TEXT = "packet text: --read text"
    LOG = "a log with numbers in sentences: --read pattern=REGEX says where they stand"


#: What files of other kinds begin with.
_MAGIC = ((b"PAR1", Appearance.PARQUET),)

#: What most lines of some kinds of text look like; the first kind that fits counts.
_KINDS: tuple[tuple[Callable[[bytes], object], Appearance], ...] = (
    (re.compile(rb"pos: .* vel: .* time: ").match, Appearance.ROWS),
    (re.compile(rb"</?[A-Za-z!?]").match, Appearance.MARKUP),
    (re.compile(rb"\{.*\}\s*$").match, Appearance.JSON_LINES),
    (re.compile(rb'[\[{\]}],?\s*$|"[^"]*"\s*:|[\[{]\s*"').match, Appearance.JSON_DOCUMENT),
    (is_sentence, Appearance.LOG),
    (re.compile(rb"[^,;\t|]*([,;\t|])[^,;\t|]*(\1[^,;\t|]*)+$").match, Appearance.TABLE),
)

#: Of these there are this many lines at least.
_VAGUE, _LINES = (Appearance.JSON_DOCUMENT, Appearance.TABLE, Appearance.LOG), 3

#: Control characters are no more of a text than this.
_CONTROLS = 0.1

#: What only another format than packet text has.
_OF_OTHERS = (
    Reason.COLUMNS_MISSING, Reason.COLUMN_TWICE, Reason.COLUMN_UNKNOWN, Reason.COLUMN_UNCLEAR,
    Reason.COLUMN_AMBIGUOUS, Reason.ENTITIES_IN_A_ROW, Reason.NO_HEADER, Reason.FIELD_COUNT,
    Reason.QUOTES_OPEN, Reason.NOT_JSON, Reason.NOT_AN_OBJECT, Reason.KEY_MISSING,
    Reason.PATTERN_NOT_FOUND,
)  # fmt: skip
_TEXT = (Reason.PIECE_MISSING, Reason.PIECE_NOT_A_NUMBER, Reason.SEPARATOR_MISSING)
_NO_JSON = (Reason.NOT_JSON, Reason.NOT_AN_OBJECT)

#: What need not be said of a recording that was read as JSON lines, or as a table.
_JSON = (Appearance.JSON_LINES,)
_TABLE = (Appearance.JSON_LINES, Appearance.TABLE, Appearance.LOG)


def guess_appearance(refusals: Sequence[Refusal]) -> Appearance | None:
    """Return what kind of file a recording looks like by its first refused lines, or None."""
    first = next((refusal for refusal in refusals if refusal.text.strip()), None)
    if first is None:
        return None
    for begin, appearance in _MAGIC:
        if first.text.startswith(begin):
            return appearance
    text = b"".join(refusal.text for refusal in refusals)
    if sum(byte < 32 and byte not in b"\t\r\n" for byte in text) > _CONTROLS * len(text):
        return Appearance.BINARY
    lines = [refusal.text.strip() for refusal in refusals if refusal.text.strip()]
    if _is_fit_of_most_lines(lines, is_packet):
        return Appearance.PACKET_TEXT if first.reason in _OF_OTHERS else None
    if first.reason is Reason.NO_HEADER:
        known: Sequence[Appearance] = (Appearance.TABLE,)
    else:
        known = () if first.reason in _TEXT else _JSON if first.reason in _NO_JSON else _TABLE
    fits = next((one for looks, one in _KINDS if _is_fit_of_most_lines(lines, looks)), None)
    if fits is None or fits in known:
        return None
    enough = len(lines) >= _LINES or first.reason is Reason.NO_HEADER
    return fits if enough or fits not in _VAGUE else None


def _is_fit_of_most_lines(lines: Sequence[bytes], fits: Callable[[bytes], object]) -> bool:
    return 2 * sum(bool(fits(line)) for line in lines) > len(lines)
