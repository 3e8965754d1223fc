from typing import NamedTuple

from epic_cli.engine.packets import PacketBlock

class Survey(NamedTuple):
    packets: int
    step: float
    latest: float
    whole: bool
    moves: int
    velocities: int
    zeros: int
    stretches: int
    ratio: float
    cosines: tuple[float, ...]

def survey(block: PacketBlock) -> Survey: ...
