"""What comes in, for the lines under the map: looked at some times a second."""

from __future__ import annotations

import math
from collections import deque
from typing import TYPE_CHECKING

from epic_cli.live.traffic import Flow, Traffic
from epic_cli.ui.screens.listen import status

if TYPE_CHECKING:
    from collections.abc import Sequence

    from epic_cli.engine.contract import Packet

#: Seconds from one look to the next.
_EVERY = 0.25

#: Datagrams a second are those of so many looks.
_LOOKS = 8


class Incoming:
    """The figures of what comes in."""

    def __init__(self) -> None:
        self._traffic = Traffic()
        self._looked = -math.inf
        self._datagrams: deque[tuple[float, int]] = deque([(0.0, 0)], maxlen=_LOOKS)
        self.flow: Flow = self._traffic.flow(0.0)

    def add(self, packets: Sequence[Packet]) -> None:
        """Packets came in."""
        self._traffic.add(packets)

    def look(self, now: float, real_time: float, datagrams: int) -> None:
        """The figures at a time (s) of the receiver's clock; ``datagrams`` came in all."""
        if real_time - self._looked >= _EVERY:
            if self._looked == -math.inf:
                self._datagrams.clear()
            self._looked = real_time
            self.flow = self._traffic.flow(now)
            self._datagrams.append((real_time, datagrams))

    def parts(self, entities: int, dropped: int) -> list[str]:
        """In words."""
        (begin, before), (end, after) = self._datagrams[0], self._datagrams[-1]
        rate = (after - before) / (end - begin) if end > begin else 0.0
        return status.traffic(self.flow, rate, entities, dropped)
