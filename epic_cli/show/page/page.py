"""A comparison as one page for a browser: self-contained, offline, to be sent to a colleague."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from importlib.resources import files
from typing import Any, NamedTuple

from epic_cli.jobs.compare.report import report
from epic_cli.metrics.digits import three_digits
from epic_cli.metrics.evaluation.result import Comparison
from epic_cli.metrics.notes import NothingToDraw
from epic_cli.show.page.sections import About, Section, scene_data, section_data
from epic_cli.show.pictures.scenes import network_words, packets_words, scene_words
from epic_cli.show.pictures.scores import picture
from epic_cli.show.pictures.styles import BLACK, DARK, DASHES, LIGHT, WHITE
from epic_cli.show.report import Figure, Report, Table, Usage
from epic_cli.show.scenes.scene import Scene

#: The metrics beside the picture; the table under it has all.
BRIEF = ("score", "error", "error_max", "lag", "angle")

#: Beside the verdict are the scores of so many.
SCORES = 8

#: A verdict is no longer than this; what goes on is folded.
SENTENCES = 5

#: The scripts in the order in which the browser reads them; what is used while it reads is first.
SCRIPTS = (
    "data", "chunks", "state", "pen", "labels", "above", "inset", "marks", "timeline", "lanes",
    "turns", "histogram", "figures", "report", "hover", "clock", "gestures", "begin",
)  # fmt: skip

#: What only pages of recordings with rotation have: /*turns this */ or <!--turns that -->.
_TURNS = re.compile(
    r"(?m)^ *(?:/\*|<!--)turns (.*?) ?(?:\*/|-->)(\n)|(?:/\*|<!--)turns(.*?)(?:\*/|-->)"
)


@dataclass(frozen=True)
class Content:
    """All that a page shows beside its scenes.

    The ``report`` has the verdict, the notes, and a table of the strategies' figures. ``facts`` say
    what the page is about, each a term and its description. ``shown`` strategies are switched on at
    first, none: all. ``diagnoses`` are of recordings, ``drawn`` is the one that the scenes are of.
    The ``lead`` stands above the pictures, which open at the time ``at`` (None: the worst moment);
    ``truth`` is what the thick line is called, ``scores`` a picture of them (SVG).
    """

    title: str
    report: Report = field(default_factory=Report)
    facts: Sequence[tuple[str, str]] = ()
    shown: Sequence[str] = ()
    tick: float = 0.05
    diagnoses: Sequence[Section] = ()
    drawn: str = ""
    lead: Report | None = None
    at: float | None = None
    scores: str = ""
    truth: str = "truth"


def content_of(
    comparison: Comparison,
    sort: str = "score",
    shown: Sequence[str] = (),
    about: About = About(),  # noqa: B008 - a value
    diagnoses: Sequence[Section] = (),
    tuning: Report | None = None,
) -> Content:
    """All of the page of a comparison but its scenes.

    ``diagnoses`` are what is wrong with its recordings. With ``tuning``, the comparison is that of
    before and after, and what tuning has found is the verdict.
    """
    told = report(comparison, sort)
    if tuning is not None:
        told = replace(told, verdict=tuning.verdict, notes=tuning.notes)
        # the front and what to copy are what one looks for
        parts = sorted(
            tuning.parts, key=lambda one: (not isinstance(one, Figure), not isinstance(one, Usage))
        )
        tuning = Report("Good numbers", parts=parts)
    subject = "Good numbers" if tuning else "What each strategy draws"
    return Content(
        title=f"{subject}{f': {about.recording}' if about.recording else ''}",
        report=told,
        facts=_facts(comparison, about),
        shown=shown,
        tick=comparison.tick,
        diagnoses=diagnoses,
        drawn=next(iter(comparison.recordings), ""),
        lead=tuning,
        scores=picture(comparison.results, SCORES),
    )


def _facts(comparison: Comparison, about: About) -> list[tuple[str, str]]:
    """What was compared, under which conditions, in which units: terms and descriptions."""
    scenes = [one for one in comparison.scenes if len(one.times)]
    found = []
    if about.command:
        found.append(("Command", about.command))
    if about.recording:
        found.append(("Recording", about.recording))
    if about.truth:
        found.append(("Truth", about.truth))
    for one in scenes[:12]:
        called = f" of {one.entity}" if one.entity else ""
        found.append((f"Packets{called}", packets_words(one.deliveries)))
        found.append((f"Network{called}", network_words(one.deliveries)))
    if len(scenes) > 12:
        found.append(("More", f"{len(scenes) - 12} more entities"))
    found.append(
        ("Rows", f"one every {three_digits(comparison.tick * 1000)} ms, {comparison.rows:,} count")
    )
    if any(one.shared is not None for one in scenes):
        found.append(("Pictures", "have every row where most happens; --span has all of a part"))
    if any(one.rotations is not None for one in scenes):
        found.append(("Heading", "where the x axis of what turns points to, seen from above"))
    found.append(("Units", "lengths are in the recording's own unit, times in seconds"))
    return found


def page_of(scenes: Sequence[Scene], content: Content) -> str:
    """The page of any scenes, whoever made them: what was drawn beside what should have been.

    A scene's ``truth`` is the thick line, each of its ``drawn`` a line of its own, and their
    ``distances`` make the chart of errors. ``content`` has the words and figures; strategies are
    ranked as in its table, and those that are not in it come last. The page has everything in it
    and asks the network for nothing. Raises ``NothingToDraw`` where no scene has a row.
    """
    turns = any(one.rotations is not None for one in scenes if len(one.times))
    return assembled(content.title, page_data(scenes, content), turns)


def page_data(
    scenes: Sequence[Scene], content: Content, pack: Callable[[Any], Any] | None = None
) -> dict[str, Any]:
    """What the scripts of ``page_of`` read; ``pack`` says what stands for an array of numbers."""
    usable = [one for one in scenes if len(one.times)]
    if not usable:
        raise NothingToDraw
    told = content.report
    heads, rows = _figures(told)
    labels = [row["label"] for row in rows]
    labels += [one.label for scene in usable for one in scene.drawn]
    ranks = {label: rank for rank, label in enumerate(dict.fromkeys(labels))}
    shown = list(content.shown) or list(ranks)
    return {
        "title": content.title,
        "verdict": list(told.verdict[:SENTENCES]),
        "details": list(told.verdict[SENTENCES:]),
        "notes": list(told.notes),
        "facts": list(content.facts),
        "columns": heads,
        "rows": rows or [{"label": label, "cells": [], "best": []} for label in ranks],
        "shown": sorted(shown, key=lambda label: ranks.get(label, len(ranks))),
        "dashes": [list(one) for one in DASHES],
        "tick": content.tick,
        "diagnoses": [
            {
                "recording": one.recording,
                "drawn": bool(content.drawn) and one.recording == content.drawn,
                **section_data(one.report),
            }
            for one in content.diagnoses
        ],
        "lead": content.lead and section_data(content.lead),
        "at": content.at,
        "scores": content.scores,
        "truth": content.truth,
        "scenes": [
            {**scene_data(one, ranks, pack), "words": scene_words(one, shown)} for one in usable
        ],
    }


def _figures(told: Report) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """The metrics of the table and its rows: a strategy's label, cells, and which are the best."""
    table = next((one for one in told.parts if isinstance(one, Table)), Table(()))
    metrics = [one for one in table.columns if one.key]
    heads = [
        {"title": one.title, "meaning": one.meaning, "brief": one.key in BRIEF} for one in metrics
    ]
    labels = table.columns[0].cells if table.columns else ()
    rows = [
        {
            "label": label,
            "cells": [one.cells[row] for one in metrics],
            "best": [row in (one.best or ()) for one in metrics],
        }
        for row, label in enumerate(labels)
    ]
    return heads, rows


class Extra(NamedTuple):
    """What a page of another room has beside: an ``element``, a ``style``, ``scripts``, sources.

    ``parts`` are the scripts that it shares; with ``alone``, the element is all that is shown.
    """

    element: str = ""
    style: str = ""
    scripts: str = ""
    sources: str = ""
    parts: Sequence[str] = SCRIPTS
    alone: bool = False


def assembled(title: str, data: dict[str, Any], turns: bool, extra: Extra = Extra()) -> str:  # noqa: B008
    """The page of the parts; ``turns``: with those of rotation."""
    parts = files("epic_cli.show.page") / "parts"

    def read(name: str) -> str:
        text = (parts / name).read_text("utf-8").strip()
        return _TURNS.sub(r"\1\2\3" if turns else "", text)

    text = read("page.html")
    if extra.alone:
        text = re.sub(r"(?s)<main>.*</main>", '<main class="alone"><!--ELEMENT--></main>', text)
    # no text of the recording may end an element
    safe = json.dumps(data, allow_nan=False, separators=(",", ":")).replace("<", "\\u003c")
    for mark, part in (
        ("<!--ELEMENT-->", extra.element),
        ("/*SOURCES*/", extra.sources),
        ("/*STYLE*/", f"{_variables()}\n{read('page.css')}\n{extra.style}"),
        (
            "/*SCRIPT*/",
            "\n\n".join(read(f"{one}.js") for one in extra.parts if turns or one != "turns")
            + extra.scripts,
        ),
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
