"""The settings of a match, each declared once, and the settings that a script can change."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, fields, replace
from typing import Any, NamedTuple

from epic_cli.engine import description
from epic_cli.engine.parameters import (
    Choice,
    Custom,
    Number,
    Parameter,
    SettingError,
    Switch,
    find,
    parse_quantity,
)
from epic_cli.engine.replay.playback import parse_tick
from epic_cli.engine.replay.strategy_spec import StrategySpec
from epic_cli.engine.strategies import create
from epic_cli.engine.strategies import find_class as find_strategy
from epic_cli.network.encoding import Encoding
from epic_cli.network.link import Channel, Link, LinkConditions
from epic_cli.network.link_spec import (
    LINK_WORDS,
    TwoWays,
    describe_conditions,
    find_word_parameter,
    list_differences,
)
from epic_cli.network.randomness import SEED
from epic_cli.network.sender import HALF, HALF_DELTA, RECORDED, USUAL_RATE, Sender, SenderSpec
from epic_cli.play.client import LOCAL_MODES, SMOOTHING_CURVES, LocalMode, Smoothing
from epic_cli.play.clock import CLOCK_SYNCS, compute_interpolation_delay
from epic_cli.play.server import COMPENSATIONS, DEFAULT_HISTORY, make_sender_to_client
from epic_cli.play.wire import FARTHEST
from epic_cli.play.world import SECOND_US, STEP, Point, Rules, convert_to_seconds, convert_to_us

#: The bounds of a clock's offset (seconds) and rate.
FARTHEST_CLOCK = 1e6
CLOCK_RATES = (0.01, 100.0)

#: Bounds of the step, in seconds.
STEPS = (0.005, 0.1)

#: The latency that a recorded network is assumed to have, in seconds.
UNKNOWN_LATENCY = 0.15

USUAL_LINK = LinkConditions(latency=0.05)
DEFAULT_LINK = TwoWays.from_conditions(USUAL_LINK)
USUAL_SENDER = SenderSpec(USUAL_RATE)

#: Bounds of the send rate, in hertz.
SEND_RATES = (0.5, 1000.0)

#: Keys of a sender that have no effect, and why.
_NOT_SENT = {
    "mtu": "each state goes in one datagram",
    "separate": "the players of a state share a datagram",
    "clock_offset": "times are the server's; clock.NAME sets the clock of a player",
    "clock_drift": "times are the server's; clock.NAME sets the clock of a player",
}

#: The players' first positions: at opposite ends, then between them.
SPAWN_POINTS = (
    (5.0, 12.0), (19.0, 12.0), (5.0, 4.0), (19.0, 20.0),
    (5.0, 20.0), (19.0, 4.0), (9.0, 12.0), (15.0, 12.0),
)  # fmt: skip


MOST_PLAYERS = len(SPAWN_POINTS)


@dataclass(frozen=True)
class PlayerConfig:
    """A player and his machine.

    ``bot`` plays where no script does. ``offset`` (seconds) and ``rate`` are those of his clock:
    one that runs twice as fast makes twice as many moves.
    """

    name: str
    spawn: Point
    bot: str = "still"
    offset: float = 0.0
    rate: float = 1.0


def _check_sender(send: SenderSpec) -> None:
    """Raise ``SettingError`` for a setting of the sender that a match does not support."""
    rate, (low, high) = send.send_rate, SEND_RATES
    if rate == RECORDED:
        raise SettingError(f"send_rate={RECORDED}: a match has no recording; give a rate")
    if rate is not None and not low <= float(rate) <= high:
        raise SettingError(f"send_rate={rate:g}: a match has {low:g} to {high:g} Hz")
    for key, _ in send.list_entries():
        if key in _NOT_SENT:
            raise SettingError(f"{key} has no effect in a match: {_NOT_SENT[key]}")
    if send.range is not None and send.range > FARTHEST:
        raise SettingError(f"range={send.range:g}: a match has at most {FARTHEST:g} units")
    if send.expand_layout().quantize == HALF_DELTA:
        raise SettingError(
            f"quantize={HALF_DELTA} needs baselines that always arrive, and a match loses packets:"
            f" write quantize={HALF}"
        )


def _read_sender(text: str) -> SenderSpec:
    send = SenderSpec.parse(text)
    _check_sender(send)
    return send


def make_default_players(count: int = 2) -> tuple[PlayerConfig, ...]:
    """Return the players: A, who is you, and up to seven bots that run around: B, C and so on."""
    return tuple(
        PlayerConfig(name, spawn, "hunter" if name == "A" else "runner")
        for name, spawn in zip("ABCDEFGH"[:count], SPAWN_POINTS, strict=False)
    )


@dataclass(frozen=True)
class MatchSpec:
    """The settings that decide a match, apart from its script.

    Times in seconds. ``link`` is that of every client. ``trace`` makes the channels of a recorded
    network in its place, given their purpose ("up/A" or "down/A"). ``send`` describes how the
    server sends the others to a client. Raises ``SettingError`` for what a match cannot send.
    """

    players: tuple[PlayerConfig, ...] = field(default_factory=make_default_players)
    rules: Rules = field(default_factory=Rules)
    link: TwoWays = DEFAULT_LINK
    trace: Callable[[str], Channel] | None = None
    send: SenderSpec = USUAL_SENDER
    speed: float = 1.0
    local: LocalMode = "reconciled"
    smoothing: float = 0.0
    smoothing_curve: str = "linear"
    smooth_above: float = 0.0
    snap_above: float = math.inf
    remote_strategy: str = "snapshot"
    remote_settings: tuple[tuple[str, float | str], ...] = ()
    clock_sync: str = "free-running"
    rewind: bool = True
    lag_compensation: str = "view"
    history: float = DEFAULT_HISTORY
    seed: int = 0

    def __post_init__(self) -> None:
        if self.send.send_rate is None:  # the rate is always said
            object.__setattr__(self, "send", replace(self.send, send_rate=USUAL_RATE))
        _check_sender(self.send)

    @property
    def send_rate(self) -> float:
        """The server's send rate, in hertz."""
        return float(self.send.send_rate or USUAL_RATE)

    @property
    def _largest_coordinate(self) -> float:
        arena = self.rules.arena
        return self.send.reach(lambda: max(arena.width, arena.height))

    @property
    def encoding(self) -> Encoding:
        """The encoding of other players' states."""
        return self.send.make_encoding(self._largest_coordinate)

    def make_sender(self) -> Sender:
        """Make the sender of other players' states to one client."""
        judged = StrategySpec(self.remote_strategy, self.compute_strategy_settings())
        return make_sender_to_client(self.send, self._largest_coordinate, judged)

    @property
    def delay_follows_link(self) -> bool:
        """True if the interpolation delay is computed from the link because it is not set."""
        given = dict(self.remote_settings)
        return self.remote_strategy == "snapshot" and not {"interpolation_time", "clock"} & {*given}

    def compute_strategy_settings(self) -> dict[str, float | str]:
        """Return the settings of the remote strategy.

        The snapshot buffer compares timestamps with the clock, so its delay must cover the latency,
        the jitter, and two packet periods (one packet may be lost); its ring must hold the states
        of that time, however often they are sent. lightyear waits for its own delay instead of two
        periods.
        """
        given = dict(self.remote_settings)
        if self.remote_strategy == "snapshot" and "step" not in given:
            given["step"] = min(0.033, 0.5 / self.send_rate)
        if self.delay_follows_link:
            down = self.link.down
            transit = UNKNOWN_LATENCY if self.trace else down.latency + down.jitter
            wait = 2 / self.send_rate
            if self.clock_sync == "lightyear":
                jitter = 0.0 if self.trace else down.jitter
                wait = compute_interpolation_delay(1 / self.send_rate, jitter, self.rules.step)
            given["interpolation_time"] = min(transit + wait, 60.0)
        return given

    @property
    def smoothing_of_corrections(self) -> Smoothing:
        """The smoothing of the local player's corrections."""
        return Smoothing(self.smoothing, self.smoothing_curve, self.smooth_above, self.snap_above)

    @property
    def view_delay(self) -> float:
        """The delay (s) at which other players are drawn.

        0 for a strategy without such a setting.
        """
        return parse_quantity(
            str(self.compute_strategy_settings().get("interpolation_time", 0.0)), "s"
        )

    def make_channel(self, purpose: str) -> Channel:
        """Make one direction of a client's link; the purpose begins with ``up`` or ``down``."""
        if self.trace is not None:
            return self.trace(purpose)
        conditions = self.link.get_direction(purpose.partition("/")[0])
        return Link(conditions, seed=self.seed, purpose=purpose)


def _read_clock(text: str) -> tuple[float, float]:
    ahead_text, _, rate_text = text.partition(",")
    ahead, rate = parse_quantity(ahead_text, "s"), parse_quantity(rate_text or "1", "")
    if not (abs(ahead) <= FARTHEST_CLOCK and CLOCK_RATES[0] <= rate <= CLOCK_RATES[1]):
        raise ValueError(
            "write AHEAD or AHEAD,RATE: seconds that the clock is ahead, and its rate, 0.01 to 100"
        )
    return ahead, rate


def _read_step(text: str) -> float:
    """Parse a step in seconds, to the nearest microsecond; raise ``ValueError``."""
    numerator, denominator = parse_tick(text)
    step = round(SECOND_US * numerator / denominator) / SECOND_US
    if not STEPS[0] <= step <= STEPS[1]:
        raise ValueError(f"it must be {STEPS[0]:g} to {STEPS[1]:g} s")
    return step


def _read_strategy(text: str) -> str:
    find_strategy(text)
    return text


#: Techniques that hide latency, the sender, and the simulation's step.
TECHNIQUES: tuple[Parameter, ...] = (
    Choice("local", MatchSpec.local, "How your client corrects your own player: it shows the"
           " server's state, predicts without corrections, reconciles by move replay, corrects"
           " without replay, or lerps to the server's position in each frame.",
           LOCAL_MODES),
    Number("smoothing", MatchSpec.smoothing, "Spread a correction over this time; 0: apply it at"
           " once. With local=lerped, the lerp time.", "s", 0, 10),
    Choice("smoothing_curve", MatchSpec.smoothing_curve, "How a correction fades: evenly, as in"
           " Source; by half in each such time, as in lightyear; frame by frame or with overshoot,"
           " as in Unreal; or as a spring.", SMOOTHING_CURVES),
    Number("smooth_above", MatchSpec.smooth_above, "Apply a smaller correction at once.",
           "length units", 0, words={"inf": math.inf}),
    Number("snap_above", MatchSpec.snap_above, "Apply a larger correction at once, and drop the"
           " earlier ones.", "length units", 0, words={"inf": math.inf}),
    Custom("remote_strategy", MatchSpec.remote_strategy, "The strategy that draws other players;"
           " 'epic strategies' lists them.", "name", _read_strategy),
    Choice("clock_sync", MatchSpec.clock_sync, "How a client keeps its clock in step with the"
           " server's: not at all, or as netfox, lightyear or GGPO do.", CLOCK_SYNCS),
    Switch("rewind", MatchSpec.rewind, "Judge a shot by what the shooter saw, not by the"
           " positions when it arrives."),
    Choice("lag_compensation", MatchSpec.lag_compensation, "How the server finds the time to rewind"
           " to: the client reports what it drew; the server estimates it, as Mirror does; or it"
           " checks the report, as Source does.", COMPENSATIONS),
    Number("history", MatchSpec.history, "How far back the server can rewind.", "s", 0, 60),
    Custom("send", MatchSpec.send, "How the server sends the states of other players, as --send"
           " describes it.",
           "sender", _read_sender, SenderSpec.write),
    Number("speed", MatchSpec.speed, "Speed on the screen: 0.1 is slow motion, 0 a pause."
           " Without a screen a match runs as fast as it can.", "times", 0, 10),
    Custom("step", STEP, "The simulation's step and the time between frames: 33ms, 1/60 or 60hz;"
           " 5 to 100 ms.", "seconds", _read_step, repr),
)  # fmt: skip

PLAYERS = Number(
    "players", 2, "Number of players: A, B, C and so on.", "", 2, MOST_PLAYERS, whole=True
)
DURATION = Number("duration", 10.0, "How long the match lasts, in seconds, or endless.", "s", 0,
                  1e6, words={"endless": math.inf})  # fmt: skip

#: The fields of ``MatchSpec``, apart from its link, and the match's duration.
MATCH = (*TECHNIQUES, PLAYERS, DURATION, SEED)

#: A player's clock.
CLOCK = Custom("clock", (0.0, 1.0), "The offset of a player's clock in seconds, and its rate.",
               "ahead[,rate]", _read_clock, lambda clock: ",".join(map(repr, clock)))  # fmt: skip


#: The bots, any of which can steer a player without a script.
BOT_NAMES = ("still", "runner", "patrol", "hunter", "chaser")
BOT = Choice("bot", "runner", "The bot that steers a player without a script.", BOT_NAMES)

#: Settings that cannot change once the match runs.
_FIXED = ("players", "duration", "step", "history", "seed", "clock.", "bot.")

_LINK = {word.name: word for word in LINK_WORDS}
_PLAIN = _LINK | {parameter.name: parameter for parameter in MATCH}
#: Prefixes of names: before a setting of the strategy, a player, or a word of the link for one
#: direction.
_STRATEGY, _CLOCK, _BOT, _UP, _DOWN = "remote.", "clock.", "bot.", "up.", "down."


def _find_parameter(name: str) -> Parameter:
    """Return the parameter with this name, or with the name behind a prefix such as ``remote.``.

    Raise ``SettingError``.
    """
    family = name.rpartition(".")[0] + "."
    if family in (_UP, _DOWN):
        return find_word_parameter(name)
    if family in (_CLOCK, _BOT):
        return CLOCK if family == _CLOCK else BOT
    if name.startswith(_STRATEGY):
        return Custom(name, None, "A setting of the strategy.", "value", str)
    return find(name, tuple(_PLAIN.values()), "a match", "setting")


class Change(NamedTuple):
    """A setting and its new value; strategies' own settings are called ``remote.NAME``."""

    name: str
    value: Any

    def __str__(self) -> str:
        return f"{self.name}={_find_parameter(self.name).write(self.value)}"

    @property
    def family(self) -> str:
        """The prefix of the name.

        ``remote.``, ``clock.``, ``bot.``, ``up.``, ``down.``, or none.
        """
        return self.name[: self.name.find(".") + 1]

    @property
    def is_fixed(self) -> bool:
        """True if the setting cannot change while the match runs."""
        return self.name in _FIXED or self.family in _FIXED

    @property
    def is_of_link(self) -> bool:
        """True if the setting belongs to the links."""
        return self.name in _LINK or self.family in (_UP, _DOWN)


def parse_change(text: str) -> Change:
    """Parse ``name=value``; raise ``SettingError``."""
    name, equals, value = text.partition("=")
    entry = (name, value) if equals else ("", name)
    (word,) = description.read_entries([entry], _find_parameter).items()
    return Change(*word)


def apply_change(spec: MatchSpec, change: Change) -> MatchSpec:
    """Return the match with a change; raise ``ValueError`` where the match does not allow it."""
    if change.is_of_link:
        if spec.trace is not None:
            raise ValueError(f"{change.name}: the link of a recorded network cannot be changed")
        return replace(spec, link=spec.link.apply_words([change]))
    apply = _APPLY.get(change.family or change.name)
    if apply is not None:
        return apply(spec, change.name.removeprefix(change.family), change.value)
    fields: dict[str, Any] = {change.name: change.value}
    return replace(spec, **fields)


def _set_strategy_setting(spec: MatchSpec, name: str, value: object) -> MatchSpec:
    given = dict(spec.remote_settings) | {name: str(value)}
    create(spec.remote_strategy, given)
    return replace(spec, remote_settings=tuple(given.items()))


def _set_strategy(spec: MatchSpec, _: str, strategy: str) -> MatchSpec:
    return replace(spec, remote_strategy=strategy, remote_settings=())


def _set_clock(spec: MatchSpec, player: str, clock: tuple[float, float]) -> MatchSpec:
    offset, rate = clock
    return _change_player(spec, player, offset=offset, rate=rate)


def _set_bot(spec: MatchSpec, player: str, bot: str) -> MatchSpec:
    return _change_player(spec, player, bot=bot)


def _change_player(spec: MatchSpec, name: str, **changes: Any) -> MatchSpec:
    names = [player.name for player in spec.players]
    if name not in names:
        raise ValueError(f"no player {name!r}: choose from {', '.join(names)}")
    players = [
        replace(player, **changes) if player.name == name else player for player in spec.players
    ]
    return replace(spec, players=tuple(players))


def _set_players(spec: MatchSpec, _: str, count: int) -> MatchSpec:
    more = make_default_players(count)[len(spec.players) :]
    return replace(spec, players=(*spec.players, *more)[:count])


def _set_step(spec: MatchSpec, _: str, step: float) -> MatchSpec:
    return replace(spec, rules=Rules(step=convert_to_seconds(convert_to_us(step))))


#: Functions for settings that are no field of the match.
_APPLY: dict[str, Callable[[MatchSpec, str, Any], MatchSpec]] = {
    _STRATEGY: _set_strategy_setting,
    _CLOCK: _set_clock,
    _BOT: _set_bot,
    "remote_strategy": _set_strategy,
    "players": _set_players,
    "step": _set_step,
}


def describe(spec: MatchSpec) -> list[Change]:
    """Return the changes that turn the default settings into ``spec``, without the bots."""
    changes = [Change("players", len(spec.players))]
    changes += [
        Change(f"clock.{player.name}", (player.offset, player.rate))
        for player in spec.players
        if (player.offset, player.rate) != (0, 1)
    ]
    changes += [Change(*word) for word in describe_conditions(spec.link.down)]
    up = list_differences(spec.link.down, spec.link.up)
    changes += [Change(f"up.{name}", value) for name, value in up]
    changes.append(Change("step", spec.rules.step))
    changes += [
        Change(field.name, getattr(spec, field.name))
        for field in fields(spec)
        if field.name in _PLAIN and field.name not in ("link", "players")
    ]
    return changes + [Change(f"remote.{key}", str(own)) for key, own in spec.remote_settings]


#: The keys of ``--match``: settings that have no option of their own.
MATCH_KEYS: tuple[Parameter, ...] = (
    PLAYERS,
    *(each for each in TECHNIQUES if each.name not in ("remote_strategy", "send")),
)


def parse_match(text: str) -> tuple[Change, ...]:
    """Parse changes to the default match: ``rewind=off,step=1/30,bot.B=still``.

    Raise ``SettingError``.
    """

    def find_parameter(name: str) -> Parameter:
        is_player = f"{name.rpartition('.')[0]}." in (_CLOCK, _BOT)
        if name in _PLAIN and name not in (each.name for each in MATCH_KEYS):
            option = "link" if name in _LINK else name.replace("_", "-")
            raise SettingError(f"{name} has an option of its own: --{option}")
        return _find_parameter(name) if is_player else find(name, MATCH_KEYS, "a match", "setting")

    found = description.read_entries(description.split(text), find_parameter)
    changes = [Change(*word) for word in found.items()]
    # the number of players first: a clock or a bot may be that of a new one
    return tuple(sorted(changes, key=lambda change: change.name != "players"))
