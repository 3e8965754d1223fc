"""A recording made ready for comparisons: entities, their truth at the ticks, the pacing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from epic_cli.analysis.entities import Entities, judged_entities

if TYPE_CHECKING:
    from epic_cli.analysis.truth import Truth
    from epic_cli.engine.packets import PacketBlock
    from epic_cli.engine.replay.pacing import Pacing
    from epic_cli.engine.replay.playback import Timing


@dataclass(frozen=True)
class Prepared:
    """A recording made ready to be drawn by any candidate, any number of times.

    ``arrivals`` says whether it begins with an arrival time, ``offset`` is the one of ``compare``.
    """

    entities: Entities
    timing: Timing
    arrivals: bool
    offset: float

    @property
    def by_arrival(self) -> bool:
        """Whether packets meet ticks by when they arrive."""
        return self.timing.in_force(self.arrivals)[1] == "arrival"

    @property
    def tick(self) -> float:
        """Seconds from one row to the next."""
        return self.timing.tick[0] / self.timing.tick[1]

    def pacing(self) -> Pacing:
        """A new pacing."""
        return self.timing.resolve(self.arrivals)


def prepare(
    packets: Mapping[str, PacketBlock],
    timing: Timing,
    truths: Mapping[str, Truth] | None = None,
    *,
    offset: float = 0.0,
    warm_up: float | None = None,
) -> Prepared:
    """What every candidate's run over these packets needs; see ``compare``, which raises alike."""
    arrivals = bool(packets) and next(iter(packets.values())).begins_with_arrival()
    by_arrival = timing.in_force(arrivals)[1] == "arrival"
    latency = (timing.latency or 0.0) if by_arrival else None
    tick = timing.tick[0] / timing.tick[1]
    entities = judged_entities(
        packets, truths, offset, lambda: timing.resolve(arrivals), tick, warm_up, latency
    )
    return Prepared(entities, timing, arrivals, offset)
