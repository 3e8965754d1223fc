"""Recordings changed as a remedy at the sender would change them: thinned, restamped or marked."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

import numpy as np

from epic_cli.engine.contract import Packet
from epic_cli.engine.packets import PacketBlock
from epic_cli.metrics.arrays import compute_median
from epic_cli.metrics.repeats import find_repeats, find_step_times
from epic_cli.metrics.traffic import SILENT, Floats, Stream, Traffic, make_traffic, measure_network


def measure_needed_delay(traffic: Traffic) -> float:
    """Return the delay (s) that is enough for 95 % of the packets; 0 if unknown."""
    return (
        0.0 if traffic.messages is None else max(measure_network(traffic.messages).needed[1], 0.0)
    )


def rewrite(block: PacketBlock, change: Callable[[Packet], Packet | None]) -> PacketBlock:
    """Return the packets after ``change``; packets for which it returns None are dropped."""
    found = PacketBlock()
    for packet in iterate_packets(block):
        changed = change(packet)
        if changed is not None:
            found.append(changed)
    return found


def iterate_packets(block: PacketBlock) -> Iterator[Packet]:
    """Yield the packets of a block in their order."""
    return map(block.__getitem__, range(len(block)))


def make_stream(block: PacketBlock) -> Stream | None:
    """Return the states of one entity's packets ordered by stamps; None if there are too few."""
    streams = make_traffic({"": block}).streams
    return max(streams, key=lambda one: len(one.times)) if streams else None


def restamp(block: PacketBlock, change: Callable[[Stream], Floats]) -> PacketBlock:
    """Return the packets with the stamps (s) that ``change`` computes from the stream's states.

    Packets with a NaN stamp, or that are no state of the stream, are left out.
    """
    stream = make_stream(block)
    if stream is None:
        return block
    stamps = dict(
        zip(map(_make_stamp_key, stream.times.tolist()), change(stream).tolist(), strict=True)
    )

    def stamp_packet(packet: Packet) -> Packet | None:
        # taken once: copies are left out
        time = stamps.pop(_make_stamp_key(packet.time), math.nan)
        return packet._replace(time=time) if math.isfinite(time) else None

    return rewrite(block, stamp_packet)


def _make_stamp_key(time: float) -> float:
    """Return a stamp rounded for use as a key: streams round their stamps to nanoseconds."""
    return round(time, 7)


def number_stamps(block: PacketBlock) -> PacketBlock:
    """Return the packets with stamps computed from their sequence numbers."""
    stream = make_stream(block)
    if stream is None:
        return block
    stamps = dict(zip(stream.sequence.tolist(), stream.times.tolist(), strict=True))

    def stamp_packet(packet: Packet) -> Packet | None:
        time = stamps.pop(float(-1 if packet.sequence is None else packet.sequence), None)
        return None if time is None else packet._replace(time=time)

    return rewrite(block, stamp_packet)


def send_once(block: PacketBlock) -> PacketBlock:
    """Return the packets without repeated states, stamped at the simulation's steps."""
    stream = make_stream(block)
    return (
        block if stream is None or find_repeats(stream) is None else restamp(block, find_step_times)
    )


def fill_rests(block: PacketBlock) -> PacketBlock:
    """Return the packets with the state of a resting entity repeated every period."""
    stream = make_stream(block)
    if stream is None:
        return block
    silent = stream.find_stretched(SILENT)
    begins = set(map(_make_stamp_key, stream.times[silent[stream.mark_rested(silent)]].tolist()))
    ends = dict(
        zip(
            map(_make_stamp_key, stream.times[:-1].tolist()), stream.times[1:].tolist(), strict=True
        )
    )
    delays = stream.arrivals - stream.times
    delay = compute_median(delays[np.isfinite(delays)]) if np.isfinite(delays).any() else 0.0
    sent = []
    for packet in iterate_packets(block):
        sent.append(packet)
        key = _make_stamp_key(packet.time)
        if key in begins:
            begins.remove(key)
            for stamp in np.arange(
                packet.time + stream.period, ends[key] - stream.period / 2, stream.period
            ).tolist():
                rest = packet._replace(velocity=(0.0, 0.0, 0.0), time=stamp, sequence=None)
                sent.append(rest._replace(arrival=stamp + delay))
    found = PacketBlock()
    for packet in sorted(
        sent, key=lambda one: one.arrival if one.arrival is not None else one.time
    ):
        found.append(packet)
    return found
