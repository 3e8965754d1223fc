"""A drawing that goes for the newest state: each frame it comes some of the way closer.

It needs no clock and no buffer. It lags behind what moves, most after each packet, so that the
drawn speed rises and falls with the packets.
"""

import math
from collections.abc import Mapping
from typing import Any

from epic_cli.jobs.code.sources.words import (
    Quat,
    SendInterval,
    Turning,
    Vec3,
    cos,
    dot,
    exp,
    length,
)  # fmt: skip

LICENSE = "0BSD: use it as you like, without any warranty."
SINGLE = False

#: What rotations are written with.
TURNS = {"how": ("exponential", "lerp", "share", "speed", "interval", "linear", "eased")}

HOW: str
TIME: float
TIME_IN_INTERVALS: bool
SHARE: float
SPEED: float
EASE: str
START: str
OVERSHOOT: bool
INTERVAL: float  # s, the first guess where it is measured
MEASURES_INTERVAL: bool
AHEAD: str
AGE: str
AHEAD_TIME: float
LIMITS_AHEAD: bool
SNAP: float
ROTATIONS: bool


def constants(settings: Mapping[str, Any]) -> dict[str, object]:
    """Return the constants that are no settings, of settings as they are used."""
    interval = settings["interval"]
    counts = settings["time"] < 0 or settings["how"] == "interval"
    return {
        "TIME": abs(settings["time"]),
        "TIME_IN_INTERVALS": settings["time"] < 0,
        "INTERVAL": 0.05 if math.isnan(interval) else interval,
        "MEASURES_INTERVAL": counts and math.isnan(interval),
        "LIMITS_AHEAD": not math.isinf(settings["ahead_time"]),
    }


class Smoothing(SendInterval, Turning):
    """An entity that chases its newest state."""

    position: Vec3  # what is drawn
    started: bool
    newest: float  # the newest timestamp
    received: Vec3
    received_rotation: Quat
    speed: Vec3  # as received
    aged: bool  # an age has been measured
    least: float  # the smallest age of late (s)
    agree: bool  # it is one that a network can cause
    measured: float  # when
    age: float  # of the newest packet on arrival (s)
    arrived: float  # when it arrived
    goal: Vec3
    distance: float  # from what was drawn to the goal, when the newest packet arrived
    left: float  # of the interval to be there (s)
    start: Vec3  # where the path to the goal begins
    start_rotation: Quat
    waits: bool  # it begins in the next frame
    begun: float  # when it began
    duration: float  # of that path (s)
    motion: Vec3  # the drawing's own speed
    drawing: bool  # there was a frame
    last: float  # the time of the frame before

    def reset(self) -> None:
        """Forget the past."""
        self.started = False
        self.drawing = False
        self.newest = 0.0
        self.aged = False
        self.interval = INTERVAL
        self.differences.clear()
        self.sizes.clear()

    def receive(
        self, time: float, arrival: float, position: Vec3, velocity: Vec3, rotation: Quat
    ) -> bool:
        """Take a packet (finite numbers, times in s); return false if it is late, and dropped."""
        if self.started and time < self.newest:
            return False
        before: Vec3 = position
        if self.started:
            before = self.received
            if MEASURES_INTERVAL and time > self.newest:
                self.typical(time - self.newest)
        if HOW == "linear" or HOW == "eased":
            if START != "arrival":
                self.start = self.position
                if ROTATIONS:
                    self.start_rotation = self.rotation
            elif self.started:
                self.start = self.path(arrival)
                if SNAP > 0.0:
                    self.position = self.start
                if ROTATIONS:
                    self.start_rotation = self.slerp(
                        self.start_rotation, self.received_rotation, self.fraction(arrival)
                    )
            self.begun = arrival
            if START == "last":
                if self.drawing:
                    self.begun = self.last
            if START == "frame":
                self.waits = True
            self.duration = self.seconds()
        if AHEAD != "newest":
            self.age = self.measured_age(arrival, arrival - time)
        if AHEAD == "arrival":
            self.goal = position + velocity * self.prediction(self.age)
        elif AHEAD == "step":
            self.goal = position + (position - before) * self.prediction(self.age)
        else:
            self.goal = position
        if not self.started:
            self.position = position
            self.start = position
            self.motion = Vec3(0.0, 0.0, 0.0)
            if ROTATIONS:
                self.rotation = rotation
                self.start_rotation = rotation
        self.started = True
        self.newest = time
        self.received = position
        self.received_rotation = rotation
        self.speed = velocity
        self.arrived = arrival
        if HOW == "interval":
            self.distance = length(self.aim(arrival) - self.position)
            self.left = self.interval
        return True

    def measured_age(self, arrival: float, age: float) -> float:
        """Return the age of a packet: ``age`` by its timestamp, corrected for the clock."""
        if AGE == "arrival":
            return 0.0
        if AGE == "auto":
            if not self.aged:
                self.least = age
                self.agree = age >= 0.0 and age <= 0.5
            else:
                # the smallest age, which is forgotten by 20 ms a second
                self.least = min(self.least + 0.02 * (arrival - self.measured), age)
            self.aged = True
            self.measured = arrival
            if self.agree:
                return age - self.least + min(max(self.least, 0.0), 0.5)
            return age - self.least
        return age

    def seconds(self) -> float:
        """Return TIME in seconds."""
        if TIME_IN_INTERVALS:
            return TIME * self.interval
        return TIME

    def prediction(self, age: float) -> float:
        """Return how far ahead to predict (s)."""
        if LIMITS_AHEAD:
            return min(age, AHEAD_TIME)
        return age

    def aim(self, now: float) -> Vec3:
        """Return the goal."""
        if AHEAD == "velocity":
            return self.received + self.speed * self.prediction(self.age + (now - self.arrived))
        return self.goal

    def fraction(self, now: float) -> float:
        """Return the fraction of the path's time that has passed."""
        u: float = min(max((now - self.begun) / self.duration, 0.0), 1.0)
        if HOW == "eased":
            if EASE == "smoothstep":
                return u * u * (3.0 - 2.0 * u)
            if EASE == "sine":
                return (1.0 - cos(3.141592653589793 * u)) / 2.0
            if EASE == "out-quad":
                return 1.0 - (1.0 - u) * (1.0 - u)
            if EASE == "out-cubic":
                return 1.0 - (1.0 - u) * (1.0 - u) * (1.0 - u)
        return u

    def path(self, now: float) -> Vec3:
        """Return the point of the path at that time."""
        u: float = self.fraction(now)
        goal: Vec3 = self.aim(now)
        if u >= 1.0:
            return goal
        return self.start * (1.0 - u) + goal * u

    def step_share(self, elapsed: float) -> float:
        """Return the share of the remaining way for this time."""
        if HOW == "exponential":
            return 1.0 - exp(-elapsed / self.seconds())
        if HOW == "lerp":
            return min(elapsed / self.seconds(), 1.0)
        return SHARE

    def go(self, goal: Vec3, share: float) -> None:
        """Go and turn by a share of the remaining way."""
        if share < 1.0:
            self.position = self.position * (1.0 - share) + goal * share
        else:
            self.position = goal
        if HOW != "interval":
            self.turn(share)

    def turn(self, share: float) -> None:
        """Turn by a share of the remaining way."""
        if ROTATIONS:
            self.rotation = self.slerp(self.rotation, self.received_rotation, share)

    def spring(self, goal: Vec3, elapsed: float) -> None:
        """Advance by a step of Unity's SmoothDamp, a critically damped spring (Gems 4, 1.10)."""
        frequency: float = 2.0 / self.seconds()
        x: float = frequency * elapsed
        decay: float = 1.0 / (1.0 + x + 0.48 * x * x + 0.235 * x * x * x)
        change: Vec3 = self.position - goal
        step: Vec3 = (self.motion + change * frequency) * elapsed
        reached: Vec3 = goal + (change + step) * decay
        self.motion = (self.motion - step * frequency) * decay
        if not OVERSHOOT:
            if dot(goal - self.position, reached - goal) > 0.0:
                reached = goal
                self.motion = Vec3(0.0, 0.0, 0.0)
        self.position = reached

    def approach(self, goal: Vec3, most: float) -> None:
        """Go towards the goal, by a distance at most."""
        far: float = length(goal - self.position)
        if most < far:
            self.go(goal, most / far)
        else:
            self.go(goal, 1.0)

    def teleport(
        self, time: float, arrival: float, position: Vec3, velocity: Vec3, rotation: Quat
    ) -> None:
        """Take a packet of an entity that was moved on purpose."""
        if not self.started or time >= self.newest:
            self.reset()
            self.receive(time, arrival, position, velocity, rotation)

    def draw(self, now: float) -> bool:
        """Move ``position`` to where it is drawn at ``now``.

        Return false before the first packet.
        """
        if not self.started:
            return False
        elapsed: float = 0.0
        if self.drawing:
            elapsed = max(now - self.last, 0.0)
        self.drawing = True
        self.last = now
        if START == "frame":
            if self.waits:
                self.begun = now
            self.waits = False
        goal: Vec3 = self.aim(now)
        if SNAP > 0.0:
            rest: Vec3 = goal - self.position
            if dot(rest, rest) > SNAP * SNAP:
                self.position = goal
                self.motion = Vec3(0.0, 0.0, 0.0)
                if ROTATIONS:
                    self.rotation = self.received_rotation
                return True
        if HOW == "exponential" or HOW == "lerp" or HOW == "share":
            self.go(goal, self.step_share(elapsed))
        if HOW == "spring":
            self.spring(goal, elapsed)
        if HOW == "speed":
            self.approach(goal, SPEED * elapsed)
        if HOW == "interval":
            self.approach(goal, self.distance / self.interval * elapsed)
            if elapsed < self.left:
                self.turn(elapsed / self.left)
            else:
                self.turn(1.0)
            self.left -= elapsed
        if HOW == "linear" or HOW == "eased":
            self.position = self.path(now)
            if ROTATIONS:
                self.rotation = self.slerp(
                    self.start_rotation, self.received_rotation, self.fraction(now)
                )
        return True
