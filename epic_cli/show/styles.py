"""Choose the look of each strategy, the same in all pictures: a color by its name, and dashes.

There are fewer colors that everybody can distinguish than strategies. The hue is the family's, its
shade the strategy's; strategies of one family, whose shades some people see alike, have different
dashes and markers. Every drawn line also has its label beside it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from typing import Literal, NamedTuple, get_args
from zlib import crc32


class Color(NamedTuple):
    """One color in three shades: on white, on the pages' dark background, and on a terminal.

    The first two have a contrast of at least 4.5 to 1 with their background, so that names may be
    written in them too; the terminal's shade has 3 to 1 with both, as a terminal's background is
    not known (WCAG 2.2, 1.4.3 and 1.4.11). Any two colors differ visibly; the first colors of two
    families also do for people who cannot distinguish red from green or blue from yellow (Machado,
    Oliveira and Fernandes 2009). ``plain`` is rich's name for the nearest of sixteen colors.
    """

    light: str
    dark: str
    screen: str
    plain: str


#: Backgrounds for which the colors were computed: white, and the pages' dark one.
WHITE, BLACK = "#ffffff", "#1a2029"

#: A hue for each family of strategies, by rich's name of it, and in it a shade for each strategy.
#: Shades without a name are for variants, and for strategies that are not here.
_FAMILIES = (
    # aim at a predicted point
    ("bright_blue", (
        ("epic", "#2e01aa", "#8aabfc", "#747bcc"),
        ("extrapolator", "#7c5ee0", "#118cdc", "#0163e3"),
        ("", "#0200fd", "#c4beff", "#a07aff"),
    )),
    # draw a fixed time in the past
    ("cyan", (
        ("snapshot", "#08798c", "#0dedfe", "#01a5ab"),
        ("source", "#017ac8", "#089885", "#447176"),
        ("gambetta", "#005a5e", "#7fa3ba", "#0186b8"),
        ("buffer", "#18354e", "#b2ffff", "#079ed7"),
        ("hermite", "#0061a2", "#00dcaf", "#739d8e"),
        ("geckos", "#004676", "#00c0e0", "#5e8296"),
        ("panda3d", "#47617a", "#9fd4db", "#00729c"),
        ("tick-interpolation", "#018575", "#40b694", "#019785"),
    )),
    # extrapolate and correct
    ("bright_magenta", (
        ("dead-reckoning", "#de0087", "#fb289c", "#ee026a"),
        ("unreal", "#9c219c", "#ffb0bf", "#cd79ac"),
        ("projective", "#58123d", "#ff80fb", "#ff30cb"),
        ("dis", "#ad005e", "#d16578", "#a44a88"),
        ("robocat", "#770069", "#f201e1", "#dd04af"),
        ("visual-offset", "#ca01bb", "#ff72b1", "#ca137a"),
    )),
    # chase the newest state
    ("yellow", (
        ("lerp", "#867701", "#d4c617", "#a59300"),
        ("spline", "#885a00", "#729207", "#7e6645"),
        ("chase", "#5f4400", "#f4fa01", "#a0946d"),
        ("luanti", "#413011", "#bcbd8a", "#6f8f01"),
        ("local-perception", "#6d7654", "#a4b101", "#9c7840"),
        ("minecraft", "#ad620a", "#a4e28d", "#d27d0e"),
    )),
    # filter
    ("magenta", (
        ("kalman", "#b90bfe", "#aa60ff", "#b407ff"),
        ("one-euro", "#43007c", "#af6fba", "#f43cff"),
        ("alpha-beta", "#6a00d1", "#9485ff", "#8c48ca"),
    )),
    # draw the past, on a clock that adapts
    ("red", (
        ("mirror", "#6d0101", "#d5863a", "#b74719"),
        ("ddnet", "#e40101", "#fedbc3", "#f1686b"),
        ("quake3", "#a0666e", "#f84404", "#ae6f74"),
        ("unity-ngo", "#763e4e", "#9a8457", "#f52700"),
        ("lightyear", "#a00100", "#ff9960", "#d0183e"),
        ("james-frowen", "#c64a52", "#ffd470", "#fe6004"),
        ("netcode-for-entities", "#b34583", "#dca40f", "#fd509a"),
        ("chrono", "#9c463d", "#f2735f", "#d05388"),
    )),
    # show what was received; and strategies of others
    ("green", (
        ("dumb-terminal", "#376032", "#d5ffbc", "#137d5a"),
        ("", "#008a07", "#00ca5a", "#06ab3b"),
        ("", "#00482d", "#a6ed01", "#177b04"),
        ("", "#00752b", "#0bff90", "#029352"),
    )),
)  # fmt: skip

PALETTE = tuple(
    Color(light, dark, screen, plain)
    for plain, shades in _FAMILIES
    for _, light, dark, screen in shades
)


class _Shade(NamedTuple):
    """A shade's family, by its first color and number of colors, and the shade's place in it."""

    first: int
    size: int
    place: int


def _iterate_shades() -> Iterator[tuple[str, _Shade]]:
    first = 0
    for _, shades in _FAMILIES:
        for place, (name, *_) in enumerate(shades):
            yield name, _Shade(first, len(shades), place)
        first += len(shades)


_OWN = {name: shade for name, shade in _iterate_shades() if name}

#: The first color of each family.
HUES = tuple(PALETTE[shade.first] for _, shade in _iterate_shades() if not shade.place)


class LineStyle(NamedTuple):
    """A line's color and its pattern, which separates lines of one color; pattern 0 is solid."""

    color: int
    pattern: int = 0

    @property
    def light(self) -> str:
        """The line's color on white."""
        return PALETTE[self.color].light

    @property
    def dark(self) -> str:
        """The line's color on the pages' dark background."""
        return PALETTE[self.color].dark

    @property
    def dashes(self) -> tuple[int, ...]:
        """The lengths of dashes and gaps in pixels; empty for a solid line."""
        first: tuple[tuple[int, ...], ...] = (), (8, 4), (2, 4)
        dots = self.pattern - len(first)
        return first[self.pattern] if dots < 0 else (12, 4, 2, 4) + (2, 4) * dots

    @property
    def mark(self) -> str:
        """The line's marker as a character."""
        return "●■◆▲▼"[min(self.pattern, len(_SHAPES) - 1)]

    @property
    def shape(self) -> tuple[tuple[float, float], ...]:
        """The corners (n, 2) of the line's marker, 1 from the middle, y upwards.

        Empty for a disc.
        """
        return _SHAPES[min(self.pattern, len(_SHAPES) - 1)]


_SHAPES: tuple[tuple[tuple[float, float], ...], ...] = (
    (),
    ((0.85, 0.85), (-0.85, 0.85), (-0.85, -0.85), (0.85, -0.85)),
    ((0.0, 1.2), (-1.2, 0.0), (0.0, -1.2), (1.2, 0.0)),
    ((0.0, 1.2), (-1.1, -0.75), (1.1, -0.75)),
    ((0.0, -1.2), (1.1, 0.75), (-1.1, 0.75)),
)


def choose_line_styles(labels: Iterable[str]) -> dict[str, LineStyle]:
    """Return a different style for each label of one picture, whatever their order.

    A label begins with the strategy's name, which decides the color. A variant of another strategy
    in the picture, or a strategy that is not in the table, gets the next free color of the family;
    if none is free, other dashes.
    """
    found: dict[str, LineStyle] = {}
    for label in sorted(set(labels), key=lambda one: (one not in _OWN, one)):
        found[label] = _choose_free_style(label.partition("+")[0], set(found.values()))
    return found


def _choose_free_style(name: str, taken: Collection[LineStyle]) -> LineStyle:
    """Return a strategy's own style or, if it is taken, the next free style of its family."""
    first, size, place = _OWN.get(name, _OTHERS)
    own = place  # dashes
    if name not in _OWN:
        place += crc32(name.encode(errors="replace")) % (size - place)
        own = 0
    colors = {style.color for style in taken}
    more = 0
    while True:
        for each in range(size):
            style = LineStyle(first + (place + each) % size, (own + each) % size + more)
            # a color stands twice only where the family has no more of them
            if style not in taken and (more or style.color not in colors):
                return style
        more += 1


#: First color of strategies that are not in the table.
_OTHERS = _OWN["dumb-terminal"]._replace(place=1)


#: What a chart of a comparison can show: the path from above, or over time a coordinate, the error,
#: the heading as it is seen from above, or the angle to the true rotation.
View = Literal["above", "x", "y", "z", "error", "yaw", "angle"]
VIEWS: tuple[View, ...] = get_args(View)
