"""What ``epic tune`` writes."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from epic_cli.engine.text.widths import printable
from epic_cli.terminal.console import show, write_document
from epic_cli.terminal.errors import say
from epic_cli.views.documents import csv_table
from epic_cli.views.tuning import delays
from epic_cli.views.tuning.svg import picture
from epic_cli.views.tuning.tables import TuningsText, notes
from epic_cli.views.tuning.text import as_csv, as_jsonl, as_markdown
from epic_cli.views.tuning.words import findings

if TYPE_CHECKING:
    from epic_cli.analysis.tuning.closed_form import DelaysNeeded
    from epic_cli.analysis.tuning.tune import Tunings
    from epic_cli.cli.options.tune import Written
    from epic_cli.terminal.color import ColorChoice


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


def write_tunings(found: Tunings, written: Written, color: ColorChoice) -> None:
    """Pictures to their files, the answer to stdout; what it rests on too, or to stderr."""
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
