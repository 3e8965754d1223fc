"""What commands of running games share: addresses, binary records, a page in the browser."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from epic_cli.live.consumer import MAX_ENTITIES
from epic_cli.live.recording import PacketRecording, Recording, Rotation, parse_rotation
from epic_cli.recordings import packet_formats
from epic_cli.recordings.addresses import (
    Address,
    parse_address,
    parse_endpoint,
    parse_sender,
    resolve,
)
from epic_cli.recordings.datagrams.binary import RecordLayout
from epic_cli.shell.errors import ExitStatus, WrongUsage, accessing, say, wrong_usage
from epic_cli.shell.options.common import DURATION, layout_options
from epic_cli.shell.options.declared import option
from epic_cli.shell.options.groups import Decorator, OptionGroup, value
from epic_cli.shell.parameters import OutputFile, Parsed

if TYPE_CHECKING:
    from epic_cli.live.receiving import Reception
    from epic_cli.recordings.datagrams.ingest import IngestSpec
    from epic_cli.recordings.layout import Layout

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
    from epic_cli.recordings.datagrams.ingest import IngestSpec  # few recordings are captures

    packet_format = next((one for one in packet_formats() if one == input_format), None)
    if input_format != "auto" and packet_format is None:
        raise WrongUsage(f"a datagram is text, csv or jsonl, not {input_format}")
    place = None
    if sender is not None:
        with accessing("take packets from", sender):
            place = resolve(sender).place
    with wrong_usage("--"):
        return IngestSpec(packet_format, given, records, place, entity, max_entities=max_entities)


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


@dataclass(frozen=True)
class Reached:
    """How what sends reaches an address."""

    interface: str | None = value(
        "Join a multicast group on this interface: its address or, for IPv6, its name.",
        metavar="ADDRESS|NAME")  # fmt: skip
    prefix: str | None = value(
        "Over tcp://, the length before each message of --layout.  [default: u32, of either byte"
        " order]", type=click.Choice(("u16", "big-u16", "u32")))  # fmt: skip
    origins: tuple[str, ...] = value(
        "Over ws://, let web pages from here connect, such as https://game.example, null (a file)"
        " or *; without it, pages on this machine. May be repeated.", "--origin",
        multiple=True)  # fmt: skip

    def receive(self, address: Address, ingest: IngestSpec) -> Reception:
        """Listens there; raises ``WrongUsage`` and ``CannotAccess``."""
        from epic_cli.live.listener import receive_at

        with wrong_usage(), accessing("listen on", address):
            return receive_at(address, ingest, self.interface, self.prefix, self.origins)


@dataclass(frozen=True)
class Recorded:
    """Where packets and datagrams are recorded."""

    record: str | None = value(
        "Record each packet with its arrival before it is drawn: CSV or JSON lines by the"
        " suffix, else packet text. Existing data is not overwritten.", type=OutputFile(),
        metavar="FILE")  # fmt: skip
    raw: str | None = value(
        "Record each datagram as it was received, with its arrival and its sender: a capture"
        " (pcap) for epic convert and Wireshark.", type=OutputFile(), metavar="FILE")  # fmt: skip
    rotation: Rotation | None = value(
        "Start a new file of --record and --raw after this size (100MB) or time (10min);"
        " files are numbered.", "--rotate",
        type=Parsed("SIZE|TIME", parse_rotation, Rotation))  # fmt: skip

    def open(self, receiving: Reception, stack: contextlib.ExitStack) -> list[Recording]:
        """Those of packets and of datagrams, as far as they are wanted."""
        from epic_cli.recordings.captures.writing import DatagramRecording

        found: list[Recording] = []
        if self.rotation is not None and self.record is None and self.raw is None:
            raise WrongUsage("--rotate needs --record or --raw")
        if self.record is not None:
            with accessing("record in", self.record, "record in"):
                found.append(PacketRecording(self.record, self.rotation))
            stack.callback(found[-1].close)
        if self.raw is not None:
            place = receiving.socket.getsockname()
            with accessing("record in", self.raw, "record in"):
                found.append(DatagramRecording(self.raw, place, self.rotation))
            stack.callback(found[-1].close)
        return found


@dataclass(frozen=True)
class Page:
    """At which ``port`` the page is (0: a free one), and whether the browser ``opens`` it."""

    port: int
    opens: bool

    def ready(self, address: str) -> None:
        """Says where the page is, and opens it."""
        say(f"{address}\nCtrl-C ends it.\n")
        if self.opens:
            threading.Thread(target=_show, args=(address,), daemon=True).start()


def _show(address: str) -> None:
    """Opens the browser, but for one that would fill this terminal."""
    import webbrowser

    with contextlib.suppress(webbrowser.Error):
        browser = webbrowser.get()
        if type(browser) is not webbrowser.GenericBrowser:
            browser.open(address)


def page_options(port: str = "--port") -> OptionGroup:
    """As ``page: Page``; ``port`` is the option for it."""
    return OptionGroup(
        "page",
        Page,
        click.option(
            port,
            "port",
            type=click.IntRange(0, 65535),
            default=0,
            help="Serve the page here, on 127.0.0.1 alone.  [default: a free port]",
        ),
        click.option(
            "--open/--no-open", "opens", default=True, help="Open the page in the browser."
        ),
    )


@contextlib.contextmanager
def lab_library() -> Iterator[None]:
    """Says what to install where what is imported within lacks it."""
    try:
        yield
    except ModuleNotFoundError as error:
        if error.name != "aiohttp":
            raise
        raise WrongUsage("epic lab needs a library: pip install 'epic-cli[lab]'") from error
