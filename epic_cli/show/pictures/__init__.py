"""Pictures: charts of characters for terminals, SVG for files."""

from __future__ import annotations

from typing import Literal, get_args

#: What a chart of a comparison can show: the path from above, or over time a coordinate, the error,
#: the heading as it is seen from above, or the angle to the true rotation.
View = Literal["above", "x", "y", "z", "error", "yaw", "angle"]
VIEWS: tuple[View, ...] = get_args(View)
