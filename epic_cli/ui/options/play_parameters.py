"""What the options of ``epic play`` that speak of one player look like, as parameter types."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

import click

from epic_cli.play.match.bots import BOTS
from epic_cli.play.match.changes import read_clock
from epic_cli.play.match.settings import MOST_PLAYERS, default_players
from epic_cli.ui.io.parameters import ParameterType, completions

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

_NAMES = [player.name for player in default_players(MOST_PLAYERS)]


class _OfPlayer(ParameterType, ABC):
    """``NAME=VALUE``, for the player of that name."""

    example = ""

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[str, Any]:
        """The player, and the value."""
        if isinstance(value, tuple):
            return value
        name, equals, text = str(value).partition("=")
        try:
            if not equals or name not in _NAMES:
                raise ValueError("there is no such player")
            return name, self.read(text)
        except ValueError:
            self.fail(f"{value!r}: write {self.example}", param, ctx)

    @abstractmethod
    def read(self, text: str) -> object:
        """The value; raises ``ValueError``."""


class PlayerBot(_OfPlayer):
    """Who steers a player."""

    name = "name=kind"
    example = f"NAME={'|'.join(BOTS)}"

    def read(self, text: str) -> str:
        """One of the bots."""
        if text not in BOTS:
            raise ValueError("there is no such bot")
        return text

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        """The players, then the bots."""
        del param
        name, equals, _ = incomplete.partition("=")
        count = ctx.params.get("players") or 2
        words = [f"{name}={bot}" for bot in BOTS] if equals else [f"{n}=" for n in _NAMES[:count]]
        return completions(((word, None) for word in words), incomplete)


class PlayerClock(_OfPlayer):
    """A player's clock: ``NAME=AHEAD`` or ``NAME=AHEAD,RATE``."""

    name = "name=ahead[,rate]"
    example = "NAME=AHEAD or NAME=AHEAD,RATE; seconds, and 0.01 to 100"

    def read(self, text: str) -> tuple[float, float]:
        """Seconds ahead, and how many times as fast."""
        return read_clock(text)
