"""Turn a scene into curves, for all pictures alike: terminal, SVG, film.

A ``Plot`` has a title and curves with their roles, and no characters or pixels. This module also
has the parts that all pictures share: axes, panels, darts, and the thinning of long curves.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import numpy as np

from epic_cli.metrics.turns import compute_yaws, project_headings
from epic_cli.show.scene import choose_ground_axes, select_chosen
from epic_cli.show.styles import LineStyle, choose_line_styles

if TYPE_CHECKING:
    from epic_cli.metrics.arrays import Floats
    from epic_cli.show.scene import Rows, Scene
    from epic_cli.show.styles import View

#: Roles of curves; from 0 on a curve is a strategy's, by its rank.
TRUTH, PACKETS = -1, -2

_Value = TypeVar("_Value", float, "Floats")


class Curve(NamedTuple):
    """A line, or dots for ``PACKETS``, through ``places`` (n, 2) at ``times`` (n, s).

    Places are across and up; NaN breaks the line. From above, ``headings`` (n, 2) are the
    directions of heading, None if the entity does not turn; ``errors`` (n) of a strategy are NaN in
    rows that are not judged. Curves of strategies have a ``style``.
    """

    label: str
    role: int
    times: Floats
    places: Floats
    headings: Floats | None = None
    errors: Floats | None = None
    style: LineStyle | None = None

    def interpolate_positions(self, times: Floats) -> Floats:
        """Return the positions (k, 2) at ``times`` (k)."""
        return interpolate_rows(self.times, self.places, times)

    def select_errors(self, start: float, end: float) -> tuple[Floats, Floats]:
        """Return the times (m) and errors (m) from ``start`` to ``end`` (s)."""
        inside = (self.times >= start) & (self.times <= end)
        errors = np.full(len(self.times), np.nan) if self.errors is None else self.errors
        return self.times[inside], errors[inside]

    def iterate_rows(self, start: float, end: float) -> Iterator[tuple[Floats, Floats]]:
        """Yield times (m) and positions (m, 2) from ``start`` to ``end`` (s), in unbroken runs."""
        ends = np.array([start, end])
        inside = slice(*np.searchsorted(self.times, ends, side="right"))
        times = np.concatenate([ends[:1], self.times[inside], ends[1:]])
        places = np.vstack(
            [
                self.interpolate_positions(ends[:1]),
                self.places[inside],
                self.interpolate_positions(ends[1:]),
            ]
        )
        for run in iterate_unbroken(places[:, 0]):
            yield times[run], places[run]


class Dot(NamedTuple):
    """A point with its words, in the ``style`` of a line, or a hollow or ``full`` mark."""

    across: float
    up: float
    words: str
    style: LineStyle | None = None
    full: bool = True


class Plot(NamedTuple):
    """Curves to draw, later ones above earlier ones; with ``equal`` both axes have one scale."""

    title: str
    curves: Sequence[Curve]
    equal: bool = False


def plot(
    scene: Scene,
    view: View = "above",
    labels: Sequence[str] = (),
    plane: tuple[int, int] | None = None,
) -> Plot:
    """Return the curves of one view of a scene.

    ``labels`` chooses strategies, the best one first; none stands for all. The view ``above`` shows
    the ``plane`` of two axes, by default those of the widest movement.
    """
    chosen, styles = (
        select_chosen(scene, labels),
        choose_line_styles(trace.label for trace in scene.drawn),
    )
    name = f"{scene.entity}: " if scene.entity else ""
    a, b = plane = plane or choose_ground_axes(scene)
    axes = f"{'xyz'[b]} over {'xyz'[a]}"

    def is_seen(rotations: Floats | None) -> Floats | None:
        return None if rotations is None else project_headings(rotations, plane)

    if view == "above":
        turns = is_seen(scene.rotations)
        curves = [
            Curve("truth", TRUTH, scene.times, scene.truth[:, plane], turns),
            Curve("packets", PACKETS, scene.packet_times, scene.packets[:, plane]),
        ]
        for rank, one in chosen:
            turns = is_seen(one.rotations)
            places = one.positions[:, plane]
            style = styles[one.label]
            curves.append(Curve(one.label, rank, one.times, places, turns, one.errors, style))
        return Plot(f"{name}from above, {axes}", curves, equal=True)
    if view == "error":
        title = f"error ({scene.unit})"
        curves = [_make_time_curve(one.label, rank, one.times, one.errors) for rank, one in chosen]
    elif view == "angle":
        title = "angle (degrees from the true rotation)"
        turned = [(rank, one, one.angles) for rank, one in chosen if one.angles is not None]
        curves = [
            _make_time_curve(one.label, rank, one.times, angles) for rank, one, angles in turned
        ]
    elif view == "yaw":
        title = f"yaw (degrees, {'xyz'[a]} to {'xyz'[b]})"
        turning = [("truth", TRUTH, scene.times, scene.rotations)]
        turning += [(one.label, rank, one.times, one.rotations) for rank, one in chosen]
        curves = [
            _make_time_curve(label, role, *_break_yaw(times, rotations, plane))
            for label, role, times, rotations in turning
            if rotations is not None
        ]
    else:
        title, axis = f"{view} ({scene.unit})", "xyz".index(view)
        curves = [
            _make_time_curve("truth", TRUTH, scene.times, scene.truth[:, axis]),
            _make_time_curve("packets", PACKETS, scene.packet_times, scene.packets[:, axis]),
        ]
        for rank, one in chosen:
            curves.append(_make_time_curve(one.label, rank, one.times, one.positions[:, axis]))
    curves = [curve._replace(style=styles.get(curve.label)) for curve in curves]
    return Plot(f"{name}{title} over time (s)", curves)


def _make_time_curve(label: str, role: int, times: Floats, values: Floats) -> Curve:
    return Curve(label, role, times, np.column_stack((times, values)))


def _break_yaw(times: Floats, rotations: Floats, plane: tuple[int, int]) -> tuple[Floats, Floats]:
    """Return times and yaws, with a break where the yaw wraps around at 180 degrees."""
    found = compute_yaws(rotations, plane)
    broken = np.flatnonzero(np.abs(np.diff(found)) > 180) + 1
    return np.insert(times, broken, times[broken]), np.insert(found, broken, np.nan)


# ---------------------------------------------------------------- curves


def interpolate_rows(times: Floats, values: Floats, at: Floats) -> Floats:
    """Return the values (k, d) at the times ``at`` (k), interpolated between rows (n, d).

    In a hole the last known value holds.
    """
    right = np.clip(np.searchsorted(times, at, side="right"), 1, len(times) - 1)
    left = right - 1
    span = times[right] - times[left]
    share = np.clip((at - times[left]) / np.where(span > 0, span, 1.0), 0, 1)[:, None]
    inside = values[left] + share * (values[right] - values[left])
    found = np.where(share < 1, inside, values[right])
    found = np.where(np.isnan(found), values[left], found)
    # a snap has a row that is all NaN at the time of the row before it
    last = np.maximum(left - 1, 0)
    snap = np.isnan(found) & (times[last] == times[left])[:, None]
    return np.where(snap, values[last], found)


def iterate_unbroken(values: Floats) -> Iterator[Rows]:
    """Yield the row numbers (m) of each run of known values, out of n."""
    known = np.isfinite(values)
    for run in np.split(np.arange(len(values)), np.flatnonzero(~known)):
        if len(rows := run[known[run]]):
            yield rows


def measure_along(places: Floats) -> Floats:
    """Return the distance along a line from its start to each point (n, 2).

    Unknown points add nothing.
    """
    steps = np.nan_to_num(np.hypot(*np.diff(places, axis=0).T))
    return np.append(0.0, np.cumsum(steps))


def iterate_dashes(places: Floats, ways: Floats, dashes: Sequence[float]) -> Iterator[Floats]:
    """Yield the drawn parts (k, 2) of a dashed line (n, 2).

    ``ways`` (n) are distances along the line.
    """
    if not dashes or len(places) < 2:
        yield places
        return
    edges = np.cumsum((0.0, *dashes))
    first, last = math.floor(ways[0] / edges[-1]), math.floor(ways[-1] / edges[-1])
    cuts = (np.arange(first, last + 1)[:, None] * edges[-1] + edges[:-1]).ravel()
    every = np.sort(np.append(ways, cuts[(cuts > ways[0]) & (cuts < ways[-1])]))
    points = np.column_stack([np.interp(every, ways, axis) for axis in places.T])
    middles = (every[1:] + every[:-1]) / 2 % edges[-1]
    gaps = np.searchsorted(edges, middles, side="right") % 2 == 0
    for part in np.split(np.arange(len(gaps)), np.flatnonzero(np.diff(gaps)) + 1):
        if len(part) and not gaps[part[0]]:
            yield points[part[0] : part[-1] + 2]


def find_largest(times: Floats, values: Floats, most: int) -> tuple[Floats, Floats]:
    """Return a series of at most ``most`` values, each the largest of neighboring values."""
    size = max(1, -(-len(values) // most))
    ends = np.arange(0, len(values), size)
    filled = np.where(np.isnan(values), -np.inf, values)
    largest = np.maximum.reduceat(filled, ends) if len(values) else filled
    return times[ends], np.where(np.isinf(largest), np.nan, largest)


def draw_dart(across: float, up: float, wide: float, back: float, notch: float) -> Floats:
    """Return the corners (4, 2) of a dart around 0 whose tip is at (``across``, ``up``).

    The dart extends ``wide`` to each side; ``back`` and ``notch`` are shares of its length behind
    0.
    """
    side = wide / math.hypot(across, up)
    left = -back * across - side * up, -back * up + side * across
    right = -back * across + side * up, -back * up - side * across
    return np.array([(across, up), left, (-notch * across, -notch * up), right])


def spread(
    heights: Sequence[float], apart: float, low: float = -math.inf, high: float = math.inf
) -> list[float]:
    """Return heights moved as little as possible so that they are ``apart`` and within bounds.

    The ``heights`` rise. The caller ensures that there is room for all of them.
    """
    groups: list[tuple[float, int]] = []  # their middle, and how many there are
    for above, height in enumerate(heights):
        below = len(heights) - 1 - above
        groups.append((min(max(height, low + apart * above), high - apart * below), 1))
        while len(groups) > 1:
            (upper, n), (lower, m) = groups[-2:]
            if lower - upper >= apart * (n + m) / 2:
                break
            groups[-2:] = [((upper * n + lower * m) / (n + m), n + m)]
    return [mid + apart * (k - (count - 1) / 2) for mid, count in groups for k in range(count)]


# ---------------------------------------------------------------- axes


class Panel(NamedTuple):
    """A rectangle of pixels of a picture, with the values at its edges."""

    x: float
    y: float
    width: float
    height: float
    left: float
    right: float
    bottom: float
    top: float

    def place_across(self, value: _Value) -> _Value:
        """Return the distance (pixels) of a value from the left edge of the picture."""
        return self.x + (value - self.left) / (self.right - self.left) * self.width

    def place_up(self, value: _Value) -> _Value:
        """Return the distance (pixels) of a value from the top edge of the picture."""
        return self.y + (self.top - value) / (self.top - self.bottom) * self.height

    def place_points(self, places: Floats) -> Floats:
        """Convert places (n, 2) to pixels."""
        return np.column_stack((self.place_across(places[:, 0]), self.place_up(places[:, 1])))


def find_extent(values: Floats) -> tuple[float, float]:
    """Return the least and the largest of finite values (n), widened if they are equal."""
    low, high = float(values.min()), float(values.max())
    if not high - low > 1e-9 * max(abs(low), abs(high), 1e-300):
        around = max(abs(low), 1.0) * 0.05
        return low - around, high + around
    return low, high


def square_panel(
    left: float, right: float, bottom: float, top: float, width: float, height: float
) -> tuple[float, float, float, float]:
    """Return the edges of a panel, moved apart until both axes have the same scale."""
    scale = max((right - left) / width, (top - bottom) / height)
    across, up = (scale * width - (right - left)) / 2, (scale * height - (top - bottom)) / 2
    return left - across, right + across, bottom - up, top + up


def choose_ticks(low: float, high: float, about: float = 5) -> list[tuple[float, str]]:
    """Return about ``about`` round values from ``low`` to ``high``, each with its text.

    Steps are 1, 2 or 5 times 10^k.
    """
    span = high - low
    if not (span > 0 and math.isfinite(span)):
        return [(low, tick_text(low, span))]
    raw = span / about
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(power * m for m in (1, 2, 5, 10) if power * m >= raw * 0.999)
    values = range(math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9) + 1)
    return [(k * step, tick_text(k * step, span)) for k in values]


def tick_text(value: float, span: float) -> str:
    """Return an axis value as text, with enough digits to differ from its neighbors.

    ``span`` is the length of the axis.
    """
    digits = max(0, 1 - math.floor(math.log10(span))) if span > 0 else 0
    text = f"{value:.{min(digits, 9)}f}"
    if "." in text:
        text = text.rstrip("0").rstrip(".")
    return "0" if text == "-0" else text
