"""A finding as a part of the report, and as a record."""

from __future__ import annotations

from typing import Any

from epic_cli.jobs.diagnose.detectors import Finding, find_detector
from epic_cli.jobs.diagnose.report.sentences import (
    describe_comparison,
    fill_sentence,
    list_remedy_terms,
    write_remedy,
)
from epic_cli.show import report as model

#: Seconds before and after a moment that are worth a look.
AROUND = 1.0


def make_finding(finding: Finding, drawn: bool) -> model.ReportFinding:
    """Return a finding as a part of the report; ``drawn``: what the game drew is known."""
    detector = find_detector(finding.cause)
    method = [
        ("effect", fill_sentence(detector.effect, finding)),
        ("also explains", "; ".join(find_detector(o.cause).title for o in finding.consequences)),
        ("when", _describe_moments(finding)),
        ("compared", describe_comparison(finding, drawn)),
        ("measured", f"{detector.statistic}."),
        ("reported if", f"{detector.threshold}."),
        ("source", f"{detector.source}."),
    ]
    places = (("first", finding.first), ("worst", finding.worst))
    return model.ReportFinding(
        detector.title,
        fill_sentence(detector.says, finding),
        list_remedy_terms(finding, drawn),
        finding.entities,
        [(name, at) for name, at in places if at is not None],
        [(name, text) for name, text in method if text],
    )


def make_record(recording: str, finding: Finding, drawn: bool) -> dict[str, Any]:
    """Return a finding as a record; ``drawn``: what the game drew is known."""
    detector = find_detector(finding.cause)
    return {
        "recording": recording,
        "cause": finding.cause,
        "title": detector.title,
        "share": finding.share,
        "statistic": finding.statistic,
        "threshold": finding.threshold,
        "first": finding.first,
        "worst": finding.worst,
        "entities": list(finding.entities),
        "values": dict(finding.values),
        "what": fill_sentence(detector.says, finding),
        "effect": fill_sentence(detector.effect, finding),
        "cure": write_remedy(finding, drawn),
        "trial": None if finding.trial is None else finding.trial.record,
        "consequences": [consequence.cause for consequence in finding.consequences],
    }


def _describe_moments(finding: Finding) -> str:
    """Return the first and the worst time of a finding, with the ``--span`` to look at.

    Empty: it is everywhere.
    """
    if finding.worst is None:
        return ""
    span = f"{max(finding.worst - AROUND, 0):.2f}:{finding.worst + AROUND:.2f}"
    begins = "" if finding.first is None else f"first at {finding.first:.2f} s, "
    return f"{begins}worst at {finding.worst:.2f} s (--span {span})"
