"""Tests of arrays kept in memory or in a file, and of entities that are prepared again."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from epic_cli.engine.contract import Packet
from epic_cli.engine.replay.playback import Timing
from epic_cli.engine.replay.strategy_spec import read_specs
from epic_cli.metrics import evaluation
from epic_cli.metrics.evaluation import CompareSpec, Run, compare, group_by_entity, prepare
from epic_cli.metrics.spool import ArraySpool, SpooledArray
from epic_cli.work.journal import convert_to_json, restore_from_json


def test_arrays_beyond_the_memory_come_back_from_the_file() -> None:
    arrays = [np.random.default_rng(size).random((size, 3)) for size in (4, 9, 1, 30)]
    spool = ArraySpool(most=4 * 3 * 8)
    kept = [spool.keep(array) for array in arrays]
    assert kept[0] is arrays[0]
    assert all(isinstance(each, SpooledArray) for each in kept[1:])
    for array, each in zip(arrays, kept, strict=True):
        assert len(each) == len(array)
        np.testing.assert_array_equal(np.asarray(each), array)
        np.testing.assert_array_equal(pickle.loads(pickle.dumps(each)), array)
        np.testing.assert_array_equal(restore_from_json(convert_to_json(each)), array)
    assert spool.keep(None) is None


@given(st.lists(st.integers(0, 40), max_size=30), st.integers(0, 400))
def test_no_more_is_held_than_was_allowed(sizes: list[int], most: int) -> None:
    spool = ArraySpool(most=most)
    kept = [spool.keep(np.full(size, float(size))) for size in sizes]
    held = [each for each in kept if isinstance(each, np.ndarray)]
    assert sum(each.nbytes for each in held) <= most
    assert [len(each) for each in kept] == sizes


def make_run(entities: int) -> Run:
    """Return a run of entities on circles, each at its own speed, with a silence in each."""
    packets = []
    for k in range(240):
        for one in range(entities):
            time, turn = k * 0.05, (1 + 0.3 * one) * k * 0.05
            if 100 + one <= k < 130:
                continue
            position = (5 * np.cos(turn), 5 * np.sin(turn), float(one))
            packets.append(
                Packet(position=position, time=time, arrival=time + 0.06, entity=f"e{one}")
            )
    return Run("", group_by_entity(packets))


def test_entities_that_are_not_held_give_the_same_comparison(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    spec = CompareSpec(read_specs(["epic", "snapshot"]), Timing(tick=(1, 60)), threads=2)
    held = compare([make_run(7)], spec)
    assert len(prepare(make_run(7), spec).entities.judged) == 7
    monkeypatch.setattr(evaluation.prepare, "__defaults__", (0,))
    monkeypatch.setattr(ArraySpool.__init__, "__defaults__", (0,))
    judged = prepare(make_run(7), spec).entities.judged
    assert judged[3] is not judged[3]  # made again, each time
    assert judged[3].name == "e3"
    again = compare([make_run(7)], spec)
    assert again == held
    sums = again.by_entity[5].measured
    assert sums is not None
    assert isinstance(sums.sums, SpooledArray)
    np.testing.assert_array_equal(np.asarray(sums.sums), held.by_entity[5].measured.sums)
