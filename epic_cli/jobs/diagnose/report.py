"""A diagnosis as a report: findings worst first, the network, what could not be checked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from epic_cli.jobs.diagnose.detector import Detector, Finding, detector_of
from epic_cli.jobs.diagnose.detectors.network.clock_drift import USUAL
from epic_cli.jobs.diagnose.run import Diagnosis
from epic_cli.metrics.digits import counted, number, seconds, share
from epic_cli.metrics.traffic.messages import SHARES, Network
from epic_cli.show import report as model

#: Seconds around a moment that are worth a look.
_AROUND = 1.0


def report(name: str, found: Diagnosis) -> model.Report:
    """The findings with evidence, effect and cure, and what the recording shows of its network."""
    parts: list[model.Part] = list(map(_finding, found.findings))
    if found.network is not None:
        parts.append(_network(found.network))
    if found.drawn is not None:
        from epic_cli.jobs.diagnose.drawn_report import drawn_words  # hardly anybody knows it

        parts.append("\n".join(drawn_words(found.drawn)))

    def records() -> list[model.Record]:
        return _records(name, found)

    return model.Report(
        title=_headline(name, len(found.findings), found.packets, found.duration),
        parts=parts,
        notes=[
            *_unseen(*found.unseen),
            *_unchecked(found.unable),
            *map(str, found.left_out),
        ],
        data=model.Data(records=records),
    )


def _finding(finding: Finding) -> model.Finding:
    detector = detector_of(finding.cause)
    terms = [
        ("effect", sentence(detector.effect, finding)),
        ("cure", sentence(detector.cure, finding)),
        ("when", _moments(finding)),
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
        from epic_cli.jobs.diagnose.drawn_report import drawn_record

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


# ---------------------------------------------------------------- sentences


class _Value:
    """A value that is written as its place in a sentence says: seconds, a share or a number."""

    def __init__(self, value: float | str) -> None:
        self._value = value

    def __format__(self, kind: str) -> str:
        if isinstance(self._value, str):
            return self._value
        return {"s": seconds, "share": share, "number": number}[kind or "number"](self._value)


class _Values(dict[str, _Value]):
    """Values by name; the name itself where a custom detector gives none."""

    def __missing__(self, name: str) -> _Value:
        """The name as it stands in the sentence."""
        return _Value(f"{{{name}}}")


def sentence(template: str, finding: Finding) -> str:
    """A detector's sentence with the finding's values."""
    return template.format_map(
        _Values({one: _Value(value) for one, value in finding.values.items()})
    )


def _headline(name: str, found: int, packets: int, duration: float) -> str:
    """How many findings, in how much data."""
    findings = counted(found, "finding") if found else "nothing wrong found"
    return f"{name}: {findings} ({counted(packets, 'packet')} in {seconds(duration)})"


def _moments(finding: Finding) -> str:
    """Where to look, as ``--span`` takes it; empty: it is everywhere."""
    if finding.worst is None:
        return ""
    span = f"{max(finding.worst - _AROUND, 0):.2f}:{finding.worst + _AROUND:.2f}"
    begins = "" if finding.first is None else f"first at {finding.first:.2f} s, "
    return f"{begins}worst at {finding.worst:.2f} s (--span {span})"


def _network(network: Network) -> str:
    """The network in a sentence."""
    needs = [
        f"{seconds(delay)} for {of * 100:g} %"
        for of, delay in zip(SHARES, network.needed, strict=True)
    ]
    frames = ""
    if network.frame:
        frames = (
            f" The receiver reads once a frame ({1 / network.frame:.3g} Hz), so that packets wait"
            f" up to {seconds(network.frame)} for it."
        )
    return (
        f"{network.rate:.3g} messages a second, median delay {seconds(network.middle)}, 5-95 %"
        f" spread {seconds(network.spread)}. A delay buffer needs {needs[0]} of the packets to be"
        f" in time, {', '.join(needs[1:])}.{frames}"
    )


def _unseen(least: float, length: float) -> list[str]:
    """Which drift (s/s) may be there all the same, and how long a recording would show less."""
    if not least > USUAL:
        return []
    return [
        f"A clock drift below {number(least * 1e6)} ppm does not show in so short a recording;"
        f" {number(USUAL * 1e6)} ppm would in {seconds(length)}."
    ]


def _unchecked(unable: Sequence[tuple[Detector, tuple[str, ...]]]) -> list[str]:
    """What could not be checked, and for lack of what."""
    by_lack: dict[tuple[str, ...], list[str]] = {}
    for detector, lacking in unable:
        by_lack.setdefault(lacking, []).append(detector.name)
    return [
        f"Not checked (no {', no '.join(lack)}): {', '.join(names)}."
        for lack, names in by_lack.items()
    ]
