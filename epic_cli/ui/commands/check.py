"""``epic check``: Check golden cases, or a program of yours, row by row."""

from __future__ import annotations

import threading
from functools import partial

import click

from epic_cli.ui.io.color import ColorChoice
from epic_cli.ui.io.errors import WrongUsage
from epic_cli.ui.io.replaying import ReplayOptions
from epic_cli.ui.options.check import (
    Doing,
    Program,
    Report,
    doing_options,
    program_options,
    report_options,
)
from epic_cli.ui.options.common import color_option
from epic_cli.ui.options.compare import threads_option
from epic_cli.ui.options.groups import OptionGroup, given_options
from epic_cli.ui.options.replay import DRAWING_OPTIONS

EXAMPLES = """\b
Examples:
  epic check --new tests/turn sample_inputs/turn.txt -s mirror --latency 80ms
  epic check --verbose tests
  epic check --tap - tests
  epic check --builtin -s mirror --against 'epic replay --format csv'
"""

#: Those that only --new and --builtin have a use for.
drawing_options = OptionGroup("drawing", partial(ReplayOptions, ()), *DRAWING_OPTIONS)


@click.command(epilog=EXAMPLES)
@click.argument("paths", nargs=-1, type=click.Path(), metavar="[CASE|FOLDER]...")
@doing_options
@program_options
@report_options
@threads_option
@drawing_options
@color_option
def check(
    paths: tuple[str, ...],
    doing: Doing,
    program: Program,
    report: Report,
    threads: int | None,
    drawing: ReplayOptions,
    color: ColorChoice,
) -> int:
    """Check golden cases, or a program of yours, row by row.

    A case is a folder with case.toml (recording = "FILE", strategy = "NAME", and all other options
    of "epic replay") beside expected.tsv, .csv, .jsonl or .epic. All cases in the FOLDERs are
    checked, and what is drawn and not expected is written as expected.new. Numbers have to be the
    same to the last digit unless [tolerance] says otherwise, and [expect] can ask for figures
    of "epic compare": error = "<0.3".

    With --against, the packets of each case (or, with --builtin, of streams of our own) are
    piped to your program, and its rows are held against ours.

    Exit status: 0 all is as expected, 2 wrong usage, no cases, or one that cannot be read, 3 a
    file that is missing, 4 a strategy of somebody's own failed, 5 something is not as expected,
    130 interrupted.
    """
    from epic_cli.checking.against import singles
    from epic_cli.checking.case import Case
    from epic_cli.checking.run import check_all, check_rows
    from epic_cli.ui.commands.cases import builtin, load, make
    from epic_cli.ui.commands.check_output import Output

    context = click.get_current_context()
    _check_usage(context, paths, doing, program)
    if doing.new is not None:
        return make(doing.new, paths, drawing, _is_given(context, "row_format"))
    stop = threading.Event()
    against = program.make(stop.is_set)
    output = Output(report, doing, color)
    cases = builtin(drawing) if program.builtin else load(paths or (".",))
    if against is not None:
        cases = [
            one for each in cases for one in (singles(each) if isinstance(each, Case) else [each])
        ]
    for outcome in check_all(cases, against.check if against else check_rows, threads, stop):
        output.add(outcome)
    return output.end()


def _is_given(context: click.Context, name: str) -> bool:
    """Whether an option is typed, or configured."""
    return context.get_parameter_source(name) is not click.core.ParameterSource.DEFAULT


def _check_usage(
    context: click.Context, paths: tuple[str, ...], doing: Doing, program: Program
) -> None:
    """Refuses options that would have no effect."""
    given = given_options(context)
    flags = {one.name: one.opts[-1] for one in context.command.params}
    drawing = {one.name for one in drawing_parameters()} & given
    if drawing and doing.new is None and not program.builtin:
        flag = flags[min(drawing)]
        raise WrongUsage(f"{flag} is for --new and --builtin: a case says it in its own file")
    others = {"accept", "against", "builtin", "junit", "tap", "charts", "html"} & given
    if doing.new is not None and others:
        raise WrongUsage(f"{flags[min(others)]} does not go with --new")
    if doing.accept and program.against is not None:
        raise WrongUsage("--accept takes what is drawn here, and not what --against prints")
    if doing.yes and not doing.accept:
        raise WrongUsage("--yes goes with --accept")
    if program.builtin and paths:
        raise WrongUsage("--builtin has cases of its own: give no other ones")


def drawing_parameters() -> list[click.Parameter]:
    """The parameters of ``drawing_options``."""

    @drawing_options
    def probe(**_: object) -> None:
        """Nothing."""

    return list(probe.__click_params__)  # type: ignore[attr-defined]
