"""What came in while listening, in a few lines."""

from __future__ import annotations

from epic_cli.live.listening import Counts
from epic_cli.live.refused import count_words


def losses(counts: Counts, dropped: int) -> str:
    """What was refused, and what the socket had no room for: lines, or nothing."""
    words = count_words(counts.refused)
    lines = f"{words}\n" if words else ""
    if dropped:
        lines += f"{dropped:,} datagrams dropped by the full queue of the socket\n"
    return lines


def summary(counts: Counts, entities: int, dropped: int) -> str:
    """Counts, and how much longer than the shortest packets were on their way."""
    lines = (
        f"{counts.packets:,} packets in {counts.datagrams:,} datagrams, {entities:,} entities,"
        f" {counts.late:,} packets older than the one before\n"
    )
    if counts.packets:
        least = counts.delays.delay(0)
        shares = (("50%", 0.5), ("95%", 0.95), ("99%", 0.99), ("max", 1.0))
        above = (f"{name} {1000 * (counts.delays.delay(one) - least):.3g}" for name, one in shares)
        lines += "delay above the shortest in ms: " + ", ".join(above) + "\n"
    return lines + losses(counts, dropped)
