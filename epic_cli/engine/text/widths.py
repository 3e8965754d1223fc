"""The terminal columns that a text takes, and cutting it to fit.

Terminals agree on single characters: CJK takes two columns, a combining mark none. They differ on
emoji sequences: some show a family as one glyph of two columns, others as its members. The wider
reading is used here, so that no line is too long on any of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

ELLIPSIS = "…"


def width(text: str) -> int:
    """Return the columns that a text without control characters takes."""
    if text.isascii():
        return len(text)
    from wcwidth import wcswidth, wcwidth  # most text is ASCII

    return max(wcswidth(text), sum(max(wcwidth(character), 0) for character in text))


def printable(text: str, kept: str = "") -> str:
    """Return a text with its control characters escaped, except those in ``kept``."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() or c in kept else ascii(c)[1:-1] for c in text)


def some(names: Iterable[str], most: int = 4) -> str:
    """Return the first few of these names, and the number of the others."""
    names = list(names)
    if len(names) <= most + 1:
        return ", ".join(names)
    return f"{', '.join(names[:most])} and {len(names) - most:,} others"


class Count(int):
    """A number that is formatted with the noun it counts, given in the singular.

    ``{:packet}`` is ``1 packet`` or ``1,200 packets``, ``{:entity}`` ``2 entities``; of
    ``{:is|are}`` the one that fits is written.
    """

    def __format__(self, word: str) -> str:
        """Format the number: with a noun, ``{:packet}``, or as an integer, ``{:,}``.

        Of two words, ``{:is|are}``, return the one that agrees with the number.
        """
        one, either, many = word.partition("|")
        if either:
            return one if self == 1 else many
        if not re.match("[a-z]{2}", word, re.IGNORECASE):
            return format(int(self), word)
        several = f"{word[:-1]}ies" if re.search("[^aeiou]y$", word) else f"{word}s"
        return f"{int(self):,} {word if self == 1 else several}"


def cut(text: str, columns: int) -> str:
    """Return a text cut to this many columns (1 or more); an ellipsis marks the cut."""
    whole, text = text, text[: 8 * columns + 64]  # more marks than that on a letter may go
    if text == whole and width(text) <= columns:
        return text
    end = min(len(text), columns)
    while end < len(text) and width(text[: end + 1]) < columns:
        end += 1
    while end and width(text[:end]) >= columns:
        end -= 1
    return text[:end] + ELLIPSIS


def pad(text: str, columns: int, right: bool = False) -> str:
    """Pad a text with blanks behind it, or (``right``) before it; cut a text that is too long."""
    text = cut(text, columns)
    blanks = " " * (columns - width(text))
    return blanks + text if right else text + blanks


def wrap(text: str, columns: int, indent: str = "") -> list[str]:
    """Break a paragraph into lines of at most this many columns, between words where possible.

    ``indent`` stands in front of every line but the first, which keeps its own.
    """
    lines: list[str] = []
    line = text[: len(text) - len(text.lstrip())]
    for word in text.split():
        joined = f"{line} {word}" if line.strip() else line + word
        if width(joined) <= columns:
            line = joined
            continue
        if line.strip():
            lines.append(line)
        line = indent + word
        while width(line) > columns:
            head = _count_fitting_characters(line, columns)
            lines.append(line[:head])
            line = indent + line[head:]
    return [*lines, line] if line.strip() or not lines else lines


def _count_fitting_characters(text: str, columns: int) -> int:
    """Return how many characters of a text fit the width, at least one non-blank character."""
    end = len(text) - len(text.lstrip()) + 1
    while end < len(text) and width(text[: end + 1]) <= columns:
        end += 1
    return end
