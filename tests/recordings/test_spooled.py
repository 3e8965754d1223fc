"""Packets in a temporary file, against the same packets in memory."""

from __future__ import annotations

import errno
import io
import os
import pickle
import tempfile
from collections.abc import Mapping

import pytest

from epic_cli.engine.contract import Packet
from epic_cli.engine.packets import Entities, PacketBlock, put_packets, take_packets
from epic_cli.recordings import spooled
from epic_cli.recordings.files import CannotAccess
from epic_cli.recordings.opening import ReadingLog, load
from epic_cli.recordings.read_spec import INFERRED
from epic_cli.recordings.rows import make_source
from epic_cli.recordings.spooled import SpooledPackets, TemporaryStore

#: Packets with all that a packet can have, and with nothing.
PACKETS = [
    Packet(position=(0.1, 2.0, -3.0), time=0.1, velocity=None, entity="a"),
    Packet(position=(1e-9, 2.5, 7.0), time=0.2, velocity=(1.0, 0.0, 0.1), sequence=7, entity="a"),
    Packet(
        position=(5.0, 6.0, 1e300),
        time=0.35,
        velocity=(0.0, 0.0, 0.0),
        arrival=0.4,
        teleport=True,
        delta=0.02,
        rotation=(0.0, 0.0, 0.6, 0.8),
        spin=(0.1, 0.2, 0.3),
        entity="a",
    ),
]


def read_all(block: PacketBlock) -> list[Packet]:
    """Return the packets of a block."""
    return [block[index] for index in range(len(block))]


@pytest.mark.parametrize("count", [0, 1, 2, 3])
def test_packed_packets_come_back(count: int) -> None:
    entities = Entities()
    block, found = PacketBlock(entities), PacketBlock(entities)
    for packet in PACKETS[:count]:
        block.append(packet)
    lines = [block.line(index) for index in range(count)]
    packed = take_packets(block)
    assert len(block) == 0
    for _ in range(2):
        put_packets(packed, found)
    assert read_all(found) == PACKETS[:count] * 2
    assert [found.line(index) for index in range(2 * count)] == lines * 2


@pytest.mark.parametrize("content", [b"", b"abc", b"\xff" * 500])
def test_other_bytes_are_refused(content: bytes) -> None:
    with pytest.raises(ValueError, match="packed"):
        put_packets(content, PacketBlock())


def read_text(text: str) -> Mapping[str, PacketBlock]:
    """Return the packets of CSV by entity."""
    source = make_source(io.BytesIO(text.encode()))
    return load(source, INFERRED, ReadingLog("text"))


def test_a_long_recording_is_read_from_the_file(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = ["entity,time,x,y,z,arrival"]
    rows += [f"p{k % 3},{k / 60},{k},{k * k / 7},0.1,{k / 60 + 0.05}" for k in range(30_000)]
    held = read_text("\n".join(rows))
    monkeypatch.setattr(spooled, "HELD_PACKETS", 1000)
    found = read_text("\n".join(rows))
    assert isinstance(found, SpooledPackets)
    assert list(found) == list(held) == ["p0", "p1", "p2"]
    again = pickle.loads(pickle.dumps(found))
    for name, block in held.items():
        assert read_all(found[name]) == read_all(block) == read_all(again[name])
        connection, expected = found[name].connection, block.connection
        assert connection is not None
        assert expected is not None
        assert len(connection) == len(expected)


def test_a_full_disk_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse() -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(tempfile, "TemporaryFile", refuse)
    with pytest.raises(CannotAccess, match="temporary file"):
        TemporaryStore().write(b"packets")
