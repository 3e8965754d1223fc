"""Rewind to what the client says that it drew: two snapshots, and how far along."""

from __future__ import annotations

from collections.abc import Mapping

from epic_cli.play.server.compensation.contract import LagCompensation, Rewound, Shooter
from epic_cli.play.world.arena import Point


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
