"""Logs as games, trackers and notebooks write them, made without knowledge of the reader's code.

The movement is known; names, units, clocks, separators, layouts and faults are drawn at random.
Each log is read by the command, as a user would: right at once, told (and then what is proposed is
pasted), refused, or wrong without a word.
"""

from __future__ import annotations

import argparse
import datetime
import io
import itertools
import json
import math
import os
import random
import re
import shlex
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

Vector = tuple[float, ...]


@dataclass
class State:
    """An entity's state, perhaps with a fault."""

    time: float
    place: Vector
    velocity: Vector
    missing: str | None = None  # what stands in its cells


@dataclass
class Log:
    """A log's text, and its true content."""

    name: str
    text: bytes
    truth: dict[str, list[State]]
    factors: tuple[float, ...] = (1.0,)  # lengths may come in these units, of their own
    hertz: float = 0  # of frames that only the user knows
    said: str = ""  # what it is, for who looks
    velocities: bool = False
    globe: bool = False
    grain: float = 0.01  # a place is written as exactly as this
    lacks: bool = False  # cells of places


def names(text: str) -> tuple[str, ...]:
    """Split names at the bars between them."""
    return tuple(name.strip() for name in text.split("|"))


LENGTHS = (  # how a unit is written at x, and its meters
    (("x_m", "x (m)", "x [m]", "X(m)", "pos_x_m", "x_meters"), 1.0),
    (("x_cm", "x (cm)", "x[cm]", "pos_x_cm"), 0.01),
    (("x_mm", "x (mm)", "x [mm]"), 0.001),
    (("x_ft", "x (ft)", "x_feet", "X [ft]"), 0.3048),
    (("x_km", "x (km)"), 1000.0),
    (("x_in", "x (in)", "x_inches"), 0.0254),
    (("x_yd", "x (yards)"), 0.9144),
)
PLACES = names(
    "x | x | x | X | pos_x | posX | PosX | position_x | position.x | Position.X | positionX | "
    "px | loc_x | location.x | x_pos | xpos | X Position | Position X | world_x | worldX | "
    "player_x | tx | coord_x | coordX | pos[x] | pos.x | Pos X | transform.position.x | "
    "pose.position.x | origin_x | translation.x | field.x | m_x | fX | x_coord | xCoord | "
    "xCoordinate | head_x | center_x | x_loc | PX | position/x | position:x | local_x | "
    'root_x | x1 | LocationX | Pos_X | "x" | ball_x | Location.x | state_x | abs_x | '
    "actor_location_x | Position (x) | coords.x | x_world | global_x | ent_x | entity.x | "
    "TrackPosition X | rigidbody_x | body_x"
)
NUMBERED = names(
    "pos[0] | pos_0 | position.0 | p0 | origin[0] | m_vecOrigin[0] | position_0 | pos0"
)
SPEEDS = {
    "x": names("vx|vel_x|velocity_x|v_x|velX|velocityX|speed_x|dx_dt|xVel|x_vel"),
    "X": names("VX|Vx|VelX|VelocityX|Velocity X|X Velocity|SpeedX"),
}
SECONDS = names(
    "time | time | t | t | Time | timestamp | Timestamp | ts | time_s | Time (s) | time[s] | "
    "time [s] | t_s | seconds | secs | elapsed | elapsed_time | ElapsedTime | elapsedSeconds "
    "| gameTime | game_time | GameTime | sim_time | simTime | TimeSeconds | Timestamp (s) | "
    "time_seconds | Time since start | server_time | serverTime | clock | T | t_sec | "
    "time_sec | Time.time | realtimeSinceStartup | timestamp_s | level_time | curtime | "
    "Time(sec) | stamp | time_elapsed | session_time | TimeStamp"
)
MILLIS = names(
    "time_ms | ms | timestamp_ms | timeMs | t_ms | Time (ms) | time[ms] | time(millisecond) | "
    "millis | elapsed_ms | elapsedMs | msec | timestampMs | Time_ms | TimeMS | time_millis | "
    "Time (msec) | milliseconds | server_time_ms | stamp_ms"
)
BARE = names("time | t | ts | timestamp | elapsed | ElapsedTime | stamp | Time | clock | gametime")
MICROS = names(
    "time_us | timestamp_us | micros | t_us | Time (us) | usec | time_micros | microseconds | "
    "Time [µs]"
)
NANOS = names("time_ns | timestamp_ns | nanos | t_ns | stamp_ns | Time (ns) | nanoseconds")
EPOCHS = names(
    "timestamp | time | unix | unix_time | epoch | ts | utc | unixtime | created | Timestamp"
    " | recorded_at"
)
DATES = names(
    "timestamp | datetime | date | time | utc_time | DateTime | Date Time | created_at | UTC "
    "| ts | @timestamp"
)
FRAMES = names(
    "frame | Frame | frame_id | tick | Tick | frame_number | frameNumber | FrameNo | "
    "game_tick | TickCount | frame_idx | step"
)
TICKS = names("ticks | Ticks | timestamp | Timestamp | time | filetime | FileTime")
WHO = names(
    "id | ID | entity | entity_id | player | player_id | playerId | PlayerID | name | Name | "
    "unit | agent | agent_id | object_id | objectId | track_id | trackId | vehicle | "
    "vehicle_id | steamid | guid | uuid | actor | source | label | netId | net_id | peer | "
    "slot | uid | who | car | callsign | handle | Player Name | bot | pawn | character | "
    "object | tag | device | sensor | user | user_id | username | robot | drone | client | "
    "key | target | ship | participant | subject"
)


PEOPLE = names("alice|bob|Carol|dave|Eve|red leader|tank7|ghost|npc_12|zoë|Player 3|truck")
#: How times are written, the more often, the more often they are here.
CLOCKS = names(
    "s | s | s | s | s | s | s | s | ms | ms | ms | ms | bare ms | bare ms | float ms | us | ns | "
    "unix | unix | unix ms | unix ms | unix us | iso | iso | iso | date+time | hms | excel | net | "
    "filetime | frames | frames | secs+nsecs | minutes"
)
KINDS = (
    ("walkers", 5, 30), ("walkers", 4, 50), ("cars", 20, 300), ("drones", 10, 80),
    ("planes", 120, 4000),
)  # fmt: skip


class Writer:
    """The writer of one log, from its seed."""

    def __init__(self, seed: int, case: int) -> None:
        self.random = random.Random(f"logs {seed} {case}")
        self.one_of: Callable[..., Any] = self.random.choice

    def chance(self, share: float) -> bool:
        return self.random.random() < share

    # the movement

    def walk(self, times: list[float], arena: float, speed: float, flat: bool) -> list[State]:
        """Return the movement of a player, car or drone that turns and changes speed within a
        space.
        """
        draw = self.random
        place = [draw.uniform(-arena, arena) for _ in range(3)]
        heading, pace, climb = draw.uniform(0, 2 * math.pi), speed, 0.0
        states = []
        last = times[0]
        goal = heading
        for time in times:
            step, last = time - last, time
            if draw.random() < 0.7 * step:
                goal = draw.uniform(0, 2 * math.pi)
            if max(map(abs, place[:2])) > arena:
                goal = math.atan2(-place[1], -place[0])
            turn = (goal - heading + math.pi) % (2 * math.pi) - math.pi
            heading += max(-2.5 * step, min(2.5 * step, turn))
            pace += (speed * draw.uniform(0.4, 1.4) - pace) * min(1, step)
            climb += draw.gauss(0, 0.3) * speed * math.sqrt(step) * 0.2 - climb * min(1, step)
            velocity = [pace * math.cos(heading), pace * math.sin(heading), 0.0 if flat else climb]
            place = [at + v * step for at, v in zip(place, velocity, strict=True)]
            states.append(State(time, tuple(place), tuple(velocity)))
        return states

    def world(self) -> None:
        draw = self.random
        self.rate = self.one_of([10, 10, 15, 20, 20, 25, 30, 30, 50, 60, 60, 64, 100, 128])
        self.entities = self.one_of([1, 1, 1, 1, 2, 2, 3, 4, 6, 11])
        self.count = self.one_of([12, 20, 40, 60, 100, 200])
        self.jitter = self.one_of([0, 0, 0, 0.05, 0.2])
        self.dimensions = self.one_of([2, 2, 3, 3, 3])
        self.kind, self.speed, self.arena = self.one_of(KINDS)
        self.staggered = self.chance(0.3)
        if self.chance(0.3):
            names = [f"{self.one_of('pPbnuv')}{i}" for i in range(self.entities)]
        elif self.chance(0.5):
            first = self.one_of([0, 1, 7, 101, 76561198000000000])
            names = [str(first + i) for i in range(self.entities)]
        else:
            names = draw.sample(PEOPLE, self.entities)
        self.truth: dict[str, list[State]] = {}
        begin = 0.0 if self.chance(0.7) else round(draw.uniform(0, 900), 2)
        for i, name in enumerate(names):
            offset = i / self.rate / self.entities if self.staggered else 0.0
            times = [
                begin
                + offset
                + (k + (draw.uniform(-self.jitter, self.jitter) if k else 0)) / self.rate
                for k in range(self.count)
            ]
            if i and not self.staggered:
                times = [state.time for state in next(iter(self.truth.values()))]
            self.truth[name] = self.walk(times, self.arena, self.speed, self.dimensions == 2)
            if self.dimensions == 2:
                for state in self.truth[name]:
                    state.place, state.velocity = (
                        (*state.place[:2], 0.0),
                        (*state.velocity[:2], 0.0),
                    )

    # what is written of it

    def clock(self) -> None:
        """Choose how a time is written: the names of its columns, and their cells at a time."""
        draw, one = self.random, self.one_of
        self.hertz = 0.0
        epoch = draw.randrange(1_600_000_000, 1_780_000_000)
        digits, fraction = one([3, 3, 4, 6]), one([3, 3, 6])
        start = draw.uniform(100, 90000)
        zone, blank = one(["Z", "", "+00:00", "+02:00", " UTC"]), one("TT ")
        day = one(["%Y-%m-%d", "%Y-%m-%d", "%Y/%m/%d"])
        style = one(["{0:02d}:{1:02d}:{3:06.3f}", "{0}:{1:02d}:{3:06.3f}", "{2:02d}:{3:06.3f}"])

        def dated(t: float) -> tuple[str, str]:
            micros = round(round(t, fraction) * 1e6)
            at = datetime.datetime(2023, 5, 6, 23, 59, 40) + datetime.timedelta(microseconds=micros)
            return f"{at:{day}}", f"{at:%H:%M:%S}.{at.microsecond:06d}"[: 9 + fraction]

        def of_day(t: float) -> str:
            minutes, millis = divmod(round(t * 1000), 60000)
            return str(style.format(minutes // 60, minutes % 60, minutes, millis / 1000))

        def parts(t: float) -> tuple[str, str]:
            whole, rest = divmod(round(t * 1e9), 10**9)
            return str(epoch + whole), str(rest)

        self.first_frame: int
        #: The names, and what is written; a rarer way behind it.
        clocks: dict[str, tuple[tuple[str, ...], Callable[[float], str], *tuple[Any, ...]]] = {
            "s": (SECONDS, lambda t: f"{t:.{digits}f}", lambda t: repr(round(t, 6))),
            "ms": (MILLIS, lambda t: str(round(t * 1e3)), lambda t: f"{t * 1e3:.2f}"),
            "bare ms": (BARE, lambda t: str(round(t * 1e3))),
            "float ms": (BARE, lambda t: f"{start + t * 1e3:.{digits - 2}f}"),
            "us": (MICROS, lambda t: str(round(t * 1e6))),
            "ns": (NANOS, lambda t: str(round(t * 1e9))),
            "minutes": (names("time_min|Time (min)|minutes"), lambda t: f"{t / 60:.7f}"),
            "unix": (EPOCHS, lambda t: f"{epoch + t:.{digits}f}"),
            "unix ms": (EPOCHS, lambda t: str(epoch * 10**3 + round(t * 1e3))),
            "unix us": (EPOCHS, lambda t: str(epoch * 10**6 + round(t * 1e6))),
            "iso": (DATES, lambda t: blank.join(dated(t)) + zone),
            "hms": (names("time|timecode|clock|Time|timestamp|game_clock"), of_day),
            "excel": (
                names("time|Date|timestamp|DateTime"),
                lambda t: f"{45000.25 + t / 86400:.10f}",
            ),
            "net": (TICKS, lambda t: str(638 * 10**15 + round(t * 1e7))),
            "filetime": (TICKS, lambda t: str(133 * 10**15 + round(t * 1e7))),
            "frames": (
                FRAMES,
                lambda t: str(round((t - self.zero) * self.rate) + self.first_frame),
            ),
        }
        self.clock_kind = one(CLOCKS)
        self.time_names: tuple[str, ...]
        self.stamp: Callable[[float], tuple[str, ...]]
        if self.clock_kind in clocks:
            columns, usual, *rare = clocks[self.clock_kind]
            written = rare[0] if rare and self.chance(0.25) else usual
            self.time_names, self.stamp = (one(columns),), lambda t: (written(t),)
        elif self.clock_kind == "date+time":
            self.time_names, self.stamp = one([("date", "time"), ("Date", "Time")]), dated
        else:
            begin = one(["header.stamp.{}ecs", "{}ec", "{}ecs"])
            self.time_names, self.stamp = (begin.format("s"), begin.format("ns")), parts
        if self.clock_kind == "frames":
            self.hertz, self.first_frame = self.rate, one([0, 0, 1, 1200])
            self.without_jitter()

    def without_jitter(self) -> None:
        """Replace all times by the times of regular frames, equal for all entities."""
        self.zero = min(states[0].time for states in self.truth.values())
        for states in self.truth.values():
            for k, state in enumerate(states):
                state.time = self.zero + k / self.rate

    def place_and_velocity(self) -> None:
        """Choose the names of position columns, and of velocity columns in most logs with times."""
        self.factor = 1.0
        self.globe = False
        place, numbered = self.one_of(PLACES), False
        if self.chance(0.2):
            names, self.factor = self.one_of(LENGTHS)
            place = self.one_of(names)
        elif self.chance(0.1):
            place, numbered = self.one_of(NUMBERED), True
        elif self.chance(0.05):
            self.globe = True
        if numbered:
            self.place_names = [place.replace("0", str(i)) for i in range(self.dimensions)]
        elif self.globe:
            self.place_names = self.one_of(
                [
                    ["lat", "lon", "alt"],
                    ["latitude", "longitude", "altitude"],
                    ["Lat", "Lon", "Alt"],
                    ["lat", "lng", "elevation"],
                ]
            )[: self.dimensions]
        else:
            self.place_names = [on_axis(place, axis) for axis in "xyz"[: self.dimensions]]
        is_ground = self.dimensions == 2 and not numbered and not self.globe and self.chance(0.15)
        if is_ground:  # as in Unity
            self.place_names = [on_axis(place, axis) for axis in "xz"]
        self.velocity_names: list[str] = []
        if self.chance(0.35) and not self.globe:
            upper = any("X" in name for name in self.place_names[:1])
            speed = self.one_of(SPEEDS["X" if upper else "x"])
            axes = [("xyz", "XYZ")[upper][i] for i in range(self.dimensions)]
            if is_ground:
                axes = list(["xz", "XZ"][upper])
            self.velocity_names = [on_axis(speed, axis.lower()) for axis in axes]
        self.digits = self.one_of([2, 3, 3, 4, 6])
        if self.factor < 0.1:
            self.digits = self.one_of([0, 1, 2])
        if self.factor >= 100:
            self.digits = 6

    def noise(self) -> None:
        """Return columns that have nothing to do with the movement, in their order."""
        draw = self.random

        def whole(low: int, high: int) -> Callable[[], str]:
            return lambda: str(draw.randint(low, high))

        kinds: list[tuple[str, Callable[[], str]]] = [
            ("hp", lambda: str(100)),
            ("health", whole(1, 100)),
            ("ammo", whole(0, 30)),
            ("ping", whole(20, 80)),
            ("fps", lambda: str(self.one_of([59, 60, 60, 60, 61]))),
            ("score", lambda: "0"),
            ("weapon", lambda: self.one_of(names("ak47 | rail | knife"))),
            ("state", lambda: self.one_of(names("run | jump | idle"))),
            ("grounded", lambda: self.one_of(names("true | true | false"))),
            ("map", lambda: "de_dust2"),
            ("yaw", lambda: f"{draw.uniform(-180, 180):.1f}"),
            ("confidence", lambda: f"{draw.uniform(0.8, 1):.3f}"),
            ("temperature", lambda: f"{draw.uniform(20, 21):.2f}"),
            ("level", lambda: "3"),
            ("comment", lambda: self.one_of(["", "", "ok"])),
            ("battery", lambda: "88"),
            ("size", lambda: "1.8"),
            ("acc_x", lambda: f"{draw.gauss(0, 1):.3f}"),
            ("mouse_x", whole(0, 1920)),
        ]
        self.extra = draw.sample(kinds, self.one_of([0, 0, 1, 2, 3, 5]))
        if self.chance(0.1):  # the axes of something else
            other = self.one_of(names("cam_x|camera.x|aimx|target_x|lookat_x|spawn_x|input_x"))
            turn = itertools.count()
            self.extra += [
                (on_axis(other, axis), lambda: f"{3 + math.sin(next(turn) / 30):.3f}")
                for axis in "xyz"
            ]

    def faults(self) -> None:
        """Leave out some cells, and lose some packets."""
        self.missing = ""
        if self.chance(0.3):
            self.missing = self.one_of(
                names("empty | NaN | nan | null | NA | N/A | - | None | inf | #N/A")
            )
            share = self.one_of([0.02, 0.1])
            for states in self.truth.values():
                for state in states:
                    if self.chance(share):
                        state.missing = "" if self.missing == "empty" else self.missing
        if self.chance(0.15) and self.count > 30:  # lost
            for states in self.truth.values():
                states[:] = [state for state in states if not self.chance(0.05)]
        self.sentinel = ""
        if self.chance(0.06) and not self.missing and not self.globe:
            self.sentinel = self.one_of(names("-1 | 9999 | -9999 | -999 | 0 | 2147483647"))
            for states in self.truth.values():
                for state in states[1:]:
                    if self.chance(0.08):
                        state.missing = self.sentinel

    def number(self, value: float, digits: int | None = None) -> str:
        return f"{value:.{self.digits if digits is None else digits}f}".replace(".", self.decimal)

    def cells(self, state: State) -> list[str]:
        """Return the cells of a state's position and velocity."""
        axes = self.dimensions
        if self.globe:
            north = 47.5 + state.place[1] / 111_320
            east = 8.5 + state.place[0] / (111_320 * math.cos(math.radians(47.5)))
            places = [
                self.number(north, 8),
                self.number(east, 8),
                self.number(400 + state.place[2], 3),
            ][:axes]
        else:
            places = [self.number(at / self.factor) for at in state.place[:axes]]
        speeds = [self.number(v / self.factor, max(self.digits, 2)) for v in state.velocity[:axes]][
            : len(self.velocity_names)
        ]
        if state.missing is not None:
            places = [state.missing] * axes
            speeds = ["0" if self.sentinel else state.missing] * len(speeds)
        return places + speeds

    def rows(self) -> list[tuple[str, State]]:
        rows = [(name, state) for name, states in self.truth.items() for state in states]
        if self.order == "time":
            rows.sort(key=lambda row: row[1].time)
        return rows

    # layouts

    def log(self) -> Log:
        self.decimal = "."
        self.world()
        self.clock()
        self.place_and_velocity()
        self.noise()
        self.faults()
        self.order = "time" if self.chance(0.85) else "entity"
        layout = self.one_of(
            ["long"] * 10
            + ["wide"] * 3
            + ["vector"] * 2
            + ["lines"] * 3
            + ["json"] * 2
            + ["frames"] * 3
            + ["columns"]
        )
        if layout in ("wide", "frames") and (self.staggered or self.entities == 1):
            layout = "long"
        name, text = getattr(self, layout)()
        return Log(
            name,
            text,
            self.truth,
            (1.0, 1 / self.factor),
            self.hertz,
            f"{layout}, {self.entities} {self.kind} at {self.rate} Hz, {self.clock_kind}, "
            f"missing: {self.missing or self.sentinel or 'nothing'}",
            bool(self.velocity_names),
            self.globe,
            10**-self.digits * self.factor,
            bool(self.missing or self.sentinel),
        )

    def identity(self) -> None:
        """Return the columns that name the entity."""
        self.who_names: list[str] = []
        self.who: dict[str, list[str]] = {name: [] for name in self.truth}
        if self.entities > 1 or self.chance(0.3):
            self.who_names = [self.one_of(WHO)]
            self.who = {name: [name] for name in self.truth}
            if self.entities == 1 and self.count >= 40 and self.chance(0.3):
                self.shoot()
            if self.entities > 2 and self.chance(0.15):
                self.who_names = self.one_of(
                    [["team", "number"], ["team", "jersey"], ["team", "player"], ["side", "slot"]]
                )
                self.who = {
                    name: [("home", "away")[i % 2], str(i // 2 + 1)]
                    for i, name in enumerate(self.truth)
                }

    def shoot(self) -> None:
        """Add rows of shots, at times of other rows and at the places that were hit."""
        ((name, states),) = self.truth.items()
        there = [state for state in states if state.missing is None][4::7]
        far = 2 * self.arena
        self.truth["shot"] = [
            State(state.time, (state.place[0] + far, *state.place[1:]), state.velocity)
            for state in there
        ]
        self.who_names = [self.one_of(names("event | type | kind | action"))]
        self.who = {name: ["move"], "shot": ["shot"]}

    def table(
        self, header: list[str], rows: list[list[str]], delimiters: str = ",,,,;\t|"
    ) -> tuple[str, bytes]:
        delimiter: str = self.one_of(delimiters)
        quoted = self.chance(0.1)

        def line(cells: list[str]) -> str:
            if any(delimiter in cell for cell in cells) or quoted:
                return delimiter.join(f'"{cell}"' for cell in cells)
            return delimiter.join(cells)

        end = self.one_of(["\n", "\n", "\r\n"])
        before = (
            ["# " + self.one_of(names("recorded by tool 1.2 | session 7 | units: see manual"))]
            if self.chance(0.08)
            else []
        )
        lines = [*before, line([cell.strip('"') for cell in header]), *map(line, rows)]
        text = end.join(lines) + (end if self.chance(0.9) else "")
        encoding = self.one_of(["utf-8"] * 8 + ["utf-8-sig", "utf-16"])
        return self.one_of(
            ["log.csv", "log.csv", "log.txt", "log.tsv" if delimiter == "\t" else "data.csv"]
        ), text.encode(encoding)

    def long(self) -> tuple[str, bytes]:
        self.identity()
        delimiters = ",,,,;\t|"
        if self.chance(0.1):
            self.decimal, delimiters = ",", ";\t"
        columns = (
            ["time"] * 1
            + ["who"] * bool(self.who_names)
            + ["place"]
            + [f"extra{i}" for i in range(len(self.extra))]
        )
        if self.chance(0.5):
            self.random.shuffle(columns)
        header: list[str] = []
        for column in columns:
            header += (
                self.time_names
                if column == "time"
                else self.who_names
                if column == "who"
                else [*self.place_names, *self.velocity_names]
                if column == "place"
                else [self.extra[int(column[5:])][0]]
            )
        rows = []
        for name, state in self.rows():
            row: list[str] = []
            for column in columns:
                if column == "time":
                    row += [
                        cell.replace(".", self.decimal) if re.fullmatch(r"[\d.]+", cell) else cell
                        for cell in self.stamp(state.time)
                    ]
                elif column == "who":
                    row += self.who[name]
                elif column == "place":
                    row += self.cells(state)
                else:
                    row.append(self.extra[int(column[5:])][1]())
            rows.append(row)
        return self.table(header, rows, delimiters)

    def vector(self) -> tuple[str, bytes]:
        """Return a position in one cell, as Unity, Unreal and lists print it."""
        self.identity()
        self.velocity_names = []
        self.globe = False
        style = self.one_of(
            names(
                "({0}, {1}, {2}) | ({0} {1} {2}) | X={0} Y={1} Z={2} | [{0}, {1}, {2}] | {0} {1} "
                "{2} | Vector3({0}, {1}, {2}) | {{{0}; {1}; {2}}} | (X={0},Y={1},Z={2})"
            )
        )
        name = self.one_of(
            names(
                "position | pos | Position | location | Location | transform | coords | place | "
                "origin"
            )
        )
        self.factor, self.digits, dims = 1.0, 3, self.dimensions
        self.dimensions = 3
        rows = []
        for who, state in self.rows():
            cell = (
                style.format(*self.cells(state))
                if state.missing is None or self.sentinel
                else state.missing
            )
            rows.append(
                [*self.stamp(state.time), *self.who[who], cell, *(make() for _, make in self.extra)]
            )
        self.dimensions = dims
        return self.table(
            [*self.time_names, *self.who_names, name, *(name for name, _ in self.extra)], rows
        )

    def wide(self) -> tuple[str, bytes]:
        """Write all entities of a time in one row."""
        style = self.one_of(
            names(
                "{who}_{axis} | {who}.{axis} | {who} {axis} | {axis}_{who} | {axis}{n} | "
                "{who}{axis} | {who}_pos_{axis} | {who}.position.{axis} | pos_{axis}_{who} | "
                "player{n}_{axis} | {axis}_{n} | home_{n}_{axis} | {who}/{axis} | p{n}{axis} | "
                "{who}_{axis}_m | {who} ({axis})"
            )
        )
        self.velocity_names, self.globe = [], False
        self.factor, self.digits = 1.0, self.one_of([2, 3])
        case = self.one_of([str.lower, str.lower, str.upper])
        letters = "ABCDEFGHIJK"
        use_letters = self.chance(0.15)
        header = list(self.time_names)
        axes = "xyz"[: self.dimensions]
        for i, who in enumerate(self.truth):
            label = (
                letters[i]
                if use_letters
                else who.replace(" ", "_")
                if not who.isdigit()
                else f"id{who}"
            )
            header += [style.format(who=label, axis=case(axis), n=i + 1) for axis in axes]
        header += [name for name, _ in self.extra]
        rows = []
        moments: dict[float, dict[str, State]] = {}
        for who, state in self.rows():
            moments.setdefault(state.time, {})[who] = state
        for time in sorted(moments):
            row = [*self.stamp(time)]
            for who in self.truth:
                there = moments[time].get(who)
                row += self.cells(there) if there else [""] * self.dimensions
            rows.append(row + [make() for _, make in self.extra])
        if self.chance(0.2):
            made = (dict(zip(header, map(value, row), strict=True)) for row in rows)
            return "log.jsonl", "".join(json.dumps(one) + "\n" for one in made).encode()
        return self.table(header, rows)

    # JSON

    def record(self, who: str, state: State, timed: bool = True) -> dict[str, Any]:
        """Return the object of one state; ``self.nesting`` decides how positions are nested."""

        made: dict[str, Any] = {}
        if timed:
            made |= self.timed(state.time)
        made |= {
            name: value(cell) if self.numeric_who else cell
            for name, cell in zip(self.who_names, self.who[who], strict=True)
        }
        cells = [value(cell) for cell in self.cells(state)]
        place, speed = cells[: self.dimensions], cells[self.dimensions :]
        kind, where, how = self.nesting
        axes = "xyz"[: self.dimensions]
        if kind == "flat":
            made |= dict(zip(self.plain_names, place, strict=True))
        elif (
            state.missing is not None
            and not self.sentinel
            and self.missing in ("null", "None", "empty")
        ):
            made[where] = None
        else:
            made[where] = place if kind == "list" else dict(zip(axes, place, strict=True))
        if speed and kind == "flat":
            made |= dict(zip(self.velocity_names, speed, strict=True))
        elif speed:
            made[how] = speed if kind == "list" else dict(zip(axes, speed, strict=True))
        return made | {name: value(make()) for name, make in self.extra}

    def timed(self, time: float) -> dict[str, Any]:
        return {
            name: json.loads(cell) if re.fullmatch(r"-?(0|[1-9]\d*)(\.\d+)?", cell) else cell
            for name, cell in zip(self.time_names, self.stamp(time), strict=True)
        }

    def nest(self, kinds: Sequence[str] = ("flat", "list", "object")) -> None:
        self.identity()
        self.globe = False
        self.numeric_who = self.chance(0.5)
        self.plain_names = [name.strip('"') for name in self.place_names]
        if self.plain_names[0] in ("lat", "Lat", "latitude"):
            self.plain_names = ["x", "y", "z"][: self.dimensions]
        where, how = self.one_of(
            [
                ("pos", "vel"),
                ("position", "velocity"),
                ("Position", "Velocity"),
                ("location", "velocity"),
                ("p", "v"),
                ("loc", "vel"),
                ("xyz", "vel"),
                ("coordinates", "velocity"),
                ("translation", "linear_velocity"),
            ]
        )
        self.nesting = (self.one_of(kinds), where, how)
        if self.nesting[0] != "flat":
            self.factor = 1.0
            self.digits = 3
            if len(self.place_names) == 2 and "z" in self.place_names[1].lower():
                self.velocity_names = self.velocity_names[:2]

    def lines(self) -> tuple[str, bytes]:
        self.nest()
        inside = self.one_of(["", "", "", "data", "payload", "state"])
        made = []
        for who, state in self.rows():
            record = self.record(who, state)
            if inside:
                times = {name: record.pop(name) for name in self.time_names}
                record = {**times, inside: record}
            made.append(json.dumps(record, ensure_ascii=False))
        return self.one_of(names("log.jsonl | log.ndjson | log.json | log.txt")), (
            "\n".join(made) + "\n"
        ).encode()

    def json(self) -> tuple[str, bytes]:
        self.nest()
        made: Any = [self.record(who, state) for who, state in self.rows()]
        if self.chance(0.4):
            made = {
                "version": 1,
                self.one_of(names("packets | data | samples | events | frames | records")): made,
            }
        return "log.json", json.dumps(
            made, indent=self.one_of([None, 2]), ensure_ascii=False
        ).encode()

    def frames(self) -> tuple[str, bytes]:
        """Return a list of frames, each with all entities that exist then."""
        self.nest()
        if not self.who_names:
            self.who_names = ["id"]
            self.who = {name: [name] for name in self.truth}
        moments: dict[float, dict[str, State]] = {}
        for who, state in self.rows():
            moments.setdefault(state.time, {})[who] = state
        key = self.one_of(names("players | entities | objects | agents | actors | units"))
        how = self.one_of(names("list | list | dict | keys"))
        made = []
        for time in sorted(moments):
            things = {
                who: self.record(who, state, timed=False) for who, state in moments[time].items()
            }
            frame: dict[str, Any] = self.timed(time)
            if how == "list":
                frame[key] = list(things.values())
            else:
                bare = {
                    who: {
                        name: value for name, value in thing.items() if name not in self.who_names
                    }
                    for who, thing in things.items()
                }
                if how == "dict":
                    frame[key] = bare
                else:
                    frame |= {
                        f"p{who}" if who.isdigit() else who: thing for who, thing in bare.items()
                    }
            made.append(frame)
        if self.chance(0.5):
            return "log.jsonl", "".join(
                json.dumps(frame, ensure_ascii=False) + "\n" for frame in made
            ).encode()
        return "log.json", json.dumps(
            {"frames": made} if self.chance(0.5) else made, ensure_ascii=False
        ).encode()

    def columns(self) -> tuple[str, bytes]:
        """Return an object of lists, as pandas and MATLAB write it."""
        self.nest(("flat",))
        made: dict[str, list[Any]] = {}
        for who, state in self.rows():
            for name, value in self.record(who, state).items():
                made.setdefault(name, []).append(value)
        return "log.json", json.dumps(made, ensure_ascii=False).encode()


def value(cell: str) -> Any:
    """Return a cell as JSON has it."""
    if cell in ("", "null", "None"):
        return None
    try:
        return json.loads(cell)
    except ValueError:
        return math.nan if cell.lower() == "nan" else math.inf if cell == "inf" else cell


def on_axis(name: str, axis: str) -> str:
    """Return an x column's name for another axis: its separate letter x is replaced."""
    if axis == "x":
        return name
    parts = list(
        re.finditer(
            r"(?<![a-z])[xX](?![a-z])|(?<=[a-z])X|X(?=[A-Z])|(?<![a-zA-Z])x(?=[A-Z])|x$", name
        )
    ) or list(re.finditer("[xX]", name))
    found = parts[0] if name.startswith(("x", "X")) else parts[-1]
    new = axis.upper() if found.group() == "X" else axis
    return name[: found.start()] + new + name[found.end() :]


# the judge


def run_epic(words: list[str], folder: str) -> tuple[int, str, str]:
    """Return status, output and errors of the command, which runs in a forked child."""
    out, err = Path(folder, "out"), Path(folder, "err")
    child = os.fork()
    if child == 0:
        status = 99
        try:
            for path, number in ((os.devnull, 0), (out, 1), (err, 2)):
                os.dup2(os.open(path, os.O_RDWR | os.O_CREAT | os.O_TRUNC), number)
            sys.stdin, sys.stdout, sys.stderr = (
                io.TextIOWrapper(
                    io.FileIO(i, "rw"[i > 0], closefd=False), encoding="utf-8", line_buffering=True
                )
                for i in range(3)
            )
            from epic_cli.main import main

            status = main(words)
            sys.stdout.flush()
            sys.stderr.flush()
        except SystemExit as ended:
            status = int(ended.code or 0)
        except BaseException:
            import traceback

            traceback.print_exc()
        finally:
            os._exit(status)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return status, out.read_text("utf-8", "replace"), err.read_text("utf-8", "replace")


def is_right(log: Log, lines: str) -> bool | str:
    """Return whether packets equal the truth, up to names and origin, or the difference."""
    found: dict[str, list[tuple[float, Vector, Vector | None]]] = {}
    for line in lines.splitlines():
        packet = json.loads(line)
        speeds = tuple(packet[k] for k in ("vx", "vy", "vz")) if "vx" in packet else None
        found.setdefault(str(packet.get("entity", "")), []).append(
            (packet["time"], (packet["x"], packet["y"], packet["z"]), speeds)
        )
    truth = {
        name: sorted((s for s in states if s.missing is None), key=lambda s: s.time)
        for name, states in log.truth.items()
    }
    truth = {name: states for name, states in truth.items() if states}
    if len(found) != len(truth):
        return f"{len(found)} entities, not {len(truth)}"
    begin = min(states[0].time for states in truth.values())
    start = min(packets[0][0] for packets in found.values())
    left = {name: sorted(packets, key=lambda p: p[0]) for name, packets in found.items()}
    start = min(packets[0][0] for packets in left.values())
    counts = (sorted(len(v) for v in truth.values()), sorted(len(v) for v in left.values()))
    if counts[0] != counts[1]:
        return f"{counts[1]} packets, not {counts[0]}"
    wrong = [
        same(truth, left, begin, start, factor, axes, log)
        for factor in log.factors
        for axes in ((0, 1, 2), (0, 2, 1))
    ]
    return "" in wrong or wrong[0]


def same(
    truth: Any,
    found: Any,
    begin: float,
    start: float,
    factor: float,
    axes: tuple[int, ...],
    log: Log,
) -> str:
    """Return the difference for this unit and these axes; on a globe, only that of distances."""
    rest = dict(found)
    for states in truth.values():
        for name, packets in rest.items():
            if (
                len(packets) == len(states)
                and fits(states, packets, begin, start, factor, axes, log) == ""
            ):
                del rest[name]
                break
        else:
            name, packets = next(iter(rest.items()))
            return fits(states, packets, begin, start, factor, axes, log) or "entity"
    return ""


def fits(
    states: list[State],
    packets: list[Any],
    begin: float,
    start: float,
    factor: float,
    axes: tuple[int, ...],
    log: Log,
) -> str:
    for state, (time, place, speeds) in zip(states, packets, strict=True):
        if abs((state.time - begin) - (time - start)) > 1.1e-3:
            return f"time {time - start:.5g}, not {state.time - begin:.5g}"
        if log.globe:
            # the origin may be the first packet
            first, at = states[0].place, packets[0][1]
            gone = math.dist(first, state.place)
            if abs(math.dist(at, place) - gone) > 0.02 * gone + 0.05:
                return f"went {math.dist(at, place):.4g}, not {gone:.4g}"
            continue
        size = max(1.0, *(abs(v) for v in state.place)) * factor
        for axis, value in zip(axes, place, strict=True):
            if abs(state.place[axis] * factor - value) > 0.6 * log.grain * factor + 1e-6 * size:
                return f"place {place}, not {[v * factor for v in state.place]} at {time}"
        if log.velocities:
            if speeds is None:
                return "velocities are not read"
            for axis, value in zip(axes, speeds, strict=True):
                if abs(state.velocity[axis] * factor - value) > 0.02 * max(1, factor) + 1e-3 * abs(
                    value
                ):
                    return f"velocity {speeds}, not {[v * factor for v in state.velocity]}"
    return ""


def proposals(text: str, log: Log) -> list[str]:
    """Return the proposals of --read in the output."""
    made = []
    text = "".join(line for line in text.splitlines(True) if "read with --read" not in line)
    for found in re.finditer(r"--read (\"[^\"]*\"|'(?:[^']|'\\'')*'|\S+)", text):
        try:
            word = shlex.split(found.group(1))[0]
        except ValueError:
            continue
        if not re.search(r"NAME|REGEX", word):  # what the user has to say
            made.append(re.sub(r"\b(HZ|FPS)\b", f"{log.hertz:g}", word) if log.hertz else word)
    return list(dict.fromkeys(made))


def judge(log: Log, folder: str) -> tuple[str, str]:
    """Return how the log was read, and the evidence."""
    path = Path(folder, log.name)
    path.write_bytes(log.text)
    status, out, err = run_epic(["convert", "--to", "jsonl", str(path)], folder)
    _, seen, seen_err = run_epic(["inspect", "--format", "json", str(path)], folder)
    if status == 99 or "Traceback" in err + seen_err:
        return "crash", err + seen_err
    said = "".join(
        line for line in err.splitlines() if re.search(r"\bE2\d\d\b|E101|expected", line)
    )
    empty: dict[str, Any] = {"doubts": ["?"], "findings": []}
    report = json.loads(seen.splitlines()[0]) if seen else empty
    verdict = is_right(log, out) if status == 0 and out else "refused"
    told = status != 0 or bool(report["doubts"]) or bool(said)
    findings = "".join(
        f"{f['code']} {f['what']} --read {shlex.quote(f['read'])}\n"
        if f["read"]
        else f"{f['code']} {f['what']}\n"
        for f in report["findings"]
    )
    shows = f"status {status}: {verdict}\n{err}{findings}"
    if status == 1 and log.lacks and is_right(log, out) is True and not report["doubts"]:
        return "right", shows  # rows without a place were refused
    if verdict is True:
        return ("doubted" if report["doubts"] else "right"), shows
    if not told:
        if "velocities are not read" in str(verdict):
            return "incomplete", shows
        return ("told softly" if findings else "silent"), shows
    tries = proposals(err + findings, log)
    if not tries:
        return "refused", shows
    status, out, err = run_epic(["convert", "--to", "jsonl", "--read", tries[0], str(path)], folder)
    again = is_right(log, out) if out else "refused"
    shows += f"pasted --read {tries[0]}: {again}\n{err}"
    if again is True:
        return "pasted", shows
    if again == "velocities are not read":
        return "pasted, incomplete", shows
    _, seen, _ = run_epic(["inspect", "--format", "json", "--read", tries[0], str(path)], folder)
    doubts = json.loads(seen.splitlines()[0])["doubts"] if seen else ["?"]
    if status or doubts:
        more = proposals(
            err
            + "".join(
                f"--read {shlex.quote(f['read'])}\n"
                for f in (json.loads(seen.splitlines()[0])["findings"] if seen else [])
                if f["read"]
            ),
            log,
        )
        for second in more[:1]:
            status, out, err = run_epic(
                ["convert", "--to", "jsonl", "--read", second, str(path)], folder
            )
            again = is_right(log, out) if out else "refused"
            shows += f"pasted second --read {second}: {again}\n{err}"
            if again is True:
                return "pasted twice", shows
        return "pasted, told", shows
    return "pasted wrong", shows


def load() -> None:
    """Import all modules that the command needs, once for all forked children."""
    import epic_cli.api
    import epic_cli.jobs.convert.command
    import epic_cli.jobs.inspect.command  # noqa: F401


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--cases", type=int, default=500)
    options.add_argument("--case", type=int)
    options.add_argument("--keep", type=Path)
    options.add_argument(
        "--show", nargs="*", default=["silent", "pasted wrong", "crash", "doubted"]
    )
    given = options.parse_args()
    load()
    counts: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        for case in range(given.cases) if given.case is None else [given.case]:
            log = Writer(given.seed, case).log()
            fared, shows = judge(log, folder)
            counts[fared] += 1
            head = log.text.decode("utf-16" if log.text[:2] == b"\xff\xfe" else "utf-8")[:400]
            if given.keep:
                given.keep.mkdir(parents=True, exist_ok=True)
                (given.keep / f"{case:04d}-{log.name}").write_bytes(log.text)
                (given.keep / f"{case:04d}.verdict").write_text(f"{fared}\n{log.said}\n{shows}")
            if given.case is not None or fared in given.show:
                print(f"--- case {case}: {fared}: {log.said}\n{head}\n{shows}")
    print(given.seed, dict(counts.most_common()))


if __name__ == "__main__":
    main()
