"""A player steered by a script."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from epic_cli.play.client.client import Client
from epic_cli.play.match.bots import aim_at
from epic_cli.play.match.script import Input
from epic_cli.play.world.arena import Point, direction
from epic_cli.play.world.rules import Control, Weapon


class ScriptedInput:
    """Follows the inputs of one player; ``clock`` gives the match's time in seconds."""

    def __init__(
        self, inputs: list[Input], numbers: Mapping[str, int], clock: Callable[[], float]
    ) -> None:
        self._inputs = inputs
        self._numbers = numbers
        self._clock = clock
        self._next = 0
        self._held = Input(0.0, "", 0, 0)
        self._facing: Point = (1.0, 0.0)

    def __call__(self, client: Client) -> Control:
        """What is held now; a weapon fires once, when the time of its line has come."""
        weapon = Weapon.NONE
        now = self._clock()
        while self._next < len(self._inputs) and self._inputs[self._next].time <= now:
            self._held = self._inputs[self._next]
            self._next += 1
            weapon = self._held.weapon or weapon
        if self._held.x or self._held.y:
            self._facing = direction((self._held.x, self._held.y))
        control = Control(self._held.x, self._held.y, weapon)
        return control._replace(aim=self._aim(client, control)) if weapon else control

    def _aim(self, client: Client, control: Control) -> Point:
        aim = self._held.aim
        if isinstance(aim, str):
            target = client.drawn_remotes().get(self._numbers[aim])
            return self._facing if target is None else aim_at(client, control, target)
        if aim is None:
            return self._facing
        # a recorded aim has the length 1 up to rounding, and must keep its bits
        is_unit = abs(aim[0] * aim[0] + aim[1] * aim[1] - 1) < 1e-12
        return aim if is_unit else direction(aim)
