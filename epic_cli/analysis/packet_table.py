"""The packets of an entity as columns of numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from epic_cli.engine.measure import table

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from epic_cli.engine.packets import PacketBlock

#: The columns: times in seconds; what is not known is NaN; teleports are 0 or 1.
TIME, ARRIVAL, SEQUENCE, TELEPORT = 0, 7, 8, 9
POSITION, VELOCITY = slice(1, 4), slice(4, 7)
COLUMNS = 10


def packet_table(packets: PacketBlock) -> NDArray[np.float64]:
    """The packets in their order, (``COLUMNS``, n)."""
    columns = np.empty((COLUMNS, len(packets)))
    table(packets, columns)
    return columns
