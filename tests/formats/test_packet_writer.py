"""What is written is read back as the same packets."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from epic_cli import Packet
from epic_cli.formats.packet_writer import (
    PACKET_FORMATS,
    PacketWriter,
    TruthWriter,
    UnwritableName,
    number,
)
from epic_cli.formats.recordings import READERS
from epic_cli.network import PathMovement, State, Teleporting
from epic_cli.network.state import Snapshot

numbers = st.floats(-1e9, 1e9).map(lambda value: round(value, 6) + 0.0)
vectors = st.tuples(numbers, numbers, numbers)
names = st.text(st.characters(codec="utf-8"), max_size=8).filter(
    lambda name: name.isprintable() and not set(name) & set(" #")
)
packets = st.builds(
    Packet,
    position=vectors,
    velocity=vectors,
    time=numbers,
    arrival=st.none() | numbers,
    entity=names,
    teleport=st.booleans(),
    sequence=st.none() | st.integers(0, 2**53),
    delta=st.just(0.0),
)


@pytest.mark.parametrize("packet_format", PACKET_FORMATS)
@given(packet=packets)
def test_read_back(packet_format: Any, packet: Packet) -> None:
    writer = PacketWriter(packet_format)
    reader = READERS[packet_format]()
    block = reader.scan(writer.header + writer.row(packet), final=True)
    assert not block.problems
    assert [block[index] for index in range(len(block))] == [packet]


def test_rows() -> None:
    packet = Packet((1.5, -2.0, 1e-6), (0.1, 0.0, 3.0), 0.25, 0.33, "tank,7", True, 12)
    expected = {
        "text": b"1.5,-2,1e-06 / 0.1,0,3 / 0.25 arrival=0.33 entity=tank,7 seq=12 teleport=1\n",
        "csv": b'"tank,7",0.25,1.5,-2,1e-06,0.1,0,3,0.33,12,1\n',
        "jsonl": b'{"time": 0.25, "x": 1.5, "y": -2, "z": 1e-06, "vx": 0.1, "vy": 0, "vz": 3,'
        b' "arrival": 0.33, "entity": "tank,7", "seq": 12, "teleport": 1}\n',
    }
    for packet_format in PACKET_FORMATS:
        assert PacketWriter(packet_format).row(packet) == expected[packet_format]


def test_shortest_numbers() -> None:
    assert [number(x) for x in (0.0, 1.0, 0.1, 1e22, 12345.678901)] == [
        "0",
        "1",
        "0.1",
        "1e+22",
        "12345.678901",
    ]


@pytest.mark.parametrize(
    ("packet_format", "name"),
    [
        ("text", "a b"),
        ("text", "a#b"),
        *((one, "a\nb") for one in PACKET_FORMATS),
        ("csv", "\udc80"),
    ],
)
def test_names_that_cannot_be_written(packet_format: Any, name: str) -> None:
    packet = Packet((0, 0, 0), (0, 0, 0), 0, entity=name)
    with pytest.raises(UnwritableName, match="name"):
        PacketWriter(packet_format).row(packet)


def test_truth_marks_the_first_row_after_a_teleport() -> None:
    movement = PathMovement(Teleporting(1, 5, 1), "a")
    writer = TruthWriter()
    rows = [writer.rows(movement.snapshot(n / 10)).decode() for n in range(300)]
    marks = [n for n, row in enumerate(rows) if row.endswith(",1\n")]
    counts = [movement.snapshot(n / 10).states[0][1].teleports for n in range(300)]
    assert marks == [n for n in range(1, 300) if counts[n] != counts[n - 1]] != []


def test_truth_is_rounded() -> None:
    row = TruthWriter().rows(Snapshot(0.5, [("", State((1 / 3, -1e-9, 2.0), (0.0, 0.0, 0.0)))]))
    assert row == b",0.5,0.333333,0,2,0,0,0,0\n"
