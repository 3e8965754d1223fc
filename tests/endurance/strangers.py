"""Systems that people use, on streams of strangers: other rates, frames, silences, settings.

    python -m endurance.strangers --cases 40

Each is drawn a second time by a slow program that was written from the formulas alone, before its
strategy was read. A doubled packet changes nothing. ``--case N`` tries one.
"""

# ruff: noqa: ARG002 - an oracle has no use for all that a client knows

from __future__ import annotations

import argparse
import math
import random
import sys
from abc import abstractmethod
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from epic_cli import Packet, strategy

Point = Any
F = np.float32


class Oracle:
    """A client: each frame takes the packets that have come, then draws."""

    @abstractmethod
    def frame(self, now: float, elapsed: float, packets: list[Packet]) -> Point:
        """Return what is drawn; ``elapsed`` is 0 in the first frame. None before it draws."""


class Minecraft(Oracle):
    """A client that goes to the newest position in ``steps`` ticks, and draws between two ticks."""

    def __init__(
        self, tick: float = 0.05, steps: int = 3, most_ticks: int = 10, snap: float = 64.0
    ) -> None:
        self.tick, self.steps, self.most_ticks, self.snap = tick, steps, most_ticks, snap
        self.part, self.left, self.time = 0.0, 0, -math.inf
        self.position: Point = None

    def frame(self, now: float, elapsed: float, packets: list[Packet]) -> Point:
        self.part += elapsed / self.tick
        ticks = math.floor(self.part + 1e-9)
        self.part = max(self.part - ticks, 0.0)
        for packet in packets:
            if packet.time >= self.time:
                self.take(np.array(packet.position))
                self.time = packet.time
        for _ in range(min(ticks, self.most_ticks)):
            self.previous = self.position
            if self.left > 0:
                self.position = self.position + (self.target - self.position) / self.left
                self.left -= 1
        return self.previous + (self.position - self.previous) * self.part

    def take(self, point: Point) -> None:
        self.target, self.left = point, self.steps
        if self.position is None or float(np.linalg.norm(point - self.position)) > self.snap:
            self.position = self.previous = point
            self.left = 0


class Chrono(Oracle):
    """A client with cubics between one-sided velocities.

    Its clock follows the newest packet softly.
    """

    def __init__(
        self,
        tick: float = 0.05,
        buffer: float = 0.0,
        least: float = 0.09,
        most: float = 0.5,
        keep: int = 30,
    ) -> None:
        self.tick, self.buffer, self.least, self.most, self.keep = tick, buffer, least, most, keep
        self.snapshots: list[tuple[float, Point, Point]] = []
        self.forget_clock()

    def forget_clock(self) -> None:
        self.at: float | None = None
        self.at_now, self.lateness = 0.0, 0.0
        self.render: float | None = None
        self.deviation: float | None = None

    def wait(self) -> float:
        if self.buffer > 0:
            return self.buffer
        raw = self.tick + 2 * (self.deviation or 0.0)
        return self.least + 0.2 * (self.least - raw) if raw < self.least else min(raw, self.most)

    def hear(self, time: float, now: float) -> None:
        if self.at is not None:
            late = self.at + (now - self.at_now) - time
            if abs(late) > 1:
                self.forget_clock()
            else:
                if self.deviation is None:
                    self.deviation = 0.0
                else:
                    change = abs(late - self.lateness)
                    self.deviation += 0.1 * (change - self.deviation)
                self.lateness = late
                if time > self.at:
                    self.at, self.at_now = time, now
                    if self.render is None:
                        self.render = time - self.wait()
                return
        self.at, self.at_now = time, now

    def store(self, time: float, point: Point) -> None:
        velocity = 0 * point
        if self.snapshots and time > self.snapshots[-1][0]:
            newest, before, _ = self.snapshots[-1]
            gap = time - newest
            span = self.tick if gap > 3 * self.tick else gap
            velocity = (point - before) / max(span, self.tick)
            if gap > 3 * self.tick:
                self.put(time - self.tick, before, 0 * point)
        self.put(time, point, velocity)

    def put(self, time: float, point: Point, velocity: Point) -> None:
        self.snapshots.append((time, point, velocity))
        self.snapshots.sort(key=lambda snapshot: snapshot[0])
        if len(self.snapshots) > self.keep:
            self.snapshots.pop(0)

    def frame(self, now: float, elapsed: float, packets: list[Packet]) -> Point:
        for packet in packets:
            if all(packet.time != time for time, _, _ in self.snapshots):
                self.hear(packet.time, now)
                self.store(packet.time, np.array(packet.position))
        assert self.at is not None
        wanted = self.at + (now - self.at_now) - self.wait()
        render = (wanted if self.render is None else self.render) + elapsed
        off = render - wanted
        if abs(off) > 0.1:
            render = wanted
        elif off > 0.01:
            render = max(wanted, render - 0.1 * elapsed)
        elif off < -0.01:
            render = min(wanted, render + 0.1 * elapsed)
        self.render = render
        return self.draw(render)

    def draw(self, render: float) -> Point:
        if render <= self.snapshots[0][0]:
            return self.snapshots[0][1]
        for (t0, p0, v0), (t1, p1, v1) in zip(self.snapshots, self.snapshots[1:], strict=False):
            if render <= t1:
                h = t1 - t0
                u = (render - t0) / h
                return (
                    (2 * u**3 - 3 * u**2 + 1) * p0
                    + (u**3 - 2 * u**2 + u) * h * v0
                    + (3 * u**2 - 2 * u**3) * p1
                    + (u**3 - u**2) * h * v1
                )
        return self.snapshots[-1][1]


class NetcodeForEntities(Oracle):
    """A client whose timeline follows the newest tick, in single precision and whole ticks."""

    def __init__(
        self,
        sim_rate: float = 60,
        net_rate: float | None = None,
        want: float = 2,
        max_extrapolation: int = 20,
        jitter_scale: float = 1.25,
        delay_max_delta: float = 0.1,
        correction: float = 0.1,
        scale_min: float = 0.85,
        scale_max: float = 1.1,
        clamp_partial: float = 5,
        rtt_deviation: float = 0,
    ) -> None:
        self.rate, self.per = F(sim_rate), math.ceil(sim_rate / (net_rate or sim_rate))
        self.want, self.max_extrapolation = F(want), max_extrapolation
        self.jitter_scale, self.delay_max_delta = F(jitter_scale), F(delay_max_delta)
        self.correction, self.scales = F(correction), (F(scale_min), F(scale_max))
        self.clamp, self.rtt = F(clamp_partial) / F(100), F(rtt_deviation)
        self.known: dict[int, Point] = {}
        self.latest: int | None = None
        self.since_change = 0.0

    def frame(self, now: float, elapsed: float, packets: list[Packet]) -> Point:
        if self.known:
            self.advance(now, F(elapsed))
        newest = max(self.known, default=-(10**9))
        last = None
        for packet in packets:
            tick = round(packet.time * float(self.rate))
            if tick > newest and (last is None or tick > last[0]):
                last = (tick, np.array(packet.position))
        if last is not None:
            self.known[last[0]] = last[1]
            self.known = dict(sorted(self.known.items())[-32:])
        return self.draw()

    def advance(self, now: float, dt: Any) -> None:
        newest, d = max(self.known), F(dt * self.rate)
        if self.latest is None:
            self.latest = self.est = newest
            self.age, self.changed = 0, now
            self.avg, self.dev = F(self.per), F(self.rtt * F(self.per))
            self.inter = F(1000) / F(F(self.per) * self.rate)
            self.frames = F(self.want * F(self.per) + F(2) * self.dev)
            self.target, self.sub = newest - int(self.frames), F(0)
        else:
            if newest != self.latest:
                a, step = self.est - newest, newest - self.latest
                gap = int((now - self.changed) * 1000 + 1e-6)
                self.age = int((7 * self.age + 256 * a) / 8)
                self.avg = F(self.avg + (F(step) - self.avg) / F(4))
                self.dev = F(self.dev + (abs(F(step) - self.avg) - self.dev) / F(4))
                self.inter = F(self.inter + (F(gap) - self.inter) / F(4))
                self.latest, self.changed = newest, now
            self.age -= int(F(256) * d)
            q = int(self.age / 256)
            if q < 0:
                self.est += -q
                self.age -= 256 * q
            elif q > 0:
                q += 1
                self.est -= q
                self.age -= 256 * q
        wait = max(
            F(self.want * F(self.per)),
            min(
                max(
                    F((self.inter * self.rate + F(999)) / F(1000)),
                    F(self.avg + self.jitter_scale * self.dev),
                ),
                F(6 * self.per),
            ),
        )
        if abs(wait - self.frames) > 10:
            self.frames = wait
        else:
            most = F(self.delay_max_delta * d)
            change = F((wait - self.frames) * dt)
            self.frames = F(self.frames + min(max(change, -most), most))
        goal = self.est - int(self.frames)
        behind = F(F(goal - self.target) - self.sub - d)
        if behind < 10:
            scale = min(max(F(1) + self.correction * behind, self.scales[0]), self.scales[1])
            self.sub = F(self.sub + d * F(scale))
            self.target += int(self.sub)
            self.sub = F(self.sub - F(int(self.sub)))
        else:
            self.target, self.sub = goal, F(0)

    def draw(self) -> Point:
        if not self.known:
            return None
        if self.latest is None:
            return next(iter(self.known.values()))
        tick, part = (self.target, F(1)) if self.sub < self.clamp else (self.target + 1, self.sub)
        if part > F(1) - self.clamp:
            part = F(1)
        whole = tick if part == 1 else tick - 1
        before = max((each for each in self.known if each <= whole), default=None)
        after = min((each for each in self.known if each > whole), default=None)
        if before is None:
            return self.known[min(self.known)]
        b = self.known[before]
        more = float(part) if part < 1 else 0.0
        if after is not None:
            f = (whole - before + more) / (after - before)
            return b + f * (self.known[after] - b)
        older = max((each for each in self.known if each < before), default=None)
        if older is not None and (before != whole or part < 1):
            whole = min(whole, before + self.max_extrapolation)
            f = (whole - older + more) / (before - older)
            return b + (1 - f) * (self.known[older] - b)
        return b


class PurrNet(Oracle):
    """A client that draws one state a tick; an empty queue waits, a full one is cut."""

    def __init__(self, interval: float = 0.05, min_buffer: int = 1, max_buffer: int = 2) -> None:
        self.interval, self.least = interval, min_buffer
        self.most = max(max_buffer, min_buffer)  # less is an error there
        self.queue: list[Point] = []
        self.begin: Point = None
        self.timer, self.idle, self.waits, self.time = 0.0, 0.0, True, -math.inf

    def frame(self, now: float, elapsed: float, packets: list[Packet]) -> Point:
        for packet in packets:
            if packet.time > self.time:
                self.time = packet.time
                self.add(np.array(packet.position))
        return self.advance(elapsed)

    def add(self, point: Point) -> None:
        self.idle = 0.0
        if self.begin is None:
            self.begin = point
            return
        if len(self.queue) >= self.most:
            self.queue = self.queue[len(self.queue) - self.least :]
            self.timer = 0.0
        self.queue.append(point)

    def advance(self, elapsed: float) -> Point:
        if self.waits:
            if len(self.queue) < self.least:
                self.idle += elapsed
                if not self.queue or self.idle < 2 * self.interval - 1e-9:
                    self.timer = 0.0
                    return self.begin
            self.waits = False
        if not self.queue:
            self.timer, self.waits = 0.0, True
            return self.begin
        self.timer += elapsed
        while self.timer >= self.interval - 1e-9:
            self.begin = self.queue.pop(0)
            self.timer = max(self.timer - self.interval, 0.0)
            if not self.queue:
                self.timer, self.waits = 0.0, True
                return self.begin
        return self.begin + (self.queue[0] - self.begin) * self.timer / self.interval


class System(NamedTuple):
    """An oracle, values of its settings to draw from, and the tolerance (length units)."""

    oracle: type[Oracle]
    settings: dict[str, tuple[Any, ...]]
    tolerance: float


SYSTEMS = {
    "minecraft": System(
        Minecraft,
        {"tick": (0.05, 0.02, 1 / 30), "steps": (1, 2, 3, 5, 10), "most_ticks": (2, 10),
         "snap": (3.0, 64.0)},
        1e-6,
    ),
    "chrono": System(
        Chrono,
        {"tick": (0.05, 1 / 30, 0.1), "buffer": (0, 0.1, 0.3), "least": (0.05, 0.09, 0.2),
         "most": (0.25, 0.5), "keep": (4, 30)},
        1e-6,
    ),
    "netcode-for-entities": System(
        NetcodeForEntities,
        {"sim_rate": (30, 60, 64), "net_rate": (10, 20, 30), "want": (1, 2, 3),
         "max_extrapolation": (5, 20), "jitter_scale": (1.25, 2), "delay_max_delta": (0.1, 0.3),
         "correction": (0.1, 0.05), "scale_min": (0.85, 0.95), "scale_max": (1.1, 1.2),
         "clamp_partial": (0, 5, 20), "rtt_deviation": (0, 0.5)},
        2e-3,
    ),
    "purrnet": System(
        PurrNet,
        {"interval": (0.05, 1 / 30, 0.1), "min_buffer": (1, 2, 3), "max_buffer": (3, 4, 6)},
        1e-6,
    ),
}  # fmt: skip


def make_stream(dice: random.Random) -> tuple[list[Packet], list[float]]:
    """Return packets by arrival, some lost, late, doubled or silent for a while, and frames."""
    period = dice.choice((1 / 60, 1 / 30, 0.05, 0.1))
    latency, jitter = dice.uniform(0.01, 0.2), dice.choice((0.0, 0.005, 0.03, 0.1))
    time, packets = dice.uniform(0, 3), []
    place, velocity = np.zeros(3), np.array([dice.gauss(0, 4) for _ in range(3)])
    for _ in range(120):
        time += period + (dice.uniform(0.2, 1.5) if dice.random() < 0.02 else 0.0)
        if dice.random() < 0.1:
            velocity = np.array([dice.gauss(0, 4) for _ in range(3)])
        place = place + velocity * period + (8 if dice.random() < 0.01 else 0)
        if dice.random() < 0.05:
            continue
        arrival = time + latency + (dice.expovariate(1 / jitter) if jitter else 0.0)
        point = (float(place[0]), float(place[1]), float(place[2]))
        packets.append(Packet(point, None, time, arrival))
        if dice.random() < 0.02:
            packets.append(packets[-1]._replace(arrival=arrival + dice.uniform(0, 0.1)))
    packets.sort(key=lambda packet: packet.arrival or 0.0)
    rate, uneven = dice.choice((30, 60, 144)), dice.random() < 0.5
    at, frames = packets[0].arrival or 0.0, []
    while at < (packets[-1].arrival or 0.0) + 1:
        frames.append(at)
        at += (dice.uniform(0.6, 1.6) if uneven else 1.0) / rate
        if dice.random() < 0.003:
            at += 0.3
    return packets, frames


def draw_both(
    name: str, packets: list[Packet], frames: list[float], settings: dict[str, Any]
) -> Iterator[tuple[float, Point, Point]]:
    """Yield time, what the formulas draw, and what the strategy draws."""
    oracle, made = SYSTEMS[name].oracle(**settings), strategy(name, **settings)
    waiting, last = list(packets), None
    for at in frames:
        come = [packet for packet in waiting if (packet.arrival or 0.0) <= at]
        waiting = waiting[len(come) :]
        for packet in come:
            made.update(packet, at)
        sample = made.read(at)
        expected = oracle.frame(at, 0.0 if last is None else at - last, come)
        last = at
        if expected is not None and sample.status != "none":
            yield at, expected, np.array(sample.position)


def judge(name: str, case: int) -> str:
    """Draw a stream; return what differs, or nothing."""
    dice = random.Random(f"{name} {case}")
    packets, frames = make_stream(dice)
    tried = SYSTEMS[name]
    settings = {key: dice.choice(of) for key, of in tried.settings.items() if dice.random() < 0.5}
    rows = list(draw_both(name, packets, frames, settings))
    off = [(float(np.abs(drawn - expected).max()), at) for at, expected, drawn in rows]
    wrong = [one for one in off if one[0] > tried.tolerance]
    if not wrong:
        return ""
    worst, at = max(wrong)
    return (
        f"{name} case {case} {settings}: {len(wrong)} of {len(rows)} rows differ, first at"
        f" {wrong[0][1]:.4f}, most by {worst:.6g} at {at:.4f}"
    )


def main() -> int:
    """Run the cases; return status 1 if one differs."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--cases", type=int, default=40)
    options.add_argument("--first", type=int, default=0)
    options.add_argument("--case", type=int)
    options.add_argument("--system", choices=sorted(SYSTEMS), action="append")
    given = options.parse_args()
    failed = 0
    for name in given.system or sorted(SYSTEMS):
        cases = range(given.first, given.first + given.cases)
        cases = cases if given.case is None else range(given.case, given.case + 1)
        found = [said for said in (judge(name, case) for case in cases) if said]
        failed += len(found)
        print(f"{name}: {len(cases) - len(found)} of {len(cases)} streams agree")
        print("\n".join(found), end="\n" if found else "")
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main())
