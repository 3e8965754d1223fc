"""What is compared, tuned or diagnosed: recordings, a truth, and the strategies that take part."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from epic_cli.engine.replay.strategy_spec import read_owned_assignment
from epic_cli.metrics import METRICS
from epic_cli.metrics.conditions import Condition, ConditionError, check_sense, condition
from epic_cli.metrics.metric import AIM_RANGE
from epic_cli.metrics.score import GAME, Weights, game, make_weights
from epic_cli.shell.declared import (
    Decorator,
    InputFile,
    Parsed,
    TextType,
    assignments_of,
    completions,
    option,
    reads_code,
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


class Strategies(TextType):
    """Names of strategies (or of variants, ``NAME+key=value``) with commas between them."""

    name = "name,..."
    kind = tuple

    def read(self, text: str, ctx: click.Context | None) -> tuple[str, ...]:
        """Splits at the commas; the names themselves are looked up later, with their settings."""
        found = tuple(one.strip() for one in text.split(",") if one.strip())
        if not found:
            raise ValueError("no name is given")
        for one in found:
            reads_code(one.partition("+")[0], ctx)
        return found

    def propose(self, begun: str, ctx: click.Context) -> list[CompletionItem]:
        """The strategies, after the last comma, and the settings of a variant."""
        del ctx
        from epic_cli.engine.strategies import declarations

        variant, _, assignment = begun.rpartition("+")
        before, comma, begun = begun.rpartition(",")
        if "+" in begun:
            return assignments_of(begun.partition("+")[0], assignment, f"{variant}+")
        names = ((one.name, one.summary) for one in declarations())
        return completions(names, begun, f"{before}{comma}")


def _propose_assignments(begun: str) -> list[CompletionItem]:
    """The settings of all strategies, then the words that one takes."""
    from epic_cli.engine.strategies import declarations

    place, equals, _ = begun.partition("=")
    if equals:
        strategy, _, _ = place.rpartition(".")
        return assignments_of(strategy, begun[len(strategy) + 1 :], f"{strategy}.")
    settings = (
        (f"{one.name}.{setting.name}=", setting.help)
        for one in declarations()
        for setting in one.settings
    )
    return completions(settings, begun)


ASSIGNMENT = Parsed("strategy.key=value", read_owned_assignment, tuple, _propose_assignments)


def strategies_option(meaning: str) -> Decorator:
    """``--strategies``."""
    return click.option("-s", "--strategies", type=Strategies(), multiple=True, help=meaning)


def assignments_option(meaning: str) -> Decorator:
    """``--set``, as ``assignments``."""
    return click.option("--set", "assignments", type=ASSIGNMENT, multiple=True, help=meaning)


def _read_corrections(text: str) -> tuple[StrategySpec, ...]:
    from epic_cli.engine.replay.corrections import engine_specs

    return tuple(engine_specs(text))


def _propose_corrections(begun: str) -> list[CompletionItem]:
    from epic_cli.engine.replay.corrections import ENGINES

    before, comma, begun = begun.rpartition(",")
    return completions(((one, "") for one in (*ENGINES, "all")), begun, f"{before}{comma}")


#: Ways to hide corrections of one's own player, as strategies.
CORRECTIONS = Parsed("ways", _read_corrections, tuple, _propose_corrections)


def corrections_option(meaning: str) -> Decorator:
    """``--corrections``."""
    return click.option("--corrections", type=CORRECTIONS, default=(), metavar="WAYS", help=meaning)


#: ``--set``, of each variant that takes part.
variants_assignments_option = assignments_option(
    "Change a setting in all variants of a strategy; may be repeated."
)


@dataclass(frozen=True)
class Participants:
    """The strategies that take part, as they were written, and settings for all variants."""

    strategies: tuple[tuple[str, ...], ...] = shared(
        strategies_option("Names separated by commas; NAME+key=value is a variant.  [default: all]")
    )
    assignments: tuple[tuple[str, str, str], ...] = shared(variants_assignments_option)
    corrections: tuple[StrategySpec, ...] = shared(
        corrections_option(
            "Compare ways to hide the corrections of one's own predicted player, as engines do:"
            " names separated by commas, or all."
        )
    )

    def specs(self) -> list[StrategySpec]:
        """Each with its settings; raises ``WrongUsage``."""
        from epic_cli.engine.replay.strategy_spec import read_specs

        settings = {(name, key): value for name, key, value in self.assignments}
        names = [one for several in self.strategies for one in several]
        if self.corrections and not names:
            return [*self.corrections]
        with wrong_usage():
            return [*read_specs(names, settings), *self.corrections]


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
