"""Packets of a running game beside those that are typed: ``:listen`` and ``:pause``."""

from __future__ import annotations

import asyncio
import contextlib
import math
from collections.abc import Awaitable, Callable
from functools import partial
from typing import TYPE_CHECKING

import click

from epic_cli.engine.packets import VelocityFiller
from epic_cli.engine.parameters import Custom
from epic_cli.engine.replay.strategy_spec import StrategySpec
from epic_cli.engine.text import TextScanner
from epic_cli.live.consumer import Consumer
from epic_cli.live.listener import Endpoint, Listener, ListenSpec
from epic_cli.live.reports import clock_reset, losses, summary
from epic_cli.metrics.digits import counted
from epic_cli.recordings.addresses import Address, parse_endpoint
from epic_cli.recordings.datagrams.counts import Counts
from epic_cli.recordings.entries.text import packet_line
from epic_cli.recordings.files import CannotAccess, accessing
from epic_cli.recordings.writing import Unwritable
from epic_cli.session.shell_commands import command
from epic_cli.session.terminal import failure
from epic_cli.shell.declared import ParameterType

if TYPE_CHECKING:
    from epic_cli.engine.packets import Entities, PacketBlock, SampleBlock
    from epic_cli.session.controller import SessionController

#: A session keeps all its packets: with more than these it listens no more.
_MOST_PACKETS = 1_000_000

#: The interval (s) between rows: a tenth of a second is soon enough for whoever reads them.
_EVERY = (1, 10)


class Listening(Consumer):
    """A socket whose packets a session takes, with arrivals on a clock of its own.

    While a line is being typed, ``run`` listens beside it; otherwise the kernel keeps what comes,
    with its times, until ``catch_up``. While it is ``paused``, packets are taken and their rows not
    shown. Raises ``CannotAccess``.
    """

    def __init__(self, controller: SessionController, address: Address) -> None:
        self._controller = controller
        # the session draws; the ticks only wake it
        spec = ListenSpec(Endpoint(address), strategy=StrategySpec(), tick=_EVERY)
        with accessing("listen on", address):
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
        """What came in."""
        return self._listener.counts

    @property
    def refused(self) -> int:
        """How many packets or datagrams were not taken."""
        return sum(self.counts.refused.values()) + self.unwritable

    @property
    def now(self) -> float | None:
        """The time (s) of the clock; None: no packet has come that it could begin with."""
        return None if self._listener.drawn_up_to == -math.inf else self._listener.drawn_up_to

    @property
    def words(self) -> str:
        """Where it listens, and what it did not take."""
        refused = f", {self.refused:,} not taken" if self.refused else ""
        return f"{'PAUSED' if self.paused else 'listening'} on {self.address}{refused}"

    async def run(
        self, show: Callable[[Callable[[], None]], Awaitable[None]], refresh: Callable[[], object]
    ) -> None:
        """Listens until it is cancelled.

        ``show`` calls what writes rows, above the typed line; ``refresh`` shows what is counted.
        """
        self._awake = awake = asyncio.Event()
        job = asyncio.ensure_future(self._listener.run())
        job.add_done_callback(lambda _: awake.set())
        try:
            while not job.done():
                await awake.wait()
                awake.clear()
                write = self._due()
                if write is None:
                    refresh()
                else:
                    await show(write)
            await show(partial(self._end, str(job.exception())))
        finally:
            self._awake = None
            job.cancel()
            with contextlib.suppress(asyncio.CancelledError, OSError):
                await job

    def _end(self, why: str) -> None:
        self._controller.screen.complain(f"{self.address} is not listened on any more: {why}")
        self._controller.end_listening()

    def catch_up(self) -> None:
        """Takes what has come in since, and writes its rows."""
        while self._listener.step():
            pass
        write = self._due()
        if write is not None:
            write()

    def _due(self) -> Callable[[], None] | None:
        """Takes what has come in; what has to be written then, None: nothing."""
        controller, rows = self._controller, b""
        text, self._pending = b"".join(self._pending), []
        message, self._message = self._message, ""
        try:
            if self.now is not None:
                rows = controller.take_live(text, self.now)
        except CannotAccess:
            raise
        except Exception as error:  # a strategy of another package may raise anything
            return partial(self._end, failure(error))
        if len(controller.session.lines) > _MOST_PACKETS:
            return partial(self._end, f"the session has {_MOST_PACKETS:,} packets")
        if self.paused:
            rows = b""
        return partial(self._write, rows, message) if rows or message else None

    def _write(self, rows: bytes, message: str) -> None:
        if message:
            self._controller.screen.warn(message)
        self._controller.draw_windowful(rows)

    def _wake(self) -> None:
        if self._awake is not None:
            self._awake.set()

    def take_samples(self, samples: SampleBlock, entities: Entities) -> None:
        """Rows are due."""
        del samples, entities
        self._wake()

    def take_packets(self, block: PacketBlock) -> None:
        """Keeps packets as text, until their rows are due."""
        self._filler.fill(block)
        for index in range(len(block)):
            try:
                self._pending.append(f"{packet_line(block[index])}\n".encode())
            except Unwritable:
                self.unwritable += 1

    @property
    def _drops(self) -> tuple[int, int]:
        return self._listener.receiving.dropped, self._listener.receiving.queue

    def take_counts(self, counts: Counts) -> None:
        """Shows once why something is refused; the toolbar counts it from then on."""
        if counts.refused and not self._has_refused:
            self._has_refused = True
            self._message = losses(counts, *self._drops).rstrip()
            self._wake()
        elif counts.clock_resets > self._clock_resets:
            self._message = clock_reset(counts)
            self._wake()
        self._clock_resets = counts.clock_resets

    def stamped(self, text: bytes) -> bytes:
        """Typed packets arrive now, unless they say when they do."""
        return b"".join(self._arriving(line) for line in text.splitlines(keepends=True))

    def _arriving(self, line: bytes) -> bytes:
        block = TextScanner().scan(line, final=True)
        if len(block) != 1 or block[0].arrival is not None:
            return line
        bare = line.rstrip(b"\r\n")
        return bare + f" arrival={self.now:.6f}".encode() + line[len(bare) :]

    def end(self) -> str:
        """Listens no more; what came in, in words."""
        words = summary(self.counts, len(self._listener.entities), *self._drops)
        self._listener.close()
        if self.unwritable:
            words += f"{self.unwritable:,} not kept, since packet text cannot hold their names\n"
        return words


_ADDRESS = Custom("address", None, "Where to listen.", "[HOST:]PORT",
                  lambda text: text if text == "off" else parse_endpoint(text), kind=Address,
                  words=lambda: [("off", None)])  # fmt: skip


@command("listen")
@click.argument(
    "address", required=False, type=ParameterType(_ADDRESS), metavar="[[HOST:]PORT|off]"
)
def listen(controller: SessionController, address: Address | str | None) -> None:
    """Take packets of a running game too, and draw their rows when they are due.

    They come as for "epic listen", over UDP, tcp:// or ws://, and are packets of the session like
    those that are typed; a packet that is typed meanwhile arrives when it is entered. Off, or
    Ctrl-C on an empty line, ends it. Without a HOST nothing is heard but this machine.
    """
    if address is None:
        listening = controller.listening
        controller.screen.say("listen off" if listening is None else listening.words)
    elif isinstance(address, str):
        if controller.listening is None:
            controller.screen.say("not listening")
        controller.stop_listening()
    else:
        _begin(controller, address)


def _begin(controller: SessionController, address: Address) -> None:
    if controller.confirm is None:
        raise click.UsageError("a script cannot listen: 'epic listen' takes packets by itself")
    session = controller.session
    if session.view.timing.pacing == "demo":
        raise click.UsageError("packets are drawn by their arrivals: ':pacing auto' first")
    if session.lines:
        count = counted(len(session.lines), "packet")
        raise click.UsageError(
            f"there are {count} of another clock: ':reset' first (:save FILE keeps them)"
        )
    controller.stop_listening()
    controller.listening = listening = Listening(controller, address)
    controller.screen.say(f"{listening.words}; :pause holds its rows back")
    if not controller.screen.has_cursor:
        controller.screen.say("this terminal can only scroll: rows come with each Enter")


@command("pause")
def pause(controller: SessionController) -> None:
    """Hold back the rows of packets that are listened to, or go on showing them.

    Packets still come in, and are kept.
    """
    listening = controller.listening
    if listening is None:
        raise click.UsageError("not listening: ':listen 9870' starts it")
    listening.paused = not listening.paused
    words = "; packets are kept, :pause goes on" if listening.paused else ""
    controller.screen.say(listening.words + words)
