"""Rates at which games tick."""

from __future__ import annotations

#: Rates that games tick at, and how far off (share) the one that arrival times tell may be.
_USUAL_RATES = (
    5, 8, 10, 12, 12.5, 15, 16, 20, 22, 24, 25, 30, 32, 33, 36, 40, 45, 48, 50, 60, 62.5, 64, 66,
    72, 75, 80, 90, 100, 120, 125, 128, 144, 240,
)  # fmt: skip
_OFF = 0.015


def find_usual_rate(rate: float) -> float | None:
    """Return the rate at which games tick that is near a measured rate (Hz); None if none is."""
    nearest = min(_USUAL_RATES, key=lambda usual: abs(usual - rate))
    return nearest if abs(nearest - rate) <= _OFF * rate else None
