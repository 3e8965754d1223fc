"""A case that differs as a page: what differs, the rows side by side, and both paths."""

from __future__ import annotations

from epic_cli.engine.replay.playback import DEFAULT_TICK
from epic_cli.jobs.check.differences import Difference
from epic_cli.jobs.check.outcome import Outcome
from epic_cli.jobs.check.report import report, side_by_side
from epic_cli.show.page import Content, page_of
from epic_cli.show.report import Column, Report, Table
from epic_cli.show.scene import Scene


def page(outcome: Outcome, difference: Difference, scene: Scene) -> str:
    """The page; the ``scene`` has the expected rows as its truth."""
    told = report(outcome)
    group, first = difference.first
    heads, *rows = side_by_side(difference)
    tick = outcome.case.drawing.timing.tick if outcome.case else DEFAULT_TICK
    columns = [Column(head, cells, right=True) for head, *cells in zip(heads, *rows, strict=True)]
    content = Content(
        title=told.name,
        report=Report(verdict=[told.headline]),
        lead=Report(verdict=told.lines, parts=[Table(columns, caption="Around the first")]),
        at=group.pairs[first].time,
        truth="expected",
        tick=tick[0] / tick[1],
    )
    return page_of([scene], content)
