"""The server: the only machine whose simulation counts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from epic_cli.play.server.compensation import (
    COMPENSATIONS,
    DEFAULT_HISTORY,
    LagCompensation,
    PoseHistory,
    Shooter,
)
from epic_cli.play.server.weapons import Weapons
from epic_cli.play.wire import (
    InputPacket,
    Malformed,
    PlayerState,
    StatePacket,
    decode_input,
    encode_state,
)
from epic_cli.play.world.arena import Point
from epic_cli.play.world.moves import Move, MoveList, Value
from epic_cli.play.world.rules import STUN_US, Body, Rules
from epic_cli.play.world.times import RoundTrip, to_seconds


class Connection:
    """What the server knows of one client.

    ``time_us`` is how far its moves have been simulated, on the server's clock: it starts when
    the first move comes in and advances by the duration of each move.
    """

    def __init__(self, player: int, token: int, body: Body) -> None:
        self.player = player
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

    def measure_round_trip(self, snapshot: int, measured: float, now: float) -> None:
        """The client has heard of this snapshot; each counts once. Times in seconds."""
        if snapshot > self._measured:
            self._measured = snapshot
            self.round_trip.add(max(measured, 0.0), now)


#: A move that lasts longer (a machine that hung) is cut to this.
LONGEST_MOVE_US = 250_000

#: How far a client's time may fall behind before it loses the rest.
FARTHEST_BEHIND_US = 500_000

#: How far timestamps may run ahead of the time that has passed here before they are not believed.
FARTHEST_AHEAD_US = 1_000_000

#: This many moves may wait for their time to come; more are refused.
MOST_WAITING = 64


class Server:
    """Applies each client's moves as they come, and sends everybody the state at a send rate.

    A client's time never passes the next network tick: moves beyond it wait, so sending them
    faster gains nothing. Times are on the server's clock. ``view_delay`` says how far in the past
    (seconds) clients are set to draw each other. ``report`` is called with what happened, whose
    doing it was, and the details.

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
        report: Callable[[str, int, dict[str, Value]], None] = lambda *_: None,
    ) -> None:
        self.rules = rules
        self.connections = [
            Connection(player, token, Body(*spawn))
            for player, (token, spawn) in enumerate(zip(tokens, spawns, strict=True))
        ]
        self.history = PoseHistory(history)
        compensation = self._make_compensation(lag_compensation)
        self.weapons = Weapons(rules, compensation, self._hit, report, rewind)
        self._view_delay = view_delay
        self.refused: Counter[str] = Counter()  # packets of which nobody knows whose they are
        self.snapshot = 0  # the number of the next one
        self.next_tick_us = 0
        self._last_tick_us = 0
        self._by_token = {one.token: one for one in self.connections}
        self._report = report

    def change_compensation(self, name: str) -> None:
        """Judges shots another way from now on."""
        self.weapons.compensation = self._make_compensation(name)

    def _make_compensation(self, name: str) -> LagCompensation:
        return COMPENSATIONS[name](self.history, self.rules.step)

    def body(self, player: int) -> Body:
        """A player's body, as it is now."""
        return self.connections[player].body

    def positions(self) -> dict[int, Point]:
        """Where everybody is now."""
        return {one.player: one.body.position for one in self.connections}

    def receive(self, data: bytes, now_us: int) -> None:
        """Takes a datagram that came in now; whatever is wrong with it is counted."""
        try:
            packet = decode_input(data)
        except Malformed:
            self.refused["malformed"] += 1
            return
        connection = self._by_token.get(packet.token)
        if connection is None:
            self.refused["forged"] += 1
            return
        wrong = self._find_wrong(connection, packet, now_us)
        if wrong:
            connection.refused[wrong] += 1
            return
        connection.last_arrival_us = now_us
        sent_us = None if packet.heard is None else self.history.sent_us(packet.heard)
        if packet.heard is not None and sent_us is not None:
            round_trip = to_seconds(now_us - sent_us - packet.held_us)
            connection.measure_round_trip(packet.heard, round_trip, to_seconds(now_us))
        for move in packet.moves:
            self._take(connection, move, now_us)
        self._apply(connection, now_us)

    def _find_wrong(self, connection: Connection, packet: InputPacket, now_us: int) -> str:
        """Why a packet is not to be believed; an older one may still bring a lost move."""
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

    def _take(self, connection: Connection, move: Move, now_us: int) -> None:
        if connection.time_us is None:
            connection.time_us = now_us
        added = connection.waiting.add_move_if_new(
            move.control, move.timestamp_us, move.views, LONGEST_MOVE_US
        )
        if added:
            connection.arrivals[move.timestamp_us] = now_us

    def _apply(self, connection: Connection, now_us: int) -> None:
        """Simulates the moves that wait, as far as the client's time may go."""
        if connection.time_us is None:
            return
        connection.time_us = max(connection.time_us, now_us - FARTHEST_BEHIND_US)
        while move := connection.waiting.first():
            if connection.time_us + move.duration_us > self.next_tick_us:
                return
            connection.waiting.take_first()
            connection.time_us += move.duration_us
            connection.processed_us = move.timestamp_us
            connection.processed_arrival_us = connection.arrivals.pop(move.timestamp_us)
            connection.fresh = True
            self._simulate(connection, move, now_us)

    def _simulate(self, connection: Connection, move: Move, now_us: int) -> None:
        others = {one.player: one.body for one in self.connections if one is not connection}
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
            to_seconds(now_us), connection.round_trip.estimate, self._view_delay(), dict(move.views)
        )
        self.weapons.trigger(connection.player, move, result, present, shooter)

    def _hit(self, shooter: int, victim: int) -> None:
        self.connections[shooter].score = min(self.connections[shooter].score + 1, 65535)
        other = self.connections[victim]
        other.body = other.body._replace(stun_us=STUN_US)

    def tick(self, now_us: int, next_tick_us: int) -> dict[int, bytes]:
        """A network tick: moves that waited for it, projectiles, then the state for each client."""
        self.next_tick_us = now_us
        for connection in self.connections:
            self._apply(connection, now_us)
        self.weapons.fly(to_seconds(now_us - self._last_tick_us), self.positions())
        self.history.add(self.snapshot, now_us, self.positions())
        self.weapons.compensation.capture(to_seconds(now_us), self.positions())
        players = [self._state(one, now_us) for one in self.connections]
        packets = {one.player: encode_state(self._packet(one, now_us, players))
                   for one in self.connections}  # fmt: skip
        self.snapshot += 1
        self._last_tick_us = now_us
        self.next_tick_us = next_tick_us
        for connection in self.connections:
            self._apply(connection, now_us)
        return packets

    def _state(self, connection: Connection, now_us: int) -> PlayerState:
        delta_us = 0 if connection.time_us is None else max(now_us - connection.time_us, 0)
        return PlayerState(connection.player, connection.body, delta_us, connection.score)

    def _packet(
        self, connection: Connection, now_us: int, players: list[PlayerState]
    ) -> StatePacket:
        fresh, connection.fresh = connection.fresh, False
        return StatePacket(
            connection.token,
            self.snapshot,
            now_us,
            connection.processed_us,
            fresh,
            now_us - connection.processed_arrival_us if fresh else 0,
            players,
            self.weapons.projectiles,
            self.weapons.verdicts(connection.player),
        )
