"""Small recordings of games: Rocket League's replays and Slippi's, written bit by bit.

The layouts are those that their readers document: https://github.com/nickbabcock/boxcars (MIT) and
https://github.com/project-slippi/slippi-wiki/blob/master/SPEC.md.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Mapping, Sequence
from importlib.util import find_spec
from typing import NamedTuple

import pytest

needs_rocketleague = pytest.mark.skipif(
    not find_spec("subtr_actor"), reason="the extra 'rocketleague' is not installed"
)
needs_slippi = pytest.mark.skipif(
    not find_spec("peppi_py"), reason="the extra 'slippi' is not installed"
)

Vector = tuple[int, int, int]


class Bits:
    """Bits from the lowest of each byte up."""

    def __init__(self) -> None:
        self._value = self._size = 0

    def add(self, value: int, size: int) -> None:
        assert 0 <= value < 1 << size
        self._value |= value << self._size
        self._size += size

    def below(self, value: int, most: int) -> None:
        """Append a number below ``most``; its highest bit is left out where it cannot be set."""
        size = max(most.bit_length(), 1) - 1
        self.add(value & ((1 << size) - 1), size)
        if (value & ((1 << size) - 1)) + (1 << size) < most:
            self.add(value >> size, 1)

    def number(self, value: float) -> None:
        self.add(int.from_bytes(struct.pack("<f", value), "little"), 32)

    def vector(self, value: Vector, version: int) -> None:
        size = max(max(abs(number) for number in value).bit_length() - 1, 0)
        self.below(size, 22 if version >= 7 else 20)
        for number in value:
            self.add(number + (2 << size), size + 2)

    def text(self, value: str) -> None:
        if value.isascii():
            data, length = value.encode() + b"\0", len(value) + 1
        else:
            data = f"{value}\0".encode("utf-16-le")
            length = (-len(data) // 2) & 0xFFFFFFFF
        self.add(length, 32)
        self.add(int.from_bytes(data, "little"), 8 * len(data))

    @property
    def data(self) -> bytes:
        return self._value.to_bytes(-(-self._size // 8), "little")


class Body(NamedTuple):
    """A state in the file's units: hundredths, and a quaternion or three sixteen-bit angles."""

    place: Vector
    turn: Sequence[float]
    velocity: Vector | None = None
    spin: Vector | None = None


class New(NamedTuple):
    actor: int
    thing: str


class Gone(NamedTuple):
    actor: int


class State(NamedTuple):
    actor: int
    body: Body


class Driver(NamedTuple):
    """The player of a car; no actor: the car has no player any more."""

    actor: int
    player: int | None


class Called(NamedTuple):
    actor: int
    name: str
    number: int


Event = New | Gone | State | Driver | Called
BALL, CAR, PLAYER = "Archetypes.Ball.Ball_Default", "Archetypes.Car.Car_Default", "player"

_CLASSES = {
    "TAGame.RBActor_TA": {"TAGame.RBActor_TA:ReplicatedRBState": 1},
    "Engine.Pawn": {"Engine.Pawn:PlayerReplicationInfo": 2},
    "Engine.PlayerReplicationInfo": {
        "Engine.PlayerReplicationInfo:PlayerName": 3,
        "Engine.PlayerReplicationInfo:UniqueId": 4,
    },
}
_OBJECTS = [
    BALL, CAR, "TAGame.Default__PRI_TA", "Archetypes.Ball.Ball_Puck",
    *_CLASSES, *(name for kind in _CLASSES.values() for name in kind),
]  # fmt: skip


def checksum(data: bytes) -> int:
    """Return the CRC-32 with the polynomial 0x04c11db7, bit by bit from the highest down."""
    state = 0x10340DFE
    for byte in data:
        state ^= byte << 24
        for _ in range(8):
            state = (state << 1 ^ (0x04C11DB7 if state >> 31 else 0)) & 0xFFFFFFFF
    return state ^ 0xFFFFFFFF


def _word(value: int) -> bytes:
    return struct.pack("<i", value)


def _name(text: str) -> bytes:
    return _word(len(text) + 1) + text.encode() + b"\0"


def _list(items: Iterable[bytes]) -> bytes:
    items = list(items)
    return _word(len(items)) + b"".join(items)


def replay(
    frames: Sequence[tuple[float, Sequence[Event]]], version: tuple[int, int] = (32, 10)
) -> bytes:
    """Return a replay of these frames with their times; minor and net versions of Rocket League."""
    minor, net = version
    network = Bits()
    made: dict[int, str] = {}
    for time, events in frames:
        network.number(time)
        network.number(0.05)
        for event in events:
            network.add(1, 1)
            network.below(event.actor, 1023)
            _event(network, event, minor, net, made)
        network.add(0, 1)
    network.add(0, 64)
    data = network.data
    caches = []
    for thing, attributes in _CLASSES.items():
        streams = (_word(_OBJECTS.index(name)) + _word(at) for name, at in attributes.items())
        caches.append(_word(_OBJECTS.index(thing)) + _word(0) + _word(0) + _list(streams))
    no = _list(())
    content = no + no + _word(len(data)) + data + no + no + no
    content += _list(map(_name, _OBJECTS)) + no + no + _list(caches)
    header = _word(868) + _word(minor) + (_word(net) if minor > 17 else b"")
    header += _name("TAGame.Replay_Soccar_TA") + _name("NumFrames") + _name("IntProperty")
    header += _word(4) + _word(0) + _word(len(frames)) + _name("None")
    parts = (header, content)
    return b"".join(struct.pack("<II", len(part), checksum(part)) + part for part in parts)


def _event(bits: Bits, event: Event, minor: int, net: int, made: dict[int, str]) -> None:
    if isinstance(event, Gone):
        bits.add(0, 1)
        return
    bits.add(1, 1)
    bits.add(isinstance(event, New), 1)
    if isinstance(event, New):
        thing = "TAGame.Default__PRI_TA" if event.thing == PLAYER else event.thing
        made[event.actor] = thing
        if minor >= 14:
            bits.add(0, 32)
        bits.add(0, 1)
        bits.add(_OBJECTS.index(thing), 32)
        if event.thing != PLAYER:
            bits.vector((0, 0, 0), net)
            bits.add(0, 3)
        return
    streams = 5 if "PRI" in made[event.actor] else 3
    if isinstance(event, State):
        bits.add(1, 1)
        bits.below(1, streams)
        _body(bits, event.body, net)
    elif isinstance(event, Driver):
        bits.add(1, 1)
        bits.below(2, streams)
        bits.add(event.player is not None, 1)
        bits.add((-1 if event.player is None else event.player) & 0xFFFFFFFF, 32)
    else:
        bits.add(1, 1)
        bits.below(3, streams)
        bits.text(event.name)
        bits.add(1, 1)
        bits.below(4, streams)
        bits.add(1, 8)  # of Steam
        bits.add(event.number, 64)
        bits.add(0, 8)
    bits.add(0, 1)


def _body(bits: Bits, body: Body, net: int) -> None:
    bits.add(body.velocity is None, 1)
    bits.vector(body.place, net)
    if net >= 7:
        largest = max(range(4), key=lambda axis: abs(body.turn[axis]))
        sign = 1 if body.turn[largest] > 0 else -1
        bits.add(largest, 2)
        for axis in range(4):
            if axis != largest:
                share = sign * body.turn[axis] / 2**0.5 + 0.5
                bits.add(round(share * (2**18 - 1)), 18)
    else:
        for angle in body.turn:
            bits.add(round(angle * 32767) + 32768, 16)
    if body.velocity is not None and body.spin is not None:
        bits.vector(body.velocity, net)
        bits.vector(body.spin, net)


class Fighter(NamedTuple):
    """A fighter in one frame, in Melee's units and units per frame."""

    x: float
    y: float
    action: int = 20
    airborne: bool = False
    #: In the air, up, by a push, up by a push, on the ground.
    speeds: tuple[float, float, float, float, float] = (0.0, 0.0, 0.0, 0.0, 0.0)


#: A frame: its number, and the fighters by their ports (0 to 3) and whether they are followers.
Frame = tuple[int, Mapping[tuple[int, bool], Fighter]]

#: Bytes of what is told once, of a fighter before and after a frame, and of the end, by version.
_SIZES = {(0, 1): (320, 58, 33, 1), (3, 9): (584, 63, 76, 2)}


def slippi(
    frames: Sequence[Frame],
    version: tuple[int, int] = (3, 9),
    names: Mapping[int, str] | None = None,
    characters: Mapping[int, int] | None = None,
) -> bytes:
    """Return a Slippi replay; ``names`` are those of online players, by port."""
    sizes = _SIZES[version]
    ports = sorted({port for _, one in frames for port, _ in one})
    start = bytearray(sizes[0])
    start[:4] = (*version, 0, 0)
    for port in range(4):
        at = 4 + 0x60 + 36 * port
        start[at] = (characters or {}).get(port, 2)
        start[at + 1] = 0 if port in ports else 3
        start[at + 2] = 4
        if version >= (3, 9) and port in (names or {}):
            data = (names or {})[port].encode("shift_jis")
            at = 0x1A5 - 1 + 31 * port
            start[at : at + len(data)] = data
    told = [(0x36, sizes[0]), (0x37, sizes[1]), (0x38, sizes[2]), (0x39, sizes[3])]
    modern = version >= (3, 0)
    if modern:
        told += [(0x3A, 8), (0x3C, 8)]
    raw = bytearray((0x35, 3 * len(told) + 1))
    raw += b"".join(struct.pack(">BH", *pair) for pair in told)
    raw += b"\x36" + start
    for number, fighters in frames:
        head = struct.pack(">i", number)
        raw += b"\x3a" + head + bytes(4) if modern else b""
        for code in (0x37, 0x38):
            for (port, follower), one in fighters.items():
                payload = bytearray(sizes[code - 0x36])
                payload[:6] = head + bytes((port, follower))
                if code == 0x38:
                    payload[6:17] = struct.pack(">BHff", 2, one.action, one.x, one.y)
                    if modern:
                        payload[0x2E] = one.airborne
                        payload[0x34:0x48] = struct.pack(">5f", *one.speeds)
                raw += bytes((code,)) + payload
        raw += b"\x3c" + head + head if modern else b""
    raw += b"\x39" + bytes((2, 255)[: sizes[3]])
    return b"{U\x03raw[$U#l" + struct.pack(">I", len(raw)) + bytes(raw) + b"U\x08metadata{}}"
