"""The part of the world that the map shows."""

from __future__ import annotations

import numpy as np
import pytest

from epic_cli.live.map import Viewport, _draw_points
from epic_cli.live.model import Points
from epic_cli.show.full_screen import Cells

SIZE = (60, 20)


def circle(radius: float = 5.0, height: float = 0.0, centre: float = 0.0) -> np.ndarray:
    angles = np.arange(0, 6.28, 0.1)
    return np.stack(
        (
            centre + radius * np.cos(angles),
            radius * np.sin(angles),
            np.full(len(angles), height),
        ),
        axis=1,
    )


def inside(view: Viewport, positions: np.ndarray) -> bool:
    cells = view.project_positions(positions)
    return bool(((cells >= 0) & (cells < SIZE)).all())


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e9])
@pytest.mark.parametrize("centre", [0.0, -1e4])
def test_everything_is_shown_and_a_circle_is_round(scale: float, centre: float) -> None:
    view = Viewport()
    points = circle(5 * scale, centre=centre * scale)
    view.look(SIZE, points)
    assert inside(view, points)
    extent = np.ptp(view.project_positions(points), axis=0)
    assert extent[0] == pytest.approx(2 * extent[1], rel=0.01)
    assert extent[1] > 0.6 * SIZE[1]


def test_it_holds_still_until_something_leaves_it_or_little_is_left() -> None:
    view = Viewport()
    view.look(SIZE, circle())
    before = view.project_positions(circle())
    view.look(SIZE, circle(4.5))
    assert (view.project_positions(circle()) == before).all()
    view.look(SIZE, circle(50))
    assert inside(view, circle(50))
    view.look(SIZE, circle(5))
    assert np.ptp(view.project_positions(circle()), axis=0)[1] > 0.6 * SIZE[1]


def test_the_plane_is_that_in_which_most_happens_until_one_is_chosen() -> None:
    view = Viewport()
    view.look(SIZE, circle())
    assert view.name == "xy"
    ground = circle()[:, [0, 2, 1]]  # y is up
    view.look(SIZE, ground)
    assert view.name == "xz"
    assert inside(view, ground)
    view.turn()
    assert view.name == "zy"
    view.look(SIZE, ground)
    assert view.name == "zy"


def test_zoom_and_pan_keep_what_somebody_chose() -> None:
    view = Viewport()
    view.look(SIZE, circle())
    width = view.width
    view.zoom(inwards=True)
    assert view.width == pytest.approx(width / 1.25)
    before = view.project_positions(circle())
    view.pan_view(1, 0)
    view.look(SIZE, circle(500))
    assert (view.project_positions(circle()) - before)[:, 0] == pytest.approx(-0.2 * SIZE[0])
    view.pan_view(0, -1)
    assert (view.project_positions(circle()) - before)[:, 1] == pytest.approx(-0.2 * SIZE[1])
    view.fit()
    view.look(SIZE, circle(500))
    assert inside(view, circle(500))
    for _ in range(2000):
        view.zoom(inwards=False)
    assert np.isfinite(view.project_positions(circle())).all()


def test_who_is_followed_stays_in_the_middle() -> None:
    view = Viewport()
    for place in (circle()[3], circle()[30]):
        view.look(SIZE, circle(), place)
        assert view.project_positions(place[None])[0] == pytest.approx((30, 10))


def test_each_point_in_the_window_is_drawn_in_its_cell() -> None:
    view, canvas = Viewport(), Cells(SIZE[0] + 2, SIZE[1] + 2, {})
    view.look(SIZE, circle())
    places = np.random.default_rng(1).uniform(-30, 30, (3000, 3))
    points = Points(places, np.arange(3000, dtype=np.int32), np.zeros(3000))
    _draw_points(canvas, view, points, "x", "drawn")
    there = {tuple(cell) for cell in np.floor(view.project_positions(places)).tolist()}
    for column in range(SIZE[0]):
        for line in range(SIZE[1]):
            assert canvas.is_free(column, line) == ((column, line) not in there)
    assert {0, 59} <= {column for column, line in there if 0 <= line < SIZE[1]}


def test_what_rests_and_what_is_nowhere_can_be_shown() -> None:
    view = Viewport()
    assert np.isnan(view.project_positions(circle())).all()
    view.look(SIZE, np.empty((0, 3)))
    view.look(SIZE, np.array([[3.0, 4.0, 5.0], [np.nan, 0, 0]]))
    assert view.project_positions(np.array([[3.0, 4.0, 5.0]]))[0] == pytest.approx((30, 10))
    far = view.project_positions(np.array([[1e300, 0, 0]]))
    assert np.isnan(far).all()
