"""``epic send``: the datagrams, their order, and its messages."""

import csv
import json
import math
import os
import random
import re
import signal
import socket
import statistics
import threading
from collections import defaultdict
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest
from support.datagrams import PATIENCE, free_port, has_ipv6, program, receiver, wait_until
from support.running import epic

from epic_cli.api.reading import read_packets
from epic_cli.engine.contract import Packet
from epic_cli.live.send.spec import merge_recordings, repeat_packets
from epic_cli.main import main

WALK = b"""\
0,0,0 / 1,0,0 / 0.0 arrival=0.5 entity=a seq=7
5,0,0 / 1,0,0 / 0.0 arrival=0.5 entity=b
1,0,0 / 1,0,0 / 0.1 arrival=0.45 entity=a
nonsense
2,0,0 / 1,0,0 / 0.2 arrival=0.7 entity=a teleport=1
"""


def test_packets_leave_by_their_arrival_in_the_format_that_was_asked_for() -> None:
    expected = {
        "text": [
            b"0,0,0 / 1,0,0 / 0 entity=a seq=7\n5,0,0 / 1,0,0 / 0 entity=b seq=0\n"
            b"1,0,0 / 1,0,0 / 0.1 entity=a seq=0\n",
            b"2,0,0 / 1,0,0 / 0.2 entity=a seq=1 teleport=1\n",
        ],
        "csv": [
            b"entity,time,x,y,z,vx,vy,vz,arrival,seq,teleport\na,0,0,0,0,1,0,0,,7,0\n"
            b"b,0,5,0,0,1,0,0,,0,0\na,0.1,1,0,0,1,0,0,,0,0\n",
            b"entity,time,x,y,z,vx,vy,vz,arrival,seq,teleport\na,0.2,2,0,0,1,0,0,,1,1\n",
        ],
    }
    for packet_format, datagrams in expected.items():
        with receiver() as game:
            ended = epic("send", "-", "-f", packet_format, "--speed", "100", game.port, stdin=WALK)
            assert game.all() == datagrams
        assert ended.returncode == 1  # a line was refused
        assert b"<stdin>:4:1" in ended.stderr
        assert b"2 sent, 0 lost (0.0%), 0 duplicated, 2 arrived, 0 reordered" in ended.stderr


def test_a_path_goes_over_the_link_that_was_asked_for() -> None:
    link = ("--latency", "20ms", "--jitter", "15ms", "--loss", "20%", "--link", "duplicate=10%")
    sending = ("--movement", "circle,duration=0.3", "--send", "1000hz", "--seed", "5")
    with receiver() as game:
        ended = epic("send", *sending, *link, "-f", "jsonl", game.port)
        numbers = [json.loads(chunk)["seq"] for chunk in game.all()]
    assert ended.returncode == 0, ended.stderr
    words = ended.stderr.decode().replace("(", "").split()
    told = {word.rstrip(","): int(count) for count, word in pairwise(words) if count.isdigit()}
    assert told["sent"] == 301
    assert told["arrived"] == len(numbers)
    assert told["lost"] == 301 - len(set(numbers))
    assert 20 < told["lost"] < 120
    assert told["duplicated"] == len(numbers) - len(set(numbers)) > 5
    reordered = sum(one < max(numbers[:index], default=-1) for index, one in enumerate(numbers))
    assert told["reordered"] == reordered > 20


def test_many_states_of_one_moment_share_datagrams_of_one_piece_of_a_network() -> None:
    lines = b"".join(b"%d,0,0 / 1,0,0 / 0 entity=e%d\n" % (n, n) for n in range(100))
    for options, most in (((), 1400), (("--send", "separate=on"), 40)):
        with receiver() as game:
            epic("send", "-", *options, game.port, stdin=lines)
            datagrams = game.all()
        assert max(map(len, datagrams)) <= most
        assert len(datagrams) == (3 if most > 40 else 100)
        together = b"".join(datagrams).splitlines()
        assert [chunk.split(b" seq=")[0] + b"\n" for chunk in together] == lines.splitlines(True)
        assert [line.split(b"seq=")[1] for line in datagrams[1].splitlines()][:1] == [b"1"]


def test_an_address_of_ipv6() -> None:
    if not has_ipv6():
        pytest.skip("this machine has no IPv6")
    with receiver(socket.AF_INET6) as game:
        done = epic("send", "-", f"[::1]:{game.port}", stdin=WALK.splitlines(True)[0])
        assert done.returncode == 0
        assert game.one() == b"0,0,0 / 1,0,0 / 0 entity=a seq=7\n"


def test_what_cannot_be_sent_is_said(capfd: pytest.CaptureFixture[str]) -> None:
    for args, status, words in (
        (("--movement", "circle", "no.such.host.invalid:1"), 3, "cannot send to no.such.host"),
        (("none.txt", "9870"), 3, "none.txt: No such file"),
    ):
        assert main(["send", *args]) == status, args
        said = capfd.readouterr()
        assert words in " ".join(said.err.split())
        assert not said.out


def test_nobody_listening_is_no_reason_to_stop() -> None:
    port = str(free_port())
    ended = epic("send", "-", "--speed", "10", port, stdin=b"".join(WALK.splitlines(True)[::4]))
    assert ended.returncode == 0
    assert b"2 sent" in ended.stderr
    assert b"nothing listened" in ended.stderr


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_a_signal_leaves_what_was_sent_and_the_counts(tmp_path: Path, number: int) -> None:
    truth = tmp_path / "truth.csv"
    truth.write_text("of another run\n" * 999)
    with receiver() as game, program("send", "--movement", "zigzag", "--latency", "1ms",
                                     "--truth-out", str(truth), game.port) as sender:  # fmt: skip
        for _ in range(3):
            came = game.one()
        status, _, said = sender.end(number)
    assert status == (130 if number == signal.SIGINT else -number)
    assert (b" sent, 0 lost" in said) == (number != signal.SIGKILL)
    header, *lines = truth.read_text().splitlines()
    assert header == "entity,time,x,y,z,vx,vy,vz,teleport,sent"
    # the last one that came may be killed between its leaving and its row
    assert len(lines) >= int(came.split(b"seq=")[1])
    assert [path.name for path in tmp_path.iterdir()] == ["truth.csv"]


def test_ctrl_c_ends_it_while_a_pipe_is_silent() -> None:
    with receiver() as game, program("send", "-", game.port) as sender:
        assert sender.process.stdin
        sender.process.stdin.write(b"1,2,3 / 4,5,6 / 0.1\n1,2,3 / 4,5,6 / 0.2\n")
        sender.process.stdin.flush()
        assert game.one().startswith(b"1,2,3")
        assert sender.end()[0] == 130


def test_a_recorded_network_delays_and_loses_what_it_did(tmp_path: Path) -> None:
    trace = tmp_path / "network.csv"
    rows = ["send_time,owd_ms,lost"]
    for index in range(20):
        rows.append(f"{index / 100},{10 + 60 * (index % 2)},{int(index % 5 == 4)}")
    trace.write_text("\n".join(rows))
    truth = tmp_path / "truth.csv"
    with receiver() as game:
        done = epic("send", "--movement", "circle,duration=0.2", "--send", "100hz",
                    "--link", f"trace={trace},trace_by=packet", "--truth-out", truth,
                    game.port)  # fmt: skip
        came = game.all()
    assert done.returncode == 0, done.stderr
    assert len(came) == 17
    sent = [line.split(",") for line in truth.read_text().splitlines()[1:]]
    assert [bool(row[-1]) for row in sent] == [index % 5 != 4 for index in range(20)] + [True]
    for index, row in enumerate(sent):
        if row[-1]:  # a busy machine may add something, and takes nothing away
            delay = float(row[-1]) - float(row[1])
            assert delay > (0.069 if index % 2 else 0.009)


def recording(seed: int) -> dict[str, list[Packet]]:
    """Generate entities that come and go, with rates of their own, silences and bursts."""
    chance = random.Random(seed)
    found = {}
    for name in ("", "a", "b", "c")[: chance.randint(1, 4)]:
        step = chance.choice((1 / 60, 0.05, 0.1, 0.7))
        time, number = chance.choice((0.0, 5.0, -3.0)) + chance.random(), chance.randint(0, 900)
        rows = []
        for _ in range(chance.randint(3, 40)):
            delay = chance.choice((None, chance.random() / 10)) if seed % 2 else None
            arrival = None if delay is None else time + delay
            jumps = chance.random() < 0.1
            rows.append(
                Packet((time, 0, 0), None, time, entity=name, arrival=arrival, sequence=number,
                       teleport=jumps)
            )  # fmt: skip
            time += step * (chance.choice((1, 1, 1, 8)) if len(rows) > 2 else 1)
            number += chance.choice((1, 1, 1, 3))
        found[name] = rows
    return found


def in_order(rows: dict[str, list[Packet]]) -> list[Packet]:
    """Return the packets of all entities by their own times."""
    return sorted(
        (packet for row in rows.values() for packet in row), key=lambda packet: packet.time
    )


@pytest.mark.parametrize("seed", range(40))
def test_rounds_go_on_without_a_gap_or_a_jump_back(seed: int) -> None:
    rows = recording(seed)
    sent: dict[str, list[Packet]] = defaultdict(list)
    everything = list(repeat_packets(lambda: in_order(rows), 3))
    for packet in everything:
        sent[packet.entity].append(packet)
    assert everything[: len(everything) // 3] == in_order(rows)
    periods = set()
    for name, each in rows.items():
        count = len(each)
        assert len(sent[name]) == 3 * count
        times = [packet.time for packet in sent[name]]
        numbers = [packet.sequence or 0 for packet in sent[name]]
        assert all(a < b for a, b in pairwise(times))
        assert all(a < b for a, b in pairwise(numbers))
        assert numbers[count] == numbers[count - 1] + 1
        for place, one in enumerate(sent[name]):
            first = each[place % count]
            periods.add(round((one.time - first.time) * 2 / (place // count or 1), 6))
            assert one.position == first.position
            assert one.teleport == (first.teleport or (place >= count and place % count == 0))
            if first.arrival is not None:
                assert one.arrival is not None
                assert one.arrival - one.time == pytest.approx(first.arrival - first.time, abs=1e-8)
    assert len(periods - {0.0}) == 1  # all by the same
    assert all(a.time <= b.time for a, b in pairwise(everything))
    if len(rows) == 1:  # its seam is one of its usual steps
        (each,) = rows.values()
        usual = statistics.median_high(b.time - a.time for a, b in pairwise(each))
        assert times[len(each)] - each[-1].time == pytest.approx(usual)


def test_a_recording_of_one_packet_or_of_none_can_be_repeated() -> None:
    only = Packet((1, 2, 3), None, 7.0)
    assert [packet.time for packet in repeat_packets(lambda: [only], 3)] == [7, 8, 9]
    assert list(repeat_packets(list, math.inf)) == []
    assert list(repeat_packets(lambda: [only._replace(time=math.nan)], math.inf))[1:] == []


@pytest.mark.parametrize("seed", range(20))
def test_recordings_together_begin_at_once_and_no_entities_merge(seed: int) -> None:
    recordings = [recording(100 * seed + index) for index in range(3)]
    said: list[tuple[str, str, str]] = []

    def packets(index: int) -> Iterator[Packet]:
        yield from in_order(recordings[index])

    streams = [("one", packets(0)), ("two", packets(1)), ("two", packets(2))]
    sent: dict[str, list[Packet]] = defaultdict(list)
    for packet in merge_recordings(streams, lambda *words: said.append(words)):
        sent[packet.entity].append(packet)
    assert len(sent) == sum(map(len, recordings))
    assert len(said) == len(sent) - len({name for record in recordings for name in record})
    starts = [in_order(record)[0] for record in recordings]
    dues = [start.time if start.arrival is None else start.arrival for start in starts]
    wanted = sorted(
        tuple(round(packet.time - due + dues[0], 6) for packet in row)
        for rows, due in zip(recordings, dues, strict=True)
        for row in rows.values()
    )
    assert sorted(tuple(round(packet.time, 6) for packet in row) for row in sent.values()) == wanted
    assert all(new in sent and new.partition("@")[0] in (old, "one", "two", "two-2")
               for _, old, new in said)  # fmt: skip


def test_several_files_are_sent_again_and_again_until_ctrl_c(tmp_path: Path) -> None:
    for name, text in (("a b.txt", WALK), ("c.txt", WALK.replace(b"nonsense\n", b""))):
        (tmp_path / name).write_bytes(text)
    files = [str(tmp_path / name) for name in ("a b.txt", "c.txt")]
    with (
        receiver() as game,
        program("send", "--times", "endless", "--speed", "20", *files, game.port) as one,
    ):
        lines: list[str] = []
        while sum("entity=a " in line for line in lines) < 12:
            lines += game.one().decode().splitlines()
        status, _, said = one.end()
    assert status == 130
    assert said.count(b":4:1: ") == 1  # a refused line is told of once
    assert said.count(b"is sent as") == 2
    assert b"entity 'a' of c is sent as 'a@c'" in said
    for name in ("a", "a@c"):
        own = [line for line in lines if f"entity={name} " in line]
        times = [float(line.split(" / ")[2].split()[0]) for line in own]
        assert times[:3] == [0, 0.1, 0.2]
        assert [round(b - a, 6) for a, b in pairwise(times)] == [0.1] * (len(times) - 1)


@pytest.mark.parametrize(
    ("scheme", "packet_format", "turning"),
    [
        ("tcp", "text", "heading"),
        ("ws", "csv", "none"),
        ("ws", "jsonl", "heading"),
    ],
)
def test_what_a_connection_carries_is_what_was_sent(
    scheme: str, packet_format: str, turning: str, tmp_path: Path
) -> None:
    """Send entities of which one turns, and compare with listen's recording."""
    pytest.importorskip("websockets")
    game, got, sent = (tmp_path / name for name in ("game.csv", "got.jsonl", "sent.csv"))
    walk = ("--movement", f"strafe,turning={turning},duration=0.5", "--send", "50hz")
    assert epic("simulate", *walk, "-o", game).returncode == 0
    still = "7,8,9 / 0,0,0 / {} entity=still\n"
    beside = tmp_path / "beside.txt"
    beside.write_text("".join(still.format(k / 10) for k in range(5)))
    files = ("--record", str(got), "-f", "csv")
    with program("listen", f"{scheme}://127.0.0.1:0", *files) as listening:
        where = f"{scheme}://127.0.0.1:{listening.port}"
        how = ("--format", packet_format, "--loss", "10%", "--jitter", "20ms", "--truth-out", sent)
        done = epic("send", game, beside, *how, where)
        assert done.returncode == 0, done.stderr
        rows = [name for name in csv.DictReader(sent.read_text().splitlines()) if name["sent"]]
        wait_until(lambda: len(got.read_text().splitlines()) >= len(rows))
        said = listening.end()[2]
    assert b"refused" not in said
    before = {(record["entity"], float(record["time"])): record for record in rows}
    found = list(read_packets(got))
    assert len(found) == len(before) > 20
    for packet in found:
        row = before.pop((packet.entity, packet.time))
        assert packet.position == pytest.approx([float(row[axis]) for axis in "xyz"], abs=1e-6)
        turn = [float(row[name]) for name in ("qx", "qy", "qz", "qw")] if row.get("qx") else None
        assert packet.rotation == (None if turn is None else pytest.approx(turn, abs=1e-6))


@pytest.mark.parametrize("scheme", ["tcp", "ws"])
def test_a_connection_that_ends_or_is_none_is_said(scheme: str) -> None:
    pytest.importorskip("websockets")
    walk = ("--movement", "circle,duration=20", "--send", "200hz")
    with socket.create_server(("127.0.0.1", 0)) as server:
        where = f"{scheme}://127.0.0.1:{server.getsockname()[1]}"

        def close() -> None:
            one, _ = server.accept()
            one.recv(10)
            one.sendall(b"I do not understand\n")
            one.close()

        closing = threading.Thread(target=close)
        closing.start()
        done = epic("send", *walk, where)
        closing.join()
    assert done.returncode == 3
    assert b"cannot send to" in done.stderr
    assert b"Traceback" not in done.stderr
    done = epic("send", *walk, where)  # nobody there
    assert done.returncode == 3
    assert b"refused" in done.stderr


@pytest.mark.parametrize("sender", ["", ",from=127.0.0.1:1"])
def test_the_round_trip_comes_back_by_echo_from_those_who_may_send(sender: str) -> None:
    link = ("--link", "up.latency=60ms,down.latency=20ms")
    with program("listen", f"0,echo=on{sender}", "--show", "rows", "-o", os.devnull) as listener:
        port = listener.port
        with program("proxy", *link, "0", port) as proxy:
            sent = epic(
                "send", "--movement", "circle,duration=0.6", "--latency", "20ms", proxy.port
            )
    found = re.search(r"round trip by echo in ms: min (\S+), 50% (\S+),.* \((\d+) datagrams\)",
                      sent.stderr.decode())  # fmt: skip
    assert bool(found) == (not sender)
    if found:
        assert 99.5 < float(found[1]) <= float(found[2])  # the links are not quicker than they say
        assert 10 <= int(found[3]) <= 13


def test_an_echo_is_what_was_sent_and_is_not_echoed() -> None:
    with (
        program("listen", "0,echo=on", "--show", "rows", "-o", os.devnull) as listener,
        receiver() as game,
    ):
        for data in (b"0,0,0 / 0,0,0 / 0.5", b"echo 0.1 0,0,0 / 0,0,0 / 0.6", b"\xff\x00", b""):
            game.socket.sendto(data, listener.place)
        echoes = [game.one() for _ in range(3)]
    found = [re.fullmatch(rb"echo 0\.\d{6} (.*)", each, re.DOTALL) for each in echoes]
    assert [each and each[1] for each in found] == [b"0,0,0 / 0,0,0 / 0.5", b"\xff\x00", b""]


def test_strange_answers_do_not_end_the_sending() -> None:
    moving = ("--movement", "circle,duration=1")
    with receiver() as game, program("send", *moving, game.port) as sender:
        data, place = game.socket.recvfrom(9999)
        made_up = [b"echo %s %s" % (held, data) for held in (b"x", b"-1", b"nan", b"9")]
        for answer in (b"\xff", b"echo", b"echo 0 none", *made_up):
            game.socket.sendto(answer, place)
        assert sender.process.wait(PATIENCE) == 0
        assert b"echo" not in sender.wait_for(b"21 arrived")
