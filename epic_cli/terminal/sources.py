"""Recordings that a command reads: files, or standard input."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator

from epic_cli.engine.packets import PacketBlock
from epic_cli.formats.recordings import InputFormat, read
from epic_cli.terminal.errors import CannotAccess, WrongUsage

#: A recording that is held in memory has at most so many packets (some 160 bytes each).
MOST_PACKETS = 2_000_000


def source_name(file: str) -> str:
    """What messages call it."""
    return "<stdin>" if file == "-" else file


@contextlib.contextmanager
def open_source(file: str) -> Iterator[int]:
    """A descriptor to read; ``-`` is standard input. Raises ``CannotAccess``."""
    if file == "-":
        if sys.stdin is None:
            raise CannotAccess("read", source_name(file), OSError("it is closed"))
        yield sys.stdin.fileno()
        return
    try:
        descriptor = os.open(file, os.O_RDONLY)
    except OSError as error:
        raise CannotAccess("read", file, error) from error
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def load(file: str, input_format: InputFormat, color: bool) -> tuple[dict[str, PacketBlock], bool]:
    """The packets of a whole recording by entity, and whether lines of it were refused.

    Refused lines are reported on stderr. Raises ``CannotAccess``, or ``WrongUsage`` for a
    recording that is too long to hold.
    """
    from epic_cli.engine.replay.trace import separate
    from epic_cli.terminal.report import report

    entities: dict[str, PacketBlock] = {}
    refused, count = False, 0
    with open_source(file) as descriptor:
        try:
            for block in read(descriptor, input_format):
                if block.refusals:
                    refused = True
                    report(block.refusals, source_name(file), color)
                count += separate(block, entities)
                if count > MOST_PACKETS:
                    raise WrongUsage(
                        f"{source_name(file)}: more than {MOST_PACKETS:,} packets, which is more"
                        " than is held in memory; give a part of the recording"
                    )
        except OSError as error:
            raise CannotAccess("read", source_name(file), error) from error
    return entities, refused
