"""What commands of running games share: addresses, binary records, a page in the browser."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from epic_cli.live.recording import (
    DatagramRecording,
    PacketRecording,
    Recording,
    Rotation,
    parse_rotation,
)
from epic_cli.recordings.addresses import (
    Address,
    parse_address,
    parse_endpoint,
)
from epic_cli.shell.declared import Decorator, OptionGroup, OutputFile, Parsed, option, value
from epic_cli.shell.errors import ExitStatus, WrongUsage, accessing, say, wrong_usage
from epic_cli.shell.options.common import DURATION

if TYPE_CHECKING:
    from epic_cli.live.receiving import Reception
    from epic_cli.recordings.datagrams.ingest import IngestSpec

ADDRESS = Parsed("[HOST:]PORT", parse_address, Address)
ENDPOINT = Parsed("[tcp://|ws://][HOST:]PORT", parse_endpoint, Address)


def endless_option(meaning: str) -> Decorator:
    """``--duration`` of what goes on until it is stopped."""
    return option(DURATION, default="endless", help=meaning)


def ended(stopped: int | None, otherwise: ExitStatus = ExitStatus.DONE) -> ExitStatus:
    """The exit status of what ran until the signal ``stopped`` it (None: to its end)."""
    if stopped is None:
        return otherwise
    from epic_cli.show.stop_signals import (
        end_by,  # a conversion has options of captures, and no loop
    )

    end_by(stopped)
    return ExitStatus.INTERRUPTED


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
