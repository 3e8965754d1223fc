"""Replays of files from Python, and inputs that are no recordings."""

from pathlib import Path
from typing import Any

import pytest
from support.places import ROOT
from support.recordings import draw_samples

from epic_cli import Packet, RefusedLine, RefusedPacket, Sample, read_packets, replay, strategy

SAMPLES = ROOT / "sample_inputs"
ORIGIN = (0.0, 0.0, 0.0)


def test_a_path_is_replayed_as_the_command_does() -> None:
    assert list(replay(SAMPLES / "turn.txt")) == draw_samples((SAMPLES / "turn.txt").read_bytes())


def test_a_refused_line_ends_the_replay_where_it_stands(tmp_path: Path) -> None:
    lines = [f"{t},0,0 / 1,0,0 / {t / 10}\n" for t in range(9)]
    (tmp_path / "r.txt").write_text("".join([*lines[:6], "oops\n", *lines[6:]]))
    drawn: list[Sample] = []
    with pytest.raises(RefusedLine, match=r"r.txt:7:1"):
        drawn.extend(replay(tmp_path / "r.txt"))
    whole = list(replay(read_packets(tmp_path / "r.txt", refused=repr)))
    assert drawn == whole[: len(drawn)]
    assert drawn[-1].time == pytest.approx(0.65)


def test_a_packet_of_a_file_without_a_place_on_the_clock_says_where_it_stands(
    tmp_path: Path,
) -> None:
    (tmp_path / "r.txt").write_text("0,0,0 / 1,0,0 / 0\n\n1,0,0 / 1,0,0 / 1e9\n2,0,0 / 1,0,0 / 1\n")
    with pytest.raises(RefusedPacket, match=r"r.txt:3: Packet\(.*time=1000000000.0") as refused:
        list(replay(read_packets(tmp_path / "r.txt", refused=repr)))
    assert refused.value.packet.time == 1e9


@pytest.mark.parametrize(
    ("packets", "error", "words"),
    [
        (None, TypeError, "None holds no packets: give a list of packets, or a path"),
        (7, TypeError, "7 holds no packets"),
        (b"1,2,3 / 4,5,6 / 0", TypeError, "these are bytes: give read_packets"),
        (Packet(ORIGIN, ORIGIN, 0.0), TypeError, "this is one packet: give a list of packets"),
        ("1,2,3 / 4,5,6 / 0", FileNotFoundError, "1,2,3 / 4,5,6 / 0"),
        ([Packet(ORIGIN, ORIGIN, 0.0), 3], TypeError, "it has no position; make it with Packet"),
        ([[1, 2, 3, 4, 5, 6, 0]], RefusedLine, "no header that names the 7 columns; .*time=1,x=2"),
        ([((0, 0, 0), None, 0.0)], TypeError, "it has no position; make it with Packet"),
        ([Packet((1.0, 2.0), None, 0.0)], TypeError, r"its position is \(1.0, 2.0\), not three"),  # type: ignore[arg-type]
        ([Packet(ORIGIN, None, 0.0, entity=7)], TypeError, "its entity is 7, not text"),  # type: ignore[arg-type]
        ({"time": [0.0]}, RefusedLine, "no column is clearly x"),
    ],
)
def test_what_is_no_recording_is_refused_at_the_call(
    packets: Any, error: type[Exception], words: str
) -> None:
    with pytest.raises(error, match=words):
        replay(packets)


def test_an_argument_of_the_reader_given_to_the_replay_is_told() -> None:
    with pytest.raises(ValueError, match="epic has no setting 'read'") as wrong:
        replay(SAMPLES / "turn.txt", read="unit=ms")
    assert wrong.value.__notes__ == [
        "read may be meant for read_packets: replay(read_packets(path, read=...))"
    ]


def test_a_strategy_shows_how_it_was_made() -> None:
    assert repr(strategy("epic")) == "Epic()"
    assert repr(strategy("mirror", send_interval="0.04")) == "Mirror(send_interval=0.04)"
    assert (
        repr(strategy("epic", start="packet", slop_time=0.1))
        == "Epic(slop_time=0.1, start='packet')"
    )
    made = type(strategy("epic")).__new__(type(strategy("epic")))
    assert repr(made) == "Epic()"
