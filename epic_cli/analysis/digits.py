"""How values are written for people: as many digits as mean something."""

from __future__ import annotations

import math


def three_digits(value: float) -> str:
    """Three significant digits, without an exponent from 0.001 to a million."""
    if value == 0:
        return "0"
    size = math.floor(math.log10(abs(value)))
    if not -4 < size < 6:
        return f"{value:.2e}"
    return f"{value:.{max(0, 2 - size)}f}"


def one_decimal(value: float) -> str:
    """``65.9``."""
    return f"{value:.1f}"


def whole(value: float) -> str:
    """``7``."""
    return f"{value:.0f}"


def milliseconds(seconds: float) -> str:
    """Seconds as whole milliseconds: 0.158 is ``158``."""
    return f"{round(seconds * 1000)}"


def percent(share: float) -> str:
    """A share of 1: 0.13 is ``13 %``."""
    return "0" if share == 0 else "<1 %" if share < 0.005 else f"{share:.0%}".replace("%", " %")
