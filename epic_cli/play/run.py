"""A match without a screen: it runs as fast as it can and yields rows, events or a summary."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, NamedTuple

from epic_cli.engine.contract import Packet, Rotation
from epic_cli.engine.packets import angles
from epic_cli.network.movement import Snapshot
from epic_cli.play.match import Match, MatchParticipant
from epic_cli.play.script import Script
from epic_cli.play.server import make_state
from epic_cli.play.spec import MatchSpec
from epic_cli.play.statistics import MatchStatistics, Shot, SummaryLine
from epic_cli.play.world import Arena, Event, Point, measure_distance, measure_ray_to_wall

#: Seconds for which a shot stays visible.
LONGEST_FLASH = 0.3

#: Length units; the length of a throw's windup, before the ball flies.
WINDUP = 2.0


class Marker(NamedTuple):
    """A player as drawn, or the ghost at the player's position on the server.

    ``heading`` is the drawn direction of his view; None: his strategy does not turn.
    """

    name: str
    position: Point
    ghost: bool
    heading: Point | None = None


class Beam(NamedTuple):
    """A shot: a muzzle flash or windup on its shooter's screen, or the server's judgement.

    ``seen`` is where the shooter saw the player whom he hit.
    """

    start: Point
    end: Point
    hit: bool
    seen: Point | None


class PlayScene(NamedTuple):
    """The content of one screen: players, ghosts, shots and projectiles."""

    title: str
    arena: Arena
    markers: list[Marker]
    projectiles: list[Point]
    beams: list[Beam]


class Flashes:
    """The shots of the last moments, by the screen on which they are drawn."""

    def __init__(self, arena: Arena) -> None:
        self._arena = arena
        self._beams: deque[tuple[float, str, Beam]] = deque(maxlen=64)

    def add(self, event: Event) -> None:
        """Store the shot of an event; other events are ignored."""
        details = event.details
        if event.what not in ("predicted effect", "shot"):
            return
        start = (float(details["x"]), float(details["y"]))
        aim = (float(details["aim_x"]), float(details["aim_y"]))
        is_throw = details.get("weapon") == "throw"
        reach = WINDUP if is_throw else measure_ray_to_wall(self._arena, start, aim)
        end = (start[0] + aim[0] * reach, start[1] + aim[1] * reach)
        seen = None
        if "seen_x" in details:
            seen = (float(details["seen_x"]), float(details["seen_y"]))
        self._beams.append(
            (event.time, event.where, Beam(start, end, details.get("hit") is True, seen))
        )

    def list_visible(self, where: str, now: float) -> list[Beam]:
        """Return the shots that a screen (``server`` or a player's name) shows now."""
        return [
            beam
            for time, screen, beam in self._beams
            if screen == where and 0 <= now - time <= LONGEST_FLASH
        ]


def write_title(participant: MatchParticipant | None) -> str:
    """Return the title of a client's screen, or of the server's (None)."""
    return f"{participant.config.name}'s screen" if participant else "server"


def make_scene(match: Match, participant: MatchParticipant | None, flashes: Flashes) -> PlayScene:
    """Return the screen of a client, with the true positions as ghosts, or of the server (None)."""
    arena, truth = match.settings.rules.arena, match.server.list_positions()
    if participant is None:
        turned = {
            connection.player: _compute_heading(connection.body.rotation)
            for connection in match.server.connections
        }
        markers = _make_markers(match, truth, turned)
        flying = match.server.weapons.projectiles
        where = "server"
    else:
        client, where = participant.client, participant.config.name
        drawn = client.list_drawn_remotes()
        drawn[client.identity.player] = client.local.compute_drawn(client.now)
        turned = {client.identity.player: _compute_heading(client.local.body.rotation)}
        for number, remote in client.remotes.items():
            if remote.sample is not None and remote.sample.rotation is not None:
                turned[number] = _compute_heading(remote.sample.rotation)
        markers = [*_make_markers(match, truth), *_make_markers(match, drawn, turned)]
        flying = client.list_drawn_projectiles()
    places = [(projectile.x, projectile.y) for projectile in flying]
    return PlayScene(
        write_title(participant), arena, markers, places, flashes.list_visible(where, match.now)
    )


def _compute_heading(rotation: Rotation) -> Point:
    """Return the direction of a rotated x axis, seen from above."""
    x, y, z, w = rotation
    return (1 - 2 * (y * y + z * z), 2 * (x * y + w * z))


def _make_markers(
    match: Match, positions: dict[int, Point], turned: dict[int, Point] | None = None
) -> list[Marker]:
    """Make the markers of players; without ``turned``, those of their ghosts."""
    return [
        Marker(match.names[number], one, turned is None, (turned or {}).get(number))
        for number, one in positions.items()
    ]


class Row(NamedTuple):
    """A player as one screen shows him, with the distance to the server's truth now.

    ``view`` is ``server`` or the name of the player whose screen it is. ``status`` is ``truth``,
    the technique that shows the local player, or the remote strategy's status. ``yaw`` is the
    direction of his view, in degrees from x to y, rounded to 1e-6; NaN: the strategy does not turn.
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


def iterate_rows(match: Match) -> Iterator[Row]:
    """Yield the present row of each player on each screen; players not drawn yet have no row."""
    truth = match.server.list_positions()
    for number, name in enumerate(match.names):
        body = match.server.get_body(number)
        yield Row(match.now, "server", name, *body[:4], 0.0, "truth", _compute_yaw(body.rotation))
    for participant in match.participants:
        client = participant.client
        for number, name in enumerate(match.names):
            if number == client.identity.player:
                position = client.local.compute_drawn(client.now)
                velocity = (client.local.body.vx, client.local.body.vy)
                status: str = client.local.mode
                rotation: Rotation | None = client.local.body.rotation
            else:
                sample = client.remotes[number].sample
                if sample is None:
                    continue
                position, velocity, status = sample.position[:2], sample.velocity[:2], sample.status
                rotation = sample.rotation
            error, view = measure_distance(position, truth[number]), participant.config.name
            yaw = math.nan if rotation is None else _compute_yaw(rotation)
            yield Row(match.now, view, name, *position, *velocity, error, status, yaw)


def _compute_yaw(rotation: Rotation) -> float:
    return round(angles(rotation)[0], 6) + 0.0


#: Seconds of the match that one chunk covers.
CHUNK = 0.5

Show = Literal["rows", "events", "shots", "summary"]

#: The kinds of a chunk's lines, and the names of their fields.
COLUMNS: dict[Show, tuple[str, ...]] = {
    "rows": Row._fields,
    "events": Event._fields,
    "shots": Shot._fields,
    "summary": SummaryLine._fields,
}


@dataclass(frozen=True)
class RowSelection:
    """The wanted output of a match: a row per frame, an event or shot per line, or the summary.

    ``client`` is the player whose frames are the times of the rows, and whose packets are stored.
    ``view`` is one screen, ``player`` one player; None: all of them.
    """

    show: Show
    client: str
    view: str | None = None
    player: str | None = None

    def is_wanted(self, player: str) -> bool:
        """Return True if rows of this player are wanted."""
        return self.player in (None, player)


class Chunk(NamedTuple):
    """The output of a part of a match: lines, packets that the client received, true states.

    ``own`` are the states of the client's own player, as predicted and as the server had them.
    """

    lines: list[Row | Event | Shot | SummaryLine]
    packets: list[Packet]
    truth: list[Snapshot]
    own: list[Packet]


class HeadlessRun:
    """A match without a screen, run in parts; memory does not grow with its length."""

    def __init__(self, settings: MatchSpec, script: Script, selection: RowSelection) -> None:
        self.match = Match(settings, script, on_frame=self._add_frame)
        self.statistics = MatchStatistics(self.match)
        self.match.on_event = self._handle_event
        self._selection = selection
        number = self.match.names.index(selection.client)
        self._participant = self.match.participants[number]
        self._participant.client.packets, self._participant.client.own = [], []
        self._flashes = Flashes(settings.rules.arena)
        self._lines: list[Row | Event | Shot | SummaryLine] = []
        self._truth: list[Snapshot] = []

    def run(self, duration: float) -> Iterator[Chunk]:
        """Run up to ``duration`` seconds, and yield the output in chunks."""
        end, number = 0.0, 0
        while end < duration:
            number += 1
            end = min(number * CHUNK, duration)
            self.match.run_until(end)
            yield self._flush_chunk()
        if self._selection.show == "summary":
            wanted = (
                p for p in self.match.participants if self._selection.is_wanted(p.config.name)
            )
            yield Chunk(
                [each for p in wanted for each in self.statistics.list_lines(p)], [], [], []
            )

    def list_lines(self) -> list[SummaryLine]:
        """Return the lines of the chosen client's summary."""
        return self.statistics.list_lines(self._participant)

    def list_scenes(self) -> list[PlayScene]:
        """Return the screens of the chosen client, of the server and of another player, now."""
        others = (each for each in self.match.participants if each is not self._participant)
        shown = (self._participant, None, next(others))
        return [make_scene(self.match, each, self._flashes) for each in shown]

    def _add_frame(self, participant: MatchParticipant) -> None:
        self.statistics.add_frame(participant)
        if participant is not self._participant:
            return
        if self._selection.show == "rows":
            for row in iterate_rows(self.match):
                if self._selection.view in (None, row.view) and self._selection.is_wanted(
                    row.player
                ):
                    self._lines.append(row)
        own = participant.client.identity.player
        states = [
            (name, make_state(self.match.server.get_body(number)))
            for number, name in enumerate(self.match.names)
            if number != own
        ]
        self._truth.append(Snapshot(self.match.now, states))

    def _handle_event(self, event: Event) -> None:
        """Handle an event of the match at the moment when it happens."""
        self.statistics.add_event(event)
        self._flashes.add(event)
        if event.player and not self._selection.is_wanted(event.player):
            return
        if self._selection.show == "events":
            self._lines.append(event)
        elif self._selection.show == "shots" and event.what == "shot":
            shot = self.statistics.last_shot
            if shot is not None:
                self._lines.append(shot)

    def _flush_chunk(self) -> Chunk:
        self.match.events.clear()
        client = self._participant.client
        chunk = Chunk(self._lines, client.packets or [], self._truth, client.own or [])
        client.packets, client.own = [], []
        self._lines, self._truth = [], []
        return chunk
