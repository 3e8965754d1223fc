from __future__ import annotations

import pytest

from epic_cli.engine.text.widths import Count
from epic_cli.metrics.digits import format_count, format_rough, format_three_digits


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0"),
        (1.0, "1.00"),
        (0.001234, "0.00123"),
        (123456.0, "123,000"),
        (1.5e9, "1.50e+09"),
        (-0.25, "-0.250"),
        (1e-9, "1.00e-09"),
    ],
)
def test_three_digits(value: float, text: str) -> None:
    assert format_three_digits(value) == text


def test_what_is_counted_has_its_number() -> None:
    assert [format_count(n, "time") for n in (0, 1, 1200)] == ["0 times", "1 time", "1,200 times"]
    assert [format_count(n, "entity") for n in (1, 2)] == ["1 entity", "2 entities"]
    words = [f"{Count(n):way} {Count(n):leads|lead} {Count(n):,}" for n in (1, 2000)]
    assert words == ["1 way leads 1", "2,000 ways lead 2,000"]


@pytest.mark.parametrize("value", [0.0123, 1.79, 57.3, 300.4, 8000.0, 123456.0])
def test_two_digits_are_written_without_an_exponent(value: float) -> None:
    assert "e" not in format_rough(value)
    assert float(format_rough(value)) == pytest.approx(value, rel=0.05)
