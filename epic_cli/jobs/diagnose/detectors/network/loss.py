"""Packets that never arrived, alone or in bursts."""

from __future__ import annotations

import math

import numpy as np

from epic_cli.jobs.diagnose.detectors import NUMBERS, Detector, Finding
from epic_cli.jobs.diagnose.detectors.network.delay_buffer import SILENCE
from epic_cli.jobs.diagnose.remedies import make_buffer, make_drawing_remedy
from epic_cli.metrics.digits import format_seconds
from epic_cli.metrics.traffic import FEWEST_STATES, Traffic, measure_network
from epic_cli.network.link import GilbertElliott

#: Least share of losses: every strategy bridges a single one; of this many, some are lost in a row.
SHARE = 0.05

#: Fewest losses for a usual share.
LEAST = 5

#: Expected number of equal runs of losses below which a run is a burst.
CHANCE = 1e-3

#: Probability below which the number of losses right behind another shows bursts.
RARE = 1e-5


def detect(traffic: Traffic) -> list[Finding]:
    """Find holes in the sequence numbers of the longest stream that has numbers."""
    numbered = traffic.numbered
    stream = max(numbered, key=lambda one: len(one.times))
    missing = stream.lost if traffic.placed else stream.missing  # a network has no entity to rest
    places = np.flatnonzero(missing > 0)
    holes = missing[places]
    arrived = len(stream.came)
    lost = float(holes.sum())
    if arrived < FEWEST_STATES or not lost:
        return []
    share = lost / (arrived + lost)
    longest = float(holes.max())
    # as many places for a run to begin as there were packets: the expected number of such runs
    by_chance = (arrived + lost) * (1 - share) * share**longest
    often = share >= SHARE and lost >= LEAST
    bursty = longest >= 3 and by_chance < CHANCE
    bursty |= longest >= 2 and _compute_poisson_tail(lost - len(holes), lost * share) < RARE
    if not often and not bursty:
        return []
    fitted = GilbertElliott.fit(len(holes), lost, arrived)
    worst = int(places[holes.argmax()])
    silence = float(stream.intervals[worst])
    bridge = (
        f"A buffer of {format_seconds(silence)} covers the longest outage, and draws all"
        " that much later"
    )
    remedy = None
    if traffic.messages is not None and traffic.placed:
        needed = measure_network(traffic.messages).needed[2]
        bridge = f"A buffer of {format_seconds(needed)} covers 99 % of the packets"
        remedy = make_drawing_remedy(make_buffer(needed))
    if silence > SILENCE:
        bridge += "; limit how far predictions go, and blend back: no buffer is for such an outage"
    return [
        Finding(
            "loss",
            share,
            share,
            SHARE,
            {
                "lost": share,
                "longest": longest,
                "mean": lost / len(holes),
                "silence": silence,
                "bridge": bridge,
                "kind": "in bursts" if bursty else "one by one",
                "p": fitted.p,
                "r": fitted.r,
            },
            float(stream.times[places[0]]),
            float(stream.times[worst]),
            remedy=remedy,
        )
    ]


def _compute_poisson_tail(least: float, mean: float) -> float:
    """Return the probability of ``least`` or more events where ``mean`` are expected."""
    fewer = sum(math.exp(n * math.log(mean) - mean - math.lgamma(n + 1)) for n in range(int(least)))
    return 1 - fewer


DETECTOR = Detector(
    "loss",
    "packets are lost",
    "{lost:share} of the packets never arrived, {kind}: at most {longest:number} in a row,"
    " {silence:s} without news.",
    "Delay buffers run empty, and predictions go on without news, for as long as a gap lasts."
    " --link 'gemodel=\"{p:option},{r:option}\"' simulates such losses.",
    "{bridge}.",
    "the share of missing sequence numbers, their longest run, and the number of losses right"
    " behind another, against those expected of independent losses",
    "5 % are missing, and at least 5; or a run of 3 or more is expected less than 0.001 times; or"
    " there are more losses behind another than chance gives once in 100,000 times",
    "E. N. Gilbert, Bell System Technical Journal 39 (5), 1960",
    detect,
    needs=(NUMBERS,),
    rank=10,
)
