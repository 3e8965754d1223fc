"""The server: the only one whose simulation matters."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from epic_cli.play.arena import Point
from epic_cli.play.events import Value
from epic_cli.play.moves import Move, MoveList
from epic_cli.play.rewind import DEFAULT_HISTORY, PoseHistory
from epic_cli.play.shooting import Armoury
from epic_cli.play.wire import (
    InputPacket,
    Malformed,
    PlayerState,
    StatePacket,
    decode_input,
    encode_state,
)
from epic_cli.play.world import STUN, Body, Rules

#: Microseconds. A move that lasts longer (a machine that hung) is cut to this.
LONGEST_MOVE = 250_000

#: How far a client's time may fall behind before the rest is lost to it.
FARTHEST_BEHIND = 500_000

#: How far ahead of the time that has passed here stamps may be before they are not believed.
FARTHEST_AHEAD = 1_000_000

#: So many moves wait for their time to come; more are refused.
MOST_WAITING = 64


class Connection:
    """What the server knows of one client.

    ``time`` is how far its moves have been simulated, on the server's clock: it starts when the
    first move comes in and goes on by the duration of each move.
    """

    def __init__(self, player: int, token: int, body: Body) -> None:
        self.player = player
        self.token = token
        self.body = body
        self.score = 0
        self.time: int | None = None
        self.waiting = MoveList()
        self.processed: int | None = None
        self.refused: Counter[str] = Counter()
        self.arrivals: dict[int, int] = {}  # of the waiting moves, by stamp
        self.processed_arrival = 0
        self.fresh = False  # there is a stamp that has not been echoed
        self.last_heard = 0


class Server:
    """Applies each client's moves as they come, and sends everybody the state at a send rate.

    A client's time never passes the next network tick: moves beyond it wait, so sending them
    faster gains nothing. Times are microseconds on the server's clock. ``tell`` is called with
    what happened, to whom, and its details.

    Source: "Multiplayer Platformer Log #5 - Entity Interpolation", Server Update Loop.
    """

    def __init__(
        self,
        rules: Rules,
        tokens: list[int],
        spawns: list[Point],
        *,
        send_rate: float = 20.0,
        history: float = DEFAULT_HISTORY,
        rewind: bool = True,
        tell: Callable[[str, int, dict[str, Value]], None] = lambda *_: None,
    ) -> None:
        self.rules = rules
        self.connections = [
            Connection(player, token, Body(*spawn))
            for player, (token, spawn) in enumerate(zip(tokens, spawns, strict=True))
        ]
        self.history = PoseHistory(history)
        self.armoury = Armoury(rules, self.history, self._hit, tell, rewind)
        self.refused: Counter[str] = Counter()  # packets of which nobody knows whose they are
        self.send_rate = send_rate
        self.snapshot = 0  # the number of the next one
        self.next_tick = 0
        self._last_tick = 0
        self._by_token = {one.token: one for one in self.connections}
        self._tell = tell

    def body(self, player: int) -> Body:
        """A player's body, as it is now."""
        return self.connections[player].body

    def places(self) -> dict[int, Point]:
        """Where everybody is now."""
        return {one.player: one.body.place for one in self.connections}

    def receive(self, data: bytes, now: int) -> None:
        """Takes a datagram that came in at ``now``; whatever is wrong with it is counted."""
        try:
            packet = decode_input(data)
        except Malformed:
            self.refused["malformed"] += 1
            return
        connection = self._by_token.get(packet.token)
        if connection is None:
            self.refused["forged"] += 1
            return
        wrong = self._find_wrong(connection, packet, now)
        if wrong:
            connection.refused[wrong] += 1
            return
        connection.last_heard = now
        for move in packet.moves:
            self._take(connection, move, now)
        self._apply(connection, now)

    def _find_wrong(self, connection: Connection, packet: InputPacket, now: int) -> str:
        """Why a packet is not to be believed; an older one may still bring a lost move."""
        last = connection.waiting.last_stamp
        newest = packet.moves[-1].stamp
        if last is not None and newest <= last:
            return "repeated"
        if last is not None and newest - last > now - connection.last_heard + FARTHEST_AHEAD:
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

    def _take(self, connection: Connection, move: Move, now: int) -> None:
        if connection.time is None:
            connection.time = now
        added = connection.waiting.add_move_if_new(
            move.control, move.stamp, move.views, LONGEST_MOVE
        )
        if added:
            connection.arrivals[move.stamp] = now

    def _apply(self, connection: Connection, now: int) -> None:
        """Simulates the moves that wait, as far as the client's time may go."""
        if connection.time is None:
            return
        connection.time = max(connection.time, now - FARTHEST_BEHIND)
        while move := connection.waiting.first():
            if connection.time + move.duration > self.next_tick:
                return
            connection.waiting.take_first()
            connection.time += move.duration
            connection.processed = move.stamp
            connection.processed_arrival = connection.arrivals.pop(move.stamp)
            connection.fresh = True
            self._simulate(connection, move)

    def _simulate(self, connection: Connection, move: Move) -> None:
        others = {one.player: one.body for one in self.connections if one is not connection}
        stepped = self.rules.simulate(connection.body, move.control, move.duration, others)
        connection.body = stepped.body
        for player, (dvx, dvy) in stepped.knocks.items():
            other = self.connections[player]
            body = other.body
            other.body = body._replace(vx=body.vx + dvx, vy=body.vy + dvy)
            details: dict[str, Value] = {"other": player, "x": stepped.body.x, "y": stepped.body.y}
            self._tell("bump", connection.player, details)
        present = {player: body.place for player, body in others.items()}
        self.armoury.trigger(connection.player, move, stepped, present)

    def _hit(self, shooter: int, victim: int) -> None:
        self.connections[shooter].score = min(self.connections[shooter].score + 1, 65535)
        other = self.connections[victim]
        other.body = other.body._replace(stun=STUN)

    def tick(self, now: int, next_tick: int) -> dict[int, bytes]:
        """A network tick: moves that waited for it, projectiles, then the state for each client."""
        self.next_tick = now
        for connection in self.connections:
            self._apply(connection, now)
        self.armoury.fly((now - self._last_tick) / 1_000_000, self.places())
        self.history.add(self.snapshot, now, self.places())
        players = [self._state(one, now) for one in self.connections]
        packets = {one.player: encode_state(self._packet(one, now, players))
                   for one in self.connections}  # fmt: skip
        self.snapshot += 1
        self._last_tick = now
        self.next_tick = next_tick
        for connection in self.connections:
            self._apply(connection, now)
        return packets

    def _state(self, connection: Connection, now: int) -> PlayerState:
        delta = 0 if connection.time is None else max(now - connection.time, 0)
        return PlayerState(connection.player, connection.body, delta, connection.score)

    def _packet(self, connection: Connection, now: int, players: list[PlayerState]) -> StatePacket:
        fresh, connection.fresh = connection.fresh, False
        return StatePacket(
            connection.token,
            self.snapshot,
            now,
            connection.processed,
            fresh,
            now - connection.processed_arrival if fresh else 0,
            players,
            self.armoury.projectiles,
            self.armoury.verdicts(connection.player),
        )
