"""Outcomes for other programs: JUnit XML, and the Test Anything Protocol."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple
from xml.sax.saxutils import escape, quoteattr

from epic_cli.checking.outcome import Outcome, Verdict
from epic_cli.engine.text.widths import printable
from epic_cli.views.check.words import explanation, headline

#: What is no failure of what is tested, but of the test.
_ERRORS = (Verdict.BROKEN, Verdict.GONE, Verdict.STRATEGY_FAILED)


class Told(NamedTuple):
    """An outcome in words: all that is kept of it, however many rows it has."""

    name: str
    verdict: Verdict
    headline: str
    lines: tuple[str, ...]

    @property
    def holds(self) -> bool:
        """Whether all is as expected."""
        return self.verdict is Verdict.HOLDS


def told(outcome: Outcome) -> Told:
    """An outcome in words, which cannot steer a terminal."""
    lines = () if outcome.holds else tuple(map(printable, explanation(outcome)))
    name = printable(outcome.name)
    return Told(name, outcome.verdict, printable(headline(outcome)), lines)


def as_tap(outcomes: Sequence[Told]) -> str:
    """TAP version 13: a line for each case, in the order of the cases."""
    lines = ["TAP version 13", f"1..{len(outcomes)}"]
    for number, one in enumerate(outcomes, 1):
        name = one.name.replace("\\", "\\\\").replace("#", "\\#")
        lines.append(f"{'ok' if one.holds else 'not ok'} {number} - {name}")
        lines += [f"# {line}" for line in (one.headline, *one.lines) if not one.holds]
    return "\n".join(lines) + "\n"


def as_junit(outcomes: Sequence[Told]) -> str:
    """JUnit XML: a test case for each case."""
    errors = sum(one.verdict in _ERRORS for one in outcomes)
    failures = sum(not one.holds for one in outcomes) - errors
    counts = f'tests="{len(outcomes)}" failures="{failures}" errors="{errors}"'
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        f"<testsuites {counts}>",
        f'<testsuite name="epic check" {counts}>',
    ]
    for one in outcomes:
        begin = f'<testcase classname="epic" name={quoteattr(one.name)}'
        if one.holds:
            lines.append(f"{begin}/>")
            continue
        kind = "error" if one.verdict in _ERRORS else "failure"
        text = escape("\n".join(one.lines))
        message = quoteattr(one.headline)
        lines += [f"{begin}>", f"<{kind} message={message}>{text}</{kind}>", "</testcase>"]
    return "\n".join([*lines, "</testsuite>", "</testsuites>"]) + "\n"
