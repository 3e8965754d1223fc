"""Slow, obvious oracles of ``buffer`` and ``chase``, written from their formulas alone.

Lists that only grow, every number computed from all packets so far. Settings are as they are
written, except that delays are seconds or texts such as ``1.8i``.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np

from epic_cli import Packet

Point = Any  # an array of three
Setting = Any


def seconds(span: Setting, interval: float) -> float:
    if isinstance(span, str) and span.endswith("i"):
        return float(span[:-1]) * interval
    return float(span)


def share_of(elapsed: float, duration: float) -> float:
    return 1 - math.exp(-elapsed / duration) if duration else 1.0


def rows(made: Any, packets: list[Packet], frames: list[float]) -> list[Point | None]:
    """What is drawn in each frame, packets taken when they arrive."""
    waiting, drawn = list(packets), []
    for at in frames:
        while waiting and waiting[0].arrival <= at:  # type: ignore[operator]
            packet = waiting.pop(0)
            made.take(packet, packet.arrival)
        drawn.append(made.draw(at))
    return drawn


class Intervals:
    """The send interval by the timestamps so far."""

    def __init__(self, given: Setting, over: float) -> None:
        self.given, self.over = given, over
        self.stamps: list[float] = []

    def take(self, stamp: float) -> None:
        if not self.stamps or stamp > self.stamps[-1]:
            self.stamps.append(stamp)

    def value(self) -> float:
        if self.given != "auto":
            return float(self.given)
        differences = [b - a for a, b in pairwise(self.stamps)]
        if not differences:
            return 0.05
        if self.over:
            mean = differences[0]
            for difference in differences[1:]:
                mean += (difference - mean) * share_of(difference, self.over)
            return mean
        last = sorted(differences[-32:])
        middle = last[(len(last) - 1) * 3 // 8]
        return statistics.fmean(d for d in last if middle < 1.5 * d and d < 1.5 * middle)


class Buffer:
    def __init__(self, **given: Setting) -> None:
        self.s: dict[str, Setting] = {
            "stamps": "sender", "clock": "agree", "clock_time": 2.0, "clock_margin": 0.0,
            "clock_resync": 0.0, "clock_gain": 0.01, "clock_decay": 0.9, "clock_limit": 0.0001,
            "delay": 0.2, "jitter_margin": 0.0, "jitter_time": 2.0, "delay_least": 0.0,
            "delay_most": 60.0, "interval": "auto", "interval_time": 0.0, "curve": "linear",
            "beyond": 0.0, "beyond_along": "slope", "beyond_then": "stay", "catch_up": "snap",
            "catch_up_rate": 0.05, "catch_up_limit": 0.0, "monotonic": "off", "late": "drop",
            "before": "hold", "begin": 1, "keep": 1024, "low_pass": 0.0, "snap": 0.0,
        } | given  # fmt: skip
        self.forget()
        self.last: Point | None = None

    def forget(self) -> None:
        self.intervals = Intervals(self.s["interval"], float(self.s["interval_time"]))
        self.states: list[tuple[float, Point, Point]] = []
        self.taken: list[float] = []  # when their states were true
        self.stamps: list[float] = []
        self.offsets: list[tuple[float, float]] = []  # since the clock began: arrival, offset
        self.jitters: list[tuple[float, float]] = []
        self.tick = 0.0
        self.arrived: float | None = None
        self.time: float | None = None
        self.frame: float | None = None
        self.filtered: Point | None = None
        self.last = None

    def take(self, packet: Packet, now: float) -> bool:
        s, true = self.s, packet.time - packet.delta
        if packet.teleport:
            if self.stamps and packet.time < max(self.stamps):
                return False
            self.forget()
            self.last = np.array(packet.position)
        if s["late"] == "drop" and self.taken and true <= max(self.taken):
            return False
        if s["late"] == "insert" and s["stamps"] == "sender":
            if true in [state[0] for state in self.states]:
                return False
            if len(self.states) == s["keep"] and true < self.states[0][0]:
                return False
        self.intervals.take(packet.time)
        stamp, x = packet.time, true
        if s["stamps"] == "arrival":
            stamp = x = now
        if s["stamps"] == "ticks":
            stamp = self.tick + self.intervals.value() if self.taken else 0.0
            x = stamp - packet.delta
        if s["stamps"] != "arrival" and s["clock"] != "agree":
            off = (now - stamp) - self.offset()
            if self.offsets and s["clock_resync"] > 0 and abs(off) > s["clock_resync"] + 1e-9:
                self.offsets = []
                if s["stamps"] == "ticks":
                    self.states, stamp, x = [], 0.0, -packet.delta
            self.offsets.append((now, now - stamp))
        self.tick = stamp
        if s["stamps"] != "arrival":
            self.jitters.append((now, now - stamp))
        elif self.arrived is not None:
            self.jitters.append((now, now - self.arrived))
        self.arrived = now
        self.taken.append(true)
        self.stamps.append(packet.time)
        state = (x, np.array(packet.position), np.array(packet.velocity))
        place = len(self.states)
        if s["late"] == "insert" and s["stamps"] == "sender":
            place = sum(other[0] <= x for other in self.states)
        self.states.insert(place, state)
        self.states = self.states[-int(s["keep"]) :]
        return True

    def offset(self) -> float:
        s, known = self.s, self.offsets
        if not known:
            return 0.0
        over = math.inf if s["clock_time"] == "session" else s["clock_time"]
        recent = [offset for at, offset in known if at >= known[-1][0] - over]
        if s["clock"] in ("min", "median", "max"):
            return {"min": min, "max": max, "median": statistics.median}[s["clock"]](recent)  # type: ignore[operator,no-any-return]
        if s["clock"] == "newest":
            return known[-1][1]
        value, summed = known[0][1], 0.0
        for n, ((before, _), (at, offset)) in enumerate(pairwise(known), 2):
            if s["clock"] == "mean":
                share = 1 / n if over == math.inf else share_of(at - before, over)
                value += share * (offset - value)
            if s["clock"] == "pll":
                summed = summed * s["clock_decay"] + (value - offset)
                limit = s["clock_limit"]
                value -= min(max(summed * s["clock_gain"], -limit), limit)
        return value

    def delay(self) -> float:
        s, interval = self.s, self.intervals.value()
        mean, variance, before = 0.0, 0.0, -math.inf
        for n, (at, value) in enumerate(self.jitters):
            share = share_of(at - before, s["jitter_time"]) if n else 1.0
            off = value - mean
            mean, variance = mean + share * off, (1 - share) * (variance + share * off * off)
            before = at
        delay: float = seconds(s["delay"], interval) + s["jitter_margin"] * math.sqrt(variance)
        least, most = (seconds(s[f"delay_{end}"], interval) for end in ("least", "most"))
        return min(max(delay, least), most)

    def draw(self, at: float) -> Point | None:
        s = self.s
        if not self.taken or len(self.taken) < s["begin"]:
            return self.last
        words: dict[Setting, float] = {"hold": 0.0, "freeze": 0.0, "unlimited": math.inf}
        beyond = words[s["beyond"]] if s["beyond"] in words else float(s["beyond"])
        elapsed = 0.0 if self.frame is None else at - self.frame
        target = at - (self.offset() + s["clock_margin"]) - self.delay()
        time = target
        if s["catch_up"] != "snap" and self.time is not None:
            time = self.time + elapsed
            off, limit, rate = target - time, s["catch_up_limit"], s["catch_up_rate"] * elapsed
            if s["catch_up"] == "rate":
                time = target if 0 < limit < abs(off) else time + min(max(off, -rate), rate)
        if s["catch_up"] != "snap":
            time = min(time, self.states[-1][0] + beyond)
        if s["monotonic"] == "on" and self.time is not None:
            time = max(time, self.time)
        point = self.point(time, beyond)
        if point is None:
            return None
        self.time, self.frame, self.last = time, at, point
        if not s["low_pass"]:
            return point
        if self.filtered is not None and not 0 < s["snap"] < math.dist(point, self.filtered):
            point = self.filtered + (point - self.filtered) * share_of(elapsed, s["low_pass"])
        self.filtered = point
        return point

    def point(self, time: float, beyond: float) -> Point | None:
        s: Any = self.s
        count = sum(state[0] <= time for state in self.states)
        if count == 0:
            return self.last if s["before"] == "none" else self.states[0][1]
        x, p, v = self.states[count - 1]
        if count < len(self.states):
            y, q, w = self.states[count]
            if 0 < s["snap"] < math.dist(p, q):
                return p
            u, slope = (time - x) / (y - x), (q - p) / (y - x)
            if s["curve"] == "linear":
                return p + (q - p) * u
            if s["curve"] == "catmull-rom":
                v, w = self.tangent(count - 1, slope), self.tangent(count, slope)
            a, b = 2 * u**3 - 3 * u**2 + 1, 3 * u**2 - 2 * u**3
            return a * p + b * q + (y - x) * ((u**3 - 2 * u**2 + u) * v + (u**3 - u**2) * w)
        if s["beyond"] == "freeze":
            return self.last
        past = time - x
        if beyond == 0 or (past > beyond and s["beyond_then"] == "return"):
            return p
        rate = v
        if s["beyond_along"] == "slope":
            rate = np.zeros(3)
            if len(self.states) > 1:
                before, q, _ = self.states[-2]
                if before < x and not 0 < s["snap"] < math.dist(p, q):
                    rate = (p - q) / (x - before)
        return p + rate * min(past, beyond)

    def tangent(self, place: int, slope: Point) -> Point:
        if place == 0 or place == len(self.states) - 1:
            return slope
        (x, p, _), (y, q, _) = self.states[place - 1], self.states[place + 1]
        return (q - p) / (y - x)


EASES: dict[str, Callable[[float], float]] = {
    "smoothstep": lambda u: 3 * u**2 - 2 * u**3,
    "sine": lambda u: (1 - math.cos(math.pi * u)) / 2,
    "out-quad": lambda u: 1 - (1 - u) ** 2,
    "out-cubic": lambda u: 1 - (1 - u) ** 3,
}


class Chase:
    """``age`` must be ``stamp`` or ``arrival``."""

    def __init__(self, **given: Setting) -> None:
        self.s: dict[str, Setting] = {
            "how": "exponential", "time": 0.1, "share": 0.1, "speed": 20.0, "ease": "smoothstep",
            "start": "drawn", "overshoot": "off", "interval": "auto", "ahead": "newest",
            "age": "stamp", "ahead_time": 1.0, "snap": 0.0,
        } | given  # fmt: skip
        self.forget()

    def forget(self) -> None:
        self.intervals = Intervals(self.s["interval"], 0.0)
        self.newest: Packet | None = None
        self.frame: float | None = None

    def take(self, packet: Packet, now: float) -> bool:
        if self.newest is not None and packet.time < self.newest.time:
            return False
        if packet.teleport:
            self.forget()
        p = np.array(packet.position)
        if self.newest is None:
            self.y, self.v, step = p, np.zeros(3), np.zeros(3)
        else:
            step = p - np.array(self.newest.position)
            if self.s["start"] == "arrival" and self.s["how"] in ("linear", "eased"):
                self.goal = self.goal_at(now)
                self.y = self.on_the_way(now)
        age = now - (packet.time - packet.delta) if self.s["age"] == "stamp" else 0.0
        led = min(age, self.s["ahead_time"])
        way = {"arrival": np.array(packet.velocity), "step": step}.get(self.s["ahead"], np.zeros(3))
        self.intervals.take(packet.time)
        self.newest, self.age, self.arrived = packet, age, now
        self.fixed = p + way * led
        self.start, self.goal = self.y, self.goal_at(now)
        self.distance = math.dist(self.goal, self.y)
        self.duration = seconds(self.s["time"], self.intervals.value())
        return True

    def goal_at(self, at: float) -> Point:
        assert self.newest is not None
        if self.s["ahead"] != "velocity":
            return self.fixed
        age = min(self.age + at - self.arrived, self.s["ahead_time"])
        return np.array(self.newest.position) + np.array(self.newest.velocity) * age

    def on_the_way(self, at: float) -> Point:
        u = min(max((at - self.arrived) / self.duration, 0), 1)
        u = EASES[self.s["ease"]](u) if self.s["how"] == "eased" else u
        return self.start + (self.goal - self.start) * u

    def draw(self, at: float) -> Point | None:
        if self.newest is None:
            return None
        s, elapsed = self.s, 0.0 if self.frame is None else at - self.frame
        time = seconds(s["time"], self.intervals.value())
        self.frame = at
        self.goal = goal = self.goal_at(at)
        rest = math.dist(goal, self.y)
        if 0 < s["snap"] < rest:
            self.y, self.v = goal, np.zeros(3)
        elif s["how"] in ("linear", "eased"):
            self.y = self.on_the_way(at)
        elif s["how"] == "spring":
            self.spring(goal, time, elapsed)
        else:
            ways: dict[str, Callable[[], float]] = {
                "exponential": lambda: share_of(elapsed, time),
                "lerp": lambda: min(elapsed / time, 1),
                "share": lambda: s["share"],
                "speed": lambda: min(s["speed"] * elapsed / rest, 1) if rest else 1,
                "interval": lambda: (
                    min(self.distance / self.intervals.value() * elapsed / rest, 1) if rest else 1
                ),
            }
            self.y = self.y + (goal - self.y) * ways[s["how"]]()
        return self.y

    def spring(self, goal: Point, time: float, elapsed: float) -> None:
        w = 2 / time
        x = w * elapsed
        e = 1 / (1 + x + 0.48 * x**2 + 0.235 * x**3)
        c = self.y - goal
        q = (self.v + w * c) * elapsed
        new = goal + (c + q) * e
        if self.s["overshoot"] == "off" and np.dot(goal - self.y, new - goal) > 0:
            self.y, self.v = goal, np.zeros(3)
        else:
            self.y, self.v = new, (self.v - w * q) * e
