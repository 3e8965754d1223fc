"""The network of a recording: its simulated conditions are found, and its replay is the same."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import pytest
from support.faulty_traffic import Columns, make_table_traffic

from epic_cli.jobs.diagnose.link import FoundLink, find_link
from epic_cli.jobs.diagnose.report.networks import write_link_option
from epic_cli.metrics.arrays import ARRIVAL, SEQUENCE, TIME
from epic_cli.network.link import GilbertElliott, Link, LinkConditions
from epic_cli.network.link_spec import LinkSpec
from epic_cli.network.trace import TraceLink, read_trace, write_trace

PERIOD, COUNT = 0.05, 2400


def recorded(conditions: LinkConditions, numbers: bool = True, ahead: float = 0.0) -> Columns:
    """Return the packets that arrive of an entity on a circle, sent 20 times a second over this
    link.
    """
    link, rows = Link(conditions, seed=5), []
    for number in range(COUNT):
        sent = number * PERIOD
        for arrival in link.send(sent):
            state = (np.cos(sent), np.sin(sent), 0.0, -np.sin(sent), np.cos(sent), 0.0)
            rows.append((sent + ahead, *state, arrival, number if numbers else np.nan, 0.0))
    return np.array(rows).T


def found(rows: Columns) -> FoundLink:
    return find_link(make_table_traffic({"": rows}))


def delays(rows: Columns) -> Any:
    return rows[ARRIVAL] - rows[TIME]


LINKS = {
    "steady": LinkConditions(0.08),
    "uniform": LinkConditions(0.08, 0.02, loss=0.03),
    "normal": LinkConditions(0.1, 0.02, "normal", loss=GilbertElliott(0.02, 0.3)),
    "gamma": LinkConditions(0.12, 0.03, "gamma", correlation=0.6),
    "pareto": LinkConditions(0.12, 0.02, "pareto", duplicate=0.05),
    "paretonormal": LinkConditions(0.12, 0.02, "paretonormal", loss=0.1),
    "pareto-unbounded": LinkConditions(0.12, 0.02, "pareto-unbounded"),
    "jumping": LinkConditions(0.12, 0.02, reorder=0.1),
    "queue": LinkConditions(0.1, 0.03, "normal", in_order=True),
}


@pytest.mark.parametrize("numbers", [True, False])
@pytest.mark.parametrize("name", LINKS)
def test_the_link_that_was_put_in_is_found(name: str, numbers: bool) -> None:
    """The tolerance is 3 standard errors for shares, a tenth for jitter, 3 ms for latency."""
    given = LINKS[name]
    what = found(recorded(given, numbers))
    conditions = what.conditions
    assert what.losses == ("numbers" if numbers else "stamps")
    assert conditions.latency == pytest.approx(given.latency, abs=0.003)
    assert conditions.jitter == pytest.approx(given.jitter, rel=0.1)
    assert conditions.distribution == given.distribution
    assert conditions.correlation == pytest.approx(given.correlation, abs=0.05)
    assert conditions.in_order == given.in_order
    for field in ("reorder", "duplicate"):
        expected = getattr(given, field)
        error = 3 * (expected / COUNT) ** 0.5
        assert getattr(conditions, field) == pytest.approx(expected, abs=error)
    if isinstance(given.loss, GilbertElliott):
        assert isinstance(conditions.loss, GilbertElliott)
        assert tuple(conditions.loss) == pytest.approx(tuple(given.loss), rel=0.35)  # of 50 bursts
    else:
        assert conditions.loss == pytest.approx(given.loss, abs=3 * (given.loss / COUNT) ** 0.5)


@pytest.mark.parametrize("numbers", [True, False])
@pytest.mark.parametrize("name", [word for word in LINKS if word != "pareto"])
def test_its_trace_replays_every_packet(name: str, numbers: bool) -> None:
    rows = recorded(LINKS[name], numbers)
    what = found(rows)
    link = TraceLink(read_trace(io.BytesIO(write_trace(what.trace).encode())))
    begins = rows[TIME].min()
    came = {}
    for number in range(COUNT):
        for arrival in link.send(number * PERIOD):
            came[number] = arrival
    # what was lost at the very end is not known to have been sent: there the trace begins again
    expected = {round(t / PERIOD): a for t, a in rows[[TIME, ARRIVAL]].T}
    shift = 0.0 if what.zero == "clocks" else delays(rows).min()
    assert begins == 0
    for number in range(max(expected)):
        assert (number in came) == (number in expected)
        if number in came:
            assert came[number] == pytest.approx(expected[number] - shift, abs=3e-6)


def test_what_drifts_is_no_jitter() -> None:
    rows = recorded(LinkConditions(0.08, 0.005))
    rows[TIME] *= 1.0005
    what = found(rows)
    assert what.drift == pytest.approx(-5e-4, rel=0.05)
    assert what.conditions.jitter == pytest.approx(0.005, rel=0.1)


def test_irregular_stamps_without_numbers_tell_of_no_losses() -> None:
    rows = recorded(LINKS["uniform"], numbers=False)
    jitter = np.random.default_rng(1).uniform(0, 0.04, len(rows[0]))
    rows[TIME] += jitter
    rows[ARRIVAL] += jitter
    what = found(rows)
    assert (what.losses, what.lost, what.conditions.loss) == ("unknown", 0, 0.0)


def test_without_arrivals_there_is_no_network() -> None:
    rows = recorded(LINKS["steady"])
    rows[ARRIVAL] = np.nan
    with pytest.raises(ValueError, match="there are no arrival times"):
        found(rows)
    rows[SEQUENCE] = np.nan
    with pytest.raises(ValueError, match="there are no arrival times"):
        found(rows)


def test_it_is_described_as_simulate_takes_it() -> None:
    rows = recorded(LinkConditions(0.1, 0.02, "normal", loss=GilbertElliott(0.02, 0.3)))
    what = found(rows)
    written = write_link_option(what)
    assert "'" not in written
    read = LinkSpec.parse(written).conditions
    assert (read.distribution, type(read.loss)) == ("normal", GilbertElliott)
    assert read.latency == pytest.approx(what.conditions.latency, rel=1e-3)
