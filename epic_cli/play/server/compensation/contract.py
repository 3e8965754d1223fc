"""What the server knows of a shooter, and where it puts the others for his shot."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import NamedTuple

from epic_cli.play.server.rewind import PoseHistory
from epic_cli.play.world.arena import Point
from epic_cli.play.world.moves import View


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
