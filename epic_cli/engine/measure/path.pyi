from typing import Any

from epic_cli.engine.contract import Vector

#: Anything with the buffer protocol; numpy's arrays have it, which type checkers cannot see yet.
Buffer = Any

class Path:
    def __init__(
        self, times: Buffer, positions: Buffer, velocities: Buffer, segments: Buffer
    ) -> None: ...
    def __len__(self) -> int: ...
    def read(
        self,
        times: Buffer,
        shift: float,
        positions: Buffer,
        velocities: Buffer,
        segments: Buffer,
    ) -> None: ...
    def squared_distances(
        self,
        times: Buffer,
        positions: Buffer,
        segments: Buffer,
        shifts: Buffer,
        totals: Buffer,
        counts: Buffer,
    ) -> None: ...
    def backward_steps(
        self,
        times: Buffer,
        positions: Buffer,
        segments: Buffer,
        shift: float,
        reach: int,
        slowest: float,
        shortest: float,
    ) -> int: ...

def path_of(times: bytes, motions: bytes, segments: bytes) -> Path: ...
def interpolated(
    start: tuple[Vector, Vector], end: tuple[Vector, Vector], duration: float, u: float
) -> tuple[Vector, Vector]: ...
