from __future__ import annotations

import csv
import io
import json
import math
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.console import Console
from support import comparisons
from support.places import SAMPLES

from epic_cli.jobs.compare.report import (
    Diagnoses,
    list_fields,
    make_metric_columns,
    order_rows,
    report,
    sort_results,
)
from epic_cli.metrics import METRICS, SENT, TURNING
from epic_cli.metrics.certainty import Standing
from epic_cli.metrics.comparison import Comparison, Result
from epic_cli.metrics.inputs import RecordedRuns
from epic_cli.metrics.notes import Flaw, ResultNote
from epic_cli.show.documents import write_csv, write_jsonl, write_markdown
from epic_cli.show.text import ReportText

THREE = comparisons.comparison("Late", "Jumping", "Raising")
TWO_ENTITIES = comparisons.comparison("Late", "Aside", entities=("a", "b"))


def printed(comparison: Comparison, width: int = 160, by_entity: bool = False) -> str:
    out = io.StringIO()
    console = Console(file=out, width=width, color_system=None, legacy_windows=False)
    by = "entity" if by_entity else "strategy"
    console.print(ReportText(report(comparison, by=by)))
    return out.getvalue()


def fake(label: str, error: float, score: float) -> Result:
    return Result(label, None, {**THREE.results[0].values, "error": error, "score": score})


def test_the_best_of_each_column_is_marked() -> None:
    lines = printed(THREE).splitlines()
    head = next(line for line in lines if line.startswith("strategy"))
    assert head.split()[:3] == ["strategy", "score", "error"]
    late = next(line for line in lines if line.startswith("Late  "))
    jumping = next(line for line in lines if line.startswith("Jumping  "))
    assert late.split()[2].endswith("*") or jumping.split()[2].endswith("*")
    marked = {column.key: column.best for column in make_metric_columns(THREE.results)}
    assert marked["lag"] == {1}
    assert marked["jumps"] == {0}
    assert marked["held"] == set()  # all are equal
    assert marked["extrapolated"] == set()  # no better or worse


def test_a_narrow_terminal_gets_two_tables() -> None:
    text = printed(THREE, 80)
    heads = [line for line in text.splitlines() if line.startswith("strategy")]
    assert len(heads) == 2
    assert "residual" in heads[0]
    assert "jerk" in heads[1]
    assert all(len(line) <= 80 for line in text.splitlines())


def test_by_entity_marks_the_best_of_each_entity() -> None:
    results = order_rows(TWO_ENTITIES, "score", "entity")
    assert [result.entity for result in results] == ["a", "a", "b", "b"]
    error = next(column for column in make_metric_columns(results) if column.key == "error")
    assert error.best
    assert {results[row].entity for row in error.best} == {"a", "b"}
    assert "entity" in printed(TWO_ENTITIES, by_entity=True)


@pytest.mark.parametrize(
    ("by", "expected"),
    [
        ("score", ["c", "a", "b", "none"]),
        ("error", ["b", "a", "c", "none"]),
        ("name", ["a", "b", "c", "none"]),
        ("given", ["a", "b", "none", "c"]),
    ],
)
def test_sorting(by: str, expected: list[str]) -> None:
    nothing = Result("none", None, notes=(ResultNote(Flaw.STOPPED),))
    results = [fake("a", 2, 50), fake("b", 1, 40), nothing, fake("c", 3, 60)]
    assert [result.label for result in sort_results(results, by)] == expected


def standing(label: str, score: float, rank: int | None) -> Result:
    interval = {"score": (score - 3, score + 4)}
    return replace(fake(label, 1, score), standing=Standing(rank=rank, intervals=interval))


def brief(
    results: Sequence[Result], width: int = 80, by: str = "strategy", **how: Any
) -> list[str]:
    out = io.StringIO()
    console = Console(file=out, width=width, color_system=None, legacy_windows=False)
    some = tuple(results)
    found = report(replace(THREE, results=some, by_entity=some), by=by, brief=True)
    console.print(ReportText(found, **how))
    return out.getvalue().splitlines()


@given(st.lists(st.tuples(st.floats(26, 99), st.integers(1, 4)), min_size=2, max_size=30))
@settings(max_examples=25)
def test_a_brief_report_fits_a_small_terminal(drawn: list[tuple[float, int]]) -> None:
    results = [standing(f"strategy-{k:02}", *one) for k, one in enumerate(drawn)]
    lines = brief(results)
    assert len(lines) < 24
    assert max(map(len, lines)) <= 80
    rows = [line for line in lines if re.match(r"[+ ]? ?strategy-\d\d  ", line)]
    assert len(rows) == min(10, len(results))
    best = sorted(results, key=lambda one: -one.value("score"))[: len(rows)]
    assert [re.findall(r"strategy-\d\d", row) for row in rows] == [[one.label] for one in best]
    tied = sum(result.rank == 1 for result in results)
    for row, result in zip(rows, best, strict=True):
        assert row.startswith("+") == (result.rank == 1 and 1 < tied < len(results))


@pytest.mark.parametrize("entities", [1, 3, 9, 10, 11, 40])
def test_a_brief_report_fits_a_small_terminal_with_any_number_of_entities(entities: int) -> None:
    both = [standing(label, score, None) for label, score in (("a", 90.0), ("b", 50.0))]
    results = [replace(one, entity=f"car-{k:02}") for k in range(entities) for one in both]
    lines = brief(results, by="entity")
    rows = [line.split()[:2] for line in lines if re.match(r"[ab]  .*car-\d\d  ", line)]
    assert len(lines) < 24
    assert 5 <= len(rows) <= 10 or entities == 1
    (more,) = re.findall(r"(?:(\d+) more rows?, all|All) columns", " ".join(lines))
    assert int(more or 0) + len(rows) == 2 * entities
    assert rows[:2] == [["a", "car-00"], ["b", "car-00"] if entities < 4 else ["a", "car-01"]]


def test_a_page_diagnoses_the_first_recordings_that_are_long_enough(monkeypatch: Any) -> None:
    monkeypatch.setattr("epic_cli.show.page.MOST", 2)
    names = [str(SAMPLES / name) for name in ("turn.txt", "jitter.txt", "two_tanks.csv")]
    found = Diagnoses(RecordedRuns(tuple(names))).list_sections()
    assert [section.recording for section in found] == names[1:2]


@pytest.mark.parametrize("width", [80, 300])
def test_a_dot_stands_between_the_ends_of_its_interval(width: int) -> None:
    results = [standing("high", 80, 1), standing("low", 40, 2)]
    rows = [line for line in brief(results, width) if line.startswith(("high  ", "low  "))]
    high, low = rows
    assert low.index("●") < high.index("●")
    assert all(line[line.index("●") - 1] == "─" for line in rows)
    assert not any("●" in line for line in brief(results, width=60))


def test_csv_has_all_digits_and_leaves_out_what_is_not_known() -> None:
    rows = list(csv.DictReader(io.StringIO(write_csv(report(THREE, "given")))))
    assert list(rows[0]) == list_fields(THREE)
    # columns of rotation, and of what is sent, are there where these are
    assert set(rows[0]).isdisjoint({*TURNING, *SENT})
    for metric in METRICS:
        if metric.name in {*TURNING, *SENT}:
            continue
        value = THREE.results[0].value(metric.name)
        assert rows[0][metric.name] == (
            ""
            if math.isnan(value)
            else str(value).removesuffix(".0")
            if metric.name == "rows"
            else str(value)
        )
    assert float(rows[0]["lag"]) == pytest.approx(0.1, abs=1e-6)
    assert rows[2]["error"] == ""
    assert rows[2]["note"]


def test_json_lines_are_strict_json() -> None:
    found = [
        json.loads(line, parse_constant=pytest.fail)
        for line in write_jsonl(report(THREE, "given")).splitlines()
    ]
    assert [item["strategy"] for item in found] == ["Late", "Jumping", "Raising"]
    assert found[2]["score"] is None
    assert found[1]["jumps"] == 2


def test_markdown_escapes_what_would_end_a_cell() -> None:
    results = (fake("a|b", 1, 50), fake("c", 2, 40))
    text = write_markdown(report(replace(THREE, results=results)))
    assert "| a\\|b |" in text
