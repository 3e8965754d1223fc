"""Drawn samples as PlotJuggler and Teleplot take them."""

import json
import math
import re

import pytest
from scipy.spatial.transform import Rotation
from support.datagrams import program, receiver
from support.running import epic

from epic_cli.engine.contract import Sample, Status
from epic_cli.live.forwarders import (
    Target,
    forward_formats,
    iterate_drawable,
    list_numbers,
    parse_target,
)
from epic_cli.recordings.addresses import Address


def sample(time: float, entity: str, x: float = 1.0, status: Status = "interpolated") -> Sample:
    return Sample(time, (x, 2.5, -3.0), (4.0, 5.0, 1e-7), status, entity)


#: Teleplot's own way to take a line apart (server's README): name, then values, then flags.
LINE = re.compile(r"([^:|;§]+):([^|§]+)(?:\|(.*))?")


def test_plotjuggler_gets_an_object_with_a_time_for_each_tick() -> None:
    samples = [sample(0.05, "a"), sample(0.05, "b/c"), sample(0.05, "n", status="none"),
               sample(0.1, ""), sample(0.1, "timestamp"), sample(0.1, "a", math.inf)]  # fmt: skip
    one, other = (
        json.loads(data)
        for data in forward_formats()["plotjuggler"].encode(iterate_drawable(samples), 0)
    )
    state = {"x": 1, "y": 2.5, "z": -3, "vx": 4, "vy": 5, "vz": 1e-7}
    assert one == {"timestamp": 0.05, "a": state, "b/c": state}
    assert other == {"timestamp": 0.1, "entity": state, "timestamp_": state}


@pytest.mark.parametrize("plotter", ["plotjuggler", "teleplot"])
def test_many_entities_share_datagrams_that_are_not_too_long(plotter: str) -> None:
    target = parse_target(plotter)
    samples = [sample(0.05, f"tank{number}") for number in range(100)]
    found = list(target.format.encode(samples, 0))
    assert 5 < len(found) < 50
    assert max(map(len, found)) <= 1440
    text = b"".join(found).decode()
    assert all(f"tank{number}" in text for number in range(100))


def test_teleplot_gets_lines_in_unix_milliseconds() -> None:
    samples = [sample(0.05, "a:b|c;d"), sample(0.1, "")]
    (data,) = forward_formats()["teleplot"].encode(samples, 1_700_000_000)
    lines = data.decode().splitlines()
    found = {}
    for line in lines:
        parts = LINE.fullmatch(line)
        assert parts, line
        found[parts[1], parts[3]] = [float(value) for value in parts[2].split(":")]
    assert found["a_b_c_d.x", None] == [1_700_000_000_050, 1]
    assert found["a_b_c_d.vz", None] == [1_700_000_000_050, 1e-7]
    assert found["a_b_c_d", "xy"] == [1, 2.5, 1_700_000_000_050]
    assert found["entity.z", None] == [1_700_000_000_100, -3]
    assert len(lines) == 14


def test_targets() -> None:
    assert parse_target("teleplot").address == Address("127.0.0.1", 47269)
    plotter = parse_target("plotjuggler")
    assert plotter == Target(forward_formats()["plotjuggler"])
    assert plotter.address == Address("127.0.0.1", 9870)
    # its usual port is that on which games are listened to
    assert plotter.choose_port_beside(9870).address == Address("127.0.0.1", 9871)
    assert plotter.choose_port_beside(5).address.port == 9870
    assert parse_target("plotjuggler:[::1]:9870").choose_port_beside(9870).address == Address(
        "::1", 9870
    )
    assert parse_target("teleplot:[::1]:5") == Target(
        forward_formats()["teleplot"], Address("::1", 5)
    )
    for text in ("grafana", "teleplot:", "teleplot:x", ""):
        with pytest.raises(ValueError, match="is not"):
            parse_target(text)


def test_rows_go_to_all() -> None:
    with receiver() as plotter, receiver() as other, receiver() as game:
        targets = (
            f"plotjuggler:127.0.0.1:{plotter.port}",
            f"teleplot:127.0.0.1:{other.port}",
        )
        options = [word for target in targets for word in ("--forward", target)]
        with program("listen", "0", *options, "-f", "csv") as listener:
            game.socket.sendto(b"1,2,3 / 4,5,6 / 10 entity=a", listener.place)
            first = json.loads(plotter.one())
            assert other.one().startswith(b"a.x:")
            drawn = listener.wait_for(b",a\n", "stdout").splitlines()[1].split(b",")
    assert first["timestamp"] == float(drawn[0])
    assert first["a"]["x"] == float(drawn[1])
    done = epic("listen", "--forward", "plotjuggler:127.0.0.1:45987", "45987")
    assert done.returncode == 2
    assert b"another port" in b" ".join(done.stderr.split())


@pytest.mark.parametrize("plotter", ["plotjuggler", "teleplot"])
def test_what_turns_has_its_rotation(plotter: str) -> None:
    with receiver() as place:
        target = f"{plotter}:127.0.0.1:{place.port}"
        with program("listen", "0", "--forward", target, "-s", "snapshot") as listener:
            epic("send", "--movement", "circle,turning=spin,duration=0.5", listener.port)
            data = [place.one().decode() for _ in range(6)]
    if plotter == "plotjuggler":
        found = [json.loads(name)["entity"] for name in data]
    else:
        pairs = [re.findall(r"entity\.(\w+):\d+:(\S+)", name) for name in data]
        found = [{name: float(value) for name, value in pair} for pair in pairs]
    for item in found:
        true = Rotation.from_quat([item[name] for name in ("qx", "qy", "qz", "qw")])
        angles = true.as_euler("ZYX", degrees=True)
        assert [item[name] for name in ("yaw", "pitch", "roll")] == pytest.approx(list(angles))
    assert found[-1]["wz"] == pytest.approx(0.8 * math.pi, abs=1e-4)


def test_numbers_that_are_not_finite_are_left_out() -> None:
    turned = sample(0.05, "a")._replace(rotation=(0.0, 0.0, 0.0, 1.0), spin=(math.nan, 0.0, 0.0))
    assert list(list_numbers(turned)) == ["x", "y", "z", "vx", "vy", "vz"]
