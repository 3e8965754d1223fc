"""Random tables as programs write them: the packets are those that are meant, or a finding says so.

Names are those that real programs use; units, delimiters, encodings, order of columns and of rows
vary. There is no third thing: neither other packets without a finding, nor an error of ours.
"""

from __future__ import annotations

import io
import math
import random
import warnings
from typing import NamedTuple

import pytest

from epic_cli import RecordingWarning, RefusedLine, read_packets

TIMES = [
    "time",
    "t",
    "ts",
    "timestamp",
    "Timestamp",
    "Time",
    "elapsed",
    "game_time",
    "server_time",
    "sim_time",
    "clock",
    "stamp",
    "sent",
    "sent_at",
    "simTime",
    "gameTime",
    "serverTime",
    "epoch",
    "unix_time",
    "relative_time",
    "zeit",
    "Zeit",
    "header.stamp",
    "sent_time",
    "elapsed_time",
    "world_time",
    "remote_time",
    "tx_time",
    "realtime",
    "match_time",
    "network_time",
    "clientTime",
    "client_send_time",
    "second",
    "timestep_time",
    "record.timestamp",
    "_time",
]
POSITIONS = [
    tuple(pattern.replace("?", axis) for axis in "xyz")
    for pattern in [
        "?",
        "pos_?",
        "pos?",
        "p?",
        "position_?",
        "position.?",
        "transform.position.?",
        "loc_?",
        "location.?",
        "coord_?",
        "pos.?",
        "origin_?",
        "translation.?",
        "world_?",
        "player_?",
        "actor.?",
        "pose.position.?",
        "state.position.?",
        "body_?",
        "point.?",
    ]
] + [
    ("X", "Y", "Z"), ("posX", "posY", "posZ"), ("PosX", "PosY", "PosZ"), ("east", "north", "up"),
    ("pos_0", "pos_1", "pos_2"), ("pos_1", "pos_2", "pos_3"), ("tx", "ty", "tz"),
    ("position1", "position2", "position3"), ("Position.X", "Position.Y", "Position.Z"),
    ("vehicle_x", "vehicle_y", "vehicle_z"),
]  # fmt: skip
ENTITIES = [
    "entity",
    "id",
    "player",
    "player_id",
    "playerId",
    "name",
    "Name",
    "entity_id",
    "entityId",
    "object_id",
    "actor",
    "unit",
    "vehicle",
    "MMSI",
    "icao24",
    "callsign",
    "tank",
    "car",
    "ship",
    "drone",
    "robot",
    "agent",
    "track",
    "track_id",
    "connectionId",
    "peer",
    "peer_id",
    "netId",
    "guid",
    "uuid",
    "user_id",
    "client_id",
    "steamid",
    "username",
    "driver",
    "pilot",
    "subject",
    "marker",
    "object",
    "bot",
    "pawn",
    "character",
    "plane",
    "aircraft",
    "boat",
    "connection",
    "instance_id",
    "network_id",
    "unit_id",
    "car_id",
    "uid",
    "vessel",
    "Fahrzeug",
    "Spieler",
    "vehicle_id",
    "participant_id",
    "agent_id",
    "nickname",
    "player_name",
    "actorName",
    "unique_id",
]
UNKNOWN = [
    "who_is_it",
    "wing",
    "hull_no",
    "berth",
    "slot",
    "bib",
    "lane",
    "ref",
    "thing",
    "kennung",
    "squad_member",
    "seat",
]
OTHERS = [
    "health",
    "hp",
    "ammo",
    "yaw",
    "pitch",
    "roll",
    "ping",
    "fps",
    "weapon",
    "gear",
    "rpm",
    "state",
    "kind",
    "level",
    "map",
    "comment",
    "animation",
    "grounded",
    "crouching",
    "latency_note",
    "team",
    "score",
    "stamina",
    "shield",
    "heading",
    "armor",
    "flags",
    "zone",
    "biome",
    "checksum",
    "version",
    "build",
    "region",
    "lap",
    "kills",
    "deaths",
    "mana",
    "energy",
    "temperature",
    "battery",
    "throttle",
    "brake",
    "sequence_time_left",
    "Player1",
]
#: Vectors beside the position that are none.
DECOYS = [
    "camera?", "cam_?", "aim.?", "target_?", "look_at_?", "mouse_?", "scale.?", "rotation_?",
    "cameraPos?", "lookAt?", "size_?", "spawn_?", "goal.?", "velocity_target_?", "acceleration_?",
    "angular.?", "forward_?", "waypoint_?", "prev_?", "gyro_?",
]  # fmt: skip
UNITS = {"": 1.0, " [s]": 1.0, "_ms": 1e3, " (us)": 1e6, " [min]": 1 / 60}
LENGTHS = {"": 1.0, " [m]": 1.0, " [cm]": 100.0, " (ft)": 1 / 0.3048}

State = tuple[float, float, float, float]


class Table(NamedTuple):
    text: bytes
    meant: dict[str, list[State]]


def movement(number: int, time: float) -> tuple[float, float, float]:
    angle = 0.4 * time + number
    return 40 * number + 9 * math.cos(angle), 9 * math.sin(angle), 1.5 + 0.2 * number


def table(random: random.Random) -> Table:
    entities = random.choice((1, 1, 2, 3))
    unit, length = random.choice(list(UNITS)), random.choice(list(LENGTHS))
    axes = [f"{name}{length}" for name in random.choice(POSITIONS)]
    time = random.choice(TIMES) + unit
    name = random.choice(ENTITIES if random.random() < 0.8 else UNKNOWN)
    others = random.sample(OTHERS, random.randrange(4))
    decoys = []
    if random.random() < 0.3:
        decoy = random.choice(DECOYS)
        decoys = [
            decoy.replace("?", axis.upper() if decoy[-2].isalpha() else axis) for axis in "xyz"
        ]
    columns = [time, *axes, *others, *decoys, *([name] if entities > 1 else [])]
    random.shuffle(columns)
    delimiter = random.choice(",;\t|")
    grouped = random.random() < 0.3
    rate, count = random.choice((10, 20, 30, 60)), random.randrange(16, 40)
    keys = [(number, step) for step in range(count) for number in range(entities)]
    if grouped:
        keys.sort()
    elif random.random() < 0.1:
        random.shuffle(keys)
    meant: dict[str, list[State]] = {}
    lines = [delimiter.join(columns)]
    for number, step in keys:
        seconds = step / rate
        place = movement(number, seconds)
        values = {time: f"{seconds * UNITS[unit]:.9g}", name: f"unit{number}"}
        values.update(
            (axis, f"{one * LENGTHS[length]:.6f}") for axis, one in zip(axes, place, strict=True)
        )
        values.update((one, f"{at * 3 + step * 1.7:.3f}") for at, one in enumerate(decoys))
        for other in others:
            values[other] = f"{len(other) * 7 + step:.1f}"
        lines.append(delimiter.join(values[column] for column in columns))
        meant.setdefault(f"unit{number}" if entities > 1 else "", []).append((seconds, *place))
    end = random.choice(("\n", "\r\n"))
    text = end.join(lines) + end
    return Table(text.encode(random.choice(("utf-8", "utf-8-sig", "utf-16"))), meant)


def as_meant(found: dict[str, list[State]], meant: dict[str, list[State]]) -> bool:
    return found.keys() == meant.keys() and all(
        len(a) == len(b)
        and all(
            x == pytest.approx(y, abs=2e-3)
            for one, two in zip(a, b, strict=True)
            for x, y in zip(one, two, strict=True)
        )
        for a, b in ((found[name], meant[name]) for name in meant)
    )


@pytest.mark.parametrize("seed", range(150))
def test_packets_are_as_meant_or_a_finding_says_so(seed: int) -> None:
    given = table(random.Random(seed))
    found: dict[str, list[State]] = {}
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        try:
            for packet in read_packets(io.BytesIO(given.text)):
                found.setdefault(packet.entity, []).append((packet.time, *packet.position))
        except RefusedLine:
            return  # it is not read, and says why
    grave = [
        message.message.finding
        for message in said
        if isinstance(message.message, RecordingWarning) and message.message.finding.is_error
    ]
    assert grave or as_meant(found, given.meant), given.text[:300]
