"""What the options of a link come to: which of their values count, and what they make."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import click
from click.core import ParameterSource

from epic_cli.network.conditions import LinkConditions
from epic_cli.network.presets import Preset
from epic_cli.network.words import (
    Words,
    differences,
    field_of,
    parse_word,
    way_of,
    with_later,
    with_words,
)
from epic_cli.ui.io.errors import WrongUsage
from epic_cli.ui.options.groups import given_options

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
    """A link in both directions; ``up`` and ``down`` are what is otherwise in one of them.

    ``changes`` are times (seconds), each with a word and its value from then on: the later
    conditions of ``both`` in words.
    """

    both: LinkConditions
    up: Words
    down: Words
    changes: tuple[tuple[float, str, Any], ...]


def one_way(**options: Any) -> LinkConditions:
    """The link that the options describe."""
    return Given(options).conditions()


def two_ways(*, up: Words, down: Words, **options: Any) -> TwoWayLink:
    """The link in both directions that the options describe."""
    given = Given(options)
    changed = [way_of(word)[1].partition("=")[0] for _, words in given.at for word in words.split()]
    both = given.conditions([*(name for name, _ in (*up, *down)), *changed], _of_both(given.at))
    of_preset = differences(given.preset.down, given.preset.up) if given.preset else []
    named = {field_of(name) for name, _ in up} | given.fields
    up = (*(word for word in of_preset if field_of(word[0]) not in named), *up)
    with _wrong_usage():
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
    """The values of the options of a link, and which of them count.

    Beside a preset only those that were given count; beside a recorded network, which is a link
    of its own, only those of the command line.
    """

    def __init__(self, options: dict[str, Any]) -> None:
        self._context = click.get_current_context()
        self._values = {name: value for name, value in options.items() if name not in _NO_WORDS}
        self.preset: Preset | None = None
        self.preset = options["preset"] if self._counts("preset") else None
        self.at = options["at"] if self._counts("at") else ()
        if "loss" in given_options(self._context) and not self._on_command_line("gemodel"):
            self._values["gemodel"] = None  # the configuration's
        if self._values.pop("gemodel") is None or not self._counts("gemodel"):
            self._loss = "loss"
        else:
            self._values["loss"], self._loss = options["gemodel"], "gemodel"
        self.fields = {name for name in self._values if self._was_given(name)}

    def conditions(
        self, more: Sequence[str] = (), at: Iterable[tuple[float, str]] | None = None
    ) -> LinkConditions:
        """What the link is like, where ``more`` are words of one direction alone.

        ``at``: what changes later, if not all that was given.
        """
        base = self.preset.down if self.preset else LinkConditions()
        counting = {name: value for name, value in self._values.items() if self._counts(name)}
        with _wrong_usage():
            link = with_later(replace(base, **counting), self.at if at is None else list(at))
        self._check(link, more)
        return link

    def _check(self, link: LinkConditions, more: Sequence[str]) -> None:
        given = given_options(self._context)
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
        """Whether somebody has chosen it, on the command line if that is where the preset is."""
        if self._on_command_line("preset") or self._context.params.get("trace"):
            return self._source(name) == ParameterSource.COMMANDLINE
        return self._source(name) not in (None, ParameterSource.DEFAULT)

    def _counts(self, name: str) -> bool:
        if self._context.params.get("trace") or (name != "preset" and self.preset):
            return self._was_given(name)
        return True


@contextlib.contextmanager
def _wrong_usage() -> Iterator[None]:
    try:
        yield
    except ValueError as error:
        raise WrongUsage(f"the link: {error}") from error
