"""A client: its own player predicted, reconciled and smoothed; the other players drawn."""

from __future__ import annotations

import math
from bisect import bisect_left, insort
from collections import Counter, deque
from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from operator import add, sub
from typing import Literal, NamedTuple

from epic_cli.engine.contract import Packet, Sample, SmoothingStrategy
from epic_cli.engine.replay.corrections import AUTHORITATIVE, PREDICTED
from epic_cli.engine.strategies.correct import Fading, VisualOffset
from epic_cli.engine.strategies.parts import adapt_strategy
from epic_cli.network.encoding import Encoding, MessageReader
from epic_cli.play.clock import ClockSync, Timekeeper
from epic_cli.play.wire import (
    VERDICTS,
    InputPacket,
    Malformed,
    Projectile,
    StatePacket,
    Verdict,
    decode_pose,
    decode_state,
    encode_input,
)
from epic_cli.play.world import (
    MOST_MOVES,
    Body,
    Control,
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
    find_first_hit,
    interpolate_points,
    measure_distance,
)

LocalMode = Literal["dumb-terminal", "predicted", "reconciled", "corrected", "lerped"]
LOCAL_MODES: tuple[LocalMode, ...] = (
    "dumb-terminal", "predicted", "reconciled", "corrected", "lerped",
)  # fmt: skip

#: Length units; Mirror's PredictedRigidbody leaves smaller differences alone.
CORRECTION_THRESHOLD = 0.1


class LocalPlayer:
    """The client's own player, shown in one of five modes.

    ``dumb-terminal`` shows the newest state from the server. ``predicted`` simulates each move at
    once, and ignores the server. ``reconciled`` takes the server's state and replays the moves that
    this state does not contain yet; unless something unexpected happened on the server, this gives
    the same bits as before. ``corrected`` shifts the remembered states by the error and replays
    nothing: quick, blind to walls, and errors below a tenth of a unit stay. ``lerped`` begins each
    frame with a lerp to the server's position, and then simulates the move; the smoothing's
    duration is the lerp time:

        position = lerp(position, received, duration of the move / lerp time)

    or ``received`` where the move is longer than that. It counts no corrections.

    A correction is a change of position caused by a state of the server; a misprediction is a state
    of the server that differs from what was predicted for the same move.

    Source: Glazer and Madhav, Multiplayer Game Programming (2016), chapter 8, Client Move
    Prediction and Replay, listing 8.3; for ``corrected``, Mirror's PredictedRigidbody; for
    ``lerped``, "How I Implemented Client-Side Linear Interpolation", Client-side prediction and
    rubber banding.
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
        """The player's state as shown, without the smoothing of corrections."""
        return self.received if self.mode == "dumb-terminal" else self.predicted

    def compute_drawn(self, now: float) -> Point:
        """Return the drawn position of the player at the client's time ``now`` (s), smoothed."""
        left = self.smoothed.left(now)
        return (self.body.x + left[0], self.body.y + left[1])

    def preview_move(self, control: Control, duration_us: int) -> Body:
        """Return the state that a move would lead to, without making the move."""
        body = self._lerp_toward_server(self.body, duration_us)
        return self._rules.simulate(body, control, duration_us).body

    def act(
        self, control: Control, now_us: int, views: tuple[tuple[int, View], ...]
    ) -> tuple[Move, MoveResult] | None:
        """Make a move and simulate it at once.

        Return both, or None if the clock has not advanced.
        """
        move = self.moves.add_move_if_new(control, now_us, views)
        if move is None:
            return None
        body = self._lerp_toward_server(self.predicted, move.duration_us)
        result = self._rules.simulate(body, control, move.duration_us)
        self.predicted = result.body
        self._by_timestamp.append((now_us, result.body))
        return move, result

    def _lerp_toward_server(self, body: Body, duration_us: int) -> Body:
        """Return the state in which a move of this length begins.

        The mode ``lerped`` first moves the state toward the server's.
        """
        if self.mode != "lerped":
            return body
        time = self.smoothed.time
        share = convert_to_seconds(duration_us) / time if time else 1.0
        x, y = interpolate_points(body.position, self.received.position, min(share, 1.0))
        return body._replace(x=x, y=y)

    def reconcile(self, body: Body, echo_us: int | None, now: float) -> float:
        """Take the server's state, which includes the moves up to the timestamp ``echo_us``.

        Return the size of the correction (length units).
        """
        self.states += 1
        self.received = body
        if echo_us is not None:
            self.moves.remove_processed(echo_us)
            if self.mode != "dumb-terminal":
                self.mispredictions += self._is_misprediction(body, echo_us)
        if self.mode == "reconciled":
            return self._continue_from(self._replay_moves(), now)
        if self.mode == "corrected" and echo_us is not None:
            return self._correct_history(echo_us, now)
        return 0.0

    def _is_misprediction(self, body: Body, echo_us: int) -> bool:
        while self._by_timestamp and self._by_timestamp[0][0] < echo_us:
            self._by_timestamp.popleft()
        if not self._by_timestamp or self._by_timestamp[0][0] != echo_us:
            return False
        return self._by_timestamp[0][1][:4] != body[:4]

    def change_mode(self, mode: LocalMode) -> None:
        """Change the mode; prediction goes on from the newest state received."""
        if self.mode == "dumb-terminal":
            self.predicted = self._replay_moves()
        self.mode = mode

    def _replay_moves(self) -> Body:
        """Return the received state after the moves that it does not include."""
        body = self.received
        self._by_timestamp.clear()
        for move in self.moves:
            body = self._rules.simulate(body, move.control, move.duration_us).body
            self._by_timestamp.append((move.timestamp_us, body))
        return body

    def _correct_history(self, echo_us: int, now: float) -> float:
        known = list(self._by_timestamp)
        if not known or known[0][0] != echo_us:
            return 0.0
        wrong = measure_distance(known[0][1].position, self.received.position)
        if wrong < CORRECTION_THRESHOLD:
            return 0.0
        numbers = [body[:4] for _, body in known]
        changes = (tuple(map(sub, after, before)) for before, after in pairwise(numbers))
        deltas = [(0.0,) * 4, *changes]
        states = map(RecordedState, (time for time, _ in known), numbers, deltas)
        corrected = correct_history([*states], echo_us, self.received[:4])
        if corrected is None:
            return self._continue_from(self.received, now)
        self._by_timestamp.clear()
        for (stamp, body), state in zip(known, corrected, strict=True):
            x, y, vx, vy = state.values
            self._by_timestamp.append((stamp, body._replace(x=x, y=y, vx=vx, vy=vy)))
        return self._continue_from(self._by_timestamp[-1][1], now)

    def _continue_from(self, body: Body, now: float) -> float:
        before, self.predicted = self.predicted, body
        if body.position == before.position:
            return 0.0
        size = measure_distance(body.position, before.position)
        self.corrections += 1
        self.corrected += size
        self.largest = max(self.largest, size)
        if self.smoothed.time:
            self.smoothed.add(before.x - body.x, before.y - body.y, 0.0, now)
        return size


#: The curves along which a correction fades.
SMOOTHING_CURVES = tuple(each.name.lower() for each in Fading if each is not Fading.SNAP)


class Smoothing(NamedTuple):
    """The smoothing of corrections: duration (s), curve, and the sizes that are smoothed.

    Only corrections larger than ``smooth_above`` and up to ``snap_above`` (length units) are
    smoothed: smaller ones are invisible, and during larger ones a player would be seen to glide
    through walls.
    """

    duration: float = 0.0
    curve: str = "linear"
    smooth_above: float = 0.0
    snap_above: float = math.inf

    def apply(self, offset: VisualOffset) -> VisualOffset:
        """Return the offset of a drawn position, which fades with this smoothing from now on."""
        fading = Fading[self.curve.upper()]
        offset.set(fading, self.duration, self.smooth_above, self.snap_above)
        return offset


#: The numbers of a state: position and velocity, or any others that change alike.
Values = tuple[float, ...]


class RecordedState(NamedTuple):
    """A state at a time (any unit), with its change since the previous state."""

    time: float
    values: Values
    delta: Values


def correct_history(
    history: Sequence[RecordedState], time: float, values: Values
) -> list[RecordedState] | None:
    """Return the history, changed so that it passes through ``values`` at ``time``.

    The change of the first state after it is shortened to the part that lies after it, and every
    later state follows from the one before by its own change:

        after.delta *= (after.time - time) / (after.time - before.time)
        state.values = previous.values + state.delta

    Earlier states stay. None: the time is before the oldest state or after the newest, or there are
    fewer than two. Source: Mirror (MIT), Core/Prediction/Prediction.cs.
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


#: The number of received snapshots that are remembered: more than any delay buffer holds.
REMEMBERED = 256

#: The number of snapshots on each side between which a drawn position is looked for.
NEIGHBORS = 8

#: Length units; positions nearer than this are the same.
SAME = 1e-6


class RemotePlayer:
    """A remote player drawn with a strategy, and the snapshots between which it is drawn.

    A strategy does not tell these snapshots. But a delay buffer treats all coordinates alike, so a
    second one with the same settings gets the same packets with other positions: snapshot n lies at
    (n, n^2). What it draws is on a chord of that parabola, and for a point (x, y) on the chord from
    a to b

        y - x^2 = (x - a) (b - x),  fraction = (x - a) / (b - a)

    so the received snapshots around x that fulfil this are the two. Where the drawn position is
    then the point between those two states, the client draws that point as ``interpolate_points``
    computes it, and the server can compute the same bits. Strategies that extrapolate, draw curves,
    or blend with what was drawn before draw no such point; their view is the nearest point on the
    straight lines through the snapshots.
    """

    def __init__(self, make_strategy: Callable[[], SmoothingStrategy]) -> None:
        self._create_strategies(make_strategy)
        self._positions: dict[int, Point] = {}
        self._numbers: list[int] = []  # of the snapshots, in order
        self.last_packet: Packet | None = None
        self.sample: Sample | None = None
        self.view: View | None = None

    def change_strategy(self, make_strategy: Callable[[], SmoothingStrategy]) -> None:
        """Draw the player with another strategy, which begins with the newest packet."""
        self._create_strategies(make_strategy)
        packet = self.last_packet
        if packet is not None and packet.arrival is not None:
            self.update(packet, packet.arrival)

    def set_clock(self, jump: float) -> None:
        """Restart the strategy after the client's time has jumped by these seconds."""
        packet = self.last_packet
        if packet is not None and packet.arrival is not None:
            self.last_packet = packet._replace(arrival=packet.arrival + jump)
        self.change_strategy(self._make_strategy)

    def _create_strategies(self, make_strategy: Callable[[], SmoothingStrategy]) -> None:
        self._make_strategy = make_strategy
        self._strategy, self._shadow = (
            adapt_strategy(make_strategy()),
            adapt_strategy(make_strategy()),
        )
        for strategy in (self._strategy, self._shadow):
            strategy.reset()  # a plain Python strategy may make its state there

    def update(self, packet: Packet, now: float) -> None:
        """Take a received state; its ``sequence`` is the snapshot's number."""
        number = packet.sequence or 0
        if number not in self._positions:
            self._positions[number] = packet.position[:2]
            insort(self._numbers, number)
            if len(self._numbers) > REMEMBERED:
                del self._positions[self._numbers.pop(0)]
        if self.last_packet is None or packet.time >= self.last_packet.time:
            self.last_packet = packet
        coded = (float(number), float(number * number), 0.0)
        self._strategy.update(packet, now)
        self._shadow.update(
            packet._replace(position=coded, velocity=(0.0, 0.0, 0.0), rotation=None), now
        )

    def hear(self, time: float, now: float) -> None:
        """Tell the strategies the stamp and the arrival of another player's state."""
        self._strategy.hear(time, now)
        self._shadow.hear(time, now)

    def read(self, at: float) -> Sample | None:
        """Return the sample drawn at the client's time ``at``; None if nothing is drawn yet."""
        sample = self._strategy.read(at)
        shadow = self._shadow.read(at)
        # some strategies draw their origin before anything has arrived, or go to infinity where
        # the clocks do not agree at all
        finite = all(map(math.isfinite, sample.position))
        if sample.status == "none" or not self._positions or not finite:
            self.sample = self.view = None
            return None
        self.view = self._find_view(sample, shadow)
        if self.view.exact:
            position = interpolate_points(
                self._positions[self.view.older],
                self._positions[self.view.newer],
                self.view.fraction,
            )
            sample = sample._replace(position=(*position, 0.0))
        self.sample = sample
        return sample

    def _find_view(self, sample: Sample, shadow: Sample) -> View:
        x, y, _ = shadow.position
        view = self._find_chord(x, y) if math.isfinite(x) and math.isfinite(y) else None
        drawn = sample.position[:2]
        if view is not None:
            position = interpolate_points(
                self._positions[view.older], self._positions[view.newer], view.fraction
            )
            if abs(drawn[0] - position[0]) < SAME and abs(drawn[1] - position[1]) < SAME:
                return view
        return self._find_nearest_view(drawn, x if math.isfinite(x) else math.inf)

    def _find_chord(self, x: float, y: float) -> View | None:
        """Return the snapshots, and the fraction, between which the shadow's point was drawn.

        None if the point lies on no chord of the parabola.
        """
        nearest = round(x)
        if nearest in self._positions and abs(x - nearest) < 1e-9:
            return View(nearest, nearest, 0.0)
        product = y - x * x
        end = bisect_left(self._numbers, x)
        for older in reversed(self._numbers[max(end - NEIGHBORS, 0) : end]):
            newer = round(x + product / (x - older))
            if newer not in self._positions or newer < x:
                continue
            if abs((x - older) * (newer - x) - product) < 1e-4:
                return View(older, newer, (x - older) / (newer - older))
        return None

    def _find_nearest_view(self, drawn: Point, x: float) -> View:
        """Return the view whose position is nearest to the drawn position.

        The candidates lie on the lines through the snapshots near the shadow's ``x``.
        """
        numbers = self._numbers
        nearest = min(numbers, key=lambda number: abs(number - x)) if x < math.inf else numbers[-1]
        best = View(nearest, nearest, 0.0, exact=False)
        least = measure_distance(drawn, self._positions[nearest])
        here = bisect_left(numbers, x)
        for older, newer in pairwise(numbers[max(here - NEIGHBORS, 0) : here + NEIGHBORS]):
            start, end = self._positions[older], self._positions[newer]
            dx, dy = end[0] - start[0], end[1] - start[1]
            length = dx * dx + dy * dy
            if not length:
                continue
            along = (drawn[0] - start[0]) * dx + (drawn[1] - start[1]) * dy
            fraction = min(max(along / length, 0.0), 1.0)
            off = measure_distance(drawn, interpolate_points(start, end, fraction))
            if off < least:
                best, least = View(older, newer, fraction, exact=False), off
        return best


#: A server's clock that gains more than this on the local clock is forged.
FARTHEST_AHEAD_US = 5_000_000

#: The longest hold time that fits the packet.
LONGEST_HELD_US = 2**32 - 1


class Identity(NamedTuple):
    """A client's identity in a match: its player's number, all players' names, its secret token."""

    player: int
    names: Sequence[str]
    token: int


class Client:
    """The client: one player's machine.

    ``report`` is called with the name of an event and its details. The loop runs on the client's
    own time; received packets are stamped with the machine's clock, and remote players are drawn at
    the estimated server's time. ``sync`` keeps the three together.
    """

    def __init__(
        self,
        identity: Identity,
        rules: Rules,
        spawn: Point,
        mode: LocalMode,
        smoothing: Smoothing,
        make_strategy: Callable[[], SmoothingStrategy],
        sync: ClockSync,
        report: Callable[[str, dict[str, Value]], None] = lambda *_: None,
    ) -> None:
        self.identity = identity
        self.rules = rules
        self.timekeeper = Timekeeper(sync, rules.step_us)
        self.local = LocalPlayer(rules, Body(*spawn), mode, smoothing)
        self.remotes = {
            number: RemotePlayer(make_strategy)
            for number in range(len(identity.names))
            if number != identity.player
        }
        self.refused: Counter[str] = Counter()
        self.packets: list[Packet] | None = None  # received states, if they are wanted
        self.own: list[Packet] | None = None  # the own player, predicted and by the server
        self.now_us = 0
        self.state: StatePacket | None = None  # the newest
        self.round_trip = RoundTrip()
        self.effects = PredictedEffects(report)
        self._readers: dict[int, MessageReader] = {}
        self._report = report
        self._state_arrival_us = 0
        self._state_machine_us = 0

    @property
    def now(self) -> float:
        """The time of the newest frame, in seconds."""
        return convert_to_seconds(self.now_us)

    def receive(self, data: bytes, machine_us: int) -> None:
        """Take a datagram that arrived at this time of the machine.

        Count malformed ones by reason.
        """
        arrival_us = self.timekeeper.clock.read(machine_us)
        try:
            packet = decode_state(data)
        except Malformed:
            self.refused["malformed"] += 1
            return
        if packet.token != self.identity.token:
            self.refused["forged"] += 1
            return
        if self._is_from_the_future(packet, arrival_us):
            self.refused["from the future"] += 1
            return
        try:
            states = self._read_other_states(packet)
        except (KeyError, ValueError):
            self.refused["malformed"] += 1
            return
        arrived_us = self.timekeeper.estimate_server_us(arrival_us)
        if arrived_us is not None:
            for number, state in states:
                self._update_remote(number, state, convert_to_seconds(arrived_us))
        newest = self.state
        repeated = newest is not None and packet.snapshot == newest.snapshot
        if packet.fresh and packet.echo_us is not None and not repeated:
            # late states count, too: otherwise the mean would be of the quick ones only
            stamps = (packet.echo_us, packet.held_us, packet.time_us, machine_us)
            self.round_trip.add(self.timekeeper.measure(*stamps), convert_to_seconds(arrival_us))
        if newest is not None and packet.snapshot <= newest.snapshot:
            self.refused["repeated" if repeated else "late"] += 1
            return
        self.state = packet
        self._state_arrival_us, self._state_machine_us = arrival_us, machine_us
        self.timekeeper.hear(packet.time_us, machine_us)
        self._reconcile(packet, convert_to_seconds(arrival_us))
        self.effects.confirm(packet.verdicts, arrival_us)

    def _is_from_the_future(self, packet: StatePacket, arrival_us: int) -> bool:
        """Return True if a packet echoes a move that was not made, or the server's clock jumped."""
        if packet.echo_us is not None and packet.echo_us > self.now_us:
            return True
        if self.state is None:
            return False
        passed_us = arrival_us - self._state_arrival_us
        return packet.time_us - self.state.time_us > passed_us + FARTHEST_AHEAD_US

    def expect(self, epoch: int, encoding: Encoding) -> None:
        """Set the encoding of other players' states in packets of an epoch."""
        self._readers[epoch] = MessageReader(encoding)

    @property
    def undecodable(self) -> int:
        """The number of received deltas whose baseline has not arrived."""
        return sum(reader.undecodable for reader in self._readers.values())

    def _read_other_states(self, packet: StatePacket) -> list[tuple[int, Packet]]:
        """Decode the states of other players, the oldest first.

        Raise ``KeyError`` if the packet's epoch is unknown or one of its deltas is missing, and
        ``ValueError`` if a state cannot be decoded or is of no other player.
        """
        reader = self._readers[packet.epoch]
        found: list[tuple[int, Packet]] = []
        if not packet.message:
            return found
        moments = reader.read(packet.message, packet.snapshot, convert_to_seconds(packet.time_us))
        for moment in moments:
            for change in moment.changes:
                number = change.entity
                place, velocity, rotation = decode_pose(reader.encoding, change.state)
                if number not in self.remotes:
                    raise ValueError("the state belongs to no other player of this match")
                state = Packet(
                    place, velocity, moment.stamp, None, self.identity.names[number], False,
                    moment.number, convert_to_seconds(packet.deltas[moment.number, number]),
                    rotation,
                )  # fmt: skip
                found.append((number, state))
        reader.keep(moments)
        return found

    def _update_remote(self, number: int, state: Packet, arrival: float) -> None:
        state = state._replace(arrival=arrival)
        for other, remote in self.remotes.items():
            if other != number:
                remote.hear(state.time, arrival)
        self.remotes[number].update(state, arrival)
        if self.packets is not None:
            self.packets.append(state)

    def _reconcile(self, packet: StatePacket, now: float) -> None:
        """Reconcile this client's own player with the newest state."""
        body = packet.body
        size = self.local.reconcile(body, packet.echo_us, now)
        if packet.echo_us is not None:
            self._record_own_state(AUTHORITATIVE, body, packet.echo_us, now)
        if size:
            self._report("correction", {"size": size, "snapshot": packet.snapshot})

    def run_frame(self, now_us: int, controller: Callable[[Client], Control]) -> bytes:
        """Run one frame: draw the others, make a move, return the packet to send.

        ``controller`` is asked for the input of the move.
        """
        self.now_us = now_us
        self._steer_clock()
        drawn_us = self.timekeeper.estimate_server_us(now_us)
        if drawn_us is not None:
            for remote in self.remotes.values():
                remote.read(convert_to_seconds(drawn_us))
        control = controller(self)
        views = tuple(
            (number, remote.view)
            for number, remote in self.remotes.items()
            if control.weapon and remote.view is not None
        )
        acted = self.local.act(control, now_us, views)
        if acted:
            move, result = acted
            self._record_own_state(PREDICTED, self.local.predicted, now_us, None)
            if result.weapon:
                position = self.local.body.position
                aim = move.control.aim
                hit = find_first_hit(self.rules.arena, position, aim, self.list_drawn_remotes())
                self.effects.predict(move, result.weapon, position, hit)
        self.effects.forget_old(now_us)
        heard, held_us = None, 0
        if self.state is not None:
            machine_us = self.timekeeper.clock.convert_to_machine_time(now_us)
            heard = self.state.snapshot
            held_us = min(max(machine_us - self._state_machine_us, 0), LONGEST_HELD_US)
        moves = self.local.moves.list_newest()
        packet = InputPacket(self.identity.token, moves, heard, held_us)
        return encode_input(packet) if packet.moves else b""

    def _record_own_state(
        self, state: str, body: Body, sequence: int, arrival: float | None
    ) -> None:
        """Record a state of the own player, which contains the moves up to a timestamp."""
        if self.own is not None:
            name = f"{self.identity.names[self.identity.player]}/{state}"
            place, velocity = (body.x, body.y, 0.0), (body.vx, body.vy, 0.0)
            time = convert_to_seconds(sequence)
            self.own.append(Packet(place, velocity, time, arrival, name, False, sequence))

    def _steer_clock(self) -> None:
        steering = self.timekeeper.begin_frame(self.now_us)
        if steering.jump:
            self._report("clock set", {"by": steering.jump})
            for remote in self.remotes.values():
                remote.set_clock(steering.jump)
        if steering.frames:
            self._report("clock held", {"frames": -steering.frames})

    def list_drawn_remotes(self) -> dict[int, Point]:
        """Return the drawn positions of the other players."""
        drawn = {}
        for number, remote in self.remotes.items():
            if remote.sample is not None:
                drawn[number] = remote.sample.position[:2]
        return drawn

    def list_drawn_projectiles(self) -> list[Projectile]:
        """Return the flying projectiles, extrapolated to the server's present time.

        That is half a round trip, and the age of the newest state.
        """
        if self.state is None:
            return []
        age = self.round_trip.estimate / 2 + convert_to_seconds(
            self.now_us - self._state_arrival_us
        )
        return [
            projectile._replace(
                x=projectile.x + projectile.vx * age, y=projectile.y + projectile.vy * age
            )
            for projectile in self.state.projectiles
        ]


#: A predicted effect without a verdict is forgotten after this time.
LONGEST_UNCONFIRMED_US = 3_000_000


class PredictedEffects:
    """The muzzle flashes and hits that a client shows before the server has judged them."""

    def __init__(self, report: Callable[[str, dict[str, Value]], None]) -> None:
        self._report = report
        self._unconfirmed: set[int] = set()  # timestamps of moves

    def predict(self, move: Move, weapon: Weapon, position: Point, hit: int | None) -> None:
        """Show a muzzle flash or windup.

        ``hit`` is the player whom the shot hits on this screen.
        """
        self._unconfirmed.add(move.timestamp_us)
        details: dict[str, Value] = {
            "stamp": convert_to_seconds(move.timestamp_us),
            "weapon": weapon.name.lower(),
        }
        if weapon == Weapon.SHOT:
            details["hit"] = hit is not None
        details["x"], details["y"] = position
        details["aim_x"], details["aim_y"] = move.control.aim
        self._report("predicted effect", details)

    def confirm(self, verdicts: Iterable[Verdict], now_us: int) -> None:
        """Report the server's verdicts on the effects that were shown."""
        for verdict in verdicts:
            fired_us = verdict.timestamp_us
            if fired_us not in self._unconfirmed:
                continue
            self._unconfirmed.remove(fired_us)
            outcome = VERDICTS[verdict.code]
            details: dict[str, Value] = {
                "stamp": convert_to_seconds(fired_us),
                "waited": convert_to_seconds(now_us - fired_us),
            }
            if outcome in ("stunned", "reloading"):
                self._report("effect refused", details | {"reason": outcome})
            else:
                self._report("effect confirmed", details | {"outcome": outcome})

    def forget_old(self, now_us: int) -> None:
        """Drop the effects that are too old to get a verdict."""
        oldest_us = now_us - LONGEST_UNCONFIRMED_US
        self._unconfirmed = {number for number in self._unconfirmed if number >= oldest_us}
