"""Refusals in words: every reason has a message, and each front end its own."""

from __future__ import annotations

import io

import pytest

from epic_cli import read_packets
from epic_cli.engine.refusals import PIECES, Reason, Refusal
from epic_cli.recordings.wording import GRAMMAR, FrontEnd, describe_grammar, word_refusal

#: The facts that one reason or another goes with, all at once.
FACTS = Refusal(
    line=3,
    column=8,
    text=b"1,2,3 / x",
    caret=7,
    reason=Reason.NUL_BYTE,
    field="z",
    limit=4096,
    found=2,
    names=("x",),
    expected=("x", "y"),
    detail="extra data",
)

CLOCK_REASONS = (Reason.NO_ARRIVAL, Reason.TOO_FAR, Reason.SINGLE_CLOCK_STALLS)

#: Their cure is an option that says how a recording is laid out.
LAYOUT_REASONS = (
    Reason.NOT_UTF8,
    Reason.DATE_UNCLEAR,
    Reason.COLUMN_UNKNOWN,
    Reason.COLUMN_UNCLEAR,
    Reason.COLUMN_AMBIGUOUS,
    Reason.ENTITIES_IN_A_ROW,
    Reason.TICKS_WITHOUT_RATE,
    Reason.NO_HEADER,
    Reason.NOT_AN_OBJECT,
    Reason.PACKETS_ELSEWHERE,
    Reason.IN_SENTENCES,
)


@pytest.mark.parametrize("reason", Reason)
def test_every_reason_has_words(reason: Reason) -> None:
    every = [word_refusal(FACTS._replace(reason=reason), end) for end in FrontEnd]
    for found in every:
        assert found[:4] == FACTS[:4]
        assert found.what
        assert found.expected
        assert "None" not in found.what + found.expected
    if reason not in (*CLOCK_REASONS, *LAYOUT_REASONS):  # which name a setting
        assert len(set(every)) == 1


@pytest.mark.parametrize(
    ("word", "said"),
    [
        *((word, f"{word} is not a finite number") for word in ("arrival", "delta")),
        *((word, f"{word} is not a finite number") for word in ("yaw", "pitch", "roll")),
        ("seq", "seq is not a whole number of 0 or more"),
        ("teleport", "teleport is neither 0 nor 1"),
        ("rotation", "the rotation is not a quaternion"),
        ("spin", "the spin is not three finite numbers"),
    ],
)
def test_a_value_of_the_wrong_kind_is_refused_as_that_of_its_key(word: str, said: str) -> None:
    for value in ("?", "nan", "-"):
        text = f"1,2,3 / 0,0,0 / 1 {word}={value}\n"
        with pytest.raises(ValueError, match=rf":1:\d+: {said}"):
            list(read_packets(io.BytesIO(text.encode())))


@pytest.mark.parametrize("reason", LAYOUT_REASONS)
def test_options_of_a_layout_are_typed_or_are_arguments(reason: Reason) -> None:
    refusal = FACTS._replace(reason=reason)
    typed, session, python, beside = (word_refusal(refusal, end) for end in FrontEnd)
    assert typed == session
    assert beside.what == typed.what
    assert "frame." in beside.expected
    assert "--" in typed.expected
    assert "--" not in python.expected
    assert '="' in python.expected or "='" in python.expected


@pytest.mark.parametrize("reason", CLOCK_REASONS)
def test_each_front_end_names_its_own_settings(reason: Reason) -> None:
    refusal = FACTS._replace(reason=reason, field="time")
    typed, session, python, beside = (word_refusal(refusal, end).expected for end in FrontEnd)
    assert "--" in typed
    assert beside == typed
    assert session == typed.replace("--", ":")
    assert "--" not in python
    assert ":" not in python


def test_arrival_pacing_is_not_advised_where_it_is_in_force() -> None:
    refusal = FACTS._replace(reason=Reason.TOO_FAR, field="arrival")
    assert word_refusal(refusal, FrontEnd.PYTHON).expected == "a smaller gap, or a longer tick"


def test_the_rest_of_the_grammar_begins_with_each_piece() -> None:
    whole = describe_grammar(0)
    assert GRAMMAR.startswith(whole)
    for index, piece in enumerate(PIECES):
        assert describe_grammar(2 * index).startswith(piece)
        assert whole.endswith(describe_grammar(2 * index))
        assert whole.endswith(describe_grammar(2 * index + 1))
