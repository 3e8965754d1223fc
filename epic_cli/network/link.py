"""A network link, one packet at a time: send it at a time, and learn when it arrives."""

from __future__ import annotations

from typing import NamedTuple, Protocol

from epic_cli.engine.link import STREAMS, LinkKernel
from epic_cli.network.conditions import PERFECT, LinkConditions
from epic_cli.network.randomness import stream


class Channel(Protocol):
    """A channel for packets: a simulated link or a recorded network."""

    def send(self, time: float) -> tuple[float, ...]:
        """When a packet sent at ``time`` (seconds, never going back) arrives.

        No times: lost. Two: duplicated.
        """

    def ended(self, time: float) -> bool:
        """Whether the recording has ended by ``time``, so that nothing more can be sent."""


class Fates(NamedTuple):
    """Copies of packets affected by a simulated link in other ways than random loss.

    ``dropped``: the queue was full. ``corrupted``: they arrived with a wrong bit, and were
    discarded. ``clipped``: their delay would have been below 0, and became 0.
    """

    dropped: int = 0
    corrupted: int = 0
    clipped: int = 0

    def __add__(self, other: Fates) -> Fates:  # type: ignore[override]
        return Fates(*(one + more for one, more in zip(self, other, strict=True)))


def fates(channel: Channel) -> Fates:
    """The ``Fates`` of a channel so far; a recorded network has none."""
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
            [stream(seed, f"{purpose}/{name}") for name in STREAMS],
            [(0.0, conditions), *conditions.later],
        )

    def ended(self, time: float) -> bool:
        """A simulated link never ends."""
        del time
        return False
