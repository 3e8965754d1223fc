"""``epic play``: Play a small networked game: prediction, move replay, rewind."""

from __future__ import annotations

import contextlib
import shlex
import sys
from collections.abc import Iterator
from dataclasses import fields

import click

from epic_cli.formats.entries.text import text_writer
from epic_cli.formats.wording import left_out_words
from epic_cli.network.truth_file import TruthWriter
from epic_cli.play.match.recorder import Recorder, Unrecordable
from epic_cli.play.report.headless import COLUMNS, HeadlessRun
from epic_cli.ui.io.color import use_color
from epic_cli.ui.io.console import has_terminal, screen_columns
from epic_cli.ui.io.errors import ExitStatus, WrongUsage, printable, say
from epic_cli.ui.io.output import Sink, open_sink
from epic_cli.ui.options.common import quiet_option, seed_option
from epic_cli.ui.options.groups import given_options
from epic_cli.ui.options.link import two_way_link_options
from epic_cli.ui.options.link_values import TwoWayLink
from epic_cli.ui.options.match import (
    PlayerOptions,
    TechniqueOptions,
    begin_with,
    make_settings,
    over_network,
    read_script,
    with_changes,
)
from epic_cli.ui.options.play import (
    OutputOptions,
    duration_option,
    output_options,
    player_options,
    script_option,
    technique_options,
)
from epic_cli.ui.options.trace import TraceOptions, check_network, two_way_trace_options
from epic_cli.views.link_summary import clipping
from epic_cli.views.pictures.play_svg import caption, picture
from epic_cli.views.play_rows import Writer, summary

EXAMPLES = """\b
Examples:
  epic play
  epic play --latency 150ms --loss 2% --record game.script
  epic play --script game.script --show events
  epic play --bot B=chaser --local predicted --show summary
  epic play --latency 200ms --duration 60 --show shots --format csv
  epic play --preset lte --up rate=256kbit --at 5s loss=30% --at 7s loss=4%
"""

#: Whoever gives one of these wants no screen.
_HEADLESS_OPTIONS = {one.name for one in fields(OutputOptions)} | {"script", "duration"}
_HEADLESS_OPTIONS -= {"headless", "client", "record"}


@click.command(epilog=EXAMPLES)
@technique_options
@script_option
@player_options
@duration_option
@seed_option("The same seed and script give the same bytes.")
@two_way_link_options("50ms", "One way.")
@two_way_trace_options
@output_options
@quiet_option
@click.pass_context
def play(
    context: click.Context,
    /,
    techniques: TechniqueOptions,
    script: str | None,
    players: PlayerOptions,
    duration: float,
    seed: int,
    link: TwoWayLink,
    trace: TraceOptions,
    output: OutputOptions,
    quiet: bool,
) -> int:
    """Play a small networked game: prediction, move replay, rewind, over a bad network.

    On a terminal it fills the screen: your client, the server and the other player's client side
    by side; steer with the arrow keys, the other keys are shown below. Otherwise, or with --script
    or an option of the output, it runs as fast as it can and writes a row for every frame, screen
    and player: what is drawn, and how far that is from the server's truth.

    Each client predicts its own player, sends its three newest moves in every packet, and
    reconciles with the server; the others are drawn by any strategy. A shot carries what the
    shooter saw, and the server rewinds to that.

    Exit status: 0 done, 1 a line of --script or --trace was refused, 2 wrong usage, 3 a file
    cannot be read or written, 4 a strategy of somebody's own failed, 130 interrupted.
    """
    given = given_options(context)
    check_network(trace, given)
    if script == "-" and trace.trace == "-":
        raise WrongUsage("--script and --trace cannot both be standard input")
    output.check(duration)
    settings = make_settings(techniques, players, link, seed)
    parsed = read_script(script, settings, given)
    settings = begin_with(settings, parsed, given)
    parsed = parsed._replace(beginning=())
    output.check_names([player.name for player in settings.players])
    settings = over_network(settings, trace, link)
    parsed = with_changes(parsed, link, settings)
    if parsed.duration is not None and "duration" not in given:
        duration = parsed.duration
    if _wants_screen(output.headless, script, given):
        from epic_cli.ui.screens.play.game import play_on_terminal

        color = use_color("auto", sys.stdout)
        with _open_optional(output.record) as sink, _unrecordable():
            ended = play_on_terminal(settings, parsed, output.client, color, bool(output.record))
            _keep(ended.recorder, sink)
        if not quiet:
            say(summary(ended.figures, ended.bumps))
        return ExitStatus.INTERRUPTED if ended.interrupted else ExitStatus.DONE
    try:
        run = HeadlessRun(settings, parsed, output.selection())
    except ValueError as error:
        raise WrongUsage(str(error)) from error
    with_summary = not quiet and output.show != "summary"
    try:
        _write(run, output, duration)
    except KeyboardInterrupt:
        _summarise(run, with_summary)
        raise
    _summarise(run, with_summary)
    return ExitStatus.DONE


def _summarise(run: HeadlessRun, wanted: bool) -> None:
    if wanted:
        say(summary(run.figures(), run.statistics.bumps) + clipping(run.match.clipped))


def _write(run: HeadlessRun, options: OutputOptions, duration: float) -> None:
    """Writes everything that the options ask for, while the match runs."""
    with _unrecordable():
        recorder = run.record() if options.record else None
    packet, truth = text_writer(), TruthWriter()
    with contextlib.ExitStack() as stack:
        rows = stack.enter_context(open_sink(options.output))
        packets = stack.enter_context(_open_optional(options.packets))
        truths = stack.enter_context(_open_optional(options.truth_out))
        record = stack.enter_context(_open_optional(options.record))
        drawing = stack.enter_context(_open_optional(options.picture))
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
            if truths:
                truths.write(b"".join(map(truth.rows, chunk.truth)))
        _keep(recorder, record)
        if drawing:
            drawing.write(picture(run.scenes(), caption(run.match)).encode())


def _keep(recorder: Recorder | None, sink: Sink | None) -> None:
    """Writes a recorded match below the command that it was recorded with."""
    if recorder is None or sink is None:
        return
    command = printable(shlex.join(["epic", *sys.argv[1:]]).encode("utf-8", "surrogateescape"))
    with _unrecordable():
        sink.write(f"# {command}\n{recorder.script()}".encode())


@contextlib.contextmanager
def _unrecordable() -> Iterator[None]:
    try:
        yield
    except Unrecordable as error:
        raise WrongUsage(f"--record: {error}") from error


def _wants_screen(headless: bool | None, script: str | None, given: set[str]) -> bool:
    if headless is not None:
        if not headless and (script or not has_terminal()):
            raise WrongUsage("--screen needs a terminal, and no --script")
        return not headless
    return has_terminal() and not _HEADLESS_OPTIONS & given


@contextlib.contextmanager
def _open_optional(path: str | None) -> Iterator[Sink | None]:
    if path is None:
        yield None
        return
    with open_sink(path) as sink:
        yield sink
