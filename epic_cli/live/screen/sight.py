"""What a screen shows of packets and samples: lines to draw. It knows no terminal, and no keys."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from epic_cli.engine.packets import Entities, PacketBlock, SampleBlock
from epic_cli.engine.text.widths import ELLIPSIS, cut, printable, wrap
from epic_cli.live.consumer import Consumer
from epic_cli.live.drawing import Drawing
from epic_cli.live.listen.report import clock_reset
from epic_cli.live.listener import ListenSpec
from epic_cli.live.model.choice import Choice, NameLine
from epic_cli.live.model.events import EventLog
from epic_cli.live.model.hindsight import Hindsight
from epic_cli.live.model.history import History
from epic_cli.live.model.traffic import Traffic
from epic_cli.live.receiving import Reception
from epic_cli.live.recording import Recording
from epic_cli.live.screen import status
from epic_cli.live.screen.map import ASCII, UNICODE, draw_map
from epic_cli.live.screen.viewport import Viewport
from epic_cli.recordings.datagrams.counts import count_words
from epic_cli.shell.console import speaks_unicode
from epic_cli.show.cells import Lines, Reserve, fitting, flow, too_small

SMALLEST = (30, 8)

#: Lines of the map, border included, at least.
_SMALLEST_MAP = 6

#: From so many columns on there is room for the entities beside the map.
_ROSTER_FROM = 100


class Moment(NamedTuple):
    """What was there when somebody paused."""

    history: History
    now: float
    truth: History | None


class Sight(Consumer):
    """Follows what is drawn of a listener, or of a proxy; ``where`` is the address.

    With ``truth`` figures are against what it holds, which was sent. ``symbols``: ``map.UNICODE``
    or ``map.ASCII``; None: what the terminal speaks.
    """

    def __init__(
        self,
        spec: ListenSpec,
        where: str,
        receiving: Reception,
        recordings: Sequence[Recording] = (),
        symbols: dict[str, str] | None = None,
        truth: History | None = None,
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
        self.truth = truth
        self._viewport = Viewport()
        self._reserve = Reserve()
        self._followed: str | None = None
        self._listed: Sequence[str] = ()
        self._paused: Moment | None = None
        self._typed: NameLine | None = None
        self._helping = self._logging = False
        self._log = EventLog()
        self._map_size = (0, 0)
        self._news = ""

    def follow(self, listener: Drawing) -> None:
        """Follows this one, before anything comes in."""
        self._listener = listener
        self._live = History(listener.entities)

    def take_packets(self, block: PacketBlock) -> None:
        """Packets came in."""
        self._traffic.add(self._live.take(block))

    def take_samples(self, samples: SampleBlock, entities: Entities) -> None:
        """Samples were drawn."""
        del entities
        self._live.draw(samples)

    @property
    def _history(self) -> History:
        return self._paused.history if self._paused else self._live

    @property
    def _truth(self) -> History | None:
        return self._paused.truth if self._paused else self.truth

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
        of = self._followed, self._listed, self._truth
        self._hindsight.look(self._history, self._now, real_time, *of)

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
        how = self._viewport, size, self._symbols, self._followed, self._truth
        shown = draw_map(history, now, *how)
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
        if self._followed is None:
            bars = status.delay_line(self._traffic.flow.history, columns, self._bars)
        else:
            bars = status.curves(
                self._hindsight, columns, self._bars, None if self.truth is None else 0.0
            )
        of = "" if self._followed is None else f" of {cut(printable(self._followed), 20)}"
        figures = self._hindsight.figures(self._followed)
        worst = self._hindsight.worst() if self._followed is None else None
        if figures and worst is not None:
            figures.append(f"worst {cut(printable(worst), 20)}")
        blocks = {
            "traffic": ("", flow(self._coming(), columns)),
            "delay": ("class:delay", bars),
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
        if missed := self._listener.missed:
            parts.append(f"{missed:,} NOT DRAWN: too many for this machine")
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
