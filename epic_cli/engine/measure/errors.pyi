from typing import Any

#: Anything with the buffer protocol; numpy's arrays have it, which type checkers cannot see yet.
Buffer = Any

def accumulate_errors(
    shown: Buffer,
    status: Buffer,
    truth: Buffer,
    segments: Buffer,
    step_limit: Buffer,
    jump_factor: float,
    jump_floor: float,
    errors: Buffer,
    counted: Buffer,
) -> tuple[int, int, float, int, int, float, float]: ...
