"""Every figure in the words of pictures, by an own computation from what they show."""

from __future__ import annotations

import re
from collections import Counter
from functools import cache

import numpy as np
import pytest
from support import comparisons, movements

from epic_cli.engine.contract import STATUSES
from epic_cli.engine.replay.playback import Timing
from epic_cli.engine.replay.strategy_spec import StrategySpec
from epic_cli.show.scene import Scene, StrategyTrace, describe_scene, make_histogram

NAMES = ("snapshot", "epic", "dumb-terminal")


@cache
def make_scene(seed: int) -> Scene:
    """Return a scene of a circle with late, lost and silent packets."""
    dice = np.random.default_rng(seed)
    packets = [
        one._replace(time=one.time, arrival=one.time + dice.exponential(0.06), sequence=number)
        for number, one in enumerate(movements.packets(movements.circle, rate=15))
        if dice.random() > 0.06 and not 3 < one.time < 3.8
    ]
    taking_part = [StrategySpec(name, label=name) for name in NAMES]
    made = comparisons.compared(
        {"": movements.block(packets)},
        taking_part,
        Timing(),
        selection=comparisons.EVERYTHING,
        threads=1,
    )
    scene: Scene = made.scenes[0]
    return scene


scenes = pytest.mark.parametrize("seed", range(4))


def sentence(text: str, label: str) -> str:
    """Return what a picture's words say of one strategy."""
    return re.split(r"\. (?=\S+: |$)|\.$", f"{text} ".partition(f" {label}: ")[2])[0]


def numbers(text: str) -> list[float]:
    return [float(one.replace(",", "")) for one in re.findall(r"-?\d[\d,]*\.?\d*", text)]


@scenes
def test_what_each_strategy_drew(seed: int) -> None:
    scene = make_scene(seed)
    words = describe_scene(scene, NAMES)
    for one in scene.drawn:
        row = int(np.nanargmax(one.errors))
        assert numbers(sentence(words["above"], one.label)) == [round(one.times[row], 2)]
        worst, at = numbers(sentence(words["error"], one.label))
        assert worst == pytest.approx(np.nanmax(one.errors), rel=6e-3)
        assert at == round(one.times[row], 2)
        known = 1000 * one.lag.seconds[np.isfinite(one.lag.seconds)]
        assert numbers(sentence(words["lag"], one.label)) == [
            round(float(value)) for value in (known.min(), known.max(), np.median(known))
        ]
        lasted: Counter[str] = Counter()
        ends = [*one.run_times[1:], one.times[-1]]
        for begin, end, status in zip(one.run_times, ends, one.run_statuses.tolist(), strict=True):
            lasted[STATUSES[status]] += end - begin
        told = re.findall(r"(\d+)% (\w+)", sentence(words["status"], one.label))
        assert {word: int(share) for share, word in told} == {
            word: round(100 * time / lasted.total()) for word, time in lasted.items() if time > 0
        }


@scenes
def test_half_and_nearly_all_rows_are_below_what_is_said(seed: int) -> None:
    scene = make_scene(seed)
    words = describe_scene(scene, NAMES)["histogram"]
    for one in scene.drawn:
        known = np.sort(one.errors[np.isfinite(one.errors)])
        half, most = numbers(sentence(words, one.label).replace("95 %", ""))
        for share, told in ((0.5, half), (0.95, most)):
            assert np.mean(known < told * 1.01) >= share
            assert np.mean(known < told / 1.35) < share  # a bar of the histogram is narrower


@scenes
def test_the_packets_and_the_network(seed: int) -> None:
    scene = make_scene(seed)
    words, came = describe_scene(scene, NAMES)["packets"], scene.deliveries
    count, first, last, interval = numbers(words.partition(";")[0])
    assert (count, first, last) == (len(came.sent), round(came.sent[0], 2), round(came.sent[-1], 2))
    assert interval == pytest.approx(1000 * np.median(np.diff(came.sent)), rel=6e-3)
    delays = 1000 * (came.arrivals - came.sent)
    middle, part, low, high, lost, share = numbers(words.partition("latency")[2].split(". I")[0])
    assert part == 90
    for told, quantile in ((low, 0.05), (middle, 0.5), (high, 0.95)):
        assert told == pytest.approx(np.quantile(delays, quantile), rel=6e-3)
    assert share == pytest.approx(100 * lost / (lost + count), abs=0.06)
    for one in scene.interruptions:
        assert f"{one.kind} at {one.start:.2f} s" in words


@pytest.mark.parametrize("drawn", [0, 1])
def test_where_nothing_counts_it_says_so(drawn: int) -> None:
    nothing = np.full(3, np.nan)
    one: StrategyTrace = make_scene(0).drawn[drawn]
    empty = one._replace(errors=nothing, histogram=make_histogram(nothing))
    words = describe_scene(make_scene(0)._replace(drawn=(empty,)), [one.label])
    assert sentence(words["histogram"], one.label) == "no row counts"
    assert sentence(words["error"], one.label) == "no row counts"
    assert sentence(words["above"], one.label) == "nothing that counts"
