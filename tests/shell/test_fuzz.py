"""Arbitrary bytes: an answer, never a traceback, in bounded memory."""

import io
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import redirect_stderr
from pathlib import Path
from typing import NamedTuple

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from support import oracle
from support.recordings import examples
from support.running import environment

from epic_cli.main import main
from epic_cli.recordings.entries.wrapped import CAPTURE_MAGICS

# No time below draws more than 20,000 rows; what never ends is refused.
NUMBERS = [b"0", b"-0", b"1", b"-2.5", b".5", b"1e", b"0x1p3", b"0.1", b"0.3", b"1000", b"1e39"]
NUMBERS += [b"inf", b"-inf", b"nan", b"-nan", b"1048575.9375", b"16777217.0000000001", b"x", b""]
# The exact clock gets to all of them, a minute at a time.
EXACT = ["--clock", "exact", "--tick", "60"]
BLANKS = [b"", b" ", b"\t", b"\r", b"\v", b"  "]
WORDS = [b"arrival=0.2", b"arrival=x", b"entity=a", b"entity=b", b"entity=\xff", b"teleport=1"]
WORDS += [b"teleport=", b"seq=7", b"delta=-1", b"hello", b"# c", b"\x00 entity=", b"\x1b[31m", b"="]
ENDS = [b"\n", b"\r\n", b"\n\n", b"\nq\n", b" " * 1010 + b"\n", b"\n\0\n"]


@st.composite
def packet_lines(draw: st.DrawFn, words: list[bytes]) -> bytes:
    """Yield lines of packet text that are right, or nearly right."""
    number = st.builds(lambda a, b, c: a + b + c, *map(st.sampled_from, (BLANKS, NUMBERS, BLANKS)))
    separators = draw(st.sampled_from([b",,/,,/"] * 8 + [b",,,,,,", b",/", b";;/,,/", b""]))
    pieces = [draw(number)]
    for separator in separators:
        pieces += [bytes([separator]), draw(number)]
    tail = draw(st.lists(st.sampled_from(words), max_size=3)) if words else []
    return b"".join(pieces) + b" ".join([b"", *tail]) + draw(st.sampled_from(ENDS))


def recordings(words: list[bytes]) -> st.SearchStrategy[bytes]:
    line = st.one_of(packet_lines(words), packet_lines(words), st.binary(max_size=30))
    whole = st.lists(line, max_size=8).map(b"".join)
    return st.one_of(whole, whole.map(lambda text: text.removesuffix(b"\n")))


CELLS = st.sampled_from(
    [b"0", b"1", b"0.1", b"-2.5", b"inf", b"nan", b"x", b"", b'"1"', b'"', b"1,1"]
)
CSV_ROWS = st.lists(CELLS, min_size=6, max_size=10).map(b",".join)
CSV = st.lists(CSV_ROWS, max_size=6).map(
    lambda rows: b"\n".join([b"time,x,y,z,vx,vy,vz,arrival,entity", *rows])
)
VALUES = st.sampled_from(
    [b"0", b"1", b"0.1", b'"1"', b'"a"', b"null", b"true", b"[1]", b"{", b"NaN"]
)
NAMES = (b"time", b"x", b"y", b"z", b"vx", b"vy", b"vz", b"arrival", b"entity", b"teleport")
JSON_ROWS = st.lists(VALUES, min_size=6, max_size=10).map(
    lambda values: (
        b"{%s}" % b",".join(b'"%s":%s' % pair for pair in zip(NAMES, values, strict=False))
    )
)
JSONL = st.lists(JSON_ROWS | st.binary(max_size=30), max_size=6).map(b"\n".join)


#: How files begin that are unpacked, or that another library reads: these are too short for any.
WRAPPED = (b"\xfd7zXZ\x00", b"\x1f\x8b", b"\x28\xb5\x2f\xfd", b"PK\x03\x04", b"SQLite format 3\x00",
           b"PAR1")  # fmt: skip


class JobResult(NamedTuple):
    status: int
    rows: bytes
    errors: str


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("fuzz")


def replay(folder: Path, data: bytes, *options: str) -> JobResult:
    """Run ``epic replay`` in this process, from a file and into one."""
    recording, rows = folder / "recording", folder / "rows"
    recording.write_bytes(data)
    rows.unlink(missing_ok=True)
    with redirect_stderr(io.StringIO()) as errors:
        status = main(["replay", "-o", str(rows), *options, str(recording)])
    return JobResult(status, rows.read_bytes() if rows.exists() else b"", errors.getvalue())


@examples(300)
@given(
    data=st.one_of(recordings(WORDS), CSV, JSONL, st.binary(),
                   st.builds(bytes.__add__, st.sampled_from(WRAPPED), st.binary())),
    row_format=st.sampled_from(["table", "tsv", "csv", "jsonl"]),
    options=st.sampled_from([[], EXACT, ["--latency", "0.1"], ["--entity", "a"]]),
)  # fmt: skip
@example(data=b"\xfd7zXZ\x00", row_format="csv", options=[])
def test_any_bytes_get_an_answer(
    folder: Path, data: bytes, row_format: str, options: list[str]
) -> None:
    answer = replay(folder, data, "--format", row_format, *options)
    if "no packet of entity 'a'" in answer.errors:
        assert answer.status == 2
    elif data.startswith(CAPTURE_MAGICS):
        assert (answer.status, answer.rows) == (2, b"")
        assert "first epic convert CAPTURE --port" in answer.errors
    elif data.startswith(WRAPPED):
        assert (answer.status, answer.rows) == (2, b"")
        assert re.fullmatch(r"epic: \S+recording: [^\n]+\n", answer.errors)
    else:
        # what is only remarked on begins with the program's name
        told = [line for line in answer.errors.splitlines() if not line.startswith("epic: ")]
        assert answer.status == (1 if told else 0)
    assert "\x1b" not in answer.errors
    answer.rows.decode()
    assert all(32 <= byte != 127 or byte in b"\t\n" for byte in answer.rows)


@examples(200)
@given(data=st.one_of(recordings(WORDS), CSV, JSONL), options=st.sampled_from([[], ["--strict"]]))
@example(data=b"\n", options=[])
@example(data=b"1,2,3 / 4,5,6\n", options=[])
@example(data=b'{"x":1\n', options=[])
def test_refused_lines_are_pointed_at(folder: Path, data: bytes, options: list[str]) -> None:
    answer = replay(folder, data, "--format", "jsonl", "--all-errors", *options)
    said = [line for line in answer.errors.splitlines() if not line.startswith("epic: ")]
    assert len(said) % 3 == 0
    lines = data.split(b"\n")
    for place, _, caret in zip(*[iter(said)] * 3, strict=True):
        found = re.search(r":(\d+):(\d+): ", place)
        assert found
        line, column = int(found[1]), int(found[2])
        assert 1 <= column <= len(lines[line - 1]) + 1
        assert caret.lstrip().startswith("^ expected ")
    assert not options or len(said) <= 3


@examples(200)
@given(data=recordings([]))
def test_rows_are_the_demos(folder: Path, data: bytes) -> None:
    try:
        expected, _ = oracle.demo(data)
    except oracle.EndlessLoop:
        return
    answer = replay(folder, data, "--read", "text")
    assert answer.rows == expected


# ------------------------------------------------------------------ memory

needs_proc = pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="reads /proc")

PEAK = """
import os, sys
from epic_cli.main import main
main(sys.argv[2:])
with open("/proc/self/status", "rb") as lines:
    os.write(int(sys.argv[1]), next(line for line in lines if line.startswith(b"VmHWM")))
"""


def peak(pieces: Iterator[bytes], *args: str) -> int:
    """Return the peak memory, in MB, of ``epic`` on this input."""
    reader, writer = os.pipe()
    with subprocess.Popen(
        [sys.executable, "-c", PEAK, str(writer), *args],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=environment(),
        pass_fds=[writer],
    ) as child:
        os.close(writer)
        assert child.stdin
        for piece in pieces:
            child.stdin.write(piece)
    line = os.read(reader, 100)
    os.close(reader)
    return int(line.split()[1]) // 1024


def megabytes(count: int, begin: bytes, fill: bytes) -> Iterator[bytes]:
    """Return a recording of several megabytes, in one line unless ``fill`` has a newline."""
    yield begin
    for _ in range(count):
        yield fill * (2**20 // len(fill))


@pytest.mark.parametrize(
    ("count", "begin", "fill"),
    [
        (30, b"", b"x"),
        (5, b"", b"\xff"),
        (10, b"1,2,3 / 4,5,6 / 0.", b"1"),
        (30, b"time,x,", b"y"),
        (30, b"time,x,y,z,vx,vy,vz\n", b"1,"),
        (30, b"time,x,y,z,vx,vy,vz\n0,", b'"'),
        (30, b'{"time": ', b"1"),
        (30, b"", b'{"x":'),
        (30, b"", b"0,0,0/0,0,0/0\n"),
    ],
    ids=["text", "no UTF-8", "number", "header", "csv", "quotes", "json", "nested", "packets"],
)
@needs_proc
def test_memory_does_not_grow_with_the_recording(count: int, begin: bytes, fill: bytes) -> None:
    assert peak(megabytes(count, begin, fill), "replay") < 45


@needs_proc
def test_memory_does_not_grow_with_the_rows() -> None:
    assert peak(iter([b"0,0,0 / 0,0,0 / 20000\n"]), "replay", "--format", "jsonl") < 60
