"""Layouts of unknown datagrams: made-up games of all kinds, and what is no game.

python tests/live/test_exploring.py 1000 1300    # how often the best is right
"""

import json
import math
import random
import re
import signal
import socket
import struct
import sys
import time
from pathlib import Path

import pytest
from support.captures import ethernet, ipv4, pcap, udp
from support.datagrams import program
from support.packed_games import packed_game
from support.running import epic
from support.understood import verdict
from support.unknown_games import game

from epic_cli.jobs.inspect.exploring import proposals
from epic_cli.jobs.inspect.exploring_report import report
from epic_cli.recordings.addresses import ReceivedDatagram
from epic_cli.recordings.datagrams.binary import RecordLayout


@pytest.mark.parametrize("seed", range(0, 40, 4))
def test_the_best_layout_of_a_game_is_right(seed: int) -> None:
    one = game(seed)
    found = proposals(one.datagrams, one.times)
    assert found, one.words
    assert verdict(one, found[0].layout) == "right", (one.words, found[0].layout)
    for other in found:
        RecordLayout(other.layout)  # all of them are valid
    received = zip(one.datagrams, one.times, strict=True)
    shown = report([ReceivedDatagram(data, ("::1", 9), at) for data, at in received], "epic")
    layouts = [str(record["layout"]) for record in shown.data.records()]
    assert layouts[0] == found[0].layout
    assert {verdict(one, layout) for layout in layouts} == {"right"}, (one.words, layouts)


@pytest.mark.parametrize("seed", [0, 1, 6, 7, 13])
def test_packed_coordinates_are_found(seed: int) -> None:
    one = packed_game(seed)
    found = proposals(one.datagrams, one.times)
    assert found, one.words
    assert found[0].sure
    assert verdict(one, found[0].layout) == "right", (one.words, found[0].layout)


def noise(seed: int) -> list[bytes]:
    generator = random.Random(seed)
    size = generator.choice([8, 20, 33, 60])
    fixed = generator.random() < 0.5
    return [
        generator.randbytes(size if fixed else generator.randrange(1, size)) for _ in range(200)
    ]


@pytest.mark.parametrize("seed", range(3))
def test_where_nothing_moves_nothing_is_proposed(seed: int) -> None:
    times = [number / 30 for number in range(200)]
    assert proposals(noise(seed), times) == []
    words = [b"chat: %d" % random.Random(seed + n).randrange(9**9) for n in range(200)]
    assert proposals(words, times) == []
    counted = [bytes([0, n >> 8, n & 255]) + bytes(8) for n in range(200)]  # a heartbeat
    assert proposals(counted, times) == []
    assert proposals([bytes(20)] * 200, times) == []
    assert proposals([b""] * 200, times) == []
    assert proposals(counted[:3], times[:3]) == []
    moving = [struct.pack("<Iff", 50 * n, 0.1 * n, 0.2 * n) for n in range(200)]
    for begin in (0, 1.7e9):  # a capture without times, or of a moment
        assert proposals(moving, [begin] * 200) == []
        proposals(moving, [begin + number * 3e-7 for number in range(200)])


@pytest.mark.parametrize("seed", range(3))
def test_damaged_and_mixed_datagrams_are_survived(seed: int) -> None:
    generator = random.Random(seed)
    ones = [game(generator.randrange(10**6)) for _ in range(2)]
    datagrams = [data for one in ones for data in one.datagrams]
    for share in (0.02, 0.5):
        some = generator.sample(datagrams, 200)
        some = [one[: generator.randrange(len(one))] if generator.random() < share else one
                for one in some]  # fmt: skip
        for found in proposals(some, [number / 20 for number in range(200)]):
            RecordLayout(found.layout)
    short = [data[: 3 + number % 40] for number, data in enumerate(datagrams[:200])]
    proposals(short, [number / 20 for number in range(200)])


def test_a_running_game_is_explored() -> None:
    with (
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender,
        program("listen", "--explore", "0") as listener,
    ):
        port = int(re.findall(rb"127.0.0.1:([0-9]+)", listener.wait_for(b"Ctrl-C"))[0])
        for _ in range(100):
            now = time.monotonic()
            place = (9 * math.cos(2 * now), 9 * math.sin(2 * now), math.sin(now))
            data = struct.pack("<HI3f", 0xCAFE, int(now * 1000) % 2**32, *place)
            sender.sendto(data, ("127.0.0.1", port))
            time.sleep(0.015)
        status, said, _ = listener.end(signal.SIGINT)
    assert status == 0
    assert b"1. _:u8=0xfe _:u8=0xca time:u32/1000 x:f32 y:f32 z:f32\n" in said
    # what waits for a busy machine when it is stopped is not read
    found = re.search(rb"reads +(\d+) of (\d+) datagrams, (\d+) packets, 1 entities", said)
    assert found
    assert 50 < int(found[1]) == int(found[2]) == int(found[3]) <= 100


def test_without_datagrams_it_says_how_many_are_needed() -> None:
    said = epic("listen", "--explore", "--duration", "0.1", "0")
    assert said.returncode == 0
    assert b"Too few datagrams: 16 are needed" in said.stdout


def capture(path: Path, seed: int) -> None:
    one = game(seed)
    frames = zip(one.times, one.datagrams, strict=True)
    path.write_bytes(pcap([(1.7e9 + at, ethernet(ipv4(udp(data)))) for at, data in frames]))


def test_a_capture_is_explored_and_its_best_line_reads_it(tmp_path: Path) -> None:
    path = tmp_path / "game.pcap"
    capture(path, 12)
    said = epic("inspect", "--explore", "--port", "7777", str(path))
    assert said.returncode == 0
    text = said.stdout.decode()
    assert "== never changes" in text
    line = next(one for one in text.splitlines() if "epic convert" in one)
    layout = line.split("--layout ")[1].strip("'")
    rows = epic("convert", str(path), "--port", "7777", "--to", "csv", "--layout", layout)
    assert rows.returncode == 0
    assert len(rows.stdout.splitlines()) == 1 + len(game(12).truth)
    said = epic("inspect", "--explore", "-f", "json", str(path))
    assert json.loads(said.stdout.splitlines()[0])["layout"] == layout
    assert epic("inspect", "--explore", "sample_inputs/turn.txt").returncode == 2


if __name__ == "__main__":
    right, seeds = 0, range(*map(int, sys.argv[1:]))
    for seed in seeds:
        one = game(seed)
        found = [verdict(one, each.layout) for each in proposals(one.datagrams, one.times)]
        right += found[:1] == ["right"]
        if found[:1] != ["right"]:
            print(one.words, found[:3])
    print(f"{right} of {len(seeds)}")
