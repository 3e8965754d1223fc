"""A simulated link: its conditions in the terms of netem, and the arrival of each packet."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Literal, NamedTuple, Protocol, get_args

from epic_cli.engine.link import STREAMS, LinkKernel
from epic_cli.engine.parameters import (
    Choice,
    Custom,
    Number,
    Parameter,
    Switch,
    parse_quantity,
    take_named,
)
from epic_cli.network.randomness import make_generator

Way = Literal["up", "down"]

#: To the server, and from it.
WAYS: tuple[Way, ...] = get_args(Way)

#: How packets are matched with a recorded network, and what follows its last packet.
TraceBy = Literal["time", "packet"]
TraceEnd = Literal["loop", "stop"]

#: Seconds; a larger latency, jitter or queue is probably a wrong unit.
LONGEST_DELAY = 60.0

#: Seconds; no network's fastest packet takes longer.
SLOWEST = 5.0

#: Packets.
LONGEST_QUEUE = 1_000_000


def are_clocks_apart(least: float) -> bool:
    """Return True if two clocks disagree, judged by the least arrival minus stamp (s)."""
    return not 0 <= least <= SLOWEST


class GilbertElliott(NamedTuple):
    """A link that alternates between good and bad, in the notation of the literature and netem.

    ``p`` is the probability that a good link is bad for the next packet, ``r`` that a bad one is
    good again; ``one_minus_h`` (1-h) is the share of packets that a bad link loses,
    ``one_minus_k`` (1-k) that of a good one. The link is bad for p / (p + r) of the packets, for
    1/r of them in a row. With p alone, r = 1 - p (as in netem), the losses have no bursts:
    whatever the state, the next one is bad with the probability p. The link begins good; each
    packet meets it as the packet before left it.

    E. N. Gilbert, "Capacity of a Burst-Noise Channel", Bell System Technical Journal 39 (5),
    1960 (k = 1); E. O. Elliott, "Estimates of Error Rates for Codes on Burst-Noise Channels",
    ibid. 42 (5), 1963; in these letters: G. Hasslinger, O. Hohlfeld, "The Gilbert-Elliott Model
    for Packet Loss in Real Time Services on the Internet", MMB 2008.
    """

    p: float
    r: float
    one_minus_h: float = 1.0
    one_minus_k: float = 0.0

    @classmethod
    def parse(cls, text: str) -> GilbertElliott:
        """Parse ``P,R[,1-H[,1-K]]``, or P alone as in netem; each a share.

        Raises ``ValueError``.
        """
        parts = text.split(",")
        if len(parts) > len(cls._fields):
            raise ValueError("write at most four numbers: P,R,1-H,1-K")
        p, *rest = (parse_quantity(part, "") for part in parts)
        if not all(0 <= share <= 1 for share in (p, *rest)):
            raise ValueError("P, R, 1-H and 1-K must be 0 to 1, or 0% to 100%")
        return cls(p, *(rest or [1 - p]))

    @classmethod
    def fit(cls, holes: float, lost: float, came: float) -> GilbertElliott:
        """Return the model for ``holes`` (bursts), ``lost`` packets, and packets that ``came``.

        Good turns to bad once for each burst, and bad to good at its end.
        """
        return cls(min(holes / came, 1.0), min(holes / lost, 1.0))

    def __str__(self) -> str:
        return ",".join(map(repr, self))


class QueueLimit(NamedTuple):
    """The limit of a queue in seconds or in packets; None for no such limit."""

    seconds: float | None = None
    packets: int | None = None

    @classmethod
    def parse(cls, text: str) -> QueueLimit:
        """Parse ``50ms`` or ``20 packets``; raise ``ValueError``."""
        number, found, rest = text.strip().lower().partition("packet")
        if found and rest in ("", "s") and number.strip().isdecimal() and len(number) <= 10:
            queue = cls(packets=int(number))
        else:
            try:
                queue = cls(seconds=parse_quantity(text, "s"))
            except ValueError:
                raise ValueError("write 50ms or 20packets (units: s, ms, us, packets)") from None
        if not (
            0 <= (queue.seconds or 0) <= LONGEST_DELAY
            and 0 <= (queue.packets or 0) <= LONGEST_QUEUE
        ):
            raise ValueError(f"it must be 0 to {LONGEST_DELAY:g} s or 0 to {LONGEST_QUEUE} packets")
        return queue

    def __str__(self) -> str:
        return f"{self.packets}packets" if self.seconds is None else repr(self.seconds)


#: The default of netem and many network cards.
DEFAULT_QUEUE = QueueLimit(packets=1000)


Distribution = Literal["uniform", "normal", "pareto", "paretonormal", "gamma", "pareto-unbounded"]
DISTRIBUTIONS: tuple[Distribution, ...] = get_args(Distribution)

#: 1 would be the same delay, or loss, forever.
HIGHEST_CORRELATION = 0.9999


@dataclass(frozen=True)
class LinkConditions:
    """Link conditions in the terms of Linux netem; the same in both directions.

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

    ``correlation`` (0 to 0.9999) is that of neighboring delays. netem mixes the last random
    number into the next one, which narrows the distribution. Here the correlated sequence is
    normal, z' = c z + sqrt(1 - c^2) e, and is then given the wanted distribution by its quantiles
    (a Gaussian copula), so that correlation changes nothing but the order: it is c for the normal
    distribution, 6/pi asin(c/2) for the uniform one (never more than 0.018 off c), and somewhat
    below c for those with tails.

    ``loss`` is a share, or a ``GilbertElliott`` model. ``loss_correlation`` (c) makes random losses
    follow each other: after a loss the share is c + (1 - c) ``loss``, otherwise (1 - c) ``loss``,
    so that the overall share is unchanged, and c is the correlation of neighbors. ``duplicate`` is
    the share of packets sent twice (each copy has its own delay; a loss takes one of the two).
    ``corrupt`` is the share that arrives with a wrong bit: games verify a checksum (UDP's, at
    least), so the packet has used the link and is discarded. ``reorder`` is the share of packets
    that jump
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
        has_bursts = isinstance(self.loss, GilbertElliott)
        for parameter in LINK:
            if parameter.field != "loss" or has_bursts == (parameter.name == "gemodel"):
                take_named(parameter, parameter.verify, getattr(self, parameter.field))
        if has_bursts and self.loss_correlation:
            raise ValueError("loss_correlation needs random loss: leave it out with gemodel")
        self._check_change_times()

    def _check_change_times(self) -> None:
        times = [time for time, _ in self.later]
        if any(not math.isfinite(time) or time < 0 for time in times):
            raise ValueError("conditions must change at 0 s or later")
        for before, after in pairwise(times):
            if after <= before:
                raise ValueError(
                    f"{after:g} s is listed after {before:g} s: put the changes in order of time"
                )
        if any(conditions.later for _, conditions in self.later):
            raise ValueError("conditions of a later time cannot have later changes of their own")

    def find_at(self, time: float) -> LinkConditions:
        """Return the conditions ``time`` seconds after the first packet.

        At the time of a change, the new conditions hold.
        """
        found = replace(self, later=())
        for since, conditions in self.later:
            found = conditions if since <= time else found
        return found

    def iterate_changes(self) -> Iterable[LinkConditions]:
        """Yield these conditions, then those of each later change."""
        yield self
        for _, conditions in self.later:
            yield conditions


def _make_share_parameter(name: str, help_text: str, highest: float = 1.0) -> Number:
    return Number(name, getattr(LinkConditions, name), help_text, "", 0, highest)


#: Link conditions in the terms of netem: the fields of ``LinkConditions``.
LINK: tuple[Parameter, ...] = (
    Number(
        "latency", LinkConditions.latency, "Mean delay, one way.", "s", 0, LONGEST_DELAY,
        tune=(0, 0.5),
    ),
    Number("jitter", LinkConditions.jitter, "Standard deviation of the delay. For uniform, its"
           " largest deviation.", "s", 0, LONGEST_DELAY, tune=(0, 0.2)),
    Choice("distribution", LinkConditions.distribution, "Distribution of delays; pareto and"
           " paretonormal are netem's, whose tails end at 4 jitters; gamma (shape 2) has a tail,"
           " pareto-unbounded (shape 3) a long one.", DISTRIBUTIONS),
    _make_share_parameter("correlation", "Correlation of the delays of successive packets.",
                     HIGHEST_CORRELATION),
    _make_share_parameter("loss", "Lose this share at random."),
    _make_share_parameter(
        "loss_correlation",
        "Correlation of successive losses; the loss rate stays the same.",
        HIGHEST_CORRELATION,
    ),
    Custom("gemodel", None, "Lose packets in bursts (Gilbert-Elliott): P good to bad, R bad to"
           " good, 1-H loss when bad (1), 1-K loss when good (0).", "p,r[,1-h[,1-k]]",
           GilbertElliott.parse, kind=GilbertElliott, field="loss"),
    _make_share_parameter("duplicate", "Send this share twice."),
    _make_share_parameter("corrupt", "Corrupt a bit in this share; the checksum fails, so each is"
                     " lost, and counted."),
    _make_share_parameter("reorder", "Deliver this share at once, ahead of those in flight."),
    Number("reorder_gap", LinkConditions.reorder_gap, "At most one of this many packets is"
           " delivered ahead.", "packets", 1, 1_000_000, tune=(1, 20), whole=True),
    _make_share_parameter(
        "reorder_correlation",
        "Correlation of successive packets that are delivered ahead.",
        HIGHEST_CORRELATION,
    ),
    Number("rate", LinkConditions.rate, "Send at most this many bits a second (500kbit, 1mbit);"
           " other packets wait.", "bit/s", 1, words={"unlimited": math.inf},
           tune=(8000, 2_000_000), scale="log"),
    Custom("queue", LinkConditions.queue, "Size of the queue, in time (50ms) or in packets"
           " (20packets); a full queue drops packets.", "seconds|packets",
           QueueLimit.parse, kind=QueueLimit),
    Number("packet_size", LinkConditions.packet_size, "Size of a packet on the wire, for"
           " a rate.", "bytes", 1, 65535, tune=(20, 1500), whole=True),
    Switch(
        "in_order", LinkConditions.in_order, "Let no packet overtake another, as in a single queue."
    ),
)  # fmt: skip

#: Every packet arrives at once.
PERFECT = LinkConditions()


class Channel(Protocol):
    """A channel that carries packets: a simulated link or a recorded network."""

    def send(self, time: float, size: float = 0, /) -> tuple[float, ...]:
        """Return the arrival times of a packet sent at ``time`` (s, never going back).

        An empty tuple: the packet is lost. Two times: it is duplicated.
        """

    def has_ended(self, time: float) -> bool:
        """Return True if a recorded network has ended by ``time``: nothing more can be sent."""


class Fates(NamedTuple):
    """Counts of packets that a link dropped, corrupted or clipped.

    ``dropped`` by a full queue; ``corrupted`` by a wrong bit and discarded; ``clipped``: a delay
    below 0 became 0.
    """

    dropped: int = 0
    corrupted: int = 0
    clipped: int = 0

    def __add__(self, other: Fates) -> Fates:  # type: ignore[override]
        return Fates(*(one + more for one, more in zip(self, other, strict=True)))


def fates(channel: object) -> Fates:
    """Return a channel's counts of dropped, corrupted and clipped packets.

    0 for a recorded network.
    """
    return Fates(*(getattr(channel, name, 0) for name in Fates._fields))


class Link(LinkKernel):
    """One direction of a simulated link.

    The same seed, purpose and conditions give the same link, on every machine. Losses, delays,
    duplicates, reordering and corruption are drawn independently, so changing one leaves the others
    unchanged. The two directions of a connection are two links with different purposes.
    ``dropped``, ``corrupted`` and ``clipped`` are its ``Fates``.
    """

    def __init__(
        self, conditions: LinkConditions = PERFECT, *, seed: int = 0, purpose: str = "link"
    ) -> None:
        super().__init__(
            [make_generator(seed, f"{purpose}/{name}") for name in STREAMS],
            [(0.0, conditions), *conditions.later],
        )

    def has_ended(self, time: float) -> bool:
        """Return False: a simulated link never ends."""
        del time
        return False
