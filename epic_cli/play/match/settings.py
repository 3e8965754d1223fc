"""How a match is played: players, links, rates, and which techniques are used."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field

from epic_cli.engine.quantities import parse
from epic_cli.network.conditions import LinkConditions
from epic_cli.network.link import Channel, Link
from epic_cli.network.words import TwoWays, Words
from epic_cli.play.client.clock.lightyear import interpolation_delay
from epic_cli.play.client.correction import Smoothing, SmoothingCurve
from epic_cli.play.client.prediction import LocalMode
from epic_cli.play.server.rewind import DEFAULT_HISTORY
from epic_cli.play.world.arena import Point
from epic_cli.play.world.rules import Rules

#: The latency that a recorded network is assumed to have, in seconds.
UNKNOWN_LATENCY = 0.15

DEFAULT_LINK = LinkConditions(latency=0.05)

#: Where players begin: at opposite ends, then between them.
SPAWN_POINTS = (
    (5.0, 12.0), (19.0, 12.0), (5.0, 4.0), (19.0, 20.0),
    (5.0, 20.0), (19.0, 4.0), (9.0, 12.0), (15.0, 12.0),
)  # fmt: skip


MOST_PLAYERS = len(SPAWN_POINTS)


@dataclass(frozen=True)
class PlayerConfig:
    """A player, and the machine that he sits at.

    ``bot`` plays where no script does. ``offset`` (seconds) and ``rate`` are those of his clock:
    one that runs twice as fast makes twice as many moves.
    """

    name: str
    spawn: Point
    bot: str = "still"
    offset: float = 0.0
    rate: float = 1.0


def default_players(count: int = 2) -> tuple[PlayerConfig, ...]:
    """You, called A, and up to seven others who run about: B, C and so on."""
    return tuple(
        PlayerConfig(name, spawn, "hunter" if name == "A" else "runner")
        for name, spawn in zip("ABCDEFGH"[:count], SPAWN_POINTS, strict=False)
    )


@dataclass(frozen=True)
class MatchSettings:
    """Everything that decides how a match goes, apart from its script.

    Times in seconds, ``send_rate`` in hertz. ``link`` is that of every client, in both directions;
    ``up`` (to the server) and ``down`` are words that are otherwise in one of them.
    ``trace`` makes the channels of a recorded network in its place, given their purpose ("up/A" or
    "down/A").
    """

    players: tuple[PlayerConfig, ...] = field(default_factory=default_players)
    rules: Rules = field(default_factory=Rules)
    link: LinkConditions = DEFAULT_LINK
    up: Words = ()
    down: Words = ()
    trace: Callable[[str], Channel] | None = None
    send_rate: float = 20.0
    local: LocalMode = "reconciled"
    smoothing: float = 0.0
    smoothing_curve: SmoothingCurve = "linear"
    smooth_above: float = 0.0
    snap_above: float = math.inf
    remote_strategy: str = "snapshot"
    remote_settings: tuple[tuple[str, float | str], ...] = ()
    clock_sync: str = "free-running"
    rewind: bool = True
    lag_compensation: str = "view"
    history: float = DEFAULT_HISTORY
    seed: int = 0

    @property
    def delay_follows_link(self) -> bool:
        """Whether the delay of the default strategy, which nobody has set, is chosen here."""
        given = dict(self.remote_settings)
        return self.remote_strategy == "snapshot" and not {"interpolation_time", "clock"} & {*given}

    def strategy_settings(self) -> dict[str, float | str]:
        """The settings of the remote strategy.

        The snapshot buffer compares timestamps with the clock, so its delay must cover the
        latency, the jitter, and two packet periods (one packet may be lost); its ring must hold
        the states of that time, however often they are sent. lightyear waits for its own delay
        instead of two periods.
        """
        given = dict(self.remote_settings)
        if self.remote_strategy == "snapshot" and "step" not in given:
            given["step"] = min(0.033, 0.5 / self.send_rate)
        if self.delay_follows_link:
            down = self.link_of("down")
            transit = UNKNOWN_LATENCY if self.trace else down.latency + down.jitter
            wait = 2 / self.send_rate
            if self.clock_sync == "lightyear":
                jitter = 0.0 if self.trace else down.jitter
                wait = interpolation_delay(1 / self.send_rate, jitter, self.rules.step)
            given["interpolation_time"] = min(transit + wait, 60.0)
        return given

    @property
    def smoothing_of_corrections(self) -> Smoothing:
        """How a correction of one's own player is smoothed away."""
        return Smoothing(self.smoothing, self.smoothing_curve, self.smooth_above, self.snap_above)

    @property
    def view_delay(self) -> float:
        """How far in the past the others are drawn, in seconds; 0 where a strategy has no such."""
        return parse(str(self.strategy_settings().get("interpolation_time", 0.0)), "s")

    def link_of(self, direction: str) -> LinkConditions:
        """The link ``up`` to the server or ``down`` from it."""
        return TwoWays(self.link, self.up, self.down).of("up" if direction == "up" else "down")

    def channel(self, purpose: str) -> Channel:
        """One direction of a client's link, with which the purpose begins."""
        if self.trace is not None:
            return self.trace(purpose)
        conditions = self.link_of(purpose.partition("/")[0])
        return Link(conditions, seed=self.seed, purpose=purpose)
