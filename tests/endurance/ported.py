"""Random compositions with the parts of public code, written by ``epic code`` and drawn by it.

python -m endurance.ported [LANGUAGE ...] [--cases CASES] [--first CASE]

Each program is built, and draws what the strategy draws, as in ``tests/jobs/code``.
"""

from __future__ import annotations

import argparse
import random
import re
import tempfile
from pathlib import Path

import pytest
from jobs.code.test_languages import assert_programs_draw

from endurance.drawn import newer_buffer, newer_chase
from epic_cli.engine.replay.strategy_spec import StrategySpec
from epic_cli.jobs.code.command import LANGUAGES


def composition(seed: int, language: str) -> str:
    """Return a random composition.

    Godot's single precision cannot say which multiple is nearest, or whether a step is as long as
    a round threshold: nothing is rounded there, and no threshold is round.
    """
    dice = random.Random(f"ported {seed}")
    name, made = dice.choice([("buffer", newer_buffer), ("chase", newer_chase)])
    text = StrategySpec(name, made(dice)).label
    if language != "gdscript":
        return text
    text = re.sub(r"\+rounding=[\d.]+", "", text)
    return re.sub(r"(?<=snap=)[\d.]+", lambda number: f"{1.07 * float(number[0]):.6g}", text)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("languages", nargs="*", default=list(LANGUAGES))
    parser.add_argument("--cases", type=int, default=40)
    parser.add_argument("--first", type=int, default=0)
    given = parser.parse_args()
    failed = 0
    for language in given.languages:
        right = 0
        for seed in range(given.first, given.first + given.cases):
            strategy = composition(seed, language)
            with tempfile.TemporaryDirectory() as folder:
                try:
                    assert_programs_draw(language, [strategy], Path(folder))
                except pytest.skip.Exception as error:
                    print(f"{language}: skipped: {error}", flush=True)
                    break
                except AssertionError as error:
                    print(f"{language} {seed}: {strategy}: {str(error)[:400]}", flush=True)
                    failed += 1
                else:
                    right += 1
        print(f"{language}: {right} of {given.cases} equal", flush=True)
    raise SystemExit(failed > 0)


if __name__ == "__main__":
    main()
