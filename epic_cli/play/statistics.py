"""Statistics of a match: errors of drawn positions and of clocks, shots, a summary by player."""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from epic_cli.engine.parameters import parse_quantity
from epic_cli.engine.strategies import get_declaration
from epic_cli.play.client import Client
from epic_cli.play.match import Match, MatchParticipant
from epic_cli.play.script import SETTINGS, fill_placeholders
from epic_cli.play.server import Connection
from epic_cli.play.world import SECOND_US, Body, Event, Point, convert_to_seconds, measure_distance

#: Seconds; the longest lag that is searched for.
LONGEST_LAG = 1.0


class DrawnError:
    """The error and the lag of drawn positions, from a sample per step, in constant memory.

    The error is the distance from the drawn to the current true position. The lag is the shift at
    which the drawn path fits the true one best (least mean square), to a fraction of a step by a
    parabola through the three best; NaN before there is a second of it, or when nothing has moved.
    ``epic compare`` has the whole of a path before it looks for the lag, so it can try any shift; a
    match has no end, so here sums are stored for the whole steps.
    """

    def __init__(self, step: float) -> None:
        self._step = step
        self._truth: deque[Point] = deque(maxlen=math.ceil(LONGEST_LAG / step) + 1)
        self._squares = [0.0] * (math.ceil(LONGEST_LAG / step) + 1)
        self._moved = False
        self.count = 0
        self.total = 0.0
        self.largest = 0.0

    def add(self, drawn: Point | None, truth: Point) -> None:
        """Add a drawn and a true position; ``drawn`` None: nothing was drawn."""
        if self._truth and truth != self._truth[0]:
            self._moved = True
        self._truth.appendleft(truth)
        if drawn is None:
            return
        error = measure_distance(drawn, truth)
        self.count += 1
        self.total += error
        self.largest = max(self.largest, error)
        if len(self._truth) == len(self._squares):
            x, y = drawn
            for shift, (true_x, true_y) in enumerate(self._truth):
                self._squares[shift] += (x - true_x) ** 2 + (y - true_y) ** 2

    @property
    def mean(self) -> float:
        """The mean error in length units."""
        return self.total / self.count if self.count else math.nan

    @property
    def lag(self) -> float:
        """The lag in seconds; NaN if unknown."""
        squares = self._squares
        best = min(range(len(squares)), key=squares.__getitem__)
        if not self._moved or not any(squares):
            return math.nan
        if not 0 < best < len(squares) - 1:
            return best * self._step
        before, here, after = squares[best - 1 : best + 2]
        bend = before - 2 * here + after
        shift = 0.5 * (before - after) / bend if bend > 0 else 0.0
        return (best + shift) * self._step


class ClockError:
    """The error of a client's estimate of the server's time, measured once a frame.

    ``set`` counts how often the clock was set, ``held`` the frames spent waiting.
    """

    def __init__(self) -> None:
        self.set = 0
        self.held = 0
        self._first = math.nan
        self._count = 0
        self._total = 0.0
        self._largest = 0.0
        self._speeds = (math.inf, -math.inf)

    def add(self, client: Client, server_us: int) -> None:
        """Add the error of the client's estimate of the server's time in its current frame."""
        taken_us = client.timekeeper.estimate_server_us(client.now_us)
        if taken_us is None:
            return
        if not self._count:
            self._first = convert_to_seconds(server_us)
        error = abs(convert_to_seconds(taken_us - server_us))
        self._count += 1
        self._total += error
        self._largest = max(self._largest, error)
        speed = client.timekeeper.clock.speed
        self._speeds = (min(self._speeds[0], speed), max(self._speeds[1], speed))

    def list_lines(self) -> list[tuple[str, float, str]]:
        """Return the summary of clock errors as lines of name, value and unit."""
        slowest, fastest = self._speeds if self._count else (math.nan, math.nan)
        return [
            ("clock known after", self._first, "s"),
            ("clock error", self._total / self._count if self._count else math.nan, "s"),
            ("largest clock error", self._largest if self._count else math.nan, "s"),
            ("clock set", self.set, ""),
            ("slowest clock", slowest, "speed"),
            ("fastest clock", fastest, "speed"),
            ("frames waited", self.held, ""),
        ]


#: Beyond this number, the oldest shots and moves without a judgement are forgotten.
MOST_UNJUDGED = 1000


class Shot(NamedTuple):
    """An instant-hit shot: fired at ``stamp`` on the shooter's clock, judged at ``time``; seconds.

    ``on_screen``, ``rewound`` and ``present``: whether it hits on the shooter's screen, with
    rewind and without; ``hit``: what counted. ``moved`` is how far the player whom it hits with
    rewind had moved on since the shooter saw him; ``behind_cover``: the shot hit him by rewind, and
    a wall stood between the two by then. ``view`` is how well the server knew what the shooter saw:
    see ``Rewound``.
    """

    time: float
    player: str
    stamp: float
    on_screen: bool
    hit: bool
    rewound: bool
    present: bool
    moved: float
    behind_cover: bool
    view: str


@dataclass
class Shots:
    """The judged instant-hit shots of one player."""

    judged: int = 0
    hits: int = 0  # those that counted
    on_screen: int = 0
    rewound: int = 0
    present: int = 0
    agreed: int = 0  # right on the screen, and hits
    behind_cover: int = 0
    beyond: int = 0
    moved: float = 0.0
    farthest: float = 0.0

    def add(self, shot: Shot) -> None:
        """Count a judged shot by its outcome."""
        self.judged += 1
        self.hits += shot.hit
        self.on_screen += shot.on_screen
        self.rewound += shot.rewound
        self.present += shot.present
        self.agreed += shot.on_screen and shot.hit
        self.behind_cover += shot.behind_cover
        self.beyond += shot.view == "beyond the history"
        self.moved += shot.moved if shot.rewound else 0.0
        self.farthest = max(self.farthest, shot.moved)

    def list_lines(self) -> list[tuple[str, float, str]]:
        """Return the summary of shots as lines of name, value and unit."""
        return [
            ("shots judged", self.judged, ""),
            ("hits", self.hits, ""),
            ("hit rate", _divide_or_nan(self.hits, self.judged), "share"),
            ("hits on own screen", self.on_screen, ""),
            ("of these hits", self.agreed, ""),
            ("would hit with rewind", _divide_or_nan(self.rewound, self.judged), "share"),
            ("would hit without", _divide_or_nan(self.present, self.judged), "share"),
            ("beyond the history", self.beyond, ""),
            ("target moved since", _divide_or_nan(self.moved, self.rewound), "units"),
            ("target moved at most", self.farthest, "units"),
            ("hit behind cover", self.behind_cover, ""),
        ]


class SummaryLine(NamedTuple):
    """A line of a match's summary: a player, a name, a value (NaN: unknown) and a unit."""

    player: str
    name: str
    value: float
    unit: str


def is_switch(event: Event) -> bool:
    """Return True if an event restarts the values on the screen: any change but one of speed."""
    return event.what == "set" and not str(event.details["change"]).startswith("speed=")


def measure_input_delay(client: Client) -> float | None:
    """Return the age (s) of the newest input visible in the own player; None if unknown."""
    if client.local.mode != "dumb-terminal":
        return 0.0
    if client.state is None or client.state.echo_us is None:
        return None
    return convert_to_seconds(client.now_us - client.state.echo_us)


def format_measured_value(value: float, unit: str) -> str:
    """Format a measured value for a caption: times in whole milliseconds."""
    if math.isnan(value):
        return "-"
    if unit == "s":
        return f"{1000 * value:.0f} ms"
    return f"{value:.2f}" if unit == "units" else f"{value:.0f}"


class SinceSwitch:
    """The values measured on one player's screen since the last switch, for captions."""

    def __init__(self, match: Match, participant: MatchParticipant) -> None:
        self.participant = participant
        self._match = match
        self._drawn = {name: DrawnError(match.settings.rules.step) for name in match.names}
        self._apart = dict.fromkeys(match.names, math.nan)
        self._delays: list[float] = [0.0, 0]  # their sum (s) and number
        self._begin_us = match.now_us
        local, sent = participant.client.local, self._connection
        self._before = local.corrections, local.corrected, sent.states, sent.bits
        self._steps: deque[int] = deque()  # their times (us), of the last second

    @property
    def _connection(self) -> Connection:
        return self._match.server.connections[self.participant.client.identity.player]

    def add_frame(self) -> None:
        """Add the frame that the player's client has just drawn."""
        client, truth = self.participant.client, self._match.server.list_positions()
        drawn = client.list_drawn_remotes()
        drawn[client.identity.player] = client.local.compute_drawn(client.now)
        for number, name in enumerate(self._match.names):
            place = drawn.get(number)
            self._drawn[name].add(place, truth[number])
            self._apart[name] = measure_distance(place, truth[number]) if place else math.nan
        delay = measure_input_delay(client)
        if delay is not None:
            self._delays[0] += delay
            self._delays[1] += 1
        self._steps.append(self._match.now_us)
        while self._steps[0] <= self._match.now_us - SECOND_US:
            self._steps.popleft()

    def format_measured_value(self, name: str, player: str) -> str:
        """Return the text of a placeholder; ``player`` may also name a setting of the strategy."""
        if name in SETTINGS:
            return self._format_setting(name, player)
        drawn = self._drawn.get(player)
        if drawn is not None:
            of_player = {"off": drawn.mean, "most": drawn.largest, "apart": self._apart[player]}
            return (
                format_measured_value(drawn.lag, "s")
                if name == "late"
                else format_measured_value(of_player[name], "units")
            )
        client, sent = self.participant.client, self._connection
        corrections, corrected, states, bits = self._before
        count = client.local.corrections - corrections
        states = sent.states - states
        steps = sum(time_us > self._match.now_us - SECOND_US for time_us in self._steps)
        passed = convert_to_seconds(self._match.now_us - self._begin_us)
        echo = client.round_trip.estimate if client.round_trip.count else math.nan
        found = {
            "key": (_divide_or_nan(*self._delays), "s"),
            "echo": (echo, "s"),
            "link": (self.participant.round_trip, "s"),
            "corrections": (count, ""),
            "correction": (_divide_or_nan(client.local.corrected - corrected, count), "units"),
            "steps": (steps if passed >= 1 else math.nan, ""),
            "updates": (_divide_or_nan(states / len(client.remotes), passed), ""),
            "bits": (_divide_or_nan(sent.bits - bits, states), ""),
        }
        return format_measured_value(*found[name])

    def _format_setting(self, name: str, own: str) -> str:
        """Return the current value of a setting of the match, or with ``own`` of the strategy."""
        settings = self._match.settings
        if own:
            given = settings.compute_strategy_settings()
            declared = get_declaration(settings.remote_strategy).settings
            value = given.get(own, {each.name: each.default for each in declared}.get(own))
            return "-" if value is None else _format_time(parse_quantity(str(value), "s"))
        up, down = settings.link.up, settings.link.down
        return {
            "latency": _format_time(down.latency),
            "jitter": _format_time(down.jitter),
            "rtt": _format_time(up.latency + down.latency),
            "rate": f"{settings.send_rate:g}",
            "period": _format_time(1 / settings.send_rate),
            "step": _format_time(settings.rules.step),
            "frames": f"{1 / settings.rules.step:.0f}",
            "smoothing": _format_time(settings.smoothing),
        }[name]


def _format_time(seconds: float) -> str:
    return f"{1000 * seconds:.3g} ms"


@dataclass
class _PlayerMeasurements:
    """The measurements of one player: errors on the screen, clock, input, effects and shots.

    ``shown`` has the positions where his own screen drew him, by the timestamp of his newest move,
    until the server has made that move, too.
    """

    own: DrawnError
    others: dict[str, DrawnError]
    clock: ClockError = field(default_factory=ClockError)
    shots: Shots = field(default_factory=Shots)
    frames: int = 0  # whose input delay is known
    input_delay: float = 0.0  # of them all
    effects: int = 0
    refused_effects: int = 0
    shown: dict[int, Point] = field(default_factory=dict)


class MatchStatistics:
    """The statistics of a match, collected while it runs."""

    def __init__(self, match: Match) -> None:
        self._match = match
        step = match.settings.rules.step
        self._players = {
            name: _PlayerMeasurements(
                DrawnError(step),
                {other: DrawnError(step) for other in match.names if other != name},
            )
            for name in match.names
        }
        self._unjudged: dict[tuple[str, float], bool] = {}
        self.bumps = 0
        self.last_shot: Shot | None = None
        self._lately: SinceSwitch | None = None  # of the first player's screen, for captions
        if any("{" in text for _, text in match.script.captions):
            self._lately = SinceSwitch(match, match.participants[0])
        match.server.on_move = self._add_move
        match.on_event = self.add_event
        match.fill_caption = self._fill_caption

    def add_frame(self, participant: MatchParticipant) -> None:
        """Add the frame that a client has just drawn."""
        client, truth = participant.client, self._match.server.list_positions()
        measured = self._players[participant.config.name]
        measured.clock.add(client, self._match.now_us)
        if self._lately and participant is self._lately.participant:
            self._lately.add_frame()
        newest_us = client.local.moves.last_timestamp_us
        if newest_us is not None:
            measured.shown[newest_us] = client.local.compute_drawn(client.now)
            _drop_oldest_values(measured.shown)
        drawn = client.list_drawn_remotes()
        for number in client.remotes:
            measured.others[self._match.names[number]].add(drawn.get(number), truth[number])
        delay = measure_input_delay(client)
        if delay is not None:
            measured.frames += 1
            measured.input_delay += delay

    def _add_move(self, player: int, timestamp_us: int, body: Body) -> None:
        """Measure the distance after a move from the server's position to the one on the screen."""
        measured = self._players[self._match.names[player]]
        drawn = measured.shown.pop(timestamp_us, None)
        if drawn is not None:
            measured.own.add(drawn, body.position)

    def add_event(self, event: Event) -> None:
        """Add an event to the statistics of the players whom it concerns."""
        details, measured = event.details, self._players.get(event.player)
        if self._lately and is_switch(event):
            self._lately = SinceSwitch(self._match, self._lately.participant)
        if measured is None:
            return
        if event.what == "bump":
            self.bumps += 1
        elif event.what == "clock set":
            measured.clock.set += 1
        elif event.what == "clock held":
            measured.clock.held += int(details["frames"])
        elif event.what == "predicted effect":
            measured.effects += 1
            if "hit" in details:
                self._unjudged[event.player, float(details["stamp"])] = bool(details["hit"])
                _drop_oldest_values(self._unjudged)
        elif event.what == "effect refused":
            measured.refused_effects += 1
        elif event.what == "shot":
            self.last_shot = self._make_shot(event)
            measured.shots.add(self.last_shot)

    def _make_shot(self, event: Event) -> Shot:
        details = event.details
        stamp = float(details["stamp"])
        return Shot(
            event.time,
            event.player,
            stamp,
            self._unjudged.pop((event.player, stamp), False),
            bool(details["hit"]),
            bool(details["rewound"]),
            bool(details["present"]),
            float(details["moved"]),
            bool(details["behind_cover"]),
            str(details["view"]),
        )

    def _fill_caption(self, caption: str) -> str:
        """Return a caption with its placeholders filled from the match."""
        lately = self._lately
        if lately is None:
            return caption
        moved = self.last_shot.moved if self.last_shot else math.nan

        def fill(name: str, player: str) -> str:
            return (
                format_measured_value(moved, "units")
                if name == "moved"
                else lately.format_measured_value(name, player)
            )

        return fill_placeholders(caption, fill)

    def count_shots(self, player: str) -> Shots:
        """Return a player's shots so far."""
        return self._players[player].shots

    def get_remote_errors(self, screen: str, player: str) -> DrawnError:
        """Return the errors with which one player's screen has drawn another player."""
        return self._players[screen].others[player]

    def _list_sent_lines(self, client: Client) -> list[tuple[str, float, str]]:
        """Return the summary's lines about states sent to a client, per second."""
        connection = self._match.server.connections[client.identity.player]
        return [
            (
                "updates",
                _divide_or_nan(connection.states / len(client.remotes), self._match.now),
                "1/s",
            ),
            ("update bits", _divide_or_nan(connection.bits, connection.states), "bits"),
            ("undecodable", client.undecodable, ""),
            ("bytes", _divide_or_nan(connection.bytes, self._match.now), "bytes/s"),
        ]

    def list_lines(self, participant: MatchParticipant) -> list[SummaryLine]:
        """Return the lines of one player's summary."""
        name, client = participant.config.name, participant.client
        measured, local = self._players[name], client.local
        up, down = participant.up, participant.down
        estimate = client.round_trip.estimate if client.round_trip.count else math.nan
        found: list[tuple[str, float, str]] = [
            ("input delay", _divide_or_nan(measured.input_delay, measured.frames), "s"),
            ("own error", measured.own.mean, "units"),
            ("corrections", local.corrections, ""),
            ("mean correction", _divide_or_nan(local.corrected, local.corrections), "units"),
            ("largest correction", local.largest, "units"),
            ("mispredictions", local.mispredictions, ""),
            ("states", local.states, ""),
            ("rtt estimate", estimate, "s"),
            ("rtt of the link", participant.round_trip, "s"),
            ("packets up lost", _divide_or_nan(up.lost, up.sent), "share"),
            ("packets down lost", _divide_or_nan(down.lost, down.sent), "share"),
        ]
        found += self._list_sent_lines(client)
        for other, drawn in measured.others.items():
            found.append((f"{other} drawn error", drawn.mean, "units"))
            found.append((f"{other} largest error", drawn.largest, "units"))
            found.append((f"{other} drawn lag", drawn.lag, "s"))
        if self._match.settings.clock_sync != "free-running":
            found += measured.clock.list_lines()
        if measured.effects:
            found.append(("effects predicted", measured.effects, ""))
            found.append(("effects refused", measured.refused_effects, ""))
            found += measured.shots.list_lines()
        return [SummaryLine(name, *row) for row in found]


def _drop_oldest_values(waiting: dict[Any, Any]) -> None:
    while len(waiting) > MOST_UNJUDGED:
        del waiting[next(iter(waiting))]


def _divide_or_nan(part: float, whole: float) -> float:
    return part / whole if whole else math.nan
