"""What ``--link`` describes: ``4g,jitter=30ms,loss=3%,at="10s loss=20%",up.rate=1mbit``.

An entry is a preset's name or a word of the link, a parameter with its value; ``up.`` and ``down.``
before it limit it to one direction. ``at`` is what changes later, ``trace`` a recorded network in
the link's place. Scripts of matches and the control of a proxy take the same words, with blanks
between them.

Presets are as their sources have published them, and every delay is one way:

- Unity: the Network Simulator of Unity's Multiplayer Tools 2, whose manual lists its presets
  (docs-multiplayer.unity3d.com/tools/current/tools-network-simulator). Its packet delay and jitter
  (the greatest deviation) hold for each packet on its way; it has no rate.
- WebPageTest: www/settings/connectivity.ini.sample in github.com/catchpoint/WebPageTest. Rates
  in and out and a round trip, of which half is taken; no jitter, no loss. Its queue is not
  specified: a packet waits at most 1 s here.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple, get_args

from epic_cli.engine import description
from epic_cli.engine.parameters import (
    Choice,
    Custom,
    FileName,
    Number,
    Parameter,
    SettingError,
    find,
    nearest,
)
from epic_cli.network.link import (
    LINK,
    PERFECT,
    WAYS,
    GilbertElliott,
    Link,
    LinkConditions,
    QueueLimit,
    TraceBy,
    TraceEnd,
    Way,
)

if TYPE_CHECKING:
    from epic_cli.network.trace import AddedLink, NetworkTrace

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
                " entries change it.", "name", find_preset,
                lambda preset: str(preset.name), kind=Preset,
                words=lambda: ((each.name, each.meaning) for each in PRESETS.values()))  # fmt: skip

#: What can change while a link is in use.
LINK_WORDS: tuple[Parameter, ...] = (PRESET, *LINK)

#: Words of a link, each with its value; ``up.loss`` is that of one direction.
Words = tuple[tuple[str, Any], ...]


class TraceSpec(NamedTuple):
    """A recorded network in the link's place: its file (``-``: standard input), how it is used.

    ``direction`` is which one of the file's, for a link that has one direction.
    """

    file: str
    by: TraceBy = "time"
    end: TraceEnd = "loop"
    flow: str | None = None
    direction: Way = "down"


#: The fields of ``TraceSpec``.
TRACE: tuple[Parameter, ...] = (
    FileName("trace", "A recorded network, to which the other entries are added: CSV with"
             " send_time and recv_time, owd_ms, owd_down_ms and owd_up_ms, or rtt_ms; lost; flow;"
             " or what irtt, ping or RIPE Atlas wrote.", field="file"),
    Choice("trace_by", "time", "Match packets by the time they are sent, or one by one.",
           get_args(TraceBy), field="by"),
    Choice("trace_end", "loop", "After its last packet, start the recorded network again, or"
           " stop.", get_args(TraceEnd), field="end"),
    Custom("trace_flow", None, "The flow to use, if the file has several.", "name", str,
           field="flow"),
    Choice("trace_direction", "down", "Which direction, if the file has both.", ("down", "up"),
           field="direction"),
)  # fmt: skip

_SINCE = Number("at", None, "", "s", 0, 1e9)


def _parse_change(text: str) -> tuple[float, Words]:
    try:
        time, *words = text.split() or [""]
        since = _SINCE.read(time)
        if not words:
            raise SettingError(f'nothing changes then: write at="{time} loss=20%"')
        return since, tuple(map(parse_word, words))
    except SettingError as error:
        raise SettingError(f'at="{text}": {error}') from error


AT = Custom("at", (), "What changes at this time after the first packet: \"10s loss=20%\"; may be"
            " repeated.", '"time key=value ..."', _parse_change, repeated=True)  # fmt: skip

#: All that a link is described by.
LINK_KEYS: tuple[Parameter, ...] = (*LINK_WORDS, AT, *TRACE)

#: Without effect unless the other one is set, too.
_NEEDS = {
    "queue": "rate",
    "packet_size": "rate",
    "reorder_gap": "reorder",
    "reorder_correlation": "reorder",
    "loss_correlation": "loss",
}


def way_of(name: str) -> tuple[Way | None, str]:
    """The direction for which the word ``up.loss`` or ``down.loss`` is (None: both), and it."""
    for way in WAYS:
        if name.startswith(f"{way}."):
            return way, name.removeprefix(f"{way}.")
    return None, name


def word_parameter(name: str) -> Parameter:
    """What a word sets, ``up.loss`` too; raises ``SettingError`` with the nearest one."""
    return find(way_of(name)[1], LINK_WORDS, "a link")


def parse_word(text: str) -> tuple[str, Any]:
    """``loss=5%``, ``up.loss=5%`` or a preset's name, as a word and its value.

    Raises ``SettingError``.
    """
    name, equals, value = text.partition("=")
    entry = (name, value) if equals else ("preset", name) if name in PRESETS else ("", name)
    (word,) = description.read_entries([entry], word_parameter).items()
    return word


def write_words(words: Iterable[tuple[str, Any]]) -> str:
    """Words with blanks between them, which read back as the same words."""
    return " ".join(f"{name}={word_parameter(name).write(value)}" for name, value in words)


def words_of(conditions: LinkConditions) -> list[tuple[str, Any]]:
    """The words that make these conditions, but for later ones."""
    values = [(field.name, getattr(conditions, field.name)) for field in fields(LinkConditions)]
    return [
        ("gemodel" if isinstance(value, GilbertElliott) else name, value)
        for name, value in values
        if name != "later"
    ]


def differences(before: LinkConditions, after: LinkConditions) -> list[tuple[str, Any]]:
    """The words that turn one set of conditions into another."""
    both = zip(words_of(before), words_of(after), strict=True)
    return [new for old, new in both if new[1] != old[1]]


class TwoWays(NamedTuple):
    """The conditions of each direction of a connection; none of them has later ones."""

    up: LinkConditions = PERFECT
    down: LinkConditions = PERFECT

    @classmethod
    def both(cls, conditions: LinkConditions) -> TwoWays:
        """The same in both directions."""
        return cls(conditions, conditions)

    def of(self, way: str) -> LinkConditions:
        """The conditions ``up`` to the server or ``down`` from it."""
        return self.up if way == "up" else self.down

    def changed(self, words: Iterable[tuple[str, Any]]) -> TwoWays:
        """With these words; a preset gives way to the others, both directions to one.

        Raises ``SettingError`` where a word is set twice, or the words contradict each other.
        """
        seen: dict[tuple[Way | None, str], str] = {}
        values: dict[tuple[Way | None, str], Any] = {}
        for name, value in sorted(words, key=lambda word: way_of(word[0])[0] is not None):
            way, field = way_of(name)[0], word_parameter(name).field
            before = seen.setdefault((way, field), name)
            if before != name:
                raise SettingError(
                    f"{before} and {name} exclude each other: the model has its own losses"
                )
            if (way, field) in values:
                raise SettingError(f"{name} is set twice: keep one of them")
            values[way, field] = value
        changed = []
        for way in WAYS:
            own = {field: value for (of, field), value in values.items() if of in (None, way)}
            changed.append(_with_values(self.of(way), way, own))
        return TwoWays(*changed)

    def words(self) -> list[tuple[str, Any]]:
        """The words that make this of a perfect link."""
        one_way = ((f"up.{name}", value) for name, value in differences(self.down, self.up))
        return [*differences(PERFECT, self.down), *one_way]


#: Every packet arrives at once.
PERFECT_WAYS = TwoWays()


def _with_values(conditions: LinkConditions, way: Way, values: dict[str, Any]) -> LinkConditions:
    preset: Preset | None = values.pop("preset", None)
    if preset is not None:
        conditions = getattr(preset, way)
    if isinstance(values.get("loss"), GilbertElliott):
        values.setdefault("loss_correlation", 0.0)
    try:
        return replace(conditions, **values)
    except ValueError as error:
        raise SettingError(str(error)) from error


@dataclass(frozen=True)
class LinkSpec(description.Described):
    """A network: its conditions at first, ``changes`` later on, or a recorded one.

    ``changes`` are times (seconds after the first packet, rising) with the words that hold from
    then on. A link with one direction is that ``down``. Raises ``SettingError``.
    """

    ways: TwoWays = PERFECT_WAYS
    changes: tuple[tuple[float, Words], ...] = ()
    trace: TraceSpec | None = None

    TABLE, KEY, OWNER = LINK_KEYS, "preset", "a link"

    def __post_init__(self) -> None:
        self.every()

    @classmethod
    def of(cls, given: str | LinkConditions | LinkSpec) -> LinkSpec:
        """A link as a program gives it: described, its conditions, or itself."""
        if isinstance(given, LinkConditions):
            later = tuple((time, tuple(words_of(then))) for time, then in given.later)
            return cls(TwoWays.both(replace(given, later=())), later)
        return super().of(given)

    @classmethod
    def key_of(cls, name: str) -> str:
        """A name is that of a preset."""
        if name in PRESETS:
            return cls.KEY
        if way_of(name)[1] in (key.name for key in LINK_KEYS):
            return ""
        near = nearest(name, [*PRESETS, *(f"{key.name}=" for key in LINK_KEYS)])
        hint = f"did you mean {near!r}?" if near else "a file is trace=FILE"
        raise SettingError(f"{name!r} is not a preset of a link: {hint}")

    @classmethod
    def parameter(cls, key: str) -> Parameter:
        """That of ``up.loss``, too."""
        way, word = way_of(key)
        return find(word, LINK_WORDS if way else LINK_KEYS, cls.OWNER)

    @classmethod
    def parse(
        cls,
        text: str,
        usual: LinkConditions = PERFECT,
        *,
        two_ways: bool = False,
        over: Mapping[str, Any] | None = None,
    ) -> LinkSpec:
        """The link of a description; ``usual`` is what holds without a preset or a trace.

        ``over`` are words that go before those of the description. Raises ``SettingError``.
        """
        given = cls.read(description.split(text))
        changes: dict[float, list[tuple[str, Any]]] = {}
        for time, later in given.pop(AT.name, ()):
            if changes and time < max(changes):
                raise SettingError(
                    f"at {time:g} s is listed after {max(changes):g} s:"
                    " put the changes in order of time"
                )
            changes.setdefault(time, []).extend(later)
        traced = {key.field: given.pop(key.name) for key in TRACE if key.name in given}
        changed = [word for later in changes.values() for word in later]
        for name in () if two_ways else (*given, *(name for name, _ in changed)):
            way, word = way_of(name)
            if way:
                raise SettingError(f"{name}: this link has one direction, write {word}=...")
        if two_ways and "direction" in traced:
            raise SettingError("trace_direction: both directions of the file are used")
        if traced and "file" not in traced:
            raise SettingError("trace_by and the like need trace=FILE")
        replaced = {word_parameter(name).field for name in over or ()}
        kept = {
            name: value
            for name, value in given.items()
            if way_of(name)[0] or word_parameter(name).field not in replaced
        }
        words = [*kept.items(), *(over or {}).items()]
        is_usual = not traced and "preset" not in given
        begin = usual if is_usual else PERFECT
        spec = cls(
            TwoWays.both(begin).changed(words),
            tuple((time, tuple(later)) for time, later in changes.items()),
            TraceSpec(**traced) if traced else None,
        )
        _check_needed([*words, *changed], spec)
        return spec

    def unsized(self) -> LinkSpec:
        """The link of datagrams that have lengths of their own; raises ``SettingError``."""
        words = [*self.ways.words(), *(word for _, later in self.changes for word in later)]
        if any(way_of(name)[1] == "packet_size" for name, _ in words):
            raise SettingError("packet_size: datagrams have lengths of their own")
        return self

    def entries(self) -> list[tuple[str, str]]:
        """The entries of ``write``, which reads back as the same link; presets are written out."""
        entries = [(name, word_parameter(name).write(value)) for name, value in self.ways.words()]
        entries += [("at", f"{time!r}s {write_words(words)}") for time, words in self.changes]
        if self.trace is not None:
            entries += [
                (sample.name, sample.write(value))
                for sample in TRACE
                if (value := getattr(self.trace, sample.field)) != sample.default
            ]
        return entries

    @property
    def conditions(self) -> LinkConditions:
        """Those of a link with one direction, with the later ones."""
        later = zip((time for time, _ in self.changes), self.every()[1:], strict=True)
        return replace(self.ways.down, later=tuple((time, ways.down) for time, ways in later))

    def every(self) -> list[TwoWays]:
        """The conditions at first and after each change; raises ``SettingError``."""
        found = [self.ways]
        for time, words in self.changes:
            try:
                found.append(found[-1].changed(words))
            except ValueError as error:
                raise SettingError(f"at {time:g} s: {error}") from error
        return found

    def read_traces(self, two_ways: bool = False) -> dict[Way, NetworkTrace]:
        """The recorded network of each direction; nothing: there is none.

        Raises as ``read_file``.
        """
        from epic_cli.network.trace import held, read_trace
        from epic_cli.recordings.opening import read_file

        trace = self.trace
        if trace is None:
            return {}
        ways: dict[Way, Way] = (
            {"up": "up", "down": "down"} if two_ways else {"down": trace.direction}
        )

        def read(stream: BinaryIO) -> dict[Way, NetworkTrace]:
            data = held(stream).read()
            return {
                way: read_trace(io.BytesIO(data), flow=trace.flow, direction=direction)
                for way, direction in ways.items()
            }

        return read_file(trace.file, read)

    def channel(
        self,
        seed: int,
        traces: Mapping[Way, NetworkTrace] | None = None,
        *,
        way: Way = "down",
        purpose: str = "link",
        conditions: LinkConditions | None = None,
    ) -> Link | AddedLink:
        """One direction of the link, with its ``traces`` where it is a recorded network.

        ``conditions`` are others than those of a link with one direction.
        """
        conditions = self.conditions if conditions is None else conditions
        link = Link(conditions, seed=seed, purpose=purpose)
        if self.trace is None:
            return link
        from epic_cli.network.trace import AddedLink, TraceLink

        recorded = TraceLink((traces or {})[way], self.trace.by, self.trace.end)
        return AddedLink(recorded, link, conditions.in_order)


def _check_needed(words: Iterable[tuple[str, Any]], spec: LinkSpec) -> None:
    """Refuses words that have no effect for lack of another."""
    every = [conditions for ways in spec.every() for conditions in ways]
    for name, _ in words:
        needed = _NEEDS.get(way_of(name)[1])
        if needed and all(getattr(each, needed) == getattr(PERFECT, needed) for each in every):
            raise SettingError(f"{name} needs {needed}")
