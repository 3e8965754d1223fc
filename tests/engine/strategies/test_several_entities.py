"""Tests of strategies with one clock per connection, against slow models of their formulas.

A model knows all packets of a connection and the frames so far, and computes each row from them.
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
    """Return the rows drawn of each entity."""
    found = defaultdict(list)
    for sample in replay(packets, partial(strategy, name, **settings), tick=FRAME):
        found[sample.entity].append(sample)
    return found


def arrived(packets: list[Packet], at: float) -> list[Packet]:
    return [packet for packet in packets if packet.arrival is not None and packet.arrival <= at]


def source_at(packets: list[Packet], entity: str, at: float, offset: float) -> float:
    """Return x of an entity at a frame, as Source computes it from the packets that have arrived.

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
    """Return the mean of the middle half of the last 31 delays."""
    ordered = sorted(delays[-31:])
    cut = max(len(ordered) // 4, 1)
    return fmean(ordered[cut:-cut]) if len(ordered) > 2 else ordered[0]


@pytest.mark.parametrize("kind", KINDS)
def test_source_has_one_clock_for_all_entities(kind: str) -> None:
    """An entity that joins late is drawn by the clock learned from the others' packets."""
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


@pytest.mark.parametrize("apart", [False, True])
@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize(
    "name",
    ["source", "mirror", "james-frowen", "lightyear", "ddnet", "quake3", "geckos", "hermite"],
)
def test_entities_of_one_connection_are_drawn_at_one_time(
    name: str, seed: int, apart: bool
) -> None:
    """An entity that joins late is drawn at the sender's time at which the others are."""
    packets = connection("joins late", seed, jitter=0.04, apart=apart)
    times: dict[str, dict[float, float]] = {}
    for entity, samples in rows(name, packets).items():
        own = [packet for packet in packets if packet.entity == entity]
        stamps = [packet.time for packet in own]
        # the coordinate that is linear in time, of whatever curve
        places = [-packet.position[1] for packet in own]
        times[entity] = {
            sample.time: float(np.interp(-sample.position[1], places, stamps))
            for sample in samples
            if sample.status == "interpolated"
            and stamps[1] < np.interp(-sample.position[1], places, stamps) < stamps[-1]
            and -sample.position[1] not in places  # nor is it at the newest, to go on
        }
    both = times["a"].keys() & times["b"].keys()
    assert len(both) > 60
    assert [times["a"][at] for at in both] == pytest.approx([times["b"][at] for at in both])


#: What measures the send interval, and what that setting is called.
MEASURES = {
    "mirror": "send_interval",
    "lightyear": "send_interval",
    "james-frowen": "tick_interval",
    "tick-interpolation": "tick_interval",
    "hermite": "send_interval",
}


@pytest.mark.parametrize("between", [0.0, 0.002, 0.016])
@pytest.mark.parametrize("name", [*MEASURES, "unity-ngo"])
def test_a_measured_interval_is_that_of_an_entity_not_of_the_datagrams(
    name: str, between: float
) -> None:
    """The lag equals that with the interval given, in shared and in separate datagrams."""
    packets = connection("goes silent", apart=between > 0, between=between)
    setting = {name: 0.05 for name in [MEASURES.get(name, "")] if name} or {"tick_rate": 20}
    measured, given = rows(name, packets), rows(name, packets, **setting)
    for entity in ("a", "b"):
        found, wanted = measured[entity], given[entity]
        late = [
            (one.position, other.position)
            for one, other in zip(found, wanted, strict=True)
            if 1 < one.time < (2.1 if entity == "a" else 4.0)
        ]
        assert len(late) > 60
        # a timeline that has begun elsewhere may stay within its tolerance, half an interval
        off = [math.dist(one, other) for one, other in late]
        assert max(off) < 10 * 0.025


@pytest.mark.parametrize("name", ["quake3", "geckos", "mirror", "james-frowen", "unity-ngo"])
def test_entities_that_send_in_turn_do_not_freeze(name: str) -> None:
    """Three entities that send at one rate, but never at one time, are as smooth as one alone."""
    packets = connection("goes silent", apart=True, between=0.023)
    for samples in rows(name, packets).values():
        moving = [one for one in samples if 0.6 < one.time < 2.0]
        assert all(one.status == "interpolated" for one in moving)


@pytest.mark.parametrize("apart", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_geckos_has_one_offset_for_all_entities(kind: str, apart: bool) -> None:
    """The offset is that of the connection's first packet, or of one more than 50 ms off."""
    packets = connection(kind, jitter=0.09, apart=apart)
    drawn = 0
    for entity, samples in rows("geckos", packets).items():
        latest = -math.inf
        for sample in samples:
            offset = math.nan
            for packet in (known := arrived(packets, sample.time)):
                fresh = (packet.arrival or 0.0) - packet.time
                offset = offset if abs(fresh - offset) <= 0.05 + 1e-9 else fresh
            own = [(one.time, one.position[0]) for one in known if one.entity == entity]
            time = max(sample.time - offset - 0.1, latest)
            if sample.status != "none":
                latest = time  # it never runs backwards
            if own[0][0] <= time < own[-1][0]:
                drawn += 1
                expected = float(np.interp(time, *np.transpose(own)))
                assert sample.position[0] == pytest.approx(expected, abs=1e-9)
    assert drawn > 100


def quake3(packets: list[Packet], entity: str, frames: list[float]) -> dict[float, float]:
    """Return x of a player in each frame: CL_SetCGameTime with snapshots of all entities.

    A player whom a snapshot leaves out stays where it was.
    """
    stamps = sorted({one.time for one in packets})
    own = {one.time: one.position[0] for one in packets if one.entity == entity}
    full: dict[float, float] = {}
    for stamp in stamps:
        if stamp in own or full:
            full[stamp] = own[stamp] if stamp in own else full[stamps[stamps.index(stamp) - 1]]
    shown, came = {}, {one.time: one.arrival or 0.0 for one in packets}
    delta = server = seen = -math.inf
    extrapolated = False
    for at in frames:
        known = [stamp for stamp in stamps if came[stamp] <= at]
        if not known:
            continue
        newest = known[-1]
        if delta == -math.inf:
            delta, server, seen = newest - at, newest, newest
        server = max(server, at + delta)
        extrapolated |= at + delta >= newest - 0.005 - 1e-9
        if newest > seen:
            seen, off = newest, abs(newest - at - delta)
            if off > 0.5 + 1e-9:
                delta = server = newest - at
            elif off > 0.1 + 1e-9:
                delta = (delta + newest - at) / 2
            elif extrapolated:
                extrapolated, delta = False, delta - 0.002
            else:
                delta += 0.001
        # what no packet has told yet is not known to be at rest
        last = max((stamp for stamp in own if stamp <= newest), default=None)
        if last is not None:
            states = {stamp: x for stamp, x in full.items() if stamp <= last}
            shown[at] = float(np.interp(server, list(states), list(states.values())))
    return shown


@pytest.mark.parametrize("kind", KINDS)
def test_quake3_has_one_clock_for_all_entities(kind: str) -> None:
    packets = connection(kind, jitter=0.03)
    drawn = rows("quake3", packets)
    frames = sorted({sample.time for samples in drawn.values() for sample in samples})
    for entity, samples in drawn.items():
        expected = quake3(packets, entity, frames)
        moving = {sample.time: sample.position[0] for sample in samples}
        assert moving == pytest.approx({at: expected[at] for at in moving}, abs=1e-6)


@pytest.mark.parametrize("kind", KINDS)
def test_snapshots_loop_counts_an_update_once_whoever_is_in_it(kind: str) -> None:
    """Packets with one timestamp, in one datagram or in several, are one update of 0.05 s."""
    settings = {"clock": "pll", "server_step": 0.05, "interpolation_time": 0.15}
    together = rows("snapshot", connection(kind), **settings)  # type: ignore[arg-type]
    apart = rows("snapshot", connection(kind, apart=True), **settings)  # type: ignore[arg-type]
    for entity in together:
        begin = together[entity][0].time + 0.4
        for one, other in zip(together[entity], apart[entity], strict=False):
            if one.time > begin:
                # stamps and arrivals of datagrams that are apart are up to 6 ms later
                assert math.dist(one.position, other.position) < 12 * 0.008
    # the entity that all updates are of is where its stamps say
    packets = [packet for packet in connection(kind) if packet.entity == "a"]
    stamps, places = zip(*((one.time, one.position[0]) for one in packets), strict=True)
    for sample in together["a"]:
        if sample.status == "interpolated":
            time = sample.time - 0.06 - 0.15
            assert sample.position[0] == pytest.approx(np.interp(time, stamps, places), abs=0.02)


def james_frowen(packets: list[Packet], entity: str, frames: list[float]) -> dict[float, float]:
    """Return x of an entity in each frame: one clock for all messages, a buffer for each entity."""
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
