"""The sources of packets: tables of real libraries, arrays, dicts, tuples and files."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
import pytest

from epic_cli import (
    Packet,
    RefusedLine,
    compare,
    diagnose,
    inspect,
    read_packets,
    replay,
    replay_array,
    tune,
)
from epic_cli.recordings import Unreadable

N = 60
TIMES = [n / 20 for n in range(N)]
PACKETS = [Packet((3 * t, t * t, 0.5), None, t, entity="ann") for t in TIMES]
COLUMNS: dict[str, list[Any]] = {
    "time": TIMES,
    "pos_x": [3 * t for t in TIMES],
    "pos_y": [t * t for t in TIMES],
    "pos_z": [0.5] * N,
    "player": ["ann"] * N,
}
ROWS = [dict(zip(COLUMNS, row, strict=True)) for row in zip(*COLUMNS.values(), strict=True)]


class Row(NamedTuple):
    """A state under a game's own names."""

    t: float
    x: float
    y: float
    z: float
    name: str


def csv() -> str:
    lines = [",".join(map(str, row.values())) for row in ROWS]
    return "\n".join([",".join(COLUMNS), *lines, ""])


def structured() -> Any:
    kinds = [(name, "U8" if name == "player" else "f8") for name in COLUMNS]
    return np.array([tuple(row.values()) for row in ROWS], kinds)


def nested() -> list[dict[str, Any]]:
    return [
        {"t": p.time, "id": "ann", "pos": dict(zip("xyz", p.position, strict=True))}
        for p in PACKETS
    ]


def pandas() -> Any:
    return pytest.importorskip("pandas").DataFrame(COLUMNS)


def polars() -> Any:
    return pytest.importorskip("polars").DataFrame(COLUMNS)


def pyarrow() -> Any:
    return pytest.importorskip("pyarrow").table(COLUMNS)


class ArrowOnly:
    """A table of an unknown library, with Arrow's interface alone."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return pyarrow().__arrow_c_stream__(requested_schema)


SOURCES: dict[str, Callable[[], Any]] = {
    "BytesIO": lambda: io.BytesIO(csv().encode()),
    "StringIO": lambda: io.StringIO(csv()),
    "packets": lambda: PACKETS,
    "generator of packets": lambda: iter(PACKETS),
    "dicts": lambda: ROWS,
    "generator of dicts": lambda: iter(ROWS),
    "nested dicts": nested,
    "named tuples": lambda: [Row(p.time, *p.position, "ann") for p in PACKETS],
    "mapping of lists": lambda: COLUMNS,
    "mapping of arrays": lambda: {name: np.array(one) for name, one in COLUMNS.items()},
    "structured array": structured,
    "pandas": pandas,
    "pandas with the times as index": lambda: pandas().set_index("time"),
    "polars": polars,
    "polars, lazy": lambda: polars().lazy(),
    "pyarrow": pyarrow,
    "pyarrow batches": lambda: pyarrow().to_batches()[0],
    "Arrow's interface": ArrowOnly,
}


@pytest.mark.parametrize("kind", SOURCES)
def test_replay_draws_the_same_of_all(kind: str) -> None:
    assert list(replay(SOURCES[kind]())) == list(replay(PACKETS))


@pytest.mark.parametrize("kind", ["StringIO", "dicts", "structured array", "pandas", "polars"])
def test_so_do_the_others(kind: str) -> None:
    source = SOURCES[kind]
    assert replay_array(source()).tolist() == replay_array(PACKETS).tolist()
    names = ["hermite", "mirror"]
    assert compare(source(), names, latency=0.1) == compare(PACKETS, names, latency=0.1)
    assert compare(source(), names, latency=0.1, truth=source()).results
    assert diagnose(source()) == diagnose(PACKETS)


def test_tune_takes_a_table_too() -> None:
    found = tune(pandas(), "snapshot", trials=2, latency=0.1, validate="none")
    assert [tuning.strategy for tuning in found.tunings] == ["snapshot"]


def test_arrays_and_tuples_without_names() -> None:
    rows = [(p.time, *p.position) for p in PACKETS]
    expected = list(replay([p._replace(entity="") for p in PACKETS]))
    how = "time=1,x=2,y=3,z=4"
    for source in (np.array(rows), rows, iter(rows), [list(row) for row in rows]):
        assert list(replay(read_packets(source, read=how))) == expected
    for unnamed in (np.array(rows), rows, iter(rows)):
        with pytest.raises(RefusedLine, match=r"time=1,x=2,y=3,z=4'"):
            list(replay(unnamed))


def test_dates_and_what_is_missing() -> None:
    pd = pytest.importorskip("pandas")
    begin = datetime(2024, 1, 5, 12)
    table = pd.DataFrame({
        "timestamp": [begin + timedelta(seconds=n / 10) for n in range(4)],
        "x": [1.0, 2, 3, 4], "y": [0.0, 1, 2, 3],
        "vx": [1.0, None, 3, 4], "vy": [1.0, None, 3, 4], "who": ["a", None, "a", "a"],
    })  # fmt: skip
    arrow = pytest.importorskip("pyarrow").Table.from_pandas(table)
    pl = pytest.importorskip("polars").from_arrow(arrow)
    array = {name: table[name].to_numpy() for name in table}
    for source in (table, arrow, pl, array, table.to_dict("records")):
        found = list(read_packets(source, read="entity=who"))
        assert [packet.time for packet in found] == pytest.approx([0, 0.1, 0.2, 0.3])
        assert [packet.velocity is None for packet in found] == [False, True, False, False]
        assert found[1].entity == ""


def test_columns_in_levels_are_several_entities() -> None:
    pd = pytest.importorskip("pandas")
    one = pd.DataFrame({"x": [1.0, 2], "y": [3.0, 4]}, index=pd.Index([0.0, 0.1], name="time"))
    found = list(read_packets(pd.concat({"ann": one, "bob": one + 5}, axis=1)))
    assert [(p.entity, p.time, p.position) for p in found[:2]] == [
        ("ann", 0, (1, 3, 0)),
        ("bob", 0, (6, 8, 0)),
    ]


def test_a_layout_goes_with_any_of_them() -> None:
    rows = [{"when": 1000 * n, "a": n, "b": 2 * n} for n in range(3)]
    layout: dict[str, Any] = {"read": "time=when,x=a,y=b,unit=ms"}
    for source in (rows, SOURCES["pandas"]().iloc[:0], {"when": [0], "a": [1], "b": [2]}):
        if len(source) and not hasattr(source, "iloc"):
            assert next(read_packets(source, **layout)).time == 0
    assert [p.time for p in read_packets(rows, **layout)] == [0, 1, 2]


def test_rows_are_taken_as_they_come() -> None:
    taken = []

    def rows() -> Iterator[dict[str, float]]:
        for n in range(10**9):
            taken.append(n)
            yield {"time": n / 10, "x": n, "y": 0}

    drawn = replay(rows())
    next(drawn)
    assert len(taken) < 100


def test_what_is_wrong_says_which_row() -> None:
    with pytest.raises(RefusedLine, match="y is not a number"):
        list(replay([{"time": 0, "x": 1, "y": 2}, {"time": 1, "x": 1, "y": "?"}]))
    with pytest.raises(RefusedLine, match="clearly time"):
        list(replay({"a": [1, 2], "x": [1, 2], "y": [3, 4]}))
    with pytest.raises(TypeError):
        list(replay([1, 2]))  # type: ignore[list-item, unused-ignore]
    with pytest.raises(TypeError):
        replay(SimpleNamespace())  # type: ignore[arg-type, call-overload, unused-ignore]


def test_a_packet_needs_no_velocity() -> None:
    packets = [Packet((t, 0.0, 0.0), time=t) for t in TIMES]
    assert list(replay(packets)) == list(replay([Packet((t, 0.0, 0.0), None, t) for t in TIMES]))
    with pytest.raises(TypeError, match="time"):
        replay([Packet((1.0, 2.0, 3.0))])


def test_an_open_file_is_read_where_it_stands(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("skipped\n" + csv())
    for mode in ("r", "rb"):
        with (tmp_path / "a.csv").open(mode) as file:
            file.readline()
            assert list(replay(file)) == list(replay(PACKETS))


class NAType:
    """A missing value as pandas' NA: comparing with it gives another NA."""

    def __ne__(self, other: object) -> Any:
        return self

    def __bool__(self) -> bool:
        raise TypeError("boolean value of NA is ambiguous")

    __hash__ = object.__hash__


def test_a_missing_cell_of_pandas_is_missing() -> None:
    rows = [{**row, "arrival": NAType() if n % 2 else row["time"]} for n, row in enumerate(ROWS)]
    columns = {name: [row[name] for row in rows] for name in rows[0]}
    for given in (rows, columns):
        found = [packet.arrival for packet in read_packets(given)]
        assert [arrival is None for arrival in found] == [n % 2 == 1 for n in range(N)]


@dataclass
class State:
    """A state of a game."""

    time: float
    x: float
    y: float
    z: float


def test_objects_of_a_dataclass_are_rows() -> None:
    states = [State(packet.time, *packet.position) for packet in PACKETS]
    plain = [packet._replace(entity="") for packet in PACKETS]
    assert list(replay(states)) == list(replay(iter(states))) == list(replay(plain))


@pytest.mark.parametrize("job", [replay, read_packets, inspect, diagnose, compare, tune])
def test_what_is_empty_or_no_path_is_said_by_an_error_of_the_package(job: Any) -> None:
    more = ("lerp",) if job is tune else ()
    with pytest.raises(Unreadable, match="the text of a recording, not a path: give io"):
        list(job(csv(), *more))
    if job is not inspect:
        with pytest.raises(RefusedLine, match="the recording has no packet"):
            list(job({"time": [], "x": [], "y": [], "z": []}, *more))
