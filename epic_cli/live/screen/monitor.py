"""The screen of a running game: a sight, and the keys that change it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from epic_cli.engine.failures import StrategyFailed
from epic_cli.live.listener import Listener
from epic_cli.live.model.choice import NameLine
from epic_cli.live.screen.map import entity_at
from epic_cli.live.screen.sight import Moment, Sight
from epic_cli.show.full_screen import FullScreen

_ENTITIES = ("ansicyan", "ansiyellow", "ansigreen", "ansimagenta", "ansiblue", "ansired")

STYLES = {
    "drawn": "bold",
    "received": "bold",
    "packet": "ansibrightblack",
    "delay": "ansicyan",
    "warning": "ansired bold",
    **{f"entity-{number}": color for number, color in enumerate(_ENTITIES)},
}


class Monitor(Sight):
    """A sight that does what keys and clicks say, on a terminal or in a test."""

    def run(self, listener: Listener, color: bool) -> int | None:
        """Follows it on the terminal, until ``q``, Ctrl-C or a signal: that one's number.

        The terminal is left as it was found, whatever happens.
        """
        self.follow(listener)
        screen = FullScreen(self, self.acts, STYLES, color, lambda: self.takes_text, self.click)
        return asyncio.run(screen.run(listener.run()))

    @property
    def takes_text(self) -> bool:
        """Whether a name is being typed."""
        return self._typed is not None

    @property
    def acts(self) -> dict[str, tuple[Any, ...]]:
        """What keys do: a function, and what it is given."""
        view, choice = self._viewport, self._choice
        return {
            "up": (view.pan, 0, 1),
            "down": (view.pan, 0, -1),
            "left": (view.pan, -1, 0),
            "right": (view.pan, 1, 0),
            "+": (view.zoom, True),
            "=": (view.zoom, True),
            "-": (view.zoom, False),
            "0": (self._follow, "escape"),
            "escape": (self._follow, "escape"),
            "f": (self._follow, "f"),
            "F": (self._follow, "F"),
            "v": (view.turn,),
            "s": (self._change, choice.go, 1),
            "S": (self._change, choice.go, -1),
            "tab": (choice.select, 1),
            "s-tab": (choice.select, -1),
            "m": (self._change, choice.step, True),
            "l": (self._change, choice.step, False),
            "d": (self._change, choice.restore),
            "space": (self._pause,),
            "/": (self._begin_name,),
            "e": (setattr, self, "_logging", True),
            "?": (setattr, self, "_helping", True),
            "h": (setattr, self, "_helping", True),
        }

    def press(self, key: str) -> None:
        """A key; others do nothing."""
        if self._typed is not None:
            self._type(key)
        elif self._helping or self._logging:
            self._helping = self._logging = False
        elif key in self.acts:
            act, *arguments = self.acts[key]
            act(*arguments)

    def click(self, column: int, line: int) -> None:
        """Follows the entity on the map, or in the list beside it."""
        columns, lines = self._map_size
        name = None
        if column < columns and line < lines:
            name = entity_at(self._history, self._now, self._viewport, column, line)
        elif line < lines and 0 < line <= len(self._listed):
            name = self._listed[line - 1]
        if name is not None and not (self._helping or self._logging):
            self._followed = name
            self._hindsight.forget()

    def _begin_name(self) -> None:
        self._typed = NameLine(self._choice.names)

    def _follow(self, key: str) -> None:
        names = self._history.names
        if key == "escape" or not names:
            self._followed = None
            self._viewport.fit()
        elif self._followed in names:
            place = names.index(self._followed) + (1 if key == "f" else -1)
            self._followed = names[place % len(names)]
        else:
            self._followed = names[0 if key == "f" else -1]
        self._hindsight.forget()

    def _pause(self) -> None:
        truth = None if self.truth is None else self.truth.frozen()
        self._paused = None if self._paused else Moment(self._live.frozen(), self._now, truth)
        self._hindsight.forget()

    def _type(self, key: str) -> None:
        assert self._typed is not None
        self._typed.press(key)
        if not self._typed.is_open:
            chosen, self._typed = self._typed.chosen, None
            if chosen is not None:
                self._change(setattr, self._choice, "strategy", chosen)

    def _change(self, choose: Callable[..., object], *arguments: object) -> None:
        """Draws by another choice, also what was drawn in the last seconds."""
        choose(*arguments)
        live, before = self._live, self._live.frozen()
        try:
            chosen = self._choice.spec
            chosen.make()
            live.redraw()
            self._listener.change_strategy(chosen, live.blocks(), live.draw)
        except (StrategyFailed, ValueError) as error:
            self._live = before
            self._news = f"{self._choice.strategy} is not used: {error}"
            self._choice.go_back()
            return
        self._choice.use()
        self._news = ""
        if self._paused is not None:
            history, now, _ = self._paused
            history.redraw()
            self._listener.replay(chosen, history.blocks(), now, history.draw).close()
        self._hindsight.forget()
