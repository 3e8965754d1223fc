"""Packets as lines of each format, written plainly: what the engine's rows are checked against."""

from __future__ import annotations

import json
import math

from epic_cli import Packet
from epic_cli.recordings.writing import csv_field, number


def line_of(packet: Packet, packet_format: str) -> bytes:
    """The line of a packet that can be written."""
    if packet_format == "text":
        line = _text(packet)
    elif packet_format == "jsonl":
        line = _json(packet)
    else:
        line = {"csv": ",", "tsv": "\t"}[packet_format].join(_cells(packet))
    return line.encode() + b"\n"


def _text(packet: Packet) -> str:
    assert packet.velocity is not None
    place, velocity = (",".join(map(number, point)) for point in (packet.position, packet.velocity))
    words = {
        "arrival": None if packet.arrival is None else number(packet.arrival),
        "entity": packet.entity or None,
        "seq": packet.sequence,
        "teleport": 1 if packet.teleport else None,
        "delta": number(packet.delta) if packet.delta else None,
        "rotation": ",".join(map(number, packet.rotation)) if packet.rotation else None,
        "spin": ",".join(map(number, packet.spin)) if packet.spin else None,
    }
    line = f"{place} / {velocity} / {number(packet.time)}"
    return line + "".join(f" {key}={word}" for key, word in words.items() if word is not None)


def _cells(packet: Packet) -> list[str]:
    return [
        csv_field(packet.entity),
        *map(_cell, (packet.time, *packet.position)),
        *(map(_cell, packet.velocity) if packet.velocity is not None else ("", "", "")),
        "" if packet.arrival is None else number(packet.arrival),
        "" if packet.sequence is None else str(packet.sequence),
        "1" if packet.teleport else "0",
        number(packet.delta),
        *(map(number, packet.rotation) if packet.rotation else 4 * [""]),
        *(map(number, packet.spin) if packet.spin else 3 * [""]),
    ]


def _json(packet: Packet) -> str:
    names = ("time", "x", "y", "z", "vx", "vy", "vz")
    state = (packet.time, *packet.position, *(packet.velocity or ()))
    fields = {name: _number(one) for name, one in zip(names, state, strict=False)}
    if packet.arrival is not None:
        fields["arrival"] = number(packet.arrival)
    if packet.entity:
        fields["entity"] = json.dumps(packet.entity)
    if packet.sequence is not None:
        fields["seq"] = str(packet.sequence)
    if packet.delta:
        fields["delta"] = number(packet.delta)
    if packet.teleport:
        fields["teleport"] = "1"
    for name, values in (("q", packet.rotation), ("w", packet.spin)):
        fields |= {
            name + axis: number(one) for axis, one in zip("xyzw", values or (), strict=False)
        }
    return "{" + ", ".join(f'"{name}": {value}' for name, value in fields.items()) + "}"


def _cell(value: float) -> str:
    return number(value) if math.isfinite(value) else ""


def _number(value: float) -> str:
    return _cell(value) or "null"
