"""The program on the terminal: keys in, thirty pictures a second out."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import sys
from collections.abc import Callable
from typing import Any, NamedTuple

from prompt_toolkit.application import Application
from prompt_toolkit.formatted_text import StyleAndTextTuples
from prompt_toolkit.key_binding import KeyBindings
from prompt_toolkit.layout import FormattedTextControl, Layout, Window
from prompt_toolkit.output import ColorDepth
from prompt_toolkit.styles import Style

from epic_cli.play.match.recorder import Recorder
from epic_cli.play.match.script import Script
from epic_cli.play.match.settings import MatchSettings
from epic_cli.play.report.statistics import Figure
from epic_cli.play.world.fixed_step import FixedStepLoop
from epic_cli.play.world.times import SECOND_US, to_seconds, to_us
from epic_cli.play_screen.canvas import ASCII, UNICODE
from epic_cli.play_screen.game import Game

PICTURES_PER_SECOND = 30

_STYLE = Style.from_dict(
    {
        "border": "ansibrightblack",
        "wall": "ansibrightblack",
        "ghost": "ansibrightblack",
        "player-a": "ansicyan bold",
        "player-b": "ansiyellow bold",
        "player-c": "ansigreen bold",
        "player-d": "ansimagenta bold",
        "shot": "ansiblue",
        "hit": "ansired bold",
        "throw": "ansimagenta bold",
        "news": "bold",
        "keys": "ansibrightblack",
    }
)

_ARROWS_AND_SWITCHES = ("up", "down", "left", "right", ".", "space", "x", *"lLjJoOsSpriwm")


class Ended(NamedTuple):
    """How a game ended: by Ctrl-C or not; who recorded it, if anybody; your figures, all bumps."""

    interrupted: bool
    recorder: Recorder | None
    figures: list[Figure]
    bumps: int


def play_on_terminal(
    settings: MatchSettings, script: Script, player: str, color: bool, recorded: bool
) -> Ended:
    """Plays until ``q`` or Ctrl-C; the terminal is left as it was found, whatever happens.

    Of the script the changes are used.

    Raises ``Unrecordable`` where it is to be ``recorded`` and cannot be.
    """
    is_unicode = "utf" in (getattr(sys.stdout, "encoding", "") or "").lower()
    game = Game(settings, player, UNICODE if is_unicode else ASCII, recorded, script)
    program = _Program(game, color)
    interrupted = asyncio.run(program.run())
    figures = game.statistics.figures(game.you)
    return Ended(interrupted, game.recorder, figures, game.statistics.bumps)


class _Program:
    """A prompt_toolkit application around a game.

    An error anywhere ends the application first, and is raised once the terminal is restored.
    """

    def __init__(self, game: Game, color: bool) -> None:
        self.game = game
        self._picture: StyleAndTextTuples = []
        control = FormattedTextControl(lambda: self._picture, show_cursor=False)
        self._application: Application[bool] = Application(
            layout=Layout(Window(control, wrap_lines=False)),
            key_bindings=self._bindings(),
            style=_STYLE,
            color_depth=None if color else ColorDepth.DEPTH_1_BIT,
            full_screen=True,
        )

    async def run(self) -> bool:
        """Runs it; returns whether it was interrupted."""
        loop = asyncio.get_running_loop()
        before = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGHUP)}
        for number in before:
            with contextlib.suppress(NotImplementedError):  # where there are no such signals
                loop.add_signal_handler(number, self._exit, True)
        drawing = asyncio.create_task(self._draw_pictures())
        try:
            return await self._application.run_async(handle_sigint=True)
        finally:
            drawing.cancel()
            for number, handler in before.items():  # the loop would leave the default
                loop.remove_signal_handler(number)
                signal.signal(number, handler)

    async def _draw_pictures(self) -> None:
        time = asyncio.get_running_loop().time
        pictures = FixedStepLoop(SECOND_US // PICTURES_PER_SECOND, to_us(time()))
        try:
            while True:
                while pictures.advance(to_us(time())):
                    pass  # what was missed while the machine was busy is not drawn
                self.game.advance(time())
                size = self._application.output.get_size()
                self._picture = _joined(self.game.lines(size.columns, size.rows))
                self._application.invalidate()
                await asyncio.sleep(max(to_seconds(pictures.due_us) - time(), 0.0))
        except Exception as error:  # it is raised again by run_async
            self._fail(error)

    def _bindings(self) -> KeyBindings:
        bindings = KeyBindings()
        for key in _ARROWS_AND_SWITCHES:
            bindings.add(key)(self._guarded(key))
        bindings.add("q")(lambda _: self._exit(False))
        bindings.add("c-c")(lambda _: self._exit(True))
        bindings.add("<sigint>")(lambda _: self._exit(True))
        bindings.add("c-z")(lambda event: event.app.suspend_to_background())
        bindings.add("c-l")(lambda event: event.app.renderer.clear())
        return bindings

    def _guarded(self, key: str) -> Callable[[Any], None]:
        def act(_event: Any) -> None:
            try:
                self.game.press(key)
            except Exception as error:  # it is raised again by run_async
                self._fail(error)

        return act

    def _exit(self, interrupted: bool) -> None:
        if self._application.is_running and not self._application.is_done:
            self._application.exit(result=interrupted)

    def _fail(self, error: Exception) -> None:
        if self._application.is_running and not self._application.is_done:
            self._application.exit(exception=error)


def _joined(lines: list[list[tuple[str, str]]]) -> StyleAndTextTuples:
    joined: StyleAndTextTuples = []
    for line in lines:
        joined.extend(line)
        joined.append(("", "\n"))
    return joined[:-1]
