"""How something is drawn, as the keys of a case file: what differs from the defaults."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from epic_cli.engine.strategies import DEFAULT
from epic_cli.playback import Timing
from epic_cli.terminal.timing import TIMING

if TYPE_CHECKING:
    from epic_cli.checking.writing import Value
    from epic_cli.formats.layout import Layout


def case_values(
    strategy: str = DEFAULT,
    settings: Mapping[str, object] | None = None,
    timing: Timing = Timing(),  # noqa: B008 - a value
    layout: Layout | None = None,
) -> dict[str, Value]:
    """The keys of a case of these."""
    from epic_cli.formats.writing import number

    values: dict[str, Value] = {"strategy": strategy}
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
