"""The frames of a video: what moves, on a copy of what stays."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np
from PIL import Image, ImageDraw

from epic_cli.show.pictures.chart import label
from epic_cli.show.video.pens import Pen, spread
from epic_cli.show.video.stage import Track, between

if TYPE_CHECKING:
    from epic_cli.metrics.arrays import Floats
    from epic_cli.show.video.backdrop import Backdrop

#: Seconds: how long a trail is, over how long a name's place is the mean, and how long the end
#: dissolves into the beginning.
TRAIL, CALM, DISSOLVE = 1.5, 1.0, 0.4

#: A trail fades in so many steps. Of more markers than this, none has its name beside it.
_STEPS, _NAMED = 6, 48


def frames(back: Backdrop, count: int, fps: float) -> Iterator[Image.Image]:
    """So many frames; the last ones dissolve into what is before the first, so that it loops."""
    whole, fade = back.end - back.start, min(round(DISSOLVE * fps), count // 4)
    place = back.base.width - 14 * back.unit, 17 * back.unit
    for number in range(count):
        at = back.start + whole * number / count
        image, share = _frame(back, at), (number - count + fade + 1) / (fade + 1)
        if share > 0:
            image = Image.blend(image, _frame(back, at - whole), share)
        ImageDraw.Draw(image).text(place, f"{at:.2f} s", back.colors.ink, back.font, "rm")
        yield image


def _frame(back: Backdrop, at: float) -> Image.Image:
    """The picture at a time (s), without the time itself; before the start, too."""
    unit, colors, here = back.unit, back.colors, np.array([at])
    image, shift = _ground(back, at)
    pen = Pen(image, back.map)
    _draw_packets(back, pen, shift, at)
    markers = []
    for one in back.stage.tracks:
        trail = _trail(back, one, at, shift)
        pen.lines(trail, colors.of(one.rank), (5 if one.rank < 0 else 2.4) * unit)
        place = back.places(one.at(here))[0] + shift
        if np.isfinite(place).all():
            markers.append((one, place))
    for one, place in markers:
        radius = (6.5 if one.rank < 0 else 5.5) * unit
        corners = _dart(one, at, radius)
        pen.lines(
            [(corners + place, 255)], colors.of(one.rank), 0 if len(corners) > 1 else 2 * radius
        )
    if len(markers) <= _NAMED:
        _draw_names(back, pen, markers, shift, at)
    note = f"from above, {back.stage.axes}, grid {label(back.step, back.step)}"
    pen.paste(back.name(note, colors.soft), 14 * unit, back.map[3] - 14 * unit)
    # names and dots that reach beyond the map are covered
    for top, bottom in ((0, back.map[1]), (back.map[3], image.height)):
        image.paste(back.base.crop((0, top, image.width, bottom)), (0, top))
    _draw_errors(back, image, at)
    return image


def _ground(back: Backdrop, at: float) -> tuple[Image.Image, Floats]:
    """What stays, and from where on the floor to where in the picture places move."""
    image, low = back.base.copy(), np.array(back.map[:2])
    if not back.follows:
        return image, low
    seen = np.array(back.map[2:]) - low
    middle = np.nan_to_num(back.places(back.stage.tracks[0].at(np.array([at])))[0])
    corner = np.rint(np.clip(middle - seen / 2, 0, np.array(back.floor.size) - seen)).astype(int)
    image.paste(back.floor.crop((*corner.tolist(), *(corner + seen).tolist())), back.map[:2])
    return image, low - corner


def _trail(back: Backdrop, one: Track, at: float, shift: Floats) -> Iterator[tuple[Floats, int]]:
    for times, run in one.rows(at - TRAIL, at):
        steps = np.minimum((times - at + TRAIL) * (_STEPS / TRAIL), _STEPS - 1).astype(int)
        places = back.places(run) + shift
        for part in np.split(np.arange(len(run)), np.flatnonzero(np.diff(steps)) + 1):
            shade = 255 * int(steps[part[0]] + 1) // _STEPS
            yield places[max(part[0] - 1, 0) : part[-1] + 1], shade


def _draw_packets(back: Backdrop, pen: Pen, shift: Floats, at: float) -> None:
    """Those of a trail's seconds as dots, the last of them dark."""
    times = back.stage.packet_times
    few = slice(*np.searchsorted(times, (at - TRAIL, at), side="right"))
    draw, radius = ImageDraw.Draw(pen.image), 2.2 * back.unit
    places = back.places(back.stage.packets[few]) + shift
    for time, (x, y) in zip(times[few].tolist(), places.tolist(), strict=True):
        if abs(x) + abs(y) < 1e4:
            color = back.colors.mixed(back.colors.ink, 1 - 0.8 * (at - time) / TRAIL)
            draw.ellipse((x - radius, y - radius, x + radius, y + radius), fill=color)


def _dart(one: Track, at: float, radius: float) -> Floats:
    """The corners (n, 2) of a dart to where it heads, or the middle of a disc, around 0."""
    if one.headings is not None:
        u, v = between(one.times, one.headings, np.array([at]))[0] * (2 * radius, -2 * radius)
        if u * u + v * v > 0:
            wide = 0.9 * radius / math.hypot(u, v)
            left = -0.7 * u - wide * v, -0.7 * v + wide * u
            right = -0.7 * u + wide * v, -0.7 * v - wide * u
            return np.array([(u, v), left, (-0.3 * u, -0.3 * v), right])
    return np.zeros((1, 2))


def _draw_names(
    back: Backdrop, pen: Pen, markers: Sequence[tuple[Track, Floats]], shift: Floats, at: float
) -> None:
    """Names beside the markers, apart from each other; they move calmly."""
    around, unit, found = np.linspace(at - CALM / 2, at + CALM / 2, 9), back.unit, []
    for one, place in markers:
        if one.name:
            away = np.nan_to_num(back.places(one.at(around)) + shift - place)
            x, y = (place + np.clip(away.mean(axis=0), -24 * unit, 24 * unit)).tolist()
            x = max(x, float(place[0]))  # a name does not cover its own marker
            found.append((y, x, one.name, back.colors.of(one.rank)))
    found.sort()
    for (_, x, name, color), y in zip(
        found, spread([one[0] for one in found], 15 * unit), strict=True
    ):
        pen.paste(back.name(name, color), x + 12 * unit, y)


def _draw_errors(back: Backdrop, image: Image.Image, at: float) -> None:
    """The errors of a trail's seconds in full colours, up to a line at this time."""
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
