"""The session's own commands, which begin with a colon."""

from __future__ import annotations

import math
import os
from typing import TYPE_CHECKING, Any

import click

from epic_cli.engine.packets import PacketBlock, VelocityFiller
from epic_cli.engine.parameters import Custom, Parameter
from epic_cli.engine.replay.arrival_order import sort_by_arrival
from epic_cli.engine.replay.playback import TIMING
from epic_cli.engine.replay.strategy_spec import StrategySpec, read_specs
from epic_cli.engine.strategies import checked
from epic_cli.engine.text import FORMATS
from epic_cli.jobs.samples import run as samples
from epic_cli.metrics.digits import format_count
from epic_cli.recordings.addresses import Address, parse_endpoint
from epic_cli.recordings.entries.text import make_text_writer
from epic_cli.recordings.files import CannotAccess
from epic_cli.recordings.opening import ReadingLog, RecordingSource, is_kept, read_blocks
from epic_cli.recordings.wording import FrontEnd
from epic_cli.recordings.writing import Changes, Conversion
from epic_cli.session.shell_commands import BEGIN, CommandTable, register_command
from epic_cli.session.state import iterate_packet_lines
from epic_cli.shell.console import open_sink
from epic_cli.shell.declared import (
    STRATEGY,
    FormatChoice,
    ParameterType,
    Parsed,
    list_completions,
    propose_files,
    propose_strategies,
)
from epic_cli.shell.options.common import read_option
from epic_cli.shell.progress import Progress, report_each
from epic_cli.show.styles import VIEWS, View

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem
    from rich.text import Text

    from epic_cli.recordings.read_spec import ReadSpec
    from epic_cli.session.controller import SessionController

_NO_PACKETS = "there are no packets yet"
_NEXT = ":plot draws them, :compare finds the best strategy"
_TOO_SHORT = (
    "too few packets for a chart, which shows the rows up to the last packet: all rows are later;"
    " add some packets"
)

#: The line below a chart about its truth.
_TRUTH = "truth: rebuilt from these packets with hindsight"

#: The number of points beyond which a chart shows no more.
_MOST_POINTS = 4000

#: The views of a scene by their names in ``:plot``.
_AXES: dict[str, View] = {"xy" if view == "above" else view: view for view in VIEWS}

KEYS = (
    ("Enter", "enter the packet or run the command"),
    ("Right, Ctrl-E", "accept the proposed packet or the suggestion"),
    ("Tab", "complete a command, a strategy, a setting, a file"),
    ("Up, Down", "earlier and later lines"),
    ("Ctrl-R", "search the history"),
    ("Ctrl-C", "drop the line; stop a running command"),
    ("Ctrl-D", "on an empty line, quit"),
    ("F4", "emacs or vi keys; with vi keys the prompt begins with the mode: ins, cmd or rep"),
    ("Ctrl-L", "clear the screen"),
    ("Ctrl-Z", "suspend the session"),
    ("q", "at the start of a line, then Enter: quit"),
)

# ------------------------------------------------------------- the view


def _check_variants(text: str) -> str:
    """Check ``NAME`` or ``NAME+key=value``; raise ``ValueError``."""
    read_specs(text.split(","))
    return text


_VARIANT = Parsed("name", _check_variants, (), propose_strategies)


@register_command("strategy")
@click.argument("chosen", required=False, type=STRATEGY, metavar="[NAME[+KEY=VALUE]...]")
def choose_strategy(controller: SessionController, chosen: StrategySpec | None) -> None:
    """Replay the packets with another strategy, or with other settings.

    As "epic -s NAME+KEY=VALUE": settings that are not given have their defaults, which ":strategies
    NAME" shows. Without a NAME it prints the present strategy.
    """
    before = controller.session.view.strategy
    if chosen is None:
        controller.screen.say(f"strategy {before.label}")
        return
    after = StrategySpec(chosen.name, checked(chosen.name, chosen.settings))
    view = controller.session.view._replace(strategy=after)
    controller.change_view(view, f"strategy {before.label} -> {after.label}")


class _CheckedText(ParameterType):
    """A parameter type that checks a value while it is typed, and stores the value as text."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Check the value and return its text, since a parsed value may be None."""
        super().convert(value, param, ctx)
        return value


def _make_timing_command(setting: Parameter) -> click.Command:
    name = setting.name

    def describe_value(value: Any) -> str:
        unit = " s" if name in ("tick", "latency") and value is not None else ""
        return f"{setting.show(value)}{unit}"

    @register_command(name, setting.help)
    @click.argument("word", required=False, type=_CheckedText(setting))
    def change(controller: SessionController, word: str | None) -> None:
        session = controller.session
        before = describe_value(getattr(session.timing_in_force, name))
        if word is None:
            controller.screen.say(f"{name} {before}")
            return
        changed: dict[str, Any] = {name: setting.read(word)}
        view = session.view._replace(timing=session.view.timing._replace(**changed))
        controller.change_view(view, f"{name} {before} -> {describe_value(changed[name])}")

    return change


@register_command("format")
@click.argument("name", required=False, type=FormatChoice(FORMATS))
def choose_row_format(controller: SessionController, name: str | None) -> None:
    """Choose the format of the rows."""
    screen = controller.screen
    if name is None:
        screen.say(f"format {screen.format}")
        return
    screen.choose_format(name)
    if controller.session.lines and not controller.quiet:
        controller.draw_tail()


@register_command("plot")
@click.argument("axis", default="xy", type=click.Choice(list(_AXES)))
@click.option(
    "-s",
    "--strategies",
    type=_VARIANT,
    multiple=True,
    metavar="NAMES",
    help="Draw these instead: names separated by commas. NAME+key=value is a variant.",
)
def plot(controller: SessionController, axis: str, strategies: tuple[str, ...]) -> None:
    """Draw a chart of what the strategy shows, or of what others would.

    xy is the path from above, along the two axes in which the movement goes furthest. All others
    are drawn over time. Where packets have a rotation, yaw is its heading seen from above, and
    angle its error in degrees.
    """
    from rich.console import Group

    from epic_cli.engine.replay import separate
    from epic_cli.metrics.evaluation import make_drawn_scenes
    from epic_cli.metrics.notes import ExclusionReason, NotEnoughToSay
    from epic_cli.show.chart import make_scene_chart
    from epic_cli.show.scene import Selection

    session, screen = controller.session, controller.screen
    own = session.view.strategy
    found = read_specs(dict.fromkeys(",".join(strategies or (own.name,)).split(",")))
    if not session.lines:
        screen.say(_NO_PACKETS)
        return
    drawn = [
        strategy._replace(settings={**own.settings, **strategy.settings})
        if strategy.name == own.name
        else strategy
        for strategy in found
    ]
    packets: dict[str, PacketBlock] = {}
    for block in session.iterate_blocks():
        separate(block, packets)
    selection = Selection(_MOST_POINTS, -math.inf, math.inf)
    try:
        scenes = make_drawn_scenes(packets, drawn, session.view.timing, selection)
    except NotEnoughToSay as error:
        reasons = {note.reason for note in getattr(error, "notes", ())}
        short = {ExclusionReason.NO_OVERLAP, ExclusionReason.WARM_UP}
        screen.complain(_TOO_SHORT if reasons and reasons <= short else error.why)
        return
    height = max(min(screen.lines - 8, 18), 5)
    charts = [make_scene_chart(scene, _AXES[axis], height=height) for scene in scenes]
    screen.show(Group(*charts))
    screen.say(_TRUTH)


# ------------------------------------------------------------- the packets


@register_command("undo")
@click.argument("count", default=1, type=click.IntRange(1), metavar="[N]")
def undo(controller: SessionController, count: int) -> None:
    """Take back the last packet, or the last N, and draw the remaining rows."""
    taken_back = controller.session.undo(count)
    if taken_back:
        controller.record(f":undo {taken_back}")
    if controller.quiet:
        return
    if controller.session.lines:
        controller.draw_tail()
    left = format_count(len(controller.session.lines), "packet")
    controller.screen.say(f"took back {format_count(taken_back, 'packet')}, {left} left")


@register_command("redo")
@click.argument("count", default=1, type=click.IntRange(1), metavar="[N]")
def redo(controller: SessionController, count: int) -> None:
    """Add the packet that was taken back last, or the last N of them."""
    undone = controller.session.undone
    if not undone:
        controller.screen.say("there is nothing to redo")
        return
    controller.add(b"".join(undone[:count]), "<redo>")
    controller.session.undone = undone[count:]


@register_command("reset")
def reset(controller: SessionController) -> None:
    """Forget all packets and restart the clock; the strategy and its settings stay."""
    count = len(controller.session.lines)
    controller.record(":reset")
    controller.session.reset()
    if not controller.quiet:
        controller.screen.say(f"removed {format_count(count, 'packet')}")


@register_command("rows")
@click.argument("count", required=False, type=click.IntRange(1), metavar="[N]")
def redraw_rows(controller: SessionController, count: int | None) -> None:
    """Draw the last rows again: as many as fit, or N."""
    if not controller.session.lines:
        controller.screen.say(_NO_PACKETS)
        return
    controller.draw_tail(count)


_FILE = click.Path(exists=True, dir_okay=False, readable=True)


def _find_recording(text: str) -> RecordingSource:
    """Return an existing file, or the sample with this name; raise ``ValueError``."""
    path = text
    if not os.path.exists(text) and os.sep not in text:  # noqa: PTH110
        try:
            path = str(samples.SAMPLES / samples.find(text))
        except ValueError as error:
            raise ValueError(f"no file {text!r} here; {error}") from error
    path = str(_FILE.convert(path, None, None))
    return RecordingSource(text, path=path, kept=is_kept(path))


def _propose_recordings(begun: str) -> list[CompletionItem]:
    known = ((name, about) for name, about in samples.list_samples().items() if "packets" in about)
    return [*propose_files(begun), *list_completions(known, begun)]


_RECORDING = Parsed("file", _find_recording, RecordingSource, _propose_recordings)


@register_command("load")
@click.argument("file", type=_RECORDING)
@read_option
@click.option("--all-errors", is_flag=True, help="Show every refused line.")
def load(
    controller: SessionController, file: RecordingSource, all_errors: bool, read: ReadSpec
) -> None:
    """Add the packets in FILE: packet text, a table, JSON or Parquet; or those of a sample.

    ":samples" lists the samples, any of which can be loaded by its name.
    """
    session, screen, name = controller.session, controller.screen, file.name
    before, refused = len(session.lines), session.refused
    log, lines = ReadingLog(name), screen.make_refused_lines(name, all_errors)
    filler, filled, conversion, writer = (
        VelocityFiller(),
        0,
        Conversion(Changes()),
        make_text_writer(),
    )
    quiet, controller.quiet = controller.quiet, True  # rows are drawn once, at the end
    try:
        with Progress("loading", in_bytes=True, silent=True) as progress:
            (on_read,) = report_each(progress, [str(file.path)])
            found = read_blocks(file, read, log, on_read)
            if file.kept and session.view.timing.pacing != "demo":
                found = sort_by_arrival(found)
            for block in found:
                wrong = [refusal for refusal in block.refusals if refusal.text.strip()]
                lines.add(wrong)
                session.refused += len(wrong)
                if block.find_field is None:
                    rows = iterate_packet_lines(block)
                else:  # as the journal stores it
                    filled += filler.fill(block)
                    rows = [*conversion.iterate_rows(block, writer)]
                numbers = [block.line(index) for index in range(len(block))]
                controller.add(b"".join(rows), name, lambda at: numbers[at - 1], lines)  # noqa: B023
    finally:
        controller.quiet = quiet
        taken = len(session.lines) - before
        screen.say(lines.summarize_refused(taken))
    if quiet:
        return
    if session.lines:
        controller.draw_tail()
    if log.layout is not None:
        screen.say(f"{name}: read with {FrontEnd.SESSION.read(log.layout.write())}")
    for finding in log.findings:
        screen.say(f"{name}: {finding.write_words(FrontEnd.SESSION)}")
    if filled:
        screen.say(
            f"{name}: velocities computed from positions for {format_count(filled, 'packet')}"
        )
    note = f"{name}: {format_count(taken, 'packet')} taken"
    if before:
        note += f", after the {before:,} before (use :reset to begin again)"
    if session.refused > refused:
        note += f", {format_count(session.refused - refused, 'line')} refused"
    screen.say(note if before or not taken else f"{note}; {_NEXT}")


@register_command("save")
@click.argument("file", type=click.Path(dir_okay=False, writable=True))
@click.option("--force", is_flag=True, help="Replace an existing file.")
def save(controller: SessionController, file: str, force: bool) -> None:
    """Write the packets so far to FILE, as they were typed: input for "epic replay"."""
    if not controller.session.lines:
        raise click.UsageError(_NO_PACKETS)
    if not force and os.path.isfile(file) and os.path.getsize(file):  # noqa: PTH113, PTH202
        raise CannotAccess("write to", file, FileExistsError(17, "it exists; add --force"))
    with open_sink(file, replaces=force) as sink:
        for line in controller.session.lines:
            sink.write(line)
    controller.screen.say(f"{file}: {format_count(len(controller.session.lines), 'packet')}")


@register_command("golden")
@click.argument("name", type=click.Path())
def make_golden(controller: SessionController, name: str) -> None:
    """Make a case for "epic check" of the packets so far, in the folder NAME."""
    if not controller.session.lines:
        raise click.UsageError(_NO_PACKETS)
    controller.invoke("check", ["--new", name, "-"])


# ------------------------------------------------------------- a running game


_ADDRESS = Custom("address", None, "Where to listen.", "[HOST:]PORT",
                  lambda text: text if text == "off" else parse_endpoint(text), kind=Address,
                  words=lambda: [("off", None)])  # fmt: skip


@register_command("listen")
@click.argument(
    "address", required=False, type=ParameterType(_ADDRESS), metavar="[[HOST:]PORT|off]"
)
def listen(controller: SessionController, address: Address | str | None) -> None:
    """Take packets of a running game too, and draw their rows when they are due.

    They arrive as for "epic listen", over UDP, tcp:// or ws://, and are packets of the session like
    those that are typed; a packet that is typed meanwhile arrives when it is entered. Off, or
    Ctrl-C on an empty line, ends it. Without a HOST only this machine is heard.
    """
    if address is None:
        listening = controller.listening
        controller.screen.say("listen off" if listening is None else listening.words)
    elif isinstance(address, str):
        if controller.listening is None:
            controller.screen.say("not listening")
        controller.stop_listening()
    else:
        _start_listening(controller, address)


def _start_listening(controller: SessionController, address: Address) -> None:
    from epic_cli.session.listening import Listening

    if controller.confirm is None:
        raise click.UsageError("a script cannot listen: use 'epic listen'")
    session = controller.session
    if session.view.timing.pacing == "demo":
        raise click.UsageError("listening needs pacing by arrival: type ':pacing auto' first")
    if session.lines:
        count = format_count(len(session.lines), "packet")
        raise click.UsageError(
            f"the session has {count} of another clock: type ':reset' first (:save FILE saves them)"
        )
    controller.stop_listening()
    controller.listening = listening = Listening(
        session, controller.screen, address, controller.record_lines, controller.end_listening
    )
    controller.screen.say(f"{listening.words}; :pause holds its rows back")
    if not controller.screen.has_cursor:
        controller.screen.say("this terminal has no cursor: rows are shown at each Enter")


@register_command("pause")
def pause(controller: SessionController) -> None:
    """Hold back the rows of packets from the game, or show them again.

    Packets still arrive, and are kept.
    """
    listening = controller.listening
    if listening is None:
        raise click.UsageError("not listening: type ':listen 9870' first")
    listening.paused = not listening.paused
    words = "; packets are kept, :pause continues" if listening.paused else ""
    controller.screen.say(listening.words + words)


# ------------------------------------------------------------- the session itself


@register_command("help")
@click.argument("name", required=False)
def show_help(controller: SessionController, name: str | None) -> None:
    """List the commands, or explain one."""
    table, screen = controller.commands, controller.screen
    if name is not None:
        name = table.find(name.removeprefix(":"))
        found = table.get_command(controller.root, name)
        assert found is not None
        screen.show_page(found.get_help(click.Context(found, info_name=f":{name}")) + "\n")
        return
    from rich.console import Group

    from epic_cli.show.text import wrap_paragraph, write_definitions

    room = screen.columns
    commands = [(f":{one}", words) for one, words in table.list_summaries()]
    lines: list[Text | str] = [
        *wrap_paragraph("A line x,y,z / vx,vy,vz / t is a packet; its rows follow. q quits.", room),
        *write_definitions(commands[: len(BEGIN)], room, "  "),
        "",
        *write_definitions(commands[len(BEGIN) :], room, "  "),
        "",
        *write_definitions(KEYS, room, "  "),
        "",
        *wrap_paragraph(":help NAME or :NAME --help explains a command.", room),
    ]
    screen.show(Group(*lines))


@register_command("quit")
def quit_(controller: SessionController) -> None:
    """Leave the session; epic --resume continues it."""
    controller.ended = True


COMMANDS = CommandTable(
    [
        choose_strategy,
        *(_make_timing_command(setting) for setting in TIMING),
        choose_row_format,
        undo,
        redo,
        reset,
        redraw_rows,
        load,
        save,
        make_golden,
        listen,
        pause,
        plot,
        show_help,
        quit_,
    ]
)
