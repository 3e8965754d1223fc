"""A network link, one packet at a time: send it at a time, and learn when it arrives."""

from __future__ import annotations

from typing import Protocol

from epic_cli.engine.link.link import STREAMS, LinkKernel
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


class Link(LinkKernel):
    """One direction of a simulated link.

    The same seed, purpose and conditions give the same link, on every machine. Losses, delays,
    duplicates, reordering and corruption are drawn apart, so changing one leaves the others as
    they were. The two directions of a connection are two links with different purposes.

    ``dropped``, ``corrupted`` and ``clipped`` count copies of packets: those that a full queue had
    no room for, those that came with a wrong bit, and those whose delay would have been below 0.
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
