"""What pages see of a running game: the screen of ``epic listen`` without its lines."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from epic_cli.live.model.history import ROW, History
from epic_cli.live.proxy.watch import WatchDrawing
from epic_cli.live.screen.map import ASCII
from epic_cli.live.screen.sight import Sight
from epic_cli.metrics.turns import forward

if TYPE_CHECKING:
    from epic_cli.engine.packets import Entities, PacketBlock, SampleBlock
    from epic_cli.engine.replay.strategy_spec import StrategySpec
    from epic_cli.live.listener import Listener, ListenSpec
    from epic_cli.live.proxy.watch import Watch
    from epic_cli.live.receiving import Reception
    from epic_cli.live.recording import Recording

#: How an entity is drawn, as the page reads it: where, where it heads (0: nobody knows), status.
STATE = np.dtype([("position", "f8", 3), ("heading", "f4", 3), ("status", "i4")])

#: Seconds from one look at the figures to the next, and entities up to which all are measured.
_LOOK, _MEASURED = 0.1, 1000


class View(Sight):
    """What pages see of a listener, or of one direction of a proxy, which ``sends``.

    ``state`` (``STATE``) is how each entity was drawn last, by its number; ``fresh`` are the
    packets of the last step.
    """

    def __init__(
        self,
        source: Listener | Watch,
        spec: ListenSpec,
        where: str,
        receiving: Reception,
        recordings: Sequence[Recording],
        settled: Callable[[], float],
        sends: bool = False,
    ) -> None:
        truth = History(source.entities) if sends else None
        super().__init__(spec, where, receiving, recordings, ASCII, truth)
        assert spec.strategy is not None
        self.where, self.lead, self.tick = where, spec.strategy, spec.tick
        self.drawing = WatchDrawing(source, spec, settled, [self], truth.take if truth else None)
        self.follow(self.drawing)
        self.history, self.events = self._live, self._log.events
        self.state = np.zeros(0, STATE)
        self.fresh: list[PacketBlock] = []
        self._looked = -math.inf

    def take_packets(self, block: PacketBlock) -> None:
        """Packets came in."""
        super().take_packets(block)
        self.fresh.append(block)

    def take_samples(self, samples: SampleBlock, entities: Entities) -> None:
        """Samples were drawn."""
        super().take_samples(samples, entities)
        more = max(len(entities) - len(self.state), 0)
        self.state = np.concatenate((self.state, np.zeros(more, STATE))) if more else self.state
        rows = np.frombuffer(samples.rows(), ROW)
        for name in ("position", "status"):
            self.state[name][rows["entity"]] = rows[name]
        rotations = np.frombuffer(samples.turns()).reshape(-1, 7)[:, :4]
        if not np.isnan(rotations[:, 0]).all():
            self.state["heading"][rows["entity"]] = np.nan_to_num(forward(rotations))

    def change(self, strategy: StrategySpec) -> None:
        """Draws by another strategy; raises ``StrategyFailed`` and ``ValueError``."""
        strategy.make()
        self.history.redraw()
        self.drawing.change_strategy(strategy, self.history.blocks(), self.history.draw)
        self._hindsight.forget()
        self.lead = strategy

    def step(self, now: float) -> None:
        """Takes what has come, and draws what is due; ``now`` on any clock (s)."""
        self.fresh.clear()
        self.drawing.step()
        if now - self._looked >= _LOOK:
            self._looked = now
            if len(self.history.newest) > _MEASURED:
                self._followed = ""  # nobody
            self.advance(now)

    def words(self) -> dict[str, Any]:
        """What comes in, in words, and the longest delay (s) of each second."""
        delays = self._traffic.flow.history
        return {
            "traffic": self._coming(),
            "news": self._messages(),
            "figures": self._hindsight.figures(),
            "worst": self._hindsight.worst() or "",
            "delays": [None if math.isnan(one) else round(one, 6) for one in delays],
        }
