"""Formatting of numbers for people, with only their meaningful digits."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from epic_cli.engine.text.widths import Count


def format_three_digits(value: float) -> str:
    """Format a number with three significant digits, without exponent from 0.001 to ten million.

    For example ``686,000``.
    """
    if value == 0 or not math.isfinite(value):
        return f"{value:.0f}"  # beyond all numbers: inf
    size = math.floor(math.log10(abs(value)))
    if not -4 < size < 7:
        return f"{value:.2e}"
    return f"{round(float(value), 2 - size):,.{max(0, 2 - size)}f}"


def format_one_decimal(value: float) -> str:
    """Format a number with one decimal: ``65.9``."""
    return f"{value:.1f}"


def format_whole(value: float) -> str:
    """Format a number without decimals: ``7``."""
    return f"{value:.0f}"


def format_milliseconds(seconds: float) -> str:
    """Format seconds as whole milliseconds without a unit: 0.158 is ``158``."""
    return f"{round(seconds * 1000)}"


def format_percent(share: float) -> str:
    """Format a share of 1 in percent: 0.13 is ``13 %``."""
    return "0" if share == 0 else "<1 %" if share < 0.005 else f"{share:.0%}".replace("%", " %")


def round_up_to_two_digits(value: float) -> float:
    """Return the next number of two digits that is not smaller."""
    if not value:
        return 0.0
    unit = 10.0 ** (math.floor(math.log10(abs(value))) - 1)
    return float(f"{math.ceil(value / unit - 1e-9) * unit:.12g}")


def format_seconds(value: float) -> str:
    """Format a time as ``83 ms``, or as ``2.5 s`` from one second on; 0 below a nanosecond."""
    return (
        f"{format_number(value)} s" if abs(value) >= 1 else f"{round(value * 1e3, 6) + 0.0:.3g} ms"
    )


def format_share(value: float) -> str:
    """Format a share of 1 for sentences: ``5 %``."""
    return f"{value * 100:.3g} %"


def format_option_share(value: float) -> str:
    """Format a share of 1 as options write it: ``5%``."""
    return f"{value * 100:.3g}%"


def format_number(value: float) -> str:
    """Format a number with three digits, and commas up to a billion: ``12,300``, ``1.55e+38``."""
    return f"{value:,.0f}" if 1000 <= abs(value) < 1e9 else f"{value:.3g}"


def format_rough(value: float) -> str:
    """Format a number with two digits and no exponent: ``5.7``, ``300``."""
    return f"{float(f'{value:.2g}'):g}"


def format_amount(value: float) -> str:
    """Format the absolute value of a deviation with three digits."""
    return format_number(abs(value))


def format_count(number: int, word: str) -> str:
    """Format a count with its noun: ``1 row`` or ``1,200 rows``."""
    return f"{Count(number):{word}}"


def join_words(words: Sequence[str]) -> str:
    """Join words to a list: ``a``, ``a and b`` or ``a, b and c``."""
    return " and ".join(filter(None, [", ".join(words[:-1]), *words[-1:]]))


def choose_verb(number: int, one: str, many: str | None = None) -> str:
    """Return a verb's singular or plural form, by the number of its subjects.

    The forms are ``differs`` and ``differ``, or ``one`` and ``many``.
    """
    if many is None:
        return f"{one}s" if number == 1 else one
    return one if number == 1 else many


def format_interval(
    low: float, high: float, write: Callable[[float], str], to: str = " to "
) -> str:
    """Format an interval: ``76 to 91``, or ``at least 76`` if the upper end is unknown.

    Empty if both ends are unknown.
    """
    if math.isnan(low):
        return "" if math.isnan(high) else f"at most {write(high)}"
    return f"at least {write(low)}" if math.isnan(high) else f"{write(low)}{to}{write(high)}"


def replace_unknown(value: Any) -> Any:
    """Return the value, or None for an infinite number or NaN, which JSON does not have."""
    return None if isinstance(value, float) and not math.isfinite(value) else value
