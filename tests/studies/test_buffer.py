"""The closed form against packets with random delays, without ``epic``."""

from __future__ import annotations

import csv
import re
from pathlib import Path

import numpy as np
import pytest

from studies.buffer import Cell, missing, needed


def thrown(delay: float, cell: Cell, seed: int, packets: int = 60_000) -> float:
    """Return the share of random times by which no later state has arrived."""
    dice = np.random.default_rng(seed)
    lost = dice.random(packets) < cell.loss
    if cell.burst > 1:
        bad = False
        enter = cell.loss / (1 - cell.loss) / cell.burst
        for k, chance in enumerate(dice.random(packets)):
            bad = chance >= 1 / cell.burst if bad else chance < enter
            lost[k] = bad
    delays = (
        dice.gamma(2.0, cell.jitter / np.sqrt(2), packets) if cell.jitter else np.zeros(packets)
    )
    arrivals = np.where(lost, np.inf, np.arange(packets) + delays)
    # from the last packet back: when the first of a stamp and all later ones is there
    first = np.minimum.accumulate(arrivals[::-1])[::-1]
    at = dice.uniform(0, packets - 100, 200_000)
    return float((first[np.ceil(at).astype(int)] > at + delay).mean())


@pytest.mark.parametrize(
    ("delay", "cell"),
    [
        (0.6, Cell(0.0, 1, 0.0)),
        (1.4, Cell(0.0, 1, 0.25)),
        (2.5, Cell(0.05, 1, 0.5)),
        (1.3, Cell(0.1, 1, 0.0)),
        (3.0, Cell(0.05, 3, 0.1)),
        (6.0, Cell(0.1, 3, 1.0)),
    ],
)
def test_it_is_what_thrown_packets_do(delay: float, cell: Cell) -> None:
    expected = np.mean([thrown(delay, cell, seed) for seed in range(3)])
    assert missing(delay, cell) == pytest.approx(expected, rel=0.08)


@pytest.mark.parametrize(
    ("loss", "share", "delay"), [(0.02, 0.01, 1.51), (0.05, 0.01, 1.84), (0.05, 0.001, 2.63)]
)
def test_without_jitter_it_can_be_worked_out_by_hand(
    loss: float, share: float, delay: float
) -> None:
    """The share is (D - k) p^(k + 1) + (k + 1 - D) p^k for k <= D <= k + 1."""
    found = needed(share, lambda at: missing(at, Cell(loss, 1, 0.0)))
    assert found == pytest.approx(delay, abs=0.01)


def test_a_delay_that_is_written_is_enough() -> None:
    """The table of the guide, rounded up, against the figures that the study has written."""
    folder = Path(__file__).parent
    figures = csv.DictReader((folder / "buffer.csv").read_text().splitlines())
    needs = {tuple(row.values())[:4]: float(row["delay"]) for row in figures}
    lines = [line for line in (folder / "README.md").read_text().splitlines() if ") |" in line]
    table = [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines[:7]]
    checked = 0
    for network, *cells in table:
        found = re.match(r"(\d+)(?: % in bursts of (\d))?", network)
        assert found
        for jitter, cell in zip(("0.0", "0.1", "0.25", "0.5", "1.0"), cells, strict=True):
            for share, written in zip(("0.01", "0.001"), re.findall(r"[\d.]+", cell), strict=True):
                need = needs[str(int(found[1]) / 100), found[2] or "1", jitter, share]
                assert need <= float(written) < need + 0.1, (network, jitter, share)
                checked += 1
    assert checked == 70
