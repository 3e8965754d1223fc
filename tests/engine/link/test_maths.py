"""Tests of the portable sine, exponential, logarithm and normal probability against libm."""

from __future__ import annotations

import math

import pytest

from epic_cli.engine.link import exponential, logarithm, normal_probability, sine_cosine


def test_sine_and_cosine() -> None:
    for turns in [n / 97 for n in range(-400, 400)] + [12345.678, 1e9 + 0.3]:
        angle = math.remainder(turns, 1) * 2 * math.pi
        assert sine_cosine(turns) == pytest.approx((math.sin(angle), math.cos(angle)), abs=1e-15)


def test_exponential() -> None:
    for x in [n / 7 for n in range(-500, 500)] + [-700.0, 700.0]:
        assert exponential(x) == pytest.approx(math.exp(x), rel=2e-13)


def test_logarithm() -> None:
    for x in [n / 13 for n in range(1, 400)] + [1e-300, 5e-324, 1e300]:
        assert logarithm(x) == pytest.approx(math.log(x), rel=1e-14, abs=1e-15)


def test_normal_probability() -> None:
    for z in [n / 10 for n in range(-70, 71)]:
        assert normal_probability(z) == pytest.approx(math.erfc(-z / math.sqrt(2)) / 2, abs=1e-14)


def test_normal_probability_is_never_0_or_1() -> None:
    assert 0 < normal_probability(-1e9) < 1e-11
    assert 1 - 1e-11 < normal_probability(1e9) < 1
