"""What a game drew, as one that takes part in a comparison."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

from epic_cli.engine.contract import Sample

if TYPE_CHECKING:
    from epic_cli.analysis.drawn.path import DrawnPath
    from epic_cli.engine.contract import Packet

#: What results call it.
LABEL = "drawn"

_ORIGIN = (0.0, 0.0, 0.0)


class Shown:
    """Draws an entity where the game drew it, on straight lines from frame to frame.

    Packets say which entity it is, and nothing else. Before the first frame, and after the last
    one, nothing is drawn.
    """

    def __init__(self, paths: Mapping[str, DrawnPath]) -> None:
        self._paths = paths
        self.reset()

    def reset(self) -> None:
        """Forgets which entity it is."""
        self._path: DrawnPath | None = None

    def update(self, packet: Packet, now: float) -> bool:
        """Takes every packet."""
        del now
        self._path = self._paths.get(packet.entity)
        return True

    def read(self, at: float) -> Sample:
        """Where it was drawn at this time."""
        path = self._path
        if path is None or not path.times[0] <= at <= path.times[-1]:
            return Sample(at, _ORIGIN, _ORIGIN, "none")
        after = min(max(bisect_right(path.times, at), 1), len(path.times) - 1)
        begin, end = path.times[after - 1 : after + 1]
        one, other = path.positions[after - 1 : after + 1]
        velocity = (other - one) / (end - begin)
        position = one + velocity * (at - begin)
        x, y, z = position.tolist()
        u, v, w = velocity.tolist()
        return Sample(at, (x, y, z), (u, v, w), "interpolated")


class DrawnCandidate(NamedTuple):
    """What the game drew, under a name."""

    paths: Mapping[str, DrawnPath]
    label: str = LABEL

    def make(self) -> Shown:
        """A new one."""
        return Shown(self.paths)
