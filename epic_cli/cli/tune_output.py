"""What ``epic tune`` writes."""

from __future__ import annotations

import csv
import io
import json
from typing import TYPE_CHECKING

from epic_cli.engine.text.widths import printable
from epic_cli.terminal.console import show
from epic_cli.terminal.output import open_sink
from epic_cli.views import tuning_delays as delays

if TYPE_CHECKING:
    from epic_cli.analysis.tuning.closed_form import DelaysNeeded
    from epic_cli.terminal.color import ColorChoice


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


def write(text: str, path: str | None = None) -> None:
    """Text to stdout or a file."""
    with open_sink(path) as sink:
        sink.write((printable(text, kept="\n") if sink.isatty() else text).encode())
