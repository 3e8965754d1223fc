"""A strategy whose delay buffer is shorter than the network needs.

Frames in which it runs empty are counted, and those of the delay that it needs.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from epic_cli.engine.packets import PacketBlock, Status
from epic_cli.engine.replay import TooManyRows, Trace
from epic_cli.engine.replay.playback import SCREEN_TIMING
from epic_cli.engine.replay.strategy_spec import write_spec
from epic_cli.engine.strategies import FAMILIES, get_declaration
from epic_cli.jobs.diagnose.detectors import ARRIVALS, STRATEGY, Detector, Finding
from epic_cli.metrics.delays import adapt_to_clocks, find_needed_delays
from epic_cli.metrics.traffic import SHARES, Traffic, make_traffic, measure_network

if TYPE_CHECKING:
    from epic_cli.engine.replay.strategy_spec import StrategySpec

#: Families of strategies with a delay buffer.
BUFFERED = {FAMILIES["fixed_delay"], FAMILIES["adaptive_delay"]}

#: Seconds, or a tenth of the recording if that is less, until a buffer is filled.
WARM_UP = 1.0

#: Seconds without packets that no buffer is meant for.
SILENCE = 1.0

#: The place of 99 % among the ``SHARES`` of packets in time.
ENOUGH = SHARES.index(0.99)

#: A change helps if at most this part of the empty frames is left.
HELPS = 0.5


def has_buffer(candidate: StrategySpec) -> bool:
    """Return True if the strategy interpolates between received states."""
    return get_declaration(candidate.name).family in BUFFERED


def measure_starvation(candidate: StrategySpec, packets: Mapping[str, PacketBlock]) -> float:
    """Return the share of a screen's rows that are held or extrapolated, 0 to 1.

    Rows of the warm-up do not count, nor rows long after an entity's last arrival, or while it
    rests and nothing of it is sent.
    """
    empty = judged = 0
    for block in packets.values():
        messages = make_traffic({"": block}).messages
        if messages is None:
            continue
        arrivals = messages.arrivals[messages.in_order]
        idle = (
            np.zeros(len(arrivals)) if messages.idle is None else messages.idle[messages.in_order]
        )
        begin = arrivals[0] + min(WARM_UP, 0.1 * float(arrivals[-1] - arrivals[0]))
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


def find_longer_buffer(
    candidate: StrategySpec, packets: Mapping[str, PacketBlock]
) -> StrategySpec | None:
    """Return the strategy with a delay for 99 % of the packets; None if its settings allow none."""
    needed = find_needed_delays([packets], [candidate])
    settings = needed.buffers[0].cures[0][ENOUGH].settings if needed and needed.buffers else None
    if settings is None:
        return None
    return candidate._replace(settings={**candidate.settings, **settings})


#: Least share of empty frames: every buffer runs empty now and then.
SHARE = 0.05

#: Most entities that are replayed, those with the most packets.
MOST = 8


def measure_buffers(traffic: Traffic) -> tuple[tuple[StrategySpec, float], ...]:
    """Return the strategies, and the share of rows in which the buffer of each is empty.

    NaN: it has no delay buffer. Nothing is returned where no entity can be replayed. What
    ``traffic`` has of it is not measured again.
    """
    if traffic.starved is not None:
        return tuple(traffic.starved)
    packets = _select_packets(traffic) if traffic.strategies else {}
    return tuple(
        (candidate, measure_starvation(candidate, packets) if has_buffer(candidate) else math.nan)
        for candidate in (traffic.strategies if packets else ())
    )


def _select_packets(traffic: Traffic) -> dict[str, PacketBlock]:
    """Return the packets of the largest entities, but for those that two senders send."""
    names = [
        stream.name
        for stream in sorted(traffic.streams, key=lambda stream: -len(stream.times))
        if stream.name in traffic.blocks and stream.name not in traffic.senders
    ]
    return {name: traffic.blocks[name] for name in names[:MOST]}


def detect(traffic: Traffic) -> list[Finding]:
    """Find strategies that cannot interpolate many of their rows."""
    messages, packets = traffic.arrived, _select_packets(traffic)
    _, p95, p99, _ = measure_network(messages).needed
    found = []
    for candidate, share in measure_buffers(traffic):
        if not share >= SHARE:
            continue
        fixed = adapt_to_clocks(candidate, float(messages.delays.min()), messages.entity_period)
        clock = fixed is not candidate
        left = measure_starvation(fixed, packets) if clock else share
        if left >= SHARE and (longer := find_longer_buffer(fixed, packets)) is not None:
            fixed, left = longer, measure_starvation(longer, packets)
        cure, gain = "No setting of it helps: try another strategy.", dict[str, float | str]()
        if left < HELPS * share:
            gain = {"instead": write_spec(fixed.name, fixed.settings), "left": left}
            cure = f"Use {gain['instead']}: for this recording that leaves {left * 100:.1f} %."
        if clock:
            cure = f"It takes the receiver's clock for the sender's, which is another here. {cure}"
        values: dict[str, float | str] = {
            "strategy": candidate.label,
            "share": share,
            "p95": p95,
            "p99": p99,
            "cure": cure,
            **gain,
        }
        found.append(Finding("delay-buffer", share, share, SHARE, values))
    return found


DETECTOR = Detector(
    "delay-buffer",
    "the delay buffer is too short",
    "In {share:share} of its frames {strategy} has no newer state to interpolate to: 95 % of the"
    " packets need a delay of {p95:s}, 99 % need {p99:s}.",
    "Each time what is drawn freezes or is extrapolated, and jumps when the packet arrives.",
    "{cure}",
    "share of the rows at 60 Hz that are held or extrapolated, after the warm-up, where a packet"
    " has arrived within a second",
    "it is 5 %",
    "replay of the recording; quantiles of arrival(i) - sent(i - 1)",
    detect,
    cost="n times the strategies",
    needs=(ARRIVALS, STRATEGY),
    rank=80,
)
