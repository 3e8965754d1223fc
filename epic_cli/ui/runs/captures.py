"""Captures of a network that a command reads."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING

from epic_cli.engine.packets import PacketBlock
from epic_cli.formats import Unreadable
from epic_cli.formats.entries.capture import CAPTURE_MAGICS
from epic_cli.formats.recordings import unwrapped
from epic_cli.ui.io.errors import CannotAccess, WrongUsage
from epic_cli.ui.io.sources import open_source, source_name

if TYPE_CHECKING:
    from epic_cli.live.captures.reading import Capture
    from epic_cli.ui.options.convert import ConvertOptions


def begins_as_capture(file: str) -> bool | None:
    """Whether a file is one; None: a stream, unknown before it is read."""
    if file == "-":
        return None
    with open_source(file) as descriptor:
        try:
            os.lseek(descriptor, 0, os.SEEK_CUR)
            return unwrapped(descriptor).peek(4)[:4] in CAPTURE_MAGICS
        except OSError:
            return None
        except Unreadable:
            return False


def capture_blocks(file: str, capture: Capture) -> Iterator[PacketBlock]:
    """The packets of a capture, also of a compressed one; raises ``CannotAccess``."""
    with open_source(file) as descriptor:
        try:
            yield from capture.blocks(unwrapped(descriptor).read)
        except OSError as error:
            raise CannotAccess("read", source_name(file), error) from error
        except Unreadable as error:
            raise WrongUsage(f"{source_name(file)}: {error}") from error


#: No more can be told apart in one.
_MOST_ENTITIES = 100_000


def make_capture(options: ConvertOptions) -> Capture:
    """What reads a capture as the options say; raises ``WrongUsage``, ``CannotAccess``."""
    from epic_cli.live.captures.reading import Capture  # only captures wait for them
    from epic_cli.live.ingest import Ingest
    from epic_cli.ui.options.live import ingest_spec

    of = options.capture
    given = options.input_format, of.records, options.given, of.sender, None, _MOST_ENTITIES
    return Capture(Ingest(ingest_spec(*given)), of.port)


def lacks(capture: Capture) -> bool:
    """Whether something of it that may have been packets is not among them."""
    from epic_cli.live.captures.carried import Lost

    return bool(capture.broken or capture.refused or capture.lost.keys() - {Lost.OTHER})
