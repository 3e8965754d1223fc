"""What the options of ``epic compare`` look like, as click parameter types."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from epic_cli.analysis.compare.conditions import Condition, condition
from epic_cli.engine.replay.strategy_spec import read_owned_assignment
from epic_cli.ui.io.parameters import ParameterType, Parsed, assignments_of, completions

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem


class Strategies(ParameterType):
    """Names of strategies (or of variants, ``NAME+key=value``) with commas between them."""

    name = "name,..."

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[str, ...]:
        """Splits at the commas; the names themselves are looked up later, with their settings."""
        if isinstance(value, tuple):
            return value
        found = tuple(one.strip() for one in str(value).split(",") if one.strip())
        if not found:
            self.fail("no name is given", param, ctx)
        return found

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        """The strategies, after the last comma, and the settings of a variant."""
        del ctx, param
        from epic_cli.engine.strategies import declarations

        before, comma, begun = incomplete.rpartition(",")
        name, plus, _ = begun.partition("+")
        if plus:
            variant, _, begun = incomplete.rpartition("+")
            return assignments_of(name, begun, f"{variant}+")
        names = ((one.name, one.summary) for one in declarations())
        return completions(names, begun, f"{before}{comma}")


class Assignment(ParameterType):
    """``strategy.key=value``."""

    name = "strategy.key=value"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[str, str, str]:
        """Splits at the first ``=`` and at the last point before it."""
        if isinstance(value, tuple):
            return value
        try:
            return read_owned_assignment(str(value))
        except ValueError as error:
            self.fail(str(error), param, ctx)

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        """The settings of all strategies, then the words that one takes."""
        del ctx, param
        from epic_cli.engine.strategies import declarations

        place, equals, _ = incomplete.partition("=")
        if equals:
            strategy, _, _ = place.rpartition(".")
            return assignments_of(strategy, incomplete[len(strategy) + 1 :], f"{strategy}.")
        settings = (
            (f"{one.name}.{setting.name}=", setting.help)
            for one in declarations()
            for setting in one.settings
        )
        return completions(settings, incomplete)


class WeightList(ParameterType):
    """``accuracy=2,smoothness=1,latency=0.5``."""

    name = "name=number,..."

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> dict[str, float]:
        """The weights that are given, by name."""
        if isinstance(value, dict):
            return value
        given: dict[str, float] = {}
        for one in filter(None, (part.strip() for part in str(value).split(","))):
            name, _, number = one.partition("=")
            try:
                given[name.strip()] = float(number)
            except ValueError:
                self.fail(f"{one!r} is not of the form name=number", param, ctx)
        return given

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        """The names, after the last comma."""
        del ctx, param
        from click.shell_completion import CompletionItem

        from epic_cli.analysis.weights import Weights

        before, comma, begun = incomplete.rpartition(",")
        return [
            CompletionItem(f"{before}{comma}{name}=")
            for name in Weights._fields
            if name.startswith(begun)
        ]


class ConditionText(Parsed):
    """``error>0.3``, ``score(snapshot)<60``."""

    def __init__(self) -> None:
        super().__init__("condition", condition, Condition)

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        """The names of the figures."""
        del ctx, param
        from epic_cli.analysis.metrics import METRICS

        return completions(((one.name, one.help) for one in METRICS), incomplete)
