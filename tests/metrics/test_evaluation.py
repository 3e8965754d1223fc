"""Tests of strategies with known errors on a known movement, against closed forms."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from support import movements
from support.comparisons import compared

from epic_cli import Packet
from epic_cli.engine.replay.playback import Timing
from epic_cli.engine.replay.strategy_spec import StrategySpec
from epic_cli.metrics.comparison import Comparison
from epic_cli.metrics.notes import ExclusionReason, Flaw, NothingJudged, NotJudged, ResultNote
from epic_cli.metrics.truth import make_truth
from epic_cli.show.scene import Selection


def candidate(name: str) -> StrategySpec:
    return StrategySpec(f"support.movements:{name}", label=name)


def run(*names: str, packets: dict[str, list[Packet]] | None = None, **given: Any) -> Comparison:
    recorded = packets or {"": movements.packets(movements.circle)}
    blocks = {name: movements.block(items) for name, items in recorded.items()}
    return compared(blocks, [candidate(name) for name in names], Timing(), **given)


def figures(name: str, **given: Any) -> SimpleNamespace:
    found = run(name, **given).results[0].values
    assert found
    return SimpleNamespace(**found)


@pytest.mark.parametrize(("apart", "lag"), [(0.0, 0.0), (900.0, -0.05), (-900.0, -0.05)])
def test_if_clocks_differ_the_fastest_packet_was_not_delayed(apart: float, lag: float) -> None:
    sent = movements.packets(movements.circle)
    packets = [
        packet._replace(time=packet.time - apart, arrival=packet.time + (0.05, 0.07)[k % 2])
        for k, packet in enumerate(sent)
    ]
    assert figures("Exact", packets={"": packets}).lag == pytest.approx(lag, abs=1e-3)


def test_what_a_strategy_raises_is_its_note() -> None:
    found = run("Raising", "Exact")
    assert not found.results[0].values
    note = found.results[0].note
    assert note is not None
    assert note.flaw is Flaw.FAILED
    assert "ZeroDivisionError: the strategy's own fault" in note.error
    assert "movements.py, line " in note.error
    assert [result.failed for result in found.results] == [True, False]
    assert found.results[1].values


def test_no_figures_without_rows() -> None:
    (result,) = run("Nothing").results
    assert not result.values
    assert math.isnan(result.value("score"))
    assert result.note == ResultNote(Flaw.NOTHING_DRAWN)


def test_no_figures_without_numbers() -> None:
    packets = movements.packets(movements.circle)
    packets[50] = packets[50]._replace(velocity=(math.nan, 0.0, 0.0))
    block = movements.block(packets)
    (result,) = compared({"": block}, [StrategySpec()], Timing()).results
    assert not result.values
    assert result.note is not None
    assert result.note.flaw is Flaw.NOT_FINITE
    assert result.note.rows == 1  # and the next packet is drawn again


def test_entities_that_cannot_be_judged_are_told_of() -> None:
    recorded = {
        "a": movements.packets(movements.circle, entity="a"),
        "b": movements.packets(movements.circle, entity="b")[:1],
    }
    found = run("Exact", packets=recorded)
    assert [result.entity for result in found.by_entity] == ["a"]
    assert found.notes[0] == NotJudged("b", ExclusionReason.TOO_FEW_STATES, states=1)


def test_entities_that_are_not_in_the_truth_are_told_of() -> None:
    truth = make_truth(movements.block(movements.packets(movements.circle)), "given")
    recorded = {name: movements.packets(movements.circle, entity=name) for name in "ab"}
    found = run("Exact", packets=recorded, truths={"a": truth})
    assert found.notes[0] == NotJudged("b", ExclusionReason.NOT_IN_TRUTH, known=("a",))


def test_a_truth_of_another_time_says_nothing() -> None:
    truth = movements.block(movements.packets(movements.circle, latency=None))
    with pytest.raises(NothingJudged, match="do not overlap") as caught:
        run("Exact", truths={"": make_truth(truth, "given", 1000.0)})
    (note,) = caught.value.notes
    assert note.reason is ExclusionReason.NO_OVERLAP
    assert note.truth == (1000.0, 1010.0)
    assert note.rows == pytest.approx((0.0, 10.15))


def test_a_warm_up_that_is_too_long_says_nothing() -> None:
    with pytest.raises(NothingJudged) as caught:
        run("Exact", warm_up=60.0)
    (note,) = caught.value.notes
    assert (note.reason, note.warm_up) == (ExclusionReason.WARM_UP, 60.0)


def test_the_largest_error_of_a_thinned_scene_is_that_of_the_figures() -> None:
    packets = movements.packets(movements.circle, duration=60.0)
    names = ("Late", "Jumping", "Sleepy")
    found = run(*names, packets={"": packets}, selection=Selection(60, -math.inf, math.inf))
    (scene,) = found.scenes
    for drawn, result in zip(scene.drawn, found.results, strict=True):
        assert len(drawn.times) < scene.rows
        assert np.nanmax(drawn.errors) == result.value("error_max")
        assert drawn.rms == pytest.approx(result.value("error"))
        assert drawn.histogram.counts.sum() == result.value("rows")


def test_no_line_of_a_scene_bridges_a_cut() -> None:
    packets = movements.packets(movements.circle)
    packets[100] = packets[100]._replace(teleport=True)
    (scene,) = run(
        "Exact", packets={"": packets}, selection=Selection(1000, -math.inf, math.inf)
    ).scenes
    unknown = scene.times[np.isnan(scene.truth[:, 0])]
    assert unknown[unknown <= 10].tolist() == [pytest.approx(5.0)]
    (one,) = scene.interruptions
    assert one.kind == "teleport"
    assert one.end == pytest.approx(5.0)


def test_lost_packets_are_known_by_their_numbers() -> None:
    packets = [
        one._replace(sequence=number)
        for number, one in enumerate(movements.packets(movements.circle))
    ]
    kept = [packet for packet in packets if packet.sequence not in (50, 51, 120)]
    everything = Selection(1000, -math.inf, math.inf)
    (scene,) = run("Exact", packets={"": kept}, selection=everything).scenes
    deliveries = scene.deliveries
    assert deliveries.numbered
    np.testing.assert_allclose(deliveries.lost_times, [2.5, 2.55, 6.0])
    np.testing.assert_allclose(
        deliveries.lost, [movements.circle(t) for t in deliveries.lost_times], atol=1e-3
    )
    plain = [kept_item._replace(sequence=None) for kept_item in kept]
    (scene,) = run("Exact", packets={"": plain}, selection=everything).scenes
    assert not scene.deliveries.numbered
    assert len(scene.deliveries.lost) == scene.deliveries.lost_count == 0
