"""What ``epic tune`` writes."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING

from epic_cli.engine.text.widths import printable
from epic_cli.ui.io.console import show, write_document
from epic_cli.ui.io.errors import say
from epic_cli.ui.options.compare import PICTURE_ROWS
from epic_cli.views.documents import csv_table
from epic_cli.views.tuning import delays
from epic_cli.views.tuning.svg import picture
from epic_cli.views.tuning.tables import TuningsText, best_of, notes
from epic_cli.views.tuning.text import as_csv, as_jsonl, as_markdown
from epic_cli.views.tuning.words import findings

if TYPE_CHECKING:
    from epic_cli.analysis.tuning.delays import DelaysNeeded
    from epic_cli.analysis.tuning.result import Tunings
    from epic_cli.ui.io.color import ColorChoice
    from epic_cli.ui.options.tune import Written
    from epic_cli.views.page.words import About


def write_delays(found: DelaysNeeded, form: str, color: ColorChoice) -> None:
    """The closed form alone."""
    match form:
        case "table":
            show(delays.DelaysText(found), color)
        case "markdown":
            write_document(delays.as_markdown(found))
        case "jsonl":
            write_document("".join(json.dumps(one) + "\n" for one in delays.records(found)))
        case _:
            write_document(csv_table(delays.CSV_FIELDS, delays.as_csv_rows(found)))


def write_tunings(found: Tunings, written: Written, color: ColorChoice, about: About) -> None:
    """Pictures to their files, the answer to stdout; what it rests on too, or to stderr.

    ``about`` is what the page says of where it comes from.
    """
    if written.html is not None:
        write_document(_page(found, about), written.html)
    if written.svg is not None:
        write_document(picture(found), written.svg)
    match written.form:
        case "table":
            show(TuningsText(found), color)
        case "markdown":
            write_document(as_markdown(found))
        case form:
            write_document((as_csv if form == "csv" else as_jsonl)(found))
            lines = [one.text for one in findings(found)] + notes(found)
            say(printable("".join(f"{line}\n" for line in lines), kept="\n"))


def _page(found: Tunings, about: About) -> str:
    """What was found, and what is drawn before and after."""
    from epic_cli.analysis.scenes.scene import Selection
    from epic_cli.views.page.page import page
    from epic_cli.views.page.tuning import tuning_section

    comparison = found.before_and_after(Selection(PICTURE_ROWS, -math.inf, math.inf))
    best = best_of(found).judgement
    shown = dict.fromkeys([best.tuned.label, best.default.label])
    return page(comparison, "score", list(shown), about, (), tuning_section(found))
