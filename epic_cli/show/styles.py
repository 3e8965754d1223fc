"""How lines are told apart: by colour, by dashes where colours run out, and by their names.

The colours were chosen by computing: each has a contrast of at least 4.5 to 1 with its background,
so that names may be written in it too (WCAG 2.2, 1.4.3), and any two stay apart for people who
cannot tell red from green or blue from yellow (Machado, Oliveira and Fernandes 2009).
"""

from __future__ import annotations

from typing import Literal, NamedTuple, get_args

#: On white, and on the page's dark background, in the order of rank.
LIGHT = ("#1900a3", "#dd3800", "#4c7590", "#a613fe", "#881203", "#4f114c")
DARK = ("#9eb4f8", "#fa2894", "#7cfff0", "#ffd607", "#ea943e", "#a962ff")

#: The backgrounds that they were chosen for.
WHITE, BLACK = "#ffffff", "#1a2029"

#: Lengths of dashes and gaps in pixels; the first six lines are solid, the next six dashed, ...
DASHES = ((), (8, 4), (2, 4), (12, 4, 2, 4))


class LineStyle(NamedTuple):
    """A colour for light backgrounds, one for dark ones, and dashes (none: solid)."""

    light: str
    dark: str
    dashes: tuple[int, ...]


def line_style(rank: int) -> LineStyle:
    """The style of the line with this rank, from 0; the first twenty-four differ."""
    color = rank % len(LIGHT)
    return LineStyle(LIGHT[color], DARK[color], DASHES[rank // len(LIGHT) % len(DASHES)])


#: What a chart of a comparison can show: the path from above, or over time a coordinate, the error,
#: the heading as it is seen from above, or the angle to the true rotation.
View = Literal["above", "x", "y", "z", "error", "yaw", "angle"]
VIEWS: tuple[View, ...] = get_args(View)
