"""What is compared, tuned or diagnosed: recordings, a truth, and the strategies that take part."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from epic_cli.metrics import METRICS
from epic_cli.metrics.conditions import Condition, ConditionError, check_sense, condition
from epic_cli.metrics.metric import AIM_RANGE
from epic_cli.metrics.score import GAME, Weights, game, make_weights
from epic_cli.shell.declared import (
    Decorator,
    InputFile,
    Parsed,
    Strategies,
    completions,
    option,
    seconds,
    shared,
    value,
)
from epic_cli.shell.errors import WrongUsage, wrong_usage
from epic_cli.shell.options.common import input_format_option
from epic_cli.shell.options.common import layout_options as recording_layout_options

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from epic_cli.engine.replay.strategy_spec import StrategySpec
    from epic_cli.recordings.layout import Layout as RecordingLayout


recordings_argument = click.argument(
    "recordings", nargs=-1, type=InputFile(), metavar="[RECORDING]..."
)


@dataclass(frozen=True)
class Inputs:
    """What is compared with what: files (``-``: standard input), and the clocks' difference (s).

    No recording: standard input, or none where a network is simulated.
    """

    recordings: tuple[str, ...] = shared(recordings_argument)
    truth: str | None = value(
        "The real movement, as a recording; without it, it is rebuilt from the packets.",
        type=InputFile(),
    )
    truth_offset: float = value(
        "Add this to the truth's times, if the clocks differ: the receiver's minus the sender's.",
        type=seconds(-1e9, 1e9),
        default=0.0,
        metavar="SECONDS",
    )
    entity: str | None = value("Compare only the packets of this entity.")
    input_format: str = shared(input_format_option)
    given: RecordingLayout | None = shared(recording_layout_options)

    def __post_init__(self) -> None:
        """Refuses to read standard input twice."""
        if [*self.recordings, self.truth].count("-") > 1:
            raise WrongUsage("recording and truth cannot both come from standard input")


def strategies_option(meaning: str) -> Decorator:
    """``--strategies``."""
    return click.option("-s", "--strategies", type=Strategies(), multiple=True, help=meaning)


@dataclass(frozen=True)
class Participants:
    """The strategies that take part, as they were written."""

    strategies: tuple[tuple[str, ...], ...] = shared(
        strategies_option(
            "Names separated by commas; NAME+key=value is a variant, correction:ENGINE (or all) a"
            " way to hide the corrections of one's own predicted player.  [default: all]"
        )
    )

    def specs(self) -> list[StrategySpec]:
        """Each with its settings; raises ``WrongUsage``."""
        from epic_cli.engine.replay.strategy_spec import read_specs

        with wrong_usage():
            return read_specs(name for several in self.strategies for name in several)


def _read_weights(text: str) -> dict[str, float]:
    """``accuracy=2,smoothness=1,latency=0.5`` by name; raises ``ValueError``."""
    given: dict[str, float] = {}
    for one in filter(None, (part.strip() for part in text.split(","))):
        name, _, number = one.partition("=")
        try:
            given[name.strip()] = float(number)
        except ValueError:
            raise ValueError(f"{one!r} is not of the form name=number") from None
    return given


def _propose_weights(begun: str) -> list[CompletionItem]:
    """The names, after the last comma."""
    before, comma, begun = begun.rpartition(",")
    return completions(((f"{name}=", None) for name in Weights._fields), begun, f"{before}{comma}")


WEIGHTS = Parsed("name=number,...", _read_weights, dict, _propose_weights)

#: ``error>0.3``, ``score(snapshot)<60``
CONDITION = Parsed(
    "condition",
    condition,
    Condition,
    lambda begun: completions(((one.name, one.help) for one in METRICS), begun),
)


@dataclass(frozen=True)
class Weighing:
    """What the score weighs."""

    game: str | None = shared(option(GAME))
    given_weights: dict[str, float] = value(
        "Weights of the score: accuracy=2,latency=0.5, also smoothness, recovery, overshoot,"
        " backward, across, turning, aim.  [default: those of the game, or 1 for the first four and"
        " turning]",
        "--weights",
        type=WEIGHTS,
        default="",
    )

    aim_range: float = value(
        "How far away the aim of what turns is judged, in length units.",
        type=click.FloatRange(1e-6, 1e9),
        default=AIM_RANGE,
        show_default=True,
    )

    def __post_init__(self) -> None:
        """Refuses weights that sum to 0."""
        _ = self.weights

    @property
    def weights(self) -> Weights:
        """In the kind of game, or in general; raises ``WrongUsage``."""
        with wrong_usage("--weights: "):
            return make_weights(self.given_weights, game(self.game).weights if self.game else None)


warm_up_option = click.option("--warm-up", type=seconds(0, 3600), default=None, metavar="SECONDS",
                              help="Ignore rows for this long after each start, teleport and gap."
                              "  [default: 1, or a tenth of the recording]")  # fmt: skip


@dataclass(frozen=True)
class Scoring:
    """What counts, and how much; the warm-up is in seconds."""

    weighing: Weighing = shared(Weighing)
    fail_if: tuple[Condition, ...] = value(
        "Exit with status 5 if this holds: error>0.3, score(snapshot)<60, lag>=120ms; may"
        " be repeated.",
        type=CONDITION,
        multiple=True,
    )
    warm_up: float | None = shared(warm_up_option)

    def __post_init__(self) -> None:
        """Refuses conditions that exclude everything."""
        with wrong_usage("--fail-if: ", ConditionError):
            check_sense(self.fail_if)


threads_option = click.option(
    "--threads",
    type=click.IntRange(1, 256),
    default=None,
    help="How many strategies to run in parallel.  [default: one per core]",
)
