from __future__ import annotations

from enum import IntEnum
from typing import Any, ClassVar, Final

from epic_cli.engine.contract import Packet, Sample
from epic_cli.engine.declaration import Declaration
from epic_cli.engine.parameters import Value

Buffer = Any

class Acceleration(IntEnum):
    NONE = 0
    ESTIMATED = 1

class AgeSource(IntEnum):
    AUTO = 0
    STAMP = 1
    ARRIVAL = 2
    ABSOLUTE = 3

class LastInterval(IntEnum):
    STEPS = -4
    STAMPS = -3
    FRAMES = -2
    ARRIVALS = -1

class Easing(IntEnum):
    IN_QUAD = 0
    OUT_QUAD = 1
    IN_OUT_QUAD = 2
    IN_CUBIC = 3
    OUT_CUBIC = 4
    IN_OUT_CUBIC = 5
    IN_QUART = 6
    OUT_QUART = 7
    IN_OUT_QUART = 8
    IN_QUINT = 9
    OUT_QUINT = 10
    IN_OUT_QUINT = 11
    IN_SINE = 12
    OUT_SINE = 13
    IN_OUT_SINE = 14
    IN_EXPO = 15
    OUT_EXPO = 16
    IN_OUT_EXPO = 17
    IN_CIRC = 18
    OUT_CIRC = 19
    IN_OUT_CIRC = 20
    IN_BACK = 21
    OUT_BACK = 22
    IN_OUT_BACK = 23
    SMOOTHSTEP = 24
    SMOOTHERSTEP = 25
    CSS_EASE = 26
    CSS_EASE_IN = 27
    CSS_EASE_OUT = 28
    CSS_EASE_IN_OUT = 29

class ClockRule(IntEnum):
    AGREE = 0
    FIRST = 1
    MIN = 2
    MEAN = 3
    MEDIAN = 4
    MAX = 5
    NEWEST = 6
    PLL = 7

class Strategy:
    declaration: ClassVar[Declaration]
    def __init__(self, **settings: float | str) -> None: ...
    settings: Final[dict[str, Value]]
    def create_equal(self) -> Strategy: ...
    estimates_velocity: Final[bool]
    def reset(self) -> None: ...
    listens: Final[bool]
    def update(self, packet: Packet, now: float) -> bool: ...
    def hear(self, time: float, now: float, previous: float | None = None) -> None: ...
    def read(self, at: float) -> Sample: ...

def is_native(made: object) -> bool: ...

class PythonStrategy(Strategy):
    def __init__(self, wrapped: object, entity: str = "") -> None: ...
    wrapped: Final[object]

def adapt_strategy(made: object) -> Strategy: ...

class MovingAverage:
    def __init__(self, weight: float = 0.1) -> None: ...
    weight: Final[float]
    value: Final[float]
    count: Final[int]
    def add(self, sample: float) -> float: ...
    def clear(self) -> None: ...

class WeightedTimedAverage:
    def __init__(self, duration: float = 1.0, now: float = 0.0) -> None: ...
    duration: Final[float]
    value: Final[float]
    def start(self, value: float, now: float) -> None: ...
    def add(self, sample: float, now: float) -> float: ...

class PhaseLockedLoop:
    def __init__(
        self, step: float = 0.1, decay: float = 0.9, gain: float = 0.01, limit: float = 0.0001
    ) -> None: ...
    drift: Final[float]
    integrator: Final[float]
    expected: Final[float]
    started: Final[float]
    ticks: Final[int]
    def start(self, now: float) -> None: ...
    def server_update(self, now: float) -> float: ...
    def time(self, now: float) -> float: ...
    def since_start(self, now: float) -> float: ...
    def server_time(self, delta: float) -> float: ...

class ClockOffset:
    def __init__(
        self,
        rule: ClockRule,
        duration: float = 2,
        resync: float = 0,
        gain: float = 0.01,
        decay: float = 0.9,
        limit: float = 0.0001,
        share: float = 0,
        most: int = 0,
    ) -> None: ...
    value: Final[float]
    count: Final[int]
    def add(self, offset: float, now: float) -> bool: ...
    def clear(self) -> None: ...

class SendInterval:
    def __init__(
        self, value: float = ..., first_guess: float = 0.05, duration: float = 0
    ) -> None: ...
    value: Final[float]
    count: Final[int]
    def add(self, timestamp: float) -> None: ...
    def clear(self) -> None: ...

class Deviation:
    def __init__(self, duration: float) -> None: ...
    def add(self, sample: float, now: float) -> None: ...
    def value(self) -> float: ...
    def clear(self) -> None: ...

class RecentValues:
    def __init__(self, duration: float = 2, most: int = 0) -> None: ...
    def add(self, value: float, now: float) -> None: ...
    def spread(self) -> float: ...
    def largest(self) -> float: ...
    def deviation(self) -> float: ...
    def clear(self) -> None: ...

def compute_eases(curve: Easing, u: Buffer, eased: Buffer) -> None: ...
