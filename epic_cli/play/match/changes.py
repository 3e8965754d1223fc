"""What a script can set: everything that decides how a match goes, much of it while it runs."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from typing import Any, NamedTuple

from epic_cli.engine.parameters import Choice, Custom, Number, Parameter, Switch
from epic_cli.engine.quantities import parse
from epic_cli.engine.strategies import create
from epic_cli.engine.strategies import find as find_strategy
from epic_cli.network.conditions import LinkConditions
from epic_cli.network.loss import GilbertElliott
from epic_cli.network.words import LINK_WORDS, TwoWays
from epic_cli.play.client.clock import CLOCK_SYNCS
from epic_cli.play.client.correction import SMOOTHING_CURVES
from epic_cli.play.client.prediction import LOCAL_MODES
from epic_cli.play.match.settings import (
    MOST_PLAYERS,
    MatchSettings,
    default_players,
)
from epic_cli.play.server.compensation import COMPENSATIONS
from epic_cli.play.world.rules import Rules
from epic_cli.play.world.times import to_seconds, to_us

#: Seconds, and hertz.
STEPS = (0.005, 0.1)
SEND_RATES = (0.5, 1000.0)
LONGEST_SMOOTHING = 10.0
LONGEST_HISTORY = 60.0

LONGEST_DURATION = 1e6

CLOCK_RATES = (0.01, 100.0)
FARTHEST_CLOCK = 1e6


def _read_strategy(text: str) -> str:
    find_strategy(text)
    return text


def read_clock(text: str) -> tuple[float, float]:
    """``AHEAD`` or ``AHEAD,RATE``, seconds and how many times as fast; raises ``ValueError``."""
    ahead_text, _, rate_text = text.partition(",")
    ahead, rate = parse(ahead_text, "s"), parse(rate_text or "1", "")
    if not (abs(ahead) <= FARTHEST_CLOCK and CLOCK_RATES[0] <= rate <= CLOCK_RATES[1]):
        raise ValueError("write AHEAD or AHEAD,RATE; seconds, and 0.01 to 100")
    return ahead, rate


def _write_clock(values: Sequence[float]) -> str:
    return ",".join(map(repr, values))


#: How a match is played: the fields of ``MatchSettings``, apart from its players and its link.
MATCH: tuple[Parameter, ...] = (
    Number("players", 2, "How many play: A, B, C and so on.", "", 2, MOST_PLAYERS, whole=True),
    Number(
        "duration",
        10.0,
        "How long the match lasts, in seconds, or endless.",
        "s",
        0,
        LONGEST_DURATION,
    ),
    Number("step", Rules().step, "The simulation's step and the time between frames.", "s", *STEPS),
    Number(
        "send_rate",
        MatchSettings.send_rate,
        "How many times a second the server sends the state.",
        "Hz",
        *SEND_RATES,
    ),
    Choice(
        "local",
        MatchSettings.local,
        "How your own player is shown: where the server last put it, predicted at once, predicted"
        " and reconciled by move replay, or predicted and corrected without it.",
        LOCAL_MODES,
    ),
    Number(
        "smoothing",
        MatchSettings.smoothing,
        "Spread a correction over this time; 0: apply it at once.",
        "s",
        0,
        LONGEST_SMOOTHING,
    ),
    Choice(
        "smoothing_curve",
        MatchSettings.smoothing_curve,
        "Smooth it away evenly, as Source does, or by half in each such time, as lightyear.",
        SMOOTHING_CURVES,
    ),
    Number(
        "smooth_above",
        MatchSettings.smooth_above,
        "Apply a smaller correction at once.",
        "length units",
        0,
        words={"inf": math.inf},
    ),
    Number(
        "snap_above",
        MatchSettings.snap_above,
        "Apply a larger correction at once, and forget the ones before.",
        "length units",
        0,
        words={"inf": math.inf},
    ),
    Choice(
        "clock_sync",
        MatchSettings.clock_sync,
        "How a client keeps its clock in step with the server's: not at all, or as netfox,"
        " lightyear or GGPO do.",
        CLOCK_SYNCS,
    ),
    Custom(
        "remote_strategy",
        MatchSettings.remote_strategy,
        "How other players are drawn; 'epic strategies' lists the strategies.",
        "name",
        _read_strategy,
    ),
    Switch(
        "rewind",
        MatchSettings.rewind,
        "Judge a shot by what the shooter saw, or by where everybody is now.",
    ),
    Choice(
        "lag_compensation",
        MatchSettings.lag_compensation,
        "How the server knows where to rewind to: the client says what it drew; the server"
        " estimates it, as Mirror does; or it checks what the client says, as Source does.",
        COMPENSATIONS,
    ),
    Number(
        "history",
        MatchSettings.history,
        "How far back the server can rewind.",
        "s",
        0,
        LONGEST_HISTORY,
    ),
    Number("seed", MatchSettings.seed, "The random numbers.", "", 0, 2**64 - 1, whole=True),
)

#: Cannot change once the match runs.
_FIXED = ("players", "duration", "step", "history", "seed", "clock.")

_LINK = {one.name: one for one in LINK_WORDS}
_MATCH = {one.name: one for one in MATCH}
#: Names that go on: with a setting of the strategy, and with a player.
_FAMILIES = {
    "remote.": Custom("remote.", None, "A setting of the strategy.", "value", str),
    "clock.": Custom("clock.", None, "A player's clock.", "ahead[,rate]", read_clock, _write_clock),
}
#: Names that go on with a word of the link, which holds in this direction alone.
_DIRECTIONS = ("up.", "down.")

NAMES = (*_LINK, *_MATCH, *_FAMILIES, *_DIRECTIONS)


def _family(name: str) -> str:
    return name[: name.find(".") + 1]


def _kind(name: str) -> Parameter | None:
    if _family(name) in _DIRECTIONS:
        return _LINK.get(name.partition(".")[2])
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
        """``remote.``, ``clock.``, ``up.`` or ``down.`` if it is one of these; otherwise empty."""
        return _family(self.name)

    @property
    def is_fixed(self) -> bool:
        """Whether it cannot change once the match runs."""
        return self.name in _FIXED or self.family in _FIXED

    @property
    def is_of_link(self) -> bool:
        """Whether it changes the links."""
        return self.name in _LINK or self.family in _DIRECTIONS


def parse_change(text: str) -> Change:
    """``name=value``; raises ``ValueError``."""
    name, equals, value = text.partition("=")
    kind = _kind(name)
    if not equals or kind is None:
        raise ValueError(f"{text!r} cannot be set")
    try:
        return Change(name, kind.read(value))
    except ValueError as error:
        raise ValueError(f"{name}={error}") from error


def changed(settings: MatchSettings, change: Change) -> MatchSettings:
    """The settings with a change; raises ``ValueError`` where they do not allow it."""
    name, value = change
    if change.family == "remote.":
        given = dict(settings.remote_settings) | {name.removeprefix("remote."): str(value)}
        create(settings.remote_strategy, given)
        return dataclasses.replace(settings, remote_settings=tuple(given.items()))
    if change.family == "clock.":
        return _with_clock(settings, name.removeprefix("clock."), *value)
    if change.is_of_link:
        return _with_link(settings, change)
    fields = {name: value}
    if name == "remote_strategy":
        fields["remote_settings"] = ()
    elif name == "players":
        more = default_players(value)[len(settings.players) :]
        fields[name] = (*settings.players, *more)[:value]
    elif name == "step":
        fields = {"rules": Rules(step=to_seconds(to_us(value)))}
    return dataclasses.replace(settings, **fields)


def _with_link(settings: MatchSettings, change: Change) -> MatchSettings:
    link, up, down = TwoWays(settings.link, settings.up, settings.down).changed(*change)
    return dataclasses.replace(settings, link=link, up=up, down=down)


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
        if field.name != "later":
            value = getattr(settings.link, field.name)
            name = "gemodel" if isinstance(value, GilbertElliott) else field.name
            changes.append(Change(name, value))
    for direction in ("up", "down"):
        words = getattr(settings, direction)
        changes += [Change(f"{direction}.{name}", value) for name, value in words]
    changes.append(Change("step", settings.rules.step))
    changes += [
        Change(field.name, getattr(settings, field.name))
        for field in dataclasses.fields(settings)
        if field.name in _MATCH and field.name != "players"
    ]
    return changes + [Change(f"remote.{key}", str(own)) for key, own in settings.remote_settings]
