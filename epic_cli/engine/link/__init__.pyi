from collections.abc import Iterable
from random import Random
from typing import Any, Final

from epic_cli.engine.contract import Packet, Rotation, Vector
from epic_cli.engine.packets import Entities, PacketBlock

class Tally:
    sent: Final[int]
    lost: Final[int]
    duplicated: Final[int]
    arrived: Final[int]
    reordered: Final[int]
    longest_loss: Final[int]
    def count_sent(self, time: float, arrivals: tuple[float, ...]) -> None: ...
    def count_arrived(self, sequence: int) -> None: ...
    def delay(self, share: float) -> float: ...

class Transit:
    def __init__(self, tally: Tally) -> None: ...
    entities: Final[Entities]
    def send(self, time: float, packets: list[Packet], arrivals: tuple[float, ...]) -> None: ...
    def land(self, time: float, block: PacketBlock) -> None: ...

STREAMS: tuple[str, ...]

class LinkKernel:
    def __init__(self, sources: Iterable[Random], steps: Iterable[tuple[float, Any]]) -> None: ...
    def change(self, conditions: Any) -> None: ...
    def send(self, time: float, size: float = 0) -> tuple[float, ...]: ...
    dropped: Final[int]
    corrupted: Final[int]
    clipped: Final[int]

TURN: float

def sine_cosine(turns: float) -> tuple[float, float]: ...
def exponential(x: float) -> float: ...
def logarithm(x: float) -> float: ...
def normal_probability(z: float) -> float: ...

#: Position, velocity, teleports, rotation, spin.
_State = tuple[Vector, Vector, int, Rotation | None, Vector | None]

HALF: Final = "half"
HALF_DELTA: Final = "half-delta"

class SenderKernel:
    def __init__(
        self, position_step: float | str, velocity_step: float, repeats: int | None
    ) -> None: ...
    def packets(self, states: Iterable[tuple[str, _State]], sent: float) -> list[Packet]: ...
