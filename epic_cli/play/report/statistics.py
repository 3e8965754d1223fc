"""A match's statistics: shots, and the summary of each player."""

from __future__ import annotations

import math
from collections import deque
from typing import NamedTuple

from epic_cli.play.client.client import Client
from epic_cli.play.match.match import Match, Participant
from epic_cli.play.world.arena import Point, distance
from epic_cli.play.world.moves import Event
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
        up, down = participant.up, participant.down
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
            ("rtt of the link", up.mean_delay + down.mean_delay if down.arrived else math.nan, "s"),
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


#: Seconds; no longer lag is looked for.
LONGEST_LAG = 1.0


class DrawnError:
    """Compares what is drawn with the truth, one sample a step, in constant memory.

    The error is the distance to where the truth is now. The lag is the shift at which the drawn
    path fits the true one best (least mean square), to a fraction of a step by a parabola
    through the three best; NaN before there is a second of it, or when nothing has moved.
    ``epic compare`` has the whole of a path before it looks for the lag, so it can try any shift;
    a match has no end, so here sums are kept for the whole steps.
    """

    def __init__(self, step: float) -> None:
        self._step = step
        self._truth: deque[Point] = deque(maxlen=math.ceil(LONGEST_LAG / step) + 1)
        self._squares = [0.0] * (math.ceil(LONGEST_LAG / step) + 1)
        self._moved = False
        self.count = 0
        self.total = 0.0
        self.largest = 0.0

    def add(self, drawn: Point | None, truth: Point) -> None:
        """One sample; ``drawn`` None: nothing was drawn."""
        if self._truth and truth != self._truth[0]:
            self._moved = True
        self._truth.appendleft(truth)
        if drawn is None:
            return
        error = distance(drawn, truth)
        self.count += 1
        self.total += error
        self.largest = max(self.largest, error)
        if len(self._truth) == len(self._squares):
            for shift, position in enumerate(self._truth):
                self._squares[shift] += distance(drawn, position) ** 2

    @property
    def mean(self) -> float:
        """The mean error in length units."""
        return self.total / self.count if self.count else math.nan

    @property
    def lag(self) -> float:
        """In seconds."""
        squares = self._squares
        best = min(range(len(squares)), key=squares.__getitem__)
        if not self._moved or not any(squares):
            return math.nan
        if not 0 < best < len(squares) - 1:
            return best * self._step
        before, here, after = squares[best - 1 : best + 2]
        bend = before - 2 * here + after
        shift = 0.5 * (before - after) / bend if bend > 0 else 0.0
        return (best + shift) * self._step


class ClockError:
    """Compares what a client takes for the server's time with that time, once a frame.

    ``set`` counts how often the clock was set, ``held`` the frames that were waited for.
    """

    def __init__(self) -> None:
        self.set = 0
        self.held = 0
        self._first = math.nan
        self._count = 0
        self._total = 0.0
        self._largest = 0.0
        self._speeds = (math.inf, -math.inf)

    def add(self, client: Client, server_us: int) -> None:
        """A client has made a frame at this time of the server."""
        taken_us = client.timekeeper.server_us(client.now_us)
        if taken_us is None:
            return
        if not self._count:
            self._first = to_seconds(server_us)
        error = abs(to_seconds(taken_us - server_us))
        self._count += 1
        self._total += error
        self._largest = max(self._largest, error)
        speed = client.timekeeper.clock.speed
        self._speeds = (min(self._speeds[0], speed), max(self._speeds[1], speed))

    def figures(self) -> list[tuple[str, float, str]]:
        """The lines of a summary: name, value, unit."""
        slowest, fastest = self._speeds if self._count else (math.nan, math.nan)
        return [
            ("clock known after", self._first, "s"),
            ("clock error", self._total / self._count if self._count else math.nan, "s"),
            ("largest clock error", self._largest if self._count else math.nan, "s"),
            ("clock set", self.set, "times"),
            ("slowest clock", slowest, "speed"),
            ("fastest clock", fastest, "speed"),
            ("frames waited", self.held, ""),
        ]
