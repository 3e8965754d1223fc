from collections.abc import Callable
from typing import Final

import numpy as np
from numpy.typing import NDArray

from epic_cli.engine.contract import SmoothingStrategy
from epic_cli.engine.packets import ConnectionTimes, Entities, PacketBlock, SampleBlock
from epic_cli.engine.refusals import Refusal

class Replay:
    def __init__(
        self,
        make_strategy: Callable[[], SmoothingStrategy],
        pacing: Pacing,
        entities: Entities | None = None,
        strict: bool = False,
        connection: ConnectionTimes | None = None,
    ) -> None: ...
    pacing: Final[Pacing]
    entities: Final[Entities]
    strategies: Final[list[SmoothingStrategy]]
    taken: Final[int]
    discarded: Final[int]
    def feed(self, block: PacketBlock) -> None: ...
    def advance(self, time: float) -> None: ...
    def finish(self) -> None: ...
    def draw(self, out: SampleBlock) -> bool: ...
    def horizon(self) -> tuple[float, float]: ...
    def largest_tick_gap(self, block: PacketBlock) -> tuple[float, int]: ...
    def close(self) -> None: ...
    def refusals(self) -> list[Refusal]: ...

class Clock: ...

class SingleClock(Clock):
    def __init__(self, tick: float = 0.05) -> None: ...

class ExactClock(Clock):
    def __init__(self, numerator: int = 1, denominator: int = 20) -> None: ...

class Pacing:
    clock: Final[Clock]

class DemoPacing(Pacing):
    def __init__(self, clock: Clock) -> None: ...

class ArrivalPacing(Pacing):
    def __init__(self, clock: Clock, latency: float = ...) -> None: ...

class FramePacing(ArrivalPacing): ...

class TooManyRows(ValueError):
    most: int
    def __init__(self, most: int) -> None: ...

class Trace:
    def __init__(
        self,
        make_strategy: Callable[[], SmoothingStrategy],
        pacing: Pacing,
        packets: PacketBlock,
        most: int = 5_000_000,
        stopped: Callable[[], bool] | None = None,
        expected: int = 0,
    ) -> None: ...
    replay: Final[Replay]
    refusals: Final[list[Refusal]]
    def __len__(self) -> int: ...
    def fill_turns(self, numbers: NDArray[np.float64]) -> None: ...
    def __buffer__(self, flags: int, /) -> memoryview: ...

def draw_frames(
    make_strategy: Callable[[], SmoothingStrategy],
    packets: PacketBlock,
    times: NDArray[np.float64],
    drawn: NDArray[np.float64],
    by_frame: bool = False,
) -> None: ...
def separate(
    block: PacketBlock,
    entities: dict[str, PacketBlock],
    most: int = 0,
    rest: PacketBlock | None = None,
) -> int: ...
def most_seen(
    entities: dict[str, PacketBlock], rest: PacketBlock, most: int
) -> dict[str, PacketBlock]: ...
