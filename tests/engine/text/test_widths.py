"""Text in the columns of a terminal, for texts and widths of all kinds."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.recordings import examples
from wcwidth import wcwidth

from epic_cli.engine.text.widths import cut, pad, printable, width, wrap

#: Latin, combining marks, CJK, emoji with joiners and selectors, flags.
LETTERS = "ab é\u0301\u0300日本語\uff57👨👩👧\u200d\ufe0f❤🇩🇪"
TEXTS = st.text(st.sampled_from(LETTERS), max_size=60)


def cells(text: str) -> int:
    """Return the width on a terminal that shows each character by itself."""
    return sum(max(wcwidth(character), 0) for character in text)


@pytest.mark.parametrize(
    ("text", "columns"),
    [("tank", 4), ("日本", 4), ("e\u0301", 1), ("👨\u200d👩\u200d👧", 6), ("❤\ufe0f", 2), ("", 0)],
)
def test_widths(text: str, columns: int) -> None:
    assert width(text) == columns


@given(TEXTS, st.integers(1, 30))
@examples(300)
def test_a_cut_text_fits_and_says_so(text: str, columns: int) -> None:
    shown = cut(text, columns)
    assert max(width(shown), cells(shown)) <= columns
    if width(text) <= columns:
        assert shown == text
    else:
        assert shown.endswith("…")
        assert text.startswith(shown[:-1])


@given(TEXTS, st.integers(1, 30), st.booleans())
@examples(300)
def test_a_padded_text_is_as_wide_as_its_column(text: str, columns: int, right: bool) -> None:
    shown = pad(text, columns, right)
    assert width(shown.strip()) <= width(shown) <= columns
    if "\ufe0f" not in text:  # beside a blank, a joined sign may be measured otherwise
        assert width(shown) == columns


def test_a_text_stands_left_in_its_column_unless_it_is_said_to_stand_right() -> None:
    assert (pad("ab", 4), pad("ab", 4, right=True)) == ("ab  ", "  ab")


@given(TEXTS, st.integers(6, 30))
@examples(300)
def test_a_wrapped_text_loses_nothing_but_blanks(text: str, columns: int) -> None:
    lines = wrap(text, columns, "  ")
    assert all(max(width(line), cells(line)) <= columns for line in lines)
    assert "".join("".join(lines).split()) == "".join(text.split())


def test_a_name_of_a_million_characters_is_cut_at_once() -> None:
    assert cut("a" * 10**6, 8) == "aaaaaaa…"
    assert width(cut("e" + "\u0301" * 10**6, 8)) <= 8


def test_control_characters_are_escaped() -> None:
    assert printable("a\x1b[31m\n\u202eb") == r"a\x1b[31m\n\u202eb"
