"""How something is drawn, as the keys of a case file: what differs from the defaults."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING

from epic_cli.engine.replay.playback import Timing
from epic_cli.engine.strategies import DEFAULT
from epic_cli.ui.io.timing import TIMING

if TYPE_CHECKING:
    from epic_cli.checking.writing import Value
    from epic_cli.formats.layout import Layout


def case_values(
    folder: str,
    strategy: str = DEFAULT,
    settings: Mapping[str, object] | None = None,
    timing: Timing = Timing(),  # noqa: B008 - a value
    layout: Layout | None = None,
) -> dict[str, Value]:
    """The keys of a case of these in a folder, from which a strategy in a file is seen."""
    from epic_cli.formats.writing import number

    values: dict[str, Value] = {"strategy": _seen_from(folder, strategy)}
    words = [
        f"{key}={number(value) if isinstance(value, float) else str(value)}"
        for key, value in (settings or {}).items()
    ]
    if words:
        values["set"] = words
    for one in TIMING:
        value = getattr(timing, one.name)
        if value != one.default:
            values[one.name] = one.written(value)
    values.update(layout.items() if layout is not None else {})
    return values


def _seen_from(folder: str, strategy: str) -> str:
    path, colon, rest = strategy.rpartition(":")
    if not (colon and path.endswith(".py")):
        return strategy
    seen = os.path.relpath(path, folder)
    return f"{seen if seen.startswith('.') else f'./{seen}'}:{rest}"
