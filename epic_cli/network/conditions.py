"""How bad a link is, from the first packet on and from later times on."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Literal, NamedTuple

from epic_cli.engine.quantities import parse
from epic_cli.network.loss import GilbertElliott

Distribution = Literal["uniform", "normal", "pareto", "paretonormal", "gamma", "pareto-unbounded"]
DISTRIBUTIONS: tuple[Distribution, ...] = (
    "uniform", "normal", "pareto", "paretonormal", "gamma", "pareto-unbounded",
)  # fmt: skip

#: Seconds; a greater latency or jitter is taken for a mistake in the unit.
LONGEST_DELAY = 60.0

HIGHEST_CORRELATION = 0.9999

#: Bits a second.
LOWEST_RATE = 1.0

#: Bytes of a packet on the wire.
LARGEST_PACKET = 65535

#: Packets.
LONGEST_QUEUE = 1_000_000
LARGEST_GAP = 1_000_000


class QueueLimit(NamedTuple):
    """How much may wait to be sent: so many seconds, or so many packets; None: no such limit."""

    seconds: float | None = None
    packets: int | None = None

    @classmethod
    def parse(cls, text: str) -> QueueLimit:
        """``50ms`` or ``20 packets``; raises ``ValueError``."""
        number, found, rest = text.strip().lower().partition("packet")
        if found and rest in ("", "s") and number.strip().isdecimal() and len(number) <= 10:
            return cls(packets=int(number))
        try:
            return cls(seconds=parse(text, "s"))
        except ValueError:
            raise ValueError(
                f"{text!r} is not a queue: write 50ms or 20packets (units: s, ms, us, packets)"
            ) from None

    def __str__(self) -> str:
        return f"{self.packets}packets" if self.seconds is None else repr(self.seconds)


#: What netem and many network cards have.
DEFAULT_QUEUE = QueueLimit(packets=1000)


def _check(name: str, value: float, highest: float, lowest: float = 0) -> None:
    if not lowest <= value <= highest:
        raise ValueError(f"{name} is {value}: it must be {lowest:g} to {highest:g}")


@dataclass(frozen=True)
class LinkConditions:
    """How bad a link is, in the words of Linux netem; the same in both directions.

    ``latency`` and ``jitter`` are in seconds (0 to 60). No delay is below 0: one that would be is
    clipped, and counted. By ``distribution`` the delays are

    - ``uniform``: the jitter is the greatest deviation from the latency, as in netem;
    - ``normal``: it is the standard deviation;
    - ``pareto``: netem's. Its table is min(4/3 (u^(-1/3) - 3/2), 4) at its n-th of 4,096 places,
      u = 1 - n/4096 (iproute2's ``pareto.dist`` to its last digit): a Pareto distribution of shape
      3, scaled by its variance instead of the root of that, and cut off. So no delay is more than
      4 jitters above the latency; the mean is 0.033 jitters below it, the standard deviation
      0.82 jitters;
    - ``paretonormal``: netem's, a quarter of the normal quantile (which ends at 4) and three
      quarters of the Pareto one (``paretonormal.dist`` to its last digit);
    - ``gamma``: shape 2; the latency is the mean, the jitter the standard deviation;
    - ``pareto-unbounded``: shape 3 with that mean and standard deviation, and no end.

    ``correlation`` (0 to below 1) is that of neighbouring delays. netem mixes the last random
    number into the next one, which narrows the distribution. Here the correlated sequence is
    normal, z' = c z + sqrt(1 - c^2) e, and is then given the wanted distribution by its quantiles
    (a Gaussian copula), so that correlation changes nothing but the order: it is c for the normal
    distribution, 6/pi asin(c/2) for the uniform one (never more than 0.018 off c), and somewhat
    below c for those with tails.

    ``loss`` is a share, or a ``GilbertElliott`` model. ``loss_correlation`` (c) makes random losses
    follow each other: after a loss the share is c + (1 - c) ``loss``, otherwise (1 - c) ``loss``,
    so that the share of all is as it was, and c the correlation of neighbours. ``duplicate`` is
    the share of packets sent twice (each copy has its own delay; a loss takes one of the two).
    ``corrupt`` is the share that comes with a wrong bit: games check a sum (UDP's, at least), so
    the packet has used the link and is thrown away. ``reorder`` is the share of packets that jump
    the queue: they arrive without any delay, ``reorder_correlation`` as for losses;
    ``reorder_gap`` N: after each that did, the next N - 1 do not.

    ``rate`` (bit/s, infinite: unlimited) is what the link can send; packets of ``packet_size``
    bytes wait in a ``queue`` that is first in, first out, and those that find it full are dropped.
    A wait in the queue and the time to send come before the delay. Of these stages a packet first
    meets loss, then duplication, the queue, and its delay, as in netem.

    ``in_order``: no packet overtakes an earlier one; it arrives no earlier than that. ``later``
    are the conditions from later times on, in seconds after the first packet, in their order;
    those have none of their own.

    Raises ``ValueError`` for conditions out of range, or that contradict each other.
    """

    latency: float = 0.0
    jitter: float = 0.0
    distribution: Distribution = "uniform"
    correlation: float = 0.0
    loss: float | GilbertElliott = 0.0
    duplicate: float = 0.0
    reorder: float = 0.0
    in_order: bool = False
    loss_correlation: float = 0.0
    reorder_gap: int = 1
    reorder_correlation: float = 0.0
    corrupt: float = 0.0
    rate: float = math.inf
    queue: QueueLimit = DEFAULT_QUEUE
    packet_size: int = 100
    later: tuple[tuple[float, LinkConditions], ...] = ()

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
            if self.loss_correlation:
                raise ValueError("loss_correlation is for random loss; gemodel has bursts anyway")
        else:
            _check("loss", self.loss, 1)
        for name in ("duplicate", "reorder", "corrupt"):
            _check(name, getattr(self, name), 1)
        for name in ("loss_correlation", "reorder_correlation"):
            _check(name, getattr(self, name), HIGHEST_CORRELATION)
        _check("reorder_gap", self.reorder_gap, LARGEST_GAP, 1)
        check_rate(self.rate)
        _check("packet_size", self.packet_size, LARGEST_PACKET, 1)
        _check("queue", self.queue.seconds or 0, LONGEST_DELAY)
        _check("queue", self.queue.packets or 0, LONGEST_QUEUE)
        self._check_later()

    def _check_later(self) -> None:
        times = [time for time, _ in self.later]
        if any(not math.isfinite(time) or time < 0 for time in times):
            raise ValueError("conditions change at times from 0 s on")
        for before, after in pairwise(times):
            if after <= before:
                raise ValueError(
                    f"{after:g} s comes after {before:g} s: put the changes in the order of time"
                )
        if any(conditions.later for _, conditions in self.later):
            raise ValueError("conditions of a later time have no later ones of their own")

    def at(self, time: float) -> LinkConditions:
        """The conditions this long (seconds) after the first packet, at a border the new ones."""
        found = replace(self, later=())
        for since, conditions in self.later:
            found = conditions if since <= time else found
        return found

    def every(self) -> Iterable[LinkConditions]:
        """These conditions, and the later ones."""
        yield self
        for _, conditions in self.later:
            yield conditions


def check_rate(rate: float) -> None:
    """Raises ``ValueError`` for a rate (bit/s) that nothing can be sent at."""
    if rate == 0:
        raise ValueError(
            "rate is 0: nothing would ever arrive; leave it away where there is no limit,"
            " or lose everything with a loss of 100%"
        )
    if not rate >= LOWEST_RATE:
        raise ValueError(f"rate is {rate}: it must be {LOWEST_RATE:g} bit/s or more")


#: Every packet arrives at once.
PERFECT = LinkConditions()
