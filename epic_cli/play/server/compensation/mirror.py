"""Mirror's lag compensation: the server estimates what the client saw, and trusts it in nothing."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence

from epic_cli.play.server.compensation.contract import LagCompensation, Rewound, Shooter
from epic_cli.play.server.rewind import PoseHistory
from epic_cli.play.world.arena import Point
from epic_cli.play.world.moves import between

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
