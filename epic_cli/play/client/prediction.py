"""The local player on his own client: predicted at once, then reconciled with the server."""

from __future__ import annotations

from collections import deque
from typing import Literal

from epic_cli.play.world.arena import Point, distance
from epic_cli.play.world.moves import MOST_MOVES, Move, MoveList
from epic_cli.play.world.rules import Body, Control, MoveResult, Rules
from epic_cli.play.world.view import View

LocalMode = Literal["dumb-terminal", "predicted", "reconciled"]
LOCAL_MODES: tuple[LocalMode, ...] = ("dumb-terminal", "predicted", "reconciled")


class Correction:
    """A difference that is smoothed away: in equal steps over ``duration`` seconds.

    A new one is added to what is left of the old one, and the clock starts again. Source: Valve's
    Source SDK, cl_smooth and cl_smoothtime (formula only).
    """

    def __init__(self, duration: float) -> None:
        self.duration = duration
        self._offset: Point = (0.0, 0.0)
        self._started = 0.0

    def add(self, offset: Point, now: float) -> None:
        """Drawing goes on from here, which is ``offset`` away from the corrected position."""
        left = self.left(now)
        self._offset = (left[0] + offset[0], left[1] + offset[1])
        self._started = now

    def left(self, now: float) -> Point:
        """The offset that is drawn now."""
        age = now - self._started
        if not self.duration or age >= self.duration:
            return (0.0, 0.0)
        share = 1 - age / self.duration
        return (self._offset[0] * share, self._offset[1] * share)


class LocalPlayer:
    """One's own player, in one of three ways.

    ``dumb-terminal`` shows him where the server last said he was. ``predicted`` simulates each
    move at once, and never listens to the server. ``reconciled`` takes the server's state and
    replays on top of it the moves that it does not contain yet; unless something unexpected
    happened on the server, this gives the same bits as before.

    A correction is a change of position caused by that replay; a misprediction is a state of the
    server that differs from what was predicted for the same move.

    Source: Glazer and Madhav, Multiplayer Game Programming (2016), chapter 8, Client Move
    Prediction and Replay, listing 8.3.
    """

    def __init__(self, rules: Rules, body: Body, mode: LocalMode, smoothing: float) -> None:
        self.mode = mode
        self.moves = MoveList()
        self.predicted = body  # simulated here
        self.received = body  # the server's, as it came
        self.smoothed = Correction(smoothing)
        self.states = 0
        self.mispredictions = 0
        self.corrections = 0
        self.corrected = 0.0  # length units in all
        self.largest = 0.0
        self._rules = rules
        self._by_timestamp: deque[tuple[int, Body]] = deque(maxlen=MOST_MOVES)

    @property
    def body(self) -> Body:
        """The player as he is shown, apart from smoothing."""
        return self.received if self.mode == "dumb-terminal" else self.predicted

    def drawn(self, now: float) -> Point:
        """Where he is drawn at the client's time ``now`` (seconds)."""
        left = self.smoothed.left(now)
        return (self.body.x + left[0], self.body.y + left[1])

    def preview(self, control: Control, duration_us: int) -> Body:
        """Where a move would take him."""
        return self._rules.simulate(self.body, control, duration_us).body

    def act(
        self, control: Control, now_us: int, views: tuple[tuple[int, View], ...]
    ) -> tuple[Move, MoveResult] | None:
        """Makes a move and simulates it at once; None: the clock has not gone on."""
        move = self.moves.add_move_if_new(control, now_us, views)
        if move is None:
            return None
        result = self._rules.simulate(self.predicted, control, move.duration_us)
        self.predicted = result.body
        self._by_timestamp.append((now_us, result.body))
        return move, result

    def reconcile(self, body: Body, echo_us: int | None, now: float) -> float:
        """Takes the server's state, which contains the moves up to the timestamp ``echo_us``.

        Returns by how much this corrects the position (length units).
        """
        self.states += 1
        self.received = body
        if echo_us is not None:
            self.moves.remove_processed(echo_us)
            if self.mode != "dumb-terminal":
                self.mispredictions += self._differs(body, echo_us)
        return self._replay_moves(now) if self.mode == "reconciled" else 0.0

    def _differs(self, body: Body, echo_us: int) -> bool:
        while self._by_timestamp and self._by_timestamp[0][0] < echo_us:
            self._by_timestamp.popleft()
        if not self._by_timestamp or self._by_timestamp[0][0] != echo_us:
            return False
        return self._by_timestamp[0][1][:4] != body[:4]

    def _replay_moves(self, now: float) -> float:
        before = self.predicted
        body = self.received
        replayed = []
        for move in self.moves:
            body = self._rules.simulate(body, move.control, move.duration_us).body
            replayed.append((move.timestamp_us, body))
        self.predicted = body
        self._by_timestamp.clear()
        self._by_timestamp.extend(replayed)
        if body.position == before.position:
            return 0.0
        size = distance(body.position, before.position)
        self.corrections += 1
        self.corrected += size
        self.largest = max(self.largest, size)
        if self.smoothed.duration:
            self.smoothed.add((before.x - body.x, before.y - body.y), now)
        return size
