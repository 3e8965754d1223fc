"""``epic lab``: experiments in the browser."""

from __future__ import annotations

import contextlib
import math
import threading

import click

from epic_cli.engine.parameter_base import SettingError
from epic_cli.live.event_loop import run_until_stopped
from epic_cli.ui.io.errors import WrongUsage, accessing, say
from epic_cli.ui.io.parameters import InputFile
from epic_cli.ui.options.help import command
from epic_cli.ui.options.live import ended, endless_option

EXAMPLES = """\b
Examples:
  epic lab
  epic lab sample_inputs/jitter.txt
  epic lab --no-open --port 8080
  epic lab --experiment 'path=circle&latency=80ms&jitter=30ms&s=epic&s=mirror'
"""


@command(EXAMPLES)
@click.argument("recording", required=False, type=InputFile())
@click.option(
    "--experiment",
    default="",
    metavar="ADDRESS",
    help="Begin with the experiment of this address of a lab, or what follows its question mark.",
)
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=0,
    help="Listen here, on 127.0.0.1 alone.  [default: a free port]",
)
@click.option("--open/--no-open", "opens", default=True, help="Open the page in the browser.")
@endless_option("How long to serve the page.")
def lab(recording: str | None, experiment: str, port: int, opens: bool, duration: float) -> int:
    """Move sliders in the browser, and see what each strategy draws, and how good it is.

    The page is served to this machine alone, works offline and ends with Ctrl-C. RECORDING is
    offered as it arrived, and as a movement to be sent over other networks; without it, there are
    computed paths and what the mouse draws. The address of the page holds the experiment, and
    "copy the command" gives the line of "epic compare" that makes the same figures.

    Over SSH: forward the port (ssh -L 8080:127.0.0.1:8080) and open the printed address.

    Exit status: 0 the time is over, 2 wrong usage, 3 a file or port is not accessible, 130
    interrupted.
    """
    try:
        from epic_cli.ui.lab.server import ServeSpec, serve
    except ModuleNotFoundError as error:
        if error.name != "aiohttp":
            raise
        raise WrongUsage("epic lab needs a library: pip install 'epic-cli[lab]'") from error
    import asyncio

    from epic_cli.ui.lab.bench import Bench, Impossible
    from epic_cli.ui.lab.spec import RECORDING, LabSpec, read_query

    if recording == "-":
        raise WrongUsage("a recording that is read again and again must be a file")
    first = experiment or (f"path={RECORDING}" if recording else "")
    try:
        query = read_query(first).query() if first else ""
        if recording:
            with accessing("read", recording), open(recording, "rb"):  # noqa: PTH123
                pass
            with contextlib.closing(Bench(recording)) as bench:
                bench.picture(bench.read(LabSpec(moves=RECORDING)))
    except (SettingError, Impossible) as error:
        raise WrongUsage(str(error)) from error

    def ready(address: str) -> None:
        say(f"{address}\nCtrl-C ends it.\n")
        if opens:
            threading.Thread(target=_show, args=(address,), daemon=True).start()

    async def job() -> None:
        served = serve(ServeSpec(recording or "", port, query), ready)
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(served, None if duration == math.inf else duration)

    with accessing("listen on", f"127.0.0.1:{port}"):
        stopped = run_until_stopped(job())
    return ended(stopped)


def _show(address: str) -> None:
    """Opens the browser, but for one that would fill this terminal."""
    import webbrowser

    with contextlib.suppress(webbrowser.Error):
        browser = webbrowser.get()
        if type(browser) is not webbrowser.GenericBrowser:
            browser.open(address)
