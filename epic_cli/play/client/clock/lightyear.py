"""lightyear (Bevy): an estimate of the server's timeline, followed by small changes of speed."""

from __future__ import annotations

from epic_cli.play.client.clock.contract import ClockSync, Exchange, Steering

#: How much a sample counts in the round trip, and in its mean deviation.
ROUND_TRIP_WEIGHT = 1 / 12
DEVIATION_WEIGHT = 1 / 6

#: Round trips that are measured before the time is believed.
HANDSHAKE_PINGS = 3

#: In ticks: a smaller error is left alone, a larger one than the other is not worked off.
ERROR_MARGIN = 1.0
LARGEST_ERROR_MARGIN = 10.0

#: Errors in the same direction, one after the other, before the speed changes.
CONSECUTIVE_ERRORS = 3

SPEEDUP = 0.05

#: How much a state counts in the estimate: much where the jitter is small (seconds), little else.
ESTIMATE_WEIGHTS = (0.10, 0.02)
JITTERS = (0.001, 0.010)

#: What of a change of speed is left, for each frame that needs none.
SPEED_LEFT = 0.9


class RoundTripEstimator:
    """The smoothed round trip and its jitter, which is half the mean deviation; in seconds.

        deviation += (|sample - round_trip| - deviation) / 6
        round_trip += (sample - round_trip) / 12

    From the third sample on, one that is far out of what was seen counts as less.
    Source: RFC 6298 with other weights; lightyear_sync/src/ping/estimator.rs.
    """

    def __init__(self) -> None:
        self.round_trip = 0.0
        self.count = 0
        self._deviation = 0.0

    @property
    def jitter(self) -> float:
        """In seconds."""
        return self._deviation / 2

    def add(self, sample: float) -> None:
        """Takes a measured round trip; a negative one is no round trip."""
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


class Lightyear(ClockSync):
    """Follows an estimate of the server's time: speeds up or slows down by up to 10 %, or jumps.

    Each state says what time it was on the server half a round trip ago; an average of that,
    slower where there is jitter, is the estimate. Once it has been missed by more than a tick
    three times in a row, the speed changes in proportion; beyond ten ticks the clock is set.

    Source: lightyear (https://github.com/cBournhonesque/lightyear, MIT or Apache-2.0),
    lightyear_sync/src/timeline/remote.rs, sync.rs and input.rs. Its input timeline runs half a
    round trip and a margin ahead of this, so that an input for a tick is there in time; this
    server applies moves as they come, and gains nothing by that.
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
        """Every round trip counts."""
        self._estimator.add(exchange.round_trip)

    def hear(self, server_time: float, now: float) -> None:
        """The server must be half a round trip ahead of what it has just said."""
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
        """Once after each state; the speed stays as it is between them."""
        if self._estimate is None:
            return None
        if not self._heard:
            return Steering(self._speed)
        self._heard = False
        error = time - (now + self._estimate)
        if not self._is_set or abs(error) > LARGEST_ERROR_MARGIN * self._step:
            self._is_set, self._consecutive = True, 0
            return Steering(self._speed, jump=-error)
        self._adjust(error / self._step)
        return Steering(self._speed)

    def _adjust(self, error: float) -> None:
        turned = (error > 0) != self._was_ahead
        self._was_ahead = error > 0
        self._consecutive = self._consecutive + 1 if abs(error) > ERROR_MARGIN else 0
        if self._consecutive >= CONSECUTIVE_ERRORS and not turned:
            self._speed = speed_for(error)
        else:
            self._speed = 1 + (self._speed - 1) * SPEED_LEFT


def speed_for(error: float) -> float:
    """The speed that works off an error (in ticks; positive: the clock is ahead).

    1 + 0.05 * 2 min(|error| / 10, 1), or its inverse for a clock that is ahead
    """
    faster = 1 + SPEEDUP * 2 * min(abs(error) / LARGEST_ERROR_MARGIN, 1.0)
    return 1 / faster if error > 0 else faster


def interpolation_delay(send_interval: float, jitter: float, tick: float) -> float:
    """How far behind the newest state the others are drawn; all in seconds.

        max(1.7 send_interval, 5 ms) + 4 jitter + 1 tick

    Source: lightyear_sync/src/timeline/interpolation.rs.
    """
    return max(1.7 * send_interval, 0.005) + 4 * jitter + tick
