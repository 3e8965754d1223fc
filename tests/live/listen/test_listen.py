"""``epic listen`` as a program beside others: rows, recordings, refusals and files."""

from __future__ import annotations

import itertools
import json
import math
import os
import random
import signal
import socket
import struct
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import cast

import pytest
from support.datagrams import PATIENCE, has_ipv6, program, receiver, resident, wait_until
from support.running import epic

from epic_cli.api.reading import read_packets
from epic_cli.engine.packets import PacketBlock
from epic_cli.engine.replay.strategy_spec import StrategySpec
from epic_cli.live.command_line import ListenProgress
from epic_cli.live.consumer import Consumer
from epic_cli.live.listener import LaterDrawing, Listener, ListenSpec
from epic_cli.live.receiving import ReceivingSocket, Reception, read_machine_time
from epic_cli.main import main
from epic_cli.recordings.addresses import Address, parse_address, parse_sender, resolve
from epic_cli.recordings.datagrams.record_layout import RecordLayout


@pytest.fixture
def game() -> Iterator[socket.socket]:
    """Return another program's socket."""
    with receiver() as made:
        yield made.socket


def count(path: Path) -> int:
    """Count the lines of a file."""
    return path.read_bytes().count(b"\n") if path.exists() else 0


def test_what_came_out_of_send_and_a_link_is_what_was_recorded_and_drawn(tmp_path: Path) -> None:
    record, rows, truth = tmp_path / "game.jsonl", tmp_path / "rows.csv", tmp_path / "truth.csv"
    link = ("--latency", "30ms", "--jitter", "25ms", "--loss", "10%", "--link", "duplicate=5%")
    with program(
        "listen", "0", "--record", str(record), "-f", "csv", "-o", str(rows), "-s", "snapshot"
    ) as listener:
        port = listener.port
        moves = ("--movement", "strafe,entity=e,duration=0.6", "--send", "200hz")
        sent = epic("send", *moves, *link, "--truth-out", truth, port)
        arrived = int(sent.stderr.split(b" duplicated, ")[1].split()[0])
        wait_until(lambda: count(record) == arrived)
        status, _, said = listener.end()
    assert status == 130
    assert b"%d packets in %d datagrams, 1 entity," % (arrived, arrived) in said
    assert b"refused" not in said
    packets = list(read_packets(record))
    left = [line.split(",") for line in truth.read_text().splitlines()[1:]]
    states = {row[1]: row for row in left}
    assert {f"{packet.time:g}" for packet in packets} == {row[1] for row in left if row[9]}
    for packet in packets:
        assert [float(cell) for cell in states[f"{packet.time:g}"][2:5]] == list(packet.position)
    arrivals = [packet.arrival for packet in packets if packet.arrival is not None]
    assert arrivals == sorted(arrivals)
    assert len(arrivals) == arrived
    sequence = [packet.sequence or 0 for packet in packets]
    highest = itertools.accumulate(sequence, max)
    late = sum(one < before for one, before in zip(sequence, highest, strict=True))
    assert late > 5
    # no packet came before it left, by the clock of the one that a busy machine has added least to
    lags = [
        packet.arrival - float(states[f"{packet.time:g}"][9])
        for packet in packets
        if packet.arrival is not None
    ]
    assert arrivals[-1] - arrivals[0] > 0.5 - max(lags) + min(lags)
    # what was drawn while it came is what the recording says
    replayed = epic("replay", record, "-f", "csv", "-s", "snapshot").stdout.splitlines()
    drawn = rows.read_bytes().splitlines()
    both = min(len(drawn), len(replayed))
    assert both > 10
    assert drawn[:both] == replayed[:both]


def test_rows_are_drawn_when_they_are_due_without_any_packet(game: socket.socket) -> None:
    with program("listen", "0", "--tick", "20ms", "-f", "csv") as listener:
        place = listener.place
        game.sendto(b"1,2,3 / 4,5,6 / 10", place)
        listener.wait_for(b"\n10.4,", "stdout")  # 20 frames later
        game.sendto(b"2,2,3 / 4,5,6 / 10.4 seq=3\n2,2,3 / 4,5,6 / 10.42", place)
        listener.wait_for(b"\n10.7,", "stdout")
        _, drawn, said = listener.end()
    times = [float(row.split(b",")[0]) for row in drawn.splitlines()[1:]]
    assert times == [(500 + index) / 50 for index in range(len(times))]
    assert b"3 packets in 2 datagrams" in said


def test_the_demos_rows_are_of_one_entity(game: socket.socket) -> None:
    with program("listen", "0") as listener:
        place = listener.place
        for entity in (b"a", b"b", b"a"):
            game.sendto(b"1,2,3 / 0,0,0 / 10 entity=" + entity, place)
        listener.wait_for(b"time: 10.2", "stdout")
        _, drawn, said = listener.end()
    assert drawn.startswith(b"pos: ")
    assert b"1 packet refused: 1 of a second entity" in said


FLOOD = [
    b"",
    os.urandom(1000),
    b"\xff" * 65507,
    b"1," * 32000,
    b"\n" * 65507,
    b"1,2,3 / 4,5,6 / 1e9 entity=a",
    b"1,2,3 / 4,5,6 / nan entity=a",
    b"1,2,3 / 4,5,6 / 10 entity=\x1b[2J",
    b"1e999,2,3 / 4,5,6 / 10",
    b'{"time":-1e308,"x":1,"y":2,"z":3,"entity":"a"}',
    b"[" * 60000,
    b"q",
    b'{"time":10,"x":1,"y":2,"z":3,"entity":"\\u001b]0;x\\u0007"}',
]


def test_a_flood_of_enemies_changes_nothing(tmp_path: Path, game: socket.socket) -> None:
    record = tmp_path / "game.csv"
    with program("listen", "0,max_entities=3", "--record", str(record), "-f", "jsonl") as listener:
        place = listener.place
        game.sendto(b"0,2,3 / 4,5,6 / 10 entity=a", place)
        wait_until(lambda: count(record) == 2)
        before = resident(listener.process.pid)
        generator = random.Random(2)
        for number in range(600):
            game.sendto(generator.choice(FLOOD), place)
            game.sendto(b"1,2,3 / 4,5,6 / 10 entity=e%d" % number, place)
            if number % 20 == 0:
                time.sleep(0.01)
        wait_until(lambda: _sent(game, place, record) >= 3)
        assert resident(listener.process.pid) < before + 40_000_000
        assert listener.process.poll() is None
        status, drawn, said = listener.end()
    assert status == 130
    packets = list(read_packets(record))
    assert len({packet.entity for packet in packets}) == 3
    assert all(packet.time in (10, 11) for packet in packets)
    assert {json.loads(row)["entity"] for row in drawn.splitlines()} == {
        packet.entity for packet in packets
    }
    for words in (b"of more entities than max_entities=", b"not readable as packets", b"empty",
                  b"with numbers that are not finite", b"far from the clock's",
                  b"names that are too long"):  # fmt: skip
        assert words in said, words
    assert b"\x1b" not in said
    assert len(said.splitlines()) < 60


def test_what_is_in_doubt_is_said_once(tmp_path: Path, game: socket.socket) -> None:
    record = tmp_path / "game.csv"
    with program("listen", "0", "--record", str(record)) as listener:
        place = listener.place
        for number in range(80):
            state = b'{"time":%.2f,"x":%d,"y":0,"z":0,"vx":0,"vy":0,"vz":0}'
            game.sendto(state % (number / 20, number), place)
        wait_until(lambda: count(record) == 81)
        _, _, said = listener.end()
    assert said.count(b"E301 velocities are all 0") == 1


def _sent(game: socket.socket, place: tuple[str, int], record: Path) -> int:
    """Send a good packet; return how many have been recorded."""
    game.sendto(b"1,2,3 / 4,5,6 / 11 entity=a", place)
    return record.read_bytes().count(b",11,") + record.read_bytes().count(b"a,11")


def test_who_looks_while_the_first_packet_is_passed_on_draws_nothing_yet(
    game: socket.socket,
) -> None:
    """A thread of the lab may read the game so early on a busy machine."""
    receiving = ReceivingSocket(resolve(Address(port=0)))
    looked = []

    class Looking(Consumer):
        def take_packets(self, block: PacketBlock) -> None:
            looked.append(len(block))
            drawing.step()

    spec = ListenSpec(strategy=StrategySpec("snapshot"))
    listener = Listener(spec, [Looking()], receiving)
    drawing = LaterDrawing(listener, spec, listener.find_settled, [])
    game.sendto(b"1,2,3 / 4,5,6 / 10", ("127.0.0.1", receiving.port))
    wait_until(listener.step)
    drawing.step()
    receiving.close()
    assert looked == [1]


def test_packets_of_one_sender_only(tmp_path: Path, game: socket.socket) -> None:
    record = tmp_path / "game.txt"
    with receiver() as other:
        allowed = f"127.0.0.1:{game.getsockname()[1]}"
        with program("listen", f"0,from={allowed}", "--record", str(record)) as listener:
            place = listener.place
            other.socket.sendto(b"1,2,3 / 4,5,6 / 1e9", place)
            game.sendto(b"1,2,3 / 4,5,6 / 0.5", place)
            wait_until(lambda: count(record) == 1)
            _, _, said = listener.end()
    assert record.read_bytes() == b"1,2,3 / 4,5,6 / 0.5 arrival=0.5\n"
    assert b"1 from other senders" in said


def test_a_closed_pipe_ends_it_quietly(tmp_path: Path, game: socket.socket) -> None:
    record = tmp_path / "game.csv"
    with program("listen", "0", "--record", str(record)) as listener:
        place = listener.place
        assert listener.process.stdout
        listener.process.stdout.close()
        game.sendto(b"1,2,3 / 4,5,6 / 10", place)
        assert listener.process.wait(PATIENCE) == 0
        assert listener.process.stderr
        assert b"Error" not in listener.process.stderr.read()
    assert count(record) == 2


def test_a_game_that_is_started_again_is_drawn_on_and_so_is_its_replay(
    tmp_path: Path, game: socket.socket
) -> None:
    record = tmp_path / "game.csv"
    options = ("-f", "csv", "-s", "snapshot", "--record", str(record))
    with program("listen", "0", *options) as listener, receiver() as again:
        place = listener.place
        for sender, begin, count in ((game.sendto, 500, 20), (again.socket.sendto, 0, 80)):
            for index in range(count):
                x = begin + index
                sender(b"%d,2,3 / 100,0,0 / %.2f" % (x, begin + index / 100), place)
                time.sleep(0.01)
        wait_until(lambda: b",79," in record.read_bytes())
        listener.wait_for(b"the game's clock was set once ")
        _, drawn, said = listener.end()
    assert b"refused" not in said
    rows = drawn.splitlines()
    assert any(50 < float(row.split(b",")[1]) < 80 for row in rows[1:])
    replayed = epic("replay", record, "-f", "csv", "-s", "snapshot").stdout.splitlines()
    both = min(len(rows), len(replayed))
    assert both > 16
    assert rows[:both] == replayed[:both]


def test_a_pipe_that_nobody_reads_holds_nothing_up(tmp_path: Path, game: socket.socket) -> None:
    """The pipe is full after some ticks: packets are still recorded, and Ctrl-C works."""
    record = tmp_path / "game.csv"
    options = ("-f", "jsonl", "--tick", "1ms", "--record", str(record))
    with program("listen", "0", *options) as listener:
        place = listener.place
        for number in range(100):
            lines = (b"1,2,3 / 4,5,6 / %d.%02d entity=e%d" % (0, number, k) for k in range(20))
            game.sendto(b"\n".join(lines), place)
            if number % 10 == 9:  # more than a busy machine can queue would be dropped
                wait_until(lambda: count(record) >= 1 + 20 * (number - 9))  # noqa: B023
        wait_until(lambda: count(record) == 2001)
        listener.process.send_signal(signal.SIGINT)
        said = listener.wait_for(b"packets recorded in")
        assert listener.process.wait(PATIENCE) == 130
        rows = listener.process.stdout.read() if listener.process.stdout else b""
    assert b"2,000 packets in 100 datagrams" in said
    assert b" rows left out, since the output is not being read\n" in said
    assert len(rows) > 4000


def test_it_ends_by_itself_and_what_cannot_be_is_said(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert main(["listen", "0", "--duration", "0"]) == 0
    assert "0 packets in 0 datagrams" in capfd.readouterr().err
    there = tmp_path / "there.csv"
    there.write_text("something")
    with receiver() as taken:
        for args, status, words in (
            ((taken.port,), 3, f"cannot listen on 127.0.0.1:{taken.port}: Address already in use"),
            (("192.0.2.1:9870",), 3, "cannot listen on 192.0.2.1:9870: "),
            (("no.such.host.invalid:1",), 3, "cannot listen on no.such.host.invalid:1: "),
            (("0,from=no.such.host.invalid",), 3, "cannot take packets from no.such"),
            (("0", "--record", str(there)), 3, "there.csv: File exists"),
        ):
            assert main(["listen", *args, "--duration", "0"]) == status, args
            assert words in " ".join(capfd.readouterr().err.split())
    assert there.read_text() == "something"


def test_messages_in_a_file_are_not_wrapped(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    said = " ".join(["late"] * 30)
    ListenProgress(False, False, cast("Reception", None), None).say(said)
    assert capsys.readouterr().err.splitlines() == [said]


def test_addresses() -> None:
    assert parse_address("9870") == parse_address(":9870") == Address("127.0.0.1", 9870)
    assert parse_address("[::1]:5") == Address("::1", 5)
    assert str(Address("::1", 5)) == "[::1]:5"
    assert parse_sender("192.168.0.7") == Address("192.168.0.7", 0)
    for text in ("", "a", "host:", "::1:5", "[]:5", "a b:5", "1:65536", "1:-1", "1:\u0661"):
        with pytest.raises(ValueError, match="is not an address"):
            parse_address(text)


def test_datagrams_have_the_kernels_time_and_drops_are_counted(game: socket.socket) -> None:
    receiving = ReceivingSocket(resolve(Address("127.0.0.1", 0)))
    try:
        place = ("127.0.0.1", receiving.port)

        def stamped() -> bool:  # Linux begins to stamp some time after it has been asked
            game.sendto(b"first", place)
            between = read_machine_time()
            time.sleep(0.05)
            [arrived] = receiving.read(10)
            assert arrived.data == b"first"
            assert arrived.sender == game.getsockname()
            return arrived.time < between + 0.02 or sys.platform != "linux"

        wait_until(stamped)
        for _ in range(20_000):
            game.sendto(b"x" * 1000, place)
        if sys.platform == "linux":  # while nothing is read, and with no datagram behind them
            dropped = receiving.dropped
            assert dropped > 0
            assert len(receiving.read(20_000)) + dropped == 20_000
    finally:
        receiving.close()
    if sys.platform == "linux":
        assert receiving.dropped == dropped


def test_a_member_of_a_multicast_group_gets_what_is_sent_to_it(
    tmp_path: Path, game: socket.socket
) -> None:
    record = tmp_path / "game.txt"
    game.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_IF, socket.inet_aton("127.0.0.1"))
    with receiver() as other:
        other.socket.setsockopt(
            socket.IPPROTO_IP, socket.IP_MULTICAST_IF, socket.inet_aton("127.0.0.1")
        )
        with program(
            "listen", "239.255.77.1:0,interface=127.0.0.1", "--record", str(record)
        ) as listener:
            place = ("239.255.77.1", int(listener.port))
            game.sendto(b"1,2,3 / 4,5,6 / 0.5", place)
            wait_until(lambda: count(record) == 1)
            other.socket.sendto(b"1,2,3 / 4,5,6 / 0.75", place)
            wait_until(lambda: count(record) == 2)
    assert main(["listen", "0,interface=127.0.0.1", "--duration", "0"]) == 2


def test_of_ipv6_too() -> None:
    members = Path("/proc/net/igmp6")
    if not members.exists() or not has_ipv6():
        pytest.skip("this machine has no IPv6")
    with program("listen", "[ff01::7:77]:0,interface=lo") as listener:
        listener.wait_for(b"\n")
        assert "ff010000000000000000000000070077" in members.read_text()
    assert main(["listen", "[ff01::7:77]:0,interface=no-such", "--duration", "0"]) == 3


@pytest.mark.parametrize(
    ("row_format", "column", "value"), [("csv", "qz", math.sqrt(0.5)), ("table", "yaw", 90)]
)
def test_rows_have_columns_for_rotations_where_the_first_packets_have_them(
    game: socket.socket, row_format: str, column: str, value: float
) -> None:
    with program("listen", "0", "-f", row_format, "-s", "snapshot") as listener:
        game.sendto(b"1,2,3 / 4,5,6 / 10 entity=a yaw=90", listener.place)
        listener.wait_for(b",a\n" if row_format == "csv" else b"10.2", "stdout")
        status, drawn, said = listener.end()
    assert status == 130
    assert b"left out" not in said
    split = "," if row_format == "csv" else None
    names, *_, last = (line.split(split) for line in drawn.decode().splitlines())
    assert float(dict(zip(names, last, strict=True))[column]) == pytest.approx(value)


@pytest.mark.parametrize("row_format", ["csv", "table"])
def test_a_first_rotation_below_the_header(game: socket.socket, row_format: str) -> None:
    with program("listen", "0", "-f", row_format, "-s", "lerp") as listener:
        place = listener.place
        game.sendto(b"1,2,3 / 4,5,6 / 10 entity=a", place)
        listener.wait_for(b"10.1", "stdout")
        game.sendto(b"1,2,3 / 4,5,6 / 10.2 entity=a yaw=90", place)
        if row_format == "csv":
            listener.wait_for(b"rotations left out, since the first came after the header")
        else:
            listener.wait_for(b" yaw ", "stdout")
        _, drawn, _ = listener.end()
    headers = [line for line in drawn.decode().splitlines() if line.lstrip().startswith("time")]
    assert [("yaw" in line, "qx" in line) for line in headers] == (
        [(False, False)] if row_format == "csv" else [(False, False), (True, False)]
    )


def test_where_no_packet_came_there_is_a_header() -> None:
    done = epic("listen", "0", "-f", "csv", "--duration", "0.1")
    assert done.stdout == b"time,x,y,z,vx,vy,vz,status,entity\n"


PLACE = "time:f32 x:f32 y:f32 z:f32"


def test_a_record_has_a_rotation_and_a_spin() -> None:
    turned = "qx:i16*0.0001 qy:i16*0.0001 qz:i16*0.0001 qw:i16*0.0001 wx:f32 wy:f32 wz:f32"
    numbers = (0, 0, 6000, 8000, 1.0, 2.0, 3.0)
    data = struct.pack("<4f4h3f", 0.5, 1, 2, 3, *numbers)
    packet = RecordLayout(f"{PLACE} {turned}").make_reader().read([data])[0][0]
    assert packet.position == (1, 2, 3)
    assert packet.rotation == pytest.approx((0, 0, 0.6, 0.8))
    assert packet.spin == (1, 2, 3)
    layout = RecordLayout(f"big {PLACE} qw:f64 qx:f64 qy:f64 qz:f64")
    packet = layout.make_reader().read([struct.pack(">4f4d", 0, 1, 2, 3, 0.8, 0, 0, 0.6)])[0][0]
    assert (packet.rotation, packet.spin) == ((0, 0, 0.6, 0.8), None)


def test_four_zeros_are_no_rotation() -> None:
    layout = RecordLayout(f"{PLACE} qx:f32 qy:f32 qz:f32 qw:f32")
    packet = layout.make_reader().read([struct.pack("<8f", 0, 1, 2, 3, 0, 0, 0, 0)])[0][0]
    assert (packet.position, packet.rotation) == ((1, 2, 3), None)
    layout = RecordLayout(f"{PLACE} qx:f32 qy:f32 qz:f32 qw:f32 wx:f32 wy:f32 wz:f32")
    packet = layout.make_reader().read([struct.pack("<11f", 0, 1, 2, 3, 0, 0, 0, 0, 1, 1, 1)])[0][0]
    assert (packet.position, packet.rotation, packet.spin) == ((1, 2, 3), None, None)


@pytest.mark.parametrize(
    "fields", ["qx:f32", "qx:f32 qy:f32 qz:f32", "wx:f32 wy:f32 wz:f32", "qw:f32 wx:f32"]
)
def test_a_rotation_is_whole(fields: str) -> None:
    with pytest.raises(ValueError, match="rotation"):
        RecordLayout(f"{PLACE} {fields}")
