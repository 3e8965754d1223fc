"""Start child processes safely; all of this program's children start here.

Python takes modules from the folder that it starts in, unless it has a safe path: a ``signal.py``
beside recordings that somebody else has packed would run. Starting a process holds a lock, since
all threads share the environment that the process inherits.
"""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

_SAFE = "PYTHONSAFEPATH"

_lock = threading.Lock()


def start_program(
    command: Sequence[str], variables: Mapping[str, str] | None = None, **streams: Any
) -> subprocess.Popen[bytes]:
    """Start another program, with ``variables`` added to its environment; raises ``OSError``."""
    with _lock:
        environment = {**os.environ, **(variables or {})}
    return subprocess.Popen(command, env=environment, **streams)  # noqa: S603 - callers' own words


def start_python(*words: str, **streams: Any) -> subprocess.Popen[bytes]:
    """Start this Python, with a safe path and the modules that this process has."""
    # an empty or relative entry is the folder that it starts in
    modules = os.pathsep.join(filter(os.path.isabs, sys.path))
    return start_program([sys.executable, "-P", *words], {"PYTHONPATH": modules}, **streams)


@contextmanager
def set_safe_path() -> Iterator[None]:
    """Give processes that ``multiprocessing`` starts in this context a safe path, by a variable."""
    with _lock:
        before = os.environ.get(_SAFE)
        os.environ[_SAFE] = "1"
        try:
            yield
        finally:
            if before is None:
                del os.environ[_SAFE]
            else:
                os.environ[_SAFE] = before
