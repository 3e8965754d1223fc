"""Synchronization of a client's clock with the server's.

A client's loop runs on a ``SteeredClock``, which a ``ClockSync`` speeds up, slows down or holds.
Remote players are drawn at the ``Timekeeper``'s estimate of the server's time.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Collection
from typing import ClassVar, NamedTuple

from epic_cli.play.world import MOST_MOVES, convert_to_seconds, convert_to_us


class Exchange(NamedTuple):
    """The four time stamps (s) of a move that went to the server and came back as an echo.

    ``sent`` and ``returned`` are on the machine's own clock, ``received`` and ``answered`` on the
    server's. Source: RFC 5905, section 8.
    """

    sent: float
    received: float
    answered: float
    returned: float

    @property
    def round_trip(self) -> float:
        """The round trip (s) over the link, without the time that the server held the move."""
        return (self.returned - self.sent) - (self.answered - self.received)

    @property
    def offset(self) -> float:
        """The server's clock minus the machine's (s), if both directions took equally long."""
        return ((self.received - self.sent) + (self.answered - self.returned)) / 2


class Steering(NamedTuple):
    """A correction of a clock from this frame on.

    ``speed`` is relative to the machine's own clock. ``frames`` is the number of extra frames to
    make at once; if negative, the number of frames to wait while time stands still. ``jump``
    (seconds, forward or back) sets the estimate of the server's clock: whatever was drawn by the
    old estimate no longer counts.
    """

    speed: float = 1.0
    frames: int = 0
    jump: float = 0.0


class ClockSync(ABC):
    """A method that keeps a client's time in step with the server's; all times are in seconds.

    ``needs_server``: the client has no time until the server's first packet arrives.
    """

    needs_server: ClassVar[bool] = True

    def measure(self, exchange: Exchange) -> None:
        """Take the timestamps of a move's round trip; a state without a new echo has none."""
        del exchange

    def hear(self, server_time: float, now: float) -> None:
        """Take the server's stamp of a new state, received at the machine's time ``now``."""
        del server_time, now

    @abstractmethod
    def steer(self, now: float, time: float) -> Steering | None:
        """Return the clock's correction in a frame at the machine's time ``now``.

        ``time`` is the client's estimate of the server's time. None: nothing is known of the
        server's clock yet.
        """


class FreeRunning(ClockSync):
    """A clock without synchronization: the server's stamps are compared with the machine's clock.

    Right where both clocks agree, as in *Multiplayer Game Programming*, whose program runs on one
    machine. A clock that is behind draws the others late, as far back as their states are kept; one
    that is ahead has no newer state to interpolate to, and draws the others in jumps.
    """

    needs_server: ClassVar[bool] = False

    def __init__(self, step: float) -> None:
        del step

    def steer(self, now: float, time: float) -> Steering:
        """Return a correction that changes nothing."""
        del now, time
        return Steering()


class SteeredClock:
    """A clock that shows the machine's time until its speed is changed, and never goes back."""

    def __init__(self) -> None:
        self.speed = 1.0
        self._machine_us: int | None = None  # when this speed began
        self._time_us = 0

    def read(self, machine_us: int) -> int:
        """Return the time of this clock when the machine's clock shows ``machine_us``."""
        if self._machine_us is None:
            return machine_us
        return self._time_us + round(max(machine_us - self._machine_us, 0) * self.speed)

    def convert_to_machine_time(self, time_us: int) -> int:
        """Return the machine's time when this clock shows ``time_us``.

        A time that was skipped, or that lies before the last change, gives the time of that change.
        """
        if self._machine_us is None:
            return time_us
        return self._machine_us + round(max(time_us - self._time_us, 0) / self.speed)

    def steer(self, machine_us: int, speed: float, ahead_us: int = 0) -> None:
        """Run at another speed from now on, after a jump forward by ``ahead_us``.

        If that is negative, the clock stands still for as long first.
        """
        self._time_us = self.read(machine_us) + max(ahead_us, 0)
        self._machine_us = machine_us + max(-ahead_us, 0)
        self.speed = speed


class Timekeeper:
    """A client's clock and its estimate of the server's time, steered by a ``ClockSync``.

    The client's own time (``clock``) never goes back, and stamps its moves. The server's time is
    that plus a shift, which changes only where the synchronization jumps. Exchanges are measured on
    the machine's clock, which nothing steers.
    """

    def __init__(self, sync: ClockSync, step_us: int) -> None:
        self.clock = SteeredClock()
        self._sync = sync
        self._step_us = step_us
        self._shift_us: int | None = None if sync.needs_server else 0
        self._sent: deque[tuple[int, int]] = deque(maxlen=MOST_MOVES)  # stamp, machine's time

    def change_sync(self, sync: ClockSync) -> None:
        """Use another synchronization, from the current time on."""
        self._sync = sync
        if self._shift_us is None and not sync.needs_server:
            self._shift_us = 0

    def estimate_server_us(self, time_us: int) -> int | None:
        """Return the estimate of the server's time at a time of the client's own clock.

        None if it is unknown.
        """
        return None if self._shift_us is None else time_us + self._shift_us

    def begin_frame(self, now_us: int) -> Steering:
        """Correct the clock at the beginning of a frame, at this time of the client's own clock."""
        machine_us = self.clock.convert_to_machine_time(now_us)
        self._sent.append((now_us, machine_us))
        time_us = now_us + (self._shift_us or 0)
        steering = self._sync.steer(convert_to_seconds(machine_us), convert_to_seconds(time_us))
        if steering is None:
            return Steering()
        self._shift_us = (self._shift_us or 0) + convert_to_us(steering.jump)
        if steering.frames or steering.speed != self.clock.speed:
            self.clock.steer(machine_us, steering.speed, steering.frames * self._step_us)
        return steering

    def hear(self, server_us: int, machine_us: int) -> None:
        """Tell the synchronization the time of a received state that is newer than all before."""
        self._sync.hear(convert_to_seconds(server_us), convert_to_seconds(machine_us))

    def measure(self, stamp_us: int, held_us: int, server_us: int, machine_us: int) -> float:
        """Take a move's echo in a state of the time ``server_us``.

        Return the round trip (s).
        """
        while self._sent and self._sent[0][0] < stamp_us:
            self._sent.popleft()
        known = bool(self._sent) and self._sent[0][0] == stamp_us
        sent_us = self._sent[0][1] if known else stamp_us
        times = (sent_us, server_us - held_us, server_us, machine_us)
        self._sync.measure(Exchange(*map(convert_to_seconds, times)))
        return convert_to_seconds(machine_us - sent_us - held_us)


#: Seconds between two samples, and the number of samples averaged.
SYNC_INTERVAL = 0.25
SYNC_SAMPLES = 8

#: A nudge is the offset divided by this.
ADJUST_STEPS = 8

#: Seconds; a reference clock with a larger offset is set again.
PANIC_THRESHOLD = 2.0

#: The largest speed of the simulation clock; the smallest is its inverse.
MAX_STRETCH = 1.25

#: Seconds; a smaller difference of the two clocks is ignored.
IGNORED_DIFFERENCE = 0.001


class Netfox(ClockSync):
    """Two clocks: samples nudge a reference, which the simulation's clock follows, never backwards.

    The first answer sets both to the server's stamp in it, which is one way old. From then on, four
    times a second, the reference clock takes an eighth of the offset averaged over the last eight
    samples, or all of it beyond 2 s. Every frame the simulation clock's speed follows from its
    difference to the reference clock.

    Source: netfox (https://github.com/foxssake/netfox, MIT), network-time-synchronizer.gd and
    network-time.gd. It has two quirks, kept here: the average favors the slow samples, and at no
    difference the simulation clock runs 2.5 % fast, so that it settles a ninth of a tick ahead.
    """

    def __init__(self, step: float) -> None:
        self._step = step
        self._reference: float | None = None  # ahead of the machine's clock
        self._samples: deque[tuple[float, float]] = deque(maxlen=SYNC_SAMPLES)
        self._asked = -math.inf
        self._is_set = False

    def measure(self, exchange: Exchange) -> None:
        """Take a sample of the clocks' offset if one is due."""
        if exchange.sent < self._asked + SYNC_INTERVAL:
            return
        self._asked = exchange.sent
        if self._reference is None:
            self._reference = exchange.answered - exchange.returned
            return
        self._samples.append((exchange.offset - self._reference, exchange.round_trip))
        offset = compute_average_offset(self._samples)
        if abs(offset) > PANIC_THRESHOLD:
            self._reference += offset
            self._samples.clear()
        else:
            self._reference += offset / ADJUST_STEPS

    def steer(self, now: float, time: float) -> Steering | None:
        """Return a speed that reduces the difference to the reference clock."""
        if self._reference is None:
            return None
        difference = now + self._reference - time
        if not self._is_set:
            self._is_set = True
            return Steering(jump=difference)
        counted = math.copysign(max(abs(difference) - IGNORED_DIFFERENCE, 0.0), difference)
        return Steering(stretch(counted, self._step))


def compute_average_offset(samples: Collection[tuple[float, float]]) -> float:
    """Return the mean offset (s), each sample weighted by the logarithm of 1 + its round trip."""
    weights = [math.log(1 + round_trip) for _, round_trip in samples]
    total = sum(weights)
    if math.isclose(total, 0.0, abs_tol=1e-5):
        return sum(offset for offset, _ in samples) / len(samples)
    return (
        sum(offset * weight for (offset, _), weight in zip(samples, weights, strict=True)) / total
    )


def stretch(difference: float, tick: float) -> float:
    """Return the speed for a reference clock that is ahead by this difference; both in seconds.

    share = (difference + tick) / (2 tick), 0 to 1
    speed = 1 / 1.25 + (1.25 - 1 / 1.25) share
    """
    share = min(max((difference + tick) / (2 * tick), 0.0), 1.0)
    slowest = 1 / MAX_STRETCH
    return slowest + (MAX_STRETCH - slowest) * share


#: The weight of a sample in the round trip, and in its mean deviation.
ROUND_TRIP_WEIGHT = 1 / 12
DEVIATION_WEIGHT = 1 / 6

#: Round trips measured before the server's time is trusted.
HANDSHAKE_PINGS = 3

#: In ticks: the error that is tolerated, and the one beyond which the clock is set.
ERROR_MARGIN = 1.0
LARGEST_ERROR_MARGIN = 10.0

#: Consecutive errors in the same direction before the speed changes.
CONSECUTIVE_ERRORS = 3

SPEEDUP = 0.05

#: The weights of a state in the estimate at these jitters (seconds) and beyond.
ESTIMATE_WEIGHTS = (0.10, 0.02)
JITTERS = (0.001, 0.010)

#: The share of a change of speed that stays after a state without an error.
SPEED_LEFT = 0.9


class RoundTripEstimator:
    """The smoothed round trip and its jitter, which is half the mean deviation; in seconds.

        deviation += (|sample - round_trip| - deviation) / 6
        round_trip += (sample - round_trip) / 12

    From the third sample on, an outlier is limited. Source: RFC 6298 with other weights;
    lightyear_sync/src/ping/estimator.rs.
    """

    def __init__(self) -> None:
        self.round_trip = 0.0
        self.count = 0
        self._deviation = 0.0

    @property
    def jitter(self) -> float:
        """The jitter of the round trip (s): half its mean deviation."""
        return self._deviation / 2

    def add(self, sample: float) -> None:
        """Add a measured round trip (s); a negative one is ignored."""
        if sample < 0:
            return
        self.count += 1
        if self.count == 1:
            self.round_trip, self._deviation = sample, sample / 2
            return
        if self.count > 2:
            usual = self.round_trip + 3 * self._deviation
            farthest = min(usual, 3 * self.round_trip, self.round_trip + 0.5)
            sample = min(sample, max(farthest, 1.2 * self.round_trip))
        error = abs(sample - self.round_trip)
        self._deviation += (error - self._deviation) * DEVIATION_WEIGHT
        self.round_trip += (sample - self.round_trip) * ROUND_TRIP_WEIGHT


class LightyearClock(ClockSync):
    """A clock that follows an estimate of the server's time, by changes of speed and by jumps.

    Each state gives the server's time of half a round trip ago. The estimate is an average of that,
    which moves more slowly where there is jitter. After three errors in a row of more than a tick
    in the same direction, the speed changes in proportion, by 10 % at most; beyond ten ticks the
    clock is set.

    Source: lightyear (https://github.com/cBournhonesque/lightyear, MIT or Apache-2.0),
    lightyear_sync/src/timeline/remote.rs, sync.rs and input.rs. Its input timeline runs half a
    round trip and a margin ahead of this, so that an input for a tick is there in time; this server
    applies moves when they arrive, and gains nothing by that.
    """

    def __init__(self, step: float) -> None:
        self._step = step
        self._estimator = RoundTripEstimator()
        self._estimate: float | None = None  # ahead of the machine's clock
        self._heard = False
        self._is_set = False
        self._speed = 1.0
        self._was_ahead = True
        self._consecutive = 0

    def measure(self, exchange: Exchange) -> None:
        """Add a round trip to the average."""
        self._estimator.add(exchange.round_trip)

    def hear(self, server_time: float, now: float) -> None:
        """Update the estimate of the server's time: its stamp plus half a round trip."""
        if self._estimator.count < HANDSHAKE_PINGS:
            return
        self._heard = True
        estimate = server_time + self._estimator.round_trip / 2 - now
        if self._estimate is None:
            self._estimate = estimate
            return
        low, high = JITTERS
        share = min(max((self._estimator.jitter - low) / (high - low), 0.0), 1.0)
        most, least = ESTIMATE_WEIGHTS
        self._estimate += (estimate - self._estimate) * (most + (least - most) * share)

    def steer(self, now: float, time: float) -> Steering | None:
        """Correct the clock once after each state; between states the speed stays."""
        if self._estimate is None:
            return None
        if not self._heard:
            return Steering(self._speed)
        self._heard = False
        error = time - (now + self._estimate)
        if not self._is_set or abs(error) > LARGEST_ERROR_MARGIN * self._step:
            self._is_set, self._consecutive = True, 0
            return Steering(self._speed, jump=-error)
        self._adjust_speed(error / self._step)
        return Steering(self._speed)

    def _adjust_speed(self, error: float) -> None:
        turned = (error > 0) != self._was_ahead
        self._was_ahead = error > 0
        self._consecutive = self._consecutive + 1 if abs(error) > ERROR_MARGIN else 0
        if self._consecutive >= CONSECUTIVE_ERRORS and not turned:
            self._speed = choose_speed(error)
        else:
            self._speed = 1 + (self._speed - 1) * SPEED_LEFT


def choose_speed(error: float) -> float:
    """Return the speed that removes an error (in ticks; positive: the clock is ahead).

    1 + 0.05 * 2 min(|error| / 10, 1), or its inverse for a clock that is ahead
    """
    faster = 1 + SPEEDUP * 2 * min(abs(error) / LARGEST_ERROR_MARGIN, 1.0)
    return 1 / faster if error > 0 else faster


def compute_interpolation_delay(send_interval: float, jitter: float, tick: float) -> float:
    """Return the delay behind the newest state at which the others are drawn; all in seconds.

        max(1.7 send_interval, 5 ms) + 4 jitter + 1 tick

    Source: lightyear_sync/src/timeline/interpolation.rs.
    """
    return max(1.7 * send_interval, 0.005) + 4 * jitter + tick


#: Frames over which the advantages are averaged.
FRAME_WINDOW = 40

#: The bounds of a wait, in frames; a shorter one is skipped, a longer one cut.
SMALLEST_WAIT = 3
LONGEST_WAIT = 9

#: Frames between two waits.
RECOMMENDATION_INTERVAL = 240

#: Round trips before the first frame.
HANDSHAKE_ROUND_TRIPS = 5


class FrameAdvantages:
    """The numbers of frames that each side saw itself behind the other, over the last frames.

    Source: GGPO (https://github.com/pond3r/ggpo, MIT), src/lib/ggpo/timesync.cpp.
    """

    def __init__(self) -> None:
        self._local = [0] * FRAME_WINDOW
        self._remote = [0] * FRAME_WINDOW

    def add(self, frame: int, local: int, remote: int) -> None:
        """Store the frame advantages that both sides measured in a frame."""
        self._local[frame % FRAME_WINDOW] = local
        self._remote[frame % FRAME_WINDOW] = remote

    def compute_local_wait(self, *, idle: bool = True) -> int:
        """Return the frames that this side should wait; 0 unless its player's input is idle."""
        return _compute_wait(sum(self._local), sum(self._remote)) if idle else 0

    def compute_remote_wait(self) -> int:
        """Return the frames that the other side will decide to wait."""
        return _compute_wait(sum(self._remote), sum(self._local))


def _compute_wait(local: int, remote: int) -> int:
    """Return half the difference of the means, so that the two sides share the correction."""
    if local >= remote:
        return 0
    frames = int((remote - local) / FRAME_WINDOW / 2 + 0.5)
    return 0 if frames < SMALLEST_WAIT else min(frames, LONGEST_WAIT)


class Ggpo(ClockSync):
    """Synchronization by frame numbers, with a correction at most every 240 frames.

    A side's advantage is the number of frames that it is behind: the other's newest frame, plus the
    frames of a round trip, minus its own frame. A client that is ahead waits. The server of a match
    never waits: where it would have to, the client makes those frames at once instead, which brings
    the two to the same place.

    GGPO sends the advantage in a report of its own; here the server's advantage follows from the
    echo of the newest move, which says the same. Source: GGPO, udp_proto.cpp and backends/p2p.cpp.
    """

    def __init__(self, step: float) -> None:
        self._step = step
        self._advantages = FrameAdvantages()
        self._exchange: Exchange | None = None  # the newest
        self._exchanges = 0
        self._is_set = False
        self._next_wait = 0

    def measure(self, exchange: Exchange) -> None:
        """Count a round trip for the handshake, and keep it as the newest."""
        self._exchange = exchange
        self._exchanges += 1

    def steer(self, now: float, time: float) -> Steering | None:
        """Compare the two sides' frame numbers; return a wait if one is due."""
        exchange = self._exchange
        if exchange is None or self._exchanges < HANDSHAKE_ROUND_TRIPS:
            return None
        if not self._is_set:
            self._is_set = True
            self._next_wait = self._compute_frame_number(now + exchange.offset)
            return Steering(jump=now + exchange.offset - time)
        frame, ahead = self._compute_frame_number(time), time - now
        passing = self._compute_frame_number(exchange.round_trip)
        local = (
            self._compute_frame_number(exchange.answered)
            + passing
            - self._compute_frame_number(exchange.returned + ahead)
        )
        remote = (
            self._compute_frame_number(exchange.sent + ahead)
            + passing
            - self._compute_frame_number(exchange.received)
        )
        self._advantages.add(frame, local, remote)
        if frame <= self._next_wait:
            return Steering()
        frames = self._advantages.compute_remote_wait() - self._advantages.compute_local_wait()
        if frames:
            self._next_wait = frame + RECOMMENDATION_INTERVAL
        return Steering(frames=frames)

    def _compute_frame_number(self, time: float) -> int:
        return int(time // self._step)


#: The methods by name; each is made with the simulation's step, in seconds.
CLOCK_SYNCS: dict[str, Callable[[float], ClockSync]] = {
    "free-running": FreeRunning,
    "netfox": Netfox,
    "lightyear": LightyearClock,
    "ggpo": Ggpo,
}
