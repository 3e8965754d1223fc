"""Read queues of waypoints: each step leads to a state, and to the next once it is near."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from epic_cli.engine.replay.strategy_spec import StrategySpec
from epic_cli.jobs.diagnose.mechanism.compositions import INSERTS_LATE
from epic_cli.jobs.diagnose.mechanism.readings import FEW, find_limit, separate
from epic_cli.metrics.arrays import compute_lengths

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from epic_cli.jobs.diagnose.frames import Frames
    from epic_cli.metrics.arrays import Floats

#: Most frames that are read, and how far a waypoint is at most (usual steps).
READ, FARTHEST = 1500, 6.0

#: Least step that has a direction, as a multiple of rounding; and how exact a pace is.
CLEAR, EXACT = 16.0, 0.004

#: Share of the steps that a pace explains at least, and that a reading explains in all.
ONE, ALL = 0.3, 0.85

#: Fewest steps that arrive sooner than at the usual speed.
SOME = 3

#: Rules by which a follower goes to a waypoint.
RULES = ("lerp", "share", "exponential", "speed")


class _Steps(NamedTuple):
    """The steps of some frames: length, and duration (s), of each."""

    length: Floats
    elapsed: Floats

    def measure_pace(self, rule: str, share: Floats, at: NDArray[np.int_] | slice) -> Floats:
        """Return the pace by a rule of the steps ``at`` some places, which go a share of a way."""
        if rule == "share":
            return share
        if rule == "lerp":
            return share / self.elapsed[at]
        if rule == "speed":
            return self.length[at] / self.elapsed[at]
        return np.asarray(-np.log1p(-np.minimum(share, 1 - 1e-9)) / self.elapsed[at])


class _Ways(NamedTuple):
    """Steps that may lead to a state: the indices of both, and the share of the way to it.

    ``unsure`` is the relative error of the share.
    """

    step: NDArray[np.int_]
    state: NDArray[np.int_]
    share: Floats
    unsure: Floats

    def count_steps(self, some: NDArray[np.bool_]) -> int:
        """Return the number of steps of which one of ``some`` ways may be the right one."""
        return len(np.unique(self.step[some]))


class _Reading(NamedTuple):
    """A rule, its pace and the one while many states wait (0: none), and the ways that have it."""

    rule: str
    slow: float
    fast: float
    goes: NDArray[np.bool_]


def iterate_waypoint_queues(frames: Frames, exact: float) -> Iterator[StrategySpec]:
    """Yield queues of waypoints that may draw the frames.

    Positions are rounded by ``exact`` (length).
    """
    for takes_late, view in frames.iterate_views():
        order = {"stamps": "arrival", **INSERTS_LATE} if takes_late else {}
        for settings in _read_view(view, exact):
            yield StrategySpec("buffer", {**order, "catch_up": "waypoints", **settings})


def _read_view(frames: Frames, exact: float) -> Iterator[dict[str, Any]]:
    """Yield the settings of queues of waypoints that may draw the frames."""
    count = min(len(frames.times), READ)
    length = compute_lengths(np.diff(frames.drawn[:count], axis=0))
    steps = _Steps(length, np.diff(frames.times[:count]))
    ways = _find_ways(frames, length, exact)
    known = ways.count_steps(np.ones(len(ways.step), bool))
    if known < 2 * FEW or known < ONE * (length > CLEAR * exact).sum():
        return
    readings = [_find_paces(steps, ways, rule, ONE * known) for rule in RULES]
    found = [(ways.count_steps(each.goes), each) for each in readings if each is not None]
    most = max((explained for explained, _ in found), default=0)
    for explained, reading in found:
        if explained > max(ALL * known, (1 - EXACT) * most):
            yield from _read_limits(frames, steps, ways, reading, exact)


def _find_ways(frames: Frames, length: Floats, exact: float) -> _Ways:
    """Return which steps, whose lengths are given, may lead to which states."""
    at = np.flatnonzero(length > CLEAR * exact)
    known = frames.newest[len(length)] + 1
    begin, states = frames.drawn[at], frames.positions[:known]
    far = np.square(begin).sum(axis=1)[:, None] - 2 * begin @ states.T
    near = far + np.square(states).sum(axis=1) < (FARTHEST * frames.unit) ** 2
    near &= np.arange(known) <= frames.newest[at + 1][:, None]
    row, state = np.nonzero(near)
    step = at[row]
    left = states[state] - begin[row]
    along = (frames.drawn[step + 1] - begin[row]) / length[step][:, None]
    way = np.einsum("ij,ij->i", left, along)
    beside = compute_lengths(left - way[:, None] * along)
    unsure = 2 * exact / length[step]
    leads = (way > length[step] - 4 * exact) & (beside < 2 * exact + way * unsure)
    step, way = step[leads], way[leads]
    arrives = way < length[step] + 4 * exact
    share = np.where(arrives, 1.0, length[step] / way)
    return _Ways(step, state[leads], share, unsure[leads] + 2 * exact / way)


def _find_paces(steps: _Steps, ways: _Ways, rule: str, least: float) -> _Reading | None:
    """Return the one or two paces of a rule that explain most; None for less than that many."""
    paces = steps.measure_pace(rule, ways.share, ways.step)
    first, goes = _find_pace(ways, paces)
    # a speed ends at a waypoint that is nearer
    arrives = (ways.share == 1) & (rule == "speed")
    rest = ~np.isin(ways.step, ways.step[goes | (arrives & (paces < first))])
    second, others = _find_pace(ways, np.where(rest, paces, np.nan))
    if ways.count_steps(others) < FEW:
        sooner = rest & arrives  # faster, by as much at least
        second, others = float(paces[sooner].max(initial=first)), sooner
        second = first if ways.count_steps(sooner) < SOME else second
    if not first or ways.count_steps(goes | others) < least:
        return None
    slow, fast = sorted((first, second))
    goes = goes | others | (arrives & (paces < fast))
    return _Reading(rule, slow, fast if fast > slow else 0.0, goes)


def _find_pace(ways: _Ways, paces: Floats) -> tuple[float, NDArray[np.bool_]]:
    """Return the most frequent pace, and the ways that have it."""
    able = np.isfinite(paces) & (paces > 0) & (ways.share < 1)
    if able.sum() < FEW:
        return 0.0, np.zeros(len(paces), bool)
    logs = np.log(paces[able])
    bins = np.floor(logs / (2 * EXACT)).astype(int)
    bins -= bins.min()
    # each pace of a step counts once
    many = ways.step.max() + 1
    counts = np.bincount(np.unique(bins * many + ways.step[able]) // many, minlength=2)
    best = int((counts[:-1] + counts[1:]).argmax())
    pace = math.exp(float(np.median(logs[(bins == best) | (bins == best + 1)])))
    for _ in range(2):
        near = able & (np.abs(paces / pace - 1) < EXACT + ways.unsure)
        pace = float(np.median(paces[near])) if near.any() else pace
    return pace, near


def _find_goals(ways: _Ways, goes: NDArray[np.bool_], count: int) -> NDArray[np.int_]:
    """Return the state to which each step leads; -1 where none is told. They never go back."""
    goals, last = np.full(count, -1), 0
    for step, state in zip(ways.step[goes].tolist(), ways.state[goes].tolist(), strict=True):
        if goals[step] < 0 and state >= last:
            goals[step] = last = state
    return goals


def _read_limits(
    frames: Frames, steps: _Steps, ways: _Ways, reading: _Reading, exact: float
) -> Iterator[dict[str, Any]]:
    """Yield the settings of a reading, with the reach of waypoints and the number that may wait."""
    length, slow = steps.length, reading.slow
    count = len(length)
    goals = _find_goals(ways, reading.goes, count)
    told = goals >= 0
    rest = compute_lengths(frames.positions[goals] - frames.drawn[1 : count + 1])
    # the next step leads elsewhere, or there is none
    after, stands = np.append(goals[1:], -1), np.append(length[1:] <= exact, False)
    left, stays = told & ((after > goals) | stands), told & (after == goals)
    if left.sum() < FEW:
        return
    followers: dict[str, dict[str, Any]] = {
        "lerp": {"low_pass": 1 / slow, "follow": "lerp"},
        "share": {"follow": "share", "follow_share": slow},
        "exponential": {"low_pass": 1 / slow},
        "speed": {"follow": "speed", "follow_speed": slow},
    }
    reach = find_limit(rest[left], rest[stays], 2 * exact)
    settings = {**followers[reading.rule], "waypoint_reach": reach}
    if not reading.fast:
        yield {**settings, "catch_up_rate": 0.0}
        return
    way = compute_lengths(frames.positions[goals] - frames.drawn[:count])
    share = np.minimum(length / np.maximum(way, 1e-300), 1.0)
    pace = steps.measure_pace(reading.rule, share, slice(None))
    edge = math.sqrt(slow * reading.fast)
    hurries = pace > edge
    # what arrives tells no pace
    told &= hurries | (way > length + 4 * exact)
    waiting = (frames.newest[1 : count + 1] + 1 - goals).astype(float)
    before = np.append(0.0, (waiting - left)[:-1]), told & np.append(False, told[:-1])
    for words, (counts, sure) in (({}, (waiting, told)), ({"count_at": "end"}, before)):
        most = separate(counts[sure & ~hurries], counts[sure & hurries])[0]
        rate = {"catch_up_rate": reading.fast / slow - 1, "catch_up_from": math.floor(most)}
        yield {**settings, **rate, **words}
