"""Packets of a game in captures, among any other traffic."""

import io
import random
import struct
from collections import Counter

import pytest
from support.captures import (
    SENDER,
    SENDER6,
    SERVER,
    SERVER6,
    block,
    ethernet,
    interface,
    ipv4,
    ipv6,
    packet,
    pcap,
    pcapng,
    section,
    udp,
)

from epic_cli.engine.contract import Packet
from epic_cli.recordings import captures
from epic_cli.recordings.captures import Capture, Carried, Frame, Lost, extract_datagram
from epic_cli.recordings.datagrams.ingest import Ingest, IngestSpec
from epic_cli.recordings.datagrams.record_layout import RecordLayout

START = 1_700_000_000.25
LINES = [b"%d,2,3 / 4,5,6 / %r" % (number, number / 10) for number in range(4)]


def capture(
    sender: tuple[object, ...] | None = None, port: int | None = None, layout: str = ""
) -> Capture:
    """Return a reader of a capture."""
    records = RecordLayout(layout) if layout else None
    return Capture(Ingest(IngestSpec(records=records, sender=sender)), port)


def read(data: bytes, one: Capture | None = None) -> list[Packet]:
    """Return the packets of a capture."""
    blocks = (one or capture()).iterate_blocks(io.BytesIO(data).read)
    return [block[index] for block in blocks for index in range(len(block))]


def frames() -> list[tuple[float, bytes]]:
    """Return frames with a line of packet text each, one a tenth of a second, each 5 ms later."""
    return [
        (START + 0.105 * number, ethernet(ipv4(udp(line)))) for number, line in enumerate(LINES)
    ]


def test_every_kind_of_capture_gives_the_packets_with_the_captures_times() -> None:
    for data in (
        *(pcap(frames(), order=order, nano=nano) for order in "<>" for nano in (False, True)),
        *(pcapng(frames(), order=order) for order in "<>"),
        section("<") + section(">") + interface(1, ">") + block(5, bytes(20), ">")
        + b"".join(packet(time, frame, ">") for time, frame in frames()),
    ):  # fmt: skip
        one = capture(port=7777)
        packets = read(data, one)
        assert [found.position[0] for found in packets] == [0, 1, 2, 3]
        assert [found.time for found in packets] == [0, 0.1, 0.2, 0.3]
        assert [found.arrival for found in packets] == [0, 0.105, 0.21, 0.315]
        assert (one.broken, +one.lost) == (None, Counter())


def test_an_interface_says_in_what_its_times_are() -> None:
    def option(code: int, value: bytes) -> bytes:
        return struct.pack("<HH", code, len(value)) + value + bytes(-len(value) % 4)

    frame = ethernet(ipv4(udp(LINES[0])))
    for per_second, value in ((1e9, 9), (1e3, 3), (2.0**20, 0x80 | 20)):
        options = option(2, b"eth0") + option(9, bytes([value])) + option(0, b"")
        data = section() + interface(options=options)
        data += packet(5, frame, per_second=per_second) + packet(6.5, frame, per_second=per_second)
        assert [received.arrival for received in read(data)] == [0, 1.5]
    data = section() + interface() + interface(options=option(14, struct.pack("<q", 100)))
    data += packet(5, frame) + packet(5, frame, number=1)
    assert [received.arrival for received in read(data)] == [0, 100]


LINE = udp(LINES[0])
FOUND = Carried(SENDER, SERVER, LINES[0])
FOUND6 = Carried(SENDER6, SERVER6, LINES[0])
VLAN = b"\x81\x00\x00\x07"


@pytest.mark.parametrize(
    ("link", "data", "expected"),
    [
        (1, ethernet(ipv4(LINE)), FOUND),
        (1, ethernet(ipv4(LINE)) + bytes(30), FOUND),  # Ethernet's padding
        (1, ethernet(ipv4(LINE, options=bytes(8))), FOUND),
        (1, ethernet(ipv4(LINE, length=0)), FOUND),
        (1, ethernet(ipv4(LINE), VLAN), FOUND),
        (1, ethernet(ipv4(LINE), b"\x88\xa8\0\1" + VLAN), FOUND),
        (1, ethernet(ipv6(LINE)), FOUND6),
        (1, ethernet(ipv6(LINE, b"\x2c" + bytes(7) + b"\x11" + bytes(7), 0)), FOUND6),
        (0, b"\2\0\0\0" + ipv4(LINE), FOUND),
        (108, b"\0\0\0\x1e" + ipv6(LINE), FOUND6),
        (101, ipv4(LINE), FOUND),
        (101, ipv6(LINE), FOUND6),
        (12, ipv4(LINE), FOUND),
        (113, bytes(14) + b"\x08\x00" + ipv4(LINE), FOUND),
        (276, b"\x86\xdd" + bytes(18) + ipv6(LINE), FOUND6),
        (105, ipv4(LINE), Lost.UNKNOWN_LINK),
        (1, ethernet(ipv4(LINE, fragment=0x2000)), Lost.FRAGMENT),
        (1, ethernet(ipv4(LINE, fragment=100)), Lost.FRAGMENT),
        (1, ethernet(ipv6(LINE, b"\x11\0\0\1\0\0\0\1", 44)), Lost.FRAGMENT),
        (1, ethernet(ipv4(LINE, protocol=6)), Lost.TCP),
        (1, ethernet(ipv6(LINE, kind=58)), Lost.OTHER),
        (1, bytes(12) + b"\x08\x06" + bytes(28), Lost.OTHER),
        (1, bytes(12) + VLAN * 9 + ipv4(LINE), Lost.OTHER),
        (101, b"\x70" + bytes(60), Lost.OTHER),
        (1, bytes(9), Lost.DAMAGED),
        (101, b"", Lost.DAMAGED),
        (101, ipv4(LINE)[:19], Lost.DAMAGED),
        (101, ipv4(LINE, length=12), Lost.DAMAGED),
        (101, b"\x41" + ipv4(LINE)[1:], Lost.DAMAGED),
        (101, ipv4(udp(LINES[0], length=7)), Lost.DAMAGED),
        (101, ipv4(udp(LINES[0], length=900)), Lost.DAMAGED),
        (101, ipv4(LINE)[:-1], Lost.DAMAGED),
        (101, ipv4(LINE, length=24), Lost.DAMAGED),
        (101, ipv6(LINE)[:39], Lost.DAMAGED),
        (101, ipv6(LINE, b"\x11\xff" + bytes(6), 60), Lost.DAMAGED),
    ],
)
def test_a_datagram_is_found_in_its_frame(link: int, data: bytes, expected: Carried | Lost) -> None:
    assert extract_datagram(Frame(link, 0, data, True)) == expected
    assert extract_datagram(Frame(link, None, data, True)) is Lost.NO_TIME
    if expected is Lost.DAMAGED:  # nor is it known whether it was, where something was left out
        assert extract_datagram(Frame(link, 0, data, False)) in (Lost.CUT, Lost.DAMAGED)


def test_what_is_cut_short_is_counted_and_not_read() -> None:
    one = capture()
    assert read(pcap(frames(), snap=45), one) == []
    assert one.lost == {Lost.CUT: 4}
    simple = section() + interface() + block(3, struct.pack("<I", 60) + ethernet(ipv4(LINE)))
    one = capture()
    assert read(simple, one) == []
    assert one.lost == {Lost.NO_TIME: 1}


def test_both_directions_one_of_them_and_one_port() -> None:
    back = ipv4(udp(LINES[1], 7777, 5000), ends=(SERVER[0], SENDER[0]))
    other = ipv4(udp(LINES[2], 53, 53))
    data = pcap([(0, ipv4(LINE)), (0.1, back), (0.2, other)], 101)
    for sender, port, expected in (
        (None, None, [0, 1, 2]),
        (None, 7777, [0, 1]),
        (SENDER, 7777, [0]),
        ((SERVER[0], 0), 7777, [1]),
    ):
        assert [found.position[0] for found in read(data, capture(sender, port))] == expected


def test_packets_of_a_running_capture_come_while_it_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    file = io.BytesIO(pcap(frames()))
    monkeypatch.setattr(
        captures, "monotonic", lambda: file.tell() * 1.0
    )  # each frame takes minutes
    places = [file.tell() for found in capture().iterate_blocks(file.read) if len(found)]
    assert len(places) == len(LINES)
    assert places == sorted(set(places))


def test_binary_records_and_what_is_none() -> None:
    record = struct.pack("<IfH", 500, 1, 7)
    data = pcap([(0, ipv4(udp(record * 2))), (1, ipv4(udp(b"x"))), (2, ipv4(udp(b"")))], 101)
    one = capture(layout="time:u32*0.001 x:f32 id:u16")
    assert [(found.entity, found.time) for found in read(data, one)] == [("7", 0.5)] * 2
    assert sum(one.refused.values()) == 2


@pytest.mark.parametrize(
    ("data", "count", "words"),
    [
        (pcap(frames())[:-1], 3, "ends within a frame"),
        (pcap(frames()) + bytes(7), 4, "ends within a frame"),
        (pcap(frames()) + struct.pack("<IIII", 0, 0, 1 << 31, 60), 4, "2,147,483,648 bytes"),
        (pcap([])[:20], 0, "ends within a frame"),
        (b"", 0, "not a capture"),
        (b"time,x,y,z\n", 0, "not a capture"),
        (section()[:-9], 0, "ends within a frame"),
        (section()[:8] + bytes(20), 0, "no byte order"),
        (pcapng(frames())[:-5], 3, "ends within a frame"),
        (pcapng(frames()) + struct.pack("<II", 6, 8), 4, "a block of 8 bytes is not valid"),
        (pcapng(frames()) + struct.pack("<II", 6, 13), 4, "a block of 13 bytes"),
        (pcapng(frames()) + struct.pack("<II", 99, 0xFFFFFFFC), 4, "a block of 4,294,967,292"),
        (pcapng(frames()) + packet(0, b"", number=1), 4, "an unknown interface"),
        (pcapng(frames()) + block(6, bytes(16)), 4, "a block is too short"),
        (pcapng(frames()) + block(1, b"xx"), 4, "an interface block is too short"),
        (pcapng(frames()) + block(6, struct.pack("<IIIII", 0, 0, 0, 5, 5)), 4, "a frame of 5"),
    ],
)
def test_a_capture_that_lies_is_read_up_to_there(data: bytes, count: int, words: str) -> None:
    one = capture()
    assert len(read(data, one)) == count
    assert words in str(one.broken)
    assert "unreadable past here" in one.describe_capture()


def test_changed_bytes_are_survived() -> None:
    generator = random.Random(4)
    tagged = [(START, ethernet(ipv6(LINE, b"\x11" + bytes(7), 0), VLAN)), *frames()]
    originals = [pcap(tagged), pcapng(tagged), pcapng(tagged, order=">")]
    survived = 0
    for _ in range(1000):
        data = bytearray(generator.choice(originals))
        for _ in range(generator.choice((1, 1, 2, 8))):
            data[generator.randrange(len(data))] = generator.choice((0, 1, 127, 255, 6, 44))
        if generator.random() < 0.3:
            del data[generator.randrange(len(data)) :]
        one = capture()
        survived += len(read(bytes(data), one))
        assert "packets in" in one.describe_capture()
    assert survived > 1000
