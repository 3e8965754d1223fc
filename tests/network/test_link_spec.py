"""Tests of ``--link``: accepted, written and refused descriptions, and presets."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from epic_cli.engine import description
from epic_cli.network.link import LINK, GilbertElliott, LinkConditions, QueueLimit
from epic_cli.network.link_spec import (
    LINK_KEYS,
    PRESETS,
    UNITY,
    WEB_PAGE_TEST,
    LinkSpec,
    TwoWays,
    parse_word,
)
from epic_cli.show.link import make_presets_report
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


def test_presets_are_as_published() -> None:
    unity = {
        name: (1000 * one.down.latency, 1000 * one.down.jitter, 100 * float(str(one.down.loss)))
        for name, one in PRESETS.items()
        if one.source == UNITY
    }
    assert unity == {name: pytest.approx(figures) for name, figures in UNITY_FIGURES.items()}
    assert all(PRESETS[name].up == PRESETS[name].down for name in unity)
    web = {
        name: (one.down.rate, one.up.rate, 1000 * (one.down.latency + one.up.latency))
        for name, one in PRESETS.items()
        if one.source == WEB_PAGE_TEST
    }
    assert web == {name: pytest.approx(figures) for name, figures in WEB_FIGURES.items()}
    (table,) = make_presets_report(PRESETS.values()).parts
    assert isinstance(table, Table)
    names, _, _, rates, *_ = (column.cells for column in table.columns)
    assert list(names) == list(PRESETS)
    assert rates[list(names).index("web-cable")] == "5mbit, 1mbit"


def test_every_parameter() -> None:
    text = (
        'latency=20ms,jitter=5ms,distribution=gamma,correlation=20%,gemodel="1%,30%",'
        "duplicate=1%,reorder=2%,reorder_gap=3,reorder_correlation=5%,corrupt=1%,rate=1.5mbit,"
        "queue=20packets,packet_size=1200,in_order=on"
    )
    conditions = LinkConditions(
        0.02, 0.005, "gamma", 0.2, GilbertElliott(0.01, 0.3), 0.01, 0.02, True, reorder_gap=3,
        reorder_correlation=0.05, corrupt=0.01, rate=1_500_000, queue=QueueLimit(packets=20),
        packet_size=1200,
    )  # fmt: skip
    assert LinkSpec.parse(text).conditions == conditions
    assert LinkSpec.parse(LinkSpec.from_description(conditions).write()).conditions == conditions


@pytest.mark.parametrize(
    ("text", "up", "down"),
    [
        ("4g,loss=3%", {"latency": 0.1, "loss": 0.03}, {"latency": 0.1, "loss": 0.03}),
        ("loss=3%,4g", {"latency": 0.1, "loss": 0.03}, {"jitter": 0.02, "loss": 0.03}),
        ("web-2g", {"rate": 32_000}, {"rate": 35_000}),
        ("up.latency=20ms,latency=10ms", {"latency": 0.02}, {"latency": 0.01}),
        ("up.preset=4g,up.loss=1%", {"latency": 0.1, "loss": 0.01}, {"latency": 0.05}),
        ("jitter=5ms", {"latency": 0.05, "jitter": 0.005}, {"latency": 0.05}),
        ("trace=a.csv", {"latency": 0}, {"latency": 0}),
    ],
)
def test_both_directions(text: str, up: dict[str, float], down: dict[str, float]) -> None:
    """Other entries override a preset, and those of one direction those of both, in any order."""
    ways = LinkSpec.parse(text, LinkConditions(latency=0.05), two_ways=True).ways
    assert {name: getattr(ways.up, name) for name in up} == up
    assert {name: getattr(ways.down, name) for name in down} == down


def test_options_beside_it_go_before_it() -> None:
    over = {"latency": 0.007, "loss": 0.5}
    spec = LinkSpec.parse('4g,gemodel="1%,9%",latency=9ms,up.latency=1ms', two_ways=True, over=over)
    assert (spec.ways.down.latency, spec.ways.down.jitter, spec.ways.down.loss) == (
        0.007,
        0.02,
        0.5,
    )
    assert spec.ways.up.latency == 0.001


def test_a_word_that_is_changed_holds_until_the_next_one() -> None:
    ways = TwoWays()
    for word in ("latency=10ms", "up.latency=20ms", "up.loss=1%"):
        ways = ways.apply_words([parse_word(word)])
    assert (ways.up.latency, ways.down.latency, ways.up.loss) == (0.02, 0.01, 0.01)
    ways = ways.apply_words([parse_word("latency=30ms")])
    assert (ways.up.latency, ways.down.latency, ways.up.loss) == (0.03, 0.03, 0.01)
    assert ways.apply_words([parse_word("web-2g")]) == (
        PRESETS["web-2g"].up,
        PRESETS["web-2g"].down,
    )
    link = LinkSpec.parse('wifi,at="10s loss=100%",at="12s lte loss=1%",at="12s jitter=0"')
    assert [(time, later.latency, later.loss) for time, later in link.conditions.later] == [
        (10, 0.032, 1), (12, 0.1, 0.01),
    ]  # fmt: skip


shares = st.floats(0, 0.9).map(lambda share: round(share, 3))
values: dict[str, st.SearchStrategy[Any]] = {
    "latency": shares, "jitter": shares, "loss": shares, "duplicate": shares, "corrupt": shares,
    "distribution": st.sampled_from(["gamma", "pareto-unbounded"]), "in_order": st.booleans(),
    "rate": st.floats(1, 1e9), "reorder_gap": st.integers(1, 9),
    "queue": st.integers(0, 99).map(lambda count: QueueLimit(packets=count)),
}  # fmt: skip
#: Without effect, and refused, without the other.
needed = {"queue": {"rate": 1e6}, "reorder_gap": {"reorder": 0.1}}
links = st.fixed_dictionaries({}, optional=values).map(
    lambda found: LinkConditions(
        **{key: value for name in found for key, value in needed.get(name, {}).items()} | found
    )
)
changes = st.dictionaries(
    st.floats(0, 100), st.tuples(st.tuples(st.sampled_from(["loss", "up.jitter"]), shares))
).map(lambda found: tuple(sorted(found.items())))


@given(links, links, changes)
def test_what_is_written_is_read_back(up: LinkConditions, down: LinkConditions, at: Any) -> None:
    spec = LinkSpec(TwoWays(up, down), at)
    assert LinkSpec.parse(spec.write(), two_ways=True) == spec
    assert "'" not in spec.write()


def test_one_direction_and_datagrams_take_less() -> None:
    with pytest.raises(ValueError, match=r"up\.rate: this link has one direction, write rate="):
        LinkSpec.parse("up.rate=1mbit")
    with pytest.raises(ValueError, match="both directions"):
        LinkSpec.parse("trace=a.csv,trace_direction=up", two_ways=True)
    with pytest.raises(ValueError, match="a length of its own"):
        LinkSpec.parse("rate=1mbit,packet_size=9").drop_sizes()


def test_completion_proposes_presets_keys_and_words() -> None:
    def proposed(begun: str) -> list[str]:
        names = ((name, None) for name in PRESETS)
        return [word for word, _ in description.complete(begun, LINK_KEYS, names)]

    assert proposed("4") == ["4g", "4.5g"]
    assert proposed("4g,lat") == ["4g,latency="]
    assert proposed('gemodel="1%,2%",dist') == ['gemodel="1%,2%",distribution=']
    assert proposed("4g,distribution=pareto-") == ["4g,distribution=pareto-unbounded"]
    assert {f"{parameter.name}=" for parameter in LINK} <= set(proposed(""))
