"""The parameter types that commands and the session share: strategies, settings, ticks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from epic_cli.engine.parameter_base import nearest
from epic_cli.engine.replay.strategy_spec import read_assignment
from epic_cli.recordings import guard

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from click.shell_completion import CompletionItem

    ParameterType = click.ParamType[Any]  # generic only for the type checker
    Choice = click.Choice[str]
else:
    ParameterType = click.ParamType
    Choice = click.Choice

#: What formats are called elsewhere.
_ALSO = {"json": "jsonl", "ndjson": "jsonl", "md": "markdown"}


def completions(
    words: Iterable[tuple[str, str | None]], begun: str, before: str = ""
) -> list[CompletionItem]:
    """The words that begin as what is ``begun``, each with its help, behind what is ``before``."""
    from click.shell_completion import CompletionItem  # only completion waits for it

    return [
        CompletionItem(f"{before}{word}", help=help_text)
        for word, help_text in words
        if word.startswith(begun)
    ]


class FormatChoice(Choice):
    """A format by its name, or as others call it."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """``json`` means JSON lines where there are no others."""
        other = _ALSO.get(str(value), value)
        known = value not in self.choices and other in self.choices
        return str(super().convert(other if known else value, param, ctx))


class TextType(ParameterType):
    """What is made of a text; a value of its ``kind`` is one already."""

    kind: type | tuple[type, ...] = ()

    def read(self, text: str, ctx: click.Context | None) -> Any:
        """The value of a text; raises ``ValueError``."""
        raise NotImplementedError

    def propose(self, begun: str, ctx: click.Context) -> list[CompletionItem]:
        """What may be meant by what is begun."""
        del begun, ctx
        return []

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Reads a text, or what a configuration has in the place of one."""
        if isinstance(value, self.kind):
            return value
        try:
            return self.read(str(value), ctx)
        except ValueError as error:
            self.fail(str(error), param, ctx)

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        """What may be meant."""
        del param
        return self.propose(incomplete, ctx)


class Parsed(TextType):
    """What ``parse`` makes of a text, of this ``kind``; it raises ``ValueError``.

    ``complete`` proposes what may be meant by what is begun.
    """

    def __init__(
        self,
        name: str,
        parse: Callable[[str], object],
        kind: type | tuple[type, ...] = (),
        complete: Callable[[str], list[CompletionItem]] = lambda _: [],
    ) -> None:
        self.name = name
        self.kind = kind
        self._parse = parse
        self._complete = complete

    def read(self, text: str, ctx: click.Context | None) -> Any:
        """What is parsed."""
        del ctx
        return self._parse(text)

    def propose(self, begun: str, ctx: click.Context) -> list[CompletionItem]:
        """What is completed."""
        del ctx
        return self._complete(begun)


def choose(text: str, known: Sequence[str], what: str) -> str:
    """A name that is known; raises ``ValueError`` with the nearest one, or all of them."""
    if text not in known:
        near = nearest(text, list(known))
        hint = f"did you mean {near!r}?" if near else f"choose from {', '.join(known)}"
        raise ValueError(f"no {what}; {hint}")
    return text


class InputFile(click.Path):
    """The path of a file that is read; ``-`` is standard input."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Registers it with the run, in whose context alone values are more than tried."""
        path = str(super().convert(value, param, ctx))
        if ctx is not None and (files := ctx.meta.get(guard.KEY)):
            files.reads(path)
        return path


def reads_code(strategy: str, ctx: click.Context | None) -> None:
    """Registers the file of a strategy, ``./file.py:Class``, with the run."""
    path, colon, _ = strategy.rpartition(":")
    if colon and ctx is not None and (files := ctx.meta.get(guard.KEY)):
        files.reads(path)


class OutputFile(click.Path):
    """The path of a file that is written; ``-`` is standard output."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Registers it with the run, in whose context alone values are more than tried."""
        path = str(super().convert(value, param, ctx))
        if ctx is not None and param is not None and (files := ctx.meta.get(guard.KEY)):
            files.writes(path, max(param.opts, key=len))
        return path


def propose_strategies(begun: str) -> list[CompletionItem]:
    """The names of strategies, each with its summary, or files: ``./file.py:Class``."""
    from click.shell_completion import CompletionItem

    from epic_cli.engine.strategies import declarations

    if begun.startswith((".", "/", "~")):
        return [CompletionItem(begun, type="file")]
    return completions(((one.name, one.summary) for one in declarations()), begun)


class StrategyName(TextType):
    """The name of a strategy, checked and completed from the registry."""

    name = "name"

    def read(self, text: str, ctx: click.Context | None) -> str:
        """Refuses an unknown name with the nearest one."""
        from epic_cli.engine.strategies import find

        reads_code(text, ctx)
        find(text)
        return text

    def propose(self, begun: str, ctx: click.Context) -> list[CompletionItem]:
        """The names, each with its summary."""
        del ctx
        return propose_strategies(begun)


class SettingAssignment(TextType):
    """``key=value``, completed from the settings of the chosen strategy."""

    name = "key=value"
    kind = tuple

    def read(self, text: str, ctx: click.Context | None) -> tuple[str, str]:
        """Splits at the first ``=``."""
        del ctx
        return read_assignment(text)

    def chosen_strategy(self, ctx: click.Context) -> str | None:
        """The strategy whose settings these are; None: the default one."""
        name: str | None = ctx.params.get("strategy")
        return name

    def propose(self, begun: str, ctx: click.Context) -> list[CompletionItem]:
        """The settings, then the words that a setting takes."""
        from epic_cli.engine.strategies import DEFAULT

        return assignments_of(self.chosen_strategy(ctx) or DEFAULT, begun)


def assignments_of(strategy: str, begun: str, before: str = "") -> list[CompletionItem]:
    """What ``key=value`` can become for a strategy: its settings, then the words of a setting.

    ``before`` is put in front of each.
    """
    from epic_cli.engine.failures import StrategyFailed
    from epic_cli.engine.strategies import UnknownStrategy, declaration

    try:
        settings = declaration(strategy).settings
    except (UnknownStrategy, StrategyFailed):
        return []
    key, equals, _ = begun.partition("=")
    if not equals:
        words = ((f"{one.name}=", f"{one.help} ({one.range})") for one in settings)
        return completions(words, begun, before)
    choices = (one for setting in settings if setting.name == key for one in setting.choices)
    return completions(((f"{key}={one}", None) for one in choices), begun, before)
