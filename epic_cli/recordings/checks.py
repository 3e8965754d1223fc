"""Checks for what makes the meaning of a recording doubtful, run on what the monitor has seen."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from datetime import datetime
from itertools import combinations, pairwise
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, NamedTuple

from epic_cli.engine.description import split, write
from epic_cli.engine.keys import ANGLES, TURN_WORDS, WORDS
from epic_cli.engine.measure import Survey, survey
from epic_cli.engine.packets import PacketBlock, Totals, Track, Turning
from epic_cli.engine.replay.arrival_order import WINDOW
from epic_cli.recordings.findings import RecordingFinding
from epic_cli.recordings.read_spec import (
    TIME_UNITS,
    VELOCITY,
    ReadSpec,
    find_arrival_unit,
    find_star,
    list_used_columns,
)
from epic_cli.recordings.watch import LEAST, RecordingMonitor, UnreadCells, WatchedBlock

if TYPE_CHECKING:
    from epic_cli.engine.contract import Packet
    from epic_cli.recordings import Reader
    from epic_cli.recordings.lines import LineReader


#: This many bytes may stand above the first packet.
_ABOVE = 65536

#: How ``sort`` writes what separates cells; words need no option.
_SEPARATORS = {",": "-t, ", ";": "-t';' ", "|": "-t'|' ", "\t": "-t$'\\t' ", " ": ""}


def sort_command(watch: RecordingMonitor, field: str) -> str:
    """Return a shell command that sorts a file by its times or arrivals, below its header.

    Empty if ``sort`` could not: columns must stand at separators outside of quotes, and numbers
    have decimal points.
    """
    block, reader = watch.samples[0].block, watch.samples[0].reader
    first = block.line(0) - 1
    if reader is None:
        separator, column = "-t/ ", 3 if field == "time" else 0
    else:
        delimiter, column = reader.sort_key(field)
        separator = _SEPARATORS.get(delimiter, "")
    text = block.line_text(0)
    dates = watch.layout is not None and watch.layout.time_unit == "iso"
    odd = b'"' in block.text or (separator != "-t, " and b"," in text and reader is not None)
    by_format = watch.layout is not None and watch.layout.time_format is not None
    if not column or odd or by_format or not _has_line_at(watch.name, first, text):
        return ""
    name = quote(watch.name if watch.name[:1] != "-" else f"./{watch.name}")
    key = f"{separator}-k{column},{column}{'' if dates else 'g'}"
    if not first:
        return f"LC_ALL=C sort -s {key} {name} > sorted{Path(watch.name).suffix}"
    below = f"tail -n +{first + 1} {name} | LC_ALL=C sort -s {key}"
    return f"(head -n {first} {name}; {below}) > sorted{Path(watch.name).suffix}"


def _has_line_at(name: str, above: int, line: bytes) -> bool:
    """Return True if the file on disk has this line below ``above`` others.

    Unpacked text may not.
    """
    try:
        with Path(name).open("rb") as file:
            lines = file.read(_ABOVE + len(line)).split(b"\n")
    except (OSError, ValueError):
        return False
    return len(lines) > above and lines[above].rstrip(b"\r") == line.rstrip(b"\r\n")


#: How like one of the words of packet text a misspelt one is; a rotation's begins as it does, and
#: is more so (role, path and spawn are none), but for one of three letters.
_SPELT, _TURN_SPELT, _SHORT_SPELT = 0.75, 0.76, 0.65

#: Other programs' words.
_OTHERS = {
    **dict.fromkeys(("rot", "quat", "quaternion", "orientation"), "rotation"),
    "heading": "yaw",
}

_WORD = re.compile(rb"[ \t]([A-Za-z][A-Za-z_]*)=([-+.\d]?)")

#: So much of the text is looked at.
_TEXT = 16384


def find_misspelt(texts: Iterable[bytes]) -> Iterator[RecordingFinding]:
    """Yield a finding for each word of packet text that looks misspelt."""
    lines = (line.partition(b"#")[0] for text in texts for line in text[:_TEXT].splitlines())
    pairs = {pair for line in lines for pair in _WORD.findall(line)}
    words = {word.decode(): bool(digit) for word, digit in sorted(pairs)}
    for word in sorted(words.keys() - WORDS.keys()):
        near = _find_similar_word(word.lower(), words[word])
        if near:
            yield RecordingFinding("E401", {"name": word, "near": near})


def _find_similar_word(word: str, is_number: bool) -> str | None:
    """Return the word that was probably meant, or None."""
    from difflib import get_close_matches  # only a mistake needs it

    others = [name for name in WORDS if name not in TURN_WORDS]
    found = get_close_matches(word, others, 1, _SPELT)
    if not found and is_number:
        alike = [name for name in TURN_WORDS if name[0] == word[0]]
        found = (
            [_OTHERS[word]]
            if word in _OTHERS
            else get_close_matches(
                word, alike, 1, _SHORT_SPELT if len(word) == len("yaw") else _TURN_SPELT
            )
        )
    return found[0] if found else None


def find_junk(watch: RecordingMonitor) -> Iterator[RecordingFinding]:
    """Yield a finding for unread text after the numbers of packet text."""
    if not watch.junk:
        return
    line, text = watch.junk_line
    count = "1 line has" if watch.junk == 1 else f"{watch.junk:,} lines have"
    time = re.match(rb"(?:[^/]*/){2}\s*(\S*)", text)
    shown = time.group(1).decode("utf-8", "replace") if time else ""
    number = re.match(r"[-+]?(?:0[xX][\da-fA-F.]+|\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?", shown)
    if number is not None and number.end() < len(shown):
        read = f"{shown} is read as {number.group()}"
        yield RecordingFinding("E402", {"lines_words": count, "shown": read}, (line,))
    else:
        yield RecordingFinding("E403", {"lines_words": count}, (line,))


#: This many packets are looked at, and this many columns that were not read.
_PACKETS, _COLUMNS = 512, 40

#: Each entity has this many packets at least, on average.
_EACH = 3

#: Told apart, entities go so much less far than together, or leap so much less often; a leap is
#: this many usual steps.
_LESS, _FEWER, _LEAP_STEPS = 0.5, 0.2, 8

#: Rows are of this many kinds at most, such as move and shot.
_KINDS = 4

#: Names of what is not an entity but holds several, each with a clock of its own.
_MATCHES = ("match", "game", "round", "session", "run", "episode", "demo", "map", "lap", "heat",
            "trial", "file", "replay", "segment", "part", "set", "half", "period")  # fmt: skip


def _iterate_unread_cells(
    samples: Sequence[WatchedBlock], most: int = _PACKETS
) -> Iterator[UnreadCells]:
    """Yield the first packets, each with the cells of its line that are not read, if it has any."""
    for sample in samples:
        block, reader = sample.block, sample.reader
        if reader is None:
            return
        for index in range(min(len(block), most)):
            if index == len(sample.unread):
                cells = find_unread(reader, block.line_text(index))
                sample.unread.append(UnreadCells(block[index], block.line(index), cells))
            if sample.unread[index].cells:
                yield sample.unread[index]
        most -= len(block)
        if most <= 0:
            return


def find_unread(reader: LineReader, line: bytes) -> dict[str, str]:
    """Return the cells of a line, by column, that no field is read from."""
    places = reader.layout.places
    if any(find_star(column) >= 0 for column in places.values()):
        return reader.find_shared_cells(line) if "entity" not in places else {}
    used = list_used_columns(reader.layout)
    return {name: cell for name, cell in reader.split_cells(line).items() if name not in used}


def find_telling_columns(
    samples: Sequence[WatchedBlock], entity: str, most: int = 2
) -> tuple[str, ...]:
    """Return at most ``most`` columns by which rows read as one entity split into several.

    Separated, all entities together travel less than half as far, or leap hardly any more.
    """
    from statistics import median  # which loads fractions: few recordings come here

    rows = [row for row in _iterate_unread_cells(samples) if row.packet.entity == entity]
    if not rows:
        return ()
    steps = [math.dist(a.packet.position, b.packet.position) for a, b in pairwise(rows)]
    leap = _LEAP_STEPS * median(filter(None, steps)) if any(steps) else math.inf
    same, way, leaps, usual, _ = _measure_movement(rows, (), leap)
    most_same = max(0.05 * same, 0.05 * len(rows) if same < _MIXED * len(rows) else 0)
    several = [name for name in list(rows[0].cells)[:_COLUMNS] if _has_several_values(rows, name)]
    found = []
    for size in range(1, most + 1):
        for columns in combinations(several[: _COLUMNS // size], size):
            own = _measure_movement(rows, columns, leap)
            if own.groups * _EACH > len(rows) or own.groups < 2 or own.same > most_same:
                continue
            fewer = own.way < _LESS * way or own.leaps < _FEWER * leaps
            if fewer or own.usual < _FEWER * usual:
                strange = sum(map(_rank_entity_column, columns))
                found.append((own.usual, (own.same, size, strange, own.groups, own.way, columns)))
    least = min((usual for usual, _ in found), default=0)
    likely = [rank for usual, rank in found if usual <= least / _LESS]
    return min(likely)[-1] if likely else ()


def _find_kind_column(samples: Sequence[WatchedBlock], entity: str) -> str:
    """Return the column that differs whenever two rows have one time; empty if there is none.

    Such a column has a few values, like move and shot.
    """
    rows = [row for row in _iterate_unread_cells(samples) if row.packet.entity == entity]
    twins = [
        (a, b)
        for a, b in pairwise(rows)
        if a.packet.time == b.packet.time and a.packet.position != b.packet.position
    ]
    for name in list(rows[0].cells)[:_COLUMNS] if len(twins) > 1 else ():
        counts = Counter(row.cells.get(name) for row in rows)
        rest = len(rows) - max(counts.values())
        few = len(counts) <= _KINDS and rest <= 2 * len(twins)
        if few and all(a.cells.get(name) != b.cells.get(name) for a, b in twins):
            return name
    return ""


def _has_several_values(rows: Sequence[UnreadCells], name: str) -> bool:
    return len({row.cells.get(name) for row in rows}) in range(2, len(rows) // 2 + 1)


def _rank_entity_column(column: str) -> int:
    """Rank of a column as the name of an entity: 0 for the likeliest spelling."""
    from epic_cli.recordings.names.spellings import SPELLINGS, split_name  # tables alone have names

    spelling = split_name(column).spelling
    known = [rank for rank, names in enumerate(SPELLINGS["entity"]) if spelling in names]
    return known[0] if known else len(SPELLINGS["entity"])


class _Movement(NamedTuple):
    """Movement of all entities, separated by some columns.

    ``same`` counts packets with the time of the packet before at another position, ``way`` is the
    distance traveled, ``leaps`` the number of steps longer than a leap, ``usual`` the median step,
    and ``groups`` the number of entities.
    """

    same: int
    way: float
    leaps: int
    usual: float
    groups: int


def _measure_movement(
    rows: Sequence[UnreadCells], columns: Sequence[str], leap: float
) -> _Movement:
    """Measure the movement of the entities that these columns separate."""
    last: dict[tuple[str | None, ...], Packet] = {}
    same, way, leaps = 0, 0.0, 0
    steps = []
    for row in rows:
        key = tuple(row.cells.get(name) for name in columns)
        before = last.get(key)
        if before is not None:
            step = math.dist(before.position, row.packet.position)
            way += step
            steps.append(step)
            leaps += step > leap
            same += step > 0 and before.time == row.packet.time
        last[key] = row.packet
    steps.sort()
    return _Movement(same, way, leaps, steps[len(steps) // 2] if steps else 0.0, len(last))


def find_change(samples: Sequence[WatchedBlock], line: int) -> str | None:
    """Return the column that has one value before this line and another from it on.

    None if none.
    """
    from epic_cli.recordings.names.spellings import split_name  # tables alone have names

    rows = list(_iterate_unread_cells(samples, sum(len(sample.block) for sample in samples)))
    at, last = 0, dict[str, float]()
    for index, row in enumerate(rows):
        if row.line == line:  # of a document on one line it is the first that goes back
            at = at or index
            if row.packet.time < last.get(row.packet.entity, -math.inf):
                at = index
                break
        last[row.packet.entity] = row.packet.time
    entity = rows[at].packet.entity if rows else ""
    before = [row for row in rows[:at] if row.packet.entity == entity][-_EACH:]
    after = [row for row in rows[at:] if row.packet.entity == entity][:_EACH]
    found = []
    for name in rows[at].cells if before else ():
        was = {row.cells.get(name) for row in before}
        now = {row.cells.get(name) for row in after}
        earlier = {row.cells.get(name) for row in rows[:at]}
        if len(was) == len(now) == 1 and not now & earlier:
            words = set(split_name(name).words)
            found.append((not words & set(_MATCHES), name))
    return min(found)[1] if found else None


#: A w taken for x is at least this, and the x taken for w at most that.
_FIRST, _NEVER = 0.8, 0.6

#: What turns all the way round is sometimes so far from how it was at first, in radians.
_ROUND = 3.0

#: Angles in radians: at most a turn, and at least one of them between the greatest and the least.
_TURN, _RADIAN = 6.2832, 1.0

#: Angles in degrees: a turn, a leap from its end to its begin, and what no one does in radians a
#: second for long.
_CIRCLE, _LEAP, _FASTEST = 360.0, 300.0, 20.0

#: The least side of the box of what turns, as a share of the greatest.
_ABOUT = 0.3

#: Spins agree with rotations so well; another unit is so far off.
_SAME_WAY, _EXACT, _FACTOR = 0.9, 0.98, 2.0

_STILL = 1e-9

_NO_SPIN = {"wx": "", "wy": "", "wz": ""}


def turn_findings(
    watch: RecordingMonitor, turns: list[Turning], tracks: list[Track]
) -> Iterator[RecordingFinding]:
    """Yield findings on rotations; remarks only if every packet is counted."""
    layout = watch.current_layout
    places = layout.places if layout is not None else {}
    totals = watch.census.totals
    if totals.zero_turns:
        yield RecordingFinding("E509", {"packets": totals.zero_turns}, (totals.zero_line,))
    if not turns:
        yield from _find_unread_rotation(watch)
        return
    judged = [turn for turn in turns if turn.packets >= LEAST]
    uneven = [turn for turn in turns if turn.uneven]
    if uneven:
        line = min(turn.uneven_line for turn in uneven)
        yield RecordingFinding("E501", {"packets": sum(turn.uneven for turn in uneven)}, (line,))
    turning = any(turn.angle > _STILL for turn in judged)
    about = {track.entity for track in tracks if _is_moving_in_plane(track)}
    upright = all(turn.x >= _FIRST and turn.w <= _NEVER for turn in judged)
    rolls = all(  # about z alone becomes a roll, whose yaw never changes; a pitch's would past 90
        turn.entity in about and turn.angle >= _ROUND and turn.yaw_high - turn.yaw_low <= _STILL
        for turn in judged
    )
    if turning and (upright or rolls):
        yield RecordingFinding("E502", read=_read_w_first(watch, places))
    if places.get("yaw") and layout is not None and layout.angles is None:
        yaws = [turn for turn in judged if turn.entity in about]
        small = all(turn.yaw_low >= -_TURN and turn.yaw_high <= _TURN for turn in turns)
        if yaws and small and any(yaw.yaw_high - yaw.yaw_low > _RADIAN for yaw in yaws):
            yield RecordingFinding("E504", read=watch.read_with({"angles": "rad"}))
    elif places.get("yaw") and layout is not None and layout.angles == "rad":
        yield from _find_degrees(watch, places["yaw"])
    yield from _check_spins(watch, [turn for turn in turns if turn.spins >= LEAST], places)
    if watch.thorough:
        flips = sum(turn.flips for turn in turns)
        written = "qx" in places or any(b"rotation=" in text for text in watch.texts)
        if flips and written:  # of angles each turn beyond 180 degrees is one
            yield RecordingFinding("E507", {"times": "once" if flips == 1 else f"{flips:,} times"})
        moving = {track.entity for track in tracks if track.moves}
        still = [turn for turn in judged if turn.angle <= _STILL and turn.entity in moving]
        if still:
            more = f" and of {len(still) - 1:,} more" if len(still) > 1 else ""
            yield RecordingFinding("E508", {"entities": (still[0].entity or "the entity") + more})


def _is_moving_in_plane(track: Track) -> bool:
    sides = sorted(high - low for low, high in zip(track.low, track.high, strict=True))
    return sides[-1] > 0 and sides[-2] > _ABOUT * sides[-1]


def _find_degrees(watch: RecordingMonitor, column: str) -> Iterator[RecordingFinding]:
    """Yield a finding if a yaw, read as radians, leaps by whole turns or turns absurdly fast."""
    found: dict[str, list[tuple[float, float]]] = {}
    for sample in watch.samples:
        block, reader = sample.block, sample.reader
        if reader is None:
            return
        for index in range(len(block)):
            cell = reader.split_cells(block.line_text(index)).get(column, "").replace(",", ".")
            with suppress(ValueError):
                state = block[index].time, float(cell)
                found.setdefault(block[index].entity, []).append(state)
    for states in found.values():
        low, high = (pick(yaw for _, yaw in states) for pick in (min, max))
        if len(states) < LEAST or high - low < _TURN or max(-low, high) > _CIRCLE:
            continue
        steps = [(abs(b - a), t - s) for (s, a), (t, b) in pairwise(states) if b != a and t > s]
        leaps = any(way >= _LEAP for way, _ in steps)
        speeds = sorted(way / took for way, took in steps)
        if leaps or (speeds and speeds[len(speeds) // 2] > _FASTEST):
            facts = {"low": low, "high": high, "how": "leaps back" if leaps else "changes fast"}
            yield RecordingFinding("E510", facts, read=watch.read_with({"angles": "deg"}))
            return


def _read_w_first(watch: RecordingMonitor, places: dict[str, str]) -> str:
    columns = [places.get(word, "") for word in ("qx", "qy", "qz", "qw")]
    if not all(columns):
        return ""
    return watch.read_with(dict(zip(("qw", "qx", "qy", "qz"), columns, strict=True)))


def _check_spins(
    watch: RecordingMonitor, turns: list[Turning], places: dict[str, str]
) -> Iterator[RecordingFinding]:
    without = watch.read_with(_NO_SPIN)
    for turn in turns:
        if turn.body >= _EXACT and turn.world < _SAME_WAY:
            yield RecordingFinding("E506", read=without)
            return
        if turn.world >= _SAME_WAY and not 1 / _FACTOR <= turn.ratio <= _FACTOR:
            degrees = math.degrees(1) / _FACTOR <= turn.ratio <= math.degrees(1) * _FACTOR
            angles = any(places.get(angle) for angle in ANGLES)
            known = watch.current_layout
            given = known is not None and known.angles == "rad" and angles
            mends = degrees and not given
            read = watch.read_with({"angles": "deg"}) if mends else without
            yield RecordingFinding("E505", {"ratio": turn.ratio}, read=read)
            return


def _find_unread_rotation(watch: RecordingMonitor) -> Iterator[RecordingFinding]:
    """Yield a finding for columns that look like a rotation but whose meaning is not clear."""
    reader = watch.reader
    if reader is None or not watch.samples or not len(watch.samples[0].block):
        return
    from epic_cli.recordings.names.turns import propose_rotations  # tables alone have names

    cells = find_unread(reader, watch.samples[0].block.line_text(0))
    found = propose_rotations(dict(reader.layout.columns or ()), cells)
    if found:
        ways = "one way" if len(found) == 1 else f"{len(found)} ways; this is one"
        yield RecordingFinding("E503", {"ways": ways}, read=watch.read_with(found[0]))


#: Stretches that have to agree before velocities are doubted, and packets where there are none.
_STRETCHES, _ALONE = 5, 12

#: Velocities are the slope of the positions to about a tenth where they can be judged (``survey``
#: leaves out what bends too much): five times that is beyond noise and rounding.
_OFF, _AGREES, _OTHER_WAY = 2.0, 0.9, 0.5

#: Another order of axes has to fit as a velocity does that is right.
_OTHER_AXES = 0.98

_UNITS = {"ms": 1e3, "us": 1e6, "ns": 1e9}
_CLOCK_UNITS = ("s", "ms", "us", "100ns", "ns")
_UNIT_NAMES = {
    "s": "seconds",
    "ms": "milliseconds",
    "us": "microseconds",
    "ns": "nanoseconds",
    "d": "days",
}

#: Such steps are no seconds, but perhaps those of slow loggers, in whole seconds; this many
#: packets show it. Steps that are longer or shorter than these are no game's, in whatever unit.
_LONG_STEP, _LOGGERS, _FEW_STEPS = 5, (5, 10, 15, 30, 60), 6
_SLOWEST, _FASTEST_RATE = 10.0, 1000.0

#: Whole steps that are plainly milliseconds, of 5 to 62 packets a second; so few steps show it.
_PLAIN_MS, _PLAIN_STEPS = (16.0, 200.0), 2

#: The days since 1900 on which recordings are made, as spreadsheets count them.
_SERIAL_DAYS = (3e4, 9e4)

#: Unix times from 1998 to 2128, in seconds.
_UNIX = (9e8, 5e9)

#: The orders of axes that ``Survey.cosines`` is about, after their own.
_ORDERS = ("xzy", "yxz", "zyx", "yzx", "zxy")

#: Of an entity's packets this many share the time of the one before where entities are mixed; of
#: those whose times are too coarse, more.
_MIXED, _COARSE = 0.1, 0.25

#: Smooth movement goes twice as far in two steps as in one; what leaps back and forth, hardly.
_SMOOTH, _LEAPS, _SURELY = 1.4, 0.5, 0.1

#: This many packets of an entity show that its time goes down, or that its rows are shuffled.
_DOWN, _SHUFFLED = 0.9, 0.4

#: A cure is gone on with this often.
_DEEPEST = 3

#: A reading gives this share of the packets, at least: those that stand for no place are left out.
_MENDED = 0.5

#: This many packets that are not whole, beside those that are, show that they need not be.
_PARTIAL, _FEW = 0.2, 3

#: A step from packet to packet that is so much of all that there is, on average, is a long one.
_ACROSS = 0.1

#: This many packets that lie astray are no accident.
_ASTRAY = 3

#: The fewest rows of an entity for a regular count, the share of its steps that are equal, and the
#: least spread of irregular times (10 to 90 %), as a share of their mean.
_EVEN_ROWS, _EVEN, _UNEVEN = 40, 0.8, 0.4

#: This many numbers out of range are no accident.
_ODD = 0.1


def take_new_findings(watch: RecordingMonitor) -> list[RecordingFinding]:
    """Return findings on the watched packets, without those returned before.

    What the user gave is not doubted. Each proposed reading has been tried, and removes the finding
    that proposes it.
    """
    return watch.take_fresh(
        _verify_cure(watch, _extend_cure(watch, finding)) for finding in judge_all(watch)
    )


def _verify_cure(watch: RecordingMonitor, finding: RecordingFinding) -> RecordingFinding:
    """Return the finding, without its proposed reading if that does not remove the finding."""
    if not finding.read:
        return finding
    block, reader = watch.samples[0].block, watch.samples[0].reader
    if reader is None:
        return finding
    given = watch.given or ReadSpec()
    layout = given.replace_text(finding.read)
    again = reader.reopen(layout, block.text)
    trial = RecordingMonitor(thorough=True)
    trial.note_requested(layout)
    trial.note_reader(again, "")
    packets = again.scan(block.text, True)
    trial.layout = again.layout
    trial.observe(packets)
    mends = len(packets) >= _MENDED * len(block) and all(
        other.code != finding.code for other in judge_all(trial)
    )
    return finding if mends else finding._replace(read="")


def _extend_cure(watch: RecordingMonitor, finding: RecordingFinding) -> RecordingFinding:
    """Extend the reading that a finding proposes by those of what is still in doubt after it."""
    for _ in range(_DEEPEST if _has_cure(finding) else 0):
        block, reader = watch.samples[0].block, watch.samples[0].reader
        if reader is None:
            break
        given = watch.given or ReadSpec()
        layout = given.replace_text(finding.read)
        again = reader.reopen(layout, block.text)
        further = find_cure(again, again.scan(block.text, True), layout)
        if not further:
            break
        finding = finding._replace(read=write(further))
    return finding


def _has_cure(finding: RecordingFinding) -> bool:
    """Return True if a finding proposes a reading that makes the packets right."""
    return bool(finding.read) and (finding.is_error or finding.code == "E209")


def find_cure(
    reader: Reader, block: PacketBlock, layout: ReadSpec
) -> tuple[tuple[str, str], ...] | None:
    """Return the ``--read`` entries that mend doubtful packets; empty if none is needed or known.

    None if this reading cannot be right: nothing moves, or time stands still.
    """
    watch = RecordingMonitor(thorough=True)
    watch.note_requested(layout)
    watch.note_reader(reader, "")
    watch.layout = getattr(reader, "layout", None)
    watch.observe(block)
    found = judge_all(watch)
    cures = (finding.read for finding in found if _has_cure(finding))
    cure = tuple((part.key, part.value) for part in split(next(cures, "")))
    still = watch.packets > _ASTRAY and not any(track.moves for track in watch.census.tracks)
    return (
        None if not cure and (still or any(finding.code == "E204" for finding in found)) else cure
    )


def _find_partial_packets(watch: RecordingMonitor, totals: Totals) -> Iterator[RecordingFinding]:
    """Yield a finding for packets that carry only the fields that changed."""
    delta = watch.given is not None and watch.given.partial
    if not delta and totals.packets and watch.partial >= max(_FEW, _PARTIAL * totals.packets):
        yield RecordingFinding("E107", {"partial": watch.partial}, read="partial=on")


def judge_all(watch: RecordingMonitor) -> list[RecordingFinding]:
    """Return all findings on the packets watched so far."""
    tracks, totals = watch.census.tracks, watch.census.totals
    found = [*watch.noted, *find_misspelt(watch.texts), *find_junk(watch)]
    if totals.unreal:
        facts = {"packets": totals.unreal}
        found.append(RecordingFinding("E206", facts, (totals.unreal_line,)))
    found += _find_partial_packets(watch, totals)
    found += _find_disorder(watch, tracks, totals)
    found += _check_times(tracks, totals)
    found += _find_equal_names(tracks)
    found += _find_repeated_packets(watch)
    mixed = any(each.code in ("E101", "E102", "E204") for each in found)
    if not mixed:
        found += _find_outliers(watch, tracks)
        found += _find_latitude_longitude(watch, tracks)
    if totals.packets > _PLAIN_STEPS and not mixed:
        figures = survey(_join_samples(watch))
        found += _check_time_unit(figures, watch)
        is_enough = totals.packets >= _FEW_STEPS
        if is_enough and not any(each.code == "E201" for each in found):
            found += _check_arrival_unit(watch, tracks)
        if totals.packets >= LEAST:
            found += _find_times_of_log(watch)
            found += _find_second_clock(watch)
            found += _find_unix_times(figures, watch)
            found += _check_velocities(figures, watch)
    turns = watch.census.turns
    if turns or totals.zero_turns or watch.thorough:
        found += turn_findings(watch, turns, tracks)
    return found


def _join_samples(watch: RecordingMonitor) -> PacketBlock:
    first, *others = (sample.block for sample in watch.samples)
    block = first.part(0, len(first))
    for other in others:
        block.extend(other)
    return block


# ------------------------------------------------------------------------- entities and their order


def _find_disorder(
    watch: RecordingMonitor, tracks: list[Track], totals: Totals
) -> Iterator[RecordingFinding]:
    """Yield findings on the order of packets and of their positions."""
    if watch.ended and watch.packets >= LEAST and totals.entities == watch.packets:
        # before the end they may be the first packets of very many
        column = (watch.layout.places if watch.layout else {}).get("entity", "entity")
        facts = {"column": column, "packets": watch.packets}
        yield RecordingFinding("E102", facts, read=watch.read_with({"entity": ""}))
        return
    down = [
        track for track in tracks if track.downs > _DOWN * (track.packets - 1) and track.packets > 3
    ]
    mixed = [
        track
        for track in tracks
        if track.downs > _SHUFFLED * track.packets and not track.arrivals and track.packets >= LEAST
    ]
    if down:
        yield _report_unsorted_packets(watch, "down from packet to packet", down[0].line)
    elif mixed:
        yield _report_unsorted_packets(watch, "up and down, in no order", mixed[0].line)
    else:
        yield from _find_restarts(watch, tracks)
    if totals.overlaps and totals.runs == totals.entities > 1:
        done = "each is drawn by itself; rows come in order of time (from a pipe: in this order)"
        yield RecordingFinding(
            "E105", {"entities": totals.entities, "done": done}, (totals.overlap_line,)
        )
    overtaken = sum(track.overtaken for track in tracks if track.arrivals == track.packets)
    if overtaken:
        beyond = max(track.late for track in tracks) > WINDOW
        command = sort_command(watch, "arrival") if beyond and watch.samples else ""
        yield RecordingFinding("E106", {"packets": overtaken, "command": command})
    late = sum(track.backs for track in tracks)
    waits = any(track.restarts or track.arrivals for track in tracks)
    put_in_order = any(each.code == "E110" for each in watch.noted)
    if late and not (down or mixed or put_in_order or (waits and not watch.thorough)):
        lines = (min(track.back_line for track in tracks if track.backs),)
        yield RecordingFinding("E109", {"packets": late}, lines)
    yield from _find_mixed_entities(watch, tracks)


#: Names that are numbers in one of the ways of programs; 007 may be a name.
_NUMBER_NAME = re.compile(r"\s*[-+]?(0|[1-9]\d*)(\.\d*)?(e[-+]?\d+)?\s*", re.IGNORECASE)


def _find_equal_names(tracks: list[Track]) -> Iterator[RecordingFinding]:
    """Yield a finding for entity names that are equal as numbers, or but for blanks around them."""
    alike: dict[object, list[str]] = {}
    for track in tracks:
        name = track.entity
        number = _NUMBER_NAME.fullmatch(name)
        alike.setdefault(float(name) if number else name.strip(), []).append(name)
    twice = [names for names in alike.values() if len(names) > 1]
    if twice:
        more = f", and {len(twice) - 1:,} more" if len(twice) > 1 else ""
        facts = {"names": " and ".join(map(repr, twice[0])), "more": more}
        yield RecordingFinding("E111", facts)


#: This many packets show whether some come twice.
_GLANCE = 16

#: Such a share of the packets stand there as often as one another.
_ALL_TWICE = 0.9


def _find_repeated_packets(watch: RecordingMonitor) -> Iterator[RecordingFinding]:
    """Yield a finding if nearly every packet is repeated with all its read fields."""
    first = watch.samples[0].block if watch.samples else PacketBlock()
    begin = [first[index] for index in range(min(len(first), _GLANCE))]
    if len(set(begin)) == len(begin):
        return
    counts = Counter(
        sample.block[index] for sample in watch.samples for index in range(len(sample.block))
    )
    packets = counts.total()
    if packets < _FEW_STEPS:
        return
    twice = [count for count in counts.values() if count > 1]
    usual = Counter(twice).most_common(1)
    if usual and usual[0][1] >= _ALL_TWICE * len(counts):
        yield RecordingFinding("E112", {"packets": packets, "distinct": len(counts)})


def _report_unsorted_packets(watch: RecordingMonitor, how: str, line: int) -> RecordingFinding:
    command = sort_command(watch, "time") if watch.samples else ""
    return RecordingFinding("E104", {"how": how, "command": command}, (line,))


def _find_restarts(watch: RecordingMonitor, tracks: list[Track]) -> Iterator[RecordingFinding]:
    again = [track for track in tracks if track.restarts]
    if not again:
        if any(track.backs for track in tracks):
            yield from _find_short_restarts(watch)
        return

    first = min(again, key=lambda one: one.restart_line)
    times = max(track.restarts for track in again)
    yield _report_restart(watch, first.restart_line, times)


def _find_short_restarts(watch: RecordingMonitor) -> Iterator[RecordingFinding]:
    """Yield a finding for runs of few packets that begin again at their entity's first time.

    A late duplicate of the first packet has that time as well, but the packet behind it is newer.
    """
    runs: dict[str, list[float]] = {}  # where the entity's first run began, and its newest time
    lines: list[int] = []
    for sample in watch.samples:
        block = sample.block
        for index in range(len(block)):
            packet, after = block[index], block[min(index + 1, len(block) - 1)]
            begin, newest = runs.setdefault(packet.entity, [packet.time, packet.time])
            rises = after.entity == packet.entity and begin < after.time <= newest
            if packet.time == begin and rises:
                lines.append(block.line(index))
                runs[packet.entity][1] = packet.time
            else:
                runs[packet.entity][1] = max(newest, packet.time)
    if lines:
        yield _report_restart(watch, lines[0], len(lines))


def _report_restart(watch: RecordingMonitor, line: int, times: int) -> RecordingFinding:
    column = find_change(watch.samples, line)
    words = "" if column is None else f", where {column} changes"
    facts = {"times": "once" if times == 1 else f"{times} times", "column": words}
    return RecordingFinding(
        "E103", facts, (line,), "" if column is None else _read_entity_from(watch, column)
    )


_SAME_TIME = "{:,} packets have the time of the packet before, at another place"


def _find_mixed_entities(
    watch: RecordingMonitor, tracks: list[Track]
) -> Iterator[RecordingFinding]:
    """Yield findings on entities read as one, or on times with too few digits."""
    for track in tracks:
        moving = track.steps > 0 and track.packets > 3
        smooth = track.doubles > _SMOOTH * track.steps
        shared = track.same > max(1, _MIXED * track.packets)
        if moving and shared and smooth and track.same > _COARSE * track.packets:
            columns = find_telling_columns(watch.samples, track.entity)
            if columns:  # in their order they seem to go one way
                seen = _SAME_TIME.format(track.same)
                yield _report_mixed_entities(
                    watch, seen, columns, (track.same_line - 1, track.same_line)
                )
            elif track.first < track.last:
                yield RecordingFinding(
                    "E203", {"percent": 100 * track.same / track.packets}, (track.same_line,)
                )
            return
        fits = _LEAPS * track.steps <= track.driven <= track.steps / _LEAPS
        slow = not (track.velocities and fits)
        several = slow and track.moves >= LEAST
        box = math.dist(track.low, track.high)
        far = several and track.steps > _ACROSS * box * track.packets
        leaps = several and track.doubles < _LEAPS * track.steps
        kinds = 1 < track.same <= max(1, _MIXED * track.packets)
        if kinds:
            column = _find_kind_column(watch.samples, track.entity)
            if column:
                seen = _SAME_TIME.format(track.same)
                yield _report_mixed_entities(
                    watch, seen, (column,), (track.same_line - 1, track.same_line)
                )
                return
        if (far or not smooth) and (shared or several) and track.moves > 1:
            columns = find_telling_columns(
                watch.samples, track.entity, 2 if shared or leaps or far else 1
            )
            seen = (
                _SAME_TIME.format(track.same)
                if shared
                else f"the path leaps back and forth between {'two' if leaps else 'several'} places"
            )
            lines = (track.same_line - 1, track.same_line) if shared else ()
            surely = leaps and track.doubles < _SURELY * track.steps
            if columns or track.same > _COARSE * track.packets or surely:
                yield _report_mixed_entities(watch, seen, columns, lines)
                return
            if leaps or shared:
                return


#: A path that is in degrees is this much shorter than its places are large.
_TINY = 0.002


def _find_latitude_longitude(
    watch: RecordingMonitor, tracks: list[Track]
) -> Iterator[RecordingFinding]:
    """Yield a finding for two numbers of one cell that may be latitude and longitude."""
    layout = watch.current_layout
    columns = dict(layout.columns or ()) if layout is not None else {}
    one, other = columns.get("x", ""), columns.get("y", "")
    cell = one.removesuffix(".0")
    if layout is None or layout.geo or "z" in columns or (one, other) != (f"{cell}.0", f"{cell}.1"):
        return
    moving = [track for track in tracks if track.steps > 0]
    sizes = [math.dist(track.low, track.high) for track in moving]
    places = [max(map(abs, (*track.low[:2], *track.high[:2]))) for track in moving]
    if moving and all(
        0 < size < _TINY * place and place <= 180 for size, place in zip(sizes, places, strict=True)
    ):
        read = watch.read_with({"x": other, "y": one, "geo": "on"})
        yield RecordingFinding("E210", {"cell": cell, "size": max(sizes)}, (), read)


def _find_outliers(watch: RecordingMonitor, tracks: list[Track]) -> Iterator[RecordingFinding]:
    """Yield findings on values that mark missing positions, and on packets briefly far away."""
    away = sum(track.away for track in tracks)
    if not away:
        return
    hits: Counter[tuple[int, float]] = Counter()
    for track in tracks:
        hits.update({(axis, mark): count for axis, (mark, count) in enumerate(track.marks)})
    (axis, mark), count = hits.most_common(1)[0]
    alike = sum(value == mark and most == count for (_, value), most in hits.items())
    first = next(track for track in tracks if track.away)
    lines = (min(track.away_line for track in tracks if track.away),)
    least = _ASTRAY if alike == 1 or watch.packets < LEAST else 1
    if count >= max(least, 0.5 * away):
        layout = watch.current_layout
        scale = layout.units["scale"] if layout is not None else 1.0
        value = mark / (scale if isinstance(scale, float) else scale[axis])
        facts = {"axis": "xyz"[axis], "value": value, "packets": count}
        read = watch.read_with({"missing": f"{value:.12g}"}) if alike > 1 else ""
        yield RecordingFinding("E207", facts, lines, read)
    elif away >= _ASTRAY:
        columns = find_telling_columns(watch.samples, first.entity)
        seen = f"{away:,} packets lie far away from the path, which then goes on as before"
        if columns:
            yield _report_mixed_entities(watch, seen, columns, lines)
        elif watch.given is None or watch.given.packets is None:  # a drawing's leaps are its own
            yield RecordingFinding("E208", {"packets": away}, lines)


def _report_mixed_entities(
    watch: RecordingMonitor, seen: str, columns: Sequence[str], lines: Sequence[int]
) -> RecordingFinding:
    told = f"{' and '.join(columns)} tell{'s' if len(columns) == 1 else ''} them apart"
    facts = {"seen": seen, "column": told if columns else "no column tells them apart"}
    return RecordingFinding(
        "E101", facts, lines, _read_entity_from(watch, *columns) if columns else ""
    )


def _read_entity_from(watch: RecordingMonitor, *columns: str) -> str:
    """Return the description that makes these columns part of the name of an entity."""
    layout = watch.layout or watch.given
    known = layout.places.get("entity") if layout is not None else None
    names = "+".join([*columns, *([known] if known else [])])
    return watch.read_with({"entity": names})


# -------------------------------------------------------------------------------- times and numbers


def _check_times(tracks: list[Track], totals: Totals) -> Iterator[RecordingFinding]:
    if totals.odd > max(2, _ODD * totals.packets):
        facts = {"packets": totals.odd, "shown": f"in line {totals.odd_line}"}
        yield RecordingFinding("E205", facts, (totals.odd_line,))
    begins = min((track.first for track in tracks), default=0.0)
    ends = max((track.last for track in tracks), default=0.0)
    most = max((track.packets for track in tracks), default=0)
    if begins == ends and most > 3 and any(track.moves for track in tracks):
        likely = ": a whole number that is read as a float?" if 0 < abs(begins) < 1e-30 else ""
        facts = {"packets": totals.packets, "time": begins, "likely": likely}
        yield RecordingFinding("E204", facts)


def _check_time_unit(figures: Survey, watch: RecordingMonitor) -> Iterator[RecordingFinding]:
    """Yield a finding if the times are in another unit, judged by velocities or else by steps."""
    known = [row for row in (watch.given, watch.layout) if row is not None]
    if any(spec.time_format or spec.time_unit == "iso" for spec in known):
        return
    given = watch.given is not None and watch.given.time_unit is not None
    unit = next((spec.time_unit for spec in known if spec.time_unit not in (None, "s")), "s")
    size = TIME_UNITS.get(unit, 1.0)
    meant = (
        _guess_time_unit(figures)
        if not given and (unit == "s" or _has_enough_velocities(figures))
        else None
    )
    if meant is not None:
        meant = _find_unit(size * TIME_UNITS[meant]) or meant
        name = _UNIT_NAMES.get(unit, unit)
        facts = {"name": meant, "unit": _UNIT_NAMES[meant], "step": figures.step, "taken": name}
        yield RecordingFinding("E201", facts, read=watch.read_with({"unit": meant}))
        return
    slow = figures.step > _SLOWEST or (figures.step in _LOGGERS and unit == "s")
    odd = slow or 0 < figures.step < 1 / _FASTEST_RATE
    if (
        odd
        and not given
        and not _has_enough_velocities(figures)
        and figures.moves > _FEW_STEPS - _ASTRAY
    ):
        finer = (u for u in _UNITS if slow and figures.step * size < _LONG_STEP * TIME_UNITS[u])
        read = next((watch.read_with({"unit": u}) for u in finer), "")
        facts = {"step": f"{figures.step:.3g} s", "unit": unit}
        yield RecordingFinding("E209", facts, read=read)


#: Arrivals last as long as stamps, but for delays that change: by no more than this factor.
_LASTS = 3.0


def _check_arrival_unit(watch: RecordingMonitor, tracks: list[Track]) -> Iterator[RecordingFinding]:
    """Yield a finding if arrivals and stamps are in different units, judged by their durations."""
    if not any(_has_unsteady_delays(track) for track in tracks):
        return
    layout = watch.current_layout
    if layout is None or (watch.given is not None and watch.given.arrival_unit is not None):
        return
    taken = layout.arrival_unit or find_arrival_unit(layout.time_unit)
    if taken not in TIME_UNITS:
        return
    stamps = arrivals = 0.0
    ends: dict[str, tuple[float, float]] = {}
    for sample in watch.samples:
        for index in range(len(sample.block)):
            packet = sample.block[index]
            if packet.arrival is None:
                continue
            if packet.entity in ends:
                time, arrival = ends[packet.entity]
                stamps += packet.time - time
                arrivals += packet.arrival - arrival
            ends[packet.entity] = packet.time, packet.arrival
    if stamps <= 0 or arrivals <= 0 or 1 / _LASTS < arrivals / stamps < _LASTS:
        return
    ratio = arrivals / stamps
    sizes = {unit: TIME_UNITS[unit] / TIME_UNITS[taken] for unit in _UNIT_NAMES}
    meant = next((u for u, size in sizes.items() if 1 / _LASTS < ratio / size < _LASTS), None)
    if meant is not None:
        facts = {
            "ratio": ratio,
            "unit": _UNIT_NAMES[meant],
            "taken": _UNIT_NAMES.get(taken, taken),
        }
        yield RecordingFinding("E211", facts, read=watch.read_with({"arrival_unit": meant}))
        return
    from epic_cli.recordings.tick_rates import find_usual_rate

    rate = find_usual_rate(1 / ratio)
    given = watch.given is not None and watch.given.time_unit is not None
    if rate is not None and not given and all(map(_has_whole_times, watch.samples)):
        facts = {"unit": f"ticks of 1/{rate:g} s", "step": 1.0, "taken": "seconds"}
        yield RecordingFinding("E201", facts, read=watch.read_with({"unit": f"ticks@{rate:g}"}))


def _has_whole_times(sample: WatchedBlock) -> bool:
    """Return True if all times of a sample of packets are whole numbers."""
    return all(sample.block[place].time.is_integer() for place in range(len(sample.block)))


def _find_times_of_log(watch: RecordingMonitor) -> Iterator[RecordingFinding]:
    """Yield a finding if times of the day are less regular than a column of ticks."""
    layout, given = watch.current_layout, watch.given
    if layout is None or layout.time_unit != "iso" or "arrival" in layout.places:
        return
    if given is not None and "time" in given.places:
        return
    from epic_cli.recordings.names.spellings import TICKS, split_name  # tables alone have names
    from epic_cli.recordings.tick_rates import find_usual_rate

    every = list(_iterate_unread_cells(watch.samples))
    rows = [row for row in every if row.packet.entity == every[0].packet.entity]
    if len(rows) < _EVEN_ROWS:
        return
    ticking = [one for one in rows[0].cells if split_name(one.rpartition(".")[2]).spelling in TICKS]
    if len(ticking) != 1 or not all(row.cells.get(ticking[0], "").isdigit() for row in rows):
        return
    counts = [int(row.cells[ticking[0]]) for row in rows]
    steps = Counter(b - a for a, b in pairwise(counts))
    apart = [b.packet.time - a.packet.time for a, b in pairwise(rows)]
    low, high = _find_tenths(apart)
    even = min(steps) > 0 and max(steps.values()) >= _EVEN * len(apart)
    lasted = rows[-1].packet.time - rows[0].packet.time
    if not (even and lasted > 0 and high - low > _UNEVEN * lasted / len(apart)):
        return
    rate = find_usual_rate((counts[-1] - counts[0]) / lasted)
    entries = {"time": ticking[0], "arrival": layout.places["time"], "unit": f"ticks@{rate:g}"}
    read = watch.read_with({**entries, "arrival_unit": "iso"}) if rate else ""
    facts = {"column": ticking[0], "low": f"{low * 1000:.3g}", "high": f"{high * 1000:.3g} ms"}
    yield RecordingFinding("E212", facts, read=read)


#: Two clocks run alike by this share; what differs by less (s) is one clock twice, and by more than
#: this share of the recording is no delay.
_ALIKE, _DELAYS = 0.02, (5e-4, 0.25)

#: One of two clocks is the sender's if its steps vary by this share of the other's.
_STEADIER = 0.5


def _find_second_clock(watch: RecordingMonitor) -> Iterator[RecordingFinding]:
    """Yield a finding if a column that is not read is another clock: of arrivals, or of sending."""
    layout, given = watch.current_layout, watch.given or ReadSpec()
    places = {} if layout is None else layout.places
    known = {field for field, _ in given.columns or ()}
    received = places.get("arrival", places.get("time"))  # of one clock, the time stands for it
    if layout is None or "arrival" in known or received != places.get("time"):
        return
    if layout.time_unit not in (*TIME_UNITS, "iso"):
        return
    rows = list(_iterate_rows_of_first_entity(watch.samples))
    if len(rows) < _EVEN_ROWS or rows[-1].packet.time <= rows[0].packet.time:
        return
    times = [row.packet.time for row in rows]
    used, found = list_used_columns(layout), []
    for name in rows[0].cells.keys() - used:
        with suppress(ValueError):
            cells = [row.cells.get(name, "") for row in rows]
            if layout.time_unit == "iso":
                ticks = [datetime.fromisoformat(cell).timestamp() for cell in cells]
                if abs((ticks[-1] - ticks[0]) / (times[-1] - times[0]) - 1) < _ALIKE:
                    found.append((name, "iso", [tick - ticks[0] for tick in ticks]))
                continue
            ticks = [float(cell.replace(",", ".")) for cell in cells]
            rate = (ticks[-1] - ticks[0]) / (times[-1] - times[0])
            unit = next((u for u in _CLOCK_UNITS if abs(rate / TIME_UNITS[u] - 1) < _ALIKE), None)
            if unit is not None:
                found.append((name, unit, [tick / TIME_UNITS[unit] for tick in ticks]))
    if len(found) != 1:
        return
    ((name, unit, clock),) = found
    delay = _measure_spread([at - time for at, time in zip(clock, times, strict=True)])
    if not _DELAYS[0] < delay < _DELAYS[1] * (times[-1] - times[0]):
        return
    own, other = (_measure_spread([b - a for a, b in pairwise(row)]) for row in (times, clock))
    units = {} if unit == layout.time_unit else {"arrival_unit": unit}
    if own <= _STEADIER * other:
        read = watch.read_with({"arrival": name, **units})
        yield RecordingFinding(
            "E215", {"column": name, "spread": f"{1e3 * delay:.3g} ms"}, read=read
        )
    elif other <= _STEADIER * own and "time" not in known:
        low, high = _find_tenths([b - a for a, b in pairwise(times)])
        entries = {"time": name, "arrival": places["time"], "unit": unit}
        units = {} if unit == layout.time_unit else {"arrival_unit": layout.time_unit}
        facts = {"column": name, "low": f"{low * 1e3:.3g}", "high": f"{high * 1e3:.3g} ms"}
        yield RecordingFinding("E212", facts, read=watch.read_with({**entries, **units}))


def _iterate_rows_of_first_entity(samples: Sequence[WatchedBlock]) -> Iterator[UnreadCells]:
    """Yield the first packets of the first entity, each with all cells of its line."""
    for sample in samples:
        block, reader = sample.block, sample.reader
        for index in range(min(len(block), _PACKETS)):
            if reader is not None and block[index].entity == samples[0].block[0].entity:
                cells = reader.split_cells(block.line_text(index))
                yield UnreadCells(block[index], block.line(index), cells)


def _measure_spread(values: list[float]) -> float:
    """Return the distance from the lowest tenth to the highest."""
    low, high = _find_tenths(values)
    return high - low


def _find_tenths(values: list[float]) -> tuple[float, float]:
    """Return the value that a tenth are below, and the one that a tenth are above."""
    ordered = sorted(values)
    return ordered[len(ordered) // 10], ordered[-len(ordered) // 10]


def _has_unsteady_delays(track: Track) -> bool:
    """Return True if an entity's delays vary by more than half its duration."""
    low, high = track.delays
    return bool(track.arrivals) and high - low > 0.5 * (track.last - track.first)


def _find_unit(size: float) -> str | None:
    """Return the unit of which ``size`` make a second; None if there is no such unit."""
    return next((unit for unit in _UNIT_NAMES if TIME_UNITS[unit] == size), None)


def _guess_time_unit(figures: Survey) -> str | None:
    """Return the probable unit of times that are read as seconds; None if seconds may be right."""
    serial = 0 < figures.step < 1 / _FASTEST_RATE and (
        _SERIAL_DAYS[0] < figures.latest < _SERIAL_DAYS[1]
    )
    if _has_enough_velocities(figures):
        sizes = {**_UNITS, "d": 1 / 86400} if serial else _UNITS
        agree = figures.cosines[0] >= _AGREES
        return next(
            (u for u, size in sizes.items() if agree and _is_nearly_equal(figures.ratio, size)),
            None,
        )
    plain = figures.whole and _PLAIN_MS[0] <= figures.step <= _PLAIN_MS[1]
    if figures.packets < (_PLAIN_STEPS if plain else _FEW_STEPS - 1) or not figures.moves:
        return None
    if serial:
        return "d"
    if figures.step < _LONG_STEP or (figures.whole and figures.step in _LOGGERS):
        return None
    return next((u for u, size in _UNITS.items() if figures.step < _LONG_STEP * size), None)


def _find_unix_times(figures: Survey, watch: RecordingMonitor) -> Iterator[RecordingFinding]:
    unix = figures.packets > 0 and _UNIX[0] <= figures.latest <= _UNIX[1]
    if unix and (watch.given is None or watch.given.time_origin is None):
        yield RecordingFinding("E202", read=watch.read_with({"origin": "first"}))


def _check_velocities(figures: Survey, watch: RecordingMonitor) -> Iterator[RecordingFinding]:
    without = watch.read_with(dict.fromkeys(VELOCITY, ""))
    if figures.zeros == figures.velocities >= _ALONE and figures.moves >= _ALONE - 2:
        yield RecordingFinding("E301", read=without)
        return
    if not _has_enough_velocities(figures):
        return
    own, *others = figures.cosines
    if own >= _AGREES:
        if not any(_is_nearly_equal(figures.ratio, size) for size in (1, *_UNITS.values())):
            yield RecordingFinding("E302", {"ratio": figures.ratio})
        return
    best = max(others)
    if best >= _OTHER_AXES and _is_nearly_equal(figures.ratio, 1):
        order = _ORDERS[others.index(best)]
        yield RecordingFinding("E303", {"name": order, "axes": ", ".join(order)})
    elif own < _OTHER_WAY:
        yield RecordingFinding("E304", read=without)


def _has_enough_velocities(figures: Survey) -> bool:
    return figures.judged_runs >= _STRETCHES


def _is_nearly_equal(ratio: float, size: float) -> bool:
    return size / _OFF <= ratio <= size * _OFF
