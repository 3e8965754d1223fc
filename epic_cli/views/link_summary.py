"""What became of the packets of a simulation, in two lines."""

from __future__ import annotations

from epic_cli.network.link import Fates
from epic_cli.network.simulation import Statistics


def summary(statistics: Statistics, fates: Fates) -> str:
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
        shares = (("min", 0.0), ("50%", 0.5), ("95%", 0.95), ("99%", 0.99), ("max", 1.0))
        quantiles = (f"{name} {1000 * statistics.delay(one):.3g}" for name, one in shares)
        lines += "delay in ms: " + ", ".join(quantiles) + "\n"
    return lines + clipping(fates.clipped)


def clipping(packets: int) -> str:
    """A line about so many packets whose delay would have been below 0; nothing about none."""
    if not packets:
        return ""
    return (
        f"{packets} packets would have arrived before they were sent and arrived at once: the"
        " jitter is too large for the latency\n"
    )
