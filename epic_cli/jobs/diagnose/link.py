"""What was sent over the network, lost packets included, and how long each took."""

from __future__ import annotations

import math
from collections.abc import Callable
from statistics import NormalDist
from typing import Literal, NamedTuple

import numpy as np

from epic_cli.jobs.diagnose.detectors.network.clock_drift import DETECTOR as CLOCK_DRIFT
from epic_cli.metrics.traffic import Flags, Floats, MessageLog, Stream, Traffic, sigma
from epic_cli.network.link import (
    HIGHEST_CORRELATION,
    LONGEST_DELAY,
    Distribution,
    GilbertElliott,
    LinkConditions,
    clocks_apart,
)
from epic_cli.network.trace import NetworkTrace

#: How lost packets are known: by numbers that are missing, by stamps that are missing from
#: regular ones, or not at all.
Known = Literal["numbers", "stamps", "unknown"]

#: Of this many of the stamps that several entities share, the arrivals are the same, too, where
#: one datagram carries all of them.
SHARED = 0.9

#: An interval is a multiple of the period if it is no further from it than this share of one,
#: and stamps without numbers are regular if this many of the intervals are.
NEAR, REGULAR = 0.25, 0.95

#: What moves by less than this share of the usual speed rests.
RESTING = 0.25


class Sendings(NamedTuple):
    """All that was sent, by stamp: ``sent`` and ``delays`` in seconds (n; NaN: lost).

    ``runs`` is how many packets were lost in a row in each hole.
    """

    sent: Floats
    delays: Floats
    runs: Floats
    known: Known

    @property
    def came(self) -> Flags:
        """Which arrived."""
        return np.isfinite(self.delays)


def sendings(traffic: Traffic) -> Sendings:
    """What was sent over the network of a recording that has arrival times.

    Entities that share their datagrams are one series; where each has datagrams of its own, the
    one with the most packets stands for all.
    """
    messages = traffic.arrived
    arrived = [entity for entity in traffic.streams if np.isfinite(entity.arrivals).any()]
    if not arrived:  # none of them has many packets
        return Sendings(messages.sent, messages.delays, np.empty(0), "unknown")
    stream = max(arrived, key=lambda one: (one.numbered, len(one.times)))
    if len(traffic.streams) == 1 or _shared(stream, messages):
        sent, delays = messages.sent, messages.delays
    else:
        came = np.isfinite(stream.arrivals)
        sent, delays = stream.times[came], (stream.arrivals - stream.times)[came]
    missing, known = _missing(stream)
    places = np.flatnonzero(missing)
    steps = stream.intervals[places] / (missing[places] + 1)
    lost = np.concatenate(
        [
            stream.times[place] + step * np.arange(1, missing[place] + 1)
            for place, step in zip(places, steps, strict=True)
        ]
        or [np.empty(0)]
    )
    lost = lost[_nearest(lost, sent) > NEAR * stream.period]  # another entity's news came
    order = np.argsort(np.concatenate((sent, lost)), kind="stable")
    return Sendings(
        np.concatenate((sent, lost))[order],
        np.concatenate((delays, np.full(len(lost), np.nan)))[order],
        missing[places],
        known,
    )


def _shared(stream: Stream, messages: MessageLog) -> bool:
    """Whether the messages are the datagrams in which the stream's states came."""
    came = np.isfinite(stream.arrivals)
    places = np.searchsorted(messages.sent, stream.times[came])
    same = messages.arrivals[np.minimum(places, len(messages.arrivals) - 1)]
    return bool(np.mean(same == stream.arrivals[came]) > SHARED)


def _missing(stream: Stream) -> tuple[Floats, Known]:
    """How many packets are missing in each interval, and how that is known."""
    turns = stream.intervals / stream.period
    if stream.numbered:
        return stream.lost, "numbers"
    off = np.abs(turns - np.round(turns))
    if float((off < NEAR).mean()) < REGULAR:
        return np.zeros(len(turns)), "unknown"
    moving = stream.steps > 0
    speeds = stream.steps / stream.intervals
    # states may be sent on change only: while it rests, nothing is missing
    moved = speeds >= RESTING * np.median(speeds[moving]) if moving.any() else moving
    lost: Flags = (off < NEAR) & moved
    return np.where(lost, np.maximum(np.round(turns) - 1, 0.0), 0.0), "stamps"


def _nearest(times: Floats, others: Floats) -> Floats:
    """How far it is from each time to the nearest of the others, which are in order."""
    after = np.minimum(np.searchsorted(others, times), len(others) - 1)
    apart = np.abs(others[np.stack((after, np.maximum(after - 1, 0)))] - times)
    return np.asarray(apart.min(axis=0))


#: Quantiles that are compared: a few packets that took much longer are beyond them.
COMPARED = np.linspace(0.02, 0.98, 193)

#: Where a distribution has an end, its quantiles vary no less than this.
LEAST_SLOPE = 0.5

#: A distribution of whose tail beyond the longest delay this many packets should have come, and
#: none has, is not the one: some differ only in that they end. Its end is known to a tenth.
MISSED, AS_FAR = 7.0, 1.1
TAIL = np.geomspace(1e-6, 0.5, 200)

#: Seconds: delays that vary less do not vary.
STEADY = 5e-5

#: Neighbouring delays are correlated from here on, and from this many standard errors on; losses
#: follow each other if there are this many standard errors more of them than by chance.
CORRELATED, ERRORS = 0.05, 3.0


class Delays(NamedTuple):
    """As ``LinkConditions`` describes them; ``misfit`` is the RMS distance of the quantiles (s)."""

    latency: float
    jitter: float
    distribution: Distribution
    misfit: float


def _normal(u: Floats) -> Floats:
    return np.array([NormalDist().inv_cdf(row) for row in u])


def _gamma(u: Floats) -> Floats:
    """1 - u = (1 + x) exp(-x), by Newton's method from above."""
    left = -np.log1p(-u)
    x = np.sqrt(2 * left) + left
    for _ in range(8):
        x = x - (x - np.log1p(x) - left) * (1 + x) / x
    return np.asarray((x - 2) / np.sqrt(2))


def _cube_root_tail(u: Floats) -> Floats:
    return np.asarray((1 - u) ** (-1 / 3) - 1.5)


def _pareto(u: Floats) -> Floats:
    return np.minimum(_cube_root_tail(u) * 4 / 3, 4.0)


#: The quantiles of each distribution for a latency of 0 and a jitter of 1 (``LinkConditions``).
QUANTILES: dict[Distribution, Callable[[Floats], Floats]] = {
    "uniform": lambda u: 2 * u - 1,
    "normal": _normal,
    "gamma": _gamma,
    "pareto": _pareto,
    "paretonormal": lambda u: 0.25 * _normal(u) + 0.75 * _pareto(u),
    "pareto-unbounded": lambda u: _cube_root_tail(u) / np.sqrt(0.75),
}


def fit(delays: Floats) -> Delays:
    """The distribution whose quantiles are the most like those of the delays (seconds).

    For each, latency and jitter are the line through the one's quantiles over the other's: a
    probability plot (J. J. Filliben, "The Probability Plot Correlation Coefficient Test for
    Normality", Technometrics 17 (1), 1975, which is the same for any distribution). A quantile
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


def correlation(delays: Floats) -> float:
    """That of neighbouring delays' normal scores, which is a Gaussian copula's; 0: none shows.

    Normal scores: each value's rank as a quantile of the normal distribution (B. L. van der
    Waerden, 1952).
    """
    count = len(delays)
    ranks = np.empty(count)
    ranks[np.argsort(delays, kind="stable")] = (np.arange(count) + 0.5) / count
    scores = _normal(ranks)
    found = float((scores[1:] * scores[:-1]).mean() / np.square(scores).mean())
    return found if found > max(CORRELATED, ERRORS / np.sqrt(count)) else 0.0


#: Where the delays begin: at what the two clocks say, at the least delay, or at the packets that
#: jumped the queue.
Zero = Literal["clocks", "least", "jumped"]

#: Packets are known to be sent twice, or to wait for each other, from this many, and this share,
#: on.
FEWEST_TOGETHER, SHARE = 3, 0.005

#: Packets jumped a queue if they took the same time but for these seconds, and this many robust
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
    for finding in CLOCK_DRIFT.detect(traffic):
        sign = 1.0 if finding.values["which"] == "slower" else -1.0
        return sign * float(finding.values["drift"]) * 1e-6
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
    return ("least", least) if clocks_apart(least) else ("clocks", 0.0)


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


def _rate(messages: MessageLog) -> float:
    return float(f"{1 / messages.period:.4g}")


def _trace(found: Sendings, delays: Floats) -> NetworkTrace:
    times = found.sent - found.sent[0]
    return NetworkTrace(
        times.tolist(), [None if math.isnan(each) else max(each, 0.0) for each in delays.tolist()]
    )


def _digits(value: float) -> float:
    """No more of them than such a figure has."""
    return float(f"{value:.3g}")
