"""Random tables and JSON whose meaning is known: is each read rightly, or is something said?

    python -m endurance.tables --cases 500 --seed 1

The names, units, layouts and faults are those of logs that programs write, gathered without looking
at what the readers know. A case is *right* (these packets, and no word), *told* (something is said,
and the first line that is proposed reads these packets; *chosen*: another one of them does),
*refused* (nothing is proposed), *wrong* (what is proposed reads others), *doubted* (these packets,
but called wrong), or *silent* (others, without a word). Local and remote, which may be two
views of one thing, are refused with a choice, and count as wrong.
"""

from __future__ import annotations

import argparse
import csv
import datetime
import io
import json
import math
import sys
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from random import Random
from typing import Any, NamedTuple

from epic_cli import read_packets

#: A state as it was written: time, place, and velocity or None.
State = tuple[float, tuple[float, ...], tuple[float, ...] | None]


class Case(NamedTuple):
    """What a program wrote, the states that it meant, and what was chosen on the way.

    ``rate`` is what the user knows of a column that counts; ``flawed``: it has what is no place.
    """

    data: bytes
    meant: list[list[State]]
    choices: tuple[str, ...]
    rate: float
    flawed: bool = False


def _names(text: str) -> list[str]:
    """Names with a bar between them."""
    return [name.strip() for name in text.split("|")]


#: Names of times, by how they are written and how many seconds one unit is; 0: a count.
CLOCKS = [
    (form, size, _names(names))
    for form, size, names in (
        ("s", 1.0, "time|t|Time|TIME|timestamp|Timestamp|ts|elapsed|ElapsedTime|secs|seconds|time_s"
         "|t_sec|Time [s]|time (s)|Time(s)|time_seconds|gametime|game_time|GameTime|sim_time|stamp"
         "|server_time|Time since start|time_elapsed|clock|sent|TimeSeconds|world_time"
         "|timeSinceStart|match_clock|uptime"),
        ("integer", 1e-3, "ms|time_ms|timeMs|t_ms|millis|Time [ms]|time(ms)|time (ms)|timestamp_ms"
         "|milliseconds|time(millisecond)|Time (milliseconds)|elapsed_ms|serverTimeMs|time|ts|t"
         "|timestamp|Timestamp|server_time|tickcount"),
        ("float", 1e-3, "performance.now()|ElapsedTime|ts|now|time|elapsed|t|DOMHighResTimeStamp"),
        ("integer", 1e-6, "us|time_us|micros|timestamp_us|time [us]|ts|t"),
        ("integer", 1e-9, "nanos|time_ns|ns|t [ns]|timestamp|stamp_ns"),
        ("fine", 60.0, "time_min|Time (min)|minutes"),
        ("unix", 1.0, "time|epoch|unix_time|timestamp|ts|unix"),
        ("unix", 1e-3, "epoch_ms|timestamp|ts|unix_ms|time|date"),
        ("unix", 1e-6, "timestamp_us|ts|time"),
        ("unix", 1e-9, "timestamp|rosbagTimestamp|time_ns"),
        ("iso", 1.0, "time|timestamp|datetime|date|Date/Time|when|utc"),
        ("clock", 1.0, "time|Time|clock|timecode"),
        ("excel", 86400.0, "time|Date|Timestamp"),
        ("ticks", 1e-7, "ticks|time|Timestamp|filetime"),
        ("count", 0.0, "frame|tick|Frame|server_tick|frameNumber|step"),
    )
]  # fmt: skip

#: Names of places and velocities, in which ? is the axis, or @ its number.
PLACES = _names(
    "?|pos_?|pos?|p?|position_?|position.?|Position.?|Pos?|pos.?|loc_?|location?|Location.?"
    "|coord_?|?_pos|?Pos|?_position|?coord|world_?|origin?|origin_?|translation_?|t?|player_?"
    "|Player?|player?|body_?|ball_?|root_?|pose_?|pose.position.?|pose.pose.position.?"
    "|transform.position.?|transform.translation.?|head_?|state_?|abs_?|actor_location_?"
    "|Position (?)|Pos ?|Position ?|coords.?|?_world|global_?|m_vecOrigin_?|ent_?|entity.?|net_?"
    "|TrackPosition?|rigidbody_?"
)
NUMBERED = _names("pos_@|pos[@]|position.@|p@|origin_@|pos@|location_@")
SPEEDS = _names(
    "v?|vel_?|vel?|velocity_?|velocity.?|Velocity.?|V?|?_vel|?vel|linear_velocity_?|linvel_?"
    "|speed_?|v_?|twist.linear.?|lin_vel.?|velocity?|Vel ?"
)
DECOYS = _names(
    "cam_?|camera.?|aim?|target_?|lookat_?|mouse_?|accel_?|a?|spawn_?|rot_?|normal_?|input_?"
)

#: Units in names, and how many metres one has.
LENGTHS = [
    *((" [m]", 1.0), ("_m", 1.0), (" (m)", 1.0), ("_mm", 0.001), (" [mm]", 0.001), ("_cm", 0.01)),
    *((" (cm)", 0.01), (" [cm]", 0.01), (" (ft)", 0.3048), (" [km]", 1000.0), ("_ft", 0.3048)),
]

#: Columns that name an entity; for "key" two of them do together. What stands in them.
NAMERS = _names(
    "id|ID|player|player_id|playerId|PlayerID|name|Name|entity|entity_id|source|label|who|unit"
    "|object|objectId|obj|track_id|trackId|actor|agent|car|vehicle|vehicle_id|drone|robot|peer"
    "|client|clientId|connection|uid|guid|uuid|steamId|user|nick|callsign|mmsi|icao|tag|tag_id"
    "|jersey|bib|owner|netid|network_id|body|marker|device|sensor|target|ped|npc|character|driver"
    "|ship|tank|animal|subject|participant|no|key|slot"
)
NAMED = _names("p{1}|{0}|{1}|{2}|player_{0}|unit {2}|{3}|{4:08x}-1f2e|Car {1}|{5}.0|#{0}|team/{0}")

#: Columns of one row for several entities, and who they are.
WIDE = _names(
    "{0}_{1}|{1}_{0}|{0}.{1}|{0}_pos_{1}|{0}.pos.{1}|{0}{2}|{0}.p{1}|world_{1}_{0}|pos_{1}_{0}"
    "|{0} {2}|{0}/position/{1}|{0}_position_{1}|{0}:{1}"
)
CAST = [
    _names("p1|p2|p3|p4"), _names("player1|player2"), _names("red|blue"),
    _names("home_7|home_10|away_3|ball"), _names("ball|car0|car1"), _names("leader|follower"),
    _names("local|remote"), _names("A|B|C"), _names("head|left|right"), _names("tank7|tank9"),
    _names("drone_0|drone_1|drone_2"), _names("ally|enemy"),
]  # fmt: skip

#: Columns beside them: as they count, as they are drawn, or always the same.
NOISE: list[tuple[str, Sequence[object]]] = [
    ("health", range(100, 60, -1)), ("ping", range(20, 90, 7)), ("state", ("run", "idle", "run")),
    ("grounded", ("true", "false")), ("ammo", range(30, 0, -1)), ("fps", (59.8, 60.1, 60.4)),
    ("map", ("dust2",)), ("weapon", ("ak",)), ("score", (7,)), ("rpm", range(800, 1200)),
    ("temperature", (20.1, 20.2, 20.15)), ("comment", ("",)), ("level", (3,)), ("valid", (1,)),
    ("distance", [round(at * 0.21, 2) for at in range(10_000)]), ("speed", (3.1, 3.7, 3.05)),
    ("stamina", (0.1, 0.8, 0.55)), ("packet_size", range(40, 60)), ("row", range(10_000)),
    ("confidence", (0.93, 0.99)), ("jump", (0, 0, 0, 0, 1)), ("heading", range(360)),
    ("accuracy", (1.5, 2.25)), ("phase", [at // 100 for at in range(10_000)]),
]  # fmt: skip
BLANKS = ["", "", *_names("NA|NaN|nan|null|None|N/A|-|inf|-inf|#N/A")]
MARKS = (-1, 9999, -9999, -999, 0, 2147483647)


class Path:
    """One thing that moves: a place and a velocity at each moment."""

    def __init__(self, chance: Random, number: int, span: float, speed: float) -> None:
        self.turns = [
            (chance.uniform(0.2, 1.2), chance.uniform(0, 6.3), speed * chance.uniform(0.3, 0.6))
            for _ in range(2)
        ]
        self.start = [span * (number + 1) * chance.uniform(0.8, 1), span * chance.uniform(-1, 1)]
        self.drift = [chance.uniform(-0.4, 0.4) * speed for _ in range(2)]
        self.climb = chance.choice((0.0, 0.0, 1.0)) * speed / 4
        self.ground = chance.choice((0.0, 1.5, 12.0))

    def at(self, time: float) -> tuple[list[float], list[float]]:
        places, velocities = [], []
        for (pace, phase, speed), start, drift in zip(
            self.turns, self.start, self.drift, strict=True
        ):
            places.append(start + drift * time + speed / pace * math.sin(pace * time + phase))
            velocities.append(drift + speed * math.cos(pace * time + phase))
        places.append(self.ground + self.climb * math.sin(time))
        velocities.append(self.climb * math.cos(time))
        return places, velocities


class Clock(NamedTuple):
    """How times are written."""

    name: str
    size: float
    form: str
    rate: float
    digits: int
    begins: float

    def write(self, time: float, step: int) -> tuple[str, float]:
        """A cell, and the seconds that it says, from any beginning."""
        if self.form == "count":
            return str(int(self.begins) + step), step / self.rate
        time += self.begins
        if self.form == "iso":
            moment = datetime.datetime(2024, 5, 17, 14, 3, 0) + datetime.timedelta(seconds=time)
            text = moment.isoformat("T" if self.digits == 3 else " ", "milliseconds")
            shown = datetime.datetime.fromisoformat(text)
            return text, (shown - datetime.datetime(2024, 5, 17, 14, 3, 0)).total_seconds()
        if self.form == "clock":
            count = round(time * 1000)
            minutes, rest = divmod(count, 60_000)
            hours, minutes = divmod(minutes + 14 * 60, 60)
            return f"{hours:02}:{minutes:02}:{rest // 1000:02}.{rest % 1000:03}", count / 1000
        if self.form == "unix" and self.size == 1.0:
            return f"{1_715_954_580 + round(time, 3):.3f}", round(time, 3)
        if self.form in ("integer", "ticks", "unix"):
            count = round(time / self.size)
            start = {"ticks": 638_515_000_000_000_000, "unix": round(1_715_954_580 / self.size)}
            return str(start.get(self.form, 0) + count), count * self.size
        if self.form == "excel":
            text = f"{45_429.5 + time / 86400:.10f}"
            return text, (float(text) - 45_429.5) * 86400
        text = f"{time / self.size:.{6 if self.form == 'fine' else self.digits}f}"
        return text, float(text) * self.size


class Row(NamedTuple):
    """One state of one thing, as it is written."""

    step: int
    number: int
    time: str
    place: list[str]
    velocity: list[str]
    kind: str


class Style(NamedTuple):
    """What names and shapes a program has chosen."""

    layout: str
    clock: Clock
    axes: list[str]
    speeds: list[str]
    namer: str
    names: list[str]
    wide: str
    suffix: str
    kinds: bool


def _choose_clock(chance: Random, rate: float) -> Clock:
    forms = [*["s"] * 5, *["integer"] * 4, "float", "fine", "unix", "unix", "iso", "clock"]
    form = chance.choice([*forms, "excel", "ticks", "count"])
    _, size, names = chance.choice([one for one in CLOCKS if one[0] == form])
    begins = chance.choice((0.0, 0.0, chance.uniform(0, 4000.0)))
    return Clock(chance.choice(names), size, form, rate, chance.choice((3, 3, 4, 6)), begins)


def _name(pattern: str, at: int) -> str:
    letter = "ABCDEFGHIJKLMNOPQRSTUVWX"[at]
    return pattern.format(at, at + 1, letter, 7656119800000000 + 7919 * at, at, 10 * at)


def _axes(chance: Random, pattern: str, dimensions: int) -> list[str]:
    upper = pattern[-2:-1].islower() or "Position " in pattern or chance.random() < 0.15
    return [pattern.replace("?", axis) for axis in ("XYZ" if upper else "xyz")[:dimensions]]


def case(seed: int) -> Case:
    """A recording that some program may have written."""
    chance = Random(seed)
    rate = chance.choice((5, 10, 10, 15, 20, 20, 25, 30, 30, 50, 60, 60, 64, 100, 120, 128))
    count = chance.choice((12, 40, 100, 200, 200, 400))
    clock = _choose_clock(chance, rate)
    dimensions = chance.choice((2, 3, 3))
    speed = chance.choice((1.4, 6.0, 20.0, 60.0, 400.0))
    span = speed * chance.choice((0.5, 3.0, 10.0))
    layouts = ["one", *["long"] * 3, "grouped", *["wide"] * 2, "lines", "nested", "frames"]
    layout = chance.choice([*layouts, "wide lines"])
    cast = chance.choice(CAST)
    entities = 1 if layout == "one" else chance.choice((2, 2, 3, 4, 8, 20))
    if "wide" in layout:
        entities = min(entities, len(cast))
    together = "wide" in layout or layout == "frames"
    still = clock.form == "count"
    jitter = 0.0 if still else chance.choice((0.0, 0.0, 0.3)) / rate
    stagger = 0.0 if still or together else chance.choice((0.0, 0.0, 1.0))
    fault = chance.choice(["", "", "", "", "blank", "blank", "mark", "shots"])
    mark = chance.choice(MARKS)
    digits = chance.choice((2, 3, 4, 6))
    moving = chance.random() < 0.35
    suffix, metres = ("", 1.0)
    if layout not in ("nested", "frames") and chance.random() < 0.2:
        suffix, metres = chance.choice(LENGTHS)
    if NUMBERED and not suffix and chance.random() < 0.08:
        base, pattern = chance.choice((0, 1)), chance.choice(NUMBERED)
        axes = [pattern.replace("@", str(base + axis)) for axis in range(dimensions)]
    else:
        axes = _axes(chance, chance.choice(PLACES), dimensions)
    namer = chance.choice(NAMED)
    style = Style(
        layout, clock, axes,
        _axes(chance, chance.choice(SPEEDS), dimensions) if moving else [],
        chance.choice(NAMERS),
        [cast[at] if "wide" in layout else _name(namer, at) for at in range(entities)],
        chance.choice(WIDE), suffix, fault == "shots" and layout in ("one", "long"),
    )  # fmt: skip

    paths = [Path(chance, number, span, speed) for number in range(entities)]
    rows: list[Row] = []
    meant: list[list[State]] = [[] for _ in paths]
    flawed = False
    for step in range(count):
        late = chance.random() * jitter
        for number, path in enumerate(paths):
            if stagger:
                late = ((number + 0.5) / entities + chance.uniform(-0.3, 0.3) / entities) / rate
            time, said = clock.write(step / rate + late, step)
            place, velocity = path.at(step / rate + late)
            cells = [f"{one / metres:.{digits}f}" for one in place[:dimensions]]
            speeds = [f"{one / metres:.{digits + 1}f}" for one in velocity[:dimensions]]
            broken = step > 2 and chance.random() < 0.06
            if fault == "blank" and broken:
                blank = chance.choice(BLANKS)
                for axis in chance.choice([range(dimensions), [chance.randrange(dimensions)]]):
                    cells[axis] = blank
            elif fault == "mark" and broken:
                flawed = True
                cells = [f"{mark:.{chance.choice((0, digits))}f}"] * dimensions
            else:
                values = [[float(one) * metres for one in row] for row in (cells, speeds)]
                meant[number].append((said, tuple(values[0]), tuple(values[1]) if moving else None))
            rows.append(Row(step, number, time, cells, speeds, "move"))
            if style.kinds and chance.random() < 0.03:
                flawed = True
                far = [f"{float(one) + 2 * span / metres:.{digits}f}" for one in cells]
                rows.append(Row(step, number, time, far, speeds, "shot"))
    if layout == "grouped":
        rows.sort(key=lambda row: row.number)
    write = _table if layout in ("one", "long", "grouped", "wide") else _json
    choices = (layout, clock.name, clock.form, f"{clock.size:g}", f"{rate} Hz", fault, suffix)
    return Case(write(chance, style, rows), [one for one in meant if one], choices, rate, flawed)


def _decoys(step: int, names: list[str]) -> dict[str, str]:
    return {
        name: f"{(at + 1) * 3 + math.sin(step / (9 + at)):.3f}" for at, name in enumerate(names)
    }


def _records(chance: Random, style: Style, rows: list[Row]) -> Iterator[dict[str, object]]:
    """A row of names and values for each state, or for all states of a step."""
    noise = chance.sample(NOISE, chance.choice((0, 0, 1, 2, 4)))
    used = {name.lower() for name in (style.clock.name, style.namer, *style.axes, *style.speeds)}
    noise = [one for one in noise if one[0] not in used]
    decoys: list[str] = []
    if chance.random() < 0.15:
        pattern = chance.choice(DECOYS)
        decoys = [pattern.replace("?", axis) for axis in "xyz"]
        decoys = [name for name in decoys if name.lower() not in used]
    kind = chance.choice(("event", "type", "kind", "action"))
    one_row = "wide" in style.layout
    index = -1
    record: dict[str, object] = {}
    for at, row in enumerate(rows):
        if not one_row or row.step != index:
            if record:
                yield record
            index = row.step
            record = {style.clock.name: row.time}
            record.update(_decoys(row.step, decoys))
            record.update((name, some[at % len(some)]) for name, some in noise)
        who = style.names[row.number]
        if style.kinds:
            record[kind] = row.kind
        if one_row:
            for axis, cell in zip("xyz", row.place, strict=False):
                record[style.wide.format(who, axis, axis.upper()) + style.suffix] = cell
            if style.speeds:
                for axis, cell in zip("xyz", row.velocity, strict=False):
                    record[style.wide.format(who, "v" + axis, "V" + axis.upper())] = cell
            continue
        if style.layout not in ("one",):
            if style.namer == "key":  # two columns that only together name it
                record["team"], record["number"] = row.number % 2, row.number // 2
            else:
                record[style.namer] = who
        for name, cell in zip(style.axes, row.place, strict=True):
            record[name + style.suffix] = cell
        for name, cell in zip(style.speeds, row.velocity, strict=False):
            record[name + style.suffix] = cell
    yield record


def _table(chance: Random, style: Style, rows: list[Row]) -> bytes:
    records = list(_records(chance, style, rows))
    columns = list(records[0])
    order = chance.random()
    if order < 0.4:
        chance.shuffle(columns)
    delimiter = chance.choice([",", ",", ",", ";", "\t", "|"])
    stream = io.StringIO(newline="")
    writer = csv.writer(
        stream,
        delimiter=delimiter,
        lineterminator=chance.choice(["\n", "\r\n"]),
        quoting=chance.choice([csv.QUOTE_MINIMAL, csv.QUOTE_MINIMAL, csv.QUOTE_ALL]),
    )
    if chance.random() < 0.08:
        stream.write(chance.choice(["# exported by tracker 2.1\n", "Recording 17\n\n"]))
    comma = delimiter == ";" and chance.random() < 0.5
    writer.writerow(columns)
    for record in records:
        cells = [str(record[name]) for name in columns]
        if comma:
            cells = [_with_comma(cell) for cell in cells]
        writer.writerow(cells)
    encoding = chance.choice(["utf-8"] * 6 + ["utf-8-sig", "utf-16"])
    return stream.getvalue().encode(encoding)


def _with_comma(cell: str) -> str:
    whole, point, rest = cell.partition(".")
    is_number = whole.lstrip("-").isdigit() and rest.isdigit()
    return f"{whole},{rest}" if point and is_number else cell


def _value(cell: object) -> object:
    """A cell as JSON has it: numbers where they are numbers, null for what is blank."""
    if not isinstance(cell, str):
        return cell
    if cell in BLANKS:
        return float(cell) if cell.lower() in ("nan", "inf", "-inf") else None
    try:
        number = float(cell)
    except ValueError:
        return cell
    return int(cell) if cell.lstrip("-").isdigit() else number


def _nested(record: dict[str, object]) -> dict[str, object]:
    whole: dict[str, object] = {}
    for name, value in record.items():
        *outer, last = name.split(".")
        place: Any = whole
        for part in outer:
            place = place.setdefault(part, {})
            if not isinstance(place, dict):
                return dict(record)
        place[last] = value
    return whole


def _json(chance: Random, style: Style, rows: list[Row]) -> bytes:
    form = chance.choice(("named", "object", "list"))
    objects: list[dict[str, Any]] = []
    who_of = {
        number: (_value(name) if style.namer != "key" else name)
        for number, name in enumerate(style.names)
    }
    place = chance.choice(("pos", "position", "location", "p", "translation", "origin"))
    speed = chance.choice(("vel", "velocity", "v", "linearVelocity"))
    namer = "name" if style.namer == "key" else style.namer
    holder = chance.choice(("players", "entities", "objects", "state", "snapshot.players"))
    keyed = chance.random() < 0.5
    if style.layout in ("lines", "wide lines"):
        for record in _records(chance, style, rows):
            flat = {name: _value(value) for name, value in record.items()}
            objects.append(_nested(flat) if form != "named" else flat)
    else:
        for row in rows:
            state: dict[str, Any] = {}
            for key, cells, given in (
                (place, row.place, True),
                (speed, row.velocity, style.speeds),
            ):
                if given:
                    values = [_value(cell) for cell in cells]
                    named = dict(zip("xyz", values, strict=False))
                    prefix = "" if key == place else "v"
                    plain = {prefix + axis: one for axis, one in named.items()}
                    shapes: dict[str, dict[str, Any]]
                    shapes = {"list": {key: values}, "object": {key: named}}
                    state.update(shapes.get(form, plain))
            time = {style.clock.name: _value(row.time)}
            if style.layout == "nested":
                objects.append({**time, namer: who_of[row.number], **state})
                continue
            if not objects or row.number == 0:
                objects.append({**time})
            inner: Any = objects[-1]
            for part in holder.split("."):
                inner = inner.setdefault(part, {})
            if keyed:
                inner[str(style.names[row.number])] = state
            else:
                inner.setdefault("list", []).append({namer: who_of[row.number], **state})
        if style.layout == "frames" and not keyed:
            objects = [_unwrapped(one) for one in objects]
    if chance.random() < 0.3:
        return json.dumps(objects, indent=chance.choice([None, 1])).encode()
    if chance.random() < 0.2:
        return json.dumps({"version": 1, "frames": objects}).encode()
    return "".join(json.dumps(one) + "\n" for one in objects).encode()


def _unwrapped(one: Any) -> Any:
    """The same with an object that has only a list being that list."""
    if isinstance(one, dict):
        if list(one) == ["list"]:
            return one["list"]
        return {name: _unwrapped(value) for name, value in one.items()}
    return one


class Read(NamedTuple):
    """What came out: tracks, what was said gravely, and the lines that were proposed."""

    tracks: list[list[State]]
    said: list[str]
    proposed: list[str]


def read(data: bytes, how: str = "") -> Read:
    """What a reader makes of it."""
    tracks: dict[str, list[State]] = {}
    said: list[str] = []
    proposed: list[str] = []

    def refuse(line: Any) -> None:
        if line.refusal.readings:
            proposed.extend(_written(one) for one in line.refusal.readings)
        said.append(f"refused: {line}")

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            reader = read_packets(io.BytesIO(data), read=how, refused=refuse)
            for packet in reader:
                velocity = None if packet.velocity is None else tuple(packet.velocity)
                tracks.setdefault(packet.entity, []).append(
                    (packet.time, tuple(packet.position), velocity)
                )
        except ValueError as error:
            said.append(str(error))
        else:
            for finding in reader.findings:
                if finding.severity.value != "note":
                    said.append(f"{finding.code}: {finding.what} [{finding.read}]")
                if finding.read and finding.severity.value != "note":
                    proposed.append(finding.read)
    return Read(list(tracks.values()), said, proposed)


def _written(reading: Any) -> str:
    from epic_cli.engine.description import write

    return write(reading.entries)


def is_meant(found: list[list[State]], meant: list[list[State]]) -> str:
    """Empty where these are the states that were meant, in any length unit of theirs; else why."""
    if len(found) != len(meant):
        return f"{len(found)} entities instead of {len(meant)}"
    if not meant:
        return ""
    zero, begin = (min(track[0][0] for track in tracks) for tracks in (meant, found))

    def first(track: list[State]) -> tuple[float, ...]:
        return (round(track[0][0], 3), *track[0][1])

    for one, two in zip(
        sorted(meant, key=_order(zero)), sorted(found, key=_order(begin)), strict=True
    ):
        if len(one) != len(two):
            return f"{len(two)} packets instead of {len(one)}"
        for (time, place, velocity), (when, where, speed) in zip(one, two, strict=True):
            if abs((time - zero) - (when - begin)) > 2e-5 + 1e-9 * abs(time - zero):
                return f"time {when - begin:.6g} instead of {time - zero:.6g}"
            padded = (*place, 0.0)[:3]
            if any(
                abs(a - b) > 1e-6 * max(1.0, abs(a)) for a, b in zip(padded, where, strict=True)
            ):
                return f"place {where} instead of {padded}"
            if speed is not None and velocity is None:
                return f"velocity {speed} instead of none"
            if speed is not None and velocity is not None:
                padded = (*velocity, 0.0)[:3]
                if any(
                    abs(a - b) > 1e-6 * max(1.0, abs(a)) for a, b in zip(padded, speed, strict=True)
                ):
                    return f"velocity {speed} instead of {padded}"
    return ""


def _order(zero: float) -> Callable[[list[State]], tuple[object, ...]]:
    return lambda track: tuple(round(one, 3) for one in (*track[0][1], track[0][0] - zero))


def judged(given: Case) -> tuple[str, str]:
    """What becomes of a case, and why."""
    first = read(given.data)
    wrong = is_meant(first.tracks, given.meant)
    grave = [word for word in first.said if not word.startswith("refused")]
    if not wrong:
        return ("doubted" if grave else "right"), "; ".join(grave)
    if not grave and first.tracks:
        return "silent", wrong
    if not first.proposed:
        return "refused", first.said[0]
    why = ""
    for place, proposed in enumerate(first.proposed[:4]):
        how = proposed.replace("ticks@HZ", f"ticks@{given.rate:g}")
        again = read(given.data, how)
        still = is_meant(again.tracks, given.meant)
        if still and given.flawed:  # rows of another kind are an entity then
            own = [
                one for one in again.tracks if any(not is_meant([one], [t]) for t in given.meant)
            ]
            still = is_meant(own, given.meant)
        if not still:
            return ("told" if not place else "chosen"), how
        why = why or f"{how}: {still}"
    return "wrong", why


def main() -> None:
    """Says how many are read rightly, and shows those that are not."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--cases", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--case", type=int, help="show this one, with its data")
    parser.add_argument("--show", default="silent,doubted,wrong")
    options = parser.parse_args()
    if options.case is not None:
        given = case(options.case)
        sys.stdout.write(
            given.data[:2000].decode("utf-16" if given.data[:2] == b"\xff\xfe" else "utf-8")
        )
        print(given.choices, judged(given), *read(given.data).said[:5], sep="\n")
        return
    counts: Counter[str] = Counter()
    for seed in range(options.seed, options.seed + options.cases):
        given = case(seed)
        kind, why = judged(given)
        counts[kind] += 1
        if kind in options.show.split(","):
            print(f"--case {seed}: {kind}: {why[:200]} {given.choices}")
    print(dict(counts))
    sys.exit(bool(counts["silent"] or counts["doubted"]))


if __name__ == "__main__":
    main()
