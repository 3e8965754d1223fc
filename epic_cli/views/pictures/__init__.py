"""Pictures: charts of characters for terminals, SVG for files."""

from __future__ import annotations

from typing import Literal, get_args

#: What a chart of a comparison can show: the path from above, a coordinate or the error over time.
View = Literal["above", "x", "y", "z", "error"]
VIEWS: tuple[View, ...] = get_args(View)
