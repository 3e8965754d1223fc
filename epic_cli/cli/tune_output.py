"""What ``epic tune`` writes."""

from __future__ import annotations

import csv
import io
import json
import math
from typing import TYPE_CHECKING

from epic_cli.cli.options.compare import PICTURE_ROWS
from epic_cli.engine.text.widths import printable
from epic_cli.terminal.console import show
from epic_cli.terminal.errors import say
from epic_cli.terminal.output import open_sink
from epic_cli.views import tuning_delays as delays
from epic_cli.views.tuning import TuningsText, best_of, notes
from epic_cli.views.tuning_svg import picture
from epic_cli.views.tuning_text import as_csv, as_jsonl, as_markdown
from epic_cli.views.tuning_words import findings

if TYPE_CHECKING:
    from epic_cli.analysis.tuning.closed_form import DelaysNeeded
    from epic_cli.analysis.tuning.tune import Tunings
    from epic_cli.cli.options.tune import Written
    from epic_cli.terminal.color import ColorChoice
    from epic_cli.views.page_words import About


def write_delays(found: DelaysNeeded, form: str, color: ColorChoice) -> None:
    """The closed form alone."""
    match form:
        case "table":
            show(delays.DelaysText(found), color)
        case "markdown":
            write(delays.as_markdown(found))
        case "jsonl":
            write("".join(json.dumps(one) + "\n" for one in delays.records(found)))
        case _:
            out = io.StringIO()
            writer = csv.DictWriter(out, delays.CSV_FIELDS, lineterminator="\n")
            writer.writeheader()
            writer.writerows(delays.as_csv_rows(found))
            write(out.getvalue())


def write_tunings(found: Tunings, written: Written, color: ColorChoice, about: About) -> None:
    """Pictures to their files, the answer to stdout; what it rests on too, or to stderr.

    ``about`` is what the page says of where it comes from.
    """
    if written.html is not None:
        write(_page(found, about), written.html)
    if written.svg is not None:
        write(picture(found), written.svg)
    match written.form:
        case "table":
            show(TuningsText(found), color)
        case "markdown":
            write(as_markdown(found))
        case form:
            write((as_csv if form == "csv" else as_jsonl)(found))
            lines = [one.text for one in findings(found)] + notes(found)
            say(printable("".join(f"{line}\n" for line in lines), kept="\n"))


def _page(found: Tunings, about: About) -> str:
    """What was found, and what is drawn before and after."""
    from epic_cli.analysis.scenes.scene import Selection
    from epic_cli.analysis.tuning.pictured import pictured
    from epic_cli.views.page import page
    from epic_cli.views.page_tuning import tuning_section

    comparison = pictured(found, Selection(PICTURE_ROWS, -math.inf, math.inf))
    best = best_of(found).judgement
    shown = dict.fromkeys([best.tuned.label, best.default.label])
    return page(comparison, "score", list(shown), about, (), tuning_section(found))


def write(text: str, path: str | None = None) -> None:
    """Text to stdout or a file."""
    with open_sink(path) as sink:
        sink.write((printable(text, kept="\n") if sink.isatty() else text).encode())
