"""Strategies without code name a composition that draws the same rows."""

import io

import pytest

from epic_cli import read_packets, replay, strategy
from epic_cli.engine.replay.strategy_spec import read_spec
from epic_cli.jobs.check.streams import make_builtin_streams
from epic_cli.jobs.code.spec import find_equivalent, strategies


def rows(label: str, text: bytes) -> list[tuple[float, tuple[float, ...]]]:
    spec = read_spec(label)
    drawn = replay(read_packets(io.BytesIO(text)), strategy(spec.name, **spec.settings))
    return [(sample.time, sample.position) for sample in drawn]


@pytest.mark.parametrize("label", ["lerp", "lerp+lerp_time=0.25", "snapshot"])
def test_an_equivalent_draws_the_same(label: str) -> None:
    composition = find_equivalent(read_spec(label))
    assert composition.partition("+")[0] in strategies()
    for stream in make_builtin_streams():
        assert rows(label, stream.text) == rows(composition, stream.text), stream.name


def test_settings_without_an_equivalent_have_none() -> None:
    assert find_equivalent(read_spec("snapshot+step=0.05")) == ""
    assert find_equivalent(read_spec("mirror")) == ""
