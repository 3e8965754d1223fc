"""Findings in words: for people, for documents and for programs."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from rich.console import Console, ConsoleOptions, RenderResult
from rich.text import Text

from epic_cli.analysis.diagnosis.detector import Detector, Finding, detector_of
from epic_cli.analysis.diagnosis.diagnose import Diagnosis
from epic_cli.analysis.diagnosis.messages import SHARES, Network
from epic_cli.analysis.drawn.match import Match
from epic_cli.engine.text.widths import printable
from epic_cli.views.drawn_words import drawn_record, drawn_words
from epic_cli.views.table import definitions, paragraph

#: Seconds around a moment that are worth a look.
AROUND = 1.0

#: Sentences are no longer than this, however wide the screen is.
PROSE = 100


class _Value:
    """A value that is written as its place in a sentence says: seconds, a share or a number."""

    def __init__(self, value: float | str) -> None:
        self._value = value

    def __format__(self, kind: str) -> str:
        if isinstance(self._value, str):
            return self._value
        return {"s": seconds, "share": share, "number": number}[kind or "number"](self._value)


class _Values(dict[str, _Value]):
    """Values by name; the name itself where somebody's own detector gives none."""

    def __missing__(self, name: str) -> _Value:
        """The name as it stands in the sentence."""
        return _Value(f"{{{name}}}")


def seconds(value: float) -> str:
    """``83 ms``, or ``2.5 s`` from one second on."""
    return f"{value:.3g} s" if abs(value) >= 1 else f"{value * 1e3:.3g} ms"


def share(value: float) -> str:
    """``5%``, as options take it."""
    return f"{value * 100:.3g}%"


def number(value: float) -> str:
    """Three digits."""
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"


def sentence(template: str, finding: Finding) -> str:
    """A detector's sentence with the finding's values."""
    return template.format_map(
        _Values({one: _Value(value) for one, value in finding.values.items()})
    )


def moments(finding: Finding) -> str:
    """Where to look, as ``--span`` takes it; empty: it is everywhere."""
    if finding.worst is None:
        return ""
    first = finding.worst if finding.first is None else finding.first
    span = f"{max(finding.worst - AROUND, 0):.6g}:{finding.worst + AROUND:.6g}"
    begins = "" if finding.first is None else f"first at {first:.6g} s, "
    return f"{begins}worst at {finding.worst:.6g} s (--span {span})"


def who(finding: Finding) -> str:
    """Whom it concerns; empty: all."""
    return ", ".join(finding.entities)


@dataclass(frozen=True)
class Report:
    """What is told of one recording: how many ``packets`` in which ``duration`` (s), and more.

    ``network`` None: nothing is known of it; ``drawn`` None: nor of what the game drew.
    """

    name: str
    packets: int
    duration: float
    network: Network | None
    diagnosis: Diagnosis
    drawn: Match | None = None


def report_of(name: str, diagnosis: Diagnosis) -> Report:
    """The report on a recording."""
    found = diagnosis
    return Report(name, found.packets, found.duration, found.network, found, found.drawn)


def headline(report: Report) -> str:
    """How much was looked at, and how much was found."""
    found = len(report.diagnosis.findings)
    looked = f"{report.packets:,} packets in {seconds(report.duration)}"
    verdict = {0: "nothing wrong was found", 1: "1 finding"}.get(found, f"{found} findings")
    return f"{report.name}: {verdict} ({looked})"


def network_words(network: Network) -> str:
    """The network in a sentence."""
    needs = ", ".join(
        f"{seconds(delay)} for {of * 100:g}%"
        for of, delay in zip(SHARES, network.needed, strict=True)
    )
    return (
        f"{network.rate:.3g} messages a second; the middle delay is {seconds(network.middle)}, from"
        f" 5% to 95% it varies by {seconds(network.spread)}. A delay buffer needs {needs} of the"
        " packets to be there in time."
    )


def unable_words(unable: Sequence[tuple[Detector, tuple[str, ...]]]) -> list[str]:
    """What could not be looked at, and for lack of what."""
    by_lack: dict[tuple[str, ...], list[str]] = {}
    for detector, lacking in unable:
        by_lack.setdefault(lacking, []).append(detector.name)
    return [
        f"Not looked at without {' and '.join(lack)}: {', '.join(names)}."
        for lack, names in by_lack.items()
    ]


class DiagnosisText:
    """A report for people; rich prints it."""

    def __init__(self, report: Report) -> None:
        self._report = report

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """The verdict, the findings with evidence, effect and cure, and what was not looked at."""
        room = min(options.max_width, PROSE)
        report = self._report
        yield from paragraph(headline(report), room, style="bold")
        for place, finding in enumerate(report.diagnosis.findings, 1):
            yield Text()
            yield from self._finding(place, finding, room)
        if report.network is not None:
            yield Text()
            yield from paragraph(network_words(report.network), room)
        if report.drawn is not None:
            yield Text()
            for line in drawn_words(report.drawn):
                yield from paragraph(printable(line), room)
        lines = unable_words(report.diagnosis.unable)
        for line in (*lines, *(printable(str(one)) for one in report.diagnosis.left_out)):
            yield from paragraph(line, room)

    def _finding(self, place: int, finding: Finding, room: int) -> RenderResult:
        detector = detector_of(finding.cause)
        title = f"{place}. {detector.title}"
        if finding.entities:
            title += f" ({who(finding)})"
        yield from paragraph(title, room, style="bold")
        yield from paragraph(sentence(detector.says, finding), room, "   ")
        evidence = f"{detector.statistic}; it counts from {detector.threshold}"
        rows = [("effect", sentence(detector.effect, finding))]
        rows.append(("cure", sentence(detector.cure, finding)))
        if when := moments(finding):
            rows.append(("when", when))
        rows.append(("told by", evidence))
        if finding.consequences:
            titles = [detector_of(one.cause).title for one in finding.consequences]
            rows.append(("hence", "; ".join(titles)))
        yield from definitions(rows, room, "   ")


def record(report: Report, finding: Finding) -> dict[str, Any]:
    """A finding by names, for JSON lines."""
    detector = detector_of(finding.cause)
    return {
        "recording": report.name,
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


def as_jsonl(report: Report) -> str:
    """A line for each finding, and one for what was drawn, if that is looked at."""
    records = [record(report, one) for one in report.diagnosis.findings]
    if report.drawn is not None:
        records.append({"recording": report.name, "drawn": drawn_record(report.drawn)})
    return "".join(json.dumps(one, allow_nan=False) + "\n" for one in records)


def as_markdown(report: Report) -> str:
    """A section for a document."""
    lines = [f"## {_plain(headline(report))}", ""]
    for finding in report.diagnosis.findings:
        detector = detector_of(finding.cause)
        lines += [f"### {detector.title}", "", _plain(sentence(detector.says, finding)), ""]
        lines.append(f"- effect: {_plain(sentence(detector.effect, finding))}")
        lines.append(f"- cure: {_plain(sentence(detector.cure, finding))}")
        if when := moments(finding):
            lines.append(f"- when: {when}")
        if finding.consequences:
            titles = [detector_of(one.cause).title for one in finding.consequences]
            lines.append(f"- hence: {'; '.join(titles)}")
        lines.append("")
    if report.network is not None:
        lines += [network_words(report.network), ""]
    if report.drawn is not None:
        lines += [*map(_plain, drawn_words(report.drawn)), ""]
    lines += unable_words(report.diagnosis.unable)
    lines += [_plain(str(one)) for one in report.diagnosis.left_out]
    return "\n".join(lines).rstrip("\n") + "\n"


def _plain(text: str) -> str:
    return printable(text).replace("|", "\\|")
