"""A recorded network with a simulated link added to it."""

from __future__ import annotations

import math

from epic_cli.network.conditions import LinkConditions
from epic_cli.network.link import Link
from epic_cli.network.trace import TraceLink


class AddedLink:
    """Each packet has the delays of both, and is lost where one of them loses it.

    Both are asked for every packet at the time when it is sent, so neither changes what the other
    does. ``in_order``: no packet overtakes an earlier one, whichever of them let it.
    """

    def __init__(self, trace: TraceLink, link: Link, in_order: bool = False) -> None:
        self._trace = trace
        self._link = link
        self._in_order = in_order
        self._last = -math.inf

    def change(self, conditions: LinkConditions) -> None:
        """As of ``Link``: the recorded network goes on as it is."""
        self._link.change(conditions)
        self._in_order = conditions.in_order

    def send(self, time: float, size: float = 0) -> tuple[float, ...]:
        """When a packet sent at ``time`` (seconds, never going back) arrives; lost: no time."""
        recorded, simulated = self._trace.send(time), self._link.send(time, size)
        arrivals = [arrival + (other - time) for other in recorded for arrival in simulated]
        if self._in_order:
            arrivals = [max(arrival, self._last) for arrival in arrivals]
            self._last = max(arrivals, default=self._last)
        return tuple(arrivals)

    def ended(self, time: float) -> bool:
        """Whether the recorded network is at its end."""
        return self._trace.ended(time)

    @property
    def dropped(self) -> int:
        """As of ``Link``."""
        return self._link.dropped

    @property
    def corrupted(self) -> int:
        """As of ``Link``."""
        return self._link.corrupted

    @property
    def clipped(self) -> int:
        """As of ``Link``."""
        return self._link.clipped
