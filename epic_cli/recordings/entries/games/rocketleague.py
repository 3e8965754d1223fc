"""Rocket League's replays: each state of a ball or a car that a server sent to the recorder.

What they hold is not documented by those who make the game. The layout and the scales are those of
https://github.com/nickbabcock/boxcars and https://github.com/rlrml/subtr-actor (both MIT).
"""

from __future__ import annotations

import json
import math
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from epic_cli.recordings import Unreadable
from epic_cli.recordings.entries.games.apart import name_entity, write_line

#: Columns of what is written: meters, radians and seconds, z up, the left-handed axes of Unreal.
COLUMNS = "entity,time,x,y,z,vx,vy,vz,qx,qy,qz,qw,wx,wy,wz,teleport"

#: Network versions from which vectors have hundredths, and rotations are quaternions.
_HUNDREDTHS, _QUATERNIONS = 5, 7

#: What says whose a car is; and who that is.
_PLAYER = "Engine.Pawn:PlayerReplicationInfo"
_ID, _NAME = "Engine.PlayerReplicationInfo:UniqueId", "Engine.PlayerReplicationInfo:PlayerName"
_FACTS = (_PLAYER, _ID, _NAME)

_ASLEEP = {"x": 0.0, "y": 0.0, "z": 0.0}

#: What the checksum begins with.
_BEGINNING = 0x804FD3F7


def iterate_rows(path: str, names: bool) -> Iterator[str]:
    """Yield a line for each update in the replay; no states are interpolated."""
    import subtr_actor

    data = Path(path).read_bytes()
    check(data)
    replay = subtr_actor.parse_replay(data)
    frames = (replay["network_frames"] or {}).get("frames") or ()
    if not frames:
        raise Unreadable("a replay of Rocket League without a frame: it has no movement")
    version = replay["net_version"] or 0
    match = _MatchActors(replay["objects"])
    found = [(frame["time"], *body) for frame in frames for body in match.iterate_bodies(frame)]
    entities = match.name_entities([(time, life) for time, life, _ in found], names)
    newest = dict(sorted(((time, entities[life]), life) for time, life, _ in found))
    last: dict[str, int] = {}
    for time, life, body in found:
        name = entities[life]
        before = last.setdefault(name, life)
        if before <= life == newest[time, name]:  # else a wreck, whose driver has a new car
            last[name] = life
            yield write_line(
                name, time - frames[0]["time"], *_read_state(body, version), int(life > before)
            )


def check(data: bytes) -> None:
    """Raise ``Unreadable`` for a replay that ends too early or is damaged."""
    what = "a replay of Rocket League that"
    for part in ("header", "content"):
        size, checksum = int.from_bytes(data[:4], "little"), int.from_bytes(data[4:8], "little")
        found, data = data[8 : 8 + size], data[8 + size :]
        if len(found) < size or not size:
            raise Unreadable(f"{what} ends too early, in its {part}")
        if compute_crc(found) != checksum:
            raise Unreadable(f"{what} is damaged: the checksum of its {part} is wrong")


def compute_crc(data: bytes) -> int:
    """Return the CRC-32 with the polynomial 0x04c11db7 from the highest bit down.

    Zlib's is mirrored.
    """
    mirrored = bytes(int(f"{byte:08b}"[::-1], 2) for byte in range(256))
    value = zlib.crc32(data.translate(mirrored), _BEGINNING)
    return int(f"{value:032b}"[::-1], 2)


class _MatchActors:
    """The actors of a match; an actor's life goes from its creation until its deletion.

    Lives are numbered here, as a replay uses an actor's number again. Balls and cars live until the
    next kick-off or a demolition; a car's player, known by name, is another actor after a lost
    connection.
    """

    def __init__(self, objects: list[str]) -> None:
        self._kinds = {
            number: kind for number, one in enumerate(objects) if (kind := _classify_object(one))
        }
        self._facts = {number: one for number, one in enumerate(objects) if one in _FACTS}
        self._living: dict[int, int] = {}  # the lives of actors
        self._objects: dict[int, int] = {}  # and these by lives
        self._known: dict[str, dict[int, Any]] = {fact: {} for fact in _FACTS}
        self._lives = 0

    def iterate_bodies(self, frame: dict[str, Any]) -> Iterator[tuple[int, dict[str, Any]]]:
        """Yield the life and the body of each ball and car that a frame updates."""
        for actor in frame["deleted_actors"]:
            self._living.pop(actor, None)
        for new in frame["new_actors"]:
            actor, number = new["actor_id"], new["object_id"]
            if (
                self._objects.get(self._number_life(actor), number) != number
            ):  # key frames name all again
                del self._living[actor]
            self._objects[self._number_life(actor)] = number
        for update in frame["updated_actors"]:
            life = self._number_life(update["actor_id"])
            ((kind, value),) = update["attribute"].items()
            if kind == "RigidBody" and self._objects.get(life) in self._kinds:
                yield life, value
            elif (fact := self._facts.get(update["object_id"])) in (_ID, _NAME):
                self._known[fact].setdefault(life, value)
            elif fact == _PLAYER and value["active"]:
                self._known[fact].setdefault(life, self._number_life(value["actor"]))

    def _number_life(self, actor: int) -> int:
        if actor not in self._living:
            self._lives += 1
            self._living[actor] = self._lives
        return self._living[actor]

    def name_entities(self, updates: list[tuple[float, int]], names: bool) -> dict[int, str]:
        """Return the entity's name for each life; ``updates`` are times and lives.

        After a ball's last update its number is free for the next ball.
        """
        ends = {life: time for time, life in updates}
        found: dict[int, str] = {}
        cars: dict[object, str] = {}
        balls: list[float] = []
        taken = {"ball"}
        for time, life in updates:
            if life in found:
                continue
            if self._kinds[self._objects[life]] == "ball":
                number = next((n for n, end in enumerate(balls) if end <= time), len(balls))
                balls[number : number + 1] = [ends[life]]
                found[life] = f"ball-{number + 1}" if number else "ball"
                continue
            player = self._known[_PLAYER].get(life, life)
            name = self._known[_NAME].get(player, "")
            key = json.dumps([name, self._known[_ID].get(player)]) if name else player
            if key not in cars:
                cars[key] = name_entity(taken, f"car-{len(cars) + 1}", name if names else "")
            found[life] = cars[key]
        return found


def _classify_object(name: str) -> str:
    """Return whether an object is a ball or a car: each game mode has its own names."""
    if name.startswith("Archetypes.Ball."):
        return "ball"
    return "car" if name.startswith("Archetypes.Car.") or name.endswith(":CarArchetype") else ""


def _read_state(body: dict[str, Any], version: int) -> tuple[float, ...]:
    """Return position, velocity, rotation and angular velocity of a body; asleep it does not move.

    Vectors come as hundredths of whole numbers, in single precision: these are 0.1 mm, 0.1 mm/s and
    0.1 mrad/s, or in old versions cm, mm/s and mrad/s.
    """
    whole = [
        round((body[part] or _ASLEEP)[axis] * 100)
        for part in ("location", "linear_velocity", "angular_velocity")
        for axis in "xyz"
    ]
    units = [1e4] * 9 if version >= _HUNDREDTHS else [100] * 3 + [1000] * 6
    state = [one / unit for one, unit in zip(whole, units, strict=True)]
    return (*state[:6], *_read_rotation(body["rotation"], version), *state[6:])


def _read_rotation(given: dict[str, float], version: int) -> tuple[float, ...]:
    """Return a unit quaternion; old versions have pitch, yaw and roll, in half turns."""
    if version >= _QUATERNIONS:
        return tuple(given[axis] for axis in "xyzw")
    pitch, yaw, roll = (math.pi / 2 * given[axis] for axis in "xyz")
    cp, sp, cy, sy = math.cos(pitch), math.sin(pitch), math.cos(yaw), math.sin(yaw)
    cr, sr = math.cos(roll), -math.sin(roll)  # it turns the other way
    x, y = sr * cp * cy - cr * sp * sy, cr * sp * cy + sr * cp * sy
    return x, y, cr * cp * sy - sr * sp * cy, cr * cp * cy + sr * sp * sy
