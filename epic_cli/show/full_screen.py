"""The program on the terminal: keys in, frames of character cells out, and lines beside them."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable, Coroutine, Iterable, Sequence
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

from epic_cli.engine.text.widths import width, wrap
from epic_cli.work.event_loop import stop_signals, wait_for_event

#: A style and a text, as prompt_toolkit takes them.
Fragment = tuple[str, str]

#: The lines of a picture.
Lines = list[list[Fragment]]

#: Characters of a frame, with UTF-8 and without.
#: Headings are from the right on, against the clock.
UNICODE_FRAME = {"corner": "┌┐└┘", "side": "│", "top": "─", "heading": "→↗↑↖←↙↓↘"}
ASCII_FRAME = {"corner": "++++", "side": "|", "top": "-", "heading": ">^<v"}

#: Heights of a bar, from the lowest.
UNICODE_BARS, ASCII_BARS = "▁▂▃▄▅▆▇█", "_.-=+*%#"


class Cells:
    """A frame of ``columns`` by ``lines`` cells, border included; inner cells count from 0."""

    def __init__(self, columns: int, lines: int, symbols: dict[str, str]) -> None:
        self.columns, self.lines = columns - 2, lines - 2
        self._symbols = symbols
        self._cells = [[(" ", "")] * self.columns for _ in range(self.lines)]

    def put(self, column: int, line: int, symbol: str, style: str) -> None:
        """Fill a cell; cells outside of the frame are ignored."""
        if 0 <= column < self.columns and 0 <= line < self.lines:
            self._cells[line][column] = (symbol, style)

    def is_free(self, column: int, line: int) -> bool:
        """Return True if a cell is within the frame and blank."""
        inside = 0 <= column < self.columns and 0 <= line < self.lines
        return inside and self._cells[line][column][0] == " "

    def frame_lines(self, title: str) -> Lines:
        """Return the lines of the frame with its border and ``title``, each as fragments."""
        corner, side, top = (self._symbols[name] for name in ("corner", "side", "top"))
        head = f" {title} "[: self.columns].center(self.columns, top)
        border = "class:border"
        lines: Lines = [[(border, corner[0] + head + corner[1])]]
        lines += [
            [(border, side), *_join_cell_runs(cells), (border, side)] for cells in self._cells
        ]
        lines.append([(border, corner[2] + top * self.columns + corner[3])])
        return lines


def _join_cell_runs(cells: Iterable[tuple[str, str]]) -> list[Fragment]:
    """Join neighboring cells of one style into a fragment, which a terminal draws faster."""
    runs: list[Fragment] = []
    for symbol, style in cells:
        if runs and runs[-1][0] == style:
            runs[-1] = (style, runs[-1][1] + symbol)
        else:
            runs.append((style, symbol))
    return runs


#: Between two parts of a line.
_GAP = "  "


def arrange_parts(parts: Sequence[str], columns: int) -> list[str]:
    """Join parts of text into lines of at most ``columns``, as few lines as possible."""
    lines: list[str] = []
    for part in parts:
        pieces = wrap(part, columns)
        if lines and len(pieces) == 1 and width(lines[-1] + _GAP + part) <= columns:
            lines[-1] += _GAP + part
        else:
            lines += pieces
    return lines


def fit_blocks(
    blocks: dict[str, tuple[str, list[str]]], dispensable: Sequence[str], room: int
) -> list[Fragment]:
    """Return the styled lines of blocks of text, in no more than ``room`` lines.

    If there is no room for all, the ``dispensable`` blocks are left out, the first of them first;
    the others are cut.
    """
    kept = dict(blocks)
    for name in dispensable:
        if sum(len(lines) for _, lines in kept.values()) > room:
            del kept[name]
    return [(style, line) for style, lines in kept.values() for line in lines][: max(room, 0)]


class Reserve:
    """The number of lines kept for text below a picture, so that the picture keeps its size."""

    def __init__(self) -> None:
        self._size = (0, 0)
        self._most = 0

    def reserve_lines(self, size: tuple[int, int], wanted: int) -> int:
        """Return the largest number of lines wanted so far on a screen of this size."""
        if size != self._size:
            self._size, self._most = size, 0
        self._most = max(self._most, wanted)
        return self._most


def describe_lack_of_room(command: str, smallest: tuple[int, int], size: tuple[int, int]) -> str:
    """Return the text for a screen that is too small for the picture."""
    needed = "x".join(map(str, smallest))
    there = "x".join(map(str, size))
    return f"{command} needs {needed}, not {there}; q quits"[: size[0]]


PICTURES_PER_SECOND = 30

#: No more than this share of the time goes into pictures, unless keys are pressed: large ones come
#: less often.
_DRAWING_SHARE = 0.3

_HANG_UP = getattr(signal, "SIGHUP", signal.SIGTERM)

#: Keys that end or change a typed line.
_TYPED = ("enter", "escape", "tab", "backspace")

#: The keys that a wheel stands for.
_WHEEL = {MouseEventType.SCROLL_UP: "+", MouseEventType.SCROLL_DOWN: "-"}

_STYLES = {"border": "ansibrightblack", "news": "bold", "keys": "ansibrightblack"}


class Picture(Protocol):
    """The interface of a picture that fills the screen and reacts to keys."""

    def advance(self, real_time: float) -> None:
        """Advance the picture to this time (seconds, of any steady clock)."""

    def press(self, key: str) -> None:
        """Handle a key, given by the name that prompt_toolkit has for it."""

    def render_lines(self, columns: int, lines: int) -> Lines:
        """Return the whole screen as ``lines`` lines of ``columns`` columns."""


class FullScreen:
    """A full screen that shows a picture until ``q``, Ctrl-C or a signal.

    At the end, also after an error, the terminal is restored; an error is raised after that.
    ``keys`` are the keys passed to the picture, by prompt_toolkit's names. With a ``click``, which
    is called with the column and the line, the program handles the mouse. While ``takes_text``
    returns True, the picture receives all characters, and Enter, Esc, Tab and Backspace.
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
        control = _MouseControl(lambda: self._shown, show_cursor=False)
        self._click = click
        control.act = self._guard_handler(self._handle_mouse)
        self._application: Application[None] = Application(
            layout=Layout(Window(control, wrap_lines=False)),
            key_bindings=self._bind_keys(keys),
            style=Style.from_dict({**_STYLES, **styles}),
            color_depth=None if color else ColorDepth.DEPTH_1_BIT,
            full_screen=True,
            mouse_support=click is not None,
        )
        self._application.ttimeoutlen = 0.1  # Esc is a key of its own
        self._application.before_render += self._begin_rendering
        self._application.after_render += self._end_rendering

    async def run(self, beside: Coroutine[Any, Any, None] | None = None) -> int | None:
        """Show the picture until the end; return the number of the signal that ended it, or None.

        Ctrl-C counts as SIGINT. ``beside`` runs at the same time, and ends the screen when it ends.
        A signal that is ignored (``nohup``) stays ignored.
        """
        with stop_signals(self._stop_at_signal):
            tasks = [asyncio.create_task(self._draw_pictures())]
            if beside is not None:
                tasks.append(asyncio.create_task(beside))
            for task in tasks:
                task.add_done_callback(self._end_after_task)
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
            shown = _join_lines(self._picture.render_lines(size.columns, size.rows))
            spent = time() - begin + self._spent
            if shown != self._shown:
                self._shown = shown
                self._application.invalidate()
            await asyncio.sleep(max(begin + 1 / PICTURES_PER_SECOND - time(), 0))
            await wait_for_event(self._pressed, begin + spent / _DRAWING_SHARE - time())
            self._pressed.clear()

    def _begin_rendering(self, _: object) -> None:
        self._begun = perf_counter()

    def _end_rendering(self, _: object) -> None:
        self._spent = perf_counter() - self._begun

    def _bind_keys(self, keys: Iterable[str]) -> KeyBindings:
        bindings = KeyBindings()
        typing = Condition(self._takes_text)

        def press(key: str) -> Callable[[Any], None]:
            return self._guard_handler(lambda _: self._picture.press(key))

        for key in keys:
            bindings.add(key, filter=~typing)(press(key))
        for key in _TYPED:
            bindings.add(key, filter=typing)(press(key))
        character = self._guard_handler(lambda event: self._picture.press(event.data))
        bindings.add(Keys.Any, filter=typing)(character)
        bindings.add("q", filter=~typing)(lambda _: self._exit_application())
        bindings.add("c-c")(lambda _: self._stop_at_signal(signal.SIGINT))
        bindings.add("c-z")(lambda event: event.app.suspend_to_background())
        bindings.add("c-l")(lambda event: event.app.renderer.clear())
        return bindings

    def _handle_mouse(self, event: MouseEvent) -> None:
        """Handle the mouse: the wheel zooms, as keys do."""
        key = _WHEEL.get(event.event_type)
        if key is not None:
            self._picture.press(key)
        elif event.event_type == MouseEventType.MOUSE_UP and self._click is not None:
            self._click(event.position.x, event.position.y)

    def _guard_handler(self, hand_over: Callable[[Any], None]) -> Callable[[Any], None]:
        """Return an event handler that calls ``hand_over``; an error in it ends the screen."""

        def act(event: Any) -> None:
            try:
                hand_over(event)
                self._pressed.set()
            except Exception as error:  # it is raised again by run_async
                self._fail_application(error)

        return act

    def _stop_at_signal(self, number: int) -> None:
        self._stopped = self._stopped or number
        self._exit_application()

    def _exit_application(self) -> None:
        if self._application.is_running and not self._application.is_done:
            self._application.exit()

    def _end_after_task(self, task: asyncio.Task[None]) -> None:
        if task.cancelled():
            return
        error = task.exception()
        if error is None:
            self._exit_application()
        else:
            self._fail_application(error)

    def _fail_application(self, error: BaseException) -> None:
        if self._application.is_running and not self._application.is_done:
            self._application.exit(exception=error)


class _MouseControl(FormattedTextControl):
    """The control that shows the screen's text and passes mouse events on."""

    act: Callable[[Any], None]

    def mouse_handler(self, mouse_event: MouseEvent) -> None:
        """Pass on a mouse event; called by prompt_toolkit."""
        self.act(mouse_event)


def _join_lines(lines: Lines) -> StyleAndTextTuples:
    joined: StyleAndTextTuples = []
    for line in lines:
        joined.extend(line)
        joined.append(("", "\n"))
    return joined[:-1]
