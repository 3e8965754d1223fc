"""``epic play``: a networked game over a bad network, headless or on the terminal."""

from __future__ import annotations

import contextlib
import math
import shlex
import sys
from collections.abc import Iterator
from typing import Any

import click
from click.core import ParameterSource

from epic_cli.cli.options.play import LINK_OPTIONS, TRACE_OPTIONS, play_options
from epic_cli.cli.play_run import HeadlessRun, Wanted
from epic_cli.cli.play_settings import begin_with, make_settings, script_of
from epic_cli.play.script import Script
from epic_cli.play.settings import MatchSettings
from epic_cli.terminal.color import use_color
from epic_cli.terminal.errors import ExitStatus, WrongUsage
from epic_cli.terminal.output import Sink, open_sink

EXAMPLES = """\b
Examples:
  epic play
  epic play --latency 150ms --loss 2% --record game.script
  epic play --script game.script --show events
  epic play --bot B=chaser --local predicted --show summary
  epic play --latency 200ms --duration 60 --show shots --format csv
"""

#: Whoever asks for one of these wants no screen.
_HEADLESS_OPTIONS = ("script", "show", "row_format", "output", "view", "player", "packets",
                     "truth_out", "picture", "duration")  # fmt: skip


@click.command(epilog=EXAMPLES)
@play_options
@click.pass_context
def play(context: click.Context, /, **options: Any) -> int:
    """Play a small networked game: prediction, move replay, rewind, over a bad network.

    On a terminal it fills the screen: your client, the server and the other player's client side
    by side; arrow keys steer, the keys are shown below. Otherwise, or with --script or an option
    of the output, it runs as fast as it can and writes a row for every frame, screen and player:
    what is drawn, and how far that is from the server's truth.

    Each client predicts its own player, sends its three newest moves in every packet, and
    reconciles with the server; others are drawn by any strategy. A shot carries what its shooter
    saw, and the server rewinds to that.

    Exit status: 0 done, 1 a line of --script or --trace was refused, 2 wrong usage, 3 a file
    cannot be read or written, 130 interrupted.
    """
    given = {n for n in options if context.get_parameter_source(n) != ParameterSource.DEFAULT}
    _check_fit(options, given)
    settings = make_settings(options)
    names = [seat.name for seat in settings.seats]
    for key in ("client", "player", "view"):
        allowed = [*names, "server"] if key == "view" else names
        if options[key] and options[key] not in allowed:
            raise WrongUsage(f"--{key} {options[key]!r}: there are {', '.join(allowed)}")
    script = script_of(options["script"], names)
    settings = begin_with(settings, script, given)
    if _wants_screen(options, given):
        from epic_cli.play_screen.program import play_on_terminal

        with _open_optional(options["record"]) as sink:
            ended = play_on_terminal(settings, options["client"], use_color("auto", sys.stdout))
            if sink:
                sink.write(_remembered(ended.script))
        if not options["quiet"]:
            sys.stderr.write(ended.summary)
        return ExitStatus.INTERRUPTED if ended.interrupted else ExitStatus.DONE
    return _run_headless(settings, script, options)


def _run_headless(settings: MatchSettings, script: Script, options: dict[str, Any]) -> int:
    wanted = Wanted(
        options["show"],
        options["row_format"],
        options["view"],
        options["player"],
        options["client"],
    )
    recorder = None
    try:
        run = HeadlessRun(settings, script, wanted)
    except ValueError as error:
        raise WrongUsage(str(error)) from error
    if options["record"]:
        recorder = run.record()
    with contextlib.ExitStack() as stack:
        rows = stack.enter_context(open_sink(options["output"]))
        packets = stack.enter_context(_open_optional(options["packets"]))
        truth = stack.enter_context(_open_optional(options["truth_out"]))
        record = stack.enter_context(_open_optional(options["record"]))
        picture = stack.enter_context(_open_optional(options["picture"]))
        try:
            for chunk in run.run(options["duration"]):
                rows.write(chunk.rows)
                if packets:
                    packets.write(chunk.packets)
                if truth:
                    truth.write(chunk.truth)
        except KeyboardInterrupt:
            _tell(run, options)
            raise
        if record and recorder:
            record.write(_remembered(recorder.script(settings)))
        if picture:
            picture.write(run.picture().encode())
    _tell(run, options)
    return ExitStatus.DONE


def _remembered(script: str) -> bytes:
    """A script, below the command that it was recorded with: it does not tell who the bots are."""
    from epic_cli.terminal.errors import printable

    command = printable(shlex.join(["epic", *sys.argv[1:]]).encode("utf-8", "surrogateescape"))
    return f"# {command}\n{script}".encode()


def _tell(run: HeadlessRun, options: dict[str, Any]) -> None:
    if not options["quiet"] and options["show"] != "summary":
        sys.stderr.write(run.summary())


def _wants_screen(options: dict[str, Any], given: set[str]) -> bool:
    if options["headless"] is not None:
        if not options["headless"] and (options["script"] or not _has_terminal()):
            raise WrongUsage("--screen needs a terminal, and no --script")
        return not options["headless"]
    return _has_terminal() and not any(name in given for name in _HEADLESS_OPTIONS)


def _has_terminal() -> bool:
    return all(stream is not None and stream.isatty() for stream in (sys.stdin, sys.stdout))


def _check_fit(options: dict[str, Any], given: set[str]) -> None:
    """Refuses options that would have no effect beside the others."""
    if options["trace"]:
        for name in LINK_OPTIONS:
            if name in given:
                raise WrongUsage(f"--{name} does not go with --trace")
    else:
        for name in TRACE_OPTIONS:
            if name in given:
                raise WrongUsage(f"--{name.replace('_', '-')} needs --trace")
    if "gemodel" in given and "loss" in given:
        raise WrongUsage("--gemodel and --loss exclude each other: the model has its own losses")
    if options["row_format"] == "epic" and (
        options["show"] != "rows" or not options["view"] or not options["player"]
    ):
        raise WrongUsage("the epic format has no column for who is where: it needs --show rows,"
                         " one --view and one --player")  # fmt: skip
    if options["view"] and options["show"] != "rows":
        raise WrongUsage("--view is for --show rows")
    if math.isinf(options["duration"]) and options["show"] == "summary":
        raise WrongUsage("a summary needs an end: give a --duration")
    _check_outputs(options)


def _check_outputs(options: dict[str, Any]) -> None:
    files = [
        options[n] for n in ("output", "packets", "truth_out", "picture", "record") if options[n]
    ]
    if len(set(files)) < len(files):
        raise WrongUsage("two outputs cannot go to the same place")
    if "-" in [options[n] for n in ("packets", "truth_out", "picture", "record")]:
        raise WrongUsage("only --output can go to standard output")
    if options["script"] == "-" and options["trace"] == "-":
        raise WrongUsage("--script and --trace cannot both be standard input")


@contextlib.contextmanager
def _open_optional(path: str | None) -> Iterator[Sink | None]:
    if path is None:
        yield None
        return
    with open_sink(path) as sink:
        yield sink
