"""The tables of a match fit the screen."""

from functools import cache
from typing import Any

import pytest

from epic_cli.engine.text.widths import width
from epic_cli.play import MatchSpec
from epic_cli.play.report import PlayRowWriter
from epic_cli.play.run import COLUMNS, HeadlessRun, RowSelection, Show
from epic_cli.play.script import Script

SHOWS: tuple[Show, ...] = ("rows", "events", "shots", "summary")


@cache
def play_match(show: Show) -> list[Any]:
    """Return what a match of two seconds tells."""
    run = HeadlessRun(MatchSpec(), Script({}, [], []), RowSelection(show, "A"))
    return [item for chunk in run.run(2.0) for item in chunk.lines]


def written(show: Show, columns: int | None) -> tuple[PlayRowWriter, list[str]]:
    writer = PlayRowWriter("table", COLUMNS[show], columns)
    lines = [writer.write_line(item) for item in play_match(show)]
    return writer, (writer.write_header() + b"".join(lines)).decode().splitlines()


@pytest.mark.parametrize("show", SHOWS)
@pytest.mark.parametrize("columns", [20, 44, 60, 80, 200])
def test_no_line_is_wider_than_the_screen(show: Show, columns: int) -> None:
    writer, lines = written(show, columns)
    unlimited, whole = written(show, None)
    assert len(lines) == len(whole)
    assert all(width(line) <= columns for line in lines)
    if columns >= 44:
        assert set(lines[0].split()) | set(writer.left_out) == set(COLUMNS[show])
    assert unlimited.left_out == []
    if columns == 200:
        assert lines == whole
