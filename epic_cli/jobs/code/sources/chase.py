"""A drawing that goes for the newest state: each frame it comes some of the way closer.

It needs no clock and no buffer. It lags behind what moves, most after each packet, so that the
drawn speed rises and falls with the packets.
"""

import math
from collections.abc import Mapping
from typing import Any

from epic_cli.jobs.code.sources.words import (
    Clock,
    Quat,
    Rounding,
    SendInterval,
    Turning,
    Vec3,
    cos,
    dot,
    exp,
    floor,
    length,
    sin,
    sqrt,
)  # fmt: skip

LICENSE = "0BSD: use it as you like, without any warranty."
SINGLE = False

#: What rotations are written with.
TURNS = {
    "how": (
        "exponential",
        "lerp",
        "share",
        "speed",
        "interval",
        "linear",
        "eased",
        "hermite",
        "growing",
    )
}

#: What counters are called where it only matters whether there was one.
FLAGS = {"waiting": ("waits", "a packet waits for the next step")}

HOW: str
TIME: float
TIME_IN_INTERVALS: bool
SHARE: float
SHARE_FAR: float
GROWS: bool  # the share does, with the distance
FAR_FROM: float
FAR_AT: float
MEAN_OF: int
AVERAGES: bool  # the newest state is a mean of more than one
SPEED: float
PACE: str  # with how=speed: SPEED (set), or that of the packets' path, or the faster of two
SPEED_LEAST: float
SPEED_MOST: float
LIMITS_SPEED: bool  # SPEED_MOST is one
AXES: str
ALONE: bool  # each axis goes by itself
STIFFNESS: float
DAMPING: float
INTEGRATION: str
RATE: float  # the frequency of a spring with how=force (1/s), or how its two speeds differ
DAMPED: str
EASE: str
ENDS: str  # in, out or in-out, of one of the families
FAMILY: str
BACK: float  # how far it goes back
BEND: float
LEAVE: str
START: str
FROM_FRAME: bool  # the path begins in the frame that takes the packet
TRANSITS: bool  # the path before goes on until then
END: str
GLIDES: bool  # on a path to each packet
OVERLAPS: bool  # the ways to packets add up
GLIDES_ON: bool  # along with the packet, where the path to it has ended
WALKS: bool  # each of them has ticks of its own
OVERSHOOT: float
PASSES: bool  # it passes its goal
LIMITS_PASSING: bool
INTERVAL: float  # s, the first guess where it is measured
MEASURES: str
TAKES: bool
AHEAD: str
AGE: str
AGE_OFFSET: float
VELOCITY: str
VELOCITY_FACTOR: float
VELOCITY_SHARE: float
AHEAD_TIME: float
LIMITS_AHEAD: bool
FADE_AFTER: float
FADE: float
DRIFT: float
DRIFT_SHARE: float
SNAP: float
TIMES: str
SNAP_AFTER: float
DEAD_ZONE: float
SNAP_NEAR: float
LATE: str
PLAYOUT_DELAY: float
CARRIES: bool  # the velocities that packets have are used
REPEATED: str
DEAD_BAND: float
STEPS: str
EVERY: float
COUNTS: bool  # a step may count as another time than it lasts
STEP_TIME: float
LIMITS_STEPS: bool  # STEP_MOST is one
STEP_MOST: float
PHASE: float
BEGINS: str  # when ticks begin
REPEATS: int  # steps of a frame or a tick
BETWEEN: str
ROUNDING: float
ROUNDING_BY: str
ROUNDS_STATES: bool  # received positions, and not what is drawn
ROUNDS_DRAWN: bool
KEEPS: bool
ROTATIONS: bool


def constants(settings: Mapping[str, Any]) -> dict[str, object]:
    """Return the constants that are no settings, of settings as they are used."""
    interval = settings["interval"]
    steps = {0: "frame", -1: "packet"}.get(settings["every"], "tick")
    ways = settings["how"], settings["ahead"], settings["velocity"]
    paces = settings["how"] == "speed" and settings["speed"] < 0
    uses = settings["time"] < 0 or "interval" in ways or paces
    given = "usual" if math.isnan(interval) else "nothing"
    measures = (
        {-1: "arrivals", -2: "frames", -3: "stamps", -4: "steps"}.get(interval, given)
        if uses
        else "nothing"
    )
    glides = settings["how"] in ("linear", "eased", "hermite")
    begins = (
        glides
        or settings["how"] == "growing"
        or (
            settings["ahead"] == "velocity"
            and (settings["age"] == "arrival" or settings["drift"] > 0)
        )
    )
    limits = not math.isinf(settings["step_most"])
    grows = settings["how"] == "share" and not math.isnan(settings["share_far"])
    counts = settings["step_time"] > 0 or limits
    from_frame = settings["start"] in ("frame", "transition")
    waits = begins and (from_frame or steps == "tick" or counts)
    phase = settings["phase"]
    adds = settings["how"] in ("linear", "eased")
    overlaps = adds and settings["overlap"] == "on"
    ends, _, family = settings["ease"].rpartition("-")
    is_of_family = ends in ("in", "out", "in-out")
    square = settings["stiffness"] - settings["damping"] ** 2 / 4
    rounds = settings["rounding"] > 0 and settings["rounding_of"] == "drawn"
    return {
        "RATE": math.sqrt(abs(square)),
        "DAMPED": "swings" if square > 0 else "creeps" if square < 0 else "critically",
        "COUNTS": counts,
        "GROWS": grows,
        "SHARE_FAR": settings["share_far"] if grows else settings["share"],
        "MEAN_OF": int(settings["mean_of"]),
        "AVERAGES": settings["mean_of"] > 1,
        "LIMITS_STEPS": limits,
        "TIME": abs(settings["time"]),
        "TIME_IN_INTERVALS": settings["time"] < 0,
        "INTERVAL": interval if interval > 0 else 0.05,
        "MEASURES": measures,
        "TAKES": measures == "frames" or waits,
        "INTERVAL_COUNT": 1,
        "LIMITS_INTERVAL": not math.isinf(settings["interval_most"]),
        "PASSES": settings["overshoot"] > 1,
        "LIMITS_PASSING": not math.isinf(settings["overshoot"]),
        "CARRIES": settings["velocity"] in ("sent", "before")
        and (
            settings["drift"] > 0
            or settings["how"] == "hermite"
            or settings["ahead"] in ("velocity", "arrival", "interval", "fixed")
        ),
        "LIMITS_AHEAD": not math.isinf(settings["ahead_time"]),
        "ALONE": settings["axes"] == "each"
        and settings["how"] in ("exponential", "lerp", "share", "growing", "speed"),
        "PACE": {-1: "path", -2: "fastest"}.get(settings["speed"], "set") if paces else "set",
        "LIMITS_SPEED": not math.isinf(settings["speed_most"]),
        "STEPS": steps,
        "PHASE": max(phase, 0.0),
        "BEGINS": {-1: "frame", -2: "packet"}.get(phase, "once"),
        "GLIDES": glides,
        "OVERLAPS": overlaps,
        "ENDS": ends if is_of_family else "none",
        "FAMILY": family,
        "BACK": 2.5949095 if ends == "in-out" else 1.70158,
        "FROM_FRAME": from_frame,
        "TRANSITS": adds and settings["start"] == "transition" and not overlaps,
        "GLIDES_ON": settings["drift"] > 0
        and glides
        and not overlaps
        and settings["ahead"] != "velocity"
        and steps != "packet",
        "WALKS": overlaps and phase == -2 and steps == "tick",
        "REPEATS": int(settings["steps"]),
        "ROUNDS_STATES": settings["rounding"] > 0 and settings["rounding_of"] == "states",
        "ROUNDS_DRAWN": rounds,
        "KEEPS": steps == "tick" or rounds,
    }


def needs_one_clock(settings: Mapping[str, Any]) -> bool:
    """Return True if ``now`` and ``time`` have to be on one clock: no offset is estimated."""
    return settings["age"] in ("stamp", "absolute") and settings["ahead"] in (
        "velocity",
        "arrival",
        "step",
    )


class Smoothing(Clock, SendInterval, Turning, Rounding):
    """An entity that chases its newest state."""

    position: Vec3  # what is drawn
    started: bool
    newest: float  # the newest timestamp
    stamp: float  # that of the packet before
    current: Vec3  # as the last step left it
    current_rotation: Quat
    previous: Vec3  # as the step before left it
    previous_rotation: Quat
    ticking: bool  # there was a tick, or a step
    stepped: float  # the number of the last tick, or the time of the last step
    origin: float  # the time of the tick with the number 0
    offset: float  # arrival minus timestamp of the first packet (s)
    releasing: bool  # packets leave the jitter buffer
    queued: float  # the newest timestamp that is in it or was
    held_times: list[float]  # the packets in it
    held: list[Vec3]
    held_velocities: list[Vec3]
    held_rotations: list[Quat]
    waiting: int  # packets since the last step
    walked: float  # what the steps since the newest packet was taken counted (s)
    taking: bool  # there was a step that took packets
    taken: float  # when
    last_before: float  # the last step before the newest packet
    received: Vec3
    received_rotation: Quat
    latest: Vec3  # as it was received, not as the mean
    places: list[Vec3]  # the last that were received
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
    sent: Vec3  # the velocity of the newest packet
    travel: float  # from the position of the packet before to the newest
    pace: float  # the speed of that step
    paced: float  # the speed of the step before
    start: Vec3  # where the path to the goal begins
    start_rotation: Quat
    begun: float  # when it began
    duration: float  # of that path (s)
    former_start: Vec3  # of the path to the packet before
    former_goal: Vec3
    former_begun: float
    former_duration: float
    ways: list[Vec3]  # to packets, which add up
    ways_begun: list[float]  # when each began
    ways_last: list[float]  # their durations (s)
    ways_gone: list[float]  # the share of each that has been covered
    leaving: Vec3  # the velocity where the path begins
    arriving: Vec3  # the velocity where it ends
    motion: Vec3  # the drawing's own speed
    drifting: Vec3  # the speed along with the packets
    drawing: bool  # there was a frame
    last: float  # the time of the frame before

    def reset(self) -> None:
        """Forget the past."""
        self.started = False
        self.drawing = False
        self.ticking = False
        self.origin = PHASE
        self.taking = False
        self.waiting = 0
        self.walked = 0.0
        self.newest = 0.0
        self.stamp = 0.0
        self.travel = 0.0
        self.pace = 0.0
        self.paced = 0.0
        self.aged = False
        self.interval = INTERVAL
        self.mean = 0.0
        self.differences.clear()
        self.sizes.clear()
        if PLAYOUT_DELAY > 0.0:
            self.releasing = False
            self.held_times.clear()
            self.held.clear()
            if CARRIES:
                self.held_velocities.clear()
            if ROTATIONS:
                self.held_rotations.clear()
        if OVERLAPS:
            self.clear_ways()
        if AVERAGES:
            self.places.clear()
        if TRANSITS:
            self.former_duration = 0.0

    def receive(
        self, time: float, arrival: float, position: Vec3, velocity: Vec3, rotation: Quat
    ) -> bool:
        """Take a packet (finite numbers, times in s); return false if it is late, and dropped."""
        if TIMES == "milliseconds":
            arrival = self.whole(arrival)
        if PLAYOUT_DELAY > 0.0 and not self.releasing:
            if self.started:
                if LATE == "drop":
                    if time < self.queued:
                        return False
                self.queued = max(self.queued, time)
                if time + (self.offset + PLAYOUT_DELAY) > arrival:
                    self.held_times.append(time)
                    self.held.append(position)
                    if CARRIES:
                        self.held_velocities.append(velocity)
                    if ROTATIONS:
                        self.held_rotations.append(rotation)
                    return True
                self.release(arrival)
            else:
                self.queued = time
                self.offset = arrival - time
        if LATE == "drop":
            if self.started and time < self.newest:
                return False
        if ROUNDS_STATES:
            position = self.rounded(position)
        if REPEATED == "drop" or DEAD_BAND > 0.0:
            known: Vec3 = self.latest if AVERAGES else self.received
            moved: float = length(position - known)
            if DEAD_BAND > 0.0:
                if self.started and moved < DEAD_BAND:
                    return False
            elif self.started and moved <= 0.0:
                return False
        if AVERAGES:
            self.latest = position
            position = self.averaged(position)
        if KEEPS:
            self.restore()
        if BEGINS == "packet" and STEPS == "tick" and not OVERLAPS:
            if self.ticking:
                self.run_ticks(arrival)
        if OVERLAPS and self.started:
            if START == "arrival" or BEGINS == "packet":
                self.position = self.position + self.advance_ways(arrival)
        before: Vec3 = position
        begin: Vec3 = position
        turned: Quat = rotation
        if self.started:
            before = self.received
            begin = self.position
            if ROTATIONS:
                turned = self.rotation
            if GLIDES and not OVERLAPS:
                if START == "arrival":
                    begin = self.path(arrival)
                    if HOW == "hermite":
                        self.motion = self.curve_speed(self.fraction(arrival), self.aim(arrival))
                    if ROTATIONS:
                        turned = self.path_rotation(arrival)
            if TRANSITS and self.waiting == 0:
                self.former_start = self.start
                self.former_goal = self.goal
                self.former_begun = self.begun
                self.former_duration = self.duration
            if MEASURES == "usual" and time > self.newest:
                self.typical(time - self.newest)
            if MEASURES == "stamps":
                self.measure(time - self.stamp)
            if MEASURES == "arrivals":
                self.measure(arrival - self.arrived)
            if MEASURES == "steps":
                self.measure(self.last_step(arrival) - self.last_before)
        else:
            self.position = position
            self.motion = Vec3(0.0, 0.0, 0.0)
            if ROTATIONS:
                self.rotation = rotation
        if MEASURES == "steps":
            self.last_before = self.last_step(arrival)
        if HOW == "hermite":
            self.leaving = self.motion
            if LEAVE == "packet":
                if self.started:
                    self.leaving = self.speed
        if VELOCITY == "before":
            last: Vec3 = Vec3(0.0, 0.0, 0.0)
            if self.started:
                last = self.sent
            self.sent = velocity
            velocity = last
        carries: Vec3 = (
            velocity
            if VELOCITY == "sent" or VELOCITY == "before"
            else self.last_velocity(time, arrival, position)
        )
        if VELOCITY_FACTOR != 1.0 and (VELOCITY == "sent" or VELOCITY == "before"):
            carries = carries * VELOCITY_FACTOR
        if VELOCITY_SHARE < 1.0 and self.started:
            carries = self.speed * (1.0 - VELOCITY_SHARE) + carries * VELOCITY_SHARE
        if HOW == "hermite":
            self.arriving = carries
            if not self.started:
                self.arriving = Vec3(0.0, 0.0, 0.0)
        if not self.started:
            self.drifting = carries
        self.start = begin
        if ROTATIONS:
            self.start_rotation = turned
        self.begun = arrival
        if BEGINS == "packet" and STEPS == "tick" and not OVERLAPS:
            self.origin = arrival
            self.stepped = 0.0
            if START == "last":
                self.stepped = -1.0
        if START == "last":
            self.begun = self.last_step(arrival)
        if TAKES:
            self.waiting += 1
        if AHEAD == "velocity" or AHEAD == "arrival" or AHEAD == "step":
            self.age = self.measured_age(arrival, arrival - time)
        self.goal = position
        if AHEAD == "arrival":
            self.goal = position + carries * self.prediction(self.age)
        if AHEAD == "step":
            self.goal = position + (position - before) * self.prediction(self.age)
        if AHEAD == "fixed" and LIMITS_AHEAD:
            self.goal = position + carries * AHEAD_TIME
        if LATE == "drop" or not self.started or time > self.newest:
            self.newest = time
        self.stamp = time
        if PACE != "set" and self.started:
            self.travel = length(position - self.received)
        self.started = True
        self.received = position
        self.received_rotation = rotation
        self.speed = carries
        self.arrived = arrival
        if MEASURES != "frames":
            self.depart()
        if OVERLAPS:
            if AHEAD == "velocity":
                self.goal = self.aim(arrival)
            self.ways.append(self.goal - self.start)
            if FROM_FRAME:
                self.ways_begun.append(1e15)  # the next frame sets it
            else:
                self.ways_begun.append(self.begun)
            self.ways_last.append(self.duration)
            self.ways_gone.append(0.0)
        if BEGINS == "packet" and STEPS == "tick" and not OVERLAPS:
            if self.ticking:
                self.run_ticks(arrival)
            else:
                self.ticking = True
                self.stepped = 0.0
                if BETWEEN == "lerp":
                    self.remember()
        if STEPS == "packet":
            since: float = 0.0
            if self.drawing:
                since = max(arrival - self.last, 0.0)
            self.proceed(arrival, since)
            self.ticking = True
            self.stepped = arrival
        if KEEPS:
            self.keep()
        return True

    def release(self, now: float) -> None:
        """Take the packets that have waited in the jitter buffer for long enough."""
        wait: float = self.offset + PLAYOUT_DELAY
        self.releasing = True
        while len(self.held_times) > 0 and self.held_times[0] + wait <= now:
            time: float = self.held_times[0]
            place: Vec3 = self.held[0]
            velocity: Vec3 = self.held_velocities[0] if CARRIES else place
            rotation: Quat = self.held_rotations[0] if ROTATIONS else Quat(0.0, 0.0, 0.0, 1.0)
            self.held_times.pop(0)
            self.held.pop(0)
            if CARRIES:
                self.held_velocities.pop(0)
            if ROTATIONS:
                self.held_rotations.pop(0)
            self.receive(time, time + wait, place, velocity, rotation)
        self.releasing = False

    def averaged(self, position: Vec3) -> Vec3:
        """Return the mean of the last positions, with this one."""
        if len(self.places) >= MEAN_OF:
            self.places.pop(0)
        self.places.append(position)
        total: Vec3 = Vec3(0.0, 0.0, 0.0)
        count: int = len(self.places)
        while count > 0:
            place: Vec3 = self.places[0]
            self.places.pop(0)
            self.places.append(place)
            total = total + place
            count -= 1
        return total * (1.0 / float(len(self.places)))

    def last_velocity(self, time: float, arrival: float, position: Vec3) -> Vec3:
        """Return the velocity of the last step; before a second packet, zero."""
        if not self.started:
            return Vec3(0.0, 0.0, 0.0)
        elapsed: float = (
            time - self.stamp
            if VELOCITY == "stamps"
            else arrival - self.arrived
            if VELOCITY == "arrivals"
            else self.interval
        )
        if elapsed > 0.0:
            return (position - self.received) * (VELOCITY_FACTOR / elapsed)
        return self.speed

    def restore(self) -> None:
        """Return to the state after the last step."""
        if self.started:
            self.position = self.current
            if ROTATIONS and STEPS == "tick":
                self.rotation = self.current_rotation

    def keep(self) -> None:
        """Store the state after the last step."""
        self.current = self.position
        if ROTATIONS and STEPS == "tick":
            self.current_rotation = self.rotation

    def last_step(self, now: float) -> float:
        """Return the time of the last step; without one, now."""
        if WALKS:
            return now - EVERY
        if STEPS == "tick":
            if self.ticking:
                if BEGINS == "frame":
                    return self.origin
                return self.origin + self.stepped * EVERY
        if STEPS == "packet":
            if self.ticking:
                return self.stepped
        if STEPS == "frame":
            if self.drawing:
                return self.last
        return now

    def depart(self) -> None:
        """Begin the path to the newest packet."""
        if AHEAD == "interval":
            self.goal = self.received + self.speed * self.prediction(self.interval)
        self.duration = self.seconds()
        if HOW == "interval":
            self.distance = length(self.aim(self.arrived) - self.start)
            self.left = self.interval
        if PACE != "set":
            if PACE == "fastest":
                self.paced = self.pace
            self.pace = self.travel / self.interval

    def take(self, now: float, counted: float) -> None:
        """Take the packets since the last step, into one that counts so long (s)."""
        if TRANSITS:
            self.position = self.former_path(now)
            self.start = self.position
        if FROM_FRAME:
            self.begun = now
        elif STEPS == "tick":
            self.begun = min(self.begun, now)
        if COUNTS:
            self.walked = 0.0
            if FROM_FRAME:
                self.walked = -counted
        if MEASURES == "frames":
            if self.taking:
                self.measure(now - self.taken)
            while self.waiting > 1:
                self.measure(0.0)
                self.waiting -= 1
            self.taking = True
            self.taken = now
            self.depart()
            if OVERLAPS:
                if len(self.ways) > 0:
                    self.ways_last.pop()
                    self.ways_last.append(self.duration)
        if OVERLAPS:
            count: int = len(self.ways)
            while count > 0:
                begun: float = min(self.ways_begun[0], now)
                self.ways_begun.pop(0)
                self.ways_begun.append(begun)
                count -= 1
        self.waiting = 0

    def measured_age(self, arrival: float, age: float) -> float:
        """Return the age of a packet: ``age`` by its timestamp, corrected for the clock."""
        if AGE == "arrival":
            return 0.0
        if AGE == "absolute":
            return abs(age - AGE_OFFSET)
        if AGE == "stamp":
            return age - AGE_OFFSET
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
            since: float = max(now - self.begun, 0.0) if AGE == "arrival" else now - self.arrived
            if FADE_AFTER > 0.0:
                since -= self.faded(now - self.arrived - FADE_AFTER)
            return self.received + self.speed * self.prediction(self.age + since)
        return self.goal

    def faded(self, since: float) -> float:
        """Return how much shorter the motion is, by the fading of its speed (s)."""
        if since <= 0.0:
            return 0.0
        if since < FADE:
            return since * since / (2.0 * FADE)
        return since - FADE / 2.0

    def fraction(self, now: float) -> float:
        """Return the fraction of the path's time that has passed."""
        return self.covered(self.lasted(now) / self.duration)

    def covered(self, u: float) -> float:
        """Return the fraction of a path at a multiple of its time."""
        if HOW != "linear":
            return self.eased(min(u, 1.0))
        if LIMITS_PASSING:
            return min(u, OVERSHOOT)
        return u

    def eased(self, u: float) -> float:
        """Return the fraction of a path at a fraction of its time."""
        if HOW == "eased" and u < 1.0:
            if ENDS == "in":
                return self.ease_in(u)
            if ENDS == "out":
                return 1.0 - self.ease_in(1.0 - u)
            if ENDS == "in-out":
                if u < 0.5:
                    return self.ease_in(2.0 * u) / 2.0
                return 1.0 - self.ease_in(2.0 * (1.0 - u)) / 2.0
            if EASE == "smoothstep":
                return u * u * (3.0 - 2.0 * u)
            if EASE == "smootherstep":
                return u * u * u * (u * (6.0 * u - 15.0) + 10.0)
            if EASE == "css-ease":
                return self.bezier(0.25, 0.1, 0.25, 1.0, u)
            if EASE == "css-ease-in":
                return self.bezier(0.42, 0.0, 1.0, 1.0, u)
            if EASE == "css-ease-out":
                return self.bezier(0.0, 0.0, 0.58, 1.0, u)
            if EASE == "css-ease-in-out":
                return self.bezier(0.42, 0.0, 0.58, 1.0, u)
        return u

    def ease_in(self, u: float) -> float:
        """Return the fraction of an ease in (R. Penner's equations)."""
        if FAMILY == "quad":
            return u * u
        if FAMILY == "cubic":
            return u * u * u
        if FAMILY == "quart":
            return u * u * u * u
        if FAMILY == "quint":
            return u * u * u * u * u
        if FAMILY == "sine":
            return 1.0 - cos(1.5707963267948966 * u)
        if FAMILY == "expo":
            if u > 0.0:
                return exp(6.931471805599453 * (u - 1.0))
            return 0.0
        if FAMILY == "circ":
            return 1.0 - sqrt(1.0 - u * u)
        return u * u * ((BACK + 1.0) * u - BACK)

    def lasted(self, now: float) -> float:
        """Return how long the path has lasted (s)."""
        if COUNTS:
            return self.walked
        return max(now - self.begun, 0.0)

    def bezier(self, x1: float, y1: float, x2: float, y2: float, u: float) -> float:
        """Return the fraction that a CSS timing function has covered at u, by bisection."""
        low: float = 0.0
        high: float = 1.0
        t: float = 0.5
        while high - low > 1e-15:
            if t * (3.0 * (1.0 - t) * ((1.0 - t) * x1 + t * x2) + t * t) < u:
                low = t
            else:
                high = t
            t = (low + high) / 2.0
        return t * (3.0 * (1.0 - t) * ((1.0 - t) * y1 + t * y2) + t * t)

    def path(self, now: float) -> Vec3:
        """Return the point of the path at that time."""
        u: float = self.fraction(now)
        goal: Vec3 = self.aim(now)
        if END == "short":
            if self.is_past_end(now):
                return self.position
        if u == 1.0:
            return goal
        if HOW == "hermite":
            if self.duration >= 60.0:
                return self.start
            back: float = 1.0 - u
            along: Vec3 = self.leaving * (back * back * u) - self.arriving * (u * u * back)
            covered: float = u * u * (3.0 - 2.0 * u)
            bent: Vec3 = along * (BEND * self.duration)
            return self.start * (1.0 - covered) + goal * covered + bent
        return self.start * (1.0 - u) + goal * u

    def curve_speed(self, u: float, goal: Vec3) -> Vec3:
        """Return the velocity of the path at a fraction of its time."""
        if self.duration >= 60.0:
            return self.leaving
        leaves: float = 3.0 * u * u - 4.0 * u + 1.0
        arrives: float = 3.0 * u * u - 2.0 * u
        bent: Vec3 = (self.leaving * leaves + self.arriving * arrives) * BEND
        return (goal - self.start) * (6.0 * u * (1.0 - u) / self.duration) + bent

    def former_path(self, now: float) -> Vec3:
        """Return the point of the path to the packet before."""
        if self.former_duration <= 0.0:
            return self.position
        share: float = self.covered(max((now - self.former_begun) / self.former_duration, 0.0))
        return self.former_start * (1.0 - share) + self.former_goal * share

    def path_rotation(self, now: float) -> Quat:
        """Return the rotation of the path at that time."""
        if END == "short":
            if self.is_past_end(now):
                return self.rotation
        return self.slerp(self.start_rotation, self.received_rotation, self.fraction(now))

    def follow_ways(self, now: float) -> None:
        """Move, and turn, by what each of the ways has covered since the last step."""
        self.position = self.position + self.advance_ways(now)
        if ROTATIONS:
            self.rotation = self.slerp(
                self.start_rotation, self.received_rotation, self.fraction(now)
            )

    def advance_ways(self, now: float) -> Vec3:
        """Return the step of all ways; those that have ended are left."""
        step: Vec3 = Vec3(0.0, 0.0, 0.0)
        count: int = len(self.ways)
        while count > 0:
            way: Vec3 = self.ways[0]
            begun: float = self.ways_begun[0]
            lasts: float = self.ways_last[0]
            gone: float = self.ways_gone[0]
            self.ways.pop(0)
            self.ways_begun.pop(0)
            self.ways_last.pop(0)
            self.ways_gone.pop(0)
            since: float = max(now - begun, 0.0)
            if WALKS:
                since = floor(since / EVERY + 1e-9) * EVERY
            share: float = 1.0
            if since < lasts * (1.0 - 1e-9):
                share = self.eased(since / lasts)
            step = step + way * (share - gone)
            if share < 1.0:
                self.ways.append(way)
                self.ways_begun.append(begun)
                self.ways_last.append(lasts)
                self.ways_gone.append(share)
            count -= 1
        return step

    def clear_ways(self) -> None:
        """Forget the ways that add up."""
        self.ways.clear()
        self.ways_begun.clear()
        self.ways_last.clear()
        self.ways_gone.clear()

    def is_past_end(self, now: float) -> bool:
        """Return whether a step is left out, as it would pass the end of the path."""
        return self.lasted(now) > self.duration * (1.0 + 1e-9)

    def speed_now(self) -> float:
        """Return the speed towards the goal."""
        if PACE == "path":
            return self.pace
        if PACE == "fastest":
            return max(self.pace, self.paced)
        return SPEED

    def step_share(self, now: float, elapsed: float, far: float) -> float:
        """Return the share of the remaining way, so ``far`` away, for this time."""
        if HOW == "exponential":
            return 1.0 - exp(-elapsed / self.seconds())
        if HOW == "lerp":
            if LIMITS_PASSING:
                return min(elapsed / self.seconds(), OVERSHOOT)
            return elapsed / self.seconds()
        if HOW == "growing":
            return self.fraction(now)
        if GROWS:
            return self.grown_share(far)
        return SHARE

    def grown_share(self, far: float) -> float:
        """Return the share at a distance (G. Fiedler, "State Synchronization")."""
        if far <= FAR_FROM:
            return SHARE
        if far >= FAR_AT:
            return SHARE_FAR
        return SHARE + (SHARE_FAR - SHARE) * ((far - FAR_FROM) / (FAR_AT - FAR_FROM))

    def go(self, goal: Vec3, share: float) -> None:
        """Go and turn by a share of the remaining way."""
        if share != 1.0:
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
        if not PASSES:
            if dot(goal - self.position, reached - goal) > 0.0:
                reached = goal
                self.motion = Vec3(0.0, 0.0, 0.0)
        self.position = reached

    def push(self, goal: Vec3, elapsed: float) -> None:
        """Advance by a step of a spring with its own stiffness and damping."""
        if INTEGRATION == "exact":
            if DAMPED == "swings":
                fade: float = exp(-DAMPING / 2.0 * elapsed)
                turn: float = RATE * elapsed
                self.swing(goal, fade * cos(turn), fade * sin(turn) / RATE)
            if DAMPED == "creeps":
                slow: float = exp(-(DAMPING / 2.0 - RATE) * elapsed)
                fast: float = exp(-(DAMPING / 2.0 + RATE) * elapsed)
                self.swing(goal, (slow + fast) / 2.0, (slow - fast) / (2.0 * RATE))
            if DAMPED == "critically":
                left: float = exp(-DAMPING / 2.0 * elapsed)
                self.swing(goal, left, left * elapsed)
        else:
            before: Vec3 = self.motion
            pull: Vec3 = (goal - self.position) * STIFFNESS - before * DAMPING
            self.motion = before + pull * elapsed
            if INTEGRATION == "explicit":
                self.position = self.position + before * elapsed
            else:
                self.position = self.position + self.motion * elapsed
        if dot(self.motion, self.motion) < 1e30:
            return
        self.position = goal  # it swings ever farther
        self.motion = Vec3(0.0, 0.0, 0.0)

    def swing(self, goal: Vec3, whole: float, part: float) -> None:
        """Advance by the exact solution of a damped spring."""
        change: Vec3 = self.position - goal
        force: Vec3 = self.motion * (DAMPING / 2.0) + change * STIFFNESS
        self.position = goal + change * whole + (self.motion + change * (DAMPING / 2.0)) * part
        self.motion = self.motion * whole - force * part

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
        if PLAYOUT_DELAY > 0.0:
            if self.started and time < self.queued:
                return
        elif self.started and time < self.newest:
            return
        self.reset()
        self.receive(time, arrival, position, velocity, rotation)

    def draw(self, now: float) -> bool:
        """Move ``position`` to where it is drawn at ``now``.

        Return false before the first packet.
        """
        if TIMES == "milliseconds":
            now = self.whole(now)
        if not self.started:
            return False
        if PLAYOUT_DELAY > 0.0:
            self.release(now)
        if KEEPS:
            self.restore()
        if STEPS == "frame" or (STEPS == "packet" and (DRIFT > 0.0 or HOW != "share")):
            elapsed: float = 0.0
            if self.drawing:
                elapsed = max(now - self.last, 0.0)
            self.drawing = True
            self.last = now
            if STEPS == "frame":
                self.make_steps(now, elapsed)
            elif DRIFT > 0.0:
                self.position = self.position + self.carried(now, elapsed)
        if STEPS == "tick" and WALKS:
            since: float = 0.0
            if self.drawing:
                since = max(now - self.last, 0.0)
            self.drawing = True
            self.last = now
            self.make_steps(now, since)
            self.keep()
        elif STEPS == "tick":
            self.draw_ticks(now)
        elif KEEPS:
            self.keep()
        if ROUNDS_DRAWN:
            self.position = self.rounded(self.position)
        return True

    def draw_ticks(self, now: float) -> None:
        """Step at each tick since the last frame, and draw between the last two, or the last."""
        if BEGINS == "frame":
            if not self.ticking:
                self.origin = now
        if BEGINS != "packet":
            if not self.ticking:
                self.stepped = floor((now - self.origin) / EVERY + 1e-9)
        if BETWEEN == "lerp":
            if not self.ticking:
                self.remember()
        self.ticking = True
        self.run_ticks(now)
        self.keep()
        if BETWEEN == "lerp":
            u: float = min(max((now - self.origin) / EVERY - self.stepped, 0.0), 1.0)
            self.position = self.previous * (1.0 - u) + self.current * u
            if ROTATIONS:
                self.rotation = self.slerp(self.previous_rotation, self.current_rotation, u)

    def remember(self) -> None:
        """Store the state before a tick."""
        self.previous = self.position
        if ROTATIONS:
            self.previous_rotation = self.rotation

    def run_ticks(self, now: float) -> None:
        """Run the ticks that are due."""
        since: float = now - self.origin
        newest: float = floor(since / EVERY + 1e-9)
        if BEGINS == "frame":
            if newest >= 1.0:
                if BETWEEN == "lerp":
                    self.remember()
                self.origin = now
                self.make_steps(now, since)
        else:
            # of a long pause the last 64 ticks
            self.stepped = max(self.stepped, newest - 64.0)
            while self.stepped < newest:
                if BETWEEN == "lerp":
                    self.remember()
                self.stepped += 1.0
                self.make_steps(self.origin + self.stepped * EVERY, EVERY)

    def make_steps(self, now: float, elapsed: float) -> None:
        """Make the steps of a frame or a tick."""
        if REPEATS > 1:
            left: int = REPEATS
            while left > 0:
                self.proceed(now, elapsed)
                left -= 1
        else:
            self.proceed(now, elapsed)

    def proceed(self, now: float, elapsed: float) -> None:
        """Go towards the goal, and along with the packets, as far as this time leads."""
        counted: float = STEP_TIME if STEP_TIME > 0.0 else elapsed
        if LIMITS_STEPS:
            counted = min(counted, STEP_MOST)
        if TAKES and self.waiting > 0:
            self.take(now, counted)
        if COUNTS:
            self.walked += counted
        self.drifting = self.drifting * (1.0 - DRIFT_SHARE) + self.speed * DRIFT_SHARE
        if GLIDES_ON:
            self.glide_on(now, elapsed, counted)
        elif DRIFT > 0.0 and STEPS != "packet":
            if AHEAD == "velocity":
                led: Vec3 = self.carried(now, elapsed)
                self.position = self.position + led
                self.start = self.start + led
            self.pursue(now, counted)
            if AHEAD != "velocity":
                self.position = self.position + self.carried(now, counted)
        else:
            self.pursue(now, counted)

    def glide_on(self, now: float, elapsed: float, counted: float) -> None:
        """Go on the path, and along with the packet where that has ended."""
        over: float = self.lasted(now) - self.duration
        if over > 1e-9 * self.duration:
            span: float = elapsed
            if END == "goal":
                if over < elapsed:
                    self.position = self.goal
                    if ROTATIONS:
                        self.rotation = self.received_rotation
                    span = over
            self.position = self.position + self.carried(now, span)
        else:
            self.pursue(now, counted)

    def carried(self, now: float, elapsed: float) -> Vec3:
        """Return the way along with the newest packet in this time."""
        # with the goal, which moves since the way to it began
        span: float = min(elapsed, max(now - self.begun, 0.0)) if AHEAD == "velocity" else elapsed
        if LIMITS_AHEAD:
            since: float = now - self.arrived
            if AHEAD == "velocity":
                since += self.age
            span = min(max(AHEAD_TIME - since + span, 0.0), span)
        return self.drifting * (DRIFT * span)

    def pursue(self, now: float, elapsed: float) -> None:
        """Go towards the goal."""
        goal: Vec3 = self.aim(now)
        if TRANSITS and AHEAD == "velocity":
            self.goal = goal
        rest: Vec3 = goal - self.position
        if SNAP > 0.0 or SNAP_AFTER > 0.0:
            if self.snaps(rest, now):
                self.position = goal
                self.motion = Vec3(0.0, 0.0, 0.0)
                if OVERLAPS:
                    self.clear_ways()
                if ROTATIONS:
                    self.rotation = self.received_rotation
                return
        if SNAP_NEAR > 0.0 and not ALONE and not GLIDES:
            if dot(rest, rest) < SNAP_NEAR * SNAP_NEAR:
                self.position = goal
                self.motion = Vec3(0.0, 0.0, 0.0)
                self.turn(1.0)
                return
        if DEAD_ZONE > 0.0 and not ALONE and not GLIDES:
            if dot(rest, rest) < DEAD_ZONE * DEAD_ZONE:
                return
        if HOW == "exponential" or HOW == "lerp" or HOW == "share" or HOW == "growing":
            far: float = length(rest)
            share: float = self.step_share(now, elapsed, far)
            if ALONE:
                self.go_by_axes(rest, share, elapsed)
            else:
                self.go(goal, self.limited(share, far, elapsed))
        if HOW == "spring":
            self.spring(self.limited_goal(goal), elapsed)
        if HOW == "force":
            begin: Vec3 = self.position
            self.push(goal, elapsed)
            if LIMITS_SPEED:
                self.brake(begin, elapsed)
        if HOW == "speed" and AXES == "each":
            self.go_by_axes(rest, 1.0, elapsed)
        if HOW == "speed" and AXES == "all":
            self.approach(goal, self.speed_now() * elapsed)
        if HOW == "interval":
            self.approach(goal, self.distance / self.interval * elapsed)
            if elapsed < self.left:
                self.turn(elapsed / self.left)
            else:
                self.turn(1.0)
            self.left -= elapsed
        if OVERLAPS:
            self.follow_ways(now)
        elif GLIDES:
            self.position = self.path(now)
            if HOW == "hermite":
                self.motion = self.curve_speed(self.fraction(now), goal)
            if ROTATIONS:
                self.rotation = self.path_rotation(now)

    def limited_goal(self, goal: Vec3) -> Vec3:
        """Return the goal, as far as the largest speed of a spring leads."""
        if LIMITS_SPEED:
            rest: Vec3 = goal - self.position
            far: float = length(rest)
            most: float = SPEED_MOST * self.seconds()
            if far > most:
                return self.position + rest * (most / far)
        return goal

    def brake(self, begin: Vec3, elapsed: float) -> None:
        """Limit the speed of a spring, and its step."""
        pace: float = length(self.motion)
        if pace > SPEED_MOST:
            self.motion = self.motion * (SPEED_MOST / pace)
            self.position = begin + self.motion * elapsed

    def go_by_axes(self, rest: Vec3, share: float, elapsed: float) -> None:
        """Go by a step of each axis, and turn by the same share of the remaining way."""
        moved: Vec3 = Vec3(
            self.step_axis(rest.x, share, elapsed),
            self.step_axis(rest.y, share, elapsed),
            self.step_axis(rest.z, share, elapsed),
        )
        self.position = self.position + moved
        if ROTATIONS:
            square: float = dot(rest, rest)
            if square > 0.0:
                self.turn(dot(moved, rest) / square)
            else:
                self.turn(1.0)

    def step_axis(self, rest: float, share: float, elapsed: float) -> float:
        """Return the step of an axis."""
        if SNAP_NEAR > 0.0:
            if abs(rest) < SNAP_NEAR:
                return rest
        if DEAD_ZONE > 0.0:
            if abs(rest) < DEAD_ZONE:
                return 0.0
        if HOW == "speed":
            most: float = self.speed_now() * elapsed
            return min(max(rest, -most), most)
        return rest * self.limited(share, abs(rest), elapsed)

    def limited(self, share: float, far: float, elapsed: float) -> float:
        """Return a share of a way of that length, limited to the least and the largest speed."""
        if SPEED_LEAST > 0.0:
            if share * far < SPEED_LEAST * elapsed:
                if SPEED_LEAST * elapsed < far:
                    return SPEED_LEAST * elapsed / far
                return 1.0
        if LIMITS_SPEED:
            if share * far > SPEED_MOST * elapsed:
                return min(SPEED_MOST * elapsed / far, 1.0)
        return share

    def snaps(self, rest: Vec3, now: float) -> bool:
        """Return true where it jumps to the goal."""
        if SNAP > 0.0 and AXES == "each":
            widest: float = max(abs(rest.x), abs(rest.y))
            if max(widest, abs(rest.z)) > SNAP:
                return True
        if SNAP > 0.0 and AXES == "all":
            if dot(rest, rest) > SNAP * SNAP:
                return True
        if SNAP_AFTER > 0.0:
            return now - self.arrived > SNAP_AFTER
        return False
