"""What can be wrong with a line of a recording, and how to say it."""

from __future__ import annotations

from typing import NamedTuple

GRAMMAR = "x,y,z / vx,vy,vz / t [key=value ...]"

_NUMBERS = ("x", "y", "z", "vx", "vy", "vz", "t")
_SEPARATORS = (",", ",", "/", ",", ",", "/")

#: By the names in ``Expected`` (``scan.h``), which continue after the thirteen pieces.
_KEY_PROBLEMS = (
    ("arrival is not a finite number", "arrival=SECONDS"),
    ("delta is not a finite number", "delta=SECONDS"),
    ("seq is not a whole number from 0", "seq=NUMBER"),
    ("teleport is neither 0 nor 1", "teleport=0 or teleport=1"),
    ("the entity has no name", "entity=NAME"),
    ("the entity's name is not UTF-8", "entity=NAME"),
    ("one entity too many", "at most 4096 entities in one recording"),
)


class Problem(NamedTuple):
    """A refused line: where it is, what is wrong and what was expected there.

    ``line`` and ``column`` count from 1, columns in bytes. ``text`` is the line (or the piece of
    it that was read as one) and ``caret`` the offset of the wrong character in it.
    """

    line: int
    column: int
    text: bytes
    caret: int
    what: str
    expected: str


def find_word(text: bytes, key: str, begin: int) -> int:
    """Where the value of the last ``key=value`` word stands in a line of packet text."""
    import re  # only a refused packet needs it

    tail = text[begin:].partition(b"#")[0]
    found = [match.end() for match in re.finditer(rb"\s%s=" % key.encode(), tail)]
    return begin + (found[-1] if found else 0)


#: What a number may begin with before it is one.
_BEGUN = (b"+", b"-", b".", b"+.", b"-.")


def grammar_after(code: int, rest: bytes) -> str:
    """The grammar from the piece with this ``Expected`` code on, if ``rest`` may become it."""
    begun = code % 2 == 0 and rest.strip() in _BEGUN
    if rest.strip() and not begun:
        return ""
    pieces = [f" {mark} " if mark == "/" else mark for mark in _SEPARATORS]
    grammar = [piece for pair in zip(_NUMBERS, [*pieces, ""], strict=True) for piece in pair]
    return "".join(grammar[code + begun :])


def describe(code: int, rest: bytes) -> tuple[str, str]:
    """What is wrong, and what was expected, for an ``Expected`` code of the line scanner.

    ``rest`` is the text from the wrong character on.
    """
    if code > 13:
        return _KEY_PROBLEMS[code - 14]
    if code % 2:
        name, separator = _NUMBERS[code // 2], _SEPARATORS[code // 2]
        return f"no '{separator}' after {name}", GRAMMAR
    name = _NUMBERS[code // 2]
    ended = not rest.strip() or rest[:1] in (b",", b"/")
    return f"{name} is missing" if ended else f"{name} is not a number", GRAMMAR
