"""Stamps that wrap are put straight, whatever counter they come from."""

import numpy as np
import pytest
from support import movements

from epic_cli.metrics.arrays import ARRIVAL, TIME, make_packet_table
from epic_cli.metrics.traffic import DROP, WRAPS, unwrap_stamps


@pytest.mark.parametrize("length", [length for length in WRAPS if length > DROP + 0.1])
def test_each_known_length_is_found_with_its_place(length: float) -> None:
    columns = make_packet_table(movements.block(movements.packets(movements.circle, 10.0)))
    times = max(length - 5, 0.4 * length) + 0.05 * np.arange(columns.shape[1])
    columns[TIME], columns[ARRIVAL] = times % length, times + 0.03
    straight, wrap = unwrap_stamps(columns)
    assert wrap is not None
    assert wrap.length == length
    assert wrap.first == columns[TIME][times < length][-1]
    assert np.ptp(straight[TIME] - times) < 1e-6 * length


def test_the_counters_that_wrap_are_known() -> None:
    assert {60.0, 3600.0, 86_400.0} < set(WRAPS)
    assert {2**16 / 1000, 2**32 / 1e6, 2**8 / 20, 2**16 / 60} < set(WRAPS)
