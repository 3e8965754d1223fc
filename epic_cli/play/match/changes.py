"""What a script can set: everything that decides how a match goes, much of it while it runs."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any, NamedTuple

from epic_cli.engine.parameter_base import Parameter, find
from epic_cli.engine.parameters import Custom
from epic_cli.engine.strategies import create
from epic_cli.network.link_spec import LINK_WORDS, TwoWays, words_of
from epic_cli.play.match.spec import CLOCK, MATCH, MatchSpec, default_players
from epic_cli.play.world.rules import Rules
from epic_cli.play.world.times import to_seconds, to_us

#: Cannot change once the match runs.
_FIXED = ("players", "duration", "step", "history", "seed", "clock.")

_LINK = {one.name: one for one in LINK_WORDS}
_PLAIN = _LINK | {one.name: one for one in MATCH}
#: Names that go on: with a setting of the strategy, a player, or a word of the link, which holds
#: in this direction alone.
_STRATEGY, _CLOCK, _UP, _DOWN = "remote.", "clock.", "up.", "down."

#: All that a script can set.
NAMES = (*_PLAIN, _STRATEGY, _CLOCK, _UP, _DOWN)


def _parameter(name: str) -> Parameter:
    """What a name sets; raises ``SettingError``."""
    family, _, rest = name.rpartition(".")
    if f"{family}." in (_UP, _DOWN):
        return find(rest, LINK_WORDS, "a link")
    if f"{family}." == _CLOCK:
        return CLOCK
    if name.startswith(_STRATEGY):
        return Custom(name, None, "A setting of the strategy.", "value", str)
    return find(name, tuple(_PLAIN.values()), "a match", "setting")


class Change(NamedTuple):
    """One setting and its new value; strategies' own settings come as ``remote.NAME``."""

    name: str
    value: Any

    def __str__(self) -> str:
        return f"{self.name}={_parameter(self.name).write(self.value)}"

    @property
    def family(self) -> str:
        """``remote.``, ``clock.``, ``up.`` or ``down.`` if it is one of these; otherwise empty."""
        return self.name[: self.name.find(".") + 1]

    @property
    def is_fixed(self) -> bool:
        """Whether it cannot change once the match runs."""
        return self.name in _FIXED or self.family in _FIXED

    @property
    def is_of_link(self) -> bool:
        """Whether it changes the links."""
        return self.name in _LINK or self.family in (_UP, _DOWN)


def parse_change(text: str) -> Change:
    """``name=value``; raises ``ValueError``."""
    name, equals, value = text.partition("=")
    parameter = _parameter(name)
    if not equals:
        raise ValueError(f"{name} has no value: write {name}=...")
    try:
        return Change(name, parameter.read(value))
    except ValueError as error:
        raise ValueError(f"{name}={error}") from error


def changed(spec: MatchSpec, change: Change) -> MatchSpec:
    """The match with a change; raises ``ValueError`` where it does not allow that."""
    if change.is_of_link:
        link, up, down = TwoWays(spec.link, spec.up, spec.down).changed(*change)
        return dataclasses.replace(spec, link=link, up=up, down=down)
    apply = _APPLY.get(change.family or change.name)
    if apply is not None:
        return apply(spec, change.name.removeprefix(change.family), change.value)
    fields: dict[str, Any] = {change.name: change.value}
    return dataclasses.replace(spec, **fields)


def _with_setting(spec: MatchSpec, name: str, value: object) -> MatchSpec:
    given = dict(spec.remote_settings) | {name: str(value)}
    create(spec.remote_strategy, given)
    return dataclasses.replace(spec, remote_settings=tuple(given.items()))


def _with_strategy(spec: MatchSpec, _: str, strategy: str) -> MatchSpec:
    return dataclasses.replace(spec, remote_strategy=strategy, remote_settings=())


def _with_clock(spec: MatchSpec, player: str, clock: tuple[float, float]) -> MatchSpec:
    if player not in [one.name for one in spec.players]:
        raise ValueError(f"clock.{player}: there is no player {player!r}")
    offset, rate = clock
    players = tuple(
        dataclasses.replace(one, offset=offset, rate=rate) if one.name == player else one
        for one in spec.players
    )
    return dataclasses.replace(spec, players=players)


def _with_players(spec: MatchSpec, _: str, count: int) -> MatchSpec:
    more = default_players(count)[len(spec.players) :]
    return dataclasses.replace(spec, players=(*spec.players, *more)[:count])


def _with_step(spec: MatchSpec, _: str, step: float) -> MatchSpec:
    return dataclasses.replace(spec, rules=Rules(step=to_seconds(to_us(step))))


#: What is no field of the match by this name.
_APPLY: dict[str, Callable[[MatchSpec, str, Any], MatchSpec]] = {
    _STRATEGY: _with_setting,
    _CLOCK: _with_clock,
    "remote_strategy": _with_strategy,
    "players": _with_players,
    "step": _with_step,
}


def describe(spec: MatchSpec) -> list[Change]:
    """The changes that make these settings of the default ones, as far as there are any.

    Who the bots are is left out.
    """
    changes = [Change("players", len(spec.players))]
    changes += [
        Change(f"clock.{one.name}", (one.offset, one.rate))
        for one in spec.players
        if (one.offset, one.rate) != (0, 1)
    ]
    changes += [Change(*word) for word in words_of(spec.link)]
    for direction in ("up", "down"):
        words = getattr(spec, direction)
        changes += [Change(f"{direction}.{name}", value) for name, value in words]
    changes.append(Change("step", spec.rules.step))
    changes += [
        Change(field.name, getattr(spec, field.name))
        for field in dataclasses.fields(spec)
        if field.name in _PLAIN and field.name not in ("link", "players")
    ]
    return changes + [Change(f"remote.{key}", str(own)) for key, own in spec.remote_settings]
