"""The output of a replay: rows to stdout or to a file, messages to stderr.

It does without click, as the run itself.
"""

from __future__ import annotations

import contextlib
import sys
from typing import TYPE_CHECKING

from epic_cli.engine.replay.playback import DEFAULT_TICK
from epic_cli.engine.text import RowWriter
from epic_cli.jobs.replay.run import Rows, SecondEntity, run
from epic_cli.recordings.opening import find_source
from epic_cli.shell.console import ColorChoice, measure_screen_columns, open_sink, use_color
from epic_cli.shell.errors import ExitStatus, WrongUsage, quote_text, write_message
from epic_cli.shell.messages import Messages, Reporter

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from epic_cli.jobs.replay.spec import ReplaySpec
    from epic_cli.shell.profiles import Saving


def write_rows(
    spec: ReplaySpec,
    files: Sequence[str] = (),
    output: str | None = None,
    messages: Messages = Messages(),  # noqa: B008 - no one changes it
    color: ColorChoice = "auto",
    saving: Saving | None = None,
) -> ExitStatus:
    """Write the rows of files or, without files, of standard input.

    Raises what the program turns into a message and a status.
    """
    files = files or ("-",)
    sources = [find_source(file) for file in files]
    spec.check()  # what is wrong with it shows before any row
    column = spec.make_column(len(files) > 1)
    if spec.timing.pacing == "frame" and spec.timing.tick == DEFAULT_TICK and not messages.quiet:
        write_message(
            "epic: with --pacing frame a tick is a frame: games have 60 a second (--tick 60hz)\n"
        )
    in_rows = output in (None, "-")

    def make_log(name: str) -> Reporter:
        return Reporter(
            name, messages, use_color(color, sys.stderr), saving=saving, strict=spec.strict
        )

    def handle_interrupt(name: str, entities: int) -> None:
        if not messages.quiet:
            write_message(
                f"epic: {quote_text(name)}: interrupted: the rows are those of the"
                f" {entities:,} entities read so far; the last entity may be incomplete\n"
            )

    with contextlib.ExitStack() as ending:
        progress = () if in_rows else _show_progress(files, ending)
        sink = ending.enter_context(open_sink(output))
        width = measure_screen_columns(sink) if sink.isatty() else None
        colored = use_color(color, sink)
        names = [source.name for source in sources]

        def begin(turns: bool) -> RowWriter:
            form = spec.row_format
            writer = RowWriter(form, colored, width, file_column=column, files=names, turns=turns)
            if writer.left_out and width and not messages.quiet:
                from epic_cli.recordings.wording import describe_left_out  # most screens have room

                how = "a wider window or another --format"
                write_message(describe_left_out(writer.left_out, width, how) + "\n")
            return writer

        told = handle_interrupt if in_rows else None
        try:
            refused = run(spec, sources, Rows(sink, begin), make_log, progress, told)
        except SecondEntity as error:
            hint = "choose one with --entity, or another --format"
            raise WrongUsage(f"{error}; {hint}", "entity", "format") from error
    return ExitStatus.LINES_REFUSED if refused else ExitStatus.DONE


def _show_progress(
    files: Sequence[str], ending: contextlib.ExitStack
) -> Sequence[Callable[[int], None]]:
    """Show a progress bar over all files until ``ending`` closes."""
    from epic_cli.shell.progress import Progress, report_each

    return report_each(ending.enter_context(Progress("replaying", in_bytes=True)), files)
