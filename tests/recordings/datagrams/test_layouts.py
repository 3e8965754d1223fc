"""Layouts of binary datagrams: headers, groups, types and flags, against an independent reader.

PYTHONPATH=tests python tests/recordings/datagrams/test_layouts.py 1000000 [SEED]  # datagrams
"""

import math
import random
import struct
import sys
from itertools import count
from typing import Any

import pytest
from support.binary_oracle import trials

from epic_cli.engine.contract import Packet
from epic_cli.recordings.datagrams.counts import Refused
from epic_cli.recordings.datagrams.ingest import Decoder
from epic_cli.recordings.datagrams.record_layout import RecordLayout

WHY = {"empty": Refused.EMPTY, "cut": Refused.NOT_RECORDS, "unequal": Refused.OTHER_VALUE,
       "unknown": Refused.OTHER_TYPE, "name": Refused.BAD_NAME,
       "no time": Refused.NOT_PACKETS}  # fmt: skip


def read(layout: str, *datagrams: bytes) -> tuple[list[Packet], list[tuple[Refused, str]]]:
    """Return the packets, and the refused datagrams with reason and words."""
    packets, refused = [], []
    for decoded in Decoder(records=RecordLayout(layout)).read(datagrams):
        if decoded.block is not None:
            packets += [decoded.block[index] for index in range(len(decoded.block))]
        if decoded.refused:
            refused.append((decoded.reason, str(decoded.example)))
    return packets, refused


def same(a: float, b: float) -> bool:
    return a == b or (math.isnan(a) and math.isnan(b))


def is_read(packet: Packet, expected: dict[str, Any]) -> bool:
    """Return True if a packet is what the oracle has read."""
    numbers = [(packet.time, expected["time"])]
    numbers += zip(packet.position, (expected.get(axis, 0.0) for axis in "xyz"), strict=True)
    speeds = [expected.get(f"v{axis}", 0.0) for axis in "xyz"]
    if (packet.velocity is None) != ("vx" not in expected):
        return False
    numbers += zip(packet.velocity or tuple(speeds), speeds, strict=True)
    return (
        all(same(a, b) for a, b in numbers)
        and packet.entity == expected["id"]
        and packet.sequence == expected.get("seq")
        and packet.teleport == expected.get("teleport", False)
    )


def check(seed: int, layouts: int, each: int) -> tuple[int, int, int]:
    """Return the counts of datagrams read, packets found and datagrams refused."""
    datagrams = found = refused = 0
    made = trials(seed, layouts, each, lambda text, data: read(text, *data))
    for text, data, expected, (packets, refusals) in made:
        wanted = [packet for some in expected if isinstance(some, list) for packet in some]
        assert len(packets) == len(wanted), (text, data)
        assert all(map(is_read, packets, wanted)), (text, data)
        stops = [(one, len(a)) for one, a in zip(expected, data, strict=True)
                 if isinstance(one, tuple)]  # fmt: skip
        assert [one for one, _ in refusals] == [WHY[one[0]] for one, _ in stops], (text, data)
        for (_, said), ((why, place), size) in zip(refusals, stops, strict=True):
            assert f"a datagram of {size:,} bytes" in said
            if "stopped at byte" in said and why != "empty":
                assert f"byte {place:,}," in said, (text, said, place)
        datagrams += len(data)
        found += len(packets)
        refused += len(refusals)
    return datagrams, found, refused


def test_what_is_read_is_what_struct_reads() -> None:
    datagrams, found, refused = check(1, 300, 12)
    assert datagrams == 3600
    assert found > 3000
    assert 500 < refused < 3000


HEADER = "magic:u32=0xCAFE tick:u32 n:u8 time:tick/60"
RECORD = "{id:u16 x:f32 y:f32 z:f32}"


def message(*records: tuple[int, float, float, float], magic: int = 0xCAFE) -> bytes:
    head = struct.pack("<IIB", magic, 120, len(records))
    return head + b"".join(struct.pack("<Hfff", *record) for record in records)


def test_a_datagram_that_does_not_fit_is_refused_as_a_whole_and_says_where() -> None:
    data = message((7, 1, 2, 3), (8, 4, 5, 6))
    layout = f"{HEADER} {RECORD}[n]"
    places = {
        data[:-3]: "34 bytes: reading stopped at byte 33, at 'z:f32' of record 2",
        data + b"x": "38 bytes: reading stopped at byte 37, at 'magic:u32=0xCAFE'",
        message(
            magic=7
        ): "9 bytes: reading stopped at byte 0, at 'magic:u32=0xCAFE', where 7 (0x7)",
    }
    for wrong, words in places.items():
        packets, [(_, said)] = read(layout, wrong)
        assert not packets
        assert words in said
    assert read(layout, message(magic=7))[1][0][0] is Refused.OTHER_VALUE
    flat = "time:f64 x:f32 id:u16 _:4"
    assert read(flat, bytes(25))[1] == [
        (Refused.NOT_RECORDS, "a datagram of 25 bytes; a record has 18")
    ]


def test_no_datagram_can_take_long_or_much() -> None:
    deep = "n:u64 time:u8 x:u8 " + "{_:u8 " * 10 + "}[n]" * 10
    assert read(deep, b"\xff" * 60000)[1][0][0] is Refused.NOT_RECORDS
    assert read("time:u8 n:u32 id:char[n] x:u8", b"\x01\xff\xff\xff\xff" + bytes(9))[0] == []
    names = b"\x01" + struct.pack("<H", 300) + b"a" * 300 + b"\1"
    assert read("time:u8 id:char[u16] x:u8", names)[1][0][0] is Refused.BAD_NAME
    assert read("time:u8 id:char[2] x:u8", b"\1\xff\xfe\1")[1][0][0] is Refused.BAD_NAME


NAMES = ("time", "x", "y", "z", "vx", "vy", "vz")


class Bits:
    """Bit fields one after the other, from the lowest bit of each byte on, or from the highest."""

    def __init__(self, highest_first: bool) -> None:
        self._highest_first = highest_first
        self._bits: list[int] = []

    def put(self, value: int, width: int) -> None:
        """Append an integer of ``width`` bits; a negative one as two's complement."""
        bits = [value >> place & 1 for place in range(width)]
        self._bits += bits[::-1] if self._highest_first else bits

    def data(self) -> bytes:
        """Return the bits, filled up to a whole byte."""
        bits = self._bits + [0] * (-len(self._bits) % 8)
        eights = (bits[at : at + 8] for at in range(0, len(bits), 8))
        order = -1 if self._highest_first else 1
        return bytes(sum(bit << at for at, bit in enumerate(eight[::order])) for eight in eights)


def test_numbers_of_any_bits_stand_one_after_the_other() -> None:
    for seed in range(200):
        chance = random.Random(seed)
        highest_first = chance.random() < 0.5
        bits, words, wanted = Bits(highest_first), ["big"] * highest_first, []
        for name in NAMES:
            if chance.random() < 0.3:
                width = chance.randrange(1, 9)
                bits.put(chance.getrandbits(width), width)
                words.append(f"_:u{width}")
            kind = chance.choice("uif")
            if kind == "f":
                (raw,) = struct.unpack("<I", struct.pack("<f", chance.uniform(-9, 9)))
                bits.put(raw, 32)
                words.append(f"{name}:f32")
                wanted.append(struct.unpack("<f", struct.pack("<I", raw))[0])
            else:
                width = chance.choice((1, 2, 5, 7, 8, 9, 12, 16, 17, 24, 31, 32, 33, 53))
                least = -(1 << width - 1) if kind == "i" else 0
                value = chance.randrange(least, least + (1 << width))
                bits.put(value, width)
                wanted.append(float(value))
                words.append(f"{name}:{kind}{width}")
        data = bits.data()
        ((packet,), _) = read(" ".join(words), data)
        assert [packet.time, *packet.position, *(packet.velocity or ())] == wanted, words
        assert read(" ".join(words), data[:-1])[1][0][0] == Refused.NOT_RECORDS


@pytest.mark.parametrize("highest_first", [False, True])
def test_groups_of_bits(highest_first: bool) -> None:
    bits = Bits(highest_first)
    bits.put(40, 20)
    bits.put(3, 5)
    for entity in (7, 30, 31):
        for value, width in ((entity, 5), (entity - 30, 12), (4000, 12)):
            bits.put(value, width)
    order = "big " * highest_first
    layout = order + "time:u20/20 {id:u5 x:i12/2 y:u12}[u5]"
    found = read(layout, bits.data())[0]
    assert [(packet.entity, packet.time, packet.position[:2]) for packet in found] == [
        ("7", 2, (-11.5, 4000)),
        ("30", 2, (0, 4000)),
        ("31", 2, (0.5, 4000)),
    ]
    # up to the end, behind a text and in a new message: from a whole byte on
    each = Bits(highest_first)
    for value, width in ((9, 5), (100, 12), (200, 12)):
        each.put(value, width)
    flag = b"\x80" if highest_first else b"\1"
    found, _ = read(
        order + "time:u8 teleport:u1 _:char[2]=ab {id:u5 x:u12 y:u12}[]",
        b"\x05" + flag + b"ab" + 2 * each.data(),
    )
    assert [(packet.entity, packet.teleport, packet.position[:2]) for packet in found] == 2 * [
        ("9", True, (100, 200))
    ]
    found, _ = read(order + "time:u5 x:u12 y:u12", 3 * each.data())
    assert [packet.time for packet in found] == [9, 9, 9]


if __name__ == "__main__":
    sums = [0, 0, 0]
    for seed in count(int((sys.argv[2:] or ["1000"])[0])):
        sums = [a + b for a, b in zip(sums, check(seed, 500, 20), strict=True)]
        if sums[0] >= int(sys.argv[1]):
            break
    print("{:,} datagrams, {:,} packets, {:,} refused".format(*sums))
