"""Tests of descriptions: entries between commas, keys, quoted values."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from epic_cli.engine.description import Described, Entry, split, write
from epic_cli.engine.parameters import Number, SettingError, Switch

KEYS = st.from_regex(r"[a-z][a-z_.]{0,8}", fullmatch=True)
ENTRIES = st.lists(st.tuples(st.just("") | KEYS, st.text(min_size=1)), max_size=6)


class Line(Described):
    TABLE = (Number("loss", 0.0, "Lost.", "", 0, 1), Switch("in_order", False, "In order."))
    KEY, OWNER = "loss", "a line"


@given(ENTRIES)
def test_what_is_written_reads_back(entries: list[tuple[str, str]]) -> None:
    assert split(write(entries)) == entries


@given(st.text())
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        entries = split(text)
    except SettingError:
        return
    assert split(write(entries)) == entries


def test_names_keys_and_quotes() -> None:
    assert split('4g, jitter=30ms ,x="Pos, ""X""", pattern=a=b') == [
        Entry("", "4g"),
        Entry("jitter", "30ms"),
        Entry("x", 'Pos, "X"'),
        Entry("pattern", "a=b"),
    ]
    assert split("") == split("  ") == []
    assert split("name=") == [Entry("name", "")]


@pytest.mark.parametrize("text", ["a,,b", ",", "a,", "=1", 'x="open', 'x="a"b', '"a" b'])
def test_what_is_no_description_is_refused(text: str) -> None:
    with pytest.raises(SettingError):
        split(text)


def test_parameters_of_a_table() -> None:
    for text in ("loss=3%,in_order=on", "3%,in_order=on"):
        assert Line.read(split(text)) == {"loss": 0.03, "in_order": True}
    for text, message in (
        ("los=3%", "a line has no parameter 'los'; did you mean 'loss'"), ("loss=2", "0 to 1"),
        ("loss=1%,loss=1%", "loss is set twice"), ("1%,in_order", "loss=in_order is not allowed"),
    ):  # fmt: skip
        with pytest.raises(SettingError, match=message):
            Line.read(split(text))
