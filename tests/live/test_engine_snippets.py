"""The snippets of ``sample_inputs/engines``: built, run, listened to, inspected and checked."""

import json
import math
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest
from support.datagrams import receiver
from support.places import SAMPLES
from support.running import epic

from epic_cli.recordings.datagrams.ingest import Decoder
from epic_cli.recordings.datagrams.record_layout import RecordLayout
from epic_cli.recordings.read_spec import ReadSpec

ENGINES = SAMPLES / "engines"
GAMES = Path(__file__).parent / "engine_games"
COUNT = 12

#: A turn about the engine's own axis upwards, and a walk along all three, as all games report.
PYTHON = """
import math, sys
from python_report import Reporter
reporter = Reporter(port=int(sys.argv[1]), file=sys.argv[2])
for n in range(12):
    half = 0.05 * n
    reporter.report("tank", n / 20, (n, 2 * n, 3 * n), (0, 0, math.sin(half), math.cos(half)))
reporter.close()
"""


def need(*tools: str) -> None:
    """Skip the test if one of these is not installed, or does not run."""
    for tool in tools:
        found = shutil.which(tool)
        if (
            not found
            or subprocess.run([found, "--version"], check=False, capture_output=True).returncode
        ):
            pytest.skip(f"{tool} is not installed")


def run(*command: str | Path, **variables: str) -> None:
    subprocess.run(command, check=True, timeout=600, env={**os.environ, **variables})


def python(_: Path, *given: str) -> None:
    run("python3", "-c", PYTHON, *given, PYTHONPATH=str(ENGINES))


def node(_: Path, *given: str) -> None:
    need("node")
    run("node", GAMES / "node_game.js", *given, NODE_PATH=str(ENGINES))


def rust(folder: Path, *given: str) -> None:
    need("rustc")
    run("rustc", "-o", folder / "game", GAMES / "rust_game.rs", ENGINES=str(ENGINES))
    run(folder / "game", *given)


def unity(folder: Path, *given: str) -> None:
    need("mcs", "mono")
    game = folder / "game.exe"
    run("mcs", f"-out:{game}", GAMES / "unity_game.cs", ENGINES / "unity_report.cs")
    run("mono", game, *given)


def unreal(folder: Path, *given: str) -> None:
    need("g++")
    for header in ("Common/UdpSocketBuilder.h", "CoreMinimal.h", "HAL/FileManager.h",
                   "Misc/FileHelper.h", "SocketSubsystem.h", "Sockets.h"):  # fmt: skip
        (folder / header).parent.mkdir(exist_ok=True)
        (folder / header).write_text(f'#include "{GAMES}/unreal_stub.h"\n')
    game = folder / "game"
    run("g++", "-Wall", "-Werror", "-I", folder, "-I", ENGINES, "-o", game,
        GAMES / "unreal_game.cpp")  # fmt: skip
    run(game, *given)


class Report(NamedTuple):
    """A game of an engine, and the form of the file that it writes."""

    play: Callable[..., None]
    suffix: str
    axes: str
    scale: float
    place: tuple[int, ...]  #: where (1, 2, 3) then is
    turn: int  #: -1 where a turn about the axis upwards turns the other way


REPORTS = {
    "python": Report(python, "jsonl", "xyz", 1.0, (1, 2, 3), 1),
    "node": Report(node, "jsonl", "zxy", 1.0, (3, 1, 2), 1),
    "rust": Report(rust, "jsonl", "zxy", 1.0, (3, 1, 2), 1),
    "unity": Report(unity, "jsonl", "xzy", 1.0, (1, 3, 2), -1),
    "unreal": Report(unreal, "csv", "yxz", 0.01, (2, 1, 3), -1),
}


@pytest.mark.parametrize("engine", REPORTS)
def test_reports_are_listened_to_and_their_files_inspected(engine: str, tmp_path: Path) -> None:
    play, suffix, axes, scale, place, way = REPORTS[engine]
    file = tmp_path / f"game.{suffix}"
    (source,) = ENGINES.glob(f"{engine}_report.*")
    records = None
    if engine == "unreal":
        words = source.read_text().split("'")[1]
        records = RecordLayout(words)
    with receiver() as game:
        play(tmp_path, game.port, str(file))
        datagrams = [game.one() for _ in range(COUNT)]
    spec = ReadSpec(axes=axes, scale=scale) if records is None else ReadSpec()
    read = [decoded.block for decoded in Decoder(spec, records).read(datagrams)]
    packets = [block[index] for block in read if block is not None for index in range(len(block))]
    assert len(packets) == COUNT
    for n, packet in enumerate(packets):
        assert packet.entity == ("7" if engine == "unreal" else "tank")
        assert packet.time == pytest.approx(n / 20)
        assert packet.position == pytest.approx([n * number for number in place])
        turn = (0, 0, way * math.sin(0.05 * n), math.cos(0.05 * n))
        assert packet.rotation == pytest.approx(turn, abs=1e-6)
    seen = epic("inspect", file)
    assert seen.returncode == 0, seen.stderr
    assert b"Nothing looks wrong." in seen.stdout
    assert b"a quaternion; " in seen.stdout
    # the file has what was sent
    options = ("--read", f"axes={axes},scale={scale}", "--to", "jsonl")
    converted = epic("convert", *options, file).stdout.splitlines()
    for line, packet in zip(map(json.loads, converted), packets, strict=True):
        assert [line[axis] for axis in "xyz"] == pytest.approx(packet.position, abs=1e-6)
        turn = tuple(line[word] for word in ("qx", "qy", "qz", "qw"))
        assert turn == pytest.approx(packet.rotation, abs=1e-6)


#: The languages of the ports; tests/jobs/code has what programs in these draw.
PORTS = {
    "unity_port.cs": "csharp",
    "unreal_port.cpp": "cpp",
    "godot_port.gd": "gdscript",
    "node_port.ts": "typescript",
    "python_port.py": "python",
    "rust_port.rs": "rust",
}

DRAWN = "buffer+stamps=arrival+delay=0.1"


@pytest.mark.parametrize("name", PORTS)
def test_ports_are_what_epic_code_writes(name: str, tmp_path: Path) -> None:
    written = epic(
        "code", DRAWN, "--lang", PORTS[name], "--rotations", "--main", "-o", tmp_path / name
    )
    assert written.returncode == 0
    assert (ENGINES / name).read_bytes() == (tmp_path / name).read_bytes()


def test_godots_scripts_are_gdscript() -> None:
    gdparse = shutil.which("gdparse")
    if gdparse is None:
        pytest.skip("gdparse (of gdtoolkit) is not installed")
    run(gdparse, *ENGINES.glob("*.gd"))
