"""The messages that went over the network, and what the network did to them in a few figures."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from epic_cli.metrics.arrays import median
from epic_cli.metrics.traffic.robust import USUAL_RATES, Flags, Floats, Numbers, concentration

#: The shares of the packets for which a delay is reported.
SHARES = (0.9, 0.95, 0.99, 0.999)

#: Receivers read once a frame at these rates; what is slower (Hz) is a batch of the sender's.
SLOWEST_FRAMES = 24
FRAME_RATES = (*(one for one in USUAL_RATES if one >= SLOWEST_FRAMES), 165, 240)

#: Gaps between arrivals that are multiples of a frame so well (mean cosine of their phases), over
#: at most so many arrivals, of those that are no longer than this (s).
ON_FRAMES, ARRIVALS, LONGEST_GAP = 0.85, 4000, 1.0

#: So many gaps that are not the usual one tell, or so few that are such multiples.
ENOUGH_GAPS, FEWEST_GAPS, EXACT = 6, 3, 0.97

#: Delays that vary by less than this share of a frame are those of a sender that is as regular.
VARIED = 0.5


@dataclass(frozen=True, eq=False)
class Messages:
    """What went over the network, in the order in which it was sent: stamps and arrivals (n).

    States of several entities with one stamp are one message, be it one datagram for all or one
    for each; it is there when the first of them is. Where a clock was set back, stamps come again.
    ``copies`` is how many of the ``states`` came twice.
    """

    sent: Floats
    arrivals: Floats
    copies: int
    states: int

    def moved(self, stamps: Floats | float, arrivals: Floats | float) -> Messages:
        """The same messages with something added to their stamps and arrivals, in the new order."""
        sent = self.sent + stamps
        order = np.argsort(sent, kind="stable")
        return replace(self, sent=sent[order], arrivals=(self.arrivals + arrivals)[order])

    def only(self, wanted: Flags) -> Messages:
        """Some of the messages."""
        return replace(self, sent=self.sent[wanted], arrivals=self.arrivals[wanted])

    @cached_property
    def delays(self) -> Floats:
        """Arrival less stamp: the network's delay, plus how far apart the two clocks are."""
        return self.arrivals - self.sent

    @cached_property
    def intervals(self) -> Floats:
        """From each stamp to the next, in seconds (n - 1)."""
        return np.diff(self.sent)

    @cached_property
    def period(self) -> float:
        """The usual interval, in seconds."""
        new = self.intervals > 0
        return median(self.intervals if new.all() else self.intervals[new])

    @cached_property
    def in_order(self) -> Numbers:
        """The places of the messages in the order in which they arrived."""
        return np.argsort(self.arrivals, kind="stable")

    @cached_property
    def sorted_delays(self) -> Floats:
        """The delays, the least first."""
        return np.sort(self.delays)

    @cached_property
    def frame(self) -> float:
        """Seconds between two frames of a receiver that reads once a frame; 0: it always reads.

        Arrivals are then late by up to a frame, together where several are read in one, and beat
        against the sender's ticks. Gaps between them show it wherever frames begin.
        """
        begin = max(0, (len(self.arrivals) - ARRIVALS) // 2)
        some = np.sort(self.arrivals[begin : begin + ARRIVALS])
        gaps = np.diff(some)
        gaps = gaps[(gaps > 1e-6) & (gaps < LONGEST_GAP)]
        if not len(gaps):
            return 0.0
        usual, other = median(gaps), gaps
        if abs(usual - self.period) < 0.3 * self.period:
            # those of a regular sender are multiples of anything
            other = gaps[np.abs(gaps - usual) > 0.1 * usual]
        if len(other) < FEWEST_GAPS:
            return self.period if self._slips() else 0.0
        times = self.sent - self.sent.mean()  # two clocks that run apart are no frames
        line = times * (times @ self.delays / (times @ times or 1.0))
        low, high = np.quantile(self.delays - line, (0.01, 0.99)).tolist()
        varied = high - low
        least = ON_FRAMES if len(other) >= ENOUGH_GAPS else EXACT
        for rate in FRAME_RATES:
            if varied > VARIED / rate and concentration(other, 1 / rate) > least:
                turns, often = np.unique(np.round(gaps * rate).astype(int), return_counts=True)
                most = int(np.gcd.reduce(turns[often > 0.02 * len(gaps)]))
                # longer than the sender's ticks: it is a batch
                return 1 / rate if most == 1 or most / rate < 1.5 * self.period else 0.0
        return 0.0

    def _slips(self) -> bool:
        """Whether delays, all but the same, go up or down for an interval, and once leap back."""
        steps = np.diff(self.delays)
        leap = float(steps[np.abs(steps).argmax()])
        way, most = float(steps.sum()) - leap, self.period
        still = median(np.abs(steps)) < 0.03 * most
        return still and abs(abs(leap) / most - 1) < 0.1 and way * leap < 0 and abs(way) > most / 3

    def shuffled(self, random: np.random.Generator, bulk: Floats, ordered: bool = False) -> Floats:
        """Arrivals with delays drawn from the ``bulk`` of the unread ones, read in its frames.

        ``ordered``: none overtakes another.
        """
        arrivals = self.sent + random.choice(bulk, len(self.sent))
        if ordered:
            arrivals = np.maximum.accumulate(arrivals)
        return np.asarray(np.ceil(arrivals / self.frame) * self.frame if self.frame else arrivals)

    @cached_property
    def unread(self) -> Floats:
        """The delays (n) before the receiver's frames: each somewhere in the frame before."""
        if not self.frame:
            return self.delays
        waited = np.random.default_rng(0).uniform(0, self.frame, len(self.sent))
        return self.delays - waited

    @property
    def usual_delay(self) -> float:
        """The median delay."""
        return self.delay_of(0.5)

    def delay_of(self, share: float) -> float:
        """The delay that this share of the messages does not exceed."""
        return float(np.quantile(self.sorted_delays, share))


class Network(NamedTuple):
    """How often messages were sent (Hz), and in seconds: delays, and what a buffer needs.

    ``middle`` is the median delay, ``spread`` the 95 % delay less the 5 % one. ``needed`` are the
    interpolation delays behind the newest state with which the given shares of the messages are
    there in time: ``SHARES`` of arrival(i) - sent(i - 1), less the least delay. Delays contain how
    far the two clocks are apart, ``spread`` and ``needed`` do not.
    """

    rate: float
    middle: float
    spread: float
    needed: tuple[float, ...]
    frame: float = 0.0


def network_of(messages: Messages) -> Network:
    """The figures of the messages that arrived."""
    low, middle, high = (messages.delay_of(one) for one in (0.05, 0.5, 0.95))
    ordered = np.sort(waits(messages) - messages.sorted_delays[0])
    needed = tuple(float(one) for one in np.quantile(ordered, SHARES))
    return Network(1 / messages.period, middle, high - low, needed, messages.frame)


def waits(messages: Messages, lost: int = 0) -> Floats:
    """How long after each state a later one was there, in seconds.

    A client that draws that far behind the stamps has a state to go to: it need not be the next
    one, where packets overtake each other the newest of those that arrived will do. With so many
    ``lost`` in between, it is one behind those. How far the clocks are apart is contained.
    """
    first = np.minimum.accumulate(messages.arrivals[::-1])[::-1]
    return np.asarray(first[1 + lost :] - messages.sent[: -1 - lost])
