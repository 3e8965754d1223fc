"""The spec of a conversion: the packets to take, the changes to them, and the new format."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from epic_cli.recordings.read_spec import INFERRED, ReadSpec
from epic_cli.recordings.writing import Changes

if TYPE_CHECKING:
    from epic_cli.recordings.addresses import Address
    from epic_cli.recordings.datagrams.record_layout import RecordLayout


class CaptureSpec(NamedTuple):
    """The datagrams of a network capture to take, and the layout of their packets."""

    port: int | None = None
    records: RecordLayout | None = None
    sender: Address | None = None


class ConvertSpec(NamedTuple):
    """The conversion of recordings; with ``strict``, the first refused line ends the conversion."""

    packet_format: str
    changes: Changes = Changes()
    read: ReadSpec = INFERRED
    capture: CaptureSpec = CaptureSpec()
    strict: bool = False
