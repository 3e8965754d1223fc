"""Keys: they steer a player, change the link and switch the techniques."""

from __future__ import annotations

from epic_cli.play.client.client import Client
from epic_cli.play.match.bots import aim_at, nearest_seen
from epic_cli.play.match.changes import Change
from epic_cli.play.match.spec import MatchSpec
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


#: The steps through which a key goes.
LATENCIES = (0.0, 0.01, 0.025, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.5, 1.0)
JITTERS = (0.0, 0.005, 0.01, 0.02, 0.03, 0.05, 0.1, 0.2)
LOSSES = (0.0, 0.01, 0.02, 0.05, 0.1, 0.2, 0.4)
SEND_RATES = (2.0, 5.0, 10.0, 15.0, 20.0, 30.0, 60.0)

PLAIN_STRATEGY = "dumb-terminal"


def _next(steps: tuple[float, ...], value: float) -> float:
    return next((step for step in steps if step > value + 1e-9), steps[-1])


def _before(steps: tuple[float, ...], value: float) -> float:
    return next((step for step in reversed(steps) if step < value - 1e-9), steps[0])


class Switches:
    """Makes changes of keys; ``chosen`` are the settings that the match began with."""

    def __init__(self, chosen: MatchSpec) -> None:
        self._strategy = chosen.remote_strategy
        self._settings = chosen.remote_settings
        if self._strategy == PLAIN_STRATEGY:
            self._strategy, self._settings = "snapshot", ()

    def press(self, key: str, now: MatchSpec) -> list[Change]:
        """What a key changes; nothing, if it is not one of these."""
        loss = now.link.loss if isinstance(now.link.loss, int | float) else 0.0
        ladders = {
            "l": ("latency", LATENCIES, now.link.latency),
            "j": ("jitter", JITTERS, now.link.jitter),
            "o": ("loss", LOSSES, float(loss)),
            "s": ("send_rate", SEND_RATES, now.send_rate),
        }
        if key.lower() in ladders:
            name, steps, value = ladders[key.lower()]
            wanted = (_next if key.islower() else _before)(steps, value)
            # a recorded network has its own delays
            if wanted == value or (now.trace is not None and name != "send_rate"):
                return []
            return [Change(name, wanted)]
        local = now.local
        switches: dict[str, tuple[str, object]] = {
            "p": ("local", "reconciled" if local == "dumb-terminal" else "dumb-terminal"),
            "r": ("local", "predicted" if local == "reconciled" else "reconciled"),
            "w": ("rewind", not now.rewind),
            "m": ("smoothing", 0.0 if now.smoothing else 0.1),
        }
        if key == "i":
            return self._switch_interpolation(now)
        return [Change(*switches[key])] if key in switches else []

    def _switch_interpolation(self, now: MatchSpec) -> list[Change]:
        if now.remote_strategy != PLAIN_STRATEGY:
            return [Change("remote_strategy", PLAIN_STRATEGY)]
        settings = [Change(f"remote.{name}", str(value)) for name, value in self._settings]
        return [Change("remote_strategy", self._strategy), *settings]
