"""What a diagnosis says: a detector's sentences with a finding's values, and what frames them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from epic_cli.analysis.diagnosis.detectors.network.clock_drift import USUAL
from epic_cli.analysis.diagnosis.messages import SHARES, Network
from epic_cli.analysis.digits import counted, number, seconds, share

if TYPE_CHECKING:
    from epic_cli.analysis.diagnosis.detector import Detector, Finding

#: Seconds around a moment that are worth a look.
AROUND = 1.0


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


def headline(name: str, found: int, packets: int, duration: float) -> str:
    """How many findings, in how much data."""
    findings = counted(found, "finding") if found else "nothing wrong found"
    return f"{name}: {findings} ({counted(packets, 'packet')} in {seconds(duration)})"


def moments(finding: Finding) -> str:
    """Where to look, as ``--span`` takes it; empty: it is everywhere."""
    if finding.worst is None:
        return ""
    span = f"{max(finding.worst - AROUND, 0):.2f}:{finding.worst + AROUND:.2f}"
    begins = "" if finding.first is None else f"first at {finding.first:.2f} s, "
    return f"{begins}worst at {finding.worst:.2f} s (--span {span})"


def network_words(network: Network) -> str:
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


def unseen_words(least: float, length: float) -> list[str]:
    """Which drift (s/s) may be there all the same, and how long a recording would show less."""
    if not least > USUAL:
        return []
    return [
        f"A clock drift below {number(least * 1e6)} ppm does not show in so short a recording;"
        f" {number(USUAL * 1e6)} ppm would in {seconds(length)}."
    ]


def unchecked_words(unable: Sequence[tuple[Detector, tuple[str, ...]]]) -> list[str]:
    """What could not be checked, and for lack of what."""
    by_lack: dict[tuple[str, ...], list[str]] = {}
    for detector, lacking in unable:
        by_lack.setdefault(lacking, []).append(detector.name)
    return [
        f"Not checked (no {', no '.join(lack)}): {', '.join(names)}."
        for lack, names in by_lack.items()
    ]
