"""Packet text, ``x,y,z / vx,vy,vz / t [key=value ...]``: the engine's ``TextScanner`` reads it."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from epic_cli.recordings import Fit, Format, Head, Unreadable

if TYPE_CHECKING:
    from epic_cli.engine.contract import Packet
    from epic_cli.engine.packets import Entities
    from epic_cli.engine.text import TextScanner
    from epic_cli.recordings import OnRead, Requested
    from epic_cli.recordings.read_spec import ReadSpec
    from epic_cli.recordings.writing import LineWriter

#: Bytes of a line with its end; the scanner reads a longer one as several.
LONGEST_PACKET_LINE = 1023

#: This many lines may stand above the first packet.
_LINES = 6


class NoLayout(Unreadable):
    """An error: a layout was given for packet text, which has only one."""

    def __init__(self) -> None:
        super().__init__("columns and units are for tables and JSON lines; this is packet text")


def is_packet(line: bytes) -> bool:
    """Return True if a line, without leading blanks, is meant to be packet text.

    That is a line the demo could read (three numbers, two commas, a slash), and any line with the
    commas and slashes of packet text, whose mistake deserves a message.
    """
    position, *others = line.split(b"/")
    if not others or position.count(b",") != 2:
        return False
    if len(others) > 1 and others[0].count(b",") == 2:
        return True
    return all(map(_begins_as_number, map(bytes.strip, position.split(b","))))


def _begins_as_number(line: bytes) -> bool:
    return line[:1] in b"0123456789+-." or line[:3].lower() in (b"nan", b"inf")


def make_text_writer() -> LineWriter:
    """Return a writer of packet text."""
    from epic_cli.recordings.extras import Tails, write_text_word
    from epic_cli.recordings.writing import LineWriter, check_unbroken_name

    return LineWriter(
        check_unbroken_name,
        Tails(write_text_word),
        longest=LONGEST_PACKET_LINE,
        needs_velocity=True,
    )


def write_packet_line(packet: Packet) -> str:
    """Return a packet as one line without its end, each number as short as it can be.

    Raises ``Unwritable`` for a packet that would be read back as another one.
    """
    return make_text_writer().format_row(packet).decode().removesuffix("\n")


class TextFormat(Format):
    """Packet text, which accepts a recording that no other format accepts."""

    name = "text"
    suffixes = (".txt",)
    needs_velocity = True

    def detect(self, head: Head) -> Fit:
        """Look for a packet at once, or in the first lines; else the fit is the last resort."""
        line = head.line
        quits = line[:1] == b"q" and (head.ended or head.final) and b"," not in line  # the demo's
        if quits or (is_packet(line) and not head.has_object_line):
            # no magic begins like these, but one may begin with blanks
            plain = quits or _begins_as_number(line)
            return Fit.CERTAIN if plain and head.begin == head.data else Fit.GOOD
        if head.begins_as_json:
            return Fit.NO
        return Fit.WORDS if any(map(is_packet, head.lines[:_LINES])) else Fit.LAST_RESORT

    def make_reader(
        self, layout: ReadSpec | None, on_read: OnRead, entities: Entities | None, head: bytes
    ) -> TextScanner:
        """Return the engine's scanner; raises ``NoLayout``."""
        from epic_cli.engine.text import TextScanner

        if layout is not None and not (layout.unless_own or layout.is_empty):
            raise NoLayout
        return TextScanner(entities)

    def make_writer(self, requested: Requested, extras: Collection[str]) -> LineWriter:
        """Return a writer of lines that the demo reads as well."""
        return make_text_writer()


FORMATS = (TextFormat(),)
