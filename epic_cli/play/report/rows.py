"""Rows: where every player is drawn on every screen."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from epic_cli.play.match.match import Match
from epic_cli.play.world.arena import distance


class Row(NamedTuple):
    """A player as one screen shows him, and how far that is from the server's truth now.

    ``view`` is ``server`` or the name of the player whose screen it is. ``status`` is ``truth``,
    the technique that shows the local player, or the remote strategy's status.
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


def rows(match: Match) -> Iterator[Row]:
    """Every player on every screen, now; a player who is not drawn yet has no row."""
    truth = match.server.positions()
    for number, name in enumerate(match.names):
        body = match.server.body(number)
        yield Row(match.now, "server", name, *body[:4], 0.0, "truth")
    for participant in match.participants:
        client = participant.client
        for number, name in enumerate(match.names):
            if number == client.identity.player:
                position = client.local.drawn(client.now)
                velocity = (client.local.body.vx, client.local.body.vy)
                status: str = client.local.mode
            else:
                sample = client.remotes[number].sample
                if sample is None:
                    continue
                position, velocity, status = sample.position[:2], sample.velocity[:2], sample.status
            error = distance(position, truth[number])
            yield Row(match.now, participant.config.name, name, *position, *velocity, error, status)
