"""When packets really left: CSV that is the truth of what a receiver makes of them."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

from epic_cli.engine.contract import Packet
from epic_cli.formats.writing import csv_field, number

HEADER = b"entity,time,x,y,z,vx,vy,vz,teleport,sent\n"


@dataclass
class Departure:
    """A datagram: its packets, and when its first copy left (None: it has not, or was lost)."""

    packets: list[Packet]
    origin: float
    on_its_way: bool
    sent: float | None = None


class SentLog:
    """Writes a line for each packet, in the order of the packets, whatever overtakes what.

    ``sent`` is in seconds on the clock of the packets' times, on which the first was sent at its
    own; it is empty for a packet that the link lost. What is in flight is in memory.
    """

    def __init__(self, write: Callable[[bytes], object]) -> None:
        self._write = write
        self._waiting: deque[Departure] = deque()
        write(HEADER)

    def add(self, packets: list[Packet], origin: float, on_its_way: bool) -> Departure:
        """A datagram that leaves later, or that the link has lost."""
        departure = Departure(packets, origin, on_its_way)
        self._waiting.append(departure)
        self._settle()
        return departure

    def left(self, departure: Departure, elapsed: float) -> None:
        """It left so long (seconds) after the first; a second copy changes nothing."""
        if departure.sent is None:
            departure.sent = departure.origin + elapsed
            departure.on_its_way = False
            self._settle()

    def end(self) -> None:
        """What is still on its way will not be sent."""
        for departure in self._waiting:
            departure.on_its_way = False
        self._settle()

    def _settle(self) -> None:
        while self._waiting and not self._waiting[0].on_its_way:
            departure = self._waiting.popleft()
            sent = "" if departure.sent is None else number(round(departure.sent, 6))
            self._write("".join(_row(one, sent) for one in departure.packets).encode())


def _row(packet: Packet, sent: str) -> str:
    velocity = [""] * 3 if packet.velocity is None else map(number, packet.velocity)
    numbers = ",".join([number(packet.time), *map(number, packet.position), *velocity])
    return f"{csv_field(packet.entity)},{numbers},{packet.teleport:d},{sent}\n"
