"""The gain from tuning on untuned data: sample recordings and simulated movements.

    python -m endurance.tuning          (in tests/; several minutes)
    python -m endurance.tuning fresh 20 [STRATEGY,...]

Every strategy is tuned on the first half of each recording and judged on the second, before and
after. Prints a table (``tests/studies/tuning.csv``): the gain in points of score with its paired
95 % interval; a star where it is clearly one, an exclamation mark where it is clearly a loss.

``fresh N`` asks whether that is so: it tunes on N recordings of a generator that shares nothing
with ``epic simulate`` (``bursty.py``), and judges what was found on twelve others of the same kind.
Prints how often the interval contains the mean of these, and how often a clear gain is none.
"""

from __future__ import annotations

import datetime
import math
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from endurance.bursty import FINE, MOVEMENTS, RATE, Recorded, bursts, independent
from epic_cli import Tuning, tune
from epic_cli.engine.replay.playback import SCREEN_TIMING
from epic_cli.engine.replay.strategy_spec import StrategySpec, read_specs
from epic_cli.jobs.tune.run import GainKind
from epic_cli.jobs.tune.run import tune as tune_runs
from epic_cli.jobs.tune.spec import TuneSpec
from epic_cli.main import main as epic
from epic_cli.metrics.evaluation import CompareSpec, Run, evaluate, prepare

SAMPLES = Path(__file__).parents[2] / "sample_inputs"

#: For each strategy; with more of them the gains are a little larger.
TRIALS = 100

LINK = ["--latency", "80ms", "--jitter", "30ms", "--loss", "2%"]
BAD = ["--latency", "120ms", "--jitter", "50ms", "--link", "distribution=gamma", "--loss", "8%"]

#: What is sent over a network, by the name of the column.
SENT = {
    "strafe": ["--movement", "strafe,duration=40", *LINK],
    "figure-eight": ["--movement", "figure-eight,duration=40", *LINK],
    "teleport": ["--movement", "teleport,duration=40", *LINK],
    "strafe, 10 Hz, bad": [
        "--movement", "strafe,duration=40", *BAD, "--send", "10hz",
    ],
    "airliner": ["--movement", f"truth={SAMPLES / 'airliner.csv'}", *BAD],
}  # fmt: skip


def recordings(folder: Path) -> Iterator[tuple[str, Path, Path | None]]:
    """Yield each recording with its name and its truth."""
    yield "jitter.txt", SAMPLES / "jitter.txt", None
    for number, (name, words) in enumerate(SENT.items()):
        path, truth = folder / f"{number}.txt", folder / f"{number}.csv"
        told = ["simulate", *words, "--seed", "1", "-o", str(path), "--truth-out", str(truth)]
        if epic(told):
            raise SystemExit(f"cannot simulate {name}")
        yield name, path, truth


def cell(one: Tuning) -> str:
    """Return the gain, its certainty, and whether it is a gain."""
    found = one.evaluation
    if found.kind is GainKind.SAME:
        return "0"
    if math.isnan(found.gain):
        return "-"
    between = "" if math.isnan(found.low) else f" ({found.low:.1f} to {found.high:.1f})"
    star = {GainKind.BETTER: " *", GainKind.WORSE: " !"}.get(found.kind, "")
    return f"{found.gain:+.1f}{between}{star}"


def main() -> None:
    """Tune, judge the results, and print the table."""
    rows: dict[str, list[str]] = {}
    heads, best = [], []
    with tempfile.TemporaryDirectory() as folder:
        for name, path, truth in recordings(Path(folder)):
            found = tune(path, truth=truth, trials=TRIALS)
            heads.append(name)
            for tuning in found.tunings:
                rows.setdefault(tuning.strategy, []).append(cell(tuning))
            by_default = max(
                found.tunings, key=lambda one: _score(one.evaluation.default.value("score"))
            )
            tuned = max(found.tunings, key=lambda one: _score(one.evaluation.tuned.value("score")))
            best.append((name, by_default, tuned))
    print(f"{datetime.datetime.now(datetime.UTC):%d %B %Y}\n")
    print(f"| strategy | {' | '.join(heads)} |")
    print(f"| :--- |{' ---: |' * len(heads)}")
    for strategy, cells in rows.items():
        print(f"| {strategy} | {' | '.join(cells)} |")
    print("\n| recording | best by default | best when tuned |")
    print("| :--- | :--- | :--- |")
    for name, default, tuned in best:
        before = default.evaluation.default.value("score")
        after = tuned.evaluation.tuned.value("score")
        words = tuned.evaluation.tuned.label
        print(f"| {name} | {default.strategy}: {before:.1f} | `{words}`: {after:.1f} |")


#: Those whose gains were once claimed and not there, and others that buffer; trials of each.
BUFFERS = "mirror,snapshot,geckos,james-frowen,source,unity-ngo"
FEW_TRIALS, OTHERS = 60, 12


def fresh(movement: str, lossy: str, number: int) -> Run:
    """Return 40 s over 80 ms with 30 ms of jitter, 2 % lost one by one or three in a row."""
    random = np.random.default_rng([number, list(MOVEMENTS).index(movement), len(lossy)])
    speeds = MOVEMENTS[movement](42.0, random)
    sent = np.arange(40 * RATE) / RATE
    lost = bursts(len(sent), random, 0.02, 3) if lossy else independent(len(sent), random, 0.02)
    arrivals = sent + np.maximum(0.08 + random.normal(0, 0.03, len(sent)), 0.001)
    numbers = np.flatnonzero(~lost)
    numbers = numbers[np.argsort(arrivals[numbers], kind="stable")]
    times, places = np.arange(len(speeds)) / FINE, np.cumsum(speeds, axis=0) / FINE
    return Recorded(times, places, speeds, numbers, arrivals[numbers]).run(str(number))


def claims(recordings: int, names: str) -> None:
    """Tune on some recordings, judge on others, and print how often the claimed gains are real."""
    spec = CompareSpec((), SCREEN_TIMING, threads=1)
    print("| strategy | movement | losses | claimed | seen | within | better | of these none |")
    print("| :--- | :--- | :--- | ---: | ---: | ---: | ---: | ---: |")
    for movement in MOVEMENTS:
        for lossy in ("", "bursts of 3"):
            others = [
                prepare(fresh(movement, lossy, 1000 + index), spec) for index in range(OTHERS)
            ]
            rows: dict[str, list[tuple[float, float, float, float, bool]]] = {}
            for number in range(recordings):
                wanted = TuneSpec(tuple(read_specs(names.split(","))), spec, trials=FEW_TRIALS)
                for tuning in tune_runs(wanted, [fresh(movement, lossy, number)]).tunings:
                    found = tuning.evaluation
                    if found.kind is GainKind.SAME or math.isnan(found.low):
                        continue
                    before, after = (
                        [evaluate(other, who, spec.weights).value("score") for other in others]
                        for who in (
                            StrategySpec(tuning.strategy),
                            StrategySpec(tuning.strategy, tuning.settings),
                        )
                    )
                    seen = float(np.mean(after) - np.mean(before))
                    kind = found.kind is GainKind.BETTER
                    rows.setdefault(tuning.strategy, []).append(
                        (found.gain, found.low, found.high, seen, kind)
                    )
            for name, several in rows.items():
                claimed, low, high, there, kinds = map(np.array, zip(*several, strict=True))
                within = np.mean((low <= there) & (there <= high))
                better = kinds.astype(bool)
                none = np.mean(there[better] <= 0) if better.any() else math.nan
                print(
                    f"| {name} | {movement} | {lossy or 'single'} | {claimed.mean():.1f} |"
                    f" {there.mean():.1f} | {within:.0%} of {len(several)} | {better.mean():.0%} |"
                    f" {none:.0%} |",
                    flush=True,
                )


def _score(value: float) -> float:
    return -math.inf if math.isnan(value) else value


def _run(arguments: Sequence[str]) -> None:
    if arguments[:1] == ["fresh"]:
        claims(int(arguments[1]), arguments[2] if len(arguments) > 2 else BUFFERS)
    else:
        main()


if __name__ == "__main__":
    _run(sys.argv[1:])
