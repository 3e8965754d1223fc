"""Names are recognized as fields, or refused where they are ambiguous."""

from __future__ import annotations

import pytest

from epic_cli.engine.description import write
from epic_cli.engine.refusals import Reason
from epic_cli.recordings.names.guess import AmbiguousLayout, infer_layout
from epic_cli.recordings.names.turns import propose_rotations
from epic_cli.recordings.read_spec import ReadSpec


def told(header: str, row: str = "", given: ReadSpec | None = None) -> str:
    """Return the ``--read`` options for a header and its first row; bars separate cells."""
    names = header.split("|")
    cells = row.split("|") if row else ["1"] * len(names)
    return infer_layout(given or ReadSpec(), dict(zip(names, cells, strict=True))).write()


def ambiguous(header: str, given: ReadSpec | None = None) -> AmbiguousLayout:
    with pytest.raises(AmbiguousLayout) as caught:
        told(header, given=given)
    return caught.value


@pytest.mark.parametrize(
    ("header", "options"),
    [
        ("time|x|y|z", "time=time,x=x,y=y,z=z"),
        ("Time|X|Y|Z", "time=Time,x=X,y=Y,z=Z"),
        ("t|px|py|pz", "time=t,x=px,y=py,z=pz"),
        ("ts|posX|posY", "time=ts,x=posX,y=posY"),
        ("TimeStamp|Pos_X|Pos_Y|Vel_X|Vel_Y", "time=TimeStamp,x=Pos_X,y=Pos_Y,vx=Vel_X,vy=Vel_Y"),
        ("t|position.x|position.z", "time=t,x=position.x,z=position.z"),
        ("t|pos.0|pos.1|pos.2", "time=t,x=pos.0,y=pos.1,z=pos.2"),
        ("t|pos[0]|pos[1]|v[0]|v[1]", "time=t,x=pos[0],y=pos[1],vx=v[0],vy=v[1]"),
        ("t|x_pos|y_pos|x_vel|y_vel", "time=t,x=x_pos,y=y_pos,vx=x_vel,vy=y_vel"),
        ("t|x (m)|y (m)|speed x (m/s)|speed y (m/s)",
         "time=t,x=x (m),y=y (m),vx=speed x (m/s),vy=speed y (m/s)"),
        ("t|x|y|target_x|target_y|head_x|head_y", "time=t,x=x,y=y"),
        ("t|x|y|vel_x", "time=t,x=x,y=y"),
        ("t|x|y|speed|heading", "time=t,x=x,y=y"),
        ("t|x|y|rotation.x|rotation.y|accel_x|accel_y", "time=t,x=x,y=y"),
        ("t|id|name|x|y", "time=t,x=x,y=y,entity=id"),
        ("t|player_id|id|x|y", "time=t,x=x,y=y,entity=player_id"),
        ("t|Name|x|y", "time=t,x=x,y=y,entity=Name"),
        ("sent_at|received_at|x|y", "time=sent_at,x=x,y=y,arrival=received_at"),
        ("got_ms|sent_ms|x|y", "time=sent_ms,x=x,y=y,arrival=got_ms,unit=ms"),
        ("Time|ServerTime|x|y", "time=ServerTime,x=x,y=y,arrival=Time"),
        ("timestamp|server_timestamp|x|y",
         "time=server_timestamp,x=x,y=y,arrival=timestamp"),
        ("time|server_time|received|x|y", "time=time,x=x,y=y,arrival=received"),
        ("t|recv_ts|seq_no|x|y", "time=t,x=x,y=y,arrival=recv_ts,seq=seq_no"),
        ("t|teleported|x|y", "time=t,x=x,y=y,teleport=teleported"),
        ("frame|t|x|y|delta", "time=t,x=x,y=y"),
        ("ms|x|y", "time=ms,x=x,y=y,unit=ms"),
        ("sec|x|y", "time=sec,x=x,y=y"),
        ("t|easting|northing|alt", "time=t,x=easting,y=northing,z=alt"),
        ("t|x|y|rx|ry|rz", "time=t,x=x,y=y"),
        ("t|x [cm]|y [cm]|Höhe [cm]", "time=t,x=x [cm],y=y [cm],z=Höhe [cm]"),
        ("Zeit [s]|x|y|hauteur", "time=Zeit [s],x=x,y=y,z=hauteur"),
        ("t|x|y|width|height", "time=t,x=x,y=y"),
        ("t|x [m]|y [m]|Höhe [px]", "time=t,x=x [m],y=y [m]"),
        ("t|x|z|height", "time=t,x=x,z=z"),
        ("t|car.x|car.y|angvel.x|angvel.y", "time=t,x=car.x,y=car.y"),
    ],
)  # fmt: skip
def test_the_usual_spellings(header: str, options: str) -> None:
    assert told(header).removesuffix(",axes=xz") == options


@pytest.mark.parametrize(
    ("name", "value", "units"),
    [
        ("time", "12.5", ""),
        ("time_ms", "12.5", "unit=ms"),
        ("Time (ms)", "12.5", "unit=ms"),
        ("t [us]", "12", "unit=us"),
        ("elapsed_ns", "12", "unit=ns"),
        ("ticks_msec", "12", "unit=ms"),
        ("timestamp", "1700000000.5", "origin=first"),
        ("timestamp", "1700000000500", "unit=ms,origin=first"),
        ("timestamp", "1700000000500000", "unit=us,origin=first"),
        ("timestamp", "1700000000500000000", "unit=ns,origin=first"),
        ("timestamp_ms", "1700000000500", "unit=ms,origin=first"),
        ("timestamp", "500000", ""),
        ("time", "1700000000.5", "origin=first"),
        ("time", "1700000000500", "unit=ms,origin=first"),
        ("time", "2024-05-01T12:00:00Z", "unit=iso,origin=first"),
        ("time", "12:00:00.5", "unit=iso,origin=first"),
    ],
)
def test_units_in_the_name_or_in_the_value(name: str, value: str, units: str) -> None:
    found = told(f"{name}|x|y", f"{value}|1|2")
    assert found == f"time={name},x=x,y=y,{units}".rstrip(",")


def test_own_names_mean_what_they_say() -> None:
    own = "id|name|timestamp|time|x|y|z|vx|vy|vz"
    layout = infer_layout(ReadSpec(), dict.fromkeys(own.split("|"), "1700000000"))
    named = {field: column for field, column in layout.columns or () if field != column}
    assert named == {"entity": "id"}
    assert not {"arrival", "seq"} & set(layout.places)


@pytest.mark.parametrize("more", ["", "|name"])
def test_own_times_are_seconds_as_they_stand(more: str) -> None:
    header = f"time|x|y|z{more}"
    found = told(header, header.replace("time", "1700000000500"))
    assert "unit" not in found
    assert told(header, header.replace("time", "12:00:01")).endswith("unit=iso,origin=first")


def test_unix_times_under_own_names_move_where_they_are_drawn() -> None:
    drawn = ReadSpec(rebase_time=True)
    for time, units in (
        ("1700000000.5", "origin=first"),
        ("1700000000500", "unit=ms,origin=first"),
    ):
        header = "time|x|y|z|vx|vy|vz"
        row = f"{time}|1|2|3|4|5|6"
        assert told(header, row, drawn) == units
        assert told(header, row).startswith("time=")  # nothing but the names
    assert infer_layout(drawn, {"time": "5", "x": "1", "y": "2", "z": "3"}).is_own


@pytest.mark.parametrize(
    ("header", "entities", "one"),
    [
        ("time|p1_x|p1_y|p2_x|p2_y", ("p1", "p2"), "time=time,x=p1_x,y=p1_y"),
        ("t|ball.x|ball.z|ann.x|ann.z", ("ball", "ann"), "time=t,x=ball.x,z=ball.z"),
    ],
)
def test_entities_side_by_side_are_refused_with_what_to_do(
    header: str, entities: tuple[str, ...], one: str
) -> None:
    wrong = ambiguous(header)
    assert wrong.reason is Reason.ENTITIES_IN_A_ROW
    assert wrong.facts["names"] == entities
    assert one.endswith("," + write(wrong.facts["readings"][0].entries))
    assert told(header, given=ReadSpec.parse(one)).startswith(one)


@pytest.mark.parametrize("other", ["speed_x|speed_y", "vel_x|vel_y", "local_vx|local_vy"])
def test_of_two_velocities_the_plainer_name_is_the_entitys(other: str) -> None:
    assert told(f"t|x|y|{other}|vx|vy") == "time=t,x=x,y=y,vx=vx,vy=vy"


def test_names_of_two_groups_that_are_not_alike_are_no_entities() -> None:
    assert ambiguous("t|foo_x|bar_y").reason is Reason.COLUMN_UNCLEAR


def test_own_names_that_are_not_given_stay() -> None:
    given = ReadSpec((("entity", "who"), ("time", "odd_ms")))
    assert told("odd_ms|who|id|time|x|y|z|vx|vy|vz|delta", given=given) == (
        "time=odd_ms,x=x,y=y,z=z,vx=vx,vy=vy,vz=vz,entity=who,delta=delta,unit=ms"
    )


def test_what_is_given_stands_and_the_rest_is_told() -> None:
    given = ReadSpec((("time", "stamp"), ("entity", "")), time_unit="ticks@60")
    assert told("t|stamp|id|x|y", given=given) == ("time=stamp,x=x,y=y,entity=,unit=ticks@60")
    assert told("tick|t|x|y", given=ReadSpec(time_unit="ticks@60")).startswith("time=tick")
    assert told("t|x|y|z|vx|vy|vz", given=ReadSpec(axes="xz")) == ("time=t,x=x,z=z,vx=vx,vz=vz")
    assert told("t|x|y", given=ReadSpec((("time", ""),))) == "time=t,x=x,y=y"
    none = ReadSpec((("vx", ""),))
    assert told("t|x|y|vx|vy", given=none) == "time=t,x=x,y=y,vx="


def test_a_layout_that_does_not_hold_for_own_files() -> None:
    given = ReadSpec((("time", "odd"),), time_unit="ms", unless_own=True)
    assert told("time|x|y", given=given) == "time=time,x=x,y=y"
    assert told("odd|x|y", given=given) == "time=odd,x=x,y=y,unit=ms"


@pytest.mark.parametrize(
    ("header", "reason", "field", "names"),
    [
        ("a|b", Reason.COLUMN_UNCLEAR, "time", ("a", "b")),
        ("s|x|y", Reason.COLUMN_UNCLEAR, "time", ("s",)),
        ("who|odd [ms]|b|x|y", Reason.COLUMN_UNCLEAR, "time", ("odd [ms]", "who", "b")),
        ("t|b", Reason.COLUMN_UNCLEAR, "x", ("t", "b")),
        ("t|ts|x|y", Reason.COLUMN_AMBIGUOUS, "time", ("t", "ts")),
        ("t|pos_x|pos_y|loc_x|loc_y", Reason.COLUMN_AMBIGUOUS, "x", ("pos_x", "loc_x")),
        ("t|x|y|id|uid", Reason.COLUMN_AMBIGUOUS, "entity", ("id", "uid")),
        ("t|lat|latitude|lon", Reason.COLUMN_AMBIGUOUS, "y", ("lat", "latitude")),
        ("frame|x|y", Reason.TICKS_WITHOUT_RATE, "time", ()),
        ("t|x|y|vx", Reason.COLUMNS_MISSING, "", ("vy",)),
        ("time|x|y|vy|vz", Reason.COLUMNS_MISSING, "", ("z", "vx")),
    ],
)
def test_what_cannot_be_told(
    header: str, reason: Reason, field: str, names: tuple[str, ...]
) -> None:
    found = ambiguous(header)
    assert found.reason is reason
    assert found.facts.get("field", "") == field
    assert found.facts.get("names", ()) == names


def test_a_column_that_is_not_there_has_near_names() -> None:
    found = ambiguous("timestamp_ms|pos_x|pos_y", ReadSpec((("x", "posx"),)))
    assert (found.reason, found.facts["field"]) == (Reason.COLUMN_UNKNOWN, "x")
    assert found.facts["names"][0] == "pos_x"


PLACE = "t|x|y|z|"


@pytest.mark.parametrize(
    ("header", "options"),
    [
        ("rot.x|rot.y|rot.z|rot.w", "qx=rot.x,qy=rot.y,qz=rot.z,qw=rot.w"),
        ("quat_x|quat_y|quat_z|quat_w", "qx=quat_x,qy=quat_y,qz=quat_z,qw=quat_w"),
        ("qw|qx|qy|qz|avx|avy|avz", "qx=qx,qy=qy,qz=qz,qw=qw,wx=avx,wy=avy,wz=avz"),
        ("rotX|rotY|rotZ|rotW", "qx=rotX,qy=rotY,qz=rotZ,qw=rotW"),
        ("yaw", "yaw=yaw"),
        ("yaw|server_yaw", "yaw=yaw"),
        ("yaw_rad|pitch_rad", "yaw=yaw_rad,pitch=pitch_rad,angles=rad"),
        ("yaw (deg)|roll (deg)", "yaw=yaw (deg),roll=roll (deg)"),
        (
            "yaw_rad|wx_dps|wy_dps|wz_dps",
            "yaw=yaw_rad,angles=rad",
        ),  # no unit is that of both
        ("yaw|wx_dps|wy_dps|wz_dps", "yaw=yaw,wx=wx_dps,wy=wy_dps,wz=wz_dps,angles=deg"),
        ("yaw|omega_x|omega_y|omega_z", "yaw=yaw,wx=omega_x,wy=omega_y,wz=omega_z"),
        # one number less, somebody else's, a rate, or whatever may be meant otherwise
        ("rot.x|rot.y|rot.w", ""),
        ("camera_yaw", ""),
        ("camera.rot.x|camera.rot.y|camera.rot.z|camera.rot.w", ""),
        ("yaw_rate|pitch_rate", ""),
        ("yaw [deg/s]", ""),
        ("heading", ""),
        ("rotation.x|rotation.y|rotation.z", ""),
        ("omega_x|omega_y|omega_z", ""),
        ("client_yaw|server_yaw", ""),
    ],
)
def test_rotations(header: str, options: str) -> None:
    plain = "time=t,x=x,y=y,z=z"
    wanted = f"{plain},{options}" if options else plain
    assert told(PLACE + header) == wanted


@pytest.mark.parametrize(
    ("cells", "order"),
    [
        ("0|0|0|1", "0123"),
        ("1|0|0|0", "1230"),
        ("0|0|0.6|0.8", "0123"),
        ("0.8|0|0.6|0", "1230"),
        ("0.5|0.5|0.5|0.5", ""),
        ("0|0.6|0.8|0", ""),
        ("n/a|0|0|1", ""),
    ],
)
def test_four_numbers_without_names_are_in_the_order_that_they_can_have(
    cells: str, order: str
) -> None:
    for names in ("q0|q1|q2|q3", "rotation.0|rotation.1|rotation.2|rotation.3"):
        stem = names.split("|")[0][:-1]
        fields = ",".join(
            f"q{one}={stem}{at}" for one, at in zip("xyzw", order, strict=bool(order))
        )
        options = told(PLACE + names, "0|1|2|3|" + cells)
        assert options == "time=t,x=x,y=y,z=z" + (f",{fields}" if fields else "")


def test_what_is_not_clear_is_proposed() -> None:
    values = dict.fromkeys(("heading", "pitch"), "1")
    assert propose_rotations({"x": "x"}, values) == [{"yaw": "heading", "pitch": "pitch"}]
    values = dict.fromkeys(("rot.x", "rot.y", "rot.z"), "1")
    euler, vector = propose_rotations({"x": "x"}, values)
    assert euler == {"yaw": "rot.y", "pitch": "rot.x", "roll": "rot.z", "euler": "unity"}
    assert vector == {"rx": "rot.x", "ry": "rot.y", "rz": "rot.z"}
    assert len(propose_rotations({"x": "x"}, dict.fromkeys(("q0", "q1", "q2", "q3"), "0.5"))) == 2
    assert propose_rotations({"x": "x", "yaw": "heading"}, {"pitch": "1"}) == []


def test_a_rotation_that_is_given_or_left_out_is_not_inferred() -> None:
    for given, shown in (("yaw=", "yaw="), ("yaw=heading", "yaw=heading")):
        layout = ReadSpec.parse(given)
        assert told(PLACE + "yaw|heading", given=layout).endswith("z=z," + shown)


@pytest.mark.parametrize(("first", "unit"), [("1234", "ms"), ("1700000000.1", "s")])
def test_the_packets_unit_is_that_of_a_file_beside_them_unless_its_dates_say_another(
    first: str, unit: str
) -> None:
    beside = ReadSpec.parse("unit=ms").make_spec_beside(("x", "y", "z"))
    assert infer_layout(beside, {"when": first, "x": "1", "y": "2"}).time_unit == unit
