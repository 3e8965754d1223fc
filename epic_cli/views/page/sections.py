"""What a page is about, and reports as its sections."""

from __future__ import annotations

import base64
from dataclasses import dataclass
from typing import Any, NamedTuple

from epic_cli.views.report import Figure, Finding, Part, Report, Table, Usage

#: Of so many recordings a page says what is wrong with them.
MOST = 12

#: What a page shows of a finding; the other terms are for the command line.
_TERMS = ("effect", "cure", "also explains")


@dataclass(frozen=True)
class About:
    """Where a comparison comes from: the recording's name, the truth's, and the command."""

    recording: str = ""
    truth: str = ""
    command: str = ""


class Section(NamedTuple):
    """What is to be said of one recording."""

    recording: str
    report: Report


def section_data(report: Report) -> dict[str, Any]:
    """A report as the page's scripts read it: its parts by their kind."""
    return {
        "title": report.title,
        "verdict": list(report.verdict),
        "parts": [_part(one) for one in report.parts],
        "notes": list(report.notes),
    }


def _part(part: Part) -> dict[str, Any]:
    match part:
        case str():
            return {"kind": "text", "lines": part.splitlines()}
        case Finding():
            return {
                "kind": "finding",
                "title": part.title,
                "entities": list(part.entities),
                "sentences": [("", part.text), *(one for one in part.terms if one[0] in _TERMS)],
                "moments": [(name, round(at, 6)) for name, at in part.moments],
            }
        case Table():
            return {
                "kind": "table",
                "caption": part.caption,
                "heads": part.titles,
                "rows": part.rows,
                "words": not part.columns[-1].right,
            }
        case Usage():
            return {"kind": "usage", "caption": part.caption, "forms": list(part.forms)}
        case Figure():
            return {"kind": "picture", "source": _address(part.svg()), "words": part.words}
        case Report():
            return {"kind": "report", **section_data(part)}


def _address(picture: str) -> str:
    """An address that holds the picture; empty: there is none."""
    encoded = base64.b64encode(picture.encode()).decode()
    return f"data:image/svg+xml;base64,{encoded}" if picture else ""
