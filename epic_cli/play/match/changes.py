"""What a script can set: everything that decides how a match goes, much of it while it runs."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from epic_cli.engine.quantities import parse
from epic_cli.engine.strategies import create, find
from epic_cli.network.conditions import DISTRIBUTIONS, LONGEST_DELAY, LinkConditions
from epic_cli.network.loss import GilbertElliott
from epic_cli.play.client.clock import CLOCK_SYNCS
from epic_cli.play.client.correction import SMOOTHING_CURVES
from epic_cli.play.client.prediction import LOCAL_MODES
from epic_cli.play.match.settings import MOST_PLAYERS, MatchSettings, default_players
from epic_cli.play.server.compensation import COMPENSATIONS
from epic_cli.play.world.rules import Rules
from epic_cli.play.world.times import to_seconds, to_us

#: Seconds, and hertz.
STEPS = (0.005, 0.1)
SEND_RATES = (0.5, 1000.0)
LONGEST_SMOOTHING = 10.0
LONGEST_HISTORY = 60.0

LONGEST_DURATION = 1e6

HIGHEST_CORRELATION = 0.9999
CLOCK_RATES = (0.01, 100.0)
FARTHEST_CLOCK = 1e6


class _Kind(NamedTuple):
    """How a value is read, which raises ``ValueError``, and written so that it reads the same.

    ``fixed``: it cannot change once the match runs.
    """

    read: Callable[[str], Any]
    write: Callable[[Any], str] = repr
    fixed: bool = False


def _number(unit: str, lowest: float, highest: float, fixed: bool = False) -> _Kind:
    def read(text: str) -> float:
        value = parse(text, unit)
        if not lowest <= value <= highest:
            raise ValueError(f"out of range, which is {lowest:g} to {highest:g} {unit}".rstrip())
        return value

    return _Kind(read, fixed=fixed)


def _whole(lowest: int, highest: int) -> _Kind:
    def read(text: str) -> int:
        if not (text.isdecimal() and len(text) <= 20 and lowest <= int(text) <= highest):
            raise ValueError(f"not a whole number from {lowest} to {highest}")
        return int(text)

    return _Kind(read, fixed=True)


def _word(words: Sequence[str]) -> _Kind:
    def read(text: str) -> str:
        if text not in words:
            raise ValueError(f"not one of {', '.join(words)}")
        return text

    return _Kind(read, str)


def _read_switch(text: str) -> bool:
    if text not in ("on", "off"):
        raise ValueError("it is on or off")
    return text == "on"


def _read_strategy(text: str) -> str:
    find(text)
    return text


def read_clock(text: str) -> tuple[float, float]:
    """``AHEAD`` or ``AHEAD,RATE``, seconds and how many times as fast; raises ``ValueError``."""
    ahead_text, _, rate_text = text.partition(",")
    ahead, rate = parse(ahead_text, "s"), parse(rate_text or "1", "")
    if not (abs(ahead) <= FARTHEST_CLOCK and CLOCK_RATES[0] <= rate <= CLOCK_RATES[1]):
        raise ValueError("write AHEAD or AHEAD,RATE; seconds, and 0.01 to 100")
    return ahead, rate


def _numbers(values: Sequence[float]) -> str:
    return ",".join(map(repr, values))


_SWITCH = _Kind(_read_switch, lambda value: "on" if value else "off")
_SHARE = _number("", 0, 1)

_LINK = {
    "latency": _number("s", 0, LONGEST_DELAY),
    "jitter": _number("s", 0, LONGEST_DELAY),
    "distribution": _word(DISTRIBUTIONS),
    "correlation": _number("", 0, HIGHEST_CORRELATION),
    "loss": _SHARE,
    "gemodel": _Kind(GilbertElliott.parse, _numbers),
    "duplicate": _SHARE,
    "reorder": _SHARE,
    "in_order": _SWITCH,
}
_MATCH = {
    "players": _whole(2, MOST_PLAYERS),
    "duration": _number("s", 0, LONGEST_DURATION, fixed=True),
    "step": _number("s", *STEPS, fixed=True),
    "send_rate": _number("Hz", *SEND_RATES),
    "local": _word(LOCAL_MODES),
    "smoothing": _number("s", 0, LONGEST_SMOOTHING),
    "smoothing_curve": _word(SMOOTHING_CURVES),
    "smooth_above": _number("length units", 0, math.inf),
    "snap_above": _number("length units", 0, math.inf),
    "clock_sync": _word(tuple(CLOCK_SYNCS)),
    "remote_strategy": _Kind(_read_strategy, str),
    "rewind": _SWITCH,
    "lag_compensation": _word(tuple(COMPENSATIONS)),
    "history": _number("s", 0, LONGEST_HISTORY, fixed=True),
    "seed": _whole(0, 2**64 - 1),
}
#: Names that go on: with a setting of the strategy, and with a player.
_FAMILIES = {"remote.": _Kind(str, str), "clock.": _Kind(read_clock, _numbers, fixed=True)}

NAMES = (*_LINK, *_MATCH, *_FAMILIES)


def _family(name: str) -> str:
    return name[: name.find(".") + 1]


def _kind(name: str) -> _Kind | None:
    return _LINK.get(name) or _MATCH.get(name) or _FAMILIES.get(_family(name))


class Change(NamedTuple):
    """One setting and its new value; strategies' own settings come as ``remote.NAME``."""

    name: str
    value: Any

    def __str__(self) -> str:
        kind = _kind(self.name)
        return f"{self.name}={kind.write(self.value) if kind else self.value}"

    @property
    def family(self) -> str:
        """``remote.`` or ``clock.`` if it is one of these; otherwise empty."""
        return _family(self.name)

    @property
    def is_fixed(self) -> bool:
        """Whether it cannot change once the match runs."""
        kind = _kind(self.name)
        return kind is not None and kind.fixed

    @property
    def is_of_link(self) -> bool:
        """Whether it changes the links."""
        return self.name in _LINK


def parse_change(text: str) -> Change:
    """``name=value``; raises ``ValueError``."""
    name, equals, value = text.partition("=")
    kind = _kind(name)
    if not equals or kind is None:
        raise ValueError(f"{text!r} cannot be set")
    try:
        return Change(name, kind.read(value))
    except ValueError as error:
        raise ValueError(f"{name}={value}: {error}") from error


def changed(settings: MatchSettings, change: Change) -> MatchSettings:
    """The settings with a change; raises ``ValueError`` where they do not allow it."""
    name, value = change
    if change.family == "remote.":
        given = dict(settings.remote_settings) | {name.removeprefix("remote."): str(value)}
        create(settings.remote_strategy, given)
        return dataclasses.replace(settings, remote_settings=tuple(given.items()))
    if change.family == "clock.":
        return _with_clock(settings, name.removeprefix("clock."), *value)
    fields = {name: value}
    if change.is_of_link:
        field = "loss" if name == "gemodel" else name
        fields = {"link": dataclasses.replace(settings.link, **{field: value})}
    elif name == "remote_strategy":
        fields["remote_settings"] = ()
    elif name == "players":
        more = default_players(value)[len(settings.players) :]
        fields[name] = (*settings.players, *more)[:value]
    elif name == "step":
        fields = {"rules": Rules(step=to_seconds(to_us(value)))}
    return dataclasses.replace(settings, **fields)


def _with_clock(settings: MatchSettings, player: str, offset: float, rate: float) -> MatchSettings:
    names = [one.name for one in settings.players]
    if player not in names:
        raise ValueError(f"clock.{player}: there is no player {player!r}")
    players = tuple(
        dataclasses.replace(one, offset=offset, rate=rate) if one.name == player else one
        for one in settings.players
    )
    return dataclasses.replace(settings, players=players)


def describe(settings: MatchSettings) -> list[Change]:
    """The changes that make these settings of the default ones, as far as there are any.

    Who the bots are is left out.
    """
    changes = [Change("players", len(settings.players))]
    changes += [
        Change(f"clock.{one.name}", (one.offset, one.rate))
        for one in settings.players
        if (one.offset, one.rate) != (0, 1)
    ]
    for field in dataclasses.fields(LinkConditions):
        value = getattr(settings.link, field.name)
        name = "gemodel" if isinstance(value, GilbertElliott) else field.name
        changes.append(Change(name, value))
    changes.append(Change("step", settings.rules.step))
    changes += [
        Change(field.name, getattr(settings, field.name))
        for field in dataclasses.fields(settings)
        if field.name in _MATCH and field.name != "players"
    ]
    return changes + [Change(f"remote.{key}", str(own)) for key, own in settings.remote_settings]
