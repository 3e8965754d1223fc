"""Recordings: packet text, CSV or JSON lines, told apart by their content, read block by block.

Whatever the length of a recording or of its lines, only a block of it is in memory at a time.
"""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Literal

from epic_cli.engine.packets import Entities, PacketBlock
from epic_cli.engine.text.scan import FIELDS, OPTIONAL_FIELDS, FieldScanner, TextScanner

if TYPE_CHECKING:
    from typing import Protocol

    class Reader(Protocol):
        """Turns the bytes of one recording into blocks of packets."""

        @property
        def entities(self) -> Entities:
            """The names of the entities seen so far."""

        @property
        def ended(self) -> bool:
            """The recording has said that it ends here; what follows is not read."""

        def scan(self, data: bytes, final: bool = False) -> PacketBlock:
            """The packets of all lines that ``data`` completes; ``final``: there is no more."""


InputFormat = Literal["auto", "text", "csv", "jsonl"]
INPUT_FORMATS: tuple[InputFormat, ...] = ("auto", "text", "csv", "jsonl")

BLOCK_SIZE = 65536

#: A longer line of CSV or JSON is refused; packet text has the demo's own limit.
LONGEST_LINE = 65536

_NUMBERS_BEGIN_WITH = tuple(b"%c" % byte for byte in b"0123456789+-.")
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


def read(descriptor: int, input_format: InputFormat = "auto") -> Iterator[PacketBlock]:
    """The blocks of a recording, one for each time that the source has something to give.

    Raises ``OSError`` where the source cannot be read.
    """
    head = b""
    reader: Reader | None = None
    while reader is None or not reader.ended:
        data = os.read(descriptor, BLOCK_SIZE)
        final = not data
        if reader is None:
            head += data
            kind = detect(head, final) if input_format == "auto" else input_format
            if kind is None:
                continue
            reader, data = READERS[kind](), head
        yield reader.scan(data, final)
        if final:
            return


def detect(head: bytes, final: bool = False) -> InputFormat | None:
    """The format of a recording that begins like this; None: its first line is not all there.

    JSON lines begin with ``{``; CSV begins with a header that names ``time`` and ``x``; all
    else is packet text.
    """
    if not final and _BYTE_ORDER_MARK.startswith(head):
        return None
    begin = head.removeprefix(_BYTE_ORDER_MARK).lstrip()
    if begin[:1] == b"{":
        return "jsonl"
    line, newline, _ = begin.partition(b"\n")
    if begin[:1] in _NUMBERS_BEGIN_WITH:
        return "text"  # a header begins with no number; the rest of the line need not be there
    if not newline and not final and len(head) < LONGEST_LINE:
        return None
    names = {name.strip().strip('"') for name in _split_header(line.decode("utf-8", "replace"))}
    return "csv" if {"time", "x"} <= names else "text"


def _split_header(line: str) -> list[str]:
    return line.strip().split("\t" if "\t" in line else ",")


class _LineReader(ABC):
    """Cuts bytes into lines and makes a packet of each; formats say how."""

    def __init__(self) -> None:
        self.fields = FieldScanner()
        self.ended = False
        self._kept = b""
        self._line = 0
        self._skipping = False

    @property
    def entities(self) -> Entities:
        return self.fields.entities

    def scan(self, data: bytes, final: bool = False) -> PacketBlock:
        """The packets of all lines that ``data`` completes; ``final``: there is no more."""
        block = PacketBlock(self.entities)
        block.find_field = self.find_field
        block.text = text = self._kept + data
        begin = 0
        while not self.ended:
            end = text.find(b"\n", begin) + 1
            if not end and (begin == len(text) or not final):
                break
            self._take(block, begin, end or len(text))
            begin = end or len(text)
        self._kept = b"" if self.ended else text[begin:]
        if len(self._kept) > LONGEST_LINE:
            if not self._skipping:
                self._line += 1
                self._refuse_length(block, self._kept)
                self._line -= 1  # it is counted when its end comes
            self._skipping, self._kept = True, b""
        return block

    def _take(self, block: PacketBlock, begin: int, end: int) -> None:
        self._line += 1
        if self._skipping:  # this is the end of a line that was refused
            self._skipping = False
            return
        raw = block.text[begin:end]
        if len(raw) > LONGEST_LINE:
            self._refuse_length(block, raw)
            return
        if self._line == 1 and raw.startswith(_BYTE_ORDER_MARK):
            raw = raw.removeprefix(_BYTE_ORDER_MARK)
            begin += len(_BYTE_ORDER_MARK)
        try:
            line = raw.decode()
        except UnicodeDecodeError as error:
            self._refuse(block, raw, error.start, "this is not UTF-8", "UTF-8 text")
            return
        if "\0" in line:
            self._refuse(block, raw, raw.index(0), "there is a NUL byte", "UTF-8 text")
        elif not line.isspace():
            self.take_line(block, line, raw, begin)

    def _refuse_length(self, block: PacketBlock, raw: bytes) -> None:
        self._refuse(block, raw[:80], 0, "the line is too long", "at most 64 KiB a line")

    def _refuse(self, block: PacketBlock, raw: bytes, caret: int, what: str, expected: str) -> None:
        from epic_cli.engine.problems import Problem

        block.problems.append(Problem(self._line, caret + 1, raw, caret, what, expected))

    def _add(
        self,
        block: PacketBlock,
        numbers: list[str],
        optional: dict[str, str],
        begin: int,
        raw: bytes,
    ) -> tuple[str, str, str] | None:
        return self.fields.add(block, numbers, optional, self._line, begin, len(raw))

    @abstractmethod
    def take_line(self, block: PacketBlock, line: str, raw: bytes, begin: int) -> None:
        """Makes a packet of a line, or refuses it."""

    @abstractmethod
    def find_field(self, raw: bytes, name: str) -> int:
        """Where in a line a field stands."""


class CsvReader(_LineReader):
    """Comma- or tab-separated values under a header that names the columns, in any order."""

    def __init__(self) -> None:
        super().__init__()
        self._names: list[str] = []
        self._delimiter = ","
        self._places: list[int] = []
        self._optional: list[tuple[str, int]] = []

    def take_line(self, block: PacketBlock, line: str, raw: bytes, begin: int) -> None:
        """Takes the header, then a packet a line."""
        if not self._names:
            self._take_header(block, line, raw)
            return
        cells = self._split(line)
        if cells is None or len(cells) != len(self._names):
            count = "its quotes do not end" if cells is None else f"the row has {len(cells)} fields"
            names = self._delimiter.join(self._names)
            self._refuse(block, raw, 0, count, f"{len(self._names)} fields: {names}")
            return
        numbers = [cells[place] for place in self._places]
        optional = {name: cells[place] for name, place in self._optional}
        wrong = self._add(block, numbers, optional, begin, raw)
        if wrong:
            name, what, expected = wrong
            self._refuse(block, raw, self.find_field(raw, name), what, expected)

    def _take_header(self, block: PacketBlock, line: str, raw: bytes) -> None:
        self._delimiter = "\t" if "\t" in line else ","
        self._names = [name.strip() for name in self._split(line) or []]
        missing = [name for name in FIELDS if name not in self._names]
        if missing:
            what = f"the header has no column {', '.join(missing)}"
            self._refuse(block, raw, 0, what, f"the columns {','.join(FIELDS)}")
            self.ended = True
            return
        self._places = [self._names.index(name) for name in FIELDS]
        self._optional = [(n, self._names.index(n)) for n in OPTIONAL_FIELDS if n in self._names]

    def _split(self, line: str) -> list[str] | None:
        import csv  # rarely needed, and packet text must start fast

        try:
            return next(csv.reader([line], delimiter=self._delimiter, strict=True))
        except csv.Error:
            return None

    def find_field(self, raw: bytes, name: str) -> int:
        """Where in a line a field stands."""
        place, quoted, at = self._names.index(name), False, 0
        delimiter = ord(self._delimiter)
        for at, byte in enumerate(raw):
            if place == 0:
                return at
            quoted ^= byte == ord('"')
            place -= byte == delimiter and not quoted
        return at


class _Number(str):
    """A JSON number as it was written: the engine rounds it once, to each precision."""


class JsonlReader(_LineReader):
    """One JSON object a line, with the names of the CSV columns."""

    def take_line(self, block: PacketBlock, line: str, raw: bytes, begin: int) -> None:
        """Takes one packet."""
        import json  # rarely needed, and packet text must start fast

        try:
            item: Any = json.loads(
                line.rstrip(), parse_float=_Number, parse_int=_Number, parse_constant=_Number
            )
        except json.JSONDecodeError as error:
            caret = len(line[: error.pos].encode())
            self._refuse(block, raw, caret, error.msg.lower(), "one JSON object a line")
            return
        except RecursionError:
            self._refuse(block, raw, 0, "this is nested too deep", "one JSON object a line")
            return
        if not isinstance(item, dict):
            self._refuse(block, raw, 0, "this is no object", '{"time": 0.1, "x": 1, ...}')
            return
        wrong = self._check(item)
        if wrong is None:
            numbers = [item[name] for name in FIELDS]
            optional = {n: self._text(item[n]) for n in OPTIONAL_FIELDS if item.get(n) is not None}
            wrong = self._add(block, numbers, optional, begin, raw)
        if wrong:
            name, what, expected = wrong
            self._refuse(block, raw, self.find_field(raw, name), what, expected)

    @staticmethod
    def _check(item: dict[str, Any]) -> tuple[str, str, str] | None:
        for name in FIELDS:
            if name not in item:
                return name, f"{name} is missing", f"the names {', '.join(FIELDS)}"
            if not isinstance(item[name], str) or not _is_unicode(item[name]):
                return name, f"{name} is not a number", "a number"
        for name in OPTIONAL_FIELDS:
            if isinstance(item.get(name), list | dict):
                return name, f"{name} is not a single value", "a number or a text"
            if isinstance(value := item.get(name), str) and not _is_unicode(value):
                return name, f"{name} is not Unicode text", "no lone surrogates"
        return None

    @staticmethod
    def _text(value: str | bool) -> str:
        return value if isinstance(value, str) else str(int(value))

    def find_field(self, raw: bytes, name: str) -> int:
        """Where in a line a field stands."""
        return max(raw.find(f'"{name}"'.encode()), 0)


def _is_unicode(text: str) -> bool:
    return not any("\ud800" <= character <= "\udfff" for character in text)


READERS: dict[str, type[Reader]] = {"text": TextScanner, "csv": CsvReader, "jsonl": JsonlReader}
