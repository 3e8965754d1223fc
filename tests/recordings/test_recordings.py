"""Recordings: detection of the format, any input at all, and lines without end."""

import json
import os

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from support.recordings import (
    cut,
    draw,
    draw_samples,
    examples,
    problems_of,
    scan_packets,
    scan_problems,
)

from epic_cli import Packet
from epic_cli.engine.packets import PacketBlock
from epic_cli.recordings import LONGEST_LINE, LONGEST_OBJECT, list_packet_formats
from epic_cli.recordings.entries.csv.reader import CsvReader
from epic_cli.recordings.entries.text import NoLayout
from epic_cli.recordings.read_spec import ReadSpec
from epic_cli.recordings.reading import detect, make_reader, read

BOM = b"\xef\xbb\xbf"
HEADER = b"time,x,y,z,vx,vy,vz\n"
CSV = HEADER + b"0.1,1,2,3,4,5,6\n0.2,2,3,4,5,6,7\n"
JSON = (
    b'{"time": 0.1, "x": 1, "y": 2, "z": 3, "vx": 4, "vy": 5, "vz": 6}\n'
    b'{"time": 0.2, "x": 2, "y": 3, "z": 4, "vx": 5, "vy": 6, "vz": 7}\n'
)
JSON_LINE = '{"time": 0, "x": %s, "y": 0, "z": 0, "vx": 0, "vy": 0, "vz": 0}\n'
TEXT = b"1,2,3 / 4,5,6 / 0.1\n2,3,4 / 5,6,7 / 0.2\n"
PACKETS = [Packet((1, 2, 3), (4, 5, 6), 0.1), Packet((2, 3, 4), (5, 6, 7), 0.2)]


def read_all(data: bytes, how: str = "") -> list[PacketBlock]:
    """Read through a pipe; what is written to it fits into its buffer."""
    outlet, inlet = os.pipe()
    try:
        os.write(inlet, data)
        os.close(inlet)
        return list(read(outlet, ReadSpec.parse(how)))
    finally:
        os.close(outlet)


def packets_of(blocks: list[PacketBlock]) -> list[Packet]:
    return [block[index] for block in blocks for index in range(len(block))]


@pytest.mark.parametrize("data", [TEXT, CSV, JSON, CSV.replace(b",", b"\t"), BOM + CSV, BOM + JSON,
                                  b"\n\n" + CSV, b"\r\n " + JSON])  # fmt: skip
def test_the_format_is_found_out(data: bytes) -> None:
    blocks = read_all(data)
    assert packets_of(blocks) == PACKETS
    assert not any(block.refusals for block in blocks)


# --------------------------------------------------------------------------------------- formats


@pytest.mark.parametrize(
    ("head", "kind"),
    [
        (b"", None),
        (b" \n", None),
        (BOM, None),
        (b"{}", "jsonl"),
        (BOM + b"\n{}", "jsonl"),
        (b'{"broken":\n{}\n', "jsonl"),
        (b'{\n "t": 1}\n', "json"),
        (b'[\n\n{"t": 1', "json"),
        (b"t", None),
        (b"time,x", None),
        (b"time,x\n", "csv"),
        (b"z\tx\ttime\n", "csv"),
        (b'"x", "time"\n', "csv"),
        (b"time,y\n", None),
        (b"times,xs\n", None),
        (b"times,xs\n1,2\n", "csv"),
        (b"1", None),
        (b"1,2,3 /", "text"),
        (b"1,2,3\n4,5,6 / 7,8,9 / 0\n", "text"),
        (b"1,2,3\n4,5,6\n", "csv"),
        (b"2024/05/01 12:00:00,2,3\n2024/05/01 12:00:01,5,6\n", "csv"),
        (b"a b c\n1 2 3\n", "csv"),
        (b"a b c\n1,2,3 / 4,5,6 / 0\n", "text"),
        (b"the quick fox\njumps\n", "text"),
        (b'[{"t": 1}]', "json"),
        (b"[1, 2]", "jsonl"),
        (b"# time,x\n", "csv"),
        (b"q\n", "text"),
        (b"x" * LONGEST_LINE, "text"),
    ],
)
def test_what_the_first_bytes_tell(head: bytes, kind: str | None) -> None:
    assert detect(head) == kind
    assert detect(head, final=True) == (kind or ("csv" if b"time" in head else "text"))


STRANGE_HEADERS = (b"_id,time,x\n", b"1st,time,x\n", "ä,time,x\n".encode())


@given(
    data=st.sampled_from((TEXT, CSV, JSON, *STRANGE_HEADERS)),
    bom=st.booleans(),
    length=st.integers(0, 60),
)
@example(BOM + CSV, False, 1)
@examples(300)
def test_a_beginning_never_tells_another_format_than_the_whole(
    data: bytes, bom: bool, length: int
) -> None:
    data = BOM + data if bom else data
    assert detect(data[:length]) in (None, detect(data))


@pytest.mark.parametrize("data", [TEXT, CSV, JSON])
@pytest.mark.parametrize("kind", list_packet_formats())
def test_a_format_can_be_forced(data: bytes, kind: str) -> None:
    blocks = read_all(data, kind)
    assert packets_of(blocks) == scan_packets(make_reader(kind), data)
    expected = scan_problems(make_reader(kind), data)
    found = [problem for block in blocks for problem in problems_of(block)]
    assert [problem[:5] for problem in found] == [
        problem[:5] for problem in expected
    ]  # readings are tried
    assert bool(expected) == (data is not {"text": TEXT, "csv": CSV, "jsonl": JSON}[kind])


def test_a_layout_is_not_for_packet_text() -> None:
    layout = ReadSpec(scale=2.0)
    with pytest.raises(NoLayout, match="this is packet text"):
        make_reader("text", layout)
    assert scan_packets(make_reader("text", layout._replace(unless_own=True)), TEXT) == PACKETS


def test_a_recording_that_has_ended_is_not_read_on() -> None:
    outlet, inlet = os.pipe()
    os.write(inlet, TEXT + b"q\n")
    assert packets_of(list(read(outlet))) == PACKETS  # though the pipe is still open
    os.close(inlet)
    os.close(outlet)


@pytest.mark.parametrize(("kind", "data"), [("text", TEXT), ("csv", CSV), ("jsonl", JSON)])
def test_the_last_line_needs_no_end(kind: str, data: bytes) -> None:
    assert scan_packets(make_reader(kind), data.rstrip(b"\n")) == PACKETS
    assert scan_packets(make_reader(kind), data.replace(b"\n", b"\r\n")) == PACKETS


# -------------------------------------------------------------------------------------- any input


@pytest.mark.parametrize("kind", ["csv", "jsonl"])
@given(
    data=st.lists(
        st.sampled_from(
            [*(CSV + JSON).splitlines(keepends=True), b'"', b"\n", b",", b"\0", b"\xff"]
        )
        | st.binary(max_size=9)
        | st.text(max_size=9).map(str.encode)
        | st.recursive(st.floats() | st.text(), st.lists).map(
            lambda x: (JSON_LINE % json.dumps(x)).encode()
        ),
        max_size=12,
    ).map(b"".join),
    size=st.integers(1, 99),
)
@examples(160)
def test_any_bytes_are_packets_and_problems_however_they_are_cut(
    kind: str, data: bytes, size: int
) -> None:
    data = HEADER + data if kind == "csv" else data
    whole = scan_packets(make_reader(kind), data)
    assert repr(scan_packets(make_reader(kind), cut(data, size))) == repr(whole)
    problems = scan_problems(make_reader(kind), data)
    assert scan_problems(make_reader(kind), cut(data, size)) == problems
    assert len(whole) + len(problems) <= data.count(b"\n") + 1


WORDS = ("time", "t", "ts", "x", "y", "z", "pos_x", "pos_y", "vx", "vy", "id", "frame", "1", "0.5",
         "12:00", '"x"', "#", "", "\x00", "\ud800", "a.b", "seq", "teleport")  # fmt: skip
LEAVES = st.floats() | st.sampled_from(["1", "2024-05-01T12:00:00Z", "a", True, None, 7])
SHALLOW = LEAVES | st.lists(LEAVES, max_size=3)
VALUES = SHALLOW | st.dictionaries(st.sampled_from(WORDS), SHALLOW, max_size=4)


@given(
    names=st.lists(st.sampled_from(WORDS), min_size=1, max_size=6),
    rows=st.lists(st.lists(st.sampled_from(WORDS), max_size=6), max_size=4),
    delimiter=st.sampled_from(",;\t| "),
    layout=st.sampled_from([None, ReadSpec((("time", "1"), ("x", "2"))), ReadSpec((("time", ""),)),
                            ReadSpec(axes="xz"), ReadSpec(time_unit="ticks@60")]),
    size=st.integers(1, 40),
)  # fmt: skip
@examples(300)
def test_any_header_is_read_or_refused(
    names: list[str], rows: list[list[str]], delimiter: str, layout: ReadSpec | None, size: int
) -> None:
    lines = [delimiter.join(row) for row in (names, *rows)]
    data = "\n".join(lines).encode("utf-8", "surrogatepass")
    whole = scan_packets(make_reader("csv", layout), data)
    assert repr(scan_packets(make_reader("csv", layout), cut(data, size))) == repr(whole)
    assert len(whole) <= len(rows) + 1
    assert detect(data, final=True) is not None


@given(
    items=st.lists(st.dictionaries(st.sampled_from(WORDS), VALUES), max_size=4),
    size=st.integers(1, 40),
)
@examples(300)
def test_any_objects_are_read_or_refused(items: list[dict[str, object]], size: int) -> None:
    data = "".join(f"{json.dumps(item)}\n" for item in items).encode()
    whole = scan_packets(make_reader("jsonl"), data)
    assert repr(scan_packets(make_reader("jsonl"), cut(data, size))) == repr(whole)
    problems = scan_problems(make_reader("jsonl"), data)
    assert len(whole) + len(problems) <= len(items)


@pytest.mark.parametrize("kind", ["csv", "jsonl"])
def test_a_number_is_rounded_once(kind: str) -> None:
    token = "16777217.0000000001"  # as a double it is half-way between two floats
    data = {"csv": f"x,y,z,time,vx,vy,vz\n{token},0,0,0,0,0,0\n", "jsonl": JSON_LINE % token}
    text = data[kind].encode("ascii")
    assert draw_samples(text, reader=make_reader(kind), display_behind=0)[0].position[0] == 16777218
    assert scan_packets(make_reader(kind), text)[0].position[0] == 16777217


@pytest.mark.parametrize("token", ["0x1p3", "1e", "1e38", "-0"])
def test_a_csv_number_is_what_packet_text_makes_of_it(token: str) -> None:
    row = f"x,y,z,time,vx,vy,vz\n{token},0,0,0,{token},0,0\n".encode("ascii")
    line = f"{token},0,0 / {token},0,0 / 0\n".encode("ascii")
    assert draw(row, reader=CsvReader()).rows == draw(line).rows


@pytest.mark.parametrize("token", ["NaN", "Infinity", "-Infinity", "1e400"])
@pytest.mark.parametrize("field", ["x", "vz", "time"])
def test_what_is_not_a_number_is_missing_as_an_empty_cell_is(token: str, field: str) -> None:
    for kind in ("csv", "jsonl"):
        rows = []
        for value in (token, ""):
            names = dict(zip(("x", "y", "z", "time", "vx", "vy", "vz"), "1234567", strict=True))
            names[field] = value
            if kind == "jsonl":
                cells = (f'"{name}": {text or "null"}' for name, text in names.items())
                rows.append(f"{{{', '.join(cells)}}}\n")
            else:
                rows.append(f"{','.join(names)}\n{','.join(names.values())}\n")
        one, other = (make_reader(kind).scan(row.encode(), True) for row in rows)
        assert len(one) == len(other) == 0
        assert [(refusal.reason, refusal.field) for refusal in one.refusals] == [
            (refusal.reason, refusal.field) for refusal in other.refusals
        ]


# ------------------------------------------------------------------------------------ long lines


#: Bytes of a line with its end.
LONGEST = {"text": LONGEST_LINE, "csv": LONGEST_LINE, "jsonl": LONGEST_OBJECT}


def long_recording(kind: str, length: int) -> bytes:
    """Return a recording with a line of this length between two others."""
    first, second = {"csv": CSV, "jsonl": JSON}[kind].splitlines(keepends=True)[-2:]
    header = HEADER if kind == "csv" else b""
    return header + first + first.rjust(length) + second


@pytest.mark.parametrize("kind", ["csv", "jsonl"])
@pytest.mark.parametrize("beyond", [1, 2, 134_464])
@pytest.mark.parametrize("size", [10_000, 65536, 100_000, 10**6])
def test_a_line_that_is_too_long_is_refused_however_it_is_cut(
    kind: str, beyond: int, size: int
) -> None:
    data = long_recording(kind, LONGEST[kind] + beyond)
    assert scan_packets(make_reader(kind), cut(data, size)) == PACKETS
    problem, next_problem = scan_problems(make_reader(kind), cut(data + b"oops\n", size))
    assert problem.what == "the line is too long"
    assert (problem.line, problem.column, problem.caret) == (2 + (kind == "csv"), 1, 0)
    assert next_problem.line == problem.line + 2


@pytest.mark.parametrize("kind", list_packet_formats())
def test_a_line_without_end_is_not_kept(kind: str) -> None:
    reader = make_reader(kind)
    for _ in range(50):
        assert len(reader.scan(b"x" * 30_000).text) <= LONGEST[kind] + 30_000
