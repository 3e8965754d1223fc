"""What ``epic diagnose`` finds in a recording, as a page shows it."""

from __future__ import annotations

from typing import Any

from epic_cli.analysis.diagnosis.detector import Finding, detector_of
from epic_cli.views.diagnosis import Report, headline, network_words, sentence, unable_words

#: Of so many recordings a page tells what is wrong with them.
MOST = 12

#: What a page has of one recording.
Section = dict[str, Any]


def section(report: Report) -> Section:
    """The findings of a recording; their moments (stamps, s) are places on its time axis."""
    lines = [str(one) for one in report.diagnosis.left_out]
    if report.network is not None:
        lines.insert(0, network_words(report.network))
    return {
        "recording": report.name,
        "headline": headline(report),
        "findings": [_finding(one) for one in report.diagnosis.findings],
        "lines": [*lines, *unable_words(report.diagnosis.unable)],
    }


def _finding(finding: Finding) -> dict[str, Any]:
    detector = detector_of(finding.cause)
    hence = [detector_of(one.cause).title for one in finding.consequences]
    return {
        "title": detector.title,
        "entities": list(finding.entities),
        "sentences": [
            ("", sentence(detector.says, finding)),
            ("effect", sentence(detector.effect, finding)),
            ("cure", sentence(detector.cure, finding)),
            *([("hence", "; ".join(hence))] if hence else []),
        ],
        "moments": [
            (name, round(at, 6))
            for name, at in (("first", finding.first), ("worst", finding.worst))
            if at is not None
        ],
    }
