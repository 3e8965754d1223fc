"""Lag compensation: where the server rewinds the others to, for a shot by what the shooter saw."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from epic_cli.play.world.arena import Point, distance
from epic_cli.play.world.moves import View, between
from epic_cli.play.world.times import to_seconds, to_us

#: Valve's sv_maxunlag: nobody shoots further into the past; in seconds.
DEFAULT_HISTORY = 1.0


class PoseHistory:
    """Where every player was in the snapshots of the last ``length`` seconds.

    A snapshot is found by its number. Older ones are forgotten, so a view of them cannot be
    rewound to.
    """

    def __init__(self, length: float = DEFAULT_HISTORY) -> None:
        self.length = length
        self._length_us = to_us(length)
        self._snapshots: dict[int, dict[int, Point]] = {}
        self._times: deque[tuple[int, int]] = deque()
        self._time_of: dict[int, int] = {}

    def __len__(self) -> int:
        return len(self._snapshots)

    def add(self, snapshot: int, time_us: int, positions: dict[int, Point]) -> None:
        """Keeps a snapshot sent at this time, and forgets those that are too old."""
        self._snapshots[snapshot] = positions
        self._times.append((time_us, snapshot))
        self._time_of[snapshot] = time_us
        while self._times[0][0] < time_us - self._length_us:
            forgotten = self._times.popleft()[1]
            del self._snapshots[forgotten], self._time_of[forgotten]

    def position(self, player: int, view: View) -> Point | None:
        """Where a player was drawn, given how he was seen; None: it is no longer known."""
        older = self._snapshots.get(view.older, {}).get(player)
        newer = self._snapshots.get(view.newer, {}).get(player)
        if older is None or newer is None:
            return None
        return between(older, newer, view.fraction)

    def sent_us(self, snapshot: int) -> int | None:
        """When a snapshot was sent; None: it is no longer known."""
        return self._time_of.get(snapshot)

    def time_of(self, view: View) -> float | None:
        """When a view was true, in seconds; None: it is no longer known."""
        older, newer = self._time_of.get(view.older), self._time_of.get(view.newer)
        if older is None or newer is None:
            return None
        return to_seconds(older) + to_seconds(newer - older) * view.fraction

    def records(self, player: int) -> list[tuple[float, Point]]:
        """When (seconds) a player was where, the newest first."""
        return [
            (to_seconds(time_us), self._snapshots[snapshot][player])
            for time_us, snapshot in reversed(self._times)
            if player in self._snapshots[snapshot]
        ]


class Shooter(NamedTuple):
    """A shot is judged at the server's time ``now``; times in seconds.

    ``round_trip`` is what the server has measured, ``view_delay`` how far in the past the client
    is set to draw the others, and ``views`` what it says that the player saw of each.
    """

    now: float
    round_trip: float
    view_delay: float
    views: Mapping[int, View]


class Rewound(NamedTuple):
    """Where the others were; who is missing cannot be hit, unless all are.

    ``view`` says how well that is known: ``exact`` to the last bit, ``nearest`` (what was drawn is
    no point between two snapshots), ``claimed`` by the client, ``estimated`` by the server,
    ``beyond the history`` (the present was taken), or ``none``.
    """

    positions: dict[int, Point]
    view: str


class LagCompensation(ABC):
    """Finds out where the others were when the shooter saw them."""

    def __init__(self, history: PoseHistory, step: float) -> None:
        self._history = history
        self._step = step

    def capture(self, now: float, positions: Mapping[int, Point]) -> None:
        """A network tick: where everybody is now; the history has it already."""
        del now, positions

    @abstractmethod
    def rewind(self, shooter: Shooter, present: Mapping[int, Point]) -> Rewound:
        """Where the others were, given where they are."""


class ViewCompensation(LagCompensation):
    """Puts each player where the shooter's screen had him, to the last bit.

    Believes the client whatever it says within the history: a cheat may choose the best moment of
    the last second, and no strategy, jitter or clock makes an honest shot miss.
    """

    def rewind(self, shooter: Shooter, present: Mapping[int, Point]) -> Rewound:
        """A player of whom there is no view was not on the shooter's screen."""
        positions, known, exact = {}, True, True
        for player, view in shooter.views.items():
            if player not in present:
                continue
            position = self._history.position(player, view)
            known &= position is not None
            exact &= view.exact
            positions[player] = present[player] if position is None else position
        if not shooter.views:
            return Rewound({}, "none")
        if not known:
            return Rewound(positions, "beyond the history")
        return Rewound(positions, "exact" if exact else "nearest")


#: Captures that are kept, and seconds between two of them.
HISTORY_LIMIT = 6
CAPTURE_INTERVAL = 0.1


class MirrorCompensation(LagCompensation):
    """Rewinds to the server's time less half a round trip and the client's buffer.

    Captures are taken every 0.1 s, and the newest six kept, so that it goes back half a second.
    Between two of them it interpolates, and up to one interval past the newest it extrapolates.

    Source: Mirror (https://github.com/MirrorNetworking/Mirror, MIT),
    Assets/Mirror/Core/LagCompensation/LagCompensation.cs.
    """

    def __init__(self, history: PoseHistory, step: float) -> None:
        super().__init__(history, step)
        self._captures: deque[tuple[float, dict[int, Point]]] = deque(maxlen=HISTORY_LIMIT)

    def capture(self, now: float, positions: Mapping[int, Point]) -> None:
        """Takes one when it is due."""
        # a tick that is due by the clock must not be missed by a rounding of its seconds
        if not self._captures or now >= self._captures[-1][0] + CAPTURE_INTERVAL - 1e-9:
            self._captures.append((now, dict(positions)))

    def rewind(self, shooter: Shooter, present: Mapping[int, Point]) -> Rewound:
        """The same time for all."""
        time = estimate_time(shooter.now, shooter.round_trip, shooter.view_delay)
        found = sample([time for time, _ in self._captures], time, CAPTURE_INTERVAL)
        if found is None:
            return Rewound(dict(present), "beyond the history")
        before, after = (self._captures[index][1] for index in found[:2])
        positions = {player: between(before[player], after[player], found[2]) for player in present}
        return Rewound(positions, "estimated")


def estimate_time(server_time: float, round_trip: float, buffer_time: float) -> float:
    """When what the client saw was true: server_time - round_trip / 2 - buffer_time; seconds."""
    return server_time - round_trip / 2 - buffer_time


def sample(times: Sequence[float], time: float, interval: float) -> tuple[int, int, float] | None:
    """Between which captures a time lies, and how far from the one to the other.

    ``times`` are those of the captures, oldest first. Past the newest, by at most ``interval``,
    the last two are extrapolated: to a fraction of 1 to 2. None: it is older than all, too new,
    or there are fewer than two captures.
    """
    if len(times) < 2 or not times[0] <= time <= times[-1] + interval:
        return None
    for index, captured in enumerate(times):
        if captured == time:
            return (index, index, 0.0)
        if captured > time:
            return (index - 1, index, (time - times[index - 1]) / (captured - times[index - 1]))
    return (len(times) - 2, len(times) - 1, 1 + (time - times[-1]) / interval)


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


#: Each is made for the server's history and the simulation's step, in seconds.
COMPENSATIONS: dict[str, Callable[[PoseHistory, float], LagCompensation]] = {
    "view": ViewCompensation,
    "mirror": MirrorCompensation,
    "source": SourceCompensation,
}
