"""A diagnosis as a report: findings worst first, the network, what could not be checked."""

from __future__ import annotations

from typing import Any

from epic_cli.analysis.diagnosis.detector import Finding, detector_of
from epic_cli.analysis.diagnosis.diagnose import Diagnosis
from epic_cli.views import report as model
from epic_cli.views.diagnosis.sentences import (
    headline,
    moments,
    network_words,
    sentence,
    unchecked_words,
    unseen_words,
)


def report(name: str, found: Diagnosis) -> model.Report:
    """The findings with evidence, effect and cure, and what the recording shows of its network."""
    parts: list[model.Part] = list(map(_finding, found.findings))
    if found.network is not None:
        parts.append(network_words(found.network))
    if found.drawn is not None:
        from epic_cli.views.diagnosis.drawn import drawn_words  # hardly anybody knows it

        parts.append("\n".join(drawn_words(found.drawn)))

    def records() -> list[model.Record]:
        return _records(name, found)

    return model.Report(
        title=headline(name, len(found.findings), found.packets, found.duration),
        parts=parts,
        notes=[
            *unseen_words(*found.unseen),
            *unchecked_words(found.unable),
            *map(str, found.left_out),
        ],
        data=model.Data(records=records),
    )


def _finding(finding: Finding) -> model.Finding:
    detector = detector_of(finding.cause)
    terms = [
        ("effect", sentence(detector.effect, finding)),
        ("cure", sentence(detector.cure, finding)),
        ("when", moments(finding)),
        ("evidence", f"{detector.statistic}; it counts from {detector.threshold}"),
        ("also explains", "; ".join(detector_of(o.cause).title for o in finding.consequences)),
    ]
    places = (("first", finding.first), ("worst", finding.worst))
    return model.Finding(
        detector.title,
        sentence(detector.says, finding),
        [(name, text) for name, text in terms if text],
        finding.entities,
        [(name, at) for name, at in places if at is not None],
    )


def _records(name: str, found: Diagnosis) -> list[model.Record]:
    """A record for each finding, and one for what was drawn, if that is looked at."""
    records: list[model.Record] = [_record(name, one) for one in found.findings]
    if found.drawn is not None:
        from epic_cli.views.diagnosis.drawn import drawn_record

        records.append({"recording": name, "drawn": drawn_record(found.drawn)})
    return records


def _record(recording: str, finding: Finding) -> dict[str, Any]:
    detector = detector_of(finding.cause)
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
        "what": sentence(detector.says, finding),
        "effect": sentence(detector.effect, finding),
        "cure": sentence(detector.cure, finding),
        "consequences": [one.cause for one in finding.consequences],
    }
