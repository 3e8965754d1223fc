"""Samples to rows: C's printf, all digits, and names that cannot break a row."""

import csv
import json
import math
import re
import struct
from collections.abc import Iterable

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from support.oracle import Vector, format_line
from support.recordings import Puppet, draw, examples, scan_packets

from epic_cli import Packet
from epic_cli.engine.packets import Entities, PacketBlock, SampleBlock
from epic_cli.engine.replay import DemoPacing, ExactClock, Replay
from epic_cli.engine.replay.playback import Timing
from epic_cli.engine.text import FORMATS, RowWriter
from epic_cli.engine.text.widths import width
from epic_cli.recordings.reading import make_reader
from epic_cli.recordings.writing import write_csv_field

ORIGIN = (0.0, 0.0, 0.0)
EDGES = (
    *(0.0, 0.125, 0.375, 2.675, 0.005, 0.0005, 0.0625, 1.0005, 0.9995, 0.995, 9.995, 99.9995),
    *(4e6, 4e6 - 2**-30, 4e6 + 0.125, 3999999.995, 3999999.9995, 4294967.295, 4294967.2955),
    *(2.0**53, 2.0**53 - 1, 2.0**52 + 0.5, 2.0**51 + 0.25, 2.0**43 + 0.0625, 2.0**54 + 4),
    *(1e15 + 0.125, 1e16, 1e22, 1e23, 123456789.125, 1.7976931348623157e308),
    *(5e-324, 2.2250738585072014e-308, 1e-300, 2.0**-11, 2.0**-12 * 1.999, math.inf),
)
ANY_SIZE = st.floats(allow_nan=False) | st.builds(
    lambda whole, eighths: whole + eighths / 1000,
    st.integers(-(10**9), 10**9),
    st.sampled_from((0, 0.5, 1, 4.5, 5, 5.5, 125, 499.5, 500, 995, 999.5)),
)


NAMES = st.text(st.characters(exclude_characters="\0\r\n", exclude_categories=["Cs"]), max_size=20)
ODD = "\t\n\r\x1b\x7f\x80\x9b\x9f\u00a0\"',\\#=ä"


def show(*shown: tuple[Vector, Vector], entity: str = "") -> tuple[SampleBlock, Entities]:
    """Return a block of samples with these positions and velocities, at 0.05, 0.1, 0.15 ... s."""
    timestamp = (len(shown) - 0.5) * 0.05 - 0.15  # rows go to the tick after timestamp + 0.15
    block, samples = PacketBlock(), SampleBlock(len(shown))
    block.append(Packet(ORIGIN, ORIGIN, timestamp, entity=entity))
    replay = Replay(lambda: Puppet(shown), DemoPacing(ExactClock()), block.entities)
    replay.feed(block)
    assert not replay.draw(samples)
    assert len(samples) == len(shown)
    return samples, block.entities


def rows(row_format: str, *shown: tuple[Vector, Vector], entity: str = "") -> list[str]:
    """Return the rows of such a block."""
    text = RowWriter(row_format).rows(*show(*shown, entity=entity)).decode()
    assert text.endswith("\n")
    return text.removesuffix("\n").split("\n")


def bits(numbers: Iterable[float]) -> list[bytes]:
    """Return a number's bits, which distinguish 0 from -0."""
    return [struct.pack("<d", number) for number in numbers]


def vectors(numbers: st.SearchStrategy[float]) -> st.SearchStrategy[tuple[Vector, Vector]]:
    vector = st.tuples(numbers, numbers, numbers)
    return st.tuples(vector, vector)


# ------------------------------------------------------------------------------------------ epic


@given(shown=st.lists(vectors(ANY_SIZE), min_size=1, max_size=20))
@examples(400)
def test_epic_rows_are_what_printf_prints(shown: list[tuple[Vector, Vector]]) -> None:
    expected = [
        format_line(position, velocity, (index + 1) * 50 / 1000).decode("ascii").rstrip("\n")
        for index, (position, velocity) in enumerate(shown)
    ]
    assert rows("epic", *shown) == expected


@pytest.mark.parametrize("value", EDGES)
def test_epic_rows_round_halves_and_large_numbers_as_printf_does(value: float) -> None:
    near = (value, math.nextafter(value, 0), math.nextafter(value, math.inf))
    below = (-near[0], -near[1], -near[2])
    assert rows("epic", (near, near), (below, below)) == [
        "pos: {:.2f},{:.2f},{:.2f}  vel: {:.3f},{:.3f},{:.3f}  time: 0.050".format(*near, *near),
        "pos: {:.2f},{:.2f},{:.2f}  vel: {:.3f},{:.3f},{:.3f}  time: 0.100".format(*below, *below),
    ]


def test_epic_rows_show_the_sign_of_zero_and_of_nan() -> None:
    odd = (-0.0, math.copysign(math.nan, 1), math.copysign(math.nan, -1))
    assert rows("epic", (odd, odd)) == ["pos: -0.00,nan,-nan  vel: -0.000,nan,-nan  time: 0.050"]


# ------------------------------------------------------------------------------------ all digits


@pytest.mark.parametrize("row_format", ["csv", "tsv", "jsonl"])
@given(shown=vectors(st.floats(allow_nan=False, allow_infinity=False)))
@examples(200)
def test_every_number_reads_back_as_the_same(row_format: str, shown: tuple[Vector, Vector]) -> None:
    [row] = rows(row_format, shown)
    if row_format == "jsonl":
        item = json.loads(row, parse_int=float)  # or -0 would be 0
        read = [item[name] for name in ("time", "x", "y", "z", "vx", "vy", "vz")]
        assert (item["status"], item["entity"]) == ("interpolated", "")
    else:
        fields = row.split("," if row_format == "csv" else "\t")
        read = fields[:7]
        assert fields[7:] == ["interpolated", ""]
    assert bits(map(float, read)) == bits((0.05, *shown[0], *shown[1]))


@given(value=st.floats(allow_nan=False, allow_infinity=False))
def test_numbers_are_no_longer_than_those_that_python_prints(value: float) -> None:
    [row] = rows("csv", ((value, 0.0, 0.0), (0.0, 0.0, 0.0)))
    assert len(row.split(",")[1]) <= len(repr(value))
    assert row.startswith("0.05,")
    assert row.endswith(",0,0,0,0,0,interpolated,")


def test_json_has_no_word_for_what_is_not_finite() -> None:
    odd = ((math.inf, -math.inf, math.nan), (1.0, -0.0, 1e300))
    [row] = rows("jsonl", odd)
    assert row == (
        '{"time": 0.05, "x": null, "y": null, "z": null, "vx": 1, "vy": -0, "vz": 1e+300,'
        ' "status": "interpolated", "entity": ""}'
    )
    assert rows("csv", odd) == ["0.05,inf,-inf,nan,1,-0,1e+300,interpolated,"]


def test_a_sample_without_anything_to_draw_has_no_numbers() -> None:
    late = b"1,2,3 / 4,5,6 / -2\n1,2,3 / 4,5,6 / nan\n"  # one that is discarded, one without rows
    timing = Timing(latency=3.0)
    assert draw(late, "csv", timing=timing).rows.startswith(b"1,,,,,,,none,\n")
    assert b'{"time": 1, "x": null, ' in draw(late, "jsonl", timing=timing).rows
    assert draw(late, "table", timing=timing).rows.split(b"\n")[0].split() == [
        b"1.000", b"-", b"-", b"-", b"-", b"-", b"-", b"none"
    ]  # fmt: skip


@pytest.mark.parametrize("row_format", ["csv", "jsonl"])
@given(shown=st.lists(vectors(st.floats(-1e9, 1e9)), min_size=1, max_size=9), name=NAMES)
@examples(100)
def test_rows_are_a_recording_again(
    row_format: str, shown: list[tuple[Vector, Vector]], name: str
) -> None:
    writer = RowWriter(row_format)
    text = writer.header() + writer.rows(*show(*shown, entity=name))
    packets = scan_packets(make_reader(row_format), text)
    assert [(packet.position, packet.velocity) for packet in packets] == shown
    assert [packet.time for packet in packets] == [(n + 1) * 50 / 1000 for n in range(len(shown))]
    assert {packet.entity for packet in packets} == {name}


# ----------------------------------------------------------------------------------------- names


@given(name=NAMES)
@example("\r")
@examples(200)
def test_a_name_is_quoted_in_csv_as_packets_quote_it(name: str) -> None:
    row = "\n".join(rows("csv", (ORIGIN, ORIGIN), entity=name))
    assert row.endswith(f",interpolated,{write_csv_field(name)}")
    [fields] = csv.reader([row], strict=True)
    assert fields[-1] == name


@given(name=st.text(st.characters(exclude_categories=["Cs"]) | st.sampled_from(ODD), max_size=20))
@example("\x1b]0;title\x07\x7f\r\n\t\0\\")
@example("\x9b31m\x1b\n")
@example('",\n')
@examples(300)
def test_a_name_neither_ends_a_row_nor_steers_a_terminal_and_is_read_back(name: str) -> None:
    for row_format in ("table", "tsv", "jsonl"):
        [row] = rows(row_format, (ORIGIN, ORIGIN), entity=name)
        assert not re.search(r"[\x00-\x08\x0a-\x1f\x7f-\x9f]", row)
        assert row.count("\t") == (8 if row_format == "tsv" else 0)
        if row_format == "tsv":
            cell = row.rpartition("\t")[2].encode("latin-1", "backslashreplace")
            assert cell.decode("unicode_escape").replace("\\", "") == name.replace("\\", "")
    assert json.loads(row)["entity"] == name


# ----------------------------------------------------------------------------------------- table


@given(shown=st.lists(vectors(st.floats(-999999, 999999)), min_size=1, max_size=5))
@examples(100)
def test_the_columns_of_a_table_stand_under_their_names(shown: list[tuple[Vector, Vector]]) -> None:
    header = RowWriter("table").header().decode().rstrip("\n")
    ends = [match.end() for match in re.finditer(r"\S+", header)][:7]
    for row in rows("table", *shown, entity="tank7"):
        assert [match.end() for match in re.finditer(r"\S+", row)][:7] == ends
        assert row.index("interpolated") == header.index("status")
        assert row.index("tank7") == header.index("entity")


@pytest.mark.parametrize("value", [-1e6, 1e7, -123456789.0, 1e15, 1e300, -math.inf])
def test_the_columns_of_a_table_never_run_together(value: float) -> None:
    large = (value, value, value)
    [row] = rows("table", (large, large))
    position, velocity = [f"{value:.2f}"] * 3, [f"{value:.3f}"] * 3
    assert row.split() == ["0.050", *position, *velocity, "interpolated"]


def test_the_table_is_colored_by_status() -> None:
    samples, entities = show((ORIGIN, ORIGIN))
    plain = RowWriter("table").rows(samples, entities)
    colored = RowWriter("table", color=True).rows(samples, entities)
    assert colored == plain.replace(b"interpolated", b"\x1b[32minterpolated\x1b[0m")
    for row_format in ("epic", "tsv", "csv", "jsonl"):
        same = RowWriter(row_format, color=True).rows(samples, entities)
        assert same == RowWriter(row_format).rows(samples, entities)


# ----------------------------------------------------------------------------------------- writer


def test_headers() -> None:
    names = b"time,x,y,z,vx,vy,vz,status,entity\n"
    headers = {name: RowWriter(name).header() for name in FORMATS}
    assert headers["csv"] == names
    assert headers["tsv"] == names.replace(b",", b"\t")
    assert headers["table"].split() == names.strip().split(b",")
    assert headers["epic"] == headers["jsonl"] == b""


def test_an_unknown_format_is_refused() -> None:
    with pytest.raises(
        ValueError, match="unknown format 'xml': it must be one of epic, table, tsv"
    ):
        RowWriter("xml")


# ----------------------------------------------------------------------------------------- screens

NAMES = st.text("tank_日本e\u0301👨\t\x1b\\", max_size=30)


@given(
    shown=st.lists(vectors(st.floats()), min_size=1, max_size=4),
    name=NAMES.filter(lambda name: name.strip() == name),
    columns=st.integers(20, 130),
    named=st.booleans(),
)
@examples(300)
def test_no_row_is_wider_than_the_screen(
    shown: list[tuple[Vector, Vector]], name: str, columns: int, named: bool
) -> None:
    writer = RowWriter("table", width=columns, named=named)
    samples, entities = show(*shown, entity=name)
    lines = (writer.header() + writer.rows(samples, entities)).decode().splitlines()
    assert len(lines) == 1 + len(shown)
    assert max(map(width, lines)) <= columns
    heads = {"stat": "status"}
    shown_heads = {heads.get(head, head) for head in lines[0].split()}
    assert set(writer.left_out) == {"x", "y", "z", "vx", "vy", "vz", "status"} - shown_heads


def test_a_row_has_as_many_cells_as_the_header() -> None:
    samples, entities = show(((1.0, 2.0, 3.0), (4.0, 5.0, 6.0)))
    for columns in range(20, 131):
        writer = RowWriter("table", width=columns, named=False)
        head, row = (writer.header() + writer.rows(samples, entities)).decode().splitlines()
        assert len(head.split()) == len(row.split()), columns


@pytest.mark.parametrize(
    ("columns", "row"),
    [
        (96, "     0.050     -123.46  1234567.50 1.00000e+20       0.000       1.500"),
        (80, "   0.050   -123.46 1234567.5 1.000e+20    0.000    1.500"),
        (44, "    0.050  -123.46  1234568 1.00e+20 intp"),
        (20, "  0.050  -123.46"),
    ],
)
def test_a_number_that_is_too_long_for_its_column_is_rounded(columns: int, row: str) -> None:
    writer = RowWriter("table", width=columns, named=False)
    found = writer.rows(*show(((-123.456, 1234567.5, 1e20), (0.0, 1.5, 0.0)))).decode()
    assert found.startswith(row)


@given(shown=st.lists(vectors(st.floats(-99999, 99999)), min_size=1, max_size=4))
@examples(100)
def test_a_wide_screen_has_the_rows_of_no_screen(shown: list[tuple[Vector, Vector]]) -> None:
    samples, entities = show(*shown, entity="tank7")
    assert RowWriter("table", width=106).rows(samples, entities) == RowWriter("table").rows(
        samples, entities
    )


def test_an_unlimited_table_has_all_of_a_name() -> None:
    for name in ("tank" * 50, "a tank ~", "\x1f\x7f"):
        [row] = rows("table", (ORIGIN, ORIGIN), entity=name)
        assert row.endswith(name.replace("\x1f", r"\x1f").replace("\x7f", r"\x7f"))


@pytest.mark.parametrize("columns", [20, 24, 40, 80, 120])
def test_a_column_of_files_leaves_no_row_too_long(columns: int) -> None:
    files = ("a_recording_with_a_long_name.csv", "b")
    writer = RowWriter("table", width=columns, file_column="file", files=files)
    text = writer.header()
    for file in files:
        writer.begin_file(file)
        text += writer.rows(*show(((1e9, -2e9, 3e9), (4.0, 5.0, 6.0)), entity="tank7"))
    lines = text.decode().splitlines()
    assert max(map(width, lines)) <= columns
    assert ("file" in writer.left_out) == (columns < 24)
    assert lines[1].startswith("a_") == (columns >= 24)
