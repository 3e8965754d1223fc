"""What a chart of a comparison can show."""

from __future__ import annotations

from typing import Literal, get_args

#: The path from above, a coordinate over time, or the error over time.
View = Literal["above", "x", "y", "z", "error"]
VIEWS: tuple[View, ...] = get_args(View)
