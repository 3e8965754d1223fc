"""Rocket League's and Slippi's recordings: all states in them are read, and nothing else."""

from __future__ import annotations

import gzip
import io
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from types import ModuleType

import pytest
from scipy.spatial.transform import Rotation
from support import game_files as made
from support.game_files import (
    BALL,
    CAR,
    PLAYER,
    Body,
    Called,
    Driver,
    Event,
    Fighter,
    Gone,
    New,
    needs_rocketleague,
    needs_slippi,
)
from support.game_files import State as Update
from support.oracle import f32
from support.pages import content
from support.running import EPIC, environment, epic

from epic_cli import Packet, inspect, read_packets
from epic_cli.main import main
from epic_cli.recordings import Unreadable
from epic_cli.recordings.entries.games import FORMATS, GameRecording, apart, rocketleague, slippi


def packets_of(data: bytes, read: str = "") -> list[Packet]:
    with read_packets(io.BytesIO(data), read=read) as packets:
        return list(packets)


def parsed_here(kind: ModuleType, data: bytes, folder: Path) -> list[Packet]:
    """Parse as ``packets_of`` does, in this process."""
    (folder / "recording").write_bytes(data)
    lines = [f"{kind.COLUMNS}\n", *kind.iterate_rows(str(folder / "recording"), False)]
    return packets_of("".join(lines).encode())


# -------------------------------------------------------------------------------- Rocket League


class Match:
    """A random match: ``frames`` for a replay, and the ``rows`` that they stand for.

    A row is a time, who it is, the body and whether it was moved there.
    """

    def __init__(self, seed: int, legacy: bool) -> None:
        self._random = random.Random(seed)
        self._legacy = legacy
        self._free = list(range(100))  # numbers of actors, used again
        self._random.shuffle(self._free)
        self.frames: list[tuple[float, list[Event]]] = []
        self.rows: list[tuple[float, str, Body, bool]] = []
        self._seen: set[str] = set()
        self._actors: dict[str, int] = {}  # who is there
        self._moved: set[str] = set()
        players = [f"player {n}" for n in range(self._random.randint(1, 4))]
        self._players = {who: self._free.pop() for who in players}
        time = self._random.uniform(1, 300)
        for index in range(60):
            events: list[Event] = []
            if index == 0:
                for n, (_, actor) in enumerate(self._players.items()):
                    events += [New(actor, PLAYER), Called(actor, f"name {n}", 1000 + n)]
            if index % 20 == 0:
                self._kick_off(events)
            elif self._random.random() < 0.1:
                self._demolish(events)
            self._move(time, events, index == 0)
            self.frames.append((time, events))
            time += self._random.uniform(0.02, 0.09)

    def _spawn(self, who: str, events: list[Event]) -> None:
        actor = self._actors[who] = self._free.pop(0)
        events.append(New(actor, BALL if who == "ball" else CAR))
        if who != "ball":
            events.append(Driver(actor, self._players[who]))
        self._moved.add(who)

    def _kick_off(self, events: list[Event]) -> None:
        for actor in self._actors.values():
            events.append(Gone(actor))
            self._free.insert(0, actor)  # at once somebody else's
        for who in ("ball", *self._players):
            self._spawn(who, events)

    def _demolish(self, events: list[Event]) -> None:
        who = self._random.choice(list(self._players))
        events.append(Gone(self._actors[who]))
        self._free.append(self._actors[who])
        self._spawn(who, events)

    def _move(self, time: float, events: list[Event], everybody: bool) -> None:
        for who, actor in self._actors.items():
            if not everybody and self._random.random() < 0.4:
                continue  # nothing new of it
            if self._random.random() < 0.1:  # a key frame says again what is there
                events.append(New(actor, BALL if who == "ball" else CAR))
            body = self._body()
            events.append(Update(actor, body))
            if who != "ball" and self._random.random() < 0.05:
                events.append(Driver(actor, None))  # the player leaves
            self.rows.append((time, who, body, who in self._moved and who in self._seen))
            self._moved.discard(who)
            self._seen.add(who)

    def _body(self) -> Body:
        def vector(most: int) -> made.Vector:
            x, y, z = (self._random.randint(-most, most) for _ in range(3))
            return x, y, z

        turn = (
            [self._random.uniform(-0.5, 0.5), *(self._random.uniform(-1, 1) for _ in range(2))]
            if self._legacy
            else Rotation.random(random_state=self._random.randrange(2**32)).as_quat()
        )
        if self._random.random() < 0.1:
            return Body(vector(500_000), turn)
        return Body(vector(500_000), turn, vector(230_000), vector(550))


@needs_rocketleague
@pytest.mark.parametrize("seed", range(10))
def test_a_row_for_each_update_of_a_replay(seed: int, tmp_path: Path) -> None:
    version = [(32, 10), (12, 0), (20, 2), (20, 5), (22, 7)][seed % 5]
    fine, quaternions = version[1] >= 5, version[1] >= 7
    match = Match(seed, legacy=not quaternions)
    packets = parsed_here(rocketleague, made.replay(match.frames, version), tmp_path)
    names: dict[str, str] = {}
    begin = f32(match.frames[0][0])
    assert len(packets) == len(match.rows)
    for packet, (stamp, who, body, moved) in zip(packets, match.rows, strict=True):
        assert packet.time == f32(stamp) - begin
        assert names.setdefault(who, packet.entity) == packet.entity
        assert packet.position == tuple(number / (1e4 if fine else 100) for number in body.place)
        unit = 1e4 if fine else 1000
        assert packet.velocity == tuple(number / unit for number in body.velocity or (0, 0, 0))
        assert packet.spin == tuple(number / unit for number in body.spin or (0, 0, 0))
        assert packet.rotation is not None
        if quaternions:
            turn = Rotation.from_quat(body.turn)
        else:  # pitch, yaw, roll in half turns; roll to the other side
            pitch, yaw, roll = body.turn
            turn = Rotation.from_euler("ZYX", [180 * yaw, 180 * pitch, -180 * roll], degrees=True)
        assert (turn.inv() * Rotation.from_quat(packet.rotation)).magnitude() < 1e-3
        assert packet.teleport == moved
    cars = sorted(name for who, name in names.items() if who != "ball")
    assert names.get("ball") == "ball"
    assert cars == [f"car-{n + 1}" for n in range(len(cars))]


BODY = Body((1, 2, 3), (0.0, 0.0, 0.0, 1.0), (4, 5, 6), (7, 8, 9))


def moved(x: int) -> Body:
    return BODY._replace(place=(x, 0, 0))


@needs_rocketleague
def test_a_wreck_is_not_its_driver_any_more(tmp_path: Path) -> None:
    """A key frame repeats the state of a demolished car, whose driver is elsewhere by then."""
    begin: list[Event] = [New(1, PLAYER), Called(1, "Ann", 5), New(2, CAR)]
    frames: list[tuple[float, list[Event]]] = [
        (1.0, [*begin, Update(2, moved(1))]),  # whose it is comes later
        (1.1, [Driver(2, 1), Update(2, moved(2))]),
        (1.2, [Update(2, moved(2)), New(3, CAR), Driver(3, 1), Update(3, moved(3))]),
        (1.3, [New(2, CAR), Update(2, moved(2)), Update(3, moved(4))]),
        (1.4, [Gone(2), Update(3, moved(5))]),
    ]
    packets = parsed_here(rocketleague, made.replay(frames), tmp_path)
    assert [round(packet.position[0] * 1e4) for packet in packets] == [1, 2, 3, 4, 5]
    assert [packet.teleport for packet in packets] == [False, False, True, False, False]
    assert {packet.entity for packet in packets} == {"car-1"}


@needs_rocketleague
def test_the_ball_before_is_no_second_ball(tmp_path: Path) -> None:
    """The ball is deleted late, and a key frame repeats it where it was."""
    frames: list[tuple[float, list[Event]]] = [
        (1.0, [New(1, BALL), Update(1, moved(1))]),
        (1.1, [New(2, BALL), Update(2, moved(2)), Update(1, moved(1))]),
        (1.2, [Update(2, moved(3))]),
        (1.3, [Gone(1), Update(2, moved(4))]),
    ]
    packets = parsed_here(rocketleague, made.replay(frames), tmp_path)
    assert [round(packet.position[0] * 1e4) for packet in packets] == [1, 2, 3, 4]
    assert [packet.teleport for packet in packets] == [False, True, False, False]
    assert {packet.entity for packet in packets} == {"ball"}


@needs_rocketleague
def test_who_comes_back_has_the_same_number_and_balls_have_their_own(tmp_path: Path) -> None:
    balls: list[Event] = [New(1, BALL), New(2, BALL), Update(2, moved(2)), Update(1, moved(1))]
    frames: list[tuple[float, list[Event]]] = [
        (1.0, balls),
        (1.1, [New(3, PLAYER), Called(3, "Ann", 5), New(4, CAR), Driver(4, 3)]),
        (1.15, [Update(1, moved(1)), Update(2, moved(2))]),
        (1.2, [Update(4, moved(4)), Gone(2)]),
        (1.3, [Gone(3), Gone(4), New(5, PLAYER), Called(5, "Bob", 6), New(6, CAR), Driver(6, 5)]),
        (1.4, [Update(6, moved(6)), New(3, PLAYER), Called(3, "Ann", 5), New(4, CAR)]),
        (1.5, [Driver(4, 3), Update(4, moved(5)), New(2, BALL), Update(2, moved(7))]),
    ]
    packets = parsed_here(rocketleague, made.replay(frames), tmp_path)
    found = [(packet.entity, packet.teleport) for packet in packets]
    assert found == [
        ("ball", False), ("ball-2", False), ("ball-2", False), ("ball", False), ("car-1", False),
        ("car-2", False), ("car-1", True), ("ball", True),
    ]  # fmt: skip


def test_the_checksum_is_that_of_bits_from_the_highest_down() -> None:
    assert rocketleague.compute_crc(b"\xa0") == 0x76CC8C81  # boxcars' own example
    for size in (0, 1, 15, 16, 17, 1000):
        data = random.Random(size).randbytes(size)
        assert rocketleague.compute_crc(data) == made.checksum(data)


def test_every_flipped_bit_and_every_cut_of_a_replay_is_noticed() -> None:
    data = made.replay([(1.0, [New(1, BALL), Update(1, BODY)])])
    rocketleague.check(data)
    for at in range(4, 8 * len(data), 7):
        broken = bytearray(data)
        broken[at // 8] ^= 1 << at % 8
        with pytest.raises(Unreadable, match=r"damaged|ends too early"):
            rocketleague.check(bytes(broken))
    for size in range(0, len(data), 5):
        with pytest.raises(Unreadable, match="ends too early"):
            rocketleague.check(data[:size])


# -------------------------------------------------------------------------------- Slippi


@needs_slippi
@pytest.mark.parametrize("seed", range(6))
def test_the_last_word_on_each_frame_of_slippi(seed: int, tmp_path: Path) -> None:
    rng = random.Random(seed)
    version = (3, 9) if seed % 2 else (0, 1)
    ports = sorted(rng.sample(range(4), rng.randint(1, 4)))
    climbers = rng.choice(ports)
    frames: list[made.Frame] = []
    final: dict[int, dict[tuple[int, bool], Fighter]] = {}
    number = -123
    while number < 60:
        fighters = {}
        for port in ports:
            for follower in (False, True) if port == climbers else (False,):
                fighters[port, follower] = Fighter(
                    rng.uniform(-200, 200),
                    rng.uniform(-200, 200),
                    action=rng.choice((0, 12, 12, 20)),
                    airborne=rng.random() < 0.5,
                    speeds=tuple(rng.uniform(-9, 9) for _ in range(5)),  # type: ignore[arg-type]
                )
        if rng.random() < 0.2:  # the second of two climbers is out of the game for some time
            fighters.pop((climbers, True))
        frames.append((number, fighters))
        final[number] = fighters
        back = rng.randint(1, 6) if version == (3, 9) and rng.random() < 0.1 else 0
        number = max(number + 1 - back, -123)
    recording = made.slippi(frames, version, characters={climbers: 14})
    packets = parsed_here(slippi, recording, tmp_path)
    before: dict[str, int | None] = {}
    rows = iter(packets)
    for number, fighters in sorted(final.items()):
        for port in ports:
            for follower in (False, True) if port == climbers else (False,):
                name = f"player-{port + 1}{'-nana' * follower}"
                one = fighters.get((port, follower))
                was, before[name] = before.get(name, -1), one and one.action
                if one is None:
                    continue
                packet = next(rows)
                assert packet.entity == name
                assert packet.time == (number + 123) / 60
                assert packet.position == pytest.approx((one.x / 10, 0, one.y / 10), rel=1e-6)
                assert packet.teleport == (
                    was is None or (one.action == 12 and was not in (12, -1))
                )
                if version == (0, 1):
                    assert packet.velocity is None
                    continue
                air, up, push, push_up, ground = one.speeds
                own = air if one.airborne else ground
                wanted = (6 * (own + push), 0, 6 * (up + push_up))
                assert packet.velocity == pytest.approx(wanted, rel=1e-4, abs=1e-4)
    assert next(rows, None) is None


STANDS = {(0, False): Fighter(1, 2), (2, False): Fighter(3, 4)}


# -------------------------------------------------------------------------------- both


def some(kind: str) -> bytes:
    """Return a small recording with two players."""
    if kind == "slippi":
        frames = [(number, STANDS) for number in range(-123, -100)]
        return made.slippi(frames, names={0: "Zoe", 2: "Zoe"})
    begin: list[Event] = [New(9, BALL), Update(9, BODY)]
    for n, name in enumerate(("Zoe", "ball", "ß\u202eÿ\n漢 ", "Zoe")):
        begin += [New(n, PLAYER), Called(n, name, n), New(n + 4, CAR), Driver(n + 4, n)]
        begin.append(Update(n + 4, BODY))
    return made.replay([(1.0, begin), (1.1, [Update(9, BODY)])])


kinds = pytest.mark.parametrize(
    "kind",
    [
        pytest.param("rocketleague", marks=needs_rocketleague),
        pytest.param("slippi", marks=needs_slippi),
    ],
)


@kinds
def test_names_stay_in_the_file_unless_they_are_wanted(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(some(kind))
    assert inspect(path).format == kind
    for command in (["convert", "--to", "jsonl"], ["replay", "-ftsv"]):
        done = epic(*command, "a", cwd=tmp_path)
        assert b"Zoe" not in done.stdout + done.stderr
    entities = {packet.entity for packet in packets_of(path.read_bytes(), "names=on")}
    rocket = {"ball", "Zoe", "ball'", "ß ÿ 漢", "Zoe'"}
    assert entities == (rocket if kind == "rocketleague" else {"Zoe", "Zoe'"})


@kinds
def test_from_anywhere_and_to_any_command(kind: str, tmp_path: Path) -> None:
    data = some(kind)
    path = tmp_path / "match.bin"
    path.write_bytes(data)
    wanted = epic("convert", "--to", "csv", path).stdout
    assert wanted.count(b"\n") > 6
    assert epic("convert", "--to", "csv", stdin=gzip.compress(data)).stdout == wanted
    assert epic("convert", "--read", kind, "--to", "csv", path).stdout == wanted
    done = epic("simulate", "--movement", f"truth={path}", "--format", "csv", cwd=tmp_path)
    assert done.returncode == 0, done.stderr


@kinds
def test_what_is_cut_off_or_empty_is_refused_in_a_sentence(kind: str, tmp_path: Path) -> None:
    data = some(kind)
    for size in (70, len(data) // 2):
        (tmp_path / "cut").write_bytes(data[:size])
        done = epic("convert", "--to", "csv", "cut", cwd=tmp_path)
        assert (done.returncode, done.stdout) == (2, b"")
        assert done.stderr.startswith(b"epic: cut: a ")
        assert done.stderr.count(b"\n") == 1
        assert size != len(data) // 2 or b"ends too early" in done.stderr
    nothing = made.slippi([]) if kind == "slippi" else made.replay([(1.0, [New(1, BALL)])])
    with pytest.raises(Unreadable, match=r"nothing moves|cannot be read|without a frame"):
        packets_of(nothing)


LIMITED = "import resource as r; r.setrlimit(r.RLIMIT_CPU, (1, 1))"
FAULTS = {
    "hangs": (f"{LIMITED}\nwhile True: pass", "its parser fails"),
    "eats": ("bytearray(1 << 33)", "MemoryError"),
    "aborts": ("import os; os.abort()", "its parser fails"),
    "raises": ("class Panic(BaseException): pass\nraise Panic('a\\nb\\x1b[2J')", "read: a b [2J"),
    "is bounded": (
        "import resource as r; raise OSError(*map(r.getrlimit, (r.RLIMIT_CPU, r.RLIMIT_AS)))",
        f"({apart.SECONDS}, {apart.SECONDS})] ({apart.MEMORY}, {apart.MEMORY})",
    ),
}


@pytest.mark.skipif(sys.platform in ("win32", "darwin"), reason="there are no limits here")
@pytest.mark.parametrize("fault", FAULTS)
def test_a_parser_that_fails_in_any_way_is_bounded(
    fault: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    code, wanted = FAULTS[fault]
    (tmp_path / "subtr_actor.py").write_text(code)
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(Unreadable) as refused:
        packets_of(made.replay([(1.0, [New(1, BALL), Update(1, BODY)])]))
    said = str(refused.value)
    assert "a replay of Rocket League " in said
    assert said.isprintable()
    assert wanted in said


@needs_slippi
@pytest.mark.skipif(sys.platform == "win32", reason="there are no limits here")
def test_lower_bounds_than_its_own_stay(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(some("slippi"))
    line = 'ulimit -t 50 && ulimit -v 3000000 && exec "$@"'
    run = ["sh", "-c", line, "sh", *EPIC, "convert", "--to", "csv", "a"]
    done = subprocess.run(run, check=False, cwd=tmp_path, env=environment(), capture_output=True)
    assert (done.returncode, done.stderr) == (0, b"")


def test_a_file_that_is_no_copy_is_not_removed(tmp_path: Path) -> None:
    path = tmp_path / "match.slp"
    path.write_bytes(some("slippi"))
    for place in (tmp_path, path):
        run = [sys.executable, "-m", apart.__name__, "slippi", str(place)]
        done = subprocess.run(run, check=False, env=environment(), capture_output=True)
        assert done.returncode == 1
        assert path.read_bytes() == some("slippi")


@pytest.mark.skipif(sys.platform == "win32", reason="a process cannot clean up after a kill")
def test_a_program_that_is_ended_leaves_no_copy(tmp_path: Path) -> None:
    begun = tmp_path / "begun"
    code = f"import time; open({str(begun)!r}, 'w').close(); time.sleep(0.5)"
    (tmp_path / "subtr_actor.py").write_text(code)
    (tmp_path / "copies").mkdir()
    (tmp_path / "a.replay").write_bytes(made.replay([(1.0, [New(1, BALL), Update(1, BODY)])]))
    variables = environment(PYTHONPATH=str(tmp_path), TMPDIR=str(tmp_path / "copies"))
    run = subprocess.Popen([*EPIC, "inspect", str(tmp_path / "a.replay")], env=variables)
    while not begun.exists() and run.poll() is None:
        time.sleep(0.01)
    copies = (tmp_path / "copies").glob
    assert list(copies("*/recording"))
    run.kill()
    run.wait()
    deadline = time.monotonic() + 60
    while list(copies("*")) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not list(copies("*"))


def test_a_missing_parser_is_named_as_what_is_installed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for recording in FORMATS:
        monkeypatch.setitem(sys.modules, recording.library, None)
        with pytest.raises(Unreadable, match=f"pip install {recording.package}"):
            packets_of(some(recording.name))


@pytest.mark.parametrize("kind", FORMATS, ids=lambda one: one.name)
def test_what_is_far_too_long_is_not_even_parsed(
    kind: GameRecording, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda _: True)
    monkeypatch.setattr(kind, "most", 1)
    data = some(kind.name)
    with pytest.raises(Unreadable, match="more than 1 MiB"):
        packets_of(data + bytes((1 << 20) + 1 - len(data)))


@kinds
def test_reading_may_stop_anywhere(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    (tmp_path / "a").write_bytes(some(kind))
    packets = read_packets(tmp_path / "a")
    next(packets)
    packets.close()
    assert [path.name for path in tmp_path.iterdir()] == ["a"]


@needs_slippi
@pytest.mark.parametrize(("read", "unit"), [((), "m"), (("--read", "scale=2"), "lengths")])
def test_pictures_of_a_replay_are_in_metres(
    read: tuple[str, ...], unit: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    frames = [(n, {(0, False): Fighter(n * 2.0, 0.0)}) for n in range(-123, 100)]
    Path("match.slp").write_bytes(made.slippi(frames))
    words = ["compare", "match.slp", "-s", "lerp", *read, "--svg", "a.svg", "--html", "a.html"]
    assert main(words) == 0
    text = Path("a.svg").read_text()
    assert f"error ({unit}) over time" in text
    assert f" over x ({unit})" in text
    (scene,) = content(Path("a.html").read_text())["scenes"]
    assert scene["unit"] == unit
    assert f" {unit}. lerp:" in scene["words"]["above"]
