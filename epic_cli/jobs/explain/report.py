"""Explanations as a report, and an overview of what can be explained."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from epic_cli.jobs.explain.run import iterate_names
from epic_cli.jobs.explain.spec import NameEntry
from epic_cli.show.report import Column, Data, Part, Report, ReportFinding, Table


def report(found: Sequence[NameEntry]) -> Report:
    """Return the explanations of a name, one below the other."""
    parts = [_make_section(entry) for entry in found]
    fields = ("kind", "name", "title", "text", "terms")

    def iterate_records() -> list[dict[str, Any]]:
        more = ({"kind": entry.kind.value, "terms": dict(entry.terms)} for entry in found)
        return [entry._asdict() | own for entry, own in zip(found, more, strict=True)]

    return Report(parts=parts, data=Data(fields, iterate_records, iterate_records))


def write_overview(firsts: Sequence[NameEntry]) -> Report:
    """Return a report of the kinds of names: the count of each, and an example."""
    counts = [sum(1 for _ in iterate_names(entry.kind)) for entry in firsts]
    columns = [
        Column("kind", [entry.kind.value for entry in firsts]),
        Column("names", list(map(str, counts)), right=True),
        Column("example", [f"epic explain {entry.name}" for entry in firsts]),
    ]
    rows = [
        {"kind": entry.kind.value, "names": count, "example": entry.name}
        for entry, count in zip(firsts, counts, strict=True)
    ]
    return Report(parts=[Table(columns)], data=Data(list(rows[0]), lambda: rows, lambda: rows))


def _make_section(entry: NameEntry) -> Report:
    """Return the explanation of one name as a report: name and kind, meaning, further terms."""
    parts: list[Part] = [text for text in (entry.text,) if text]
    if entry.terms:
        parts.append(ReportFinding("", "", entry.terms))
    return Report(f"{entry.name} ({entry.kind.value})", [entry.title], parts)
