"""Tests that a comparison read back from a journal is the same, digit for digit."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from support import movements

from epic_cli.engine.replay.playback import SCREEN_TIMING
from epic_cli.engine.replay.strategy_spec import read_specs
from epic_cli.metrics.comparison import Comparison
from epic_cli.metrics.evaluation import CompareSpec, NotComparable, Pool, Run, compare_one
from epic_cli.metrics.notes import Adjusted, Cut, CutOut
from epic_cli.work.jobs import Place
from epic_cli.work.journal import NotAValue, convert_to_json, restore_from_json


def there_and_back(value: Any) -> Any:
    return restore_from_json(json.loads(json.dumps(convert_to_json(value))))


@pytest.mark.parametrize(
    "value",
    [
        None,
        -0.0,
        1e-320,
        math.inf,
        "\ud800 text",
        b"\0\xff",
        (1, (2.5, ()), "x"),
        Adjusted("tank", CutOut(3, Cut.GAP, 0.1)),
        NotComparable(most_rows=5),
        frozenset({"b", "a"}),
    ],
)
def test_values_stay_what_they_are(value: Any) -> None:
    back = there_and_back(value)
    assert (back, type(back)) == (value, type(value))
    if not isinstance(value, frozenset):  # whose order is anybody's guess
        assert repr(back) == repr(value)


@pytest.mark.parametrize("dtype", ["<f8", ">f8", "<i8", "|b1"])
def test_arrays_stay_what_they_are(dtype: str) -> None:
    values = np.array([[0, 1, 2], [3, 4, 5]], dtype)
    back = there_and_back(values)
    assert back.dtype.isnative
    np.testing.assert_array_equal(back, values)
    back += back  # it is one's own


@pytest.mark.parametrize("total", [7, 64])
def test_a_pool_of_results_from_a_journal_is_the_comparison(total: int) -> None:
    taking_part = read_specs(["dumb-terminal", "snapshot", "lerp"])
    runs = [
        Run(
            f"{number}",
            {
                name: movements.block(
                    movements.packets(movements.circle, 3.0 + number, entity=name)
                )
                for name in ("a", "b")
            },
        )
        for number in range(6)
    ]
    runs.append(Run("nothing", {"": movements.block(movements.packets(movements.circle, 0.0))}))
    spec = CompareSpec(taking_part, SCREEN_TIMING, total=total)
    direct, kept = Pool(spec), Pool(spec)
    for run in runs:
        found = compare_one(run, spec, Place(1))
        direct.add(run.name, found)
        kept.add(run.name, there_and_back(found))
    one, other = direct.combine_comparisons(), kept.combine_comparisons()
    assert replace(other, skipped=()) == replace(one, skipped=())
    assert other.advice == one.advice
    assert [str(skip.error) for skip in other.skipped] == [str(skip.error) for skip in one.skipped]
    assert len(one.skipped) == 1


def test_of_very_many_recordings_little_is_kept_and_the_figures_stay() -> None:
    """Sums added up part by part equal the sums over all recordings."""
    runs = [
        Run(f"{number}", {"": movements.block(movements.packets(path, 1.5 + number % 7 / 10))})
        for path in (movements.circle, movements.straight)
        for number in range(32)
    ]
    spec = CompareSpec(read_specs(["dumb-terminal", "lerp"]), SCREEN_TIMING, threads=1)
    few, many, scores = (
        Pool(replace(spec, total=total, each=each))
        for total, each in ((63, True), (64, True), (64, False))
    )
    for run in runs:
        few.add(run.name, compare_one(run, replace(spec, total=63)))
        found = compare_one(run, replace(spec, total=64))
        assert isinstance(found, Comparison)
        assert len(json.dumps(convert_to_json(found))) < 12_000 * len(found.results)
        many.add(run.name, found)
        scores.add(run.name, found)
    one, other, short = (
        few.combine_comparisons(),
        many.combine_comparisons(),
        scores.combine_comparisons(),
    )
    assert one.certainty == other.certainty
    assert [packet.values for packet in one.by_recording] == [
        packet.values for packet in other.by_recording
    ]
    for before, after in zip(one.results, other.results, strict=True):
        for name, value in before.values.items():
            near = 0.02 if name == "error95" else 1e-12
            assert after.value(name) == pytest.approx(value, rel=near, nan_ok=True), name
        assert after.interval("error") == pytest.approx(before.interval("error"), rel=0.02)
    assert short.results == other.results
    assert short.advice == other.advice._replace(worst=short.advice.worst)
    assert short.advice.worst is not None
    assert other.advice.worst is not None
    assert short.advice.worst.recording == other.advice.worst.recording


@pytest.mark.parametrize(
    "text",
    [
        '{"of": ["os:system", "true"]}',
        '{"of": ["epic_cli.metrics.evaluation:compare", 1]}',
        '{"of": ["epic_cli.metrics.lag:os", 1]}',
        '{"of": ["epic_cli.metrics.nothing:Lag", 1]}',
        '{"of": ["epic_cli.metrics.lag:Lag"]}',
        '{"of": []}',
        '{"array": ["O", [1], ""]}',
        '{"array": ["(1,2", [1], ""]}',
        '{"array": ["<f8", [2], "AAAA"]}',
        '{"enum": ["epic_cli.metrics.notes:Flaw", "NONE_SUCH"]}',
        '{"other": 1}',
        '{"tuple": [], "map": []}',
        "{}",
    ],
)
def test_what_is_no_value_is_refused(text: str) -> None:
    with pytest.raises(NotAValue):
        restore_from_json(json.loads(text))


def test_what_cannot_be_kept_is_refused() -> None:
    with pytest.raises(NotAValue, match="object"):
        convert_to_json((1, object()))
