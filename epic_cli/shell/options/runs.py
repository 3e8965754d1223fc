"""Options of what is compared, tuned or diagnosed: recordings, a truth, strategies."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import click

from epic_cli.engine.description import Described
from epic_cli.engine.parameters import FileName, Number
from epic_cli.metrics import METRICS
from epic_cli.metrics.conditions import Condition, ConditionError, check_sense, parse_condition
from epic_cli.metrics.metric import AIM_RANGE, GAMES, Weighing, Weights
from epic_cli.shell.declared import (
    STRATEGIES,
    Decorator,
    InputFile,
    Parsed,
    complete_behind_commas,
    declare_shared,
    declare_value,
    list_completions,
    make_seconds_type,
    propose_files,
)
from epic_cli.shell.errors import raise_wrong_usage
from epic_cli.shell.options.common import read_option

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from epic_cli.engine.replay.strategy_spec import StrategySpec
    from epic_cli.recordings.read_spec import ReadSpec


recordings_argument = click.argument(
    "recordings", nargs=-1, type=InputFile(), metavar="[RECORDING]..."
)


@dataclass(frozen=True)
class TimedFile(Described):
    """A file (or None) of times, and an ``offset`` (s) that is added to these times."""

    TABLE = (
        FileName("file", "The file to read, or - for standard input.", form="FILE"),
        Number("offset", 0.0, "Added to the times of the file.", "s", -1e11, 1e11),
    )
    KEY, OWNER = "file", "a file"

    file: str | None = None
    offset: float = 0.0

    def list_entries(self) -> list[tuple[str, str]]:
        """Return the file and its offset as entries of a description."""
        return [("" if name == "file" else name, value) for name, value in super().list_entries()]


#: ``FILE,offset=SECONDS``: a file that is read, and by what its clock differs.
TIMED_FILE = Parsed(
    "file",
    TimedFile.parse,
    TimedFile,
    propose_files,
    reads=lambda timed: filter(None, [timed.file]),
)


@dataclass(frozen=True)
class Inputs:
    """Options of the inputs: files (``-``: standard input), and the difference of their clocks (s).

    Without a recording it is standard input, or none if a network is simulated.
    """

    recordings: tuple[str, ...] = declare_shared(recordings_argument)
    real: TimedFile = declare_value(
        "The real movement, as a recording. Without it, it is rebuilt from the packets. offset="
        " is added to its times, rebuilt or not, if the clocks differ: the receiver's minus the"
        " sender's.",
        "--truth",
        type=TIMED_FILE,
        default="",
        metavar="FILE[,offset=SECONDS]",
    )
    entity: str | None = declare_value("Compare only the packets of this entity.", metavar="NAME")
    read: ReadSpec = declare_shared(read_option)

    @property
    def truth(self) -> str | None:
        """The file with the real movement; None if not given."""
        return self.real.file

    @property
    def truth_offset(self) -> float:
        """The seconds added to the truth's times."""
        return self.real.offset


def make_strategies_option(meaning: str) -> Decorator:
    """Return the option ``--strategies`` with this help."""
    return click.option("-s", "--strategies", type=STRATEGIES, multiple=True, help=meaning)


@dataclass(frozen=True)
class Participants:
    """Options of the strategies that take part, as typed."""

    strategies: tuple[tuple[str, ...], ...] = declare_shared(
        make_strategies_option(
            "Strategies to compare, separated by commas. NAME+key=value is a variant,"
            " correction:ENGINE (or all) a way to hide the corrections of the predicted own"
            " player.  [default: all]"
        )
    )

    def list_specs(self) -> list[StrategySpec]:
        """Return each strategy with its settings; raises ``WrongUsage``."""
        from epic_cli.engine.replay.strategy_spec import read_specs

        with raise_wrong_usage(about=("strategies",)):
            return read_specs(name for several in self.strategies for name in several)


def _propose_weights(begun: str) -> list[CompletionItem]:
    """Return the completions of weights: games and names of weights."""
    weights = (f"{name}=" for name in Weights._fields)
    known = (*(game.name for game in GAMES), *weights, "aim_range=")
    return list_completions(((name, None) for name in known), begun)


#: ``--weights``, as ``weighing: Weighing``.
weights_option = click.option(
    "--weights",
    "weighing",
    type=Parsed(
        "weights", Weighing.parse, Weighing, partial(complete_behind_commas, _propose_weights)
    ),
    default="",
    metavar="GAME,NAME=NUMBER,...",
    help="Weights of the score, such as shooter,accuracy=2. A kind of game, which --help-all"
    " lists, and weights that differ: accuracy, smoothness, latency, recovery, overshoot, backward,"
    " across, turning, aim; aim_range=20 is how far away an aim is judged.  [default: 1 for the"
    " first four and"
    f" turning; aim_range={AIM_RANGE:g}]",
)

#: ``error>0.3``, ``score(snapshot)<60``
CONDITION = Parsed(
    "condition",
    parse_condition,
    Condition,
    lambda begun: list_completions(((metric.name, metric.help) for metric in METRICS), begun),
)


warm_up_option = click.option(
    "--warm-up", type=make_seconds_type(0, 3600), default=None, metavar="SECONDS",
    help="Ignore rows for this long after each start, teleport and gap."
    "  [default: 1, or a tenth of the recording]",
)  # fmt: skip


@dataclass(frozen=True)
class Scoring:
    """Options of the score: the conditions, the weights, and the warm-up (s)."""

    weighing: Weighing = declare_shared(weights_option)
    fail_if: tuple[Condition, ...] = declare_value(
        "Exit with status 5 if this holds, such as error>0.3. Or score(snapshot)<60,"
        " lag>=120ms; may be repeated.",
        type=CONDITION,
        multiple=True,
    )
    warm_up: float | None = declare_shared(warm_up_option)

    def __post_init__(self) -> None:
        """Raise an error for conditions that exclude everything."""
        with raise_wrong_usage("--fail-if: ", ConditionError, about=("fail-if",)):
            check_sense(self.fail_if)


threads_option = click.option(
    "--threads",
    type=click.IntRange(1, 256),
    default=None,
    help="Number of strategies to run in parallel.  [default: one per core]",
)


def make_drawn_option(meaning: str) -> Decorator:
    """Make ``--drawn``, as ``drawn: TimedFile``; ``help_text`` says what for."""
    return click.option(
        "--drawn",
        type=TIMED_FILE,
        default="",
        metavar="FILE[,offset=SECONDS]",
        help=f"{meaning} Rows with a time on the receiver's clock and a position, and an entity"
        " where there are several: a recording, or rows of epic replay. offset= is added to"
        " their times, if their clock is not that of the arrivals.",
    )
