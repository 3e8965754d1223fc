"""Fill the sentences of detectors with values, and write remedies."""

from __future__ import annotations

from collections.abc import Mapping

from epic_cli.jobs.diagnose.detectors import Finding, find_detector
from epic_cli.jobs.diagnose.remedies import Remedy, write_option
from epic_cli.metrics.digits import (
    format_count,
    format_number,
    format_option_share,
    format_seconds,
    format_share,
)


class _WrittenValue:
    """A value that a sentence formats as seconds, as a share, as a number, or as a count.

    The word for a count is what is counted; an ``option`` is a share as options write it.
    """

    def __init__(self, value: float | str) -> None:
        self._value = value

    def __format__(self, kind: str) -> str:
        if isinstance(self._value, str):
            return self._value
        ways = {
            "s": format_seconds,
            "share": format_share,
            "option": format_option_share,
            "number": format_number,
            "": format_number,
        }
        return ways[kind](self._value) if kind in ways else format_count(round(self._value), kind)


class _WrittenValues(dict[str, _WrittenValue]):
    """Values by name; a value that a custom detector lacks is written as its name in braces."""

    def __missing__(self, name: str) -> _WrittenValue:
        """Return the name in braces, as it stands in the sentence."""
        return _WrittenValue(f"{{{name}}}")


def fill_sentence(template: str, finding: Finding) -> str:
    """Fill a detector's sentence with the finding's values."""
    return fill_template(template, finding.values)


def fill_template(template: str, values: Mapping[str, float | str]) -> str:
    """Fill a sentence with values."""
    return template.format_map(
        _WrittenValues({one: _WrittenValue(value) for one, value in values.items()})
    )


def write_remedy(finding: Finding, drawn: bool = False) -> str:
    """Return the remedy of a finding, and what its trial on this recording gains and costs.

    Where what the game drew is known, a remedy that draws is that of the whole advice.
    """
    words, trial, remedy = _write_advice(finding), finding.trial, finding.remedy
    if remedy is None:
        return words
    if remedy.untried:
        return f"{words} Not tried, for lack of arrival times: {remedy.command}."
    if trial is None:
        return words if remedy.beside else f"Tried here, and no better: {remedy.command}."
    if drawn and _is_drawing(remedy):
        return f"Draw with {trial.command}: {trial.words}."
    return f"{words} Tried here with {trial.command}: {trial.words}."


def _is_drawing(remedy: Remedy) -> bool:
    """Return True if a remedy is a way to draw, which ends the cause."""
    return remedy.strategy is not None and remedy.packets is None and not remedy.beside


def list_remedy_terms(finding: Finding, drawn: bool) -> list[tuple[str, str]]:
    """Return the remedy of a finding as terms: the advice, what was tried, the gain."""
    trial, remedy = finding.trial, finding.remedy
    if remedy is not None and remedy.untried:
        untried = f"{remedy.command} (not tried, for lack of arrival times)"
        return [("cure", _write_advice(finding)), ("try", untried)]
    if trial is None and remedy is not None and not remedy.beside:
        return [("tried", f"{remedy.command} (draws no better here)")]
    if trial is None or remedy is None:
        words = write_remedy(finding, drawn)
        return [("cure", words)] if words else []
    terms = [] if drawn and _is_drawing(remedy) else [("cure", _write_advice(finding))]
    name = "try" if remedy.is_typed else "tried"
    return [*terms, (name, trial.command), ("gain", f"{trial.words}.")]


def _write_advice(finding: Finding) -> str:
    """Return the detector's advice against a cause."""
    return fill_sentence(find_detector(finding.cause).cure, finding)


def describe_comparison(finding: Finding, drawn: bool) -> str:
    """Return what the remedies were compared with; empty if no remedy that was tried is printed."""
    remedy = finding.remedy
    if remedy is None or (finding.trial is None and remedy.beside):
        return ""
    if remedy.against is None:
        return "with what the game drew." if drawn else ""
    kept = " on both sides, the packets as they are on one" if remedy.strategy is None else ""
    return f"with {write_option(remedy.against)}{kept}."
