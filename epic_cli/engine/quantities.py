"""Numbers with units as people write them: ``0.08`` or ``80ms``, ``20`` or ``20hz``, ``2%``.

Parameters and readers of single numbers use it.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fractions import Fraction

#: By the unit of a quantity (``""``: a share of 1, ``length units``: the recording's own), the
#: suffixes that its number may have, each with its power of ten.
_WORDS: dict[str, dict[str, int]] = {
    "s": {"s": 0, "ms": -3, "us": -6},
    "Hz": {"hz": 0, "khz": 3},
    "bit/s": {"bit": 0, "kbit": 3, "mbit": 6, "gbit": 9},
    "": {"%": -2},
    "length units": {},
}

#: How a quantity is written, by its unit.
EXAMPLES = {
    "s": "0.08 or 80ms (units: s, ms, us)",
    "Hz": "20 or 20hz (units: Hz, kHz)",
    "bit/s": "500kbit or 1mbit (units: bit, kbit, mbit, gbit, each a second)",
    "": "0.02 or 2%",
    "length units": "0.5, in the recording's own unit",
}

_NAMES = {
    "s": "a time",
    "Hz": "a rate",
    "bit/s": "a rate",
    "": "a share",
    "length units": "a length",
}


def parse(text: str, unit: str) -> float:
    """A number in ``unit``: the double nearest to what is written, so 80ms is 0.08.

    A ratio such as ``1/60`` will do as well, and infinity is a number. Raises ``ValueError``,
    which says how a quantity of this unit is written.
    """
    try:
        if "/" in text:
            return float(exact(text, unit))
        number, power = _split(text, unit)
        mantissa, _, exponent = number.partition("e")
        found = float(f"{mantissa}e{int(exponent or 0) + power}" if power else number)
        if not math.isnan(found):
            return found
    except (ArithmeticError, LookupError, ValueError):
        pass  # rejected like NaN
    raise ValueError(f"{text!r} is not {_NAMES[unit]}: write {EXAMPLES[unit]}")


def exact(text: str, unit: str) -> Fraction:
    """The number as a ratio; raises what ``float``, ``Fraction`` and a mapping raise."""
    from fractions import Fraction  # rarely needed

    number, power = _split(text, unit)
    if "/" not in number and not 1e-9 < abs(float(number)) < 1e9:
        ratio = Fraction(float(number))  # not the decimal: it has all the zeros of 1e-999999999
    else:
        ratio = Fraction(number)
    return ratio * Fraction(10) ** power


def _split(text: str, unit: str) -> tuple[str, int]:
    """The number without its unit, and the power of ten of that."""
    text = text.strip().lower()
    number = text.rstrip("abcdefghijklmnopqrstuvwxyz%")
    if "_" in text:
        raise ValueError("only programs write numbers like that")
    if not number.strip("+-"):  # nan, inf
        return text, 0
    word = text[len(number) :]
    return number.strip(), _WORDS[unit][word] if word else 0


def parse_span(text: str) -> tuple[float, float]:
    """``start:end`` in seconds, either of which may be left out; raises ``ValueError``."""
    start, colon, end = text.partition(":")
    try:
        span = float(start or -math.inf), float(end or math.inf)
    except ValueError:
        span = math.nan, math.nan
    if not (colon and span[0] < span[1]):
        raise ValueError(f"{text!r} is not a span: write 10:20, 10: or :20, in seconds")
    return span
