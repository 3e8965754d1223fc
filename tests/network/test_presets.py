"""Presets against what their sources have published."""

from __future__ import annotations

import pytest

from epic_cli.network.link_spec import (
    PRESETS,
    UNITY,
    WEB_PAGE_TEST,
    find_preset,
    parse_link_word,
    with_words,
)
from epic_cli.show.link import presets_report
from epic_cli.show.report import Table

#: Packet delay and jitter (ms) and loss (%), as in the manual of Unity's Network Simulator.
UNITY_FIGURES = {
    "broadband": (32, 12, 2), "fiber": (10, 1, 0), "cable": (25, 5, 0), "dsl": (30, 10, 0),
    "satellite": (100, 10, 0), "congested": (50, 50, 1), "2g": (520, 50, 7), "2.5g": (480, 40, 7),
    "2.75g": (440, 40, 7), "3g": (360, 30, 7), "3.5g": (160, 30, 6), "3.75g": (130, 30, 6),
    "4g": (100, 20, 4), "4.5g": (80, 20, 4), "5g": (30, 20, 4), "wifi": (32, 12, 2),
    "lte": (100, 20, 4),
}  # fmt: skip
#: bwIn, bwOut (bit/s) and latency (ms, there and back) of connectivity.ini.sample.
WEB_FIGURES = {
    "web-cable": (5_000_000, 1_000_000, 28), "web-dsl": (1_500_000, 384_000, 50),
    "web-fios": (20_000_000, 5_000_000, 4), "web-dial": (49_000, 30_000, 120),
    "web-3g": (1_600_000, 768_000, 300), "web-3g-fast": (1_600_000, 768_000, 150),
    "web-3g-slow": (780_000, 330_000, 200), "web-edge": (240_000, 200_000, 840),
    "web-2g": (35_000, 32_000, 1300),
}  # fmt: skip


def test_unity() -> None:
    found = {
        name: (1000 * one.down.latency, 1000 * one.down.jitter, 100 * float(str(one.down.loss)))
        for name, one in PRESETS.items()
        if one.source == UNITY
    }
    assert found == {name: pytest.approx(figures) for name, figures in UNITY_FIGURES.items()}
    assert all(PRESETS[name].up == PRESETS[name].down for name in found)


def test_web_page_test() -> None:
    found = {
        name: (one.down.rate, one.up.rate, 1000 * (one.down.latency + one.up.latency))
        for name, one in PRESETS.items()
        if one.source == WEB_PAGE_TEST
    }
    assert found == {name: pytest.approx(figures) for name, figures in WEB_FIGURES.items()}


def test_a_preset_is_a_word_that_comes_before_the_others() -> None:
    before = find_preset("web-2g").down
    words = [parse_link_word(word) for word in ("loss=1%", "preset=lte")]
    assert with_words(before, words[1:]) == PRESETS["lte"].down
    assert with_words(before, words).loss == 0.01
    assert with_words(before, words).latency == 0.1


def test_the_table_has_them_all() -> None:
    (table,) = presets_report(PRESETS.values()).parts
    assert isinstance(table, Table)
    names, _, _, rates, *_ = (column.cells for column in table.columns)
    assert list(names) == list(PRESETS)
    assert rates[list(names).index("web-cable")] == "5mbit, 1mbit"
