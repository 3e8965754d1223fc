"""Layouts: the same as values and as options."""

import shlex

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.recordings import examples

from epic_cli.recordings.columns import (
    FIELD_ORDER,
    column_name,
    column_text,
    in_order,
    parse_columns,
    path_names,
    path_text,
)
from epic_cli.recordings.layout import Layout
from epic_cli.recordings.layout_options import parse_axes, parse_time_origin, parse_time_unit

NAMES = st.text(st.sampled_from("ab.,\\= '\"é"), min_size=1, max_size=6)


def parsed(options: str) -> Layout:
    """The layout that these options say."""
    words = shlex.split(options)
    given = dict(zip(words[::2], words[1::2], strict=True))
    origin = given.get("--time-origin")
    return Layout(
        parse_columns(given["--columns"]),
        given.get("--time-unit"),
        None if origin is None else parse_time_origin(origin),
        given.get("--axes"),
        float(given.get("--scale", 1)),
    )


@given(
    st.dictionaries(st.sampled_from(FIELD_ORDER), NAMES, min_size=1),
    st.sampled_from([None, "ms", "ns", "iso", "ticks@59.94"]),
    st.sampled_from([None, "first", 1.5, 1e9, -2.0]),
    st.sampled_from([None, "xzy", "yx"]),
    st.sampled_from([1.0, 0.01, 1e-9]),
)
@examples(200)
def test_a_layout_is_parsed_from_the_options_that_it_prints(
    names: dict[str, str], unit: str | None, origin: float | None, axes: str | None, scale: float
) -> None:
    different = {name: field for field, name in names.items()}
    columns = {field: column_text(name) for name, field in different.items()}
    layout = Layout(in_order(columns), time_unit=unit, time_origin=origin, axes=axes, scale=scale)
    assert parsed(layout.options()) == layout


@given(st.lists(NAMES, min_size=1, max_size=4))
@examples(200)
def test_a_name_and_a_path_are_read_as_they_are_written(names: list[str]) -> None:
    assert path_names(path_text(tuple(names))) == tuple(names)
    assert column_name(column_text(names[0])) == names[0]


def test_defaults_are_not_printed() -> None:
    assert Layout().options() == ""
    layout = Layout(
        in_order({"y": "b", "time": "t", "x": "a"}), time_unit="s", time_origin=0.0, axes="xy"
    )
    assert layout.options() == "--columns time=t,x=a,y=b"
    assert layout._replace(axes="yx").options() == "--columns time=t,x=a,y=b --axes yx"


@pytest.mark.parametrize(
    ("unit", "per_second"),
    [("s", 1), ("ms", 1e3), ("us", 1e6), ("ns", 1e9), ("iso", None), ("ticks@60", 60),
     ("tick@66.67hz", 66.67)],
)  # fmt: skip
def test_units_of_time(unit: str, per_second: float | None) -> None:
    assert Layout(time_unit=unit).units["per_second"] == per_second


@pytest.mark.parametrize("unit", ["", "m", "ticks", "ticks@", "ticks@0", "ticks@nan", "60"])
def test_no_units_of_time(unit: str) -> None:
    with pytest.raises(ValueError, match="is not s, ms, us, ns, min, h, iso or ticks@HZ"):
        parse_time_unit(unit)


def test_an_origin_in_seconds_is_handed_on_in_the_units_of_the_recording() -> None:
    assert Layout(None, "ms", 2.5).units["origin"] == 2500
    assert Layout(None, "iso", 2.5).units["origin"] == 2.5
    assert Layout(None, "ms", "first").units["origin"] is None
    assert Layout().units["origin"] == 0


@pytest.mark.parametrize("axes", ["", "w", "xx", "xyzx", "XY"])
def test_no_axes(axes: str) -> None:
    with pytest.raises(ValueError, match="is not axes"):
        parse_axes(axes)
