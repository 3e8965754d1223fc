"""Drawn samples as a structured NumPy array."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from epic_cli.engine.text import TURN_COLUMNS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from epic_cli.engine.packets import SampleQueue


def make_records(
    drawn: SampleQueue,
    columns: tuple[str, ...],
    statuses: NDArray[Any],
    entities: NDArray[Any],
) -> NDArray[np.void]:
    """Return samples as records with these columns of the CSV format.

    Numbers are ``float64``, NaN where nothing is drawn. The status and the entity of a sample are
    what the two arrays hold for their numbers.
    """
    texts = {"status": statuses.dtype, "entity": entities.dtype}
    records = np.empty(len(drawn), [(name, texts.get(name, "f8")) for name in columns])
    turns = TURN_COLUMNS[0] in columns
    drawn.fill(records.view(np.uint8), statuses.tobytes(), entities.tobytes(), turns)
    return records
