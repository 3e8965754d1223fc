"""Colours, lines and text for pictures of pixels, by Pillow and in its own font.

Shapes are drawn four times as large and then reduced: the same on every machine.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np
from PIL import Image, ImageColor, ImageDraw, ImageFont

from epic_cli.views.pictures.styles import BLACK, WHITE, line_style

if TYPE_CHECKING:
    from epic_cli.analysis.arrays import Floats

    Color = tuple[int, int, int]
    Box = tuple[int, int, int, int]

#: Shapes are drawn so many times as large. Colours are mixed with the background in so many steps:
#: with more, Pillow takes one for the other.
_FINER, _MIXED = 4, 20


class Colors:
    """The colours of a theme, and all that come between them and the background."""

    def __init__(self, theme: str) -> None:
        self.dark = theme == "dark"
        self.ground = _rgb(BLACK if self.dark else WHITE)
        self.ink = _rgb("#e6e9ef" if self.dark else "#222222")
        self.truth = self.mixed(self.ink, 0.55)

    def of(self, rank: int) -> Color:
        """The colour of the line with this rank, -1: the truth."""
        if rank < 0:
            return self.truth
        style = line_style(rank)
        return _rgb(style.dark if self.dark else style.light)

    def mixed(self, color: Color, share: float) -> Color:
        """So much of a colour on the background."""
        both = zip(self.ground, color, strict=True)
        red, green, blue = (round(a + share * (b - a)) for a, b in both)
        return red, green, blue

    def palette(self, ranks: Iterable[int]) -> list[int]:
        """At most 255 colours that pictures of lines with these ranks are made of."""
        used = list(dict.fromkeys((self.ink, *map(self.of, ranks))))
        steps = min(254 // len(used), _MIXED)
        ramps = [self.mixed(one, (k + 1) / steps) for one in used for k in range(steps)]
        return [value for one in (self.ground, *ramps) for value in one]


def _rgb(text: str) -> Color:
    return ImageColor.getrgb(text)[:3]


class Pen:
    """Draws on an image, only within a ``box`` of pixels."""

    def __init__(self, image: Image.Image, box: Box) -> None:
        self.image = image
        self._box = np.array(box).reshape(2, 2)

    def lines(self, lines: Iterable[tuple[Floats, int]], color: Color, width: float) -> None:
        """Lines through points (n, 2), each so opaque (255: wholly), later ones above."""
        drawn = [(np.clip(points, -1e4, 1e4), shade) for points, shade in lines if len(points)]
        if not drawn:
            return
        low, mask = self._mask(np.vstack([points for points, _ in drawn]), width)
        pen, fine, radius = ImageDraw.Draw(mask), round(width * _FINER), width * _FINER / 2
        for points, shade in drawn:
            # a place is the middle of its pixel
            places = (points + 0.5 - low) * _FINER
            pen.line(places.ravel().tolist(), fill=shade, width=max(1, fine))
            for x, y in places[1:-1][_sharp(points)].tolist():
                pen.ellipse((x - radius, y - radius, x + radius, y + radius), fill=shade)
        self._paste(mask, low, color)

    def shape(self, corners: Floats, radius: float, color: Color) -> None:
        """A polygon of corners (n, 2), or a disc around the only one."""
        if not (np.abs(corners) < 1e4).all():
            return
        low, mask = self._mask(corners, radius)
        places = (corners + 0.5 - low) * _FINER
        if len(corners) > 1:
            ImageDraw.Draw(mask).polygon(places.ravel().tolist(), fill=255)
        else:
            (x, y), wide = places[0].tolist(), radius * _FINER
            ImageDraw.Draw(mask).ellipse((x - wide, y - wide, x + wide, y + wide), fill=255)
        self._paste(mask, low, color)

    def paste(self, sprite: Image.Image, x: float, y: float) -> None:
        """A picture that is seen through, its left edge at x, its middle at y."""
        if abs(x) + abs(y) < 1e4:
            self.image.paste(sprite, (round(x), round(y - sprite.height / 2)), sprite)

    def _mask(self, points: Floats, border: float) -> tuple[Floats, Image.Image]:
        """The upper left corner of the pixels that are touched, and how much of each is covered."""
        low = np.clip(np.floor(points.min(axis=0) - border - 1), *self._box)
        high = np.clip(np.ceil(points.max(axis=0) + border + 1), *self._box)
        width, height = (np.maximum(high - low, 0) * _FINER).astype(int).tolist()
        return low, Image.new("L", (width, height))

    def _paste(self, mask: Image.Image, low: Floats, color: Color) -> None:
        if mask.width and mask.height:
            self.image.paste(color, (int(low[0]), int(low[1])), mask.reduce(_FINER))


def _sharp(points: Floats) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """At which of the inner points (n - 2) a line turns by more than 20 degrees."""
    way = np.diff(points, axis=0)
    sizes = np.sqrt(np.square(way).sum(axis=1))
    along = (way[1:] * way[:-1]).sum(axis=1)
    return np.asarray(along < 0.94 * sizes[1:] * sizes[:-1])


class Letters:
    """Text of one size (pixels)."""

    def __init__(self, size: float, halo: Color) -> None:
        self._halo, self._size = halo, size
        self.font = ImageFont.load_default(size)
        self._made: dict[tuple[str, Color], Image.Image] = {}

    def width(self, text: str) -> float:
        """In pixels."""
        return float(self.font.getlength(text))

    def sprite(self, text: str, color: Color) -> Image.Image:
        """The text as a picture, with a halo of the background's colour."""
        if (text, color) not in self._made:
            border = max(1, round(0.12 * self._size))
            size = round(self.width(text)) + 2 * border, round(1.3 * self._size) + 2 * border
            mask = Image.new("L", size)
            place = border, size[1] / 2
            ImageDraw.Draw(mask).text(place, text, 255, self.font, "lm", stroke_width=border)
            found = Image.new("RGB", size, self._halo)
            ImageDraw.Draw(found).text(place, text, color, self.font, "lm")
            found.putalpha(mask)
            self._made[text, color] = found
        return self._made[text, color]


def spread(heights: Sequence[float], apart: float) -> list[float]:
    """Rising heights moved as little as it takes to be so far apart."""
    groups: list[tuple[float, int]] = []  # their middle, and how many there are
    for height in heights:
        groups.append((height, 1))
        while len(groups) > 1:
            (upper, n), (lower, m) = groups[-2:]
            if lower - upper >= apart * (n + m) / 2:
                break
            groups[-2:] = [((upper * n + lower * m) / (n + m), n + m)]
    return [
        middle + apart * (k - (count - 1) / 2) for middle, count in groups for k in range(count)
    ]
