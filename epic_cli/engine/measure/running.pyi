import numpy as np
from numpy.typing import NDArray

def running_medians(
    values: NDArray[np.float64], width: int, stride: int, medians: NDArray[np.float64]
) -> None: ...
