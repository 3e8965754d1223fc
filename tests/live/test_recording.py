"""A recording that is valid at any moment: killed, on a full disk, beside existing files."""

import io
import time
from pathlib import Path

import pytest
from support.datagrams import program, receiver
from support.full_disks import files_of

from epic_cli.api.reading import read_packets
from epic_cli.engine.contract import Packet
from epic_cli.engine.packets import PacketBlock
from epic_cli.live.recording import PacketRecording, Rotation
from epic_cli.recordings import captures

PACKET = Packet((1.0, 2.0, 3.0), None, 0.5, 0.75, "a")
WHOLE = PACKET._replace(velocity=(0.0, 0.0, 0.0))


def block_of(*packets: Packet) -> PacketBlock:
    block = PacketBlock()
    for packet in packets:
        block.append(packet)
    return block


@pytest.mark.parametrize("name", ["a.csv", "a.jsonl", "a.txt", "a"])
def test_what_is_written_is_read_back(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    recording = PacketRecording(str(path))
    recording.take_packets(block_of(WHOLE, WHOLE))
    assert list(read_packets(path)) == [WHOLE, WHOLE]  # it is there before it is closed
    assert recording.left_out == ""
    recording.close()
    assert recording.file.recorded == len(list(read_packets(path))) == 2
    with pytest.raises(FileExistsError):
        PacketRecording(str(path))
    assert len(list(read_packets(path))) == 2


@pytest.mark.parametrize(
    ("name", "packet", "why"),
    [
        ("a.txt", PACKET, "no velocity"),
        ("a.txt", WHOLE._replace(entity="a b"), "end at the blank"),
        ("a.csv", WHOLE._replace(delta=0.1), "no column"),
        ("a.jsonl", WHOLE._replace(entity="\x1b"), "cannot be shown"),
    ],
)
def test_what_a_format_cannot_hold_is_counted(
    tmp_path: Path, name: str, packet: Packet, why: str
) -> None:
    path = tmp_path / name
    recording = PacketRecording(str(path))
    later = WHOLE._replace(time=0.6)
    recording.take_packets(block_of(packet, WHOLE, packet, packet, later))
    recording.take_packets(block_of(packet))
    recording.close()
    assert list(read_packets(path)) == [WHOLE, later]
    assert recording.file.recorded == 2
    assert recording.left_out.startswith("4 not recorded in ")
    assert why in recording.left_out


def write_for_ever(recording: PacketRecording) -> None:
    """Write three packets at a time."""
    while True:
        recording.take_packets(block_of(PACKET, PACKET, PACKET))


def test_a_full_disk_is_told_with_the_file_and_what_was_written_is_whole(tmp_path: Path) -> None:
    """Fill the disk with a recording, a capture, one of several files, and the rows."""
    for options, told, doing in (
        (("--record", "raw.pcap", "--record", "other.csv"), "raw.pcap", "record in"),
        (("--record", "a.jsonl", "--record", "/dev/null"), "a.jsonl", "record in"),
        (("--record", "b.txt,rotate=1GB"), "b-0001.txt", "record in"),
        (("-o", "rows.csv", "-f", "csv"), "rows.csv", "write to"),
    ):
        named = [str(tmp_path / option) if "." in option else option for option in options]
        with files_of(5000):
            running = program("listen", "0", "--tick", "1ms", *named)
            with running as listener, receiver() as game:
                place = listener.place
                begin = time.monotonic()
                while listener.process.poll() is None:
                    now = time.monotonic() - begin
                    game.socket.sendto(b"1,2,3 / 4,5,6 / %f" % now, place)
                    time.sleep(0.001)
                said = listener.wait_for(b"File too large\n").decode()
                assert listener.process.returncode == 3
        assert f"epic: cannot {doing} {tmp_path / told}: File too large" in said
        data = (tmp_path / told).read_bytes()
        assert 4000 < len(data) <= 5000
        if doing == "write to":
            assert data.startswith(b"time,")
            assert data.endswith(b"\n")
            continue
        if told == "raw.pcap":
            assert sum(1 for _ in captures.iterate_frames(io.BytesIO(data).read)) >= 4000 // 88
        else:
            assert len(list(read_packets(tmp_path / told))) == data.count(b"\n")


def test_recordings_rotate_by_size_and_by_time(tmp_path: Path) -> None:
    recording = PacketRecording(str(tmp_path / "a.csv"), Rotation(size=500))
    for number in range(30):
        recording.take_packets(block_of(*[PACKET._replace(time=number)] * (number % 4)))
    recording.close()
    files = sorted(tmp_path.iterdir())
    assert [path.name for path in files] == [f"a-{n:04}.csv" for n in range(1, len(files) + 1)]
    assert recording.file.files == len(files) > 2
    assert all(path.stat().st_size <= 500 for path in files)
    times = [packet.time for path in files for packet in read_packets(path)]
    assert times == [number for number in range(30) for _ in range(number % 4)]
    by_time = PacketRecording(str(tmp_path / "b.jsonl"), Rotation(seconds=0.02))
    for _ in range(3):
        by_time.take_packets(block_of(PACKET))
        time.sleep(0.03)
    by_time.close()
    assert [len(list(read_packets(tmp_path / f"b-000{n}.jsonl"))) for n in (1, 2, 3)] == [1, 1, 1]
    (tmp_path / "c-0002.csv").write_text("something")
    taken = PacketRecording(str(tmp_path / "c.csv"), Rotation(size=500))
    with pytest.raises(FileExistsError, match=r"c-0002\.csv"):
        write_for_ever(taken)
    taken.close()
    assert (tmp_path / "c-0002.csv").read_text() == "something"
