"""The screen of a running game: a map, a list of entities, measurements and keys."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from epic_cli.engine.failures import StrategyFailed
from epic_cli.engine.parameters import Number
from epic_cli.engine.text.widths import ELLIPSIS, cut, pad, printable, width, wrap
from epic_cli.live.listener import Listener
from epic_cli.live.map import ASCII, COLORS, UNICODE, Viewport, draw_map, find_entity_at
from epic_cli.live.model import LiveEvaluator, NameLine, RunningGame, StrategyChoice
from epic_cli.live.reports import describe_faults, describe_traffic, format_milliseconds
from epic_cli.metrics.digits import format_three_digits
from epic_cli.recordings.writing import write_value
from epic_cli.shell.console import is_unicode_supported
from epic_cli.show.full_screen import (
    ASCII_BARS,
    UNICODE_BARS,
    Fragment,
    FullScreen,
    Lines,
    Reserve,
    arrange_parts,
    describe_lack_of_room,
    fit_blocks,
)

#: Keys, with one or two words for the line under the map (empty: not there), and their help.
KEYS = (
    ("s/S", "strategy", "the next strategy, the one before"),
    ("/", "by name", "a strategy by its name: type, Tab, Enter; Esc cancels"),
    ("tab", "setting", "the next setting; Shift-Tab: the one before"),
    ("m/l", "more, less", "more or less of the setting in brackets; d: its default"),
    ("f/F", "follow", "follow the next entity, the one before; Esc: none"),
    ("arrows", "", "move the map"),
    ("+/-", "zoom", "zoom in, zoom out; 0: show everything again"),
    ("v", "", "another plane: xy, xz, zy"),
    ("e", "events", "the events: entities that joined or left, clocks, teleports, drops"),
    ("mouse", "", "the wheel zooms, a click follows; Shift selects text"),
    ("space", "pause", "pause the display: strategies and settings can be tried on that moment;"
     " packets still arrive and are recorded"),
    ("?", "help", "this help; any key closes it"),
    ("q", "quit", "quit; Ctrl-Z: suspend; Ctrl-L: clear"),
)  # fmt: skip


def draw_delay_line(history: Sequence[float], columns: int, bars: str) -> list[str]:
    """Return a line of bars: the longest delay of each second, the latest at the right."""
    return _draw_bars("delay", history, columns, bars, lambda most: format_milliseconds(most, "+"))


def draw_curves(
    evaluator: LiveEvaluator, columns: int, bars: str, least: float | None
) -> list[str]:
    """Return lines of bars: the followed entity's error, lag and delay, second by second.

    The delay is drawn above ``least`` (s); None: above the shortest delay.
    """
    now = max((max(curve) for curve in evaluator.curves if curve), default=0)
    names: Sequence[str] = ("error", "lag", "delay")
    words: Sequence[Callable[[float], str]] = (
        format_three_digits,
        format_milliseconds,
        format_milliseconds,
    )
    found = []
    for head, one, form in zip(names, evaluator.curves, words, strict=True):
        values = [one.get(second, math.nan) for second in range(min(one, default=now), now + 1)]
        if head == "delay":
            shortest = min(one.values(), default=0.0) if least is None else least
            values = [value - shortest for value in values]
        found += _draw_bars(head, values, columns, bars, form)
    return found


def _draw_bars(
    head: str, values: Sequence[float], columns: int, bars: str, words: Callable[[float], str]
) -> list[str]:
    room = columns - 24
    shown = values[-room:] if room > 0 else ()
    known = [value for value in shown if not math.isnan(value)]
    if not known:
        return []
    most = max(known, key=abs)
    drawn = "".join(_choose_bar(abs(value), abs(most), bars) for value in shown)
    return [f"{head:5} {drawn} most {words(most)}"]


def _choose_bar(value: float, most: float, bars: str) -> str:
    if math.isnan(value):
        return " "
    share = value / most if most > 0 else 0.0
    return bars[min(int(share * len(bars)), len(bars) - 1)]


def describe_strategy(choice: StrategyChoice, metrics: Sequence[str], of: str) -> list[str]:
    """Return a line with the strategy, and its metrics over the packets received so far."""
    place = choice.names.index(choice.strategy) + 1
    name = f"{choice.strategy} ({place}/{len(choice.names)}){of}"
    return [name, *(metrics or ["measuring"])]


def describe_settings(choice: StrategyChoice) -> list[str]:
    """Return a line with all settings, the selected one in brackets."""
    shown = []
    for setting in choice.settings:
        value = choice.values[setting.name]
        text = f"{setting.name} {write_value(value)}"
        if isinstance(setting, Number) and not isinstance(value, str) and len(setting.unit) == 1:
            text += f" {setting.unit}"
        text += "" if value == setting.default else "*"
        shown.append(f"[{text}]" if setting is choice.selected else text)
    return shown or ["no settings"]


def list_help_lines(title: str, columns: int) -> Lines:
    """Return the lines that explain the keys."""
    room = max(width(keys) for keys, _, _ in KEYS) + 2
    drawn: Lines = [[("class:news", cut(title, columns))]]
    for keys, _, words in KEYS:
        for index, line in enumerate(wrap(words, columns - room)):
            head = keys if index == 0 else ""
            drawn.append([("class:news", f"{head:<{room}}"), ("", line)])
    return drawn


#: Columns of the list of entities, and of a name in it.
ROSTER = 40

_NAME = 14


def select_listed(game: RunningGame, lines: int) -> Sequence[str]:
    """Return the entities to list in ``lines``: all, or those with the largest errors."""
    names = game.history.names
    if len(names) < lines:
        return names
    error = game.evaluator.compute_error
    names.sort(key=lambda name: (name != game.followed, -_make_error_sort_key(error(name))))
    return names[: lines - 2]


def draw_roster(game: RunningGame, lines: int) -> Lines:
    """Return a heading, a line for each of the ``listed`` entities, and the count of the others."""
    history, now, shown = game.history, game.now, game.listed
    numbers = history.list_received(now - 1).entities
    rates = np.bincount(numbers, minlength=len(history.entities))
    left_out = len(history.newest) - len(shown)
    head = f" {pad('entity', _NAME)} {'packets/s':>9}  silent {'error':>6}"
    drawn: Lines = [[("class:keys", pad(head, ROSTER))]]
    for name in shown:
        number = history.entities.assign_number(name)
        silent = max(now - (history.newest[name].arrival or now), 0.0)
        text = (
            f"{rates[number]:>9} {silent:>5.1f} s"
            f" {_format_error(game.evaluator.compute_error(name)):>6}"
        )
        style = f"class:drawn class:entity-{number % COLORS}"
        mark = ">" if name == game.followed else " "
        line: list[Fragment] = [
            (style, f"{mark}{pad(printable(name) or '(no name)', _NAME)} "),
            ("class:news" if silent > 1 else "", pad(text, ROSTER - _NAME - 2)),
        ]
        drawn.append(line)
    if left_out:
        drawn.append([("class:keys", pad(f" and {left_out:,} more", ROSTER))])
    drawn += [[("", " " * ROSTER)]] * (lines - len(drawn))
    return drawn[:lines]


def _make_error_sort_key(error: float) -> float:
    return -1.0 if math.isnan(error) else error


def _format_error(error: float) -> str:
    return "-" if math.isnan(error) else format_three_digits(error)


SMALLEST = (30, 8)

#: The fewest lines of the map, border included.
_SMALLEST_MAP = 6

#: The columns that a screen with a list beside the map needs.
_ROSTER_FROM = 100


_ENTITIES = ("ansicyan", "ansiyellow", "ansigreen", "ansimagenta", "ansiblue", "ansired")

STYLES = {
    "drawn": "bold",
    "received": "bold",
    "packet": "ansibrightblack",
    "delay": "ansicyan",
    "warning": "ansired bold",
    **{f"entity-{number}": color for number, color in enumerate(_ENTITIES)},
}


class ListenScreen:
    """A running game on a terminal, changed by keys and clicks.

    ``symbols``: ``map.UNICODE`` or ``map.ASCII``; None: by the terminal.
    """

    def __init__(self, game: RunningGame, symbols: dict[str, str] | None = None) -> None:
        self._game = game
        self._symbols = symbols or (UNICODE if is_unicode_supported() else ASCII)
        self._bars = UNICODE_BARS if not self._symbols["trail"] else ASCII_BARS
        self._viewport = Viewport()
        self._reserve = Reserve()
        self._typed: NameLine | None = None
        self._helping = self._logging = False
        self._map_size = (0, 0)
        self._news = ""

    def run(self, listener: Listener, color: bool) -> int | None:
        """Show a listener on the terminal until ``q``, Ctrl-C or a signal; return the signal.

        The terminal is restored, whatever happens.
        """
        screen = FullScreen(self, self.actions, STYLES, color, lambda: self.takes_text, self.click)
        return asyncio.run(screen.run(listener.run()))

    def advance(self, real_time: float) -> None:
        """Update the game at this time (s, of any steady clock); call this often."""
        self._game.advance(real_time)

    def render_lines(self, columns: int, lines: int) -> Lines:
        """Return the lines of the whole screen."""
        drawn = self._compose_lines(columns, lines)
        if self._bars is UNICODE_BARS:
            return drawn
        return [[(style, text.replace(ELLIPSIS, "~")) for style, text in line] for line in drawn]

    def _compose_lines(self, columns: int, lines: int) -> Lines:
        game = self._game
        if columns < SMALLEST[0] or lines < SMALLEST[1]:
            return [[("", describe_lack_of_room("epic listen", SMALLEST, (columns, lines)))]]
        if self._helping:
            return list_help_lines(f"epic listen, {game.where}", columns)[:lines]
        if self._logging:
            words = [f"epic listen, {game.where}: events", *game.log.write_lines(lines - 1)]
            return [[("", cut(line, columns))] for line in words]
        texts = self._compose_texts(columns, lines - _SMALLEST_MAP)
        height = lines - self._reserve.reserve_lines((columns, lines), len(texts))
        beside = columns >= _ROSTER_FROM
        size = self._map_size = (columns - (ROSTER + 1) * beside, height)
        shown = draw_map(game, self._viewport, size, self._symbols)
        if beside and game.now > -math.inf:
            game.listed = select_listed(game, height)
            names = draw_roster(game, height)
            shown = [[*line, ("", " "), *other] for line, other in zip(shown, names, strict=True)]
        return shown + [[text] for text in texts]

    def _compose_texts(self, columns: int, room: int) -> list[tuple[str, str]]:
        """Return the lines under the map; the least important are dropped if there is no room."""
        game = self._game
        paused = game.paused and "PAUSED (space continues; packets still arrive)"
        messages = "; ".join(filter(None, (paused, self._news, describe_faults(game))))
        news = "class:warning", wrap(messages, columns)
        keys = "class:keys", self._list_key_lines(columns)
        if game.now == -math.inf:
            waiting = wrap(f"waiting for packets at {game.where}", columns)
            blocks = {"traffic": ("class:news", waiting), "news": news, "keys": keys}
            return fit_blocks(blocks, ("keys", "news"), room)
        if game.followed is None:
            bars = draw_delay_line(game.traffic.flow.history, columns, self._bars)
        else:
            least = None if game.live_truth is None else 0.0
            bars = draw_curves(game.evaluator, columns, self._bars, least)
        of = "" if game.followed is None else f" of {cut(printable(game.followed), 20)}"
        metrics = game.evaluator.format_metrics(game.followed)
        worst = game.evaluator.find_worst() if game.followed is None else None
        if metrics and worst is not None:
            metrics.append(f"worst {cut(printable(worst), 20)}")
        blocks = {
            "traffic": ("", arrange_parts(describe_traffic(game), columns)),
            "delay": ("class:delay", bars),
            "figures": (
                "class:news",
                arrange_parts(describe_strategy(game.choice, metrics, of), columns),
            ),
            "settings": ("", arrange_parts(describe_settings(game.choice), columns)),
            "events": ("", arrange_parts(game.log.list_news(game.now), columns)[:1]),
            "news": news,
            "keys": keys,
        }
        order = ("settings", "delay", "keys", "events", "news", "traffic")
        return fit_blocks(blocks, order, room)

    def _list_key_lines(self, columns: int) -> list[str]:
        if self._typed is None:
            return arrange_parts([f"{keys}: {word}" for keys, word, _ in KEYS if word], columns)
        return [cut(self._typed.text, columns)]

    @property
    def takes_text(self) -> bool:
        """True while a name is being typed."""
        return self._typed is not None

    @property
    def actions(self) -> dict[str, tuple[Any, ...]]:
        """The action of each key: a function and its arguments."""
        view, choice = self._viewport, self._game.choice
        return {
            "up": (view.pan_view, 0, 1),
            "down": (view.pan_view, 0, -1),
            "left": (view.pan_view, -1, 0),
            "right": (view.pan_view, 1, 0),
            "+": (view.zoom, True),
            "=": (view.zoom, True),
            "-": (view.zoom, False),
            "0": (self._fit_all_entities,),
            "escape": (self._fit_all_entities,),
            "f": (self._game.follow_next, 1),
            "F": (self._game.follow_next, -1),
            "v": (view.turn,),
            "s": (self._change_choice, choice.go, 1),
            "S": (self._change_choice, choice.go, -1),
            "tab": (choice.select, 1),
            "s-tab": (choice.select, -1),
            "m": (self._change_choice, choice.step, True),
            "l": (self._change_choice, choice.step, False),
            "d": (self._change_choice, choice.restore),
            "space": (self._game.pause,),
            "/": (self._begin_typing_name,),
            "e": (setattr, self, "_logging", True),
            "?": (setattr, self, "_helping", True),
            "h": (setattr, self, "_helping", True),
        }

    def press(self, key: str) -> None:
        """Handle a key; unknown keys do nothing."""
        if self._typed is not None:
            self._type_key(key)
        elif self._helping or self._logging:
            self._helping = self._logging = False
        elif key in self.actions:
            act, *arguments = self.actions[key]
            act(*arguments)

    def click(self, column: int, line: int) -> None:
        """Follow the clicked entity on the map, or in the list beside it."""
        columns, lines = self._map_size
        name, shown = None, self._game.listed
        if column < columns and line < lines:
            name = find_entity_at(self._game, self._viewport, column, line)
        elif line < lines and 0 < line <= len(shown):
            name = shown[line - 1]
        if name is not None and not (self._helping or self._logging):
            self._game.follow(name)

    def _begin_typing_name(self) -> None:
        self._typed = NameLine(self._game.choice.names)

    def _fit_all_entities(self) -> None:
        self._viewport.fit()
        self._game.follow(None)

    def _type_key(self, key: str) -> None:
        assert self._typed is not None
        self._typed.press(key)
        if not self._typed.is_open:
            chosen, self._typed = self._typed.chosen, None
            if chosen is not None:
                self._change_choice(setattr, self._game.choice, "strategy", chosen)

    def _change_choice(self, choose: Callable[..., object], *arguments: object) -> None:
        """Change the choice of strategy or setting, and draw with it.

        Restore the old choice on failure.
        """
        choice = self._game.choice
        choose(*arguments)
        try:
            self._game.draw_by(choice.spec)
        except (StrategyFailed, ValueError) as error:
            self._news = f"{choice.strategy} cannot be used: {error}"
            choice.go_back()
            return
        choice.use()
        self._news = ""
