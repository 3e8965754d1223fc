"""Parquet: other programs' files as recordings, and what cannot be read."""

from __future__ import annotations

import datetime
import math
import os
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from epic_cli import Packet, inspect, read_packets
from epic_cli.engine.refusals import Reason
from epic_cli.recordings import Unreadable
from epic_cli.recordings.entries.parquet import NoParquetLibrary
from epic_cli.recordings.entries.parquet import writer as parquet_writer
from epic_cli.recordings.read_spec import ReadSpec
from epic_cli.recordings.reading import make_writer, read


def packets_of(path: Path, spec: ReadSpec | None = None) -> list[Packet]:
    """Return the packets of a file in which no row is refused."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        blocks = list(read(descriptor, spec))
    finally:
        os.close(descriptor)
    assert not any(block.refusals for block in blocks)
    return [block[index] for block in blocks for index in range(len(block))]


def written(path: Path, table: dict[str, Any], **options: Any) -> Path:
    pq.write_table(pa.table(table), path, **options)
    return path


def test_the_columns_have_types_and_what_is_no_number_is_null(tmp_path: Path) -> None:
    writer = make_writer("parquet")
    data = writer.format_row(Packet((1.0, math.nan, math.inf), None, 0.5, None, "a")) + writer.end()
    (tmp_path / "a.parquet").write_bytes(writer.header + data)
    table = pq.read_table(tmp_path / "a.parquet")
    assert table.to_pylist() == [
        {"entity": "a", "time": 0.5, "x": 1.0, "y": None, "z": None, "vx": None, "vy": None}
        | {"vz": None, "arrival": None, "seq": None, "teleport": False, "delta": 0.0}
    ]
    assert {str(table.schema.field(name).type) for name in ("time", "vx")} == {"double"}


def test_groups_are_written_as_they_fill(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parquet_writer, "ROW_GROUP", 3)
    writer = make_writer("parquet")
    wanted = [Packet((float(k), 0.0, 0.0), (0.0,) * 3, k / 10) for k in range(7)]
    parts = [writer.format_row(packet) for packet in wanted]
    assert [bool(part) for part in parts] == [False, False, True, False, False, True, False]
    (tmp_path / "a.parquet").write_bytes(b"".join(parts) + writer.end())
    assert pq.ParquetFile(tmp_path / "a.parquet").metadata.num_row_groups == 3
    assert packets_of(tmp_path / "a.parquet") == wanted


@pytest.mark.parametrize(
    "kind",
    [
        None,
        pa.list_(pa.float32(), 3),
        pa.list_(pa.float32()),
        pa.large_list(pa.float64()),
    ],
    ids=["struct", "array", "list", "large-list"],
)
def test_nested_positions_are_paths(tmp_path: Path, kind: pa.DataType | None) -> None:
    position = {"x": 1.0, "y": 2.0, "z": 3.0} if kind is None else [1.0, 2.0, 3.0]
    path = written(tmp_path / "nested", {"t": [0.5], "pos": pa.array([position], kind)})
    assert packets_of(path) == [Packet((1.0, 2.0, 3.0), None, 0.5)]


def test_lists_that_change_their_length_are_refused_where_they_are_read(tmp_path: Path) -> None:
    count = 9000
    lists = [[float(n), 1.0] if n < 8500 else [1.0] for n in range(count)]
    times = [n / 10 for n in range(count)]
    with pytest.raises(Unreadable, match="lists"):
        packets_of(written(tmp_path / "read", {"t": times, "pos": lists}))
    path = written(tmp_path / "other", {"t": times, "x": times, "y": times, "items": lists})
    assert len(packets_of(path)) == count


def test_dates_begin_at_the_first(tmp_path: Path) -> None:
    noon = datetime.datetime(2024, 5, 1, 12)
    times = [noon, noon + datetime.timedelta(milliseconds=1500)]
    path = written(tmp_path / "dates", {"time": times, "x": [0.0, 1.0], "y": [0.0, 1.0]})
    assert [packet.time for packet in packets_of(path)] == [0.0, 1.5]


def test_other_types_are_passed_over_and_columns_picked(tmp_path: Path) -> None:
    path = written(
        tmp_path / "mixed",
        {"lists": [[1], [2, 3]], "raw": [b"\n", b"\xff"], "when": [1, 2], "a": [5, 6], "b": [7, 8]}
        | {"team": pa.array(["red", "blue"]).dictionary_encode()},
    )
    layout = ReadSpec((("time", "when"), ("x", "b"), ("y", "a"), ("entity", "team")))
    assert packets_of(path, layout) == [
        Packet((7.0, 5.0, 0.0), None, 1.0, entity="red"),
        Packet((8.0, 6.0, 0.0), None, 2.0, entity="blue"),
    ]


def test_a_wrong_row_has_its_number(tmp_path: Path) -> None:
    path = written(
        tmp_path / "wrong",
        {"time": [0.0, None, 2.0], "x": [0.0] * 3, "y": [0.0] * 3, "z": [0.0] * 3},
        row_group_size=1,
    )
    with path.open("rb") as file:
        blocks = list(read(file.fileno()))
    assert [refusal.line for block in blocks for refusal in block.refusals] == [3]
    assert sum(map(len, blocks)) == 2


def test_a_file_without_rows_has_no_packets(tmp_path: Path) -> None:
    none = pa.array([], pa.float64())
    path = written(tmp_path / "empty", {"time": none, "x": none, "y": none})
    with path.open("rb") as file:
        refusals = [refusal for block in read(file.fileno()) for refusal in block.refusals]
    assert [refusal.reason for refusal in refusals] == [Reason.NO_PACKETS]


@pytest.mark.parametrize("cut", [5, -20])
def test_a_file_that_is_not_whole(tmp_path: Path, cut: int) -> None:
    path = written(tmp_path / "cut", {"time": [0.0], "x": [0.0], "y": [0.0]})
    path.write_bytes(path.read_bytes()[:cut])
    with pytest.raises(Unreadable, match="Parquet that cannot be read"):
        packets_of(path)


@pytest.mark.parametrize("kind", ["auto", "parquet"])
def test_a_stream_is_refused(tmp_path: Path, kind: str) -> None:
    data = written(tmp_path / "a", {"time": [0.0], "x": [0.0], "y": [0.0]}).read_bytes()
    parts = iter([data])
    with pytest.raises(Unreadable, match="from a file, not from a stream"):
        list(read(lambda: next(parts, b""), ReadSpec(format=kind)))
    receiver, sender = os.pipe()
    os.write(sender, data)
    os.close(sender)
    with pytest.raises(Unreadable, match="from a file, not from a stream"):
        list(read(receiver, ReadSpec(format=kind)))
    os.close(receiver)


def test_without_the_library_one_sentence_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = written(tmp_path / "a", {"time": [0.0], "x": [0.0], "y": [0.0]})
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(NoParquetLibrary, match=r"pip install pyarrow"):
        make_writer("parquet")
    with pytest.raises(NoParquetLibrary):
        packets_of(path)


def test_only_the_columns_that_are_wanted_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = {
        "t": [0.0, 0.1],
        "pos": [{"x": 1.0, "y": 2.0}] * 2,
        "note": ["a,b", "c\nd"],
        "n": [1, 2],
    }
    asked: list[list[str] | None] = []

    iterate = pq.ParquetFile.iter_batches

    def watched(file: Any, size: int, columns: list[str] | None = None) -> Any:
        asked.append(columns)
        return iterate(file, size, columns=columns)

    path = written(tmp_path / "wide.parquet", table)
    monkeypatch.setattr(pq.ParquetFile, "iter_batches", watched)
    assert [(packet.time, packet.position) for packet in packets_of(path)] == [
        (0.0, (1.0, 2.0, 0.0)),
        (0.1, (1.0, 2.0, 0.0)),
    ]
    assert asked == [None, ["t", "pos"]]


@pytest.mark.parametrize(("others", "kept"), [(997, 997), (998, 0)])
def test_of_very_many_columns_only_those_of_fields_are_read(
    tmp_path: Path, others: int, kept: int
) -> None:
    table = {name: [1.0] for name in ("time", "x", "y", *(f"n{k}" for k in range(others)))}
    (packet,) = read_packets(written(tmp_path / "wide.parquet", table))
    assert (packet.position, len(packet.extras or {})) == ((1.0, 1.0, 0.0), kept)


def test_a_file_that_is_open_for_reading_is_read_from_python(tmp_path: Path) -> None:
    path = written(tmp_path / "a.parquet", {"t": [0.0, 0.1], "x": [1.0, 2.0], "y": [0.0, 0.0]})
    with path.open("rb") as stream:
        assert [packet.position[0] for packet in read_packets(stream)] == [1.0, 2.0]
    assert [packet.position[0] for packet in read_packets(path, read="parquet")] == [1.0, 2.0]


@pytest.mark.parametrize("kind", ["plain", "dictionary", "other"])
def test_sizes_are_checked_before_they_are_decoded(tmp_path: Path, kind: str) -> None:
    """A few kilobytes hold names of many megabytes: those of the entity are refused."""
    rows, size = (5000, 20_000_000) if kind == "dictionary" else (2, 20_000_000)
    long = pa.array(["a" * size])
    values = pa.DictionaryArray.from_arrays(pa.array([0] * rows, pa.int32()), long)
    times = [0.1 * row for row in range(rows)]
    table = {"time": times, "x": times, "y": times}
    table["note" if kind == "other" else "entity"] = values if rows > 2 else values.cast("string")
    file = written(tmp_path / "bomb.parquet", table, compression="zstd")
    assert file.stat().st_size < 200_000
    if kind == "other":
        assert [packet.time for packet in read_packets(file)] == times
        return
    with pytest.raises(ValueError, match="'entity' is too large"):
        list(read_packets(file))


def test_a_column_that_tells_entities_apart_is_named_though_no_field_is_read_from_it(
    tmp_path: Path,
) -> None:
    count = 3000
    table = {
        "time": [at // 2 / 20 for at in range(count)],
        "x": [at // 2 / 10 + 50 * (at % 2) for at in range(count)],
        **dict.fromkeys(("y", "z", "vy", "vz"), [0.0] * count),
        "vx": [2.0] * count,
        "hull": [f"t{at % 2}" for at in range(count)],
    }
    path = tmp_path / "a.parquet"
    written(path, table)
    found = inspect(path)
    assert dict(found.unread) == {"hull": "t0"}
    assert any("hull" in str(finding) for finding in found.findings if finding.code == "E101")
