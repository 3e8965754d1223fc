"""The words of a link in text: ``loss=20%``, as scripts, the session and ``--at`` take them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import fields, replace
from typing import Any, NamedTuple

from epic_cli.engine.declaration import nearest
from epic_cli.engine.quantities import parse
from epic_cli.network.conditions import (
    DISTRIBUTIONS,
    HIGHEST_CORRELATION,
    LARGEST_GAP,
    LARGEST_PACKET,
    LONGEST_DELAY,
    LinkConditions,
    QueueLimit,
    check_rate,
)
from epic_cli.network.loss import GilbertElliott
from epic_cli.network.presets import Preset, find_preset

#: How a rate without a limit is written.
UNLIMITED = "unlimited"


class Word(NamedTuple):
    """How a value is read, which raises ``ValueError``, and written so that it reads the same."""

    read: Callable[[str], Any]
    write: Callable[[Any], str] = repr


def number_word(unit: str, lowest: float, highest: float) -> Word:
    """A quantity of this unit, within a range."""

    def read(text: str) -> float:
        value = parse(text, unit)
        if not lowest <= value <= highest:
            raise ValueError(f"out of range, which is {lowest:g} to {highest:g} {unit}".rstrip())
        return value

    return Word(read)


def whole_word(lowest: int, highest: int) -> Word:
    """A whole number."""

    def read(text: str) -> int:
        if not (text.isdecimal() and len(text) <= 20 and lowest <= int(text) <= highest):
            raise ValueError(f"not a whole number from {lowest} to {highest}")
        return int(text)

    return Word(read)


def choice_word(words: Sequence[str]) -> Word:
    """One of some words."""

    def read(text: str) -> str:
        if text not in words:
            near = nearest(text, list(words))
            hint = f"; did you mean {near!r}?" if near else ""
            raise ValueError(f"not one of {', '.join(words)}{hint}")
        return text

    return Word(read, str)


def _read_switch(text: str) -> bool:
    if text not in ("on", "off"):
        raise ValueError("it is on or off")
    return text == "on"


SWITCH = Word(_read_switch, lambda value: "on" if value else "off")


def read_rate(text: str) -> float:
    """Bits a second: ``1mbit``, or ``unlimited``; raises ``ValueError``."""
    if text == UNLIMITED:
        return math.inf
    rate = parse(text, "bit/s")
    check_rate(rate)
    return rate


def _write_rate(rate: float) -> str:
    return UNLIMITED if math.isinf(rate) else repr(rate)


_SHARE = number_word("", 0, 1)
_CORRELATION = number_word("", 0, HIGHEST_CORRELATION)

#: By name. Each is a field of ``LinkConditions``; ``gemodel`` is ``loss``.
LINK_WORDS: dict[str, Word] = {
    "latency": number_word("s", 0, LONGEST_DELAY),
    "jitter": number_word("s", 0, LONGEST_DELAY),
    "distribution": choice_word(DISTRIBUTIONS),
    "correlation": _CORRELATION,
    "loss": _SHARE,
    "loss_correlation": _CORRELATION,
    "gemodel": Word(GilbertElliott.parse, lambda model: ",".join(map(repr, model))),
    "duplicate": _SHARE,
    "reorder": _SHARE,
    "reorder_gap": whole_word(1, LARGEST_GAP),
    "reorder_correlation": _CORRELATION,
    "corrupt": _SHARE,
    "rate": Word(read_rate, _write_rate),
    "queue": Word(QueueLimit.parse, str),
    "packet_size": whole_word(1, LARGEST_PACKET),
    "in_order": SWITCH,
}

#: A word that stands for many.
PRESET_WORD = Word(find_preset, lambda preset: preset.name)


def field_of(word: str) -> str:
    """The field of ``LinkConditions`` that a word sets."""
    return "loss" if word == "gemodel" else word


def parse_link_word(text: str) -> tuple[str, Any]:
    """``name=value``, also with hyphens in the name; raises ``ValueError``."""
    name, equals, value = text.partition("=")
    name = name.replace("-", "_")
    words = {**LINK_WORDS, "preset": PRESET_WORD}
    if name not in words:
        near = nearest(name, list(words))
        hint = f"did you mean {near}=...?" if near else f"there are {', '.join(words)}"
        raise ValueError(f"a link has no {text.partition('=')[0]!r}: {hint}")
    if not equals:
        raise ValueError(f"{name} has no value: write {name}=...")
    try:
        return name, words[name].read(value)
    except ValueError as error:
        raise ValueError(f"{name}={value}: {error}") from error


def with_words(conditions: LinkConditions, words: Iterable[tuple[str, Any]]) -> LinkConditions:
    """Conditions under which these words hold too, a preset before all others.

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

    What is said at one time holds until it is said otherwise. Raises ``ValueError``.
    """
    words: dict[float, list[tuple[str, Any]]] = {}
    last = 0.0
    for time, text in changes:
        if time < last:
            raise ValueError(
                f"{time:g} s comes after {last:g} s: put the changes in the order of time"
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


def differences(before: LinkConditions, after: LinkConditions) -> list[tuple[str, Any]]:
    """The words that make the one of the other."""
    found = []
    for field in fields(LinkConditions):
        value = getattr(after, field.name)
        if field.name != "later" and value != getattr(before, field.name):
            found.append(("gemodel" if isinstance(value, GilbertElliott) else field.name, value))
    return found
