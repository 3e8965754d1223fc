"""A buffer of states: the entity is drawn in the past, between two states that were received.

drawn time = now - offset of the clocks - delay
drawn      = before + (after - before) * (drawn time - before.time) / (after.time - before.time)
"""

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

from epic_cli.engine.strategies import get_declaration
from epic_cli.jobs.code.sources.words import (
    Clock,
    Quat,
    Rounding,
    SendInterval,
    Turning,
    Vec3,
    dot,
    exp,
    floor,
    sqrt,
)  # fmt: skip

LICENSE = "0BSD: use it as you like, without any warranty."
SINGLE = False

#: What rotations are written with.
TURNS = {
    "curve": ("linear", "catmull-rom"),
    "beyond_along": ("slope",),
    "follow": ("exponential", "lerp", "share", "speed"),
}

#: What counters are called where it only matters whether there was one.
FLAGS = {
    "count": ("begun", "a packet was taken"),
    "clocked": ("synchronized", "the clock has begun"),
}

STAMPS: str
CLOCK: str
USES_CLOCK: bool
COUNTS_CLOCK: bool  # how many packets it has taken
CLOCK_TIME: float
CLOCK_SESSION: bool
CLOCK_ENDLESS: bool  # offsets of any age count
MOST_OFFSETS: int  # how many offsets count; 0: any number
CLOCK_SHARE: float
CLOCK_COUNT: int
CLOCK_MARGIN: float
CLOCK_RESYNC: float
CLOCK_GAIN: float
CLOCK_DECAY: float
CLOCK_LIMIT: float
START: str
DRAWS_LAST: bool  # frames are drawn at the time of the one before
DELAY: float
DELAY_IN_INTERVALS: bool
DELAY_LEAST: float
DELAY_LEAST_IN_INTERVALS: bool
DELAY_MOST: float
DELAY_MOST_IN_INTERVALS: bool
FIXED_DELAY: bool
JITTER_MARGIN: float
JITTER_TIME: float
JITTER: str
JITTER_SHARE: float
JITTER_COUNT: int
MOST_LATES: int  # how many packets the jitter is of, at most
SCATTERS: bool  # the jitter is an exponential standard deviation
DELAY_RISE: float
DELAY_FALL: float
EASES_DELAY: bool
DELAY_FROM: str
INTERVAL: float  # s, the first guess where it is measured
INTERVAL_TIME: float
MEASURES_INTERVAL: bool
LAST_INTERVAL: str  # what its last one is taken from; empty: not the last one alone
CURVE: str
CURVE_TIME: float
BETWEEN: str
BEYOND: str
BEYOND_TIME: float  # s, how long it goes on past the newest state
BEYOND_INTERVALS: float  # send intervals, how long it goes on past the newest state
BEYOND_IN_INTERVALS: bool
BEYOND_SHARE: float
BEYOND_LERP: float
COPIES: bool  # a state that comes to an empty buffer is gone to from a copy
COPY_BEFORE: float
COPY_IN_INTERVALS: bool
BEYOND_ALONG: str
BEYOND_THEN: str
CATCH_UP: str
IS_QUEUE: bool
CATCH_UP_RATE: float
CATCH_UP_MOST: float
CATCH_UP_LIMIT: float
CATCH_UP_NEAR: float
CATCH_UP_FROM: int
COUNT_AT: str
WAYPOINT_REACH: float
HURRIES: bool  # while many states wait
STILL: str
PACE: float
WAITS: bool
WHEN_EMPTY: str
OWN_TIME: bool  # the drawn time goes on with frames
RESETS: bool  # a packet that is far from the drawn time sets it
PHASE: float
STEPS: str
RESTARTS: bool  # each tick is counted from the frame of the last one
READY: bool  # and falls in each frame until there is a new state
STARVES: bool  # it matters whether there is a new state
OWN_TICKS: bool
EVERY: float
MONOTONIC: bool
FILLS: bool
MIN_BUFFER: int
MAX_BUFFER: int
RESERVE: int
RESERVE_TIME: float
MAY_WAIT: bool  # the drawn time may wait for states
PLAYS_LAST: bool  # it goes on by the frame before
LATE: str
SORTS: bool  # the times of states may be in any order
EQUAL: str
BEFORE: str
BEGIN: int
KEEP: int
FORGET: float
FORGET_KEEPS: int
LOW_PASS: float
FOLLOW: str
FOLLOW_SHARE: float
FOLLOW_SPEED: float
SMOOTHS: bool
DEAD_ZONE: float
ROUNDING: float
ROUNDING_BY: str
ROUNDS_STATES: bool  # received positions, and not what is drawn
ROUNDS_DRAWN: bool
SNAP: float
TIMES: str
ROTATIONS: bool


def constants(settings: Mapping[str, Any]) -> dict[str, object]:
    """Return the constants that are no settings, of settings as they are used."""
    spans = {name: settings[name] for name in ("delay", "delay_least", "delay_most")}
    interval, beyond = settings["interval"], settings["beyond"]
    counted = ("queue", "timer", "timed-queue")
    timed = settings["stamps"] == "ticks" or settings["catch_up"] in counted
    word = get_declaration("buffer").write_value("beyond", beyond)
    kind = word if word.isalpha() else "time"
    queues = settings["catch_up"] in ("queue", "dequeue", "waypoints", "none", "fill")
    rate = settings["catch_up_rate"]
    least, most = settings["min_buffer"], settings["max_buffer"]
    fills = queues and least > 1
    extends = kind == "time" and beyond < 0
    uneven = settings["jitter_margin"] > 0 and settings["jitter"] == "stamps"
    copies = settings["copy_before"]
    counts = timed or fills or extends or uneven or min(*spans.values(), copies) < 0
    session = math.isinf(settings["clock_time"]) and not settings["clock_count"]
    return {
        "USES_CLOCK": settings["stamps"] != "arrival" and settings["clock"] != "agree",
        "COUNTS_CLOCK": settings["clock_resync"] > 0
        or settings["clock"] in ("first", "pll")
        or (settings["clock"] == "mean" and not settings["clock_count"])
        or session,
        "CLOCK_SESSION": session,
        "CLOCK_ENDLESS": session or settings["clock_count"] > 0,
        "MOST_OFFSETS": settings["clock_count"] or (1024 if settings["clock"] == "median" else 0),
        "DELAY": abs(spans["delay"]),
        "DELAY_IN_INTERVALS": spans["delay"] < 0,
        "DELAY_LEAST": abs(spans["delay_least"]),
        "DELAY_LEAST_IN_INTERVALS": spans["delay_least"] < 0,
        "DELAY_MOST": abs(spans["delay_most"]),
        "DELAY_MOST_IN_INTERVALS": spans["delay_most"] < 0,
        "CATCH_UP_RATE": min(rate, 1.0)
        if settings["catch_up"] in ("rate", "share", "slow")
        else rate,
        "OWN_TIME": settings["catch_up"] in ("none", "rate", "share", "lerp", "slow"),
        "HURRIES": settings["catch_up"] == "waypoints" and rate > 0,
        "RESETS": settings["catch_up"] == "none" and settings["catch_up_limit"] > 0,
        "FIXED_DELAY": not settings["jitter_margin"]
        and min(spans.values()) >= 0
        and spans["delay_least"] <= spans["delay"] <= spans["delay_most"],
        "INTERVAL": interval if interval > 0 else 0.05,
        "MEASURES_INTERVAL": counts and math.isnan(interval),
        "LAST_INTERVAL": {-1: "arrivals", -3: "stamps"}.get(interval, "") if counts else "",
        "INTERVAL_LATE": 0.0,
        "LIMITS_INTERVAL": not math.isinf(settings["interval_most"]),
        "ROUNDS_STATES": settings["rounding"] > 0 and settings["rounding_of"] == "states",
        "ROUNDS_DRAWN": settings["rounding"] > 0 and settings["rounding_of"] == "drawn",
        "SCATTERS": settings["jitter"] in ("lateness", "arrivals") and not settings["jitter_count"],
        "MOST_LATES": settings["jitter_count"] or 1024,
        "EASES_DELAY": min(settings["delay_rise"], settings["delay_fall"]) < 1,
        "SMOOTHS": settings["low_pass"] > 0 or settings["follow"] in ("share", "speed"),
        "BEYOND": kind,
        "BEYOND_TIME": beyond if kind == "time" else 0.0,
        "BEYOND_INTERVALS": -beyond if extends else 0.0,
        "BEYOND_IN_INTERVALS": extends,
        "COPIES": copies != 0 and settings["catch_up"] == "snap",
        "COPY_BEFORE": abs(copies),
        "COPY_IN_INTERVALS": copies < 0,
        "STEPS": {0: "frame", -1: "packet"}.get(settings["every"], "tick"),
        "OWN_TICKS": settings["every"] > 0
        and settings["tick_time"] == "own"
        and settings["phase"] >= 0,
        "PHASE": max(settings["phase"], 0.0),
        "RESTARTS": settings["phase"] < 0,
        "READY": settings["phase"] == -2 and settings["every"] > 0,
        "STARVES": kind == "repeat" or (settings["phase"] == -2 and settings["every"] > 0),
        "IS_QUEUE": settings["catch_up"] in ("queue", "dequeue", "timed-queue", "waypoints"),
        "FILLS": fills,
        "SORTS": settings["late"] == "sort" and settings["stamps"] != "sender",
        "WAITS": settings["catch_up"] == "slow"
        or (settings["when_empty"] == "wait" and settings["catch_up"] in ("none", "rate")),
        "MAX_BUFFER": max(most, least)
        if most and (queues or settings["catch_up"] == "timed-queue")
        else 0,
        "MAY_WAIT": settings["catch_up"] == "none"
        and (
            fills
            or settings["reserve"] > 0
            or settings["reserve_time"] > 0
            or (settings["when_empty"] == "stop" and not math.isinf(beyond))
        ),
        "PLAYS_LAST": settings["draw_time"] == "last" and settings["catch_up"] == "none",
        "DRAWS_LAST": settings["draw_time"] == "last"
        and settings["catch_up"] == "snap"
        and settings["every"] == 0,
    }


def needs_one_clock(settings: Mapping[str, Any]) -> bool:
    """Return True if ``now`` and ``time`` have to be on one clock: no offset is estimated."""
    by_stamp = settings["stamps"] == "sender" and settings["clock"] == "agree"
    clockless = ("queue", "dequeue", "timer", "timed-queue", "fill", "waypoints", "clamp", "slow")
    by_clock = settings["catch_up"] not in clockless and settings["delay_from"] == "clock"
    return by_stamp and by_clock


class State(NamedTuple):
    """A received state, on the time axis of the buffer."""

    time: float  # s
    position: Vec3
    velocity: Vec3
    rotation: Quat
    stamp: float  # by which states are in order, s


class Smoothing(Clock, SendInterval, Turning, Rounding):
    """An entity, drawn from a buffer of its states."""

    position: Vec3  # what is drawn
    drawn: bool  # something has been drawn
    states: list[State]  # in order of time
    count: int  # packets taken
    newest: float  # the newest timestamp
    arrived: float  # when the packet before arrived
    stamp: float  # when its state was true
    offset: float  # local time minus the sender's
    clocked: int  # packets that the clock has taken
    sum: float  # of the loop's errors
    arrivals: list[float]  # of the packets that the clock is estimated from
    offsets: list[float]  # as each of them measured it
    ordered: list[float]  # the same by size
    intervals: int  # how many there were
    jitter_mean: float
    jitter_variance: float
    usual_interval: float  # between arrivals
    unevenness: float  # how far intervals are from it, or another measure of the jitter
    lates: list[float]  # how late the last packets were, or the times between them
    late_times: list[float]  # when they arrived
    lateness: float  # of the newest packet
    compares: bool  # there was one
    wait: float  # the present delay, s
    lasted: float  # the present frame, s
    paced: float  # the last one in which the drawn time went on, s
    strays: bool  # the newest packet was too far from the drawn time
    running: bool  # there was a frame
    last: float  # the time of the frame before
    time: float  # the drawn time of the frame before
    raw: Vec3  # drawn, before the low-pass
    raw_rotation: Quat
    forgotten: bool  # the newest state is too old to go on from
    renewed: bool  # the newest state has begun the way to the next one
    filling: bool  # the queue was empty, and waits for states
    idle: float  # frames without a packet while it does, s
    first: int  # the state that the queue goes from
    fraction: float  # of the way to the next
    ticks: float  # the number of the last one
    due: float  # ticks since the last one that was drawn
    there: bool  # what is drawn is at the waypoint
    hurries: bool  # many states wait
    starved: bool  # there was no new state to go to
    stepped: Vec3  # the way of the last frame with a new state
    beat: float  # of the timer, when the queue took a state last
    leaving: bool  # the queue has left its first state
    filtering: bool  # the low-pass has begun
    motion: Vec3  # the low-pass's own speed
    exact: Vec3  # drawn, before it was rounded

    def reset(self) -> None:
        """Forget the past."""
        self.states.clear()
        self.arrivals.clear()
        self.offsets.clear()
        self.ordered.clear()
        self.differences.clear()
        self.sizes.clear()
        self.count = 0
        self.clocked = 0
        self.intervals = 0
        self.interval = INTERVAL
        self.usual_interval = 0.0
        self.mean = 0.0
        self.unevenness = 0.0
        self.lates.clear()
        self.late_times.clear()
        self.compares = False
        self.wait = 0.0
        self.paced = 0.0
        self.strays = False
        self.running = False
        self.there = False
        self.hurries = False
        self.starved = False
        self.stepped = Vec3(0.0, 0.0, 0.0)
        self.filling = True
        self.idle = 0.0
        self.filtering = False
        self.forgotten = False
        self.renewed = False
        self.drawn = False

    def receive(
        self, time: float, arrival: float, position: Vec3, velocity: Vec3, rotation: Quat
    ) -> bool:
        """Take a packet (finite numbers, times in s); return false if it is late, and dropped."""
        if TIMES == "milliseconds":
            arrival = self.whole(arrival)
        if LATE == "drop":
            if self.count > 0 and time <= self.newest:
                return False
        elif SORTS:
            if len(self.states) >= KEEP and time < self.states[0].stamp:
                return False
        elif STAMPS == "sender":
            for i in range(len(self.states)):
                if self.states[i].time == time:
                    return False
            if len(self.states) >= KEEP and time < self.states[0].time:
                return False
        if START == "last":
            if self.running:
                arrival = self.last
        if ROUNDS_STATES:
            position = self.rounded(position)
        if MEASURES_INTERVAL:
            if self.count > 0 and (LATE == "drop" or time > self.newest):
                if INTERVAL_TIME > 0.0:
                    self.average(time - self.newest)
                else:
                    self.typical(time - self.newest)
        if LAST_INTERVAL == "stamps":
            if self.count > 0:
                self.measure(time - self.newest)
        if LAST_INTERVAL == "arrivals":
            if self.count > 0:
                self.measure(arrival - self.arrived)
        if STAMPS == "sender":
            self.stamp = time
        if STAMPS == "arrival":
            self.stamp = arrival
        if STAMPS == "ticks":
            if self.count > 0:
                self.stamp += self.interval
            else:
                self.stamp = 0.0
        if USES_CLOCK:
            self.synchronize(arrival)
        if JITTER_MARGIN > 0.0:
            if JITTER == "intervals":
                if self.count > 0:
                    self.compare(arrival - self.arrived)
            elif JITTER == "stamps":
                if self.count > 0 and time > self.newest:
                    off: float = abs(time - self.newest - self.interval)
                    self.unevenness += (off - self.unevenness) * JITTER_SHARE
            elif STAMPS != "arrival" and JITTER != "arrivals" and JITTER != "longest":
                self.add_lateness(arrival - self.stamp, arrival)
            elif self.count > 0:
                self.add_lateness(arrival - self.arrived, arrival)
        if FORGET > 0.0 and FORGET_KEEPS == 1:
            if self.forgotten:
                self.states.clear()
                self.forgotten = False
                self.renewed = False
                if IS_QUEUE:
                    self.first = 0
        if EQUAL == "last":
            if len(self.states) > 0:
                self.drop_equal()
        elif BEYOND == "reuse":
            if self.renewed and len(self.states) > 0:
                self.drop_equal()
        if BEYOND == "reuse":
            self.renewed = False
        if FILLS:
            self.idle = 0.0
        if MAX_BUFFER > 0:
            self.shorten()
        if EASES_DELAY:
            wanted: float = self.wanted_delay()
            if self.count > 0:
                if wanted < self.wait:
                    wanted = self.wait + (wanted - self.wait) * DELAY_FALL
                else:
                    wanted = self.wait + (wanted - self.wait) * DELAY_RISE
            self.wait = wanted
        if COPIES:
            if len(self.states) > 0:
                self.copy_newest(arrival)
        if LATE == "sort" or (LATE == "insert" and STAMPS == "sender"):
            self.sort_in(State(self.stamp, position, velocity, rotation, time))
        else:
            self.states.append(State(self.stamp, position, velocity, rotation, time))
        if RESETS:
            off_by: float = abs(self.states[len(self.states) - 1].time - self.time)
            self.strays = off_by > CATCH_UP_LIMIT
        if CATCH_UP == "slow" and not MONOTONIC:
            if self.running:
                newest: float = self.states[len(self.states) - 1].time
                self.time = min(self.time, newest - self.present_delay())
        if len(self.states) > KEEP:
            self.states.pop(0)
            if IS_QUEUE:
                self.first = max(self.first - 1, 0)
        if LATE == "drop" or self.count == 0 or time > self.newest:
            self.newest = time
        self.arrived = arrival
        self.count += 1
        return True

    def copy_newest(self, arrival: float) -> None:
        """Begin the way to the state of this packet later, if the buffer is empty."""
        newest: State = self.states[len(self.states) - 1]
        shown: float = arrival - CLOCK_MARGIN if CLOCK_MARGIN > 0.0 else arrival
        if USES_CLOCK:
            shown -= self.offset
        begun: float = self.stamp - (
            COPY_BEFORE * self.interval if COPY_IN_INTERVALS else COPY_BEFORE
        )
        if shown - self.present_delay() >= newest.time and begun > newest.time:
            self.states.append(
                State(begun, newest.position, newest.velocity, newest.rotation, newest.stamp)
            )
            if len(self.states) > KEEP:
                self.states.pop(0)

    def sort_in(self, state: State) -> None:
        """Insert a state in its order."""
        i: int = len(self.states)
        if LATE == "sort":
            while i > 0 and self.states[i - 1].stamp > state.stamp:
                i -= 1
        else:
            while i > 0 and self.states[i - 1].time > state.time:
                i -= 1
        if IS_QUEUE:
            if i <= self.first and self.first < len(self.states) and self.running:
                self.first += 1
        self.states.insert(i, state)

    def passed(self) -> int:
        """Return the place of the state that the queue goes from."""
        if not self.running:
            return 0
        if IS_QUEUE:
            return self.first
        i: int = len(self.states) - 1
        while i > 0 and self.states[i].time > self.time + 1e-9:
            i -= 1
        return i

    def shorten(self) -> None:
        """Drop the oldest waiting states of a full queue; the way begins where the last began."""
        begin: int = self.passed()
        if len(self.states) - begin > MAX_BUFFER:
            start: State = self.states[begin]
            while len(self.states) - 1 > MIN_BUFFER:
                self.time = self.states[0].time
                self.states.pop(0)
            self.time = self.states[0].time
            self.states.pop(0)
            self.states.insert(
                0, State(self.time, start.position, start.velocity, start.rotation, start.stamp)
            )
            if IS_QUEUE:
                self.first = 0
                self.fraction = 0.0

    def fills_up(self, elapsed: float) -> bool:
        """Return whether a queue that was empty has too few states to go on."""
        if self.filling:
            self.idle += elapsed
            waiting: int = len(self.states) - self.passed() - 1
            if CATCH_UP == "fill":
                self.filling = waiting < MIN_BUFFER
            else:
                self.filling = waiting < MIN_BUFFER and (
                    waiting == 0 or self.idle < 2.0 * self.interval * (1.0 - 1e-9)
                )
        return self.filling

    def reach(self) -> float:
        """Return how long it goes on past the newest state (s)."""
        return BEYOND_INTERVALS * self.interval if BEYOND_IN_INTERVALS else BEYOND_TIME

    def latest_time(self) -> float:
        """Return the latest time that may be drawn (s)."""
        newest: float = self.states[len(self.states) - 1].time
        return newest + self.reach() if BEYOND == "time" else newest

    def average(self, difference: float) -> None:
        """Update the exponential mean of the time between two packets."""
        self.intervals += 1
        share: float = 1.0
        if self.intervals > 1:
            share = 1.0 - exp(-difference / INTERVAL_TIME)
        self.interval += (difference - self.interval) * share

    def synchronize(self, arrival: float) -> None:
        """Estimate the offset of the clocks."""
        measured: float = arrival - self.stamp
        if CLOCK_RESYNC > 0.0:
            if self.clocked > 0 and abs(measured - self.offset) > CLOCK_RESYNC + 1e-9:
                # too far off: it begins again
                self.clocked = 0
                self.arrivals.clear()
                self.offsets.clear()
                self.ordered.clear()
                if STAMPS == "ticks":
                    self.states.clear()
                    self.stamp = 0.0
                    measured = arrival
        if COUNTS_CLOCK:
            if self.clocked == 0:
                self.offset = measured
                self.sum = 0.0
            self.clocked += 1
        if CLOCK == "newest":
            self.offset = measured
        if CLOCK == "mean" and CLOCK_COUNT > 0:
            self.remember(arrival, measured)
            self.offset = 0.0
            for i in range(len(self.offsets)):
                self.offset += self.offsets[i]
            self.offset = self.offset / float(len(self.offsets))
        elif CLOCK == "mean":
            if CLOCK_SHARE > 0.0:
                self.offset += (measured - self.offset) * CLOCK_SHARE
            elif CLOCK_SESSION:
                self.offset += (measured - self.offset) * (1.0 / float(self.clocked))
            elif self.clocked > 1:
                share: float = 1.0 - exp(-(arrival - self.arrived) / CLOCK_TIME)
                self.offset += (measured - self.offset) * share
        if CLOCK == "pll":
            self.sum = self.sum * CLOCK_DECAY + (self.offset - measured)
            self.offset -= min(max(self.sum * CLOCK_GAIN, -CLOCK_LIMIT), CLOCK_LIMIT)
        if CLOCK == "min" and CLOCK_SESSION:
            self.offset = min(self.offset, measured)
        elif CLOCK == "max" and CLOCK_SESSION:
            self.offset = max(self.offset, measured)
        elif CLOCK == "min" or CLOCK == "max" or CLOCK == "median":
            self.remember(arrival, measured)
            if CLOCK == "median":
                self.offset = self.ordered[len(self.ordered) // 2]
            else:
                self.offset = measured
                for i in range(len(self.offsets)):
                    if CLOCK == "min":
                        self.offset = min(self.offset, self.offsets[i])
                    else:
                        self.offset = max(self.offset, self.offsets[i])

    def remember(self, arrival: float, measured: float) -> None:
        """Keep the last offsets."""
        self.arrivals.append(arrival)
        self.offsets.append(measured)
        if CLOCK == "median":
            i: int = len(self.ordered)
            while i > 0 and self.ordered[i - 1] > measured:
                i -= 1
            self.ordered.insert(i, measured)
        while (MOST_OFFSETS > 0 and len(self.offsets) > MOST_OFFSETS) or (
            not CLOCK_ENDLESS and self.arrivals[0] < arrival - CLOCK_TIME
        ):
            if CLOCK == "median":
                self.ordered.remove(self.offsets[0])
            self.arrivals.pop(0)
            self.offsets.pop(0)

    def compare(self, interval: float) -> None:
        """Measure the jitter by how far the times between arrivals are from their mean."""
        if interval > 0.0:
            if self.usual_interval <= 0.0:
                self.usual_interval = interval
            self.usual_interval += (interval - self.usual_interval) * JITTER_SHARE
            off: float = abs(interval - self.usual_interval)
            self.unevenness += (off - self.unevenness) * JITTER_SHARE

    def add_lateness(self, late: float, arrival: float) -> None:
        """Measure the jitter by how late a packet is, or by the time between the last two."""
        if JITTER == "changes":
            if self.compares:
                change: float = abs(late - self.lateness)
                self.unevenness += (change - self.unevenness) * JITTER_SHARE
            self.lateness = late
            self.compares = True
        elif SCATTERS:
            self.scatter(late, arrival)
        else:
            self.lates.append(late)
            self.late_times.append(arrival)
            while len(self.lates) > MOST_LATES or (
                JITTER_COUNT == 0 and self.late_times[0] < arrival - JITTER_TIME
            ):
                self.lates.pop(0)
                self.late_times.pop(0)
            if JITTER == "longest":
                self.unevenness = self.longest()
            elif JITTER == "spread":
                self.unevenness = self.spread()
            else:
                self.unevenness = self.deviation()

    def spread(self) -> float:
        """Return the difference between the largest and the least of the last values."""
        least: float = self.lates[0]
        most: float = self.lates[0]
        for i in range(len(self.lates)):
            least = min(least, self.lates[i])
            most = max(most, self.lates[i])
        return most - least

    def longest(self) -> float:
        """Return the largest of the last values."""
        most: float = 0.0
        for i in range(len(self.lates)):
            most = max(most, self.lates[i])
        return most

    def deviation(self) -> float:
        """Return the standard deviation of the last values."""
        mean: float = 0.0
        for i in range(len(self.lates)):
            mean += self.lates[i]
        mean = mean / float(len(self.lates))
        total: float = 0.0
        for i in range(len(self.lates)):
            total += (self.lates[i] - mean) * (self.lates[i] - mean)
        return sqrt(total / float(len(self.lates)))

    def scatter(self, value: float, arrival: float) -> None:
        """Measure the jitter as an exponential standard deviation."""
        weight: float = 1.0
        if STAMPS != "arrival" and JITTER != "arrivals":
            if self.count > 0:
                weight = 1.0 - exp(-(arrival - self.arrived) / JITTER_TIME)
        elif self.count > 1:
            weight = 1.0 - exp(-(arrival - self.arrived) / JITTER_TIME)
        change: float = value - self.jitter_mean
        self.jitter_mean += change * weight
        self.jitter_variance = (1.0 - weight) * (self.jitter_variance + weight * change * change)

    def wanted_delay(self) -> float:
        """Return how far in the past to draw (s)."""
        wanted: float = DELAY * self.interval if DELAY_IN_INTERVALS else DELAY
        if JITTER_MARGIN > 0.0:
            if SCATTERS:
                wanted = wanted + JITTER_MARGIN * sqrt(self.jitter_variance)
            else:
                wanted = wanted + JITTER_MARGIN * self.unevenness
        if not FIXED_DELAY:
            if DELAY_LEAST > 0.0:
                wanted = max(
                    wanted,
                    DELAY_LEAST * self.interval if DELAY_LEAST_IN_INTERVALS else DELAY_LEAST,
                )
            wanted = min(
                wanted, DELAY_MOST * self.interval if DELAY_MOST_IN_INTERVALS else DELAY_MOST
            )
        return wanted

    def present_delay(self) -> float:
        """Return how far in the past it is drawn (s)."""
        return self.wait if EASES_DELAY else self.wanted_delay()

    def teleport(
        self, time: float, arrival: float, position: Vec3, velocity: Vec3, rotation: Quat
    ) -> None:
        """Take a packet of an entity that was moved on purpose."""
        if self.count == 0 or time >= self.newest:
            self.reset()
            self.receive(time, arrival, position, velocity, rotation)
            if ROUNDS_STATES:
                position = self.rounded(position)
            self.show(position, rotation)
            self.position = position
            if ROUNDS_DRAWN:
                self.exact = position
            if ROTATIONS:
                self.rotation = rotation

    def show(self, position: Vec3, rotation: Quat) -> None:
        """Draw a position."""
        if SMOOTHS:
            self.raw = position
            if ROTATIONS:
                self.raw_rotation = rotation
        else:
            self.position = position
            if ROTATIONS:
                self.rotation = rotation
        self.drawn = True

    def draw(self, now: float) -> bool:
        """Move ``position`` to where it is drawn at ``now``.

        Return false before the first packet.
        """
        if TIMES == "milliseconds":
            now = self.whole(now)
        if BEGIN > 1:
            if self.count < BEGIN:
                return self.drawn
        elif self.count == 0:
            return False
        if STEPS == "tick":
            # only in a frame since which a tick fell
            if RESTARTS:
                if self.running:
                    if now - self.last < EVERY * (1.0 - 1e-9):
                        return True
            else:
                ticks: float = floor((now - PHASE) / EVERY + 1e-9)
                if self.running:
                    if ticks <= self.ticks:
                        return True
                    if CATCH_UP == "dequeue":
                        self.due = ticks - self.ticks
                self.ticks = ticks
        if ROUNDS_DRAWN:
            if self.running:
                self.position = self.exact
        behind: float = self.offset + CLOCK_MARGIN if CLOCK_MARGIN > 0.0 else self.offset
        moment: float = (
            self.arrived if STEPS == "packet" else PHASE + self.ticks * EVERY if OWN_TICKS else now
        )
        if DRAWS_LAST:
            if self.running:
                moment = self.last
        sent: float = (
            moment - behind
            if USES_CLOCK
            else moment - CLOCK_MARGIN
            if CLOCK_MARGIN > 0.0
            else moment
        )
        elapsed: float = self.frame_time(now if DRAWS_LAST else moment)
        if BEYOND_LERP > 0.0 and BEYOND == "chase":
            self.lasted = self.frame_time(now)
        if STARVES:
            self.starved = False
            if IS_QUEUE and CATCH_UP != "waypoints":
                self.starved = self.running and self.first + 1 + RESERVE >= len(self.states)
        if CATCH_UP == "timed-queue":
            self.advance_by_timer(moment)
        elif IS_QUEUE:
            self.advance(elapsed)
        wanted: float = self.time_to_draw(moment, sent)
        if OWN_TIME:
            if RESETS:
                if self.running and not self.strays:
                    wanted = self.play(wanted, elapsed)
                self.strays = False
            elif self.running:
                wanted = self.play(wanted, elapsed)
            if (WAITS or FILLS) and BEYOND != "unlimited":
                latest: float = self.latest_time()
                if FILLS:
                    if wanted >= latest - 1e-9:
                        self.filling = True
                if WAITS:  # where the buffer is empty
                    wanted = min(wanted, latest)
        if CATCH_UP == "clamp":
            if self.running:
                wanted = self.time + elapsed
            wanted = max(wanted, self.states[0].time)
            if BEYOND != "unlimited":
                wanted = min(wanted, self.latest_time())
        if MONOTONIC:
            if self.running:
                wanted = max(wanted, self.time)
        self.time = wanted
        if BEYOND == "repeat":
            self.place_and_compare(wanted)
        else:
            self.place(wanted)
        if BEYOND == "reuse":
            if wanted > self.states[len(self.states) - 1].time:
                self.renew(sent + elapsed)
        if FORGET > 0.0:
            if self.drawn:
                self.drop_until(sent - FORGET)
        if SMOOTHS and self.drawn:
            self.filter(self.frame_time(moment if OWN_TICKS else now))
        if ROUNDS_DRAWN:
            self.exact = self.position
            self.position = self.rounded(self.exact)
        self.running = self.drawn
        if not READY or not self.starved:
            self.last = moment if OWN_TICKS else now
        return self.drawn

    def time_to_draw(self, now: float, sent: float) -> float:
        """Return the time to draw, on the axis of the states (s)."""
        if IS_QUEUE:
            return self.queue_time()
        if CATCH_UP == "fill":
            return self.fill_time(now)
        if CATCH_UP == "timer":
            ticks: float = (now - PHASE) / self.interval
            newest: float = self.states[len(self.states) - 1].time - self.present_delay()
            return newest + (ticks - floor(ticks + 1e-9)) * self.interval
        if DELAY_FROM == "newest" or CATCH_UP == "slow":
            return self.states[len(self.states) - 1].time - self.present_delay()
        return sent - self.present_delay()

    def renew(self, time: float) -> None:
        """Begin the way to the next state at this time."""
        newest: State = self.states[len(self.states) - 1]
        self.states.clear()
        self.states.append(newest)
        self.states.append(
            State(time, newest.position, newest.velocity, newest.rotation, newest.stamp)
        )
        self.renewed = True
        if IS_QUEUE:
            self.first = 0

    def drop_equal(self) -> None:
        """Drop the newest state if the next one is not newer."""
        if self.stamp <= self.states[len(self.states) - 1].time + 1e-9:
            self.states.pop()
            if IS_QUEUE:
                self.first = max(min(self.first, len(self.states) - 1), 0)

    def drop_until(self, time: float) -> None:
        """Drop the states before a time; the newest is held until the next one comes."""
        while len(self.states) > FORGET_KEEPS and self.states[0].time < time:
            self.states.pop(0)
            if IS_QUEUE:
                self.first = max(self.first - 1, 0)
        if FORGET_KEEPS == 1:
            self.forgotten = self.states[0].time < time

    def frame_time(self, now: float) -> float:
        """Return the time since the last frame (s); 0 for the first."""
        if not self.running:
            return 0.0
        return max(now - self.last, 0.0)

    def advance(self, elapsed: float) -> None:
        """Play the queue for the time of a frame."""
        if not self.running:
            self.fraction = 0.0
            self.first = 0
            if CATCH_UP == "waypoints":
                self.there = True
        elif CATCH_UP == "waypoints" and SMOOTHS and not self.there:
            self.fraction = 0.0
        elif FILLS and self.fills_up(elapsed):
            self.fraction = 0.0
        elif self.first + 1 + RESERVE < len(self.states):
            if CATCH_UP == "queue":
                self.fraction += elapsed * (1.0 / self.interval)
            if CATCH_UP == "dequeue" or CATCH_UP == "waypoints" or self.fraction >= 1.0:
                # what is left of the frame is lost
                self.fraction = 0.0
                self.first += 1
                if CATCH_UP == "waypoints":
                    self.there = False
                if CATCH_UP == "dequeue" and STEPS == "tick" and not RESTARTS:
                    while self.due > 1.0 and self.first + 1 + RESERVE < len(self.states):
                        self.first += 1
                        self.due -= 1.0
        if CATCH_UP == "waypoints" and COUNT_AT == "begin" and HURRIES:
            self.hurries = len(self.states) - self.first > CATCH_UP_FROM
        if FILLS:
            if self.first + 1 == len(self.states):
                self.filling = self.there if CATCH_UP == "waypoints" else True

    def advance_by_timer(self, now: float) -> None:
        """Go to the next state of the queue where the timer begins again."""
        length: float = self.interval
        if STEPS == "tick":
            whole: float = max(floor(length / EVERY + 0.5), 1.0) * EVERY
            if abs(whole - length) < 0.01 * length:
                length = whole
        beats: float = (now - PHASE) / length
        # a beat that falls on a tick begins behind it
        newest: float = floor(beats - 1e-9) if STEPS == "tick" else floor(beats + 1e-9)
        if not self.running:
            self.first = 0
            self.leaving = False
            self.beat = newest
        if newest > self.beat:
            self.beat = newest
            if self.leaving:
                if self.first + 2 + RESERVE < len(self.states):
                    self.first += 1
            elif 1 + RESERVE < len(self.states):
                self.leaving = True
        self.fraction = 0.0
        if self.leaving:
            self.fraction = max(beats - newest, 0.0)

    def fill_time(self, now: float) -> float:
        """Return the time to draw, which goes on by the states that wait."""
        if not self.running:
            return self.states[len(self.states) - 1].time
        left: float = max(now - self.last, 0.0)
        if FILLS:
            if self.fills_up(left):
                return self.time
        time: float = self.time_after(left)
        if FILLS:
            if time >= self.states[len(self.states) - 1].time - 1e-9:
                self.filling = True
        return time

    def time_after(self, elapsed: float) -> float:
        """Return the time to draw after a frame, by the states that wait."""
        last: int = len(self.states) - 1
        time: float = self.time
        left: float = elapsed
        i: int = 0
        while i <= last and self.states[i].time <= time:
            i += 1
        more: int = -CATCH_UP_FROM  # of the waiting states, those that make it faster
        for j in range(len(self.states)):
            if j >= i and (STILL == "play" or self.moves(j)):
                more += 1
        while i <= last and left > 0.0:
            if STILL == "play" or self.moves(i):
                speed: float = PACE * (1.0 + CATCH_UP_RATE * max(float(more), 0.0))
                way: float = self.states[i].time - time
                if left * speed < way:
                    return time + left * speed
                left -= way / speed
                more -= 1
            time = self.states[i].time
            i += 1
        return time

    def moves(self, i: int) -> bool:
        """Return whether there is movement on the way to a state."""
        way: Vec3 = self.states[i].position - self.states[max(i - 1, 0)].position
        return i == 0 or dot(way, way) > 0.0

    def queue_time(self) -> float:
        """Return the time between the first state of the queue and the next."""
        start: float = self.states[self.first].time
        if self.first + 1 < len(self.states):
            share: float = min(self.fraction, 1.0 - 1e-9)  # not rounded to the next one's time
            return start + share * (self.states[self.first + 1].time - start)
        return start

    def play(self, wanted: float, elapsed: float) -> float:
        """Return the drawn time, which advances on its own."""
        if CATCH_UP == "slow":
            slower: float = 0.0
            if self.states[len(self.states) - 1].time - self.time < self.present_delay():
                slower = CATCH_UP_RATE
            return max(self.time + elapsed * (1.0 - slower), self.states[0].time)
        if MAY_WAIT:
            if self.lacks_states(elapsed):
                return self.time
        time: float = self.time + (self.paced if PLAYS_LAST else elapsed)
        if PLAYS_LAST:
            self.paced = elapsed
        if CATCH_UP != "none":
            off: float = wanted - time
            if CATCH_UP_NEAR > 0.0:
                if abs(off) < CATCH_UP_NEAR:
                    off = 0.0
            if CATCH_UP_LIMIT > 0.0 and abs(off) > CATCH_UP_LIMIT:
                time = wanted
            elif CATCH_UP == "share" or CATCH_UP == "lerp":
                off = off * (
                    CATCH_UP_RATE if CATCH_UP == "share" else min(CATCH_UP_RATE * elapsed, 1.0)
                )
                if CATCH_UP_MOST > 0.0:
                    fastest: float = CATCH_UP_MOST * elapsed
                    off = min(max(off, -fastest), fastest)
                time += off
            else:
                most: float = CATCH_UP_RATE * elapsed
                time += min(max(off, -most), most)
        return time

    def lacks_states(self, elapsed: float) -> bool:
        """Return whether the drawn time waits for states."""
        if FILLS:
            if self.fills_up(elapsed):
                return True
        if WHEN_EMPTY == "stop" and BEYOND != "unlimited":
            if self.time >= self.latest_time():
                return True
        if RESERVE > 0:
            if len(self.states) - self.passed() - 1 <= RESERVE:
                return True
        if RESERVE_TIME > 0.0:
            begun: float = self.time + self.paced if PLAYS_LAST else self.time
            i: int = len(self.states) - 1
            while i > 0 and self.states[i].time > begun:
                i -= 1
            reach: float = self.states[len(self.states) - 1].time - self.states[i].time
            if reach < RESERVE_TIME - 1e-9:
                return True
        return False

    def filter(self, elapsed: float) -> None:
        """Follow the buffer."""
        rest: Vec3 = self.raw - self.position
        if self.filtering and (SNAP <= 0.0 or dot(rest, rest) <= SNAP * SNAP):
            if CATCH_UP != "waypoints" or not self.there:
                if DEAD_ZONE <= 0.0 or dot(rest, rest) >= DEAD_ZONE * DEAD_ZONE:
                    self.approach(rest, elapsed)
        else:
            self.position = self.raw
            self.motion = Vec3(0.0, 0.0, 0.0)
            if ROTATIONS:
                self.rotation = self.raw_rotation
        self.filtering = True
        if CATCH_UP == "waypoints":
            self.look_for_waypoint()

    def look_for_waypoint(self) -> None:
        """Note whether what is drawn is near its waypoint, and whether many others wait then."""
        if not self.there:
            rest: Vec3 = self.raw - self.position
            self.there = dot(rest, rest) <= WAYPOINT_REACH * WAYPOINT_REACH
            if COUNT_AT == "end" and HURRIES:
                waiting: int = len(self.states) - self.first
                if self.there:
                    waiting -= 1
                self.hurries = waiting > CATCH_UP_FROM

    def hurry(self) -> float:
        """Return how fast the next waypoint is gone to."""
        if self.hurries:
            return 1.0 + CATCH_UP_RATE
        return 1.0

    def approach(self, rest: Vec3, elapsed: float) -> None:
        """Go some of the way to the buffer."""
        if FOLLOW == "exponential":
            if HURRIES:
                elapsed = elapsed * self.hurry()
            self.go(rest, 1.0 - exp(-elapsed / LOW_PASS))
        if FOLLOW == "lerp":
            if HURRIES:
                elapsed = elapsed * self.hurry()
            self.go(rest, min(elapsed / LOW_PASS, 1.0))
        if FOLLOW == "share":
            self.go(rest, min(FOLLOW_SHARE * self.hurry(), 1.0) if HURRIES else FOLLOW_SHARE)
        if FOLLOW == "speed":
            if HURRIES:
                elapsed = elapsed * self.hurry()
            far: float = sqrt(dot(rest, rest))
            most: float = FOLLOW_SPEED * elapsed
            if far <= most:
                self.go(rest, 1.0)
            else:
                self.go(rest, most / far)
        if FOLLOW == "spring":
            # Unity's SmoothDamp, a critically damped spring (Gems 4, 1.10)
            frequency: float = (
                2.0 / max(LOW_PASS / self.hurry(), 0.0001)
                if HURRIES
                else 2.0 / max(LOW_PASS, 0.0001)
            )
            x: float = frequency * elapsed
            decay: float = 1.0 / (1.0 + x + 0.48 * x * x + 0.235 * x * x * x)
            step: Vec3 = (self.motion - rest * frequency) * elapsed
            self.motion = (self.motion - step * frequency) * decay
            reached: Vec3 = self.raw + (step - rest) * decay
            if dot(rest, reached - self.raw) > 0.0:
                reached = self.raw
                self.motion = Vec3(0.0, 0.0, 0.0)
            self.position = reached

    def go(self, rest: Vec3, share: float) -> None:
        """Go a share of the way to the buffer."""
        self.position = self.position + rest * share
        if ROTATIONS:
            self.rotation = self.slerp(self.rotation, self.raw_rotation, share)

    def find_unsorted(self, time: float) -> int:
        """Return the place of the last state before the first one that came later."""
        count: int = 0
        while count < len(self.states) and self.states[count].time <= time:
            count += 1
        return count - 1

    def place(self, time: float) -> None:
        """Draw the buffer's state at a time."""
        last: int = len(self.states) - 1
        i: int = self.first if IS_QUEUE else self.find_unsorted(time) if SORTS else last
        if not IS_QUEUE and not SORTS:
            while i >= 0 and self.states[i].time > time:
                i -= 1
        if not IS_QUEUE and i < 0:
            # before the oldest
            if BEFORE == "hold":
                self.show(self.states[0].position, self.states[0].rotation)
            if BEFORE == "newest":
                self.show(self.states[last].position, self.states[last].rotation)
        elif RESERVE > 0 and CATCH_UP == "snap" and i < last and i + 1 + RESERVE > last:
            # what was drawn stays until more states wait
            return
        elif i < last:
            if BETWEEN == "hold" or CATCH_UP == "dequeue" or CATCH_UP == "waypoints":
                self.show(self.states[i].position, self.states[i].rotation)
            elif IS_QUEUE and self.states[i + 1].time <= self.states[i].time:
                self.show(self.states[i].position, self.states[i].rotation)
            else:
                self.interpolate(i, time)
        else:
            self.ahead(time - self.states[last].time)

    def interpolate(self, i: int, time: float) -> None:
        """Draw between a state and the next."""
        a: State = self.states[i]
        b: State = self.states[i + 1]
        u: float = (time - a.time) / (b.time - a.time)
        if SNAP > 0.0:
            way: Vec3 = b.position - a.position
            if dot(way, way) > SNAP * SNAP:
                self.show(a.position, a.rotation)
                return
        if CURVE == "linear":
            drawn: Vec3 = a.position * (1.0 - u) + b.position * u
            self.show(drawn, self.slerp(a.rotation, b.rotation, u))
        else:
            self.show(self.on_curve(i, u), self.slerp(a.rotation, b.rotation, u))

    def on_curve(self, i: int, u: float) -> Vec3:
        """Return a point of the cubic from a state to the next."""
        a: State = self.states[i]
        b: State = self.states[i + 1]
        start: Vec3 = a.velocity if CURVE == "hermite" else self.tangent(i, i)
        goal: Vec3 = b.velocity if CURVE == "hermite" else self.tangent(i + 1, i)
        duration: float = b.time - a.time
        v: float = u * u
        w: float = v * u
        ends: Vec3 = a.position * (2.0 * w - 3.0 * v + 1.0) + b.position * (3.0 * v - 2.0 * w)
        speeds: Vec3 = start * (w - 2.0 * v + u) + goal * (w - v)
        return ends + speeds * (CURVE_TIME if CURVE_TIME > 0.0 else duration)

    def tangent(self, k: int, i: int) -> Vec3:
        """Return the slope between the neighbors of state k; without both, the pair's at i."""
        a: int = k - 1
        b: int = k + 1
        if a < 0 or b >= len(self.states):
            a = i
            b = i + 1
        duration: float = self.states[b].time - self.states[a].time
        return (self.states[b].position - self.states[a].position) * (1.0 / duration)

    def chase(self, newest: State) -> None:
        """Go a share of the way from what is drawn to the newest state."""
        last: Vec3 = self.raw if SMOOTHS else self.position
        rest: Vec3 = newest.position - last
        if not self.drawn or (SNAP > 0.0 and dot(rest, rest) > SNAP * SNAP):
            self.show(newest.position, newest.rotation)
        else:
            share: float = (
                min(self.lasted / BEYOND_LERP, 1.0) if BEYOND_LERP > 0.0 else BEYOND_SHARE
            )
            turned: Quat = self.slerp(
                self.raw_rotation if SMOOTHS else self.rotation, newest.rotation, share
            )
            self.show(last * (1.0 - share) + newest.position * share, turned)

    def repeat_step(self, newest: State) -> None:
        """Go on from what is drawn by the way of the last frame with a new state."""
        if self.drawn:
            last: Vec3 = self.raw if SMOOTHS else self.position
            self.show(last + self.stepped, self.raw_rotation if SMOOTHS else self.rotation)
        else:
            self.show(newest.position, newest.rotation)

    def place_and_compare(self, time: float) -> None:
        """Draw the buffer's state at a time, and note how far that is from the last frame's."""
        began: bool = self.drawn
        last: Vec3 = self.raw if SMOOTHS else self.position
        self.place(time)
        if began and not self.starved:
            self.stepped = (self.raw if SMOOTHS else self.position) - last

    def ahead(self, late: float) -> None:
        """Draw the state this long after the newest one."""
        newest: State = self.states[len(self.states) - 1]
        if BEYOND == "hold" or BEYOND == "reuse":
            self.show(newest.position, newest.rotation)
        if BEYOND == "oldest":
            if late > 0.0:
                self.show(self.states[0].position, self.states[0].rotation)
            else:
                self.show(newest.position, newest.rotation)
        if BEYOND == "chase":
            self.chase(newest)
        if BEYOND == "repeat":
            if not IS_QUEUE:
                self.starved = late > 0.0
            if self.starved:
                self.repeat_step(newest)
            else:
                self.show(newest.position, newest.rotation)
        if BEYOND == "time":
            if BEYOND_THEN == "return":
                if late > self.reach():
                    late = 0.0
            else:
                late = min(late, self.reach())
        if BEYOND == "time" or BEYOND == "unlimited":
            if BEYOND_ALONG == "velocity":
                self.show(newest.position + newest.velocity * late, newest.rotation)
            else:
                # on the line of the last two; what stands does not turn on
                before: State = self.states[max(len(self.states) - 2, 0)]
                way: Vec3 = newest.position - before.position
                duration: float = newest.time - before.time
                if (
                    duration > 0.0
                    and (SNAP <= 0.0 or dot(way, way) <= SNAP * SNAP)
                    and (not ROTATIONS or dot(way, way) > 0.0)
                ):
                    rotation: Quat = self.slerp(
                        before.rotation, newest.rotation, 1.0 + late / duration
                    )
                    self.show(newest.position + way * (1.0 / duration) * late, rotation)
                else:
                    self.show(newest.position, newest.rotation)
