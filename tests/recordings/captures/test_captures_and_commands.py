"""Captures on the command line: a foreign one, and what ``listen --record`` writes."""

import struct
import time
from pathlib import Path

import pytest
from support.captures import ethernet, ipv4, pcap, pcapng, udp
from support.datagrams import program, receiver, wait_until
from support.running import epic

from epic_cli.api.reading import read_packets
from epic_cli.live.receiving import read_machine_time
from epic_cli.live.recording import DatagramRecording, Rotation
from epic_cli.recordings import captures
from epic_cli.recordings.addresses import ReceivedDatagram

LINES = [b"%d,2,3 / 4,5,6 / %r" % (number, number / 10) for number in range(3)]


def test_a_capture_is_converted(tmp_path: Path) -> None:
    path, other = tmp_path / "game.pcapng", tmp_path / "game.pcap"
    sent = [ethernet(ipv4(udp(line))) for line in (*LINES, b"hello")]
    path.write_bytes(pcapng([(5 + index / 8, frame) for index, frame in enumerate(sent)]))
    done = epic("convert", "--to", "text", "--port", "7777", path)
    assert done.stdout == b"".join(
        b"%b arrival=%s\n" % (line, arrival)
        for line, arrival in zip(LINES, (b"0", b"0.125", b"0.25"), strict=True)
    ).replace(b" / 0.0 ", b" / 0 ")
    assert done.returncode == 1
    assert b"3 packets in 4 datagrams of 4 frames" in done.stderr
    assert b"1 packet refused: 1 not readable as packets" in done.stderr
    records = [struct.pack("<Hf", 100 * index, index) for index in range(3)]
    other.write_bytes(pcap([(5.0, ipv4(udp(record))) for record in records], 101))
    layout = ("--layout", "time:u16*0.001 x:f32", "--from", "10.0.0.1")
    for where in ((other,), ()):
        data = b"" if where else other.read_bytes()
        done = epic("convert", "--to", "csv", *layout, *where, stdin=data)
        assert done.stdout.count(b"\n") == 4, done.stderr
        assert done.returncode == 0
    done = epic("convert", "--to", "csv", *layout[:2], "--from", "10.9.9.9", other)
    assert (done.stdout.count(b"\n"), done.returncode) == (1, 1)
    assert b"3 from other senders" in done.stderr


def test_a_capture_without_packets_is_no_success(tmp_path: Path) -> None:
    path = tmp_path / "web.pcap"
    path.write_bytes(pcap([(index, ipv4(LINES[0], protocol=6)) for index in range(3)], 101))
    done = epic("convert", "--to", "csv", path)
    assert done.returncode == 1
    assert b"frames skipped: 3 of TCP" in done.stderr


def test_raw_datagrams_are_a_capture_that_is_read_back(tmp_path: Path) -> None:
    raw, record = tmp_path / "game.pcap", tmp_path / "game.csv"
    before = time.time_ns()
    with program("listen", "0", "--record", str(raw), "--record", str(record)) as listener:
        place = listener.place
        with receiver() as game:
            for data in (*LINES, b"not a packet", b"", bytes(60000)):
                game.socket.sendto(data, place)
            sender = game.socket.getsockname()
            wait_until(lambda: raw.stat().st_size > 60_000)
        _, _, said = listener.end()
    assert b"6 datagrams recorded in" in said
    with raw.open("rb") as stream:
        times = [frame.time or 0 for frame in captures.iterate_frames(stream.read)]
    assert before < times[0] <= times[-1] < time.time_ns()
    done = epic("convert", "--to", "csv", "--port", str(place[1]), raw)
    assert b"3 packets in 6 datagrams of 6 frames" in done.stderr
    again = tmp_path / "again.csv"
    again.write_bytes(done.stdout)
    one, other = list(read_packets(record)), list(read_packets(again))
    assert [packet._replace(arrival=0) for packet in one] == [
        packet._replace(arrival=0) for packet in other
    ]
    # a microsecond is rounded in one, and a nanosecond in the other
    for first, second in zip(one, other, strict=True):
        assert abs((first.arrival or 0) - (second.arrival or 0)) < 2e-6
    theirs = ("convert", "--to", "csv", "--from", f"127.0.0.1:{sender[1]}", raw)
    assert epic(*theirs).stdout == done.stdout


@pytest.mark.parametrize(("sender", "target"), [("127.0.0.1", "127.0.0.2"), ("::1", "::2")])
def test_checksums_are_those_that_receivers_compute(
    tmp_path: Path, sender: str, target: str
) -> None:
    path = tmp_path / "a.pcap"
    raw = DatagramRecording(str(path), (target, 9870))
    raw.take_datagrams(
        [ReceivedDatagram(data, (sender, 5), read_machine_time()) for data in (b"even", b"odd")]
    )
    raw.close()
    with path.open("rb") as stream:
        for frame in captures.iterate_frames(stream.read):
            data = frame.data
            if ":" in sender:
                data = data[8:40] + struct.pack(">II", len(data) - 40, 17) + data[40:]
            else:
                data = data[:20]
            data += bytes(len(data) % 2)
            total = sum(struct.unpack(f">{len(data) // 2}H", data))
            assert (total & 0xFFFF) + (total >> 16) == 0xFFFF


def test_files_rotate_and_each_is_read_alone(tmp_path: Path) -> None:
    raw = DatagramRecording(str(tmp_path / "a.pcap"), ("127.0.0.1", 1), Rotation(size=1000))
    for number in range(40):
        data = b"%d" % number + bytes(100)
        raw.take_datagrams([ReceivedDatagram(data, ("127.0.0.1", 5), 1.0)] * (1 + number % 3))
    raw.close()
    names = sorted(path.name for path in tmp_path.iterdir())
    assert names == [f"a-{number:04}.pcap" for number in range(1, raw.file.files + 1)]
    assert raw.file.files > 5
    found = 0
    for name in names:
        assert (tmp_path / name).stat().st_size <= 1000
        with (tmp_path / name).open("rb") as stream:
            found += len(list(captures.iterate_frames(stream.read)))
    assert found == raw.file.recorded == 13 * 6 + 1
