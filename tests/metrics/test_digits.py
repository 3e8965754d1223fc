from __future__ import annotations

import pytest

from epic_cli.metrics.digits import three_digits


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
    assert three_digits(value) == text
