"""What the keys of ``epic proxy`` do."""

from __future__ import annotations

from collections.abc import Callable

from epic_cli.live.proxy.steering import Steering
from epic_cli.network.two_ways import WAYS, Way

#: By key: a quantity of the link, and what one press adds to it.
_STEPS = {
    "up": ("latency", 0.01),
    "down": ("latency", -0.01),
    "right": ("loss", 0.01),
    "left": ("loss", -0.01),
    "j": ("jitter", 0.005),
    "J": ("jitter", -0.005),
}

_CHOICES: dict[str, tuple[str, tuple[Way, ...]]] = {
    "u": ("up", ("up",)),
    "d": ("down", ("down",)),
    "b": ("both", WAYS),
}


class Keys:
    """Changes the link key by key; ``chosen`` is the direction that they change."""

    def __init__(
        self, steering: Steering, end: Callable[[], None], interrupt: Callable[[], None]
    ) -> None:
        self._steering = steering
        self._end = end
        self._interrupt = interrupt
        self._ways: tuple[Way, ...] = WAYS
        self.chosen = "both"

    def press(self, key: str) -> None:
        """A key by its name; others than those that are shown do nothing."""
        steering = self._steering
        if key in _STEPS:
            steering.add(*_STEPS[key], self._ways)
        elif key in _CHOICES:
            self.chosen, self._ways = _CHOICES[key]
        elif key == " ":
            dark = all(steering.directions[way].blackout for way in self._ways)
            steering.black_out(not dark, self._ways)
        elif key in ("p", "P"):
            steering.next_preset(1 if key == "p" else -1)
        elif key == "r":
            steering.reset()
        elif key == "c":
            steering.clear()
        elif key == "q":
            self._end()
        elif key == "c-c":
            self._interrupt()
