"""Tables in memory give the same packets as the table in a file, in any kind of column."""

from __future__ import annotations

import csv
import gc
import io
import math
import random
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from decimal import Context, Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from epic_cli import Packet, read_packets, replay_array
from epic_cli.engine.arrow import ArrowStream
from epic_cli.engine.text import ColumnRows
from epic_cli.recordings.columns import ROWS

NUMBERS = ("f2", "f4", "f8", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8")
READ = "time=t,x=x,y=y,entity=who,seq=n"


def cell(value: Any) -> str:
    """Return a Python value as a spreadsheet's user would type it into a file."""
    if value is None or (isinstance(value, float) and not math.isfinite(value)):
        return ""
    return str(int(value)) if isinstance(value, bool) else repr(value).strip("'")


def from_file(columns: dict[str, list[Any]]) -> list[Packet]:
    """Return the packets of a table that was written by Python's own csv."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    for row in zip(*columns.values(), strict=True):
        writer.writerow([value if isinstance(value, str) else cell(value) for value in row])
    text.seek(0)
    return list(read_packets(text, read=READ, refused=lambda _: None))


def plain_columns(chance: random.Random, count: int) -> dict[str, list[Any]]:
    """Return a random table of Python values."""
    numbers = (0.0, -0.0, 1e-300, 1.7976931348623157e308, 0.1, 5e-324, math.nan, math.inf, -2.5)
    return {
        "t": [n / 30 for n in range(count)],
        "x": [chance.choice((chance.gauss(0, 1e3), chance.choice(numbers))) for _ in range(count)],
        "y": [chance.uniform(-1, 1) for _ in range(count)],
        "n": list(range(count)),
        "who": [chance.choice(["ann", 'b"ob', "c,d", "é", " e ", "42"]) for _ in range(count)],
    }


ARRAYS: dict[str, Callable[[list[Any]], Any]] = {
    "lists": lambda column: column,
    "tuples": tuple,
    "arrays": np.array,
    "strided": lambda column: np.repeat(np.array(column), 2)[::2],
    "backwards": lambda column: np.array(column[::-1])[::-1],
    "swapped": lambda column: (
        array if (array := np.array(column)).dtype.kind == "U"
        else array.astype(array.dtype.newbyteorder())
    ),
    "objects": lambda column: np.array(column, object),
}  # fmt: skip


@pytest.mark.parametrize("kind", ARRAYS)
@pytest.mark.parametrize("count", [1, ROWS + 1])
def test_columns_of_numpy_are_read_as_the_file(kind: str, count: int) -> None:
    columns = plain_columns(random.Random(count), count)
    given = {name: ARRAYS[kind](column) for name, column in columns.items()}
    assert list(read_packets(given, read=READ, refused=lambda _: None)) == from_file(columns)


@pytest.mark.parametrize("dtype", NUMBERS)
def test_each_type_of_number_keeps_its_value(dtype: str) -> None:
    x = np.array([0, 1, 3, 100, 7.5 if dtype[0] == "f" else 7], dtype)
    given = {"time": np.arange(5.0), "x": x, "y": np.zeros(5, bool)}
    found = [packet.position[:2] for packet in read_packets(given)]
    assert found == [(float(value), 0.0) for value in x]


def test_arrow_with_nulls_chunks_slices_and_dictionaries() -> None:
    arrow = pytest.importorskip("pyarrow")
    chance = random.Random(1)
    for count in (1, ROWS + 5):
        columns = plain_columns(chance, count)
        for name in ("x", "n"):
            columns[name] = [None if chance.random() < 0.1 else one for one in columns[name]]
        cut = chance.randrange(count)
        tables = {
            "whole": arrow.table(columns),
            "sliced": arrow.concat_tables([arrow.table(columns)] * 3)[count : 2 * count],
            "chunked": arrow.concat_tables(
                [arrow.table(columns)[:cut], arrow.table(columns)[cut:]]
            ),
        }
        whole = tables["whole"]
        place = whole.schema.get_field_index("who")
        for name, kind in (("large", arrow.large_string()), ("view", None)):
            who = whole.column("who")
            coded = who.dictionary_encode() if kind is None else who.cast(kind)
            tables[name] = whole.set_column(place, "who", coded)
        expected = from_file(columns)
        for name, table in tables.items():
            found = list(read_packets(table, read=READ, refused=lambda _: None))
            assert found == expected, name


def test_arrow_types() -> None:
    arrow = pytest.importorskip("pyarrow")
    begin = datetime(2024, 5, 1, 12, tzinfo=UTC)
    times = [begin + timedelta(seconds=n / 8) for n in range(4)]
    for kind in (
        arrow.timestamp("ns", "Europe/Berlin"),
        arrow.timestamp("ms"),
        arrow.timestamp("us"),
    ):
        given = times if kind.tz else [time.replace(tzinfo=None) for time in times]
        table = arrow.table({
            "time": arrow.array(given, kind),
            "x": arrow.array([0, 1, None, 3], arrow.float32()),
            "y": arrow.array([0, 1, 2, 3], arrow.decimal128(5, 2)),
            "teleport": arrow.array([False, True, False, None], arrow.bool_()),
        })  # fmt: skip
        found = list(read_packets(table, refused=lambda _: None))
        assert [p.time for p in found] == pytest.approx([0, 0.125, 0.375])
        assert [p.position for p in found] == [(0, 0, 0), (1, 1, 0), (3, 3, 0)]
        assert [p.teleport for p in found] == [False, True, False]


def test_columns_of_different_lengths_are_refused() -> None:
    with pytest.raises(ValueError, match="must have one length, and these have 2, 3"):
        list(read_packets({"time": [0, 1], "x": [0, 1, 2], "y": [0, 1]}))


@pytest.mark.parametrize(
    ("column", "words"),
    [
        (("float64", b"1234567", None, None, 0, 0), "has 7 bytes and needs 8"),
        (("float64", b"12345678", None, None, 1, 0), "has 8 bytes and needs 16"),
        (("text32", b"\0\0\0\0\5\0\0\0", b"four", None, 0, 0), "has 4 bytes and needs 5"),
        (("text32", b"\5\0\0\0\1\0\0\0", b"four5", None, 0, 0), "go back"),
        (("text64", b"\0" * 8 + b"\xff" * 8, b"", None, 0, 0), "go back"),
        (("bit", b"\0", None, b"", 0, 0), "has 0 bytes and needs 1"),
        (("int16", None, None, None, 0, 0), "a column has no buffer"),
    ],
)
def test_a_buffer_that_is_too_small_is_refused(column: Any, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        ColumnRows([column], 1)


@pytest.mark.parametrize("library", ["pyarrow", "polars", "parquet", "duckdb"])
def test_structures_and_lists_are_read_by_their_paths(library: str, tmp_path: Path) -> None:
    arrow = pytest.importorskip("pyarrow")
    pytest.importorskip("pyarrow.parquet")
    rows: list[Any] = [
        {"t": n / 20, "state": {"pos": {"x": 1.5 * n, "y": -1.0}, "id": "ab"[n % 2]}, "v": [1.0, n]}
        for n in range(40)
    ]
    given: Any = arrow.Table.from_pylist(rows)
    if library == "polars":
        given = pytest.importorskip("polars").from_arrow(given)
    elif library == "duckdb":
        given = pytest.importorskip("duckdb").sql("SELECT * FROM given")
    elif library == "parquet":
        arrow.parquet.write_table(given, tmp_path / "nested.parquet")
        given = tmp_path / "nested.parquet"
    how = "time=t,x=state.pos.x,y=state.pos.y,entity=state.id"
    found = list(read_packets(given, read=how))
    assert [(p.time, p.position[:2], p.entity) for p in found] == [
        (row["t"], (row["state"]["pos"]["x"], -1.0), row["state"]["id"]) for row in rows
    ]


def test_slices_of_arrow_begin_where_they_begin() -> None:
    arrow = pytest.importorskip("pyarrow")
    names = [None, "long enough to lie in a buffer of its own", "b", "c"]
    columns = {"time": [0.0, 0.1, 0.2, 0.3], "x": [1, 2, 3, 4], "y": [1.0, 2.0, 3.0, 4.0]}
    plain = arrow.array(names)
    kinds = [plain, plain.cast(arrow.string_view()), plain.dictionary_encode()]
    for entity in kinds:
        batch = arrow.record_batch([*columns.values(), entity], [*columns, "entity"])
        whole = list(read_packets(arrow.Table.from_batches([batch])))
        assert [packet.entity for packet in whole] == ["", *names[1:]]
        for begin in range(4):
            assert list(read_packets(batch.slice(begin))) == whole[begin:]
            rows = batch.to_struct_array()[begin:]
            assert list(read_packets(rows)) == whole[begin:]
            assert list(read_packets(arrow.chunked_array([rows[:1], rows[1:]]))) == whole[begin:]
        reader = arrow.RecordBatchReader.from_batches(
            batch.schema, [batch, batch.slice(0, 0), batch.slice(2)]
        )
        assert [packet.time for packet in read_packets(reader)] == [0.0, 0.1, 0.2, 0.3, 0.2, 0.3]


def test_texts_of_any_length_are_read_from_views() -> None:
    """A view has up to twelve bytes in itself, and leads to longer ones."""
    arrow = pytest.importorskip("pyarrow")
    names = ["abcdefghijklmnopqrstuvwxyz"[:length] for length in range(1, 27)]
    columns = {"time": [n / 20 for n in range(26)], "x": [0.0] * 26, "y": [0.0] * 26}
    table = arrow.table(columns | {"entity": arrow.array(names).cast(arrow.string_view())})
    assert [packet.entity for packet in read_packets(table)] == names


def test_columns_outlive_the_stream_that_they_came_from() -> None:
    arrow = pytest.importorskip("pyarrow")
    table = arrow.table({"x": arrow.array(["a" * 100] * 999).dictionary_encode()})
    stream = ArrowStream(table.__arrow_c_stream__())
    ((count, columns),) = stream
    del stream, table
    gc.collect()
    rows = ColumnRows(columns, count)
    del columns
    gc.collect()
    assert rows.lines(998, 999) == b"a" * 100 + b"\n"


def test_an_arrow_stream_is_read_once() -> None:
    arrow = pytest.importorskip("pyarrow")
    capsule = arrow.table({"x": [1.0]}).__arrow_c_stream__()
    assert len(list(ArrowStream(capsule))) == 1
    assert list(ArrowStream(capsule)) == []
    taken = arrow.table({"x": [1.0]}).__arrow_c_stream__()
    arrow.RecordBatchReader._import_from_c_capsule(taken)
    with pytest.raises(ValueError, match="read already"):
        ArrowStream(taken)


@pytest.mark.parametrize(
    ("column", "message"),
    [
        (("text64", np.array([0, 5, 3]), b"abcde", None, 0, 0), "go back"),
        (("text64", np.array([0, 5, 9]), b"abcde", None, 0, 0), "needs 9"),
        (("view", np.array([50, 0, 3, 0, 0, 0, 0, 0], "i4"), [b"abc"], None, 0, 0), "outside"),
        (("view", np.array([-1, 0, 0, 0, 0, 0, 0, 0], "i4"), [b"abc"], None, 0, 0), "outside"),
        (("keys", ("int8", b"\0\x09", None, None, 0, 0), (1, ("fixed", b"a", None, None, 0, 1)),
          None, 0, 0), "no word"),
        (("keys", ("int8", b"\0\xff", None, None, 0, 0), (1, ("fixed", b"a", None, None, 0, 1)),
          None, 0, 0), "no word"),
        (("decimal128", bytes(31), None, None, 0, 2), "needs 32"),
    ],
)  # fmt: skip
def test_columns_that_lead_out_of_their_buffers_are_refused(column: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        ColumnRows([column], 2)


@pytest.mark.parametrize(("kind", "dtype"), [("fixed", "S6"), ("wide", "U6")])
def test_texts_of_one_width_are_cells_of_a_csv_file(kind: str, dtype: str) -> None:
    texts = [
        "",
        "a",
        "ab",
        *["\x7f\x80\u07ff\u0800\uffff\U00010000", "\U0010ffff"][: 2 * (kind == "wide")],
        "b\"o'b",
        '"',
        '""""""',
        "c,d",
        ",,,,,,",
        "sixtex",
        "42",
    ]
    array = np.array(texts, dtype)
    rows = ColumnRows([(kind, array, None, None, 0, 6)], len(texts))
    lines = [rows.lines(k, k + 1).decode() for k in range(len(texts))]
    assert [next(csv.reader([line]), [""]) for line in lines] == [[text] for text in texts]


def test_days_are_written_as_dates() -> None:
    edges = {-719529: "", -719528: "0000-01-01", 2932896: "9999-12-31", 2932897: ""}
    days = np.array([*edges, *range(-719162, 2932897, 97)], np.int32)
    rows = ColumnRows([("date", days, None, None, 0, 0)], len(days))
    expected = [date.fromordinal(719163 + day).isoformat() for day in days[4:].tolist()]
    assert bytes(rows).decode().splitlines() == [*edges.values(), *expected]
    assert rows.lines(0, 10**9) == bytes(rows)
    assert [len(rows.part(*ends)) for ends in ((5, 9), (9, 5), (0, 10**9))] == [4, 0, len(days)]


def test_doubles_are_written_as_python_writes_them() -> None:
    numbers = [float(f"{m}e{k}") for k in range(-320, 308) for m in (1, -1.5, 9.99999999999)]
    rows = ColumnRows([("float64", np.array(numbers), None, None, 0, 0)], len(numbers))
    assert bytes(rows).decode().split() == [repr(one).removesuffix(".0") for one in numbers]


@pytest.mark.parametrize("scale", [0, 2, 30])
@pytest.mark.parametrize("bits", [32, 64, 128])
def test_decimals_are_written_in_full(bits: int, scale: int) -> None:
    values = [sign * (10**k + k) for k in range(38) for sign in (1, -1)] + [0, 7, -(2**31)]
    values = [value for value in values if -(2 ** (bits - 1)) <= value < 2 ** (bits - 1)]
    data = b"".join(value.to_bytes(bits // 8, "little", signed=True) for value in values)
    rows = ColumnRows([(f"decimal{bits}", data, None, None, 0, scale)], len(values))
    expected = [f"{Decimal(value).scaleb(-scale, Context(50)):f}" for value in values]
    assert bytes(rows).decode().split() == expected


@pytest.mark.parametrize("library", ["numpy", "pyarrow", "parquet"])
def test_rows_behind_the_first_are_read_as_in_the_file(library: str, tmp_path: Path) -> None:
    """Rounding to single precision, refused rows, extras and findings are those of the CSV."""
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    chance = random.Random(library)
    count = 2 * ROWS + 9
    middles = (1 + 2.0**-24, 3 + 3 * 2.0**-24, 1e-39, -(2.0**60) * (1 + 2.0**-24), 3.5e38)
    places = [chance.choice((chance.gauss(0, 1e3), *middles)) for _ in range(count)]
    places[2 * ROWS + 5] = math.nan  # this row is refused
    columns = {
        "time": np.arange(count) / 20,
        "x": np.array(places),
        "y": np.array([chance.uniform(-1, 1) for _ in range(count)], np.float32),
        "z": np.zeros(count, np.int8),
        "yaw": np.array([chance.uniform(-180, 180) for _ in range(count)]),
        "hp": np.array([chance.randrange(2**62) for _ in range(count)]),
        "note": np.array([chance.choice([" a", "b", "7", "é "]) for _ in range(count)]),
    }
    file = tmp_path / "rows.csv"
    with file.open("w", newline="") as stream:
        rows = csv.writer(stream, quoting=csv.QUOTE_NONNUMERIC)
        rows.writerow(columns)
        for row in zip(*(column.tolist() for column in columns.values()), strict=True):
            rows.writerow(["" if value != value else value for value in row])
    table: Any = columns if library == "numpy" else pyarrow.table(columns)
    if library == "parquet":
        parquet.write_table(table, tmp_path / "rows.parquet")
        table = tmp_path / "rows.parquet"

    def read(source: Any) -> tuple[list[Any], list[Any], bytes]:
        refused: list[Any] = []
        packets = list(read_packets(source, refused=refused.append))
        drawn = replay_array(packets, "epic", pacing="demo", clock="single")
        return packets, [(each.line, each.refusal.reason) for each in refused], drawn.tobytes()

    assert read(table) == read(file)
