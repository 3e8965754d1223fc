from collections.abc import Callable, Iterable, KeysView
from typing import Final, Protocol

from epic_cli.engine.packets import Entities, PacketBlock

FARTHEST: float

class Counting(Protocol):
    def count_sent(self, time: float, arrivals: tuple[float, ...]) -> None: ...

class PacketFilter:
    def __init__(
        self,
        refuse_name: Callable[[str], object],
        reasons: tuple[object, object],
        tally: Counting,
        *,
        origin: float | None = None,
        time_span: float = 0.0,
    ) -> None: ...
    entities: Final[Entities]
    packets: Final[int]
    late: Final[int]
    clock_resets: Final[int]
    clock_step: Final[float]
    names: Final[KeysView[str]]
    def now(self, machine: float) -> float | None: ...
    def admit(
        self,
        block: PacketBlock,
        ends: bytes,
        times: bytes,
        senders: bytes,
        earliest: float,
        into: PacketBlock,
    ) -> dict[object, int]: ...
    def drifts(self) -> list[float | None]: ...

PARTS: tuple[str, ...]

class RecordReader:
    def __init__(self, steps: Iterable[tuple[object, ...]]) -> None: ...
    entities: Final[Entities]
    def read(
        self, datagrams: list[bytes]
    ) -> tuple[PacketBlock, list[tuple[int, int, int, int, int, int]]]: ...
