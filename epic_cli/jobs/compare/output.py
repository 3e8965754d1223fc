"""What ``epic compare`` writes: figures and charts to stdout, pictures to files."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterable, Sequence
from functools import partial

from epic_cli.engine.text.widths import printable
from epic_cli.jobs.compare.command import Layout, Pictures
from epic_cli.jobs.compare.report import failure_words, report, sort_results
from epic_cli.metrics.comparison import Comparison
from epic_cli.metrics.conditions import Condition
from epic_cli.metrics.notes import NothingToDraw
from epic_cli.shell.console import ColorChoice, screen_lines, show, write_document, write_report
from epic_cli.shell.errors import say
from epic_cli.shell.sources import source_name
from epic_cli.show.page.page import About, Section

#: Charts and pictures get crowded with more strategies.
MOST_SHOWN = 6

#: Where no screen limits a chart, it is as wide as this.
WIDEST_CHART = 160

#: Where no screen limits a chart, it has so many lines.
PAPER_CHART = 18


def about_of(names: Iterable[str], truth: str | None) -> About:
    """Where a comparison comes from, for those who get to see only its page."""
    recordings = ", ".join(source_name(one) for one in names)
    command = f"epic {shlex.join(sys.argv[1:])}"
    return About(recordings, source_name(truth) if truth else "", command)


def write(
    comparison: Comparison,
    layout: Layout,
    pictures: Pictures,
    chosen: Sequence[str],
    color: ColorChoice,
    about: About,
    diagnoses: Sequence[Section],
    quiet: bool,
) -> None:
    """Pictures to their files, figures and charts to stdout.

    Pictures and charts are of the ``chosen`` labels, none: of the best. The page says what the
    comparison is ``about``, and the ``diagnoses`` of its recordings. ``quiet``: where programs
    read the figures, nothing is said of them.
    """
    best = [one.label for one in sort_results(comparison.results, "score")]
    labels = chosen or best[:MOST_SHOWN]
    found = report(comparison, layout.sort, layout.by)
    if pictures.selection is not None and not comparison.scenes:
        raise NothingToDraw  # they show the first recording, which cannot be evaluated
    if pictures.svg is not None:
        from epic_cli.show.svg import picture

        write_document(picture(comparison.scenes[0], labels), pictures.svg)
    if pictures.video.video is not None:
        pictures.video.write(comparison.scenes[:1], labels)
    if pictures.html is not None:
        from epic_cli.show.page.page import content_of, page_of

        told = report(comparison, layout.sort)
        content = content_of(comparison, told, labels, about, diagnoses)
        write_document(page_of(comparison.scenes, content), pictures.html)
    charts = partial(_write_charts, comparison, pictures, labels, color)
    write_report(found, layout.form, color, not quiet, charts if pictures.charts else None)


def _write_charts(
    comparison: Comparison, pictures: Pictures, labels: Sequence[str], color: ColorChoice
) -> None:
    """Charts of the first entity to stdout."""
    from epic_cli.show.chart import scene_chart

    scene, *others = comparison.scenes
    lines = screen_lines(sys.stdout)
    # title, axis, legend and the prompt want room too
    height = PAPER_CHART if lines is None else max(8, lines - 7)
    for view in pictures.charts:
        write_document("\n")
        show(scene_chart(scene, view, labels, height=height, width=WIDEST_CHART), color)
    if others:
        name = printable(scene.entity)
        say(f"Charts show {name}, one of {len(others) + 1} entities; --entity selects another.\n")


def write_failures(comparison: Comparison, conditions: Sequence[Condition]) -> bool:
    """Names the figures for which a condition holds, or may hold, on stderr.

    Returns whether there are any.
    """
    found = False
    for one in conditions:
        for result in comparison.results:
            figures = result.figures()
            if not one.concerns(result.label) or (one.known(figures) and not one.holds(figures)):
                continue
            found = True
            say(f"epic: {printable(failure_words(one, result))}\n")
    return found
