"""The local player on his own client: predicted, reconciled with the server, and smoothed."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Sequence
from itertools import pairwise
from operator import add, sub
from typing import Literal, NamedTuple

from epic_cli.engine.strategies.correct import Fading, VisualOffset
from epic_cli.play.world.arena import Point, distance
from epic_cli.play.world.moves import MOST_MOVES, Move, MoveList, View
from epic_cli.play.world.rules import Body, Control, MoveResult, Rules

LocalMode = Literal["dumb-terminal", "predicted", "reconciled", "corrected"]
LOCAL_MODES: tuple[LocalMode, ...] = ("dumb-terminal", "predicted", "reconciled", "corrected")

#: Length units; Mirror's PredictedRigidbody leaves smaller differences alone.
CORRECTION_THRESHOLD = 0.1


class LocalPlayer:
    """One's own player, in one of four ways.

    ``dumb-terminal`` shows him where the server last said he was. ``predicted`` simulates each
    move at once, and never listens to the server. ``reconciled`` takes the server's state and
    replays on top of it the moves that it does not contain yet; unless something unexpected
    happened on the server, this gives the same bits as before. ``corrected`` moves what it
    remembers by what it was wrong, and plays nothing again: quick, blind to walls, and content to
    be wrong by a tenth of a unit.

    A correction is a change of position caused by that; a misprediction is a state of the
    server that differs from what was predicted for the same move.

    Source: Glazer and Madhav, Multiplayer Game Programming (2016), chapter 8, Client Move
    Prediction and Replay, listing 8.3; for ``corrected``, Mirror's PredictedRigidbody.
    """

    def __init__(self, rules: Rules, body: Body, mode: LocalMode, smoothing: Smoothing) -> None:
        self.mode = mode
        self.moves = MoveList()
        self.predicted = body  # simulated here
        self.received = body  # the server's, as it came
        self.smoothed = smoothing.apply(VisualOffset())
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
        if self.mode == "reconciled":
            return self._replay_moves(now)
        if self.mode == "corrected" and echo_us is not None:
            return self._correct_history(echo_us, now)
        return 0.0

    def _differs(self, body: Body, echo_us: int) -> bool:
        while self._by_timestamp and self._by_timestamp[0][0] < echo_us:
            self._by_timestamp.popleft()
        if not self._by_timestamp or self._by_timestamp[0][0] != echo_us:
            return False
        return self._by_timestamp[0][1][:4] != body[:4]

    def _replay_moves(self, now: float) -> float:
        body = self.received
        replayed = []
        for move in self.moves:
            body = self._rules.simulate(body, move.control, move.duration_us).body
            replayed.append((move.timestamp_us, body))
        self._by_timestamp.clear()
        self._by_timestamp.extend(replayed)
        return self._go_on_from(body, now)

    def _correct_history(self, echo_us: int, now: float) -> float:
        known = list(self._by_timestamp)
        if not known or known[0][0] != echo_us:
            return 0.0
        wrong = distance(known[0][1].position, self.received.position)
        if wrong < CORRECTION_THRESHOLD:
            return 0.0
        numbers = [body[:4] for _, body in known]
        changes = (tuple(map(sub, after, before)) for before, after in pairwise(numbers))
        deltas = [(0.0,) * 4, *changes]
        states = map(RecordedState, (time for time, _ in known), numbers, deltas)
        corrected = correct_history([*states], echo_us, self.received[:4])
        if corrected is None:
            return self._go_on_from(self.received, now)
        self._by_timestamp.clear()
        for (stamp, body), state in zip(known, corrected, strict=True):
            x, y, vx, vy = state.values
            self._by_timestamp.append((stamp, body._replace(x=x, y=y, vx=vx, vy=vy)))
        return self._go_on_from(self._by_timestamp[-1][1], now)

    def _go_on_from(self, body: Body, now: float) -> float:
        before, self.predicted = self.predicted, body
        if body.position == before.position:
            return 0.0
        size = distance(body.position, before.position)
        self.corrections += 1
        self.corrected += size
        self.largest = max(self.largest, size)
        if self.smoothed.time:
            self.smoothed.add(before.x - body.x, before.y - body.y, 0.0, now)
        return size


#: How a correction fades.
SMOOTHING_CURVES = tuple(one.name.lower() for one in Fading if one is not Fading.SNAP)


class Smoothing(NamedTuple):
    """How corrections are smoothed: over how many seconds, along which curve, which of them.

    Only those larger than ``smooth_above`` and up to ``snap_above`` (length units) are: smaller
    ones are not worth it, and over larger ones a player would be seen to glide through walls.
    """

    duration: float = 0.0
    curve: str = "linear"
    smooth_above: float = 0.0
    snap_above: float = math.inf

    def apply(self, offset: VisualOffset) -> VisualOffset:
        """Makes an offset fade like this from now on."""
        fading = Fading[self.curve.upper()]
        offset.set(fading, self.duration, self.smooth_above, self.snap_above)
        return offset


#: A state's numbers: position and velocity, or any others that change alike.
Values = tuple[float, ...]


class RecordedState(NamedTuple):
    """A state at a time (in any unit), and by how much it differs from the one before it."""

    time: float
    values: Values
    delta: Values


def correct_history(
    history: Sequence[RecordedState], time: float, values: Values
) -> list[RecordedState] | None:
    """The history, changed so that it passes through ``values`` at ``time``.

    The change of the first state after it is shortened to the part that lies after it, and every
    later state follows from the one before by its own change:

        after.delta *= (after.time - time) / (after.time - before.time)
        state.values = previous.values + state.delta

    The states before are left alone. None: the time is before the oldest state or after the
    newest, or there are fewer than two. Source: Mirror (MIT), Core/Prediction/Prediction.cs.
    """
    if len(history) < 2 or not history[0].time <= time <= history[-1].time:
        return None
    first = next(index for index, state in enumerate(history) if state.time >= time)
    after = history[first]
    share = 0.0
    if first and after.time > time:
        share = (after.time - time) / (after.time - history[first - 1].time)
    corrected = list(history[:first])
    previous = values
    shortened = after._replace(delta=tuple(value * share for value in after.delta))
    for state in [shortened, *history[first + 1 :]]:
        previous = tuple(map(add, previous, state.delta))
        corrected.append(state._replace(values=previous))
    return corrected
