"""Values of packets under other names than the keys: carried from format to format unchanged.

The values stay in the text of their packets until they are asked for: a replay pays nothing. A name
and a value are one word of packet text, a column of a table or a member of an object. A number
stays a number, a text stays a text: a text that looks like a number is written in quotes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from enum import Enum
from functools import lru_cache
from typing import TYPE_CHECKING, Protocol

from epic_cli.engine.keys import COLUMN_KEYS, WORDS

if TYPE_CHECKING:
    from epic_cli.engine.packets import PacketBlock

    #: What a value can be; nested ones have a name each, ``stats.hp``.
    Value = str | int | float | bool

    #: The values of one packet by their names.
    Extras = dict[str, Value]

    class ExtraSource(Protocol):
        """A source of the extras of packets: the text of a block, or values beside it."""

        @property
        def extra_names(self) -> tuple[str, ...]:
            """The names that are known before any packet: those of a table's columns."""

        def find_extras(self, block: PacketBlock, index: int) -> Extras:
            """Return the extras of the packet at an index of a block."""


#: The end of the name of a column that stands for all columns that were not read.
MORE_COLUMNS = " more columns"

#: This many names of one recording are carried.
MOST_NAMES = 256

#: The names that mean something: none of them is carried.
RESERVED = frozenset((*COLUMN_KEYS, *WORDS))

_NUMBER = re.compile(r"-?(?:0|[1-9]\d{0,30})(\.\d{1,40})?([eE][-+]?\d{1,3})?")
_TRUTHS = {"true": True, "false": False}


def parse_value(text: str) -> Value:
    """Return the number or the boolean that a text is in JSON, or else the text."""
    number = _NUMBER.fullmatch(text)
    if number is None:
        return _TRUTHS.get(text, text)
    if number[1] is None and number[2] is None:
        return int(text)
    value = float(text)
    return text if value in (float("inf"), float("-inf")) else value


def unquote_value(value: Value) -> str:
    """Return a value as the text of a cell, without quotes."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return value if isinstance(value, str) else repr(value)


def _is_text_alone(value: Value) -> bool:
    """Return True for a text that is read back as it is without quotes."""
    return isinstance(value, str) and value != "" and isinstance(parse_value(value), str)


def parse_words(text: bytes) -> Extras:
    """Return the extras in a line of packet text, from its seventh number on."""
    found: Extras = {}
    _, *words = text.partition(b"\0")[0].split()
    for word in words:
        if word.startswith(b"#"):
            break
        key, equals, given = word.decode("utf-8", "replace").partition("=")
        if not equals or not key or key in WORDS:
            continue
        value: Value = parse_value(given)
        if given.startswith('"'):
            import json  # few recordings have texts in quotes

            try:
                unquoted = json.loads(given)
            except ValueError:
                unquoted = given
            value = unquoted if isinstance(unquoted, str) else given
        found[key] = value
    return found


def find_packet_extras(block: PacketBlock, index: int) -> Extras:
    """Return the extras of the packet at an index of a block; empty if the packet has none."""
    if not block.has_extras(index):
        return {}
    source: ExtraSource | None = block.extra_source
    return parse_words(block.words(index)) if source is None else source.find_extras(block, index)


class Loss(Enum):
    """The reasons why an extra is not carried over, in words."""

    MANY = f"more than {MOST_NAMES} names"
    RESERVED = "names that mean something else in the new recording"
    NAME = "names that the new format cannot hold"
    VALUE = "values that the new format cannot hold"
    COLUMN = "no column: the first packets decide on the columns"
    LENGTH = "lines too long for the new format"


class Tails:
    """A writer of packets' extras as the end of their rows, which counts the values left out.

    ``word`` writes a name and a value in the format, or returns the ``Loss``. Tables have a fixed
    column for each of ``columns`` behind this ``separator``; None if each packet has its own names.
    """

    def __init__(
        self,
        word: Callable[[str, Value], str | Loss],
        columns: Iterable[str] | None = None,
        separator: str = ",",
    ) -> None:
        self.lost: dict[Loss, dict[str, int]] = {}
        self.columns = None if columns is None else tuple(columns)
        self._word = word
        self._separator = separator
        self._names: set[str] = set(self.columns or ())

    def lose(self, loss: Loss, name: str) -> None:
        """Count a value that is left out."""
        names = self.lost.setdefault(loss, {})
        if name in names or len(names) < MOST_NAMES:
            names[name] = names.get(name, 0) + 1

    def admit(self, extras: Mapping[str, Value]) -> Extras:
        """Return the extras whose names are carried."""
        if extras.keys() <= self._names:
            return dict(extras)
        admitted: Extras = {}
        for name, value in extras.items():
            if name not in self._names:
                loss = None
                if name in RESERVED:
                    loss = Loss.RESERVED
                elif self.columns is not None:
                    loss = Loss.COLUMN if list_column_names([name]) else Loss.NAME
                elif len(self._names) >= MOST_NAMES:
                    loss = Loss.MANY
                if loss is not None:
                    self.lose(loss, name)
                    continue
                self._names.add(name)
            admitted[name] = value
        return admitted

    def write(self, extras: Mapping[str, Value]) -> bytes:
        """Return the end of a packet's row."""
        words: dict[str, str] = {}
        for name, value in self.admit(extras).items():
            word = self._word(name, value)
            if isinstance(word, Loss):
                self.lose(word, name)
            else:
                words[name] = word
        if self.columns is None:
            return "".join(words.values()).encode()
        cells = (words.get(name, "") for name in self.columns)
        return "".join(self._separator + cell for cell in cells).encode()


def write_text_word(name: str, value: Value) -> str | Loss:
    """Return a word of packet text: blanks in a text are escaped."""
    if not is_word(name):
        return Loss.NAME
    plain = not isinstance(value, str) or (
        _is_text_alone(value) and value.isprintable() and " " not in value and value[0] != '"'
    )
    text = unquote_value(value) if plain else _quote(value).replace(" ", "\\u0020")
    return f" {name}={text}"


def is_word(name: str) -> bool:
    """Return True if packet text can hold a name."""
    unbroken = name.isprintable() and not set(name) & set(" =")
    return bool(name) and unbroken and name[0] != "#"


def write_member(name: str, value: Value) -> str | Loss:
    """Return a member of a JSON object, with the comma before it."""
    return f", {_quote(name)}: {_quote(value) if isinstance(value, str) else unquote_value(value)}"


@lru_cache(4096)  # names, and texts that come again
def _quote(text: str) -> str:
    from json.encoder import encode_basestring, encode_basestring_ascii  # as above

    return encode_basestring(text) if text.isprintable() else encode_basestring_ascii(text)


def make_cell_writer(separator: str) -> Callable[[str, Value], str | Loss]:
    """Return a function that writes a value as a cell of a table with this separator."""

    def write_cell(_name: str, value: Value) -> str | Loss:
        text = unquote_value(value)
        if not text.isprintable():
            return Loss.VALUE  # a row is a line, and nothing in it steers a terminal
        if not isinstance(value, str):
            return text
        if _is_text_alone(value) and not set(text) & {'"', separator} and text == text.strip():
            return text
        return '"' + text.replace('"', '""') + '"'

    return write_cell


def list_column_names(names: Iterable[str]) -> tuple[str, ...]:
    """Return the names for which a table has a column: not all, if there are very many.

    A name that could be a value is left out: it would turn the header into a row.
    """
    from epic_cli.recordings.names.guess import is_value

    kept = (
        name
        for name in names
        if name.strip(' "') == name != ""
        and not name.endswith(MORE_COLUMNS)
        and name.isprintable()
        and name not in RESERVED
        and not is_value(name)
    )
    return tuple(dict.fromkeys(kept))[:MOST_NAMES]


def list_names(block: PacketBlock) -> tuple[str, ...]:
    """Return the names of extras that a recording with this first block is known to have."""
    names = {} if block.extra_source is None else dict.fromkeys(block.extra_source.extra_names)
    for index in range(len(block)) if block.any_extras() else ():
        names |= dict.fromkeys(find_packet_extras(block, index))
    return tuple(names)


def describe_losses(lost: Mapping[Loss, Mapping[str, int]]) -> Iterable[str]:
    """Yield a message for each kind of loss: how many values were lost, and under which names."""
    from epic_cli.engine.text.widths import some

    for loss, names in lost.items():
        count = sum(names.values())
        values = "1 value is" if count == 1 else f"{count:,} values are"
        yield f"{values} not carried over ({loss.value}): {some(names)}"
