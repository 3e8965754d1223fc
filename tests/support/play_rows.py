"""A match measured in its rows: an oracle that shares no code with the statistics."""

from __future__ import annotations

import math
import re
from bisect import bisect_left
from itertools import pairwise
from typing import Any, NamedTuple

from epic_cli.play import Match, MatchSpec
from epic_cli.play.match import MatchParticipant
from epic_cli.play.run import Row, iterate_rows
from epic_cli.play.script import SCENARIOS
from epic_cli.play.statistics import MatchStatistics, is_switch
from epic_cli.play.world import Event
from support.play_links import script


class Frame(NamedTuple):
    """A player on a screen in one frame, and the player's position on the server then."""

    time: float
    x: float
    y: float
    true_x: float
    true_y: float

    @property
    def error(self) -> float:
        return math.hypot(self.x - self.true_x, self.y - self.true_y)


class Played:
    """A played script: its rows and events between two times."""

    def __init__(self, text: str, **settings: Any) -> None:
        read = script(text)
        self.end = read.duration or 10.0
        self.match = Match(MatchSpec(**settings), read)
        self.statistics = MatchStatistics(self.match)
        self.packets = self.match.participants[0].client.packets = []
        self.own = self.match.participants[0].client.own = []
        self._rows: list[Row] = []
        self.match.on_frame = self._frame
        self.prepare(self.match)
        self.match.run_until(self.end)
        self.events = self.match.take_events()
        switches = [each.time for each in self.events if is_switch(each)]
        #: From each switch to the next.
        self.phases = list(pairwise([0.0, *sorted(set(switches)), self.end]))

    def prepare(self, match: Match) -> None:
        """Do nothing; subclasses change the match before it begins."""

    def _frame(self, participant: MatchParticipant) -> None:
        self.statistics.add_frame(participant)
        if participant.config.name == "A":
            self._rows += iterate_rows(self.match)

    def frames(self, player: str, begin: float = 0, end: float = math.inf) -> list[Frame]:
        """Return the frames of a player on A's screen."""
        found = [row for row in self._rows if row.player == player]
        truth = {row.time: row for row in found if row.view == "server"}
        return [
            Frame(row.time, row.x, row.y, truth[row.time].x, truth[row.time].y)
            for row in found
            if row.view == "A" and begin <= row.time <= end
        ]

    def errors(self, player: str, begin: float = 0, end: float = math.inf) -> list[float]:
        return [frame.error for frame in self.frames(player, begin, end)]

    def late(self, player: str, begin: float = 0, end: float = math.inf) -> float:
        """Return the lag (s) at which the drawn path fits the true one best, in steps of 3 ms."""
        drawn, known = self.frames(player, begin, end), self.frames(player)
        times = [frame.time for frame in known]

        def missed(shift: float) -> float:
            total = 0.0
            for frame in drawn:
                at = frame.time - shift
                after = min(max(bisect_left(times, at), 1), len(times) - 1)
                a, b = known[after - 1], known[after]
                share = min(max((at - a.time) / (b.time - a.time), 0), 1)
                x = a.true_x + (b.true_x - a.true_x) * share
                y = a.true_y + (b.true_y - a.true_y) * share
                total += (frame.x - x) ** 2 + (frame.y - y) ** 2
            return total

        coarse = min((0.03 * number for number in range(28)), key=missed)
        return min((coarse + 0.003 * number for number in range(-10, 11)), key=missed)

    def happened(self, what: str, player: str | None = None) -> list[Event]:
        """Return the events of one kind."""
        return [each for each in self.events if each.what == what and player in (None, each.player)]


def lengthened(name: str) -> str:
    """Return a scenario that goes on for its own length after its end."""
    return re.sub(
        r"duration=(\S+)", lambda found: f"duration={2 * float(found[1])}",
        SCENARIOS[name].read_text(),
    )  # fmt: skip


def stretched(name: str) -> str:
    """Return a scenario twice as long: actions between two switches are done twice.

    A caption keeps its distance to the switch before it.
    """
    lines = SCENARIOS[name].read_text().splitlines()
    head = [line for line in lines if not re.match(r"[\d.]", line)]
    timed = [(float(line.split()[0]), line.split(" ", 1)[1]) for line in lines if line not in head]
    end = timed[-1][0]
    switches = sorted({0.0, end} | {
        time for time, what in timed if what.startswith("set") and "speed" not in what
    })  # fmt: skip
    doubled: list[tuple[float, int, str]] = []
    for time, what in timed:
        begin = max(each for each in switches if each <= time)
        until = min((each for each in switches if each > time), default=end)
        doubled.append((time + begin, 0, what))
        if not what.startswith(("set", "say")) and time < end:
            doubled.append((time + until, 1, what))
    doubled.sort(key=lambda each: each[:2])
    head = [re.sub(r"duration=\S+", f"duration={2 * end:g}", line) for line in head]
    return "\n".join([*head, *(f"{time:g} {what}" for time, _, what in doubled)]) + "\n"
