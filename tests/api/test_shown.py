"""Results in notebooks, and as tables of other libraries."""

from __future__ import annotations

import base64
import csv
import io
import json
import math
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest
from support.places import SAMPLES

from epic_cli import Comparison, Packet, compare, diagnose, inspect, replay, tune
from epic_cli.show.documents import write_csv

#: A turn, half of whose packets come late.
PACKETS = [
    Packet((9 * math.cos(n / 20), 9 * math.sin(n / 20), 0.0), None, n / 20, n / 20 + 0.1 * (n % 2))
    for n in range(400)
]
NAMES = ("hermite", "mirror", "epic")


@cache
def results() -> dict[str, Any]:
    return {
        "compare": compare(PACKETS, NAMES),
        "tune": tune(PACKETS, "snapshot", trials=2, validate="none"),
        "diagnose": diagnose(PACKETS, "source"),
        "inspect": inspect(PACKETS),
    }


KINDS = ("compare", "tune", "diagnose", "inspect")


@pytest.mark.parametrize("kind", KINDS)
def test_tables_of_the_real_libraries(kind: str) -> None:
    found = results()[kind]
    expected = found.to_dicts()
    assert isinstance(expected, list)
    pandas = pytest.importorskip("pandas")
    polars = pytest.importorskip("polars")
    arrow = pytest.importorskip("pyarrow")
    table, frame, other = found.to_arrow(), found.to_pandas(), found.to_polars()
    assert isinstance(table, arrow.Table)
    assert isinstance(frame, pandas.DataFrame)
    assert isinstance(other, polars.DataFrame)
    assert len(frame) == other.height == table.num_rows
    assert list(frame) == other.columns == table.column_names


def test_a_replay_is_shown_and_none_of_its_samples_is_lost() -> None:
    expected = list(replay(PACKETS, "lerp"))
    shown = replay(PACKETS, "lerp")
    assert shown._repr_html_() == shown._repr_html_()
    assert shown._repr_html_().count("<tr>") == 11
    assert list(shown) == expected
    records = replay(PACKETS, "lerp").to_dicts()
    assert [record["time"] for record in records] == [sample.time for sample in expected]
    assert [record["x"] for record in records if record["status"] != "none"] == [
        sample.position[0] for sample in expected if sample.status != "none"
    ]


@pytest.mark.parametrize("kind", KINDS)
def test_other_libraries_take_a_result_as_columns(kind: str) -> None:
    arrow = pytest.importorskip("pyarrow")
    found = results()[kind]
    table = arrow.table(found)
    kinds = {field.name: str(field.type) for field in table.schema}
    assert "double" in kinds.values() or kind not in ("compare", "tune")
    rows = list(csv.DictReader(io.StringIO(write_csv(found.report_of(found)))))
    assert all(list(row) == table.column_names for row in rows)
    for record, row in zip(table.to_pylist() if rows else [], rows, strict=True):
        for name, value in record.items():
            if value is None:
                assert row[name] == ""
            elif kinds[name] in ("double", "int64"):
                assert float(row[name]) == pytest.approx(value, nan_ok=True)
            elif isinstance(value, bool):
                assert (row[name] in ("true", "True", "1")) == value
            else:
                assert bool(row[name]) == bool(value)


@pytest.mark.parametrize("recording", ["match.csv", "spin_turn.csv", "turn.txt"])
@pytest.mark.parametrize("taken", [0, 3])
def test_a_replay_is_taken_as_columns(recording: str, taken: int) -> None:
    arrow = pytest.importorskip("pyarrow")
    expected = replay(SAMPLES / recording, "lerp").to_dicts()
    samples = replay(SAMPLES / recording, "lerp")
    for _ in range(taken):
        next(samples)
    samples.peek_samples()
    assert arrow.table(samples).to_pylist() == expected[taken:]
    assert arrow.table(samples).num_rows == 0
    assert any("qx" in record for record in expected) == (recording == "spin_turn.csv")


def test_nothing_drawn_is_null_in_a_column() -> None:
    arrow = pytest.importorskip("pyarrow")
    packets = [Packet((1.0, 2.0, 3.0), None, time, time) for time in (1.0, 1.1, 1.2)]
    table = arrow.table(replay(packets, "geckos"))
    empty = [row for row in table.to_pylist() if row["status"] == "none"]
    assert empty
    assert all(row["x"] is None and row["vz"] is None for row in empty)
    assert table.column("x").null_count == len(empty)
    assert table.column("time").null_count == 0


def test_each_library_has_the_rows_of_a_replay() -> None:
    polars = pytest.importorskip("polars")
    pytest.importorskip("pandas")
    expected = replay(PACKETS[::2], "lerp").to_arrow().to_pylist()
    assert len(expected) > 300
    frame = replay(PACKETS[::2], "lerp").to_polars()
    assert isinstance(frame, polars.DataFrame)
    assert frame.to_dicts() == expected
    table = replay(PACKETS[::2], "lerp").to_pandas()
    assert table["time"].tolist() == [row["time"] for row in expected]
    assert table["status"].tolist() == [row["status"] for row in expected]


def test_what_a_replay_raises_reaches_who_takes_its_columns() -> None:
    arrow = pytest.importorskip("pyarrow")

    def packets() -> Iterator[Packet]:
        yield from sorted(PACKETS, key=lambda packet: packet.arrival or 0.0)
        raise LookupError("the line is dead")

    with pytest.raises(LookupError, match="the line is dead"):
        replay(packets(), "lerp").to_arrow()
    with pytest.raises(OSError, match="LookupError: the line is dead"):
        arrow.table(replay(packets(), "lerp"))


def test_what_a_replay_raises_is_raised_where_polars_panics(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    polars = pytest.importorskip("polars")
    arrow = pytest.importorskip("pyarrow")

    class Panic(BaseException):
        """A panic of Rust, which is no ``Exception``."""

    def panic(table: object) -> object:
        try:
            return arrow.table(table)
        except Exception:
            raise Panic from None

    monkeypatch.setattr(polars, "DataFrame", panic)

    def packets() -> Iterator[Packet]:
        yield from PACKETS[:18:2]
        raise LookupError("the line is dead")

    with pytest.raises(LookupError, match="the line is dead"):
        replay(packets(), "lerp").to_polars()
    assert replay(PACKETS[:18:2], "lerp").to_polars().num_rows > 0


def test_a_stream_that_nobody_reads_ends_quietly() -> None:
    samples = replay(PACKETS, "lerp")
    capsule = samples.__arrow_c_stream__()
    del capsule
    assert len(list(samples)) > 100


def test_the_figures_are_those_of_the_result() -> None:
    found: Comparison = results()["compare"]
    frame = found.to_dicts()
    for record in frame:
        result = next(outcome for outcome in found.results if outcome.label == record["strategy"])
        assert record["score"] == pytest.approx(result.value("score"))
    json.dumps(frame, allow_nan=True)  # plain values all through
    assert {record["strategy"] for record in frame} == set(NAMES)


@pytest.mark.parametrize("kind", KINDS)
def test_what_a_notebook_shows(kind: str) -> None:
    found = results()[kind]
    html = found._repr_html_()
    pictures = [picture.attrib["src"].partition(",") for picture in ET.fromstring(html).iter("img")]
    assert "<table" in html or kind == "diagnose"
    if kind in ("compare", "tune"):
        assert {kind for kind, _, _ in pictures} == {"data:image/svg+xml;base64"}
    for _, _, data in pictures:  # a browser draws only what says that it is SVG
        assert ET.fromstring(base64.b64decode(data)).tag == "{http://www.w3.org/2000/svg}svg"
    assert "<script" not in html


@pytest.mark.parametrize("kind", KINDS)
def test_a_repr_is_one_short_line(kind: str) -> None:
    words = repr(results()[kind])
    assert "\n" not in words
    assert len(words) < 300
    assert words.startswith(f"<{type(results()[kind]).__name__}: ")
