"""Dead reckoning, after Glazer and Madhav, Multiplayer Game Programming (2016), chapter 8.

The received state goes on as it was, and what was drawn wrongly is corrected:

    predicted(t) = position + velocity * s + acceleration * s^2 / 2,  s = t - true_at
"""

from collections.abc import Mapping
from typing import Any

from epic_cli.jobs.code.sources.words import Vec3, exp, length

LICENSE = "0BSD: use it as you like, without any warranty."
SINGLE = False
TURNS: dict[str, tuple[str, ...]] = {}

CORRECTION: str
CORRECTION_TIME: float
SNAP_DISTANCE: float
AGE: str
RTT: float
ACCELERATION: str
FREQUENCY: float  # 1/s: 5 % of a difference is left after correction_time


def constants(settings: Mapping[str, Any]) -> dict[str, object]:
    """Return the constants that are no settings, of settings as they are used."""
    return {"FREQUENCY": 4.743864518 / (settings["correction_time"] or 1.0)}


def needs_one_clock(settings: Mapping[str, Any]) -> bool:
    """Return True if ``now`` and ``time`` have to be on one clock: no offset is estimated."""
    return bool(settings["age"] == "measured")


class Smoothing:
    """An entity, predicted from its newest packet."""

    position: Vec3  # what is drawn
    started: bool
    newest: float  # the newest timestamp
    true_at: float  # the local time at which the received state was true
    received: Vec3
    speed: Vec3  # as received
    acceleration: Vec3
    correcting: bool
    corrected_at: float  # the local time at which the correction began
    offset: Vec3  # drawn minus predicted, at that time
    offset_speed: Vec3
    start: Vec3  # of the path that corrects, and its speed
    start_speed: Vec3
    goal: Vec3  # its end, and its speed
    goal_speed: Vec3

    def reset(self) -> None:
        """Forget the past."""
        self.started = False
        self.correcting = False
        self.newest = 0.0
        self.acceleration = Vec3(0.0, 0.0, 0.0)

    def receive(self, time: float, arrival: float, position: Vec3, velocity: Vec3) -> bool:
        """Take a packet (finite numbers, times in s); return false if it is late, and dropped."""
        first: bool = not self.started
        if not first and time < self.newest:
            return False
        drawn: Vec3 = position
        drawn_speed: Vec3 = velocity
        if not first:
            drawn = self.path(arrival)
            drawn_speed = self.path_speed(arrival)
            if ACCELERATION == "estimated" and time - self.newest > 1e-9:
                self.acceleration = (velocity - self.speed) * (1.0 / (time - self.newest))
        self.started = True
        self.newest = time
        if AGE == "measured":
            self.true_at = time
        if AGE == "rtt":
            self.true_at = arrival - RTT / 2.0
        self.received = position
        self.speed = velocity
        self.correcting = False
        if CORRECTION != "snap" and CORRECTION_TIME > 0.0 and not first:
            self.correct(drawn, drawn_speed, arrival)
        return True

    def correct(self, drawn: Vec3, drawn_speed: Vec3, now: float) -> None:
        """Begin the correction from the drawn state to the predicted one."""
        self.offset = drawn - self.predicted(now)
        self.offset_speed = drawn_speed - self.predicted_speed(now)
        if SNAP_DISTANCE > 0.0:
            if length(self.offset) > SNAP_DISTANCE:
                return
        self.correcting = True
        self.corrected_at = now
        if CORRECTION == "spline":
            self.start = drawn
            self.start_speed = drawn_speed
            self.goal = self.predicted(now + CORRECTION_TIME)
            self.goal_speed = self.predicted_speed(now + CORRECTION_TIME)

    def predicted(self, at: float) -> Vec3:
        """Return the predicted position."""
        s: float = at - self.true_at
        if ACCELERATION == "estimated":
            return self.received + self.speed * s + self.acceleration * (0.5 * s * s)
        return self.received + self.speed * s

    def predicted_speed(self, at: float) -> Vec3:
        """Return the predicted velocity."""
        if ACCELERATION == "estimated":
            return self.speed + self.acceleration * (at - self.true_at)
        return self.speed

    def path(self, at: float) -> Vec3:
        """Return the drawn position: the prediction plus the rest of the correction."""
        if CORRECTION == "snap" or CORRECTION_TIME <= 0.0:
            return self.predicted(at)
        t: float = at - self.corrected_at
        if CORRECTION == "second-order":
            if not self.correcting:
                return self.predicted(at)
            pull: Vec3 = self.offset_speed + self.offset * FREQUENCY
            return self.predicted(at) + (self.offset + pull * t) * exp(-FREQUENCY * t)
        if not self.correcting or t / CORRECTION_TIME >= 1.0:
            return self.predicted(at)
        if CORRECTION == "blend":
            return self.predicted(at) + self.offset * (1.0 - t / CORRECTION_TIME)
        u: float = t / CORRECTION_TIME
        v: float = u * u
        w: float = v * u
        ends: Vec3 = self.start * (2.0 * w - 3.0 * v + 1.0) + self.goal * (3.0 * v - 2.0 * w)
        speeds: Vec3 = self.start_speed * (w - 2.0 * v + u) + self.goal_speed * (w - v)
        return ends + speeds * CORRECTION_TIME

    def path_speed(self, at: float) -> Vec3:
        """Return the velocity of the drawn position."""
        if CORRECTION == "snap" or CORRECTION_TIME <= 0.0:
            return self.predicted_speed(at)
        t: float = at - self.corrected_at
        if CORRECTION == "second-order":
            if not self.correcting:
                return self.predicted_speed(at)
            pull: Vec3 = self.offset_speed + self.offset * FREQUENCY
            left: Vec3 = self.offset_speed - pull * (FREQUENCY * t)
            return self.predicted_speed(at) + left * exp(-FREQUENCY * t)
        if not self.correcting or t / CORRECTION_TIME >= 1.0:
            return self.predicted_speed(at)
        if CORRECTION == "blend":
            return self.predicted_speed(at) - self.offset * (1.0 / CORRECTION_TIME)
        u: float = t / CORRECTION_TIME
        v: float = u * u
        way: Vec3 = (self.goal - self.start) * ((6.0 * u - 6.0 * v) / CORRECTION_TIME)
        begin: Vec3 = self.start_speed * (3.0 * v - 4.0 * u + 1.0)
        return way + begin + self.goal_speed * (3.0 * v - 2.0 * u)

    def teleport(self, time: float, arrival: float, position: Vec3, velocity: Vec3) -> None:
        """Take a packet of an entity that was moved on purpose."""
        if not self.started or time >= self.newest:
            self.reset()
            self.receive(time, arrival, position, velocity)

    def draw(self, now: float) -> bool:
        """Move ``position`` to where it is drawn at ``now``.

        Return false before the first packet.
        """
        if not self.started:
            return False
        self.position = self.path(now)
        return True
