"""A strategy whose delay buffer is smaller than the network needs."""

from __future__ import annotations

from epic_cli.analysis.diagnosis.detector import ARRIVALS, STRATEGY, Detector, Finding
from epic_cli.analysis.diagnosis.messages import network_of
from epic_cli.analysis.diagnosis.starvation import has_buffer, remedy, starved
from epic_cli.analysis.diagnosis.traffic import Traffic

#: Every buffer runs empty now and then.
SHARE = 0.05

#: Entities that are replayed: those with the most packets.
MOST = 8


def detect(traffic: Traffic) -> list[Finding]:
    """The rows of each strategy that it could not interpolate."""
    messages = traffic.arrived
    largest = sorted(traffic.streams, key=lambda one: -len(one.times))[:MOST]
    packets = {one.name: traffic.blocks[one.name] for one in largest}
    _, p95, p99, _ = network_of(messages).needed
    found = []
    for candidate in traffic.spec.strategies:
        if not has_buffer(candidate):
            continue
        share = starved(candidate, packets, messages)
        if share < SHARE:
            continue
        change = remedy(candidate, packets, messages, p99, share)
        if change is None:
            cure = "No single setting of it helps: try another strategy."
        else:
            cure = (
                f"Set {candidate.name}'s {change.setting} to {change.value:g}: for this"
                f" recording that leaves {change.starved:.1%}."
            )
        values: dict[str, float | str] = {
            "strategy": candidate.label,
            "share": share,
            "p95": p95,
            "p99": p99,
            "cure": cure,
        }
        if change is not None:
            values |= {"setting": change.setting, "value": change.value, "left": change.starved}
        found.append(Finding("delay-buffer", share, share, SHARE, values))
    return found


DETECTOR = Detector(
    "delay-buffer",
    "the delay buffer is too short",
    "In {share:share} of its frames {strategy} has no newer state to interpolate to: 95% of the"
    " packets need a delay of {p95:s}, 99% need {p99:s}.",
    "Each time what is drawn freezes or is extrapolated, and jumps when the packet arrives.",
    "{cure}",
    "share of the rows at 60 Hz that are held or extrapolated, after the warm-up, where a packet"
    " has arrived within a second",
    "5 %",
    "replay of the recording; quantiles of arrival(i) - sent(i - 1)",
    detect,
    cost="n times the settings that are tried",
    needs=(ARRIVALS, STRATEGY),
    rank=80,
)
