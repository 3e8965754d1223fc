"""The network of a recording, as a trace and as conditions of a link."""

from __future__ import annotations

import math
from typing import Literal, NamedTuple

import numpy as np

from epic_cli.jobs.diagnose.detectors.network.clock_drift import DETECTOR as CLOCK_DRIFT
from epic_cli.jobs.diagnose.link.delays import correlation, fit
from epic_cli.jobs.diagnose.link.sendings import Known, Sendings, sendings
from epic_cli.metrics.traffic.messages import Messages
from epic_cli.metrics.traffic.robust import Flags, Floats, sigma
from epic_cli.metrics.traffic.traffic import Traffic
from epic_cli.network.link import (
    HIGHEST_CORRELATION,
    LONGEST_DELAY,
    GilbertElliott,
    LinkConditions,
)
from epic_cli.network.trace import Trace

#: Where the delays begin: at what the two clocks say, at the least delay, or at the packets that
#: jumped the queue.
Zero = Literal["clocks", "least", "jumped"]

#: Losses follow each other if there are so many standard errors more of them than by chance.
ERRORS = 3.0

#: Packets are known to be sent twice, or to wait for each other, from so many, and this share, on.
FEWEST_TOGETHER, SHARE = 3, 0.005

#: Packets jumped a queue if they took the same time but for these seconds, and so many robust
#: standard deviations less than all others. That is so for less than half of them.
SAME, APART, MOST = 0.002, 4.0, 0.4

#: Arrivals closer than this (s) are the same.
TOGETHER = 2e-6


class FoundLink(NamedTuple):
    """What the network did, packet by packet, and what it is like.

    ``trace`` has what was sent, from the first on; ``conditions`` are a simulated link that does
    the like, for packets sent at ``rate`` (Hz). ``losses`` says how lost packets are known,
    ``zero`` where the delays begin. ``drift`` (s/s) has been taken out of them. ``misfit`` is how
    far off the conditions' delays are (RMS of the quantiles, s).
    """

    trace: Trace
    conditions: LinkConditions
    rate: float
    losses: Known
    zero: Zero
    drift: float
    misfit: float

    @property
    def duration(self) -> float:
        """Seconds from the first packet to the last."""
        return self.trace.times[-1]

    @property
    def lost(self) -> int:
        """How many packets never arrived."""
        return self.trace.delays.count(None)


def found_link(traffic: Traffic) -> FoundLink:
    """The network of a recording; raises ``ValueError`` where there are no arrival times."""
    messages = traffic.arrived
    found = sendings(traffic)
    drift = _drift(traffic)
    delays = found.delays - drift * (found.sent - found.sent[0])
    came = delays[np.isfinite(delays)]
    jumped = _jumped(came)
    zero, start = _zero(came, jumped)
    delays, came = delays - start, came - start
    likely = fit(came[~jumped])
    waits = _in_order(found.sent[found.came], came)
    related = 0.0 if waits or not likely.jitter else correlation(came[~jumped])
    copies = messages.copies / messages.states  # a link makes one copy of a packet at most
    copied = messages.copies >= FEWEST_TOGETHER and copies >= SHARE
    conditions = LinkConditions(
        latency=min(_digits(likely.latency), LONGEST_DELAY),
        jitter=min(_digits(likely.jitter), LONGEST_DELAY),
        distribution=likely.distribution,
        correlation=min(round(related, 2), HIGHEST_CORRELATION),
        loss=_loss(found),
        duplicate=_digits(min(copies, 1.0)) if copied else 0.0,
        reorder=_digits(float(jumped.mean())),
        in_order=waits,
    )
    return FoundLink(
        _trace(found, delays), conditions, _rate(messages), found.known, zero, drift, likely.misfit
    )


def _drift(traffic: Traffic) -> float:
    """How much slower the sender's clock runs (s/s), where that is clear."""
    for one in CLOCK_DRIFT.detect(traffic):
        sign = 1.0 if one.values["which"] == "slower" else -1.0
        return sign * float(one.values["drift"]) * 1e-6
    return 0.0


def _jumped(delays: Floats) -> Flags:
    """Which packets had no delay at all, and came before all others: netem's ``reorder``."""
    order = np.sort(delays)
    few = int(len(order) * MOST)
    gaps = np.diff(order[: few + 1])
    jumped = np.zeros(len(order), bool)
    if not len(gaps):
        return jumped
    last = int(gaps.argmax())
    count, gap = last + 1, float(gaps[last])
    apart = gap > max(APART * sigma(order[count:]), SAME)
    if (
        apart
        and float(order[last] - order[0]) < SAME
        and count >= max(FEWEST_TOGETHER, SHARE * len(order))
    ):
        jumped = delays <= order[last]
    return jumped


def _zero(delays: Floats, jumped: Flags) -> tuple[Zero, float]:
    """Where the delays begin, and how much is to be taken from them for it."""
    if jumped.any():
        return "jumped", float(delays[jumped].min())
    least = float(delays.min())
    # clocks that differ make delays negative, or longer than any network's
    if least < 0 or float(np.median(delays)) > LONGEST_DELAY:
        return "least", least
    return "clocks", 0.0


def _in_order(sent: Floats, delays: Floats) -> bool:
    """Whether nothing overtakes anything because the one waits for the other, as in a queue."""
    arrivals = sent + delays
    newest = np.maximum.accumulate(arrivals)[:-1]
    overtaken = bool((arrivals[1:] < newest - TOGETHER).any())
    together = int((arrivals[1:] <= newest + TOGETHER).sum())
    return not overtaken and together >= max(FEWEST_TOGETHER, SHARE * len(sent))


def _loss(found: Sendings) -> float | GilbertElliott:
    """As a share or, where losses follow each other more often than by chance, as Gilbert's."""
    lost = float(found.runs.sum())
    if not lost:
        return 0.0
    came = float(found.came.sum())
    share = lost / (came + lost)
    holes = len(found.runs)
    by_chance = lost * share
    if lost - holes - by_chance <= ERRORS * math.sqrt(max(by_chance * (1 - share), 1.0)):
        return _digits(share)
    # from good to bad once for each hole, from bad to good at its end
    return GilbertElliott(_digits(min(holes / came, 1.0)), _digits(min(holes / lost, 1.0)))


def _rate(messages: Messages) -> float:
    return float(f"{1 / messages.period:.4g}")


def _trace(found: Sendings, delays: Floats) -> Trace:
    times = found.sent - found.sent[0]
    return Trace(
        times.tolist(), [None if math.isnan(one) else max(one, 0.0) for one in delays.tolist()]
    )


def _digits(value: float) -> float:
    """No more of them than such a figure has."""
    return float(f"{value:.3g}")
