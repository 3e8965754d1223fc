"""The model of a running game: received packets, drawn samples, metrics and events.

The terminal's screen and the browser's page both show this model; it knows neither.
"""

from __future__ import annotations

import copy
import math
from bisect import bisect_left
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from itertools import takewhile, zip_longest
from time import perf_counter
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from epic_cli.engine.failures import StrategyFailed
from epic_cli.engine.packets import ConnectionTimes, Entities, PacketBlock, SampleBlock
from epic_cli.engine.parameters import Number, Setting, Span, Value
from epic_cli.engine.replay import separate
from epic_cli.engine.replay.strategy_spec import StrategySpec
from epic_cli.engine.strategies import get_declaration, list_remote_names
from epic_cli.engine.text.widths import cut, printable
from epic_cli.live.consumer import Consumer
from epic_cli.live.listener import GameSource, LaterDrawing, ListenSpec, LiveDrawing
from epic_cli.metrics import find_metric
from epic_cli.metrics.digits import join_words
from epic_cli.metrics.measurement import Entity, Measurement, measure, pool_measurements
from epic_cli.metrics.metric import Weights
from epic_cli.metrics.notes import TooFewStates
from epic_cli.metrics.recovery import find_events
from epic_cli.metrics.truth import JUMP_WINDOW, make_truth, sample_truth
from epic_cli.recordings.datagrams.counts import Counts

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from epic_cli.engine.contract import Packet
    from epic_cli.live.receiving import Reception
    from epic_cli.live.recording import Recording

    Floats = NDArray[np.float64]
    Integers = NDArray[np.int32]
    Rows = NDArray[np.void]


#: Seconds of drawn samples and of packets that are stored: with the truth of up to five seconds
#: before, lags are those of ``epic compare``.
KEPT, PACKETS_KEPT = 6.0, 11.0

#: The most packets, and samples, stored per second: a thousand entities at the pace of a screen.
_MOST, _MOST_ROWS = 20_000, 100_000

#: The most packets of one block, so that there are few blocks.
_FULL = 512

#: A sample, as ``SampleBlock.rows`` has it.
ROW = np.dtype(
    [
        ("position", "f8", 3),
        ("velocity", "f8", 3),
        ("time", "f8"),
        ("status", "i4"),
        ("entity", "i4"),
    ],
    align=True,
)


#: The position in a packet, with the packet's arrival and delay; its sequence number, if it is
#: ``numbered``.
POINT = np.dtype(
    [
        ("position", "f8", 3),
        ("time", "f8"),
        ("entity", "i4"),
        ("delay", "f8"),
        ("sequence", "u8"),
        ("numbered", "?"),
    ]
)


class Points(NamedTuple):
    """Positions (n, 3) of entities (their numbers, n) at times (s, n)."""

    positions: Floats
    entities: Integers
    times: Floats

    def select_last(self) -> Points:
        """Return the last point of each entity; points are in order of time."""
        _, places = np.unique(self.entities[::-1], return_index=True)
        return self.select_points(len(self.entities) - 1 - places)

    def select_points(self, places: NDArray[np.intp]) -> Points:
        """Return the points at the indices ``places``."""
        return Points(self.positions[places], self.entities[places], self.times[places])


class _RecentRecords:
    """Recent records as bytes, in pieces with an end time each, of which the oldest are dropped."""

    def __init__(self, record: np.dtype[np.void], kept: float, most: int) -> None:
        self._record, self._kept = record, kept
        self._most = most * kept * record.itemsize
        self._pieces: deque[tuple[float, bytes]] = deque()
        self._size = 0

    def add(self, time: float, records: bytes) -> None:
        self._pieces.append((time, records))
        self._size += len(records)
        begin = time - self._kept
        while self._pieces[0][0] < begin or (self._size > self._most and len(self._pieces) > 1):
            self._size -= len(self._pieces.popleft()[1])

    def select_since(self, time: float) -> Rows:
        """Return the records of the pieces that end at this time or later."""
        pieces = list(takewhile(lambda piece: piece[0] >= time, reversed(self._pieces)))
        return np.frombuffer(b"".join(piece for _, piece in reversed(pieces)), self._record)


class History:
    """The packets received and the samples drawn in the last seconds.

    ``newest`` is the last packet of each entity, however old. ``rotations`` (4) are those drawn
    last, by the entities' numbers. ``teleported`` has the entities that teleported since it was
    cleared.
    """

    def __init__(self, entities: Entities) -> None:
        self.entities = entities
        self.newest: dict[str, Packet] = {}
        self.teleported: set[str] = set()
        self.rotations: dict[int, Floats] = {}
        self._blocks: deque[PacketBlock] = deque([PacketBlock(entities)])
        self._count = 0
        self._points = _RecentRecords(POINT, KEPT, _MOST)
        self._rows = _RecentRecords(ROW, KEPT, _MOST_ROWS)

    def copy_frozen(self) -> History:
        """Return a copy of the history that stays as it is when more packets arrive."""
        kept = copy.deepcopy(
            self, {id(self.entities): self.entities} | self._list_unchanging_parts()
        )
        kept._blocks[-1] = self._blocks[-1].part(0, len(self._blocks[-1]))
        return kept

    def _list_unchanging_parts(self) -> dict[int, object]:
        """Return the unchanging parts, which ``deepcopy`` shares."""
        return {id(block): block for block in (*self._blocks, *self.newest.values())}

    def take(self, block: PacketBlock) -> Rows:
        """Add the packets of a block; return their records (``POINT``)."""
        packets = [block[index] for index in range(len(block))]
        points = self._make_points(packets)
        if not packets:
            return points
        arrival = packets[-1].arrival or 0.0
        if len(self._blocks[-1]) >= _FULL:
            self._blocks.append(PacketBlock(self.entities))
        self._blocks[-1].extend(block)
        self._count += len(block)
        while len(self._blocks) > 1 and self._is_old_block(self._blocks[0], arrival):
            self._count -= len(self._blocks.popleft())
        self._points.add(arrival, points.tobytes())
        self.newest.update((packet.entity, packet) for packet in packets)
        self.teleported.update(packet.entity for packet in packets if packet.teleport)
        return points

    def _is_old_block(self, block: PacketBlock, now: float) -> bool:
        end = block[len(block) - 1].arrival or 0.0
        return end < now - PACKETS_KEPT or self._count > _MOST * PACKETS_KEPT

    def _make_points(self, packets: Iterable[Packet]) -> Rows:
        number = self.entities.assign_number
        points = [
            (packet.position, arrival, number(packet.entity), arrival - packet.time,
             packet.sequence or 0, packet.sequence is not None)
            for packet in packets
            if (arrival := packet.arrival) is not None
        ]  # fmt: skip
        return np.array(points, POINT)

    def select_newest_points(self) -> Points:
        """Return the newest packets as points."""
        return _convert_to_points(self._make_points(self.newest.values()))

    def list_received(self, since: float = -math.inf) -> Points:
        """Return the positions in packets that arrived at ``since`` (s) or later, by arrival."""
        points = self.select_points(since)
        return _convert_to_points(points[points["time"] >= since])

    def select_points(self, since: float) -> Rows:
        """Return the records (``POINT``) of packets that arrived since a time (s).

        A few earlier records are among them.
        """
        return self._points.select_since(since)

    def draw(self, samples: SampleBlock) -> None:
        """Add drawn samples to the history."""
        rows = np.frombuffer(samples.rows(), ROW)
        if len(rows):
            self._rows.add(float(rows["time"][-1]), rows.tobytes())
            rotations = np.frombuffer(samples.turns()).reshape(-1, 7)[:, :4]
            known = np.flatnonzero(~np.isnan(rotations[:, 0]))
            self.rotations |= dict(
                zip(rows["entity"][known].tolist(), rotations[known], strict=True)
            )

    def redraw(self) -> None:
        """Forget the drawn samples, so that another strategy draws them again."""
        self.rotations.clear()
        self._rows = _RecentRecords(ROW, KEPT, _MOST_ROWS)

    def list_blocks(self) -> list[PacketBlock]:
        """Return the received packets as blocks, in order of arrival."""
        return [block.part(0, len(block)) for block in self._blocks]

    def list_rows(self, since: float = -math.inf) -> Rows:
        """Return the drawn samples (``ROW``), without those of the status ``none``."""
        rows = self._rows.select_since(since)
        kept: Rows = rows[(rows["status"] != 0) & (rows["time"] >= since)]
        return kept

    def list_drawn(self, since: float = -math.inf) -> Points:
        """Return the drawn samples as points."""
        return _convert_to_points(self.list_rows(since))

    def group_by_entity(self, only: str | None = None) -> dict[str, PacketBlock]:
        """Return the packets of each entity by name, or of the named entity alone."""
        found: dict[str, PacketBlock] = {}
        connection = ConnectionTimes()
        for block in self._blocks:
            if only is not None:
                connection.note(block)
                block = block.part(0, len(block))  # noqa: PLW2901
                block.keep_entity(only)
            separate(block, found)
        if only in found and len(self.names) > 1:
            found[only].connection = connection
        return found

    @property
    def names(self) -> list[str]:
        """The names of the entities that have sent packets, in the order of their first packets."""
        return list(self.newest)


def _convert_to_points(records: Rows) -> Points:
    return Points(records["position"], records["entity"], records["time"])


#: The window of the measurements, and of the history, in seconds.
WINDOW = 5.0
HISTORY = 120

#: The seconds whose shortest delay is subtracted; not all, since clocks drift.
_SHORTEST_OF = 60

#: Seconds between two updates; datagrams per second are a mean over some updates.
_EVERY = 0.25
_LOOKS = 8

#: Seconds that it takes to detect a reset clock, at 2 packets a second or more.
_UNCLEAR = 2.0

#: Sequence numbers were reset if their range exceeds their count by this factor.
_RESET = 20

#: Longer steps between sequence numbers count as this one.
_LONGEST_STEP = 1000


class TrafficFlow(NamedTuple):
    """The measurements of the traffic in the last seconds; NaN if unknown.

    ``packets`` and ``datagrams`` a second. ``loss``: the share of missing sequence numbers, 0 to 1.
    ``jitter`` (s): the mean absolute difference of the delays of an entity's successive packets
    (the D of RFC 3550, 6.4.1). ``delay`` and ``delay95`` (s): the median and the 95 % quantile,
    above the shortest. ``history``: the longest of each second, NaN without packets, the latest
    last.
    """

    packets: float
    datagrams: float
    loss: float
    jitter: float
    delay: float
    delay95: float
    history: tuple[float, ...]


NOTHING = TrafficFlow(0, 0, math.nan, math.nan, math.nan, math.nan, ())


class LiveTraffic:
    """The measured traffic, computed a few times a second; ``flow`` has the latest values."""

    def __init__(self) -> None:
        self.flow = NOTHING
        self._looked = self._since = -math.inf
        self._resets = 0
        self._datagrams: deque[tuple[float, int]] = deque(maxlen=_LOOKS)
        self._longest: dict[int, float] = {}  # delays, by second
        self._shortest: dict[int, float] = {}

    def add(self, received: Rows) -> None:
        """Add the records (``POINT``) of received packets."""
        seconds = np.floor(received["time"]).astype(int)
        for second in np.unique(seconds).tolist():
            delays = received["delay"][seconds == second]
            self._longest[second] = max(self._longest.get(second, -math.inf), delays.max())
            self._shortest[second] = min(self._shortest.get(second, math.inf), delays.min())
        while len(self._longest) > HISTORY:
            oldest = next(iter(self._longest))
            del self._longest[oldest], self._shortest[oldest]

    def look(self, history: History, now: float, real_time: float, counts: Counts) -> None:
        """Compute the traffic at the time ``now`` from the packets in ``history``.

        ``now`` is on the receiver's clock, ``real_time`` on any (s).
        """
        if counts.clock_resets > self._resets:
            self._resets = counts.clock_resets
            self._forget_delays(now)
        if real_time - self._looked < _EVERY:
            return
        self._looked = real_time
        self._datagrams.append((real_time, counts.datagrams))
        recent = [delay for second, delay in self._shortest.items() if second >= now - _SHORTEST_OF]
        shortest = min(recent, default=math.nan)
        received = history.select_points(now - WINDOW)
        packets = int((received["time"] >= now - 1).sum())
        received = received[received["time"] >= max(now - WINDOW, self._since)]
        delays = np.sort(received["delay"])
        self.flow = TrafficFlow(
            packets,
            self._measure_datagram_rate(),
            _measure_loss(received),
            _measure_jitter(received),
            _compute_quantile(delays, 0.5) - shortest,
            _compute_quantile(delays, 0.95) - shortest,
            self._list_longest_delays(now, shortest),
        )

    def _forget_delays(self, now: float) -> None:
        """Drop the delays around a reset of the sender's clock, which are no network delays."""
        self._since, self._looked = now, -math.inf
        for second in [known for known in self._longest if known >= math.floor(now - _UNCLEAR)]:
            del self._longest[second], self._shortest[second]

    def _measure_datagram_rate(self) -> float:
        if len(self._datagrams) < 2:
            return 0.0
        (begin, before), (end, after) = self._datagrams[0], self._datagrams[-1]
        return (after - before) / (end - begin)

    def _list_longest_delays(self, now: float, shortest: float) -> tuple[float, ...]:
        if not self._longest:
            return ()
        last = math.floor(now)
        first = max(last - HISTORY + 1, next(iter(self._longest)))
        delays = (self._longest.get(second, math.nan) for second in range(first, last + 1))
        return tuple(delay - shortest for delay in delays)


def _compute_quantile(ordered: Floats, share: float) -> float:
    count = len(ordered)
    return float(ordered[min(int(share * count), count - 1)]) if count else math.nan


def _measure_jitter(received: Rows) -> float:
    ordered = received[np.argsort(received["entity"], kind="stable")]
    changes = np.abs(np.diff(ordered["delay"]))[np.diff(ordered["entity"]) == 0]
    return float(changes.mean()) if len(changes) else math.nan


def _measure_loss(received: Rows) -> float:
    """Return the share of sequence numbers that are missing.

    Some senders number the packets of each entity. Others number all packets: then no two entities
    have a number in common, and only losses leave gaps in the numbers of all. Others number
    datagrams that hold several entities of a tick: then the commonest step from one packet of an
    entity to the entity's next packet is not 1; in the first case that step is 1 whatever was lost.
    """
    numbered = received[received["numbered"]]
    numbers, entities = numbered["sequence"], numbered["entity"]
    order = np.lexsort((numbers, entities))
    numbers, entities = numbers[order], entities[order]
    first = np.ones(len(order), bool)
    first[1:] = (np.diff(entities) != 0) | (numbers[1:] != numbers[:-1])
    numbers, entities = numbers[first], entities[first]  # drop duplicates
    together = np.unique(numbers)
    each = _compute_missing_share(numbers, np.flatnonzero(np.diff(entities, prepend=-1)))
    steps = np.minimum(np.diff(numbers)[np.diff(entities) == 0], _LONGEST_STEP).astype(int)
    if len(together) < len(numbers) and (not len(steps) or np.bincount(steps).argmax() == 1):
        return each
    both = (each, _compute_missing_share(together, np.zeros(min(len(together), 1), int)))
    return min((share for share in both if not math.isnan(share)), default=math.nan)


def _compute_missing_share(numbers: NDArray[np.uint64], begins: NDArray[np.intp]) -> float:
    """Return the share of numbers missing from streams of ascending numbers.

    ``begins`` are their first indices.
    """
    if not len(begins):
        return math.nan
    ends = np.append(begins[1:], len(numbers))
    lengths = (numbers[ends - 1] - numbers[begins]).astype(float) + 1
    if (lengths > _RESET * (ends - begins) + 100).any():
        return math.nan
    return float(1 - len(numbers) / lengths.sum())


#: Seconds between the beginnings of two rounds, and seconds to measure between two pictures.
_ROUND, _BUDGET = 0.5, 0.012

#: Seconds of rows that metrics of an entity need, and seconds after which they are stale.
_WHOLE, _STALE = 2.0, 1.0

#: The shown metrics in their order, each with its words.
_SHOWN = (
    ("error", "error {}"),
    ("error95", "95% {}"),
    ("lag", "lag {} ms"),
    ("residual", "residual {}"),
    ("jumps", "jumps {}"),
    ("jerk", "jerk {}"),
    ("held", "held {}"),
    ("extrapolated", "extrapolated {}"),
)


class LiveEvaluator:
    """The metrics of ``epic compare`` over a moving window.

    The truth of an entity is the movement through its packets received so far, or through those
    that were sent, if they are known. If there are too many entities for each round, they take
    turns, so that those measured last are a fair sample; those listed on the screen are measured in
    each. ``curves`` are those of the followed entity, by the second of the receiver's clock: error
    (root mean square), lag and longest delay (s); ``apart`` are the times (s) and distances of the
    rows measured last.
    """

    def __init__(self, tick: float) -> None:
        self._tick = tick
        self._measured: dict[str, tuple[float, Measurement]] = {}
        self._turns: dict[str, float] = {}  # the time of each entity's last turn
        self._left: deque[tuple[str, bool]] = deque()  # the rest of this round; True: in turn
        self._gathered: dict[str, tuple[PacketBlock, PacketBlock | None, Rows]] = {}
        self._gathered_at = self._begun = -math.inf
        self._only: str | None = None
        self.curves: tuple[dict[int, float], ...] = ({}, {}, {})
        self.apart: tuple[Floats, Floats] = (np.empty(0), np.empty(0))

    def forget(self) -> None:
        """Forget all measurements, since another strategy draws from now on."""
        self._measured.clear()
        self._turns.clear()
        self._left.clear()
        self._begun = -math.inf

    def look(
        self,
        history: History,
        now: float,
        real_time: float,
        only: str | None = None,
        listed: Sequence[str] = (),
        truth: History | None = None,
    ) -> None:
        """Measure as many entities as time allows, or the entity ``only``.

        ``now`` is on the receiver's clock, ``real_time`` on any steady clock (s); entities in
        ``listed`` come first. ``truth`` are the sent packets.
        """
        begin = perf_counter()
        if only != self._only:
            self._only, self.curves = only, ({}, {}, {})
        paused = now == self._gathered_at and self._begun > -math.inf  # no new packets
        if real_time - self._begun >= _ROUND and not paused:
            self._begun, self._gathered_at = real_time, now
            self._gathered = _gather_packets(history, now, only, truth)
            if only is not None:
                points = history.select_points(now - WINDOW)
                own = points[points["entity"] == history.entities.assign_number(only)]
                self.curves[2].update(_group_by_second(own["time"], own["delay"], np.max))
                for curve in self.curves:
                    while len(curve) > HISTORY:
                        del curve[next(iter(curve))]
            in_turn = sorted(self._gathered, key=lambda name: self._turns.get(name, -math.inf))
            some = [
                name for name in listed if name in self._gathered and len(in_turn) > len(listed)
            ]
            both = zip_longest(some, in_turn)  # alternate between the two
            self._left = deque(
                (one, place == 1)
                for two in both
                for place, one in enumerate(two)
                if one is not None
            )
        while self._left:
            name, has_turn = self._left.popleft()
            found = self._measure_entity(*self._gathered[name])
            if has_turn:
                self._turns[name] = self._gathered_at
            if found is not None:
                self._measured[name] = self._gathered_at, found
            if perf_counter() - begin > _BUDGET:
                break
        for name in [name for name, one in self._measured.items() if one[0] < now - WINDOW]:
            del self._measured[name]
            self._turns.pop(name, None)

    def _measure_entity(
        self, packets: PacketBlock, sent: PacketBlock | None, rows: Rows
    ) -> Measurement | None:
        if len(rows) < 2 or rows["time"][-1] - rows["time"][0] < _WHOLE:
            return None
        try:
            truth = make_truth(packets) if sent is None else make_truth(sent, "given")
        except TooFewStates:
            return None
        events = find_events(packets, truth, 0.0, 0.0)
        times = np.ascontiguousarray(rows["time"])
        since = self._gathered_at - WINDOW
        sampled = sample_truth(truth, times, self._tick, 0.0, events.first, since)
        if not sampled.counted.any():
            return None
        shown = np.ascontiguousarray(rows["position"])
        status = np.ascontiguousarray(rows["status"])
        found = measure(shown, status, Entity("", packets, sampled, events), Weights())
        if self._only is not None:
            counted = sampled.counted
            apart = np.square(shown - sampled.positions).sum(axis=1)[counted]
            errors, lags, _ = self.curves
            self.apart = times[counted], np.sqrt(apart)
            errors |= _group_by_second(times[counted], apart, lambda some: math.sqrt(some.mean()))
            lags[int(times[-1])] = found.lag.seconds
        return found

    def format_metrics(self, only: str | None = None) -> list[str]:
        """Return the metrics over all measured entities, or of the entity ``only``, as text.

        Empty if no such entity is measured.
        """
        turns = self._turns
        latest = max(turns.values(), default=-math.inf)  # older if time is scarce
        since = min(self._gathered_at - _STALE, latest)
        known = [
            one
            for name, (_, one) in self._measured.items()
            if one.rows
            and (name == only if only is not None else turns.get(name, -math.inf) >= since)
        ]
        if not known:
            return []
        measured = pool_measurements(known)
        found = []
        for name, words in _SHOWN:
            metric = find_metric(name)
            cell = metric.format_cell(float(metric.value(measured)), measured.resolution)
            found.append(words.format(cell).replace("- ms", "-"))
        if only is None and len(known) < len(self._gathered):
            found.append(f"of {len(known):,} of {len(self._gathered):,} entities")
        return found

    def find_worst(self) -> str | None:
        """Return the entity with the largest error.

        None if fewer than two entities are measured.
        """
        errors = {name: one.error for name, (_, one) in self._measured.items() if one.rows}
        return max(errors, key=lambda name: errors[name]) if len(errors) > 1 else None

    def compute_error(self, name: str) -> float:
        """Return the root mean square error of an entity; NaN if unknown."""
        return self._measured[name][1].error if name in self._measured else float("nan")


def _group_by_second(
    times: Floats, values: Floats, compute: Callable[[Floats], float]
) -> dict[int, float]:
    """Return a statistic (``compute``) of the values in each complete second and the last one."""
    seconds = np.floor(times)
    return {
        int(second): float(compute(values[seconds == second]))
        for second in np.unique(seconds[seconds > seconds.min(initial=np.inf)])
    }


def _gather_packets(
    history: History, now: float, only: str | None, truth: History | None
) -> dict[str, tuple[PacketBlock, PacketBlock | None, Rows]]:
    """Return each entity's received packets, its sent packets if known, and its drawn rows."""
    packets = history.group_by_entity(only)
    sent = {} if truth is None else truth.group_by_entity(only)
    rows = history.list_rows(now - WINDOW - JUMP_WINDOW)
    order = np.argsort(rows["entity"], kind="stable")
    entities = rows["entity"][order]
    found = {}
    for name, block in packets.items():
        number = history.entities.assign_number(name)
        begin, end = np.searchsorted(entities, (number, number + 1))
        found[name] = block, sent.get(name), rows[order[begin:end]]
    return found


#: Seconds of silence after which an entity has left.
SILENCE = 3.0

#: The most stored events, and names in one event.
_KEPT, _NAMES = 500, 3

#: Seconds for which an event is news.
_NEWS = 10.0

_LONGEST_NAME = 20


class GameEvent(NamedTuple):
    """An event at a time (s) of the receiver's clock."""

    time: float
    words: str


class EventLog:
    """The events of a game: entities that join or leave, clocks, teleports, drops."""

    def __init__(self) -> None:
        self.events: deque[GameEvent] = deque(maxlen=_KEPT)
        self._looked = float("-inf")
        self._here: dict[str, float] = {}  # last arrivals by entity
        self._left: dict[str, float] = {}
        self._resets = self._dropped = 0

    def look(
        self, history: History, now: float, real_time: float, counts: Counts, dropped: int
    ) -> None:
        """Find the events up to ``now``, a time (s) of the receiver's clock.

        ``real_time`` is on any clock (s).
        """
        if real_time - self._looked < _EVERY:
            return
        self._looked = real_time
        arrivals = {name: one.arrival or now for name, one in history.newest.items()}
        silent = {name for name, arrival in arrivals.items() if now - arrival > SILENCE}
        joined = arrivals.keys() - self._here.keys() - self._left.keys()
        back = (self._left.keys() & arrivals.keys()) - silent
        self._add_event(now, joined - silent, "joined")
        self._add_event(now, back, "is back", "are back")
        self._add_event(now, self._here.keys() & silent, "left")
        self._here = {name: arrivals[name] for name in arrivals.keys() - silent}
        self._left = {name: arrivals[name] for name in silent}
        self._add_event(now, history.teleported, "teleported")
        history.teleported.clear()
        if counts.clock_resets > self._resets:
            step = counts.clock_step
            way = "back" if step > 0 else "ahead"
            self.events.append(GameEvent(now, f"the game's clock was set {abs(step):.1f} s {way}"))
        if dropped > self._dropped:
            lost = f"{dropped - self._dropped:,} datagrams dropped by the full queue of the socket"
            self.events.append(GameEvent(now, lost))
        self._resets, self._dropped = counts.clock_resets, dropped

    def _add_event(self, now: float, names: Iterable[str], verb: str, verbs: str = "") -> None:
        several = sorted(names)
        if not several:
            return
        shown = [cut(printable(name) or "(no name)", _LONGEST_NAME) for name in several[:_NAMES]]
        rest = len(several) - len(shown)
        if rest:
            shown.append(f"{rest:,} more")
        self.events.append(
            GameEvent(now, f"{join_words(shown)} {(verbs or verb) if several[1:] else verb}")
        )

    def list_news(self, now: float) -> Sequence[str]:
        """Return the events of the last seconds, the latest first."""
        recent = (event for event in reversed(self.events) if 0 <= now - event.time < _NEWS)
        return [f"{event.words} {now - event.time:.0f} s ago" for event in recent]

    def write_lines(self, room: int) -> Sequence[str]:
        """Return the last ``room`` events as lines, each with its time."""
        shown = list(self.events)[-room:] if room > 0 else []
        lines = [f"{entry.time:>10.2f} s  {entry.words}" for entry in shown]
        return lines or ["no events yet"]


#: The steps of numbers on a logarithmic scale; other numbers step by parts of their range.
_ROUND_VALUES = [
    digit * 10.0**power for power in range(-12, 13) for digit in (1.0, 1.5, 2.0, 3.0, 5.0, 7.0)
]
_PARTS = 20

#: The smallest step of a number without a range, and the first number after ``auto``.
_LEAST, _USUAL = 0.001, 0.1


class StrategyChoice:
    """The strategy and settings that keys choose; each strategy keeps its own settings."""

    def __init__(self, spec: StrategySpec) -> None:
        self.strategy = spec.name
        self.names = list_remote_names()
        if spec.name not in self.names:
            self.names.append(spec.name)
        self._values: dict[str, dict[str, Value]] = {
            spec.name: get_declaration(spec.name).values(spec.settings)
        }
        self._selected: dict[str, int] = {}
        self._in_use = spec.name, self.values

    @property
    def settings(self) -> tuple[Setting, ...]:
        """The declared settings of the strategy."""
        return get_declaration(self.strategy).settings

    @property
    def values(self) -> dict[str, Value]:
        """The values of all settings of the strategy."""
        if self.strategy not in self._values:
            self._values[self.strategy] = get_declaration(self.strategy).values({})
        return self._values[self.strategy]

    @property
    def selected(self) -> Setting | None:
        """The setting that keys change; None if the strategy has none."""
        settings = self.settings
        return settings[self._selected.get(self.strategy, 0)] if settings else None

    @property
    def spec(self) -> StrategySpec:
        """The chosen strategy with its settings."""
        return StrategySpec(self.strategy, self.values)

    def use(self) -> None:
        """Remember the chosen strategy and settings as those that draw the entities."""
        self._in_use = self.strategy, self.values

    def go_back(self) -> None:
        """Choose the strategy and settings again that draw the entities."""
        self.strategy, values = self._in_use
        self._values[self.strategy] = values

    def go(self, steps: int) -> None:
        """Choose the strategy that is this many places further in the list."""
        place = self.names.index(self.strategy) + steps
        self.strategy = self.names[place % len(self.names)]

    def select(self, steps: int) -> None:
        """Select the setting that is this many places further in the list."""
        if self.settings:
            place = self._selected.get(self.strategy, 0) + steps
            self._selected[self.strategy] = place % len(self.settings)

    def step(self, upwards: bool) -> bool:
        """Move the selected setting a step up or down within its range.

        Return True if its value changed.
        """
        if self.selected is None:
            return False
        name = self.selected.name
        return self._set_value(name, step_value(self.selected, self.values[name], upwards))

    def restore(self) -> bool:
        """Set the selected setting to its default; return True if its value changed."""
        return self.selected is not None and self._set_value(
            self.selected.name, self.selected.default
        )

    def _set_value(self, name: str, value: Value) -> bool:
        changed = self.values[name] != value
        self._values[self.strategy] = {**self.values, name: value}
        return changed


def step_value(setting: Setting, value: Value, upwards: bool) -> Value:
    """Return the next value of a setting up or down; at an end of its range, the same value."""
    if not isinstance(setting, Number):
        words = setting.choices
        if isinstance(value, str) and value in words:
            place = words.index(value) + (1 if upwards else -1)
            return words[min(max(place, 0), len(words) - 1)]
        return words[0] if words else value
    if isinstance(setting, Span) and isinstance(value, str):
        tenths = round(-10 * setting.convert(value)) + (1 if upwards else -1)
        return f"{min(max(tenths, 1), 10 * setting.INTERVALS) / 10:g}i"
    if isinstance(value, str):  # a word, such as auto
        usual = setting.tune[0] if setting.tune else _USUAL
        return _clamp_to_range(setting, usual) if upwards else value
    after = _clamp_to_range(setting, _find_next_step(setting, value, upwards))
    if after == value and not upwards:
        home = setting.default if isinstance(setting.default, str) else setting.unset
        return home or after
    return after


def _clamp_to_range(setting: Number, value: float) -> float:
    if setting.whole:
        value = round(value)
    return float(f"{min(max(value, setting.low), setting.high):.9g}")


def _find_next_step(setting: Number, value: float, upwards: bool) -> float:
    """Return the next step of a setting's value.

    Within the range worth tuning, steps are equal parts; beyond, or on a logarithmic scale, the
    next round value follows.
    """
    least = _LEAST
    if setting.whole and abs(value) < 10:
        return math.floor(value) + 1 if upwards else math.ceil(value) - 1
    if setting.tune:
        low, high = setting.tune
        least = low / 10
        if setting.scale == "linear":
            least = step = _round_up((high - low) / _PARTS)
            step = math.ceil(step) if setting.whole else step
            places = value / step
            place = math.floor(places + 1e-6) + 1 if upwards else math.ceil(places - 1e-6) - 1
            if low - step / 2 <= place * step <= high + step / 2:
                return place * step
    return (
        _find_next_round_value(value, least) if upwards else -_find_next_round_value(-value, least)
    )


def _find_next_round_value(value: float, least: float) -> float:
    """Return the next larger round value; 0 is a round value."""
    if value < 0:
        below = _ROUND_VALUES[max(bisect_left(_ROUND_VALUES, -value * (1 - 1e-6)) - 1, 0)]
        return -below if below >= least * 0.999 else 0.0
    return _round_up(value * (1 + 2e-6) if value else least)


def _round_up(value: float) -> float:
    """Return the smallest round value that is not below a positive value."""
    return _ROUND_VALUES[
        min(bisect_left(_ROUND_VALUES, value * (1 - 1e-6)), len(_ROUND_VALUES) - 1)
    ]


class NameLine:
    """A line in which the user types a strategy's name, until ``is_open`` is False.

    ``chosen`` is then the name, or None.
    """

    def __init__(self, names: Sequence[str]) -> None:
        self._names = names
        self._typed = ""
        self.is_open = True
        self.chosen: str | None = None

    def press(self, key: str) -> None:
        """Handle a character, or ``enter``, ``escape``, ``tab`` or ``backspace``."""
        found = self._match_names()
        if key == "escape":
            self.is_open = False
        elif key == "enter":
            self.is_open = False
            self.chosen = found[0] if found and self._typed else None
        elif key == "backspace":
            self._typed = self._typed[:-1]
        elif key == "tab":
            self._typed = found[0] if found else self._typed
        elif len(key) == 1 and key.isprintable():
            self._typed += key

    def _match_names(self) -> list[str]:
        """Return the names that begin with the typed text, then those that contain it."""
        begun = [name for name in self._names if name.startswith(self._typed)]
        return begun + [name for name in self._names if self._typed in name and name not in begun]

    @property
    def text(self) -> str:
        """The line as it is shown: the typed text, and the strategies that it may mean."""
        return f"strategy: {self._typed}_  {' '.join(self._match_names()) or 'no such strategy'}"


class PausedGame(NamedTuple):
    """The history and the time of a paused game."""

    history: History
    now: float
    truth: History | None


class RunningGame(Consumer):
    """A running game as displays show it; ``where`` is the address of its packets.

    It is drawn by the ``strategy``; keys change the ``choice``. With a ``truth``, which was sent,
    metrics are against it. ``followed`` is the one entity that is evaluated (None: all), and
    ``listed`` are evaluated first. While it is ``paused``, ``history`` and ``now`` stand still, and
    packets still arrive.
    """

    def __init__(
        self,
        spec: ListenSpec,
        where: str,
        receiving: Reception,
        recordings: Sequence[Recording] = (),
        truth: History | None = None,
    ) -> None:
        assert spec.strategy is not None
        self.where, self.receiving, self.recordings = where, receiving, recordings
        self.tick, self.strategy = spec.tick, spec.strategy
        self.choice = StrategyChoice(spec.strategy)
        self.traffic, self.log = LiveTraffic(), EventLog()
        self.evaluator = LiveEvaluator(spec.tick[0] / spec.tick[1])
        self.live_truth = truth
        self.paused: PausedGame | None = None
        self.listed: Sequence[str] = ()
        self.followed: str | None = None

    @classmethod
    def make_with_later_drawing(
        cls,
        source: GameSource,
        spec: ListenSpec,
        where: str,
        receiving: Reception,
        recordings: Sequence[Recording],
        settled: Callable[[], float],
        sends: bool,
    ) -> tuple[RunningGame, LaterDrawing]:
        """Return the game of a source, and the ``LaterDrawing`` that draws its packets.

        ``sends``: the packets that the source has sent are the truth.
        """
        truth = History(source.entities) if sends else None
        game = cls(spec, where, receiving, recordings, truth)
        drawing = LaterDrawing(source, spec, settled, [game], truth.take if truth else None)
        game.attach(drawing)
        return game, drawing

    def attach(self, drawing: LiveDrawing) -> None:
        """Set the drawing whose packets and samples the game shows, before any packet arrives."""
        self.drawing = drawing
        self.live = History(drawing.entities)

    def take_packets(self, block: PacketBlock) -> None:
        """Add received packets to the game's history."""
        self.traffic.add(self.live.take(block))

    def take_samples(self, samples: SampleBlock, entities: Entities) -> None:
        """Add drawn samples to the game's history."""
        del entities
        self.live.draw(samples)

    @property
    def history(self) -> History:
        """The history that displays show: the paused one while the game is paused."""
        return self.paused.history if self.paused else self.live

    @property
    def truth(self) -> History | None:
        """The sent packets of the shown history; None if they are unknown."""
        return self.paused.truth if self.paused else self.live_truth

    @property
    def now(self) -> float:
        """The receiver's time (s) up to which the game is shown; minus infinity before a packet."""
        return self.paused.now if self.paused else self.drawing.drawn_up_to

    def advance(self, real_time: float) -> None:
        """Update the traffic and the metrics at this time (s, of any steady clock).

        Call this often.
        """
        now, counts = self.drawing.drawn_up_to, self.drawing.counts
        if now == -math.inf:
            return
        self.traffic.look(self.live, now, real_time, counts)
        self.log.look(self.live, now, real_time, counts, self.receiving.dropped)
        of = self.followed, self.listed, self.truth
        self.evaluator.look(self.history, self.now, real_time, *of)

    def follow(self, name: str | None) -> None:
        """Evaluate one entity alone; None: evaluate all."""
        self.followed = name
        self.evaluator.forget()

    def follow_next(self, step: int) -> None:
        """Follow the next or the previous entity, in the order of their first packets."""
        names = self.history.names
        if not names:
            return
        if self.followed in names:
            self.follow(names[(names.index(self.followed) + step) % len(names)])
        else:
            self.follow(names[0 if step > 0 else -1])

    def pause(self) -> None:
        """Pause the display, or resume it."""
        truth = None if self.live_truth is None else self.live_truth.copy_frozen()
        frozen = PausedGame(self.live.copy_frozen(), self.now, truth)
        self.paused = None if self.paused else frozen
        self.evaluator.forget()

    def draw_by(self, strategy: StrategySpec) -> None:
        """Draw with another strategy from now on, and redraw the last seconds with it.

        Raise ``StrategyFailed`` and ``ValueError``; nothing changes then.
        """
        strategy.make()
        before = self.live.copy_frozen()
        self.live.redraw()
        try:
            self.drawing.change_strategy(strategy, self.live.list_blocks(), self.live.draw)
        except (StrategyFailed, ValueError):
            self.live = before
            raise
        self.strategy = strategy
        if self.paused is not None:
            history, now, _ = self.paused
            history.redraw()
            self.drawing.replay(strategy, history.list_blocks(), now, history.draw).close()
        self.evaluator.forget()
