"""A temporary file for arrays that are needed again only at the end of a comparison."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar, cast

import numpy as np

from epic_cli.recordings.spooled import TemporaryStore

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from epic_cli.metrics.arrays import Floats

#: Bytes that are kept in memory: most comparisons write no file.
IN_MEMORY = 8_000_000

Kept = TypeVar("Kept", "Floats", "Floats | None")


class ArraySpool:
    """A store of arrays, in memory up to ``most`` bytes, then in a temporary file."""

    def __init__(self, most: int = IN_MEMORY) -> None:
        self._left, self._store = most, TemporaryStore()

    def keep(self, array: Kept) -> Kept:
        """Store an array; return it, or a ``SpooledArray`` of its values if memory has no room."""
        if array is None or not isinstance(array, np.ndarray):
            return array
        if self._left >= array.nbytes:
            self._left -= array.nbytes
            return array
        self._left = 0
        place = self._store.write(np.ascontiguousarray(array, float).data)
        return cast("Kept", SpooledArray(self._store, place, array.shape))


class SpooledArray:
    """An array of floats in the file of an ``ArraySpool``; numpy reads it at each use."""

    def __init__(self, store: TemporaryStore, place: int, shape: tuple[int, ...]) -> None:
        self._store, self._place, self.shape = store, place, shape

    def __len__(self) -> int:
        return self.shape[0]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        found = np.empty(self.shape, dtype or float)
        content = self._store.read(self._place, 8 * found.size)
        found[:] = np.frombuffer(content).reshape(self.shape)
        return found

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the array itself, since the file belongs to this process."""
        return np.array, (np.asarray(self),)
