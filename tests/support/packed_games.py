"""Datagrams of made-up games that pack their fields bit by bit: nothing of epic is used."""

from __future__ import annotations

import math
import random

from support.unknown_games import Game, Truth


class Bits:
    """Fields one after the other, from the lowest bit of each byte on, or from the highest."""

    def __init__(self, highest_first: bool) -> None:
        self._highest_first = highest_first
        self._bits: list[int] = []

    def put(self, value: int, width: int) -> None:
        """An integer below 2^width; a negative one as two's complement."""
        bits = [value >> place & 1 for place in range(width)]
        self._bits += bits[::-1] if self._highest_first else bits

    def data(self) -> bytes:
        """Filled up to a whole byte."""
        bits = self._bits + [0] * (-len(self._bits) % 8)
        eights = (bits[at : at + 8] for at in range(0, len(bits), 8))
        order = -1 if self._highest_first else 1
        return bytes(sum(bit << at for at, bit in enumerate(eight[::order])) for eight in eights)


def packed_game(seed: int) -> Game:
    """One of very many; coordinates have 9 to 24 bits."""
    rng = random.Random(9000 + seed)
    highest_first = rng.random() < 0.5
    axes = rng.choice([2, 3, 3])
    width = rng.choice([9, 10, 11, 12, 13, 14, 15, 17, 18, 20, 22, 24])
    widths = [width] * axes
    if axes == 3 and rng.random() < 0.3:
        widths[2] = max(9, width - 2)  # heights vary less
    signed = rng.random() < 0.35
    used = rng.uniform(0.3, 0.9)  # how much of the range the movement takes
    shift = rng.uniform(-1, 1) * (1 - used)
    entities = rng.choice([1, 1, 2, 4, 6])
    together = entities > 1 and rng.random() < 0.4
    rate = rng.choice([20, 30, 60])
    stamp = rng.choice(["tick16", "tick32", "ms32", "tick20", "ms22"])
    head = rng.choice([0, 0, 3, 5, 8, 16])
    magic = rng.getrandbits(head) if head else 0
    sequence = rng.random() < 0.3
    id_bits = rng.choice([3, 5, 7, 8])
    flags, angle, health = rng.randrange(4), rng.choice([0, 0, 8, 9, 10]), rng.choice([0, 0, 7])
    first = rng.randrange(100, 5000)
    ids = rng.sample(range(2**id_bits), entities)
    speeds = [[rng.uniform(0.4, 1.9) for _ in range(axes)] for _ in range(entities)]
    phases = [[rng.uniform(0, 6.3) for _ in range(axes)] for _ in range(entities)]
    order = "highest" if highest_first else "lowest"
    words = (
        f"{seed} {order} {widths} {'signed' * signed} {stamp} {rate} Hz {entities} entities"
        f"{' together' * together} head {head} {'seq ' * sequence}id {id_bits} flags {flags}"
        f" angle {angle} health {health} used {used:.2f}"
    )

    def place(entity: int, time: float) -> list[float]:
        """From -1 to 1."""
        both = zip(speeds[entity], phases[entity], strict=True)
        return [
            shift + used * (0.8 * math.sin(a * time + b) + 0.2 * math.sin(2.1 * a * time + entity))
            for a, b in both
        ]

    def put_record(bits: Bits, entity: int, time: float) -> None:
        if entities > 1:
            bits.put(ids[entity], id_bits)
        for _ in range(flags):
            bits.put(int(rng.random() < 0.1), 1)
        for one, wide in zip(place(entity, time), widths, strict=True):
            half = 2 ** (wide - 1)
            bits.put(math.floor(one * half) + (0 if signed else half), wide)
        if angle:
            bits.put(round((0.7 * time + entity) / 6.2832 * 2**angle) % 2**angle, angle)
        if health:
            bits.put(max(100 - int(time), 1), health)

    def put_head(bits: Bits, step: int) -> float:
        """The time that it says."""
        time = step / rate
        bits.put(magic, head)
        if sequence:
            bits.put((step + 3) % 65536, 16)
        wide = int(stamp[-2:])
        if stamp[0] == "t":
            bits.put((first + step) % 2**wide, wide)
            return time
        bits.put(1000 * first + round(1000 * time), wide)
        return round(1000 * time) / 1000

    datagrams, times, truth = [], [], list[Truth]()
    for step in range(rng.choice([200, 300, 500])):
        time = step / rate
        arrival = time + 0.03 + rng.uniform(0, 0.004)
        groups = [list(range(entities))] if together else [[index] for index in range(entities)]
        for number, group in enumerate(groups):
            bits = Bits(highest_first)
            said = put_head(bits, step)
            for entity in group:
                put_record(bits, entity, time)
                truth.append((str(entity), said, tuple(place(entity, time))))
            datagrams.append(bits.data())
            times.append(arrival + number * 1e-4)
    return Game(words, datagrams, times, truth)
