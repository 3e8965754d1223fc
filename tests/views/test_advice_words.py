from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from support import comparisons

from epic_cli.analysis.certainty.ranking import Gap
from epic_cli.analysis.certainty.uncertainty import Certainty, Standing, Unit
from epic_cli.analysis.compare import Comparison, Result
from epic_cli.analysis.notes import Flaw, ResultNote
from epic_cli.analysis.weights import Weights
from epic_cli.views.advice_words import ranking
from epic_cli.views.comparison_words import certainty_words

LATE = comparisons.comparison("Late").results[0]
RUNS = Certainty(Unit.RUN, 20)


def fake(label: str, score: float, rank: int | None = None, gap: float = 0.0) -> Result:
    standing = Standing()
    if rank is not None:
        between = Gap(gap, gap - 2, gap + 2)
        standing = Standing({"score": (score - 1, score + 1)}, rank, between)
    values = {**LATE.values, "score": score, "latency_cost": 1.0}
    return Result(label, None, values, standing=standing)


def words(
    *results: Result, recordings: Sequence[Result] = (), resolution: float = 0.0
) -> list[str]:
    comparison = Comparison(
        Weights(),
        0.05,
        (1.0,),
        results=results,
        resolution=resolution,
        certainty=RUNS if results[0].rank else Certainty(Unit.NOTHING, 3),
        recordings=tuple(str(one.recording) for one in recordings),
        by_recording=tuple(recordings),
    )
    found = [one.text for one in ranking(comparison)]
    assert len(found) <= 5
    return found


def test_a_win_is_told_with_its_interval_and_the_next() -> None:
    found = words(fake("a", 50, 1), fake("b+x=1", 40, 2, 10))
    assert found[0] == (
        "Take a with its usual settings: it scores 50.0 of 100 (49.0 to 51.0), beyond doubt the"
        " most."
    )
    assert found[1] == "b+x=1 is behind, by 10.0 points (8.0 to 12.0)."
    assert found[2].startswith("It draws 100 ms late and is ")
    assert words(fake("b+x=1", 50, 1), fake("a", 40, 2, 10))[0].startswith("Take b+x=1: it ")


def test_a_tie_is_told_as_a_tie() -> None:
    found = words(fake("a", 50, 1), fake("b", 49, 1, 1), fake("c", 30, 3, 20))
    assert found[0].startswith("a and b cannot be told apart; a has the highest score, 50.0 of")
    assert found[1] == "c is the first that is surely behind, by 20.0 points (18.0 to 22.0)."
    assert found[-1] == "More seeds would tell more."
    many = words(*(fake(label, 50, 1) for label in "abcdef"))
    assert many[0].startswith("a, b, c and 3 others cannot be told apart")


def test_without_intervals_nobody_wins() -> None:
    found = words(fake("a", 50), fake("b", 40))
    assert found[0] == "Highest score: a, 50.0 of 100; how sure that is cannot be told."
    assert found[-1] == "Longer or more recordings would tell more."


def test_none_is_good_and_why() -> None:
    found = words(fake("a", 20, 1), fake("b", 10, 2, 10))
    assert found[0] == (
        "None of these is good here: even the best one draws 100 ms late. a scores 20.0 of 100"
        " (19.0 to 21.0)."
    )
    astray = replace(fake("a", 80, 1), notes=(ResultNote(Flaw.DIVERGED),))
    assert "each of them diverges" in words(astray)[0]
    # what diverges is not advised while there is something else
    assert words(astray, fake("b", 40, 2, 40))[0].startswith("b scores 40.0")


def test_the_worst_recording_is_named() -> None:
    recordings = [replace(fake("a", score), recording=f"{score}.csv") for score in (60, 30, 50)]
    found = words(fake("a", 50, 1), fake("b", 40, 2, 10), recordings=recordings)
    assert "Its worst of 3 recordings is 30.csv: it scores 30.0 there." in found


def test_no_recording_is_the_worst_where_all_are_equal() -> None:
    recordings = [replace(fake("a", 50.01), recording=f"{name}.csv") for name in "bc"]
    found = words(fake("a", 50, 1), fake("b", 40, 2, 10), recordings=recordings)
    assert not [one for one in found if "worst" in one]


def test_nothing_costs_what_is_perfect() -> None:
    perfect = fake("a", 99.99, 1)
    perfect = replace(perfect, values={**perfect.values, "error": 5e-7, "jumps": 0, "lag": 0})
    assert words(perfect, fake("b", 40, 2, 10), resolution=1e-6)[2] == (
        "It draws without lag and has no error."
    )


def test_no_words_without_figures() -> None:
    assert words(Result("a", None, notes=(ResultNote(Flaw.STOPPED),))) == []


def test_what_intervals_rest_on() -> None:
    told = {unit: certainty_words(Certainty(unit, 12, 0.5, 7), "networks") for unit in Unit}
    assert "of 12 networks;" in told[Unit.RUN]
    assert "of 12 blocks of 0.5 s;" in told[Unit.BLOCK]
    assert "of 12 blocks of 0.5 s and of 7 entities;" in told[Unit.BLOCK_AND_ENTITY]
    assert told[Unit.NOTHING].startswith("No intervals: 12 independent pieces of the data")
    assert told[Unit.RUN].startswith("Intervals: 95 %, ")
