"""What is in a datagram of text or msgpack: its kind, the JSON values in it, and their names."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from epic_cli.recordings.datagrams.counts import Refused
from epic_cli.recordings.entries.text import is_packet

BLANKS = b" \t\r\n"

#: Bytes of a datagram that show whether it is text: none of these is in any.
_BEGINNING = 64
_CONTROLS = bytes({*range(32)} - {*b"\t\r\n\v\f\x1b"})

#: How a map begins whose first key is a short text, or an array of such.
MSGPACK = re.compile(
    rb"(?:[\x91-\x9f]|\xdc..|\xdd....)?(?:[\x81-\x8f]|\xde..)[\xa1-\xbf\xd9]", re.DOTALL
)
#: Levels of an object that its names are taken from, to know it again.
_DEEPEST = 4


_JSON = json.JSONDecoder(parse_float=str, parse_int=str, parse_constant=str)


def is_binary(data: bytes) -> bool:
    """Whether it begins as no text does: with bytes that are no characters."""
    head = data[:_BEGINNING]
    return len(head.translate(None, _CONTROLS)) < len(head)


def kind_of(data: bytes) -> str:
    """The shape of a datagram."""
    if data[:1] in (b"{", b"["):
        return "jsonl"
    line = data.partition(b"\n")[0]
    if is_packet(line) or line[:1] == b"#" or b"/" in line:
        return "text"
    return "csv" if any(mark in line for mark in (b",", b";", b"\t", b"|", b" ")) else "text"


def json_of_msgpack(data: bytes) -> bytes | Refused:
    """Msgpack, as the JSON that says the same, or why it is none."""
    try:
        import msgpack
    except ImportError:
        return Refused.MSGPACK
    # no more values than bytes, whatever lengths it gives
    unpacker = msgpack.Unpacker(strict_map_key=False, timestamp=1, max_buffer_size=len(data))
    try:
        unpacker.feed(data)
        text = "\n".join(json.dumps(one, ensure_ascii=False) for one in unpacker)
    except (ValueError, TypeError, RecursionError, msgpack.UnpackException):
        return Refused.BINARY
    return text.encode() if unpacker.tell() == len(data) else Refused.BINARY


def json_values(data: bytes) -> Iterator[tuple[str, Any]]:
    """JSON values and their texts; for invalid JSON, the text with None."""
    try:
        text = data.decode()
    except UnicodeDecodeError:
        yield "", None
        return
    array_ = text.startswith("[")
    at, end = (1, len(text) - text.endswith("]")) if array_ else (0, len(text))
    while at < end:
        if text[at] in " \t\r\n" or (array_ and text[at] == ","):
            at += 1
            continue
        try:
            item, stop = _JSON.raw_decode(text, at)
        except (ValueError, RecursionError):
            yield "", None
            return
        yield text[at:stop], item
        at = stop


def names_of(item: dict[str, Any], depth: int = 0) -> Iterator[object]:
    """The names of an object and of the objects in it."""
    for name, value in item.items():
        yield name
        if isinstance(value, dict) and depth < _DEEPEST:
            yield tuple(names_of(value, depth + 1))
        elif isinstance(value, list):
            yield len(value)
