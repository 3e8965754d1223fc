"""What a match is played with: links, rates, players, and the techniques to switch."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

from epic_cli.network.delay import Distribution
from epic_cli.network.link import Channel, Link
from epic_cli.network.loss import GilbertElliott
from epic_cli.play.arena import Point
from epic_cli.play.rewind import DEFAULT_HISTORY
from epic_cli.play.world import Rules

#: What a recorded network is taken to need, in seconds.
UNKNOWN_LATENCY = 0.15

LocalMode = Literal["dumb-terminal", "predicted", "reconciled"]
LOCAL_MODES: tuple[LocalMode, ...] = ("dumb-terminal", "predicted", "reconciled")


@dataclass(frozen=True)
class LinkConditions:
    """Both directions of every client's link; see ``epic_cli.network.Link``."""

    latency: float = 0.05
    jitter: float = 0.0
    distribution: Distribution = "uniform"
    correlation: float = 0.0
    loss: float | GilbertElliott = 0.0
    duplicate: float = 0.0
    reorder: float = 0.0
    in_order: bool = False

    def make(self, seed: int, purpose: str) -> Channel:
        """One direction; ``ValueError`` for conditions out of range."""
        return Link(**vars(self), seed=seed, purpose=purpose)


@dataclass(frozen=True)
class Seat:
    """A player and the machine that he sits at.

    ``offset`` (seconds) and ``rate`` are those of his clock: one that runs twice as fast makes
    twice as many moves. ``bot`` plays where no script does.
    """

    name: str
    spawn: Point
    bot: str = "still"
    offset: float = 0.0
    rate: float = 1.0


def default_seats() -> tuple[Seat, ...]:
    """You and somebody who runs about."""
    return (Seat("A", (5.0, 12.0), "hunter"), Seat("B", (19.0, 12.0), "runner"))


@dataclass(frozen=True)
class MatchSettings:
    """Everything that decides how a match goes, apart from its script.

    Times in seconds, ``send_rate`` in hertz. ``trace`` makes the channels of a recorded network
    instead of ``link``, given the purpose ("up/A" or "down/A").
    """

    seats: tuple[Seat, ...] = field(default_factory=default_seats)
    rules: Rules = field(default_factory=Rules)
    link: LinkConditions = LinkConditions()
    trace: Callable[[str], Channel] | None = None
    send_rate: float = 20.0
    local: LocalMode = "reconciled"
    smoothing: float = 0.0
    remote_strategy: str = "snapshot"
    remote_settings: tuple[tuple[str, float | str], ...] = ()
    rewind: bool = True
    history: float = DEFAULT_HISTORY
    seed: int = 0

    @property
    def delay_follows_link(self) -> bool:
        """Whether the delay of the default strategy, which nobody has set, is chosen here."""
        given = dict(self.remote_settings)
        return self.remote_strategy == "snapshot" and not {"interpolation_time", "clock"} & {*given}

    def strategy_settings(self) -> dict[str, float | str]:
        """The settings of the remote strategy.

        The snapshot buffer compares stamps with the clock, so its delay must cover the latency,
        the jitter, and two packet periods (one packet may be lost); its ring must hold the states
        of that time, however fast they are sent.
        """
        given = dict(self.remote_settings)
        if self.remote_strategy == "snapshot" and "step" not in given:
            given["step"] = min(0.033, 0.5 / self.send_rate)
        if self.delay_follows_link:
            on_the_way = UNKNOWN_LATENCY if self.trace else self.link.latency + self.link.jitter
            given["interpolation_time"] = min(on_the_way + 2 / self.send_rate, 60.0)
        return given

    def channel(self, purpose: str) -> Channel:
        """One direction of a client's link."""
        if self.trace is not None:
            return self.trace(purpose)
        return self.link.make(self.seed, purpose)
