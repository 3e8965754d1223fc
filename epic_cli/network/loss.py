"""Correlated losses: in bursts, or because a queue is full."""

from __future__ import annotations

from typing import NamedTuple

from epic_cli.engine.quantities import parse

#: Seconds; a greater latency, jitter or queue is probably a wrong unit.
LONGEST_DELAY = 60.0

#: Packets.
LONGEST_QUEUE = 1_000_000


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
        """``P,R[,1-H[,1-K]]``, or P alone as in netem; each a share. Raises ``ValueError``."""
        parts = text.split(",")
        if len(parts) > len(cls._fields):
            raise ValueError("it takes at most four numbers, P,R,1-H,1-K")
        p, *rest = (parse(part, "") for part in parts)
        if not all(0 <= share <= 1 for share in (p, *rest)):
            raise ValueError("each of its numbers must be 0 to 1, or 0% to 100%")
        return cls(p, *(rest or [1 - p]))

    def __str__(self) -> str:
        return ",".join(map(repr, self))


class QueueLimit(NamedTuple):
    """The limit of a queue: so many seconds, or so many packets; None: no such limit."""

    seconds: float | None = None
    packets: int | None = None

    @classmethod
    def parse(cls, text: str) -> QueueLimit:
        """``50ms`` or ``20 packets``; raises ``ValueError``."""
        number, found, rest = text.strip().lower().partition("packet")
        if found and rest in ("", "s") and number.strip().isdecimal() and len(number) <= 10:
            queue = cls(packets=int(number))
        else:
            try:
                queue = cls(seconds=parse(text, "s"))
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
