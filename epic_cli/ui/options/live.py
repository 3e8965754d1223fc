"""What the commands with datagrams share: addresses, and binary records."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from epic_cli.formats import packet_formats
from epic_cli.live.addresses import Address, parse_address, parse_endpoint, parse_sender, resolve
from epic_cli.live.binary import RecordLayout
from epic_cli.live.consumer import MAX_ENTITIES
from epic_cli.ui.io.errors import ExitStatus, WrongUsage, accessing
from epic_cli.ui.io.parameters import Parsed
from epic_cli.ui.options.common import DURATION, layout_options
from epic_cli.ui.options.declared import option
from epic_cli.ui.options.groups import Decorator, OptionGroup

if TYPE_CHECKING:
    from epic_cli.formats.layout import Layout
    from epic_cli.live.ingest import IngestSpec

ADDRESS = Parsed("[HOST:]PORT", parse_address, Address)
ENDPOINT = Parsed("[tcp://|ws://][HOST:]PORT", parse_endpoint, Address)
SENDER = Parsed("HOST[:PORT]", parse_sender, Address)
RECORD_LAYOUT = Parsed("FIELDS", RecordLayout, RecordLayout)

#: As ``records: RecordLayout | None``.
record_layout_option = click.option(
    "--layout",
    "records",
    type=RECORD_LAYOUT,
    help="Datagrams are binary records: 'time:u32*0.001 x:f32 y:f32 z:f32 id:u16', or a header and"
    " records: 'magic:u32=0xCAFE time:u32/60 n:u8 {id:u16 x:f32 y:f32}[n]'; little-endian unless"
    " it begins with big.",
)


def endless_option(meaning: str) -> Decorator:
    """``--duration`` of what goes on until it is stopped."""
    return option(DURATION, default="endless", help=meaning)


def ended(stopped: int | None, otherwise: ExitStatus = ExitStatus.DONE) -> ExitStatus:
    """The exit status of what ran until the signal ``stopped`` it (None: to its end)."""
    if stopped is None:
        return otherwise
    from epic_cli.live.event_loop import end_by  # a conversion has options of captures, and no loop

    end_by(stopped)
    return ExitStatus.INTERRUPTED


def sender_option(help_text: str) -> Decorator:
    """``--from``, as ``sender: Address | None``."""
    return click.option("--from", "sender", type=SENDER, help=help_text)


def ingest_spec(
    input_format: str,
    records: RecordLayout | None,
    given: Layout | None,
    sender: Address | None,
    entity: str | None,
    max_entities: int,
) -> IngestSpec:
    """What these options say of datagrams; raises ``WrongUsage`` and ``CannotAccess``."""
    from epic_cli.live.ingest import IngestSpec  # few recordings are captures

    packet_format = next((one for one in packet_formats() if one == input_format), None)
    if input_format != "auto" and packet_format is None:
        raise WrongUsage(f"a datagram is text, csv or jsonl, not {input_format}")
    place = None
    if sender is not None:
        with accessing("take packets from", sender):
            place = resolve(sender).place
    try:
        return IngestSpec(packet_format, given, records, place, entity, max_entities=max_entities)
    except ValueError as error:
        raise WrongUsage(f"--{error}") from error


#: As ``ingest: IngestSpec``.
ingest_options = OptionGroup(
    "ingest",
    ingest_spec,
    click.option("--input-format", type=click.Choice(("auto", *packet_formats())), default="auto",
                 show_default=True, help="The packet format; auto detects it in each datagram."),
    record_layout_option,
    layout_options,
    sender_option("Take packets from this sender only."),
    click.option("--entity", help="Take only the packets of this entity."),
    click.option("--max-entities", type=click.IntRange(1, 100_000), default=MAX_ENTITIES,
                 show_default=True, help="Refuse packets of more entities than this."),
)  # fmt: skip
