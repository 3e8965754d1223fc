from __future__ import annotations

import csv
import io
import json
import math

import pytest
from rich.console import Console
from support import comparisons

from epic_cli.analysis.compare import Comparison, Result
from epic_cli.analysis.score import Weights
from epic_cli.views.comparison import (
    ComparisonTable,
    cell,
    columns,
    ordered,
    ranking,
    sort_results,
    three_digits,
)
from epic_cli.views.comparison_text import FIELDS, as_csv, as_jsonl, as_markdown

THREE = comparisons.comparison("Late", "Jumping", "Raising")
TWO_ENTITIES = comparisons.comparison("Late", "Aside", entities=("a", "b"))


def printed(comparison: Comparison, width: int = 160, by_entity: bool = False) -> str:
    out = io.StringIO()
    console = Console(file=out, width=width, color_system=None, legacy_windows=False)
    console.print(ComparisonTable(comparison, by_entity=by_entity))
    return out.getvalue()


def fake(label: str, error: float, score: float) -> Result:
    figures = THREE.results[0].figures
    assert figures is not None
    return Result(label, None, figures._replace(error=error), score)


def test_the_best_of_each_column_is_marked() -> None:
    lines = printed(THREE).splitlines()
    assert lines[0].split()[:3] == ["strategy", "score", "error"]
    late = next(line for line in lines if line.startswith("Late"))
    jumping = next(line for line in lines if line.startswith("Jumping"))
    assert late.split()[2].endswith("*") or jumping.split()[2].endswith("*")
    marked = {column.figure.name: column.best for column in columns(THREE.results)}
    assert marked["lag"] == {1}
    assert marked["jumps"] == {0}
    assert marked["held"] == set()  # all are equal
    assert marked["extrapolated"] == set()  # no better or worse


def test_what_has_no_figures_has_dashes_and_a_note() -> None:
    text = printed(THREE)
    raising = next(line for line in text.splitlines() if line.startswith("Raising"))
    assert set(raising.split()[1:]) == {"-"}
    assert "Note: Raising: it raised ZeroDivisionError" in text


def test_the_formula_and_the_truth_are_told() -> None:
    text = " ".join(printed(THREE).split())
    assert "Truth: rebuilt with hindsight" in text
    assert "Score = 100 / (1 + weighted mean" in text
    assert "Weights: accuracy 1, smoothness 1, latency 1." in text


def test_a_narrow_terminal_gets_two_tables() -> None:
    text = printed(THREE, 80)
    heads = [line for line in text.splitlines() if line.startswith("strategy")]
    assert len(heads) == 2
    assert "residual" in heads[0]
    assert "jerk" in heads[1]
    assert all(len(line) <= 80 for line in text.splitlines())


def test_by_entity_marks_the_best_of_each_entity() -> None:
    results = ordered(TWO_ENTITIES, "score", by_entity=True)
    assert [one.entity for one in results] == ["a", "a", "b", "b"]
    error = next(one for one in columns(results) if one.figure.name == "error")
    assert {results[row].entity for row in error.best} == {"a", "b"}
    assert "entity" in printed(TWO_ENTITIES, by_entity=True).splitlines()[0]


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
    nothing = Result("none", None, None, math.nan, "why")
    results = [fake("a", 2, 50), fake("b", 1, 40), nothing, fake("c", 3, 60)]
    assert [one.label for one in sort_results(results, by)] == expected


def words(*results: Result) -> list[str]:
    return ranking(Comparison(Weights(), 0.05, 1.0, results=list(results)))


def test_errors_are_compared_in_words() -> None:
    assert words(fake("a", 1.8, 50), fake("b", 1.0, 40), fake("c", 250.0, 10))[1:] == [
        "Smallest error: b, 1.00 (RMS)",
        "  a: 1.8 times the error of the best",
        "  c: 250 times the error of the best",
    ]
    assert words(fake("a", 1.8, 50))[0].startswith(
        "Best score: a, 50.0 of 100; it draws 100 ms late"
    )


def test_nothing_is_a_multiple_of_no_error() -> None:
    assert words(fake("a", 0.5, 50), fake("b", 0.0, 40))[-1] == "  a: 0.500, the best is exact"


def test_no_words_without_figures() -> None:
    assert words(Result("a", None, None, math.nan, "why")) == []


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0"),
        (1.0, "1.00"),
        (0.001234, "0.00123"),
        (123456.0, "123456"),
        (1.5e9, "1.50e+09"),
        (-0.25, "-0.250"),
        (1e-9, "1.00e-09"),
    ],
)
def test_three_digits(value: float, text: str) -> None:
    assert three_digits(value) == text


@pytest.mark.parametrize(
    ("name", "value", "text"),
    [
        ("lag", 0.1, "100"),
        ("lag", -0.0001, "0"),
        ("lag", math.nan, "-"),
        ("held", 0.0, "0"),
        ("held", 0.001, "<1 %"),
        ("held", 0.5, "50 %"),
        ("jumps", 3.0, "3"),
    ],
)
def test_cells(name: str, value: float, text: str) -> None:
    assert cell(name, value) == text


def test_csv_has_all_digits_and_leaves_out_what_is_not_known() -> None:
    rows = list(csv.DictReader(io.StringIO(as_csv(THREE.results))))
    assert list(rows[0]) == list(FIELDS)
    figures = THREE.results[0].figures
    assert figures is not None
    assert float(rows[0]["error"]) == figures.error
    assert float(rows[0]["lag"]) == pytest.approx(0.1, abs=1e-6)
    assert rows[2]["error"] == ""
    assert rows[2]["note"].startswith("it raised")


def test_json_lines_are_strict_json() -> None:
    found = [
        json.loads(line, parse_constant=pytest.fail)
        for line in as_jsonl(THREE.results).splitlines()
    ]
    assert [one["strategy"] for one in found] == ["Late", "Jumping", "Raising"]
    assert found[2]["score"] is None
    assert found[1]["jumps"] == 2


def test_markdown_is_a_table_with_bold_bests() -> None:
    lines = as_markdown(
        THREE, ordered(THREE, "given", by_entity=False), by_entity=False
    ).splitlines()
    widths = {line.count("|") for line in lines[:5]}
    assert len(widths) == 1
    assert set(lines[1]) <= set("| :-")
    jumps = [line.split("|")[9].strip() for line in (lines[0], *lines[2:5])]
    assert jumps == ["jumps", "**0**", "2", "-"]
    assert any(line.startswith("- Truth: rebuilt") for line in lines)


def test_markdown_escapes_what_would_end_a_cell() -> None:
    result = [fake("a|b", 1, 50), fake("c", 2, 40)]
    text = as_markdown(THREE, result, by_entity=False)
    assert "| a\\|b |" in text
