"""Your keys become the input of each move."""

from __future__ import annotations

from epic_cli.play.client.client import Client
from epic_cli.play.match.bots import aim_at, nearest_seen
from epic_cli.play.world.arena import Point, direction
from epic_cli.play.world.rules import Control, Weapon


class KeyboardInput:
    """Holds a direction until another key comes: a terminal does not report released keys.

    A shot goes to the nearest player as he is drawn on your own screen. So you always aim well,
    and whether you hit depends on the techniques alone.
    """

    def __init__(self) -> None:
        self._x = self._y = 0
        self._weapon = Weapon.NONE
        self._facing: Point = (1.0, 0.0)

    def steer(self, x: int, y: int) -> None:
        """Runs in this direction from now on; (0, 0): stops."""
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
