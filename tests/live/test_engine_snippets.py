"""The snippets of ``sample_inputs/engines``: built, run, listened to, inspected and checked."""

import json
import math
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from support.datagrams import receiver
from support.places import SAMPLES
from support.running import epic

from epic_cli.recordings.datagrams.ingest import Decoder
from epic_cli.recordings.datagrams.record_layout import RecordLayout
from epic_cli.recordings.read_spec import ReadSpec

ENGINES = SAMPLES / "engines"
COUNT = 12

#: A turn about the engine's own axis upwards, and a walk along all three.
PYTHON = """
import math, sys
sys.path.insert(0, {folder!r})
from python_report import Reporter
reporter = Reporter(port={port}, file={file!r})
for n in range(12):
    half = 0.05 * n
    reporter.report("tank", n / 20, (n, 2 * n, 3 * n), (0, 0, math.sin(half), math.cos(half)))
reporter.close()
"""

NODE = """
const {{ Reporter }} = require({folder!r} + "/node_report.js");
const reporter = new Reporter({{ port: {port}, file: {file!r} }});
for (let n = 0; n < 12; ++n) {{
  const [y, w] = [Math.sin(0.05 * n), Math.cos(0.05 * n)];
  reporter.report("tank", n / 20, {{ x: n, y: 2 * n, z: 3 * n }}, {{ x: 0, y, z: 0, w }});
}}
setTimeout(() => reporter.close(), 200);
"""

RUST = """
include!("{folder}/rust_report.rs");
fn main() {{
    let mut reporter = Reporter::new("127.0.0.1:{port}", Some("{file}")).unwrap();
    for n in 0..12 {{
        let (x, half) = (n as f32, 0.05 * n as f32);
        let turn = [0.0, half.sin(), 0.0, half.cos()];
        reporter.report("tank", n as f64 / 20.0, [x, 2.0 * x, 3.0 * x], turn).unwrap();
    }}
}}
"""

#: What of Unity the snippet uses.
UNITY = """
using System.Reflection;
namespace UnityEngine {{
    public struct Vector3 {{ public float x, y, z; }}
    public struct Quaternion {{ public float x, y, z, w; }}
    public class Transform {{ public Vector3 position; public Quaternion rotation; }}
    public class MonoBehaviour {{
        public string name;
        public Transform transform = new Transform();
    }}
    public static class Time {{ public static double timeAsDouble; }}
}}
static class Game {{
    static void Call(object it, string what) {{
        var flags = BindingFlags.Instance | BindingFlags.NonPublic;
        it.GetType().GetMethod(what, flags).Invoke(it, null);
    }}
    static void Main() {{
        var it = new EpicReport {{ name = "tank", port = {port}, file = "{file}" }};
        Call(it, "OnEnable");
        for (int n = 0; n < 12; ++n) {{
            UnityEngine.Time.timeAsDouble = n / 20.0;
            it.transform.position = new UnityEngine.Vector3 {{ x = n, y = 2 * n, z = 3 * n }};
            it.transform.rotation = new UnityEngine.Quaternion {{
                y = (float)System.Math.Sin(0.05 * n), w = (float)System.Math.Cos(0.05 * n) }};
            Call(it, "FixedUpdate");
        }}
        Call(it, "OnDisable");
    }}
}}
"""

#: What of Unreal the snippet uses, under the names of all the headers that it includes.
UNREAL = r"""
#pragma once
#include <arpa/inet.h>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <sys/socket.h>
#include <unistd.h>
using int32 = int32_t; using uint32 = uint32_t; using uint8 = uint8_t; using TCHAR = char;
#define TEXT(text) text
struct FVector { double X, Y, Z; };
struct FQuat { double X, Y, Z, W; };
struct FString : std::string {
    FString(const char* text = "") : std::string(text) {}
    bool IsEmpty() const { return empty(); }
    const char* operator*() const { return c_str(); }
    static FString Printf(const char* format, ...) {
        char text[400]; va_list all; va_start(all, format); vsnprintf(text, 400, format, all);
        va_end(all); return FString(text);
    }
};
template <class T> using TSharedPtr = std::shared_ptr<T>;
struct FInternetAddr {
    sockaddr_in to{AF_INET};
    void SetIp(const TCHAR* ip, bool& valid) { valid = inet_pton(AF_INET, ip, &to.sin_addr) == 1; }
    void SetPort(int32 port) { to.sin_port = htons(port); }
};
struct FSocket {
    int it = socket(AF_INET, SOCK_DGRAM, 0);
    bool SendTo(const uint8* data, int32 count, int32& sent, const FInternetAddr& at) {
        sent = sendto(it, data, count, 0, (const sockaddr*)&at.to, sizeof at.to);
        return sent == count;
    }
};
#define PLATFORM_SOCKETSUBSYSTEM 0
struct ISocketSubsystem {
    static ISocketSubsystem* Get(int) { static ISocketSubsystem only; return &only; }
    TSharedPtr<FInternetAddr> CreateInternetAddr() { return std::make_shared<FInternetAddr>(); }
    void DestroySocket(FSocket* one) { close(one->it); delete one; }
};
struct FUdpSocketBuilder {
    FUdpSocketBuilder(const FString&) {}
    FUdpSocketBuilder& AsNonBlocking() { return *this; }
    FSocket* Build() { return new FSocket; }
};
struct IFileManager { static IFileManager& Get() { static IFileManager only; return only; } };
enum { FILEWRITE_None, FILEWRITE_Append = 8 };
struct FFileHelper {
    enum class EEncodingOptions { AutoDetect, ForceUTF8WithoutBOM };
    static bool SaveStringToFile(const FString& text, const TCHAR* path,
            EEncodingOptions = EEncodingOptions::AutoDetect, IFileManager* = &IFileManager::Get(),
            uint32 flags = 0) {
        FILE* file = fopen(path, flags & FILEWRITE_Append ? "ab" : "wb");
        fputs(text.c_str(), file); fclose(file); return true;
    }
};
"""

UNREAL_GAME = """
#include <cmath>
#include "{folder}/unreal_report.h"
int main() {{
    FEpicReport report("{file}", {port});
    for (int n = 0; n < 12; ++n)
        report.Report(7, n / 20.0, FVector{{100.0 * n, 200.0 * n, 300.0 * n}},
                      FQuat{{0, 0, std::sin(0.05 * n), std::cos(0.05 * n)}});
}}
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


def run(*command: str | Path) -> None:
    subprocess.run(command, check=True, timeout=600)


def python(folder: Path, text: str) -> None:
    (folder / "game.py").write_text(text)
    run("python3", folder / "game.py")


def node(folder: Path, text: str) -> None:
    need("node")
    (folder / "game.js").write_text(text)
    run("node", folder / "game.js")


def rust(folder: Path, text: str) -> None:
    need("rustc")
    (folder / "game.rs").write_text(text)
    run("rustc", "-o", folder / "game", folder / "game.rs")
    run(folder / "game")


def unity(folder: Path, text: str) -> None:
    need("mcs", "mono")
    (folder / "game.cs").write_text(text)
    run("mcs", f"-out:{folder / 'game.exe'}", folder / "game.cs", ENGINES / "unity_report.cs")
    run("mono", folder / "game.exe")


def unreal(folder: Path, text: str) -> None:
    need("g++")
    (folder / "stub.h").write_text(UNREAL)
    for header in ("Common/UdpSocketBuilder.h", "CoreMinimal.h", "HAL/FileManager.h",
                   "Misc/FileHelper.h", "SocketSubsystem.h", "Sockets.h"):  # fmt: skip
        (folder / header).parent.mkdir(exist_ok=True)
        (folder / header).write_text(f'#include "{folder}/stub.h"\n')
    (folder / "game.cpp").write_text(text)
    run("g++", "-Wall", "-Werror", "-I", folder, "-o", folder / "game", folder / "game.cpp")
    run(folder / "game")


#: What runs a game, its text, the suffix of its file, the axes to read it with and the scale; where
#: (1, 2, 3) then is, and whether a turn about the axis upwards turns the other way.
REPORTS: dict[
    str, tuple[Callable[[Path, str], None], str, str, str, float, tuple[int, ...], int]
] = {
    "python": (python, PYTHON, "jsonl", "xyz", 1.0, (1, 2, 3), 1),
    "node": (node, NODE, "jsonl", "zxy", 1.0, (3, 1, 2), 1),
    "rust": (rust, RUST, "jsonl", "zxy", 1.0, (3, 1, 2), 1),
    "unity": (unity, UNITY, "jsonl", "xzy", 1.0, (1, 3, 2), -1),
    "unreal": (unreal, UNREAL_GAME, "csv", "yxz", 0.01, (2, 1, 3), -1),
}


@pytest.mark.parametrize("engine", REPORTS)
def test_reports_are_listened_to_and_their_files_inspected(engine: str, tmp_path: Path) -> None:
    play, text, suffix, axes, scale, place, way = REPORTS[engine]
    file = tmp_path / f"game.{suffix}"
    (source,) = ENGINES.glob(f"{engine}_report.*")
    records = None
    if engine == "unreal":
        words = source.read_text().split("'")[1]
        records = RecordLayout(words)
    with receiver() as game:
        play(tmp_path, text.format(port=game.port, file=str(file), folder=str(ENGINES)))
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
