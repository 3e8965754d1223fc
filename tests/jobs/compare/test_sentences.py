from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from support import comparisons

from epic_cli.jobs.compare.report import describe_certainty, explain_method, write_verdict
from epic_cli.metrics.certainty import Certainty, Gap, Standing, Unit
from epic_cli.metrics.comparison import Comparison, Result
from epic_cli.metrics.metric import GAMES, Weights
from epic_cli.metrics.notes import Flaw, ResultNote

LATE = comparisons.comparison("Late").results[0]
RUNS = Certainty(Unit.RUN, 20)


def fake(label: str, score: float, rank: int | None = None, gap: float = 0.0) -> Result:
    standing = Standing()
    if rank is not None:
        between = Gap(gap, gap - 2, gap + 2)
        standing = Standing({"score": (score - 1, score + 1)}, rank, between)
    values = {**LATE.values, "score": score, "latency_cost": 1.0}
    values["overshoot_rms"] = float(sum(map(ord, label)))  # no two draw the same
    return Result(label, None, values, standing=standing)


def told(
    *results: Result,
    recordings: Sequence[Result] = (),
    resolution: float = 0.0,
    rows: int = 10_000,
    weights: Weights | None = None,
) -> list[str]:
    comparison = Comparison(
        weights or Weights(),
        0.05,
        (1.0,),
        rows,
        results=results,
        resolution=resolution,
        certainty=RUNS if results[0].rank else Certainty(Unit.NOTHING, 3),
        recordings=tuple(str(recording.recording) for recording in recordings),
        by_recording=tuple(recordings),
    )
    return write_verdict(comparison)


ASTRAY = replace(fake("a", 80, 1), notes=(ResultNote(Flaw.DIVERGED),))
PERFECT = fake("a", 99.99, 1)
PERFECT = replace(PERFECT, values={**PERFECT.values, "error": 5e-7, "jumps": 0, "lag": 0})


def recordings(*scores: float) -> list[Result]:
    return [replace(fake("a", score), recording=f"{score:g}.csv") for score in scores]


CASES = {
    "a win": told(fake("a", 50, 1), fake("b+x=1", 40, 2, 10)),
    "from little data": told(fake("a", 50, 1), fake("b", 40, 2, 10), rows=80),
    "a tie": told(fake("a", 50, 1), fake("b", 49, 1, 1), fake("c", 30, 3, 20)),
    "many tie": told(*(fake(label, 50, 1) for label in "abcdef")),
    "without intervals": told(fake("a", 50), fake("b", 40)),
    "none is good": told(fake("a", 20, 1), fake("b", 10, 2, 10)),
    "all diverge": told(ASTRAY),
    "what diverges is not advised": told(ASTRAY, fake("b", 40, 2, 40)),
    "the worst recording": told(
        fake("a", 50, 1), fake("b", 40, 2, 10), recordings=recordings(60, 30, 50)
    ),
    "no recording is the worst where all are equal": told(
        fake("a", 50, 1), fake("b", 40, 2, 10), recordings=recordings(50.01, 50.01)
    ),
    "nothing costs what is perfect": told(PERFECT, fake("b", 40, 2, 10), resolution=1e-6),
    "no figures": told(Result("a", None, notes=(ResultNote(Flaw.STOPPED),))),
}


def test_verdicts(words: Callable[[str, str], None]) -> None:
    lines = [f"{name}:\n" + "".join(f"  {word}\n" for word in said) for name, said in CASES.items()]
    words("comparison-verdicts", "\n".join(lines))


def test_the_verdict_names_who_it_is_about() -> None:
    assert "a" in CASES["a win"][0].split()
    assert "b+x=1" in CASES["a win"][1]
    assert {"a,", "b."} <= set(CASES["a tie"][0].split())
    assert "30.csv" in "".join(CASES["the worst recording"])
    assert ".csv" not in "".join(CASES["no recording is the worst where all are equal"])
    assert CASES["no figures"] == []


def test_the_verdict_names_the_game_that_it_is_scored_for() -> None:
    results = fake("a", 50, 1), fake("b", 40, 2, 10)
    assert "--weights" in told(*results)[-1]
    for game in GAMES:
        last = told(*results, weights=game.weights)[-1]
        assert [other for other in GAMES if other.name in last] == [game]
        changed = told(*results, weights=game.weights._replace(accuracy=7.5))[-1]
        assert not any(other.name in changed for other in GAMES)


def test_what_it_rests_on(words: Callable[[str, str], None]) -> None:
    comparisons_of = [
        Comparison(Weights(), 0.05, (1.0,), origin="given"),
        Comparison(Weights(), 0.05, (0.5, 0.11, 1.0)),
        Comparison(Weights(), 0.05, (0.5, 0.5)),
    ]
    lines = [line for comparison in comparisons_of for line in explain_method(comparison, ())]
    lines += [describe_certainty(Certainty(unit, 12, 0.5, 7), "networks") for unit in Unit]
    words("comparison-method", "".join(f"{line}\n" for line in lines))
