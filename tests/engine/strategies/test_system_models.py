"""Tests that each system's strategy draws what a plain model of the system draws."""

# ruff: noqa: ARG002 - a model has no use for all that a client knows

from __future__ import annotations

import math
import random
from abc import abstractmethod
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from epic_cli import Packet, strategy
from epic_cli.engine.strategies import list_system_names

INTERVAL = 0.05
Point = Any


class Model:
    """The base class of models of clients: each frame reads the packets, then draws."""

    def __init__(self) -> None:
        self.place: Point = None
        self.newest: Packet | None = None
        self.last: float | None = None

    def read(self, packet: Packet, now: float) -> None:
        """Take a packet that the frame at ``now`` reads; drop one older than the newest."""
        if self.newest is not None and packet.time < self.newest.time:
            return
        point = np.array(packet.position)
        if self.place is None:
            self.place = point
        self.take(point, packet, now)
        self.newest = packet

    def frame(self, now: float) -> Point:
        if self.place is not None:
            self.step(now, 0.0 if self.last is None else now - self.last)
        self.last = now
        return self.place

    @abstractmethod
    def take(self, point: Point, packet: Packet, now: float) -> None: ...

    @abstractmethod
    def step(self, now: float, elapsed: float) -> None: ...


class PhotonTransformView(Model):
    """A model of MoveTowards, at the speed of one interval, to a goal one lag ahead."""

    def take(self, point: Point, packet: Packet, now: float) -> None:
        way = point - np.array(self.newest.position) if self.newest else 0 * point
        self.goal = point + way * abs(now - packet.time)
        self.distance = float(np.linalg.norm(self.goal - self.place))

    def step(self, now: float, elapsed: float) -> None:
        rest = self.goal - self.place
        left, most = float(np.linalg.norm(rest)), self.distance * elapsed / INTERVAL
        self.place = self.goal if left <= most or not left else self.place + rest / left * most


class PhotonRigidbodyView(Model):
    """A model of MoveTowards in fixed steps, each a tenth of the distance (10 packets a second)."""

    def __init__(self) -> None:
        super().__init__()
        self.ticks: int | None = None

    def take(self, point: Point, packet: Packet, now: float) -> None:
        self.goal = point
        self.distance = float(np.linalg.norm(point - self.place))

    def step(self, now: float, elapsed: float) -> None:
        ticks = math.floor(now / 0.02 + 1e-9)
        for _ in range(0 if self.ticks is None else ticks - self.ticks):
            rest, most = self.goal - self.place, self.distance / 10
            left = float(np.linalg.norm(rest))
            self.place = self.goal if left <= most or not left else self.place + rest / left * most
        self.ticks = ticks


class ColyseusTutorial(Model):
    def take(self, point: Point, packet: Packet, now: float) -> None:
        self.goal = point

    def step(self, now: float, elapsed: float) -> None:
        self.place = self.place + (self.goal - self.place) * 0.2


class SecondLife(Model):
    def take(self, point: Point, packet: Packet, now: float) -> None:
        self.point, self.velocity, self.arrived = point, np.array(packet.velocity), now

    def step(self, now: float, elapsed: float) -> None:
        """Add up the motion, whose speed fades to zero from 2 to 3 s without a packet."""
        times = np.minimum(np.array([0.0, 2.0, 3.0]), now - self.arrived)
        speeds = np.clip(3 - times, 0, 1)
        seconds = float(np.sum(np.diff(times) * (speeds[1:] + speeds[:-1]) / 2))
        self.place = self.point + self.velocity * seconds


class GoldSrc(Model):
    """A model that draws states at their stamps, 0.1 s ago.

    It continues beyond the newest state for a fifth of an interval at most.
    """

    beyond = 0.2 * INTERVAL

    def __init__(self) -> None:
        super().__init__()
        self.states: list[tuple[float, Point]] = []

    def take(self, point: Point, packet: Packet, now: float) -> None:
        self.states.append((packet.time, point))

    def step(self, now: float, elapsed: float) -> None:
        self.place = self.look_up(now - 0.1)

    def look_up(self, at: float) -> Point:
        times = [time for time, _ in self.states]
        if at > times[-1] and self.beyond and len(times) > 1:
            (begin, start), (end, goal) = self.states[-2:]
            return goal + (goal - start) / (end - begin) * min(at - end, self.beyond)
        return np.array([np.interp(at, times, [p[k] for _, p in self.states]) for k in range(3)])


class SBox(GoldSrc):
    """A model that stamps states with the frame that reads them.

    A frame keeps one state; states older than 0.3 s are dropped.
    """

    beyond = 0.0

    def take(self, point: Point, packet: Packet, now: float) -> None:
        self.states = [state for state in self.states if state[0] < now] + [(now, point)]

    def step(self, now: float, elapsed: float) -> None:
        if self.states:
            self.place = self.look_up(now - 0.1)
        self.states = [state for state in self.states if state[0] >= now - 0.3]


class NetworkedAFrame(Model):
    """A model that moves from the last passed state to the first that is not passed, 0.1 s ago.

    The last state that waits is passed, too, and waits again for the frame to come.
    """

    def __init__(self) -> None:
        super().__init__()
        self.origin: tuple[float, Point] | None = None
        self.states: list[tuple[float, Point]] = []

    def take(self, point: Point, packet: Packet, now: float) -> None:
        if self.states and self.states[-1][0] >= now - 1e-9:
            self.states.pop()
        self.states.append((now, point))

    def step(self, now: float, elapsed: float) -> None:
        mark = now - 0.1
        if self.origin is None:
            self.origin = self.states.pop(0)
        while self.states and mark > self.states[0][0]:
            self.origin = self.states[0]
            if len(self.states) > 1:
                self.states.pop(0)
            else:
                self.states[0] = (now + elapsed, self.origin[1])
        begin, start = self.origin
        self.place = start
        if self.states:
            end, goal = self.states[0]
            self.place = start + (goal - start) * max((mark - begin) / (end - begin), 0.0)


class RepliconSnap(Model):
    """A model of a line from the state before to the newest, in one tick from its arrival on."""

    def take(self, point: Point, packet: Packet, now: float) -> None:
        self.before = np.array(self.newest.position) if self.newest else point
        self.point, self.since = point, 0.0
        self.fresh = True

    def step(self, now: float, elapsed: float) -> None:
        self.since, self.fresh = 0.0 if self.fresh else self.since + elapsed, False
        self.place = self.before + (self.point - self.before) * min(self.since / INTERVAL, 1.0)


class Sauerbraten(Model):
    """A model of extrapolation by the velocity, in which short offsets of packets fade in 75 ms."""

    def take(self, point: Point, packet: Packet, now: float) -> None:
        drawn = self.at(now) if self.newest else point
        self.offset = drawn - point
        if np.linalg.norm(self.offset) >= 32:
            self.offset = 0 * point
        self.point, self.velocity, self.arrived = point, np.array(packet.velocity), now

    def at(self, now: float) -> Point:
        age = now - self.arrived
        return self.point + self.velocity * age + self.offset * max(1 - age / 0.075, 0.0)

    def step(self, now: float, elapsed: float) -> None:
        self.place = self.at(now)


class PurrNet(Model):
    """A model of a queue that plays one state after the other, one tick each.

    An empty queue waits, a full queue is cut.
    """

    def __init__(self, min_buffer: int = 1, max_buffer: int = 2) -> None:
        super().__init__()
        self.least, self.most = min_buffer, max_buffer
        self.queue: list[Point] = []
        self.timer, self.idle, self.waits = 0.0, 0.0, True
        self.spawned = False

    def take(self, point: Point, packet: Packet, now: float) -> None:
        self.idle = 0.0
        if not self.spawned:
            self.begin, self.spawned = point, True
            return
        if len(self.queue) >= self.most:
            self.queue, self.timer = self.queue[len(self.queue) - self.least :], 0.0
        self.queue.append(point)

    def is_filling(self, elapsed: float) -> bool:
        if self.waits and len(self.queue) < self.least:
            self.idle += elapsed
            return not (self.queue and self.idle >= 2 * INTERVAL - 1e-9)
        return not self.queue

    def step(self, now: float, elapsed: float) -> None:
        self.place = self.begin
        if self.is_filling(elapsed):
            self.timer = 0.0
            return
        self.waits = False
        self.timer += elapsed
        while self.timer >= INTERVAL - 1e-9:
            self.begin = self.queue.pop(0)
            self.timer = max(self.timer - INTERVAL, 0.0)
            if not self.queue:
                self.timer, self.waits, self.place = 0.0, True, self.begin
                return
        self.place = self.begin + (self.queue[0] - self.begin) * self.timer / INTERVAL


class PatientPurrNet(PurrNet):
    def __init__(self) -> None:
        super().__init__(2, 5)


class RobustToolbox(Model):
    """A model of ticks that take states from a buffer, between which frames are drawn."""

    target = 4

    def __init__(self) -> None:
        super().__init__()
        self.buffer: dict[int, Point] = {}
        self.full: int | None = None
        self.real = self.processed = -1
        self.begun = False
        self.tick_at = self.adjustment = 0.0
        self.next: Point = None

    def read(self, packet: Packet, now: float) -> None:
        tick, point = round(packet.time / INTERVAL), np.array(packet.position)
        if self.place is None:
            self.place = self.state = point
            self.full = tick
        elif tick > self.real and tick != self.full:
            self.buffer[tick] = point

    def step(self, now: float, elapsed: float) -> None:
        if not self.begun:
            self.begun, self.tick_at = True, now
        left = min(now - self.tick_at, 5 * INTERVAL)
        while left >= self.period() - 1e-9:
            left -= self.period()
            self.run_tick()
        self.tick_at = now - left
        self.place = self.state
        if self.next is not None and 0 < float(np.linalg.norm(self.next - self.state)) < 2:
            self.place = self.state + (self.next - self.state) * left / INTERVAL

    def period(self) -> float:
        return INTERVAL * (1 - min(max(self.adjustment, -0.99), 0.99))

    def count(self) -> int:
        return max(self.buffer, default=self.real) - self.real

    def run_tick(self) -> None:
        self.next = None
        if self.full is not None:
            self.buffer = {tick: at for tick, at in self.buffer.items() if tick >= self.full}
            if len(self.buffer) < self.target:
                return
            self.real = self.processed = self.full
            self.full, self.next = None, self.buffer.get(self.real + 1)
        else:
            over = self.count() - self.target - 5
            goal = self.processed + (over if over > 1 else 1)
            self.processed = self.real
            while self.processed < goal and max(self.buffer, default=-1) > self.processed:
                self.processed += 1
                if self.processed in self.buffer:
                    self.state = self.buffer.pop(self.processed)
                    self.real = self.processed
                    self.next = self.buffer.get(self.real + 1)
                else:
                    self.next = None
        self.adjustment = (self.count() - self.target) * 0.1


MODELS: dict[str, tuple[type[Model], dict[str, Any]]] = {
    "bevy-replicon-snap": (RepliconSnap, {}),
    "colyseus": (ColyseusTutorial, {}),
    "goldsrc": (GoldSrc, {"interval": INTERVAL}),
    "networked-aframe": (NetworkedAFrame, {}),
    "purrnet": (PurrNet, {}),
    "purrnet with a least fill": (PatientPurrNet, {"min_buffer": 2, "max_buffer": 5}),
    "pun2": (PhotonTransformView, {"interval": INTERVAL}),
    "pun2-rigidbody": (PhotonRigidbodyView, {}),
    "sauerbraten": (Sauerbraten, {}),
    "sbox": (SBox, {}),
    "second-life": (SecondLife, {}),
    "ss14": (RobustToolbox, {"tick_interval": INTERVAL}),
}

#: Where the rows, or the strategy itself, are compared with the project's.
ELSEWHERE = {
    "mirror-reliable": "formula",
    "mirror-unreliable": "test_mirror.py",
    "naia": "test_tick_interpolation.py",
    "photon-tutorial": "formula",
    "state-synchronization": "test_compositions.py",
}


def test_each_name_has_a_model() -> None:
    names = {name.partition(" ")[0] for name in MODELS}
    assert {*names, *ELSEWHERE} == {*list_system_names()}


def stream(seed: int) -> tuple[list[Packet], list[float]]:
    """Return packets in order of arrival, with losses, jitter and two silences, and frame times."""
    dice = random.Random(seed)
    rate, turn = dice.choice((30, 60, 144)), dice.uniform(0.5, 3)
    silence = dice.uniform(0.5, 2.5)
    packets = []
    for n in range(80):
        time = n * INTERVAL
        if dice.random() < 0.05 or silence < time < silence + 0.35:
            continue
        place = (4 * time, 3 * math.sin(turn * time), 0.5 * time)
        velocity = (4.0, 3 * turn * math.cos(turn * time), 0.5)
        packets.append(Packet(place, velocity, time, time + 0.06 + dice.uniform(0, 0.07)))
    packets.sort(key=lambda packet: packet.arrival or 0.0)
    begin = packets[0].arrival or 0.0
    return packets, [begin + dice.random() / rate + n / rate for n in range(int(8 * rate))]


def drawn_pairs(name: str, seed: int) -> Iterator[tuple[Point, Point]]:
    kind, settings = MODELS[name]
    model, made = kind(), strategy(name.partition(" ")[0], **settings)
    packets, frames = stream(seed)
    for at in frames:
        while packets and (packets[0].arrival or 0.0) <= at:
            packet = packets.pop(0)
            model.read(packet, at)
            made.update(packet, at)
        sample = made.read(at)
        if sample.status != "none":
            yield model.frame(at), sample.position


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("name", MODELS)
def test_a_name_draws_what_its_system_draws(name: str, seed: int) -> None:
    pairs = list(drawn_pairs(name, seed))
    assert len(pairs) > 100
    for expected, drawn in pairs:
        assert drawn == pytest.approx(expected, abs=1e-6)
