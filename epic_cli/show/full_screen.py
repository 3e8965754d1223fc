"""The program on the terminal: keys in, pictures out, and the terminal left as it was found."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable, Coroutine, Iterable
from time import perf_counter
from typing import Any, Protocol

from prompt_toolkit.application import Application
from prompt_toolkit.filters import Condition
from prompt_toolkit.formatted_text import StyleAndTextTuples
from prompt_toolkit.key_binding import KeyBindings
from prompt_toolkit.keys import Keys
from prompt_toolkit.layout import FormattedTextControl, Layout, Window
from prompt_toolkit.mouse_events import MouseEvent, MouseEventType
from prompt_toolkit.output import ColorDepth
from prompt_toolkit.styles import Style

from epic_cli.show.cells import Lines
from epic_cli.show.stop_signals import set_or_late, stop_signals

PICTURES_PER_SECOND = 30

#: No more than this share of the time goes into pictures, unless keys are pressed: large ones come
#: less often.
_DRAWING_SHARE = 0.3

_HANG_UP = getattr(signal, "SIGHUP", signal.SIGTERM)

#: What ends and changes a typed line.
_TYPED = ("enter", "escape", "tab", "backspace")

#: The keys that a wheel stands for.
_WHEEL = {MouseEventType.SCROLL_UP: "+", MouseEventType.SCROLL_DOWN: "-"}

_STYLES = {"border": "ansibrightblack", "news": "bold", "keys": "ansibrightblack"}


class Picture(Protocol):
    """What is shown."""

    def advance(self, real_time: float) -> None:
        """Catches up with this time (seconds, of any steady clock)."""

    def press(self, key: str) -> None:
        """A key, by prompt_toolkit's name for it."""

    def lines(self, columns: int, lines: int) -> Lines:
        """The whole screen, of so many columns and lines."""


class FullScreen:
    """Shows a picture until ``q``, Ctrl-C or a signal; the terminal is left as it was found.

    An error anywhere ends the screen first, and is raised once the terminal is restored.
    ``keys`` are those that the picture is given, by prompt_toolkit's names. With a ``click``, which
    takes the column and the line, the mouse is the program's. While it
    ``takes_text``, it is given all characters, and Enter, Esc, Tab and Backspace.
    """

    def __init__(
        self,
        picture: Picture,
        keys: Iterable[str],
        styles: dict[str, str],
        color: bool,
        takes_text: Callable[[], bool] = lambda: False,
        click: Callable[[int, int], None] | None = None,
    ) -> None:
        self._picture = picture
        self._takes_text = takes_text
        self._shown: StyleAndTextTuples = []
        self._stopped: int | None = None
        self._pressed = asyncio.Event()
        self._spent = self._begun = 0.0  # seconds for the last picture, on its way to the screen
        control = _Control(lambda: self._shown, show_cursor=False)
        self._click = click
        control.act = self._guarded(self._point)
        self._application: Application[None] = Application(
            layout=Layout(Window(control, wrap_lines=False)),
            key_bindings=self._bindings(keys),
            style=Style.from_dict({**_STYLES, **styles}),
            color_depth=None if color else ColorDepth.DEPTH_1_BIT,
            full_screen=True,
            mouse_support=click is not None,
        )
        self._application.ttimeoutlen = 0.1  # Esc is a key of its own
        self._application.before_render += self._begin_rendering
        self._application.after_render += self._end_rendering

    async def run(self, beside: Coroutine[Any, Any, None] | None = None) -> int | None:
        """Runs it; returns the number of the signal that ended it, Ctrl-C's own for Ctrl-C.

        ``beside`` runs at the same time; its end is the screen's. A signal that is ignored
        (``nohup``) stays so.
        """
        with stop_signals(self._stop):
            tasks = [asyncio.create_task(self._draw_pictures())]
            if beside is not None:
                tasks.append(asyncio.create_task(beside))
            for task in tasks:
                task.add_done_callback(self._end_with)
            try:
                await self._application.run_async(handle_sigint=False)
            except EOFError:  # the terminal is gone
                self._stopped = self._stopped or _HANG_UP
            except OSError:
                if self._stopped is None:
                    raise
            finally:
                for task in tasks:
                    task.cancel()
                await asyncio.gather(*tasks, return_exceptions=True)
        return self._stopped

    async def _draw_pictures(self) -> None:
        time = asyncio.get_running_loop().time
        output = self._application.output
        while True:
            begin = time()
            self._picture.advance(begin)
            size = output.get_size()
            shown = _joined(self._picture.lines(size.columns, size.rows))
            spent = time() - begin + self._spent
            if shown != self._shown:
                self._shown = shown
                self._application.invalidate()
            await asyncio.sleep(max(begin + 1 / PICTURES_PER_SECOND - time(), 0))
            await set_or_late(self._pressed, begin + spent / _DRAWING_SHARE - time())
            self._pressed.clear()

    def _begin_rendering(self, _: object) -> None:
        self._begun = perf_counter()

    def _end_rendering(self, _: object) -> None:
        self._spent = perf_counter() - self._begun

    def _bindings(self, keys: Iterable[str]) -> KeyBindings:
        bindings = KeyBindings()
        typing = Condition(self._takes_text)

        def press(key: str) -> Callable[[Any], None]:
            return self._guarded(lambda _: self._picture.press(key))

        for key in keys:
            bindings.add(key, filter=~typing)(press(key))
        for key in _TYPED:
            bindings.add(key, filter=typing)(press(key))
        character = self._guarded(lambda event: self._picture.press(event.data))
        bindings.add(Keys.Any, filter=typing)(character)
        bindings.add("q", filter=~typing)(lambda _: self._exit())
        bindings.add("c-c")(lambda _: self._stop(signal.SIGINT))
        bindings.add("c-z")(lambda event: event.app.suspend_to_background())
        bindings.add("c-l")(lambda event: event.app.renderer.clear())
        return bindings

    def _point(self, event: MouseEvent) -> None:
        """The wheel zooms, as keys do."""
        key = _WHEEL.get(event.event_type)
        if key is not None:
            self._picture.press(key)
        elif event.event_type == MouseEventType.MOUSE_UP and self._click is not None:
            self._click(event.position.x, event.position.y)

    def _guarded(self, hand_over: Callable[[Any], None]) -> Callable[[Any], None]:
        """Hands an event to the picture."""

        def act(event: Any) -> None:
            try:
                hand_over(event)
                self._pressed.set()
            except Exception as error:  # it is raised again by run_async
                self._fail(error)

        return act

    def _stop(self, number: int) -> None:
        self._stopped = self._stopped or number
        self._exit()

    def _exit(self) -> None:
        if self._application.is_running and not self._application.is_done:
            self._application.exit()

    def _end_with(self, task: asyncio.Task[None]) -> None:
        if task.cancelled():
            return
        error = task.exception()
        if error is None:
            self._exit()
        else:
            self._fail(error)

    def _fail(self, error: BaseException) -> None:
        if self._application.is_running and not self._application.is_done:
            self._application.exit(exception=error)


class _Control(FormattedTextControl):
    """The text, which hands on what the mouse does."""

    act: Callable[[Any], None]

    def mouse_handler(self, mouse_event: MouseEvent) -> None:
        """Called by prompt_toolkit."""
        self.act(mouse_event)


def _joined(lines: Lines) -> StyleAndTextTuples:
    joined: StyleAndTextTuples = []
    for line in lines:
        joined.extend(line)
        joined.append(("", "\n"))
    return joined[:-1]
