"""The options of commands with a page in the browser: where it is served, and whether it opens."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from dataclasses import dataclass

import click

from epic_cli.ui.io.errors import WrongUsage, say
from epic_cli.ui.options.groups import OptionGroup


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
