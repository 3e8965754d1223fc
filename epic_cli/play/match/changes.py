"""What a script can set: everything that decides how a match goes, much of it while it runs."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from typing import Any, NamedTuple

from epic_cli.engine.quantities import parse
from epic_cli.engine.strategies import create, find
from epic_cli.network.conditions import LinkConditions
from epic_cli.network.loss import GilbertElliott
from epic_cli.network.two_ways import TwoWays
from epic_cli.network.words import (
    LINK_WORDS,
    PRESET_WORD,
    SWITCH,
    Word,
    choice_word,
    number_word,
    whole_word,
)
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


class _Kind(NamedTuple):
    """A word, which cannot change once the match runs where it is ``fixed``."""

    word: Word
    fixed: bool = False


def _number(unit: str, lowest: float, highest: float, fixed: bool = False) -> _Kind:
    return _Kind(number_word(unit, lowest, highest), fixed)


def _whole(lowest: int, highest: int) -> _Kind:
    return _Kind(whole_word(lowest, highest), fixed=True)


def _word(words: Sequence[str]) -> _Kind:
    return _Kind(choice_word(words))


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


_LINK = {name: _Kind(word) for name, word in LINK_WORDS.items()} | {"preset": _Kind(PRESET_WORD)}
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
    "remote_strategy": _Kind(Word(_read_strategy, str)),
    "rewind": _Kind(SWITCH),
    "lag_compensation": _word(tuple(COMPENSATIONS)),
    "history": _number("s", 0, LONGEST_HISTORY, fixed=True),
    "seed": _whole(0, 2**64 - 1),
}
#: Names that go on: with a setting of the strategy, and with a player.
_FAMILIES = {
    "remote.": _Kind(Word(str, str)),
    "clock.": _Kind(Word(read_clock, _numbers), fixed=True),
}
#: Names that go on with a word of the link, which holds in this direction alone.
_DIRECTIONS = ("up.", "down.")

NAMES = (*_LINK, *_MATCH, *_FAMILIES, *_DIRECTIONS)


def _family(name: str) -> str:
    return name[: name.find(".") + 1]


def _kind(name: str) -> _Kind | None:
    if _family(name) in _DIRECTIONS:
        return _LINK.get(name.partition(".")[2])
    return _LINK.get(name) or _MATCH.get(name) or _FAMILIES.get(_family(name))


class Change(NamedTuple):
    """One setting and its new value; strategies' own settings come as ``remote.NAME``."""

    name: str
    value: Any

    def __str__(self) -> str:
        kind = _kind(self.name)
        return f"{self.name}={kind.word.write(self.value) if kind else self.value}"

    @property
    def family(self) -> str:
        """``remote.``, ``clock.``, ``up.`` or ``down.`` if it is one of these; otherwise empty."""
        return _family(self.name)

    @property
    def is_fixed(self) -> bool:
        """Whether it cannot change once the match runs."""
        kind = _kind(self.name)
        return kind is not None and kind.fixed

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
        return Change(name, kind.word.read(value))
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
