"""Packets from files, from Python."""

import io
import os
from pathlib import Path
from typing import Any

import pytest
from support.places import ROOT

from epic_cli import Packet, RefusedLine, read_packets, replay

SAMPLES = ROOT / "sample_inputs"
LOG = b"timestamp_ms,player_id,pos_x,pos_y\n1000,a,2,3\n1100,b,4,5\n"
ORIGIN = (0.0, 0.0, 0.0)


def test_every_format_gives_its_packets() -> None:
    text = list(read_packets(io.BytesIO(b"1,2,3 / 4,5,6 / 0.5 arrival=0.6 seq=7\n")))
    assert text == [Packet((1, 2, 3), (4, 5, 6), 0.5, 0.6, sequence=7)]
    jsonl = list(read_packets(io.BytesIO(b'{"t":1,"id":"a","pos":[1,2,3]}\n')))
    assert jsonl == [Packet((1, 2, 3), None, 1.0, entity="a")]
    csv = list(read_packets(io.BytesIO(LOG)))
    assert csv == [
        Packet((2, 3, 0), None, 1.0, entity="a"),
        Packet((4, 5, 0), None, 1.1, entity="b"),
    ]


def test_a_layout_is_given_in_the_words_of_the_options() -> None:
    table = io.BytesIO(b"when,who,a,b\n1000,p,100,200\n2000,p,300,400\n")
    packets = read_packets(
        table,
        read="time=when,x=a,z=b,entity=who,unit=ms,origin=first,axes=xz,scale=0.01",
    )
    assert list(packets) == [
        Packet((1, 2, 0), None, 0.0, entity="p"),
        Packet((3, 4, 0), None, 1.0, entity="p"),
    ]
    by_number = read_packets(io.BytesIO(b"1,5,6\n2,7,8\n"), read="time=1,x=2,y=3")
    assert [packet.position for packet in by_number] == [(5, 6, 0), (7, 8, 0)]
    by_text = read_packets(io.BytesIO(LOG), read="time=timestamp_ms,x=pos_y,y=pos_x")
    assert [character.position for character in by_text] == [(3, 2, 0), (5, 4, 0)]


def test_what_was_told_from_the_recording_can_be_asked(tmp_path: Path) -> None:
    (tmp_path / "log.csv").write_bytes(LOG)
    packets = read_packets(tmp_path / "log.csv")
    assert packets.layout is not None
    assert packets.layout.write() == ("time=timestamp_ms,x=pos_x,y=pos_y,entity=player_id,unit=ms")
    assert read_packets(str(SAMPLES / "turn.txt")).layout is None


def test_refused_lines_raise_warn_or_are_given_to_a_function() -> None:
    text = b"1,2,3 / 4,5,6 / 0\nx\n1,2,3 / 4,5,6 / 1\n1,2,3 / 4,y,6 / 2\n"
    packets = read_packets(io.BytesIO(text))
    assert next(packets).time == 0
    with pytest.raises(RefusedLine, match=r"^<file>:2:1: x is not a number; expected x,y,z") as one:
        next(packets)
    assert (one.value.line, one.value.column, one.value.text.strip()) == (2, 1, b"x")
    mistakes: list[RefusedLine] = []
    times = [packet.time for packet in read_packets(io.BytesIO(text), refused=mistakes.append)]
    assert times == [0, 1]
    assert [(mistake.line, mistake.column) for mistake in mistakes] == [(2, 1), (4, 11)]
    with pytest.warns(RuntimeWarning, match=r"<file>:[24]:"):
        assert len(list(read_packets(io.BytesIO(text), refused="warn"))) == 2


@pytest.mark.parametrize(
    ("source", "arguments", "error", "words"),
    [
        (3, {}, TypeError, "3 holds no packets: give a list of packets, or a path"),
        (b"1,2,3", {}, TypeError, "these are bytes"),
        ("no_such_file.txt", {}, FileNotFoundError, "no_such_file.txt"),
        (SAMPLES / "turn.txt", {"read": "format=xml"}, ValueError, "choose from auto, text, csv"),
        (
            SAMPLES / "turn.txt",
            {"refused": "quietly"},
            ValueError,
            'refused must be "raise", "warn"',
        ),
        (SAMPLES / "turn.txt", {"read": "scale=2"}, ValueError, "this is packet text"),
        (SAMPLES / "hop.jsonl", {"read": "unit=y"}, ValueError, "'y' is not s, ms, us, 100ns, ns"),
        (SAMPLES / "hop.jsonl", {"read": 60}, TypeError, "read must be text, not 60"),
        (SAMPLES / "hop.jsonl", {"read": "origin=now"}, ValueError, "'now' is not first"),
        (SAMPLES / "hop.jsonl", {"read": "axes=xx"}, ValueError, "'xx' is not axes"),
        (SAMPLES / "hop.jsonl", {"read": "scale=0"}, ValueError, "scale=0 is not allowed"),
        (SAMPLES / "hop.jsonl", {"read": "tme=t"}, ValueError, "did you mean 'time'"),
        (SAMPLES / "two_tanks.csv", {"read": "time=t"}, RefusedLine, "no column t for"),
        (SAMPLES / "broken.txt", {}, RefusedLine, "broken.txt:1:1: x is not a number"),
    ],
)
def test_what_is_wrong_with_the_call_shows_at_the_call(
    source: Any, arguments: dict[str, Any], error: type[Exception], words: str
) -> None:
    with pytest.raises(error, match=words):
        read_packets(source, **arguments)


def test_a_long_recording_is_read_as_it_is_asked_for() -> None:
    reading, writing = os.pipe()
    with open(reading, "rb", buffering=0) as pipe, open(writing, "wb", buffering=0) as sink:  # noqa: PTH123
        packets = read_packets(pipe)
        for time in range(3):
            sink.write(f"1,2,3 / 4,5,6 / {time}\n".encode())
            assert next(packets).time == time


def test_a_file_is_closed_at_its_end_and_before() -> None:
    before = len(os.listdir("/proc/self/fd")) if Path("/proc/self/fd").exists() else 0  # noqa: PTH208
    finished = read_packets(SAMPLES / "turn.txt")
    assert len(list(finished)) > 1
    with read_packets(SAMPLES / "turn.txt") as packets:
        next(packets)
    assert list(packets) == []
    if before:
        assert len(os.listdir("/proc/self/fd")) == before  # noqa: PTH208
    mine = io.BytesIO(LOG)
    with read_packets(mine):
        pass
    assert not mine.closed


def test_packets_that_have_been_read_are_not_replayed_as_none() -> None:
    packets = read_packets(SAMPLES / "turn.txt")
    first = next(packets)
    rest = list(replay(packets))
    assert rest == list(replay(list(read_packets(SAMPLES / "turn.txt"))[1:]))
    assert first.time == 0
    with pytest.raises(ValueError, match=r"the packets of .*turn.txt have been read"):
        replay(packets)
