"""A match without a screen: it runs as fast as it can, and what was asked for comes out."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, NamedTuple

from epic_cli.engine.contract import Packet, Rotation
from epic_cli.engine.packets import angles
from epic_cli.network.movement import Snapshot, State
from epic_cli.play.match.match import Match, Participant
from epic_cli.play.match.script import Script
from epic_cli.play.match.spec import MatchSpec
from epic_cli.play.report.scene import Flashes, Scene, scenes
from epic_cli.play.report.statistics import Figure, MatchStatistics, Shot
from epic_cli.play.world.arena import distance
from epic_cli.play.world.moves import Event


class Row(NamedTuple):
    """A player as one screen shows him, and how far that is from the server's truth now.

    ``view`` is ``server`` or the name of the player whose screen it is. ``status`` is ``truth``,
    the technique that shows the local player, or the remote strategy's status. ``yaw`` is where he
    looks, in degrees from x to y, rounded to 1e-6; NaN: the strategy does not turn.
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
    yaw: float


def rows(match: Match) -> Iterator[Row]:
    """Every player on every screen, now; a player who is not drawn yet has no row."""
    truth = match.server.positions()
    for number, name in enumerate(match.names):
        body = match.server.body(number)
        yield Row(match.now, "server", name, *body[:4], 0.0, "truth", _yaw(body.rotation))
    for participant in match.participants:
        client = participant.client
        for number, name in enumerate(match.names):
            if number == client.identity.player:
                position = client.local.drawn(client.now)
                velocity = (client.local.body.vx, client.local.body.vy)
                status: str = client.local.mode
                rotation: Rotation | None = client.local.body.rotation
            else:
                sample = client.remotes[number].sample
                if sample is None:
                    continue
                position, velocity, status = sample.position[:2], sample.velocity[:2], sample.status
                rotation = sample.rotation
            error, view = distance(position, truth[number]), participant.config.name
            yaw = math.nan if rotation is None else _yaw(rotation)
            yield Row(match.now, view, name, *position, *velocity, error, status, yaw)


def _yaw(rotation: Rotation) -> float:
    return round(angles(rotation)[0], 6) + 0.0


#: Seconds of the match that one chunk covers.
CHUNK = 0.5

Show = Literal["rows", "events", "shots", "summary"]

#: What a chunk's lines are, and the names of their fields.
COLUMNS: dict[Show, tuple[str, ...]] = {
    "rows": Row._fields,
    "events": Event._fields,
    "shots": Shot._fields,
    "summary": Figure._fields,
}


@dataclass(frozen=True)
class Selection:
    """What is wanted of a match: a row per frame, an event or a shot per line, or the figures.

    ``client`` is the player whose frames are the times of the rows, and whose packets are kept.
    ``view`` is one screen, ``player`` one player; None: all of them.
    """

    show: Show
    client: str
    view: str | None = None
    player: str | None = None

    def wants(self, player: str) -> bool:
        """Whether something about this player is wanted."""
        return self.player in (None, player)


class Chunk(NamedTuple):
    """What a piece of a match gives: lines, packets received by the client, true states.

    ``own`` are the client's own player's states, as it predicted them and as the server had them.
    """

    lines: list[Row | Event | Shot | Figure]
    packets: list[Packet]
    truth: list[Snapshot]
    own: list[Packet]


class HeadlessRun:
    """Runs a match piece by piece; memory does not grow with its length."""

    def __init__(self, settings: MatchSpec, script: Script, selection: Selection) -> None:
        self.match = Match(settings, script, on_frame=self._frame)
        self.statistics = MatchStatistics(self.match)
        self._selection = selection
        number = self.match.names.index(selection.client)
        self._participant = self.match.participants[number]
        self._participant.client.packets, self._participant.client.own = [], []
        self._flashes = Flashes(settings.rules.arena)
        self._lines: list[Row | Event | Shot | Figure] = []
        self._truth: list[Snapshot] = []

    def run(self, duration: float) -> Iterator[Chunk]:
        """Everything up to ``duration`` seconds, in pieces."""
        end, number = 0.0, 0
        while end < duration:
            number += 1
            end = min(number * CHUNK, duration)
            self.match.run_until(end)
            yield self._take()
        if self._selection.show == "summary":
            wanted = (p for p in self.match.participants if self._selection.wants(p.config.name))
            yield Chunk([one for p in wanted for one in self.statistics.figures(p)], [], [], [])

    def figures(self) -> list[Figure]:
        """The figures of the chosen client."""
        return self.statistics.figures(self._participant)

    def scenes(self) -> list[Scene]:
        """The screens of the chosen client, the server and another player, as they are now."""
        others = (one for one in self.match.participants if one is not self._participant)
        return scenes(self.match, self._participant, next(others), self._flashes)

    def _frame(self, participant: Participant) -> None:
        self.statistics.add_frame(participant)
        if participant is not self._participant:
            return
        if self._selection.show == "rows":
            for row in rows(self.match):
                if self._selection.view in (None, row.view) and self._selection.wants(row.player):
                    self._lines.append(row)
        own = participant.client.identity.player
        states = [
            (name, State((body.x, body.y, 0.0), (body.vx, body.vy, 0.0), 0, body.rotation))
            for number, name in enumerate(self.match.names)
            if number != own
            for body in (self.match.server.body(number),)
        ]
        self._truth.append(Snapshot(self.match.now, states))

    def _take(self) -> Chunk:
        for event in self.match.take_events():
            self.statistics.add_event(event)
            self._flashes.add(event)
            if event.player and not self._selection.wants(event.player):
                continue
            if self._selection.show == "events":
                self._lines.append(event)
            elif self._selection.show == "shots" and event.what == "shot":
                shot = self.statistics.last_shot
                if shot is not None:
                    self._lines.append(shot)
        client = self._participant.client
        chunk = Chunk(self._lines, client.packets or [], self._truth, client.own or [])
        client.packets, client.own = [], []
        self._lines, self._truth = [], []
        return chunk
