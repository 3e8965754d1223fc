"""Degenerate recordings: no exception, no warning, and no finding with NaN or infinity."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.faulty_traffic import Columns, make_table_traffic

from epic_cli.jobs.diagnose.detectors import find_detector
from epic_cli.jobs.diagnose.link import find_link
from epic_cli.jobs.diagnose.report import report
from epic_cli.jobs.diagnose.report.networks import describe_link
from epic_cli.jobs.diagnose.run import diagnose
from epic_cli.metrics.arrays import ARRIVAL, POSITION, SEQUENCE, TIME, VELOCITY
from epic_cli.metrics.traffic import MessageLog, Traffic
from epic_cli.show.documents import write_jsonl, write_markdown

pytestmark = pytest.mark.filterwarnings("error")


def told(tables: dict[str, Columns]) -> str:
    """Return the whole diagnosis of these packets; JSON refuses NaN and infinity."""
    traffic: Traffic = make_table_traffic(tables)
    if not traffic.streams:
        return ""
    found = report("", diagnose(traffic))
    words = write_jsonl(found) + write_markdown(found)
    assert "nan" not in words.replace("dominan", "")
    for line in write_jsonl(found).splitlines():
        json.loads(line)
    if traffic.messages is not None:
        story = describe_link(find_link(traffic), "network.csv")
        assert "nan" not in story
    return words


def plain(count: int) -> Columns:
    """Return an entity that goes straight on, 20 times a second, over an even network."""
    rows = np.zeros((10, count))
    rows[TIME] = np.arange(count) / 20
    rows[POSITION] = rows[TIME] * np.array([[1.0], [2.0], [0.0]])
    rows[VELOCITY] = [[1.0], [2.0], [0.0]]
    rows[ARRIVAL] = rows[TIME] + 0.05
    rows[SEQUENCE] = np.arange(count)
    return rows


def _changed(place: Any, value: Any, count: int = 200) -> Columns:
    rows = plain(count)
    rows[place] = value
    return rows


RANDOM = np.random.default_rng(1)

QUIET = {
    "twenty packets": plain(20),
    "at rest": _changed(slice(1, 7), 0.0),
    "no numbers at all": _changed(slice(4, 10), np.nan),
    "NaN velocities": _changed(VELOCITY, np.nan),
    "unix times": plain(400) + np.array([[1.7e9], *[[0.0]] * 6, [1.7e9], *[[0.0]] * 2]),
    "descending": plain(200)[:, ::-1],
}

WILD = {
    "equal stamps": _changed(TIME, 1.0),
    "equal arrivals": _changed(ARRIVAL, 1.0),
    "equal numbers": _changed(SEQUENCE, 7.0),
    "pairs of equal stamps": _changed(TIME, np.repeat(np.arange(100) / 20, 2)),
    "huge times": _changed(TIME, np.arange(200) * 1e13),
    "huge positions": _changed(POSITION, RANDOM.normal(0, 1e30, (3, 200))),
    "infinite velocities": _changed(VELOCITY, np.inf),
    "huge velocities": _changed(VELOCITY, 1e300),
    "huge arrivals": _changed(ARRIVAL, RANDOM.normal(0, 1e300, 200)),
    "infinite numbers": _changed(SEQUENCE, np.inf),
    "huge numbers": _changed(SEQUENCE, RANDOM.normal(0, 1e300, 200)),
    "tiny times": _changed(TIME, np.arange(200) * 1e-300),
    "all tiny": plain(200) * 1e-310,
    "one that moves once": _changed((POSITION, slice(0, 100)), 0.0),
    "each packet three times": np.repeat(plain(60), 3, axis=1)
    + np.array([[0.0]] * 7 + [[0.001]] + [[0.0]] * 2) * np.tile([0, 1, 2], 60),
    "equal stamps of before": _changed(TIME, -32.0, 27),
    "every other number missing": _changed((SEQUENCE, slice(None, None, 2)), np.nan),
}


@pytest.mark.parametrize("case", QUIET)
def test_of_a_dull_recording_nothing_is_told(case: str) -> None:
    traffic = make_table_traffic({"": QUIET[case]})
    assert traffic.streams
    assert diagnose(traffic).findings == ()
    assert told({"": QUIET[case]})


@pytest.mark.parametrize("case", WILD)
def test_a_wild_recording_raises_and_warns_of_nothing(case: str) -> None:
    told({"": WILD[case]})
    told({"a": plain(200), "b": WILD[case]})


def test_messages_of_one_stamp_have_no_drift() -> None:
    messages = MessageLog(np.zeros(200), np.arange(200) / 20, 0, 200)
    assert find_detector("clock-drift").detect(Traffic((), messages, 200)) == []


def test_one_entity_of_many_is_looked_at() -> None:
    few = plain(3)
    tables = {f"{index}": few for index in range(2_000)}
    assert told(tables) == ""
    assert "20 messages a second" in told({**tables, "a": plain(40)})


VALUES = st.one_of(
    st.floats(-100, 100),
    st.floats(width=64),
    st.sampled_from([0.0, 1.0, 0.05, 1.7e9, np.nan, np.inf, -np.inf, 1e300, -1e300, 5e-324]),
)


@st.composite
def recordings(draw: st.DrawFn) -> Columns:
    """Return columns, each of them usual, rounded, noisy, constant, wild or missing."""
    count = draw(st.integers(20, 150))
    rows = plain(count)
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    for column in range(10):
        kind = draw(st.sampled_from(["usual"] * 4 + ["noisy", "rounded", "same", "wild", "none"]))
        if kind == "noisy":
            scale = 10.0 ** draw(st.integers(-12, 12))
            rows[column] += random.normal(0, scale, count)
        elif kind == "rounded":
            step = draw(st.sampled_from([0.05, 0.1, 0.5, 1.0, 7.0]))
            rows[column] = np.round(rows[column] / step) * step
        elif kind == "same":
            rows[column] = draw(VALUES)
        elif kind == "wild":
            some = np.array(draw(st.lists(VALUES, min_size=1, max_size=12)))
            rows[column] = np.where(
                random.random(count) < draw(st.sampled_from([0.05, 0.5, 1.0])),
                some[random.integers(0, len(some), count)],
                rows[column],
            )
        elif kind == "none":
            rows[column] = np.nan
    return rows


@settings(max_examples=30, deadline=None)
@given(recordings(), st.integers(0, 2**32))
def test_any_columns_in_any_order_give_the_same_findings(rows: Columns, seed: int) -> None:
    order = np.random.default_rng(seed).permutation(rows.shape[1])
    straight = told({"b": rows, "a": plain(50)})
    assert told({"a": plain(50), "b": rows[:, order]}) == straight
