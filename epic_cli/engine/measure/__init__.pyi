from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from epic_cli.engine.contract import Vector
from epic_cli.engine.packets import PacketBlock

#: Anything with the buffer protocol; numpy's arrays have it, which type checkers cannot see yet.
Buffer = Any

class Path:
    def __init__(
        self, times: Buffer, positions: Buffer, velocities: Buffer, segments: Buffer
    ) -> None: ...
    def __len__(self) -> int: ...
    def read(
        self, times: Buffer, shift: float, positions: Buffer, velocities: Buffer, segments: Buffer
    ) -> None: ...
    def sum_squared_distances(
        self,
        times: Buffer,
        positions: Buffer,
        segments: Buffer,
        shifts: Buffer,
        totals: Buffer,
        counts: Buffer,
    ) -> None: ...
    def fill_shifted_distances(
        self, times: Buffer, positions: Buffer, segments: Buffer, shift: float, squares: Buffer
    ) -> None: ...

def restore_path(times: bytes, motions: bytes, segments: bytes) -> Path: ...

class TurnPath:
    def __init__(self, times: Buffer, turns: Buffer, segments: Buffer) -> None: ...
    def read(self, times: Buffer, rotations: Buffer) -> None: ...
    def sum_squared_angles(
        self,
        path: Path,
        times: Buffer,
        rotations: Buffer,
        segments: Buffer,
        shifts: Buffer,
        totals: Buffer,
        counts: Buffer,
    ) -> None: ...

def interpolate_motion(
    start: tuple[Vector, Vector], end: tuple[Vector, Vector], duration: float, u: float
) -> tuple[Vector, Vector]: ...

class Errors(NamedTuple):
    rows: int
    broken: int
    excess: float
    jumps: int
    beyond: float
    fours: int
    third: float
    truth_third: float

def accumulate_errors(
    shown: Buffer,
    status: Buffer,
    truth: Buffer,
    segments: Buffer,
    step_limit: Buffer,
    jump_factor: float,
    jump_floor: float,
    low: Buffer,
    high: Buffer,
    errors: Buffer,
    counted: Buffer,
    statuses: Buffer,
) -> Errors: ...
def measure_overshoot(
    shown: Buffer, counted: Buffer, truth: Buffer, segments: Buffer, late: int, reach: int
) -> tuple[float, float]: ...
def measure_turn_overshoot(
    shown: Buffer,
    counted: Buffer,
    truth: Buffer,
    segments: Buffer,
    late: int,
    reach: int,
    resting: float,
    found: Buffer,
) -> None: ...
def sum_rows(
    places: Buffer,
    counted: Buffer,
    shown: Buffer,
    truth: Buffer,
    errors: Buffer,
    speed_squares: Buffer,
    step_limit: Buffer,
    jump_factor: float,
    jump_floor: float,
    sums: Buffer,
) -> None: ...
def sum_values(places: Buffer, counted: Buffer, values: Buffer, sums: Buffer) -> None: ...
def sum_squares_along(
    shown: Buffer,
    positions: Buffer,
    velocities: Buffer,
    segments: Buffer,
    expected: Buffer,
    resting: float,
    along: Buffer,
    across: Buffer,
) -> tuple[float, int]: ...
def count_backward_steps(
    shown: Buffer,
    counted: Buffer,
    velocities: Buffer,
    segments: Buffer,
    reach: int,
    slowest: float,
    shortest: float,
) -> int: ...
def sort_distances(values: Buffer) -> None: ...
def compute_running_medians(
    values: NDArray[np.float64], width: int, stride: int, medians: NDArray[np.float64]
) -> None: ...

class Survey(NamedTuple):
    packets: int
    step: float
    latest: float
    whole: bool
    moves: int
    velocities: int
    zeros: int
    judged_runs: int
    ratio: float
    cosines: tuple[float, ...]

def survey(block: PacketBlock) -> Survey: ...
def fill_packet_table(block: PacketBlock, numbers: NDArray[np.float64]) -> None: ...
def fill_rotations(block: PacketBlock, numbers: NDArray[np.float64]) -> None: ...
def clean_numbers(
    numbers: NDArray[np.float64], least: float, limit: float, steps: float = ...
) -> None: ...
