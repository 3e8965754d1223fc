"""Make the pictures of the documents: screens of real sessions, pages in Chromium, and videos.

    python tests/pictures/make_pictures.py

A session runs in a pty, and its screen becomes an SVG; a video is what the command writes.
"""

from __future__ import annotations

import base64
import io
import re
import shlex
import sys
import tempfile
from contextlib import chdir
from itertools import groupby
from pathlib import Path
from subprocess import PIPE, Popen, run

from PIL import Image
from pyte.screens import Char
from rich.console import Console
from rich.style import Style
from rich.text import Text

import epic_cli

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent))

from support.browser import Page, open_page  # noqa: E402 - the line above finds it
from support.places import ROOT  # noqa: E402
from support.terminals import Terminal  # noqa: E402

TURN = (
    "0,0,0 / 10,0,0 / 0",
    "1,0,0 / 10,0,0 / 0.1",
    "2,0,0 / 10,0,0 / 0.2",
    "3,0,0 / 0,10,0 / 0.3",
    "3,1,0 / 0,10,0 / 0.4",
    "3,2,0 / 0,10,0 / 0.5",
    "3,3,0 / 0,10,0 / 0.6",
)

#: pyte's names of the sixteen colours, as rich has them.
_COLOURS = {"brown": "yellow", "default": "default"}


def type_packets(terminal: Terminal) -> None:
    """Type the first packets and a strategy with a setting; the prompt then proposes a packet."""
    for line in TURN[:3]:
        terminal.type(line)
    terminal.type(":strategy epic+calc_ahead=0.1")


def compare(terminal: Terminal) -> None:
    """Type the packets of a turn, compare two strategies and plot them."""
    for line in TURN:
        terminal.type(line)
    terminal.type(":compare -s epic,epic+calc_ahead=0.1")
    terminal.type(":plot xy")


#: What writes each GIF, here; ``FILE`` is the GIF.
FILMS = {
    "loop": "compare sample_inputs/jitter.txt -s epic,snapshot,dead-reckoning"
    " --video FILE,speed=0.5,size=800x400",
    "tanks": "replay sample_inputs/two_tanks.csv -s snapshot -f csv -o rows.csv"
    " --video FILE,size=640x320,fps=15",
    "worst": "compare sample_inputs/hop.jsonl -s epic,snapshot,lerp"
    " --video FILE,worst=on,speed=0.5,size=640x320,fps=15",
    "turning": "compare sample_inputs/spin_turn.csv -s epic,snapshot"
    " --video FILE,speed=0.5,size=640x320,fps=15",
    "tuned": "compare sample_inputs/jitter.txt -s"
    " snapshot,snapshot+interpolation_time=0.14"
    " --video FILE,size=640x320,fps=15",
    "drawn": "diagnose sample_inputs/jitter.txt --drawn drawn.csv --video FILE,size=640x320,fps=15",
    "network": "compare packets.txt --truth truth.csv -s lerp,snapshot,dead-reckoning"
    " --video FILE,size=640x320,fps=15",
}

#: What is there before.
MADE_FIRST = (
    "replay sample_inputs/jitter.txt -s mirror+send_interval=0.05 --tick 1/60 -f csv -o drawn.csv",
    "simulate --movement zigzag,duration=6 --send 10hz --latency 100ms --jitter 30ms"
    """ --link 'gemodel="4%,40%"' --seed 4 --truth-out truth.csv -o packets.txt""",
)

#: What a notebook shows, and how.
NOTEBOOK = ["epic", "snapshot", "dead-reckoning", "hermite"]
NOTEBOOK_STYLE = (
    "body{font:14px system-ui;margin:16px;overflow:hidden;background:#fff;color:#222}"
    "td,th{padding:3px 8px;text-align:right}tr:nth-child(even){background:#f4f5f8}"
    "table{border-collapse:collapse}"
)

PICTURES = {"session": (type_packets, 96, 27), "compare": (compare, 96, 50)}

#: What commands say on a terminal, and how large that is.
SCREENS = {
    "chart": ("compare sample_inputs/hop.jsonl -s epic,snapshot --chart above", 100, 38),
    "jobs": ("compare recordings --by recording -s epic,snapshot --workers 2"
             " --journal results.jsonl", 104, 30),
}  # fmt: skip

#: What is in the folder of recordings.
RECORDINGS = "simulate --movement {},duration=20 --latency 80ms --jitter {}ms --seed 1"


def colour(name: str) -> str:
    """Return a color of the screen by rich's name for it."""
    if name.startswith("bright"):
        return "bright_" + _COLOURS.get(name[6:], name[6:])
    return _COLOURS.get(name, name)


def style_of(cell: Char) -> Style:
    """Return the style of a character on the screen."""
    return Style(
        color=colour(cell.fg),
        bgcolor=None if cell.bg == "default" else colour(cell.bg),
        bold=cell.bold,
        underline=cell.underscore,
        reverse=cell.reverse,
    )


def svg(terminal: Terminal, title: str) -> str:
    """Return the screen as an SVG."""
    screen = terminal.screen
    console = Console(record=True, width=screen.columns, file=io.StringIO(), force_terminal=True)
    for y in range(screen.lines):
        text = Text(no_wrap=True, end="\n")
        for style, cells in groupby(
            (screen.buffer[y][x] for x in range(screen.columns)), key=style_of
        ):
            text.append("".join(cell.data for cell in cells), style)
        console.print(text)
    # a colon would make names of classes that no style sheet can select
    picture = console.export_svg(title=title, unique_id=re.sub(r"\W+", "-", title))
    return "\n".join(line.rstrip() for line in picture.splitlines()) + "\n"


def make_films() -> None:
    """Write the GIFs."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "sample_inputs").symlink_to(ROOT / "sample_inputs")
        films = [line.replace("FILE", str(HERE / f"{name}.gif")) for name, line in FILMS.items()]
        for line in (*MADE_FIRST, *films):
            run([sys.executable, "-m", "epic_cli", *shlex.split(line)], cwd=folder, check=True)


def make_screens() -> None:
    """Write the pictures of commands' output."""
    with tempfile.TemporaryDirectory() as folder, chdir(folder):
        Path("sample_inputs").symlink_to(ROOT / "sample_inputs")
        Path("recordings").mkdir()
        epic = [sys.executable, "-m", "epic_cli"]
        for path, jitter in (("circle", 5), ("strafe", 20), ("zigzag", 40)):
            made = [*RECORDINGS.format(path, jitter).split(), "-o", f"recordings/{path}.txt"]
            run([*epic, *made], check=True)
        compare = "compare sample_inputs/hop.jsonl -s epic,snapshot,lerp --svg"
        run([*epic, *compare.split(), str(HERE / "errors.svg")], check=True)
        for name, (line, columns, lines) in SCREENS.items():
            with Terminal(Path(), line.split(), columns=columns, lines=lines) as terminal:
                terminal.status()
                (HERE / f"{name}.svg").write_text(svg(terminal, f"epic {line}"))


def capture(page: Page, address: str, name: str, *, high: int = 860, seconds: float = 10) -> None:
    """Capture a page after some seconds, in 256 colors."""
    page.size(1440, high)
    page.open(address)
    page.run(f"new Promise(done => setTimeout(done, {1000 * seconds}))")
    png = page.call("Page.captureScreenshot", format="png")["data"]
    picture = Image.open(io.BytesIO(base64.b64decode(png))).convert("RGB")
    picture.quantize(256).save(HERE / f"{name}.png", optimize=True)


def make_pages() -> None:
    """Write the pictures of the lab, and of a page of ``epic check``."""
    epic = [sys.executable, "-m", "epic_cli"]
    with tempfile.TemporaryDirectory() as folder, open_page(Path(folder) / "browser") as page:
        with Popen([*epic, "lab", "--no-open"], stderr=PIPE) as lab:
            assert lab.stderr is not None
            found = re.search(rb"http:\S+", lab.stderr.readline())
            assert found
            capture(page, found[0].decode(), "lab")  # hundreds of networks are judged
            lab.terminate()
        turn = str(ROOT / "sample_inputs/turn.txt")
        run([*epic, "check", "--new", "case", turn, "-s", "dead-reckoning", "--latency", "80ms"],
            cwd=folder, check=True)  # fmt: skip
        case = Path(folder, "case", "case.toml")
        case.write_text(case.read_text().replace("0.08", "0.13"))
        run([*epic, "check", "case", "--html", "page.html"], cwd=folder, check=False)
        capture(page, Path(folder, "page.html").as_uri(), "check")
        compared = epic_cli.compare(ROOT / "sample_inputs/jitter.txt", NOTEBOOK)
        notebook = Path(folder, "notebook.html")
        notebook.write_text(f"<style>{NOTEBOOK_STYLE}</style>{compared._repr_html_()}")
        capture(page, notebook.as_uri(), "notebook", high=360, seconds=1)


def main() -> None:
    """Write all pictures."""
    make_films()
    make_pages()
    make_screens()
    for name, (play, columns, lines) in PICTURES.items():
        with (
            tempfile.TemporaryDirectory() as state,
            Terminal(Path(state), columns=columns, lines=lines) as terminal,
        ):
            terminal.prompt()
            play(terminal)
            terminal.pump(0.3)
            (HERE / f"{name}.svg").write_text(svg(terminal, f"epic: {name}"))


if __name__ == "__main__":
    main()
