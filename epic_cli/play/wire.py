"""The two packets of the game as bytes, little-endian; anything else is refused.

Input packet, client to server:

    u8 1, u32 token, u32 heard, u32 held, u8 count (1 to 3), then each move, oldest first:
        i64 timestamp, i8 x, i8 y, u8 weapon, f64 aim x, f64 aim y, u8 views, then each view:
            u8 player, u32 older, u32 newer, f64 fraction, u8 exact

State packet, server to client:

    u8 2, u32 token, u32 snapshot, i64 time, u8 echoes, i64 echo, u32 held,
    its own player:       f64 x y vx vy, i32 reload, i32 stun, u16 heading
    u8 epoch, u16 length, the others as a message of ``network.encoding``, whose datagrams are
        snapshots and whose entities are players
    u16 deltas, each:     u8 back, u8 player, i32 delta
    u8 projectiles, each: u32 number, u8 owner, f64 x y vx vy
    u8 verdicts, each:    i64 timestamp, u8 code, u8 target (255: none)

``heard`` is one more than the newest snapshot received (0: none), ``held`` the time since then.
``echoes`` is 0 for no echo, 1 for a repeated one, 2 for a fresh one. ``epoch`` counts the changes
of the sender. A state in the message of the snapshot ``back`` before this one was true ``delta``
before its time.

Times are whole microseconds. The token is the secret of one connection: only who knows it can speak
for its player. Sizes are bounded, and every byte of a packet must be used.
"""

from __future__ import annotations

import math
import struct
from typing import Any, NamedTuple

from epic_cli.engine.contract import Rotation, Vector
from epic_cli.network.encoding import EncodedState, Encoding
from epic_cli.network.sender import DECIMALS
from epic_cli.play.world import MOVES_IN_PACKET, Body, Control, Move, View, Weapon

MOST_PLAYERS = 8
MOST_DELTAS = 512
MOST_PROJECTILES = 64
MOST_VERDICTS = 8
NO_ONE = 255
LONGEST_PACKET = 8192
FARTHEST = 1e6  # a coordinate beyond is nonsense

_INPUT, _STATE = 1, 2
_INPUT_HEAD = struct.Struct("<BIIIB")
_MOVE = struct.Struct("<qbbBddB")
_VIEW = struct.Struct("<BIIdB")
_STATE_HEAD = struct.Struct("<BIIqBqI")
_COUNT = struct.Struct("<B")
_DELTAS = struct.Struct("<H")
_BODY = struct.Struct("<ddddiiH")
_MESSAGE = struct.Struct("<BH")
_DELTA = struct.Struct("<BBi")
_PROJECTILE = struct.Struct("<IBdddd")
_VERDICT = struct.Struct("<qBB")


class Malformed(ValueError):
    """An error for bytes that are no packet of the game; the message has the reason."""


class InputPacket(NamedTuple):
    """A client's packet with its newest moves, whose durations the receiver works out.

    ``heard`` is the newest snapshot that the client has (None: none yet), received ``held_us`` ago:
    this measures the round trip for the server.
    """

    token: int
    moves: list[Move]
    heard: int | None = None
    held_us: int = 0


class Projectile(NamedTuple):
    """A thrown ball in flight."""

    number: int
    owner: int
    x: float
    y: float
    vx: float
    vy: float


class Verdict(NamedTuple):
    """The server's decision on the trigger of a move; ``target`` None: no player was hit."""

    timestamp_us: int
    code: int
    target: int | None


class StatePacket(NamedTuple):
    """The server's packet with a snapshot; the echo and the verdicts concern only its receiver.

    ``body`` is the receiver's own player, exact, since moves are replayed on top of it. The others
    are in ``message``, as the sender of this ``epoch`` encodes them; ``deltas`` are the times
    before its snapshot at which each state was true, in microseconds, by snapshot and player.

    ``echo_us`` is the timestamp of the newest move in the state (None: no move yet). The book's
    program sends the echo only when it is new; but if that packet is lost, the client replays moves
    that the next state contains. So the echo is in every packet, and ``fresh`` marks the first
    packet with it: only that packet measures the round trip, from which ``held_us``, the time that
    the move spent at the server, is subtracted.
    """

    token: int
    snapshot: int
    time_us: int
    echo_us: int | None
    fresh: bool
    held_us: int
    body: Body
    epoch: int
    message: bytes
    deltas: dict[tuple[int, int], int]
    projectiles: list[Projectile]
    verdicts: list[Verdict]


#: The words of verdicts, by code.
VERDICTS = ("missed", "hit", "thrown", "stunned", "reloading")


def encode_input(packet: InputPacket) -> bytes:
    """Encode an input packet."""
    heard = 0 if packet.heard is None else packet.heard + 1
    head = (packet.token, heard, packet.held_us, len(packet.moves))
    parts = [_INPUT_HEAD.pack(_INPUT, *head)]
    for move in packet.moves:
        x, y, weapon, aim = move.control
        parts.append(_MOVE.pack(move.timestamp_us, x, y, weapon, *aim, len(move.views)))
        parts += [_VIEW.pack(player, *view) for player, view in move.views]
    return b"".join(parts)


def decode_input(data: bytes) -> InputPacket:
    """Decode an input packet; raise ``Malformed``."""
    reader = _ByteReader(data)
    kind, token, heard, held_us, count = reader.take(_INPUT_HEAD)
    _refuse_unless(kind == _INPUT, "not an input packet")
    _refuse_unless(1 <= count <= MOVES_IN_PACKET, "an impossible number of moves")
    moves = [_decode_move(reader) for _ in range(count)]
    reader.finish()
    times = [move.timestamp_us for move in moves]
    _refuse_unless(times == sorted(set(times)), "moves out of order")
    return InputPacket(token, moves, heard - 1 if heard else None, held_us)


def _decode_move(reader: _ByteReader) -> Move:
    timestamp_us, x, y, weapon, aim_x, aim_y, count = reader.take(_MOVE)
    _refuse_unless(abs(x) <= 1 and abs(y) <= 1, "a direction out of range")
    _refuse_unless(weapon <= max(Weapon), "an unknown weapon")
    length = aim_x * aim_x + aim_y * aim_y
    _refuse_unless(abs(length - 1) < 1e-6, "an aim that is not of length 1")  # false for NaN
    _refuse_unless(count <= MOST_PLAYERS, "too many views")
    views = []
    for _ in range(count):
        player, older, newer, fraction, exact = reader.take(_VIEW)
        _refuse_unless(older <= newer, "snapshots in the wrong order")
        _refuse_unless(0 <= fraction <= 1, "a fraction out of range")
        views.append((player, View(older, newer, fraction, bool(exact))))
    _refuse_unless(len(dict(views)) == len(views), "two views of one player")
    return Move(Control(x, y, Weapon(weapon), (aim_x, aim_y)), timestamp_us, 0, tuple(views))


def encode_state(packet: StatePacket) -> bytes:
    """Encode a state packet."""
    echoes = 0 if packet.echo_us is None else 1 + packet.fresh
    times = (packet.time_us, echoes, packet.echo_us or 0, packet.held_us)
    head = (packet.token, packet.snapshot, *times)
    parts = [_STATE_HEAD.pack(_STATE, *head), _BODY.pack(*packet.body)]
    parts += [_MESSAGE.pack(packet.epoch, len(packet.message)), packet.message]
    parts.append(_DELTAS.pack(len(packet.deltas)))
    for (snapshot, player), delta_us in packet.deltas.items():
        parts.append(_DELTA.pack(packet.snapshot - snapshot, player, delta_us))
    parts.append(_COUNT.pack(len(packet.projectiles)))
    parts += [_PROJECTILE.pack(*projectile) for projectile in packet.projectiles]
    parts.append(_COUNT.pack(len(packet.verdicts)))
    for timestamp_us, code, target in packet.verdicts:
        parts.append(_VERDICT.pack(timestamp_us, code, NO_ONE if target is None else target))
    return b"".join(parts)


def decode_state(data: bytes) -> StatePacket:
    """Decode a state packet; raise ``Malformed``."""
    reader = _ByteReader(data)
    kind, token, snapshot, time_us, echoes, echo_us, held_us = reader.take(_STATE_HEAD)
    _refuse_unless(kind == _STATE, "not a state packet")
    body = Body(*reader.take(_BODY))
    _refuse_unless(_is_valid_state(*body[:4]), "a number out of range")
    epoch, length = reader.take(_MESSAGE)
    message = reader.read_bytes(length)
    deltas = {}
    for _ in range(reader.count(MOST_DELTAS, _DELTAS)):
        back, player, delta_us = reader.take(_DELTA)
        deltas[snapshot - back, player] = delta_us
    projectiles = []
    for _ in range(reader.count(MOST_PROJECTILES)):
        one = Projectile(*reader.take(_PROJECTILE))
        _refuse_unless(_is_valid_state(one.x, one.y, one.vx, one.vy), "a number out of range")
        projectiles.append(one)
    verdicts = []
    for _ in range(reader.count(MOST_VERDICTS)):
        timestamp_us, code, target = reader.take(_VERDICT)
        _refuse_unless(code < len(VERDICTS), "an unknown verdict")
        verdicts.append(Verdict(timestamp_us, code, None if target == NO_ONE else target))
    reader.finish()
    _refuse_unless(echoes <= 2, "an unknown kind of echo")
    echo = (echo_us if echoes else None, echoes == 2, held_us)
    return StatePacket(
        token, snapshot, time_us, *echo, body, epoch, message, deltas, projectiles, verdicts
    )


def decode_pose(
    encoding: Encoding, state: EncodedState
) -> tuple[Vector, Vector | None, Rotation | None]:
    """Decode a position, velocity and rotation, rounded to ``DECIMALS`` as both sides do.

    Raise ``ValueError`` for a state that no player can have.
    """
    position, velocity, rotation, _ = (
        None if part is None else tuple(round(value, DECIMALS) + 0.0 for value in part)
        for part in encoding.decode_parts(state)
    )
    if position is None or not _is_valid_state(*position, *(velocity or ())):
        raise ValueError("a position or a velocity out of range")
    if rotation is not None and not abs(math.hypot(*rotation) - 1) < 0.01:  # true for NaN
        raise ValueError("a rotation that is not of length 1")
    return position, velocity, rotation  # type: ignore[return-value]  # as long as their fields


def _is_valid_state(*values: float) -> bool:
    return all(math.isfinite(value) and abs(value) <= FARTHEST for value in values)


def _refuse_unless(holds: bool, otherwise: str) -> None:
    if not holds:
        raise Malformed(otherwise)


class _ByteReader:
    """A reader of bytes from the front, which raises ``Malformed`` at the end."""

    def __init__(self, data: bytes) -> None:
        _refuse_unless(len(data) <= LONGEST_PACKET, "longer than a packet")
        self._data = data
        self._at = 0

    def take(self, layout: struct.Struct) -> tuple[Any, ...]:
        _refuse_unless(self._at + layout.size <= len(self._data), "shorter than its lengths say")
        values = layout.unpack_from(self._data, self._at)
        self._at += layout.size
        return values

    def read_bytes(self, length: int) -> bytes:
        """Return the next ``length`` bytes."""
        _refuse_unless(self._at + length <= len(self._data), "shorter than its lengths say")
        self._at += length
        return self._data[self._at - length : self._at]

    def count(self, most: int, layout: struct.Struct = _COUNT) -> int:
        (number,) = self.take(layout)
        _refuse_unless(number <= most, "more entries than allowed")
        return int(number)

    def finish(self) -> None:
        _refuse_unless(self._at == len(self._data), "longer than its lengths say")
