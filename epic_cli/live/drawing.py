"""Packets drawn at every tick of a clock, as they come, and passed to consumers."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

from epic_cli.engine.packets import Entities, PacketBlock, SampleBlock
from epic_cli.engine.replay import ArrivalPacing, ExactClock, Replay

if TYPE_CHECKING:
    from epic_cli.engine.replay.playback import Ratio
    from epic_cli.engine.replay.strategy_spec import StrategySpec
    from epic_cli.live.consumer import Consumer
    from epic_cli.recordings.datagrams.counts import Counts


class Drawing:
    """Draws all ``entities`` at every tick, and passes packets and samples to ``consumers``.

    The packets that arrived before a tick are passed to the consumers, then applied, then the tick
    is drawn: the samples equal those of a replay of a recording of them. Without a ``strategy``
    nothing is drawn. ``drawn_up_to`` is the time (s) of the receiver's clock up to which ticks
    have been drawn.
    """

    def __init__(
        self,
        strategy: StrategySpec | None,
        tick: Ratio,
        entities: Entities,
        consumers: Sequence[Consumer],
    ) -> None:
        self._ratio = tick
        self.entities = entities
        self.consumers = consumers
        self.drawn_up_to = -math.inf
        self._samples = SampleBlock()
        self._replay = None if strategy is None else self._replay_by(strategy)

    @property
    def missed(self) -> int:
        """Packets that came faster than they could be drawn, and were left out."""
        return 0

    @property
    def counts(self) -> Counts:
        """What came in until now."""
        raise NotImplementedError

    def until_tick(self, now: float) -> float:
        """Seconds until the tick after ``now``, a time of the receiver's clock."""
        tick = self._ratio[0] / self._ratio[1]
        return (math.floor(now / tick) + 1) * tick - now

    def draw(self, packets: PacketBlock, now: float | None) -> None:
        """Takes packets, and draws the ticks up to ``now``; None: the clock has not begun."""
        if len(packets):
            for one in self.consumers:
                one.take_packets(packets)
        if self._replay is None:
            return
        if len(packets):
            self._replay.feed(packets)
            _draw_due(self._replay, self._samples, self._show)
        if now is not None:
            self.drawn_up_to = max(self.drawn_up_to, math.floor(now * 1e6) / 1e6)
            self._replay.advance(self.drawn_up_to)
            _draw_due(self._replay, self._samples, self._show)

    def _show(self, samples: SampleBlock) -> None:
        for one in self.consumers:
            one.take_samples(samples, self.entities)

    def change_strategy(
        self,
        strategy: StrategySpec,
        packets: Iterable[PacketBlock],
        draw: Callable[[SampleBlock], object],
    ) -> None:
        """Draws by other strategies from now on, as if they had had these ``packets``.

        They are the latest ones. ``draw`` gets the samples that would have been drawn since.
        Nothing changes if a strategy raises.
        """
        replay = self.replay(strategy, packets, self.drawn_up_to, draw)
        if self._replay is not None:
            self._replay.close()
        self._replay = replay

    def replay(
        self,
        strategy: StrategySpec,
        packets: Iterable[PacketBlock],
        until: float,
        draw: Callable[[SampleBlock], object],
    ) -> Replay:
        """A replay of received packets, drawn up to a time (s) of the receiver's clock."""
        replay, samples = self._replay_by(strategy), SampleBlock()
        try:
            for block in packets:
                replay.feed(block)
                _draw_due(replay, samples, draw)
            replay.advance(until)
            _draw_due(replay, samples, draw)
        except BaseException:
            replay.close()
            raise
        return replay

    def _replay_by(self, strategy: StrategySpec) -> Replay:
        return Replay(strategy.maker(), ArrivalPacing(ExactClock(*self._ratio)), self.entities)


def _draw_due(replay: Replay, samples: SampleBlock, draw: Callable[[SampleBlock], object]) -> None:
    more = True
    while more:
        more = replay.draw(samples)
        if len(samples):
            draw(samples)
            samples.clear()
