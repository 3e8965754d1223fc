"""Datagrams of made-up games, with what they mean: nothing of epic is used."""

from __future__ import annotations

import math
import random
import struct
from typing import NamedTuple

Truth = tuple[str, float, tuple[float, ...]]


class Game(NamedTuple):
    """Datagrams, their arrivals (s), and of each record the entity, the time (s) and the place."""

    words: str
    datagrams: list[bytes]
    times: list[float]
    truth: list[Truth]


def path(number: int, time: float, axes: int, kind: int) -> list[float]:
    """Where an entity is: circles, figures of eight, a walk along a wall and back."""
    phase = time * (0.5 + 0.13 * number) + number
    reach = 8 + 3 * (number % 4)
    if kind == 0:
        place = [
            reach * math.cos(phase),
            reach * math.sin(phase),
            1.5 + 0.7 * math.sin(2.3 * phase),
        ]
    elif kind == 1:
        place = [reach * math.sin(phase), reach * math.sin(2 * phase) / 2 - 20, 0.0]
    else:
        place = [40 + 9 * math.sin(phase), -12 + 5 * math.cos(1.7 * phase), 3 + math.sin(phase)]
    if axes == 3 and kind == 1:
        place = [place[0], 0.0, place[1]]
    return place[:axes]


def game(seed: int) -> Game:
    """One of very many."""
    rng = random.Random(seed)
    big = rng.random() < 0.4
    mark = ">" if big else "<"
    axes, kind = rng.choice([2, 3, 3]), rng.randrange(3)
    number = rng.choice(["f32", "f32", "f32", "f64", "i16", "i32"])
    scale = {"i16": 100.0, "i32": 1000.0}.get(number, 1.0)
    code = {"f32": "f", "f64": "d", "i16": "h", "i32": "i"}[number]
    stamp = rng.choice(["ms32", "tick32", "tick16", "us64", "f32", "f64", "unix64"])
    rate = rng.choice([10, 20, 30, 60])
    entities = rng.choice([1, 1, 3, 8])
    together = entities > 1 and rng.random() < 0.6
    speeds, turns = rng.random() < 0.3, rng.random() < 0.2 and number[0] == "f"
    flags, noise, sequence = rng.random() < 0.3, rng.random() < 0.25, rng.random() < 0.4
    magic = rng.choice([b"", b"", b"\xfe\xca\x01\x7e", b"SNAP"])
    counted = together and rng.random() < 0.75
    partial = together and rng.random() < 0.6  # not all entities are in each
    id_code = rng.choice("BHI")
    ids = rng.sample(range(1, 200), entities)
    begin = rng.uniform(5, 5000)
    types = rng.random() < 0.15
    words = f"{seed} {mark} {number}x{axes} {stamp} {rate} Hz {entities} entities"
    words += " together" * together + " counted" * counted + " partial" * partial
    words += " speeds" * speeds + " turns" * turns + " flags" * flags + " noise" * noise
    words += " seq" * sequence + f" {magic!r} {id_code}" + " types" * types

    def time_bytes(time: float) -> tuple[bytes, float]:
        if stamp == "ms32":
            return struct.pack(mark + "I", round((time + begin) * 1000)), round(time * 1000) / 1000
        if stamp in ("tick32", "tick16"):
            count = round(time * rate)
            wide = stamp == "tick32"
            count_now = count + (int(begin) if wide else int(begin) % 20000)
            return struct.pack(mark + ("I" if wide else "H"), count_now), count / rate
        if stamp == "us64":
            return struct.pack(mark + "Q", round((time + begin) * 1e6)), time
        if stamp == "unix64":
            return struct.pack(mark + "Q", 1_700_000_000_000 + round(time * 1000)), time
        return struct.pack(mark + ("f" if stamp == "f32" else "d"), time + begin % 100), time

    def record(entity: int, time: float, has_id: bool) -> bytes:
        place = path(entity, time, axes, kind)
        later = path(entity, time + 0.001, axes, kind)
        out = struct.pack(mark + id_code, ids[entity]) if has_id else b""
        if flags:
            out += bytes([rng.choice([0, 0, 1, 4])])
        values = [round(value * scale) if scale > 1 else value for value in place]
        if speeds:
            speed = [(b - a) * 1000 * scale for a, b in zip(place, later, strict=True)]
            values += [round(value) if scale > 1 else value for value in speed]
        out += struct.pack(f"{mark}{len(values)}{code}", *values)
        if turns:
            half = 0.4 * time + entity
            out += struct.pack(mark + "4f", 0, math.sin(half), 0, math.cos(half))
        if noise:
            out += rng.randbytes(1 + seed % 3)
        return out

    datagrams, times, truth = [], [], []
    count = rng.choice([150, 300, 600])
    for step in range(count):
        time = step / rate
        stamped, said = time_bytes(time)
        arrival = time + 0.03 + rng.uniform(0, 0.004)
        head = magic + (b"\x02" if types else b"")
        if sequence:
            head += struct.pack(mark + "H", (step + 7) % 65536)
        if types and rng.random() < 0.2:
            datagrams.append(magic + b"\x05" + b"chat: " + rng.randbytes(rng.randrange(1, 9)))
            times.append(arrival - 0.001)
        if together:
            who = list(range(entities))
            if partial:
                who = sorted(rng.sample(who, rng.randrange(1, entities + 1)))
            head += stamped + (bytes([len(who)]) if counted else b"")
            datagrams.append(head + b"".join(record(figure, time, True) for figure in who))
            times.append(arrival)
            truth += [(str(figure), said, tuple(path(figure, time, axes, kind))) for figure in who]
            continue
        for entity in range(entities):
            datagrams.append(head + stamped + record(entity, time, entities > 1))
            times.append(arrival + entity * 1e-4)
            truth.append((str(entity), said, tuple(path(entity, time, axes, kind))))
    return Game(words, datagrams, times, truth)
