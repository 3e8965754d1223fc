"""The look of a report on a terminal: its last lines, and its characters."""

from __future__ import annotations

import pytest
from support.places import SAMPLES
from support.running import environment
from support.terminals import on_terminal


def drawn(*words: str, lines: int, **changes: str) -> str:
    """Return the output of ``epic`` on a terminal of this many lines."""
    kept = environment(TERM="dumb", LINES=str(lines), COLUMNS="100", **changes)
    return on_terminal(*words, env=kept).terminal.decode().replace("\r\n", "\n")


@pytest.mark.parametrize("charts", [(), ("--chart", "error")])
def test_the_verdict_is_last_where_the_rest_scrolls_away(charts: tuple[str, ...]) -> None:
    words = ("compare", "-s", "epic,snapshot", str(SAMPLES / "jitter.txt"), *charts)
    high, low = (drawn(*words, lines=lines) for lines in (200, 6))
    verdict = high.splitlines()[0] if not charts else low.split("\n\n")[-1].splitlines()[0]
    assert verdict.count("score") == 1
    assert verdict in low.split("\n\n")[-1]
    assert low.count(verdict) == high.count(verdict) == 1
    assert sorted(low.split()) == sorted(high.split()) or charts


def test_charts_are_ascii_in_the_locale_c() -> None:
    words = ("compare", "-s", "epic,snapshot", str(SAMPLES / "turn.txt"), "--chart", "above")
    assert drawn(*words, lines=40, LC_ALL="C").isascii()
    assert not drawn(*words, lines=40).isascii()
