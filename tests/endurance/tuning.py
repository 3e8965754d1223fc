"""What tuning gains where it was not tuned: sample recordings and simulated movements.

    python -m endurance.tuning          (in tests/; several minutes)

Every strategy is tuned on the first half of each recording and judged on the second, before and
after. Prints a table for the guide of the analysis: the gain in points of score with its 95 %
interval, paired; a star where it is one beyond doubt, a minus where it is a loss beyond doubt.
"""

from __future__ import annotations

import datetime
import math
import tempfile
from collections.abc import Iterator
from pathlib import Path

from epic_cli import Tuning, tune
from epic_cli.analysis.tuning.result import GainKind
from epic_cli.ui.main import main as epic

SAMPLES = Path(__file__).parents[2] / "sample_inputs"

#: For each strategy; with more of them the gains are a little larger.
TRIALS = 100

LINK = ["--latency", "80ms", "--jitter", "30ms", "--loss", "2%", "--duration", "40"]
BAD = ["--latency", "120ms", "--jitter", "50ms", "--distribution", "gamma", "--loss", "8%"]

#: What is sent over a network, by the name of the column.
SENT = {
    "strafe": ["--path", "strafe", *LINK],
    "figure-eight": ["--path", "figure-eight", *LINK],
    "teleport": ["--path", "teleport", *LINK],
    "strafe, 10 Hz, bad": [
        "--path", "strafe", *BAD, "--send-rate", "10", "--duration", "40",
    ],
    "airliner": ["--truth", str(SAMPLES / "airliner.csv"), *BAD],
}  # fmt: skip


def recordings(folder: Path) -> Iterator[tuple[str, Path, Path | None]]:
    """Each with its name and its truth."""
    yield "jitter.txt", SAMPLES / "jitter.txt", None
    for number, (name, words) in enumerate(SENT.items()):
        path, truth = folder / f"{number}.txt", folder / f"{number}.csv"
        told = ["simulate", *words, "--seed", "1", "-o", str(path), "--truth-out", str(truth)]
        if epic(told):
            raise SystemExit(f"cannot simulate {name}")
        yield name, path, truth


def cell(one: Tuning) -> str:
    """The gain, how sure it is, and whether it is one."""
    found = one.evaluation
    if found.kind is GainKind.SAME:
        return "0"
    if math.isnan(found.gain):
        return "-"
    between = "" if math.isnan(found.low) else f" ({found.low:.1f} to {found.high:.1f})"
    star = {GainKind.BETTER: " *", GainKind.WORSE: " !"}.get(found.kind, "")
    return f"{found.gain:+.1f}{between}{star}"


def main() -> None:
    """Tunes, judges, prints."""
    rows: dict[str, list[str]] = {}
    heads, best = [], []
    with tempfile.TemporaryDirectory() as folder:
        for name, path, truth in recordings(Path(folder)):
            found = tune(path, truth=truth, trials=TRIALS)
            heads.append(name)
            for one in found.tunings:
                rows.setdefault(one.strategy, []).append(cell(one))
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


def _score(value: float) -> float:
    return -math.inf if math.isnan(value) else value


if __name__ == "__main__":
    main()
