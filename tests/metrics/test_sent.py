"""Tests of the metrics of sent data, and of the separate stream for each judged strategy."""

from __future__ import annotations

import pytest

from epic_cli.engine.replay.playback import SCREEN_TIMING
from epic_cli.engine.replay.strategy_spec import StrategySpec, read_specs
from epic_cli.metrics.comparison import Comparison
from epic_cli.metrics.evaluation import CompareSpec, compare, compare_run, iterate_simulated_runs
from epic_cli.network.link import LinkConditions
from epic_cli.network.link_spec import LinkSpec
from epic_cli.network.movement_spec import MovementSpec
from epic_cli.network.sender import SenderSpec
from epic_cli.network.simulation import SimulationSpec


def compared(
    send: str, strategies: str, *, movement: str = "strafe,duration=30", seeds: int = 3
) -> Comparison:
    link = LinkSpec.from_description(LinkConditions(latency=0.05, jitter=0.01, loss=0.02))
    spec = SimulationSpec(MovementSpec.parse(movement), SenderSpec.parse(send), link)
    found = CompareSpec(
        read_specs(strategies.split(",")), SCREEN_TIMING, total=seeds, runs_are="networks"
    )
    return compare(iterate_simulated_runs(spec.open(), range(seeds)), found)


def test_a_fixed_rate_costs_what_can_be_worked_out() -> None:
    """20 states a second take 3 x 16 + 3 x 32 bits, flags, number and base; 36 bytes of headers."""
    (result,) = compared("20hz,bits=16", "snapshot").results
    bits = 8 + 8 + 1 + 4 + 48 + 96
    assert result.value("updates") == pytest.approx(20, rel=0.01)
    assert result.value("update_bits") == pytest.approx(bits)
    datagram = 28 + (16 + 8 + 8 + 32 + 8 + bits + 7) // 8
    assert result.value("bytes") == pytest.approx(20 * datagram, rel=0.01)
    low, high = result.interval("bytes")
    assert low <= result.value("bytes") <= high


def test_each_strategy_gets_what_a_sender_with_its_copy_sends() -> None:
    """Strategies judged together get the streams that each gets alone."""
    names = ["dead-reckoning", "epic", "kalman"]
    movement = "strafe,duration=10"
    together = compared("60hz,threshold=0.2,against=judged", ",".join(names), movement=movement)
    for name, result in zip(names, together.results, strict=True):
        alone = compared(f"60hz,threshold=0.2,against={name}", name, movement=movement).results[0]
        assert dict(alone.values) == pytest.approx(dict(result.values), nan_ok=True)
    sent = [result.value("updates") for result in together.results]
    assert len(set(sent)) == 3


def test_one_network_is_drawn_again_for_a_strategy() -> None:
    spec = SimulationSpec(
        MovementSpec.parse("circle,duration=10"),
        SenderSpec.parse("60hz,threshold=0.1,against=judged"),
    )
    (run,) = iterate_simulated_runs(spec.open(), [4])
    assert run.again is not None
    own = run.again(StrategySpec("dead-reckoning"))
    assert sum(map(len, own.packets.values())) < sum(map(len, run.packets.values()))
    found = compare_run(run, CompareSpec(read_specs(["dead-reckoning"]), SCREEN_TIMING))
    assert found.results[0].value("error") == pytest.approx(0.05, abs=0.05)
