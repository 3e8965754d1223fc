from __future__ import annotations

import io

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console
from support import comparisons

from epic_cli.show.chart import Chart, ChartLine, make_scene_chart
from epic_cli.show.plot import choose_ticks
from epic_cli.show.scene import choose_ground_axes
from epic_cli.show.styles import VIEWS, View


def printed(chart: Chart, color: bool = False, width: int = 60) -> str:
    out = io.StringIO()
    console = Console(
        file=out,
        width=width,
        force_terminal=color,
        color_system="standard" if color else None,
        no_color=not color,
        legacy_windows=False,
        _environ={},
    )
    console.print(chart)
    return out.getvalue()


def line(across: object, up: object, mark: str = "a", joined: bool = True) -> ChartLine:
    return ChartLine(mark * 3, across, up, "red", mark, joined)  # type: ignore[arg-type]


def test_a_slope_goes_from_corner_to_corner() -> None:
    text = printed(Chart([line([0, 10], [0, 5])], "a slope", height=6, width=36))
    assert text.splitlines()[0] == "a slope"
    rows = text.splitlines()[1:7]
    marks = [[i for i, c in enumerate(row) if c == "a"] for row in rows]
    assert [m[0] for m in marks] == sorted((m[0] for m in marks), reverse=True)
    columns = sorted(i for m in marks for i in m)
    assert columns == list(range(columns[0], columns[0] + len(columns)))


def test_points_are_not_joined() -> None:
    text = printed(Chart([line([0, 5, 10], [0, 5, 0], "o", joined=False)], height=5))
    assert sum(row.count("o") for row in text.splitlines()[:5]) == 3


def test_nan_breaks_a_line() -> None:
    whole = printed(Chart([line([0, 4, 6, 10], [1, 1, 1, 1])], height=3))
    broken = printed(Chart([line([0, 4, np.nan, 6, 10], [1, 1, np.nan, 1, 1])], height=3))
    assert whole.splitlines()[1].split("│")[-1].split("┤")[-1].strip().count(" ") == 0
    assert "a a" in " ".join(broken.splitlines()[1].split())
    assert broken.count("a") < whole.count("a")


@pytest.mark.parametrize(
    "values",
    [[], [np.nan], [np.inf, -np.inf], [np.nan, np.nan, np.inf]],
)
def test_nothing_to_draw_is_said(values: list[float]) -> None:
    text = printed(Chart([line(list(range(len(values))), values)]))
    assert text == "nothing to draw\n"


def test_one_point_has_axes_too() -> None:
    assert "a" in printed(Chart([line([5], [1e9])], height=5)).splitlines()[2]


def test_colour_makes_dots_and_styles() -> None:
    text = printed(Chart([line([0, 10], [0, 5])], height=4), color=True)
    assert "\x1b[31m" in text
    assert any("\u2801" <= character <= "\u28ff" for character in text)


def test_lines_far_outside_do_not_cost_memory() -> None:
    assert "a" in printed(Chart([line([0, 1, 2], [0, 1e300, 1])], height=4))


def test_equal_axes_keep_a_circle_round() -> None:
    turn = np.linspace(0, 2 * np.pi, 200)
    chart = Chart([line(np.cos(turn), np.sin(turn))], equal=True, height=20, width=100)
    rows = printed(chart, width=100).splitlines()[:20]
    columns = [i for row in rows for i, c in enumerate(row) if c == "a"]
    high = sum("a" in row for row in rows)
    assert (max(columns) - min(columns) + 1) / high == pytest.approx(2, abs=0.15)


@given(st.floats(-1e9, 1e9), st.floats(1e-6, 1e9), st.integers(2, 12))
def test_axis_values_are_round_and_inside(low: float, span: float, about: int) -> None:
    values = [value for value, _ in choose_ticks(low, low + span, about)]
    assert len(values) <= 2 * about + 2
    slack = 1e-6 * (abs(low) + span)
    assert all(low - slack <= value <= low + span + slack for value in values)


@pytest.mark.parametrize("value", [0.0, 1.0, -1e9, 1e-9])
def test_an_axis_of_one_value_shows_it(value: float) -> None:
    assert choose_ticks(value, value) == [(value, f"{value:.0f}" if abs(value) >= 1 else "0")]


def test_labels_tell_values_apart() -> None:
    assert [text for _, text in choose_ticks(0, 10)] == ["0", "2", "4", "6", "8", "10"]
    assert [text for _, text in choose_ticks(0, 0.1)] == [
        "0",
        "0.02",
        "0.04",
        "0.06",
        "0.08",
        "0.1",
    ]


@pytest.mark.parametrize("view", VIEWS)
def test_every_view_of_a_scene(view: View) -> None:
    (scene,) = comparisons.comparison("Late", "Jumping", entities=("tank",)).scenes
    if view in ("yaw", "angle"):
        (scene,) = comparisons.turning({"tank": comparisons.tumbling(1)}).scenes
        scene = scene._replace(drawn=tuple(
            one._replace(label=label)
            for one, label in zip(scene.drawn, ("Late", "Jumping"), strict=True)
        ))  # fmt: skip
    text = printed(make_scene_chart(scene, view), width=80)
    assert text.startswith("tank: ")
    assert "a Late" in text
    assert "b Jumping" in text
    assert ("packets" in text) == (view in ("above", "x", "y", "z"))


def test_marks_go_by_rank() -> None:
    (scene,) = comparisons.comparison("Late", "Jumping").scenes
    assert "Late" not in printed(make_scene_chart(scene, "x", ["Jumping"]), width=80)
    text = printed(make_scene_chart(scene, "x", ["Jumping", "Late"]), width=80)
    assert "a Jumping   b Late" in text


def test_the_best_line_is_above_the_others_and_the_packets() -> None:
    (scene,) = comparisons.comparison("Late", "Jumping").scenes
    exact = scene.drawn[0]._replace(label="exact", positions=scene.truth)
    both = scene._replace(drawn=(exact, exact._replace(label="same")))
    rows = printed(make_scene_chart(both, "above"), width=80).splitlines()[1:19]
    assert set("".join(row.split("│")[-1].split("┤")[-1] for row in rows)) == {" ", "a"}


def test_names_stand_where_their_lines_end() -> None:
    lines = [line([0, 10], [0, 8], "b"), line([0, 10], [0, 0], "a")]
    rows = printed(Chart(lines, named=True, height=9), width=80).splitlines()
    assert rows[0].endswith(" bbb")
    assert rows[8].endswith(" aaa")
    same = [line([0, 10], [0, 8], "b"), line([0, 10], [0, 8], "a")]
    rows = printed(Chart(same, named=True, height=9), width=80).splitlines()
    assert rows[0].endswith(" aaa")
    assert rows[1].endswith(" bbb")
    narrow = printed(Chart(same, named=True, height=9), width=40).splitlines()
    assert not any(row.endswith(" bbb") for row in narrow[:9])


def test_from_above_looks_down_on_the_two_longest_axes() -> None:
    (scene,) = comparisons.comparison("Late").scenes
    assert choose_ground_axes(scene) == (0, 1)
    upright = scene._replace(truth=scene.truth[:, [2, 0, 1]], packets=scene.packets[:, [2, 0, 1]])
    assert choose_ground_axes(upright) == (1, 2)


@pytest.mark.parametrize("seed", range(3))
def test_yaws_and_angles_are_those_of_the_rows(seed: int) -> None:
    packets = comparisons.tumbling(seed, known=0.5)
    (scene,) = comparisons.turning({"": packets}).scenes
    oracle = comparisons.Turning(packets, comparisons.TURNING)
    for view, value in (("yaw", oracle.yaw), ("angle", oracle.angle)):
        chart = make_scene_chart(scene, view, comparisons.TURNING)  # type: ignore[arg-type]
        assert len(chart.lines) == (3 if view == "yaw" else 2)
        for text in chart.lines:
            times, values = np.asarray(text.across), np.asarray(text.up)
            known = np.flatnonzero(np.isfinite(values))
            assert len(known) > 100
            expected = [value(text.label, times[row]) for row in known]
            assert values[known] == pytest.approx(expected, abs=1e-6)
            if view == "yaw":  # nothing joins both ends of the scale
                assert not (np.abs(np.diff(values)) > 180).any()
    assert "yaw (degrees, x to y)" in printed(make_scene_chart(scene, "yaw"))


def test_without_rotation_there_is_no_yaw_to_draw() -> None:
    (scene,) = comparisons.comparison("Late").scenes
    assert printed(make_scene_chart(scene, "yaw")).startswith("nothing to draw: yaw")
    assert printed(make_scene_chart(scene, "angle")).startswith("nothing to draw: angle")
