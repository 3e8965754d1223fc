"""Strategies whose originals keep one clock per connection, against slow models of their formulas.

A model knows all packets of a connection and the frames so far, and computes each row anew.
"""

from __future__ import annotations

import math
from collections import defaultdict
from functools import partial
from statistics import fmean

import pytest
from support.connections import KINDS, connection

from epic_cli import Packet, Sample, replay, strategy

FRAME = 1 / 60


def rows(name: str, packets: list[Packet], **settings: float) -> dict[str, list[Sample]]:
    """The rows of each entity."""
    found = defaultdict(list)
    for sample in replay(packets, partial(strategy, name, **settings), tick=FRAME):
        found[sample.entity].append(sample)
    return found


def arrived(packets: list[Packet], at: float) -> list[Packet]:
    return [packet for packet in packets if packet.arrival is not None and packet.arrival <= at]


def source_at(packets: list[Packet], entity: str, at: float, offset: float) -> float:
    """Source: x of an entity at a frame, of the packets that have arrived.

    time = now - offset - 8 ticks of 0.015 s. Between two states the curve with one-sided slopes;
    past the newest the last segment for 0.25 s, if no other entity's packet is newer.
    """
    known = arrived(packets, at)
    own = [(packet.time, packet.position[0]) for packet in known if packet.entity == entity]
    time = at - offset - 8 * 0.015
    past = [place for place, (stamp, _) in enumerate(own) if stamp <= time]
    if not past:
        return own[0][1]
    place = past[-1]
    stamp, x = own[place]
    if place == len(own) - 1:
        if place == 0 or max(packet.time for packet in known) > stamp:
            return x
        before, x0 = own[place - 1]
        return x + (x - x0) / (stamp - before) * min(time - stamp, 0.25)
    after, x2 = own[place + 1]
    u = (time - stamp) / (after - stamp)
    if place == 0:
        return x + (x2 - x) * u
    before, x0 = own[place - 1]
    x0 = x - (x - x0) * (after - stamp) / (stamp - before)  # as if both intervals were equal
    return (
        (2 * u**3 - 3 * u**2 + 1) * x
        + (3 * u**2 - 2 * u**3) * x2
        + (u**3 - 2 * u**2 + u) * (x - x0)
        + (u**3 - u**2) * (x2 - x)
    )


@pytest.mark.parametrize("apart", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_source_extrapolates_only_while_the_server_is_silent(kind: str, apart: bool) -> None:
    packets = connection(kind, jitter=0.04, apart=apart)
    held = extrapolated = 0
    for entity, samples in rows("source", packets, latency=0.03).items():
        for sample in samples:
            expected = source_at(packets, entity, sample.time, 0.03)
            assert sample.position[0] == pytest.approx(expected, abs=1e-9)
            held += sample.status == "held"
            extrapolated += sample.status == "extrapolated"
    assert held
    assert extrapolated  # at the end, when nothing comes any more


def middle_mean(delays: list[float]) -> float:
    """The mean of the middle half of the last 31 delays."""
    ordered = sorted(delays[-31:])
    cut = max(len(ordered) // 4, 1)
    return fmean(ordered[cut:-cut]) if len(ordered) > 2 else ordered[0]


@pytest.mark.parametrize("kind", KINDS)
def test_source_has_one_clock_for_all_entities(kind: str) -> None:
    """One that joins late is drawn by the clock that the others have taught."""
    packets = connection(kind, jitter=0.05)
    found = rows("source", packets)
    datagrams = sorted({(packet.arrival or 0.0, packet.time) for packet in packets})
    latest = -math.inf
    times: dict[float, float] = {}
    for at in sorted({sample.time for samples in found.values() for sample in samples}):
        delays = [arrival - time for arrival, time in datagrams if arrival <= at]
        latest = max(latest, at - middle_mean(delays))
        times[at] = latest
    for entity, samples in found.items():
        for sample in samples:
            expected = source_at(packets, entity, sample.time, sample.time - times[sample.time])
            assert sample.position[0] == pytest.approx(expected, abs=1e-6)
