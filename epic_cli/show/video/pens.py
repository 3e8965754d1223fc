"""Colours, lines and text for pictures of pixels, by Pillow.

Shapes are drawn four times as large and then reduced: the same on every machine, as is all text
but names beyond ASCII.
"""

from __future__ import annotations

import contextlib
import subprocess
import unicodedata
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, cast

import numpy as np
from PIL import Image, ImageColor, ImageDraw, ImageFont

from epic_cli.show.pictures.styles import BLACK, WHITE, line_style

if TYPE_CHECKING:
    from epic_cli.metrics.arrays import Floats

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
        self.truth, self.soft, self.faint = (self.mixed(self.ink, s) for s in (0.55, 0.7, 0.1))

    def of(self, rank: int) -> Color:
        """The colour of the line with this rank, -1: the truth."""
        style = line_style(max(rank, 0))
        return self.truth if rank < 0 else _rgb(style.dark if self.dark else style.light)

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
        """Lines through points (n, 2), each so opaque (255: wholly), later ones above.

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
            round_ones = places if len(points) == 1 else places[1:-1][_sharp(points)]
            for x, y in round_ones.tolist():
                draw.ellipse((x - radius, y - radius, x + radius, y + radius), fill=shade)
            if width == 0:
                draw.polygon(places.ravel().tolist(), fill=shade)
        self.image.paste(color, (int(low[0]), int(low[1])), mask.reduce(_FINER))

    def paste(self, sprite: Image.Image, x: float, y: float) -> None:
        """A picture that is seen through, its left edge at x, its middle at y."""
        if abs(x) + abs(y) < 1e4:
            self.image.paste(sprite, (round(x), round(y - sprite.height / 2)), sprite)


def _sharp(points: Floats) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """At which of the inner points (n - 2) a line turns by more than 20 degrees."""
    way = np.diff(points, axis=0)
    sizes = np.sqrt(np.square(way).sum(axis=1))
    return np.asarray((way[1:] * way[:-1]).sum(axis=1) < 0.94 * sizes[1:] * sizes[:-1])


def readable(text: str, size: float) -> tuple[str, ImageFont.FreeTypeFont]:
    """A text and a font that has all of it.

    Pillow's own font, with which pictures are the same everywhere, is that of ASCII. Names beyond
    are drawn in a font of this machine; where it has none, in plain letters, or as escapes, which
    keep two names apart as boxes do not.
    """
    own = cast("ImageFont.FreeTypeFont", ImageFont.load_default(size))
    if not _lacks(own, text):
        return text, own
    for file in _files(text):
        with contextlib.suppress(OSError):
            font = ImageFont.truetype(file, size)
            if not _lacks(font, text):
                return text, font
    letters = [unicodedata.normalize("NFKD", one)[0] for one in text]
    plain = (a if a.isascii() else f"\\u{ord(b):04x}" for a, b in zip(letters, text, strict=True))
    return "".join(plain)[:48], own


def _lacks(font: ImageFont.FreeTypeFont, text: str) -> bool:
    """Whether a character of a text is a box."""
    box = bytes(font.getmask("\U0010fffe"))
    return any(bytes(font.getmask(one)) == box for one in set(text) - {" "})


@lru_cache(1000)
def _files(text: str) -> tuple[str, ...]:
    """Fonts that may have a text: what fontconfig finds, and what other systems come with."""
    wanted = " ".join(f"{ord(one):x}" for one in sorted(set(text)))
    words = ["fc-match", "-f", "%{file}", f"sans-serif:charset={wanted}"]
    with contextlib.suppress(OSError, subprocess.SubprocessError):
        found = subprocess.run(words, capture_output=True, text=True, timeout=20, check=True)  # noqa: S603
        return (found.stdout,)
    return "arial.ttf", "msgothic.ttc", "Arial Unicode.ttf"


@lru_cache(1000)
def sprite(text: str, size: float, color: Color, halo: Color) -> Image.Image:
    """A text of so many pixels, to be seen through but for a halo."""
    text, font = readable(text, size)
    border = max(1, round(0.12 * size))
    width, height = round(font.getlength(text)) + 2 * border, round(1.5 * size)
    found = Image.new("RGBA", (width, height), (*halo, 0))
    ImageDraw.Draw(found).text(
        (border, height / 2), text, color, font, "lm", stroke_width=border, stroke_fill=halo
    )
    return found


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
    return [mid + apart * (k - (count - 1) / 2) for mid, count in groups for k in range(count)]
