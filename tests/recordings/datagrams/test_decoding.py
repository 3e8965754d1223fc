"""The packets of a datagram do not depend on the datagram before it."""

import random
import sys
from typing import NamedTuple

import pytest

from epic_cli.engine.contract import Packet
from epic_cli.recordings.datagrams import ingest
from epic_cli.recordings.datagrams.counts import Refused
from epic_cli.recordings.datagrams.ingest import Decoder
from epic_cli.recordings.datagrams.record_layout import RecordLayout
from epic_cli.recordings.read_spec import ReadSpec

A = Packet((1.0, 2.0, 3.0), (4.0, 5.0, 6.0), 0.5, entity="a", sequence=7)
B = Packet((9.0, 2.0, 3.0), None, 0.5, entity="b")


class Read(NamedTuple):
    """The packets and refusals of some datagrams."""

    packets: list[Packet]
    refused: int
    reasons: set[Refused]


def read(decoder: Decoder, *datagrams: bytes) -> Read:
    """Decode datagrams that came together."""
    found = list(decoder.read(datagrams))
    blocks = [decoded.block for decoded in found if decoded.block is not None]
    packets = [block[index] for block in blocks for index in range(len(block))]
    reasons = {decoded.reason for decoded in found if decoded.refused}
    return Read(packets, sum(decoded.refused for decoded in found), reasons)


TEXT_A = b"1,2,3 / 4,5,6 / 0.5 entity=a seq=7"
JSON_A = b'{"entity":"a","time":0.5,"x":1,"y":2,"z":3,"vx":4,"vy":5,"vz":6,"seq":7}'
JSON_B = b'{"entity":"b","time":0.5,"x":9,"y":2,"z":3}'
CSV_A = b"entity,time,x,y,z,vx,vy,vz,seq\na,0.5,1,2,3,4,5,6,7"


def test_every_form_of_a_datagram_is_read() -> None:
    forms = [
        (TEXT_A, [A]),
        (TEXT_A + b"\r\n" + TEXT_A + b"\n", [A, A]),
        (b"# a comment\n" + TEXT_A, [A]),
        (CSV_A, [A]),
        (CSV_A.replace(b"\n", b"\r\n") + b"\r\n", [A]),
        (CSV_A + b"\na,0.5,1,2,3,4,5,6,7\n", [A, A]),
        (b"time;x;y;z;player\n0,5;9;2;3;b\n", [B]),
        (JSON_A, [A]),
        (JSON_A + b"\n" + JSON_B, [A, B]),
        (b"[" + JSON_A + b",\n " + JSON_B + b"]\n", [A, B]),
        (JSON_A.replace(b",", b",\r\n  "), [A]),
        (b'{"player":"b","t":0.5,"pos":{"x":9,"y":2,"z":3}}', [B]),
        (b'{"id":"b","t":0.5,"pos":[9,2,3]}', [B]),
        (b'{"player":"b","time":0.5,"position":[9,2,3]}', [B]),
    ]
    one = Decoder()
    for _ in range(3):  # what is kept of one has no say in another
        for data, packets in forms:
            decoded = read(one, data)
            assert (decoded.packets, decoded.refused) == (packets, 0), data
        random.Random(1).shuffle(forms)


def test_given_columns_and_units_hold_for_tables_and_json() -> None:
    given = ReadSpec.parse("time=1,x=2,y=3,z=4,entity=5,unit=ms")
    assert read(Decoder(given._replace(format="csv")), b"500,9,2,3,b\n500,9,2,3,b").packets == [
        B,
        B,
    ]
    given = ReadSpec.parse("time=ts,entity=who,unit=ms,axes=xzy")
    data = b'{"ts":500,"x":9,"y":3,"z":2,"who":"b"}'
    assert read(Decoder(given), data).packets == [B]


def test_times_are_seconds_whatever_came_first() -> None:
    decoder = Decoder()
    for time in (1.7e12, 0.5, 20260101):
        data = b'{"t":%r,"x":9,"y":2,"z":3,"id":"b"}' % time
        assert [packet.time for packet in read(decoder, data).packets] == [time]


BAD = [
    (b"", Refused.EMPTY, 1),
    (b" \r\n\t\n", Refused.EMPTY, 1),
    (b"hello", Refused.NOT_PACKETS, 1),
    (b"quit", Refused.NOT_PACKETS, 1),
    (b"\0" * 100, Refused.BINARY, 1),
    (b"1,2,3 / 4,5,6 / x\n" + TEXT_A, Refused.NOT_PACKETS, 1),
    (b"[" * 65000, Refused.NOT_PACKETS, 1),
    (b'{"a":' * 10000, Refused.NOT_PACKETS, 1),
    (b'{"time":0.5}', Refused.NOT_PACKETS, 1),
    (b'{"time":0.5,"x":"one","y":1,"z":2}', Refused.NOT_PACKETS, 1),
    (b"[1,2,3]", Refused.NOT_PACKETS, 3),
    (b'{"x":' + b"1" * 60000 + b"}", Refused.NOT_PACKETS, 1),
    (b"\xff\xfe{}", Refused.NOT_PACKETS, 1),
    (b'{"time":0.5,"x":1,"y":2,"z":3', Refused.NOT_PACKETS, 1),
    (b",".join([b"x"] * 30000) + b"\n1", Refused.NOT_PACKETS, 1),
    (b'time,x,y,z\n"0.5,1,2,3\n', Refused.NOT_PACKETS, 1),
]


@pytest.mark.parametrize(("data", "reason", "count"), BAD)
def test_what_is_no_packet_is_refused_and_changes_nothing(
    data: bytes, reason: Refused, count: int
) -> None:
    decoder = Decoder()
    for _ in range(2):
        decoded = read(decoder, data)
        assert (decoded.refused, decoded.reasons) == (count, {reason})
        for good in (TEXT_A, CSV_A, JSON_A):
            assert read(decoder, good).packets == [A]


def test_random_bytes_are_survived_and_nothing_grows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ingest, "_MOST_NAMES", 50)
    generator = random.Random(5)
    decoder = Decoder()
    pieces = [b"{", b"}", b"[", b'"x":', b"1", b",", b"time", b"\n", b"/", b" ", b"\0", b"\xff",
              b"1e999", b"NaN", JSON_A, CSV_A, TEXT_A, b"\x1b[2J", b'"', b"q"]  # fmt: skip
    for _ in range(1500):
        data = b"".join(generator.choices(pieces, k=generator.randrange(40)))
        decoded = read(decoder, data)
        assert decoded.packets or decoded.refused
    for number in range(200):
        read(decoder, b'{"time":1,"x":1,"y":2,"z":3,"other%d":1}' % number)
        read(decoder, b"time,x,y,z,other%d\n1,2,3,4,5" % number)
    assert len(decoder._readers) == ingest._MOST_READERS
    for number in range(200):
        read(decoder, b'{"time":1,"x":1,"y":2,"z":3,"entity":"e%d"}' % number)
    assert all(len(reader.entities) <= 50 for reader in decoder._readers.values())


def test_datagrams_that_come_together_are_read_as_each_is_alone() -> None:
    generator = random.Random(8)
    forms = [TEXT_A, TEXT_A + b"\nq\n" + TEXT_A, b"# remark", b"quit", b"", JSON_A, JSON_B,
             b"[" + JSON_A + b"," + JSON_A + b"]", JSON_A + JSON_B, JSON_A.replace(b"9", b"tru"),
             JSON_A.replace(b"1", b'"one"'), JSON_A[:-1], CSV_A, CSV_A + b"\n7", b"time,x,y,z",
             CSV_A.replace(b"a,0.5", b"a\x1b,x"), b"time;x;y;z;who\n0,5;9;2;3;b", TEXT_A[:9],
             b'{"a":{"x":1,"y":2,"z":3},"t":1}', b'{"a":{"x":1,"y":2},"t":1,"z":3}',
             b'{"x":1,"x":2,"y":2,"z":3,"time":1}', b'{"x":1,"y":2,"z":3,"time":1}']  # fmt: skip
    alone = {data: read(Decoder(), data) for data in forms}
    together = Decoder()
    runs = 0
    for _ in range(300):
        datagrams = [
            data
            for some in generator.choices(forms, k=6)
            for data in [some] * generator.randrange(1, 4)
        ]
        pieces = list(together.read(datagrams))
        covered = {piece.first + index for piece in pieces for index in range(len(piece.ends))}
        assert covered == set(range(len(datagrams)))
        assert [piece.first for piece in pieces] == sorted(piece.first for piece in pieces)
        runs += sum(len(piece.ends) > 1 for piece in pieces)
        found = read(together, *datagrams)
        assert found.packets == [packet for data in datagrams for packet in alone[data].packets]
        assert found.refused == sum(alone[data].refused for data in datagrams)
        assert found.reasons == {reason for data in datagrams for reason in alone[data].reasons}
    assert runs > 300


def packed(number: int) -> bytes:
    """Return ``{"id": "b", "t": 0.5, "pos": [9, 2, 3]}`` in msgpack; ``number`` encodes the 9."""
    return b"\x83\xa2id\xa1b\xa1t\xca\x3f\x00\x00\x00\xa3pos\x93" + bytes([number, 2, 3])


def test_msgpack_is_read_as_the_json_that_says_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("msgpack")
    other = Packet((8.0, 2.0, 3.0), None, 0.5, entity="b")
    for data, packets in (
        (packed(9), [B]),
        (packed(9) + packed(8), [B, other]),
        (b"\x92" + packed(9) + packed(8), [B, other]),
        (b"\xdc\x00\x01" + packed(9), [B]),
    ):
        assert read(one := Decoder(), data) == (packets, 0, set())
        assert read(one, data, data) == (packets * 2, 0, set())
    endless = b"\xdd\xff\xff\xff\xff\x81\xa1x\x01"
    for wrong in (packed(9)[:-1], b"\x81\xa1x\xc4\x01x", b"\x81\xa1\xff\x01", endless):
        assert read(Decoder(), wrong).refused == 1
    assert read(Decoder(), b"\x91" * 9000 + packed(9)).refused == 1
    monkeypatch.setitem(sys.modules, "msgpack", None)
    assert read(Decoder(), packed(9)).reasons == {Refused.MSGPACK}


@pytest.mark.parametrize(
    ("time", "span"),
    [("u8", 256), ("u16*0.001", 65.536), ("u32*-0.5", 2**31), ("u64", None), ("i32", None)],
)
def test_a_layout_knows_when_its_time_starts_over(time: str, span: float | None) -> None:
    assert RecordLayout(f"x:f32 time:{time}").time_span == span
