"""Packets as JSON lines: one object a line, with the names of the CSV columns."""

from __future__ import annotations

import json
import math
import re
from typing import TYPE_CHECKING, Any

from epic_cli.engine.packets import PacketBlock
from epic_cli.engine.refusals import Reason
from epic_cli.engine.text.scan import FIELDS, OPTIONAL_FIELDS
from epic_cli.formats.conventions import LONGEST_LINE
from epic_cli.formats.lines import LineReader
from epic_cli.formats.writing import check, check_length, number

if TYPE_CHECKING:
    from epic_cli.engine.contract import Packet


class _Number(str):
    """A JSON number as it was written: the engine rounds it once, to each precision."""


class JsonlReader(LineReader):
    """Reads a packet from each line: an object of numbers and, for the entity, text."""

    def take_line(self, block: PacketBlock, line: str, raw: bytes, begin: int) -> None:
        """Takes one packet."""
        try:
            item: Any = json.loads(
                line.rstrip(), parse_float=_Number, parse_int=_Number, parse_constant=_Number
            )
        except json.JSONDecodeError as error:
            caret = len(line[: error.pos].encode())
            self.refuse(block, raw, caret, Reason.NOT_JSON, detail=error.msg.lower())
            return
        except RecursionError:
            self.refuse(block, raw, 0, Reason.NESTED_TOO_DEEP)
            return
        if not isinstance(item, dict):
            self.refuse(block, raw, 0, Reason.NOT_AN_OBJECT)
            return
        wrong = _wrong_field(item)
        if wrong:
            reason, name = wrong
            expected = FIELDS if reason is Reason.KEY_MISSING else ()
            caret = self.find_field(raw, name)
            self.refuse(block, raw, caret, reason, field=name, expected=expected)
            return
        numbers = [item[name] for name in FIELDS]
        optional = {n: _text(item[n]) for n in OPTIONAL_FIELDS if item.get(n) is not None}
        self.add(block, numbers, optional, begin, raw)

    def find_field(self, raw: bytes, name: str) -> int:
        """Where in a line a field stands."""
        found = re.search(rb'"%s"\s*:' % name.encode(), raw)
        return found.start() if found else 0


class JsonlWriter:
    """Writes a packet as an object on each line; what it has not is left out.

    Numbers that are not finite are ``NaN`` and ``Infinity``, as Python's ``json`` has them.
    """

    header = b""

    def row(self, packet: Packet) -> bytes:
        """A packet as one line; raises ``Unwritable``."""
        check(packet)
        values = (*packet.position, *packet.velocity, packet.time)
        numbers = dict(zip(FIELDS, map(_json_number, values), strict=True))
        fields = [f'"{name}": {numbers[name]}' for name in ("time", *FIELDS[:-1])]
        if packet.arrival is not None:
            fields.append(f'"arrival": {number(packet.arrival)}')
        if packet.entity:
            fields.append(f'"entity": {json.dumps(packet.entity)}')
        if packet.sequence is not None:
            fields.append(f'"seq": {packet.sequence}')
        if packet.delta:
            fields.append(f'"delta": {number(packet.delta)}')
        if packet.teleport:
            fields.append('"teleport": 1')
        row = f"{{{', '.join(fields)}}}\n".encode()
        return check_length(row, LONGEST_LINE, packet.entity)


def _json_number(value: float) -> str:
    return number(value) if math.isfinite(value) else json.dumps(value)


def _wrong_field(item: dict[str, Any]) -> tuple[Reason, str] | None:
    """What is wrong with the kinds of values, and where; None: nothing."""
    for name in FIELDS:
        if name not in item:
            return Reason.KEY_MISSING, name
        if not isinstance(item[name], str) or not _is_unicode(item[name]):
            return Reason.FIELD_NOT_A_NUMBER, name
    for name in OPTIONAL_FIELDS:
        value = item.get(name)
        if isinstance(value, list | dict):
            return Reason.NOT_A_SINGLE_VALUE, name
        if isinstance(value, str) and not _is_unicode(value):
            return Reason.NOT_UNICODE, name
    return None


def _text(value: str | bool) -> str:
    return value if isinstance(value, str) else str(int(value))


def _is_unicode(text: str) -> bool:
    return not any("\ud800" <= character <= "\udfff" for character in text)
