from collections.abc import Callable, Iterable, KeysView
from typing import Protocol

from epic_cli.engine.packets import Entities, PacketBlock

FARTHEST: float

class Counting(Protocol):
    def count_sent(self, time: float, arrivals: tuple[float, ...]) -> None: ...

class Admission:
    def __init__(
        self,
        refuse_name: Callable[[str], object],
        reasons: tuple[object, object],
        tally: Counting,
        *,
        origin: float | None = None,
        time_span: float = 0.0,
    ) -> None: ...
    @property
    def entities(self) -> Entities: ...
    @property
    def packets(self) -> int: ...
    @property
    def late(self) -> int: ...
    @property
    def clock_resets(self) -> int: ...
    @property
    def clock_step(self) -> float: ...
    @property
    def names(self) -> KeysView[str]: ...
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
    @property
    def entities(self) -> Entities: ...
    def read(
        self, datagrams: list[bytes]
    ) -> tuple[PacketBlock, list[tuple[int, int, int, int, int, int]]]: ...
