"""Tests of packets as a table of numbers, and of the cleaning of numbers."""

from __future__ import annotations

import numpy as np
import pytest

from epic_cli.engine.contract import Packet
from epic_cli.engine.measure import clean_numbers, fill_packet_table
from epic_cli.engine.packets import PacketBlock


def test_each_packet_is_a_column_and_what_it_lacks_is_none() -> None:
    block = PacketBlock()
    block.append(Packet((1.0, 2.0, 3.0), (4.0, 5.0, 6.0), 1.5, arrival=1.6, sequence=7))
    block.append(Packet((1.0, 2.0, 3.0), None, 2.5, teleport=True))
    numbers = np.empty((10, 2))
    fill_packet_table(block, numbers)
    assert numbers[:, 0].tolist() == [1.5, 1, 2, 3, 4, 5, 6, 1.6, 7, 0]
    assert np.isnan(numbers[4:9, 1]).all()
    assert numbers[9, 1] == 1
    for shape in ((10, 3), (9, 2)):
        with pytest.raises(ValueError, match="10, n"):
            fill_packet_table(block, np.empty(shape))


def test_what_cannot_be_computed_with_is_replaced() -> None:
    numbers = np.array([np.nan, np.inf, -1e101, 1e-101, -1e-101, 0.12345678949, 1.7e9, -2.5])
    clean_numbers(numbers, 1e-100, 1e100, 1e9)
    assert np.isnan(numbers[:3]).all()
    assert numbers[3:].tolist() == [0, 0, 0.123456789, 1.7e9, -2.5]
