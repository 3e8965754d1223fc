"""The local player on his own client: predicted at once, then reconciled with the server."""

from __future__ import annotations

from collections import deque

from epic_cli.play.arena import Point, distance
from epic_cli.play.moves import MOST_MOVES, Move, MoveList
from epic_cli.play.settings import LocalMode
from epic_cli.play.view import View
from epic_cli.play.world import Body, Control, Rules, Stepped


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
        """What is drawn is to go on from here, that is ``offset`` away from the corrected place."""
        left = self.left(now)
        self._offset = (left[0] + offset[0], left[1] + offset[1])
        self._started = now

    def left(self, now: float) -> Point:
        """The offset that is drawn now."""
        age = now - self._started
        if age >= self.duration:
            return (0.0, 0.0)
        share = 1 - age / self.duration
        return (self._offset[0] * share, self._offset[1] * share)


class LocalPlayer:
    """One's own player, in one of three ways.

    ``dumb-terminal`` shows him where the server last said he was. ``predicted`` simulates each
    move at once, and never listens to the server. ``reconciled`` takes the server's state, and
    simulates on top of it the moves which are not in it yet; unless something unexpected happened
    there, this gives the same bits as before.

    A correction is a change of the position by that; a misprediction is a state of the server
    that differs from what was predicted for the same move.

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
        self._by_stamp: deque[tuple[int, Body]] = deque(maxlen=MOST_MOVES)

    @property
    def body(self) -> Body:
        """The player as he is shown, apart from smoothing."""
        return self.received if self.mode == "dumb-terminal" else self.predicted

    def drawn(self, now: float) -> Point:
        """Where he is drawn at the client's time ``now`` (seconds)."""
        left = self.smoothed.left(now)
        return (self.body.x + left[0], self.body.y + left[1])

    def preview(self, control: Control, duration: int) -> Body:
        """Where a move would get him."""
        return self._rules.simulate(self.body, control, duration).body

    def act(
        self, control: Control, stamp: int, views: tuple[tuple[int, View], ...]
    ) -> tuple[Move, Stepped] | None:
        """Makes a move and simulates it at once; None: the clock has not gone on."""
        move = self.moves.add_move_if_new(control, stamp, views)
        if move is None:
            return None
        stepped = self._rules.simulate(self.predicted, control, move.duration)
        self.predicted = stepped.body
        self._by_stamp.append((stamp, stepped.body))
        return move, stepped

    def hear(self, body: Body, echo: int | None, now: float) -> float:
        """Takes the server's state, which contains the moves up to ``echo``.

        Returns by how much this corrects the position.
        """
        self.states += 1
        self.received = body
        if echo is not None:
            self.moves.remove_processed(echo)
            if self.mode != "dumb-terminal":
                self.mispredictions += self._differs(body, echo)
        return self._reconcile(now) if self.mode == "reconciled" else 0.0

    def _differs(self, body: Body, echo: int) -> bool:
        while self._by_stamp and self._by_stamp[0][0] < echo:
            self._by_stamp.popleft()
        if not self._by_stamp or self._by_stamp[0][0] != echo:
            return False
        return self._by_stamp[0][1][:4] != body[:4]

    def _reconcile(self, now: float) -> float:
        before = self.predicted
        body = self.received
        replayed = []
        for move in self.moves:
            body = self._rules.simulate(body, move.control, move.duration).body
            replayed.append((move.stamp, body))
        self.predicted = body
        self._by_stamp.clear()
        self._by_stamp.extend(replayed)
        if body.place == before.place:
            return 0.0
        size = distance(body.place, before.place)
        self.corrections += 1
        self.corrected += size
        self.largest = max(self.largest, size)
        if self.smoothed.duration:
            self.smoothed.add((before.x - body.x, before.y - body.y), now)
        return size
