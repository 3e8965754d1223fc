"""A strategy whose delay buffer is shorter than the network needs.

Frames in which it runs empty are counted, and settings that would fill it are tried.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from epic_cli.engine.packets import PacketBlock, Status
from epic_cli.engine.parameters import Setting, SettingError, Value
from epic_cli.engine.replay import TooManyRows, Trace
from epic_cli.engine.replay.playback import SCREEN_TIMING
from epic_cli.engine.strategies import FAMILIES, get_declaration
from epic_cli.jobs.diagnose.detectors import ARRIVALS, STRATEGY, Detector, Finding
from epic_cli.metrics.traffic import MessageLog, Traffic, measure_network

if TYPE_CHECKING:
    from epic_cli.engine.replay.strategy_spec import StrategySpec

#: Families of strategies with a delay buffer.
BUFFERED = {FAMILIES["fixed_delay"], FAMILIES["adaptive_delay"]}

#: Seconds, or a tenth of the recording if that is less, until a buffer is filled.
WARM_UP = 1.0

#: Seconds without packets that no buffer is meant for.
SILENCE = 1.0

#: Multiples of the default, or of the needed delay, that are tried.
TRIED = (1.0, 1.25, 1.5, 2.0, 3.0, 4.0)

#: Share of empty frames that is as good as none: no longer delay is tried.
ENOUGH = 0.01


class DelayChange(NamedTuple):
    """A setting, its new value, and the share of frames in which the buffer is then empty."""

    setting: str
    value: Value
    starved: float


def has_buffer(candidate: StrategySpec) -> bool:
    """Return True if the strategy interpolates between received states."""
    return get_declaration(candidate.name).family in BUFFERED


def measure_starvation(
    candidate: StrategySpec, packets: Mapping[str, PacketBlock], messages: MessageLog
) -> float:
    """Return the share of a screen's rows that are held or extrapolated, 0 to 1.

    Rows of the warm-up do not count, nor rows long after the last arrival, or while nothing was to
    come.
    """
    arrivals = messages.arrivals[messages.in_order]
    idle = np.zeros(len(arrivals)) if messages.idle is None else messages.idle[messages.in_order]
    begin = arrivals[0] + min(WARM_UP, 0.1 * float(arrivals[-1] - arrivals[0]))
    empty = judged = 0
    for block in packets.values():
        try:
            rows = np.asarray(Trace(candidate.make, SCREEN_TIMING.resolve(True), block))
        except TooManyRows:
            continue
        times, status = rows["time"], rows["status"]
        inside = (times >= begin) & (times <= arrivals[-1])
        times, status = times[inside], status[inside]
        after = np.searchsorted(arrivals, times, "right")
        counts = (times - arrivals[np.maximum(after - 1, 0)] < SILENCE) & (status != Status.NONE)
        counts &= np.append(idle, 0.0)[after] == 0
        judged += int(counts.sum())
        empty += int((counts & np.isin(status, (Status.HELD, Status.EXTRAPOLATED))).sum())
    return empty / judged if judged else 0.0


def find_delay_change(
    candidate: StrategySpec,
    packets: Mapping[str, PacketBlock],
    messages: MessageLog,
    needed: float,
    before: float,
) -> DelayChange | None:
    """Return the smallest change of one setting that helps; None if no change halves the share.

    ``needed`` is the delay in seconds for nearly all packets, ``before`` the share of empty frames
    now. Settings that the strategy measures itself (``auto``), and rates, are tried last.
    """
    settings = sorted(
        get_declaration(candidate.name).settings,
        key=lambda one: (getattr(one, "unit", "") == "Hz", isinstance(one.default, str)),
    )
    best: DelayChange | None = None
    for setting in settings:
        for value in _iterate_longer_values(setting, candidate.settings.get(setting.name), needed):
            changed = candidate._replace(settings={**candidate.settings, setting.name: value})
            share = measure_starvation(changed, packets, messages)
            if share <= ENOUGH:
                return DelayChange(setting.name, value, share)
            if best is None or share < 0.8 * best.starved:
                best = DelayChange(setting.name, value, share)
    return best if best and best.starved < 0.5 * before else None


def _iterate_longer_values(setting: Setting, given: object, needed: float) -> Iterator[Value]:
    """Yield values that may lengthen the delay, beginning close to the current value."""
    now = setting.check(setting.default if given is None else given)
    unit = getattr(setting, "unit", None)
    if unit == "s":
        lengths = [needed * times for times in TRIED]
        values = [*(length for length in lengths if isinstance(now, str) or length > now)]
        values += [-length for length in lengths]  # some count it as an advance
    elif unit == "Hz":
        values = [1 / (needed * times) for times in TRIED]
    elif isinstance(now, str) or unit is None:
        return
    else:
        values = [now * times for times in TRIED[1:]]
    for value in values:
        with suppress(SettingError):
            yield setting.check(float(f"{value:.2g}"))


#: Least share of empty frames: every buffer runs empty now and then.
SHARE = 0.05

#: Most entities that are replayed, those with the most packets.
MOST = 8


def detect(traffic: Traffic) -> list[Finding]:
    """Find strategies that cannot interpolate many of their rows."""
    messages = traffic.arrived
    largest = sorted(traffic.streams, key=lambda one: -len(one.times))[:MOST]
    packets = {stream.name: traffic.blocks[stream.name] for stream in largest}
    _, p95, p99, _ = measure_network(messages).needed
    found = []
    for candidate in traffic.strategies:
        if not has_buffer(candidate):
            continue
        share = measure_starvation(candidate, packets, messages)
        if share < SHARE:
            continue
        change = find_delay_change(candidate, packets, messages, p99, share)
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
    "it is 5 %",
    "replay of the recording; quantiles of arrival(i) - sent(i - 1)",
    detect,
    cost="n times the settings that are tried",
    needs=(ARRIVALS, STRATEGY),
    rank=80,
)
