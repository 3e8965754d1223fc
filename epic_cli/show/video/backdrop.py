"""What stays the same in all frames: the map with the truth's way, the key, the chart of errors."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from epic_cli.engine.text.widths import printable
from epic_cli.metrics.arrays import lengths, root_mean_square
from epic_cli.metrics.digits import three_digits
from epic_cli.metrics.notes import NothingToDraw
from epic_cli.show.pictures.chart import label, nice_values
from epic_cli.show.pictures.svg import Panel, largest_of_each
from epic_cli.show.video.pens import Colors, Pen, sprite

if TYPE_CHECKING:
    from epic_cli.metrics.arrays import Floats
    from epic_cli.show.video.pens import Box, Color
    from epic_cli.show.video.stage import Stage

#: Sizes are given in the pixels of a picture that is so high; letters do not get smaller than this.
_USUAL_HEIGHT, _SMALLEST = 540, 0.7

#: Where errors would be smaller than this (pixels), the picture follows the truth, so near that
#: they are of the second size, on a map of so many pixels at most.
_TOO_SMALL, _SEEN, _LARGEST_MAP = 12.0, 36.0, 4000.0


class Backdrop:
    """A stage from ``start`` to ``end`` (s), before anything moves on it.

    ``base`` is the whole picture. Where it ``follows`` the truth, the ``floor`` is larger than
    what is seen of it in ``map``; ``panel`` places things on it. ``curves`` are the errors in full
    colours, in ``base`` they are faint.
    """

    def __init__(
        self, stage: Stage, start: float, end: float, size: tuple[int, int], theme: str
    ) -> None:
        self.stage, self.start, self.end, self.colors = stage, start, end, Colors(theme)
        self.unit = unit = max(min(size) / _USUAL_HEIGHT, _SMALLEST)
        self.font = ImageFont.load_default(13 * unit)
        self.map: Box = (0, round(34 * unit), size[0], size[1] - round(112 * unit))
        self.base = Image.new("RGB", size, self.colors.ground)
        self.floor = self._floor(self._fit())
        if not self.follows:
            self.base.paste(self.floor, self.map[:2])
        self._draw_key()
        self.curves = self._chart()

    def places(self, points: Floats) -> Floats:
        """Places (n, 2) in pixels of the floor."""
        return np.column_stack(self.panel.place(points[:, 0], points[:, 1]))

    def name(self, text: str, color: Color) -> Image.Image:
        """A name as a picture."""
        return sprite(printable(text)[:32], 13 * self.unit, color, self.colors.ground)

    def _bounds(self) -> tuple[Floats, Floats]:
        """The least and the largest place (2), without what leaves the truth by far."""
        rows = [
            (one.rank, run)
            for one in self.stage.tracks
            for _, run in one.rows(self.start, self.end)
        ]
        if not rows:
            raise NothingToDraw
        seen = np.vstack([run for _, run in rows])
        truth = np.vstack([run for rank, run in rows if rank < 0] or [seen])
        middle, room = (truth.min(axis=0) + truth.max(axis=0)) / 2, np.ptp(truth, axis=0).max()
        seen = np.vstack([truth, seen[lengths(seen - middle) <= 3 * room]])
        return seen.min(axis=0), seen.max(axis=0)

    def _fit(self) -> float:
        """Pixels of a length: all of the map is in the picture, or as much as shows errors."""
        least, most = self._bounds()
        seen, names = np.array(self.map[2:]) - self.map[:2], [len(t.name) for t in self.stage.drawn]
        extent = np.maximum(most - least, 1e-9)
        border = min(max(names, default=0), 32) * 14 * self.unit, 60 * self.unit
        room = np.maximum(seen - border, 40.0)
        scale = float((room / np.maximum(extent, extent.max() * 0.05)).min())
        errors = self.stage.errors(self.start, self.end)[1]
        error, self.follows = float(np.quantile(errors, 0.9)) if len(errors) else 0.0, False
        alone = sum(one.rank < 0 for one in self.stage.tracks) == 1
        if alone and 0 < error * scale < _TOO_SMALL * self.unit:
            near = min(_SEEN * self.unit / error, *((_LARGEST_MAP - seen) / extent))
            self.follows, scale = near > 1.5 * scale, max(float(near), scale)
        floor = seen + (np.ceil(extent * scale) if self.follows else 0)
        middle, half = (least + most) / 2, floor / scale / 2
        (x0, y0), (x1, y1) = (middle - half).tolist(), (middle + half).tolist()
        self.panel = Panel(0, 0, float(floor[0]), float(floor[1]), x0, x1, y0, y1)
        return scale

    def _floor(self, scale: float) -> Image.Image:
        """A grid, and the truth's whole way."""
        panel, colors = self.panel, self.colors
        image = Image.new("RGB", (round(panel.width), round(panel.height)), colors.ground)
        draw, pen = ImageDraw.Draw(image), Pen(image, (0, 0, *image.size))
        low, high, *_ = nice_values(0.0, 400 * self.unit / scale)
        self.step = high - low
        for k in _multiples(panel.left, panel.right, self.step):
            draw.line((x := round(panel.across(k)), 0, x, image.height), fill=colors.faint)
        for k in _multiples(panel.bottom, panel.top, self.step):
            draw.line((0, y := round(panel.up(k)), image.width, y), fill=colors.faint)
        for one in self.stage.tracks:
            if one.rank < 0:
                lines = [(self.places(run), 255) for _, run in one.rows(self.start, self.end)]
                pen.lines(lines, colors.mixed(colors.ink, 0.2), 3 * self.unit)
        return image

    def _draw_key(self) -> None:
        """What is which colour, and its error; at the right is room for the time."""
        unit, colors, pen = self.unit, self.colors, Pen(self.base, (0, 0, *self.base.size))
        x, y, end = 14 * unit, 17 * unit, self.base.width - 110 * unit
        for one in (self.stage.tracks[0], *self.stage.drawn):
            words = self.name(one.name or "truth", colors.of(one.rank))
            if x + 16 * unit + words.width > end:
                break
            pen.lines([(np.array([[x + 5 * unit, y]]), 255)], colors.of(one.rank), 10 * unit)
            pen.paste(words, x + 14 * unit, y)
            x += 22 * unit + words.width
            errors = one.within(self.start, self.end)[1]
            if len(known := errors[np.isfinite(errors)]):
                words = self.name(f"error {three_digits(root_mean_square(known))}", colors.soft)
                if x + words.width < end:
                    pen.paste(words, x, y)
                    x += words.width
            x += 16 * unit
        pen.paste(self.name("error (lengths)", colors.soft), 46 * unit, self.map[3] + 11 * unit)

    def _chart(self) -> Image.Image:
        """The errors over time: the faint ones are drawn here."""
        unit, colors, (width, height) = self.unit, self.colors, self.base.size
        left, right = round(46 * unit), round(width - 16 * unit)
        top, bottom = height - round(92 * unit), height - round(26 * unit)
        high = float(self.stage.errors(self.start, self.end)[1].max(initial=0.0)) * 1.05 or 1.0
        self.chart = Panel(left, top, right - left, bottom - top, self.start, self.end, 0.0, high)
        draw = ImageDraw.Draw(self.base)
        for value in nice_values(self.start, self.end, 8):
            draw.line((x := round(self.chart.across(value)), top, x, bottom), fill=colors.faint)
            words = f"{label(value, self.end - self.start)} s"
            draw.text((x, bottom + 5 * unit), words, colors.soft, self.font, "mt")
        for value in nice_values(0.0, high, 4):
            draw.line((left, y := round(self.chart.up(value)), right, y), fill=colors.faint)
            draw.text((left - 6 * unit, y), label(value, high), colors.soft, self.font, "rm")
        box, full = (left, top, right + 1, bottom + 1), self.base.copy()
        for one in reversed(self.stage.drawn):
            times, errors = largest_of_each(*one.within(self.start, self.end), 2 * width)
            known = np.isfinite(errors)
            places = np.column_stack(self.chart.place(times, errors))
            runs = np.split(np.arange(len(times)), np.flatnonzero(~known))
            lines = [(places[run[known[run]]], 255) for run in runs]
            for image, share in ((self.base, 0.3), (full, 1.0)):
                color = colors.mixed(colors.of(one.rank), share)
                Pen(image, box).lines(lines, color, 1.6 * unit)
        return full.crop(box)


def _multiples(low: float, high: float, step: float) -> list[float]:
    return [k * step for k in range(math.ceil(low / step), math.floor(high / step) + 1)]
