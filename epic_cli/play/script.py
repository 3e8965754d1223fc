"""Scripts: input over time as text, to play a match without a keyboard, or again.

    # anything after a number sign is ignored
    set latency=50ms send=20hz              before the first time: how the match begins
    set duration=60                         and how long it lasts
    0.5 A right                             from 0.5 s on, player A runs to the right
    1.2 A right up shoot aim=B              and up; fires once, at where B is on A's screen
    2 A stop
    3 set latency=0.2 rewind=off            from then on
    3 say B is drawn {late.B} late          a caption, until the next one

A caption's placeholders are filled when it is shown. Measured by the first player's client since
the last switch (any set but that of speed): {late.B}, the lag of the drawn B; {off.B} and {most.B},
his mean and largest distance from the server's position, {apart.B} the distance now; {key}, the
delay until a key is seen; {corrections} and their mean, {correction}; {updates}, states of others
in a second, and {bits}, their mean size. Of the match: {echo} and {link}, the round trip as
measured and of the link; {moved}, of the newest shot, as in --show shots; {steps}, the client's in
the last second. Settings: {latency}, {jitter}, {rtt}, {rate} and {period} of packets, {step},
{frames} a second, {smoothing} and {remote.NAME}, a time of the strategy.

A player's words: left, right, up, down, stop; shoot or throw, once; aim=PLAYER or aim=X,Y
(otherwise he aims where he is running). Words after set: those of --match and --link, send (as
--send has it), the seed, and remote.NAME, a setting of the strategy.

``scenarios/NAME.script`` are those of a book's chapter, which ``epic play NAME`` plays.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import BinaryIO, NamedTuple

from epic_cli.play.spec import Change, make_default_players, parse_change
from epic_cli.play.world import Control, Point, Weapon, convert_to_seconds, convert_to_us
from epic_cli.recordings.tables import TableRefusal
from epic_cli.recordings.wording import Problem

LONGEST_SCRIPT_LINE = 4096
MOST_LINES = 1_000_000
LONGEST_TIME = 1e6

_CHAPTER = ("figure-", "move-", "optimism", "question-")

#: Paths by name: figures, sections and questions of the chapter; then terms of other texts.
SCENARIOS = {
    path.stem: path
    for path in sorted(
        Path(__file__).with_name("scenarios").glob("*.script"),
        key=lambda path: (not path.stem.startswith(_CHAPTER), path.stem),
    )
}

#: Placeholders of captions by player, of the client, of settings; ``remote`` takes a name.
OF_PLAYER = ("late", "off", "most", "apart")
OF_CLIENT = ("key", "echo", "link", "corrections", "correction", "moved", "steps", "updates",
             "bits")  # fmt: skip
SETTINGS = ("latency", "jitter", "rtt", "rate", "period", "step", "frames", "smoothing", "remote")

_PLACEHOLDER = re.compile(r"\{([^{}]*)\}")


def fill_placeholders(caption: str, fill: Callable[[str, str], str]) -> str:
    """Return a caption in which each ``{name}`` or ``{name.of}`` is replaced by ``fill``'s text."""

    def replace_placeholder(found: re.Match[str]) -> str:
        name, _, of = found[1].partition(".")
        return fill(name, of)

    return _PLACEHOLDER.sub(replace_placeholder, caption)


_WORDS = {"left": (-1, 0), "right": (1, 0), "up": (0, 1), "down": (0, -1), "stop": (0, 0)}
_WEAPONS = {"shoot": Weapon.SHOT, "throw": Weapon.THROW}


def list_scenario_titles() -> list[tuple[str, str]]:
    """Return the title of each scenario by name: the first line of its script."""
    return [(name, path.read_text().partition("\n")[0][2:]) for name, path in SCENARIOS.items()]


class Input(NamedTuple):
    """A player's input from ``time`` (seconds) on; the weapon fires once.

    ``aim`` is a vector, the name of a player, or None: where he is running.
    """

    time: float
    player: str
    x: int
    y: int
    weapon: Weapon = Weapon.NONE
    aim: Point | str | None = None


class Script(NamedTuple):
    """The inputs of each player, the changes and the captions, each in order of time.

    ``beginning`` has the changes before the match begins; ``duration`` (seconds) is None if unset.
    """

    inputs: Mapping[str, list[Input]] = {}
    changes: Sequence[tuple[float, Change]] = ()
    captions: Sequence[tuple[float, str]] = ()
    beginning: Sequence[Change] = ()
    duration: float | None = None


def parse_script(
    stream: BinaryIO, players: Iterable[str], may_change_players: bool = True
) -> Script:
    """Parse a script; raise ``TableRefusal`` for a line that is not valid.

    These ``players`` take part, unless the script may set their number, and does.
    """
    parser = _Parser(list(players), may_change_players)
    number = 1
    while line := stream.readline(LONGEST_SCRIPT_LINE + 1):
        parser.take(number, line)
        number += 1
    return Script(parser.inputs, parser.changes, parser.captions, parser.beginning, parser.duration)


class _Parser:
    def __init__(self, players: list[str], may_change_players: bool) -> None:
        self.inputs: dict[str, list[Input]] = {}
        self.changes: list[tuple[float, Change]] = []
        self.captions: list[tuple[float, str]] = []
        self.beginning: list[Change] = []
        self.duration: float | None = None
        self._players = players
        self._may_change_players = may_change_players
        self._last = 0.0
        self._number = 0
        self._line = b""

    def take(self, number: int, line: bytes) -> None:
        self._number, self._line = number, line.rstrip(b"\r\n")
        if len(line) > LONGEST_SCRIPT_LINE:
            raise self._make_refusal(
                0, "the line is too long", f"at most {LONGEST_SCRIPT_LINE} bytes"
            )
        if number > MOST_LINES:
            raise self._make_refusal(0, "the script is too long", f"at most {MOST_LINES} lines")
        try:
            text = self._line.decode()
        except UnicodeDecodeError as error:
            raise self._make_refusal(error.start, "this is not UTF-8", "UTF-8 text") from None
        words = [(m.start(), m.group()) for m in re.finditer(r"\S+", text.partition("#")[0])]
        # convert offsets from characters to bytes, which carets are in
        words = [(len(text[:at].encode()), word) for at, word in words]
        if not words:
            return
        if words[0][1] == "set":
            if self.inputs or self.changes:
                expected = "TIME set ..., or this line before all times"
                raise self._make_refusal(words[0][0], "set has no time before it", expected)
            self._parse_beginning_line(words[1:])
            return
        self._parse_timed_line(words, text.partition("#")[0])

    def _parse_beginning_line(self, words: list[tuple[int, str]]) -> None:
        for change in self._parse_changes(words):
            if change.name == "duration":
                self.duration = change.value
                continue
            if change.name == "players" and self._may_change_players:
                self._players = [player.name for player in make_default_players(change.value)]
            self.beginning.append(change)

    def _parse_timed_line(self, words: list[tuple[int, str]], text: str) -> None:
        time = self._parse_time(*words[0])
        at, name = words[1] if len(words) > 1 else (len(self._line), "")
        if name == "set":
            changes = self._parse_changes(words[2:])
            for name in (change.name for change in changes if change.is_fixed):
                expected = f"set {name}=... before all times"
                raise self._make_refusal(at, f"{name} cannot change during the match", expected)
            self.changes.extend((time, change) for change in changes)
        elif name == "say":
            caption = " ".join(text.split()[2:])
            if not caption.isprintable() or not caption:
                what = "a caption has no control characters" if caption else "the caption is empty"
                raise self._make_refusal(at, what, "TIME say TEXT")
            for found in _PLACEHOLDER.finditer(text):
                self._check_placeholder(len(text[: found.start()].encode()), found[1])
            self.captions.append((time, caption))
        elif name in self._players:
            self.inputs.setdefault(name, []).append(self._parse_input(time, name, words[2:]))
        else:
            what = f"no player {name!r}" if name else "the line ends after its time"
            raise self._make_refusal(at, what, f"set, say, or one of {', '.join(self._players)}")

    def _check_placeholder(self, at: int, placeholder: str) -> None:
        name, point, of = placeholder.partition(".")
        allowed = (
            of in self._players
            if name in OF_PLAYER
            else bool(point and of) == (name == "remote") and name in (*OF_CLIENT, *SETTINGS)
        )
        if not allowed:
            names = [f"{each}.PLAYER" for each in OF_PLAYER] + [*OF_CLIENT, *SETTINGS[:-1]]
            expected = ", ".join(names) + ", remote.NAME"
            raise self._make_refusal(at, f"{{{placeholder}}} is not a placeholder", expected)

    def _parse_time(self, at: int, word: str) -> float:
        try:
            time = float(word)
        except ValueError:
            time = math.nan
        if not 0 <= time <= LONGEST_TIME:
            raise self._make_refusal(
                at, f"{word!r} is not a time", f"seconds, 0 to {LONGEST_TIME:g}"
            )
        time = convert_to_seconds(convert_to_us(time))
        if time < self._last:
            raise self._make_refusal(at, "time goes back", f"at least {self._last!r}")
        self._last = time
        return time

    def _parse_changes(self, words: list[tuple[int, str]]) -> list[Change]:
        changes = []
        for at, word in words:
            try:
                changes.append(parse_change(word))
            except ValueError as error:
                expected = "NAME=VALUE, of --match or --link, or send=SENDER, or remote.NAME=VALUE"
                raise self._make_refusal(at, str(error), expected) from None
        if not words:
            raise self._make_refusal(len(self._line), "nothing is set", "set NAME=VALUE ...")
        return changes

    def _parse_input(self, time: float, player: str, words: list[tuple[int, str]]) -> Input:
        x = y = 0
        weapon = Weapon.NONE
        aim: Point | str | None = None
        for at, word in words:
            if word in _WORDS:
                x, y = x + _WORDS[word][0], y + _WORDS[word][1]
            elif word in _WEAPONS:
                weapon = _WEAPONS[word]
            elif word.startswith("aim="):
                aim = self._parse_aim(at, word.removeprefix("aim="))
            else:
                expected = ", ".join([*_WORDS, *_WEAPONS, "aim=PLAYER", "aim=X,Y"])
                raise self._make_refusal(at, f"{word!r} is not an input", expected)
        if abs(x) > 1 or abs(y) > 1:
            raise self._make_refusal(
                words[0][0], "the same direction twice", "left or right, up or down"
            )
        return Input(time, player, x, y, weapon, aim)

    def _parse_aim(self, at: int, text: str) -> Point | str:
        if text in self._players:
            return text
        try:
            x, y = map(float, text.split(","))
            if math.isfinite(x) and math.isfinite(y) and 0 < x * x + y * y < math.inf:
                return (x, y)
        except ValueError:
            pass
        raise self._make_refusal(at, f"{text!r} is not a target", "aim=PLAYER or aim=X,Y")

    def _make_refusal(self, caret: int, what: str, expected: str) -> TableRefusal:
        return TableRefusal(Problem(self._number, caret + 1, self._line, caret, what, expected))


def write_input(time: float, player: str, control: Control) -> str:
    """Return the line that gives a player this input from ``time`` (seconds) on."""
    words = [
        word for word, (x, y) in _WORDS.items() if (x and x == control.x) or (y and y == control.y)
    ]
    words += [word for word, weapon in _WEAPONS.items() if weapon == control.weapon]
    if control.weapon:
        words.append(f"aim={control.aim[0]!r},{control.aim[1]!r}")
    return f"{time!r} {player} {' '.join(words) or 'stop'}\n"
