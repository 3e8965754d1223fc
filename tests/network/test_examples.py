"""Tests of the examples in the documentation."""

from __future__ import annotations

import doctest

import epic_cli.network


def test_examples() -> None:
    result = doctest.testmod(epic_cli.network)
    assert result.attempted >= 6
    assert result.failed == 0
