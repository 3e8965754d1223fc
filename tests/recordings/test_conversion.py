"""Conversion between any two formats keeps the packets."""

from __future__ import annotations

import math
import tempfile
from collections.abc import Iterator

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from support.recordings import examples

from epic_cli import Packet
from epic_cli.engine.keys import REQUESTS
from epic_cli.engine.packets import PacketBlock
from epic_cli.engine.refusals import Reason
from epic_cli.recordings import list_written_formats
from epic_cli.recordings.reading import make_writer, read
from epic_cli.recordings.writing import (
    Changes,
    Conversion,
    Unwritable,
    UnwritablePacket,
)

numbers = st.floats(allow_nan=False, allow_infinity=False)
vectors = st.tuples(numbers, numbers, numbers)
names = st.one_of(
    st.just(""),
    st.text(st.sampled_from("ab#=,;|\"'\\/ä{}q1.-"), max_size=8),
    st.sampled_from(["a b", "a#b", "NaN", "0", "true", "null", '"', "\N{PILE OF POO}", "x" * 900]),
)


def turned(rotation: tuple[float, ...]) -> tuple[float, ...]:
    """Return four numbers as a rotation; the identity if they are nearly zero."""
    return rotation if math.hypot(*rotation) > 1e-5 else (0.0, 0.0, 0.0, 1.0)


packets = st.builds(
    Packet,
    position=vectors,
    velocity=st.none() | vectors,
    time=numbers,
    arrival=st.none() | numbers,
    entity=names,
    teleport=st.booleans(),
    sequence=st.none() | st.integers(0, 2**63 - 1),
    delta=st.just(0.0) | numbers,
    rotation=st.none() | st.tuples(*4 * [st.floats(-5e4, 5e4)]).map(turned),
    spin=st.none() | st.tuples(numbers, numbers, numbers),
    extras=st.none(),
).map(lambda packet: packet if packet.rotation else packet._replace(spin=None))

ODD = Packet((1e300, -0.0, 5e-324), None, 0.1 + 0.2, -1e300, 'a,"b', True, 2**63 - 1, 0.03)


def through(packet_format: str, wanted: list[Packet]) -> tuple[list[Packet], list[Packet]]:
    """Return the packets that the format can hold, and the packets read back."""
    writer, held = make_writer(packet_format, REQUESTS), []
    with tempfile.TemporaryFile() as file:
        file.write(writer.header)
        for packet in wanted:
            try:
                file.write(writer.format_row(packet))
            except Unwritable:
                continue
            held.append(packet)
        file.write(writer.end())
        file.seek(0)
        return held, list(recorded(file.fileno()))


def recorded(descriptor: int) -> Iterator[Packet]:
    """Yield the packets of a recording without wrong lines, as ``epic convert`` reads them."""
    conversion = Conversion(Changes())
    for block in read(descriptor):
        assert all(refusal.reason is Reason.NO_PACKETS for refusal in block.refusals)
        yield from (packet for _, packet in conversion.iterate_packets(block))


def comparable(wanted: list[Packet]) -> list[str]:
    """Return packets as text, since -0 is not 0; a delta of -0 counts as 0."""
    return [repr(packet._replace(delta=packet.delta + 0.0)) for packet in wanted]


@pytest.mark.parametrize("old", list_written_formats())
@given(st.sampled_from(list(list_written_formats())), st.lists(packets, min_size=1, max_size=4))
@examples(160)
def test_no_packet_is_changed(old: str, new: str, wanted: list[Packet]) -> None:
    wanted = [*wanted, ODD, ODD._replace(velocity=(-5e-324, -0.0, 1e300), entity="")]
    held, first = through(old, wanted)
    assert comparable(first) == comparable(held)
    held, second = through(new, first)
    assert comparable(second) == comparable(held)


def test_each_format_but_text_holds_what_is_odd() -> None:
    for packet_format in list_written_formats():
        held, _ = through(packet_format, [ODD])
        assert len(held) == (packet_format != "text")


def block_of(*wanted: Packet) -> PacketBlock:
    block = PacketBlock()
    for packet in wanted:
        block.append(packet)
    return block


def packet(time: float, x: float = 0.0, entity: str = "", arrival: float | None = None) -> Packet:
    return Packet((x, 0.0, 0.0), None, time, arrival, entity)


def changed(changes: Changes, *wanted: Packet) -> list[Packet]:
    return [one for _, one in Conversion(changes).iterate_packets(block_of(*wanted))]


def test_the_span_has_its_ends_and_is_of_times_before_they_move() -> None:
    times = [0.0, 1.0, 1.5, 2.0, 2.5, math.nan]
    kept = changed(Changes(span=(1.0, 2.0), shift=10.0), *map(packet, times))
    assert [kept_item.time for kept_item in kept] == [11.0, 11.5, 12.0]


def test_a_velocity_is_estimated_across_blocks_and_from_what_is_not_kept() -> None:
    conversion = Conversion(Changes(span=(1.0, 9.0), fill_velocities=True))
    assert list(conversion.iterate_packets(block_of(packet(0.0, 1.0)))) == []
    ((_, second),) = conversion.iterate_packets(block_of(packet(2.0, 5.0)))
    assert second.velocity == (2.0, 0.0, 0.0)


#: Numbers on both sides of what is written with an exponent, and of what has a short decimal.
TURNS = [
    *(0.0, -0.0, 0.1, 1 / 3, 0.1 + 0.2, 1e-4, 9.9999e-5, 1e-5, 123456.789012, 1234567.8901234),
    *(1e5, 1e15, 1e16, 123456789012345680.0, 999999999.999999, 1e9, 1e22, 5e-324, 1.7e308),
    *(2.5, 1e-6, 0.000101, 4503599627370497.5, 100.0, 1e300, math.inf, -math.inf, math.nan),
]


def one_by_one(to: str, changes: Changes, block: PacketBlock) -> tuple[object, object]:
    """Return the rows written one by one, and the first unwritable packet with the reason."""
    writer, rows = make_writer(to, REQUESTS), b""
    for index, one in Conversion(changes).iterate_packets(block):
        try:
            rows += writer.format_row(one)
        except Unwritable as error:
            return rows_in(to, rows + writer.end()), (index, str(error))
    return rows_in(to, rows + writer.end()), None


def at_once(to: str, changes: Changes, block: PacketBlock) -> tuple[object, object]:
    writer, rows = make_writer(to, REQUESTS), b""
    try:
        for some in Conversion(changes).iterate_rows(block, writer):
            rows += some
    except UnwritablePacket as wrong:
        return rows_in(to, rows + writer.end()), (wrong.index, str(wrong))
    return rows_in(to, rows + writer.end()), None


def rows_in(to: str, written: bytes) -> object:
    """Return the bytes, or the rows of Parquet, whose bytes depend on the row groups' size."""
    if to != "parquet":
        return written
    return repr(pq.read_table(pa.BufferReader(written)).to_pylist())


@pytest.mark.parametrize("to", list_written_formats())
@given(
    wanted=st.lists(packets, max_size=6),
    changes=st.builds(
        Changes,
        entities=st.just(()) | st.just(("a", "")),
        span=st.none() | st.tuples(st.floats(-1e3, 0), st.floats(0, 1e3)),
        shift=st.sampled_from([0.0, 0.1, -2.5]),
        fill_velocities=st.booleans(),
    ),
)
@example([ODD, ODD._replace(velocity=(1.0, 2.0, 3.0))], Changes(shift=0.1))
@example([Packet((x, -x, x / 7), (x * 3, 0.0, 1.0), x, None, "ä b") for x in TURNS], Changes())
@examples(60)
def test_rows_many_at_once_are_those_one_by_one(
    to: str, wanted: list[Packet], changes: Changes
) -> None:
    assert at_once(to, changes, block_of(*wanted)) == one_by_one(to, changes, block_of(*wanted))
