"""The messages that went over the network, and what the network did to them in a few figures."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from epic_cli.analysis.diagnosis.robust import Flags, Floats, Numbers, median

#: The shares of the packets for which a delay is reported.
SHARES = (0.9, 0.95, 0.99, 0.999)


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


def network_of(messages: Messages) -> Network:
    """The figures of the messages that arrived."""
    low, middle, high = (messages.delay_of(one) for one in (0.05, 0.5, 0.95))
    ordered = np.sort(waits(messages) - messages.sorted_delays[0])
    needed = tuple(float(one) for one in np.quantile(ordered, SHARES))
    return Network(1 / messages.period, middle, high - low, needed)


def waits(messages: Messages, lost: int = 0) -> Floats:
    """How long after the state before it each message came, in seconds: arrival(i) - sent(i - 1).

    A client that draws that far behind the stamps has a state to go to until it is there. With so
    many ``lost`` in between, it is the state before those. How far the clocks are apart is
    contained.
    """
    return messages.arrivals[1 + lost :] - messages.sent[: -1 - lost]
