"""A capture of a network that ``epic convert`` reads."""

from __future__ import annotations

import math

from epic_cli.formats import packet_formats
from epic_cli.live.addresses import Address, resolve
from epic_cli.live.captures.carried import Lost
from epic_cli.live.captures.reading import Capture
from epic_cli.live.decoding import Decoder
from epic_cli.live.intake import Intake
from epic_cli.live.packet_filter import PacketFilter
from epic_cli.ui.io.errors import CannotAccess, WrongUsage
from epic_cli.ui.options.convert import ConvertOptions

#: No more can be told apart in one.
_MOST_ENTITIES = 100_000


def make_capture(options: ConvertOptions) -> Capture:
    """What reads a capture as the options say; raises ``WrongUsage``, ``CannotAccess``."""
    records, given = options.capture.records, options.given
    packet_format = next((one for one in packet_formats() if one == options.input_format), None)
    if options.input_format != "auto" and packet_format is None:
        raise WrongUsage(f"a datagram is text, csv or jsonl, and not {options.input_format}")
    if records is not None and (given or packet_format):
        raise WrongUsage("--layout says all of binary records: leave the other options away")
    sender = options.capture.sender
    origin = None if given is None else given.time_origin
    gate = PacketFilter(_MOST_ENTITIES, math.nan if origin == "first" else origin)
    decoder = Decoder(packet_format, given, records)
    return Capture(Intake(decoder, gate, sender and _place(sender)), options.capture.port)


def _place(sender: Address) -> tuple[object, ...]:
    try:
        return resolve(sender).place
    except OSError as error:
        raise CannotAccess("take packets from", str(sender), error) from error


def lacks(capture: Capture) -> bool:
    """Whether something of it that may have been packets is not among them."""
    return bool(capture.broken or capture.refused or capture.lost.keys() - {Lost.OTHER})
