"""What stays the same in all frames: the map with the truth's way, the key, the chart of errors."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from PIL import Image, ImageDraw

from epic_cli.analysis.arrays import root_mean_square
from epic_cli.analysis.digits import three_digits
from epic_cli.engine.text.widths import printable
from epic_cli.views.pictures.chart import label, nice_values
from epic_cli.views.pictures.svg import Panel, largest_of_each
from epic_cli.views.video.pens import Colors, Letters, Pen
from epic_cli.views.video.stage import Stage, Track, bounds, rows_between, typical_error

if TYPE_CHECKING:
    from epic_cli.analysis.arrays import Floats
    from epic_cli.views.video.pens import Box

#: The height of a picture in whose pixels sizes are given.
_USUAL_HEIGHT = 540

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
        self.stage, self.start, self.end = stage, start, end
        self.colors, self.unit = Colors(theme), max(min(size) / _USUAL_HEIGHT, 0.7)
        self.letters = Letters(13 * self.unit, self.colors.ground)
        self.texts = {one.name: printable(one.name)[:32] for one in stage.tracks}
        width, height = size
        self.map: Box = (0, round(34 * self.unit), width, height - round(112 * self.unit))
        self.base = Image.new("RGB", size, self.colors.ground)
        scale = self._fit()
        self.floor = self._floor(scale)
        if not self.follows:
            self.base.paste(self.floor, self.map[:2])
        self._draw_key()
        self.curves = self._chart()

    def places(self, points: Floats) -> Floats:
        """Places (n, 2) in pixels of the floor."""
        return np.column_stack(self.panel.place(points[:, 0], points[:, 1]))

    def _fit(self) -> float:
        """Says where places are: all of the map in the picture, or as much as shows errors."""
        least, most = bounds(self.stage, self.start, self.end)
        left, top, right, bottom = self.map
        seen, names = np.array([right - left, bottom - top]), max(map(len, self.texts.values()))
        extent = np.maximum(most - least, 1e-9)
        room = np.maximum(seen - (14 * names * self.unit, 60 * self.unit), 40.0)
        scale = float((room / np.maximum(extent, extent.max() * 0.05)).min())
        error = typical_error(self.stage, self.start, self.end)
        self.follows = False
        if self.stage.alone and 0 < error * scale < _TOO_SMALL * self.unit:
            widest = float(((_LARGEST_MAP - seen) / extent).min())
            near = min(_SEEN * self.unit / error, widest)
            self.follows, scale = near > 1.5 * scale, max(near, scale)
        floor = seen + (np.ceil(extent * scale) if self.follows else 0)
        middle, half = (least + most) / 2, floor / scale / 2
        (x0, y0), (x1, y1) = (middle - half).tolist(), (middle + half).tolist()
        self.panel = Panel(0, 0, float(floor[0]), float(floor[1]), x0, x1, y0, y1)
        return scale

    def _floor(self, scale: float) -> Image.Image:
        """A grid, and the truth's whole way."""
        panel, colors = self.panel, self.colors
        image = Image.new("RGB", (round(panel.width), round(panel.height)), colors.ground)
        draw = ImageDraw.Draw(image)
        low, high, *_ = nice_values(0.0, 400 * self.unit / scale)
        self.grid = label(high - low, high - low)
        for across in (True, False):
            ends = (panel.left, panel.right) if across else (panel.bottom, panel.top)
            step = high - low
            for k in range(math.ceil(ends[0] / step), math.floor(ends[1] / step) + 1):
                at = round(panel.across(k * step) if across else panel.up(k * step))
                line = (at, 0, at, image.height) if across else (0, at, image.width, at)
                draw.line(line, fill=colors.mixed(colors.ink, 0.1))
        pen = Pen(image, (0, 0, *image.size))
        for one in self.stage.tracks:
            if one.rank < 0:
                lines = [(self.places(run), 255) for _, run in self._rows(one)]
                pen.lines(lines, colors.mixed(colors.ink, 0.2), 3 * self.unit)
        return image

    def _rows(self, one: Track) -> list[tuple[Floats, Floats]]:
        return list(rows_between(one, self.start, self.end))

    def _errors(self, one: Track) -> tuple[Floats, Floats]:
        inside = (one.times >= self.start) & (one.times <= self.end)
        return one.times[inside], one.errors[inside]

    def _draw_key(self) -> None:
        """What is which colour, and its error; at the right is room for the time."""
        unit, colors, pen = self.unit, self.colors, Pen(self.base, (0, 0, *self.base.size))
        x, y = 14 * unit, 17 * unit
        end = self.base.width - self.letters.width("0000.00 s") - 30 * unit
        soft = colors.mixed(colors.ink, 0.7)
        for one in (None, *self.stage.drawn):
            name, rank, words = "truth", -1, ""
            if one is not None:
                errors = self._errors(one)[1]
                rms = root_mean_square(errors[np.isfinite(errors)])
                name, rank = self.texts[one.name], one.rank
                words = f"error {three_digits(rms)}" if math.isfinite(rms) else ""
            width = self.letters.width(name)
            if x + 16 * unit + width > end:
                break
            pen.shape(np.array([[x + 5 * unit, y]]), 5 * unit, colors.of(rank))
            ink = colors.of(rank) if rank >= 0 else colors.ink
            pen.paste(self.letters.sprite(name, ink), x + 14 * unit, y)
            x += 22 * unit + width
            if words and x + self.letters.width(words) < end:
                pen.paste(self.letters.sprite(words, soft), x, y)
                x += self.letters.width(words)
            x += 18 * unit
        pen.paste(self.letters.sprite("error (lengths)", soft), 46 * unit, self.map[3] + 11 * unit)

    def _chart(self) -> Image.Image:
        """The errors over time: the faint ones are drawn here."""
        unit, colors, size = self.unit, self.colors, self.base.size
        left, right = round(46 * unit), round(size[0] - 16 * unit)
        top, bottom = size[1] - round(92 * unit), size[1] - round(26 * unit)
        curves = [
            (one, *largest_of_each(*self._errors(one), 2 * (right - left)))
            for one in reversed(self.stage.drawn)
        ]
        most = max((np.nanmax(one[2], initial=0.0) for one in curves), default=0.0)
        high = float(most) * 1.05 or 1.0
        self.chart = Panel(left, top, right - left, bottom - top, self.start, self.end, 0.0, high)
        draw, soft = ImageDraw.Draw(self.base), colors.mixed(colors.ink, 0.7)
        faint, font = colors.mixed(colors.ink, 0.1), self.letters.font
        for value in nice_values(self.start, self.end, 8):
            x = round(self.chart.across(value))
            draw.line((x, top, x, bottom), fill=faint)
            words = f"{label(value, self.end - self.start)} s"
            draw.text((x, bottom + 5 * unit), words, soft, font, "mt")
        for value in nice_values(0.0, high, 2):
            y = round(self.chart.up(value))
            draw.line((left, y, right, y), fill=faint)
            draw.text((left - 6 * unit, y), label(value, high), soft, font, "rm")
        box, found = (left, top, right + 1, bottom + 1), []
        for share in (0.3, 1.0):
            image = self.base.copy()
            for one, times, errors in curves:
                known = np.isfinite(errors)
                places = np.column_stack(self.chart.place(times, errors))
                runs = np.split(np.arange(len(times)), np.flatnonzero(~known))
                lines = [(places[run[known[run]]], 255) for run in runs]
                color = colors.mixed(colors.of(one.rank), share)
                Pen(image, box).lines(lines, color, 1.6 * unit)
            found.append(image.crop(box))
        self.base.paste(found[0], box)
        return found[1]
