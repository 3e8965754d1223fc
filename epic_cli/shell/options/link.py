"""A simulated link: the options that several commands share, made from its parameters."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import click
from click.core import ParameterSource

from epic_cli.network.link import LINK, LinkConditions
from epic_cli.network.link_spec import (
    LINK_WORDS,
    PRESET,
    PRESETS,
    Preset,
    Words,
    differences,
    field_of,
    parse_word,
    way_of,
    with_later,
    with_words,
)
from epic_cli.shell.console import write_text
from epic_cli.shell.declared import (
    Assignment,
    Decorator,
    OptionGroup,
    given_options,
    option,
    options,
    seconds,
)
from epic_cli.shell.errors import WrongUsage, wrong_usage

_DEFAULTS = LinkConditions()

#: Options that are no fields of ``LinkConditions``.
_NO_WORDS = ("preset", "list_presets", "at")

#: Without effect unless the other one is given, too.
_NEEDS = {
    "queue": "rate",
    "packet_size": "rate",
    "reorder_gap": "reorder",
    "reorder_correlation": "reorder",
    "loss_correlation": "loss",
}


@dataclass(frozen=True)
class TwoWayLink:
    """A link in both directions; ``up`` and ``down`` override one of them.

    ``changes`` are times (seconds), each with a word and its value from then on: the later
    conditions of ``both`` in words.
    """

    both: LinkConditions
    up: Words
    down: Words
    changes: tuple[tuple[float, str, Any], ...]


def two_ways(*, up: Words, down: Words, **options: Any) -> TwoWayLink:
    """The link in both directions that the options describe."""
    given = Given(options)
    changed = [way_of(word)[1].partition("=")[0] for _, words in given.at for word in words.split()]
    both = given.conditions([*(name for name, _ in (*up, *down)), *changed], _of_both(given.at))
    of_preset = differences(given.preset.down, given.preset.up) if given.preset else []
    named = {field_of(name) for name, _ in up} | given.fields
    up = (*(word for word in of_preset if field_of(word[0]) not in named), *up)
    with wrong_usage("the link: "):
        up, down = _without_preset(both, up, "up"), _without_preset(both, down, "down")
        changes = tuple(
            (time, *parse_word(word)) for time, words in given.at for word in words.split()
        )
    return TwoWayLink(both, up, down, changes)


def _of_both(changes: Sequence[tuple[float, str]]) -> Iterator[tuple[float, str]]:
    """The changes without the words that are for one direction."""
    for time, text in changes:
        words = [word for word in text.split() if way_of(word)[0] is None]
        if words or not text.split():
            yield time, " ".join(words)


def _without_preset(both: LinkConditions, words: Words, direction: str) -> Words:
    """The words of a direction, those of a preset one by one; raises ``ValueError``."""
    with_words(both, words)
    preset = dict(words).get("preset")
    if preset is None:
        return words
    others = [word for word in words if word[0] != "preset"]
    return tuple(differences(both, with_words(getattr(preset, direction), others)))


class Given:
    """The values of the options of a link, and which of them apply.

    With a preset only those that were given apply; with a recorded network, itself a link, only
    those of the command line.
    """

    def __init__(self, options: dict[str, Any]) -> None:
        self._context = click.get_current_context()
        self._values = {name: value for name, value in options.items() if name not in _NO_WORDS}
        self.preset: Preset | None = None
        self.preset = options["preset"] if self._counts("preset") else None
        self.at = options["at"] if self._counts("at") else ()
        if "loss" in given_options() and not self._on_command_line("gemodel"):
            self._values["gemodel"] = None  # the configuration's
        if self._values.pop("gemodel") is None or not self._counts("gemodel"):
            self._loss = "loss"
        else:
            self._values["loss"], self._loss = options["gemodel"], "gemodel"
        self.fields = {name for name in self._values if self._was_given(name)}

    def conditions(
        self, more: Sequence[str] = (), at: Iterable[tuple[float, str]] | None = None
    ) -> LinkConditions:
        """The link; ``more`` are words of one direction.

        ``at``: the later changes, if not all of ``--at``.
        """
        base = self.preset.down if self.preset else LinkConditions()
        counting = {name: value for name, value in self._values.items() if self._counts(name)}
        with wrong_usage("the link: "):
            link = with_later(replace(base, **counting), self.at if at is None else list(at))
        self._check(link, more)
        return link

    def _check(self, link: LinkConditions, more: Sequence[str]) -> None:
        given = given_options()
        for name, needed in _NEEDS.items():
            usual = getattr(_DEFAULTS, needed)
            missing = all(getattr(one, needed) == usual for one in link.every())
            if name in given and needed not in more and missing:
                raise WrongUsage(f"--{name.replace('_', '-')} needs --{needed}")

    def _source(self, name: str) -> ParameterSource | None:
        return self._context.get_parameter_source(self._loss if name == "loss" else name)

    def _on_command_line(self, name: str) -> bool:
        return self._context.get_parameter_source(name) == ParameterSource.COMMANDLINE

    def _was_given(self, name: str) -> bool:
        """Whether the option was set, on the command line if the preset was set there."""
        if self._on_command_line("preset") or self._context.params.get("trace"):
            return self._source(name) == ParameterSource.COMMANDLINE
        return self._source(name) not in (None, ParameterSource.DEFAULT)

    def _counts(self, name: str) -> bool:
        if self._context.params.get("trace") or (name != "preset" and self.preset):
            return self._was_given(name)
        return True


def link_options(latency: str, meaning: str) -> Decorator:
    """A simulated link in the terms of netem, as ``link: LinkConditions``.

    The default and the meaning of the latency differ from command to command.
    """
    return OptionGroup(
        "link", lambda **given: Given(given).conditions(), *_options(latency, meaning)
    )


def two_way_link_options(latency: str, meaning: str, sized: bool = True) -> Decorator:
    """The same in two directions, as ``link: TwoWayLink``.

    Not ``sized``: packets have lengths of their own.
    """
    return OptionGroup(
        "link",
        two_ways,
        *_options(latency, meaning, sized),
        *(
            click.option(f"--{direction}", type=Assignment(LINK_WORDS, "a link", "word=value"),
                         multiple=True,
                         help=f"Override the link {where}, such as {example}; may be repeated.")
            for direction, where, example in (
                ("up", "on the way to the server", "rate=1mbit"),
                ("down", "on the way from it", "latency=20ms"),
            )
        ),
    )  # fmt: skip


def _options(latency: str, meaning: str, sized: bool = True) -> tuple[Decorator, ...]:
    return (
        option(PRESET),
        click.option("--list-presets", is_flag=True, is_eager=True, callback=_list_presets,
                     help="List the presets with their figures and sources, and exit."),
        *options(
            LINK, () if sized else ("packet_size",), latency={"default": latency, "help": meaning}
        ),
        click.option("--at", cls=At, metavar="TIME WORDS", help="Change the link at this time"
                     " after the first packet: --at 10s loss=20%"
                     f' --at 12s "loss=0 latency=90ms"; may be repeated. Words: {_WORDS}.'),
    )  # fmt: skip


#: The words that follow ``--at``, ``--up`` and ``--down``.
_WORDS = ", ".join(one.name for one in LINK_WORDS)


class _TimeAndWords(click.Tuple):
    """A time and words; in a variable the pairs have semicolons between them."""

    envvar_list_splitter = ";"

    def __init__(self) -> None:
        super().__init__([seconds(0, 1e9), click.STRING])


class At(click.Option):
    """``--at TIME WORDS``, as often as there are changes; in a configuration one string each."""

    def __init__(self, names: Sequence[str], **more: Any) -> None:
        super().__init__(names, type=_TimeAndWords(), multiple=True, **more)

    def type_cast_value(self, ctx: click.Context, value: Any) -> Any:
        """Takes strings, too, in which the time stands first."""
        parts = [value] if isinstance(value, str) else list(value or ())
        pairs = [
            (*part.split(maxsplit=1), "")[:2] if isinstance(part, str) else part for part in parts
        ]
        return super().type_cast_value(ctx, pairs)


def _list_presets(context: click.Context, parameter: click.Parameter, wanted: bool) -> None:
    del parameter
    if wanted and not context.resilient_parsing:
        from epic_cli.shell.console import draw
        from epic_cli.show.link import presets_report
        from epic_cli.show.text import ReportText

        # nothing is left out, however narrow the screen is: there is no other place to look it up
        write_text(draw(ReportText(presets_report(PRESETS.values())), color=False))
        context.exit()
