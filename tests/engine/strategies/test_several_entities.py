"""Strategies whose originals keep one clock per connection, against slow models of their formulas.

A model knows all packets of a connection and the frames so far, and computes each row anew.
"""

from __future__ import annotations

import math
from collections import defaultdict
from functools import partial
from itertools import pairwise
from statistics import fmean

import numpy as np
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


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", ["source", "mirror", "james-frowen", "lightyear", "ddnet"])
def test_entities_of_one_connection_are_drawn_at_one_time(name: str, seed: int) -> None:
    """One that joins late is drawn at the sender's time at which the others are."""
    packets = connection("joins late", seed, jitter=0.04)
    given = {"james-frowen": {"tick_interval": 0.05}}
    given |= {key: {"send_interval": 0.05} for key in ("mirror", "lightyear")}
    drawn = rows(name, packets, **given.get(name, {}))
    times: dict[str, dict[float, float]] = {}
    for entity, samples in drawn.items():
        own = [packet for packet in packets if packet.entity == entity]
        stamps = [packet.time for packet in own]
        # the coordinate that is linear in time, of whatever curve
        places = [-packet.position[1] for packet in own]
        times[entity] = {
            sample.time: float(np.interp(-sample.position[1], places, stamps))
            for sample in samples
            if sample.status == "interpolated"
            and stamps[1] < np.interp(-sample.position[1], places, stamps) < stamps[-1]
        }
    both = times["a"].keys() & times["b"].keys()
    assert len(both) > 60
    assert [times["a"][at] for at in both] == pytest.approx([times["b"][at] for at in both])


def james_frowen(packets: list[Packet], entity: str, frames: list[float]) -> dict[float, float]:
    """x of an entity in each frame: one clock for all messages, a buffer of the entity's own."""
    tick, running, client, scale, mean = 0.05, False, 0.0, 1.0, math.nan
    shown: dict[float, float] = {}
    buffer: list[tuple[float, float]] = []
    waiting, newest, x = sorted({(one.arrival or 0.0, one.time) for one in packets}), -1.0, math.nan
    for before, at in pairwise([frames[0] - FRAME, *frames]):
        while waiting and waiting[0][0] <= at:
            arrival, stamp = waiting.pop(0)
            for one in packets:
                if (one.arrival, one.time, one.entity) == (arrival, stamp, entity):
                    if not buffer and not math.isnan(x):
                        buffer.append((stamp - tick, x))
                    buffer.append((stamp, one.position[0]))
            if stamp < newest:
                continue
            newest = stamp
            if not running or stamp - client > 20 * tick:
                running, client, scale, mean = True, stamp, 1.0, math.nan
                continue
            off = stamp - client
            mean = off if math.isnan(mean) else mean + 2 / 31 * (off - mean)
            size = abs(mean) / (0.5 * tick)
            faster, slower = (1.08, 0.8) if size > 10 else (1.01, 0.96)
            scale = 1.0 if size <= 1 else faster if mean > 0 else slower
        client += (at - before) * scale * running
        time = client - 2 * tick
        if buffer:
            stamps, places = np.array(buffer).T
            x = float(np.interp(time, stamps, places))
            shown[at] = x
            buffer = [state for state in buffer if state[0] >= time - 3 * tick]
        elif not math.isnan(x):
            shown[at] = x
    return shown


@pytest.mark.parametrize("kind", KINDS)
def test_james_frowen_has_one_clock_for_all_entities(kind: str) -> None:
    packets = connection(kind, jitter=0.05)
    drawn = rows("james-frowen", packets, tick_interval=0.05)
    frames = sorted({sample.time for samples in drawn.values() for sample in samples})
    for entity, samples in drawn.items():
        expected = james_frowen(packets, entity, frames)
        for sample in samples:
            assert sample.position[0] == pytest.approx(expected[sample.time], abs=1e-6)


def test_a_message_that_comes_twice_counts_twice_for_james_frowens_clock() -> None:
    packets = [one for one in connection("three", jitter=0.02) if one.entity == "a"]
    copies = [one._replace(arrival=(one.arrival or 0.0) + 0.004) for one in packets[::7]]
    both = sorted(packets + copies, key=lambda one: one.arrival or 0.0)
    samples = rows("james-frowen", both, tick_interval=0.05)["a"]
    expected = james_frowen(both, "a", [sample.time for sample in samples])
    for sample in samples:
        assert sample.position[0] == pytest.approx(expected[sample.time], abs=1e-6)
