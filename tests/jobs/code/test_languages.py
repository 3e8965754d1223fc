"""The files of ``epic code``: built, run, and compared with the strategy row by row."""

from __future__ import annotations

import ast
import os
import random
import re
import shutil
import subprocess
from collections.abc import Sequence
from functools import cache
from itertools import pairwise
from math import dist
from operator import itemgetter
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from support.godot3 import for_godot3
from support.places import SAMPLES
from support.ports import stream_lines
from support.recordings import EXHAUSTIVE, few_of
from support.running import epic

import epic_cli
from epic_cli.engine.parameters import Number, Setting, Span
from epic_cli.engine.replay.strategy_spec import read_spec
from epic_cli.engine.strategies import get_declaration
from epic_cli.jobs.code.command import LANGUAGES
from epic_cli.jobs.code.languages import load_languages
from epic_cli.jobs.code.run import NoRotations, run
from epic_cli.jobs.code.spec import CodeSpec, strategies


class Toolchain(NamedTuple):
    """The commands that build and run a program, and the tolerance of its numbers."""

    needs: tuple[str, ...]
    build: tuple[str, ...]
    run: tuple[str, ...]
    relative: float = 0.0
    absolute: float = 1e-9


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


#: {0} is the file, {1} its folder, {2} its name without the suffix.
TOOLCHAINS = {
    "csharp": Toolchain(("mcs", "mono"), _words("mcs -out:{0}.exe {0}"), _words("mono {0}.exe")),
    "cpp": Toolchain(
        ("g++",),
        _words("g++ -std=c++17 -Wall -Wextra -Werror -ffp-contract=off -o {0}.out {0}"),
        ("{0}.out",),
    ),
    "typescript": Toolchain(
        ("tsc", "node"),
        _words(
            "tsc --strict --noUnusedLocals --noUnusedParameters --target es2020 --module commonjs"
            " --skipLibCheck --outDir {1} {0}"
        ),
        ("node", "{1}/{2}.js"),
    ),
    "rust": Toolchain(("rustc",), _words("rustc -D warnings -o {0}.out {0}"), ("{0}.out",)),
    # its vectors are in single precision
    "gdscript": Toolchain(
        ("godot3-server",), (), _words("godot3-server --no-window --script {0}"), 1e-4, 1e-3
    ),
    "lua": Toolchain(("lua5.4",), (), _words("lua5.4 {0}")),
    "python": Toolchain(("python3",), (), _words("python3 {0}")),
}

#: In every language these reach each line that writes it, but for two of Rust.
EVERYWHERE = (
    "chase+how=linear+time=1i+start=last+interval=frames+ahead=interval+every=0.04+between=lerp",
    "buffer+stamps=ticks+clock=median+delay=1.8i+jitter_margin=1+curve=catmull-rom+low_pass=0.03",
    "chase+how=lerp+time=0.1+every=packet+drift=1+repeated=drop",
    "buffer+stamps=arrival+delay=0.1+beyond=reuse+forget=0.3+equal=last+every=0.02+tick_time=own"
    "+low_pass=0.01+reserve=1",
    "epic",
)

#: With these, every part that keeps a state is drawn, each by one of the languages.
IN_TURN = (
    "buffer+stamps=ticks+clock=first+delay=0+catch_up=none+min_buffer=2+max_buffer=3+beyond=0.4i",
    "buffer+stamps=ticks+interval=0.04+catch_up=timed-queue+phase=0.01+late=insert",
    "chase+how=share+share=0.3+every=0.017+phase=packet+start=last+between=lerp+axes=each"
    "+dead_zone=0.05+snap_near=0.02+steps=2+speed_most=4",
    "dead-reckoning+correction=spline+acceleration=estimated",
    "chase+how=eased+time=1i+interval=stamps+start=last+end=short+late=take"
    "+interval_least=0.03+interval_late=0.2",
    "chase+how=linear+time=1i+start=last+interval=frames+interval_share=0.1+overshoot=1.5",
    "chase+how=growing+time=1i+interval=arrivals+snap_after=0.6+dead_zone=0.03+rounding=0.017",
    "buffer+stamps=arrival+delay=1i+interval=arrivals+interval_most=0.06+late=sort+beyond=chase"
    "+beyond_lerp=0.1",
    "buffer+delay=1.5i+interval=stamps+interval_count=7+beyond=0.5i+jitter_margin=1+jitter=stamps"
    "+delay_fall=0.2+delay_rise=0.4",
    "buffer+clock=newest+delay=1i+interval=stamps+catch_up=none+catch_up_limit=0.1+when_empty=stop"
    "+reserve=1",
    "buffer+clock=newest+delay=0+catch_up=none+reserve_time=0.12+draw_time=last",
    "buffer+clock=mean+delay=0.1+catch_up=lerp+catch_up_rate=2+catch_up_near=0.01"
    "+catch_up_most=0.1+delay_from=newest",
    "buffer+stamps=arrival+late=insert+catch_up=dequeue+reserve=1",
    "buffer+stamps=arrival+delay=0.06+copy_before=0.8i",
    "buffer+clock=mean+clock_count=4+delay=0.08+every=packet+between=hold+jitter_margin=0.5"
    "+jitter=spread+jitter_count=6",
    "buffer+clock=median+clock_count=6+delay=0.02+jitter_margin=2+jitter=intervals"
    "+catch_up=rate+when_empty=run",
    "buffer+interval=0.05+catch_up=queue+min_buffer=3+max_buffer=5",
    "buffer+catch_up=fill+catch_up_rate=0.5+still=skip+pace=0.9+min_buffer=2",
    "buffer+stamps=ticks+interval=0.06+catch_up=timed-queue+every=0.02+tick_time=own+max_buffer=2",
    "buffer+stamps=arrival+delay=2i+interval=arrivals+interval_share=0.1+forget=0.15"
    "+forget_keeps=2+rounding=0.01+rounding_of=states+jitter_margin=1+jitter=longest"
    "+jitter_count=4+delay_fall=0.1+keep=3+before=newest",
    "buffer+delay=0.13+catch_up=slow+catch_up_rate=0.1+curve=hermite+curve_time=0.04",
    "buffer+stamps=arrival+start=last+draw_time=last+delay=0.1+beyond=reuse+equal=last",
    "buffer+stamps=arrival+catch_up=waypoints+low_pass=0.06+follow=lerp+catch_up_from=3"
    "+catch_up_rate=0.7+count_at=end+waypoint_reach=0.1",
    "buffer+stamps=arrival+catch_up=dequeue+every=0.03+keep=5+beyond=repeat",
    "buffer+catch_up=waypoints+follow=speed+follow_speed=6+min_buffer=2+max_buffer=5"
    "+waypoint_reach=0.05",
    "buffer+catch_up=clamp+keep=2+every=0.03+phase=frame",
    "buffer+catch_up=dequeue+every=0.03+phase=step+reserve=1",
    "buffer+clock=newest+delay=0.1+catch_up=rate+start=last+low_pass=0.02+times=milliseconds"
    "+jitter_margin=1+jitter=changes",
    "chase+how=linear+time=1i+start=last+interval=arrivals+times=milliseconds",
    "chase+how=share+share=1+ahead=velocity+age=arrival+ahead_time=unlimited+fade_after=0.2+fade=0.3",
    "chase+how=linear+time=0.2+ahead=velocity+drift=1+ahead_time=0.3",
    "chase+how=speed+speed=3+axes=each+snap=2.17+ahead=arrival+age=absolute",
    "chase+how=spring+every=0.02+drift=0.5+drift_share=0.5+velocity=before+rounding=0.013"
    "+rounding_of=states",
    "chase+how=force+stiffness=90+damping=7+integration=exact+ahead=velocity+velocity=arrivals"
    "+velocity_factor=-0.7",
    "chase+how=force+stiffness=90+damping=7+ahead=interval+velocity=stamps+velocity_share=0.4",
    "chase+how=eased+ease=css-ease+time=7+step_time=1+start=frame",
    "chase+how=spring+time=0.1+speed_most=3+every=0.03+phase=frame+between=lerp",
    "chase+how=force+stiffness=90+damping=7+speed_most=3+snap_near=0.01+steps=2",
    "chase+how=speed+speed=fastest+interval=frames+snap=9+dead_band=0.2",
    "chase+how=eased+ease=out-cubic+time=0.06+drift=0.7+end=short+every=0.02+start=last",
    "chase+how=linear+time=0.1+start=frame+step_most=0.02+rounding=0.1+rounding_by=down",
    "chase+how=eased+ease=in-out-sine+time=2.5i+interval=frames+overlap=on+start=frame+snap=4",
    "chase+how=linear+time=0.3+overlap=on+every=0.01+phase=packet+start=last",
    "chase+how=lerp+time=0.3+speed_least=2+speed_most=6+snap_near=0.05",
    "chase+how=eased+ease=in-out-back+time=0.16+start=transition",
    "chase+how=hermite+time=1i+start=last+interval=steps+interval_late=60",
    "chase+how=hermite+time=0.2+start=arrival+bend=3+leave=packet+ahead=interval",
    "chase+how=share+share=0.05+share_far=0.3+far_from=0.1+far_at=0.5+mean_of=3+repeated=drop",
    "chase+how=share+share=0.1+start=last+ahead=velocity+drift=1+playout_delay=0.08+late=take",
)


def random_composition(chance: random.Random) -> str:
    """Return a strategy with some random settings."""
    name = chance.choice(["buffer"] * 4 + ["chase"] * 3 + ["dead-reckoning", "epic"])
    share = chance.choice([0.15, 0.4, 0.8])
    changed = [each for each in get_declaration(name).settings if chance.random() < share]
    return "+".join([name, *(f"{each.name}={random_value(each, chance)}" for each in changed)])


def random_value(setting: Setting, chance: random.Random) -> object:
    """Return a word of the setting, or a number in its range."""
    if not isinstance(setting, Number):
        return chance.choice(setting.choices)
    numbers = (1, 2, 3, 7, 40) if setting.whole else (0, 0.001, 0.02, 0.05, 0.25, 0.5, 1, 1.5, 3)
    able = [each for each in numbers if setting.low <= each <= setting.high]
    words = [word for word in setting.choices if word != "auto"]
    intervals = ["0.5i", "1i", "1.8i", "2.5i"] if isinstance(setting, Span) else []
    return chance.choice([*able, *words, *intervals])


def compositions(language: str) -> list[str]:
    """Return a language's compositions; all and forty random ones with EPIC_TESTS=exhaustive."""
    chance = random.Random(language)
    languages = list(LANGUAGES)
    first, step = (0, 1) if EXHAUSTIVE else (languages.index(language), len(languages))
    fixed = EVERYWHERE + IN_TURN[first::step]
    more = [random_composition(chance) for _ in range(40)] if EXHAUSTIVE else []
    if language != "gdscript":
        return [*fixed, *more]
    # single precision cannot say whether a step is as long as that, or which multiple is nearest
    near = r"(?<=snap=|zone=|each=)[\d.]+"
    able = [re.sub(near, lambda at: f"{1.07 * float(at[0])}", one) for one in (*fixed, *more)]
    return [re.sub(r"\+rounding=[\d.]+", "", one) for one in able]


def skip_without(*tools: str) -> None:
    """Skip the test where one of these programs is not installed."""
    for tool in tools:
        if shutil.which(tool) is None:
            pytest.skip(f"{tool} is not installed")


def build(words: Sequence[str]) -> None:
    """Compile, where a language needs that; nothing may be warned of."""
    if words:
        done = subprocess.run(words, check=False, capture_output=True, timeout=900)
        assert done.returncode == 0, (done.stdout + done.stderr).decode()


def write_program(spec: CodeSpec, folder: Path) -> bool:
    """Write a strategy's code with its main program, with rotations if there is code for these.

    Return whether there is.
    """
    command = f"epic code {spec.strategy.label} --main"
    try:
        text = run(spec._replace(main=True), command)
    except NoRotations:
        return write_program(spec._replace(rotations=False), folder)
    (folder / spec.file).write_text(for_godot3(text) if spec.language == "gdscript" else text)
    return spec.rotations


def build_programs(
    language: str, strategies: Sequence[str], folder: Path
) -> list[tuple[list[str], bool]]:
    """Return the commands that run the programs of these strategies, and whether these turn.

    A compiler whose start is most of its time is started once for all.
    """
    tools = TOOLCHAINS[language]
    skip_without(*tools.needs)
    files, turning = [], []
    for number, strategy in enumerate(strategies):
        name = f"port{number}{load_languages()[language].suffix}"
        spec = CodeSpec(read_spec(strategy), language, rotations=True, file=name)
        turning.append(write_program(spec, folder))
        files.append(folder / name)

    def fill(words: Sequence[str], file: Path) -> list[str]:
        return [word.format(file, folder, file.stem) for word in words]

    if language in JOINED:
        joined = folder / f"ports{files[0].suffix}"
        joined.write_text(JOINED[language]([file.read_text() for file in files]))
        build(fill(tools.build, joined))
        commands = [[*fill(tools.run, joined), str(number)] for number in range(len(files))]
        return list(zip(commands, turning, strict=True))
    if language == "typescript":
        build([*fill(tools.build[:-1], folder), *map(str, files)])
    else:
        for file in files:
            build(fill(tools.build, file))
    return list(zip([fill(tools.run, file) for file in files], turning, strict=True))


def join_cpp(texts: Sequence[str]) -> str:
    """Return one program in C++ that is the first, second ... program by its argument."""
    includes = sorted({line for text in texts for line in re.findall(r"(?m)^#include.*", text)})
    rest = [re.sub(r"(?m)^#include.*", "", text) for text in texts]
    programs = [f"namespace program{number} {{\n{text}\n}}\n" for number, text in enumerate(rest)]
    mains = ", ".join(f"program{number}::main" for number in range(len(texts)))
    main = f"int main(int, char** words) {{\n    int (*mains[])() = {{{mains}}};\n"
    return "\n".join([*includes, *programs, main, "    return mains[std::atoi(words[1])]();\n}\n"])


def join_csharp(texts: Sequence[str]) -> str:
    """Return one program in C# that is the first, second ... program by its argument."""
    drawing = [text.replace("static void Main()", "public static void Draw()") for text in texts]
    programs = [f"namespace Program{number} {{\n{text}}}" for number, text in enumerate(drawing)]
    mains = ", ".join(f"Program{number}.Program.Draw" for number in range(len(texts)))
    main = f"new System.Action[] {{ {mains} }}[int.Parse(words[0])]();"
    whole = f"class Whole {{ static void Main(string[] words) {{ {main} }} }}"
    return "\n".join([*programs, whole])


def join_rust(texts: Sequence[str]) -> str:
    """Return one program in Rust that is the first, second ... program by its argument."""
    drawing = [text.replace("\nfn main()", "\npub fn main()") for text in texts]
    programs = [f"mod program{number} {{\n{text}}}" for number, text in enumerate(drawing)]
    mains = ", ".join(f"program{number}::main" for number in range(len(texts)))
    main = f"let mains: [fn(); {len(texts)}] = [{mains}];"
    which = "std::env::args().nth(1).unwrap().parse::<usize>().unwrap()"
    return "\n".join([*programs, f"fn main() {{ {main} mains[{which}](); }}"])


#: What makes one program of many, where a compiler's start is most of its time.
JOINED = {"cpp": join_cpp, "csharp": join_csharp, "rust": join_rust}


#: How the packets of streams end that have most of all packets.
MANY = tuple(b"=%d_a_second\n" % rate for rate in (128, 400, 1000))


@cache
def all_streams() -> bytes:
    """Return the built-in streams and some rotating ones as one recording, an entity each, by
    arrival.

    Every entity is drawn until the last packet of all: of each stream the packets until 5.2 s are
    taken, and none of the streams of most packets, unless EPIC_TESTS=exhaustive.
    """
    turning = epic("convert", SAMPLES / "spin_turn.csv", "--to", "text").stdout.splitlines()
    lines = [
        (float(line.partition(b"arrival=")[2].split()[0]), line + b" entity=spin\n")
        for line in turning
    ]
    return b"".join(
        line
        for arrival, line in sorted(lines + stream_lines(), key=itemgetter(0))
        if EXHAUSTIVE or (arrival < 5.2 and not line.endswith(MANY))
    )


class Rows(NamedTuple):
    """The rows of a program by entity and time: (n,) names, (n,) times, and (n, 7) positions with
    rotations.
    """

    entities: np.ndarray
    times: np.ndarray
    places: np.ndarray


def read_rows(text: str, rotations: bool = True) -> Rows:
    """Return the rows that draw something; rotations are NaN where there are none."""
    head, *lines = text[text.index("time\t") :].splitlines()
    column = {name: place for place, name in enumerate(head.split("\t"))}
    status, x, turn = column.get("status"), column["x"], column.get("qx")
    cells = [line.split("\t") for line in lines]
    cells = [row for row in cells if status is None or row[status] != "none"]
    entities = np.array([row[column["entity"]] for row in cells])
    times = np.array([row[column["time"]] for row in cells]).astype(float).round(6)
    places = np.full((len(cells), 7), np.nan)
    places[:, :3] = np.array([row[x : x + 3] for row in cells]).astype(float)
    if rotations and turn is not None:
        for place, row in zip(places, cells, strict=True):
            if row[column["entity"]] == "spin" and row[turn]:
                place[3:] = rotation_of(row[turn : turn + 4])
    order = np.lexsort((times, entities))
    return Rows(entities[order], times[order], places[order])


@cache
def draw_streams(strategy: str, pacing: str, rotations: bool) -> Rows:
    """Return the strategy's rows of all streams."""
    drawing = ("replay", "-s", strategy, "--pacing", pacing, "--format", "tsv")
    return read_rows(epic(*drawing, stdin=all_streams()).stdout.decode(), rotations)


def rotation_of(texts: Sequence[str]) -> tuple[float, ...]:
    """Return the quaternion with the sign that makes its first component of any size positive."""
    parts = [float(text) for text in texts]
    sign = next(part for part in parts if abs(part) > 1e-3)
    return tuple(part / sign * abs(sign) for part in parts)


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_program_draws_what_the_strategy_draws(language: str, tmp_path: Path) -> None:
    assert_programs_draw(language, compositions(language), tmp_path)


def assert_programs_draw(language: str, strategies: Sequence[str], folder: Path) -> None:
    """Run each program with one pacing; languages and strategies take arrival and frame in turn."""
    programs = build_programs(language, strategies, folder)
    first = list(LANGUAGES).index(language)
    for number, (strategy, (command, turns)) in enumerate(zip(strategies, programs, strict=True)):
        usual = ("arrival", "frame")[(first + number) % 2]
        for pacing in ("arrival", "frame") if EXHAUSTIVE else (usual,):
            theirs = subprocess.run(
                command, cwd=folder, input=all_streams(), check=True, capture_output=True,
                timeout=300, env=os.environ | {"EPIC_PACING": pacing},
            )  # fmt: skip  # Godot writes its logs where it runs
            drawn = read_rows(theirs.stdout.decode())
            expected = draw_streams(strategy, pacing, turns)
            assert_close(drawn, expected, TOOLCHAINS[language], strategy)


class Engine(NamedTuple):
    """An engine's types with code that hands them to a ``Smoothing``, and how both run."""

    file: str
    text: str
    build: tuple[str, ...]
    run: tuple[str, ...]


ENGINES = {
    "csharp": Engine(
        "Engine.cs",
        """namespace UnityEngine {
            public struct Vector3 {
                public float x, y, z;
                public Vector3(float x, float y, float z) { this.x = x; this.y = y; this.z = z; }
            }
            public struct Quaternion {
                public float x, y, z, w;
                public Quaternion(float x, float y, float z, float w) {
                    this.x = x; this.y = y; this.z = z; this.w = w;
                }
            }
            public static class Game {
                public static Vector3 Draw(Smoothing player, Quaternion turn) {
                    player.Receive(0, new Vector3(1, 2, 3), turn);
                    player.Draw(0);
                    turn = player.Rotation;
                    return player.Position;
                }
            }
        }""",
        _words("mcs -warnaserror -out:{1}/port.exe {0} {1}/Engine.cs"),
        ("mono", "{1}/port.exe"),
    ),
    "cpp": Engine(
        "engine.h",
        """struct FVector {
            double X, Y, Z;
            FVector(double x, double y, double z) : X(x), Y(y), Z(z) {}
            FVector operator+(const FVector& b) const { return {X + b.X, Y + b.Y, Z + b.Z}; }
        };
        struct FQuat {
            double X, Y, Z, W;
            FQuat(double x, double y, double z, double w) : X(x), Y(y), Z(z), W(w) {}
        };
        template <class Player>
        FVector draw(Player& player, FQuat turn) {
            player.receive(0, FVector(1, 2, 3), turn);
            player.draw(0);
            turn = player.rotation;
            return player.position;
        }""",
        _words("g++ -std=c++17 -Wall -Wextra -Werror -ffp-contract=off -include {1}/engine.h"
               " -o {1}/port {0}"),
        ("{1}/port",),
    ),
    "lua": Engine(
        "engine.lua",
        """local vector = {}
        local small = { x = "X", y = "Y", z = "Z" }
        Vector3 = { new = function(x, y, z)
            return setmetatable({ X = x, Y = y, Z = z }, vector)
        end }
        vector.__add = function(a, b) return Vector3.new(a.X + b.X, a.Y + b.Y, a.Z + b.Z) end
        vector.__sub = function(a, b) return Vector3.new(a.X - b.X, a.Y - b.Y, a.Z - b.Z) end
        vector.__mul = function(a, s) return Vector3.new(a.X * s, a.Y * s, a.Z * s) end
        vector.__index = function(a, name)
            if name == "Magnitude" then return math.sqrt(a:Dot(a)) end
            if name == "Dot" then
                return function(b, c) return b.X * c.X + b.Y * c.Y + b.Z * c.Z end
            end
            return rawget(a, small[name])
        end""",
        (),
        ("lua5.4", "-e", 'dofile("{1}/engine.lua")', "{0}"),
    ),
}  # fmt: skip

WITH_ENGINES = ("chase+rounding=0.02+snap=5", "buffer+curve=hermite+snap=5")


@pytest.mark.parametrize(
    ("language", "strategy"),
    [
        (language, strategy)
        for place, language in enumerate(ENGINES)
        for strategy in few_of(WITH_ENGINES[place % 2 :] + WITH_ENGINES[: place % 2], 1)
    ],
)
def test_a_program_with_an_engines_vectors_draws_the_same(
    language: str, strategy: str, tmp_path: Path
) -> None:
    engine = ENGINES[language]
    skip_without((engine.build or engine.run)[0])
    file = f"port{load_languages()[language].suffix}"
    wanted = language != "lua"
    spec = CodeSpec(read_spec(strategy), language, rotations=wanted, engine=True, file=file)
    turns = write_program(spec, tmp_path)
    text = engine.text if turns else re.sub(r"(?s)public static class Game.*", "}", engine.text)
    (tmp_path / engine.file).write_text(text)
    to_build, to_run = (
        [word.format(tmp_path / file, tmp_path) for word in words]
        for words in (engine.build, engine.run)
    )
    build(to_build)
    theirs = subprocess.run(
        to_run, input=all_streams(), check=True, capture_output=True, timeout=300
    )
    drawn = read_rows(theirs.stdout.decode())
    expected = draw_streams(strategy, "arrival", turns)
    assert_close(drawn, expected, TOOLCHAINS[language], strategy)


def test_lua_takes_the_tables_of_a_game(tmp_path: Path) -> None:
    skip_without("lua5.4")
    made = epic("code", "buffer+beyond=0.3+beyond_along=velocity", "--lang", "lua")
    (tmp_path / "smoothing.lua").write_bytes(made.stdout)
    game = """
        local player, place = require("smoothing").new(), { x = 1, y = 2, z = 3 }
        player:teleport(0, place, { x = 8, y = 0, z = 0 })
        player:receive(1, place, { x = 8, y = 0, z = 0 })
        place.x = 9
        player:draw(1.45)
        print(player.position.x, player.position.y, player.position.z)"""
    done = subprocess.run(
        ["lua5.4", "-e", game], cwd=tmp_path, check=True, capture_output=True, timeout=60
    )
    assert [float(part) for part in done.stdout.split()] == pytest.approx([3.0, 2.0, 3.0])


def test_a_language_without_an_engine_says_which_have_one() -> None:
    refused = epic("code", "chase", "--lang", "rust", "--vectors", "engine")
    assert refused.returncode == 2
    assert b"cpp, csharp, lua" in refused.stderr


def test_two_files_of_cpp_stand_in_one_program(tmp_path: Path) -> None:
    skip_without("g++")
    for strategy, file in (("buffer+clock=min", "Far-players.hpp"), ("chase", "near.hpp")):
        assert epic("code", strategy, "--lang", "cpp", "-o", tmp_path / file).returncode == 0
    game = tmp_path / "game.cpp"
    game.write_text(
        '#include "Far-players.hpp"\n#include "near.hpp"\nstruct Vec3 {};\n'
        "int main() { smoothing_far_players::Smoothing far; smoothing_near::Smoothing near;\n"
        "smoothing_near::Vec3 place = near.position; return far.draw(place.x); }\n"
    )
    command = ["g++", "-std=c++17", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", str(game)]
    done = subprocess.run(command, check=False, capture_output=True, timeout=300)
    assert done.returncode == 0, done.stderr.decode()


@pytest.mark.parametrize(
    "strategy",
    [
        "buffer",
        "buffer+clock=min",
        "buffer+stamps=arrival",
        "buffer+catch_up=timer",
        "chase",
        "chase+ahead=velocity+age=auto",
        "chase+ahead=velocity+age=stamp",
        "dead-reckoning",
        "dead-reckoning+age=rtt",
        "epic",
    ],
)
def test_a_file_says_if_both_clocks_must_be_one(strategy: str) -> None:
    packets = list(epic_cli.read_packets(SAMPLES / "jitter.txt"))
    shifted = [packet._replace(time=packet.time + 1000) for packet in packets]
    spec = read_spec(strategy)
    rows, others = (
        [*epic_cli.replay(one, epic_cli.strategy(spec.name, **spec.settings))]
        for one in (packets, shifted)
    )
    assert len(rows) == len(others)
    apart = max(dist(a.position, b.position) for a, b in zip(rows, others, strict=True))
    text = " ".join(run(CodeSpec(spec, "lua"), "epic code").replace("--", "").split())
    assert ("must come from one clock" in text) == (apart > 1)
    assert ("from the receiver's" in text) == (apart <= 1)


def assert_close(drawn: Rows, expected: Rows, tools: Toolchain, strategy: str) -> None:
    assert drawn.entities.tolist() == expected.entities.tolist(), strategy
    assert drawn.times.tolist() == expected.times.tolist(), strategy
    names, numbers = np.unique(expected.entities, return_inverse=True)
    finite = np.nan_to_num(abs(expected.places), nan=0.0, posinf=0.0).max(axis=1)
    sizes = np.zeros(len(names))
    np.maximum.at(sizes, numbers, finite)
    most = (tools.absolute + tools.relative * sizes)[numbers, None]
    with np.errstate(invalid="ignore"):  # infinite in both
        near = abs(drawn.places - expected.places) <= most
    one, other = drawn.places, expected.places
    near |= (one == other) | (np.isnan(one) & np.isnan(other))
    first = near.all(axis=1).argmin()
    assert near.all(), (
        strategy,
        names[numbers[first]],
        expected.times[first],
        one[first],
        other[first],
    )


#: What finds fault with a file's style; {0} is the file, {1} its folder.
LINTERS = {
    "gdscript": _words("gdlint {0}"),
    "rust": _words("clippy-driver -D warnings --crate-type lib --emit metadata -o {1}/port {0}"),
    "lua": _words("luacheck -q {0}"),
}


@pytest.mark.parametrize("seed", range(100) if EXHAUSTIVE else (1, 8))
@pytest.mark.parametrize("language", LINTERS)
def test_linters_have_nothing_to_say(language: str, seed: int, tmp_path: Path) -> None:
    skip_without(LINTERS[language][0])
    strategy = (
        *EVERYWHERE,
        *IN_TURN,
        *(random_composition(random.Random(n)) for n in range(3, 100)),
    )[seed]
    file = tmp_path / f"port{load_languages()[language].suffix}"
    file.write_text(run(CodeSpec(read_spec(strategy), language), f"epic code {strategy}"))
    words = [word.format(file, tmp_path) for word in LINTERS[language]]
    done = subprocess.run(words, check=False, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, f"{strategy}\n{done.stdout}{done.stderr}"


def test_each_language_is_offered_and_has_a_toolchain() -> None:
    assert set(LANGUAGES) == set(load_languages()) == set(TOOLCHAINS)


def first_tests(statement: ast.stmt) -> str:
    """Return the first test of a condition; empty for other statements."""
    if not isinstance(statement, ast.If):
        return ""
    test = statement.test
    return ast.unparse(test.values[0] if isinstance(test, ast.BoolOp) else test)


@pytest.mark.parametrize("seed", range(200 if EXHAUSTIVE else 6))
def test_a_file_tests_nothing_twice_and_counts_what_matters(seed: int) -> None:
    strategy = random_composition(random.Random(seed))
    text = run(CodeSpec(read_spec(strategy), "python"), "epic code")
    for node in ast.walk(ast.parse(text)):
        body = getattr(node, "body", None)
        for first, then in pairwise(body if isinstance(body, list) else []):
            assert not first_tests(first) or first_tests(first) != first_tests(then), text
    for counter in ("count", "clocked"):
        reads = re.findall(rf"self\.{counter} [<>=!]=? \w+|\(self\.{counter}\)", text)
        assert not reads or any(not read.endswith(" 0") for read in reads), text
    assert not re.search(r"#.* with \w+=", text)
    assert text.count(strategy) <= 1


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_file_says_what_made_it_and_is_short(language: str) -> None:
    names = strategies()
    own = names[list(LANGUAGES).index(language) % len(names)]
    for strategy in names if EXHAUSTIVE else (own,):
        made = epic("code", strategy, "--lang", language).stdout.decode()
        assert f"epic code {strategy} --lang {language}" in made
        assert len(made.splitlines()) <= 200
        assert max(map(len, made.splitlines())) <= 140


@pytest.mark.parametrize(
    ("checked", "hint"),
    [("chase+how=share", b"changed since? write it again"), ("chase", b"write it for chase: ")],
)
def test_check_names_the_command_that_wrote_a_port(
    checked: str, hint: bytes, tmp_path: Path
) -> None:
    file = tmp_path / "port.py"
    epic("code", "chase+how=share", "--lang", "python", "--main", "-o", file)
    file.write_text(file.read_text().replace("SHARE = 0.1 ", "SHARE = 0.2 "))
    epic("check", "--new", "case", SAMPLES / "turn.txt", "-s", checked, cwd=tmp_path)
    held = epic("check", "case", "--against", f"python3 {file}", cwd=tmp_path)
    assert b"written by: epic code chase+how=share --lang python --main\n" in held.stdout
    assert hint in held.stdout
