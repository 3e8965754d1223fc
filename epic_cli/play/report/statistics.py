"""A match's statistics: shots, and the summary of each player."""

from __future__ import annotations

import math
from typing import NamedTuple

from epic_cli.play.match.match import Match
from epic_cli.play.match.participant import Participant
from epic_cli.play.report.errors import ClockError, DrawnError
from epic_cli.play.world.arena import Point
from epic_cli.play.world.events import Event
from epic_cli.play.world.times import to_seconds

#: The oldest shots that the server has not judged are forgotten beyond this number.
MOST_UNJUDGED = 1000


class Shot(NamedTuple):
    """One instant-hit shot: fired at ``stamp`` on the shooter's clock, judged at ``time``; seconds.

    ``on_screen``, ``rewound`` and ``present``: whether it hits on the shooter's screen, with
    rewind and without; ``hit``: what counted. ``moved`` is how far the victim had moved on since
    the shooter saw him, ``view`` how well the server knew what the shooter saw: see ``Rewound``.
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
    """The instant-hit shots of one player that the server has judged."""

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
    """One line of a summary; ``value`` NaN: unknown."""

    player: str
    name: str
    value: float
    unit: str


class MatchStatistics:
    """Collects the figures of a match while it runs."""

    def __init__(self, match: Match) -> None:
        self._match = match
        step = match.settings.rules.step
        self._own = {name: DrawnError(step) for name in match.names}
        self._remote = {
            (name, other): DrawnError(step)
            for name in match.names
            for other in match.names
            if name != other
        }
        self._clocks = {name: ClockError() for name in match.names}
        self._delays: dict[str, tuple[int, float]] = {}
        self._shots = {name: Shots() for name in match.names}
        self._unjudged: dict[tuple[str, float], bool] = {}
        self.predicted_effects = dict.fromkeys(match.names, 0)
        self.refused_effects = dict.fromkeys(match.names, 0)
        self.bumps = 0
        self.last_shot: Shot | None = None

    def add_frame(self, participant: Participant) -> None:
        """A client has drawn a frame."""
        client, truth = participant.client, self._match.server.positions()
        name = participant.config.name
        own = client.identity.player
        self._clocks[name].add(client, self._match.now_us)
        self._own[name].add(client.local.drawn(client.now), truth[own])
        drawn = client.drawn_remotes()
        for number in client.remotes:
            position: Point | None = drawn.get(number)
            self._remote[name, self._match.names[number]].add(position, truth[number])
        if client.local.mode == "dumb-terminal":
            echo_us = client.state.echo_us if client.state else None
            late = 0.0 if echo_us is None else to_seconds(client.now_us - echo_us)
        else:
            late, echo_us = 0.0, 0
        if echo_us is not None:
            count, total = self._delays.get(name, (0, 0.0))
            self._delays[name] = (count + 1, total + late)

    def add_event(self, event: Event) -> None:
        """Something has happened."""
        details = event.details
        if event.what == "bump":
            self.bumps += 1
        elif event.what == "clock set":
            self._clocks[event.player].set += 1
        elif event.what == "clock held":
            self._clocks[event.player].held += int(event.details["frames"])
        elif event.what == "predicted effect":
            self.predicted_effects[event.player] += 1
            if "hit" in details:
                self._unjudged[event.player, float(details["stamp"])] = bool(details["hit"])
                while len(self._unjudged) > MOST_UNJUDGED:
                    del self._unjudged[next(iter(self._unjudged))]
        elif event.what == "effect refused":
            self.refused_effects[event.player] += 1
        elif event.what == "shot":
            on_screen = self._unjudged.pop((event.player, float(details["stamp"])), False)
            self._add_shot(event, on_screen)

    def _add_shot(self, event: Event, on_screen: bool) -> None:
        details, shots = event.details, self._shots[event.player]
        shot = Shot(
            event.time,
            event.player,
            float(details["stamp"]),
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

    def remote(self, screen: str, player: str) -> DrawnError:
        """How a player is drawn on another's screen."""
        return self._remote[screen, player]

    def figures(self, participant: Participant) -> list[Figure]:
        """The summary of one player."""
        name, client = participant.config.name, participant.client
        local = client.local
        up, down = participant.up.delays, participant.down.delays
        count, late = self._delays.get(name, (0, 0.0))
        estimate = client.round_trip.estimate if client.round_trip.count else math.nan
        found: list[tuple[str, float, str]] = [
            ("input delay", late / count if count else math.nan, "s"),
            ("own error", self._own[name].mean, "units"),
            ("corrections", local.corrections, ""),
            ("mean correction", _ratio(local.corrected, local.corrections), "units"),
            ("largest correction", local.largest, "units"),
            ("mispredictions", local.mispredictions, ""),
            ("states", local.states, ""),
            ("rtt estimate", estimate, "s"),
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
        if self._match.settings.clock_sync != "free-running":
            found += self._clocks[name].figures()
        if self.predicted_effects[name]:
            found += self._shot_figures(name)
        return [Figure(name, *one) for one in found]

    def _shot_figures(self, name: str) -> list[tuple[str, float, str]]:
        shots = self._shots[name]
        return [
            ("effects predicted", self.predicted_effects[name], ""),
            ("effects refused", self.refused_effects[name], ""),
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
