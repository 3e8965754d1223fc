"""Reading specifications are the same as a value and as a description."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.recordings import examples

from epic_cli.engine.description import write
from epic_cli.engine.parameters import SettingError
from epic_cli.recordings.read_spec import (
    FIELD_ORDER,
    ReadSpec,
    select_whole_fields,
    sort_columns,
    split_path,
    write_column,
    write_column_name,
    write_path,
)

NAMES = st.text(st.sampled_from("ab.,\\= '\"é"), min_size=1, max_size=6)


@given(
    st.dictionaries(st.sampled_from(FIELD_ORDER), NAMES, min_size=1),
    st.fixed_dictionaries(
        {},
        optional={
            "unit": st.sampled_from(["s", "ms", "ns", "iso", "ticks@59.94"]),
            "origin": st.sampled_from(["0", "first", "1.5", "1000000000", "-2"]),
            "axes": st.sampled_from(["xzy", "yx"]),
            "scale": st.sampled_from(["1", "0.01", "1e-09"]),
            "geo": st.sampled_from(["on", "off"]),
        },
    ),
)
@examples(200)
def test_what_is_written_says_the_same(names: dict[str, str], more: dict[str, str]) -> None:
    """A unit that could be left out is written, too: t_ms is in seconds where unit=s was given."""
    different = {name: field for field, name in names.items()}
    columns = {field: write_column(name) for name, field in different.items()}
    spec = ReadSpec.parse(write([*sort_columns(columns), *more.items()]))
    assert ReadSpec.parse(spec.write()) == spec
    assert dict(spec.list_entries()).items() >= more.items()


@given(st.lists(NAMES, min_size=1, max_size=4))
@examples(200)
def test_a_name_and_a_path_are_read_as_they_are_written(names: list[str]) -> None:
    assert split_path(write_path(tuple(names))) == tuple(names)
    assert write_column_name(write_column(names[0])) == names[0]


def test_defaults_are_not_written() -> None:
    assert ReadSpec().write() == ""
    spec = ReadSpec(
        sort_columns({"y": "b", "time": "t", "x": "a"}), time_unit="s", time_origin=0.0, axes="xy"
    )
    assert spec.write() == "time=t,x=a,y=b"
    assert spec._replace(axes="yx").write() == "time=t,x=a,y=b,axes=yx"


def test_what_stands_beside_a_profile_comes_first() -> None:
    profiles = {"mygame": 'time=t,x="Pos, X",unit=ms', "other": "mygame"}
    for text in ("mygame,unit=us,y=b", "unit=us,y=b,profile=mygame"):
        assert ReadSpec.parse(text, profiles.__getitem__).write() == 'time=t,x="Pos, X",y=b,unit=us'
    assert ReadSpec.parse("csv", profiles.__getitem__) == ReadSpec(format="csv")
    for text in ("mygame,mygame", "other", "nothing"):
        with pytest.raises((SettingError, KeyError)):
            ReadSpec.parse(text, profiles.__getitem__)


@pytest.mark.parametrize(
    ("unit", "per_second"),
    [("s", 1), ("ms", 1e3), ("us", 1e6), ("ns", 1e9), ("iso", None), ("ticks@60", 60),
     ("tick@66.67hz", 66.67)],
)  # fmt: skip
def test_units_of_time(unit: str, per_second: float | None) -> None:
    assert ReadSpec(time_unit=unit).units["per_second"] == per_second


@pytest.mark.parametrize("unit", ["", "m", "ticks", "ticks@", "ticks@0", "ticks@nan", "60"])
def test_no_units_of_time(unit: str) -> None:
    with pytest.raises(SettingError, match="min, h, d, iso or ticks@HZ, as ticks@60"):
        ReadSpec.parse(f"unit={unit}")


def test_an_origin_in_seconds_is_handed_on_in_the_units_of_the_recording() -> None:
    assert ReadSpec(None, "ms", 2.5).units["origin"] == 2500
    assert ReadSpec(None, "iso", 2.5).units["origin"] == 2.5
    assert ReadSpec(None, "ms", "first").units["origin"] is None
    assert ReadSpec().units["origin"] == 0


@pytest.mark.parametrize("rest", ["(?P<y>.*)", "b, c"])
def test_a_pattern_with_a_comma_needs_quotes(rest: str) -> None:
    pattern = f"(?P<time>.*) (?P<x>.*), {rest}"
    with pytest.raises(SettingError, match="stands in double quotes"):
        ReadSpec.parse(f"pattern={pattern},unit=ms")
    assert ReadSpec.parse(f'pattern="{pattern}",unit=ms').pattern == pattern


@pytest.mark.parametrize("axes", ["", "w", "xx", "xyzx", "XY"])
def test_no_axes(axes: str) -> None:
    with pytest.raises(SettingError, match="is not axes"):
        ReadSpec.parse(f"axes={axes}")


@pytest.mark.parametrize(
    "columns", ["qx qy qz qw", "rx ry rz", "m00 m01 m02 m10 m11 m12 m20 m21 m22", "wx wy wz"]
)
def test_a_rotation_or_spin_has_all_its_columns_or_none(columns: str) -> None:
    names = columns.split()
    assert set(select_whole_fields(["x", *names])) == {"x", *names}
    for missing in names:
        assert select_whole_fields(["x", *(name for name in names if name != missing)]) == ["x"]
    assert set(select_whole_fields(["x", "yaw"])) == {"x", "yaw"}  # the other angles are 0


@pytest.mark.parametrize("entry", ["scale=abc", "unit=foo", "axes=xx", "time_fromat=1"])
def test_an_error_says_whether_a_key_is_one_of_the_frames(entry: str) -> None:
    messages = []
    for text in (entry, f"frame.{entry}"):
        with pytest.raises(SettingError) as error:
            ReadSpec.parse(text)
        messages.append(str(error.value))
    assert messages[1] == f"frame.KEY: {messages[0]}"
