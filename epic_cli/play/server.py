"""The server: the authoritative simulation, its weapons, and the rewind for shots."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter, deque
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from epic_cli.engine.replay.strategy_spec import StrategySpec
from epic_cli.network.encoding import FARTHEST_BASE, HEADERS
from epic_cli.network.movement import Snapshot, State
from epic_cli.network.sender import Sender, SenderSpec
from epic_cli.play.wire import (
    MOST_PLAYERS,
    MOST_PROJECTILES,
    MOST_VERDICTS,
    VERDICTS,
    InputPacket,
    Malformed,
    Projectile,
    StatePacket,
    Verdict,
    decode_input,
    decode_pose,
    encode_state,
)
from epic_cli.play.world import (
    STUN_US,
    THROW_SPEED,
    Arena,
    Body,
    Move,
    MoveList,
    MoveResult,
    Point,
    RoundTrip,
    Rules,
    Value,
    View,
    Weapon,
    convert_to_seconds,
    convert_to_us,
    find_first_hit,
    interpolate_points,
    is_visible,
    measure_distance,
    measure_ray_to_wall,
)

#: Seconds; Valve's sv_maxunlag: no shot goes further into the past.
DEFAULT_HISTORY = 1.0


class PoseHistory:
    """The positions of all players in the snapshots of the last ``length`` seconds.

    A snapshot is found by its number. Older ones are forgotten, so a view of them cannot be rewound
    to.
    """

    def __init__(self, length: float = DEFAULT_HISTORY) -> None:
        self.length = length
        self._length_us = convert_to_us(length)
        self._snapshots: dict[int, dict[int, Point]] = {}
        self._times: deque[tuple[int, int]] = deque()
        self._time_of: dict[int, int] = {}

    def add(self, snapshot: int, time_us: int, positions: dict[int, Point]) -> None:
        """Store a snapshot sent at this time, and drop snapshots older than ``length``."""
        self._snapshots[snapshot] = positions
        self._times.append((time_us, snapshot))
        self._time_of[snapshot] = time_us
        while self._times[0][0] < time_us - self._length_us:
            forgotten = self._times.popleft()[1]
            del self._snapshots[forgotten], self._time_of[forgotten]

    def find_sent_us(self, snapshot: int) -> int | None:
        """Return the time when a snapshot was sent; None if it is forgotten."""
        return self._time_of.get(snapshot)

    def find_time(self, view: View) -> float | None:
        """Return the server's time (s) that a view shows; None if its snapshots are forgotten."""
        older, newer = self._time_of.get(view.older), self._time_of.get(view.newer)
        if older is None or newer is None:
            return None
        return convert_to_seconds(older) + convert_to_seconds(newer - older) * view.fraction

    def list_records(self, player: int) -> list[tuple[float, Point]]:
        """Return the times (s) and positions of a player, the newest first."""
        return [
            (convert_to_seconds(time_us), self._snapshots[snapshot][player])
            for time_us, snapshot in reversed(self._times)
            if player in self._snapshots[snapshot]
        ]


class SentPoses:
    """The positions of other players that one client was sent, as it decodes them, bit for bit.

    They reach ``length`` seconds back. A player is seen at the newest pose until the next one is
    sent, however long that takes.
    """

    def __init__(self, length: float = DEFAULT_HISTORY) -> None:
        self._length_us = convert_to_us(length)
        self._sent: dict[int, deque[tuple[int, int, Point]]] = {}

    def add(self, snapshot: int, time_us: int, positions: Mapping[int, Point]) -> None:
        """Store the positions sent with a snapshot, and drop positions older than ``length``."""
        for player, position in positions.items():
            self._sent.setdefault(player, deque()).append((snapshot, time_us, position))
        for kept in self._sent.values():
            while len(kept) > 1 and kept[1][1] < time_us - self._length_us:
                kept.popleft()

    def find_position(self, player: int, view: View, now_us: int) -> Point | None:
        """Return where the screen of a view drew a player; None if that is unknown or forgotten."""
        known = {}
        until_us = now_us
        for snapshot, time_us, position in reversed(self._sent.get(player, ())):
            known[snapshot] = time_us, until_us, position
            until_us = time_us
        if view.older not in known or view.newer not in known:
            return None
        (begin_us, until_us, older), (end_us, _, newer) = known[view.older], known[view.newer]
        if view.older != view.newer:
            until_us = round(begin_us + (end_us - begin_us) * view.fraction)
        if until_us < now_us - self._length_us:
            return None
        return interpolate_points(older, newer, view.fraction)


class Shooter(NamedTuple):
    """The data by which a shot is judged at the server's time ``now``; times in seconds.

    ``round_trip`` is the round trip that the server measured, ``view_delay`` the delay at which the
    client is set to draw the others, ``views`` the client's report of what the player saw of each,
    ``sent`` the states that the client was sent.
    """

    now: float
    round_trip: float
    view_delay: float
    views: Mapping[int, View]
    sent: SentPoses


class Rewound(NamedTuple):
    """The other players' rewound positions; a missing player cannot be hit, unless all are missing.

    ``view`` tells how well the positions are known: ``exact`` to the last bit, ``nearest`` (the
    drawn position is no point between two snapshots), ``claimed`` by the client, ``estimated`` by
    the server, ``beyond the history`` (the present was taken), or ``none``.
    """

    positions: dict[int, Point]
    view: str


class LagCompensation(ABC):
    """The interface of methods that find where players were when a shooter saw them."""

    def __init__(self, history: PoseHistory, step: float) -> None:
        self._history = history
        self._step = step

    def capture_positions(self, now: float, positions: Mapping[int, Point]) -> None:
        """Store the positions of all players at a network tick, for a method that uses captures.

        This base class stores nothing: its history has the positions already.
        """
        del now, positions

    @abstractmethod
    def rewind(self, shooter: Shooter, present: Mapping[int, Point]) -> Rewound:
        """Return the other players' rewound positions, given their current ones."""


class ViewCompensation(LagCompensation):
    """Lag compensation that puts each player exactly where the shooter's screen showed him.

    Within the history it believes whatever the client says: a cheat may choose the best moment of
    the last second, and no strategy, jitter or clock makes an honest shot miss.
    """

    def rewind(self, shooter: Shooter, present: Mapping[int, Point]) -> Rewound:
        """Rewind each player to the shooter's view of him.

        A player without a view cannot be hit.
        """
        positions, known, exact = {}, True, True
        for player, view in shooter.views.items():
            if player not in present:
                continue
            position = shooter.sent.find_position(player, view, convert_to_us(shooter.now))
            known &= position is not None
            exact &= view.exact
            positions[player] = present[player] if position is None else position
        if not shooter.views:
            return Rewound({}, "none")
        if not known:
            return Rewound(positions, "beyond the history")
        return Rewound(positions, "exact" if exact else "nearest")


#: The number of stored captures, and the seconds between two of them.
HISTORY_LIMIT = 6
CAPTURE_INTERVAL = 0.1


class MirrorCompensation(LagCompensation):
    """Lag compensation that rewinds by half a round trip and the client's buffer time.

    Captures are taken every 0.1 s, and the newest six are stored, so that it goes back half a
    second. Between two captures it interpolates, and up to one interval past the newest it
    extrapolates.

    Source: Mirror (https://github.com/MirrorNetworking/Mirror, MIT),
    Assets/Mirror/Core/LagCompensation/LagCompensation.cs.
    """

    def __init__(self, history: PoseHistory, step: float) -> None:
        super().__init__(history, step)
        self._captures: deque[tuple[float, dict[int, Point]]] = deque(maxlen=HISTORY_LIMIT)

    def capture_positions(self, now: float, positions: Mapping[int, Point]) -> None:
        """Store a capture if one is due."""
        # a due tick must not be missed because its seconds were rounded
        if not self._captures or now >= self._captures[-1][0] + CAPTURE_INTERVAL - 1e-9:
            self._captures.append((now, dict(positions)))

    def rewind(self, shooter: Shooter, present: Mapping[int, Point]) -> Rewound:
        """Rewind all players to the same estimated time."""
        time = estimate_time(shooter.now, shooter.round_trip, shooter.view_delay)
        found = find_captures([time for time, _ in self._captures], time, CAPTURE_INTERVAL)
        if found is None:
            return Rewound(dict(present), "beyond the history")
        before, after = (self._captures[index][1] for index in found[:2])
        positions = {
            player: interpolate_points(before[player], after[player], found[2])
            for player in present
        }
        return Rewound(positions, "estimated")


def estimate_time(server_time: float, round_trip: float, buffer_time: float) -> float:
    """Return the server's time (s) of the state that the client saw.

    That is server_time - round_trip / 2 - buffer_time.
    """
    return server_time - round_trip / 2 - buffer_time


def find_captures(
    times: Sequence[float], time: float, interval: float
) -> tuple[int, int, float] | None:
    """Return the indices of the two captures around a time, and the fraction between them.

    ``times`` are those of the captures, oldest first. Past the newest, by at most ``interval``, the
    last two are extrapolated: to a fraction of 1 to 2. None: the time is older than all captures or
    too new, or there are fewer than two captures.
    """
    if len(times) < 2 or not times[0] <= time <= times[-1] + interval:
        return None
    for index, captured in enumerate(times):
        if captured == time:
            return (index, index, 0.0)
        if captured > time:
            return (index - 1, index, (time - times[index - 1]) / (captured - times[index - 1]))
    return (len(times) - 2, len(times) - 1, 1 + (time - times[-1]) / interval)


#: Seconds by which a client's tick may differ from the expected one.
LARGEST_DIFFERENCE = 0.2

#: sv_lagcompensation_teleport_dist, 64 units where a player is 32 wide, in this game's units.
TELEPORT_DISTANCE = 2.4


class SourceCompensation(LagCompensation):
    """Lag compensation to the client's tick minus its interpolation, if the latency agrees.

    The client's tick is believed within 0.2 s of the measured latency plus the client's
    interpolation; otherwise these two give the time. No shot goes back further than ``--history``,
    which is sv_maxunlag. A player who moved further than a teleport between two records is not
    moved back.

    Source: Valve, "Source Multiplayer Networking" (Developer Community), and the Source SDK's
    player_lagcompensation.cpp; formulas only.
    """

    def rewind(self, shooter: Shooter, present: Mapping[int, Point]) -> Rewound:
        """Rewind all players to the same tick."""
        server_tick = _convert_to_ticks(shooter.now, self._step)
        lerp_ticks = _convert_to_ticks(shooter.view_delay, self._step)
        seen = [
            time
            for view in shooter.views.values()
            if (time := self._history.find_time(view)) is not None
        ]
        # a client reports one tick for all players
        command_tick = (_convert_to_ticks(seen[0], self._step) if seen else 0) + lerp_ticks
        target_tick, is_fallback = find_target_tick(
            server_tick,
            command_tick,
            shooter.view_delay,
            shooter.round_trip / 2,
            self._step,
            self._history.length,
        )
        target = target_tick * self._step
        positions = {}
        for player, current in present.items():
            position = find_past_position(self._history.list_records(player), current, target)
            positions[player] = current if position is None else position
        return Rewound(positions, "estimated" if is_fallback else "claimed")


def _convert_to_ticks(seconds: float, interval: float) -> int:
    return int(0.5 + seconds / interval)


def find_target_tick(
    server_tick: int,
    command_tick: int,
    lerp: float,
    latency: float,
    interval: float,
    longest: float,
) -> tuple[int, bool]:
    """Return the tick to which a command is rewound, and True if the client was not believed.

        correct = latency + lerp, 0 to ``longest`` (sv_maxunlag)
        target  = command_tick - lerp, unless that is more than 0.2 s from server_tick - correct

    ``lerp``, ``latency``, ``longest`` and the ticks' ``interval`` are in seconds.
    """
    lerp_ticks = _convert_to_ticks(lerp, interval)
    correct = min(max(latency + lerp_ticks * interval, 0.0), longest)
    target = command_tick - lerp_ticks
    if abs(correct - (server_tick - target) * interval) > LARGEST_DIFFERENCE:
        return server_tick - _convert_to_ticks(correct, interval), True
    return target, False


def find_past_position(
    records: Sequence[tuple[float, Point]],
    current: Point,
    target: float,
    teleport: float = TELEPORT_DISTANCE,
) -> Point | None:
    """Return a player's position at a time from his records (time, position), newest first.

    Between two records the position is interpolated; before the oldest it is that record's. None:
    there is no record, or he moved further than ``teleport`` from one record to the next on the
    way.
    """
    place, newer = None, None
    before = current
    for record in records:
        if measure_distance(record[1], before) > teleport:
            return None
        time, place = record
        if time <= target:
            break
        newer, before = record, place
    if place is None or newer is None or time >= target:
        return place
    return interpolate_points(place, newer[1], (target - time) / (newer[0] - time))


#: The methods by name; each is made with the server's history and the step, in seconds.
COMPENSATIONS: dict[str, Callable[[PoseHistory, float], LagCompensation]] = {
    "view": ViewCompensation,
    "mirror": MirrorCompensation,
    "source": SourceCompensation,
}


class Judgement(NamedTuple):
    """The judgement of a shot, with rewind and without.

    ``rewound`` and ``present`` are the players it hits with and without rewind. ``seen`` is where
    the victim with rewind was on the shooter's screen, ``moved`` the distance that he has moved
    since, and ``behind_cover`` whether a wall now stands between the two.
    """

    rewound: int | None
    present: int | None
    seen: Point | None
    moved: float
    behind_cover: bool


def judge(
    arena: Arena,
    origin: Point,
    aim: Point,
    present: Mapping[int, Point],
    rewound: Mapping[int, Point],
) -> Judgement:
    """Cast a ray at the rewound positions of the players, and at their current positions.

    A player who is missing from ``rewound`` was not on the shooter's screen: he cannot be hit with
    rewind, unless all are missing.
    """
    with_rewind = find_first_hit(arena, origin, aim, rewound or present)
    without = find_first_hit(arena, origin, aim, present)
    seen, moved, behind_cover = None, 0.0, False
    if with_rewind is not None and with_rewind in rewound:
        seen = rewound[with_rewind]
        moved = measure_distance(seen, present[with_rewind])
        behind_cover = not is_visible(arena, origin, present[with_rewind])
    return Judgement(with_rewind, without, seen, moved, behind_cover)


class Weapons:
    """The weapons on the server, which judge shots, move projectiles and store verdicts.

    ``on_hit`` is called with the shooter and the victim, ``report`` with the name of an event, the
    player who caused it, and its details.
    """

    def __init__(
        self,
        rules: Rules,
        compensation: LagCompensation,
        on_hit: Callable[[int, int], None],
        report: Callable[[str, int, dict[str, Value]], None],
        rewind: bool,
    ) -> None:
        self.compensation = compensation
        self.rewind = rewind
        self.projectiles: list[Projectile] = []
        self._rules = rules
        self._on_hit = on_hit
        self._report = report
        self._verdicts: dict[int, deque[Verdict]] = {}
        self._numbers = 0

    def list_verdicts(self, player: int) -> list[Verdict]:
        """Return the newest verdicts on a player's triggers.

        Each verdict is sent many times, since some packets get lost.
        """
        return list(self._verdicts.get(player, ()))

    def fire_weapon(
        self,
        player: int,
        move: Move,
        result: MoveResult,
        present: dict[int, Point],
        shooter: Shooter,
    ) -> None:
        """Fire the weapon of a move; ``present`` has the other players' current positions."""
        if result.refused:
            self._refuse_trigger(player, move, result.refused, result.refused)
        elif result.weapon == Weapon.SHOT:
            self._fire_shot(player, move, result.body, present, shooter)
        elif result.weapon == Weapon.THROW:
            self._throw_ball(player, move, result.body)

    def _fire_shot(
        self, player: int, move: Move, body: Body, present: dict[int, Point], shooter: Shooter
    ) -> None:
        rewound = self.compensation.rewind(shooter, present)
        judgement = judge(
            self._rules.arena, body.position, move.control.aim, present, rewound.positions
        )
        hit = judgement.rewound if self.rewind else judgement.present
        self._add_verdict(player, move.timestamp_us, "missed" if hit is None else "hit", hit)
        details: dict[str, Value] = {
            "stamp": convert_to_seconds(move.timestamp_us),
            "hit": hit is not None,
            "rewound": judgement.rewound is not None,
            "present": judgement.present is not None,
            "moved": judgement.moved,
            "behind_cover": self.rewind and judgement.behind_cover,
            "view": rewound.view,
            "x": body.x,
            "y": body.y,
            "aim_x": move.control.aim[0],
            "aim_y": move.control.aim[1],
        }
        if judgement.seen is not None:
            details["seen_x"], details["seen_y"] = judgement.seen
        self._report("shot", player, details)
        if hit is not None:
            self._on_hit(player, hit)

    def _throw_ball(self, player: int, move: Move, body: Body) -> None:
        if len(self.projectiles) >= MOST_PROJECTILES:
            self._refuse_trigger(player, move, "reloading", "too many in the air")
            return
        self._numbers += 1
        vx, vy = (THROW_SPEED * part for part in move.control.aim)
        self.projectiles.append(Projectile(self._numbers, player, body.x, body.y, vx, vy))
        self._add_verdict(player, move.timestamp_us, "thrown", None)
        self._report(
            "thrown",
            player,
            {"stamp": convert_to_seconds(move.timestamp_us), "projectile": self._numbers},
        )

    def move_projectiles(self, seconds: float, present: dict[int, Point]) -> None:
        """Move each projectile until it meets a player or a wall."""
        flying = []
        for projectile in self.projectiles:
            reach = THROW_SPEED * seconds
            origin, aim = (
                (projectile.x, projectile.y),
                (projectile.vx / THROW_SPEED, projectile.vy / THROW_SPEED),
            )
            others = {
                player: position
                for player, position in present.items()
                if player != projectile.owner
            }
            hit = find_first_hit(self._rules.arena, origin, aim, others, reach)
            if hit is not None:
                self._report(
                    "throw hit", projectile.owner, {"projectile": projectile.number, "victim": hit}
                )
                self._on_hit(projectile.owner, hit)
            elif measure_ray_to_wall(self._rules.arena, origin, aim) <= reach:
                self._report("throw ended", projectile.owner, {"projectile": projectile.number})
            else:
                flying.append(
                    projectile._replace(
                        x=projectile.x + projectile.vx * seconds,
                        y=projectile.y + projectile.vy * seconds,
                    )
                )
        self.projectiles = flying

    def _refuse_trigger(self, player: int, move: Move, verdict: str, reason: str) -> None:
        self._add_verdict(player, move.timestamp_us, verdict, None)
        details: dict[str, Value] = {
            "stamp": convert_to_seconds(move.timestamp_us),
            "reason": reason,
        }
        self._report("refused", player, details)

    def _add_verdict(
        self, player: int, timestamp_us: int, verdict: str, target: int | None
    ) -> None:
        kept = self._verdicts.setdefault(player, deque(maxlen=MOST_VERDICTS))
        kept.append(Verdict(timestamp_us, VERDICTS.index(verdict), target))


class Connection:
    """The server's record of one client.

    ``time_us`` is the time up to which its moves have been simulated, on the server's clock: it
    starts when the first move arrives and advances by the duration of each move. ``states`` and
    ``bits`` count the states of others that it was sent, ``bytes`` everything, headers of IPv4 and
    UDP included.
    """

    def __init__(self, player: int, token: int, body: Body, sent: SentPoses) -> None:
        self.player = player
        self.sent = sent
        self.sender: Sender  # the server gives it one
        self.states = self.bits = self.bytes = 0
        self.token = token
        self.body = body
        self.score = 0
        self.time_us: int | None = None
        self.waiting = MoveList()
        self.processed_us: int | None = None
        self.refused: Counter[str] = Counter()
        self.arrivals: dict[int, int] = {}  # of the waiting moves, by timestamp
        self.processed_arrival_us = 0
        self.fresh = False  # there is a timestamp that has not been echoed
        self.last_arrival_us = 0
        self.round_trip = RoundTrip()
        self._measured = -1  # the newest snapshot whose round trip is known

    def measure_behind_us(self, now_us: int) -> int:
        """Return how far (us) the client's moves are behind the server's time."""
        return 0 if self.time_us is None else max(now_us - self.time_us, 0)

    def measure_round_trip(self, snapshot: int, measured: float, now: float) -> None:
        """Take a round trip measured by a snapshot that the client has; each counts once.

        Seconds.
        """
        if snapshot > self._measured:
            self._measured = snapshot
            self.round_trip.add(max(measured, 0.0), now)


#: A longer move (of a machine that hung) is cut to this.
LONGEST_MOVE_US = 250_000

#: The most that a client's time may fall behind; the rest is lost.
FARTHEST_BEHIND_US = 500_000

#: The most by which a client's timestamps may gain on the server's clock.
FARTHEST_AHEAD_US = 1_000_000

#: The number of moves that may wait for their time; more are refused.
MOST_WAITING = 64


def make_sender_to_client(
    send: SenderSpec | None = None, reach: float = 0.0, judged: StrategySpec | None = None
) -> Sender:
    """Make the sender of other players' states to a client; entities are the players' numbers."""
    return Sender(send, reach, judged, map(str, range(MOST_PLAYERS)), messages=True)


def make_state(body: Body) -> State:
    """Convert a body to the state that a sender takes."""
    return State((body.x, body.y, 0.0), (body.vx, body.vy, 0.0), 0, body.rotation)


class Server:
    """The server, which applies each client's moves on arrival and sends states at a send rate.

    A client's time never passes the next network tick: moves beyond it wait, so sending them faster
    gains nothing. Times are on the server's clock. ``view_delay`` returns how far in the past
    (seconds) clients are set to draw each other. ``report`` is called with the name of an event,
    the player who caused it, and its details; ``on_move`` after each move with the player, the
    move's timestamp and the resulting body.

    Source: "Multiplayer Platformer Log #5 - Entity Interpolation", Server Update Loop.
    """

    def __init__(
        self,
        rules: Rules,
        tokens: list[int],
        spawns: list[Point],
        *,
        history: float = DEFAULT_HISTORY,
        rewind: bool = True,
        lag_compensation: str = "view",
        view_delay: Callable[[], float] = lambda: 0.0,
        make_sender: Callable[[], Sender] = make_sender_to_client,
        report: Callable[[str, int, dict[str, Value]], None] = lambda *_: None,
    ) -> None:
        self.rules = rules
        self.connections = [
            Connection(player, token, Body(*spawn), SentPoses(history))
            for player, (token, spawn) in enumerate(zip(tokens, spawns, strict=True))
        ]
        self.history = PoseHistory(history)
        compensation = self._make_compensation(lag_compensation)
        self.weapons = Weapons(rules, compensation, self._register_hit, report, rewind)
        self._view_delay = view_delay
        self.on_move: Callable[[int, int, Body], None] = lambda *_: None
        self.refused: Counter[str] = Counter()  # packets of unknown senders, by reason
        self.snapshot = 0  # the number of the next one
        self.next_tick_us = 0
        self._last_tick_us = 0
        self._by_token = {connection.token: connection for connection in self.connections}
        self._report = report
        self._states: list[tuple[str, State]] = []  # of all players, at this tick
        self._behind: dict[int, dict[int, int]] = {}  # how far moves were, by snapshot and player
        self.epoch = -1
        self.change_sender(make_sender)

    def change_sender(self, make_sender: Callable[[], Sender]) -> None:
        """Replace the senders of other players' states; clients notice by the ``epoch``."""
        self.epoch = (self.epoch + 1) % 256
        for connection in self.connections:
            connection.sender = make_sender()

    def change_compensation(self, name: str) -> None:
        """Judge shots by another lag compensation from now on."""
        self.weapons.compensation = self._make_compensation(name)

    def _make_compensation(self, name: str) -> LagCompensation:
        return COMPENSATIONS[name](self.history, self.rules.step)

    def get_body(self, player: int) -> Body:
        """Return a player's body as it is now."""
        return self.connections[player].body

    def list_positions(self) -> dict[int, Point]:
        """Return the present positions of all players."""
        return {connection.player: connection.body.position for connection in self.connections}

    def receive(self, data: bytes, now_us: int) -> None:
        """Take a datagram received now; count a malformed one by its reason."""
        try:
            packet = decode_input(data)
        except Malformed:
            self.refused["malformed"] += 1
            return
        connection = self._by_token.get(packet.token)
        if connection is None:
            self.refused["forged"] += 1
            return
        wrong = self._find_refusal_reason(connection, packet, now_us)
        if wrong:
            connection.refused[wrong] += 1
            return
        connection.last_arrival_us = now_us
        sent_us = None if packet.heard is None else self.history.find_sent_us(packet.heard)
        if packet.heard is not None and sent_us is not None:
            round_trip = convert_to_seconds(now_us - sent_us - packet.held_us)
            connection.measure_round_trip(packet.heard, round_trip, convert_to_seconds(now_us))
        if packet.heard is not None:
            connection.sender.acknowledge(packet.heard)
        for move in packet.moves:
            self._queue_move(connection, move, now_us)
        self._simulate_waiting_moves(connection, now_us)

    def _find_refusal_reason(self, connection: Connection, packet: InputPacket, now_us: int) -> str:
        """Return the reason why a packet is refused; empty if it is not.

        A packet older than the newest may still bring a lost move.
        """
        last_us = connection.waiting.last_timestamp_us
        newest_us = packet.moves[-1].timestamp_us
        passed_us = now_us - connection.last_arrival_us
        if last_us is not None and newest_us <= last_us:
            return "repeated"
        if last_us is not None and newest_us - last_us > passed_us + FARTHEST_AHEAD_US:
            return "from the future"
        for move in packet.moves:
            for player, view in move.views:
                if view.newer >= self.snapshot:
                    return "from the future"
                if player == connection.player or player >= len(self.connections):
                    return "forged"
        if len(connection.waiting) >= MOST_WAITING:
            return "too fast"
        return ""

    def _queue_move(self, connection: Connection, move: Move, now_us: int) -> None:
        if connection.time_us is None:
            connection.time_us = now_us
        added = connection.waiting.add_move_if_new(
            move.control, move.timestamp_us, move.views, LONGEST_MOVE_US
        )
        if added:
            connection.arrivals[move.timestamp_us] = now_us

    def _simulate_waiting_moves(self, connection: Connection, now_us: int) -> None:
        """Simulate the waiting moves that end by the next network tick."""
        if connection.time_us is None:
            return
        connection.time_us = max(connection.time_us, now_us - FARTHEST_BEHIND_US)
        while move := connection.waiting.get_first():
            if connection.time_us + move.duration_us > self.next_tick_us:
                return
            connection.waiting.take_first()
            connection.time_us += move.duration_us
            connection.processed_us = move.timestamp_us
            connection.processed_arrival_us = connection.arrivals.pop(move.timestamp_us)
            connection.fresh = True
            self._simulate_move(connection, move, now_us)
            self.on_move(connection.player, move.timestamp_us, connection.body)

    def _simulate_move(self, connection: Connection, move: Move, now_us: int) -> None:
        others = {each.player: each.body for each in self.connections if each is not connection}
        result = self.rules.simulate(connection.body, move.control, move.duration_us, others)
        connection.body = result.body
        for player, (dvx, dvy) in result.knocks.items():
            other = self.connections[player]
            body = other.body
            other.body = body._replace(vx=body.vx + dvx, vy=body.vy + dvy)
            details: dict[str, Value] = {"other": player, "x": result.body.x, "y": result.body.y}
            self._report("bump", connection.player, details)
        present = {player: body.position for player, body in others.items()}
        shooter = Shooter(
            convert_to_seconds(now_us),
            connection.round_trip.estimate,
            self._view_delay(),
            dict(move.views),
            connection.sent,
        )
        self.weapons.fire_weapon(connection.player, move, result, present, shooter)

    def _register_hit(self, shooter: int, victim: int) -> None:
        self.connections[shooter].score += 1
        other = self.connections[victim]
        other.body = other.body._replace(stun_us=STUN_US)

    def tick(self, now_us: int, next_tick_us: int) -> dict[int, bytes]:
        """Run a network tick: waiting moves, projectiles, then the state packet for each client."""
        self.next_tick_us = now_us
        for connection in self.connections:
            self._simulate_waiting_moves(connection, now_us)
        self.weapons.move_projectiles(
            convert_to_seconds(now_us - self._last_tick_us), self.list_positions()
        )
        self.history.add(self.snapshot, now_us, self.list_positions())
        self.weapons.compensation.capture_positions(
            convert_to_seconds(now_us), self.list_positions()
        )
        self._states = [(str(each.player), make_state(each.body)) for each in self.connections]
        self._behind[self.snapshot] = {
            each.player: each.measure_behind_us(now_us) for each in self.connections
        }
        self._behind.pop(self.snapshot - FARTHEST_BASE - 1, None)  # no sender repeats older ones
        packets = {
            connection.player: encode_state(self._make_packet(connection, now_us))
            for connection in self.connections
        }
        for connection in self.connections:
            connection.bytes += len(packets[connection.player]) + HEADERS
        self.snapshot += 1
        self._last_tick_us = now_us
        self.next_tick_us = next_tick_us
        for connection in self.connections:
            self._simulate_waiting_moves(connection, now_us)
        return packets

    def _make_packet(self, connection: Connection, now_us: int) -> StatePacket:
        fresh, connection.fresh = connection.fresh, False
        return StatePacket(
            connection.token,
            self.snapshot,
            now_us,
            connection.processed_us,
            fresh,
            now_us - connection.processed_arrival_us if fresh else 0,
            connection.body,
            self.epoch,
            *self._encode_others(connection, now_us),
            self.weapons.projectiles,
            self.weapons.list_verdicts(connection.player),
        )

    def _encode_others(
        self, connection: Connection, now_us: int
    ) -> tuple[bytes, dict[tuple[int, int], int]]:
        """Return a client's message of the other players' states, and the ages of these states.

        Empty: no state is due.
        """
        sender = connection.sender
        sender.number = self.snapshot
        states = [each for number, each in enumerate(self._states) if number != connection.player]
        found = sender.make_datagrams(Snapshot(convert_to_seconds(now_us), states))
        if not found:
            connection.sent.add(self.snapshot, now_us, {})
            return b"", {}
        (datagram,) = found  # as many players as there can be fit
        changes = datagram.moments[0].changes
        places = {each.entity: decode_pose(sender.encoding, each.state)[0] for each in changes}
        connection.sent.add(
            self.snapshot, now_us, {key: (x, y) for key, (x, y, _) in places.items()}
        )
        connection.states += len(changes)
        connection.bits += sum(datagram.bits)
        deltas = {
            (moment.number, change.entity): self._behind[moment.number][change.entity]
            for moment in datagram.moments
            for change in moment.changes
        }
        return sender.encode_message(datagram), deltas
