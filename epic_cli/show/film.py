"""Draw the frames of a video: moving entities on a copy of a fixed backdrop."""

from __future__ import annotations

import contextlib
import math
import os
import sys
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from subprocess import DEVNULL, PIPE, TimeoutExpired
from typing import TYPE_CHECKING, NamedTuple, cast

import numpy as np
from PIL import Image, ImageColor, ImageDraw, ImageFont

from epic_cli.engine.text.widths import printable
from epic_cli.metrics.arrays import compute_lengths, compute_rms
from epic_cli.metrics.digits import format_three_digits
from epic_cli.metrics.notes import NothingToDraw
from epic_cli.recordings import LENGTHS
from epic_cli.recordings.children import start_program
from epic_cli.show.plot import (
    Curve,
    Panel,
    choose_ticks,
    draw_dart,
    find_largest,
    interpolate_rows,
    iterate_dashes,
    iterate_unbroken,
    measure_along,
    plot,
    spread,
    tick_text,
)
from epic_cli.show.scene import Scene, choose_ground_axes
from epic_cli.show.styles import BLACK, WHITE, LineStyle

if TYPE_CHECKING:
    from epic_cli.metrics.arrays import Floats


#: Seconds: how long a trail is, over how long a name's place is the mean, and how long the end
#: dissolves into the beginning.
TRAIL, CALM, DISSOLVE = 1.5, 1.0, 0.4

#: Steps in which a trail fades. Of more markers than this, none has its name beside it.
_STEPS, _NAMED = 6, 48


def iterate_frames(back: Backdrop, count: int, fps: float) -> Iterator[Image.Image]:
    """Yield the frames of a looping video: its end dissolves into its beginning."""
    whole, fade = back.end - back.start, min(round(DISSOLVE * fps), count // 4)
    place = back.base.width - 14 * back.unit, 17 * back.unit
    for number in range(count):
        at = back.start + whole * number / count
        image, share = _draw_frame(back, at), (number - count + fade + 1) / (fade + 1)
        if share > 0:
            image = Image.blend(image, _draw_frame(back, at - whole), share)
        ImageDraw.Draw(image).text(place, f"{at:.2f} s", back.colors.ink, back.font, "rm")
        yield image


def _draw_frame(back: Backdrop, at: float) -> Image.Image:
    """Draw the picture at a time (s), without the text of the time; also before the start."""
    unit, colors, here = back.unit, back.colors, np.array([at])
    image, shift = _draw_ground(back, at)
    pen = Pen(image, back.map)
    _draw_packets(back, pen, shift, at)
    markers = []
    for track in back.stage.tracks:
        trail = _iterate_trail_parts(back, track, at, shift)
        pen.draw_lines(trail, colors.get_color(track.style), (5 if track.role < 0 else 2.4) * unit)
        place = back.project_places(track.interpolate_positions(here))[0] + shift
        if np.isfinite(place).all():
            markers.append((track, place))
    for track, place in markers:
        radius = (6.5 if track.role < 0 else 5.5) * unit
        corners = _make_arrow(track, at, radius)
        pen.draw_lines(
            [(corners + place, 255)],
            colors.get_color(track.style),
            0 if len(corners) > 1 else 2 * radius,
        )
    if len(markers) <= _NAMED:
        _draw_names(back, pen, markers, shift, at)
    unit_words = f" {back.stage.unit}" if back.stage.unit != LENGTHS else ""
    note = f"from above, {back.stage.axes}, grid {tick_text(back.step, back.step)}{unit_words}"
    pen.paste(back.name(note, colors.soft), 14 * unit, back.map[3] - 14 * unit)
    # names and dots that reach beyond the map are covered
    for top, bottom in ((0, back.map[1]), (back.map[3], image.height)):
        image.paste(back.base.crop((0, top, image.width, bottom)), (0, top))
    _draw_errors(back, image, at)
    return image


def _draw_ground(back: Backdrop, at: float) -> tuple[Image.Image, Floats]:
    """Return the backdrop at a time, and the shift (pixels) from its floor to the picture."""
    image, low = back.base.copy(), np.array(back.map[:2])
    if not back.follows:
        return image, low
    seen = np.array(back.map[2:]) - low
    middle = np.nan_to_num(
        back.project_places(back.stage.tracks[0].interpolate_positions(np.array([at])))[0]
    )
    corner = np.rint(np.clip(middle - seen / 2, 0, np.array(back.floor.size) - seen)).astype(int)
    image.paste(back.floor.crop((*corner.tolist(), *(corner + seen).tolist())), back.map[:2])
    return image, low - corner


def _iterate_trail_parts(
    back: Backdrop, one: Curve, at: float, shift: Floats
) -> Iterator[tuple[Floats, int]]:
    for times, run in one.iterate_rows(at - TRAIL, at):
        steps = np.minimum((times - at + TRAIL) * (_STEPS / TRAIL), _STEPS - 1).astype(int)
        places, dashes = back.project_places(run) + shift, back.get_dashes(one)
        # dashes stay where they are, however the trail goes on
        ways = np.interp(times, one.times, back.measure_ways(one)) if dashes else times
        for part in np.split(np.arange(len(run)), np.flatnonzero(np.diff(steps)) + 1):
            shade = 255 * int(steps[part[0]] + 1) // _STEPS
            rows = slice(max(part[0] - 1, 0), part[-1] + 1)
            for line in iterate_dashes(places[rows], ways[rows], dashes):
                yield line, shade


def _draw_packets(back: Backdrop, pen: Pen, shift: Floats, at: float) -> None:
    """Draw the packets of the last seconds as dots, the newest dark."""
    times = back.stage.packet_times
    few = slice(*np.searchsorted(times, (at - TRAIL, at), side="right"))
    draw, radius = ImageDraw.Draw(pen.image), 2.2 * back.unit
    places = back.project_places(back.stage.packets[few]) + shift
    for time, (x, y) in zip(times[few].tolist(), places.tolist(), strict=True):
        if abs(x) + abs(y) < 1e4:
            color = back.colors.mix_color(back.colors.ink, 1 - 0.8 * (at - time) / TRAIL)
            draw.ellipse((x - radius, y - radius, x + radius, y + radius), fill=color)


def _make_arrow(one: Curve, at: float, radius: float) -> Floats:
    """Return the corners (n, 2) around 0 of a dart along the heading, or of a marker."""
    if one.headings is not None:
        u, v = interpolate_rows(one.times, one.headings, np.array([at]))[0] * (
            2 * radius,
            -2 * radius,
        )
        if u * u + v * v > 0:
            return draw_dart(u, v, 0.9 * radius, 0.7, 0.3)
    return radius * _find_marker(one)


def _find_marker(one: Curve) -> Floats:
    """Return the corners (n, 2) around 0 of a curve's marker (pixels), or of a disc."""
    return np.array((one.style and one.style.shape) or ((0.0, 0.0),)) * (1, -1)


def _draw_names(
    back: Backdrop, pen: Pen, markers: Sequence[tuple[Curve, Floats]], shift: Floats, at: float
) -> None:
    """Draw names beside the markers, without overlap; names move slowly."""
    around, unit, found = np.linspace(at - CALM / 2, at + CALM / 2, 9), back.unit, []
    for one, place in markers:
        if one.label:
            away = np.nan_to_num(
                back.project_places(one.interpolate_positions(around)) + shift - place
            )
            x, y = (place + np.clip(away.mean(axis=0), -24 * unit, 24 * unit)).tolist()
            x = max(x, float(place[0]))  # a name does not cover its own marker
            found.append((y, x, one.label, back.colors.get_color(one.style)))
    found.sort()
    for (_, x, name, color), y in zip(
        found, spread([row[0] for row in found], 15 * unit), strict=True
    ):
        pen.paste(back.name(name, color), x + 12 * unit, y)


def _draw_errors(back: Backdrop, image: Image.Image, at: float) -> None:
    """Draw the errors of the last seconds in full colors, up to a line at the time ``at`` (s)."""
    curves, chart, whole = back.curves, back.chart, back.end - back.start
    now, long = (
        (at - back.start) % whole / whole * chart.width,
        min(TRAIL / whole, 1) * chart.width,
    )
    left, top = round(chart.x), round(chart.y)
    for first, last in ((now - long, now), (now - long + chart.width, chart.width)):
        begin, end = max(0, round(first)), round(last)
        if begin < end:
            image.paste(curves.crop((begin, 0, end, curves.height)), (left + begin, top))
    line = left + round(now), top, left + round(now), top + curves.height - 1
    ImageDraw.Draw(image).line(line, fill=back.colors.ink, width=max(1, round(back.unit)))


#: Seconds: what is chosen is about so long; a longer recording is cut. What ``worst`` shows.
USUAL, LONGEST, WORST = 10.0, 12.0, 3.0

#: The most times, and tracks, in which it is looked for where it loops.
_TIMES, _TRACKS = 20_000, 12


class Stage(NamedTuple):
    """The moving entities of a video, from ``start`` to ``end`` (s); later tracks are on top.

    ``packet_times`` (m, s) are the arrivals of ``packets`` (m, 2), or the times of sending if the
    arrivals are not known. ``of`` names the network or entity, if there are several.
    """

    tracks: tuple[Curve, ...]
    packet_times: Floats
    packets: Floats
    axes: str
    unit: str
    start: float
    end: float
    of: str = ""

    @property
    def drawn(self) -> list[Curve]:
        """The tracks of strategies, the best one first; the truth is left out."""
        return [track for track in reversed(self.tracks) if track.role >= 0]

    def list_errors(self, start: float, end: float) -> tuple[Floats, Floats]:
        """Return times (n, s) and errors (n) of the drawn rows that are judged."""
        every = np.hstack(
            [np.empty((2, 0)), *(curve.select_errors(start, end) for curve in self.drawn)]
        )
        times, errors = every[:, np.isfinite(every[1])]
        return times, errors


def make_stage(scenes: Sequence[Scene], labels: Sequence[str] = (), of: str = "") -> Stage:
    """Return the stage of these scenes' entities.

    ``labels`` chooses strategies, the best one first; none stands for all. Raises
    ``NothingToDraw``.
    """
    scenes = [scene for scene in scenes if len(scene.times) > 1]
    if not scenes:
        raise NothingToDraw
    plane = choose_ground_axes(max(scenes, key=lambda one: len(one.times)))

    several, truths, tracks = len(scenes) > 1, [], []
    for number, scene in enumerate(scenes):
        truth, _, *drawn = plot(scene, "above", labels, plane).curves
        truths.append(truth._replace(label="") if several else truth)
        if several:
            # of one color are those that one strategy draws
            drawn = [
                curve._replace(
                    label=scene.entity, role=number, style=curve.style._replace(pattern=number)
                )
                for curve in drawn
                if curve.style
            ]
        tracks += drawn
    came = np.concatenate(
        [np.where(np.isnan(scene.arrivals), scene.packet_times, scene.arrivals) for scene in scenes]
    )
    order = np.argsort(came, kind="stable")
    return Stage(
        (*truths, *tracks),
        came[order],
        np.concatenate([scene.packets[:, plane] for scene in scenes])[order],
        f"{'xyz'[plane[1]]} over {'xyz'[plane[0]]}",
        scenes[0].unit,
        min(float(scene.times[0]) for scene in scenes),
        max(float(scene.times[-1]) for scene in scenes),
        of,
    )


def choose_span(
    stage: Stage, given: tuple[float, float], worst: bool, rate: float
) -> tuple[float, float]:
    """Return the video's start and end (s): as given, at the worst error, or so that it loops.

    NaN in ``given`` is not given; ``rate`` is the number of frames per second of the recording.
    Raises ``ValueError`` if the given span is outside of the recording.
    """
    start, end = np.fmax(given[0], stage.start).item(), np.fmin(given[1], stage.end).item()
    if not start < end:
        raise ValueError(f"the recording goes from {stage.start:.2f} to {stage.end:.2f} s")
    chosen = math.isnan(given[0]) and math.isnan(given[1]) and not worst
    loop = _find_loop(stage, rate) if chosen else None
    if loop is not None:
        return loop
    length = WORST if worst else USUAL if chosen and end - start > LONGEST else end - start
    times, errors = stage.list_errors(start, end)
    middle = float(times[errors.argmax()]) if len(times) else start
    first = max(start, min(middle - length / 2, end - length))
    return first, min(end, first + length)


def _find_loop(stage: Stage, rate: float) -> tuple[float, float] | None:
    """Return two moments, some ten seconds apart, between which the video loops; None if none fit.

    At both moments the truth and every strategy are at about the same position and velocity.
    """
    step = max(1 / rate, (stage.end - stage.start) / _TIMES)
    times = np.arange(stage.start + 0.5, stage.end, step)  # there is something before it
    shifts = np.arange(max(1, round(0.6 * USUAL / step)), round(LONGEST / step) + 1)
    shifts = shifts[shifts < len(times)]
    if not len(shifts):
        return None
    places = [track.interpolate_positions(times) for track in stage.tracks[:_TRACKS]]
    state = np.hstack([*places, 0.2 * np.gradient(places[0], step, axis=0)])
    costs = [np.square(state[n:] - state[:-n]).max(axis=1) for n in shifts]
    least = [float(np.nanmin(cost, initial=math.inf)) for cost in costs]
    best = int(np.argmin(least))
    room = np.ptp(places[0][~np.isnan(places[0][:, 0])], axis=0).max(initial=0.0)
    if not least[best] <= (0.02 * float(room)) ** 2:
        return None
    first = float(times[np.nanargmin(costs[best])])
    return first, first + float(shifts[best] * step)


#: Sizes are given in the pixels of a picture that is so high; letters do not get smaller than this.
_USUAL_HEIGHT, _SMALLEST = 540, 0.7

#: Where errors would be smaller than this (pixels), the picture follows the truth, so near that
#: they are of the second size, on a map of this many pixels at most.
_TOO_SMALL, _SEEN, _LARGEST_MAP = 12.0, 36.0, 4000.0


class Backdrop:
    """The fixed picture from ``start`` to ``end`` (s) over which a video's entities move.

    ``base`` is the whole picture. If the picture ``follows`` the truth, the ``floor`` is larger
    than the part of it seen in ``map``; ``panel`` maps positions to the floor. ``curves`` are the
    errors in full colors, which are faint in ``base``.
    """

    def __init__(
        self, stage: Stage, start: float, end: float, size: tuple[int, int], theme: str
    ) -> None:
        self.stage, self.start, self.end, self.colors = stage, start, end, Colors(theme)
        self._ways: dict[tuple[str, int], Floats] = {}
        self.unit = unit = max(min(size) / _USUAL_HEIGHT, _SMALLEST)
        self.font = ImageFont.load_default(13 * unit)
        self.map: Box = (0, round(34 * unit), size[0], size[1] - round(112 * unit))
        self.base = Image.new("RGB", size, self.colors.ground)
        self.floor = self._draw_floor(self._choose_map_scale())
        if not self.follows:
            self.base.paste(self.floor, self.map[:2])
        self._draw_key()
        self.curves = self._draw_chart()

    def project_places(self, points: Floats) -> Floats:
        """Convert positions (n, 2) to pixels of the floor."""
        return self.panel.place_points(points)

    def get_dashes(self, one: Curve) -> Sequence[float]:
        """Return the lengths of a line's dashes and gaps (pixels), empty for a solid line."""
        return [self.unit * length for length in (one.style.dashes if one.style else ())]

    def measure_ways(self, one: Curve) -> Floats:
        """Return the distance (n, pixels) along a line from its first row to each row."""
        key = one.label, one.role
        if key not in self._ways:
            self._ways[key] = measure_along(self.project_places(one.places))
        return self._ways[key]

    def name(self, text: str, color: Color, most: int = 32) -> Image.Image:
        """Return a picture of a name, cut to ``most`` letters."""
        return make_sprite(printable(text)[:most], 13 * self.unit, color, self.colors.ground)

    def _find_bounds(self) -> tuple[Floats, Floats]:
        """Return the least and the largest position (2), without those far away from the truth."""
        rows = [
            (track.role, run)
            for track in self.stage.tracks
            for _, run in track.iterate_rows(self.start, self.end)
        ]
        if not rows:
            raise NothingToDraw
        seen = np.vstack([run for _, run in rows])
        truth = np.vstack([run for role, run in rows if role < 0] or [seen])
        middle, room = (truth.min(axis=0) + truth.max(axis=0)) / 2, np.ptp(truth, axis=0).max()
        seen = np.vstack([truth, seen[compute_lengths(seen - middle) <= 3 * room]])
        return seen.min(axis=0), seen.max(axis=0)

    def _choose_map_scale(self) -> float:
        """Return the map's pixels per length: the whole map fits in, or it follows the truth.

        It follows the truth where errors would be too small to see.
        """
        least, most = self._find_bounds()
        seen, names = (
            np.array(self.map[2:]) - self.map[:2],
            [len(t.label) for t in self.stage.drawn],
        )
        extent = np.maximum(most - least, 1e-9)
        border = min(max(names, default=0), 32) * 14 * self.unit, 60 * self.unit
        room = np.maximum(seen - border, 40.0)
        scale = float((room / np.maximum(extent, extent.max() * 0.05)).min())
        errors = self.stage.list_errors(self.start, self.end)[1]
        error, self.follows = float(np.quantile(errors, 0.9)) if len(errors) else 0.0, False
        alone = sum(track.role < 0 for track in self.stage.tracks) == 1
        if alone and 0 < error * scale < _TOO_SMALL * self.unit:
            near = min(_SEEN * self.unit / error, *((_LARGEST_MAP - seen) / extent))
            self.follows, scale = near > 1.5 * scale, max(float(near), scale)
        floor = seen + (np.ceil(extent * scale) if self.follows else 0)
        middle, half = (least + most) / 2, floor / scale / 2
        (x0, y0), (x1, y1) = (middle - half).tolist(), (middle + half).tolist()
        self.panel = Panel(0, 0, float(floor[0]), float(floor[1]), x0, x1, y0, y1)
        return scale

    def _draw_floor(self, scale: float) -> Image.Image:
        """Draw the floor: a grid, and the truth's whole path."""
        panel, colors = self.panel, self.colors
        image = Image.new("RGB", (round(panel.width), round(panel.height)), colors.ground)
        draw, pen = ImageDraw.Draw(image), Pen(image, (0, 0, *image.size))
        (low, _), (high, _), *_ = choose_ticks(0.0, 400 * self.unit / scale)
        self.step = high - low
        for k in _list_multiples(panel.left, panel.right, self.step):
            draw.line((x := round(panel.place_across(k)), 0, x, image.height), fill=colors.faint)
        for k in _list_multiples(panel.bottom, panel.top, self.step):
            draw.line((0, y := round(panel.place_up(k)), image.width, y), fill=colors.faint)
        for track in self.stage.tracks:
            if track.role < 0:
                lines = [
                    (self.project_places(run), 255)
                    for _, run in track.iterate_rows(self.start, self.end)
                ]
                pen.draw_lines(lines, colors.mix_color(colors.ink, 0.2), 3 * self.unit)
        return image

    def _draw_key(self) -> None:
        """Draw the key of colors with each strategy's error; at the right is room for the time."""
        unit, colors, pen = self.unit, self.colors, Pen(self.base, (0, 0, *self.base.size))
        x, y, end = 14 * unit, 17 * unit, self.base.width - 110 * unit
        for row in (self.stage.tracks[0], *self.stage.drawn):
            words = self.name(row.label or "truth", colors.get_color(row.style))
            if x + 16 * unit + words.width > end:
                break
            corners = 5 * unit * _find_marker(row) + (x + 5 * unit, y)
            pen.draw_lines(
                [(corners, 255)], colors.get_color(row.style), 0 if len(corners) > 1 else 10 * unit
            )
            pen.paste(words, x + 14 * unit, y)
            x += 22 * unit + words.width
            errors = row.select_errors(self.start, self.end)[1]
            if len(known := errors[np.isfinite(errors)]):
                words = self.name(f"error {format_three_digits(compute_rms(known))}", colors.soft)
                if x + words.width < end:
                    pen.paste(words, x, y)
                    x += words.width
            x += 16 * unit
        note = f"error ({self.stage.unit}); above: RMS of these {self.end - self.start:.3g} s"
        note += f" of {self.stage.of}" if self.stage.of else ""
        pen.paste(self.name(note, colors.soft, 100), 46 * unit, self.map[3] + 11 * unit)

    def _draw_chart(self) -> Image.Image:
        """Draw the chart of errors over time, faint in ``base``, and return it in full colors."""
        unit, colors, (width, height) = self.unit, self.colors, self.base.size
        left, right = round(46 * unit), round(width - 16 * unit)
        top, bottom = height - round(92 * unit), height - round(26 * unit)
        high = float(self.stage.list_errors(self.start, self.end)[1].max(initial=0.0)) * 1.05 or 1.0
        self.chart = Panel(left, top, right - left, bottom - top, self.start, self.end, 0.0, high)
        draw = ImageDraw.Draw(self.base)
        for value, text in choose_ticks(self.start, self.end, 8):
            draw.line(
                (x := round(self.chart.place_across(value)), top, x, bottom), fill=colors.faint
            )
            draw.text((x, bottom + 5 * unit), f"{text} s", colors.soft, self.font, "mt")
        for value, text in choose_ticks(0.0, high, 4):
            draw.line((left, y := round(self.chart.place_up(value)), right, y), fill=colors.faint)
            draw.text((left - 6 * unit, y), text, colors.soft, self.font, "rm")
        box, full = (left, top, right + 1, bottom + 1), self.base.copy()
        for curve in reversed(self.stage.drawn):
            times, errors = find_largest(*curve.select_errors(self.start, self.end), 2 * width)
            places = self.chart.place_points(np.column_stack((times, errors)))
            ways, dashes = measure_along(places), self.get_dashes(curve)
            lines = [
                (line, 255)
                for run in iterate_unbroken(errors)
                for line in iterate_dashes(places[run], ways[run], dashes)
            ]
            for image, share in ((self.base, 0.3), (full, 1.0)):
                color = colors.mix_color(colors.get_color(curve.style), share)
                Pen(image, box).draw_lines(lines, color, 1.6 * unit)
        return full.crop(box)


def _list_multiples(low: float, high: float, step: float) -> list[float]:
    return [k * step for k in range(math.ceil(low / step), math.floor(high / step) + 1)]


if TYPE_CHECKING:
    from epic_cli.metrics.arrays import Floats

    Color = tuple[int, int, int]
    Box = tuple[int, int, int, int]

#: How much larger shapes are drawn. Steps in which colors are mixed with the background:
#: with more, Pillow takes one for the other.
_FINER, _MIXED = 4, 20


class Colors:
    """The colors of a theme, and all mixtures between them and the background."""

    def __init__(self, theme: str) -> None:
        self.dark = theme == "dark"
        self.ground = _parse_rgb(BLACK if self.dark else WHITE)
        self.ink = _parse_rgb("#e6e9ef" if self.dark else "#222222")
        self.truth, self.soft, self.faint = (self.mix_color(self.ink, s) for s in (0.55, 0.7, 0.1))

    def get_color(self, style: LineStyle | None) -> Color:
        """Return the color of a line; None is the truth."""
        if style is None:
            return self.truth
        return _parse_rgb(style.dark if self.dark else style.light)

    def mix_color(self, color: Color, share: float) -> Color:
        """Mix a color with the background; ``share`` 1 is the color alone."""
        both = zip(self.ground, color, strict=True)
        red, green, blue = (round(a + share * (b - a)) for a, b in both)
        return red, green, blue

    def make_palette(self, styles: Iterable[LineStyle | None]) -> list[int]:
        """Return at most 255 colors for pictures of lines in these styles."""
        used = list(dict.fromkeys((self.ink, *map(self.get_color, styles))))
        steps = min(254 // len(used), _MIXED)
        ramps = [self.mix_color(point, (k + 1) / steps) for point in used for k in range(steps)]
        return [value for point in (self.ground, *ramps) for value in point]


def _parse_rgb(text: str) -> Color:
    return ImageColor.getrgb(text)[:3]


class Pen:
    """A pen that draws on an image within a ``box`` of pixels."""

    def __init__(self, image: Image.Image, box: Box) -> None:
        self.image = image
        self._box = np.array(box).reshape(2, 2)

    def draw_lines(self, lines: Iterable[tuple[Floats, int]], color: Color, width: float) -> None:
        """Draw lines through points (n, 2), each with an opacity (0 to 255), later lines above.

        A single point is a disc, a line without width a polygon.
        """
        drawn = [(np.clip(points, -1e4, 1e4), shade) for points, shade in lines if len(points)]
        if not drawn:
            return
        every = np.vstack([points for points, _ in drawn])
        low = np.clip(np.floor(every.min(axis=0) - width - 1), *self._box)
        high = np.clip(np.ceil(every.max(axis=0) + width + 1), *self._box)
        size = (np.maximum(high - low, 0) * _FINER).astype(int).tolist()
        if not all(size):
            return
        mask = Image.new("L", size)
        draw, radius = ImageDraw.Draw(mask), width * _FINER / 2
        for points, shade in drawn:
            # a place is the middle of its pixel
            places = (points + 0.5 - low) * _FINER
            draw.line(places.ravel().tolist(), fill=shade, width=max(1, round(2 * radius)))
            round_ones = places if len(points) == 1 else places[1:-1][_find_sharp_turns(points)]
            for x, y in round_ones.tolist():
                draw.ellipse((x - radius, y - radius, x + radius, y + radius), fill=shade)
            if width == 0:
                draw.polygon(places.ravel().tolist(), fill=shade)
        self.image.paste(color, (int(low[0]), int(low[1])), mask.reduce(_FINER))

    def paste(self, sprite: Image.Image, x: float, y: float) -> None:
        """Paste a transparent picture, its left edge at x, its middle at y."""
        if abs(x) + abs(y) < 1e4:
            self.image.paste(sprite, (round(x), round(y - sprite.height / 2)), sprite)


def _find_sharp_turns(points: Floats) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Return at which inner points (n - 2) a line turns by more than 20 degrees."""
    way = np.diff(points, axis=0)
    sizes = np.sqrt(np.square(way).sum(axis=1))
    return np.asarray((way[1:] * way[:-1]).sum(axis=1) < 0.94 * sizes[1:] * sizes[:-1])


def choose_readable(text: str, size: float) -> tuple[str, ImageFont.FreeTypeFont]:
    """Return a text that can be drawn, and a font that has all of its characters.

    Pillow's own font, with which pictures are the same everywhere, has ASCII alone. Other names are
    drawn in a font of this machine; if none has them, in plain letters, or as escapes, which keep
    two names distinct, unlike boxes.
    """
    own = cast("ImageFont.FreeTypeFont", ImageFont.load_default(size))
    if not _lacks_glyphs(own, text):
        return text, own
    for file in _find_fonts(text):
        with contextlib.suppress(OSError):
            font = ImageFont.truetype(file, size)
            if not _lacks_glyphs(font, text):
                return text, font
    letters = [unicodedata.normalize("NFKD", character)[0] for character in text]
    plain = (a if a.isascii() else f"\\u{ord(b):04x}" for a, b in zip(letters, text, strict=True))
    return "".join(plain)[:48], own


def _lacks_glyphs(font: ImageFont.FreeTypeFont, text: str) -> bool:
    """Return True if the font draws a character of a text as a box."""
    box = bytes(font.getmask("\U0010fffe"))
    return any(bytes(font.getmask(character)) == box for character in set(text) - {" "})


@lru_cache(1000)
def _find_fonts(text: str) -> tuple[str, ...]:
    """Return font files that may have a text's characters.

    Fontconfig's choice, or other systems' fonts.
    """
    wanted = " ".join(f"{ord(character):x}" for character in sorted(set(text)))
    words = ["fc-match", "-f", "%{file}", f"sans-serif:charset={wanted}"]
    if sys.platform != "win32":  # which looks for programs in the current folder first
        with (
            contextlib.suppress(OSError, TimeoutExpired),
            start_program(words, stdout=PIPE, stderr=DEVNULL) as process,
        ):
            try:
                found, _ = process.communicate(timeout=20)
            finally:
                process.kill()
            if not process.returncode:
                return (os.fsdecode(found),)
    return "arial.ttf", "msgothic.ttc", "Arial Unicode.ttf"


@lru_cache(1000)
def make_sprite(text: str, size: float, color: Color, halo: Color) -> Image.Image:
    """Draw a text of ``size`` pixels with a halo on a transparent picture."""
    text, font = choose_readable(text, size)
    border = max(1, round(0.12 * size))
    width, height = round(font.getlength(text)) + 2 * border, round(1.5 * size)
    found = Image.new("RGBA", (width, height), (*halo, 0))
    ImageDraw.Draw(found).text(
        (border, height / 2), text, color, font, "lm", stroke_width=border, stroke_fill=halo
    )
    return found
