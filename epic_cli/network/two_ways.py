"""A link in its two directions: what holds for both, and what is otherwise in one of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

from epic_cli.network.conditions import PERFECT, LinkConditions
from epic_cli.network.words import differences, field_of, parse_link_word, with_words

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
        """With a word that holds from now on, of one direction where it is ``up.NAME``.

        What a word says of both directions goes before what was said of one. Raises ``ValueError``
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
