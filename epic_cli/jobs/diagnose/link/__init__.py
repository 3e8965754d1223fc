"""The network of a recording: all sent packets, lost ones included, and their delays."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Literal, NamedTuple

import numpy as np

from epic_cli.jobs.diagnose.detectors.network.clock_drift import DETECTOR as CLOCK_DRIFT
from epic_cli.jobs.diagnose.link.delays import fit_delays, measure_correlation
from epic_cli.jobs.diagnose.link.sendings import Known, Sendings, list_sendings
from epic_cli.metrics.traffic import Flags, Floats, MessageLog, Traffic, estimate_sigma
from epic_cli.network.link import (
    HIGHEST_CORRELATION,
    LONGEST_DELAY,
    GilbertElliott,
    LinkConditions,
    are_clocks_apart,
)
from epic_cli.network.trace import NetworkTrace

#: Periods; for longer times without a packet, the sender paused.
PAUSE = 3.0

#: Losses follow each other if they exceed chance by this many standard errors.
ERRORS = 3.0

#: Where delays begin: at the two clocks' difference, at the least delay, or at packets that jumped
#: the queue.
Zero = Literal["clocks", "least", "jumped"]

#: Fewest packets, and least share, that are sent twice or wait for each other.
FEWEST_TOGETHER, SHARE = 3, 0.005

#: Packets jumped a queue if they took the same time within this (s), and less than all others by
#: this many robust standard deviations; fewer than this share of all do.
SAME, APART, MOST = 0.002, 4.0, 0.4

#: Arrivals closer than this (s) are equal.
TOGETHER = 2e-6


class FoundLink(NamedTuple):
    """The network of a recording, packet by packet, and a simulated link that resembles it.

    ``trace`` has all packets sent, from the first on; ``conditions`` are a simulated link that
    resembles it, for packets sent at ``rate`` (Hz). ``losses`` says how lost packets are known,
    ``zero`` where the delays begin. ``drift`` (s/s) has been taken out of them. ``misfit`` is the
    error of the conditions' delays (RMS of the quantiles, s).
    """

    trace: NetworkTrace
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
        """Number of packets that never arrived."""
        return self.trace.delays.count(None)

    @property
    def pauses(self) -> list[float]:
        """The times (s) without a packet, sent or lost, that are longer than ``PAUSE`` periods."""
        gaps = (after - before for before, after in pairwise(self.trace.times))
        return [gap for gap in gaps if gap * self.rate > PAUSE]


def find_link(traffic: Traffic) -> FoundLink:
    """Return the network of a recording; raise ``ValueError`` if there are no arrival times."""
    messages = traffic.arrived
    found = list_sendings(traffic)
    drift = _find_drift(traffic)
    delays = found.delays - drift * (found.sent - found.sent[0])
    came = delays[np.isfinite(delays)]
    jumped = _mark_jumped_packets(came)
    zero, start = _find_zero(came, jumped)
    delays, came = delays - start, came - start
    likely = fit_delays(came[~jumped])
    waits = _is_in_order(found.sent[found.came], came)
    related = 0.0 if waits or not likely.jitter else measure_correlation(came[~jumped])
    copies = messages.copies / messages.states  # a link makes one copy of a packet at most
    copied = messages.copies >= FEWEST_TOGETHER and copies >= SHARE
    conditions = LinkConditions(
        latency=min(_round_digits(likely.latency), LONGEST_DELAY),
        jitter=min(_round_digits(likely.jitter), LONGEST_DELAY),
        distribution=likely.distribution,
        correlation=min(round(related, 2), HIGHEST_CORRELATION),
        loss=_describe_loss(found),
        duplicate=_round_digits(min(copies, 1.0)) if copied else 0.0,
        reorder=_round_digits(float(jumped.mean())),
        in_order=waits,
    )
    return FoundLink(
        _make_trace(found, delays),
        conditions,
        _round_rate(messages),
        found.known,
        zero,
        drift,
        likely.misfit,
    )


def _find_drift(traffic: Traffic) -> float:
    """Return by how much the sender's clock is slower (s/s); 0 unless this is clear."""
    for finding in CLOCK_DRIFT.detect(traffic):
        sign = 1.0 if finding.values["which"] == "slower" else -1.0
        return sign * float(finding.values["drift"]) * 1e-6
    return 0.0


def _mark_jumped_packets(delays: Floats) -> Flags:
    """Mark packets without delay that overtook all earlier packets: ``reorder`` of netem."""
    order = np.sort(delays)
    few = int(len(order) * MOST)
    gaps = np.diff(order[: few + 1])
    jumped = np.zeros(len(order), bool)
    if not len(gaps):
        return jumped
    last = int(gaps.argmax())
    count, gap = last + 1, float(gaps[last])
    apart = gap > max(APART * estimate_sigma(order[count:]), SAME)
    if (
        apart
        and float(order[last] - order[0]) < SAME
        and count >= max(FEWEST_TOGETHER, SHARE * len(order))
    ):
        jumped = delays <= order[last]
    return jumped


def _find_zero(delays: Floats, jumped: Flags) -> tuple[Zero, float]:
    """Return where the delays begin, and the time to subtract from them."""
    if jumped.any():
        return "jumped", float(delays[jumped].min())
    least = float(delays.min())
    return ("least", least) if are_clocks_apart(least) else ("clocks", 0.0)


def _is_in_order(sent: Floats, delays: Floats) -> bool:
    """Return True if no packet overtakes another, as in a queue."""
    arrivals = sent + delays
    newest = np.maximum.accumulate(arrivals)[:-1]
    overtaken = bool((arrivals[1:] < newest - TOGETHER).any())
    together = int((arrivals[1:] <= newest + TOGETHER).sum())
    return not overtaken and together >= max(FEWEST_TOGETHER, SHARE * len(sent))


def _describe_loss(found: Sendings) -> float | GilbertElliott:
    """Return losses as a share, or as a Gilbert model if they are clustered."""
    lost = float(found.runs.sum())
    if not lost:
        return 0.0
    came = float(found.came.sum())
    share = lost / (came + lost)
    holes = len(found.runs)
    by_chance = lost * share
    if lost - holes - by_chance <= ERRORS * math.sqrt(max(by_chance * (1 - share), 1.0)):
        return _round_digits(share)
    fitted = GilbertElliott.fit(holes, lost, came)
    return GilbertElliott(_round_digits(fitted.p), _round_digits(fitted.r))


def _round_rate(messages: MessageLog) -> float:
    return float(f"{1 / messages.period:.4g}")


def _make_trace(found: Sendings, delays: Floats) -> NetworkTrace:
    times = found.sent - found.sent[0]
    return NetworkTrace(
        times.tolist(), [None if math.isnan(each) else max(each, 0.0) for each in delays.tolist()]
    )


def _round_digits(value: float) -> float:
    """Round a value to three digits."""
    return float(f"{value:.3g}")
