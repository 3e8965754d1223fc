from __future__ import annotations

import pytest

from epic_cli.analysis.compare import Comparison
from epic_cli.analysis.notes import (
    Adjusted,
    AllAlike,
    Cut,
    CutOut,
    Flaw,
    LeftOut,
    Note,
    NothingJudged,
    NotJudged,
    ResultNote,
    StatesLeftOut,
    TooFewStates,
    Unjudged,
    Unusable,
    VelocitiesReplaced,
)
from epic_cli.analysis.weights import Weights
from epic_cli.views.comparison_words import (
    not_enough_words,
    note_words,
    result_words,
    story,
)

ROWS, TRUTH = (0.0, 5.05), (100.0, 104.9)


@pytest.mark.parametrize(
    ("note", "words"),
    [
        (
            Adjusted("", StatesLeftOut(1, LeftOut.SAME_TIME)),
            "1 state left out: a later one has the same time",
        ),
        (Adjusted("a", StatesLeftOut(2, LeftOut.NOT_FINITE)), "a: 2 states left out: not finite"),
        (Adjusted("", CutOut(1, Cut.MARKED_TELEPORT, 0.1)), "1 marked teleport cut out"),
        (Adjusted("", CutOut(3, Cut.UNMARKED_TELEPORT, 0.1)), "3 unmarked teleports cut out"),
        (Adjusted("", CutOut(1, Cut.GAP, 1.4999)), "1 gap cut out (1.5 s)"),
        (
            Adjusted("", VelocitiesReplaced(Unusable.ALL_ZERO)),
            "velocities taken from the positions: all are zero",
        ),
        (
            Adjusted("", VelocitiesReplaced(Unusable.NOT_FINITE)),
            "velocities taken from the positions: some are not finite",
        ),
        (
            Adjusted("", VelocitiesReplaced(Unusable.MISMATCH, 0.75)),
            "velocities taken from the positions: they differ from these by 75% (median)",
        ),
        (
            NotJudged("b", Unjudged.TOO_FEW_STATES, states=1),
            "b: not judged: one usable state: a movement needs two",
        ),
        (
            NotJudged("", Unjudged.NOT_IN_TRUTH),
            "not judged: it is not in the truth, which names no entity",
        ),
        (
            NotJudged("", Unjudged.NOT_IN_TRUTH, known=("a", "b")),
            "not judged: it is not in the truth, whose entities are a, b",
        ),
        (
            AllAlike(20),
            "all 20 networks came to the same, since nothing in them is random: one of them is"
            " judged",
        ),
        (NotJudged("", Unjudged.NO_ROWS), "not judged: no packet has a place on the clock"),
        (
            NotJudged("", Unjudged.NO_OVERLAP, rows=ROWS, truth=TRUTH),
            "not judged: its rows go from 0.000 to 5.050 s, the truth from 100.000 to 104.900 s:"
            " they do not overlap",
        ),
        (
            NotJudged("", Unjudged.WARM_UP, rows=ROWS, truth=TRUTH, warm_up=60),
            "not judged: its rows go from 0.000 to 5.050 s, and none of them is 60 s or more into"
            " an unbroken movement of the truth (100.000 to 104.900 s)",
        ),
    ],
)
def test_notes_about_entities(note: Note, words: str) -> None:
    assert note_words(note) == words


@pytest.mark.parametrize(
    ("note", "words"),
    [
        (ResultNote(Flaw.FAILED, error="in read: {0}"), "it failed in read: {0}"),
        (
            ResultNote(Flaw.NOT_FINITE, rows=7),
            "it draws numbers that are not finite in 7 of the rows that count",
        ),
    ],
)
def test_notes_about_results(note: ResultNote, words: str) -> None:
    assert result_words(note) == words


def test_every_flaw_has_words() -> None:
    assert all(result_words(ResultNote(flaw)) for flaw in Flaw)


def test_why_there_is_not_enough_to_say() -> None:
    assert not_enough_words(NothingJudged(())) == "there are no packets"
    assert not_enough_words(TooFewStates(1)) == "one usable state: a movement needs two"
    several = (
        NotJudged("a", Unjudged.TOO_FEW_STATES),
        NotJudged("b", Unjudged.NOT_IN_TRUTH, known=("c",)),
    )
    assert not_enough_words(NothingJudged(several)) == (
        "a: no usable state: a movement needs two; b: it is not in the truth, whose entities are c"
    )


def test_the_story_names_the_truth() -> None:
    given = Comparison(Weights(), 0.05, (1.0,), origin="given")
    assert story(given, [])[0] == "Truth: given."
    rebuilt = Comparison(Weights(), 0.05, (1.0,))
    assert story(rebuilt, [])[0].startswith("Truth: rebuilt with hindsight from the packets")


def test_the_story_tells_how_long_recordings_warm_up() -> None:
    several = Comparison(Weights(), 0.05, (0.5, 0.11, 1.0))
    assert "the first 0.11 to 1 s of each" in story(several, ())[1]
    alike = Comparison(Weights(), 0.05, (0.5, 0.5))
    assert "the first 0.5 s of each" in story(alike, ())[1]
