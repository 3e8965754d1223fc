"""``epic session``: opens a session of typed packets, runs its loop, and closes the session."""

from __future__ import annotations

import contextlib
import gc
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

import click

from epic_cli import __version__
from epic_cli.engine.replay.playback import Timing
from epic_cli.engine.replay.strategy_spec import StrategySpec
from epic_cli.engine.strategies import checked
from epic_cli.engine.trust import apply_file_rule
from epic_cli.jobs.replay.command import format_option, strategy_and_settings
from epic_cli.jobs.replay.spec import ReplaySpec
from epic_cli.metrics.digits import format_count
from epic_cli.recordings.files import raise_cannot_access
from epic_cli.shell.console import ColorChoice, has_cursor, use_color
from epic_cli.shell.declared import (
    InputFile,
    declare_flag,
    declare_shared,
    declare_value,
    is_default,
    make_command,
)
from epic_cli.shell.errors import ExitStatus, WrongUsage
from epic_cli.shell.options.common import color_option, timing_options, trust_option

if TYPE_CHECKING:
    from epic_cli.session.controller import SessionController
    from epic_cli.session.shell_commands import CommandTable
    from epic_cli.session.terminal import Screen


EXAMPLES = """\b
Examples:
  epic session
  epic session -s epic+calc_ahead=0.1 --tick 60hz
  epic session --format epic
"""

FIRST_SCREEN = f"""\
epic {__version__}: packets in, what a player would see out; q quits
type position / velocity / time, such as {{}}
or :load jitter.txt; then :plot and :compare; :help lists the commands"""

#: A longer line is read in pieces, so that input without line ends takes no memory.
_LONGEST_INPUT = 1 << 20


@dataclass(frozen=True)
class SessionOptions:
    """The options that open a session."""

    chosen: StrategySpec = declare_shared(strategy_and_settings)
    timing: Timing = declare_shared(timing_options)
    row_format: str = declare_shared(format_option)
    color: ColorChoice = declare_shared(color_option)
    init: str | None = declare_value(
        "Run a file of packets and commands first. Without a terminal, only that; - is"
        " standard input.",
        type=InputFile(),
    )
    trust: bool = declare_shared(trust_option)
    resume: bool = declare_flag("Continue the last session, even after a crash.")
    history: bool = declare_value(
        "Keep typed lines for later sessions.", "--history/--no-history", default=True
    )
    hints: bool = declare_value(
        "Show the missing rest of a packet, and suggestions.", "--hints/--no-hints", default=True
    )
    proposals: bool = declare_value(
        "Propose the next packet.", "--proposals/--no-proposals", default=True
    )
    toolbar: bool = declare_value(
        "Show the session's state at the bottom.", "--toolbar/--no-toolbar", default=True
    )
    keys: str = declare_value(
        "The editing keys; F4 switches between them.",
        type=click.Choice(["emacs", "vi"]),
        default="emacs",
        show_default=True,
    )

    @property
    def view(self) -> ReplaySpec:
        """The session's strategy, settings and timing; raises ``ValueError`` for wrong settings."""
        name, settings, _ = self.chosen
        return ReplaySpec(StrategySpec(name, checked(name, settings)), self.timing)


@make_command(EXAMPLES, "s latency tick f resume init")
def session(options: SessionOptions = declare_shared(SessionOptions)) -> int:
    """Run ``epic session``.

    Change the strategy and see what would have been drawn. This is what epic alone does on a
    terminal.

    Lines that begin with a colon are commands (:help lists them); all others are packets. Typed
    lines are saved, and "epic --resume" continues the session.

    Without a terminal, "epic session < script" runs such lines from standard input and ends;
    "epic < packets" is "epic replay".
    """
    from epic_cli.session.terminal import Screen

    screen = Screen.from_process(use_color(options.color, sys.stdout))
    is_table = sys.stdin is not None and sys.stdin.isatty() and sys.stdout.isatty()
    chosen = None if is_default("row_format") else options.row_format
    screen.choose_format(chosen or ("table" if is_table else "epic"))
    if sys.stdin is None or not sys.stdin.isatty():
        return _run_script(options, screen)
    _run_session(options, screen)
    return ExitStatus.DONE


def load_commands() -> CommandTable:
    """Load the session's commands, and return their table."""
    from epic_cli.session.commands import COMMANDS

    return COMMANDS


def _run_script(options: SessionOptions, screen: Screen) -> int:
    """Run the lines of a script from standard input, without a journal; return the exit status."""
    from epic_cli.recordings.opening import name_source, read_file
    from epic_cli.session.controller import SessionController
    from epic_cli.session.state import Session

    if options.resume:
        raise WrongUsage("--resume needs a terminal")
    path = options.init or "-"
    script = read_file(path, lambda stream: stream.read())
    controller = SessionController(Session(options.view), screen, load_commands)
    with apply_file_rule(path, options.trust):
        controller.run(script, name_source(path))
    is_done = not (controller.session.refused or screen.complaints)
    return ExitStatus.DONE if is_done else ExitStatus.LINES_REFUSED


def _run_session(options: SessionOptions, screen: Screen) -> None:
    """Open a session on this process's terminal, and run it until its end."""
    from epic_cli.session import journal as journals
    from epic_cli.session.controller import SessionController
    from epic_cli.session.journal import SessionJournal
    from epic_cli.session.state import FIRST_PACKET, Session

    directory = journals.find_state_directory()
    path = journals.find_newest(directory) if options.resume else None
    controller = SessionController(
        Session(ReplaySpec() if path else options.view),
        screen,
        load_commands,
        SessionJournal(directory, screen.warn, path),
        options.hints,
        options.proposals,
    )
    how = " (right arrow: accept)" if options.proposals and has_cursor(sys.stdout) else ""
    screen.say(FIRST_SCREEN.format(f"{FIRST_PACKET}{how}"))
    with _open_terminal(controller):
        read = _make_reader(controller, options, directory)
        try:
            _load_beginning(controller, options, path)
            _run_lines(controller, read)
        finally:
            controller.end_listening()
            screen.clear_prompt()


def _load_beginning(
    controller: SessionController, options: SessionOptions, path: Path | None
) -> None:
    """Load the session to resume, or the ``--init`` file."""
    from epic_cli.session import journal as journals

    session, screen = controller.session, controller.screen
    if options.resume and path is None:
        screen.say("there is no session to resume")
    if path is not None:
        journal, controller.journal = controller.journal, None  # it has these lines already
        controller.resuming = True
        try:
            with raise_cannot_access("read", path), apply_file_rule(str(path), options.trust):
                controller.run_quietly(journals.read(path), path.name)
        finally:
            controller.journal, controller.resuming = journal, False
        if session.refused:
            lines = format_count(session.refused, "line")
            screen.warn(f"{path}: {lines} damaged and skipped; the others are loaded")
        _show_packets(controller, "resumed")
    if options.init is not None:
        with raise_cannot_access("read", options.init):
            script = Path(options.init).read_bytes()
        with apply_file_rule(options.init, options.trust):
            controller.run_quietly(script, options.init)
        _show_packets(controller, options.init)


def _show_packets(controller: SessionController, what: str) -> None:
    if controller.session.lines:
        controller.draw_tail()
        packets = format_count(len(controller.session.lines), "packet")
        strategy = controller.session.view.strategy.name
        controller.screen.say(f"{what}: {packets}, strategy {strategy}")


def _run_lines(controller: SessionController, read: Callable[[], str]) -> None:
    """Read and run lines until the session ends; an interrupt discards only the current line."""
    while not controller.ended:
        try:
            line = read()
            if controller.listening is not None:
                controller.listening.catch_up()
            controller.run(line.encode("utf-8", "surrogateescape"))
        except KeyboardInterrupt:
            controller.screen.leave_line()
        except EOFError:
            controller.screen.leave_line()
            return


@contextlib.contextmanager
def _open_terminal(controller: SessionController) -> Iterator[None]:
    """Set up the terminal and show its first prompt, if it has a cursor."""
    from epic_cli.session.terminal import QuietTerminal

    if not has_cursor(sys.stdout):
        yield
        return
    with QuietTerminal(sys.stdin.fileno()).hold_quiet() as terminal:
        controller.screen.has_cursor = True
        controller.screen.released = terminal.release_terminal
        controller.screen.show_early(controller.prompt)
        yield


def _make_reader(
    controller: SessionController, options: SessionOptions, directory: Path
) -> Callable[[], str]:
    """Return a function that reads a line, for this kind of terminal.

    The function raises ``EOFError`` and ``KeyboardInterrupt``.
    """
    if not controller.screen.has_cursor:
        messages = sys.stdout if sys.stdout.isatty() else sys.stderr
        return _make_plain_reader(controller, messages.buffer)
    gc.disable()  # nothing that is loaded now is garbage
    from prompt_toolkit.history import InMemoryHistory

    from epic_cli.session.prompt import PromptReader, StateHistory

    gc.enable()
    history = (
        StateHistory(directory, controller.screen.warn) if options.history else InMemoryHistory()
    )
    vi = options.keys == "vi"
    return PromptReader(controller, history, options.toolbar, vi).read


def _make_plain_reader(controller: SessionController, messages: BinaryIO) -> Callable[[], str]:
    """Return a function that reads lines without an editor (TERM=dumb, or rows into a file)."""

    def ask(what: str) -> str:
        messages.write(what.encode())
        messages.flush()
        raw = sys.stdin.buffer.readline(_LONGEST_INPUT)
        if not raw:
            raise EOFError
        return raw.decode("utf-8", "surrogateescape")

    controller.confirm = lambda question: ask(f"{question} (y/n) ").strip().lower() in ("y", "yes")
    return lambda: ask(controller.prompt)
