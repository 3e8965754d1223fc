from typing import Any, NamedTuple

#: Anything with the buffer protocol; numpy's arrays have it, which type checkers cannot see yet.
Buffer = Any

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
def overshoot(
    shown: Buffer, counted: Buffer, truth: Buffer, segments: Buffer, late: int, reach: int
) -> tuple[float, float]: ...
