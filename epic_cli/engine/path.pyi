from collections.abc import Buffer

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
    def squared_distance(
        self, times: Buffer, positions: Buffer, segments: Buffer, shift: float
    ) -> tuple[float, int]: ...
