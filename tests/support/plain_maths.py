"""Sine, exponential, logarithm and normal probability with the same bits on every machine.

The C library's ``sin``, ``exp`` and ``log`` differ in their last bit from one machine to the next.
IEEE 754 rounds ``+``, ``-``, ``*``, ``/`` and ``sqrt`` in one way only, and ``floor``, ``frexp``
and ``ldexp`` are exact; the functions here use nothing else. They are right to about 1e-15,
the normal probability to 1e-14.
"""

from __future__ import annotations

import math

TURN = 6.283185307179586  # 2 pi
LN_2 = 0.6931471805599453
_HALF_LN_TURN = 0.9189385332046728  # ln(2 pi) / 2


def sine_cosine(turns: float) -> tuple[float, float]:
    """Return the sine and the cosine of an angle in turns (1 turn is 360 degrees).

    The angle is brought to within an eighth of a turn of a multiple of a quarter, where the Taylor
    series end soon.
    """
    turns -= math.floor(turns)
    quarters = math.floor(turns * 4 + 0.5)
    angle = (turns - quarters / 4) * TURN
    square = angle * angle
    sine, cosine = 1.0, 1.0
    for n in range(16, 0, -2):
        sine = 1.0 - sine * square / (n * (n + 1))
        cosine = 1.0 - cosine * square / (n * (n - 1))
    sine *= angle
    return ((sine, cosine), (cosine, -sine), (-sine, -cosine), (-cosine, sine))[quarters & 3]


def exponential(x: float) -> float:
    """Return the exponential function, for x up to 709."""
    if x < -745:
        return 0.0
    power = math.floor(x / LN_2 + 0.5)
    rest = x - power * LN_2
    result = 1.0
    for n in range(15, 0, -1):
        result = 1.0 + result * rest / n
    return math.ldexp(result, power)


def logarithm(x: float) -> float:
    """Return the natural logarithm of a positive number.

    ln m = 2 artanh((m - 1) / (m + 1)), for a mantissa between 0.707 and 1.414.
    """
    mantissa, power = math.frexp(x)
    if mantissa < 0.7071067811865476:
        mantissa, power = mantissa * 2, power - 1
    s = (mantissa - 1) / (mantissa + 1)
    square = s * s
    series = 0.0
    for n in range(23, 0, -2):
        series = series * square + 1.0 / n
    return 2 * s * series + power * LN_2


def normal_probability(z: float) -> float:
    """Return the share of a standard normal distribution that lies below z; never 0 or 1.

    The series of G. Marsaglia, "Evaluating the Normal Distribution", Journal of Statistical
    Software 11 (4), 2004.
    """
    z = max(-7.0, min(7.0, z))
    square = z * z
    term = total = z
    before, n = 0.0, 1
    while total != before:
        before = total
        n += 2
        term *= square / n
        total += term
    return 0.5 + total * exponential(-0.5 * square - _HALF_LN_TURN)
