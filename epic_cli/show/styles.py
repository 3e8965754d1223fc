"""How a strategy looks, wherever it is drawn: a colour by its name, and dashes.

There are fewer colours that everybody can tell apart than strategies, so that several share one:
each of them has dashes of its own, and a marker of its own shape. A strategy with other settings
has the strategy's colour, and other dashes; whoever draws it writes its label at the line.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, NamedTuple, get_args
from zlib import crc32


class Color(NamedTuple):
    """One hue: on white, on the pages' dark background, and on a terminal, whose own is unknown.

    The first two have a contrast of at least 4.5 to 1 with their background, so that names may be
    written in them too, the third one of 3 to 1 with both (WCAG 2.2, 1.4.3 and 1.4.11). Any two of
    a kind stay apart for people who cannot tell red from green or blue from yellow (Machado,
    Oliveira and Fernandes 2009). ``plain`` is rich's name of it where there are sixteen.
    """

    light: str
    dark: str
    screen: str
    plain: str


#: What they were computed for: white, and the pages' dark background.
WHITE, BLACK = "#ffffff", "#1a2029"

#: Each colour with the strategies that have it: the first is drawn solid, the next dashed, ...
#: A strategy that is not here has a colour by its name, and dashes that are free.
_TABLE = (
    (Color("#2e01aa", "#8aabfc", "#747bcc", "bright_blue"),
     ("epic", "source", "lightyear", "chase", "unreal")),
    (Color("#08798c", "#0dedfe", "#01a5ab", "cyan"),
     ("snapshot", "quake3", "projective", "luanti", "alpha-beta")),
    (Color("#de0087", "#fb289c", "#ee026a", "bright_magenta"),
     ("dead-reckoning", "geckos", "unity-ngo", "one-euro", "local-perception")),
    (Color("#867701", "#d4c617", "#a59300", "yellow"),
     ("lerp", "gambetta", "james-frowen", "robocat")),
    (Color("#b90bfe", "#aa60ff", "#b407ff", "magenta"),
     ("hermite", "extrapolator", "ddnet", "dis", "spline")),
    (Color("#6d0101", "#d5863a", "#b74719", "red"),
     ("mirror", "kalman", "visual-offset", "panda3d")),
    (Color("#376032", "#d5ffbc", "#137d5a", "green"),
     ("dumb-terminal", "buffer", "tick-interpolation")),
)  # fmt: skip

PALETTE = tuple(color for color, _ in _TABLE)

_OWN = {
    name: (color, pattern)
    for color, (_, names) in enumerate(_TABLE)
    for pattern, name in enumerate(names)
}


class LineStyle(NamedTuple):
    """The number of a colour, and of what keeps lines of this colour apart, 0: solid."""

    color: int
    pattern: int = 0

    @property
    def light(self) -> str:
        """Its colour on white."""
        return PALETTE[self.color].light

    @property
    def dark(self) -> str:
        """Its colour on the pages' dark background."""
        return PALETTE[self.color].dark

    @property
    def dashes(self) -> tuple[int, ...]:
        """Lengths of dashes and gaps in pixels: solid, dashed, dotted, a dash and dots, ..."""
        first: tuple[tuple[int, ...], ...] = (), (8, 4), (2, 4)
        dots = self.pattern - len(first)
        return first[self.pattern] if dots < 0 else (12, 4, 2, 4) + (2, 4) * dots

    @property
    def mark(self) -> str:
        """Its marker as a character."""
        return "●■◆▲▼"[min(self.pattern, len(_SHAPES) - 1)]

    @property
    def shape(self) -> tuple[tuple[float, float], ...]:
        """The corners (n, 2) of its marker, 1 from the middle, y upwards; none: a disc."""
        return _SHAPES[min(self.pattern, len(_SHAPES) - 1)]


_SHAPES: tuple[tuple[tuple[float, float], ...], ...] = (
    (),
    ((0.85, 0.85), (-0.85, 0.85), (-0.85, -0.85), (0.85, -0.85)),
    ((0.0, 1.2), (-1.2, 0.0), (0.0, -1.2), (1.2, 0.0)),
    ((0.0, 1.2), (-1.1, -0.75), (1.1, -0.75)),
    ((0.0, -1.2), (1.1, 0.75), (-1.1, 0.75)),
)


def line_styles(labels: Iterable[str]) -> dict[str, LineStyle]:
    """How those of one picture are drawn, whatever their order: no two alike.

    A label begins with the strategy's name, which says the colour. The strategies of the table
    have their own dashes, the others the first ones that are free.
    """
    found: dict[str, LineStyle] = {}
    taken: set[LineStyle] = set()
    for label in sorted(set(labels), key=lambda one: (one not in _OWN, one)):
        name = label.partition("+")[0]
        color, pattern = _OWN.get(name) or (crc32(name.encode(errors="replace")) % len(PALETTE), 0)
        while (style := LineStyle(color, pattern)) in taken:
            pattern += 1
        taken.add(style)
        found[label] = style
    return found


#: What a chart of a comparison can show: the path from above, or over time a coordinate, the error,
#: the heading as it is seen from above, or the angle to the true rotation.
View = Literal["above", "x", "y", "z", "error", "yaw", "angle"]
VIEWS: tuple[View, ...] = get_args(View)
