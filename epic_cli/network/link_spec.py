"""The description of a link: ``4g,jitter=30ms,loss=3%,at="10s loss=20%",up.rate=1mbit``.

An entry is a preset's name, or a parameter with its value; ``up.`` or ``down.`` before it limits it
to one direction. ``at`` is a later change; ``trace`` is a recorded network instead of the link.
Scripts of matches and the control of a proxy take the same words, separated by blanks.

Presets have the values that their sources published, and every delay is one way:

- Unity: the Network Simulator of Unity's Multiplayer Tools 2, whose manual lists its presets
  (docs-multiplayer.unity3d.com/tools/current/tools-network-simulator). Its packet delay and jitter
  (the largest deviation) apply to each packet; it has no rate.
- WebPageTest: www/settings/connectivity.ini.sample in github.com/catchpoint/WebPageTest. Rates
  in and out and a round trip, of which half is taken; no jitter, no loss. It does not specify a
  queue: here a packet waits at most 1 s.
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
    find_nearest,
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
    """A named link: description, conditions down to and up from a player, and source."""

    name: str
    meaning: str
    down: LinkConditions
    up: LinkConditions
    source: str


def _make_unity_preset(name: str, meaning: str, delay: int, jitter: int, loss: int) -> Preset:
    """Return a preset of Unity: delay and jitter in milliseconds, loss in percent."""
    link = LinkConditions(delay / 1000, jitter / 1000, loss=loss / 100)
    return Preset(name, meaning, link, link, UNITY)


def _make_web_preset(name: str, meaning: str, down: int, up: int, round_trip: int) -> Preset:
    """Return a preset of WebPageTest: rates in kbit/s, the round trip in milliseconds."""

    def make_direction(rate: int) -> LinkConditions:
        return LinkConditions(round_trip / 2000, rate=1000.0 * rate, queue=QueueLimit(1.0))

    return Preset(name, meaning, make_direction(down), make_direction(up), WEB_PAGE_TEST)


#: By name.
PRESETS: dict[str, Preset] = {
    preset.name: preset
    for preset in (
        _make_unity_preset("broadband", "a typical home: Wi-Fi, cable, console, PC", 32, 12, 2),
        _make_unity_preset("wifi", "the same: a typical home", 32, 12, 2),
        _make_unity_preset("fiber", "fiber at home", 10, 1, 0),
        _make_unity_preset("cable", "cable at home", 25, 5, 0),
        _make_unity_preset("dsl", "ADSL or VDSL at home", 30, 10, 0),
        _make_unity_preset("satellite", "a satellite in a low orbit", 100, 10, 0),
        _make_unity_preset("congested", "a home whose line is full", 50, 50, 1),
        _make_unity_preset("2g", "CDMA, GSM", 520, 50, 7),
        _make_unity_preset("2.5g", "GPRS", 480, 40, 7),
        _make_unity_preset("2.75g", "EDGE", 440, 40, 7),
        _make_unity_preset("3g", "WCDMA, UMTS", 360, 30, 7),
        _make_unity_preset("3.5g", "HSDPA", 160, 30, 6),
        _make_unity_preset("3.75g", "HSPA+", 130, 30, 6),
        _make_unity_preset("4g", "LTE", 100, 20, 4),
        _make_unity_preset("lte", "the same: 4G", 100, 20, 4),
        _make_unity_preset("4.5g", "LTE Advanced", 80, 20, 4),
        _make_unity_preset("5g", "5G", 30, 20, 4),
        _make_web_preset("web-cable", "cable", 5000, 1000, 28),
        _make_web_preset("web-dsl", "DSL", 1500, 384, 50),
        _make_web_preset("web-fios", "fiber (FIOS)", 20000, 5000, 4),
        _make_web_preset("web-dial", "a modem on the telephone", 49, 30, 120),
        _make_web_preset("web-3g-fast", "mobile 3G, fast", 1600, 768, 150),
        _make_web_preset("web-3g", "mobile 3G", 1600, 768, 300),
        _make_web_preset("web-3g-slow", "mobile 3G, slow", 780, 330, 200),
        _make_web_preset("web-edge", "mobile EDGE", 240, 200, 840),
        _make_web_preset("web-2g", "mobile 2G", 35, 32, 1300),
    )
}


def find_preset(name: str) -> Preset:
    """Return the preset of this name; raise ``ValueError`` that suggests the most similar name."""
    if name in PRESETS:
        return PRESETS[name]
    near = find_nearest(name, list(PRESETS))
    raise ValueError(f"did you mean {near!r}?" if near else f"it must be {', '.join(PRESETS)}")


#: The word for a preset, which sets many parameters.
PRESET = Custom("preset", None, "A link by name (wifi, lte, 3g, satellite, ...); other entries"
                " change it.", "name", find_preset,
                lambda preset: str(preset.name), kind=Preset,
                words=lambda: ((each.name, each.meaning) for each in PRESETS.values()))  # fmt: skip

#: Parameters that can change while a link is in use.
LINK_WORDS: tuple[Parameter, ...] = (PRESET, *LINK)

#: Words of a link, each with its value; ``up.loss`` is that of one direction.
Words = tuple[tuple[str, Any], ...]


class TraceSpec(NamedTuple):
    """A recorded network in place of a link: its file (``-`` for standard input) and its options.

    ``direction`` is the file's direction to take, for a link that has one direction.
    """

    file: str
    by: TraceBy = "time"
    end: TraceEnd = "loop"
    flow: str | None = None
    direction: Way = "down"


#: The fields of ``TraceSpec``.
TRACE: tuple[Parameter, ...] = (
    FileName("trace", "A recorded network, to which other entries are added: CSV with send_time"
             " and recv_time, owd_ms, owd_down_ms and owd_up_ms, or rtt_ms; lost; flow; or a"
             " file of"
             " irtt, ping or RIPE Atlas.", field="file"),
    Choice("trace_by", "time", "Match packets with those of the trace by send time, or one by one.",
           get_args(TraceBy), field="by"),
    Choice("trace_end", "loop", "After its last packet, start the recorded network again, or"
           " stop.", get_args(TraceEnd), field="end"),
    Custom("trace_flow", None, "The flow to use, if the file has several.", "name", str,
           field="flow"),
    Choice("trace_direction", "down", "The direction to use, if the file has both.", ("down", "up"),
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


AT = Custom("at", (), "Change the link at a time after the first packet: \"10s loss=20%\"; may be"
            " repeated.", '"time key=value ..."', _parse_change, repeated=True)  # fmt: skip

#: Every key of ``--link``.
LINK_KEYS: tuple[Parameter, ...] = (*LINK_WORDS, AT, *TRACE)

#: Parameters without effect unless the other one is set.
_NEEDS = {
    "queue": "rate",
    "packet_size": "rate",
    "reorder_gap": "reorder",
    "reorder_correlation": "reorder",
    "loss_correlation": "loss",
}


def split_way(name: str) -> tuple[Way | None, str]:
    """Split ``up.loss`` into direction and word; without a prefix the direction is None."""
    for way in WAYS:
        if name.startswith(f"{way}."):
            return way, name.removeprefix(f"{way}.")
    return None, name


def find_word_parameter(name: str) -> Parameter:
    """Return the parameter that a word such as ``loss`` or ``up.loss`` sets.

    Raises ``SettingError`` with the most similar name.
    """
    return find(split_way(name)[1], LINK_WORDS, "a link")


def parse_word(text: str) -> tuple[str, Any]:
    """Parse ``loss=5%``, ``up.loss=5%`` or a preset's name into a word and its value.

    Raises ``SettingError``.
    """
    name, equals, value = text.partition("=")
    entry = (name, value) if equals else ("preset", name) if name in PRESETS else ("", name)
    (word,) = description.read_entries([entry], find_word_parameter).items()
    return word


def write_words(words: Iterable[tuple[str, Any]]) -> str:
    """Write words separated by blanks; ``parse_word`` reads them back."""
    return " ".join(f"{name}={find_word_parameter(name).write(value)}" for name, value in words)


def describe_conditions(conditions: LinkConditions) -> list[tuple[str, Any]]:
    """Return the words that describe these conditions, without later changes."""
    values = [(field.name, getattr(conditions, field.name)) for field in fields(LinkConditions)]
    return [
        ("gemodel" if isinstance(value, GilbertElliott) else name, value)
        for name, value in values
        if name != "later"
    ]


def list_differences(before: LinkConditions, after: LinkConditions) -> list[tuple[str, Any]]:
    """Return the words that turn one set of conditions into another."""
    both = zip(describe_conditions(before), describe_conditions(after), strict=True)
    return [new for old, new in both if new[1] != old[1]]


class TwoWays(NamedTuple):
    """The conditions of both directions of a connection, without later changes."""

    up: LinkConditions = PERFECT
    down: LinkConditions = PERFECT

    @classmethod
    def from_conditions(cls, conditions: LinkConditions) -> TwoWays:
        """Return the same conditions in both directions."""
        return cls(conditions, conditions)

    def get_direction(self, way: str) -> LinkConditions:
        """Return the conditions of the direction ``up`` to the server or ``down`` from it."""
        return self.up if way == "up" else self.down

    def apply_words(self, words: Iterable[tuple[str, Any]]) -> TwoWays:
        """Return the conditions with these words applied.

        Presets are applied first, then words for both directions, then those for one. Raises
        ``SettingError`` where a word is set twice, or words contradict each other.
        """
        seen: dict[tuple[Way | None, str], str] = {}
        values: dict[tuple[Way | None, str], Any] = {}
        for name, value in sorted(words, key=lambda word: split_way(word[0])[0] is not None):
            way, field = split_way(name)[0], find_word_parameter(name).field
            before = seen.setdefault((way, field), name)
            if before != name:
                raise SettingError(f"leave out {before} or {name}: the model has its own losses")
            if (way, field) in values:
                raise SettingError(f"{name} is set twice: keep one of them")
            values[way, field] = value
        changed = []
        for way in WAYS:
            own = {field: value for (of, field), value in values.items() if of in (None, way)}
            changed.append(_apply_values(self.get_direction(way), way, own))
        return TwoWays(*changed)

    def write_words(self) -> list[tuple[str, Any]]:
        """Return the words that turn a perfect link into these conditions."""
        one_way = ((f"up.{name}", value) for name, value in list_differences(self.down, self.up))
        return [*list_differences(PERFECT, self.down), *one_way]


#: Every packet arrives at once.
PERFECT_WAYS = TwoWays()


def _apply_values(conditions: LinkConditions, way: Way, values: dict[str, Any]) -> LinkConditions:
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
    """A network: its initial conditions and later ``changes``, or a recorded network.

    ``changes`` are times (seconds after the first packet, rising) with the words that hold from
    then on. A link with one direction takes that of ``down``. Raises ``SettingError``.
    """

    ways: TwoWays = PERFECT_WAYS
    changes: tuple[tuple[float, Words], ...] = ()
    trace: TraceSpec | None = None

    TABLE, KEY, OWNER = LINK_KEYS, "preset", "a link"

    def __post_init__(self) -> None:
        self.iterate_changes()

    @classmethod
    def from_description(cls, given: str | LinkConditions | LinkSpec) -> LinkSpec:
        """Return the spec for a description or for conditions; a spec is returned unchanged."""
        if isinstance(given, LinkConditions):
            later = tuple((time, tuple(describe_conditions(then))) for time, then in given.later)
            return cls(TwoWays.from_conditions(replace(given, later=())), later)
        return super().from_description(given)

    @classmethod
    def find_key(cls, name: str) -> str:
        """Return the key of an entry that has no key: a preset's name."""
        if name in PRESETS:
            return cls.KEY
        if split_way(name)[1] in (key.name for key in LINK_KEYS):
            return ""
        near = find_nearest(name, [*PRESETS, *(f"{key.name}=" for key in LINK_KEYS)])
        hint = f"did you mean {near!r}?" if near else "'list' shows them, and a file is trace=FILE"
        raise SettingError(f"{name!r} is not a preset of a link: {hint}")

    @classmethod
    def find_parameter(cls, key: str) -> Parameter:
        """Return the parameter of a key such as ``loss`` or ``up.loss``."""
        way, word = split_way(key)
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
        """Parse a description; ``usual`` applies where it has neither a preset nor a trace.

        Words in ``over`` override those of the description. Raises ``SettingError``.
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
            way, word = split_way(name)
            if way:
                raise SettingError(f"{name}: this link has one direction, write {word}=...")
        if two_ways and "direction" in traced:
            raise SettingError("leave out trace_direction: both directions of the file are used")
        if traced and "file" not in traced:
            raise SettingError("keys that begin with trace_ need trace=FILE")
        replaced = {find_word_parameter(name).field for name in over or ()}
        kept = {
            name: value
            for name, value in given.items()
            if split_way(name)[0] or find_word_parameter(name).field not in replaced
        }
        words = [*kept.items(), *(over or {}).items()]
        is_usual = not traced and "preset" not in given
        begin = usual if is_usual else PERFECT
        spec = cls(
            TwoWays.from_conditions(begin).apply_words(words),
            tuple((time, tuple(later)) for time, later in changes.items()),
            TraceSpec(**traced) if traced else None,
        )
        _check_dependencies([*words, *changed], spec)
        return spec

    def drop_sizes(self) -> LinkSpec:
        """Return the link for datagrams whose own lengths count.

        Raise ``SettingError`` for a size.
        """
        words = [*self.ways.write_words(), *(word for _, later in self.changes for word in later)]
        if any(split_way(name)[1] == "packet_size" for name, _ in words):
            raise SettingError("leave packet_size out: each datagram has a length of its own")
        return self

    def list_entries(self) -> list[tuple[str, str]]:
        """Return the entries that ``write`` writes and ``parse`` reads back.

        Presets are written out.
        """
        entries = [
            (name, find_word_parameter(name).write(value))
            for name, value in self.ways.write_words()
        ]
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
        """The conditions of a link with one direction, including later changes."""
        later = zip((time for time, _ in self.changes), self.iterate_changes()[1:], strict=True)
        return replace(self.ways.down, later=tuple((time, ways.down) for time, ways in later))

    def iterate_changes(self) -> list[TwoWays]:
        """Return the initial conditions and those after each change; raise ``SettingError``."""
        found = [self.ways]
        for time, words in self.changes:
            try:
                found.append(found[-1].apply_words(words))
            except ValueError as error:
                raise SettingError(f"at {time:g} s: {error}") from error
        return found

    def read_traces(self, two_ways: bool = False) -> dict[Way, NetworkTrace]:
        """Return the recorded network of each direction; empty if there is none.

        Raises as ``read_file``.
        """
        from epic_cli.network.trace import read_trace, read_whole
        from epic_cli.recordings.opening import read_file

        trace = self.trace
        if trace is None:
            return {}
        ways: dict[Way, Way] = (
            {"up": "up", "down": "down"} if two_ways else {"down": trace.direction}
        )

        def read(stream: BinaryIO) -> dict[Way, NetworkTrace]:
            data = read_whole(stream).read()
            return {
                way: read_trace(io.BytesIO(data), flow=trace.flow, direction=direction)
                for way, direction in ways.items()
            }

        return read_file(trace.file, read)

    def make_channel(
        self,
        seed: int,
        traces: Mapping[Way, NetworkTrace] | None = None,
        *,
        way: Way = "down",
        purpose: str = "link",
        conditions: LinkConditions | None = None,
    ) -> Link | AddedLink:
        """Return one direction of the link, with its ``traces`` if it is a recorded network.

        ``conditions`` replace those of a link with one direction.
        """
        conditions = self.conditions if conditions is None else conditions
        link = Link(conditions, seed=seed, purpose=purpose)
        if self.trace is None:
            return link
        from epic_cli.network.trace import AddedLink, TraceLink

        recorded = TraceLink((traces or {})[way], self.trace.by, self.trace.end)
        return AddedLink(recorded, link, conditions.in_order)


def _check_dependencies(words: Iterable[tuple[str, Any]], spec: LinkSpec) -> None:
    """Raise ``SettingError`` for a word without effect, because another word is missing."""
    every = [conditions for ways in spec.iterate_changes() for conditions in ways]
    for name, _ in words:
        needed = _NEEDS.get(split_way(name)[1])
        if needed and all(getattr(each, needed) == getattr(PERFECT, needed) for each in every):
            raise SettingError(f"{name} needs {needed}")
