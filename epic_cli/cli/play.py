"""``epic play``: a networked game over a bad network, headless or on the terminal."""

from __future__ import annotations

import contextlib
import io
import math
import shlex
import sys
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, BinaryIO

import click
from click.core import ParameterSource

from epic_cli.cli.color import use_color
from epic_cli.cli.errors import CannotAccess, ExitStatus, StoppedAtLine, WrongUsage
from epic_cli.cli.output import Sink, open_sink
from epic_cli.cli.play_options import LINK_OPTIONS, TRACE_OPTIONS, play_options
from epic_cli.cli.play_run import HeadlessRun, Wanted
from epic_cli.network import RefusedLine, TraceLink, read_trace
from epic_cli.network.link import Channel
from epic_cli.play.bots import BOTS
from epic_cli.play.changes import changed
from epic_cli.play.script import Script, parse_script
from epic_cli.play.settings import LinkConditions, MatchSettings, Seat
from epic_cli.play.world import Rules

EXAMPLES = """\b
Examples:
  epic play
  epic play --latency 150ms --loss 2% --record game.script
  epic play --script game.script --show events
  epic play --bot B=chaser --local predicted --show summary
  epic play --latency 200ms --duration 60 --show shots --format csv
"""

#: Where players begin: at opposite ends, then between them.
SPAWNS = (
    (5.0, 12.0), (19.0, 12.0), (5.0, 4.0), (19.0, 20.0),
    (5.0, 20.0), (19.0, 4.0), (9.0, 12.0), (15.0, 12.0),
)  # fmt: skip

#: Bytes; a recorded network is held in memory.
LONGEST_TRACE = 256 << 20

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
    settings = _settings(options)
    names = [seat.name for seat in settings.seats]
    for key in ("client", "player", "view"):
        allowed = [*names, "server"] if key == "view" else names
        if options[key] and options[key] not in allowed:
            raise WrongUsage(f"--{key} {options[key]!r}: there are {', '.join(allowed)}")
    script = _script(options["script"], names)
    settings = _begin(settings, script, given)
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
    from epic_cli.cli.errors import printable

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


def _settings(options: dict[str, Any]) -> MatchSettings:
    numerator, denominator = options["step"]
    step = round(1_000_000 * numerator / denominator)
    if not 5_000 <= step <= 100_000:
        raise WrongUsage("--step is out of range: it is 5 ms to 100 ms")
    conditions = {name: options[name] for name in LINK_OPTIONS if name != "gemodel"}
    conditions["loss"] = options["gemodel"] or options["loss"]
    settings = MatchSettings(
        seats=_seats(options),
        rules=Rules(step=step),
        link=LinkConditions(**conditions, in_order=options["in_order"]),
        trace=_trace(options) if options["trace"] else None,
        send_rate=options["send_rate"],
        local=options["local"],
        smoothing=options["smoothing"],
        remote_strategy=options["strategy"],
        remote_settings=tuple(options["assignments"]),
        rewind=options["rewind"],
        history=options["history"],
        seed=options["seed"],
    )
    from epic_cli.engine.strategies import create

    create(settings.remote_strategy, settings.strategy_settings())  # wrong settings show now
    return settings


def _seats(options: dict[str, Any]) -> tuple[Seat, ...]:
    names = "ABCDEFGH"[: options["players"]]
    bots = dict.fromkeys(names, "runner") | {"A": "hunter"}
    for text in options["bots"]:
        name, _, kind = text.partition("=")
        if name not in bots or kind not in BOTS:
            raise WrongUsage(f"--bot {text!r}: write {'|'.join(names)}={'|'.join(BOTS)}")
        bots[name] = kind
    clocks = dict.fromkeys(names, (0.0, 1.0))
    for text in options["clocks"]:
        name, _, numbers = text.partition("=")
        clocks[name] = _clock(text, numbers) if name in clocks else _clock(text, "")
    return tuple(
        Seat(name, SPAWNS[number], bots[name], *clocks[name]) for number, name in enumerate(names)
    )


def _clock(text: str, numbers: str) -> tuple[float, float]:
    try:
        ahead, rate = map(float, (numbers if "," in numbers else f"{numbers},1").split(","))
    except ValueError:
        ahead = rate = math.nan
    if not (abs(ahead) <= 1e6 and 0.01 <= rate <= 100):
        raise WrongUsage(
            f"--clock {text!r}: write NAME=AHEAD or NAME=AHEAD,RATE; seconds, and 0.01 to 100"
        )
    return ahead, rate


def _begin(settings: MatchSettings, script: Script, given: set[str]) -> MatchSettings:
    """What the script says of the beginning, apart from what was given on the command line."""
    own = {"strategy": "remote_strategy", "assignments": "remote."}
    asked = tuple(own.get(name, name) for name in given)
    for change in script.beginning:
        if not change.name.startswith(asked):
            try:
                settings = changed(settings, change)
            except ValueError as error:
                raise WrongUsage(f"the script: {error}") from error
    script.beginning.clear()
    return settings


def _script(path: str | None, names: list[str]) -> Script:
    if not path:
        return Script({}, [], [])
    script: Script = _read(path, lambda stream: parse_script(stream, names))
    return script


def _trace(options: dict[str, Any]) -> Callable[[str], Channel]:
    data = _read(options["trace"], _read_all)

    def read(direction: Any, stream: BinaryIO) -> Any:
        return read_trace(stream, flow=options["trace_flow"], direction=direction)

    up, down = (_read(options["trace"], partial(read, way), data) for way in ("up", "down"))
    rest = (options["trace_by"], options["trace_end"], options["in_order"])
    return lambda purpose: TraceLink(up if purpose.startswith("up") else down, *rest)


def _read_all(stream: BinaryIO) -> bytes:
    data = stream.read(LONGEST_TRACE + 1)
    if len(data) > LONGEST_TRACE:
        raise ValueError(f"it is longer than {LONGEST_TRACE >> 20} MiB")
    return data


def _read(path: str, read: Callable[[BinaryIO], Any], data: bytes | None = None) -> Any:
    """Reads a file; a line of it that is refused is told of, and ends the command."""
    name = "<stdin>" if path == "-" else path
    try:
        if data is not None:
            return read(io.BytesIO(data))
        if path == "-":
            if sys.stdin is None:
                raise CannotAccess("read", name, OSError("it is closed"))
            return read(sys.stdin.buffer)
        with open(path, "rb") as stream:  # noqa: PTH123
            return read(stream)
    except RefusedLine as refused:
        from epic_cli.cli.report import report

        report([refused.problem], name, use_color("auto", sys.stderr))
        raise StoppedAtLine from refused
    except ValueError as error:
        raise WrongUsage(f"{name}: {error}") from error
    except OSError as error:
        raise CannotAccess("read", name, error) from error


@contextlib.contextmanager
def _open_optional(path: str | None) -> Iterator[Sink | None]:
    if path is None:
        yield None
        return
    with open_sink(path) as sink:
        yield sink
