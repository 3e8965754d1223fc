"""The receiving of a running game's packets while packets can also be typed."""

from __future__ import annotations

import asyncio
import contextlib
import math
from collections.abc import Awaitable, Callable
from functools import partial

from epic_cli.engine.packets import Entities, PacketBlock, SampleBlock, VelocityFiller
from epic_cli.engine.replay.strategy_spec import StrategySpec
from epic_cli.engine.text import RowWriter, TextScanner
from epic_cli.live.consumer import Consumer
from epic_cli.live.listener import Endpoint, Listener, ListenSpec
from epic_cli.live.reports import describe_clock_reset, describe_losses, summarize_listening
from epic_cli.recordings.addresses import Address
from epic_cli.recordings.datagrams.counts import Counts
from epic_cli.recordings.entries.text import write_packet_line
from epic_cli.recordings.files import CannotAccess, raise_cannot_access
from epic_cli.recordings.writing import Unwritable
from epic_cli.session.state import Session
from epic_cli.session.terminal import Screen, describe_failure

#: The number of packets at which a session stops listening, since it keeps all.
_MOST_PACKETS = 1_000_000

#: The interval (s) between rows: a tenth of a second is soon enough for a reader.
_EVERY = (1, 10)


class Listening(Consumer):
    """A socket that receives packets for a session, with arrivals on its own clock.

    ``record`` stores the lines of the packets; ``ended`` is called when listening ends by itself.

    While a line is being typed, ``run`` listens beside it; otherwise the kernel queues the packets,
    with their times, until ``catch_up``. While it is ``paused``, packets are taken and their rows
    not shown. Raises ``CannotAccess``.
    """

    def __init__(
        self,
        session: Session,
        screen: Screen,
        address: Address,
        record: Callable[[bytes], object],
        ended: Callable[[], object],
    ) -> None:
        self._session = session
        self._screen = screen
        self._record = record
        self._ended = ended
        # the session draws; the ticks only wake it
        spec = ListenSpec(Endpoint(address), strategy=StrategySpec(), tick=_EVERY)
        with raise_cannot_access("listen on", address):
            self._listener = Listener(spec, [self])
        self.address = self._listener.address
        self.paused = False
        self.unwritable = 0
        self._filler = VelocityFiller()
        self._pending: list[bytes] = []
        self._awake: asyncio.Event | None = None
        self._message = ""  # shown with the next rows
        self._has_refused = False
        self._clock_resets = 0

    @property
    def counts(self) -> Counts:
        """The numbers of received packets and datagrams."""
        return self._listener.counts

    @property
    def refused(self) -> int:
        """The number of packets or datagrams that were refused."""
        return sum(self.counts.refused.values()) + self.unwritable

    @property
    def now(self) -> float | None:
        """The receiver's time (s); None before the first packet, which starts the clock."""
        return None if self._listener.drawn_up_to == -math.inf else self._listener.drawn_up_to

    @property
    def words(self) -> str:
        """The address and the number of refusals, as the toolbar shows them."""
        refused = f", {self.refused:,} not taken" if self.refused else ""
        return f"{'PAUSED' if self.paused else 'listening'} on {self.address}{refused}"

    async def run(
        self, show: Callable[[Callable[[], None]], Awaitable[None]], refresh: Callable[[], object]
    ) -> None:
        """Listen until the task is cancelled.

        ``show`` calls a function that writes rows above the typed line; ``refresh`` redraws the
        counts.
        """
        self._awake = awake = asyncio.Event()
        job = asyncio.ensure_future(self._listener.run())
        job.add_done_callback(lambda _: awake.set())
        try:
            while not job.done():
                await awake.wait()
                awake.clear()
                write = self._take_due_packets()
                if write is None:
                    refresh()
                else:
                    await show(write)
            await show(partial(self._report_end, str(job.exception())))
        finally:
            self._awake = None
            job.cancel()
            with contextlib.suppress(asyncio.CancelledError, OSError):
                await job

    def _report_end(self, why: str) -> None:
        self._screen.complain(f"stopped listening on {self.address}: {why}")
        self._ended()

    def catch_up(self) -> None:
        """Add the packets received since the last call, and write their rows."""
        while self._listener.step():
            pass
        write = self._take_due_packets()
        if write is not None:
            write()

    def _take_due_packets(self) -> Callable[[], None] | None:
        """Add the received packets to the session.

        Return a function that writes their rows, or None without rows.
        """
        rows: list[bytes] = []

        def draw(samples: SampleBlock) -> None:
            rows.append(self._make_writer().rows(samples, self._session.entities))

        text, self._pending = b"".join(self._pending), []
        message, self._message = self._message, ""
        try:
            if self.now is not None:
                if text:
                    self._session.add(text, draw, self._record)
                self._session.advance(self.now, draw)
        except CannotAccess:
            raise
        except Exception as error:  # a strategy of another package may raise anything
            return partial(self._report_end, describe_failure(error))
        if len(self._session.lines) > _MOST_PACKETS:
            return partial(self._report_end, f"the session has {_MOST_PACKETS:,} packets")
        if self.paused:
            rows = []
        return partial(self._write_rows, b"".join(rows), message) if rows or message else None

    def _write_rows(self, rows: bytes, message: str) -> None:
        if message:
            self._screen.warn(message)
        lines = rows.splitlines(keepends=True)
        left_out = len(lines) - self._screen.room
        if left_out > 0:
            self._screen.say(f"... {left_out:,} rows before these", "dim")
        if lines:
            self._screen.draw(b"".join(lines[-self._screen.room :]), self._make_writer())

    def _make_writer(self) -> RowWriter:
        return self._screen.make_writer(self._session.named, self._session.turns)

    def _wake_session(self) -> None:
        if self._awake is not None:
            self._awake.set()

    def take_samples(self, samples: SampleBlock, entities: Entities) -> None:
        """Wake the session, as rows are due."""
        del samples, entities
        self._wake_session()

    def take_packets(self, block: PacketBlock) -> None:
        """Store packets as text until their rows are due."""
        self._filler.fill(block)
        for index in range(len(block)):
            try:
                self._pending.append(f"{write_packet_line(block[index])}\n".encode())
            except Unwritable:
                self.unwritable += 1

    @property
    def _drop_counts(self) -> tuple[int, int]:
        return self._listener.receiving.dropped, self._listener.receiving.queue

    def take_counts(self, counts: Counts) -> None:
        """Show the reason of the first refusal; later refusals are counted in the toolbar."""
        if counts.refused and not self._has_refused:
            self._has_refused = True
            self._message = describe_losses(counts, *self._drop_counts).rstrip()
            self._wake_session()
        elif counts.clock_resets > self._clock_resets:
            self._message = describe_clock_reset(counts)
            self._wake_session()
        self._clock_resets = counts.clock_resets

    def stamp_arrivals(self, text: bytes) -> bytes:
        """Give typed packets the current arrival time, unless they have one."""
        return b"".join(self._add_arrival(line) for line in text.splitlines(keepends=True))

    def _add_arrival(self, line: bytes) -> bytes:
        block = TextScanner().scan(line, final=True)
        if len(block) != 1 or block[0].arrival is not None:
            return line
        bare = line.rstrip(b"\r\n")
        return bare + f" arrival={self.now:.6f}".encode() + line[len(bare) :]

    def end(self) -> str:
        """Stop listening; return a message about the received packets."""
        words = summarize_listening(self.counts, len(self._listener.entities), *self._drop_counts)
        self._listener.close()
        if self.unwritable:
            words += f"{self.unwritable:,} not kept: packet text cannot hold their names\n"
        return words
