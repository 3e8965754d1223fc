"""A network link, one packet at a time: send it at a time, and learn when it arrives."""

from __future__ import annotations

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


class Link:
    """One direction of a simulated link, in the words of Linux netem.

    ``latency`` and ``jitter`` in seconds (0 to 60), ``distribution`` and ``correlation`` of the
    delays as in ``Delays``. ``loss`` is a share, or a ``GilbertElliott`` model. ``duplicate`` is
    the share of packets sent twice (each copy has its own delay; a loss takes one of the two).
    ``reorder`` is the share of packets that jump the queue: they arrive without any delay.
    ``in_order``: no packet overtakes an earlier one; it arrives no earlier than that.

    The same seed, purpose and conditions give the same link, on every machine. Losses, delays,
    duplicates and reordering are drawn apart, so changing one leaves the others as they were.
    The two directions of a connection are two links with different purposes.

    Raises ``ValueError`` for conditions out of range.
    """

    def __init__(
        self,
        *,
        latency: float = 0.0,
        jitter: float = 0.0,
        distribution: Distribution = "uniform",
        correlation: float = 0.0,
        loss: float | GilbertElliott = 0.0,
        duplicate: float = 0.0,
        reorder: float = 0.0,
        in_order: bool = False,
        seed: int = 0,
        purpose: str = "link",
    ) -> None:
        _check("latency", latency, LONGEST_DELAY)
        _check("jitter", jitter, LONGEST_DELAY)
        if distribution not in DISTRIBUTIONS:
            raise ValueError(f"no distribution {distribution!r}: {', '.join(DISTRIBUTIONS)}")
        if not 0 <= correlation < 1:
            raise ValueError(f"the correlation is {correlation}: it is 0 to below 1")
        model = loss if isinstance(loss, GilbertElliott) else GilbertElliott(0, 1, 1, loss)
        for name, value in model._asdict().items():
            _check("loss" if model is not loss else name, value, 1)
        _check("duplicate", duplicate, 1)
        _check("reorder", reorder, 1)
        self._losses = Losses(model, seed, f"{purpose}/loss")
        delay = (latency, jitter, distribution, correlation, seed)
        self._delays = Delays(*delay, f"{purpose}/delay")
        self._copy_delays = Delays(*delay, f"{purpose}/duplicate delay")
        self._duplicate = duplicate
        self._duplicates = stream(seed, f"{purpose}/duplicate")
        self._reorder = reorder
        self._reordering = stream(seed, f"{purpose}/reorder")
        self._in_order = in_order
        self._last = float("-inf")

    def send(self, time: float) -> tuple[float, ...]:
        """When a packet sent at ``time`` (seconds) arrives: no time, one or two, in order."""
        lost = self._losses.next()
        duplicated = self._duplicates.random() < self._duplicate
        delays = (self._delays.next(), self._copy_delays.next())
        jumps = self._reordering.random() < self._reorder
        copies = 1 + duplicated - lost
        arrivals = sorted(time + (0.0 if jumps else delay) for delay in delays[:copies])
        if self._in_order:
            arrivals = [max(arrival, self._last) for arrival in arrivals]
            self._last = max(arrivals, default=self._last)
        return tuple(arrivals)

    def ended(self, time: float) -> bool:
        """A simulated link never ends."""
        del time
        return False


def _check(name: str, value: float, highest: float) -> None:
    if not 0 <= value <= highest:
        raise ValueError(f"{name} is {value}: it is 0 to {highest:g}")
