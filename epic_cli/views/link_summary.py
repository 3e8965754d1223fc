"""What became of the packets of a simulation, in two lines."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from epic_cli.network.link import Fates


class Counts(Protocol):
    """What became of packets, as of ``Statistics``."""

    @property
    def sent(self) -> int: ...  # noqa: D102
    @property
    def lost(self) -> int: ...  # noqa: D102
    @property
    def longest_loss(self) -> int: ...  # noqa: D102
    @property
    def duplicated(self) -> int: ...  # noqa: D102
    @property
    def arrived(self) -> int: ...  # noqa: D102
    @property
    def reordered(self) -> int: ...  # noqa: D102

    def delay(self, share: float) -> float:
        """The delay in seconds that this share of the arrivals do not exceed."""


def summary(statistics: Counts, fates: Fates) -> str:
    """Counts, and quantiles of the delays; and what the link had to clip, if anything."""
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
        lines += f"delay in ms: {quantiles(statistics.delay)}\n"
    return lines + clipping(fates.clipped)


def quantiles(delay: Callable[[float], float]) -> str:
    """The least, the usual and the greatest delays (seconds) in milliseconds."""
    shares = (("min", 0.0), ("50%", 0.5), ("95%", 0.95), ("99%", 0.99), ("max", 1.0))
    return ", ".join(f"{name} {1000 * delay(one):.3g}" for name, one in shares)


def clipping(packets: int) -> str:
    """A line about so many packets whose delay would have been below 0; nothing about none."""
    if not packets:
        return ""
    return (
        f"{packets} packets would have arrived before they were sent and arrived at once: the"
        " jitter is too large for the latency\n"
    )
