"""The formats of a report: one table, from which options, completion and writing are made."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from epic_cli.show.report import Report


class ReportFormat(NamedTuple):
    """A format in which reports are written: its names and its writer.

    ``aliases`` are other names that users type. ``write`` makes the document, None for the table
    drawn on a terminal. ``is_flat``: the document has rows of one shape, so it cannot hold
    findings. ``is_whole``: the document has the verdict and the notes, which otherwise go to
    stderr.
    """

    name: str
    aliases: tuple[str, ...] = ()
    write: Callable[[Report], str] | None = None
    is_flat: bool = False
    is_whole: bool = False


def _load_writer(name: str) -> Callable[[Report], str]:
    """Return a function that loads a writer of ``documents`` by its name when it first writes."""

    def write(report: Report) -> str:
        writer: Callable[[Report], str] = getattr(import_module("epic_cli.show.documents"), name)
        return writer(report)

    return write


#: The formats by name, the default one first.
REPORT_FORMATS = {
    entry.name: entry
    for entry in (
        ReportFormat("table", is_whole=True),
        ReportFormat("csv", write=_load_writer("write_csv"), is_flat=True),
        ReportFormat("jsonl", ("json", "ndjson"), _load_writer("write_jsonl")),
        ReportFormat("markdown", ("md",), _load_writer("write_markdown"), is_whole=True),
    )
}

#: The formats of reports that have findings in place of rows.
FINDING_FORMATS = tuple(name for name, entry in REPORT_FORMATS.items() if not entry.is_flat)

#: The name of each format by its other names.
ALIASES = {alias: name for name, entry in REPORT_FORMATS.items() for alias in entry.aliases}
