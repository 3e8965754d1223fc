"""What can be changed while a match runs: the link, the send rate, and each technique."""

from __future__ import annotations

import dataclasses
import math
from typing import NamedTuple

from epic_cli.engine.strategies import create, find
from epic_cli.network.link import LONGEST_DELAY
from epic_cli.play.client.clock import CLOCK_SYNCS
from epic_cli.play.client.correction import SMOOTHING_CURVES
from epic_cli.play.client.prediction import LOCAL_MODES
from epic_cli.play.match.settings import MatchSettings
from epic_cli.play.server.compensation import COMPENSATIONS

SEND_RATES = (0.5, 1000.0)
LONGEST_SMOOTHING = 10.0

#: The numbers of the link, each with its highest value.
_LINK = {"latency": LONGEST_DELAY, "jitter": LONGEST_DELAY, "loss": 1.0}
_NUMBERS = {
    **{name: (0.0, highest) for name, highest in _LINK.items()},
    "send_rate": SEND_RATES,
    "smoothing": (0.0, LONGEST_SMOOTHING),
    "smooth_above": (0.0, math.inf),
    "snap_above": (0.0, math.inf),
}
_CHOICES: dict[str, tuple[str, ...]] = {
    "local": LOCAL_MODES,
    "smoothing_curve": SMOOTHING_CURVES,
    "clock_sync": (*CLOCK_SYNCS,),
    "lag_compensation": (*COMPENSATIONS,),
}
_OTHERS = (
    *(name for name in _NUMBERS if name not in _LINK),
    *_CHOICES,
    *("remote_strategy", "rewind", "seed"),
)

NAMES = (*_LINK, *_OTHERS)


class Change(NamedTuple):
    """One setting and its new value; strategies' own settings come as ``remote.NAME``."""

    name: str
    value: float | str | bool

    def __str__(self) -> str:
        value = self.value
        text = ("on" if value else "off") if isinstance(value, bool) else repr(value).strip("'")
        return f"{self.name}={text}"


def parse_change(text: str) -> Change:
    """``name=value``; raises ``ValueError``."""
    name, equals, value = text.partition("=")
    if not equals or (name not in NAMES and not name.startswith("remote.")):
        raise ValueError(f"{text!r} cannot be set")
    if name.startswith("remote."):
        return Change(name, value)
    if name == "rewind":
        if value not in ("on", "off"):
            raise ValueError(f"rewind is on or off, not {value!r}")
        return Change(name, value == "on")
    if name in _CHOICES:
        if value not in _CHOICES[name]:
            raise ValueError(f"{name} is one of {', '.join(_CHOICES[name])}, not {value!r}")
        return Change(name, value)
    if name == "remote_strategy":
        find(value)
        return Change(name, value)
    return Change(name, _number(name, value))


def _number(name: str, text: str) -> float:
    if name == "seed":
        if not text.isdecimal() or int(text) >= 2**64:
            raise ValueError(f"the seed {text!r} is not a whole number from 0 to 2^64 - 1")
        return int(text)
    try:
        number = float(text)
    except ValueError:
        raise ValueError(f"{name}={text!r} is not a number") from None
    lowest, highest = _NUMBERS[name]
    if not lowest <= number <= highest:
        raise ValueError(f"{name}={text} is out of range: it must be {lowest:g} to {highest:g}")
    return number


def changed(settings: MatchSettings, change: Change) -> MatchSettings:
    """The settings with a change; raises ``ValueError`` where a strategy does not allow it."""
    name, value = change
    if name in _LINK:
        link = dataclasses.replace(settings.link, **{name: value})  # type: ignore[arg-type]
        return dataclasses.replace(settings, link=link)
    if name == "remote_strategy":
        return dataclasses.replace(settings, remote_strategy=str(value), remote_settings=())
    if name.startswith("remote."):
        given = dict(settings.remote_settings) | {name.removeprefix("remote."): str(value)}
        create(settings.remote_strategy, given)
        return dataclasses.replace(settings, remote_settings=tuple(given.items()))
    return dataclasses.replace(settings, **{name: value})  # type: ignore[arg-type]


def describe(settings: MatchSettings) -> list[Change]:
    """The changes that turn the default settings into these."""
    link = settings.link
    changes = [Change(name, getattr(link, name)) for name in _LINK if name != "loss"]
    if isinstance(link.loss, int | float):
        changes.append(Change("loss", link.loss))
    changes += [Change(name, getattr(settings, name)) for name in _OTHERS]
    changes += [Change(f"remote.{name}", str(value)) for name, value in settings.remote_settings]
    return changes
