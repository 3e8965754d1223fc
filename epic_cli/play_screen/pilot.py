"""Your hands: keys become the control of each move."""

from __future__ import annotations

from epic_cli.play.arena import Point, direction
from epic_cli.play.bots import aim_at, nearest_seen
from epic_cli.play.client import Client
from epic_cli.play.world import Control, Weapon


class Pilot:
    """Holds a direction until another key comes: a terminal tells of no key that is let go.

    A shot goes to the nearest player as he is drawn on your own screen. So you always aim well,
    and whether you hit is up to the techniques alone.
    """

    def __init__(self) -> None:
        self._x = self._y = 0
        self._weapon = Weapon.NONE
        self._facing: Point = (1.0, 0.0)

    def steer(self, x: int, y: int) -> None:
        """Runs this way from now on; (0, 0): stops."""
        self._x, self._y = x, y
        if x or y:
            self._facing = direction((x, y))

    def trigger(self, weapon: Weapon) -> None:
        """Fires with the next move."""
        self._weapon = weapon

    def __call__(self, client: Client) -> Control:
        """The control of the next move."""
        control = Control(self._x, self._y, self._weapon)
        self._weapon = Weapon.NONE
        if not control.weapon:
            return control
        target = nearest_seen(client)
        return control._replace(
            aim=self._facing if target is None else aim_at(client, control, target)
        )
