"""Where the server rewinds the others to for a shot: one way of finding out a file."""

from collections.abc import Callable

from epic_cli.play.server.compensation.contract import LagCompensation, ViewCompensation
from epic_cli.play.server.compensation.mirror import MirrorCompensation
from epic_cli.play.server.compensation.source import SourceCompensation
from epic_cli.play.server.rewind import PoseHistory

#: Each is made for the server's history and the simulation's step, in seconds.
COMPENSATIONS: dict[str, Callable[[PoseHistory, float], LagCompensation]] = {
    "view": ViewCompensation,
    "mirror": MirrorCompensation,
    "source": SourceCompensation,
}
