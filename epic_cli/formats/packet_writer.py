"""Packets to text, in the three formats that ``recordings`` reads, and true states to CSV."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from epic_cli.engine.contract import Packet
from epic_cli.network.sender import DECIMALS
from epic_cli.network.state import Snapshot, State

PacketFormat = Literal["text", "csv", "jsonl"]
PACKET_FORMATS: tuple[PacketFormat, ...] = ("text", "csv", "jsonl")

_COLUMNS = "entity,time,x,y,z,vx,vy,vz,arrival,seq,teleport\n"


class UnwritableName(ValueError):
    """An entity's name that a format cannot hold."""


class PacketWriter:
    """Writes packets in one of ``PACKET_FORMATS``.

    Numbers are the shortest decimals that read back as the same number. ``delta`` is not written:
    who simulates looks at the truth when it is sent.
    """

    def __init__(self, packet_format: PacketFormat = "text") -> None:
        self._row = _ROWS[packet_format]
        self.header = _COLUMNS.encode() if packet_format == "csv" else b""

    def row(self, packet: Packet) -> bytes:
        """The line of a packet; raises ``UnwritableName``."""
        return self._row(packet).encode()


class TruthWriter:
    """Writes where entities truly were, as CSV that can be read as recorded movement.

    ``teleport`` is 1 in an entity's first row after a teleport.
    """

    header = b"entity,time,x,y,z,vx,vy,vz,teleport\n"

    def __init__(self) -> None:
        self._teleports: dict[str, int] = {}

    def rows(self, snapshot: Snapshot) -> bytes:
        """The lines of all entities at one time; raises ``UnwritableName``."""
        return "".join(self._row(snapshot.time, *one) for one in snapshot.states).encode()

    def _row(self, time: float, entity: str, state: State) -> str:
        values = (time, *state.position, *state.velocity)
        # adding 0 makes -0 a 0
        numbers = ",".join(number(round(value, DECIMALS) + 0.0) for value in values)
        teleport = self._teleports.get(entity, state.teleports) != state.teleports
        self._teleports[entity] = state.teleports
        return f"{csv_field(entity)},{numbers},{teleport:d}\n"


def number(value: float) -> str:
    """The shortest decimal that reads back as this number, without an empty fraction."""
    return repr(value).removesuffix(".0")


def csv_field(text: str) -> str:
    """A field of CSV, quoted where it must be (RFC 4180); a name has to fit into its line."""
    _check(text)
    if '"' in text or "," in text:
        return '"' + text.replace('"', '""') + '"'
    return text


def _check(name: str) -> None:
    if not name.isprintable():
        raise UnwritableName(f"the entity's name {name!r} has characters that cannot be shown")


def _text_row(packet: Packet) -> str:
    position = ",".join(map(number, packet.position))
    velocity = ",".join(map(number, packet.velocity))
    row = f"{position} / {velocity} / {number(packet.time)}"
    if packet.arrival is not None:
        row += f" arrival={number(packet.arrival)}"
    if packet.entity:
        _check(packet.entity)
        if "#" in packet.entity or " " in packet.entity:
            raise UnwritableName(
                f"packet text cannot hold the entity's name {packet.entity!r}: it ends at a blank"
                " or #; choose csv or jsonl"
            )
        row += f" entity={packet.entity}"
    if packet.sequence is not None:
        row += f" seq={packet.sequence}"
    if packet.delta:
        row += f" delta={number(packet.delta)}"
    return row + (" teleport=1\n" if packet.teleport else "\n")


def _csv_row(packet: Packet) -> str:
    numbers = ",".join(map(number, (packet.time, *packet.position, *packet.velocity)))
    arrival = "" if packet.arrival is None else number(packet.arrival)
    sequence = "" if packet.sequence is None else packet.sequence
    entity = csv_field(packet.entity)
    return f"{entity},{numbers},{arrival},{sequence},{packet.teleport:d}\n"


def _json_row(packet: Packet) -> str:
    import json  # only who writes this format waits for it

    names = ("time", "x", "y", "z", "vx", "vy", "vz")
    values = (packet.time, *packet.position, *packet.velocity)
    fields = [f'"{name}": {number(value)}' for name, value in zip(names, values, strict=True)]
    if packet.arrival is not None:
        fields.append(f'"arrival": {number(packet.arrival)}')
    if packet.entity:
        _check(packet.entity)
        fields.append(f'"entity": {json.dumps(packet.entity)}')
    if packet.sequence is not None:
        fields.append(f'"seq": {packet.sequence}')
    if packet.delta:
        fields.append(f'"delta": {number(packet.delta)}')
    if packet.teleport:
        fields.append('"teleport": 1')
    return "{" + ", ".join(fields) + "}\n"


_ROWS: dict[str, Callable[[Packet], str]] = {
    "text": _text_row,
    "csv": _csv_row,
    "jsonl": _json_row,
}
