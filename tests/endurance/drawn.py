"""How well ``epic diagnose --drawn`` names one setting of any strategy, changed at random.

python -m endurance.drawn [--cases CASES] [--first CASE]
"""

from __future__ import annotations

import argparse
from multiprocessing import Pool
from typing import NamedTuple

import numpy as np

from endurance.field import clean, packets, scene_of
from epic_cli.engine.packets import PacketBlock
from epic_cli.engine.parameters import Number
from epic_cli.engine.replay.strategy_spec import StrategySpec, read_specs
from epic_cli.engine.strategies import declaration
from epic_cli.jobs.diagnose.drawn import Redraw, match
from epic_cli.metrics.drawn_path import DrawnPath


class Outcome(NamedTuple):
    """Whether it is ``right`` (or draws the same rows), or has an alarm; what was, what is told."""

    strategy: str
    right: bool
    alarm: bool
    words: str


def recording(seed: int) -> PacketBlock:
    """Fourteen seconds of somebody else's traffic."""
    random = np.random.default_rng([seed, 3])
    rate = float(random.choice([20, 30]))
    block = PacketBlock()
    for packet in packets(clean(scene_of(seed, rate, 0, random.uniform(0, 0.02), int(14 * rate)))):
        block.append(packet)
    return block


def settings() -> list[tuple[str, Number]]:
    """Every setting worth tuning."""
    return [
        (spec.name, setting)
        for spec in read_specs()
        for setting in declaration(spec.name).settings
        if isinstance(setting, Number) and setting.tune is not None
    ]


def outcome(seed: int) -> Outcome:
    """One setting that changes rows, drawn at 30, 60 or 144 Hz and rounded to 1e-4."""
    random, block, every = np.random.default_rng([seed, 5]), recording(seed), settings()
    redraw, rate = Redraw(block), float(random.choice([30, 60, 144]))
    times = np.arange(1.2, 13.0, 1 / rate) + 0.004
    while True:
        name, setting = every[int(random.integers(len(every)))]
        low, high = setting.tune or (0.0, 1.0)
        log = setting.scale == "log"
        value = float(np.exp(random.uniform(*np.log((low, high)))) if log else 0.0)
        value = value if log else float(random.uniform(low, high))
        value = float(round(value)) if setting.whole else float(f"{value:.3g}")
        own = redraw.draw(StrategySpec(name, {setting.name: value}), times)
        usual = redraw.draw(StrategySpec(name), times)
        shown = np.isfinite(own).all(axis=1)
        apart = np.linalg.norm(own - usual, axis=1)[shown]
        if shown.sum() > 200 and not np.sqrt(np.square(apart).mean()) < 2e-4:
            break
    found = match({"": block}, {"": DrawnPath(times[shown], np.round(own[shown], 4), 5e-5)})
    best = found.best
    told = best.candidate.settings.get(setting.name)
    near = isinstance(told, (int, float)) and abs(told - value) <= 0.02 * abs(value)
    same = best.residual < 1.25e-4 and not best.constant
    words = f"case {seed}: {name}+{setting.name}={value:g} at {rate:g} Hz: {best.candidate.label}"
    words += f", {best.shift:.3g} s later, low-pass {best.constant:.3g} s, left {found.off:.2g}"
    right = (near and best.candidate.name == name) or same
    return Outcome(name, right, found.smoothed or bool(found.tick), words)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=500)
    parser.add_argument("--first", type=int, default=0)
    given = parser.parse_args()
    right = alarms = 0
    tally: dict[str, list[bool]] = {}
    with Pool(2) as pool:
        for case in pool.imap(outcome, range(given.first, given.first + given.cases)):
            right, alarms = right + case.right, alarms + case.alarm
            tally.setdefault(case.strategy, []).append(case.right)
            if case.alarm or not case.right:
                print(case.words, "(smoothing, or ticks)" * case.alarm, flush=True)
    print(", ".join(f"{name} {sum(hits)} of {len(hits)}" for name, hits in sorted(tally.items())))
    print(f"{right} of {given.cases} right; a second smoothing, or ticks, in {alarms}")
    raise SystemExit(alarms > 0 or right < 0.95 * given.cases)
