"""A match: clients and a server, each on its own clock, with links between them.

Everything that happens is an event at a whole microsecond of the match's time, so the same seed
and script give the same match, however it is looked at.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from heapq import heappop, heappush
from typing import NamedTuple

from epic_cli.engine.contract import SmoothingStrategy
from epic_cli.engine.strategies import create
from epic_cli.network.randomness import stream
from epic_cli.play.bots import BOTS, Decide
from epic_cli.play.changes import Change, changed
from epic_cli.play.client import Client, Identity
from epic_cli.play.direction import Delay, Direction
from epic_cli.play.events import Event, Value
from epic_cli.play.hands import ScriptedHands
from epic_cli.play.script import Script
from epic_cli.play.server import Server
from epic_cli.play.settings import MatchSettings, Seat

#: In this order at the same microsecond.
_TO_SERVER, _TO_CLIENT, _TICK, _FRAME, _CHANGE = range(5)

#: The clients' loops do not beat together: each begins so many microseconds after the last.
PHASE = 7_000


class Place(NamedTuple):
    """A seat that is taken: its client, the two directions of its link, who plays."""

    seat: Seat
    client: Client
    up: Direction
    down: Direction
    decide: Decide


class Match:
    """Runs a match up to any time; ``run_until`` may be called again and again.

    ``hands`` are players (by name) that neither the script nor a bot steers. ``on_frame`` is
    called after each frame of a client, with its place.

    Raises ``ValueError`` for settings out of range and for names that are there twice.
    """

    def __init__(
        self,
        settings: MatchSettings,
        script: Script | None = None,
        hands: Mapping[str, Decide] | None = None,
        on_frame: Callable[[Place], None] = lambda _: None,
    ) -> None:
        self.script = script or Script({}, [], [])
        for change in self.script.beginning:
            settings = changed(settings, change)
        self.settings = settings
        self.now = 0
        self.events: list[Event] = []
        self.names = [seat.name for seat in settings.seats]
        if len(set(self.names)) < len(self.names):
            raise ValueError(f"two players have the same name: {', '.join(self.names)}")
        tokens = [
            int(stream(settings.seed, f"token/{name}").random() * 2**32) for name in self.names
        ]
        self.server = Server(
            settings.rules,
            tokens,
            [seat.spawn for seat in settings.seats],
            send_rate=settings.send_rate,
            history=settings.history,
            rewind=settings.rewind,
            tell=self._tell_of_server,
        )
        self.places = [self._take_seat(n, token, hands or {}) for n, token in enumerate(tokens)]
        self.on_change: Callable[[Change], None] = lambda _: None
        self.on_frame = on_frame
        self._queue: list[tuple[int, int, int, Callable[[], None]]] = []
        self._order = 0
        self._tick_base, self._ticks = 0, 0
        self._links_changed = 0
        self._at(0, _TICK, self._tick)
        for number in range(len(self.places)):
            self._at(number * PHASE, _FRAME, partial(self._frame, number, 0))
        for time, change in self.script.changes:
            self._at(time, _CHANGE, partial(self.change, change))

    def run_until(self, seconds: float) -> None:
        """Lets everything happen up to this time, inclusive."""
        end = round(seconds * 1_000_000)
        while self._queue and self._queue[0][0] <= end:
            self.now, _, _, action = heappop(self._queue)
            action()
        self.now = max(self.now, end)

    def take_events(self) -> list[Event]:
        """What has happened since the last call."""
        events, self.events = self.events, []
        return events

    def change(self, change: Change) -> None:
        """Changes the link, the send rate or a technique, from now on; may raise ``ValueError``."""
        before = self.settings.strategy_settings()
        self.settings = settings = changed(self.settings, change)
        name = change.name
        if name in ("latency", "jitter", "loss") and settings.trace is None:
            self._links_changed += 1
            for place in self.places:
                for way in (place.up, place.down):
                    way.channel = settings.channel(f"{way.purpose}/{self._links_changed}")
                    way.delays = Delay()  # what was measured is of the link as it is now
        elif name == "send_rate":
            self.server.send_rate = settings.send_rate
        elif name == "rewind":
            self.server.armoury.rewind = settings.rewind
        follows = name in ("latency", "jitter", "send_rate")
        for place in self.places:
            local = place.client.local
            local.mode, local.smoothed.duration = settings.local, settings.smoothing
            if name.startswith("remote") or (follows and settings.strategy_settings() != before):
                for remote in place.client.remotes.values():
                    remote.change_strategy(self._make_strategy)
        self.on_change(change)
        self._add_event("match", "set", "", {"change": str(change)})

    def sit_down(self, player: int, decide: Decide) -> None:
        """Lets somebody else play this player from now on."""
        self.places[player] = self.places[player]._replace(decide=decide)

    def _make_strategy(self) -> SmoothingStrategy:
        settings = self.settings
        made: SmoothingStrategy = create(settings.remote_strategy, settings.strategy_settings())
        return made

    def _take_seat(self, number: int, token: int, hands: Mapping[str, Decide]) -> Place:
        settings, seat = self.settings, self.settings.seats[number]
        client = Client(
            Identity(number, self.names, token),
            settings.rules,
            seat.spawn,
            settings.local,
            settings.smoothing,
            self._make_strategy,
            lambda what, details: self._add_event(seat.name, what, seat.name, details),
        )
        up, down = f"up/{seat.name}", f"down/{seat.name}"
        return Place(
            seat,
            client,
            Direction(up, settings.channel(up)),
            Direction(down, settings.channel(down)),
            hands.get(seat.name) or self._player(seat),
        )

    def _player(self, seat: Seat) -> Decide:
        if seat.name in self.script.inputs:
            numbers = {name: number for number, name in enumerate(self.names)}
            return ScriptedHands(self.script.inputs[seat.name], numbers, lambda: self.now)
        if seat.bot not in BOTS:
            raise ValueError(f"there is no bot {seat.bot!r}: {', '.join(BOTS)}")
        return BOTS[seat.bot](seat.name, self.settings.seed)

    def _at(self, time: int, kind: int, action: Callable[[], None]) -> None:
        self._order += 1
        heappush(self._queue, (time, kind, self._order, action))

    def _tick(self) -> None:
        rate = self.server.send_rate
        self._ticks += 1
        next_tick = self._tick_base + round(self._ticks * 1_000_000 / rate)
        packets = self.server.tick(self.now, next_tick)
        for place in self.places:
            data = packets[place.client.identity.player]
            for arrival in place.down.send(self.now):
                self._at(arrival, _TO_CLIENT, partial(self._arrive, place, data))
        self._at(next_tick, _TICK, self._tick)
        if self.settings.send_rate != rate:
            self._tick_base, self._ticks = next_tick, 0

    def _receive(self, data: bytes) -> None:
        self.server.receive(data, self.now)

    def _arrive(self, place: Place, data: bytes) -> None:
        place.client.receive(data, local_time(place.seat, self.now))

    def _frame(self, player: int, number: int) -> None:
        step = self.settings.rules.step
        place = self.places[player]
        phase = player * PHASE
        stamp = local_time(place.seat, phase) + number * step
        data = place.client.frame(stamp, place.decide)
        for arrival in place.up.send(self.now) if data else ():
            self._at(arrival, _TO_SERVER, partial(self._receive, data))
        self.on_frame(place)
        due = phase + round((number + 1) * step / place.seat.rate)
        self._at(due, _FRAME, partial(self._frame, player, number + 1))

    def _tell_of_server(self, what: str, player: int, details: dict[str, Value]) -> None:
        for key in ("other", "victim"):
            if key in details:
                details[key] = self.names[int(details[key])]
        self._add_event("server", what, self.names[player], details)

    def _add_event(self, where: str, what: str, player: str, details: dict[str, Value]) -> None:
        self.events.append(Event(self.now / 1_000_000, where, what, player, details))


def local_time(seat: Seat, now: int) -> int:
    """What the clock of a seat says at the match's time ``now``, in microseconds.

    The frames of a client come when its clock says so: phase + n steps.
    """
    return round(seat.offset * 1_000_000 + now * seat.rate)
