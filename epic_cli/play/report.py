"""What a match looked like: rows for each frame and screen, and a summary."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

from epic_cli.play.arena import Point, distance
from epic_cli.play.events import Event
from epic_cli.play.lag import Drawn
from epic_cli.play.match import Match, Place

#: Shots whose other half has not come are forgotten beyond so many.
MOST_OPEN = 1000


class Row(NamedTuple):
    """A player as one screen shows him, and how far that is from the server's truth now.

    ``view`` is ``server`` or the name of the player whose screen it is. ``status`` is ``truth``,
    how the local player is shown, or the remote strategy's status.
    """

    time: float
    view: str
    player: str
    x: float
    y: float
    vx: float
    vy: float
    error: float
    status: str


class Shot(NamedTuple):
    """One instant-hit shot: fired at the shooter's time ``stamp``, judged at ``time``, in seconds.

    ``on_screen``, ``rewound`` and ``present``: whether it hits on the shooter's screen, with
    rewind and without; ``hit``: what counted. ``moved`` is how far the victim had gone on since
    the shooter saw him, ``view`` how well the server knew what that was: ``exact``, ``nearest``
    (the strategy drew no point between two snapshots), ``beyond the history``, or ``none``.
    """

    time: float
    player: str
    stamp: float
    on_screen: bool
    hit: bool
    rewound: bool
    present: bool
    moved: float
    behind_cover: bool
    view: str


class Shots(NamedTuple):
    """Instant-hit shots of one player that the server has judged."""

    judged: int = 0
    on_screen: int = 0
    rewound: int = 0
    present: int = 0
    agreed: int = 0  # right on the screen, and hits with rewind
    behind_cover: int = 0
    beyond: int = 0
    moved: float = 0.0
    farthest: float = 0.0


class Figure(NamedTuple):
    """One line of a summary; ``value`` NaN: not known."""

    player: str
    name: str
    value: float
    unit: str


def rows(match: Match) -> Iterator[Row]:
    """Every player on every screen, now; a player who is not drawn yet has no row."""
    time = match.now / 1_000_000
    truth = match.server.places()
    for number, name in enumerate(match.names):
        body = match.server.body(number)
        yield Row(time, "server", name, *body[:4], 0.0, "truth")
    for place in match.places:
        client = place.client
        for number, name in enumerate(match.names):
            if number == client.identity.player:
                where = client.local.drawn(client.now / 1_000_000)
                velocity = (client.local.body.vx, client.local.body.vy)
                status: str = client.local.mode
            else:
                sample = client.remotes[number].sample
                if sample is None:
                    continue
                where, velocity, status = sample.position[:2], sample.velocity[:2], sample.status
            error = distance(where, truth[number])
            yield Row(time, place.seat.name, name, *where, *velocity, error, status)


class Tally:
    """Keeps the figures of a match while it runs."""

    def __init__(self, match: Match) -> None:
        self._match = match
        step = match.settings.rules.step / 1_000_000
        self._own = {name: Drawn(step) for name in match.names}
        self._remote = {
            (name, other): Drawn(step)
            for name in match.names
            for other in match.names
            if name != other
        }
        self._delays: dict[str, tuple[int, float]] = {}
        self._shots = {name: Shots() for name in match.names}
        self._open: dict[tuple[str, int], bool] = {}
        self.tells = dict.fromkeys(match.names, 0)
        self.refused_tells = dict.fromkeys(match.names, 0)
        self.bumps = 0
        self.last_shot: Shot | None = None

    def add_frame(self, place: Place) -> None:
        """A client has drawn a frame."""
        client, truth = place.client, self._match.server.places()
        name = place.seat.name
        own = client.identity.player
        self._own[name].add(client.local.drawn(client.now / 1_000_000), truth[own])
        drawn = client.drawn_remotes()
        for number in client.remotes:
            where: Point | None = drawn.get(number)
            self._remote[name, self._match.names[number]].add(where, truth[number])
        if client.local.mode == "dumb-terminal":
            echo = client.state.echo if client.state else None
            late = 0.0 if echo is None else (client.now - echo) / 1_000_000
        else:
            late, echo = 0.0, 0
        if echo is not None:
            count, total = self._delays.get(name, (0, 0.0))
            self._delays[name] = (count + 1, total + late)

    def add_event(self, event: Event) -> None:
        """Something has happened."""
        details = event.details
        if event.what == "bump":
            self.bumps += 1
        elif event.what == "tell":
            self.tells[event.player] += 1
            if "hit" in details:
                self._open[event.player, int(details["stamp"])] = bool(details["hit"])
                while len(self._open) > MOST_OPEN:
                    del self._open[next(iter(self._open))]
        elif event.what == "tell refused":
            self.refused_tells[event.player] += 1
        elif event.what == "shot":
            on_screen = self._open.pop((event.player, int(details["stamp"])), False)
            self._add_shot(event, on_screen)

    def _add_shot(self, event: Event, on_screen: bool) -> None:
        details, shots = event.details, self._shots[event.player]
        shot = Shot(
            event.time,
            event.player,
            int(details["stamp"]) / 1_000_000,
            on_screen,
            bool(details["hit"]),
            bool(details["rewound"]),
            bool(details["present"]),
            float(details["moved"]),
            bool(details["behind_cover"]),
            str(details["view"]),
        )
        self.last_shot = shot
        self._shots[event.player] = Shots(
            shots.judged + 1,
            shots.on_screen + on_screen,
            shots.rewound + shot.rewound,
            shots.present + shot.present,
            shots.agreed + (on_screen and shot.rewound),
            shots.behind_cover + shot.behind_cover,
            shots.beyond + (shot.view == "beyond the history"),
            shots.moved + (shot.moved if shot.rewound else 0.0),
            max(shots.farthest, shot.moved),
        )

    def shots(self, player: str) -> Shots:
        """A player's shots so far."""
        return self._shots[player]

    def remote(self, screen: str, player: str) -> Drawn:
        """How a player is drawn on another's screen."""
        return self._remote[screen, player]

    def figures(self, place: Place) -> list[Figure]:
        """The summary of one player."""
        name, local = place.seat.name, place.client.local
        up, down = place.up.delays, place.down.delays
        count, late = self._delays.get(name, (0, 0.0))
        estimate = place.client.round_trip_estimate
        found: list[tuple[str, float, str]] = [
            ("input delay", late / count if count else math.nan, "s"),
            ("own error", self._own[name].mean, "units"),
            ("corrections", local.corrections, ""),
            ("mean correction", _ratio(local.corrected, local.corrections), "units"),
            ("largest correction", local.largest, "units"),
            ("mispredictions", local.mispredictions, ""),
            ("states", local.states, ""),
            ("rtt estimate", estimate if place.client.round_trips else math.nan, "s"),
            ("rtt of the link", up.mean + down.mean if down.arrived else math.nan, "s"),
            ("packets up lost", _ratio(up.sent - up.arrived, up.sent), "share"),
            ("packets down lost", _ratio(down.sent - down.arrived, down.sent), "share"),
        ]
        for other in self._match.names:
            if other != name:
                drawn = self._remote[name, other]
                found.append((f"{other} drawn error", drawn.mean, "units"))
                found.append((f"{other} largest error", drawn.largest, "units"))
                found.append((f"{other} drawn lag", drawn.lag, "s"))
        if self.tells[name]:
            found += self._shot_figures(name)
        return [Figure(name, *one) for one in found]

    def _shot_figures(self, name: str) -> list[tuple[str, float, str]]:
        shots = self._shots[name]
        return [
            ("tells shown", self.tells[name], ""),
            ("tells refused", self.refused_tells[name], ""),
            ("shots judged", shots.judged, ""),
            ("hits on own screen", shots.on_screen, ""),
            ("of these with rewind", shots.agreed, ""),
            ("hit rate with rewind", _ratio(shots.rewound, shots.judged), "share"),
            ("hit rate without", _ratio(shots.present, shots.judged), "share"),
            ("beyond the history", shots.beyond, ""),
            ("victim moved since", _ratio(shots.moved, shots.rewound), "units"),
            ("farthest", shots.farthest, "units"),
            ("hit behind cover", shots.behind_cover, ""),
        ]


def _ratio(part: float, whole: float) -> float:
    return part / whole if whole else math.nan
