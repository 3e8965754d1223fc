"""Random tables in memory, and in Parquet, against the same rows as CSV.

    python -m tests.endurance.tables 1000 --seed 1

Each table has columns of other types, missing values, chunks, slices, dictionaries and time zones.
Its CSV is written from plain Python values by Python's own ``csv``. Packets with their extra
values, refused lines, findings and rows drawn in single precision must be the same, from NumPy,
pandas, Polars, PyArrow, DuckDB, and a Parquet file. The first rows are read as text, the others
from their columns; how many the first ones are is random, too.
"""

from __future__ import annotations

import argparse
import csv
import io
import math
import random
import sys
import tempfile
import warnings
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

from epic_cli import RecordingWarning, inspect, read_packets, replay
from epic_cli.recordings import columns as table_columns

#: What a table of one meaning gives: packets, refused lines, codes of findings, drawn rows.
Outcome = tuple[list[Any], list[str], list[str], list[str]]

_START = datetime(2024, 2, 28, 23, 59, 50, tzinfo=UTC)
_NAMES = (
    "ann",
    "b",
    'c"d',
    "e,f",
    "é",
    "日本",
    " g ",
    "42",
    "true",
    "",
    "a name of more than twelve",
)


def write_number(value: Any) -> str:
    """Return a number as Python writes it; what is not finite is missing."""
    if isinstance(value, float) and not math.isfinite(value):
        return ""
    return str(int(value)) if isinstance(value, bool) else str(value)


def make_times(chance: random.Random, count: int) -> tuple[pa.DataType, list[Any], list[str]]:
    """Return a column of times: its type, its values, and their texts."""
    unit = chance.choice(["s", "ms", "us", "ns"])
    step = 1_000_000 if unit == "s" else chance.choice([50_000, 33_000, 16_000, 100_000])
    steps = [timedelta(microseconds=step * index) for index in range(count)]
    kind = chance.choice(["number", "stamp", "zoned", "duration", "whole", "decimal"])
    if kind == "stamp":
        values: list[Any] = [(_START + each).replace(tzinfo=None) for each in steps]
        return pa.timestamp(unit), values, [value.isoformat() for value in values]
    if kind == "zoned":
        zone, offset = chance.choice([("UTC", 0), ("Europe/Berlin", 1), ("+05:30", 5.5)])
        values = [_START.astimezone(timezone(timedelta(hours=offset))) + each for each in steps]
        return pa.timestamp(unit, zone), values, [value.isoformat() for value in values]
    seconds = [each.total_seconds() for each in steps]
    if kind == "duration":
        return pa.duration(unit), steps, [repr(value) for value in seconds]
    if kind == "whole":
        values = [round(1000 * value) for value in seconds]
        return pa.int64(), values, [str(value) for value in values]
    if kind == "decimal":
        values = [Decimal(round(1000 * value)).scaleb(-3) for value in seconds]
        return pa.decimal128(chance.choice([12, 38]), 3), values, [str(value) for value in values]
    return pa.float64(), seconds, [repr(value) for value in seconds]


def make_numbers(chance: random.Random, count: int) -> tuple[pa.DataType, list[Any], list[str]]:
    """Return a column of coordinates."""
    kind = chance.choice(
        ["f8", "f4", "f2", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "bool", "decimal"]
    )
    if kind == "bool":
        values: list[Any] = [chance.random() < 0.5 for _ in range(count)]
        return pa.bool_(), values, [write_number(value) for value in values]
    if kind == "decimal":
        scale = chance.randrange(6)
        values = [Decimal(chance.randrange(-(10**7), 10**7)).scaleb(-scale) for _ in range(count)]
        return pa.decimal128(20, scale), values, [str(value) for value in values]
    if kind[0] == "f":
        # 1 + 2 ** -24 lies in the middle of two singles
        odd = [math.nan, math.inf, -0.0, 0.0, 1 + 2**-24, 3 * (1 + 2**-24), 2**53 + 2.0, 1e-39]
        values = [
            chance.choice(odd) if chance.random() < 0.02 else chance.gauss(0, 100)
            for _ in range(count)
        ]
        type_ = {"f8": pa.float64(), "f4": pa.float32(), "f2": pa.float16()}[kind]
        if kind == "f2":
            import numpy as np

            values = [np.float16(value) for value in values]
        array = pa.array(values, type_).cast(pa.float64()).to_pylist()
        return type_, values, [write_number(value) for value in array]
    bits = 8 * int(kind[1])
    low, high = (-(2 ** (bits - 1)), 2 ** (bits - 1)) if kind[0] == "i" else (0, 2**bits)
    values = [chance.randrange(max(low, -(10**6)), min(high, 10**6)) for _ in range(count)]
    name = ("int" if kind[0] == "i" else "uint") + str(bits)
    return getattr(pa, name)(), values, [str(value) for value in values]


def make_texts(chance: random.Random, count: int) -> tuple[pa.DataType, list[Any], list[str]]:
    """Return a column of names."""
    names = chance.sample(_NAMES, chance.randrange(1, 5))
    values = [names[index % len(names)] for index in range(count)]
    plain = [pa.string(), pa.large_string(), pa.string_view()]
    coded = [pa.dictionary(index, pa.string()) for index in (pa.int8(), pa.int32(), pa.uint16())]
    return chance.choice(plain + coded), values, values


def make_table(chance: random.Random) -> tuple[pa.Table, str, str]:
    """Return a random table, the same as CSV, and how both are to be read."""
    count = chance.choice([1, 2, 3, 17, 100, 500, 4096, 4097])
    columns = {
        "t": make_times(chance, count),
        "px": make_numbers(chance, count),
        "py": make_numbers(chance, count),
    }
    further = [
        {"vx": make_numbers, "vy": make_numbers},
        {"came": make_arrivals},
        {"yaw": make_numbers},
        {"hp": make_numbers},
        {"team": make_texts},
        {"seq": make_counts},
        {"teleport": make_flags},
    ]
    for some in chance.sample(further, chance.randrange(5)):
        columns |= {name: make(chance, count) for name, make in some.items()}
    columns["who"] = make_texts(chance, count)
    arrays, texts = [], []
    for name, (type_, values, written) in columns.items():
        share = chance.choice([0, 0, 0, 0.05]) if name not in ("who", "team") else 0
        missing = [chance.random() < share for _ in range(count)]
        there = [None if gone else value for value, gone in zip(values, missing, strict=True)]
        texts.append(["" if gone else text for text, gone in zip(written, missing, strict=True)])
        arrays.append(cut(chance, make_array(there, type_)))
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    for row in zip(*texts, strict=True):
        cells = zip(columns, row, strict=True)
        named = [write_text(cell) if name in ("who", "team") else cell for name, cell in cells]
        text.write(",".join(named) + "\n")
    how = "time=t,x=px,y=py,entity=who"
    if columns["t"][0] == pa.int64():
        how += ",unit=ms"
    if columns["t"][0] != pa.float64() or chance.random() < 0.5:
        how += ",origin=first"
    how += chance.choice(["", "", ",scale=0.01", ",axes=y-x", ",delta=on"]).replace(
        "axes=y-x", "axes=yx"
    )
    if "came" in columns:
        how += ",arrival=came"
    return pa.table(dict(zip(columns, arrays, strict=True))), text.getvalue(), how


def write_text(cell: str) -> str:
    """Return the cell of a text, in quotes."""
    out = io.StringIO()
    csv.writer(out, lineterminator="", quoting=csv.QUOTE_ALL).writerow([cell])
    return out.getvalue()


def make_arrivals(chance: random.Random, count: int) -> tuple[pa.DataType, list[Any], list[str]]:
    """Return a column of arrival times, some of them late."""
    values = [0.05 * index + chance.choice([0.06, 0.08, 0.2]) for index in range(count)]
    return pa.float64(), values, [repr(value) for value in values]


def make_counts(chance: random.Random, count: int) -> tuple[pa.DataType, list[Any], list[str]]:
    """Return a column of sequence numbers."""
    values = [index // chance.choice([1, 1, 2]) for index in range(count)]
    return chance.choice([pa.int64(), pa.uint16()]), values, [str(value) for value in values]


def make_flags(chance: random.Random, count: int) -> tuple[pa.DataType, list[Any], list[str]]:
    """Return a column of flags, as truths or as numbers."""
    values = [chance.random() < 0.02 for _ in range(count)]
    if chance.random() < 0.5:
        return pa.bool_(), values, [write_number(value) for value in values]
    return pa.int8(), [int(value) for value in values], [write_number(value) for value in values]


def make_array(values: list[Any], type_: pa.DataType) -> pa.Array:
    """Return an array, also of the types that PyArrow does not make from Python objects."""
    if pa.types.is_dictionary(type_):
        return pa.array(values, pa.string()).dictionary_encode().cast(type_)
    return pa.array(values, type_)


def cut(chance: random.Random, array: pa.Array) -> pa.ChunkedArray:
    """Return an array in some chunks, as a slice of a longer one."""
    if chance.random() < 0.5:
        before = chance.randrange(9)
        longer = pa.chunked_array([array[:before], array]).combine_chunks()
        array = longer[min(before, len(array)) :]
    place = chance.randrange(len(array) + 1) if chance.random() < 0.5 else 0
    return pa.chunked_array([array[:place], array[place:]], array.type)


def read(source: Any, how: str) -> Outcome:
    """Return what a table gives."""
    refused: list[str] = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RecordingWarning)
        try:
            packets = list(
                read_packets(
                    source,
                    read=how,
                    refused=lambda line: refused.append(f"{line.line}: {line.refusal.reason}"),
                )
            )
            codes = [finding.code for finding in inspect(source, how).findings]
        except ValueError as error:
            return [], [str(error)], [], []
        try:
            rows = list(map(repr, replay(packets, "epic", pacing="demo", clock="single")))
        except ValueError as error:
            rows = [str(error)]
    plain = [
        (p.position, p.time, p.arrival, p.entity, p.velocity, p.teleport, p.sequence,
         p.rotation, p.spin, p.extras)
        for p in packets
    ]  # fmt: skip
    return plain, refused, codes, rows


def iterate_forms(table: pa.Table, folder: Path) -> Iterator[tuple[str, Any]]:
    """Yield a table as each library has it, if it can."""
    yield "pyarrow", table
    yield "pyarrow batches", pa.Table.from_batches(table.to_batches(max_chunksize=50), table.schema)
    kinds = [field.type for field in table.schema]
    views = any(kind == pa.string_view() for kind in kinds)
    path = folder / "table.parquet"
    if not views:
        pq.write_table(table, path)
        yield "parquet", path
    if not any(kind == pa.float16() or "+05:30" in str(kind) for kind in kinds):
        frame = pl.from_arrow(table)
        yield "polars", frame
        yield "polars slice", pl.concat([frame, frame])[len(frame) :]
        yield "polars lazy", frame.lazy()
        rows = table  # noqa: F841
        yield "duckdb", duckdb.sql("SELECT * FROM rows")
    unsigned = any(
        pa.types.is_dictionary(kind) and kind.index_type == pa.uint16() for kind in kinds
    )
    if not views and not unsigned:  # PyArrow cannot make a frame of these
        nulls = any(table.column(name).null_count for name in table.column_names)
        yield "pandas arrow", table.to_pandas(types_mapper=pd.ArrowDtype)
        if not nulls:
            yield "pandas", table.to_pandas()
            yield "numpy", {name: table.column(name).to_numpy() for name in table.column_names}


def find_differences(seed: int, folder: Path) -> Iterator[tuple[str, str]]:
    """Yield each form of a random table, with how it differs from the CSV; empty: it does not."""
    table, text, how = make_table(random.Random(seed))
    (folder / "table.csv").write_text(text)
    expected = read(folder / "table.csv", how)
    chance = random.Random(seed)
    for form, source in iterate_forms(table, folder):
        words = ""
        table_columns._FIRST = chance.choice([1, 300, 1 << 16])  # type: ignore[misc]
        table_columns.ROWS = chance.choice([7, 256, 4096])  # type: ignore[misc]
        for part, want, got in zip(
            ("packets", "refused", "findings", "rows"), expected, read(source, how), strict=True
        ):
            if want != got:
                first = next(
                    (pair for pair in zip(want, got, strict=False) if pair[0] != pair[1]), ""
                )
                words += f"\n  {part}: {len(want)} and {len(got)}; {first}"
        yield form, words and f"seed {seed}, {form}, {table.schema.types}: {words}"


def main() -> None:
    """Compare random tables with their CSV, and print what differs."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("count", type=int, nargs="?", default=100)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    tried = wrong = 0
    with tempfile.TemporaryDirectory() as name:
        for seed in range(arguments.seed, arguments.seed + arguments.count):
            for _, words in find_differences(seed, Path(name)):
                tried += 1
                if words:
                    wrong += 1
                    print(words)
    print(f"{tried} tables, {wrong} that differ")
    sys.exit(wrong > 0)


if __name__ == "__main__":
    main()
