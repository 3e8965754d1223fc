"""The built-in test streams for ports; each shows one kind of packet event.

``streams.json`` is also used by the project's own tests: a few dozen packets each, without
reordering. The others are made here, and are always the same: between them they reach each branch
of each strategy (``tests/endurance/mutant_ports.py`` counts).
"""

from __future__ import annotations

import json
import math
import random
from collections.abc import Callable, Iterable
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple

from epic_cli.recordings.writing import write_number


class StreamPacket(NamedTuple):
    """A packet with its timestamp and its arrival (s)."""

    time: float
    arrival: float
    position: tuple[float, float, float]
    velocity: tuple[float, float, float]


#: A network: sent packets and a random generator to arriving packets.
Network = Callable[[list[StreamPacket], random.Random], list[StreamPacket]]


class PacketStream(NamedTuple):
    """A named stream: packet text, in order of arrival."""

    name: str
    text: bytes


@cache
def make_builtin_streams() -> tuple[PacketStream, ...]:
    """Return all built-in streams."""
    document = (files("epic_cli.jobs.check") / "streams.json").read_text("utf-8")
    streams: dict[str, Iterable[StreamPacket]] = {
        each["name"]: map(_parse_packet, each["packets"])
        for each in json.loads(document)["streams"]
    }
    for name, (rate, seconds, speed, network) in _MADE.items():
        dice = random.Random(name)  # noqa: S311 - the same stream always
        streams[name] = network(_make_movement(rate, seconds, speed), dice)
    return tuple(PacketStream(name, _write_packets(packets)) for name, packets in streams.items())


def _parse_packet(packet: dict[str, Any]) -> StreamPacket:
    return StreamPacket(
        packet["t_ms"] / 1000,
        packet["recv_ms"] / 1000,
        (packet["x"], packet["y"], 0),
        (packet["vx"], packet["vy"], 0),
    )


def _write_packets(packets: Iterable[StreamPacket]) -> bytes:
    by_arrival = sorted(packets, key=lambda one: one.arrival)
    return "".join(
        f"{','.join(map(write_number, packet.position))} /"
        f" {','.join(map(write_number, packet.velocity))}"
        f" / {write_number(packet.time)} arrival={write_number(packet.arrival)}\n"
        for packet in by_arrival
    ).encode()


def _make_movement(rate: float, seconds: float, speed: float) -> list[StreamPacket]:
    """Return packets on a winding path in three dimensions, sent ``rate`` times a second.

    Each takes 80 ms to arrive.
    """
    sent = []
    for k in range(round(rate * seconds)):
        t = round(k / rate, 6)
        position = (speed * t, speed * math.sin(1.3 * t), speed * math.cos(0.7 * t) / 2)
        velocity = (speed, speed * 1.3 * math.cos(1.3 * t), -speed * 0.35 * math.sin(0.7 * t))
        sent.append(
            StreamPacket(t, round(t + 0.08, 6), _round_vector(position), _round_vector(velocity))
        )
    return sent


def _round_vector(vector: tuple[float, ...]) -> tuple[float, float, float]:
    x, y, z = (round(value, 4) for value in vector)
    return x, y, z


# ---------------------------------------------------------------- what happens to packets


def _make_delaying_network(by: Callable[[float, random.Random], float]) -> Network:
    """Return a network that delays each packet by a function of its sending time (s)."""
    return lambda sent, dice: [
        packet._replace(arrival=round(packet.arrival + by(packet.time, dice), 6)) for packet in sent
    ]


def _make_jitter_network(most: float) -> Network:
    return _make_delaying_network(lambda _, dice: most * dice.random())


def _make_latency_rise(rise: float, begin: float, end: float = math.inf) -> Network:
    """Return a network whose latency is higher between two times."""
    return _make_delaying_network(lambda time, _: rise if begin < time < end else 0.0)


def _make_outages(*pauses: tuple[float, float]) -> Network:
    """Return a network that loses the packets sent between two times."""
    return lambda sent, _: [
        packet for packet in sent if not any(begin < packet.time < end for begin, end in pauses)
    ]


def _add_spikes(time: float, dice: random.Random) -> float:
    """Return a delay of up to 0.02 s; for three in ten packets, 0.03 to 0.15 s."""
    del time
    return 0.02 * dice.random() + (0.03 + 0.1 * dice.random() if dice.random() < 0.3 else 0.0)


def _combine_networks(*networks: Network) -> Network:
    def simulate_network(sent: list[StreamPacket], dice: random.Random) -> list[StreamPacket]:
        for each in networks:
            sent = each(sent, dice)
        return sent

    return simulate_network


def _make_burst_losses(longest: int) -> Network:
    def simulate_network(sent: list[StreamPacket], dice: random.Random) -> list[StreamPacket]:
        left: list[StreamPacket] = []
        k = 0
        while k < len(sent):
            left.append(sent[k])
            k += 1 + (dice.randint(1, longest) if dice.random() < 0.1 else 0)
        return left

    return simulate_network


def _change_rate(sent: list[StreamPacket], dice: random.Random) -> list[StreamPacket]:
    """Return packets whose send rate changes again and again."""
    out: list[StreamPacket] = []
    k = 0
    while k < len(sent):
        out.append(sent[k])
        k += dice.choice([1, 2, 3, 6]) if k % 100 < 50 else (3 if k < 200 else 2)
    return out


def _repeat_stamps(sent: list[StreamPacket], dice: random.Random) -> list[StreamPacket]:
    """Return packets of which every seventh has the timestamp of the packet before it.

    Some of these packets are sent twice.
    """
    out: list[StreamPacket] = []
    for k, one in enumerate(sent):
        out.append(one._replace(time=sent[k - 1].time) if k % 7 == 3 else one)
        if k % 14 == 5:
            out.append(one._replace(arrival=round(one.arrival + 0.03 * dice.random(), 6)))
    return out


def _pair_stamps(sent: list[StreamPacket], dice: random.Random) -> list[StreamPacket]:
    """Return packets of which every second has the timestamp of the packet before it."""
    del dice
    return [one._replace(time=sent[k - k % 2].time) for k, one in enumerate(sent)]


def _add_jumps(sent: list[StreamPacket], dice: random.Random) -> list[StreamPacket]:
    """Return packets of an entity that jumps at every ninth packet, by 0.5 to 2000 units."""
    off = 0.0
    out = []
    for k, one in enumerate(sent):
        if k % 9 == 8:
            off += dice.choice([-0.5, 1.5, 4, 12, 40, 100, -270, 500, -380, 2000])
        x, y, z = one.position
        out.append(one._replace(position=_round_vector((x + off, y - off / 3, z))))
    return out


def _add_stops(sent: list[StreamPacket], dice: random.Random) -> list[StreamPacket]:
    """Return packets of an entity that stops for a while and then goes on from there."""
    del dice
    out: list[StreamPacket] = []
    for k, one in enumerate(sent):
        if (k // 12) % 2:
            here = out[-1].position if out else one.position
            one = one._replace(position=here, velocity=(0, 0, 0))  # noqa: PLW2901
        out.append(one)
    return out


def _make_clock_shift(stamp: Callable[[float], float]) -> Network:
    """Return a network whose timestamps are those of another sender clock."""
    return lambda sent, _: [packet._replace(time=round(stamp(packet.time), 6)) for packet in sent]


def _make_holding_network(begin: float, end: float) -> Network:
    """Return a network that holds packets arriving between two times until the second time."""
    return lambda sent, _: [
        packet._replace(arrival=end) if begin < packet.arrival < end else packet for packet in sent
    ]


def _reorder_packets(time: float, dice: random.Random) -> float:
    """Return a delay for about every seventh packet that lets later packets overtake it, else 0."""
    del time
    return 0.03 * dice.random() + (0.15 if dice.random() < 0.15 else 0.0)


#: By name: packets a second, seconds, speed (units/s), and the network.
_MADE: dict[str, tuple[float, float, float, Network]] = {
    "jitter_large": (20, 8, 10, _make_jitter_network(0.12)),
    "late_packets": (20, 8, 10, _make_delaying_network(_reorder_packets)),
    "late_packets_often": (30, 5, 8, _make_jitter_network(0.2)),
    "same_timestamps": (20, 5, 10, _repeat_stamps),
    "lost_in_bursts": (
        20,
        8,
        10,
        _combine_networks(_make_burst_losses(6), _make_jitter_network(0.02)),
    ),
    "silences": (
        20,
        12,
        10,
        _combine_networks(
            _make_outages((1.5, 3.1), (4.5, 5.4), (6.5, 9.5)), _make_jitter_network(0.01)
        ),
    ),
    "all_at_once": (64, 5, 10, _make_holding_network(1.5, 3.6)),
    "spikes": (10, 12, 10, _make_delaying_network(_add_spikes)),
    "latency_rises": (20, 8, 10, _make_latency_rise(0.52, 4)),
    "latency_falls": (20, 8, 10, _make_latency_rise(0.52, -1, 4)),
    "latency_leaps": (20, 10, 10, _make_latency_rise(1.5, 3, 6)),
    "clock_fast": (
        20,
        15,
        10,
        _combine_networks(_make_clock_shift(lambda t: 1.03 * t), _make_jitter_network(0.01)),
    ),
    "clock_slow": (
        20,
        15,
        10,
        _combine_networks(_make_clock_shift(lambda t: 0.97 * t), _make_jitter_network(0.01)),
    ),
    "clock_set_forward": (20, 6, 10, _make_clock_shift(lambda t: t + (20 if t > 3 else 0))),
    "clock_set_back": (20, 6, 10, _make_clock_shift(lambda t: t + (0 if t > 3 else 20))),
    "clock_behind": (20, 4, 10, _make_latency_rise(7.25, -1)),
    "latency_high": (
        20,
        4,
        10,
        _combine_networks(_make_latency_rise(0.44, -1), _make_jitter_network(0.02)),
    ),
    "jumps": (20, 12, 10, _add_jumps),
    "slow": (10, 8, 0.04, _combine_networks(_make_burst_losses(5), _make_jitter_network(0.03))),
    "fast": (30, 4, 300, _combine_networks(_make_burst_losses(3), _make_jitter_network(0.03))),
    "stop_and_go": (20, 6, 12, _combine_networks(_add_stops, _make_jitter_network(0.03))),
    "5_a_second": (5, 10, 6, _make_jitter_network(0.05)),
    "64_a_second": (
        64,
        4,
        10,
        _combine_networks(_make_burst_losses(4), _make_jitter_network(0.02)),
    ),
    "128_a_second": (128, 3, 10, _make_jitter_network(0.01)),
    "400_a_second": (400, 1.5, 10, _make_jitter_network(0.01)),
    "1000_a_second": (1000, 1, 10, _pair_stamps),
    "every_5_seconds": (0.2, 35, 2, _make_jitter_network(0.03)),
    "long_silences": (20, 22, 20, _make_outages((0.5, 1.52), (2, 6.1), (7.5, 20.6))),
    "slow_silences": (
        20,
        8,
        1.5,
        _make_outages((1, 1.4), (2, 2.6), (4, 4.3), (5, 5.9), (6.5, 6.7)),
    ),
    "at_once": (20, 2, 10, _make_latency_rise(-0.08, -1)),
    "on_ticks": (20, 3, 10, _make_latency_rise(0.02, -1)),
    "on_every_other_tick": (
        10,
        4,
        10,
        _combine_networks(_make_latency_rise(0.02, -1), _make_burst_losses(2)),
    ),
    "rate_changes": (60, 8, 10, _change_rate),
    "long": (
        20,
        40,
        10,
        _combine_networks(
            _make_clock_shift(lambda t: 1.001 * t),
            _make_burst_losses(2),
            _make_jitter_network(0.06),
        ),
    ),
}
