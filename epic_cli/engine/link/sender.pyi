from collections.abc import Iterable

from epic_cli.engine.contract import Packet, Vector

class SenderKernel:
    def __init__(self, position_step: float, velocity_step: float, repeats: int | None) -> None: ...
    def packets(
        self, states: Iterable[tuple[str, tuple[Vector, Vector, int]]], sent: float
    ) -> list[Packet]: ...
