"""What is behind the screen: packets and samples in, lines to draw out. It knows no terminal."""

from __future__ import annotations

import asyncio
import math
from typing import TYPE_CHECKING, Any, NamedTuple

from epic_cli.engine.failures import StrategyFailed
from epic_cli.engine.text.widths import ELLIPSIS, cut, printable, wrap
from epic_cli.live.consumer import Consumer, count_words
from epic_cli.ui.screens.cells import Lines, Reserve, fitting, flow, speaks_unicode, too_small
from epic_cli.ui.screens.listen import status
from epic_cli.ui.screens.listen.choice import Choice, NameLine
from epic_cli.ui.screens.listen.events import EventLog
from epic_cli.ui.screens.listen.hindsight import Hindsight
from epic_cli.ui.screens.listen.history import History
from epic_cli.ui.screens.listen.map import ASCII, UNICODE, Viewport, draw_map, entity_at
from epic_cli.ui.screens.listen.traffic import Traffic
from epic_cli.ui.screens.program import FullScreen
from epic_cli.views.listening import clock_reset

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from epic_cli.engine.packets import Entities, PacketBlock, SampleBlock
    from epic_cli.live.listener import Listener, ListenSpec
    from epic_cli.live.receiving import Reception
    from epic_cli.live.recording import Recording

SMALLEST = (30, 8)

#: Lines of the map, border included, at least.
_SMALLEST_MAP = 6

#: From so many columns on there is room for the entities beside the map.
_ROSTER_FROM = 100

_ENTITIES = ("ansicyan", "ansiyellow", "ansigreen", "ansimagenta", "ansiblue", "ansired")

_STYLES = {
    "drawn": "bold",
    "received": "bold",
    "packet": "ansibrightblack",
    "delay": "ansicyan",
    "warning": "ansired bold",
    **{f"entity-{number}": color for number, color in enumerate(_ENTITIES)},
}


class _Moment(NamedTuple):
    """What was there when somebody paused."""

    history: History
    now: float


class Monitor(Consumer):
    """Follows one listener; ``where`` is the address.

    ``symbols``: ``map.UNICODE`` or ``map.ASCII``; None: what the terminal speaks.
    """

    def __init__(
        self,
        spec: ListenSpec,
        where: str,
        receiving: Reception,
        recordings: Sequence[Recording] = (),
        symbols: dict[str, str] | None = None,
    ) -> None:
        assert spec.strategy is not None
        self._choice = Choice(spec.strategy)
        self._symbols = symbols or (UNICODE if speaks_unicode() else ASCII)
        self._bars = status.UNICODE_BARS if not self._symbols["trail"] else status.ASCII_BARS
        self._where = where
        self._receiving = receiving
        self._recordings = recordings
        self._traffic = Traffic()
        self._hindsight = Hindsight(spec.tick[0] / spec.tick[1])
        self._viewport = Viewport()
        self._reserve = Reserve()
        self._followed: str | None = None
        self._listed: Sequence[str] = ()
        self._paused: _Moment | None = None
        self._typed: NameLine | None = None
        self._helping = self._logging = False
        self._log = EventLog()
        self._map_size = (0, 0)
        self._news = ""
        self._acts = self._make_acts()

    def follow(self, listener: Listener) -> None:
        """Follows this one, before anything comes in."""
        self._listener = listener
        self._live = History(listener.entities)

    def run(self, listener: Listener, color: bool) -> int | None:
        """Follows it on the terminal, until ``q``, Ctrl-C or a signal: that one's number.

        The terminal is left as it was found, whatever happens.
        """
        self.follow(listener)
        screen = FullScreen(self, self._acts, _STYLES, color, lambda: self.takes_text, self.click)
        return asyncio.run(screen.run(listener.run()))

    def take_packets(self, block: PacketBlock) -> None:
        """Packets came in."""
        self._traffic.add(self._live.take(block))

    def take_samples(self, samples: SampleBlock, entities: Entities) -> None:
        """Samples were drawn."""
        del entities
        self._live.draw(samples)

    @property
    def takes_text(self) -> bool:
        """Whether a name is being typed."""
        return self._typed is not None

    @property
    def _history(self) -> History:
        return self._paused.history if self._paused else self._live

    @property
    def _now(self) -> float:
        return self._paused.now if self._paused else self._listener.drawn_up_to

    def advance(self, real_time: float) -> None:
        """Looks at the figures from time to time."""
        if self._listener.drawn_up_to == -math.inf:
            return
        self._traffic.look(self._live, self._listener.drawn_up_to, real_time, self._listener.counts)
        self._log.look(
            self._live,
            self._listener.drawn_up_to,
            real_time,
            self._listener.counts,
            self._receiving.dropped,
        )
        self._hindsight.look(self._history, self._now, real_time, self._followed, self._listed)

    # ------------------------------------------------------------- keys

    def press(self, key: str) -> None:
        """A key; others do nothing."""
        if self._typed is not None:
            self._type(key)
        elif self._helping or self._logging:
            self._helping = self._logging = False
        elif key in self._acts:
            act, *arguments = self._acts[key]
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

    def _make_acts(self) -> dict[str, tuple[Any, ...]]:
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
        self._paused = None if self._paused else _Moment(self._live.frozen(), self._now)
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
            history, now = self._paused
            history.redraw()
            self._listener.replay(chosen, history.blocks(), now, history.draw).close()
        self._hindsight.forget()

    # ------------------------------------------------------------- lines

    def lines(self, columns: int, lines: int) -> Lines:
        """The whole screen."""
        drawn = self._lines(columns, lines)
        if self._bars is status.UNICODE_BARS:
            return drawn
        return [[(style, text.replace(ELLIPSIS, "~")) for style, text in line] for line in drawn]

    def _lines(self, columns: int, lines: int) -> Lines:
        if columns < SMALLEST[0] or lines < SMALLEST[1]:
            return [[("", too_small("epic listen", SMALLEST, (columns, lines)))]]
        if self._helping:
            return status.help_lines(f"epic listen, {self._where}", columns)[:lines]
        if self._logging:
            words = [f"epic listen, {self._where}: what happened", *self._log.lines(lines - 1)]
            return [[("", cut(one, columns))] for one in words]
        texts = self._texts(columns, lines - _SMALLEST_MAP)
        height = lines - self._reserve.lines((columns, lines), len(texts))
        beside = columns >= _ROSTER_FROM
        size = self._map_size = (columns - (status.ROSTER + 1) * beside, height)
        history, now = self._history, self._now
        shown = draw_map(history, now, self._viewport, size, self._symbols, self._followed)
        if beside and now > -math.inf:
            of = history, self._hindsight
            self._listed = status.listed(*of, self._followed, height)
            names = status.roster(*of, now, self._followed, self._listed, height)
            shown = [[*one, ("", " "), *other] for one, other in zip(shown, names, strict=True)]
        return shown + [[text] for text in texts]

    def _texts(self, columns: int, room: int) -> list[tuple[str, str]]:
        """The lines under the map; what matters least goes where there is no room for all."""
        if self._now == -math.inf:
            waiting = f"waiting for packets at {self._where}"
            blocks = {
                "traffic": ("class:news", wrap(waiting, columns)),
                "news": ("class:warning", wrap(self._messages(), columns)),
                "keys": ("class:keys", self._keys(columns)),
            }
            return fitting(blocks, ("keys", "news"), room)
        delays = status.delay_line(self._traffic.flow.history, columns, self._bars)
        of = "" if self._followed is None else f" of {cut(printable(self._followed), 20)}"
        figures = self._hindsight.figures(self._followed)
        worst = self._hindsight.worst() if self._followed is None else None
        if figures and worst is not None:
            figures.append(f"worst {cut(printable(worst), 20)}")
        blocks = {
            "traffic": ("", flow(self._coming(), columns)),
            "delay": ("class:delay", [delays] if delays else []),
            "figures": ("class:news", flow(status.strategy(self._choice, figures, of), columns)),
            "settings": ("", flow(status.settings(self._choice), columns)),
            "events": ("", flow(self._log.news(self._now), columns)[:1]),
            "news": ("class:warning", wrap(self._messages(), columns)),
            "keys": ("class:keys", self._keys(columns)),
        }
        order = ("settings", "delay", "keys", "events", "news", "traffic")
        return fitting(blocks, order, room)

    def _coming(self) -> list[str]:
        parts = status.traffic(self._traffic.flow, len(self._live.newest), self._receiving.dropped)
        for one in self._recordings:
            name = cut(printable(str(one.file.path)), 30)
            parts.append(f"{one.file.recorded:,} recorded in {name}")
            if one.left_out:
                parts.append(one.left_out.partition(":")[0])
        return parts

    def _messages(self) -> str:
        counts = self._listener.counts
        news = [self._news, clock_reset(counts), count_words(counts.refused, counts.example)]
        if self._paused is not None:
            news.insert(0, "PAUSED (space goes on; packets still come in)")
        return "; ".join(one for one in news if one)

    def _keys(self, columns: int) -> list[str]:
        if self._typed is None:
            return flow(status.key_line(), columns)
        return [cut(self._typed.text, columns)]
