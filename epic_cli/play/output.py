"""Where a match of ``epic play`` goes: rows, packets, the truth, a picture, a record."""

from __future__ import annotations

import contextlib
import math
import shlex
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

import click

from epic_cli.network.truth_file import TruthWriter
from epic_cli.play.match.recorder import Recorder, Unrecordable
from epic_cli.play.report.headless import COLUMNS, HeadlessRun, Selection, Show
from epic_cli.play.report.rows import FORMATS, Writer
from epic_cli.play.report.svg import caption, picture
from epic_cli.recordings.entries.text import text_writer
from epic_cli.recordings.wording import left_out_words
from epic_cli.shell.console import Sink, open_sink, screen_columns
from epic_cli.shell.declared import OutputFile, shared, value
from epic_cli.shell.errors import WrongUsage, quoted, say, wrong_usage
from epic_cli.shell.options.common import format_option, output_option

_file = partial(value, type=OutputFile(), metavar="FILE")

#: A match that no script can hold is wrong usage of ``--record``.
unrecordable = partial(wrong_usage, "--record: ", Unrecordable)


@dataclass(frozen=True)
class OutputOptions:
    """What of the match goes where; ``headless`` None: whatever fits the other options."""

    headless: bool | None = value(
        "Write rows, or play on the terminal.  [default: play if there is a terminal and no"
        " option asks for output]",
        "--headless/--screen",
        default=None,
    )
    show: Show = value(
        "What goes to standard output.",
        type=click.Choice(list(COLUMNS)),
        default="rows",
        show_default=True,
    )
    row_format: str = shared(
        format_option(
            "row_format",
            FORMATS,
            "table",
            "The output format; epic needs one --view and one --player.",
        )
    )
    output: str | None = shared(output_option("Write the output to a file."))
    view: str | None = value("Only this screen: server, A, B ...", metavar="NAME")
    player: str | None = value("Only this player's rows or events.", metavar="NAME")
    packets: str | None = _file(
        "Write the states of the others that --client received, for 'epic replay'."
    )
    own: str | None = _file(
        "Write what --client predicted of its own player, and what the server said, for"
        " -s correction:all."
    )
    truth_out: str | None = _file(
        "Write where everybody but --client was on the server, as CSV for 'epic compare'."
    )
    picture: str | None = _file("Draw the three screens at the end as an SVG picture.")
    client: str = value(
        "The client whose frames give the rows their times; on the terminal, who you are.",
        metavar="NAME",
        default="A",
        show_default=True,
    )
    record: str | None = _file(
        "Record all input, options and changes as a script that reproduces the match; not with"
        " --trace."
    )

    def selection(self) -> Selection:
        """What is wanted of the match."""
        return Selection(self.show, self.client, self.view, self.player)

    def check(self, duration: float) -> None:
        """Refuses what does not fit together."""
        if self.row_format == "epic" and (self.show != "rows" or not self.view or not self.player):
            raise WrongUsage(
                "the epic format has no columns for view and player: it needs --show rows,"
                " one --view and one --player",
                "show",
                "view",
                "player",
            )
        if self.view and self.show != "rows":
            raise WrongUsage("--view is for --show rows", "view", "show")
        if math.isinf(duration) and self.show == "summary":
            raise WrongUsage("a summary needs an end: set a --duration", "duration")
        files = [self.packets, self.own, self.truth_out, self.picture, self.record]
        given = [path for path in (self.output, *files) if path]
        if len(set(given)) < len(given):
            raise WrongUsage("two outputs cannot share a file")
        if "-" in files:
            raise WrongUsage("only --output can go to standard output", "output")

    def check_names(self, names: list[str]) -> None:
        """Refuses players who do not take part."""
        for flag, name, allowed in (
            ("client", self.client, names),
            ("player", self.player, names),
            ("view", self.view, [*names, "server"]),
        ):
            if name and name not in allowed:
                raise WrongUsage(f"--{flag} {name!r}: choose from {', '.join(allowed)}", flag)


def write_match(run: HeadlessRun, options: OutputOptions, duration: float) -> None:
    """Writes everything that the options ask for, while the match runs."""
    with unrecordable():
        recorder = Recorder(run.match) if options.record else None
    packet, truth = text_writer(), TruthWriter(turns=True)
    with contextlib.ExitStack() as stack:
        rows = stack.enter_context(open_sink(options.output))
        packets = stack.enter_context(open_optional(options.packets))
        own = stack.enter_context(open_optional(options.own))
        truths = stack.enter_context(open_optional(options.truth_out))
        record = stack.enter_context(open_optional(options.record))
        drawing = stack.enter_context(open_optional(options.picture))
        room = screen_columns(rows) if rows.isatty() else None
        line = Writer(options.row_format, COLUMNS[options.show], room)
        rows.write(line.header())
        if room and line.left_out:
            how = "a wider window or another --format"
            say(left_out_words(line.left_out, room, how) + "\n")
        if truths:
            truths.write(truth.header)
        for chunk in run.run(duration):
            rows.write(b"".join(map(line.line, chunk.lines)))
            if packets:
                packets.write(b"".join(map(packet.row, chunk.packets)))
            if own:
                own.write(b"".join(map(packet.row, chunk.own)))
            if truths:
                truths.write(b"".join(map(truth.rows, chunk.truth)))
        keep_record(recorder, record)
        if drawing:
            drawing.write(picture(run.scenes(), caption(run.match)).encode())


def keep_record(recorder: Recorder | None, sink: Sink | None) -> None:
    """Writes a recorded match below the command that it was recorded with."""
    if recorder is None or sink is None:
        return
    command = quoted(shlex.join(["epic", *sys.argv[1:]]))
    with unrecordable():
        sink.write(f"# {command}\n{recorder.script()}".encode())


@contextlib.contextmanager
def open_optional(path: str | None) -> Iterator[Sink | None]:
    """A file to be written; None: there is none."""
    if path is None:
        yield None
        return
    with open_sink(path) as sink:
        yield sink
