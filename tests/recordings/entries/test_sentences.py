"""Logs in sentences: recognized, refused with a proposed pattern, and read with the pattern."""

import io
import re
import shlex

import pytest
from support.running import epic

from epic_cli import RefusedLine, read_packets
from epic_cli.recordings.entries.sentences.reader import propose
from epic_cli.recordings.read_spec import ReadSpec
from epic_cli.recordings.reading import detect

#: How games log a movement from (0, 0, 0) to (1, 0, 2) in 0.1 s; the units are ticks of 20 Hz.
LOGS = {
    "a logger's time of day": (
        "[12:00:00.000] INFO recv pos=(0.00, 0.00, 0.00) seq=1",
        "[12:00:00.100] INFO recv pos=(1.00, 0.00, 2.00) seq=2",
    ),
    "midnight, a digit behind the bracket": (
        "[00:00:00.000] INFO recv pos=(0.00, 0.00, 0.00)",
        "[00:00:00.100] INFO recv pos=(1.00, 0.00, 2.00)",
    ),
    "Python's logging": (
        "2024-05-01 12:00:00,000 INFO net: player=ann x=0 y=0 z=0",
        "2024-05-01 12:00:00,100 INFO net: player=ann x=1 y=0 z=2",
    ),
    "Unity, with the lines of its stack": (
        "[Recv] t=0.000 pos=(0.00, 0.00, 0.00) vel=(10.00, 0.00, 20.00)",
        "UnityEngine.Debug:Log(Object)",
        "[Recv] t=0.100 pos=(1.00, 0.00, 2.00) vel=(10.00, 0.00, 20.00)",
        "UnityEngine.Debug:Log(Object)",
    ),
    "Unreal's stamp": (
        "[2024.05.01-12.00.00:000][  0]LogNet: Move Loc=(X=0.000 Y=0.000 Z=0.000)",
        "[2024.05.01-12.00.00:100][  2]LogNet: Move Loc=(X=1.000 Y=0.000 Z=2.000)",
    ),
    "Source": (
        'tick 400: player 2 "ann" setpos 0.000000 0.000000 0.000000',
        'tick 402: player 2 "ann" setpos 1.000000 0.000000 2.000000',
    ),
    "milliseconds in front": (
        "[139 ms] rx snail=s1 pos=(0.00, 0.00, 0.00)",
        "[239 ms] rx snail=s1 pos=(1.00, 0.00, 2.00)",
    ),
    "milliseconds in front of a tick": (
        "[139 ms] rx tick=400 snail=s1 pos=(0.00, 0.00, 0.00)",
        "[239 ms] rx tick=402 snail=s1 pos=(1.00, 0.00, 2.00)",
    ),
    "seconds in front of a stamp": (
        "[0.1289] recv player=a stamp_ms=17 pos=(0.00, 0.00, 0.00)",
        "[0.2297] recv player=a stamp_ms=117 pos=(1.00, 0.00, 2.00)",
    ),
    "names and numbers": ("time=0.0 x=0 y=0 z=0 seq=1", "time=0.1 x=1 y=0 z=2 seq=2"),
}

PATTERN = r"t=(?P<t>\S+) at (?P<pos_x>\S+) (?P<pos_y>\S+)( seq (?P<seq>\d+))?"
HOW = f'pattern="{PATTERN}",unit=ms'
LOG = b"start 1\nt=0 at 1 2 seq 7\nt=50 at 1,5 2\nbye 2\n"


@pytest.mark.parametrize("name", LOGS)
def test_what_is_proposed_reads_the_log(name: str) -> None:
    log = "".join(f"{line}\n" for line in LOGS[name]).encode()
    refused = epic("replay", stdin=log)
    assert refused.returncode == 1
    assert b"this is a log with numbers in sentences" in refused.stderr
    option = re.search(r"expected (--read .*)", refused.stderr.decode())
    assert option
    option_name, how = shlex.split(option.group(1))
    how = how.replace("ticks@HZ", "ticks@20") + ",origin=first"
    done = epic("convert", "--to", "csv", option_name, how, stdin=log)
    assert done.returncode == 0, done.stderr
    header, *rows = (line.split(",") for line in done.stdout.decode().splitlines())
    packets = [dict(zip(header, row, strict=True)) for row in rows]
    read = [[float(packet[field]) for field in ("time", "x", "y", "z")] for packet in packets]
    assert read == [[0, 0, 0, 0], [pytest.approx(0.1), 1, 0, 2]]
    if " in front of a " in name:
        arrivals = [float(packet["arrival"]) for packet in packets]
        assert arrivals[1] - arrivals[0] == pytest.approx(0.1, abs=0.001)


def test_numbers_behind_words_of_their_own_are_a_position_and_a_tick_has_a_rate() -> None:
    rows = [(9.6 + n / 20, 100 + n, n % 3, n / 7, 9 - n / 9) for n in range(90)]
    log = [
        f"[{at:8.3f}] <- tick {tick} tank red{who} at col {x:.3f} row {y:.3f} turret {x + y:.1f}"
        for at, tick, who, x, y in rows
    ]
    refused = epic("replay", stdin="\n".join(log).encode())
    option = re.search(r"expected (--read .*)", refused.stderr.decode())
    assert option
    how = shlex.split(option.group(1))[1]
    assert how.endswith("unit=ticks@20")
    done = epic("convert", "--to", "csv", "--read", how, stdin="\n".join(log).encode())
    read = [line.split(",") for line in done.stdout.decode().splitlines()]
    columns = [read[0].index(name) for name in ("time", "x", "y", "arrival", "entity")]
    assert [[float(row[place]) for place in columns[:4]] for row in read[1:]] == [
        pytest.approx([tick / 20, round(x, 3), round(y, 3), round(at, 3)])
        for at, tick, _, x, y in rows
    ]
    assert [row[columns[4]] for row in read[1:]] == [f"red{who}" for _, _, who, _, _ in rows]


@pytest.mark.parametrize("how", [HOW, ReadSpec.parse(HOW)._replace(format="sentences")])
def test_python_takes_a_pattern(how: str | ReadSpec) -> None:
    packets = list(read_packets(io.BytesIO(LOG), read=how))
    assert [(packet.time, packet.position, packet.sequence) for packet in packets] == [
        (0, (1, 2, 0), 7),
        (0.05, (1.5, 2, 0), None),
    ]
    with pytest.raises(RefusedLine, match="numbers in sentences"):
        list(read_packets(io.BytesIO(b"pos: x=1 y=2 at t=3\n" * 9), read="sentences"))


@pytest.mark.parametrize(
    ("begin", "kind"),
    [
        (b"[12:00:00.000] INFO x=1\n", "sentences"),
        (b"[0.1, 1, 2]\n", "jsonl"),
        (b'["a", 1]\n', "jsonl"),
        (b'[{"time": 1}]\n', "json"),
        (b"[x],[y]\n1,2\n", "csv"),
        (b"0.1,1,2,3,hp: 5\n0.2,1,2,3,hp: 5\n", "csv"),
        (b"0,Red Tank,1,2\n1,Red Tank,1,2\n", "csv"),
    ],
)
def test_sentences_are_told_from_json_and_tables(begin: bytes, kind: str) -> None:
    assert detect(begin, True) == kind


@pytest.mark.parametrize(
    "line", ["moved to nowhere", "pos=(1, 2) " * 9, "x = " * 16000 + "(" * 3000]
)
def test_nothing_is_proposed_where_there_is_no_time(line: str) -> None:
    assert propose(line) == ()
