from collections.abc import Callable

from epic_cli.engine.contract import SmoothingStrategy
from epic_cli.engine.packets import PacketBlock
from epic_cli.engine.refusals import Refusal
from epic_cli.engine.replay.pacing import Pacing
from epic_cli.engine.replay.replay import Replay

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
    @property
    def replay(self) -> Replay: ...
    @property
    def refusals(self) -> list[Refusal]: ...
    def __len__(self) -> int: ...
    def __buffer__(self, flags: int, /) -> memoryview: ...

def separate(block: PacketBlock, entities: dict[str, PacketBlock]) -> int: ...
