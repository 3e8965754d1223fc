"""A comparison as one page for a browser: self-contained, offline, to be sent to a colleague."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from epic_cli.analysis.notes import NothingToDraw
from epic_cli.views.comparison.report import metric_columns, ordered, report
from epic_cli.views.page.data import scene_data
from epic_cli.views.page.sections import Section, section_data
from epic_cli.views.page.tuning import TuningSection
from epic_cli.views.page.words import About, facts
from epic_cli.views.pictures.scene_words import scene_words
from epic_cli.views.pictures.styles import BLACK, DARK, DASHES, LIGHT, WHITE

if TYPE_CHECKING:
    from epic_cli.analysis.compare import Comparison
    from epic_cli.analysis.scenes.scene import Scene

#: The metrics beside the picture; the table under it has all.
BRIEF = ("score", "error", "error_max", "lag")

#: A verdict is no longer than this; what goes on is folded.
SENTENCES = 5

#: The scripts in the order in which the browser reads them; what is used while it reads is first.
SCRIPTS = (
    "data", "levels", "state", "pen", "labels", "above", "marks", "timeline", "lanes",
    "histogram", "figures", "diagnosis", "tuning", "hover", "clock", "gestures", "begin",
)  # fmt: skip


@dataclass(frozen=True)
class Table:
    """The figures: heads with what they mean and whether they stand beside the picture (brief).

    ``rows`` are a strategy's label, its cells, and which of them are the best of their column.
    """

    heads: Sequence[tuple[str, str, bool]] = ()
    rows: Sequence[tuple[str, Sequence[str], Sequence[bool]]] = ()


@dataclass(frozen=True)
class Content:
    """All that a page shows beside its scenes.

    ``verdict`` comes first, ``details`` and ``notes`` are folded; ``facts`` say what it is, each
    a term and its description. ``shown`` strategies are switched on at first, none: all.
    ``diagnoses`` are sections on recordings, ``drawn`` where it is that of the scenes; ``tuning``
    is one on good numbers.
    """

    title: str
    verdict: Sequence[str] = ()
    details: Sequence[str] = ()
    notes: Sequence[str] = ()
    facts: Sequence[tuple[str, str]] = ()
    table: Table = field(default_factory=Table)
    shown: Sequence[str] = ()
    tick: float = 0.05
    diagnoses: Sequence[dict[str, Any]] = ()
    tuning: TuningSection | None = None


def page(
    comparison: Comparison,
    sort: str = "score",
    shown: Sequence[str] = (),
    about: About | None = None,
    diagnoses: Sequence[Section] = (),
    tuning: TuningSection | None = None,
) -> str:
    """The page of a comparison; ``shown`` strategies are switched on at first, none: all.

    ``diagnoses`` are what is wrong with its recordings. With ``tuning``, the comparison is that of
    before and after, and what tuning has found is the verdict.
    Raises ``NothingToDraw`` where there is nothing to draw.
    """
    results = ordered(comparison, sort)
    made = metric_columns(results, comparison.resolution)
    told = report(comparison, sort)
    found = tuning["findings"] if tuning else told.verdict
    about = about or About()
    subject = "Good numbers" if tuning else "What each strategy draws"
    content = Content(
        title=f"{subject}{f': {about.recording}' if about.recording else ''}",
        verdict=found[:SENTENCES],
        details=found[SENTENCES:],
        notes=tuning["notes"] if tuning else told.notes,
        facts=facts(comparison, about),
        table=Table(
            [(one.title, one.meaning, one.key in BRIEF) for one in made],
            [
                (
                    one.label,
                    [column.cells[row] for column in made],
                    [row in (column.best or ()) for column in made],
                )
                for row, one in enumerate(results)
            ],
        ),
        shown=shown,
        tick=comparison.tick,
        diagnoses=[
            {
                "recording": one.recording,
                "drawn": one.recording in comparison.recordings[:1],
                **section_data(one.report),
            }
            for one in diagnoses
        ],
        tuning=tuning,
    )
    return page_of(comparison.scenes, content)


def page_of(scenes: Sequence[Scene], content: Content) -> str:
    """The page of any scenes, whoever made them: what was drawn beside what should have been.

    A scene's ``truth`` is the thick line, each of its ``drawn`` a line of its own, and their
    ``distances`` make the chart of errors. ``content`` has the words and figures; strategies are
    ranked as in its table, and those that are not in it come last. The page has everything in it
    and asks the network for nothing. Raises ``NothingToDraw`` where no scene has a row.
    """
    usable = [one for one in scenes if len(one.times)]
    if not usable:
        raise NothingToDraw
    labels = [label for label, *_ in content.table.rows]
    labels += [one.label for scene in usable for one in scene.drawn]
    ranks = {label: rank for rank, label in enumerate(dict.fromkeys(labels))}
    shown = list(content.shown) or list(ranks)
    data = {
        "title": content.title,
        "verdict": list(content.verdict),
        "details": list(content.details),
        "notes": list(content.notes),
        "facts": list(content.facts),
        "columns": [
            {"title": title, "meaning": meaning, "brief": brief}
            for title, meaning, brief in content.table.heads
        ],
        "rows": [
            {"label": label, "cells": list(cells), "best": list(best)}
            for label, cells, best in content.table.rows
        ]
        or [{"label": label, "cells": [], "best": []} for label in ranks],
        "shown": sorted(shown, key=lambda label: ranks.get(label, len(ranks))),
        "dashes": [list(one) for one in DASHES],
        "tick": content.tick,
        "diagnoses": list(content.diagnoses),
        "tuning": content.tuning,
        "scenes": [{**scene_data(one, ranks), "words": scene_words(one, shown)} for one in usable],
    }
    return _assembled(content.title, data)


def _assembled(title: str, data: dict[str, Any]) -> str:
    parts = files("epic_cli.views.page") / "parts"

    def read(name: str) -> str:
        return (parts / name).read_text("utf-8").strip()

    text = read("page.html")
    # no text of the recording may end an element
    safe = json.dumps(data, allow_nan=False, separators=(",", ":")).replace("<", "\\u003c")
    for mark, part in (
        ("/*STYLE*/", f"{_variables()}\n{read('page.css')}"),
        ("/*SCRIPT*/", "\n\n".join(read(f"{name}.js") for name in SCRIPTS)),
        ("<!--TITLE-->", title.replace("&", "&amp;").replace("<", "&lt;")),
        ("/*DATA*/", safe),
    ):
        text = text.replace(mark, part)
    return f"{text}\n"


def _variables() -> str:
    """The lines' colours for both schemes, and the backgrounds that they were chosen for."""

    def scheme(colors: Sequence[str], card: str) -> str:
        return f"--card:{card};" + "".join(f"--line{i}:{c};" for i, c in enumerate(colors))

    return (
        f":root{{{scheme(LIGHT, WHITE)}}}\n"
        f"@media (prefers-color-scheme:dark){{:root:not(.print){{{scheme(DARK, BLACK)}}}}}"
    )
