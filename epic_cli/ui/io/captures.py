"""Captures of a network that a command reads."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING

from epic_cli.engine.packets import PacketBlock
from epic_cli.formats.entries.capture import CAPTURE_MAGICS
from epic_cli.ui.io.errors import CannotAccess
from epic_cli.ui.io.sources import open_source, source_name

if TYPE_CHECKING:
    from epic_cli.live.captures.reading import Capture

#: Bytes that are read at once.
_BUFFER = 1 << 20


def begins_as_capture(file: str) -> bool | None:
    """Whether a file is one; None: it is a stream, and nobody can say before it is read."""
    if file == "-":
        return None
    with open_source(file) as descriptor:
        try:
            return os.pread(descriptor, 4, 0) in CAPTURE_MAGICS
        except OSError:
            return None


def capture_blocks(file: str, capture: Capture) -> Iterator[PacketBlock]:
    """The packets of a capture; raises ``CannotAccess``."""
    with open_source(file) as descriptor:
        try:
            with os.fdopen(descriptor, "rb", _BUFFER, closefd=False) as stream:
                yield from capture.blocks(stream.read)
        except OSError as error:
            raise CannotAccess("read", source_name(file), error) from error
