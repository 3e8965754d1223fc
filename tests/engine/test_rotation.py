"""Tests of the engine's rotations against SciPy, from text to rows."""

from __future__ import annotations

import math
import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation, Slerp
from support import movements
from support.recordings import seeds

from epic_cli import Packet, Sample, replay, replay_array, strategy
from epic_cli.engine.packets import PacketBlock
from epic_cli.engine.text import EULER, TableScanner, TextScanner

unit = st.floats(-1, 1)


def normal(numbers: tuple[float, float, float, float]) -> tuple[float, float, float, float]:
    size = math.hypot(*numbers)
    x, y, z, w = numbers
    return (x / size, y / size, z / size, w / size) if size > 1e-3 else (0.0, 0.0, 0.0, 1.0)


quaternions = st.tuples(unit, unit, unit, unit).map(normal)
angles = st.floats(-1000, 1000)


def packet_of(line: str) -> Packet:
    block = TextScanner().scan(f"1,2,3 / 4,5,6 / 7 {line}\n".encode(), True)
    assert not block.refusals
    return block[0]


def table_packet(**values: float | str) -> Packet:
    return table_block({}, **values)[0]


def table_block(units: dict[str, Any], **values: float | str) -> PacketBlock:
    fields = {"time": 0, "x": 0, "y": 0, "z": 0, **values}
    scanner = TableScanner(list(fields), **units)
    block = PacketBlock(scanner.entities)
    wrong = scanner.add(block, {name: repr(value) for name, value in fields.items()}, 1, 0, 0)
    assert wrong is None
    return block


def same(found: object, wanted: Rotation, within: float = 1e-12) -> bool:
    return bool((Rotation.from_quat(found) * wanted.inv()).magnitude() < within)


# ------------------------------------------------------------------------------------- reading


@given(angles, angles, angles)
def test_angles_are_yaw_about_z_then_pitch_about_y_then_roll_about_x(
    y: float, p: float, r: float
) -> None:
    wanted = Rotation.from_euler("ZYX", (y, p, r), degrees=True)
    assert same(packet_of(f"yaw={y!r} pitch={p!r} roll={r!r}").rotation, wanted, 1e-9)


@given(angles, angles, angles, st.sampled_from(sorted(name for name in EULER if len(name) == 3)))
def test_orders_by_letters_are_those_of_scipy(y: float, p: float, r: float, order: str) -> None:
    by_axis = {"z": y, "y": p, "x": r}
    wanted = Rotation.from_euler(order.upper(), [by_axis[axis] for axis in order], degrees=True)
    found = table_block({"euler": order}, yaw=y, pitch=p, roll=r)[0].rotation
    assert same(found, wanted, 1e-9)


def test_the_orders_of_engines() -> None:
    unity = table_block({"euler": "unity"}, yaw=30.0, pitch=20.0, roll=10.0)[0].rotation
    assert same(unity, Rotation.from_euler("zxy", (10, 20, 30), degrees=True))
    # FRotator(20, 30, 10).Quaternion() by its documented formula
    p, y, r = (math.radians(literal) / 2 for literal in (20, 30, 10))
    unreal = (
        math.cos(r) * math.sin(p) * math.sin(y) - math.sin(r) * math.cos(p) * math.cos(y),
        -math.cos(r) * math.sin(p) * math.cos(y) - math.sin(r) * math.cos(p) * math.sin(y),
        math.cos(r) * math.cos(p) * math.sin(y) - math.sin(r) * math.sin(p) * math.cos(y),
        math.cos(r) * math.cos(p) * math.cos(y) + math.sin(r) * math.sin(p) * math.sin(y),
    )
    found = table_block({"euler": "unreal"}, yaw=30.0, pitch=20.0, roll=10.0)[0].rotation
    assert found == pytest.approx(unreal, abs=1e-15)


@given(quaternions)
def test_a_quaternion_is_kept_as_it_is_written(q: tuple[float, float, float, float]) -> None:
    text = ",".join(map(repr, q))
    assert packet_of(f"rotation={text} yaw=30 spin=1,2,3").rotation == q
    assert table_packet(qx=q[0], qy=q[1], qz=q[2], qw=q[3]).rotation == q


@given(quaternions)
def test_matrices_and_rotation_vectors(q: tuple[float, ...]) -> None:
    wanted = Rotation.from_quat(q)
    cells = {f"m{i}{j}": wanted.as_matrix()[i, j] for i in range(3) for j in range(3)}
    assert same(table_packet(**{name: float(one) for name, one in cells.items()}).rotation, wanted)
    x, y, z = map(float, wanted.as_rotvec())
    assert same(table_packet(rx=x, ry=y, rz=z).rotation, wanted)
    degrees = {"rx": math.degrees(x), "ry": math.degrees(y), "rz": math.degrees(z)}
    assert same(table_block({"angles": "deg"}, **degrees)[0].rotation, wanted)


@given(quaternions, st.sampled_from(["xyz", "xzy", "yxz", "zyx", "yzx", "zxy"]))
def test_axes_turn_rotations_and_spins_as_they_turn_what_is_rotated(
    q: tuple[float, ...], axes: str
) -> None:
    """Renaming axes and then rotating equals rotating and then renaming, also for mirrored axes."""
    matrix = np.zeros((3, 3))
    for row, axis in enumerate(axes):
        matrix[row, "xyz".index(axis)] = 1
    fields = dict(zip(("qx", "qy", "qz", "qw"), q, strict=True)) | {"wx": 1.0, "wy": 2.0, "wz": 3.0}
    packet = table_block({"axes": axes}, **fields)[0]
    wanted = matrix @ Rotation.from_quat(q).as_matrix() @ matrix.T
    assert Rotation.from_quat(packet.rotation).as_matrix() == pytest.approx(wanted, abs=1e-12)
    assert packet.spin is not None
    # the velocity of a point, spin x place, is mirrored as any other
    place = np.array([0.3, -0.7, 0.2])
    velocity = matrix @ np.cross([1.0, 2.0, 3.0], place)
    assert np.cross(packet.spin, matrix @ place) == pytest.approx(velocity)


@pytest.mark.parametrize(
    "word",
    [
        "rotation=0,0,0,1e7",
        "rotation=0,0,1",
        "rotation=0,0,0,1,0",
        "rotation=nan,0,0,1",
        "rotation=",
        "spin=1,2",
        "spin=inf,0,0",
        "yaw=north",
        "pitch=",
        "roll=nan",
    ],
)
def test_what_is_no_rotation_is_refused_where_it_stands(word: str) -> None:
    line = f"1,2,3 / 4,5,6 / 7 {word}\n".encode()
    block = TextScanner().scan(line, True)
    assert not len(block)
    [refusal] = block.refusals
    assert refusal.caret == line.index(b"=") + 1


def test_zeros_are_a_rotation_that_is_not_known() -> None:
    """Loggers write zeros before the first rotation; the packet's other fields are read."""
    assert packet_of("rotation=0,0,0,0 spin=1,2,3 arrival=9").arrival == 9
    matrix = {f"m{i}{j}": 0.0 for i in range(3) for j in range(3)}
    zeros = {f"q{letter}": 0.0 for letter in "xyzw"}
    for packet in (
        packet_of("rotation=0,-0,0,0 spin=1,2,3 arrival=9"),
        table_packet(**zeros, wx=1.0, wy=2.0, wz=3.0),
        table_packet(**matrix),
        movements.block([Packet((1, 2, 3), None, 7, rotation=(0, 0, 0, 0), spin=(1, 2, 3))])[0],
    ):
        assert (packet.rotation, packet.spin) == (None, None)


@pytest.mark.parametrize("name", ["epic", "mirror", "snapshot", "kalman"])
def test_packets_with_rotations_of_zeros_are_drawn_where_they_are(name: str) -> None:
    def drawn(rotation: tuple[float, float, float, float] | None) -> list[Sample]:
        made = [Packet((0.1 * k, 0, 0), (2, 0, 0), k / 20, rotation=rotation) for k in range(40)]
        return list(replay(made, strategy=name))

    assert drawn((0, 0, 0, 0)) == drawn(None)


def test_a_rotation_of_some_of_its_numbers_is_refused() -> None:
    scanner = TableScanner(["time", "x", "y", "z", "qx", "qy"])
    block = PacketBlock(scanner.entities)
    fields = dict.fromkeys(("time", "x", "y", "z", "qx", "qy"), "1")
    reason, field = scanner.add(block, fields, 1, 0, 0) or (None, "")
    assert (reason is not None and reason.name, field) == ("FIELD_MISSING", "qz")


def test_pickled_packets_keep_their_rotations() -> None:
    block = TextScanner().scan(
        b"1,2,3 / 4,5,6 / 7\n1,2,3 / 4,5,6 / 8 yaw=90\n1,2,3 / 4,5,6 / 9 yaw=1 spin=1,2,3\n", True
    )
    again = pickle.loads(pickle.dumps(block))
    assert [again[index] for index in range(3)] == [block[index] for index in range(3)]


# ------------------------------------------------------------------------------------- drawing

TURNING = (
    *("epic", "gambetta", "hermite", "lerp", "snapshot"),
    *("ddnet", "dumb-terminal", "geckos", "james-frowen", "lightyear", "mirror", "panda3d"),
    *(
        "chrono",
        "minecraft",
        "netcode-for-entities",
        "quake3",
        "source",
        "tick-interpolation",
        "unity-ngo",
    ),
    *("alpha-beta", "dead-reckoning", "extrapolator", "kalman", "local-perception"),
    *("one-euro", "projective", "spline", "visual-offset"),
)
# those that do to a rotation what they do to a position
MOVING = (
    *("alpha-beta", "dead-reckoning", "epic", "extrapolator", "kalman", "lerp"),
    *("local-perception", "one-euro", "projective", "snapshot", "spline"),
)
ANY = (2 / 7, -3 / 7, 6 / 7)  # an axis that is none of the three
AXIS = np.array(ANY)
# angles that change evenly are a constant spin about each axis, but not about others
AXES = [(1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, -1.0)]
BY_ANGLES: list[tuple[str, dict[str, Any]]] = [
    ("geckos", {"rotation": "deg"}),
    ("geckos", {"rotation": "rad"}),
    ("quake3", {}),
    ("quake3", {"trajectory": "linear", "angle_trajectory": "linear"}),
]
OTHERS: list[tuple[str, dict[str, Any]]] = [
    ("dis", {"model": "rpw"}),
    ("lightyear", {"rotation": "hermite"}),
    ("unity-ngo", {"mode": "double-lerp"}),
    ("unity-ngo", {"mode": "lerp"}),
    ("unity-ngo", {"mode": "lerp", "position_lerp_smoothing": "off"}),
]
SPINNING = [
    *((name, {}, ANY) for name in TURNING if name not in {"panda3d", "quake3"}),
    *((name, settings, ANY) for name, settings in OTHERS),
    *((name, settings, axis) for name, settings in BY_ANGLES for axis in AXES),
    # these know no way over the vertical: their pitch is about x
    *(("unity-ngo", {"mode": "smooth-damp"}, axis) for axis in AXES[1:]),
    *(("panda3d", {}, axis) for axis in AXES[1:]),
]


def turning(
    spin: float,
    seconds: float,
    rate: float,
    flip: bool = False,
    about: tuple[float, float, float] = ANY,
) -> list[Packet]:
    """Return the rotation at each time of a constant angular velocity about an axis."""
    axis = np.array(about)
    packets = []
    for index in range(round(seconds * rate)):
        time = index / rate
        sign = -1 if flip and index % 2 else 1
        x, y, z, w = map(float, sign * Rotation.from_rotvec(axis * spin * time).as_quat())
        wx, wy, wz = map(float, axis * spin)
        packets.append(
            Packet(
                (time, 0.0, 0.0), (1.0, 0.0, 0.0), time, rotation=(x, y, z, w), spin=(wx, wy, wz)
            )
        )
    return packets


@pytest.mark.parametrize(("name", "settings", "about"), SPINNING)
@pytest.mark.parametrize("flip", [False, True])
def test_a_constant_spin_is_drawn_as_that(
    name: str, settings: dict[str, Any], about: tuple[float, float, float], flip: bool
) -> None:
    """A body makes twenty turns, less than half a turn a packet; quaternion signs may flip."""
    spin, rate = 12.0, 20.0
    packets = turning(spin, 13, rate, flip, about)
    rows = replay_array(packets, strategy(name, **settings), pacing="arrival", latency=0.1)
    rows = rows[rows["time"] > 3]
    assert len(rows) > 190
    q = np.stack([rows[word] for word in ("qx", "qy", "qz", "qw")], axis=1)
    assert np.linalg.norm(q, axis=1) == pytest.approx(np.ones(len(q)), abs=1e-12)
    # what moves at 1 a second turns in step with where it is drawn
    axis = np.array(about)
    wanted = Rotation.from_rotvec(np.outer(rows["x"] * spin, axis))
    assert (Rotation.from_quat(q) * wanted.inv()).magnitude().max() < 2e-4
    w = np.stack([rows[word] for word in ("wx", "wy", "wz")], axis=1)
    moving = rows["status"] != "held"
    assert w[moving] == pytest.approx(np.outer(rows["vx"] * spin, axis)[moving], abs=2e-3)
    assert (np.einsum("ij,ij->i", q[1:], q[:-1]) > 0).all()  # the sign does not change


def quaternions_of(rows: np.ndarray) -> np.ndarray:
    return np.stack([rows[word] for word in ("qx", "qy", "qz", "qw")], axis=1)


def unsteady(seed: int, jump: float) -> list[Packet]:
    """Return packets that move along x and rotate by the same amount, at changing speeds.

    Some packets are lost.
    """
    random = np.random.default_rng(seed)
    rate, time, x, speed, packets = random.choice([5.0, 10.0, 30.0]), 0.0, 0.0, 1.0, []
    regular = random.random() < 0.5
    while time < 30:
        if random.random() < 0.1:
            speed = random.uniform(-4, 4)
        jumps = random.random() < 0.02
        x += random.uniform(-jump, jump) if jumps else 0
        q = random.choice([-1, 1]) * Rotation.from_rotvec(AXIS * x).as_quat()
        spin = tuple(float(row) for row in AXIS * speed)
        if random.random() < 0.9 or jumps:
            packets.append(
                Packet(
                    (x, 0.0, 0.0),
                    (speed, 0.0, 0.0),
                    time,
                    teleport=jumps,
                    rotation=(float(q[0]), float(q[1]), float(q[2]), float(q[3])),
                    spin=(spin[0], spin[1], spin[2]),
                )
            )
        step = (1 if regular else random.uniform(0.3, 1.7)) / rate
        time, x = time + step, x + speed * step
    return packets


@pytest.mark.parametrize("seed", seeds(4, 1))
@pytest.mark.parametrize(
    ("name", "settings"),
    [
        *((name, {}) for name in MOVING),
        *(("dead-reckoning", {"correction": word}) for word in ("snap", "spline", "second-order")),
        ("dead-reckoning", {"correction": "spline", "acceleration": "estimated"}),
        ("projective", {"blending": "position", "age": "auto"}),
        ("projective", {"acceleration": "estimated", "smoothing_time": 0.3}),
        *(("visual-offset", {"fading": word}) for word in ("linear", "exponential", "frames")),
        *(("visual-offset", {"fading": word}) for word in ("overshooting", "spring")),
        ("spline", {"interpolation_type": "linear"}),
        ("spline", {"interpolation_type": "bezier"}),
        ("kalman", {"measures": "position"}),
        ("alpha-beta", {"rule": "given", "k": 0.05}),
        ("alpha-beta", {"rule": "least-squares"}),
        ("one-euro", {"beta": 0.5, "mincutoff": 3}),
        ("one-euro", {"velocity": "given", "mincutoff": 5}),
        ("extrapolator", {"precision": "double"}),
    ],
)
def test_turning_is_moving(name: str, settings: dict[str, Any], seed: int) -> None:
    """A distance and an angle with equal numbers are corrected alike."""
    # a correction is less than half a turn, or neither way is the shorter one
    packets = unsteady(seed, jump=1.0 if name == "visual-offset" else 100.0)
    rows = replay_array(packets, name, pacing="arrival", latency=0.05, **settings)
    single = name in ("epic", "extrapolator") and settings.get("precision") != "double"
    wanted = Rotation.from_rotvec(np.outer(rows["x"], AXIS))
    off = (Rotation.from_quat(quaternions_of(rows)) * wanted.inv()).magnitude()
    assert off.max() < (5e-4 if single else 1e-11)
    w = np.stack([rows[word] for word in ("wx", "wy", "wz")], axis=1)
    assert w == pytest.approx(np.outer(rows["vx"], AXIS), abs=2e-2 if single else 1e-9)


SPIN = st.tuples(*[st.floats(-6, 6)] * 3)


@given(quaternions, quaternions, SPIN, SPIN, st.floats(0.0, 0.3))
@pytest.mark.parametrize(
    ("name", "settings"),
    [
        *(("dead-reckoning", {"correction": word}) for word in ("blend", "spline", "second-order")),
        ("projective", {"limit_velocity": False}),
        ("projective", {"blending": "position", "limit_velocity": False}),
        ("visual-offset", {"fading": "exponential"}),
    ],
)
def test_corrections_begin_where_it_was_drawn_and_the_spin_is_that_of_what_is_drawn(
    name: str, settings: dict[str, Any], a: Any, b: Any, v: Any, w: Any, after: float
) -> None:
    """The axes may differ, and then rotation vectors do not add up."""
    made = strategy(name, **settings)
    for time, q, spin in ((0.0, a, v), (0.2, b, w), (0.3, a, w)):
        made.update(Packet((0.0,) * 3, (0.0,) * 3, time, rotation=q, spin=spin), time)
    before = made.read(0.4).rotation
    correction = name == "visual-offset"
    made.update(Packet((0.0,) * 3, (0.0,) * 3, 0.4, teleport=correction, rotation=b, spin=v), 0.4)
    assert before is not None
    assert same(made.read(0.4).rotation, Rotation.from_quat(before), 1e-9)
    step = 1e-5
    first, middle, last = (made.read(0.4001 + after + index * step) for index in range(3))
    assert first.rotation is not None
    assert last.rotation is not None
    assert middle.spin is not None
    turned = Rotation.from_quat(last.rotation) * Rotation.from_quat(first.rotation).inv()
    if not correction and (first.time < 0.5) == (last.time < 0.5):  # its velocity is the packet's
        assert turned.as_rotvec() / (2 * step) == pytest.approx(middle.spin, abs=1e-3)


def test_models_of_dis_rotate_or_do_not() -> None:
    for model in ("static", "fpw", "rpw", "rvw", "fvw", "fpb", "rpb", "rvb", "fvb"):
        made = strategy("dis", model=model, timeout=1)
        for time in (0.0, 0.1):
            q = Rotation.from_rotvec(AXIS * time * 3).as_quat()
            spin = (6 / 7, -9 / 7, 18 / 7)
            made.update(Packet((0.0,) * 3, (0.0,) * 3, time, rotation=q, spin=spin), time)
        for at, age in ((0.1, 0.1), (0.9, 0.9), (9.0, 1.1)):
            wanted = Rotation.from_rotvec(AXIS * 3 * (age if model[0] == "r" else 0.1))
            drawn = made.read(at)
            assert same(drawn.rotation, wanted), model
            turns = model[0] == "r" and at < 1
            assert drawn.spin == pytest.approx(AXIS * 3 * turns), model


def test_robocat_takes_rotations_at_once() -> None:
    packets = turning(5.0, 3, 10)
    for row in replay(packets, "robocat", pacing="arrival", latency=0.1, rtt=0.1):
        newest = [packet for packet in packets if packet.time + 0.1 <= row.time]
        if newest and row.status != "none":
            assert same(row.rotation, Rotation.from_quat(newest[-1].rotation))
            assert row.spin == (0, 0, 0)


def test_the_mesh_of_unreal_turns_by_a_fraction_a_frame_or_on_its_clock() -> None:
    """Half a radian remains, and the time is 0.05 s.

    At 0.02 s a frame, 60 % of the way are left.
    """
    made = strategy("unreal")
    x, y, z, w = map(float, Rotation.from_rotvec(AXIS * 0.5).as_quat())
    turned = (x, y, z, w)
    start = Packet((0.0,) * 3, (0.0,) * 3, 0.0, rotation=(0, 0, 0, 1))
    end = Packet((0.0,) * 3, (0.0,) * 3, 0.1, rotation=turned)
    made.update(start, 0.0)
    assert made.read(0.1).rotation == (0, 0, 0, 1)
    made.update(end, 0.1)
    shown = np.array([0.0, 0, 0, 1])
    for frame in range(1, 5):
        shown = shown * 0.6 + np.array(turned) * 0.4
        shown /= np.linalg.norm(shown)
        assert made.read(0.1 + frame * 0.02).rotation == pytest.approx(shown, abs=1e-12)
    assert made.read(0.3).rotation == pytest.approx(turned)

    made = strategy("unreal", network_smoothing_mode="linear")
    made.update(start, 0.0)
    made.read(0.1)
    made.update(end, 0.1)
    for elapsed, u in ((0.025, 0.25), (0.05, 0.5), (0.1, 1), (0.2, 1)):
        shown = np.array([0.0, 0, 0, 1]) * (1 - u) + np.array(turned) * u
        drawn = made.read(0.1 + elapsed).rotation
        assert drawn == pytest.approx(shown / np.linalg.norm(shown)), elapsed


@pytest.mark.parametrize("name", [*TURNING, "dis", "robocat", "unreal"])
def test_half_turns_and_silences_leave_unit_quaternions(name: str) -> None:
    random = np.random.default_rng(7)
    halves = [
        (0.0, 0.0, 0.0, 1.0),
        (1.0, 0.0, 0.0, 0.0),
        (0.0, -1.0, 0.0, 0.0),
        (0.0, 0.0, 1.0, 0.0),
    ]
    packets = [
        Packet((time, 0.0, 0.0), None, time, rotation=halves[random.integers(4)])
        for time in (*np.arange(0, 20, 0.25).tolist(), 500.0)
    ]
    rows = replay_array(packets, name, pacing="arrival", latency=0.1)
    rows = rows[rows["status"] != "none"]
    assert len(rows) > 9_000
    q = quaternions_of(rows)
    assert np.abs(np.linalg.norm(q, axis=1) - 1).max() < 1e-14
    assert all(np.isfinite(rows[word]).all() for word in ("wx", "wy", "wz"))


@pytest.mark.parametrize("name", TURNING)
def test_flipped_signs_of_one_orientation_stand_still(name: str) -> None:
    rows = replay_array(turning(0.0, 5, 20, flip=True), name, pacing="arrival", latency=0.0)
    rows = rows[rows["status"] != "none"]
    assert set(zip(rows["qx"], rows["qy"], rows["qz"], rows["qw"], strict=True)) == {(0, 0, 0, 1)}


@given(quaternions, quaternions, st.floats(0.01, 0.99))
def test_between_two_rotations_is_the_shorter_great_circle(
    a: tuple[float, float, float, float], b: tuple[float, float, float, float], u: float
) -> None:
    made = strategy("snapshot", interpolation_time=1.0)
    for time, q in ((0.0, a), (1.0, b)):
        made.update(Packet((0.0, 0.0, 0.0), None, time, rotation=q), time)
    drawn = made.read(1 + u).rotation
    assert drawn is not None
    if abs(abs(np.dot(a, b))) < 1e-6:
        return  # either way is as short
    wanted = Slerp([0, 1], Rotation.from_quat([a, b]))(u)
    assert same(drawn, wanted, 1e-9)


def test_a_teleport_turns_at_once() -> None:
    for name in TURNING:
        made = strategy(name)
        for index in range(20):
            time = index * 0.1
            made.update(Packet((time, 0.0, 0.0), None, time, rotation=(0, 0, 0, 1)), time)
            made.read(time)
        made.update(Packet((9.0, 0.0, 0.0), None, 2.0, teleport=True, rotation=(1, 0, 0, 0)), 2.0)
        assert made.read(2.0).rotation in ((1, 0, 0, 0), None), name


def test_a_strategy_in_python_sees_and_returns_rotations() -> None:
    class Echo:
        def reset(self) -> None:
            self.packet: Packet | None = None

        def update(self, packet: Packet, now: float) -> bool:  # noqa: ARG002
            self.packet = packet
            return True

        def read(self, at: float) -> Sample:
            assert self.packet is not None
            return Sample(at, self.packet.position, (0, 0, 0), "held", "", self.packet.rotation)

    packets = turning(1.0, 1, 20)
    drawn = {sample.rotation for sample in replay(packets, Echo)}
    assert None not in drawn
    assert len(drawn) > 15


def test_who_turns_on_the_spot_is_not_held() -> None:
    packets = [packet._replace(position=(0.0, 0.0, 0.0)) for packet in turning(3.0, 3, 20)]
    statuses = [sample.status for sample in replay(packets, "lerp") if 1 < sample.time < 2.5]
    assert set(statuses) == {"interpolated"}
    still = [packet._replace(rotation=(0.0, 0.0, 0.0, 1.0)) for packet in packets]
    assert {sample.status for sample in replay(still, "lerp") if 1 < sample.time < 2.5} == {"held"}


@pytest.mark.parametrize("way", ["slerp", "nlerp", "unchecked", "hold"])
@pytest.mark.parametrize("seed", [1, 2])
def test_snapshot_turns_as_it_is_asked(way: str, seed: int) -> None:
    """The oracle is NumPy's interpolation between quaternions, some with the other sign."""
    random = np.random.default_rng(seed)
    steps = random.normal(0, 0.35, (50, 3)).cumsum(axis=0)
    quats = Rotation.from_rotvec(steps).as_quat() * random.choice((-1.0, 1.0), (50, 1))
    packets = [
        Packet((n / 10, 0.0, 0.0), (1.0, 0.0, 0.0), n / 10, rotation=tuple(one))
        for n, one in enumerate(quats.tolist())
    ]
    rows = replay_array(
        packets, strategy("snapshot", interpolation_time=0.3, rotation=way), tick=0.007
    )
    x = rows["x"]
    inside = (x > 0) & (x < 4.9) & (np.abs(x * 10 - np.rint(x * 10)) > 1e-6)
    at = np.floor(x[inside] * 10).astype(int)
    u = (x[inside] * 10 - at)[:, None]
    before, after = quats[at], quats[at + 1]
    near = np.where((before * after).sum(axis=1, keepdims=True) < 0, -after, after)
    if way == "slerp":
        angle = np.arccos(np.clip((before * near).sum(axis=1, keepdims=True), -1, 1))
        wanted = (np.sin((1 - u) * angle) * before + np.sin(u * angle) * near) / np.sin(angle)
    elif way == "hold":
        wanted = before
    else:
        wanted = before * (1 - u) + (near if way == "nlerp" else after) * u
    wanted /= np.sqrt((wanted**2).sum(axis=1, keepdims=True))
    shown = quaternions_of(rows)[inside]
    apart = Rotation.from_quat(wanted) * Rotation.from_quat(shown).inv()
    assert len(shown) > 500
    assert apart.magnitude().max() < 1e-9
    # the whole way from one to the other, the long one where it is not checked, in 100 ms
    cosine = (before * (after if way == "unchecked" else near)).sum(axis=1)
    angles = 0 * cosine if way == "hold" else 2 * np.arccos(np.clip(cosine, -1, 1))
    spins = np.stack([rows[name][inside] for name in ("wx", "wy", "wz")], axis=1)
    assert np.linalg.norm(spins, axis=1) == pytest.approx(angles / 0.1, abs=1e-6)
