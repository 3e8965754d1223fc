"""A simulated link: its presets as a report, and what became of its packets, in two lines."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Protocol

from epic_cli.show.report import Column, Report, Table

if TYPE_CHECKING:
    from epic_cli.network.link import Fates, LinkConditions
    from epic_cli.network.link_spec import Preset
    from epic_cli.network.simulation import Statistics


class LinkCounts(Protocol):
    """Counts of packets or datagrams by outcome; delays in seconds."""

    @property
    def sent(self) -> int:
        """Number of packets sent."""

    @property
    def arrived(self) -> int:
        """Number of packets that arrived, copies included."""

    @property
    def reordered(self) -> int:
        """Number of packets that arrived after a later one."""

    @property
    def longest_loss(self) -> int:
        """The largest number of packets lost in a row."""

    @property
    def lost(self) -> int:
        """Number of packets lost."""

    @property
    def duplicated(self) -> int:
        """Number of packets duplicated."""

    def delay(self, share: float) -> float:
        """Return the delay (s) that a ``share`` (0 to 1) of the arrived packets does not exceed."""


def summarize_link(statistics: LinkCounts, fates: Fates) -> str:
    """Return the counts of a link, the quantiles of its delays, and the clipped packets, if any."""
    sent = statistics.sent
    lost = f"{statistics.lost} lost ({100 * statistics.lost / max(sent, 1):.1f}%"
    if statistics.longest_loss > 1:
        lost += f", up to {statistics.longest_loss} in a row"
    if fates.corrupted:
        lost += f", {fates.corrupted} corrupted"
    if fates.dropped:
        lost += f", {fates.dropped} dropped by the full queue"
    counts = [
        f"{sent} sent",
        lost + ")",
        f"{statistics.duplicated} duplicated",
        f"{statistics.arrived} arrived",
        f"{statistics.reordered} reordered",
    ]
    lines = ", ".join(counts) + "\n"
    if statistics.arrived:
        lines += f"delay in ms: {write_quantiles(statistics.delay)}\n"
    return lines + describe_clipping(fates.clipped)


def describe_traffic(statistics: Statistics, seconds: float) -> str:
    """Return the traffic in a line: states and bytes a second, bits of a state.

    ``seconds`` are the time from the first datagram to one interval after the last.
    """
    states, rate = statistics.states, (1 - 1 / statistics.sent) / seconds
    line = (
        f"{states * rate:.3g} states a second of {statistics.state_bits / max(states, 1):.3g} bits:"
        f" {statistics.bytes * rate:.4g} bytes a second with headers"
    )
    if statistics.undecodable:
        line += f"; {statistics.undecodable} arrived without what they are changes of"
    if statistics.clipped:
        line += f"; {statistics.clipped} coordinates were out of the range, and clipped"
    return line + "\n"


def write_quantiles(
    delay: Callable[[float], float],
    shares: Iterable[float] = (0.0, 0.5, 0.95, 0.99, 1.0),
    digits: int = 3,
) -> str:
    """Return quantiles of the delays as text, in ms: ``min 40, 50% 52, ...``."""
    names = {0.0: "min", 1.0: "max"}
    return ", ".join(
        f"{names.get(share, f'{100 * share:g}%')} {1000 * delay(share):.{digits}g}"
        for share in shares
    )


def describe_clipping(packets: int) -> str:
    """Return a line on ``packets`` whose simulated delay was below 0 and became 0.

    Empty for none.
    """
    if not packets:
        return ""
    return (
        f"{packets} packets would have arrived before they were sent and arrived at once: the"
        " jitter is too large for the latency\n"
    )


def make_presets_report(presets: Iterable[Preset]) -> Report:
    """Return the presets of a link as a table."""
    rows = [
        (
            preset.name,
            _write_delay(preset.down),
            _write_loss(preset.down),
            f"{_write_rate(preset.down)}, {_write_rate(preset.up)}"
            if math.isfinite(preset.down.rate)
            else "",
            preset.meaning,
            preset.source,
        )
        for preset in presets
    ]
    heads = ("preset", "one way", "loss", "rate down, up", "what it is", "source")
    columns = zip(heads, zip(*rows, strict=True), strict=True)
    return Report(parts=[Table([Column(head, cells) for head, cells in columns])])


def _write_delay(link: LinkConditions) -> str:
    jitter = f" +- {1000 * link.jitter:g}" if link.jitter else ""
    return f"{1000 * link.latency:g}{jitter} ms"


def _write_loss(link: LinkConditions) -> str:
    return f"{100 * link.loss:g}%" if isinstance(link.loss, int | float) and link.loss else ""


def _write_rate(link: LinkConditions) -> str:
    return f"{link.rate / 1e6:g}mbit" if link.rate >= 1e6 else f"{link.rate / 1000:g}kbit"
