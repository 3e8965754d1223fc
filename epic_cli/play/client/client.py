"""A client: draws what it has received, sends moves, and hides the latency between the two."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from epic_cli.engine.contract import Packet, SmoothingStrategy
from epic_cli.engine.replay.corrections import AUTHORITATIVE, PREDICTED
from epic_cli.play.client.clock.contract import ClockSync, Timekeeper
from epic_cli.play.client.local_player import LocalMode, LocalPlayer, Smoothing
from epic_cli.play.client.remote_player import RemotePlayer
from epic_cli.play.wire import (
    VERDICTS,
    InputPacket,
    Malformed,
    PlayerState,
    Projectile,
    StatePacket,
    Verdict,
    decode_state,
    encode_input,
)
from epic_cli.play.world.arena import Point, first_hit
from epic_cli.play.world.moves import Move, Value
from epic_cli.play.world.rules import Body, Control, Rules, Weapon
from epic_cli.play.world.times import RoundTrip, to_seconds

#: A server's clock that runs ahead of the time that has passed here by more than this is forged.
FARTHEST_AHEAD_US = 5_000_000

#: What fits the packet.
LONGEST_HELD_US = 2**32 - 1


class Identity(NamedTuple):
    """Who a client is in the match: its player's number, the names of all, its secret."""

    player: int
    names: Sequence[str]
    token: int


class Client:
    """One player's machine.

    ``report`` is called with what happened and its details. Times are the client's own, on which
    its loop runs; what arrives is stamped with the machine's clock, and what is drawn of others is
    drawn by what the client takes for the server's. ``sync`` keeps the three together.
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
        self.packets: list[Packet] | None = None  # what came in, if it is to be kept
        self.own: list[Packet] | None = None  # its own player, predicted and by the server
        self.now_us = 0
        self.state: StatePacket | None = None  # the newest
        self.round_trip = RoundTrip()
        self.effects = PredictedEffects(report)
        self._report = report
        self._sequence = 0
        self._state_arrival_us = 0
        self._state_machine_us = 0

    @property
    def now(self) -> float:
        """The time of the newest frame, in seconds."""
        return to_seconds(self.now_us)

    def receive(self, data: bytes, machine_us: int) -> None:
        """Takes a datagram that came in at this time of the machine; what is wrong is counted."""
        arrival_us = self.timekeeper.clock.read(machine_us)
        try:
            packet = decode_state(data)
        except Malformed:
            self.refused["malformed"] += 1
            return
        numbers = [one.player for one in packet.players]
        if packet.token != self.identity.token or numbers != list(range(len(self.identity.names))):
            self.refused["forged"] += 1
            return
        if self._is_from_the_future(packet, arrival_us):
            self.refused["from the future"] += 1
            return
        arrived_us = self.timekeeper.server_us(arrival_us)
        if arrived_us is not None:
            for one in packet.players:
                if one.player in self.remotes:
                    self._update_remote(packet, one, to_seconds(arrived_us))
        newest = self.state
        repeated = newest is not None and packet.snapshot == newest.snapshot
        if packet.fresh and packet.echo_us is not None and not repeated:
            # those that come too late to be shown, too: otherwise only the quick ones would count
            stamps = (packet.echo_us, packet.held_us, packet.time_us, machine_us)
            self.round_trip.add(self.timekeeper.measure(*stamps), to_seconds(arrival_us))
        if newest is not None and packet.snapshot <= newest.snapshot:
            self.refused["repeated" if repeated else "late"] += 1
            return
        self.state = packet
        self._state_arrival_us, self._state_machine_us = arrival_us, machine_us
        self.timekeeper.hear(packet.time_us, machine_us)
        self._reconcile(packet, to_seconds(arrival_us))
        self.effects.confirm(packet.verdicts, arrival_us)

    def _is_from_the_future(self, packet: StatePacket, arrival_us: int) -> bool:
        """It echoes a move that was not made yet, or the server's clock has jumped ahead."""
        if packet.echo_us is not None and packet.echo_us > self.now_us:
            return True
        if self.state is None:
            return False
        passed_us = arrival_us - self._state_arrival_us
        return packet.time_us - self.state.time_us > passed_us + FARTHEST_AHEAD_US

    def _update_remote(self, packet: StatePacket, one: PlayerState, arrival: float) -> None:
        body = one.body
        received = Packet(
            (body.x, body.y, 0.0),
            (body.vx, body.vy, 0.0),
            to_seconds(packet.time_us),
            arrival,
            self.identity.names[one.player],
            False,
            packet.snapshot,
            to_seconds(one.delta_us),
            body.rotation,
        )
        self.remotes[one.player].update(received, arrival)
        if self.packets is not None:
            self.packets.append(received)

    def _reconcile(self, packet: StatePacket, now: float) -> None:
        """What the newest state says about this client's own player."""
        body = packet.players[self.identity.player].body
        size = self.local.reconcile(body, packet.echo_us, now)
        if packet.echo_us is not None:
            self._keep(AUTHORITATIVE, body, packet.echo_us, now)
        if size:
            self._report("correction", {"size": size, "snapshot": packet.snapshot})

    def frame(self, now_us: int, controller: Callable[[Client], Control]) -> bytes:
        """One turn of the client's loop: draws, makes a move, returns the packet to send.

        ``controller`` is asked for the input of the move.
        """
        self.now_us = now_us
        self._steer()
        drawn_us = self.timekeeper.server_us(now_us)
        if drawn_us is not None:
            for remote in self.remotes.values():
                remote.read(to_seconds(drawn_us))
        control = controller(self)
        views = tuple(
            (number, remote.view)
            for number, remote in self.remotes.items()
            if control.weapon and remote.view is not None
        )
        acted = self.local.act(control, now_us, views)
        if acted:
            move, result = acted
            self._keep(PREDICTED, self.local.predicted, now_us, None)
            if result.weapon:
                position = self.local.body.position
                aim = move.control.aim
                hit = first_hit(self.rules.arena, position, aim, self.drawn_remotes())
                self.effects.predict(move, result.weapon, position, hit)
        self.effects.forget_old(now_us)
        self._sequence += 1
        heard, held_us = None, 0
        if self.state is not None:
            machine_us = self.timekeeper.clock.machine_time(now_us)
            heard = self.state.snapshot
            held_us = min(max(machine_us - self._state_machine_us, 0), LONGEST_HELD_US)
        moves = self.local.moves.newest()
        packet = InputPacket(self.identity.token, self._sequence, moves, heard, held_us)
        return encode_input(packet) if packet.moves else b""

    def _keep(self, state: str, body: Body, sequence: int, arrival: float | None) -> None:
        """Keeps a state of its own player, which contains the moves up to a timestamp."""
        if self.own is not None:
            name = f"{self.identity.names[self.identity.player]}/{state}"
            place, velocity = (body.x, body.y, 0.0), (body.vx, body.vy, 0.0)
            time = to_seconds(sequence)
            self.own.append(Packet(place, velocity, time, arrival, name, False, sequence))

    def _steer(self) -> None:
        steering = self.timekeeper.frame(self.now_us)
        if steering.jump:
            self._report("clock set", {"by": steering.jump})
            for remote in self.remotes.values():
                remote.set_clock(steering.jump)
        if steering.frames:
            self._report("clock held", {"frames": -steering.frames})

    def drawn_remotes(self) -> dict[int, Point]:
        """Where the other players are drawn."""
        drawn = {}
        for number, remote in self.remotes.items():
            if remote.sample is not None:
                drawn[number] = remote.sample.position[:2]
        return drawn

    def drawn_projectiles(self) -> list[Projectile]:
        """What is in the air: the newest state, extrapolated by half a round trip and its age."""
        if self.state is None:
            return []
        age = self.round_trip.estimate / 2 + to_seconds(self.now_us - self._state_arrival_us)
        return [
            one._replace(x=one.x + one.vx * age, y=one.y + one.vy * age)
            for one in self.state.projectiles
        ]


#: A predicted effect whose verdict has not come after this time is forgotten.
LONGEST_UNCONFIRMED_US = 3_000_000


class PredictedEffects:
    """A client's effects that the server has not judged yet; what happens is reported."""

    def __init__(self, report: Callable[[str, dict[str, Value]], None]) -> None:
        self._report = report
        self._unconfirmed: set[int] = set()  # timestamps of moves

    def predict(self, move: Move, weapon: Weapon, position: Point, hit: int | None) -> None:
        """A muzzle flash or windup; whom a shot hits on this screen is part of it."""
        self._unconfirmed.add(move.timestamp_us)
        details: dict[str, Value] = {
            "stamp": to_seconds(move.timestamp_us),
            "weapon": weapon.name.lower(),
        }
        if weapon == Weapon.SHOT:
            details["hit"] = hit is not None
        details["x"], details["y"] = position
        details["aim_x"], details["aim_y"] = move.control.aim
        self._report("predicted effect", details)

    def confirm(self, verdicts: Iterable[Verdict], now_us: int) -> None:
        """What the server has decided."""
        for verdict in verdicts:
            fired_us = verdict.timestamp_us
            if fired_us not in self._unconfirmed:
                continue
            self._unconfirmed.remove(fired_us)
            outcome = VERDICTS[verdict.code]
            details: dict[str, Value] = {
                "stamp": to_seconds(fired_us),
                "waited": to_seconds(now_us - fired_us),
            }
            if outcome in ("stunned", "reloading"):
                self._report("effect refused", details | {"reason": outcome})
            else:
                self._report("effect confirmed", details | {"outcome": outcome})

    def forget_old(self, now_us: int) -> None:
        """No verdict comes any more for what was shown that long ago."""
        oldest_us = now_us - LONGEST_UNCONFIRMED_US
        self._unconfirmed = {one for one in self._unconfirmed if one >= oldest_us}
