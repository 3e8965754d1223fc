"""Many short recordings with rare events of every kind in some of them can be compared."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from support.recordings import EXHAUSTIVE
from support.running import epic

from epic_cli import Packet
from epic_cli.engine.packets import Entities, PacketBlock
from epic_cli.engine.replay.playback import SCREEN_TIMING
from epic_cli.engine.replay.strategy_spec import read_specs
from epic_cli.jobs.compare.report import explain_method, report
from epic_cli.jobs.tune.report import report as tuning_report
from epic_cli.jobs.tune.run import tune
from epic_cli.jobs.tune.spec import TuneSpec
from epic_cli.metrics.evaluation import CompareSpec, Pool, Run, RunResult, compare_one
from epic_cli.metrics.notes import NotEnoughToSay
from epic_cli.show.documents import write_markdown

RATE, SECONDS = 20, 6.0
STRATEGIES = read_specs(["lerp", "snapshot", "mirror", "dead-reckoning"])

States = list[Packet]
Dice = random.Random


def _plain(dice: Dice, turns: bool = False) -> States:
    phase = dice.uniform(0, 6)
    found = []
    for number in range(round(RATE * SECONDS)):
        time = number / RATE
        at = phase + 1.3 * time
        place = 5 * math.cos(at), 4 * math.sin(2 * at), 0.0
        speed = -6.5 * math.sin(at), 10.4 * math.cos(2 * at), 0.0
        half = at / 2
        rotation = (math.cos(half), 0.0, 0.0, math.sin(half)) if turns else None
        arrival = time + 0.05 + dice.expovariate(800)
        found.append(Packet(place, speed, time, arrival, sequence=number, rotation=rotation))
    return found


def _number(packet: Packet) -> int:
    assert packet.sequence is not None
    return packet.sequence


def _without(dice: Dice, *runs: tuple[int, int]) -> States:
    gone = {number for first, count in runs for number in range(first, first + count)}
    return [packet for packet in _plain(dice) if _number(packet) not in gone]


def _teleport(dice: Dice) -> States:
    at = dice.randrange(40, 80)
    return [
        packet._replace(position=(99.0, *packet.position[1:]), teleport=_number(packet) == at)
        if _number(packet) >= at
        else packet
        for packet in _plain(dice)
    ]


def _reset(dice: Dice) -> States:
    """Restart the sender's clock and sequence numbers."""
    return [
        packet._replace(time=packet.time - 3.0, sequence=_number(packet) - 60)
        if _number(packet) >= 60
        else packet
        for packet in _plain(dice)
    ]


def _rerouted(dice: Dice) -> States:
    return [
        packet._replace(arrival=(packet.arrival or 0.0) + 0.09 * (40 <= _number(packet) < 75))
        for packet in _plain(dice)
    ]


def _silent(dice: Dice) -> States:
    """Rest without sending: no sequence number is missing."""
    states = _plain(dice)
    rests = [states[40]._replace(time=3.0, arrival=3.05, velocity=(0.0, 0.0, 0.0))]
    left = [*states[:40], *rests, *states[60:]]
    return [packet._replace(sequence=number) for number, packet in enumerate(left)]


def _shuffled(dice: Dice) -> States:
    return [
        packet._replace(arrival=packet.time + 0.05 + dice.random() / 5) for packet in _plain(dice)
    ]


def _still(dice: Dice) -> States:
    first = _plain(dice)[0]
    return [
        packet._replace(position=first.position, velocity=(0.0, 0.0, 0.0))
        for packet in _plain(dice)
    ]


KINDS: dict[str, Callable[[Dice], States]] = {
    "plain": _plain,
    "a loss": lambda dice: _without(dice, (dice.randrange(30, 90), 1)),
    "losses": lambda dice: _without(dice, *((dice.randrange(30, 110), 1) for _ in range(6))),
    "a burst": lambda dice: _without(dice, (dice.randrange(30, 90), 4)),
    "bursts": lambda dice: _without(dice, *((at, dice.randrange(2, 4)) for at in (40, 60, 75, 95))),
    "an outage": lambda dice: _without(dice, (45, 30)),
    "teleport": _teleport,
    "reset": _reset,
    "another way": _rerouted,
    "silence": _silent,
    "turns": lambda dice: _plain(dice, turns=True),
    "reordered": _shuffled,
    "still": _still,
    "short": lambda dice: _plain(dice)[:30],
    "hardly any": lambda dice: _plain(dice)[:2],
    "no arrivals": lambda dice: [packet._replace(arrival=None) for packet in _plain(dice)],
}


@cache
def recording(kind: str, number: int = 0) -> dict[str, PacketBlock]:
    block = PacketBlock(Entities())
    states = KINDS[kind](Dice(f"{kind} {number}"))
    for packet in sorted(states, key=lambda one: one.time if one.arrival is None else one.arrival):
        block.append(packet)
    return {"": block}


@cache
def judged(kind: str, number: int, share: int) -> RunResult:
    """Return the result of one of about ``share`` recordings."""
    spec = CompareSpec(STRATEGIES, SCREEN_TIMING, total=share, threads=1)
    return compare_one(Run(kind, recording(kind, number)), spec)


def _mixtures(total: int) -> list[list[str]]:
    """Return lists of ``total`` kinds: all kinds mixed, one kind, one or two exceptions."""
    kinds = list(KINDS)
    few = [[*["plain"] * (total - 2), one, one] for one in kinds]
    alike = [[one] * total for one in kinds]
    every = [(kinds * total)[:total]]
    return every + few + alike[::4]


@pytest.mark.parametrize("total", [63, 64, 65, 200] if EXHAUSTIVE else [65])
def test_whatever_happened_in_some_of_many_recordings_they_are_compared(total: int) -> None:
    spec = CompareSpec(STRATEGIES, SCREEN_TIMING, total=total, threads=1)
    for kinds in _mixtures(total):
        pool = Pool(spec)
        for place, kind in enumerate(kinds):
            pool.add(f"{place}", judged(kind, place % 2, spec.share))
        try:
            found = pool.combine_comparisons()
        except NotEnoughToSay:  # every one is too short
            assert set(kinds) <= {"hardly any"}, kinds
            continue
        assert explain_method(found, found.results), kinds
        assert write_markdown(report(found)), kinds
        low, high = np.array([one.interval("score") for one in found.results]).T
        scores = np.array([one.value("score") for one in found.results])
        assert not (scores < low).any(), kinds
        assert not (scores > high).any(), kinds


def test_they_are_tuned_on() -> None:
    kinds = (list(KINDS) * 64)[:64]
    runs = [
        Run(kind, recording(kind)) for kind in kinds if kind not in ("hardly any", "no arrivals")
    ]
    compared = CompareSpec((), SCREEN_TIMING, threads=1)
    found = tune(
        TuneSpec(tuple(read_specs(["lerp"])), compared, trials=1, division="recording"), runs
    )
    assert write_markdown(tuning_report(found))


def test_a_report_that_fails_leaves_the_journal_and_names_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for number in range(3):
        rows = [
            f"{time * time},0,0 / {2 * time},0,0 / {time} arrival={time + 0.05}\n"
            for time in np.arange(number, number + 4, 0.05).tolist()
        ]
        Path(f"{number}.txt").write_text("".join(rows))
    told = ("compare", "-s", "lerp", "0.txt", "1.txt", "2.txt", "--journal", "j")
    failed = epic(*told, "--html", "no/such/folder/page.html")
    assert failed.returncode == 3
    assert b"j has the results so far" in failed.stderr
    again = epic(*told)
    assert b"3 results in j, 2 of them known before" in again.stderr
    assert b"so far" not in again.stderr
