"""Packets of a running game, drawn by the real clock while they come in."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from epic_cli.engine.packets import Entities, PacketBlock, SampleBlock
from epic_cli.engine.replay.clocks import ExactClock
from epic_cli.engine.replay.pacing import ArrivalPacing
from epic_cli.engine.replay.replay import Replay
from epic_cli.live.captures.writing import RawRecording
from epic_cli.live.decoding import Decoder
from epic_cli.live.intake import Counts, Intake
from epic_cli.live.packet_filter import PacketFilter
from epic_cli.live.receiving import ReceivingSocket, machine_time
from epic_cli.live.recording import GrowingRecording
from epic_cli.live.stopping import set_or_late

if TYPE_CHECKING:
    from epic_cli.engine.contract import SmoothingStrategy
    from epic_cli.engine.replay.playback import Ratio

#: Datagrams that are read before anything is drawn, and seconds until the next are looked for.
_AT_ONCE = 512
_PAUSE = 0.002


class Listener:
    """Takes packets from a socket, records them, and draws all entities at every tick.

    The packets that came in before a tick are recorded, then applied, then the tick is drawn: what
    is drawn is what a replay of the recording draws. ``draw`` is given the samples of the ticks as
    they become due, ``report`` the counts, once a second at most. ``sender``: datagrams of others
    are refused (an address, and a port unless it is 0). ``taken`` is given the packets that are
    let in, recorded and not yet drawn.
    """

    def __init__(
        self,
        *,
        receiving: ReceivingSocket,
        decoder: Decoder,
        gate: PacketFilter,
        make_strategy: Callable[[], SmoothingStrategy],
        tick: Ratio,
        draw: Callable[[SampleBlock, Entities], object],
        report: Callable[[Counts], object],
        recording: GrowingRecording | None = None,
        raw: RawRecording | None = None,
        sender: tuple[Any, ...] | None = None,
        taken: Callable[[PacketBlock], object] | None = None,
    ) -> None:
        self._receiving = receiving
        self._gate = gate
        self._intake = Intake(decoder, gate, sender)
        self._ticks = tick
        self._tick = tick[0] / tick[1]
        self._draw = draw
        self._report = report
        self._reported = -math.inf
        self._recording = recording
        self._raw = raw
        self._taken = taken
        self._replay = self._replay_by(make_strategy)
        self._samples = SampleBlock()
        self._drawn_up_to = -math.inf
        self.counts = self._intake.counts

    @property
    def drawn_up_to(self) -> float:
        """The time (s) of the receiver's clock up to which ticks have been drawn."""
        return self._drawn_up_to

    @property
    def entities(self) -> Entities:
        """Those whose packets came in, by the numbers that packets and samples have."""
        return self._gate.entities

    def change_strategy(
        self,
        make_strategy: Callable[[], SmoothingStrategy],
        packets: Iterable[PacketBlock],
        draw: Callable[[SampleBlock], object],
    ) -> None:
        """Draws by other strategies from now on, as if they had had these ``packets``.

        They are the latest ones. ``draw`` is given what would have been drawn since. Nothing is
        changed where a strategy raises something.
        """
        replay = self.replay(make_strategy, packets, self._drawn_up_to, draw)
        self._replay.close()
        self._replay = replay

    def replay(
        self,
        make_strategy: Callable[[], SmoothingStrategy],
        packets: Iterable[PacketBlock],
        until: float,
        draw: Callable[[SampleBlock], object],
    ) -> Replay:
        """A replay of packets that came in, drawn up to a time (s) of the receiver's clock."""
        replay, samples = self._replay_by(make_strategy), SampleBlock()
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

    def _replay_by(self, make_strategy: Callable[[], SmoothingStrategy]) -> Replay:
        return Replay(make_strategy, ArrivalPacing(ExactClock(*self._ticks)), self.entities)

    async def run(self, duration: float = math.inf) -> None:
        """Listens for so many seconds; raises ``OSError`` where it cannot record."""
        loop = asyncio.get_running_loop()
        end = machine_time() + duration
        readable = asyncio.Event()
        descriptor = self._receiving.socket.fileno()
        while machine_time() < end:
            readable.clear()
            loop.add_reader(descriptor, readable.set)
            try:
                await set_or_late(readable, self._wait(end))
            finally:
                loop.remove_reader(descriptor)
            came = self.step()
            if machine_time() - self._reported >= 1:
                self._reported = machine_time()
                self._report(self.counts)
            if came:
                await asyncio.sleep(_PAUSE)  # what comes meanwhile is taken together

    def _wait(self, end: float) -> float | None:
        """Seconds until the next tick, or the end; None: nothing is due."""
        machine = machine_time()
        now = self._gate.now(machine)
        waits = [] if now is None else [(math.floor(now / self._tick) + 1) * self._tick - now]
        if end < math.inf:
            waits.append(max(end - machine, 0))
        return min(waits) + 0.0005 if waits else None

    def step(self) -> bool:
        """Takes what has come in and draws what is due; whether anything came."""
        before = machine_time()
        arrived = self._receiving.read(_AT_ONCE)
        if arrived and self._raw is not None:
            self._raw.write(arrived)
        packets = self._intake.take(arrived, self._drawn_up_to)
        if len(packets):
            if self._recording is not None:
                self._recording.write(packets)
            if self._taken is not None:
                self._taken(packets)
            self._replay.feed(packets)
            self._show()
        # where more may be waiting, ticks after the last one read are not due yet
        seen = before if len(arrived) < _AT_ONCE else min(before, arrived[-1].time)
        now = self._gate.now(seen)
        if now is not None:
            self._drawn_up_to = max(self._drawn_up_to, math.floor(now * 1e6) / 1e6)
            self._replay.advance(self._drawn_up_to)
            self._show()
        return bool(arrived)

    def _show(self) -> None:
        """Draws the ticks that are due."""
        _draw_due(self._replay, self._samples, lambda drawn: self._draw(drawn, self.entities))


def _draw_due(replay: Replay, samples: SampleBlock, draw: Callable[[SampleBlock], object]) -> None:
    more = True
    while more:
        more = replay.draw(samples)
        if len(samples):
            draw(samples)
            samples.clear()
