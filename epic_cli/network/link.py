"""A network link, one packet at a time: send it at a time, and learn when it arrives."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from epic_cli.network.delay import DISTRIBUTIONS, Delays, Distribution
from epic_cli.network.loss import GilbertElliott, Losses
from epic_cli.network.randomness import stream

#: Seconds; a greater latency or jitter is taken for a mistake in the unit.
LONGEST_DELAY = 60.0


class Channel(Protocol):
    """What carries packets: a simulated link or a recorded network."""

    def send(self, time: float) -> tuple[float, ...]:
        """When a packet sent at ``time`` (seconds, never going back) arrives.

        No time: it is lost. Two: it is duplicated.
        """

    def ended(self, time: float) -> bool:
        """Nothing can be sent at ``time`` any more: the recording has ended."""


def _check(name: str, value: float, highest: float) -> None:
    if not 0 <= value <= highest:
        raise ValueError(f"{name} is {value}: it must be 0 to {highest:g}")


@dataclass(frozen=True)
class LinkConditions:
    """How bad a link is, in the words of Linux netem; the same in both directions.

    ``latency`` and ``jitter`` in seconds (0 to 60), ``distribution`` and ``correlation`` of the
    delays as in ``Delays``. ``loss`` is a share, or a ``GilbertElliott`` model. ``duplicate`` is
    the share of packets sent twice (each copy has its own delay; a loss takes one of the two).
    ``reorder`` is the share of packets that jump the queue: they arrive without any delay.
    ``in_order``: no packet overtakes an earlier one; it arrives no earlier than that.

    Raises ``ValueError`` for conditions out of range.
    """

    latency: float = 0.0
    jitter: float = 0.0
    distribution: Distribution = "uniform"
    correlation: float = 0.0
    loss: float | GilbertElliott = 0.0
    duplicate: float = 0.0
    reorder: float = 0.0
    in_order: bool = False

    def __post_init__(self) -> None:
        _check("latency", self.latency, LONGEST_DELAY)
        _check("jitter", self.jitter, LONGEST_DELAY)
        if self.distribution not in DISTRIBUTIONS:
            known = ", ".join(DISTRIBUTIONS)
            raise ValueError(f"no distribution {self.distribution!r}: {known}")
        if not 0 <= self.correlation < 1:
            raise ValueError(f"the correlation is {self.correlation}: it must be 0 to below 1")
        if isinstance(self.loss, GilbertElliott):
            for name, value in self.loss._asdict().items():
                _check(name, value, 1)
        else:
            _check("loss", self.loss, 1)
        _check("duplicate", self.duplicate, 1)
        _check("reorder", self.reorder, 1)


#: Every packet arrives at once.
PERFECT = LinkConditions()


class Link:
    """One direction of a simulated link.

    The same seed, purpose and conditions give the same link, on every machine. Losses, delays,
    duplicates and reordering are drawn apart, so changing one leaves the others as they were.
    The two directions of a connection are two links with different purposes.
    """

    def __init__(
        self, conditions: LinkConditions = PERFECT, *, seed: int = 0, purpose: str = "link"
    ) -> None:
        self._conditions = conditions
        self._losses = Losses(conditions.loss, seed, f"{purpose}/loss")
        delay = (conditions.latency, conditions.jitter, conditions.distribution,
                 conditions.correlation, seed)  # fmt: skip
        self._delays = Delays(*delay, f"{purpose}/delay")
        self._copy_delays = Delays(*delay, f"{purpose}/duplicate delay")
        self._duplicates = stream(seed, f"{purpose}/duplicate")
        self._reordering = stream(seed, f"{purpose}/reorder")
        self._last = float("-inf")

    def send(self, time: float) -> tuple[float, ...]:
        """When a packet sent at ``time`` (seconds) arrives: no time, one or two, in order."""
        lost = self._losses.next()
        duplicated = self._duplicates.random() < self._conditions.duplicate
        delays = (self._delays.next(), self._copy_delays.next())
        jumps = self._reordering.random() < self._conditions.reorder
        copies = 1 + duplicated - lost
        arrivals = sorted(time + (0.0 if jumps else delay) for delay in delays[:copies])
        if self._conditions.in_order:
            arrivals = [max(arrival, self._last) for arrival in arrivals]
            self._last = max(arrivals, default=self._last)
        return tuple(arrivals)

    def ended(self, time: float) -> bool:
        """A simulated link never ends."""
        del time
        return False
