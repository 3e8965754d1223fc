"""Players without a keyboard: bots and scripts, which see only the screen of their client."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

from epic_cli.network.randomness import make_generator
from epic_cli.play.client import Client
from epic_cli.play.script import Input
from epic_cli.play.world import (
    Control,
    Point,
    Weapon,
    is_visible,
    measure_distance,
    normalize_vector,
)

#: A function that returns the input of a client's next move.
Controller = Callable[[Client], Control]

#: Bounds of the time for which the runner keeps a direction.
SHORTEST_RUN_US, LONGEST_RUN_US = 200_000, 1_000_000

_DIRECTIONS = ((1, 0), (1, 1), (0, 1), (-1, 1), (-1, 0), (-1, -1), (0, -1), (1, -1), (0, 0))


def aim_at(client: Client, control: Control, target: Point) -> Point:
    """Return the direction to a target on the screen from the player's position after a move."""
    body = client.local.preview_move(control, client.rules.step_us)
    if client.local.mode == "dumb-terminal":
        body = client.local.body
    return normalize_vector((target[0] - body.x, target[1] - body.y))


def find_nearest_seen(client: Client) -> Point | None:
    """Return the position of the nearest player on the screen; None if there is none."""
    here = client.local.body.position
    return min(
        client.list_drawn_remotes().values(),
        key=lambda position: measure_distance(here, position),
        default=None,
    )


class Runner:
    """A bot that runs in one of eight directions, or stands, for 0.2 to 1 s each."""

    def __init__(self, name: str, seed: int) -> None:
        self._source = make_generator(seed, f"bot/{name}")
        self._until_us = -math.inf
        self._control = Control()

    def __call__(self, client: Client) -> Control:
        """Return the current direction, or a new one where a wall has stopped the bot."""
        body = client.local.body
        control = self._control
        stuck = (control.x and not body.vx) or (control.y and not body.vy)
        now_us = client.now_us
        if now_us >= self._until_us or (stuck and now_us >= self._until_us - SHORTEST_RUN_US):
            x, y = _DIRECTIONS[int(self._source.random() * len(_DIRECTIONS))]
            self._control = Control(x, y)
            longer_us = int(self._source.random() * (LONGEST_RUN_US - SHORTEST_RUN_US))
            self._until_us = now_us + SHORTEST_RUN_US + longer_us
        return self._control


class Patrol:
    """A bot that runs up and down one line at full speed, from wall to wall."""

    def __init__(self) -> None:
        self._y = 1

    def __call__(self, client: Client) -> Control:
        """Return the direction: up, then down."""
        height = client.rules.arena.height
        if client.local.body.y > height - 4:
            self._y = -1
        elif client.local.body.y < 4:
            self._y = 1
        return Control(0, self._y)


class Hunter(Runner):
    """A runner that shoots at the nearest player in sight, and throws every third time."""

    def __init__(self, name: str, seed: int) -> None:
        super().__init__(name, seed)
        self._shots = 0

    def __call__(self, client: Client) -> Control:
        """Return a control that fires if the weapon is ready and no drawn wall is in the way."""
        control = super().__call__(client)
        body = client.local.preview_move(control, client.rules.step_us)
        target = find_nearest_seen(client)
        if target is None or body.reload_us or body.stun_us:
            return control
        if not is_visible(client.rules.arena, body.position, target):
            return control
        self._shots += 1
        weapon = Weapon.THROW if self._shots % 3 == 0 else Weapon.SHOT
        return control._replace(weapon=weapon, aim=aim_at(client, control, target))


def chase(client: Client) -> Control:
    """Return a control that runs into the nearest player, in one of eight directions.

    No client can predict the collisions.
    """
    target = find_nearest_seen(client)
    if target is None:
        return Control()
    dx, dy = normalize_vector((target[0] - client.local.body.x, target[1] - client.local.body.y))
    return Control(_round_direction(dx), _round_direction(dy))


def _round_direction(part: float) -> int:
    return (part > 0.38) - (part < -0.38)  # sin 22.5 degrees


#: The bots by name; each is made with its player's name and the match's seed.
BOTS: dict[str, Callable[[str, int], Controller]] = {
    "still": lambda *_: lambda _: Control(),
    "runner": Runner,
    "patrol": lambda *_: Patrol(),
    "hunter": Hunter,
    "chaser": lambda *_: chase,
}


class ScriptedInput:
    """A controller that plays the script of one player; ``clock`` gives the match's time (s)."""

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
        """Return the current input; a weapon fires once, at the time of its line."""
        weapon = Weapon.NONE
        now = self._clock()
        while self._next < len(self._inputs) and self._inputs[self._next].time <= now:
            self._held = self._inputs[self._next]
            self._next += 1
            weapon = self._held.weapon or weapon
        if self._held.x or self._held.y:
            self._facing = normalize_vector((self._held.x, self._held.y))
        control = Control(self._held.x, self._held.y, weapon)
        return control._replace(aim=self._resolve_aim(client, control)) if weapon else control

    def _resolve_aim(self, client: Client, control: Control) -> Point:
        aim = self._held.aim
        if isinstance(aim, str):
            target = client.list_drawn_remotes().get(self._numbers[aim])
            return self._facing if target is None else aim_at(client, control, target)
        if aim is None:
            return self._facing
        # a recorded aim has the length 1 up to rounding, and must keep its bits
        is_unit = abs(aim[0] * aim[0] + aim[1] * aim[1] - 1) < 1e-12
        return aim if is_unit else normalize_vector(aim)
