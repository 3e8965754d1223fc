"""A match without a screen: it runs as fast as it can, and what was asked for comes out."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from epic_cli.formats.text import TextWriter
from epic_cli.network.state import Snapshot, State
from epic_cli.network.truth_writer import TruthWriter
from epic_cli.play.events import Event
from epic_cli.play.match import Match, Place
from epic_cli.play.recorder import Recorder
from epic_cli.play.report import Figure, Row, Shot, Tally, rows
from epic_cli.play.scene import Flashes, scenes
from epic_cli.play.script import Script
from epic_cli.play.settings import MatchSettings
from epic_cli.views.play_rows import Writer, summary
from epic_cli.views.play_svg import picture

#: Seconds of the match between two times that something is written.
CHUNK = 0.5


_COLUMNS = {
    "rows": Row._fields,
    "events": Event._fields,
    "shots": Shot._fields,
    "summary": Figure._fields,
}


class Wanted(NamedTuple):
    """What is to be written, in the words of the options."""

    show: str
    row_format: str
    view: str | None
    player: str | None
    client: str


class Chunk(NamedTuple):
    """What one piece of a match gives: rows, received packets, true states."""

    rows: bytes
    packets: bytes
    truth: bytes


class HeadlessRun:
    """Runs a match piece by piece; memory does not grow with its length."""

    def __init__(self, settings: MatchSettings, script: Script, wanted: Wanted) -> None:
        self.match = Match(settings, script, on_frame=self._frame)
        self.tally = Tally(self.match)
        self._wanted = wanted
        self._writer = Writer(wanted.row_format, _COLUMNS[wanted.show])
        self._packets = TextWriter()
        self._truth = TruthWriter()
        self._place = self.match.places[self.match.names.index(wanted.client)]
        self._rows: list[bytes] = []
        self._truths: list[bytes] = []
        self._place.client.packets = []
        self._flashes = Flashes(settings.rules.arena)

    def record(self) -> Recorder:
        """Writes down what the chosen client's player does."""
        recorder = Recorder(self._place.seat.name, self._place.decide)
        self.match.sit_down(self._place.client.identity.player, recorder)
        recorder.match, self.match.on_change = self.match, recorder.changed
        return recorder

    def run(self, duration: float) -> Iterator[Chunk]:
        """Everything up to ``duration`` seconds, in pieces."""
        yield Chunk(self._writer.header(), b"", self._truth.header)
        end, number = 0.0, 0
        while end < duration:
            number += 1
            end = min(number * CHUNK, duration)
            self.match.run_until(end)
            yield self._take()
        if self._wanted.show == "summary":
            yield Chunk(b"".join(map(self._writer.line, self._figures())), b"", b"")

    def summary(self) -> str:
        """The figures of the chosen client, for people."""
        return summary(self.tally.figures(self._place), self.tally.bumps)

    def picture(self) -> str:
        """The screens of the chosen client, the server and another player, as they are now."""
        other = next(place for place in self.match.places if place is not self._place)
        settings = self.match.settings
        lines = [
            f"{self.match.now / 1_000_000:g} s, latency {1000 * settings.link.latency:g} ms,"
            f" {settings.send_rate:g} states a second, {settings.local},"
            f" {settings.remote_strategy}, rewind {'on' if settings.rewind else 'off'}",
            "dashed: where the server has them; red circle: where the shooter saw his victim",
        ]
        return picture(scenes(self.match, self._place, other, self._flashes), lines)

    def _figures(self) -> list[Figure]:
        player = self._wanted.player
        return [
            figure
            for place in self.match.places
            if player in (None, place.seat.name)
            for figure in self.tally.figures(place)
        ]

    def _frame(self, place: Place) -> None:
        self.tally.add_frame(place)
        if place.seat.name != self._wanted.client:
            return
        if self._wanted.show == "rows":
            for row in rows(self.match):
                if self._wanted.view in (None, row.view) and self._is_wanted(row.player):
                    self._rows.append(self._writer.line(row))
        own = place.client.identity.player
        states = [
            (name, State((body.x, body.y, 0.0), (body.vx, body.vy, 0.0)))
            for number, name in enumerate(self.match.names)
            if number != own
            for body in (self.match.server.body(number),)
        ]
        self._truths.append(self._truth.rows(Snapshot(self.match.now / 1_000_000, states)))

    def _is_wanted(self, player: str) -> bool:
        return self._wanted.player in (None, player)

    def _take(self) -> Chunk:
        for event in self.match.take_events():
            self.tally.add_event(event)
            self._flashes.add(event)
            if not self._is_wanted(event.player) and event.player:
                continue
            if self._wanted.show == "events":
                self._rows.append(self._writer.line(event))
            elif self._wanted.show == "shots" and event.what == "shot" and self.tally.last_shot:
                self._rows.append(self._writer.line(self.tally.last_shot))
        received, self._place.client.packets = self._place.client.packets or [], []
        chunk = Chunk(
            b"".join(self._rows),
            b"".join(map(self._packets.row, received)),
            b"".join(self._truths),
        )
        self._rows, self._truths = [], []
        return chunk
