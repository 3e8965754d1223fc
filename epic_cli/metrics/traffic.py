"""Packets as streams and messages, with the robust statistics that detectors use."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from epic_cli.engine.measure import clean_numbers
from epic_cli.metrics.arrays import (
    ARRIVAL,
    LARGEST,
    POSITION,
    SEQUENCE,
    TELEPORT,
    TIME,
    TURN,
    VELOCITY,
    compute_lengths,
    compute_median,
    compute_quantile,
    find_edges,
    list_distinct,
    make_turning_table,
)
from epic_cli.metrics.notes import NotEnoughToSay

if TYPE_CHECKING:
    from epic_cli.engine.packets import PacketBlock
    from epic_cli.engine.replay.strategy_spec import StrategySpec


Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]
Numbers = NDArray[np.int64]

#: Standard deviation of a normal distribution over its median absolute deviation.
_SIGMA = 1.4826

#: Rates at which games and screens tick, in hertz.
USUAL_RATES = (10, 15, 20, 24, 25, 30, 40, 50, 60, 64, 72, 90, 100, 120, 128, 144)


def estimate_sigma(values: Floats) -> float:
    """Return the standard deviation of most values, robustly: 1.4826 times their MAD."""
    return _SIGMA * compute_median(np.abs(values - compute_median(values)))


def measure_concentration(values: Floats, step: float) -> float:
    """Return how closely values are multiples of ``step``: the mean cosine of their phases.

    The result is 1 if all are multiples, and about n^-1/2 if they are random (the V-test, which is
    Rayleigh's for a known direction; K. V. Mardia, P. E. Jupp, "Directional Statistics", 2000).
    """
    return float(np.cos(2 * np.pi * values / step).mean())


class DelayEnvelope(NamedTuple):
    """The level of the delays (s) in each window of messages, and the window's time (s)."""

    times: Floats
    levels: Floats


def find_lower_envelope(times: Floats, values: Floats, windows: int) -> DelayEnvelope:
    """Return the least value in each of ``windows`` windows with equally many values."""
    per = len(values) // windows
    blocks = values[: per * windows].reshape(windows, per)
    lowest = blocks.argmin(axis=1) + np.arange(windows) * per
    return DelayEnvelope(times[lowest], values[lowest])


def compute_middles(times: Floats, values: Floats, windows: int) -> DelayEnvelope:
    """Return the medians of values and of ascending times in ``windows`` equal windows."""
    per = len(values) // windows
    begins = per * np.arange(windows)
    levels = [compute_median(values[begin : begin + per]) for begin in begins]
    middle = (times[begins + (per - 1) // 2] + times[begins + per // 2]) / 2
    return DelayEnvelope(middle, np.array(levels))


class FittedLine(NamedTuple):
    """A fitted line: ``slope`` and its standard error, ``start`` at time 0, and the spread.

    The spread is that of the residuals.
    """

    slope: float
    error: float
    start: float
    spread: float


def fit_robust_line(times: Floats, values: Floats) -> FittedLine:
    """Fit the Theil-Sen line, whose slope is the median slope through any two points.

    H. Theil, Proc. Kon. Ned. Akad. v. Wetensch. A 53, 1950; P. K. Sen, JASA 63 (324), 1968. The
    standard error is that of least squares, from the residuals' robust spread, pi/2 wider for a
    median. For some hundreds of points at most: memory grows with the square.
    """
    one, other = np.triu_indices(len(times), 1)
    apart = times[one] != times[other]
    one, other = one[apart], other[apart]
    slope = compute_median((values[other] - values[one]) / (times[other] - times[one]))
    start = compute_median(values - slope * times)
    spread = estimate_sigma(values - slope * times)
    error = float(np.sqrt(np.pi / 2) * spread / (np.std(times) * np.sqrt(len(times))))
    return FittedLine(slope, error, start, spread)


class RunLength(NamedTuple):
    """A run of equal flags, from index ``begin`` to before ``end``."""

    begin: int
    end: int


def find_runs(flags: Flags) -> list[RunLength]:
    """Return the unbroken runs of true values."""
    return [RunLength(int(begin), int(end)) for begin, end in zip(*find_edges(flags), strict=True)]


def mark_changes(*columns: NDArray[Any]) -> Flags:
    """Mark the first row, and each row that differs from the row before in any of the columns."""
    new = np.zeros(len(columns[0]), bool)
    new[:1] = True
    for column in columns:
        new[1:] |= column[1:] != column[:-1]
    return new


def find_lattice(values: Floats) -> float:
    """Return the quantization step of which all values are multiples; 0 if there is none.

    The candidate is the least distance between different values, which is the step where enough
    values are given; all the others have to be multiples of it.
    """
    different = np.unique(values)
    if len(different) < 3:
        return 0.0
    gaps = np.diff(different)
    # what is nearer than the arithmetic's own rounding is the same value
    gaps = gaps[gaps > 1e-9 * float(np.abs(different).max())]
    if not len(gaps):
        return 0.0
    step = float(gaps.min())
    turns = np.round(gaps / step)
    step = float(gaps.sum() / turns.sum())  # the least one may be rounded
    off = np.abs(gaps / step - turns)
    return step if compute_quantile(off, 0.99) < 0.1 else 0.0


#: Shares of the packets for which a delay is reported.
SHARES = (0.9, 0.95, 0.99, 0.999)

#: Rates (Hz) of receivers that read once a frame; a slower rhythm is the sender's batches.
SLOWEST_FRAMES = 24
FRAME_RATES = (*(number for number in USUAL_RATES if number >= SLOWEST_FRAMES), 165, 240)

#: Least mean cosine of the gaps between arrivals on the lattice of frames, the most arrivals
#: examined, and the longest gap (s).
ON_FRAMES, ARRIVALS, LONGEST_GAP = 0.85, 4000, 1.0

#: Unusual gaps that are enough, or fewer if their cosine is at least this.
ENOUGH_GAPS, FEWEST_GAPS, EXACT, VERY_EXACT = 6, 3, 0.97, 0.998

#: Delays that vary by less than this share of a frame are those of a regular sender.
VARIED, BULK = 0.5, 4.0


class _OwnMessages(NamedTuple):
    """The messages of one entity: their ``places`` in a log, and the ``idle`` time (s) before each.

    None instead of ``idle``: it never rests.
    """

    places: Numbers
    idle: Floats | None

    def reorder(self, order: Numbers) -> _OwnMessages:
        """Return the messages in a log that has the order ``order``."""
        places = np.argsort(order, kind="stable")[self.places]
        own = np.argsort(places, kind="stable")
        return _OwnMessages(places[own], None if self.idle is None else self.idle[own])

    def select(self, wanted: Flags) -> _OwnMessages:
        """Return those that ``wanted`` marks, in the log of them alone."""
        kept = wanted[self.places]
        idle = None if self.idle is None else self.idle[kept]
        return _OwnMessages((np.cumsum(wanted) - 1)[self.places[kept]], idle)


@dataclass(frozen=True, eq=False)
class MessageLog:
    """The messages sent over the network, in sending order: stamps and arrivals (n, s).

    States of several entities with one stamp are one message, in one datagram or in one for each;
    it arrives when the first of them does. Where a clock was set back, stamps occur again.
    ``copies`` counts the ``states`` that came twice. ``idle`` (n, s; None: never) is the time
    before each message in which nothing was sent, since all entities rested. ``own`` are the
    messages of each of several entities; empty: all are of one.
    """

    sent: Floats
    arrivals: Floats
    copies: int
    states: int
    idle: Floats | None = None
    own: tuple[_OwnMessages, ...] = ()

    @cached_property
    def of_entities(self) -> tuple[MessageLog, ...]:
        """The messages of each entity, which alone bring a new state of it."""
        logs = (
            MessageLog(self.sent[one.places], self.arrivals[one.places], 0, 0, one.idle)
            for one in self.own
        )
        return tuple(log for log in logs if log.is_enough) or (self,)

    @property
    def is_enough(self) -> bool:
        """True for enough messages with different stamps."""
        return int(mark_changes(self.sent).sum()) >= FEWEST_STATES

    @cached_property
    def entity_period(self) -> float:
        """The median interval between messages of one entity, s; the median over entities."""
        return float(np.median([one.period for one in self.of_entities]))

    def move_messages(self, stamps: Floats | float, arrivals: Floats | float) -> MessageLog:
        """Return a log with times added to the messages' stamps and arrivals, in the new order."""
        sent = self.sent + stamps
        order = np.argsort(sent, kind="stable")
        idle = None if self.idle is None else self.idle[order]
        return replace(
            self, sent=sent[order], arrivals=(self.arrivals + arrivals)[order], idle=idle,
            own=tuple(one.reorder(order) for one in self.own),
        )  # fmt: skip

    def select_messages(self, wanted: Flags) -> MessageLog:
        """Return a log of the messages that ``wanted`` marks."""
        idle = None if self.idle is None else self.idle[wanted]
        own = tuple(one.select(wanted) for one in self.own)
        return replace(
            self, sent=self.sent[wanted], arrivals=self.arrivals[wanted], idle=idle, own=own
        )

    @cached_property
    def unrested(self) -> MessageLog:
        """The messages on a clock that stands still while all entities rest."""
        if self.idle is None:
            return self
        passed = np.cumsum(self.idle)
        return replace(
            self, sent=self.sent - passed, arrivals=self.arrivals - passed, idle=None, own=()
        )

    @cached_property
    def delays(self) -> Floats:
        """The delays (n, s), arrival minus stamp: network delay plus the clocks' difference."""
        return self.arrivals - self.sent

    @cached_property
    def intervals(self) -> Floats:
        """The time (n - 1, s) from each stamp to the next."""
        return np.diff(self.sent)

    @cached_property
    def period(self) -> float:
        """The median interval between messages, s."""
        new = self.intervals > 0
        return compute_median(self.intervals if new.all() else self.intervals[new])

    @cached_property
    def in_order(self) -> Numbers:
        """The indices of the messages in the order of their arrival."""
        return np.argsort(self.arrivals, kind="stable")

    @cached_property
    def sorted_delays(self) -> Floats:
        """The delays (n, s), sorted."""
        return np.sort(self.delays)

    @cached_property
    def frame(self) -> float:
        """The frame time (s) of a receiver that reads its socket once a frame.

        0 if it reads at once. Arrivals are then late by up to a frame, several at once, and beat
        against the sender's ticks. Gaps between arrivals show frames wherever these begin.
        """
        begin = max(0, (len(self.arrivals) - ARRIVALS) // 2)
        some = np.sort(self.arrivals[begin : begin + ARRIVALS])
        gaps = np.diff(some)
        gaps = gaps[(gaps > 1e-6) & (gaps < LONGEST_GAP)]
        if not len(gaps):
            return 0.0
        usual, other = compute_median(gaps), gaps
        if abs(usual - self.period) < 0.3 * self.period:
            # those of a regular sender are multiples of anything
            other = gaps[np.abs(gaps - usual) > 0.1 * usual]
        if len(other) < FEWEST_GAPS:
            return self.period if self._is_beating_delay() else 0.0
        times = self.sent - self.sent.mean()  # two clocks that run apart are no frames
        line = times * (times @ self.delays / (times @ times or 1.0))
        low, high = np.quantile(self.delays - line, (0.01, 0.99)).tolist()
        varied, bulk = high - low, BULK * estimate_sigma(self.delays - line)
        least = ON_FRAMES if len(other) >= ENOUGH_GAPS else EXACT
        for rate in FRAME_RATES:
            # some that are late, of a regular sender, do not vary the bulk
            needed = least if bulk > VARIED / rate else max(least, VERY_EXACT)
            if varied > VARIED / rate and measure_concentration(other, 1 / rate) > needed:
                turns, often = np.unique(np.round(gaps * rate).astype(int), return_counts=True)
                most = int(np.gcd.reduce(turns[often > 0.02 * len(gaps)]))
                # longer than the sender's ticks: it is a batch
                return 1 / rate if most == 1 or most / rate < 1.5 * self.period else 0.0
        return 0.0

    def _is_beating_delay(self) -> bool:
        """Return True if steady delays rise or fall by an interval, and leap back once."""
        steps = np.diff(self.delays)
        leap = float(steps[np.abs(steps).argmax()])
        way, most = float(steps.sum()) - leap, self.period
        still = compute_median(np.abs(steps)) < 0.03 * most
        return still and abs(abs(leap) / most - 1) < 0.1 and way * leap < 0 and abs(way) > most / 3

    def shuffle_arrivals(
        self, random: np.random.Generator, bulk: Floats, ordered: bool = False
    ) -> Floats:
        """Return arrivals with delays drawn at random from ``bulk`` (s).

        Where the receiver reads in frames, arrivals are those of the frames. ``ordered``: no
        message overtakes another.
        """
        arrivals = self.sent + random.choice(bulk, len(self.sent))
        if ordered:
            arrivals = np.maximum.accumulate(arrivals)
        return np.asarray(np.ceil(arrivals / self.frame) * self.frame if self.frame else arrivals)

    @cached_property
    def unread(self) -> Floats:
        """The delays (n, s) before the receiver's frame reads the messages.

        Each message arrived somewhere in the frame before.
        """
        if not self.frame:
            return self.delays
        waited = np.random.default_rng(0).uniform(0, self.frame, len(self.sent))
        return self.delays - waited

    @property
    def usual_delay(self) -> float:
        """The median delay, s."""
        return self.find_delay(0.5)

    def find_delay(self, share: float) -> float:
        """Return the delay (s) that a ``share`` (0 to 1) of the messages does not exceed."""
        return compute_quantile(self.sorted_delays, share)


class Network(NamedTuple):
    """The network's send rate (Hz), delays (s), and the delays that a buffer needs (s).

    ``rate`` is that of the messages of all entities, ``entity_rate`` the usual one of an entity's,
    which ``change`` names where it changes once: the stamp (s), the rates before and after (Hz).
    ``middle`` is the median delay, ``spread`` the 95 % delay less the 5 % one. ``needed`` are the
    interpolation delays behind the newest state with which the given shares of the messages are
    there in time: ``SHARES`` of arrival(i) - sent(i - 1) of an entity's messages, less the least
    delay. Delays contain the difference of the clocks, ``spread`` and ``needed`` do not.
    """

    rate: float
    middle: float
    spread: float
    needed: tuple[float, ...]
    frame: float = 0.0
    entity_rate: float = 0.0
    change: tuple[float, float, float] | None = None


#: A regular clock with rounded stamps shows intervals of two lengths, each at least this share of
#: all. Less is enough where the rarer one is no multiple of the other: no loss makes it so.
BOTH_LENGTHS, UNEQUAL = 0.25, 0.02

#: Intervals in a sum: rounding evens out over them, and few packets are lost.
EVENED_OUT = 8


def compute_message_rate(messages: MessageLog) -> float:
    """Return the number of messages sent per second.

    The usual interval says so, unless stamps are rounded: 30 a second on a grid of 25 ms are
    intervals of 25 and 50 ms.
    """
    sent = messages.unrested.sent
    gaps, counts = np.unique(np.round(np.diff(sent), 6), return_counts=True)
    first, second = np.append(np.argsort(-counts)[:2], [0, 0])[:2]
    share, grid = counts[second] / len(sent), abs(float(gaps[first] - gaps[second]))
    times = float(gaps[second] / gaps[first]) if gaps[first] else 0.0
    lost = times > 1 and abs(times - round(times)) < 0.1
    if len(sent) <= EVENED_OUT or not grid or share < (BOTH_LENGTHS if lost else UNEQUAL):
        return 1 / messages.period
    sums = sent[EVENED_OUT:] - sent[:-EVENED_OUT]
    near = np.abs(sums - compute_median(sums)) < 1.5 * grid  # in the others packets are lost
    usual = float(sums[near].mean()) if near.any() else 0.0
    return EVENED_OUT / usual if usual > 0 else 1 / messages.period


def round_rate(rate: float) -> float:
    """Return the common rate (Hz) within 0.5 % of ``rate``, or ``rate`` with three digits."""
    near = (usual for usual in USUAL_RATES if abs(usual - rate) < 0.005 * rate)
    return next(near, float(f"{rate:.3g}"))


def measure_network(messages: MessageLog) -> Network:
    """Measure send rate and delays of the messages that arrived."""
    low, middle, high = (messages.find_delay(value) for value in (0.05, 0.5, 0.95))
    ordered = np.sort(measure_waits(messages) - messages.sorted_delays[0])
    needed = tuple(compute_quantile(ordered, share) for share in SHARES)
    rates = [compute_message_rate(one) for one in messages.of_entities]
    rate, each = compute_message_rate(messages), float(np.median(rates))
    if rate > SEVERAL * each:  # the intervals between different entities' messages are of all sizes
        rate = _sum_rates(messages, rates)
    change = _find_rate_change(max(messages.of_entities, key=lambda one: len(one.sent)))
    return Network(rate, middle, high - low, needed, messages.frame, each, change)


#: Windows in which a send rate is measured, the largest deviation of those before and after a
#: change, as a share, and the least ratio of the rates.
RATE_WINDOWS, STEADY_RATE, CHANGED_RATE = 12, 0.1, 1.25


def _find_rate_change(messages: MessageLog) -> tuple[float, float, float] | None:
    """Return the stamp (s) at which the send rate changes, and the rates (Hz) before and after."""
    windows = np.array_split(messages.unrested.intervals, RATE_WINDOWS)
    if len(windows[-1]) < FEWEST_STATES:
        return None
    medians = np.array([compute_median(window) for window in windows])
    if not medians.all():  # several messages have one stamp
        return None
    ratios = medians[1:] / medians[:-1]
    first = int(np.argmax(np.maximum(ratios, 1 / ratios))) + 1  # of the windows after the change
    usual = compute_median(medians[:first]), compute_median(medians[first:])
    # it is in one of the two windows beside the leap, whose median is that of most of it
    apart = np.abs(medians / np.repeat(usual, (first, RATE_WINDOWS - first)) - 1)
    apart[first - 1 : first + 1] = 0.0
    if (apart > STEADY_RATE).any() or not max(usual) > CHANGED_RATE * min(usual):
        return None
    at = sum(map(len, windows[: first - 1]))
    inside = np.concatenate(windows[first - 1 : first + 1])
    nearer = np.abs(inside - usual[0]) - np.abs(inside - usual[1])
    at += int(np.argmin(np.append(0.0, np.cumsum(nearer))))
    return float(messages.sent[at]), 1 / usual[0], 1 / usual[1]


#: Entities are sent in messages of their own if all are this many times as frequent as one's.
SEVERAL = 1.2


def _sum_rates(messages: MessageLog, rates: Sequence[float]) -> float:
    """Return the messages sent per second, of which as many are lost as of each entity's."""
    logs = [one.unrested for one in messages.of_entities]
    sent = sum(rate * float(np.ptp(log.sent)) for log, rate in zip(logs, rates, strict=True))
    came = sum(len(log.sent) - 1 for log in logs)
    return len(messages.sent) / float(np.ptp(messages.unrested.sent)) * sent / came


def measure_waits(messages: MessageLog, lost: int = 0) -> Floats:
    """Return how long (s) after each state's stamp a later state had arrived.

    A client that draws that far behind the stamps has a state to go to: the next one, or, where
    packets overtake each other, the newest that arrived. With this many ``lost`` packets in
    between, it is one behind those. The difference of the clocks is contained. A state that is not
    sent again at rest counts as arrived.
    """
    waits = []
    for one in messages.of_entities:
        moving = one.unrested
        first = np.minimum.accumulate(moving.arrivals[::-1])[::-1]
        waits.append(first[1 + lost :] - moving.sent[: -1 - lost])
    return waits[0] if len(waits) == 1 else np.concatenate(waits)


#: Fewest states, messages or steps for an answer.
FEWEST_STATES = 20

#: Pieces of a long stream, and states of each, that show lasting causes.
PIECES = 24
PIECE = 1024

#: Largest change of the velocity in a steady step, as a share.
STEADY = 0.2

#: Shortest silence in periods, and fewest silences of a sender that sends on change.
SILENT, FEWEST_RESTS = 2.5, 3

#: Shortest silence in periods of a sender that repeats a resting state now and then.
SELDOM = 8.0

#: An entity that rested, and has just begun to move, has moved by at most this many usual steps (or
#: the next one), and by this share of what its pace would give; its velocity at rest is at most
#: this share of the usual one.
RESTED, SLOW, STILL = 1.5, 0.45, 0.2

#: Fewest long holes in the numbers that are rests, and their least share: the numbers then count
#: ticks, not packets.
SEVERAL, RESTING = 2, 0.8

#: Least pace in usual steps, and largest deviation from the step that is due, of a movement that
#: goes on across a pause.
LEAST_PACE, GOES_ON = 0.1, 0.4

#: If more of the intervals than this share are pauses, pauses are no rests, unless in most it is
#: slower than this share of its usual pace.
MOSTLY, AT_PACE = 0.5, 0.6

_COLUMNS = ("times", "positions", "velocities", "arrivals", "sequence", "teleports",
            "turns")  # fmt: skip


class Elapsed(NamedTuple):
    """Steady steps: their indices, durations (s) by velocity, and the rounding error (sigma, s).

    A negative duration leads back to an older state. ``across`` (sigma, length) is the positions'
    error across the velocity; ``back`` is the correlation of a step's error there with the next
    step's.
    """

    steps: Numbers
    took: Floats
    rounding: float
    across: float
    back: float


@dataclass(frozen=True)
class Stream:
    """One entity's states, ordered by their stamps; each stamp occurs once.

    ``times`` (n) are the stamps in seconds, ``positions`` and ``velocities`` (n, 3; NaN: none),
    ``arrivals`` and ``sequence`` (n; NaN: none), ``teleports`` (n), ``turns`` (n, 7: rotation and
    spin, NaN: none; or n, 0). ``came`` are all sequence numbers that arrived, in order: also those
    of copies, of states that share a stamp, and of other entities in the same datagrams.
    """

    name: str
    times: Floats
    positions: Floats
    velocities: Floats
    arrivals: Floats
    sequence: Floats
    teleports: Flags
    turns: Floats
    came: Floats

    def select_states(self, places: Numbers) -> Stream:
        """Return a stream of the states at these indices, in the given order."""
        return replace(self, **{column: getattr(self, column)[places] for column in _COLUMNS})

    def move_states(self, added: Floats) -> Stream:
        """Return a stream with times (s) added to its stamps, in the new order.

        NaN drops a state.
        """
        times = self.times + added
        order = np.argsort(times, kind="stable")[: int(np.isfinite(times).sum())]
        order = order[mark_changes(times[order])]
        kept = self.select_states(order)
        # what is left out counts as lost
        came = np.setdiff1d(self.came, np.setdiff1d(self.sequence, kept.sequence))
        return replace(kept, times=times[order], came=came)

    @property
    def entities(self) -> tuple[str, ...]:
        """The entity's name, as a tuple; empty without a name."""
        return (self.name,) if self.name else ()

    @cached_property
    def intervals(self) -> Floats:
        """The time (n - 1, s) from each stamp to the next."""
        return np.diff(self.times)

    @cached_property
    def period(self) -> float:
        """The median interval between stamps, s."""
        return compute_median(self.intervals)

    @cached_property
    def steps(self) -> Floats:
        """The distance (n - 1) from each position to the next."""
        squares = np.zeros(len(self.times) - 1)
        for axis in self.positions.T:
            moved = np.diff(axis)
            moved *= moved
            squares += moved
        return np.asarray(np.sqrt(squares, out=squares))

    @cached_property
    def usual_step(self) -> float:
        """The median of the steps above 0; 0 if there is no such step."""
        moving = self.steps[self.steps > 0]
        return compute_median(moving) if len(moving) else 0.0

    @property
    def excerpt(self) -> Stream:
        """Several parts of a long stream, or all of a short stream.

        The interval from one part to the next is longer than any other.
        """
        # a stream that kept itself would keep its arrays until the garbage is collected
        return self._pieces if len(self.times) > PIECES * PIECE else self

    @cached_property
    def _pieces(self) -> Stream:
        begins = np.linspace(0, len(self.times) - PIECE, PIECES).astype(int)
        return self.select_states((begins[:, None] + np.arange(PIECE)).ravel())

    @cached_property
    def has_velocities(self) -> bool:
        """True if nearly all states have a velocity, and not all are zero."""
        velocities = self.excerpt.velocities
        given = np.isfinite(velocities).all(axis=1)
        return bool(given.mean() > 0.9 and velocities[given].any())

    @cached_property
    def usual_speed(self) -> float:
        """The median speed of the moving states that have a velocity."""
        speeds = compute_lengths(self.excerpt.velocities)
        return compute_median(speeds[speeds > 0])

    @cached_property
    def numbered(self) -> bool:
        """True if nearly all states have a sequence number."""
        return bool(np.isfinite(self.sequence).mean() > 0.9)

    @cached_property
    def gaps(self) -> Floats:
        """The difference (n - 1) from each sequence number to the next.

        NaN where one is unknown.
        """
        return np.diff(self.sequence)

    @cached_property
    def usual_gap(self) -> float:
        """The median difference between sequence numbers that arrived; NaN without numbers."""
        return compute_median(np.diff(self.came)) if len(self.came) > 1 else math.nan

    @cached_property
    def follows(self) -> Flags:
        """A mask (n - 1) of the intervals in which no sequence number is missing.

        Without numbers all are marked. Numbers may count the packets of this entity or those of all
        together.
        """
        if math.isnan(self.usual_gap):
            return np.ones(len(self.gaps), bool)
        return np.asarray(self.missing == 0)

    @cached_property
    def missing(self) -> Floats:
        """The number of sequence numbers missing between two states (n - 1); NaN if unknown."""
        between = np.diff(np.searchsorted(self.came, self.sequence)) - 1
        return np.asarray(np.round(self.gaps / (self.usual_gap or 1.0)) - 1 - between)

    @cached_property
    def lost(self) -> Floats:
        """The number of packets lost in each interval (n - 1), by their sequence numbers.

        Numbers may go on while this entity rests: time must have passed as well.
        """
        passed = np.round(self.intervals / self.period) - 1
        return np.maximum(np.minimum(np.nan_to_num(self.missing), passed), 0.0)

    def find_stretched(self, periods: float) -> Numbers:
        """Return the indices of the intervals over ``periods`` periods without a missing packet."""
        long = np.flatnonzero(self.intervals > periods * self.period)
        return long[self.follows[long]] if len(long) else long

    def mark_rested(self, places: Numbers) -> Flags:
        """Mark those of the intervals ``places`` whose step is about a usual step, or less.

        The step after, if longer, counts as a usual step.
        """
        usual, steps = self.usual_step, self.steps[places]
        near = self.intervals < RESTED * self.period
        after = np.append(np.where(near, self.steps, 0.0), 0.0)[places + 1]
        still = steps <= RESTED * np.maximum(usual, after)
        still &= steps <= SLOW * np.maximum(usual, after) * self.intervals[places] / self.period
        if self.has_velocities:
            still &= (
                compute_lengths(np.nan_to_num(self.velocities[places])) <= STILL * self.usual_speed
            )
        elif (paused := self.mark_paused(places)).sum() > MOSTLY * len(places):
            # by its steps alone, a slow start after a rest may look like a pause
            around = (self.steps[places[paused] - 1] + self.steps[places[paused] + 1]) / 2
            if compute_median(around) > AT_PACE * usual:
                still &= ~paused
        return np.asarray(still & (usual > 0))

    def mark_paused(self, places: Numbers) -> Flags:
        """Mark the intervals ``places`` in which the entity moves no further than in one period."""
        inner = (places > 0) & (places < len(self.steps) - 1)
        middle = np.clip(places, 1, max(len(self.steps) - 2, 1))
        around = np.stack((middle - 1, middle, middle + 1))
        if len(self.steps) < 3:
            return np.zeros(len(places), bool)
        before, across, after = self.positions[around + 1] - self.positions[around]
        due = (before + after) / 2
        inner &= (self.intervals[around[[0, 2]]] < RESTED * self.period).all(axis=0)
        goes = compute_lengths(due) > LEAST_PACE * self.usual_step
        goes &= np.minimum(
            compute_lengths(before), compute_lengths(after)
        ) > GOES_ON * compute_lengths(due)
        return np.asarray(
            inner & goes & (compute_lengths(across - due) < GOES_ON * compute_lengths(due))
        )

    @cached_property
    def rests(self) -> Numbers:
        """The indices of the intervals in which the entity rests and the sender sends nothing.

        Empty if there are too few of them.
        """
        silent = self.find_stretched(SILENT)
        silent = silent[self.mark_rested(silent)]
        if len(silent) >= FEWEST_RESTS:  # sending that is irregular anyway has long intervals, too
            usual = self.intervals <= SILENT * self.period
            most = compute_quantile(self.intervals[usual], 0.9)
            silent = silent[self.intervals[silent] > SILENT * most]
            # what is sent though nothing has changed, is not sent on change but seldom
            changed = self.steps[silent] > 0
            silent = silent[changed | (self.intervals[silent] > SELDOM * self.period)]
            # a sender that repeats states for longer than it is silent loses packets there
            repeated = self.intervals[usual & (self.steps == 0)]
            if repeated.sum() > self.intervals[silent].sum():
                return silent[:0]
        return silent if len(silent) >= FEWEST_RESTS else silent[:0]

    @cached_property
    def wavering(self) -> tuple[float, float] | None:
        """The positions' error across the velocity (sigma of an axis), and its correlation.

        That is the correlation of a step's error with the next step's: -0.5 where each position is
        off by itself. None if there are too few steps at a steady velocity.
        """
        before, after = self.velocities[:-1], self.velocities[1:]
        mean = (before + after) / 2
        speed = compute_lengths(mean)
        with np.errstate(invalid="ignore", divide="ignore"):
            steady = (compute_lengths(after - before) < STEADY * speed) & ~self.teleports[1:]
            steady &= self.intervals < 1.5 * self.period
            moved = np.diff(self.positions, axis=0)
            aside = moved - ((moved * mean).sum(axis=1) / np.square(speed))[:, None] * mean
        places = np.flatnonzero(steady)
        if len(places) < FEWEST_STATES:
            return None
        axis = int(np.square(aside[places]).sum(axis=0).argmax())
        off = aside[:, axis]
        across = estimate_sigma(off[places])
        both = places[:-1][np.diff(places) == 1]
        wild = 4 * across
        first, then = (np.clip(off[pair], -wild, wild) for pair in (both, both + 1))
        back = float((first * then).sum() / max(np.square(first).sum(), 1e-300))
        return across / 1.41, back

    @cached_property
    def elapsed(self) -> Elapsed | None:
        """The durations of steady steps, computed from displacement and velocity instead of stamps.

        None if there are too few steps, or if velocities have another scale.
        """
        if not self.has_velocities:
            return None
        before, after = self.velocities[:-1], self.velocities[1:]
        mean = (before + after) / 2
        speed = compute_lengths(mean)
        with np.errstate(invalid="ignore", divide="ignore"):
            steady = (compute_lengths(after - before) < STEADY * speed) & ~self.teleports[1:]
            moved = np.diff(self.positions, axis=0)
            along = (moved * mean).sum(axis=1) / speed
            aside = moved - (along / speed)[:, None] * mean
            steady &= self.intervals < 3 * self.period
            wavers = np.flatnonzero(steady & (along >= 0.8 * self.steps))
            # the way of the step is the way of the velocity, or back on it: stamps may be swapped
            steady &= np.abs(along) >= 0.99 * self.steps
            took = along / speed
        steps = np.flatnonzero(steady & np.isfinite(took))
        if len(steps) < FEWEST_STATES:
            return None
        took = took[steps]
        # velocities of another scale are another cause's business
        ratio = float(np.sum(took) / np.sum(self.intervals[steps]))
        if not 0.9 < ratio < 1.1:
            return None
        step = find_lattice(self.positions[:, np.argmax(np.ptp(self.positions, axis=0))])
        rounding = 0.41 * step / compute_median(speed[steps])
        both = wavers[:-1][np.diff(wavers) == 1]
        before, after = aside[both], aside[both + 1]
        back = float((before * after).sum() / max(np.square(before).sum(), 1e-300))
        aside = aside[wavers]
        across = estimate_sigma(aside[:, np.argmax(np.square(aside).sum(axis=0))]) / 1.41
        return Elapsed(steps, took, rounding, across, back)


#: Least share, and number, of states that have the stamp of the one before.
SHARE, LEAST = 0.01, 3

#: If more have, the times of the others are unknown, too.
MOST = 0.75

#: Least share of stamps that go back while numbers go on; a clock that is set does so once.
BACK = 0.003

#: Least spread of stamps that are arrivals, in periods.
SPREAD = 0.05

#: Stamps and arrivals closer than this (s) are equal; blocks of this many states give a trend.
SAME, BLOCK = 2e-6, 32


class Stamping(NamedTuple):
    """A fault of the stamps: the ``share`` of the states that have it, and its ``spread`` (s).

    ``first`` is the first such stamp (s); None: all are.
    """

    kind: Literal["repeated", "received"]
    share: float
    spread: float
    first: float | None


def restamp_packets(columns: Floats) -> tuple[Floats, Stamping | None]:
    """Return packets restamped by their sequence numbers, if their stamps are no clock's.

    The packets (``make_packet_table``) are in the order of their new stamps. None instead of a
    ``Stamping``: nothing is changed.
    """
    numbers, times, arrivals = columns[SEQUENCE], columns[TIME], columns[ARRIVAL]
    if len(times) < 4 * BLOCK or not np.isfinite(numbers).all():
        return columns, None
    received = bool(np.mean(np.abs(arrivals - times) < SAME) > 0.99)
    apart = np.diff(times)
    if not received and apart.all() and (np.diff(numbers) > 0).all():
        return columns, None
    numbers, places = np.unique(numbers, return_index=True)
    times = times[places]
    if len(numbers) < 4 * BLOCK:
        return columns, None
    back = float((np.diff(times) < 0).mean())
    if received or (back > BACK and not np.isfinite(arrivals).any()):
        found = _restamp_by_numbers(numbers, times)
    elif back > BACK:
        return columns, None
    else:
        moved = compute_lengths(np.diff(columns[POSITION][:, places]).T) > 0
        again: Flags = np.equal(np.diff(times), 0)
        found = _spread_equal_stamps(numbers, times, again, moved)
    if found is None:
        return columns, None
    mended = columns[:, places]
    mended[TIME], stamping = found
    return mended[:, np.argsort(mended[TIME], kind="stable")], stamping


def _restamp_by_numbers(numbers: Floats, times: Floats) -> tuple[Floats, Stamping] | None:
    """Return times on a line over the sequence numbers; the line adapts slowly to sender pauses."""
    half = len(numbers) // 2
    period = compute_median((times[half:] - times[:-half]) / (numbers[half:] - numbers[:-half]))
    rest = times - period * numbers
    blocks = np.array_split(np.arange(len(rest)), len(rest) // BLOCK)
    middles = [float(block.mean()) for block in blocks]
    trend = np.interp(
        np.arange(len(rest)), middles, [compute_median(rest[block]) for block in blocks]
    )
    off = rest - trend
    usual = period * compute_median(np.diff(numbers))
    if not estimate_sigma(off) > SPREAD * usual:
        return None
    # the fastest packet is the one without delay
    mended = period * numbers + trend + float(off.min())
    return mended, Stamping("received", 1.0, estimate_sigma(off), None)


def _spread_equal_stamps(
    numbers: Floats, times: Floats, again: Flags, moved: Flags
) -> tuple[Floats, Stamping] | None:
    """Spread states that share a stamp evenly until the next stamp, by sequence number.

    A state that is sent again at rest may keep its stamp on purpose: more that share one than do
    while it moves are left as they are.
    """
    late: Numbers = np.flatnonzero(again & moved) + 1
    share = len(late) / len(times)
    if len(late) < LEAST or not SHARE < share < MOST:
        return None
    groups = np.append(0, np.cumsum(~again))
    sizes = np.bincount(groups)
    few = sizes[groups] <= int(sizes[groups[late]].max())
    ties = np.flatnonzero(again & few[1:]) + 1
    kept = np.setdiff1d(np.arange(len(times)), ties)
    mended = np.interp(numbers, numbers[kept], times[kept])
    beyond = numbers > numbers[kept[-1]]
    period = compute_median(np.diff(times[kept]) / np.diff(numbers[kept]))
    mended[beyond] = times[kept[-1]] + period * (numbers[beyond] - numbers[kept[-1]])
    spread = compute_median(mended[late] - times[late])
    return mended, Stamping("repeated", share, spread, float(times[late[0]]))


#: Least distance of two senders under one id in usual steps, the least share of either in each
#: quarter of the packets while both send, and the least share of these packets.
APART, EACH, BOTH = 6.0, 0.15, 0.25

#: Least share of packets nearer to one of ``RECENT`` earlier ones than to the one before.
CROSSED, RECENT = 0.12, 4


class Interleaved(NamedTuple):
    """Two movements under one id: the ``share`` of the rarer one, and the distance ``apart``.

    ``first`` is the first stamp (s) of the rarer movement.
    """

    share: float
    apart: float
    first: float


def split_interleaved(columns: Floats) -> tuple[list[Floats], Interleaved | None]:
    """Split packets (``make_packet_table``) whose positions alternate between two movements.

    Return one table for each movement; or all packets and None if there is one movement.
    """
    by = columns[ARRIVAL] if np.isfinite(columns[ARRIVAL]).all() else columns[TIME]
    order = np.arange(len(by))
    if not (np.diff(by) > 0).all():
        order = np.lexsort((*columns[POSITION], columns[TIME], by))
    places = columns[POSITION].T[order]
    if len(places) < 2 * FEWEST_STATES:
        return [columns], None
    ahead = places[RECENT:]
    steps, *earlier = (
        compute_lengths(ahead - places[RECENT - lag : -lag]) for lag in range(1, RECENT + 1)
    )
    nearest = np.minimum(steps, np.minimum.reduce(earlier))
    usual = compute_median(nearest[nearest > 0]) if (nearest > 0).any() else 0.0
    if not usual or not (steps > APART * np.maximum(nearest, usual)).mean() > CROSSED:
        return [columns], None
    # a packet is of the movement whose newest position is nearer
    ends: list[list[float]] = [places[0].tolist()]
    ways: tuple[list[float], list[float]] = ([], [])
    between, of_second = [], np.zeros(len(places), bool)
    for at, place in enumerate(places.tolist()):
        near = [math.dist(place, end) for end in ends]
        if len(ends) == 1 and near[0] > APART * usual:
            ends.append(place)
            of_second[at] = True
            continue
        second = len(near) > 1 and near[1] < near[0]
        ways[second].append(near[second])
        ends[second] = place
        between.append(math.dist(ends[0], ends[-1]))
        of_second[at] = second
    if min(map(len, ways)) < FEWEST_STATES:
        return [columns], None
    apart, step = (
        compute_median(np.array(between)),
        max(compute_quantile(np.sort(way), 0.8) for way in ways),
    )
    one, other = (np.flatnonzero(of_second == second)[[0, -1]] for second in (False, True))
    both = of_second[max(one[0], other[0]) : min(one[1], other[1]) + 1]  # one may join, or leave
    if apart < APART * step or len(both) < BOTH * len(places):
        return [columns], None
    shares = [float(part.mean()) for part in np.array_split(both, 4)]
    if min(shares) < EACH or max(shares) > 1 - EACH:
        return [columns], None
    seconds = np.zeros(columns.shape[1], bool)
    seconds[order] = of_second
    share, first = float(of_second.mean()), float(columns[TIME, order[int(of_second.argmax())]])
    parts = [columns[:, ~seconds], columns[:, seconds]]
    return parts, Interleaved(min(share, 1 - share), apart, first)


#: Lengths (s) after which counters wrap.
WRAPS = {
    65.536: "milliseconds in 16 bits", 655.36: "hundredths of a second in 16 bits",
    16.777216: "microseconds in 24 bits", 4294.967296: "microseconds in 32 bits",
    **{
        2**bits / rate: f"ticks of {rate} Hz in {bits} bits"
        for bits in (16, 8) for rate in (60, 30, 20, 64, 128, 50, 100, 120)
    },
    60.0: "the seconds of a minute", 3600.0: "the seconds of an hour",
    86400.0: "the seconds of a day",
}  # fmt: skip

#: Least drop of a stamp that wraps (s), and its largest deviation from the length (s).
DROP, NEARLY = 2.0, 0.5


class Wrap(NamedTuple):
    """A clock's wrap-around.

    Stamps wrap every ``length`` (s), first after the stamp ``first`` (s).
    """

    length: float
    first: float


def unwrap_stamps(columns: Floats) -> tuple[Floats, Wrap | None]:
    """Return packets (``make_packet_table``) with continuous stamps, and the wrap.

    None without a wrap.
    """
    arrivals = columns[ARRIVAL]
    if columns.shape[1] < FEWEST_STATES or not np.isfinite(arrivals).all():
        return columns, None
    if (np.diff(columns[TIME]) >= 0).all() and (np.diff(arrivals) > -DROP).all():
        return columns, None
    order = np.lexsort((columns[TIME], arrivals))
    times = columns[TIME, order]
    drops = np.flatnonzero(np.diff(times) < -DROP)
    if not len(drops):
        return columns, None
    lost = times[drops] - times[drops + 1]
    found: dict[float, tuple[float, Floats]] = {}  # by how much delays differ then
    for length in WRAPS:
        if not (np.abs(lost - length) < NEARLY).any():
            continue
        straight = np.unwrap(times, period=length)
        differ = float(np.ptp(arrivals[order] - straight))
        # all of them are on one clock then, and were not before
        if differ < min(length / 2, np.ptp(arrivals[order] - times) / 2):
            found.setdefault(differ, (length, straight))
    if not found:
        return columns, None
    length, straight = found[min(found)]
    mended = columns.copy()
    mended[TIME, order] = straight
    return mended, Wrap(length, float(times[drops[0]]))


#: Smaller numbers cannot be divided by, and count as zero.
SMALLEST = 1e-100

#: Steps in a second to which stamps and arrivals are rounded: nanoseconds.
STEPS = 1e9


class TooFewPackets(NotEnoughToSay):
    """An error: no entity has ``FEWEST_STATES`` packets with different times."""

    def __init__(self, packets: int, entities: int) -> None:
        of = "one entity" if entities == 1 else f"{entities:,} entities"
        there = f"there are {packets:,} packets of {of}"
        if packets <= 1:
            there = f"there is 1 packet of {of}" if packets else "there are no packets"
        elif packets >= FEWEST_STATES * entities:
            there += ", with too few different times"
        super().__init__(f"no entity has {FEWEST_STATES} packets: {there}")


@dataclass(frozen=True)
class Traffic:
    """The packets of a recording in the form that detectors take.

    ``streams`` are those of the entities with at least ``FEWEST_STATES``; ``messages`` None: the
    recording has no arrival times, or too few. ``packets`` counts all packets, of ``entities``.
    ``blocks`` are the packets by entity, as ``strategies`` draw them. ``drawn`` explains the game's
    own drawn path, and ``starved`` the strategies' buffers, in forms that the caller knows; None:
    they were not examined. ``stamping`` names entities whose stamps were
    no clock's: streams and messages have others. ``senders`` are the entities of which there are
    two: each is a stream of its own. ``wraps`` are those whose stamps wrapped. Not ``placed``: it
    is a network alone, whose packets have no positions.
    """

    streams: tuple[Stream, ...]
    messages: MessageLog | None
    packets: int
    entities: int = 0
    strategies: tuple[StrategySpec, ...] = ()
    blocks: Mapping[str, PacketBlock] = field(default_factory=dict)
    drawn: Any = None
    starved: Any = None
    stamping: Mapping[str, Stamping] = field(default_factory=dict)
    senders: Mapping[str, Interleaved] = field(default_factory=dict)
    wraps: Mapping[str, Wrap] = field(default_factory=dict)
    placed: bool = True

    @property
    def arrived(self) -> MessageLog:
        """The messages that arrived; raises ``ValueError`` if there are none."""
        if self.messages is None:
            raise ValueError("there are no arrival times: give a recording with them")
        return self.messages

    @property
    def numbered(self) -> list[Stream]:
        """The streams whose states have sequence numbers."""
        return [stream for stream in self.streams if stream.numbered]

    @property
    def duration(self) -> float:
        """The time from the first stamp to the last, s."""
        ends = [(stream.times[0], stream.times[-1]) for stream in self.streams]
        return float(max(end for _, end in ends) - min(start for start, _ in ends)) if ends else 0.0


def make_traffic(
    packets: Mapping[str, PacketBlock], span: tuple[float, float] = (-math.inf, math.inf)
) -> Traffic:
    """Return the traffic of packets by entity; only packets stamped in ``span`` (s) count."""
    tables = {}
    for name, block in packets.items():
        columns = make_turning_table(block)
        times = columns[TIME]
        inside: Flags = np.logical_and(times >= span[0], times <= span[1])
        tables[name] = _select_packets(columns, inside)
    return replace(make_table_traffic(tables), blocks=packets)


def make_table_traffic(tables: dict[str, Floats]) -> Traffic:
    """Return the traffic of tables by entity (``make_turning_table``).

    Tables must not be used again.
    """
    packets, entities = sum(columns.shape[1] for columns in tables.values()), len(tables)
    sending_streams, sendings, stamping, senders, wraps = [], [], {}, {}, {}
    parted: dict[str, Floats] = {}
    for name in sorted(tables):
        columns, wrap = unwrap_stamps(_drop_infinite_packets(tables.pop(name)))
        if wrap is not None:
            wraps[name] = wrap
        parts, two = split_interleaved(columns)
        if two is not None:
            senders[name] = two
        parted |= {f"{name} #2" if number else name: part for number, part in enumerate(parts)}
    for name in sorted(parted):
        columns, other = restamp_packets(_sort_by_stamp(parted.pop(name)))
        if not columns.size:
            continue
        if other is not None:
            stamping[name] = other
        sendings.append(_find_entity_messages(columns))
        stream = _make_stream(name, columns)
        sending_streams.append(stream)
    streams = _share_numbers([one for one in sending_streams if len(one.times) >= FEWEST_STATES])
    messages = _merge_messages(sendings)
    if messages is not None:
        messages = _mark_idle_times(messages, streams)
        messages = _mark_own_idle_times(messages, sending_streams)
    return Traffic(
        tuple(streams), messages, packets, entities, stamping=stamping, senders=senders, wraps=wraps
    )


def _select_packets(columns: Floats, wanted: Flags) -> Floats:
    """Return the packets that ``wanted`` marks, without a copy if all are wanted."""
    return columns if wanted.all() else columns[..., wanted]


def _drop_infinite_packets(columns: Floats) -> Floats:
    """Return the packets with a finite time and position.

    Other numbers that are not finite become NaN. The table is changed in place if all packets are
    kept.
    """
    for place, column in enumerate(columns):
        clean_numbers(column, SMALLEST, LARGEST, STEPS if place in (TIME, ARRIVAL) else 0.0)
    # a sum is NaN where one of them is
    return _select_packets(columns, np.isfinite(columns[TIME] + columns[POSITION].sum(axis=0)))


def _sort_by_stamp(columns: Floats) -> Floats:
    """Return the packets sorted by stamp; packets with the same stamp are in any order."""
    if (np.diff(columns[TIME]) >= 0).all():
        return columns
    return columns[:, np.argsort(columns[TIME], kind="stable")]


def _sort_equal_times(times: Floats, *others: Floats) -> Numbers:
    """Return the indices that sort packets of equal times by the other columns."""
    places = np.arange(len(times))
    same = ~mark_changes(times)
    tied = np.flatnonzero(same | np.append(same[1:], False))
    if len(tied):
        places[tied] = tied[np.lexsort([other[tied] for other in (*others[::-1], times)])]
    return places


def _make_stream(name: str, columns: Floats) -> Stream:
    came = columns[SEQUENCE]
    if not (np.diff(came) > 0).all():
        came = list_distinct(came[np.isfinite(came)])
    new = mark_changes(columns[TIME])
    if not new.all():
        # the first that arrived of several with one stamp: later ones are copies
        state = (*columns[VELOCITY][::-1], *columns[POSITION][::-1])
        order = _sort_equal_times(columns[TIME], columns[ARRIVAL], columns[SEQUENCE], *state)
        columns = columns[:, order[new]]
    stream = Stream(
        name,
        columns[TIME],
        columns[POSITION].T,
        columns[VELOCITY].T,
        columns[ARRIVAL],
        columns[SEQUENCE],
        columns[TELEPORT] > 0,
        columns[TURN].T,
        came,
    )
    return _number_packets(stream) if stream.numbered else stream


def _number_packets(stream: Stream) -> Stream:
    """Renumber the packets of a stream whose numbers count ticks and skip ticks at rest."""
    if not (len(stream.times) >= FEWEST_STATES and (stream.steps > 0).mean() > 0.5):
        return stream
    holes = np.flatnonzero(stream.missing > 0)
    ticks = np.round(stream.intervals[holes] / stream.period) - 1
    holes = holes[np.abs(ticks - stream.missing[holes]) <= 1]
    silent = stream.intervals[holes] > SILENT * stream.period
    rested = stream.mark_rested(holes)
    if int((silent & rested).sum()) < max(SEVERAL, RESTING * int(silent.sum())):
        return stream
    rests = holes[rested]
    passed = np.append(0.0, np.cumsum(stream.missing[rests] * stream.usual_gap))

    def count_ticks(numbers: Floats) -> Floats:
        before = np.searchsorted(stream.sequence[rests + 1], numbers, "right")
        return np.asarray(numbers - passed[before])

    return replace(stream, sequence=count_ticks(stream.sequence), came=count_ticks(stream.came))


def _share_numbers(streams: list[Stream]) -> list[Stream]:
    """Let streams share their sequence numbers if states with one number arrived together.

    A number that came with another entity then does not count as lost.
    """
    if all(np.array_equal(stream.came, streams[0].came) for stream in streams):
        return streams
    numbers = np.concatenate([stream.sequence for stream in streams])
    arrivals = np.concatenate([stream.arrivals for stream in streams])
    order = np.lexsort((arrivals, numbers))
    shared = np.diff(numbers[order]) == 0
    if shared.sum() < FEWEST_STATES or not (np.diff(arrivals[order])[shared] < SAME).mean() > 0.9:
        return streams
    came = list_distinct(np.concatenate([stream.came for stream in streams]))
    return [replace(stream, came=came) for stream in streams]


class _EntityMessages(NamedTuple):
    """One entity's states that arrived: stamps, first arrivals, and ranks among equal stamps."""

    times: Floats
    arrivals: Floats
    places: Numbers
    copies: int


def _find_entity_messages(columns: Floats) -> _EntityMessages:
    arrived = np.isfinite(columns[ARRIVAL])
    times, numbers, arrivals = (
        _select_packets(columns[each], arrived) for each in (TIME, SEQUENCE, ARRIVAL)
    )
    if mark_changes(times).all():
        return _EntityMessages(times, arrivals, np.zeros(len(times), np.int64), 0)
    numbers = np.nan_to_num(numbers, nan=-1.0)
    order = _sort_equal_times(times, numbers, arrivals)
    order = order[mark_changes(times[order], numbers[order], arrivals[order])]
    # a copy has the number of the first as well, if there are numbers: a clock may be set
    first = mark_changes(times[order], numbers[order])
    # without, its position: stamps may be coarse
    again, of = order[~first], order[first][np.cumsum(first) - 1][~first]
    where = _select_packets(columns, arrived)[POSITION]
    same = (numbers[again] >= 0) | (where[:, again] == where[:, of]).all(axis=0)
    copies = int(same.sum())
    times, arrivals = times[order[first]], arrivals[order[first]]
    counted = np.arange(len(times))
    places = counted - np.maximum.accumulate(np.where(mark_changes(times), counted, 0))
    return _EntityMessages(times, arrivals, places, copies)


def _merge_messages(sendings: Sequence[_EntityMessages]) -> MessageLog | None:
    if not sendings:
        return None
    times, arrivals, places = (
        parts[0] if len(parts) == 1 else np.concatenate(parts)
        for parts in list(zip(*sendings, strict=True))[:3]
    )
    copies, states = sum(sending.copies for sending in sendings), len(times)
    own: tuple[_OwnMessages, ...] = ()
    if len(sendings) > 1:
        order = np.argsort(times, kind="stable")
        if places.any():
            order = np.lexsort((places, times))
        times, arrivals, places = times[order], arrivals[order], places[order]
        begins = np.flatnonzero(mark_changes(times, places))
        of_row = np.empty(states, np.int64)
        of_row[order] = np.searchsorted(begins, np.arange(states), "right") - 1
        ends = np.cumsum([len(sending.times) for sending in sendings])[:-1]
        own = tuple(_OwnMessages(rows, None) for rows in np.split(of_row, ends))
        times, arrivals = times[begins], np.minimum.reduceat(arrivals, begins)
    found = MessageLog(times, arrivals, copies, states, own=own)
    return found if found.is_enough else None


def _mark_own_idle_times(messages: MessageLog, streams: Sequence[Stream]) -> MessageLog:
    """Return the messages with the idle times of each entity, whose streams are in their order."""
    own = []
    for one, stream in zip(messages.own, streams, strict=bool(messages.own)):
        log, idle = MessageLog(messages.sent[one.places], messages.arrivals[one.places], 0, 0), None
        if log.is_enough and len(stream.times) >= FEWEST_STATES:
            idle = _mark_idle_times(log, [stream]).idle
        own.append(one._replace(idle=idle))
    return replace(messages, own=tuple(own))


def _mark_idle_times(messages: MessageLog, streams: Sequence[Stream]) -> MessageLog:
    """Return the messages with ``idle`` set to the times in which every present entity rests."""
    long = np.flatnonzero(messages.intervals > SILENT * messages.period)
    if not len(long) or not any(len(stream.rests) for stream in streams):
        return messages
    middles = messages.sent[long] + messages.intervals[long] / 2
    rests, moves = np.zeros(len(long), bool), np.zeros(len(long), bool)
    for stream in streams:
        places = np.searchsorted(stream.times, middles) - 1
        there = (places >= 0) & (places < len(stream.times) - 1)
        rested = there & np.isin(places, stream.rests)
        rests |= rested
        moves |= there & ~rested
    long = long[rests & ~moves]
    idle = np.zeros(len(messages.sent))
    idle[long + 1] = messages.intervals[long] - messages.period
    return replace(messages, idle=idle) if len(long) else messages
