"""What the commands with datagrams share: addresses, and binary records."""

from __future__ import annotations

import click

from epic_cli.live.addresses import Address, parse_address, parse_sender
from epic_cli.live.binary import RecordLayout
from epic_cli.ui.io.parameters import Parsed
from epic_cli.ui.io.quantities import Duration
from epic_cli.ui.options.groups import Decorator

ADDRESS = Parsed("[HOST:]PORT", parse_address, Address)
SENDER = Parsed("HOST[:PORT]", parse_sender, Address)
RECORD_LAYOUT = Parsed("FIELDS", RecordLayout, RecordLayout)

#: As ``records: RecordLayout | None``.
record_layout_option = click.option(
    "--layout",
    "records",
    type=RECORD_LAYOUT,
    help="Datagrams are binary records of these fields: 'time:u32*0.001 x:f32 y:f32 z:f32"
    " id:u16'; little-endian unless it begins with big.",
)


def endless_option(meaning: str) -> Decorator:
    """``--duration`` of what goes on until it is stopped."""
    return click.option(
        "--duration", type=Duration(0, 1e9), default="endless", show_default=True, help=meaning
    )


def sender_option(help_text: str) -> Decorator:
    """``--from``, as ``sender: Address | None``."""
    return click.option("--from", "sender", type=SENDER, help=help_text)
