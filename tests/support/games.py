"""Ways in which public games draw, as their code is found: oracles of what is made of parts."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np

from epic_cli import Packet


class Game:
    """An interpolator as games write it: its received states, its frame's time and duration."""

    def __init__(self) -> None:
        self.got: list[tuple[float, float, Any]] = []  # arrival, stamp, position
        self.at = math.nan  # of the last frame
        self.drawn: Any = None

    def take(self, packet: Packet, now: float) -> bool:
        self.got.append((now, packet.time, np.array(packet.position)))
        if self.drawn is None:
            self.drawn = self.got[-1][2]
        self.arrive()
        return True

    def draw(self, at: float) -> Any:
        if self.got:
            self.at, self.dt = at, 0.0 if math.isnan(self.at) else at - self.at
            self.frame()
        return self.drawn

    def arrive(self) -> None:
        """Take the newest packet."""

    def frame(self) -> None:
        raise NotImplementedError


def between(states: list[tuple[float, Any]], time: float) -> Any:
    """Return the point on the line between the two states around a time, or the nearest state."""
    times, points = zip(*states, strict=True)
    return np.array([np.interp(time, times, axis) for axis in zip(*points, strict=True)])


class WebGame(Game):
    def frame(self) -> None:
        self.drawn = between([(arrival, p) for arrival, _, p in self.got], self.at - 0.1)


class Nebula(Game):
    def frame(self) -> None:
        self.drawn = None
        if len(self.got) >= 3:
            self.drawn = between(
                [(arrival, p) for arrival, _, p in self.got[-3:]], self.at - 2 / 12.5
            )


class StylyNetSync(Game):
    """The head of STYLY NetSync: exponential means of values and of their squares."""

    mean = square = interval = 0.0

    def arrive(self) -> None:
        now, stamp, _ = self.got[-1]
        first = self.got[0][0] - self.got[0][1]
        offset = now - stamp - first  # of the same deviation, and so of small squares
        if len(self.got) == 1:
            return
        then, last, _ = self.got[-2]
        share = 1 - math.exp(-(now - then) / 1.0)
        self.mean += share * (offset - self.mean)
        self.square += share * (offset**2 - self.square)
        share = 1 - math.exp(-(stamp - last) / 2.0) if self.interval else 1
        self.interval += share * (stamp - last - self.interval)

    def frame(self) -> None:
        interval = self.interval or 0.05
        jitter = math.sqrt(max(self.square - self.mean**2, 0))
        multiplier = min(max(1, (interval + jitter) / interval + 0.1, 1.1), 1.2)
        time = self.at - (self.got[0][0] - self.got[0][1]) - self.mean - multiplier * interval
        (_, before, p), (_, newest, q) = self.got[-2:] if len(self.got) > 1 else self.got * 2
        self.drawn = between([(stamp, point) for _, stamp, point in self.got], time)
        if newest < time <= newest + 0.08 and before < newest:
            self.drawn = q + (q - p) * ((time - newest) / (newest - before))


class PhotonView(Game):
    rate = 10.0

    def arrive(self) -> None:
        now, stamp, position = self.got[-1]
        direction = position - self.got[-2][2] if len(self.got) > 1 else np.zeros(3)
        self.goal = position + direction * (now - stamp)
        self.distance = math.dist(self.drawn, self.goal)

    def frame(self) -> None:
        way, most = self.goal - self.drawn, self.distance * self.dt * self.rate
        length = math.sqrt(way @ way)
        self.drawn = self.goal if length <= most else self.drawn + way / length * most


class SmoothDamp(Game):
    velocity: Any = 0.0

    def frame(self) -> None:
        newest, w = self.got[-1][2], 2 / 0.1
        x = w * self.dt
        e = 1 / (1 + x + 0.48 * x**2 + 0.235 * x**3)
        c = self.drawn - newest
        q = (self.velocity + w * c) * self.dt
        self.velocity = (self.velocity - w * q) * e
        self.drawn = newest + (c + q) * e


class LerpByTime(Game):
    def frame(self) -> None:
        self.drawn = self.drawn + (self.got[-1][2] - self.drawn) * min(10 * self.dt, 1)


class LerpByFrame(Game):
    def frame(self) -> None:
        self.drawn = self.drawn + (self.got[-1][2] - self.drawn) * 0.1


class TwoSnapshots(Game):
    def frame(self) -> None:
        arrival, _, newest = self.got[-1]
        before = self.got[-2][2] if len(self.got) > 1 else newest
        self.drawn = before + (newest - before) * min((self.at - arrival) / 0.05, 1)


class OneAfterAnother(Game):
    """A player of states on a timer that waits when no state is there: its delay only grows."""

    def frame(self) -> None:
        begun = self.at - self.got[0][0]
        self.played = min(self.played + self.dt if self.dt else begun, 0.05 * (len(self.got) - 1))
        self.drawn = between([(0.05 * n, p) for n, (_, _, p) in enumerate(self.got)], self.played)

    played = 0.0


class AgeOfVelocity(Game):
    """An extrapolator of the newest state by its velocity since the arrival, without a limit."""

    def take(self, packet: Packet, now: float) -> bool:
        self.velocity = np.array(packet.velocity)
        return super().take(packet, now)

    def frame(self) -> None:
        arrival, _, newest = self.got[-1]
        self.drawn = newest + self.velocity * (self.at - arrival)


class Tween(Game):
    def arrive(self) -> None:
        self.begun, self.start = self.got[-1][0], self.drawn

    def frame(self) -> None:
        share = min((self.at - self.begun) / 0.1, 1)
        self.drawn = self.start + (self.got[-1][2] - self.start) * share


class Coroutine(Game):
    """A coroutine that lerps from the drawn position to each packet's within 0.1 s.

    ``for (t = 0; t < 0.1; t += dt) { position = Lerp(start, newest, t / 0.1); yield; }``.
    """

    new, goal, elapsed = False, None, 0.0

    def arrive(self) -> None:
        self.new = True

    def frame(self) -> None:
        self.elapsed = 0.0 if self.new else self.elapsed + self.dt
        if self.new:
            self.start, self.goal, self.new = self.drawn, self.got[-1][2], False
        self.drawn = self.start + (self.goal - self.start) * min(self.elapsed / 0.1, 1)


class StopsShort(Game):
    """A factor that grows by 15 a second from each packet on; a step beyond 1 is left out."""

    factor = 0.0

    def arrive(self) -> None:
        self.factor, self.start = 0.0, self.drawn

    def frame(self) -> None:
        self.factor += 15 * (self.dt or self.at - self.got[-1][0])
        if self.factor <= 1:
            self.drawn = self.start + (self.got[-1][2] - self.start) * self.factor


class PacketClock(Game):
    """States 100 ms before the newest stamp, which only a packet sets."""

    def frame(self) -> None:
        states = [(stamp, p) for _, stamp, p in self.got]
        self.drawn = between(states, max(stamp for stamp, _ in states) - 0.1)


class TickedBuffer(Game):
    """States 100 ms before the frames in which a tick of 20 ms runs; the others stand."""

    tick, own = -math.inf, False

    def frame(self) -> None:
        if (tick := math.floor(self.at / 0.02 + 1e-9)) > self.tick:
            self.tick = tick
            now = tick * 0.02 if self.own else self.at
            self.drawn = between([(arrival, p) for arrival, _, p in self.got], now - 0.1)


class FixedBuffer(TickedBuffer):
    """The same before the ticks, as in FixedUpdate."""

    own = True


class EulerSpring(Game):
    """A spring: the speed by its pull and its damping, then a step by that speed."""

    speed: Any = 0.0

    def frame(self) -> None:
        pull = (self.got[-1][2] - self.drawn) * 120 - self.speed * 14
        self.speed = self.speed + pull * self.dt
        self.drawn = self.drawn + self.speed * self.dt


class LateSpring(EulerSpring):
    """The same in the other order: a step by the speed of the frame before."""

    def frame(self) -> None:
        pull = (self.got[-1][2] - self.drawn) * 80 - self.speed * 12
        self.drawn = self.drawn + self.speed * self.dt
        self.speed = self.speed + pull * self.dt


class SpringByFrames(EulerSpring):
    """A spring by frames, whatever their duration: a twentieth of the way, and friction of 0.7."""

    def frame(self) -> None:
        self.speed = (self.speed + (self.got[-1][2] - self.drawn) * 0.05) * 0.7
        self.drawn = self.drawn + self.speed


class Swing(EulerSpring):
    """A spring of stiffness 100 and damping 10, as animation libraries solve it."""

    def frame(self) -> None:
        goal, rate = self.got[-1][2], math.sqrt(75)
        left, fade = self.drawn - goal, math.exp(-5 * self.dt)
        sine, cosine = math.sin(rate * self.dt), math.cos(rate * self.dt)
        swing = (self.speed + 5 * left) / rate
        self.drawn = goal + fade * (left * cosine + swing * sine)
        self.speed = -5 * (self.drawn - goal) + fade * rate * (swing * cosine - left * sine)


class Marker(Game):
    """A marker of a map: a CSS transition of 0.12 s ("ease") begins anew at each packet."""

    begun = 0.0

    def arrive(self) -> None:
        self.begun, self.start = self.got[-1][0], self.drawn

    def frame(self) -> None:
        u = min((self.at - self.begun) / 0.12, 1)
        low, high = 0.0, 1.0
        for _ in range(60):  # the time t of the curve's x
            t = (low + high) / 2
            x = 0.75 * (1 - t) ** 2 * t + 0.75 * (1 - t) * t**2 + t**3
            low, high = (t, high) if x < u else (low, t)
        y = 0.3 * (1 - t) ** 2 * t + 3 * (1 - t) * t**2 + t**3
        self.drawn = self.start + (self.got[-1][2] - self.start) * y


class EightFrames(Game):
    """A way to each packet in eight frames."""

    left = 0

    def arrive(self) -> None:
        self.left = 8

    def frame(self) -> None:
        if self.left:
            self.drawn = self.drawn + (self.got[-1][2] - self.drawn) / self.left
            self.left -= 1


class LowPassedBody(AgeOfVelocity):
    """Half of the way, and 0.3 of the way to its velocity, at each packet; on by that velocity."""

    speed: Any = None

    def arrive(self) -> None:
        self.drawn = (self.drawn + self.got[-1][2]) / 2
        self.speed = self.velocity if self.speed is None else self.speed
        self.speed = self.speed + (self.velocity - self.speed) * 0.3

    def frame(self) -> None:
        self.drawn = self.drawn + self.speed * self.dt


class TwoArrivalsAhead(Game):
    """A fifth of the way to the newest state, moved on by the way between the last two arrivals."""

    velocity: Any = 0.0

    def arrive(self) -> None:
        if len(self.got) > 1:
            (before, _, start), (arrival, _, goal) = self.got[-2:]
            if arrival > before:
                self.velocity = (goal - start) / (arrival - before)

    def frame(self) -> None:
        goal = self.got[-1][2] + self.velocity * (self.at - self.got[-1][0])
        self.drawn = self.drawn + (goal - self.drawn) * 0.2


class AxisSteps(Game):
    """Each axis goes to the newest state by 6 a second at most."""

    def frame(self) -> None:
        most = 6 * self.dt
        self.drawn = self.drawn + np.clip(self.got[-1][2] - self.drawn, -most, most)


class LimitedLerp(Game):
    """Eight times a frame's duration of the way; 2 a second at least, 6 at most."""

    def frame(self) -> None:
        way = self.got[-1][2] - self.drawn
        far = float(np.linalg.norm(way))
        step = min(max(far * min(8 * self.dt, 1), 2 * self.dt), 6 * self.dt, far)
        self.drawn = self.drawn + way * (step / far if far else 0)


class ClampedFrames(Game):
    """Ten times a frame's duration of the way; a frame counts as 25 ms at most."""

    def frame(self) -> None:
        share = min(10 * min(self.dt, 0.025), 1)
        self.drawn = self.drawn + (self.got[-1][2] - self.drawn) * share


class ClampedTween(Game):
    """A line to the newest state over 100 ms of frames, each of 25 ms at most."""

    sum = 0.0

    def arrive(self) -> None:
        self.start, self.sum = self.drawn, 0.0

    def frame(self) -> None:
        self.sum += min(self.dt, 0.025)
        way = self.got[-1][2] - self.start
        self.drawn = self.start + way * min(self.sum / 0.1, 1)


class PathSpeed(Game):
    """A move to the newest state at the speed of the step to it."""

    speeds: tuple[float, ...] = (0.0, 0.0)

    def arrive(self) -> None:
        if len(self.got) > 1:
            (before, _, last), (now, _, newest) = self.got[-2:]
            elapsed = max(now - before, 1e-4)
            self.speeds = self.speeds[-1], float(np.linalg.norm(newest - last)) / elapsed

    def choose(self) -> float:
        """Return the speed."""
        return self.speeds[-1]

    def frame(self) -> None:
        way = self.got[-1][2] - self.drawn
        far = float(np.linalg.norm(way))
        self.drawn = self.drawn + way * (min(self.choose() * self.dt / far, 1) if far else 0)


class FasterPath(PathSpeed):
    """The same at the faster speed of the last two steps, as Mirror before its snapshots."""

    def choose(self) -> float:
        return max(self.speeds)


class MessageLerp(Game):
    """Each packet goes 10 times the last frame's duration of the way, as a handler has it."""

    def take(self, packet: Packet, now: float) -> bool:
        self.dt = 0.0 if math.isnan(self.at) else now - self.at
        return super().take(packet, now)

    def arrive(self) -> None:
        self.drawn = self.drawn + (self.got[-1][2] - self.drawn) * min(10 * self.dt, 1.0)

    def frame(self) -> None:
        pass


class Dequeue(Game):
    """A queue of which each frame takes a state while two are there."""

    def __init__(self) -> None:
        super().__init__()
        self.queue: list[Any] = []

    def arrive(self) -> None:
        self.queue.append(self.got[-1][2])

    def frame(self) -> None:
        if len(self.queue) >= 2:
            self.drawn = self.queue.pop(0)


class MeanDelay(Game):
    """States twice as late as the mean of the last ten times between two arrivals."""

    def frame(self) -> None:
        last = [arrival for arrival, _, _ in self.got[-11:]]
        delay = 2 * (last[-1] - last[0]) / (len(last) - 1) if len(last) > 1 else 0.0
        self.drawn = between([(arrival, p) for arrival, _, p in self.got], self.at - delay)


class LatestState(Game):
    """The latest state that is 120 ms old by its stamp, as it is, until the next one is."""

    def frame(self) -> None:
        old = [p for _, stamp, p in self.got if stamp <= self.at - 0.12]
        self.drawn = old[-1] if old else self.got[0][2]


class Timer(Game):
    """A timer: a packet sets ``t = 0``; each frame does ``t += dt``, and then ``SmoothStep``."""

    elapsed = 0.0

    def arrive(self) -> None:
        self.elapsed, self.start = 0.0, self.drawn

    def frame(self) -> None:
        self.elapsed += self.dt or self.at - self.got[-1][0]  # before the first, nothing is drawn
        u = min(self.elapsed / 0.1, 1)
        self.drawn = self.start + (self.got[-1][2] - self.start) * (u * u * (3 - 2 * u))


class Tutorial(Game):
    """The usual tutorial on synchronized movement: each packet is looked at in the next frame."""

    seen, last, elapsed, delay = 0, math.nan, 0.0, 0.05

    def take(self, packet: Packet, now: float) -> bool:
        self.velocity = np.array(packet.velocity)
        return super().take(packet, now)

    def measure(self, apart: float) -> float:
        """Return the time of the way to a packet, by the time since the one before."""
        return max(apart, 1e-6)

    def read(self) -> None:
        """Take the packets since the frame before, one after the other, at the same time."""
        while self.seen < len(self.got):
            if not math.isnan(self.last):
                self.delay = self.measure(self.at - self.last)
            self.last, self.elapsed = self.at, 0.0
            self.start, self.goal = self.drawn, self.got[-1][2]
            self.seen += 1

    def frame(self) -> None:
        self.read()
        self.elapsed += self.dt or self.at - self.got[-1][0]
        end = self.goal + self.velocity * self.delay
        self.drawn = self.start + (end - self.start) * min(self.elapsed / self.delay, 1)


class LimitedWay(Game):
    """A line from the state before to the newest, over the time between them, 40 ms at most."""

    def frame(self) -> None:
        if len(self.got) > 1:
            (before, _, start), (arrival, _, goal) = self.got[-2:]
            share = min((self.at - arrival) / min(max(arrival - before, 1e-6), 0.04), 1)
            self.drawn = start + (goal - start) * share


class LimitedTween(Game):
    """A tween over the time between two stamps, from 0.06 to 0.5 s; 0.25 s at a late packet."""

    lasts = 0.05

    def arrive(self) -> None:
        if len(self.got) > 1:
            apart = self.got[-1][1] - self.got[-2][1]
            self.lasts = min(max(apart if apart > 0 else 0.25, 0.06), 0.5)
        self.start, self.elapsed = self.drawn, 0.0

    def frame(self) -> None:
        self.elapsed += self.dt or self.at - self.got[-1][0]
        share = min(self.elapsed / self.lasts, 1)
        self.drawn = self.start + (self.got[-1][2] - self.start) * share


class MeanTween(Tutorial):
    """A tween over a mean of the times between packets, of which a tenth is new; on to 1.5."""

    mean = 0.0

    def frame(self) -> None:
        self.read()
        self.elapsed += self.dt or self.at - self.got[-1][0]
        self.drawn = self.start + (self.goal - self.start) * min(self.elapsed / self.delay, 1.5)

    def measure(self, apart: float) -> float:
        self.mean = self.mean * 0.9 + apart * 0.1 if self.mean > 1e-6 else apart
        return max(self.mean, 1e-6)


class KartCurve(AgeOfVelocity):
    """A Hermite curve over the frames between two updates, which goes on as fast as it is drawn."""

    since = between = 0.0
    speed = leaving = np.zeros(3)

    def arrive(self) -> None:
        super().arrive()
        self.between, self.since = self.since, 0.0
        self.start, self.leaving = self.drawn, self.speed

    def frame(self) -> None:
        self.since += self.dt or self.at - self.got[-1][0]
        if self.between < 1e-6:
            return
        u = min(self.since / self.between, 1)
        m0, m1 = self.leaving * self.between, self.velocity * self.between
        p0, p1 = self.start, self.got[-1][2]
        self.drawn = (
            (2 * u**3 - 3 * u**2 + 1) * p0 + (u**3 - 2 * u**2 + u) * m0
            + (3 * u**2 - 2 * u**3) * p1 + (u**3 - u**2) * m1
        )  # fmt: skip
        slope = 6 * (u**2 - u) * (p0 - p1) + (3 * u**2 - 4 * u + 1) * m0 + (3 * u**2 - 2 * u) * m1
        self.speed = slope / self.between


class BezierAhead(AgeOfVelocity):
    """A Bezier curve to where the velocity leads in 60 ms, as Caldwell's article has it."""

    before = np.zeros(3)

    def arrive(self) -> None:
        goal, old = self.got[-1][2], self.before
        self.before = self.velocity
        end = goal + self.velocity * 0.06
        near = goal if len(self.got) > 1 else end  # nothing moved before
        self.points = [self.drawn, self.drawn + old * 0.06, near, end]

    def frame(self) -> None:
        u = min((self.at - self.got[-1][0]) / 0.06, 1)
        points = self.points
        while len(points) > 1:  # de Casteljau's algorithm
            points = [a + (b - a) * u for a, b in itertools.pairwise(points)]
        self.drawn = points[0]


class FedBack(Tutorial):
    """A lerp whose factor applies to the drawn position, not to the start."""

    def frame(self) -> None:
        self.read()
        self.elapsed += self.dt or self.at - self.got[-1][0]
        share = min(self.elapsed / self.delay, 1)
        self.drawn = self.drawn + (self.goal - self.drawn) * share


class GoalAhead(AgeOfVelocity):
    """Unclamped steps to the extrapolated state; after a second without a packet, that state."""

    def frame(self) -> None:
        old = self.at - self.got[-1][0]
        goal = self.got[-1][2] + self.velocity * old
        share = 15 * self.dt if old <= 1 else 1
        self.drawn = self.drawn + (goal - self.drawn) * share


class HalfWay(Game):
    def arrive(self) -> None:
        self.drawn = (self.drawn + self.got[-1][2]) / 2

    def frame(self) -> None:
        pass


class PacketNudges(AgeOfVelocity):
    """Six tenths of the way at each packet; in between its velocity moves it on."""

    def arrive(self) -> None:
        self.drawn = self.drawn + (self.got[-1][2] - self.drawn) * 0.6

    def frame(self) -> None:
        self.drawn = self.drawn + self.velocity * self.dt


class LerpedBody(AgeOfVelocity):
    """Physics ticks of 20 ms, half of the way to position and velocity in each, then a move."""

    ticks: int | None = None
    speed: Any = None

    def arrive(self) -> None:
        self.speed = self.velocity if self.speed is None else self.speed

    def frame(self) -> None:
        newest = math.floor((self.at - 0.01) / 0.02 + 1e-9)
        self.ticks = newest if self.ticks is None else self.ticks
        while self.ticks < newest:
            self.ticks += 1
            self.speed = (self.speed + self.velocity) / 2
            self.drawn = (self.drawn + self.got[-1][2]) / 2 + self.speed * 0.02


class FadingOffset(AgeOfVelocity):
    """The newest state by its velocity since its stamp, and an offset that fades in 0.2 s."""

    begun = -math.inf
    offset: Any = 0.0

    def predict(self, at: float) -> Any:
        return self.got[-1][2] + self.velocity * (at - self.got[-1][1])

    def arrive(self) -> None:
        self.begun = self.got[-1][0]
        self.offset = self.drawn - self.predict(self.begun)

    def frame(self) -> None:
        if not self.dt:  # nothing has moved before the first frame
            self.offset = self.drawn - self.predict(self.at)
        left = max(1 - (self.at - self.begun) / 0.2, 0)
        self.drawn = self.predict(self.at) + self.offset * left


class AdaptiveOffset(Game):
    """The newest state along its velocity, and an offset that fades faster where it is large."""

    offset: Any = 0.0
    state: Any = None

    def take(self, packet: Packet, now: float) -> bool:
        self.velocity = np.array(packet.velocity)
        return super().take(packet, now)

    def arrive(self) -> None:
        if self.state is not None:
            self.offset = self.state + self.offset - self.got[-1][2]
        self.state = self.got[-1][2]

    def frame(self) -> None:
        self.state = self.state + self.velocity * self.dt
        if not self.dt:  # the first frame, which is as long as the last packet is old
            self.state = self.state + self.velocity * (self.at - self.got[-1][0])
            self.offset = self.drawn - self.state
        far = math.sqrt(np.dot(self.offset, self.offset)) if np.ndim(self.offset) else 0.0
        self.offset = self.offset * (0.95 - 0.1 * min(max((far - 0.25) / 0.75, 0), 1))
        self.drawn = self.state + self.offset


class Transition(Game):
    """A CSS transition by a power, that each style begins in the frame that sees it."""

    way: Any = None  # begin, from, to
    style: Any = None

    def arrive(self) -> None:
        self.style = self.got[-1][2]

    def frame(self) -> None:
        if self.way is not None:
            begun, start, goal = self.way
            u = min((self.at - begun) / 0.12, 1)
            share = (2 * u) ** 5 / 2 if u < 0.5 else 1 - (2 - 2 * u) ** 5 / 2
            self.drawn = start + (goal - start) * share
        if self.style is not None:
            self.way, self.style = (self.at, self.drawn, self.style), None


class MeanOfFive(Game):
    """The mean of the last five states."""

    def frame(self) -> None:
        self.drawn = np.mean([position for _, _, position in self.got[-5:]], axis=0)


class FixedTicks(Game):
    """A walk in three ticks of 50 ms from the drawn position to the newest state, by frames."""

    ticks, left, seen = None, 0, 0

    def frame(self) -> None:
        newest = math.floor((self.at - 0.01) / 0.05)
        if self.ticks is None:
            self.ticks, self.place, self.before = newest, self.drawn, self.drawn
        while self.ticks < newest:
            self.ticks += 1
            if self.seen < len(self.got):
                self.seen, self.left = len(self.got), 3
            self.before = self.place
            if self.left:
                self.place = self.place + (self.got[-1][2] - self.place) / self.left
                self.left -= 1
        part = (self.at - 0.01) / 0.05 - newest
        self.drawn = self.before + (self.place - self.before) * part


class Follower(Game):
    """A SmoothDamp in 25 ms after a point 60 ms behind the newest stamp, but not within 1 mm."""

    velocity: Any = 0.0

    def frame(self) -> None:
        offset = self.got[-1][0] - self.got[-1][1]
        goal = between([(stamp, p) for _, stamp, p in self.got], self.at - offset - 0.06)
        if not hasattr(self, "begun"):
            self.begun, self.drawn = True, goal
        c = self.drawn - goal
        if math.sqrt(c @ c) >= 0.001:
            x = 2 / 0.025 * self.dt
            e = 1 / (1 + x + 0.48 * x**2 + 0.235 * x**3)
            q = (self.velocity + 2 / 0.025 * c) * self.dt
            self.velocity = (self.velocity - 2 / 0.025 * q) * e
            reached = goal + (c + q) * e
            if (goal - self.drawn) @ (reached - goal) > 0:
                reached, self.velocity = goal, 0.0
            self.drawn = reached


class UnityQueue(Game):
    """A queue drawn at 20 states a second, between its first two; the rest of a frame is lost."""

    factor, first = 0.0, 0

    def frame(self) -> None:
        if self.dt and self.first + 1 < len(self.got):
            self.factor += self.dt * 20
            if self.factor >= 1:
                self.factor, self.first = 0.0, self.first + 1
        points = [p for _, _, p in self.got[self.first : self.first + 2]]
        self.drawn = points[0] + (points[-1] - points[0]) * self.factor


class TimedQueue(Dequeue):
    """A queue whose next state a timer takes while two are there; it lerps to the one behind."""

    left: Any = None

    def frame(self) -> None:
        beats = (self.at - 0.0171) / 0.05
        beat = int(np.floor(beats))
        self.beat = getattr(self, "beat", beat)
        if beat > self.beat and len(self.queue) >= 2:
            self.left = self.queue.pop(0)
        self.beat = beat
        if self.left is not None:
            self.drawn = self.left + (self.queue[0] - self.left) * (beats - beat)


class Waypoints(Game):
    """A queue of ways as long as their stamps, at 0.9 of the pace and half as fast again for each
    that waits behind the next.
    """

    def __init__(self) -> None:
        super().__init__()
        self.queue: list[Any] = []
        self.gone = 0.0

    def arrive(self) -> None:
        goal = self.queue[-1][0] if self.queue else self.drawn
        if len(self.got) > 1 and (self.got[-1][2] != goal).any():
            self.queue.append((self.got[-1][2], self.got[-1][1] - self.got[-2][1]))

    def frame(self) -> None:
        left = self.dt
        while left > 0 and self.queue:
            if not self.gone:
                self.start = self.drawn
            goal, lasts = self.queue[0]
            lasts /= 0.9 * (1 + 0.5 * (len(self.queue) - 1))
            if left < (1 - self.gone) * lasts:
                self.gone += left / lasts
                self.drawn = self.start + (goal - self.start) * self.gone
                return
            left -= (1 - self.gone) * lasts
            self.gone, self.drawn = 0.0, goal
            self.queue.pop(0)


class HistoricalLerp(Dequeue):
    """A lerp to the first of a list, which leaves it within 0.11; faster while many are left."""

    rate = 16.0

    def frame(self) -> None:
        if self.queue:
            goal = self.queue[0]
            self.drawn = self.drawn + (goal - self.drawn) * min(self.dt * self.rate, 1)
            if math.dist(self.drawn, goal) < 0.11:
                self.queue.pop(0)
            self.rate = 27.0 if len(self.queue) > 4 else 16.0


class WalkingQueue(Dequeue):
    """A walk to the first of a list, half as fast again while more than three are in it."""

    def frame(self) -> None:
        if self.queue:
            most = (13.5 if len(self.queue) > 3 else 9.0) * self.dt
            way = self.queue[0] - self.drawn
            far = math.sqrt(way @ way)
            self.drawn = self.queue[0] if far <= most else self.drawn + way / far * most
            if math.dist(self.drawn, self.queue[0]) < 0.01:
                self.queue.pop(0)


class TickQueue(Dequeue):
    """A queue of which each tick takes a state, four at most; the last way again without one."""

    tick: int | None = None
    step: Any = 0.0

    def frame(self) -> None:
        newest = math.floor((self.at - 0.0123) / 0.05 + 1e-9)
        self.tick = newest if self.tick is None else self.tick
        if newest > self.tick:
            self.tick = newest
            self.queue = self.queue[-4:]
            self.step = self.queue[0] - self.drawn if self.queue else self.step
            self.drawn = self.queue.pop(0) if self.queue else self.drawn + self.step


class TimerQueue(Dequeue):
    """A queue of which a frame takes a state 45 ms after the last one that did."""

    since = math.inf

    def frame(self) -> None:
        self.since += self.dt
        if self.since >= 0.045 and self.queue:
            self.since, self.drawn = 0.0, self.queue.pop(0)


class ClampedTime(Game):
    """A time that frames advance, within the last two states."""

    time = math.nan

    def frame(self) -> None:
        states = [(stamp, p) for _, stamp, p in self.got[-2:]]
        time = states[-1][0] if math.isnan(self.time) else self.time + self.dt
        self.time = min(max(time, states[0][0]), states[-1][0])
        self.drawn = between(states, self.time)


class DateGame(Game):
    """A game that asks for the date, in whole milliseconds."""

    def take(self, packet: Packet, now: float) -> bool:
        return super().take(packet, self.ask(now))

    def draw(self, at: float) -> Any:
        return super().draw(self.ask(at))

    def ask(self, time: float) -> float:
        return math.floor(time * 1000 + 1e-6) / 1000


class DateClock(DateGame):
    """A line 120 ms behind, by the offset of the first packet, unless one is 50 ms off."""

    offset = math.nan

    def arrive(self) -> None:
        now, stamp, _ = self.got[-1]
        if not abs(self.offset - (now - stamp)) <= 0.05 + 1e-9:
            self.offset = now - stamp

    def frame(self) -> None:
        states = [(stamp, p) for _, stamp, p in self.got]
        self.drawn = between(states, self.at - self.offset - 0.12)


class DateLerp(DateGame, LerpByTime):
    """A lerp by the milliseconds of a frame."""


class SendTimer(Game):
    """A line between the two newest states, by the client's own send timer."""

    def frame(self) -> None:
        share = (self.at - 0.0171) / 0.05 % 1
        points = [p for _, _, p in self.got[-2:]]
        self.drawn = points[0] + (points[-1] - points[0]) * share


class OldestState(Game):
    """A line 100 ms behind, by arrivals, through the last twenty states; else the oldest one."""

    def frame(self) -> None:
        kept = [(arrival, p) for arrival, _, p in self.got[-20:]]
        late = self.at - 0.1 > kept[-1][0]
        self.drawn = kept[0][1] if late else between(kept, self.at - 0.1)


class SharedMean(Game):
    """A clock whose offset is a mean to which each packet adds a tenth."""

    def arrive(self) -> None:
        now, stamp, _ = self.got[-1]
        self.offset = getattr(self, "offset", now - stamp)
        self.offset += 0.1 * (now - stamp - self.offset)

    def frame(self) -> None:
        states = [(stamp, p) for _, stamp, p in self.got]
        self.drawn = between(states, self.at - self.offset - 0.12)


class NewestClock(Game):
    """A clock set by each packet and advanced by each frame; states are drawn 100 ms behind."""

    def arrive(self) -> None:
        self.clock = self.got[-1][1]

    def frame(self) -> None:
        self.clock += self.dt or self.at - self.got[-1][0]
        self.drawn = between([(stamp, p) for _, stamp, p in self.got], self.clock - 0.1)


class ChaseWhenEmpty(Game):
    """A line 100 ms behind, by arrivals; where it has no end, 0.15 of the way to the newest."""

    share = 0.15

    def frame(self) -> None:
        states = [(arrival, p) for arrival, _, p in self.got]
        if self.at - 0.1 <= states[-1][0]:
            self.drawn = between(states, self.at - 0.1)
        else:
            self.drawn = self.drawn + (states[-1][1] - self.drawn) * self.share


class LerpWhenEmpty(ChaseWhenEmpty):
    """The same by ten times the frame's duration of the rest."""

    @property
    def share(self) -> float:  # type: ignore[override]
        return min(10 * self.dt, 1.0)


class MedianClock(Game):
    """A clock by the middle of the last ten offsets; past the newest state by its velocity."""

    velocity: Any = 0.0

    def take(self, packet: Packet, now: float) -> bool:
        self.velocity = np.array(packet.velocity)
        return super().take(packet, now)

    def frame(self) -> None:
        offsets = sorted(now - stamp for now, stamp, _ in self.got[-10:])
        time = self.at - offsets[len(offsets) // 2] - 0.1
        self.drawn = between([(stamp, p) for _, stamp, p in self.got], time)
        past = time - self.got[-1][1]
        if past > 0:
            self.drawn = self.got[-1][2] + self.velocity * min(past, 0.2)


class SoftClock(Game):
    """A time that runs with the frames, a tenth faster or slower where it is 10 ms off."""

    time = math.nan

    def frame(self) -> None:
        arrival, newest, _ = self.got[-1]
        goal = newest + (self.at - arrival) - 0.1
        self.time = goal if math.isnan(self.time) else self.time + self.dt
        off = self.time - goal
        if abs(off) > 0.1:
            self.time = goal
        elif abs(off) > 0.01:
            self.time -= math.copysign(min(abs(off), 0.1 * self.dt), off)
        self.drawn = between([(stamp, p) for _, stamp, p in self.got], self.time)


class DriftingClock(Game):
    """A time that drifts to the newest packet's by a tenth; 0.85 of the way to it a frame."""

    time = math.nan

    def frame(self) -> None:
        arrival, newest, _ = self.got[-1]
        goal = newest + (self.at - arrival)
        began = not math.isnan(self.time)
        self.time = self.time + self.dt if began else goal
        off = goal - self.time
        most = 0.1 * self.dt
        self.time = goal if abs(off) > 0.3 else self.time + min(max(off, -most), most)
        place = between([(stamp, p) for _, stamp, p in self.got], self.time - 0.1)
        self.drawn = self.drawn + (place - self.drawn) * (0.85 if began else 1)


class BufferedSpeed(Game):
    """A time that is played faster or slower by twice what is buffered, a tenth at most."""

    time = math.nan

    def frame(self) -> None:
        newest = self.got[-1][1]
        if math.isnan(self.time):
            self.time = newest - 0.1
        else:
            off = newest - (self.time + self.dt) - 0.1
            self.time += self.dt * (1 + min(max(2 * off, -0.1), 0.1))
        self.drawn = between([(stamp, p) for _, stamp, p in self.got], self.time)


class RecentSpread(Game):
    """A delay of 50 ms and 0.75 of the spread of the latency of the last three seconds."""

    def frame(self) -> None:
        recent = [now - stamp for now, stamp, _ in self.got if now >= self.got[-1][0] - 3]
        wait = 0.05 + 0.75 * (max(recent) - min(recent))
        self.drawn = between([(stamp, p) for _, stamp, p in self.got], self.at - wait)


class ChangingLatency(Game):
    """A delay of 100 ms and three times the jitter of RFC 3550."""

    jitter = 0.0

    def arrive(self) -> None:
        if len(self.got) > 1:
            (before, first, _), (now, stamp, _) = self.got[-2:]
            self.jitter += (abs((now - stamp) - (before - first)) - self.jitter) / 16

    def frame(self) -> None:
        wait = 0.1 + 3 * self.jitter
        self.drawn = between([(stamp, p) for _, stamp, p in self.got], self.at - wait)


class QueueOfTwo(Game):
    """A queue of two states by a timer of 50 ms, in ticks of 1/60 s; the next two states of it."""

    tick, timer, last = math.nan, 0.0, None
    queue: list[Any]

    def arrive(self) -> None:
        self.queue = [*self.queue[-1:], self.got[-1][2]] if len(self.got) > 1 else [self.got[-1][2]]

    def frame(self) -> None:
        self.tick = self.at if math.isnan(self.tick) else self.tick
        while self.tick + 1 / 60 <= self.at + 1e-9:
            self.tick += 1 / 60
            self.timer += 1 / 60
            if self.timer > 0.05 + 1e-9:
                self.timer -= 0.05
                if len(self.queue) > 1:
                    self.last = self.queue.pop(0)
            if self.last is not None:
                self.drawn = self.last + (self.queue[0] - self.last) * (self.timer / 0.05)


class SummedTime(Game):
    """A buffer by a sum of frames, 150 ms late, which holds one state of a frame, as NAF has it."""

    time = 0.0

    def __init__(self) -> None:
        super().__init__()
        self.buffer: list[tuple[float, Any]] = []
        self.origin: tuple[float, Any] | None = None

    def arrive(self) -> None:
        if self.buffer and self.buffer[-1][0] == self.time:
            self.buffer.pop()
        self.buffer.append((self.time, self.got[-1][2]))

    def frame(self) -> None:
        self.origin = self.origin or self.buffer[-1]
        mark = self.time - 0.15
        while mark > self.buffer[0][0]:
            self.origin = self.buffer.pop(0)
            if not self.buffer:
                self.buffer = [(self.time + self.dt, self.origin[1])]
        if mark > self.origin[0]:
            (begin, start), (end, goal) = self.origin, self.buffer[0]
            self.drawn = start + (goal - start) * ((mark - begin) / (end - begin))
        self.time += self.dt


class AddedBehind(Game):
    """A line from the state before to the newest in 50 ms; frames are added behind the drawing."""

    since = 0.0

    def arrive(self) -> None:
        self.since = 0.0

    def frame(self) -> None:
        start, goal = self.got[-2:] if len(self.got) > 1 else self.got * 2
        self.drawn = start[2] + (goal[2] - start[2]) * min(self.since / 0.05, 1)
        self.since += self.dt


class UnevenArrivals(Game):
    """A delay of 120 ms and twice the mean unevenness of the arrivals, 200 ms at most."""

    interval = unevenness = 0.0

    def arrive(self) -> None:
        if len(self.got) > 1:
            since = self.got[-1][0] - self.got[-2][0]
            if since > 0:
                self.interval = (
                    self.interval + (since - self.interval) * 0.2 if self.interval else since
                )
                self.unevenness += (abs(since - self.interval) - self.unevenness) * 0.2

    def frame(self) -> None:
        delay = min(0.12 + 2 * self.unevenness, 0.2)
        self.drawn = between([(arrival, p) for arrival, _, p in self.got], self.at - delay)


class StampJitter(Game):
    """A delay of 75 ms and twice how far stamps are from 50 ms apart; it falls by a tenth."""

    delay, unevenness = 0.075, 0.0

    def arrive(self) -> None:
        if len(self.got) > 1:
            off = abs(self.got[-1][1] - self.got[-2][1] - 0.05)
            self.unevenness += (off - self.unevenness) * 0.1
            wanted = min(0.075 + 2 * self.unevenness, 0.2)
            self.delay += (wanted - self.delay) * (1 if wanted > self.delay else 0.1)

    def frame(self) -> None:
        self.drawn = between([(stamp, p) for _, stamp, p in self.got], self.at - self.delay)


class SortedStates(Game):
    """States in the order of their stamps; the last before the first that came within 100 ms."""

    def frame(self) -> None:
        states = sorted(self.got, key=lambda state: state[1])
        time = self.at - 0.1
        after = next((i for i, (arrival, _, _) in enumerate(states) if arrival > time), len(states))
        near = states[max(after - 1, 0) : after + 1]
        self.drawn = between([(arrival, p) for arrival, _, p in near], time)


class OwnCounter(Game):
    """A time that frames advance while a newer state waits, and that is set where it is far off."""

    time = math.nan

    def arrive(self) -> None:
        self.strays = len(self.got) > 1 and abs(self.got[-1][1] - self.time) > 0.25

    def frame(self) -> None:
        if math.isnan(self.time) or self.strays:
            apart = self.got[-1][1] - self.got[-2][1] if len(self.got) > 1 else 0.05
            self.time = self.got[-1][1] - apart + (self.at - self.got[-1][0])
        elif self.time < self.got[-1][1]:
            self.time += self.dt
        self.strays = False
        if self.time <= self.got[-1][1]:
            self.drawn = between([(stamp, p) for _, stamp, p in self.got], self.time)


class SpareState(Game):
    """The way to a state is gone once another waits behind it; on along the last two past them."""

    def frame(self) -> None:
        time, states = self.at - 0.1, [(stamp, p) for _, stamp, p in self.got]
        if time > states[-1][0] and len(states) > 1:
            (before, start), (stamp, goal) = states[-2:]
            self.drawn = goal + (goal - start) * ((time - stamp) / (stamp - before))
        elif len(states) > 1 and time < states[-2][0]:
            self.drawn = between(states, time)


class FollowingTime(Game):
    """A time that goes on with frames, and a tenth of what it is off in each of them."""

    time = math.nan
    share = 0.1

    def frame(self) -> None:
        wanted = self.at - (self.got[-1][0] - self.got[-1][1]) - 0.1
        self.time = wanted if math.isnan(self.time) else self.time + self.dt
        self.time += (wanted - self.time) * self.share
        self.drawn = between([(stamp, p) for _, stamp, p in self.got], self.time)


class FollowingBySeconds(FollowingTime):
    """The same, by twice what it is off in a second."""

    @property
    def share(self) -> float:  # type: ignore[override]
        return min(2 * self.dt, 1.0)


class Pixels(Game):
    """A chase that stays within 0.1 of its goal, and draws multiples of 0.25."""

    def frame(self) -> None:
        self.place = getattr(self, "place", self.drawn)
        rest = self.got[-1][2] - self.place
        if math.sqrt(rest @ rest) >= 0.1:
            self.place = self.place + rest * 0.2
        self.drawn = np.floor(self.place / 0.25 + 0.5) * 0.25


class StateSynchronization(AdaptiveOffset):
    """The same behind a jitter buffer, whose packets are 80 ms older than the first one was."""

    def __init__(self) -> None:
        super().__init__()
        self.held: list[tuple[float, Packet]] = []

    def take(self, packet: Packet, now: float) -> bool:
        if not self.got:
            self.behind = now - packet.time + 0.08
        elif packet.time + self.behind > now:
            self.held.append((packet.time + self.behind, packet))
            return True
        return super().take(packet, now)

    def draw(self, at: float) -> Any:
        while self.held and self.held[0][0] <= at:
            due, packet = self.held.pop(0)
            super().take(packet, due)
        return super().draw(at)


class SharedTime(Game):
    """A queue of goals: each takes a quarter of a second, divided by how many there are."""

    def arrive(self) -> None:
        self.goals: list[Any] = getattr(self, "goals", [])
        if (self.got[-1][2] != (self.goals[-1] if self.goals else self.drawn)).any():
            self.goals.append(self.got[-1][2])

    def frame(self) -> None:
        left, gone = self.dt, getattr(self, "gone", 0.0)
        while left > 0 and self.goals:
            if not gone:
                self.start = self.drawn
            lasts = 0.25 / len(self.goals)
            if left >= (1 - gone) * lasts:
                left, gone, self.drawn = left - (1 - gone) * lasts, 0.0, self.goals.pop(0)
            else:
                gone, left = gone + left / lasts, 0.0
                self.drawn = self.start + (self.goals[0] - self.start) * gone
        self.gone = gone


class WholeCentimeters(Game):
    """A line from the state before to the newest over the time between their stamps, in whole
    milliseconds; states are rounded to a hundredth.
    """

    def arrive(self) -> None:
        arrival, stamp, place = self.got[-1]
        self.got[-1] = (arrival, stamp, np.floor(place / 0.01 + 0.5) * 0.01)

    def frame(self) -> None:
        self.drawn = self.got[-1][2]
        if len(self.got) > 1:
            (_, before, start), (arrival, stamp, goal) = self.got[-2:]
            share = min((self.at - arrival) / max(stamp - before, 1e-3), 1)
            self.drawn = start + (goal - start) * share


class LongestGap(Game):
    """A buffer over arrivals, as late as the longest of the last eight times between them and 33
    ms; a delay that is too long becomes a twentieth shorter with each packet.
    """

    delay = 0.05

    def arrive(self) -> None:
        times = [arrival for arrival, _, _ in self.got[-9:]]
        longest = max((b - a for a, b in itertools.pairwise(times)), default=0.0)
        wanted = min(max(longest + 0.033, 0.05), 0.25)
        self.delay += (wanted - self.delay) * (1 if wanted > self.delay else 0.05)

    def frame(self) -> None:
        states = [(arrival, p) for arrival, _, p in self.got[-32:]]
        self.drawn = between(states, self.at - self.delay)


class TrimmedStates(Game):
    """A buffer over arrivals, 120 ms late; states 180 ms old are dropped, but the last two."""

    def frame(self) -> None:
        states = [(arrival, p) for arrival, _, p in self.got]
        self.drawn = between(states, self.at - 0.12)
        while len(self.got) > 2 and self.got[0][0] < self.at - 0.18:
            self.got.pop(0)


class SlowedClock(Game):
    """A time of its own, a tenth slower while less than 150 ms behind the newest state, that each
    packet sets back to that.
    """

    clock = math.nan

    def arrive(self) -> None:
        self.clock = min(self.clock, self.got[-1][1] - 0.15)

    def frame(self) -> None:
        newest = self.got[-1][1]
        if math.isnan(self.clock):
            self.clock = newest - 0.15
        self.clock += self.dt * (0.9 if newest - self.clock < 0.15 else 1)
        self.clock = min(max(self.clock, self.got[0][1]), newest)
        self.drawn = between([(stamp, p) for _, stamp, p in self.got], self.clock)
