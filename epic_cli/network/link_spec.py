"""Links by name, each as its source has published it; every delay is one way.

- Unity: the Network Simulator of Unity's Multiplayer Tools 2, whose manual lists its presets
  (docs-multiplayer.unity3d.com/tools/current/tools-network-simulator). Its packet delay and jitter
  (the greatest deviation) hold for each packet on its way; it has no rate.
- WebPageTest: www/settings/connectivity.ini.sample in github.com/catchpoint/WebPageTest. Rates
  in and out and a round trip, of which half is taken; no jitter, no loss. Its queue is not
  specified: a packet waits at most 1 s here.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import fields, replace
from typing import Any, Literal, NamedTuple

from epic_cli.engine.parameter_base import Parameter, find, nearest, parse_assignment
from epic_cli.engine.parameters import Custom
from epic_cli.network.link import LINK, PERFECT, GilbertElliott, LinkConditions, QueueLimit

UNITY = "Unity Multiplayer Tools 2"
WEB_PAGE_TEST = "WebPageTest"


class Preset(NamedTuple):
    """A named link: a description, conditions down to and up from a player, and the source."""

    name: str
    meaning: str
    down: LinkConditions
    up: LinkConditions
    source: str


def _unity(name: str, meaning: str, delay: int, jitter: int, loss: int) -> Preset:
    """Milliseconds, and percent."""
    link = LinkConditions(delay / 1000, jitter / 1000, loss=loss / 100)
    return Preset(name, meaning, link, link, UNITY)


def _web(name: str, meaning: str, down: int, up: int, round_trip: int) -> Preset:
    """Kilobits a second, and milliseconds."""

    def way(rate: int) -> LinkConditions:
        return LinkConditions(round_trip / 2000, rate=1000.0 * rate, queue=QueueLimit(1.0))

    return Preset(name, meaning, way(down), way(up), WEB_PAGE_TEST)


#: By name.
PRESETS: dict[str, Preset] = {
    preset.name: preset
    for preset in (
        _unity("broadband", "a typical home: Wi-Fi, cable, console, PC", 32, 12, 2),
        _unity("wifi", "the same: a typical home", 32, 12, 2),
        _unity("fiber", "fiber at home", 10, 1, 0),
        _unity("cable", "cable at home", 25, 5, 0),
        _unity("dsl", "ADSL or VDSL at home", 30, 10, 0),
        _unity("satellite", "a satellite in a low orbit", 100, 10, 0),
        _unity("congested", "a home whose line is full", 50, 50, 1),
        _unity("2g", "CDMA, GSM", 520, 50, 7),
        _unity("2.5g", "GPRS", 480, 40, 7),
        _unity("2.75g", "EDGE", 440, 40, 7),
        _unity("3g", "WCDMA, UMTS", 360, 30, 7),
        _unity("3.5g", "HSDPA", 160, 30, 6),
        _unity("3.75g", "HSPA+", 130, 30, 6),
        _unity("4g", "LTE", 100, 20, 4),
        _unity("lte", "the same: 4G", 100, 20, 4),
        _unity("4.5g", "LTE Advanced", 80, 20, 4),
        _unity("5g", "5G", 30, 20, 4),
        _web("web-cable", "cable", 5000, 1000, 28),
        _web("web-dsl", "DSL", 1500, 384, 50),
        _web("web-fios", "fiber (FIOS)", 20000, 5000, 4),
        _web("web-dial", "a modem on the telephone", 49, 30, 120),
        _web("web-3g-fast", "mobile 3G, fast", 1600, 768, 150),
        _web("web-3g", "mobile 3G", 1600, 768, 300),
        _web("web-3g-slow", "mobile 3G, slow", 780, 330, 200),
        _web("web-edge", "mobile EDGE", 240, 200, 840),
        _web("web-2g", "mobile 2G", 35, 32, 1300),
    )
}


def find_preset(name: str) -> Preset:
    """The preset of this name; raises ``ValueError``, with the nearest name."""
    if name in PRESETS:
        return PRESETS[name]
    near = nearest(name, list(PRESETS))
    raise ValueError(f"did you mean {near!r}?" if near else f"it must be {', '.join(PRESETS)}")


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
