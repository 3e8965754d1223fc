"""What became of the packets of a simulation, in two lines."""

from __future__ import annotations

from epic_cli.network.simulation import Statistics


def summary(statistics: Statistics) -> str:
    """Counts, and quantiles of the delays."""
    sent = statistics.sent
    lost = f"{statistics.lost} lost ({100 * statistics.lost / max(sent, 1):.1f}%"
    if statistics.longest_loss > 1:
        lost += f", up to {statistics.longest_loss} in a row"
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
    return lines
