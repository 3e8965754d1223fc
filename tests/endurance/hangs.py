"""Search for data that keeps a strategy, a clock or a pacing busy for ever.

    python -m endurance.hangs --cases 1000000

A case is a strategy with settings from all over their ranges, a clock, a tick, a pacing, and
packets and frames at times that no sane clock would show. Each has one second of processor time; a
usual one takes a fifth of a millisecond. ``--case N`` runs one of them and prints what it is.
"""

from __future__ import annotations

import argparse
import math
import random
import struct
import sys
import time
from typing import Any

from endurance.watched import run_cases
from epic_cli import Number, Packet, Setting, SettingError, strategies
from epic_cli.engine.packets import Entities, PacketBlock
from epic_cli.engine.replay.playback import ClockName, PacingName, SampleStream, Timing, parse_tick
from epic_cli.engine.strategies import create

#: Seconds of processor time that one case may take.
LIMIT = 1.0

#: A case draws no more rows than this: the number of rows is the recording's, not the strategy's.
MOST_ROWS = 300

#: How far it has come is said after so many cases.
SHOWN = 50_000

DECLARED = {declaration.name: declaration for declaration in strategies()}

EDGES = (
    *(0.0, -0.0, 5e-324, 1e-300, 1e-45, 2.0**-149, 1.5e-7, 1e-3, 0.05, 1.0, 59.94),
    *(2.0**20, 1048575.9375, 2.0**23, 2.0**24, 16777217.0, 2.0**31, 2.0**32, 4e9, 4e15),
    *(2.0**52, 2.0**53, 1e22, 3.4028234e38, 3.4028235e38, 3.5e38, 1e154, 1e300, 1.7e308),
)

TICKS = (*("1e-6", "0.001", "1/144", "1/60", "0.05", "50ms", "0.1", "1", "60", "3600"), "7.3hz")


def number_near(chance: random.Random) -> float:
    """Return any number; numbers near which behavior changes are more frequent."""
    kind = chance.randrange(6)
    if kind == 0:
        value = chance.choice(EDGES)
    elif kind == 1:
        value = 10.0 ** chance.uniform(-300, 300)
    elif kind == 2:
        value = struct.unpack("f", struct.pack("I", chance.getrandbits(31)))[0]
    elif kind == 3:
        value = math.nextafter(chance.choice(EDGES), chance.choice((-math.inf, math.inf)))
    else:
        value = chance.uniform(0, 100)
    return -value if chance.random() < 0.2 else value


def times(chance: random.Random, count: int) -> list[float]:
    """Return times of packets or frames: steady, with jumps, random, or all equal."""
    start = number_near(chance) if chance.random() < 0.6 else 0.0
    step = abs(number_near(chance)) if chance.random() < 0.5 else 10 ** chance.uniform(-3, 3)
    wild = chance.choice((0.0, 0.0, 0.1, 1.0))
    found = []
    for _ in range(count):
        found.append(start)
        if chance.random() < wild:
            start = start + number_near(chance) if chance.random() < 0.5 else number_near(chance)
        else:
            start += step * chance.choice((1, 1, 1, 0, 2, 100))
    return found


def setting_value(chance: random.Random, setting: Setting) -> float | str:
    if setting.choices and (not isinstance(setting, Number) or chance.random() < 0.2):
        return chance.choice(setting.choices)
    if not isinstance(setting, Number):
        default: float | str = setting.default
        return default
    low, high = setting.low, setting.high
    kind = chance.randrange(5)
    if kind == 0:
        value = chance.choice((low, high))
    elif kind == 1:
        inward = math.nextafter(low, high), math.nextafter(high, low)
        value = chance.choice(inward)
    elif kind == 2:
        value = chance.uniform(low, high)
    elif kind == 3:
        small = max(abs(low), 1e-12 * max(abs(high), 1e-300))
        exponent = chance.uniform(math.log10(small), math.log10(max(abs(high), 2 * small)))
        value = min(max(10**exponent, low), high)
    else:
        value = chance.choice(EDGES)
    return float(round(value)) if setting.whole and math.isfinite(value) else value


def some_settings(chance: random.Random, name: str) -> dict[str, float | str]:
    settings: dict[str, float | str] = {}
    for setting in DECLARED[name].settings:
        if chance.random() < 0.5:
            value = setting_value(chance, setting)
            try:
                setting.check(value)
            except SettingError:
                continue
            settings[setting.name] = value
    return settings


def some_packets(chance: random.Random) -> list[Packet]:
    count = chance.choice((1, 2, 3, 8, 40))
    stamps = times(chance, count)
    arrivals: list[Any] = [None] * count
    if chance.random() < 0.6:
        later = 0.0 if chance.random() < 0.3 else abs(number_near(chance))
        arrivals = [stamp + later for stamp in stamps]
        if chance.random() < 0.4:
            arrivals = times(chance, count)
        if chance.random() < 0.7:
            arrivals.sort()
    scale = abs(number_near(chance)) if chance.random() < 0.3 else 10.0
    return [
        Packet(
            (chance.uniform(-scale, scale), chance.uniform(-scale, scale), scale),
            (chance.uniform(-scale, scale), chance.uniform(-scale, scale), -scale),
            stamp,
            arrival if arrival is not None and math.isfinite(arrival) else None,
            chance.choice(("", "", "", "b")),
            chance.random() < 0.03,
        )
        for stamp, arrival in zip(stamps, arrivals, strict=True)
    ]


class Case:
    """A random strategy, its packets and its timing, determined by a case number."""

    def __init__(self, number: int) -> None:
        chance = random.Random(number)
        self.name = chance.choice(list(DECLARED))
        self.settings = some_settings(chance, self.name)
        self.packets = some_packets(chance)
        tick = chance.choice(TICKS)
        if chance.random() < 0.3:
            tick = f"{10 ** chance.uniform(-6, 3.55):.3g}"
        clock: ClockName | None = chance.choice((None, "single", "exact"))
        pacing: PacingName | None = chance.choice((None, "arrival"))
        latency = chance.choice((None, None, 0.0, 0.1, number_near(chance)))
        self.timing = Timing(parse_tick(tick), clock, pacing, latency)
        self.frames = times(chance, 60) if chance.random() < 0.4 else []
        self.chance = chance

    def __str__(self) -> str:
        lines = [f"{self.name} {self.settings}", f"{self.timing}", *map(str, self.packets)]
        return "\n".join([*lines, f"frames: {self.frames}"])

    def run(self) -> None:
        """Draw the case, by the replay or by calls of the strategy."""
        if self.frames:
            self._by_hand()
        else:
            self._by_replay()

    def _by_replay(self) -> None:
        stream = SampleStream(lambda: create(self.name, self.settings), self.timing)
        entities, rows = Entities(), 0
        for packet in self.packets:
            block = PacketBlock(entities)
            block.append(packet)
            for drawn in stream.feed(block):
                rows += len(drawn)
                if rows > MOST_ROWS:
                    return  # a gap may have fifty million
        for _ in stream.finish():
            return

    def _by_hand(self) -> None:
        strategy = create(self.name, self.settings)
        frames = sorted(self.frames)
        packets = iter(self.packets)
        for frame in frames:
            if self.chance.random() < 0.5:
                packet = next(packets, None)
                if packet is not None:
                    strategy.update(packet, frame)
            strategy.read(frame)


def hunt(cases: range) -> list[str]:
    """Yield the cases that hang, crash or raise, with their descriptions."""
    found = []
    for ended in run_cases(cases, lambda number: Case(number).run(), LIMIT):
        found.append(f"{ended}\n{Case(ended.case)}")
        print(found[-1], flush=True)
    return found


def main() -> int:
    """Run the cases; return status 1 if one does not end properly."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--cases", type=int, default=1_000_000)
    parser.add_argument("--first", type=int, default=0, help="the number of the first case")
    parser.add_argument("--case", type=int, help="run this one alone, and print it")
    options = parser.parse_args()
    if options.case is not None:
        print(Case(options.case))
        begin = time.process_time()
        Case(options.case).run()
        print(f"{time.process_time() - begin:.3f} s")
        return 0
    begin = time.monotonic()
    found = 0
    end = options.first + options.cases
    for first in range(options.first, end, SHOWN):
        found += len(hunt(range(first, min(first + SHOWN, end))))
        done, seconds = min(first + SHOWN, end) - options.first, time.monotonic() - begin
        print(f"{done:,} cases in {seconds:.0f} s: {found} found", flush=True)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
