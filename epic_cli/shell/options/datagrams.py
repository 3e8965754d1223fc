"""Options for reading datagrams, of a running game and of captures."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from epic_cli.recordings.addresses import Address, parse_sender
from epic_cli.recordings.datagrams.record_layout import RecordLayout
from epic_cli.shell.declared import Decorator, OptionGroup, Parsed
from epic_cli.shell.errors import raise_wrong_usage
from epic_cli.shell.options.common import read_option

if TYPE_CHECKING:
    from epic_cli.recordings.datagrams.ingest import IngestSpec

SENDER = Parsed("HOST[:PORT]", parse_sender, Address)
RECORD_LAYOUT = Parsed("FIELDS", RecordLayout, RecordLayout)

#: As ``records: RecordLayout | None``.
record_layout_option = click.option(
    "--layout",
    "records",
    type=RECORD_LAYOUT,
    help="Fields of binary datagrams, such as 'time:f32 x:f32'. A record, such as"
    " 'time:u32*0.001 x:f32 y:f32 z:f32 id:u16', or a header and records: 'magic:u32=0xCAFE"
    " time:u32/60 n:u8 {id:u16 x:f32 y:f32}[n]'; little-endian unless"
    " it begins with big.",
)


def make_sender_option(help_text: str) -> Decorator:
    """Return the option ``--from``, as ``sender: Address | None``."""
    return click.option("--from", "sender", type=SENDER, help=help_text)


def _make_ingest_spec(**options: Any) -> IngestSpec:
    from epic_cli.recordings.datagrams.ingest import IngestSpec  # help does without it

    with raise_wrong_usage("--"):
        return IngestSpec(**options)


#: As ``ingest: IngestSpec``.
ingest_options = OptionGroup(
    "ingest",
    _make_ingest_spec,
    read_option,
    record_layout_option,
    click.option("--entity", help="Take only the packets of this entity."),
)  # fmt: skip
