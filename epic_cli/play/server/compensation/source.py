"""The Source engine's lag compensation: the client's tick, if the server can believe it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from epic_cli.play.server.compensation.contract import LagCompensation, Rewound, Shooter
from epic_cli.play.world.arena import Point, distance
from epic_cli.play.world.moves import between

#: Seconds by which a client's tick may differ from the expected one.
LARGEST_DIFFERENCE = 0.2

#: sv_lagcompensation_teleport_dist, 64 units where a player is 32 wide, in this game's units.
TELEPORT_DISTANCE = 2.4


class SourceCompensation(LagCompensation):
    """Rewinds to the client's tick less its interpolation, or to where its latency puts that.

    What the client says is believed within 0.2 s of the latency that the server has measured and
    the client's interpolation; no shot goes back further than ``--history``, which is sv_maxunlag.
    A player who moved further than a teleport between two records is not moved back.

    Source: Valve, "Source Multiplayer Networking" (Developer Community), and the Source SDK's
    player_lagcompensation.cpp; formulas only.
    """

    def rewind(self, shooter: Shooter, present: Mapping[int, Point]) -> Rewound:
        """The same tick for all."""
        server_tick = _ticks(shooter.now, self._step)
        lerp_ticks = _ticks(shooter.view_delay, self._step)
        seen = [
            time
            for view in shooter.views.values()
            if (time := self._history.time_of(view)) is not None
        ]
        # a client says one tick for everybody
        command_tick = (_ticks(seen[0], self._step) if seen else 0) + lerp_ticks
        target_tick, is_fallback = find_target_tick(
            server_tick,
            command_tick,
            shooter.view_delay,
            shooter.round_trip / 2,
            self._step,
            self._history.length,
        )
        target = target_tick * self._step
        positions = {}
        for player, current in present.items():
            position = backtrack(self._history.records(player), current, target)
            positions[player] = current if position is None else position
        return Rewound(positions, "estimated" if is_fallback else "claimed")


def _ticks(seconds: float, interval: float) -> int:
    return int(0.5 + seconds / interval)


def find_target_tick(
    server_tick: int,
    command_tick: int,
    lerp: float,
    latency: float,
    interval: float,
    longest: float,
) -> tuple[int, bool]:
    """To which tick a command is rewound, and whether the client was not believed.

        correct = latency + lerp, 0 to ``longest`` (sv_maxunlag)
        target  = command_tick - lerp, unless that is more than 0.2 s from server_tick - correct

    ``lerp``, ``latency``, ``longest`` and the ticks' ``interval`` are in seconds.
    """
    lerp_ticks = _ticks(lerp, interval)
    correct = min(max(latency + lerp_ticks * interval, 0.0), longest)
    target = command_tick - lerp_ticks
    if abs(correct - (server_tick - target) * interval) > LARGEST_DIFFERENCE:
        return server_tick - _ticks(correct, interval), True
    return target, False


def backtrack(
    records: Sequence[tuple[float, Point]],
    current: Point,
    target: float,
    teleport: float = TELEPORT_DISTANCE,
) -> Point | None:
    """Where a player was at a time, by his records (time, position), the newest first.

    Between two of them he is interpolated; before the oldest he is there. None: there is no
    record, or he moved further than ``teleport`` from one to the next on the way.
    """
    place, newer = None, None
    before = current
    for record in records:
        if distance(record[1], before) > teleport:
            return None
        time, place = record
        if time <= target:
            break
        newer, before = record, place
    if place is None or newer is None or time >= target:
        return place
    return between(place, newer[1], (target - time) / (newer[0] - time))
