"""What a match was, measured in its rows: an oracle that shares nothing with the statistics."""

from __future__ import annotations

import math
import re
from bisect import bisect_left
from collections.abc import Iterator
from itertools import pairwise
from typing import Any, NamedTuple

from epic_cli.play import Match, MatchSpec
from epic_cli.play.match import MatchParticipant
from epic_cli.play.run import Row, rows
from epic_cli.play.script import SCENARIOS
from epic_cli.play.statistics import MatchStatistics
from epic_cli.play.world import Event
from support.play_links import script


class Frame(NamedTuple):
    """A player on a screen in one frame, and where the server has him then."""

    time: float
    x: float
    y: float
    true_x: float
    true_y: float

    @property
    def error(self) -> float:
        return math.hypot(self.x - self.true_x, self.y - self.true_y)


class Played:
    """A script that was played: what its rows and events say between two times."""

    def __init__(self, text: str, **settings: Any) -> None:
        read = script(text)
        self.match = Match(MatchSpec(**settings), read)
        self.statistics = MatchStatistics(self.match)
        self._rows: list[Row] = []
        self.match.on_frame = self._frame
        self.match.run_until(read.duration or 10)
        self.events = self.match.take_events()

    def _frame(self, participant: MatchParticipant) -> None:
        self.statistics.add_frame(participant)
        if participant.config.name == "A":
            self._rows += rows(self.match)

    def frames(self, player: str, begin: float = 0, end: float = math.inf) -> list[Frame]:
        """A player on A's screen."""
        found = [row for row in self._rows if row.player == player]
        truth = {row.time: row for row in found if row.view == "server"}
        return [
            Frame(row.time, row.x, row.y, truth[row.time].x, truth[row.time].y)
            for row in found
            if row.view == "A" and begin <= row.time <= end
        ]

    def errors(self, player: str, begin: float = 0, end: float = math.inf) -> list[float]:
        return [frame.error for frame in self.frames(player, begin, end)]

    def steps(self, player: str, begin: float = 0, end: float = math.inf) -> list[float]:
        """How far a player was drawn from one frame to the next."""
        frames = self.frames(player, begin, end)
        return [math.hypot(b.x - a.x, b.y - a.y) for a, b in pairwise(frames)]

    def late(self, player: str, begin: float = 0, end: float = math.inf) -> float:
        """By how many seconds his drawn way fits the true one best, in steps of 1 ms."""
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

        coarse = min((0.01 * number for number in range(80)), key=missed)
        return min((coarse + 0.001 * number for number in range(-10, 11)), key=missed)

    def said(self, words: str) -> str:
        """The caption with these words."""
        [text] = [each for each in self.captions() if words in each]
        return text

    def captions(self) -> Iterator[str]:
        return (str(each.details["text"]) for each in self.events if each.what == "say")

    def happened(self, what: str, player: str | None = None) -> list[Event]:
        """The events of one kind."""
        return [each for each in self.events if each.what == what and player in (None, each.player)]


def stretched(name: str) -> tuple[str, dict[float, float]]:
    """A scenario twice as long: what is done between two switches is done twice.

    Also where its times have gone. What stands at a switch stays there; a caption keeps its
    distance to the switch before it, or, where it is the last thing before the next one, to that.
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
    text = "\n".join([*head, *(f"{time:g} {what}" for time, _, what in doubled)]) + "\n"
    return text, {time: 2 * time for time in switches}
