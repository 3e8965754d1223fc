"""What the network did, in a few figures that are neither good nor bad."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from epic_cli.analysis.diagnosis.traffic import Messages
    from epic_cli.analysis.truth import Floats

#: Which shares of the packets a delay is told for.
SHARES = (0.9, 0.95, 0.99, 0.999)


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

    Whoever draws that far behind the stamps has somewhere to go to until it is there. With so many
    ``lost`` in between, it is the state before those. How far the clocks are apart is contained.
    """
    return messages.arrivals[1 + lost :] - messages.sent[: -1 - lost]
