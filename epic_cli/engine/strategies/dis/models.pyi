from enum import IntEnum

from epic_cli.engine.contract import Vector

class DisModel(IntEnum):
    STATIC = 1
    FPW = 2
    RPW = 3
    RVW = 4
    FVW = 5
    FPB = 6
    RPB = 7
    RVB = 8
    FVB = 9

class DisState:
    def __init__(
        self,
        model: DisModel | int,
        position: Vector,
        velocity: Vector,
        acceleration: Vector = (0, 0, 0),
        angular_velocity: Vector = (0, 0, 0),
    ) -> None: ...
    def extrapolated(self, seconds: float) -> tuple[Vector, Vector]: ...
