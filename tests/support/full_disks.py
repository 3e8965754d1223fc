"""A disk that is full once a file has some size."""

from __future__ import annotations

import contextlib
import os
import resource
from collections.abc import Iterator
from unittest.mock import patch


@contextlib.contextmanager
def files_of(most: int) -> Iterator[None]:
    """Limit files to this many bytes within the block, also for programs started there."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (most, before[1]))
    try:
        # Python 3.11 keeps the bytecode of a module that it could write in part only
        with patch.dict(os.environ, PYTHONDONTWRITEBYTECODE="1"):
            yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
