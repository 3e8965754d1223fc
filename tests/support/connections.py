"""Packets of several entities on one connection; one entity is silent or joins late."""

from __future__ import annotations

import random

from epic_cli import Packet

#: Send intervals between two packets of each entity, and when it begins and ends (s).
KINDS: dict[str, dict[str, tuple[int, float, float]]] = {
    "goes silent": {"a": (1, 0.0, 2.0), "b": (1, 0.0, 4.0)},
    "joins late": {"a": (1, 0.0, 4.0), "b": (1, 1.5, 4.0)},
    "another rate": {"a": (1, 0.0, 4.0), "b": (3, 0.0, 4.0)},
    "three": {"a": (1, 0.0, 4.0), "b": (2, 0.5, 2.5), "c": (5, 1.2, 4.0)},
}


def connection(
    kind: str,
    seed: int = 0,
    rate: float = 20.0,
    apart: bool = False,
    jitter: float = 0.0,
    between: float = 0.002,
    teleports: bool = False,
) -> list[Packet]:
    """Return packets in order of arrival; those of one time share a datagram, unless ``apart``.

    Apart, each entity's stamps are ``between`` (s) after those of the entity before. ``jitter`` (s)
    delays packets by up to this much and keeps their order.
    """
    rng = random.Random(f"{kind} {seed}")
    packets: list[Packet] = []
    newest = 0.0
    for number in range(round(4.0 * rate)):
        sent = number / rate
        arrival = newest = max(newest, sent + 0.06 + rng.uniform(0, jitter))
        for index, (name, (every, begin, end)) in enumerate(KINDS[kind].items()):
            if number % every == 0 and begin <= sent < end:
                time = sent + between * index if apart else sent
                arrival = newest = max(newest, arrival, time) + (0.0004 if apart else 0.0)
                x = (3.0 + index) * sent + 0.7 * sent * sent
                packets.append(
                    Packet((x, -2.0 * sent, 0.5), (3.0 + index + 1.4 * sent, -2.0, 0.0), time,
                           arrival, name, teleport=teleports and number % 13 == 5)
                )  # fmt: skip
    return packets
