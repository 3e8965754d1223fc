from __future__ import annotations

import pickle
from collections.abc import Callable

from epic_cli.metrics.notes import (
    Adjusted,
    AllAlike,
    Bridged,
    Cut,
    CutOut,
    Excluded,
    ExclusionReason,
    Flaw,
    Note,
    NothingJudged,
    NothingToDraw,
    NotJudged,
    Outages,
    Rested,
    ResultNote,
    StatesLeftOut,
    TickHides,
    TooFewStates,
    Unusable,
    VelocitiesReplaced,
    describe_flaw,
    describe_note,
)
from epic_cli.metrics.traffic import TooFewPackets

ROWS, TRUTH = (0.0, 5.05), (100.0, 104.9)

NOTES: tuple[Note, ...] = (
    Adjusted("", StatesLeftOut(1, Excluded.SAME_TIME)),
    Adjusted("a", StatesLeftOut(2, Excluded.NOT_FINITE)),
    Adjusted("", CutOut(1, Cut.MARKED_TELEPORT, 0.1)),
    Adjusted("", CutOut(3, Cut.UNMARKED_TELEPORT, 0.1)),
    Adjusted("", CutOut(1, Cut.GAP, 1.4999)),
    Adjusted("", Bridged(2, 0.45)),
    Adjusted("", Rested(11, 26.1)),
    Adjusted("", VelocitiesReplaced(Unusable.ALL_ZERO)),
    Adjusted("", VelocitiesReplaced(Unusable.NOT_FINITE)),
    Adjusted("", VelocitiesReplaced(Unusable.MISMATCH, 0.75)),
    NotJudged("b", ExclusionReason.TOO_FEW_STATES, states=1),
    NotJudged("", ExclusionReason.NOT_IN_TRUTH),
    NotJudged("", ExclusionReason.NOT_IN_TRUTH, known=("a", "b")),
    NotJudged("", ExclusionReason.NO_ROWS),
    NotJudged("", ExclusionReason.NO_OVERLAP, rows=ROWS, truth=TRUTH),
    NotJudged("", ExclusionReason.WARM_UP, rows=ROWS, truth=TRUTH, warm_up=60),
    Outages("a", 2, 3.0, 2.0, judged=False),
    Outages("a", 1, 3.0, 3.0, judged=True),
    TickHides(0.05, 0.016),
    AllAlike(20),
)

RESULT_NOTES = (
    ResultNote(Flaw.FAILED, error="in read: {0}"),
    ResultNote(Flaw.ONE_CLOCK, instead="set clock=min"),
    *(
        ResultNote(flaw, rows=7, judged=9, beyond=30.0, extent=2.0, lags=(0.1, 0.2))
        for flaw in Flaw
        if flaw not in (Flaw.FAILED, Flaw.ONE_CLOCK)
    ),
)

NOT_ENOUGH = (
    NothingJudged(()),
    TooFewStates(1),
    NothingJudged(
        (
            NotJudged("a", ExclusionReason.TOO_FEW_STATES),
            NotJudged("b", ExclusionReason.NOT_IN_TRUTH, known=("c",)),
        )
    ),
)


def test_what_notes_say(words: Callable[[str, str], None]) -> None:
    lines = [
        *map(describe_note, NOTES),
        *map(describe_flaw, RESULT_NOTES),
        *(getattr(error, "why", str(error)) for error in NOT_ENOUGH),
    ]
    words("comparison-notes", "".join(f"{line}\n" for line in lines))


def test_what_a_worker_raises_arrives_as_it_was() -> None:
    for error in (*NOT_ENOUGH, TooFewPackets(1, 2), NothingToDraw()):
        for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
            arrived = pickle.loads(pickle.dumps(error, protocol))
            assert (type(arrived), arrived.args) == (type(error), error.args)
            assert vars(arrived) == vars(error)
