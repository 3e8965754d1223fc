"""Which packets of strangers are let in, with times on the receiver's clock."""

from __future__ import annotations

import math
from array import array
from collections import Counter
from collections.abc import Callable, Sequence
from typing import NamedTuple

from epic_cli.engine.intake.admission import Admission
from epic_cli.engine.link.transit import Tally
from epic_cli.engine.packets import Entities, PacketBlock
from epic_cli.live.decoding import Decoded
from epic_cli.live.refused import Refused

#: Characters of an entity's name.
_LONGEST_NAME = 64

#: What the engine refuses by itself, in its order.
_BY_NUMBERS = (Refused.NOT_FINITE, Refused.FAR_TIME, Refused.UNRECORDABLE)


class Limits(NamedTuple):
    """What a recording has no place for."""

    needs_velocity: bool = False
    takes_delta: bool = True
    takes_name: Callable[[str], bool] = lambda _: True


class Anew(NamedTuple):
    """How often a sender's clock began anew, and by how much (s) it had gone back the last time."""

    times: int
    step: float


class PacketFilter:
    """Lets packets in; what it keeps does not grow beyond the names of ``most_entities``.

    The receiver's clock starts with the first packet, at the time that the packet has: its delay
    is taken for 0. Where a sender's clock begins anew, his times go on at the receiver's.
    ``origin`` (seconds) becomes 0; None: the first packet's time, if that is a Unix time; NaN: the
    first packet's time. With ``only`` other entities are passed over; with ``single`` there is but
    one. What does not keep to ``limits`` is refused. ``refused`` counts what is not let in,
    ``delays`` those of what is.
    """

    def __init__(
        self,
        most_entities: int,
        origin: float | None = None,
        only: str | None = None,
        single: bool = False,
        limits: Limits | None = None,
    ) -> None:
        self._most = most_entities
        self._only = only
        self._single = single
        self._limits = limits or Limits()
        self.delays = Tally()
        self.refused: Counter[Refused] = Counter()
        self._admission = Admission(
            self._refuses_name,
            _BY_NUMBERS,
            self.delays,
            origin=origin,
            needs_velocity=self._limits.needs_velocity,
            takes_delta=self._limits.takes_delta,
        )

    @property
    def entities(self) -> Entities:
        """Those that have been let in."""
        return self._admission.entities

    @property
    def packets(self) -> int:
        """How many have been let in."""
        return self._admission.packets

    @property
    def late(self) -> int:
        """How many of them had a time before that of one that came before them."""
        return self._admission.late

    @property
    def anew(self) -> Anew:
        """Of the senders' clocks, which ones were set."""
        return Anew(self._admission.anew, self._admission.step)

    @property
    def drifts(self) -> list[float | None]:
        """By sender: how much longer (s) a delay gets in a second; None: not told yet."""
        return self._admission.drifts()

    def now(self, machine: float) -> float | None:
        """The receiver's clock at a time (seconds) of the machine's; None: it has not begun."""
        return self._admission.now(machine)

    def admit(
        self,
        decoded: Decoded,
        times: Sequence[float],
        senders: Sequence[int],
        earliest: float = -math.inf,
        into: PacketBlock | None = None,
    ) -> PacketBlock:
        """Puts what is let in behind the packets of ``into``, and counts the rest.

        ``times`` are when the datagrams came in, on the machine's clock in seconds, ``senders``
        small numbers of those who sent them. No arrival is before the one before it, nor before
        ``earliest``, up to which rows have been drawn.
        """
        into = PacketBlock(self.entities) if into is None else into
        if decoded.refused:
            self.refused[decoded.reason] += decoded.refused
        if decoded.block is not None:
            found = self._admission.admit(
                decoded.block,
                decoded.ends.tobytes(),
                array("d", times).tobytes(),
                array("i", senders).tobytes(),
                earliest,
                into,
            )
            for reason, count in found.items():
                assert isinstance(reason, Refused)
                self.refused[reason] += count
        return into

    def _refuses_name(self, name: str) -> Refused | bool | None:
        """Why a new entity is not let in; False: it is passed over."""
        if self._only is not None and name != self._only:
            return False
        if len(name) > _LONGEST_NAME or not name.isprintable() or name != name.strip():
            return Refused.BAD_NAME
        if self._single and len(self.entities):
            return Refused.SECOND_ENTITY
        if len(self.entities) >= self._most:
            return Refused.TOO_MANY_ENTITIES
        return None if self._limits.takes_name(name) else Refused.UNRECORDABLE
