"""A capture of a network that ``epic convert`` reads."""

from __future__ import annotations

from epic_cli.live.captures.carried import Lost
from epic_cli.live.captures.reading import Capture
from epic_cli.live.ingest import Ingest
from epic_cli.ui.options.convert import ConvertOptions
from epic_cli.ui.options.live import ingest_spec

#: No more can be told apart in one.
_MOST_ENTITIES = 100_000


def make_capture(options: ConvertOptions) -> Capture:
    """What reads a capture as the options say; raises ``WrongUsage``, ``CannotAccess``."""
    of = options.capture
    given = options.input_format, of.records, options.given, of.sender, None, _MOST_ENTITIES
    return Capture(Ingest(ingest_spec(*given)), of.port)


def lacks(capture: Capture) -> bool:
    """Whether something of it that may have been packets is not among them."""
    return bool(capture.broken or capture.refused or capture.lost.keys() - {Lost.OTHER})
