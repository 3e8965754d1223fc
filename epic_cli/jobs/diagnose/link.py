"""The network of a recording: all sent packets, lost ones included, and their delays."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import pairwise
from statistics import NormalDist
from typing import Literal, NamedTuple

import numpy as np

from epic_cli.jobs.diagnose.detectors.network.clock_drift import DETECTOR as CLOCK_DRIFT
from epic_cli.metrics.traffic import Flags, Floats, MessageLog, Stream, Traffic, estimate_sigma
from epic_cli.network.link import (
    HIGHEST_CORRELATION,
    LONGEST_DELAY,
    Distribution,
    GilbertElliott,
    LinkConditions,
    are_clocks_apart,
)
from epic_cli.network.trace import NetworkTrace

#: How lost packets are known: by missing numbers, by stamps missing from regular ones, or not.
Known = Literal["numbers", "stamps", "unknown"]

#: Least share of common stamps with common arrivals if one datagram carries all entities.
SHARED = 0.9

#: An interval is a multiple of the period within this share of one; stamps without numbers are
#: regular if this share of the intervals is.
NEAR, REGULAR = 0.25, 0.95

#: An entity rests below this share of the usual speed.
RESTING = 0.25


class Sendings(NamedTuple):
    """All sent packets, by stamp: ``sent`` and ``delays`` in seconds (n; NaN: lost).

    ``runs`` are the numbers of packets lost in a row, one for each hole.
    """

    sent: Floats
    delays: Floats
    runs: Floats
    known: Known

    @property
    def came(self) -> Flags:
        """The mask (n) of the packets that arrived."""
        return np.isfinite(self.delays)


def list_sendings(traffic: Traffic) -> Sendings:
    """Return all packets sent in a recording that has arrival times.

    Entities that share their datagrams are one series; where each has datagrams of its own, the one
    with the most packets stands for all.
    """
    messages = traffic.arrived
    arrived = [entity for entity in traffic.streams if np.isfinite(entity.arrivals).any()]
    if not arrived:  # none of them has many packets
        return Sendings(messages.sent, messages.delays, np.empty(0), "unknown")
    stream = max(arrived, key=lambda one: (one.numbered, len(one.times)))
    if len(traffic.streams) == 1 or _is_carried_by_messages(stream, messages):
        sent, delays = messages.sent, messages.delays
    else:
        came = np.isfinite(stream.arrivals)
        sent, delays = stream.times[came], (stream.arrivals - stream.times)[came]
    missing, known = _count_missing(stream)
    places = np.flatnonzero(missing)
    steps = stream.intervals[places] / (missing[places] + 1)
    lost = np.concatenate(
        [
            stream.times[place] + step * np.arange(1, missing[place] + 1)
            for place, step in zip(places, steps, strict=True)
        ]
        or [np.empty(0)]
    )
    lost = lost[
        _measure_nearest_distance(lost, sent) > NEAR * stream.period
    ]  # another entity's news came
    order = np.argsort(np.concatenate((sent, lost)), kind="stable")
    return Sendings(
        np.concatenate((sent, lost))[order],
        np.concatenate((delays, np.full(len(lost), np.nan)))[order],
        missing[places],
        known,
    )


def _is_carried_by_messages(stream: Stream, messages: MessageLog) -> bool:
    """Return True if the messages are the datagrams that carried the stream's states."""
    came = np.isfinite(stream.arrivals)
    places = np.searchsorted(messages.sent, stream.times[came])
    same = messages.arrivals[np.minimum(places, len(messages.arrivals) - 1)]
    return bool(np.mean(same == stream.arrivals[came]) > SHARED)


def _count_missing(stream: Stream) -> tuple[Floats, Known]:
    """Return the number of packets missing in each interval, and the way they were counted."""
    periods = stream.intervals / stream.period
    if stream.numbered:
        return stream.lost, "numbers"
    off = np.abs(periods - np.round(periods))
    if float((off < NEAR).mean()) < REGULAR:
        return np.zeros(len(periods)), "unknown"
    moving = stream.steps > 0
    speeds = stream.steps / stream.intervals
    # states may be sent on change only: while it rests, nothing is missing
    moved = speeds >= RESTING * np.median(speeds[moving]) if moving.any() else moving
    lost: Flags = (off < NEAR) & moved
    return np.where(lost, np.maximum(np.round(periods) - 1, 0.0), 0.0), "stamps"


def _measure_nearest_distance(times: Floats, others: Floats) -> Floats:
    """Return the distance from each time to the nearest of ``others`` (sorted)."""
    after = np.minimum(np.searchsorted(others, times), len(others) - 1)
    apart = np.abs(others[np.stack((after, np.maximum(after - 1, 0)))] - times)
    return np.asarray(apart.min(axis=0))


#: Quantiles that are compared, without the few packets that took much longer.
COMPARED = np.linspace(0.02, 0.98, 193)

#: Least variation of the quantiles of a distribution with an end.
LEAST_SLOPE = 0.5

#: A distribution is wrong if this many packets should lie in its tail beyond the longest delay:
#: some differ only in their end, which is known to a tenth.
MISSED, AS_FAR = 7.0, 1.1
TAIL = np.geomspace(1e-6, 0.5, 200)

#: Seconds; delays that vary less are constant.
STEADY = 5e-5

#: Periods; for longer times without a packet, the sender paused.
PAUSE = 3.0

#: Least correlation of neighboring delays, and in standard errors; losses follow each other if they
#: exceed chance by this many standard errors.
CORRELATED, ERRORS = 0.05, 3.0


class Delays(NamedTuple):
    """A distribution of delays, in the form of ``LinkConditions``.

    ``misfit`` is the RMS distance of the quantiles (s).
    """

    latency: float
    jitter: float
    distribution: Distribution
    misfit: float


def _compute_normal_quantiles(u: Floats) -> Floats:
    return np.array([NormalDist().inv_cdf(row) for row in u])


def _invert_gamma(u: Floats) -> Floats:
    """Solve 1 - u = (1 + x) exp(-x) for x, by Newton's method from above."""
    left = -np.log1p(-u)
    x = np.sqrt(2 * left) + left
    for _ in range(8):
        x = x - (x - np.log1p(x) - left) * (1 + x) / x
    return np.asarray((x - 2) / np.sqrt(2))


def _compute_cube_root_quantiles(u: Floats) -> Floats:
    return np.asarray((1 - u) ** (-1 / 3) - 1.5)


def _compute_pareto_quantiles(u: Floats) -> Floats:
    return np.minimum(_compute_cube_root_quantiles(u) * 4 / 3, 4.0)


#: Quantiles of each distribution for a latency of 0 and a jitter of 1 (``LinkConditions``).
QUANTILES: dict[Distribution, Callable[[Floats], Floats]] = {
    "uniform": lambda u: 2 * u - 1,
    "normal": _compute_normal_quantiles,
    "gamma": _invert_gamma,
    "pareto": _compute_pareto_quantiles,
    "paretonormal": lambda u: (
        0.25 * _compute_normal_quantiles(u) + 0.75 * _compute_pareto_quantiles(u)
    ),
    "pareto-unbounded": lambda u: _compute_cube_root_quantiles(u) / np.sqrt(0.75),
}


def fit_delays(delays: Floats) -> Delays:
    """Return the distribution whose quantiles are closest to those of the delays (s).

    For each distribution, latency and jitter are the line through the quantiles of the delays over
    its own: a probability plot (J. J. Filliben, "The Probability Plot Correlation Coefficient Test
    for Normality", Technometrics 17 (1), 1975, which is the same for any distribution). A quantile
    weighs the less, the more it varies from sample to sample: by u (1 - u) / f^2, where f is the
    density there (F. Mosteller, Annals of Mathematical Statistics 17 (4), 1946).
    """
    quantiles = np.quantile(delays, COMPARED)
    middle = float(np.median(delays))
    if float(quantiles[-1] - quantiles[0]) < STEADY:
        return Delays(max(middle, 0.0), 0.0, "uniform", 0.0)
    best, least = None, np.inf
    for name, quantile in QUANTILES.items():
        standard = quantile(COMPARED)
        slopes = np.gradient(standard, COMPARED)
        varying = np.sqrt(COMPARED * (1 - COMPARED)) * np.maximum(slopes, LEAST_SLOPE)
        jitter, latency = np.polyfit(standard, quantiles, 1, w=1 / varying)
        if not (jitter > 0 and latency >= 0):
            continue
        farthest = AS_FAR * float(delays.max() - latency) / jitter
        if len(delays) * TAIL[quantile(1 - TAIL) > farthest].max(initial=0.0) > MISSED:
            continue
        # no delay is below 0: what would be is clipped
        off = np.maximum(latency + jitter * standard, 0.0) - quantiles
        apart = float(np.square(off / (jitter * varying)).mean())
        if apart < least:
            least = apart
            misfit = float(np.sqrt(np.square(off).mean()))
            best = Delays(float(latency), float(jitter), name, misfit)
    return best or Delays(max(middle, 0.0), 0.0, "uniform", float(np.std(quantiles)))


def measure_correlation(delays: Floats) -> float:
    """Return the correlation of neighboring delays' normal scores (a Gaussian copula).

    0: none shows. Normal scores: each value's rank as a quantile of the normal distribution (B. L.
    van der Waerden, 1952).
    """
    count = len(delays)
    ranks = np.empty(count)
    ranks[np.argsort(delays, kind="stable")] = (np.arange(count) + 0.5) / count
    scores = _compute_normal_quantiles(ranks)
    found = float((scores[1:] * scores[:-1]).mean() / np.square(scores).mean())
    return found if found > max(CORRELATED, ERRORS / np.sqrt(count)) else 0.0


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
