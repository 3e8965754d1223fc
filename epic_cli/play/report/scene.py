"""What three screens show at one moment: yours, the server's and another player's."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, NamedTuple

from epic_cli.play.match.match import Match, Participant
from epic_cli.play.world.arena import Arena, Point, ray_to_wall
from epic_cli.play.world.moves import Event

if TYPE_CHECKING:
    from epic_cli.engine.contract import Rotation

#: Seconds for which a shot stays visible.
LONGEST_FLASH = 0.3

#: Length units; how far the windup of a throw reaches, before anything flies.
WINDUP = 2.0


class Marker(NamedTuple):
    """A player as he is drawn, or the ghost that shows where he is on the server.

    ``heading`` is the direction in which he is drawn to look; None: his strategy does not turn.
    """

    name: str
    position: Point
    ghost: bool
    heading: Point | None = None


class Beam(NamedTuple):
    """A shot: a muzzle flash or windup on its shooter's screen, or what the server made of it.

    ``seen`` is where the shooter saw the player whom he hit.
    """

    start: Point
    end: Point
    hit: bool
    seen: Point | None


class Scene(NamedTuple):
    """One screen."""

    title: str
    arena: Arena
    markers: list[Marker]
    projectiles: list[Point]
    beams: list[Beam]


class Flashes:
    """Remembers the shots of the last moments, and on which screen they are visible."""

    def __init__(self, arena: Arena) -> None:
        self._arena = arena
        self._beams: deque[tuple[float, str, Beam]] = deque(maxlen=64)

    def add(self, event: Event) -> None:
        """An event of the match; only shots are kept."""
        details = event.details
        if event.what not in ("predicted effect", "shot"):
            return
        start = (float(details["x"]), float(details["y"]))
        aim = (float(details["aim_x"]), float(details["aim_y"]))
        is_throw = details.get("weapon") == "throw"
        reach = WINDUP if is_throw else ray_to_wall(self._arena, start, aim)
        end = (start[0] + aim[0] * reach, start[1] + aim[1] * reach)
        seen = None
        if "seen_x" in details:
            seen = (float(details["seen_x"]), float(details["seen_y"]))
        self._beams.append(
            (event.time, event.where, Beam(start, end, details.get("hit") is True, seen))
        )

    def on(self, where: str, now: float) -> list[Beam]:
        """The shots that are visible now on a screen (``server`` or a player's name)."""
        return [
            beam
            for time, screen, beam in self._beams
            if screen == where and 0 <= now - time <= LONGEST_FLASH
        ]


def scenes(match: Match, you: Participant, other: Participant, flashes: Flashes) -> list[Scene]:
    """Your screen, the server, the other player's screen."""
    return [
        _client_scene(match, you, flashes),
        _server_scene(match, flashes),
        _client_scene(match, other, flashes),
    ]


def _server_scene(match: Match, flashes: Flashes) -> Scene:
    turned = {one.player: _forward(one.body.rotation) for one in match.server.connections}
    markers = _markers(match, match.server.positions(), turned)
    flying = [(one.x, one.y) for one in match.server.weapons.projectiles]
    beams = flashes.on("server", match.now)
    return Scene("server", match.settings.rules.arena, markers, flying, beams)


def _client_scene(match: Match, participant: Participant, flashes: Flashes) -> Scene:
    client, name = participant.client, participant.config.name
    drawn = client.drawn_remotes()
    drawn[client.identity.player] = client.local.drawn(client.now)
    turned = {client.identity.player: _forward(client.local.body.rotation)}
    for number, remote in client.remotes.items():
        if remote.sample is not None and remote.sample.rotation is not None:
            turned[number] = _forward(remote.sample.rotation)
    markers = [*_markers(match, match.server.positions()), *_markers(match, drawn, turned)]
    flying = [(one.x, one.y) for one in client.drawn_projectiles()]
    beams = flashes.on(name, match.now)
    return Scene(f"{name}'s screen", match.settings.rules.arena, markers, flying, beams)


def _forward(rotation: Rotation) -> Point:
    """Where the x axis of what is turned so points to, from above."""
    x, y, z, w = rotation
    return (1 - 2 * (y * y + z * z), 2 * (x * y + w * z))


def _markers(
    match: Match, positions: dict[int, Point], turned: dict[int, Point] | None = None
) -> list[Marker]:
    """Those of players, or without ``turned`` of their ghosts."""
    return [
        Marker(match.names[number], one, turned is None, (turned or {}).get(number))
        for number, one in positions.items()
    ]
