from __future__ import annotations

from collections.abc import Callable
from typing import Any

from epic_cli.jobs.check.differences import DifferenceCause, Pattern
from epic_cli.jobs.check.outcome import CaseStatus
from epic_cli.jobs.check.report import describe_diagnosis, summarize_outcomes

#: What a pattern is told with, where that is not plain.
EVIDENCE: dict[Pattern, dict[str, Any]] = {
    Pattern.FACTOR: {"amount": 1.000001, "what": "velocities"},
    Pattern.FACTOR_AT_FIRST: {"amount": 100.0, "what": "everything"},
    Pattern.AXES: {"what": "x is y, y is x"},
    Pattern.STATUS: {"what": "held instead of interpolated"},
    Pattern.SHIFTED: {"amount": -2, "what": "0.1"},
    Pattern.OFFSET: {"amount": -0.25, "what": "y"},
    Pattern.DOUBLE: {"more": 20},
}


def test_what_a_difference_looks_like(words: Callable[[str, str], None]) -> None:
    lines = []
    for pattern in Pattern:
        shown: dict[str, Any] = {"amount": 0.001, "count": 4, "total": 40, "time": 1.05}
        found = DifferenceCause(pattern, **{**shown, **EVIDENCE.get(pattern, {})})
        lines.append(f"{pattern.name}: {describe_diagnosis(found)}\n")
    words("check-patterns", "".join(lines))


def test_summaries(words: Callable[[str, str], None]) -> None:
    one, two = summarize_outcomes(CaseStatus), summarize_outcomes([*CaseStatus, *CaseStatus])
    words("check-summaries", f"{one}\n{two}\n")
