"""``epic send``: Send a recording or a movement, over UDP, as a game does."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import click

from epic_cli.engine.packets import PacketBlock
from epic_cli.formats.writing import Fault, Unwritable
from epic_cli.live.addresses import Address, resolve
from epic_cli.live.outgoing import Moment, datagrams, moments_of_movement, moments_of_recording
from epic_cli.live.precise import precise_loop
from epic_cli.live.sending import Sending
from epic_cli.live.sent_log import SentLog
from epic_cli.live.stopping import end_by, run_until_stopped
from epic_cli.network import PATHS, LinkConditions, PathMovement, fates
from epic_cli.ui.io.errors import CannotAccess, ExitStatus, WrongUsage, say
from epic_cli.ui.io.messages import Messages, Reporter
from epic_cli.ui.io.output import open_sink
from epic_cli.ui.io.sources import blocks, source_name
from epic_cli.ui.options.common import quiet_option, seed_option
from epic_cli.ui.options.groups import given_options
from epic_cli.ui.options.link import link_options
from epic_cli.ui.options.live import ADDRESS
from epic_cli.ui.options.send import (
    PATH_OPTIONS,
    RECORDING_OPTIONS,
    PaceOptions,
    SourceOptions,
    pace_options,
    source_options,
)
from epic_cli.ui.options.trace import (
    TraceOptions,
    check_network,
    make_channel,
    one_way_trace_options,
)
from epic_cli.views.link_summary import summary

#: What packet text cannot hold and the other formats can.
_TEXT_FAULTS = (Fault.BLANK, Fault.NO_VELOCITY)

EXAMPLES = """\b
Examples:
  epic send --speed 4 sample_inputs/turn.txt 9870
  epic send --path circle --send-rate 30 --duration 1 localhost:9870
  epic send --path strafe --duration 1 --latency 80ms --loss 2% 9870
  epic send --path circle --duration 1 --trace network.csv 9870
  epic send walk.csv --format jsonl --speed 2 --truth-out truth.csv 9870
"""


@click.command(epilog=EXAMPLES)
@click.argument("recording", nargs=-1, type=click.Path(), metavar="[RECORDING]")
@click.argument("target", type=ADDRESS, metavar="[HOST:]PORT")
@source_options
@pace_options
@link_options("0", "The mean delay.")
@one_way_trace_options
@seed_option("The same seed gives the same losses and delays.")
@quiet_option
@click.pass_context
def send(
    context: click.Context,
    /,
    recording: tuple[str, ...],
    target: Address,
    source: SourceOptions,
    pace: PaceOptions,
    link: LinkConditions,
    trace: TraceOptions,
    seed: int,
    quiet: bool,
) -> int:
    """Send a recording or a movement as UDP datagrams, at its own pace.

    Each packet leaves when it arrived in the recording or, where that is not known, was sent; then
    the link does to it what its options say. Without a HOST packets go to 127.0.0.1.

    Exit status: 0 done, 1 some lines were refused, 2 wrong usage, 3 a file cannot be read or
    written, or there is no way to the address, 130 interrupted.
    """
    given = given_options(context)
    _check(recording, source, given)
    check_network(trace, given)
    if trace.trace == "-" and recording == ("-",):
        raise WrongUsage("the recording and --trace cannot both be standard input")
    file = recording[0] if recording else None
    reporter = Reporter(source_name(file or ""), Messages(quiet))
    try:
        place = resolve(target)
    except OSError as error:
        raise CannotAccess("send to", str(target), error) from error
    channel = make_channel(link, trace, seed)
    with contextlib.ExitStack() as stack:
        if file is not None:
            stack.enter_context(reporter)
        log = None
        if pace.truth_out:
            log = SentLog(stack.enter_context(open_sink(pace.truth_out)).write)
        stack.enter_context(_unwritable())
        sending = Sending(place, channel, pace.speed, log)
        moments = _recorded(file, source, reporter) if file is not None else _moving(source, seed)
        try:
            job = sending.run(datagrams(moments, pace.packet_format, pace.separate))
            stopped = run_until_stopped(job, precise_loop)
        except OSError as error:
            raise CannotAccess("send to", str(target), error) from error
    if not quiet and sending.statistics.sent:
        say(summary(sending.statistics, fates(channel)) + _nobody(target, sending.refused))
    if stopped is not None:
        end_by(stopped)
        return ExitStatus.INTERRUPTED
    return ExitStatus.LINES_REFUSED if reporter.refused else ExitStatus.DONE


def _check(recording: tuple[str, ...], source: SourceOptions, given: set[str]) -> None:
    """Refuses options that would have no effect beside the others."""
    if len(recording) > 1:
        raise WrongUsage("one recording is sent at a time")
    if bool(recording) == bool(source.path):
        raise WrongUsage("give either a RECORDING or a --path, then the address [HOST:]PORT")
    reason = "needs --path" if recording else "needs a RECORDING"
    for name in PATH_OPTIONS if recording else RECORDING_OPTIONS:
        if name in given:
            raise WrongUsage(f"--{name.replace('_', '-')} {reason}")


def _moving(source: SourceOptions, seed: int) -> Iterator[Moment]:
    path = PATHS[str(source.path)](source.path_speed, source.size, seed)
    movement = PathMovement(path, source.entity or "")
    return moments_of_movement(movement, source.send_rate, source.seconds)


def _recorded(file: str, source: SourceOptions, reporter: Reporter) -> Iterator[Moment]:
    left_out = 0

    def leave_out() -> None:
        nonlocal left_out
        left_out += 1

    def packets() -> Iterator[PacketBlock]:
        for block in blocks(file, source.input_format, source.given, reporter):
            reporter.refuse(block.refusals)
            if source.entity is not None:
                block.keep_entity(source.entity)
            yield block

    yield from moments_of_recording(packets(), source.seconds, leave_out)
    if left_out:
        reporter.say(f"epic: {left_out:,} packets without a finite time were not sent\n")


def _nobody(target: Address, refused: int) -> str:
    return f"nobody listened at {target} for some of them\n" if refused else ""


@contextlib.contextmanager
def _unwritable() -> Iterator[None]:
    try:
        yield
    except Unwritable as error:
        hint = "; choose --format csv or jsonl" if error.fault in _TEXT_FAULTS else ""
        raise WrongUsage(f"{error}{hint}") from error
