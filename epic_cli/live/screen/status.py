"""The lines under the map (what comes in, how it is drawn, settings, keys) and beside it (who)."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from epic_cli.engine.parameters import Number
from epic_cli.engine.text.widths import cut, pad, printable, width, wrap
from epic_cli.live.model.choice import Choice
from epic_cli.live.model.hindsight import Hindsight
from epic_cli.live.model.history import History
from epic_cli.live.model.traffic import Flow
from epic_cli.live.screen.map import COLOURS
from epic_cli.metrics.digits import three_digits
from epic_cli.recordings.writing import value_text
from epic_cli.show.cells import Fragment, Lines

#: Heights of a bar, from the lowest.
UNICODE_BARS, ASCII_BARS = "▁▂▃▄▅▆▇█", "_.-=+*%#"

#: Keys, what they do in a word or two under the map (nothing: no room), and in the help.
KEYS = (
    ("s/S", "strategy", "the next strategy, the one before"),
    ("/", "by name", "a strategy by its name: type, Tab, Enter; Esc leaves all as it is"),
    ("tab", "setting", "the next setting; Shift-Tab: the one before"),
    ("m/l", "more, less", "more or less of the setting in brackets; d: its default"),
    ("f/F", "follow", "follow the next entity, the one before; Esc: none"),
    ("arrows", "", "move the map"),
    ("+/-", "zoom", "zoom in, zoom out; 0: show everything again"),
    ("v", "", "another plane: xy, xz, zy"),
    ("e", "events", "what happened: who joined and left, clocks, teleports, drops"),
    ("mouse", "", "the wheel zooms, a click follows; Shift selects text"),
    ("space", "pause", "pause what is shown: strategies and settings can be tried on that moment;"
     " packets still come in and are recorded"),
    ("?", "help", "this help; any key leaves it"),
    ("q", "quit", "quit; Ctrl-Z: suspend; Ctrl-L: clear"),
)  # fmt: skip


def key_line() -> list[str]:
    """The keys that there is room for."""
    return [f"{keys}: {word}" for keys, word, _ in KEYS if word]


def _ms(seconds: float, sign: str = "") -> str:
    if math.isnan(seconds):
        return "-"
    value = 1000 * seconds
    return f"{value:{sign},.0f} ms" if abs(value) >= 100 else f"{value:{sign}.3g} ms"


def _share(share: float) -> str:
    return "-" if math.isnan(share) else f"{100 * share:.1f} %"


def traffic(flow: Flow, entities: int, dropped: int) -> list[str]:
    """What comes in: a second's packets and datagrams, and the link as it shows."""
    parts = [
        f"{flow.packets:,.0f} packets/s",
        f"{flow.datagrams:,.0f} datagrams/s",
        f"loss {_share(flow.loss)}",
        f"jitter {_ms(flow.jitter)}",
        f"delay {_ms(flow.delay, '+')}, 95% {_ms(flow.delay95, '+')}",
        f"{entities:,} {'entity' if entities == 1 else 'entities'}",
    ]
    return [*parts, f"{dropped:,} DROPPED by the socket"] if dropped else parts


def delay_line(history: Sequence[float], columns: int, bars: str) -> list[str]:
    """The longest delay of each second as bars, the latest at the right."""
    return _bar_line("delay", history, columns, bars, lambda most: _ms(most, "+"))


def curves(hindsight: Hindsight, columns: int, bars: str, least: float | None) -> list[str]:
    """Error, lag and delay of the entity that is followed, second by second, as bars.

    The delay is above ``least`` (s); None: above the shortest.
    """
    now = max((max(one) for one in hindsight.curves if one), default=0)
    names: Sequence[str] = ("error", "lag", "delay")
    words: Sequence[Callable[[float], str]] = (three_digits, _ms, _ms)
    found = []
    for head, one, form in zip(names, hindsight.curves, words, strict=True):
        values = [one.get(second, math.nan) for second in range(min(one, default=now), now + 1)]
        if head == "delay":
            shortest = min(one.values(), default=0.0) if least is None else least
            values = [value - shortest for value in values]
        found += _bar_line(head, values, columns, bars, form)
    return found


def _bar_line(
    head: str, values: Sequence[float], columns: int, bars: str, words: Callable[[float], str]
) -> list[str]:
    room = columns - 24
    shown = values[-room:] if room > 0 else ()
    known = [one for one in shown if not math.isnan(one)]
    if not known:
        return []
    most = max(known, key=abs)
    drawn = "".join(_bar(abs(one), abs(most), bars) for one in shown)
    return [f"{head:5} {drawn} most {words(most)}"]


def _bar(value: float, most: float, bars: str) -> str:
    if math.isnan(value):
        return " "
    share = value / most if most > 0 else 0.0
    return bars[min(int(share * len(bars)), len(bars) - 1)]


def strategy(choice: Choice, figures: Sequence[str], of: str) -> list[str]:
    """The strategy, and its figures against hindsight."""
    place = choice.names.index(choice.strategy) + 1
    name = f"{choice.strategy} ({place}/{len(choice.names)}){of}"
    return [name, *(figures or ["measuring"])]


def settings(choice: Choice) -> list[str]:
    """All settings, that to be changed in brackets."""
    shown = []
    for one in choice.settings:
        value = choice.values[one.name]
        text = f"{one.name} {value_text(value)}"
        if isinstance(one, Number) and not isinstance(value, str) and len(one.unit) == 1:
            text += f" {one.unit}"
        text += "" if value == one.default else "*"
        shown.append(f"[{text}]" if one is choice.selected else text)
    return shown or ["it has no settings"]


def help_lines(title: str, columns: int) -> Lines:
    """What the keys do."""
    room = max(width(keys) for keys, _, _ in KEYS) + 2
    drawn: Lines = [[("class:news", cut(title, columns))]]
    for keys, _, words in KEYS:
        for index, line in enumerate(wrap(words, columns - room)):
            head = keys if index == 0 else ""
            drawn.append([("class:news", f"{head:<{room}}"), ("", line)])
    return drawn


#: Columns of the roster, and of a name in it.
ROSTER = 40

_NAME = 14


def listed(
    history: History, hindsight: Hindsight, followed: str | None, lines: int
) -> Sequence[str]:
    """The entities that a roster of so many lines has room for: all, or the worst ones."""
    names = history.names
    if len(names) < lines:
        return names
    names.sort(key=lambda name: (name != followed, -_known(hindsight.error(name))))
    return names[: lines - 2]


def roster(
    history: History,
    hindsight: Hindsight,
    now: float,
    followed: str | None,
    shown: Sequence[str],
    lines: int,
) -> Lines:
    """A head, a line for each entity that is ``shown``, and how many others there are."""
    numbers = history.received(now - 1).entities
    rates = np.bincount(numbers, minlength=len(history.entities))
    left_out = len(history.newest) - len(shown)
    head = f" {pad('entity', _NAME)} {'packets/s':>9}  silent {'error':>6}"
    drawn: Lines = [[("class:keys", pad(head, ROSTER))]]
    for name in shown:
        number = history.entities.number_of(name)
        silent = max(now - (history.newest[name].arrival or now), 0.0)
        text = f"{rates[number]:>9} {silent:>5.1f} s {_cell(hindsight.error(name)):>6}"
        style = f"class:drawn class:entity-{number % COLOURS}"
        mark = ">" if name == followed else " "
        line: list[Fragment] = [
            (style, f"{mark}{pad(printable(name) or '(no name)', _NAME)} "),
            ("class:news" if silent > 1 else "", pad(text, ROSTER - _NAME - 2)),
        ]
        drawn.append(line)
    if left_out:
        drawn.append([("class:keys", pad(f" and {left_out:,} more", ROSTER))])
    drawn += [[("", " " * ROSTER)]] * (lines - len(drawn))
    return drawn[:lines]


def _known(error: float) -> float:
    return -1.0 if math.isnan(error) else error


def _cell(error: float) -> str:
    return "-" if math.isnan(error) else three_digits(error)
