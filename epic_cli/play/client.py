"""A client: draws what it has received, sends moves, and hides the latency between the two."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import NamedTuple

from epic_cli.engine.contract import Packet, SmoothingStrategy
from epic_cli.engine.strategies.parts.averages import WeightedTimedAverage
from epic_cli.play.arena import Point, first_hit
from epic_cli.play.events import Value
from epic_cli.play.moves import Move
from epic_cli.play.prediction import LocalPlayer
from epic_cli.play.remote import RemotePlayer
from epic_cli.play.settings import LocalMode
from epic_cli.play.wire import (
    VERDICTS,
    InputPacket,
    Malformed,
    PlayerState,
    Projectile,
    StatePacket,
    decode_state,
    encode_input,
)
from epic_cli.play.world import Body, Control, Rules, Weapon

#: A server's clock that runs ahead of the time that has passed here by more than this is forged.
FARTHEST_AHEAD = 5_000_000

#: A tell whose verdict has not come after so many microseconds is forgotten.
LONGEST_TELL = 3_000_000


class Identity(NamedTuple):
    """Who a client is in the match: its player's number, the names of all, its secret."""

    player: int
    names: Sequence[str]
    token: int


class Tell(NamedTuple):
    """A muzzle flash or a windup that is shown, and has not been confirmed yet."""

    stamp: int
    weapon: Weapon
    target: int | None


class Client:
    """One player's machine.

    ``decide`` is asked for the control of each move. ``tell`` is called with what happened and
    its details. All times are on this machine's own clock: microseconds, and seconds where a
    strategy reads them.
    """

    def __init__(
        self,
        identity: Identity,
        rules: Rules,
        spawn: Point,
        mode: LocalMode,
        smoothing: float,
        make_strategy: Callable[[], SmoothingStrategy],
        tell: Callable[[str, dict[str, Value]], None] = lambda *_: None,
    ) -> None:
        self.identity = identity
        self.rules = rules
        self.local = LocalPlayer(rules, Body(*spawn), mode, smoothing)
        self.remotes = {
            number: RemotePlayer(make_strategy)
            for number in range(len(identity.names))
            if number != identity.player
        }
        self.refused: Counter[str] = Counter()
        self.packets: list[Packet] | None = None  # what came in, if it is to be kept
        self.now = 0
        self.state: StatePacket | None = None  # the newest
        self.round_trip: WeightedTimedAverage | None = None
        self.last_round_trip = 0.0
        self.round_trips = 0
        self.pending: dict[int, Tell] = {}
        self._tell = tell
        self._sequence = 0
        self._state_arrival = 0

    @property
    def round_trip_estimate(self) -> float:
        """The moving average of the round-trip time, in seconds; 0: not known."""
        return self.round_trip.value if self.round_trip else 0.0

    def receive(self, data: bytes, arrival: int) -> None:
        """Takes a datagram that came in at ``arrival``; whatever is wrong with it is counted."""
        try:
            packet = decode_state(data)
        except Malformed:
            self.refused["malformed"] += 1
            return
        numbers = [one.player for one in packet.players]
        if packet.token != self.identity.token or numbers != list(range(len(self.identity.names))):
            self.refused["forged"] += 1
            return
        if self._is_from_the_future(packet, arrival):
            self.refused["from the future"] += 1
            return
        for one in packet.players:
            if one.player in self.remotes:
                self._update_remote(packet, one, arrival)
        newest = self.state
        repeated = newest is not None and packet.snapshot == newest.snapshot
        if packet.fresh and packet.echo is not None and not repeated:
            self._measure(arrival, packet.echo, packet.held)
        if newest is not None and packet.snapshot <= newest.snapshot:
            self.refused["repeated" if repeated else "late"] += 1
            return
        self.state, self._state_arrival = packet, arrival
        self._hear(packet, arrival)

    def _is_from_the_future(self, packet: StatePacket, arrival: int) -> bool:
        """It echoes a move that was not made yet, or the server's clock has jumped ahead."""
        if packet.echo is not None and packet.echo > self.now:
            return True
        if self.state is None:
            return False
        passed = arrival - self._state_arrival
        return packet.time - self.state.time > passed + FARTHEST_AHEAD

    def _update_remote(self, packet: StatePacket, one: PlayerState, arrival: int) -> None:
        body = one.body
        received = Packet(
            (body.x, body.y, 0.0),
            (body.vx, body.vy, 0.0),
            packet.time / 1_000_000,
            arrival / 1_000_000,
            self.identity.names[one.player],
            False,
            packet.snapshot,
            one.delta / 1_000_000,
        )
        self.remotes[one.player].update(received, arrival / 1_000_000)
        if self.packets is not None:
            self.packets.append(received)

    def _hear(self, packet: StatePacket, arrival: int) -> None:
        """What the newest state says about this client's own player."""
        size = self.local.hear(
            packet.players[self.identity.player].body, packet.echo, arrival / 1_000_000
        )
        if size:
            self._tell("correction", {"size": size, "snapshot": packet.snapshot})
        for verdict in packet.verdicts:
            tell = self.pending.pop(verdict.stamp, None)
            if tell is None:
                continue
            outcome = VERDICTS[verdict.code]
            details: dict[str, Value] = {"stamp": verdict.stamp, "waited": arrival - verdict.stamp}
            if outcome in ("stunned", "reloading"):
                self._tell("tell refused", details | {"reason": outcome})
            else:
                self._tell("tell confirmed", details | {"outcome": outcome})

    def _measure(self, arrival: int, echo: int, held: int) -> None:
        """The book's moving average; its program begins at 0, this with the first measurement.

        States that come too late to be shown are measured too: otherwise the quick ones alone
        would count.
        """
        now = arrival / 1_000_000
        self.last_round_trip = (arrival - echo - held) / 1_000_000
        self.round_trips += 1
        if self.round_trip is None:
            self.round_trip = WeightedTimedAverage(1.0, now - 1.0)
        self.round_trip.add(self.last_round_trip, now)

    def frame(self, now: int, decide: Callable[[Client], Control]) -> bytes:
        """One turn of the client's loop: draws, makes a move, returns the packet to send."""
        self.now = now
        for remote in self.remotes.values():
            remote.read(now / 1_000_000)
        control = decide(self)
        views = tuple(
            (number, remote.view)
            for number, remote in self.remotes.items()
            if control.weapon and remote.view is not None
        )
        acted = self.local.act(control, now, views)
        if acted:
            move, stepped = acted
            self._show_tell(move, stepped.weapon)
        for stamp in [one for one in self.pending if one < now - LONGEST_TELL]:
            del self.pending[stamp]
        self._sequence += 1
        packet = InputPacket(self.identity.token, self._sequence, self.local.moves.newest())
        return encode_input(packet) if packet.moves else b""

    def _show_tell(self, move: Move, weapon: Weapon) -> None:
        """Optimism: the muzzle flash or the windup at once, the effect when the server says so."""
        if not weapon:
            return
        target = None
        if weapon == Weapon.SHOT:
            target = self.aimed_at(self.local.body.place, move.control.aim)
        self.pending[move.stamp] = Tell(move.stamp, weapon, target)
        details: dict[str, Value] = {"stamp": move.stamp, "weapon": weapon.name.lower()}
        if weapon == Weapon.SHOT:
            details["hit"] = target is not None
        x, y = self.local.body.place
        aim_x, aim_y = move.control.aim
        details |= {"x": x, "y": y, "aim_x": aim_x, "aim_y": aim_y}
        self._tell("tell", details)

    def aimed_at(self, origin: Point, aim: Point) -> int | None:
        """Whom a shot hits on this screen."""
        return first_hit(self.rules.arena, origin, aim, self.drawn_remotes())

    def drawn_remotes(self) -> dict[int, Point]:
        """Where the other players are drawn."""
        drawn = {}
        for number, remote in self.remotes.items():
            if remote.sample is not None:
                drawn[number] = remote.sample.position[:2]
        return drawn

    def drawn_projectiles(self) -> list[Projectile]:
        """What flies, simulated on from the newest state by half the round trip and since then."""
        if self.state is None:
            return []
        age = self.round_trip_estimate / 2 + (self.now - self._state_arrival) / 1_000_000
        return [
            one._replace(x=one.x + one.vx * age, y=one.y + one.vy * age)
            for one in self.state.projectiles
        ]
