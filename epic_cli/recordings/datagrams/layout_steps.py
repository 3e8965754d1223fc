"""What binary layouts are made of: types of numbers, the steps of a reader, what words refer to."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

#: By name: the letter that the reader has for it, and its bytes.
TYPES = {
    "i8": ("b", 1), "u8": ("B", 1), "i16": ("h", 2), "u16": ("H", 2), "i24": ("t", 3),
    "u24": ("T", 3), "i32": ("i", 4), "u32": ("I", 4), "i64": ("q", 8), "u64": ("Q", 8),
    "f16": ("e", 2), "f32": ("f", 4), "f64": ("d", 8),
}  # fmt: skip

_BITS = re.compile(r"([ui])([1-9]|[1-5]\d|6[0-4])")


def type_of(word: str) -> tuple[str, int] | None:
    """The reader's letter for a type, and its bits; ``u12`` has as many as it says."""
    if word in TYPES:
        return TYPES[word][0], 8 * TYPES[word][1]
    found = _BITS.fullmatch(word)
    return ("N" if found[1] == "u" else "n", int(found[2])) if found else None


# What a step does, and that it goes on to the end: as `record_program.h` has them.
TAKE, TEXT, SKIP, LOOP, NEXT, BRANCH, JUMP, UNKNOWN, EMIT = range(9)
REST = -2


@dataclass
class Step:
    """In the order in which the reader takes them."""

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
    """What is known where a word stands: names that are given, and whole numbers to refer to.

    ``variables`` have the step that reads them, and their type. ``blocks`` are the names in each
    part of the record that is there as a whole.
    """

    given: set[str]
    variables: dict[str, tuple[int, str]]
    blocks: list[set[str]] = field(default_factory=list)
