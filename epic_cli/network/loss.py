"""Losses that come in bursts."""

from __future__ import annotations

from typing import NamedTuple

from epic_cli.engine.quantities import parse


class GilbertElliott(NamedTuple):
    """A link that is now good, now bad, in the letters of the literature and of netem.

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
            raise ValueError(f"{text!r} has more than the four numbers P,R,1-H,1-K")
        p, *rest = (parse(part, "") for part in parts)
        for part, share in zip(parts, (p, *rest), strict=True):
            if not 0 <= share <= 1:
                raise ValueError(f"{part!r} is out of range: it must be 0 to 1, or 0% to 100%")
        return cls(p, *(rest or [1 - p]))
