"""The frames of a video: what moves, on a copy of what stays."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np
from PIL import Image, ImageDraw

from epic_cli.views.video.backdrop import Backdrop
from epic_cli.views.video.pens import Pen, spread
from epic_cli.views.video.stage import Track, between, rows_between

if TYPE_CHECKING:
    from epic_cli.analysis.arrays import Floats

#: Seconds: how long a trail is, over how long a name's place is the mean, and how long the end
#: dissolves into the beginning.
TRAIL, CALM, DISSOLVE = 1.5, 1.0, 0.4

#: A trail fades in so many steps. Of more tracks than this, none has its name beside it.
_STEPS, _NAMED = 6, 24


def frames(backdrop: Backdrop, count: int, fps: float) -> Iterator[Image.Image]:
    """So many frames; the last ones dissolve into what is before the first, so that it loops."""
    painter = Painter(backdrop)
    whole = backdrop.end - backdrop.start
    fade = min(round(DISSOLVE * fps), count // 4)
    for number in range(count):
        at = backdrop.start + whole * number / count
        image, share = painter.frame(at), (number - count + fade + 1) / (fade + 1)
        if share > 0:
            image = Image.blend(image, painter.frame(at - whole), share)
        yield painter.timed(image, at)


class Painter:
    """Draws the picture of any time."""

    def __init__(self, backdrop: Backdrop) -> None:
        self._back = backdrop
        self.unit, self.colors, self.stage = backdrop.unit, backdrop.colors, backdrop.stage
        _, top, width, bottom = backdrop.map
        base = backdrop.base
        # names and dots that reach beyond the map are covered by these
        self._edges = [(base.crop((0, 0, width, top)), 0)]
        self._edges.append((base.crop((0, bottom, width, base.height)), bottom))
        words = f"from above, {self.stage.axes}, grid {backdrop.grid}"
        self._note = backdrop.letters.sprite(words, self.colors.mixed(self.colors.ink, 0.55))

    def frame(self, at: float) -> Image.Image:
        """The picture at a time (s), without the time itself; before the start, too."""
        back, unit = self._back, self.unit
        image, shift = self._ground(at)
        pen, here = Pen(image, back.map), np.array([at])
        self._draw_packets(image, shift, at)
        markers = []
        for one in self.stage.tracks:
            width = (5 if one.rank < 0 else 2.4) * unit
            pen.lines(self._trail(one, at, shift), self.colors.of(one.rank), width)
            place = back.places(one.at(here))[0] + shift
            if np.isfinite(place).all():
                markers.append((one, place))
        for one, place in markers:
            radius = (6.5 if one.rank < 0 else 5.5) * unit
            pen.shape(_marker(one, at, radius) + place, radius, self.colors.of(one.rank))
        if len(markers) <= 2 * _NAMED:
            self._draw_names(pen, markers, shift, at)
        pen.paste(self._note, 14 * unit, back.map[3] - 14 * unit)
        for edge, top in self._edges:
            image.paste(edge, (0, top))
        self._draw_errors(image, at)
        return image

    def timed(self, image: Image.Image, at: float) -> Image.Image:
        """The picture with the time (s) on it."""
        place = image.width - 14 * self.unit, 17 * self.unit
        font = self._back.letters.font
        ImageDraw.Draw(image).text(place, f"{at:.2f} s", self.colors.ink, font, "rm")
        return image

    def _ground(self, at: float) -> tuple[Image.Image, Floats]:
        """What stays, and from where on the floor to where in the picture places move."""
        back, image = self._back, self._back.base.copy()
        left, top, right, bottom = back.map
        x = y = 0
        if back.follows:
            seen = np.array([right - left, bottom - top])
            middle = back.places(self.stage.tracks[0].at(np.array([at])))[0] - seen / 2
            limit = np.array(back.floor.size) - seen
            x, y = np.rint(np.clip(np.nan_to_num(middle), 0, limit)).astype(int).tolist()
            image.paste(back.floor.crop((x, y, x + right - left, y + bottom - top)), (left, top))
        return image, np.array([left - x, top - y], float)

    def _trail(self, one: Track, at: float, shift: Floats) -> Iterator[tuple[Floats, int]]:
        for times, run in rows_between(one, at - TRAIL, at):
            steps = np.minimum((times - at + TRAIL) * (_STEPS / TRAIL), _STEPS - 1).astype(int)
            places = self._back.places(run) + shift
            for part in np.split(np.arange(len(run)), np.flatnonzero(np.diff(steps)) + 1):
                yield (
                    places[max(part[0] - 1, 0) : part[-1] + 1],
                    255 * int(steps[part[0]] + 1) // _STEPS,
                )

    def _draw_packets(self, image: Image.Image, shift: Floats, at: float) -> None:
        """Those of a trail's seconds as dots, the last of them dark."""
        times = self.stage.packet_times
        few = slice(*np.searchsorted(times, (at - TRAIL, at), side="right"))
        draw, radius = ImageDraw.Draw(image), 2.2 * self.unit
        places = self._back.places(self.stage.packets[few]) + shift
        for time, (x, y) in zip(times[few].tolist(), places.tolist(), strict=True):
            if abs(x) + abs(y) < 1e4:
                color = self.colors.mixed(self.colors.ink, 1 - 0.8 * (at - time) / TRAIL)
                draw.ellipse((x - radius, y - radius, x + radius, y + radius), fill=color)

    def _draw_names(
        self, pen: Pen, markers: Sequence[tuple[Track, Floats]], shift: Floats, at: float
    ) -> None:
        """Names beside the markers, apart from each other; they move calmly."""
        around, unit = np.linspace(at - CALM / 2, at + CALM / 2, 9), self.unit
        found = []
        for one, place in markers:
            if one.name:
                away = np.nan_to_num(self._back.places(one.at(around)) + shift - place)
                x, y = place + np.clip(away.mean(axis=0), -24 * unit, 24 * unit)
                found.append((float(y), float(x), one))
        found.sort(key=lambda each: each[:2])
        heights = spread([y for y, _, _ in found], 15 * unit)
        for (_, x, one), y in zip(found, heights, strict=True):
            color = self.colors.of(one.rank) if one.rank >= 0 else self.colors.ink
            pen.paste(
                self._back.letters.sprite(self._back.texts[one.name], color), x + 12 * unit, y
            )

    def _draw_errors(self, image: Image.Image, at: float) -> None:
        """The errors of a trail's seconds in full colours, up to a line at this time."""
        curves, chart = self._back.curves, self._back.chart
        whole = self._back.end - self._back.start
        now = (at - self._back.start) % whole / whole * chart.width
        long = min(TRAIL / whole, 1.0) * chart.width
        left, top = round(chart.x), round(chart.y)
        for first, last in ((now - long, now), (now - long + chart.width, chart.width)):
            begin, end = max(0, round(first)), round(last)
            if begin < end:
                image.paste(curves.crop((begin, 0, end, curves.height)), (left + begin, top))
        line = left + round(now), top, left + round(now), top + curves.height - 1
        ImageDraw.Draw(image).line(line, fill=self.colors.ink, width=max(1, round(self.unit)))


def _marker(one: Track, at: float, radius: float) -> Floats:
    """The corners (n, 2) of a dart to where it heads, or the middle of a disc, around 0."""
    if one.headings is not None:
        u, v = between(one.times, one.headings, np.array([at]))[0] * (2 * radius, -2 * radius)
        if u * u + v * v > 0:
            wide = 0.9 * radius / math.hypot(u, v)
            left = -0.7 * u - wide * v, -0.7 * v + wide * u
            right = -0.7 * u + wide * v, -0.7 * v - wide * u
            return np.array([(u, v), left, (-0.3 * u, -0.3 * v), right])
    return np.zeros((1, 2))
