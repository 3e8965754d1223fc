"""Logs in sentences: a regular expression says where the fields stand in their lines."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from epic_cli.recordings import Fit, Format, Head

if TYPE_CHECKING:
    from epic_cli.engine.packets import Entities
    from epic_cli.recordings import OnRead, Reader
    from epic_cli.recordings.read_spec import ReadSpec

#: What logs write that tables do not: a name before a number, a vector, words before a number.
_SENTENCE = (
    rb"[A-Za-z_] ?[=:] ?[\[({]?[-+.\d]"
    rb"|[A-Za-z]\w* ?[=:]? ?[\[({] ?(?:[Xx] ?= ?)?[-+.\d]"
    rb"|^\s*[-+.\d]+[,;\s]*[\[({][-+.\d]"
    rb"|^\s*[-+.\d]+ [A-Za-z]\w* [-+.\d]+, [-+.\d]"
    rb"|[A-Za-z]{2} (?:[^,;\t|]* )?[A-Za-z]{2}[^,;\t|]*\d"
)

#: This many names with a value are no table's.
_ASSIGNED, _ASSIGNMENTS = rb"[A-Za-z_]\w+ ?=", 3

#: Nor is a vector behind its name.
_VECTOR = rb"[A-Za-z]{2} ?[:=] ?[-+.\d]+, [-+.\d]+(?![:\d])"

#: This many lines are looked at, and so much of each.
_LINES, _LOOKED_AT = 6, 400


def is_sentence(line: bytes) -> bool:
    """Return True if a line is a sentence with numbers in it, and not a row of cells."""
    line = line[:_LOOKED_AT]
    if not re.search(_SENTENCE, line):
        return False
    if len(re.findall(_ASSIGNED, line)) >= _ASSIGNMENTS or re.search(_VECTOR, line):
        return True
    from epic_cli.recordings.entries.csv import split_header
    from epic_cli.recordings.lines import find_numbers
    from epic_cli.recordings.names.guess import is_value

    _, cells = split_header(line)
    if any(cell.count("(") != cell.count(")") for cell in cells):
        return True  # its commas are those of vectors
    values = sum(1 if is_value(cell) else len(find_numbers(cell) or ()) for cell in cells)
    return values < 3 or 2 * values < len(cells)


class Sentences(Format):
    """Logs in sentences, read by a pattern; without one a log is refused, with a proposal."""

    name = "sentences"

    def detect(self, head: Head) -> Fit:
        """Look at the words in most lines."""
        if head.begins_as_json:
            return Fit.NO
        lines = head.lines[:_LINES]
        return Fit.WORDS if lines and 2 * sum(map(is_sentence, lines)) >= len(lines) else Fit.NO

    def make_reader(
        self, layout: ReadSpec | None, on_read: OnRead, entities: Entities | None, head: bytes
    ) -> Reader:
        """Return a reader that searches each line for the pattern."""
        from epic_cli.recordings.entries.sentences.reader import PatternReader

        reader = PatternReader(layout, on_read, entities)
        reader.look_ahead(head)
        return reader


FORMATS = (Sentences(),)
