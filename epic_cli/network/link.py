"""A network link, one packet at a time: send it at a time, and learn when it arrives."""

from __future__ import annotations

from typing import NamedTuple, Protocol

from epic_cli.engine.link import STREAMS, LinkKernel
from epic_cli.network.conditions import PERFECT, LinkConditions
from epic_cli.network.randomness import stream


class Channel(Protocol):
    """What carries packets: a simulated link or a recorded network."""

    def send(self, time: float) -> tuple[float, ...]:
        """When a packet sent at ``time`` (seconds, never going back) arrives.

        No time: it is lost. Two: it is duplicated.
        """

    def ended(self, time: float) -> bool:
        """Nothing can be sent at ``time`` any more: the recording has ended."""


class Fates(NamedTuple):
    """Copies of packets that a simulated link did something to, beside losing them at random.

    ``dropped``: a full queue had no room for them. ``corrupted``: they came with a wrong bit, and
    so were thrown away. ``clipped``: their delay would have been below 0, and they arrived at once.
    """

    dropped: int = 0
    corrupted: int = 0
    clipped: int = 0

    def __add__(self, other: Fates) -> Fates:  # type: ignore[override]
        return Fates(*(one + more for one, more in zip(self, other, strict=True)))


def fates(channel: Channel) -> Fates:
    """What a channel did to packets until now; a recorded network does nothing of this."""
    return Fates(*(getattr(channel, name, 0) for name in Fates._fields))


class Link(LinkKernel):
    """One direction of a simulated link.

    The same seed, purpose and conditions give the same link, on every machine. Losses, delays,
    duplicates, reordering and corruption are drawn apart, so changing one leaves the others as
    they were. The two directions of a connection are two links with different purposes.
    ``dropped``, ``corrupted`` and ``clipped`` are its ``Fates``.
    """

    def __init__(
        self, conditions: LinkConditions = PERFECT, *, seed: int = 0, purpose: str = "link"
    ) -> None:
        super().__init__(
            [stream(seed, f"{purpose}/{name}") for name in STREAMS],
            [(0.0, conditions), *conditions.later],
        )

    def ended(self, time: float) -> bool:
        """A simulated link never ends."""
        del time
        return False
