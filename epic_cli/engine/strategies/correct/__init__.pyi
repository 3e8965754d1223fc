from enum import IntEnum

class Fading(IntEnum):
    SNAP = 0
    LINEAR = 1
    EXPONENTIAL = 2
    FRAMES = 3
    OVERSHOOTING = 4
    SPRING = 5
    STEPS = 6

class VisualOffset:
    time: float
    steps: int
    share: float
    def __init__(
        self,
        fading: Fading = ...,
        time: float = 0.1,
        smooth_above: float = 0.0,
        snap_above: float = ...,
    ) -> None: ...
    def set(self, fading: Fading, time: float, smooth_above: float, snap_above: float) -> None: ...
    def add(self, x: float, y: float, z: float, now: float) -> None: ...
    def left(self, now: float) -> tuple[float, float, float]: ...

def fading_share(seconds: float, period: float, ratio: float = 0.5) -> float: ...
