"""Rows for a reader who may be slow, or gone: whoever writes them does not wait."""

from __future__ import annotations

import os
import select
import stat
import threading
from collections import deque

from epic_cli.ui.io.errors import CannotAccess
from epic_cli.ui.io.output import Sink

#: Bytes that are kept for a reader who is behind.
_MOST_BYTES = 16 << 20

#: Seconds in which a reader takes something, or is waited for no longer.
_PATIENCE = 1.0


class DroppingWriter:
    """Takes rows for a sink, to which another thread writes them where that could take long.

    ``left_out`` counts the rows that there was no room for, since those before them have not been
    read. What cannot be written is raised by a later ``write``, or by ``end``.
    """

    def __init__(self, sink: Sink, most: int = _MOST_BYTES) -> None:
        self._sink = sink
        self._most = most
        self._descriptor = _slow(sink)
        self._pieces: deque[tuple[bytes, int]] = deque()
        self._bytes = 0
        self._taken = 0
        self._error: OSError | None = None
        self._changed = threading.Condition()
        self.left_out = 0
        if self._descriptor is not None:
            sink.flush()
            # a daemon: nobody waits for a pipe that nobody reads
            threading.Thread(target=self._pass_on, daemon=True).start()

    def write(self, data: bytes, rows: int) -> None:
        """Takes whole rows; all of them are left out where there is no room."""
        if self._descriptor is None:
            self._sink.write(data)
            self._sink.flush()
            return
        with self._changed:
            self._raise()
            if self._bytes + len(data) > self._most:
                self.left_out += rows
            elif data:
                self._pieces.append((data, rows))
                self._bytes += len(data)
                self._changed.notify_all()

    def end(self) -> None:
        """Waits while what is left is being read; what is not is left out."""
        with self._changed:
            taken = -1
            while self._pieces and self._error is None and self._taken > taken:
                taken = self._taken
                self._changed.wait(_PATIENCE)
            self._raise()
            self.left_out += sum(rows for _, rows in self._pieces)

    def _raise(self) -> None:
        if isinstance(self._error, BrokenPipeError):
            raise self._error
        if self._error is not None:
            raise CannotAccess("write to", self._sink.name, self._error)

    def _pass_on(self) -> None:
        assert self._descriptor is not None
        try:
            while True:
                with self._changed:
                    self._changed.wait_for(lambda: self._pieces)
                    data = self._pieces[0][0]
                while data:
                    try:
                        count = os.write(self._descriptor, data)
                    except BlockingIOError:  # whoever shares the pipe has made it so
                        select.select([], [self._descriptor], [])
                        continue
                    data = data[count:]
                    with self._changed:
                        self._taken += count
                        self._bytes -= count
                        if not data:
                            self._pieces.popleft()
                        self._changed.notify_all()
        except OSError as error:
            with self._changed:
                self._error = error
                self._changed.notify_all()


def _slow(sink: Sink) -> int | None:
    """Its descriptor if writing to it may have to wait for a reader, else None."""
    descriptor = sink.descriptor
    if descriptor is None:
        return None
    mode = os.fstat(descriptor).st_mode
    waits = stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode) or os.isatty(descriptor)
    return descriptor if waits else None
