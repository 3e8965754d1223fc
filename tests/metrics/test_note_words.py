"""Tests of the notes' wording: each number occurs once, and a count of one has no plural."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from epic_cli.metrics.notes import (
    MOST_NOTES,
    Adjusted,
    Bridged,
    Cut,
    CutOut,
    Excluded,
    ExclusionReason,
    NotJudged,
    Outages,
    Rested,
    StatesLeftOut,
    describe_note,
    describe_notes,
    explain_exclusion,
)

COUNTS = st.integers(1, 50)
SECONDS = st.sampled_from([0.25, 1.5, 7.0, 61.3])
NAMES = st.sampled_from(["", "tank7"])


@given(COUNTS, SECONDS, SECONDS, NAMES, st.booleans())
def test_outages(count: int, seconds: float, longest: float, name: str, judged: bool) -> None:
    words = describe_note(Outages(name, count, seconds, longest, judged))
    assert words.startswith(f"{name}: " if name else f"{count} ")
    assert f"{count} outage{'s' * (count > 1)} without a packet ({seconds:.3g} s" in words
    assert (f", the longest {longest:.3g} s)" in words) == (count > 1)
    assert words.endswith(": judged" if judged else " without a given truth")


@given(COUNTS, SECONDS, NAMES, st.sampled_from(Cut), st.sampled_from(Excluded))
def test_changes_of_a_truth(
    count: int, seconds: float, name: str, cut: Cut, reason: Excluded
) -> None:
    plural, head = "s" * (count > 1), f"{name}: " if name else ""
    in_all = f" ({seconds:.3g} s)"
    for change, expected in (
        (StatesLeftOut(count, reason), f"{count} state{plural} left out: {reason.value}"),
        (CutOut(count, cut, seconds),
         f"{count} {cut.value}{plural} cut out{in_all * (cut is Cut.GAP)}"),
        (Bridged(count, seconds),
         f"{count} longer interval{plural} ({seconds:.3g} s{' in all' * (count > 1)}) bridged"),
        (Rested(count, seconds), f"{count} time{plural}{in_all} nothing is sent"),
    ):  # fmt: skip
        assert describe_note(Adjusted(name, change)).startswith(head + expected)


def test_reasons_why_an_entity_is_not_judged() -> None:
    def explain(reason: ExclusionReason, **figures: object) -> str:
        return explain_exclusion(NotJudged("a", reason, **figures))  # type: ignore[arg-type]

    assert explain(ExclusionReason.TOO_FEW_STATES, states=1).startswith("one usable state")
    assert explain(ExclusionReason.TOO_FEW_STATES).startswith("no usable state")
    assert "entities are b, c" in explain(ExclusionReason.NOT_IN_TRUTH, known=("b", "c"))
    assert "no entity" in explain(ExclusionReason.NOT_IN_TRUTH)
    times = {"rows": (1.0, 2.5), "truth": (3.25, 4.125)}
    for reason in (ExclusionReason.NO_OVERLAP, ExclusionReason.WARM_UP):
        words = explain(reason, warm_up=0.75, **times)
        assert "from 1.000 to 2.500 s" in words
        assert "3.250 to 4.125 s" in words
        assert ("0.75 s or more" in words) == (reason is ExclusionReason.WARM_UP)


@pytest.mark.parametrize("count", [1, MOST_NOTES, MOST_NOTES + 1, 1200])
def test_the_first_notes_of_a_kind_are_told_and_the_others_counted(count: int) -> None:
    told = describe_notes([Adjusted(f"e{at}", Bridged(at + 1, 1.0)) for at in range(count)])
    assert len(told) == min(count, MOST_NOTES + 1)
    assert (told[-1] == f"{count - MOST_NOTES:,} more of this kind") == (count > MOST_NOTES)
    shared = describe_notes([Adjusted(name, Bridged(2, 1.0)) for name in "ab"])
    assert len(shared) == 1
