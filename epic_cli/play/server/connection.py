"""What the server keeps for each client."""

from __future__ import annotations

from collections import Counter

from epic_cli.play.world.moves import MoveList
from epic_cli.play.world.round_trip import RoundTrip
from epic_cli.play.world.rules import Body


class Connection:
    """What the server knows of one client.

    ``time_us`` is how far its moves have been simulated, on the server's clock: it starts when
    the first move comes in and advances by the duration of each move.
    """

    def __init__(self, player: int, token: int, body: Body) -> None:
        self.player = player
        self.token = token
        self.body = body
        self.score = 0
        self.time_us: int | None = None
        self.waiting = MoveList()
        self.processed_us: int | None = None
        self.refused: Counter[str] = Counter()
        self.arrivals: dict[int, int] = {}  # of the waiting moves, by timestamp
        self.processed_arrival_us = 0
        self.fresh = False  # there is a timestamp that has not been echoed
        self.last_arrival_us = 0
        self.round_trip = RoundTrip()
        self._measured = -1  # the newest snapshot whose round trip is known

    def measure_round_trip(self, snapshot: int, measured: float, now: float) -> None:
        """The client has heard of this snapshot; each counts once. Times in seconds."""
        if snapshot > self._measured:
            self._measured = snapshot
            self.round_trip.add(max(measured, 0.0), now)
