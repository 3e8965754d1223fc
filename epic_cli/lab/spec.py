"""An experiment as a value that one table converts to an address's query and a command line."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from operator import itemgetter
from typing import NamedTuple
from urllib.parse import parse_qsl, quote, urlencode

from epic_cli.engine import description
from epic_cli.engine.parameters import Number, Parameter, SettingError, find, take_named
from epic_cli.engine.replay.playback import TIMING
from epic_cli.live.browser.session import check_strategies
from epic_cli.metrics.metric import GAME
from epic_cli.network.link import LINK
from epic_cli.network.link_spec import AT, PRESET
from epic_cli.network.movement_spec import DURATION
from epic_cli.network.paths import PATH, TURNING
from epic_cli.network.randomness import SEED
from epic_cli.network.sender import SENDER

#: The movements beside the paths: the recording with its own network; its movement over a
#: simulated one; a movement drawn by hand.
RECORDING, RECORDED, BY_HAND = "recording", "movement", "hand"

#: The tick and the pacing, and the group of the score's parameters.
TICK, PACING, SCORE = TIMING[0], TIMING[2], "score"

#: The parameters of an experiment by topic; of a recording with its own network, only the last
#: group has an effect.
GROUPS: dict[str, tuple[Parameter, ...]] = {
    "movement": (*PATH, TURNING, DURATION),
    "send": SENDER,
    "link": (PRESET, *LINK),
    SCORE: (GAME, TICK, PACING, SEED),
}
TABLE = tuple(each for group in GROUPS.values() for each in group)

#: Parameters of paths alone.
_PATHS = {point.name for point in (*PATH, TURNING)}

#: The numbers of networks in successive comparisons.
STEPS = (1, 8, 64, 256)

#: The longest query of an address, and the most points of a movement drawn by hand.
LONGEST_QUERY, MOST_POINTS = 60_000, 2000

DEFAULT_STRATEGIES = ("epic", "snapshot", "dead-reckoning")


class LabInputs(NamedTuple):
    """The inputs that the command line gives the lab, which no address can name.

    The ``recording``, if any, what the game ``drawn`` of it, as the option, the names of ``own``
    strategies, and the path of a movement drawn by hand.
    """

    recording: str = ""
    own: tuple[str, ...] = ()
    drawn: str = ""
    by_hand: str = "by-hand.csv"

    def start(self) -> str:
        """Return the command line that starts this lab again."""
        words = ["epic", "lab", *filter(None, [self.recording])]
        return shlex.join([*words, *([f"--drawn={self.drawn}"] if self.drawn else [])])


NOTHING = LabInputs()


def _encode_query(pairs: Sequence[tuple[str, str]]) -> str:
    return urlencode(pairs, quote_via=quote, safe="+,;=")


@dataclass(frozen=True)
class LabSpec:
    """An experiment.

    ``moves`` is a path's name, ``RECORDING``, ``RECORDED`` or ``BY_HAND``. ``values`` are the set
    values of ``TABLE``, as text, in its order; ``changes`` are later changes of the link, each
    ``TIME WORDS``. ``strategies`` are texts ``NAME+key=value``; ``points`` are ``t,x,y`` of the
    movement drawn by hand (seconds, lengths).
    """

    moves: str = "strafe"
    values: tuple[tuple[str, str], ...] = ()
    changes: tuple[str, ...] = ()
    strategies: tuple[str, ...] = DEFAULT_STRATEGIES
    points: str = ""
    networks: int = 1

    @property
    def simulated(self) -> bool:
        """True if a network is simulated."""
        return self.moves != RECORDING

    def query(self) -> str:
        """Return the query of the experiment's address, which ``read_query`` reads."""
        pairs = [("movement", self._describe_group("movement", self.moves))]
        pairs += [(name, self._describe_group(name)) for name in ("send", "link")]
        score = {parameter.name for parameter in GROUPS[SCORE]}
        pairs = [*filter(itemgetter(1), pairs), *(pair for pair in self.values if pair[0] in score)]
        pairs += [("s", strategy) for strategy in self.strategies]
        pairs += [("points", self.points)] if self.points else []
        pairs += [("networks", str(self.networks))] if self.networks > 1 else []
        return _encode_query(pairs)

    def _describe_group(self, group: str, name: str = "", without: Collection[str] = ()) -> str:
        """Return the description of a group's set values, preceded by ``name``."""
        known = {parameter.name for parameter in GROUPS[group]} - {*without}
        entries = [("", name)] if name else []
        entries += [pair for pair in self.values if pair[0] in known]
        entries += [("at", change) for change in self.changes if group == "link"]
        return description.write(entries)

    def list_arguments(self, given: LabInputs) -> list[str]:
        """Return the arguments of ``epic compare`` that give the experiment's results."""
        score = {parameter.name for parameter in GROUPS[SCORE]}
        words = [f"--{name}={value}" for name, value in self.values if name in score]
        if self.moves == RECORDING:
            words = [given.recording, *(word for word in words if not word.startswith("--seed="))]
            words += [f"--drawn={given.drawn}"] if given.drawn else []
        else:
            file = given.recording if self.moves == RECORDED else given.by_hand
            is_path = self.moves not in (RECORDED, BY_HAND)
            movement = self._describe_group("movement", self.moves)
            if not is_path:
                truth = description.write([("truth", file)])
                how = self._describe_group("movement", without=_PATHS)
                movement = ",".join(filter(None, (truth, how)))
            described = {"movement": movement, "seeds": str(self.networks)}
            described |= {name: self._describe_group(name) for name in ("send", "link")}
            words = [*(f"--{name}={text}" for name, text in described.items() if text), *words]
        return [*words, f"--strategies={','.join(self.strategies)}"]

    def write_command(self, given: LabInputs) -> str:
        """Return the command line of ``epic compare`` that gives the experiment's results."""
        return f"epic compare {shlex.join(self.list_arguments(given))}"

    def write_design_command(self, given: LabInputs) -> str:
        """Return the command line of ``epic tune --design`` for these conditions."""
        several = replace(self, networks=max(self.networks, STEPS[1]))
        return f"epic tune --design {shlex.join(several.list_arguments(given)[:-1])}"


#: The first experiment: a network that shows what strategies are for.
OPENING = LabSpec(
    values=(("send_rate", "10"), ("latency", "100ms"), ("jitter", "50ms"), ("loss", "10%"))
)


def _read_description(group: str, text: str) -> tuple[dict[str, str], str, list[str]]:
    """Return a description's checked values, its movement if it has one, and later changes."""
    values: dict[str, str] = {}
    moves, changes = "", []
    for entry in description.split(text):
        if not entry.key and group == "movement":
            moves = _parse_moves(entry.value)
        elif entry.key == "at" and group == "link":
            AT.read(entry.value)
            changes.append(entry.value)
        else:
            parameter = find(entry.key or _DESCRIBED[group], GROUPS[group], f"a {group}")
            take_named(parameter, parameter.read, entry.value)
            values[parameter.name] = entry.value
    return values, moves, changes


def read_query(query: str, own: Sequence[str] = ()) -> LabSpec:
    """Parse an address of the lab, or its query; an empty query is ``OPENING``.

    ``own`` as in ``LabInputs``. Raise ``SettingError`` with the mistake and how to correct it.
    """
    pairs = _parse_pairs(query)
    if not pairs:
        return OPENING
    spec = LabSpec()
    values: dict[str, str] = {}
    changes, strategies = [], []
    for name, value in pairs:
        if name in _DESCRIBED:
            found, named_path, later = _read_description(name, value)
            values |= found
            changes += later
            spec = replace(spec, moves=named_path or spec.moves)
        elif name == "s":
            strategies.append(value)
        elif name == "points":
            read_points(value)
            spec = replace(spec, points=value)
        elif name == "networks":
            spec = replace(spec, networks=take_named(_NETWORKS, _NETWORKS.read, value))
        else:
            parameter = find(name, GROUPS[SCORE], "an experiment")
            take_named(parameter, parameter.read, value)
            values[parameter.name] = value
    if "gemodel" in values:  # gemodel sets the losses itself
        values.pop("loss", None)
        values.pop("loss_correlation", None)
    check_strategies(strategies, own)
    if spec.moves == BY_HAND and not spec.points:
        raise SettingError("no movement has been drawn yet: draw one on the map")
    return replace(
        spec,
        values=tuple((row.name, values[row.name]) for row in TABLE if row.name in values),
        changes=tuple(changes),
        strategies=tuple(strategies) or DEFAULT_STRATEGIES,
    )


def _parse_pairs(query: str) -> list[tuple[str, str]]:
    if len(query) > LONGEST_QUERY:
        raise SettingError(f"an experiment has at most {LONGEST_QUERY:,} characters")
    text = query.partition("?")[2] if "://" in query else query.removeprefix("?")
    try:
        return parse_qsl(text.partition("#")[0].replace("+", "%2B"), max_num_fields=200)
    except ValueError as error:
        raise SettingError(f"this is not an experiment: {error}") from error


def mend_query(query: str, fits: Callable[[str], bool]) -> tuple[str, list[str]]:
    """Split a query's entries into those that are valid together, and the others.

    ``fits`` returns True if a query can be shown.
    """
    kept: list[tuple[str, str]] = []
    left_out = []
    pairs = sorted(
        _parse_pairs(query), key=lambda pair: pair[0] != "points"
    )  # a movement needs them
    for name, value in pairs:
        try:
            entries = [description.write([each]) for each in description.split(value)]
        except SettingError:
            entries = [value]
        for entry in entries if name in _DESCRIBED else [value]:
            if fits(_encode_query([*kept, (name, entry)])):
                kept.append((name, entry))
            else:
                left_out.append(entry if "=" in entry else f"{name}={entry}")
    return _encode_query(kept), left_out


#: The key of an entry without one, in each description of an address.
_DESCRIBED = {"movement": "path", "send": "send_rate", "link": "preset"}

_NETWORKS = Number("networks", 1, "Number of networks.", "", 1, STEPS[-1], whole=True)


def _parse_moves(value: str) -> str:
    if value in (RECORDING, RECORDED, BY_HAND):
        return value
    return str(take_named(PATH[0], PATH[0].read, value))


def read_points(text: str) -> list[tuple[float, float, float]]:
    """Parse ``t,x,y;t,x,y`` with rising times; raise ``SettingError``."""
    try:
        points = [tuple(map(float, part.split(","))) for part in text.split(";") if part]
        rising = all(b[0] > a[0] for a, b in pairwise(points))
        fits = all(len(point) == 3 and all(abs(n) < 1e6 for n in point) for point in points)
    except (ValueError, IndexError):
        rising = fits = False
    if not (fits and rising and 2 <= len(points) <= MOST_POINTS):
        raise SettingError(
            f"a movement is 2 to {MOST_POINTS} points t,x,y separated by semicolons, with rising"
            f" times"
        )
    return [(t, x, y) for t, x, y in points]


def write_points(text: str) -> bytes:
    """Return the points of a drawn movement as a recording."""
    rows = (f"{t!r},{x!r},{y!r},0\n" for t, x, y in read_points(text))
    return ("time,x,y,z\n" + "".join(rows)).encode()
