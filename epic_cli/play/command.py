"""``epic play``: a networked game over a bad network, headless or on the terminal."""

from __future__ import annotations

import contextlib
import math
import os
import shlex
import sys
from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from functools import partial
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from epic_cli.engine.parameters import find_nearest
from epic_cli.engine.replay.strategy_spec import StrategySpec
from epic_cli.engine.trust import apply_file_rule
from epic_cli.network.link import Channel, Way
from epic_cli.network.link_spec import LINK_WORDS, LinkSpec, split_way
from epic_cli.network.sender import SenderSpec
from epic_cli.network.truth_file import TruthWriter
from epic_cli.play.legend import LEGEND
from epic_cli.play.match import Recorder, Unrecordable
from epic_cli.play.report import (
    FORMATS,
    PlayRowWriter,
    draw_picture,
    summarize_player,
    write_caption,
)
from epic_cli.play.run import COLUMNS, HeadlessRun, RowSelection, Show
from epic_cli.play.script import SCENARIOS, Script, list_scenario_titles, parse_script
from epic_cli.play.spec import (
    BOT,
    BOT_NAMES,
    CLOCK,
    DURATION,
    MATCH_KEYS,
    USUAL_LINK,
    Change,
    MatchSpec,
    apply_change,
    parse_match,
)
from epic_cli.play.world import convert_to_seconds, convert_to_us
from epic_cli.recordings.entries.text import make_text_writer
from epic_cli.recordings.opening import read_file
from epic_cli.recordings.wording import describe_left_out
from epic_cli.shell.console import (
    Sink,
    has_terminal,
    is_unicode_supported,
    measure_screen_columns,
    open_sink,
    use_color,
)
from epic_cli.shell.declared import (
    InputFile,
    OutputFile,
    declare_shared,
    declare_value,
    list_completions,
    list_given_options,
    make_command,
    make_option,
)
from epic_cli.shell.errors import (
    ExitStatus,
    WrongUsage,
    quote_text,
    raise_wrong_usage,
    write_message,
)
from epic_cli.shell.options.common import (
    format_option,
    make_output_option,
    make_seed_option,
    make_strategy_option,
    quiet_option,
    trust_option,
)
from epic_cli.shell.options.networks import (
    BESIDE_LINK,
    make_described_type,
    make_link_options,
    send_option,
)
from epic_cli.show.link import describe_clipping

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

#: The settings of options that set several, or one of another name; a family ends in a point.
_SETS = {
    "strategy": {"remote_strategy", "remote."},
    "link": {*(parameter.name for parameter in LINK_WORDS), "up.", "down."},
    "loss": {"loss", "gemodel"},
}


def apply_beginning(spec: MatchSpec, script: Script, kept: set[str], link: LinkSpec) -> MatchSpec:
    """Return the match after the script's first changes, except those of names in ``kept``.

    ``kept`` also has families of names, such as ``bot.``. A recorded network cannot change: raise
    ``WrongUsage`` where the script sets the link, too.
    """
    before = spec
    for change in script.beginning:
        if change.is_of_link and link.trace is not None:
            raise WrongUsage(
                f"the script: {change.name}: the link of a recorded network cannot be changed:"
                " remove it from the script, or trace= from --link"
            )
        if not {change.name, change.family} & kept:
            with raise_wrong_usage("the script: "):
                spec = apply_change(spec, change)
    # a new strategy has no settings yet, and a preset may have set the link
    own = [(name, getattr(before.link.down, name)) for name in BESIDE_LINK if name in kept]
    spec = replace(spec, link=before.link if "up." in kept else spec.link.apply_words(own))
    if "remote." in kept:
        spec = replace(spec, remote_settings=before.remote_settings)
    StrategySpec(
        spec.remote_strategy, spec.compute_strategy_settings()
    ).make()  # wrong ones show now
    return spec


def _make_word_rank(word: tuple[str, Any]) -> tuple[bool, bool]:
    """Return a sort key for settings made at one time: presets and both directions come first."""
    way, name = split_way(word[0])
    return way is not None, name != "preset"


def merge_link_changes(script: Script, link: LinkSpec, spec: MatchSpec) -> Script:
    """Return the script with the timed changes of the link's description merged in.

    Raise ``WrongUsage`` where the match does not allow one of these changes.
    """
    changes = [
        *script.changes,
        *(
            (convert_to_seconds(convert_to_us(time)), Change(name, value))
            for time, words in link.changes
            for name, value in sorted(words, key=_make_word_rank)
        ),
    ]
    changes.sort(key=itemgetter(0))
    for time, change in changes:
        with raise_wrong_usage(f"at {time:g} s: "):
            spec = apply_change(spec, change)
    return script._replace(changes=changes)


def use_recorded_network(spec: MatchSpec, link: LinkSpec) -> MatchSpec:
    """Return the match over its recorded network, which is read here, if the match names one."""
    traces = link.read_traces(two_ways=True)
    if not traces:
        return spec

    def make(purpose: str) -> Channel:
        way: Way = "up" if purpose.startswith("up/") else "down"
        conditions = link.ways.get_direction(way)
        return link.make_channel(spec.seed, traces, way=way, purpose=purpose, conditions=conditions)

    return replace(spec, trace=make)


_file = partial(declare_value, type=OutputFile(), metavar="FILE")

#: Reports a match that no script can describe as wrong usage of ``--record``.
unrecordable = partial(raise_wrong_usage, "--record: ", Unrecordable)


@dataclass(frozen=True)
class OutputOptions:
    """Options of a match's outputs and their files; ``headless`` None: other options decide."""

    headless: bool | None = declare_value(
        "Write rows, or play on the terminal.  [default: play if there is a terminal and no"
        " option asks for output]",
        "--headless/--screen",
        default=None,
    )
    show: Show = declare_value(
        "What is written to standard output.",
        type=click.Choice(list(COLUMNS)),
        default="rows",
        show_default=True,
    )
    row_format: str = declare_shared(
        format_option(
            "row_format",
            FORMATS,
            "table",
            "The output format. epic needs one --view and one --player.",
        )
    )
    output: str | None = declare_shared(make_output_option("Write the output to a file."))
    view: str | None = declare_value("Only this screen: server, A, B ...", metavar="NAME")
    player: str | None = declare_value("Only this player's rows or events.", metavar="NAME")
    packets: str | None = _file(
        "Write the packets of the other players as --client received them, for 'epic replay'."
    )
    own: str | None = _file(
        "Write the player of --client as it was predicted and corrected, for -s correction:all."
    )
    truth_out: str | None = _file(
        "Write the positions of all players but --client on the server, as CSV for 'epic compare'."
    )
    picture: str | None = _file("Draw the three screens at the end as an SVG picture.")
    client: str = declare_value(
        "The player that you are. Without a screen: the client whose frames give the rows their"
        " times.",
        metavar="NAME",
        default="A",
        show_default=True,
    )
    record: str | None = _file(
        "Record the match as a script that reproduces it. Not over a recorded network."
    )

    def make_selection(self) -> RowSelection:
        """Return the rows, events or statistics that these options ask for."""
        return RowSelection(self.show, self.client, self.view, self.player)

    def check(self, duration: float) -> None:
        """Raise ``WrongUsage`` for options that contradict each other."""
        if self.row_format == "epic" and (self.show != "rows" or not self.view or not self.player):
            raise WrongUsage(
                "the epic format has no columns for view and player: use --show rows with"
                " one --view and one --player",
                "show",
                "view",
                "player",
            )
        if self.view and self.show != "rows":
            raise WrongUsage("--view needs --show rows", "view", "show")
        if math.isinf(duration) and self.show == "summary":
            raise WrongUsage("--show summary needs an end: set a finite --duration", "duration")
        files = [self.packets, self.own, self.truth_out, self.picture, self.record]
        given = [path for path in (self.output, *files) if path]
        if len(set(given)) < len(given):
            raise WrongUsage("two outputs name the same file: choose different files")
        if "-" in files:
            raise WrongUsage(
                "only --output can go to standard output: give the other outputs files", "output"
            )

    def check_sent(self, spec: MatchSpec, script: Script) -> None:
        """Raise ``WrongUsage`` if packets are wanted as text that cannot hold the sent states."""
        changes = [change.value for _, change in script.changes if change.name == "send"]
        if self.packets and any(
            send.expand_layout().velocity == "none" for send in (spec.send, *changes)
        ):
            raise WrongUsage(
                "--packets: packet text needs velocities, and this sender omits them", "send"
            )

    def check_names(self, names: list[str]) -> None:
        """Raise ``WrongUsage`` for a player who does not take part."""
        for flag, name, allowed in (
            ("client", self.client, names),
            ("player", self.player, names),
            ("view", self.view, [*names, "server"]),
        ):
            if name and name not in allowed:
                raise WrongUsage(f"--{flag} {name!r}: choose from {', '.join(allowed)}", flag)


def write_match(run: HeadlessRun, options: OutputOptions, duration: float) -> None:
    """Run the match and write all requested outputs meanwhile."""
    with unrecordable():
        recorder = Recorder(run.match) if options.record else None
    packet, truth = make_text_writer(), TruthWriter(turns=True)
    with contextlib.ExitStack() as stack:
        rows = stack.enter_context(open_sink(options.output))
        packets = stack.enter_context(open_optional(options.packets))
        own = stack.enter_context(open_optional(options.own))
        truths = stack.enter_context(open_optional(options.truth_out))
        record = stack.enter_context(open_optional(options.record))
        drawing = stack.enter_context(open_optional(options.picture))
        room = measure_screen_columns(rows) if rows.isatty() else None
        line = PlayRowWriter(options.row_format, COLUMNS[options.show], room)
        rows.write(line.write_header())
        if room and line.left_out:
            how = "a wider window or another --format"
            write_message(describe_left_out(line.left_out, room, how) + "\n")
        if truths:
            truths.write(truth.header)
        for chunk in run.run(duration):
            rows.write(b"".join(map(line.write_line, chunk.lines)))
            if packets:
                packets.write(b"".join(map(packet.format_row, chunk.packets)))
            if own:
                own.write(b"".join(map(packet.format_row, chunk.own)))
            if truths:
                truths.write(b"".join(map(truth.format_rows, chunk.truth)))
        write_recording(recorder, record)
        if drawing:
            drawing.write(draw_picture(run.list_scenes(), write_caption(run.match)).encode())


def write_recording(recorder: Recorder | None, sink: Sink | None) -> None:
    """Write the recorded match as a script, below the command that recorded it."""
    if recorder is None or sink is None:
        return
    command = quote_text(shlex.join(["epic", *sys.argv[1:]]))
    with unrecordable():
        sink.write(f"# {command}\n{recorder.write_script()}".encode())


@contextlib.contextmanager
def open_optional(path: str | None) -> Iterator[Sink | None]:
    """Open a file for writing; yield None if there is no path."""
    if path is None:
        yield None
        return
    with open_sink(path) as sink:
        yield sink


EXAMPLES = """\b
Examples:
  epic play
  epic play --latency 150ms --loss 2% --record game.script
  epic play figure-8.5
  epic play question-8 --show shots
  epic play --match bot.B=chaser,local=predicted --show summary
  epic play --latency 200ms --duration 60 --show shots --format csv
  epic play --link 'lte,up.rate=256kbit,at="5s loss=30%",at="7s loss=4%"'
"""

_MATCH = make_described_type(parse_match, tuple, (*MATCH_KEYS, CLOCK, BOT))
_KEYS = ", ".join(parameter.name for parameter in MATCH_KEYS)


#: Options that make a match headless.
_HEADLESS = {option.name for option in fields(OutputOptions)} | {"duration"}
_HEADLESS -= {"headless", "client", "record"}


class _ScriptFile(InputFile):
    """The click type of a scenario's name or a script's path."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the path of the scenario or script."""
        name = str(value)
        if name not in SCENARIOS and os.sep not in name and name != "-" and not Path(name).exists():
            near = find_nearest(name, list(SCENARIOS))
            hint = f"did you mean {near!r}?" if near else f"scenarios are {', '.join(SCENARIOS)}"
            self.fail(f"no scenario or file {name!r}; {hint}", param, ctx)
        return super().convert(SCENARIOS.get(name, value), param, ctx)

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        """Return the completions of a scenario's name or a script's path."""
        files = super().shell_complete(ctx, param, incomplete)
        return [*list_completions(list_scenario_titles(), incomplete), *files]


_SCRIPT = click.argument("script", required=False, metavar="[SCENARIO|FILE]", type=_ScriptFile())


#: The rows of the legend's keys in the help: what a newcomer presses.
_FIRST_KEYS = ("arrows .", "space x", "p r w m", "l j o s", "n N enter", "? q")


@make_command(
    EXAMPLES,
    "s link latency loss",
    keys=[(key, words.split(". ")[0]) for key, words in LEGEND["Keys"] if key in _FIRST_KEYS],
)
def play(
    script: str | None = declare_shared(_SCRIPT),
    match: tuple[Change, ...] = declare_value(
        "Settings of the match, such as players=3,rewind=off. Or 'bot.B=chaser,clock.B=0.1'; keys"
        f" are {_KEYS}; bot.NAME ({', '.join(BOT_NAMES)}); clock.NAME (how many seconds a player's"
        " clock is ahead, and its rate).",
        type=_MATCH,
        default="",
        metavar="MATCH",
    ),
    chosen: StrategySpec = declare_shared(
        make_strategy_option(
            "Strategy that draws other players. 'epic strategies' lists them. Of snapshot,"
            " interpolation_time covers the latency, the jitter and two packet periods unless it"
            " is set.",
            "--remote-strategy",
            MatchSpec.remote_strategy,
        )
    ),
    trust: bool = declare_shared(trust_option),
    duration: float = declare_shared(make_option(DURATION)),
    seed: int = declare_shared(make_seed_option("The same seed and script give the same bytes.")),
    send: SenderSpec = declare_shared(send_option),
    link: LinkSpec = declare_shared(
        make_link_options(USUAL_LINK, two_ways=True, latency="One-way latency.")
    ),
    output: OutputOptions = declare_shared(OutputOptions),
    quiet: bool = declare_shared(quiet_option),
) -> int:
    """Run ``epic play``.

    A SCENARIO, such as figure-8.5, shows one concept in slow motion, with captions.

    On a terminal it fills the screen: your client, the server and the other player's client side
    by side; steer with the arrow keys, ? explains every mark and key. Otherwise, or with an option
    of the output, it runs as fast as it can and writes a row for every frame, screen and player:
    what is drawn, and how far that is from the server's truth.

    Scenarios are the figures and review questions of chapter 8 of Glazer and Madhav's Multiplayer
    Game Programming: figure-8.1 to figure-8.5, question-1 to question-9, move-replay, optimism,
    optimism-unwarranted; and terms of other texts: calc-ahead, fixed-step, late-frame,
    phase-locked-loop, rubber-band, send-by-error. A FILE (- is standard input) has input over time,
    in lines TIME PLAYER left|right|up|down|stop [shoot|throw] [aim=PLAYER|aim=X,Y], TIME set
    NAME=VALUE and TIME say TEXT.

    Each client predicts its own player, sends its three newest moves in every packet, and
    reconciles with the server; a strategy draws the others. A shot carries what the shooter saw,
    and the server rewinds to that.

    Exit status: 0 done, 1 a line of a script or a trace was refused, 2 wrong usage, 3 a file
    cannot be read or written, 4 a custom strategy failed, 130 interrupted.
    """
    given = list_given_options()
    if script == "-" and link.trace and link.trace.file == "-":
        raise WrongUsage("the script and the trace cannot both be standard input", "link")
    kept = set().union(*(_SETS.get(name, {name}) for name in given))
    kept |= {change.name for change in match} if "match" in given else set()

    def open_match(file: str | None) -> tuple[MatchSpec, Script]:
        """Make the match of a script; options override the script."""
        with raise_wrong_usage("--send: ", about=("send",)):
            spec = MatchSpec(
                link=link.ways,
                send=send,
                remote_strategy=chosen.name,
                remote_settings=tuple(chosen.settings.items()),
                seed=seed,
            )
        with raise_wrong_usage("--match: ", about=("match",)):
            for change in match:
                spec = apply_change(spec, change)
        parsed = Script()
        if file:
            names = [player.name for player in spec.players]
            with apply_file_rule(file, trust):
                parsed = read_file(
                    file, lambda stream: parse_script(stream, names, "players" not in kept)
                )
        spec = apply_beginning(spec, parsed, kept, link)
        output.check_names([player.name for player in spec.players])
        output.check_sent(spec, parsed)
        spec = use_recorded_network(spec, link)
        return spec, merge_link_changes(parsed._replace(beginning=()), link, spec)

    spec, parsed = open_match(script)
    if parsed.duration is not None and "duration" not in given:
        duration = parsed.duration
    output.check(duration)
    if _is_screen_wanted(output.headless, given):
        from epic_cli.play.screen import ASCII, UNICODE, Game, play_on_terminal

        name = next((name for name, path in SCENARIOS.items() if str(path) == script), "")
        symbols = UNICODE if is_unicode_supported() else ASCII
        with open_optional(output.record) as sink, unrecordable():
            game = Game(
                spec, output.client, symbols, bool(output.record), parsed, name,
                lambda name: open_match(str(SCENARIOS[name])),
            )  # fmt: skip
            interrupted = play_on_terminal(game, use_color("auto", sys.stdout))
            write_recording(game.recorder, sink)
        if not quiet:
            write_message(
                summarize_player(game.statistics.list_lines(game.you), game.statistics.bumps)
            )
        return ExitStatus.INTERRUPTED if interrupted else ExitStatus.DONE
    on_terminal = sys.stdout is not None and sys.stdout.isatty()
    if output.headless is None and not _HEADLESS & given and on_terminal:
        write_message(
            "epic: writing rows, since this terminal has no cursor; --show events has the"
            " captions\n"
        )
    with raise_wrong_usage():
        run = HeadlessRun(spec, parsed, output.make_selection())
    with_summary = not quiet and output.show != "summary"
    try:
        write_match(run, output, duration)
    except KeyboardInterrupt:
        _write_summary(run, with_summary)
        raise
    _write_summary(run, with_summary)
    return ExitStatus.DONE


def _write_summary(run: HeadlessRun, wanted: bool) -> None:
    if wanted:
        write_message(
            summarize_player(run.list_lines(), run.statistics.bumps)
            + describe_clipping(run.match.clipped)
        )


def _is_screen_wanted(headless: bool | None, given: set[str]) -> bool:
    if headless is False and not has_terminal():
        raise WrongUsage("--screen needs a terminal", "screen")
    return not headless if headless is not None else has_terminal() and not _HEADLESS & given
