"""The words of a link in text: ``loss=20%``, as scripts, the session and ``--at`` take them.

A word is a parameter of a link and its value; a prefix ``up.`` or ``down.`` limits it to one
direction.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import fields, replace
from typing import Any, Literal, NamedTuple

from epic_cli.engine.parameter_base import Parameter, find, parse_assignment
from epic_cli.engine.parameters import Custom
from epic_cli.network.conditions import LINK, PERFECT, GilbertElliott, LinkConditions
from epic_cli.network.presets import PRESETS, Preset, find_preset

#: A word that sets many parameters.
PRESET = Custom("preset", None, "A link by name, such as wifi, lte, 3g or satellite; other"
                " options of the link change it.", "name", find_preset,
                lambda preset: str(preset.name), kind=Preset,
                words=lambda: ((one.name, one.meaning) for one in PRESETS.values()))  # fmt: skip

#: All words of a link.
LINK_WORDS: tuple[Parameter, ...] = (*LINK, PRESET)


def field_of(word: str) -> str:
    """The field of ``LinkConditions`` that a word sets."""
    return find(word, LINK_WORDS, "a link").field


def parse_link_word(text: str) -> tuple[str, Any]:
    """``name=value``, also with hyphens in the name; raises ``ValueError``."""
    parameter, value = parse_assignment(text, LINK_WORDS, "a link")
    return parameter.name, value


def with_words(conditions: LinkConditions, words: Iterable[tuple[str, Any]]) -> LinkConditions:
    """Conditions with these words applied, a preset first.

    Raises ``ValueError`` where a word is set twice, or the words contradict each other.
    """
    values: dict[str, Any] = {}
    for name, value in words:
        field = field_of(name)
        if field in values:
            raise ValueError(f"{field} is set twice: keep one of them")
        values[field] = value
    preset: Preset | None = values.pop("preset", None)
    if preset is not None:
        conditions = replace(preset.down, later=conditions.later)
    if "loss" in values and isinstance(values["loss"], GilbertElliott):
        values.setdefault("loss_correlation", 0.0)
    return replace(conditions, **values)


def with_later(conditions: LinkConditions, changes: Sequence[tuple[float, str]]) -> LinkConditions:
    """Conditions that change later: pairs of a time (seconds) and words with blanks between them.

    A setting holds until a later one changes it. Raises ``ValueError``.
    """
    words: dict[float, list[tuple[str, Any]]] = {}
    last = 0.0
    for time, text in changes:
        if time < last:
            raise ValueError(
                f"{time:g} s is listed after {last:g} s: put the changes in order of time"
            )
        last = time
        if not text.split():
            raise ValueError(f"nothing changes at {time:g} s: write {time:g}s loss=20%")
        words.setdefault(time, []).extend(map(parse_link_word, text.split()))
    later: list[tuple[float, LinkConditions]] = []
    now = replace(conditions, later=())
    for time, changed in words.items():
        try:
            now = with_words(now, changed)
        except ValueError as error:
            raise ValueError(f"at {time:g} s: {error}") from error
        later.append((time, now))
    return replace(conditions, later=tuple(later))


def write_words(words: Iterable[tuple[str, Any]]) -> str:
    """Words as a text that reads back as the same words."""
    return " ".join(
        f"{name}={find(name, LINK_WORDS, 'a link').write(value)}" for name, value in words
    )


def differences(before: LinkConditions, after: LinkConditions) -> list[tuple[str, Any]]:
    """The words that turn one set of conditions into another."""
    both = zip(words_of(before), words_of(after), strict=True)
    return [new for old, new in both if new[1] != old[1]]


def words_of(conditions: LinkConditions) -> list[tuple[str, Any]]:
    """The words that make these conditions, but for later ones."""
    values = [(one.name, getattr(conditions, one.name)) for one in fields(LinkConditions)]
    return [
        ("gemodel" if isinstance(value, GilbertElliott) else name, value)
        for name, value in values
        if name != "later"
    ]


Way = Literal["up", "down"]

#: To the server, and from it.
WAYS: tuple[Way, ...] = ("up", "down")

#: Words of a link, each with its value.
Words = tuple[tuple[str, Any], ...]


class TwoWays(NamedTuple):
    """The conditions of ``both`` directions, and the words that hold ``up`` or ``down`` instead."""

    both: LinkConditions = PERFECT
    up: Words = ()
    down: Words = ()

    def of(self, way: Way) -> LinkConditions:
        """The conditions of one direction."""
        return with_words(self.both, getattr(self, way))

    def changed(self, name: str, value: Any) -> TwoWays:
        """With a word applied, to one direction if it is ``up.NAME``.

        A word for both directions overrides earlier ones for a single direction. Raises
        ``ValueError``
        where the words contradict each other.
        """
        way, word = way_of(name)
        if way:
            own = self._own(way, word, value)
            changed = self._replace(up=own) if way == "up" else self._replace(down=own)
        elif word == "preset":
            both = with_words(self.both, [(word, value)])
            changed = TwoWays(both, tuple(differences(value.down, value.up)))
        else:
            both = with_words(self.both, [(word, value)])
            changed = TwoWays(both, _without(self.up, word), _without(self.down, word))
        for one in WAYS:
            changed.of(one)
        return changed

    def _own(self, way: Way, word: str, value: Any) -> Words:
        if word == "preset":
            return tuple(differences(self.both, getattr(value, way)))
        return (*_without(getattr(self, way), word), (word, value))


def way_of(name: str) -> tuple[Way | None, str]:
    """The direction for which the word ``up.loss`` or ``down.loss`` is (None: both), and it."""
    for way in WAYS:
        if name.startswith(f"{way}."):
            return way, name.removeprefix(f"{way}.")
    return None, name


def parse_word(text: str) -> tuple[str, Any]:
    """``loss=5%`` or ``up.loss=5%``: its name with the direction, and its value.

    Raises ``ValueError``.
    """
    way, word = way_of(text)
    name, value = parse_link_word(word)
    return f"{way}.{name}" if way else name, value


def _without(words: Sequence[tuple[str, Any]], word: str) -> Words:
    return tuple(one for one in words if field_of(one[0]) != field_of(word))
