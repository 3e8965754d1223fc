"""Findings on rotations: faults are found, and correct rotations give none."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from pathlib import Path

import pytest
from scipy.spatial.transform import Rotation
from support.running import epic

import epic_cli
from epic_cli.engine.packets import PacketBlock
from epic_cli.jobs.inspect.run import inspect
from epic_cli.recordings.findings import RecordingFinding
from epic_cli.recordings.read_spec import ReadSpec
from epic_cli.recordings.reading import make_reader
from epic_cli.recordings.watch import RecordingMonitor

Row = dict[str, float]


def rows(rate: float = 20, seed: int = 1, tilt: float = 0.3) -> list[Row]:
    """Return a tilted body on a circle that turns about the world's z, faster and slower."""
    some = random.Random(seed)
    begin, yaw, found = some.uniform(-3, 3), 0.0, []
    lean = Rotation.from_rotvec([tilt, 0, 0])
    for n in range(300):
        t = n / rate
        yaw = begin + 0.8 * t + 0.4 * math.sin(t)
        w = 0.8 + 0.4 * math.cos(t)
        q = (Rotation.from_rotvec([0, 0, yaw]) * lean).as_quat(canonical=True).tolist()
        found.append({
            "time": t, "x": 9 * math.cos(t), "y": 9 * math.sin(t), "z": 1.0,
            **dict(zip(("qx", "qy", "qz", "qw"), q, strict=True)), "wx": 0.0, "wy": 0.0, "wz": w,
        })  # fmt: skip
    return found


def found(made: list[Row], thorough: bool = False, read: str = "") -> list[RecordingFinding]:
    names = list(made[0])
    lines = [
        ",".join(names),
        *(",".join(f"{record[name]:.9g}" for name in names) for record in made),
    ]
    layout, watch = ReadSpec.parse(read), RecordingMonitor(thorough)
    watch.note_requested(layout)
    reader = make_reader("csv", layout, watch.note_inferred)
    watch.note_reader(reader, "csv")

    def blocks() -> list[PacketBlock]:
        block = reader.scan("\n".join([*lines, ""]).encode(), True)
        assert not block.refusals
        watch.observe(block)
        return [block]

    return [row for row in inspect("", blocks(), watch).findings if row.code.startswith("E5")]


@pytest.mark.parametrize("rate", [3, 20, 60, 400])
@pytest.mark.parametrize("tilt", [0.0, 0.4, -1.2])
def test_what_is_right_has_no_findings(rate: float, tilt: float) -> None:
    assert found(rows(rate, round(rate), tilt)) == []


def body(row: Row) -> Row:
    turn = Rotation.from_quat([row[f"q{letter}"] for letter in "xyzw"])
    spin = turn.inv().apply([row[f"w{axis}"] for axis in "xyz"]).tolist()
    return row | dict(zip(("wx", "wy", "wz"), spin, strict=True))


def without_spin(row: Row) -> Row:
    return {name: value for name, value in row.items() if name[0] != "w"}


@pytest.mark.parametrize(
    ("change", "code", "cure"),
    [
        (lambda one: one | {"qw": one["qw"] * 1.1}, "E501", ""),
        (lambda one: one | {f"w{a}": math.degrees(one[f"w{a}"]) for a in "xyz"}, "E505", "deg"),
        (lambda one: one | {f"w{a}": one[f"w{a}"] / 60 for a in "xyz"}, "E505", "wx="),
        (body, "E506", "wx="),
    ],
)
def test_what_looks_wrong_is_found(change: Callable[[Row], Row], code: str, cure: str) -> None:
    for seed in range(4):
        [one] = found([change(row) for row in rows(30, seed, 1.0)])
        assert one.code == code
        assert cure in one.read


def test_w_first_is_found_and_its_cure_mends_it() -> None:
    """The tilt is a few degrees; the heading swings around its first value."""
    made = []
    for row in rows(20, 3, 0.05):
        heading = Rotation.from_rotvec([0, 0, math.sin(row["time"])])
        x, y, z, w = (heading * Rotation.from_rotvec([0.05, 0, 0])).as_quat(canonical=True).tolist()
        made.append(without_spin(row) | {"qx": w, "qy": x, "qz": y, "qw": z})
    [finding] = found(made)
    assert finding.code == "E502"
    again = found(made, False, finding.read)
    assert again == []


def test_angles_in_radians_are_found() -> None:
    made = [
        {"time": row["time"], "x": row["x"], "y": row["y"], "z": 0.0,
         "yaw": math.remainder(row["time"], math.tau)}
        for row in rows()
    ]  # fmt: skip
    [finding] = found(made)
    assert (finding.code, finding.read) == ("E504", "angles=rad")
    assert found(made, read="angles=rad") == []
    assert found([record | {"yaw": math.degrees(record["yaw"])} for record in made]) == []
    # a car on a straight road does not turn either
    assert found([record | {"y": 0.0} for record in made]) == []


def test_what_is_worth_knowing_is_in_an_inspection_only() -> None:
    plain = [without_spin(row) for row in rows()]
    flipped = [
        one | {f"q{a}": -one[f"q{a}"] for a in "xyzw"} if n % 3 else one
        for n, one in enumerate(plain)
    ]
    still = [record | {"qx": 0.0, "qy": 0.0, "qz": 0.0, "qw": 1.0} for record in plain]
    headed = [
        {name: record[name] for name in ("time", "x", "y")} | {"heading": 1.0} for record in plain
    ]
    for made, code in ((flipped, "E507"), (still, "E508"), (headed, "E503")):
        assert [finding.code for finding in found(made)] == []
        assert [finding.code for finding in found(made, thorough=True)] == [code]
    [proposed] = found(headed, thorough=True)
    assert proposed.read == "yaw=heading"
    assert found(headed, thorough=True, read="yaw=") == []


@pytest.mark.parametrize("pace", [0.3, 1, 2])
def test_w_first_of_what_turns_all_the_way_round_is_found(pace: float) -> None:
    def circling(at: str, plane: str = "xy") -> list[Row]:
        made = []
        for n in range(400):
            a = pace * n / 20
            place = dict(zip("xyz", (0.0, 0.0, 0.0), strict=True))
            place |= {plane[0]: 9 * math.sin(a), plane[1]: -9 * math.cos(a)}
            turn = {"qx": 0.0, "qy": 0.0, "qz": 0.0, "qw": 0.0}
            turn |= {f"q{at[0]}": math.sin(a / 2), f"q{at[1]}": math.cos(a / 2)}
            made.append({"time": n / 20, **place, **turn})
        return made

    [finding] = found(circling("wx"))  # the columns are w, x, y, z by name of x, y, z, w
    assert finding.code == "E502"
    assert found(circling("wx"), False, finding.read) == []
    assert found(circling("zw")) == []
    assert found(circling("yw", "xz")) == []  # from the side


def test_three_numbers_and_matrices_in_rows_are_proposed(tmp_path: Path) -> None:
    angles = [f"[0,0,{20 * n}]" for n in range(40)]
    cosines = [(math.cos(0.3 * n), math.sin(0.3 * n)) for n in range(40)]
    matrices = [f"[[{c},{-s},0],[{s},{c},0],[0,0,1]]" for c, s in cosines]
    for rotations, yaw in ((angles, "roll=rotation.2"), (matrices, "m21=rotation.2.1")):
        path = tmp_path / "a.jsonl"
        path.write_text("".join(
            f'{{"time":{n / 10},"position":[{n},0,0],"rotation":{one}}}\n'
            for n, one in enumerate(rotations)
        ))  # fmt: skip
        [proposed] = epic_cli.inspect(path).findings
        assert proposed.code == "E503"
        assert yaw in proposed.read
        assert "\nrotation " in epic("inspect", "--read", proposed.read, path).stdout.decode()


def test_a_warning_is_in_the_verdict(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    body = [f"{t / 10},{5 * math.sin(t / 10)},{5 * math.cos(t / 10)}" for t in range(200)]
    lines = [f"{one},{math.remainder(n / 10, math.tau)}" for n, one in enumerate(body)]
    path.write_text("\n".join(["time,x,y,yaw", *lines]))
    shown = epic("inspect", path).stdout.decode()
    assert "1 warning, below." in shown
    assert "E504" in shown
    assert "Nothing looks wrong." not in shown


def test_rotations_of_zeros_are_unknown_and_counted_once() -> None:
    zeros = {"qx": 0.0, "qy": 0.0, "qz": 0.0, "qw": 0.0}
    made = [one | zeros if n < 7 or n == 50 else one for n, one in enumerate(rows())]
    [finding] = found(made)
    assert (finding.code, finding.facts, finding.lines) == ("E509", {"packets": 8}, (2,))
    assert [finding.code for finding in found([record | zeros for record in made])] == ["E509"]


def headed(rate: float, turn: float, wrap: float, swing: float = 0.0) -> list[Row]:
    """Return a circle whose yaw turns by ``turn`` a second, wraps at ``wrap``, or swings."""
    made = []
    for n in range(400):
        t = n / rate
        yaw = swing * math.sin(t) if swing else turn * t
        yaw = math.remainder(yaw, wrap) if wrap else yaw
        made.append({"time": t, "x": 9 * math.cos(t), "y": 9 * math.sin(t), "z": 1.0, "yaw": yaw})
    return made


@pytest.mark.parametrize("rate", [5, 20, 60])
def test_degrees_taken_for_radians_are_found(rate: float) -> None:
    for made in (headed(rate, 57.3, 360), headed(rate, -200, 360), headed(rate, 0, 0, 80)):
        [finding] = found(made, read="angles=rad")
        assert finding.code == "E510"
        assert found(made, False, finding.read) == []
        named = [{"yaw_rad" if k == "yaw" else k: v for k, v in record.items()} for record in made]
        assert [finding.code for finding in found(named)] == ["E510"]


@pytest.mark.parametrize("rate", [5, 20, 60])
def test_radians_that_add_up_or_hardly_turn_are_right(rate: float) -> None:
    for made in (
        headed(rate, 1, math.tau),
        headed(rate, 1, 0),  # whole turns add up
        headed(rate, -5, 0),
        headed(rate, 0.05, math.tau),
        headed(rate, 0, 0, 0.3),
        headed(rate, 0, 0, 9.0),
    ):
        assert found(made, read="angles=rad") == []


def test_few_yaws_and_numbers_beyond_a_circle_are_not_said_to_be_degrees() -> None:
    for made in (headed(5, 200, 360)[:10], headed(20, 0, 0, 900), headed(20, 900, 0)):
        assert found(made, read="angles=rad") == []


def test_the_first_packets_are_shown_with_their_angles(tmp_path: Path) -> None:
    lines = [f"{time / 10},{time},0,0,{30 * time - 90},{5 * time}" for time in range(12)]
    recording = tmp_path / "turns.csv"
    recording.write_text("\n".join(["time,x,y,z,yaw,pitch", *lines]) + "\n")
    shown = epic("inspect", recording).stdout.decode().splitlines()
    begin = next(place for place, line in enumerate(shown) if line.split()[:2] == ["time", "x"])
    assert shown[begin].split() == ["time", "x", "y", "z", "yaw", "pitch", "roll"]
    assert shown[begin + 3].split() == ["0.2", "2", "0", "0", "-30", "10", "0"]
