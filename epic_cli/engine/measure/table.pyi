import numpy as np
from numpy.typing import NDArray

from epic_cli.engine.packets import PacketBlock

def table(block: PacketBlock, numbers: NDArray[np.float64]) -> None: ...
def tidy(numbers: NDArray[np.float64], least: float, limit: float, steps: float = ...) -> None: ...
