"""The outcome of checking a case, and the unusual packets where it first differs."""

from __future__ import annotations

import enum
import math
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from epic_cli.engine.contract import Packet
from epic_cli.engine.replay.playback import Timing

if TYPE_CHECKING:
    from epic_cli.engine.failures import StrategyFailed
    from epic_cli.jobs.check.differences import Difference
    from epic_cli.jobs.check.drawing import CheckedCondition
    from epic_cli.jobs.check.port import PortRun
from epic_cli.jobs.check.spec import BrokenCase, Case


class CaseStatus(enum.Enum):
    """The result of checking a case, the worst first."""

    BROKEN = enum.auto()  # it cannot be run as it is written
    GONE = enum.auto()  # a file that it names cannot be read
    STRATEGY_FAILED = enum.auto()
    PORT_FAILED = enum.auto()  # the program under test hung, crashed, or printed no rows
    DIFFERS = enum.auto()
    CONDITIONS = enum.auto()  # the rows are right, and a metric is not
    NOTHING_EXPECTED = enum.auto()
    ORPHANED = enum.auto()  # expected rows that no case asks for
    HOLDS = enum.auto()


class Outcome(NamedTuple):
    """The outcome of checking a case (None if the case file is broken).

    ``problem`` says, with a place, what kept the case from being run, or what is wrong with its
    expected rows. ``drawn`` are the rows, if they differ from the expected ones, and ``new`` is
    where they were written. ``ignored`` columns were not compared. ``timing`` is another pacing or
    clock with which a port that differs would be right. ``circumstances`` are packet events just
    before the first wrong row, ``occasion`` the events before most wrong rows.
    """

    name: str
    file: str
    status: CaseStatus
    case: Case | None = None
    problem: str = ""
    difference: Difference | None = None
    conditions: tuple[CheckedCondition, ...] = ()
    port: PortRun | None = None
    made_by: str = ""
    drawn: bytes | None = None
    new: str = ""
    rows: int = 0
    refused: int = 0
    ignored: tuple[str, ...] = ()
    timing: Timing | None = None
    circumstances: tuple[Circumstance, ...] = ()
    occasion: Occasion | None = None

    @property
    def holds(self) -> bool:
        """True if everything is as expected."""
        return self.status is CaseStatus.HOLDS

    @property
    def failed_conditions(self) -> list[CheckedCondition]:
        """The conditions that do not hold."""
        return [condition for condition in self.conditions if not condition.holds]


def make_broken_outcome(
    name: str, file: str, error: BrokenCase | StrategyFailed, case: Case | None = None
) -> Outcome:
    """Return the outcome of a case that cannot be run."""
    status = CaseStatus.STRATEGY_FAILED
    if isinstance(error, BrokenCase):
        status = CaseStatus.GONE if error.gone else CaseStatus.BROKEN
    return Outcome(name, file, status, case, str(error))


# ---------------------------------------------------------------- where it first differs

#: Least silence, as a multiple of the median interval between arrivals.
_SILENCE = 2.5

#: Least jump, as a multiple of the way by the faster of two velocities; it is at least a unit.
_JUMP, _UNIT = 4.0, 1.0


class PacketKind(enum.Enum):
    """Kinds of unusual packet events, which strategies treat differently.

    The most unusual first.
    """

    FIRST = enum.auto()
    LATE = enum.auto()  # its timestamp is earlier than the newest
    SAME_STAMP = enum.auto()  # its timestamp is the newest one again
    SECOND = enum.auto()  # the send interval is known from here on
    JUMP = enum.auto()
    AFTER_SILENCE = enum.auto()
    SILENCE = enum.auto()  # there is no packet, and has not been for some time
    MANY = enum.auto()  # it arrives in one row with others


#: Least share of the first wrong rows, and largest of all rows, that an event precedes.
_MOSTLY, _SELDOM = 0.8, 0.4


class Circumstance(NamedTuple):
    """An unusual packet event: late, duplicate, after a silence, after a restart.

    ``time`` is the packet's timestamp. ``amount`` is in packets for ``MANY``, in seconds for
    silences, in units for a jump, in seconds behind the newest timestamp for ``LATE``.
    """

    kind: PacketKind
    time: float
    amount: float = 0.0


def find_circumstances(packets: Sequence[Packet], after: float, until: float) -> list[Circumstance]:
    """Return the packet events in the frame of a row, between two receiver times (s).

    ``packets`` are those of one entity, by arrival. The most unusual comes first; if there was
    none, the last unusual packet before is returned.
    """
    arrived = [packet for packet in packets if packet.arrival is not None]
    usual = _measure_usual_interval(arrived)
    come = [packet for packet in arrived if (packet.arrival or 0.0) <= until]
    found: list[Circumstance] = []
    earlier: list[Circumstance] = []
    here = 0
    for number, (one, unusual) in enumerate(_classify_packets(come, usual)):
        if (one.arrival or 0.0) > after:
            found += unusual
            here += 1
        elif unusual and number > 1:
            earlier = unusual
    if here > 1:
        found.append(Circumstance(PacketKind.MANY, max(packet.time for packet in come), here))
    if come and not here and usual > 0:
        pause = until - (come[-1].arrival or 0.0)
        if pause > _SILENCE * usual:
            found.append(Circumstance(PacketKind.SILENCE, come[-1].time, pause))
    return sorted(found or earlier, key=lambda one: one.kind.value)


class Occasion(NamedTuple):
    """A kind of packet event that preceded ``hits`` of ``total`` wrong rows."""

    kind: PacketKind
    hits: int
    total: int


#: Events after which a port's rows may differ for a while.
_OCCASIONS = (
    PacketKind.LATE,
    PacketKind.SAME_STAMP,
    PacketKind.AFTER_SILENCE,
    PacketKind.JUMP,
)


def find_occasion(
    packets: Sequence[Packet], times: Sequence[float], wrong: Sequence[bool]
) -> Occasion | None:
    """Return the packet event that precedes wrong rows and few right rows; None if there is none.

    ``times`` are those of rows, ``wrong`` tells which differ; a packet counts in the frame in which
    it arrives and in the next.
    """
    begins = {place for place, off in enumerate(wrong) if off and not (place and wrong[place - 1])}
    where: dict[PacketKind, set[int]] = {kind: set() for kind in _OCCASIONS}
    arrived = [packet for packet in packets if packet.arrival is not None]
    for one, unusual in _classify_packets(arrived, _measure_usual_interval(arrived)):
        place = bisect_left(times, one.arrival or 0.0)
        for found in unusual:
            if found.kind in where:
                where[found.kind] |= {place, place + 1}
    for kind, places in where.items():
        count = len(begins & places)
        if count > 1 and count >= _MOSTLY * len(begins) and len(places) < _SELDOM * len(times):
            return Occasion(kind, count, len(begins))
    return None


def _classify_packets(
    arrived: Iterable[Packet], usual: float
) -> Iterator[tuple[Packet, list[Circumstance]]]:
    """Yield the packets in order of arrival, each with its unusual events."""
    newest, before = -math.inf, None
    for number, one in enumerate(arrived):
        yield one, list(_find_events(number, one, before, newest, usual))
        newest, before = max(newest, one.time), one


def _find_events(
    number: int, one: Packet, before: Packet | None, newest: float, usual: float
) -> Iterator[Circumstance]:
    """Return the unusual events of the packet that arrives as number ``number``, from 0."""
    if number < 2:
        yield Circumstance(PacketKind.SECOND if number else PacketKind.FIRST, one.time)
    elif one.time < newest:
        yield Circumstance(PacketKind.LATE, one.time, newest - one.time)
    elif one.time == newest:
        yield Circumstance(PacketKind.SAME_STAMP, one.time)
    if before is not None:
        pause = (one.arrival or 0.0) - (before.arrival or 0.0)
        if usual > 0 and pause > _SILENCE * usual:
            yield Circumstance(PacketKind.AFTER_SILENCE, one.time, pause)
        far = _measure_unexplained_distance(before, one)
        if far:
            yield Circumstance(PacketKind.JUMP, one.time, far)


def _measure_usual_interval(arrived: Sequence[Packet]) -> float:
    known = sorted(b.time - a.time for a, b in pairwise(arrived) if b.time > a.time)
    return known[len(known) // 2] if known else 0.0


def _measure_unexplained_distance(before: Packet, packet: Packet) -> float:
    """Return the distance from the previous packet to this one; 0 if velocities explain it."""
    far = math.dist(before.position, packet.position)
    states = before, packet
    fastest = max(math.hypot(*state.velocity) if state.velocity else 0.0 for state in states)
    explained = fastest * abs(packet.time - before.time)
    return far if far > _UNIT and far > _JUMP * explained else 0.0
