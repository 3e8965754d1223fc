"""What a game drew, against what every strategy draws of the same packets."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from epic_cli.engine.replay.strategy_spec import StrategySpec, read_specs
from epic_cli.jobs.diagnose.drawn.redraw import Redraw, at_times
from epic_cli.jobs.diagnose.drawn.search import Explanation, Search
from epic_cli.jobs.diagnose.drawn.smoothing import EARLIEST, LATEST, Fit
from epic_cli.metrics.arrays import LARGEST, POSITION, TIME, packet_table
from epic_cli.metrics.drawn_path import FEWEST_FRAMES, DrawnPath, UnusableDrawing, drawn_at_ticks

if TYPE_CHECKING:
    from epic_cli.engine.packets import PacketBlock

#: Frames that are looked at, those in which it moves the most.
MOST_FRAMES = 1200

#: Entities that are looked at: those that move the most.
MOST_ENTITIES = 8

#: Seconds, or a tenth of the frames where that is less: until then strategies begin.
WARM_UP = 1.0

#: Seconds of packets before the frames that are looked at.
LEAD = 10.0

#: Seconds after the last packet for which frames are looked at.
AFTER = 2.0

#: Shares of the usual step from packet to packet: no further off, it is the same, like it, ...
SAME, ALIKE, LIKE = 2e-4, 0.05, 0.2

#: A step so many times as long as nine in ten of the moving ones is a teleport.
LEAP = 4.0

#: So many times the resolution are the same, too.
ROUNDED = 2.5

#: So many times the resolution are its rounding alone.
EXACT = 1.25

#: A share of the usual step that nobody sees: what is left below it needs no low-pass.
MATTERS = 0.02

#: A low-pass is there if without it what is left is so many times as much.
CLEARER = 2.0


class EntityMatch(NamedTuple):
    """The same strategy and one entity.

    Times in seconds: ``lag`` behind the packets' stamps, ``shift`` behind the strategy, time
    ``constant`` of a low-pass on top of it (0: none). ``residual`` is what is left (RMS, length).
    """

    entity: str
    residual: float
    lag: float
    shift: float
    constant: float


class Match(NamedTuple):
    """What explains best what was drawn.

    ``best`` is the strategy; ``without`` is the best one without a low-pass. ``step`` is how far
    it usually is from packet to packet (RMS), ``enough`` a distance that is none. ``smoothed``:
    there is a second smoothing. ``tick`` (s) is how often it changes, if not in each ``frame``.
    """

    best: Explanation
    without: Explanation
    step: float
    enough: float
    smoothed: bool
    lag: float
    frame: float
    tick: float
    entities: tuple[EntityMatch, ...]

    @property
    def off(self) -> float:
        """What is left, as a share of the usual step."""
        return self.best.residual / self.step

    @property
    def found(self) -> bool:
        """Whether that is the strategy, or one that draws as it does."""
        return self.best.residual <= max(self.enough, ALIKE * self.step)

    @property
    def like(self) -> bool:
        """Whether it is something like it."""
        return self.best.residual <= max(self.enough, LIKE * self.step)


class _Entity:
    """One entity's frames, those that are looked at, and its packets."""

    def __init__(self, name: str, path: DrawnPath, packets: PacketBlock) -> None:
        self.name = name
        columns = packet_table(packets)
        order = np.argsort(columns[TIME], kind="stable")
        stamps, positions = columns[TIME][order], columns[POSITION].T[order]
        with np.errstate(invalid="ignore"):
            finite = np.isfinite(stamps) & (np.abs(positions) < LARGEST).all(axis=1)
        self.stamps, self.positions = stamps[finite], positions[finite]
        if len(self.stamps) < FEWEST_FRAMES:
            raise UnusableDrawing(f"there are {len(self.stamps)} packets that can be used")
        self.redraw = Redraw(packets)
        self.path = path = self._excerpt(path)
        self.frame, self.tick = path.frame, 0.0
        self.fit = self._fitted(path)
        self.moved = float(np.linalg.norm(np.diff(path.positions, axis=0), axis=1).sum())
        steps = np.linalg.norm(np.diff(self.positions, axis=0), axis=1)
        self.step = float(np.sqrt(np.square(steps[steps > 0]).mean())) if steps.any() else 0.0
        self.enough = max(SAME * self.step, ROUNDED * path.resolution)

    def _fitted(self, path: DrawnPath) -> Fit:
        wait = min(WARM_UP, 0.1 * float(path.times[-1] - path.times[0])) if len(path.times) else 0
        counted = path.times >= max(path.times[0], self.redraw.begins) + wait
        return Fit(path.times, path.positions, counted)

    def at_ticks(self) -> bool:
        """Goes by the ticks at which it is drawn, if it is not in each frame."""
        ticks = drawn_at_ticks(self.path)
        if ticks is not None:
            self.path, self.fit, self.tick = ticks, self._fitted(ticks), ticks.frame
        return ticks is not None

    def search(self) -> Search:
        """The search for what draws it."""
        exact = min(EXACT * self.path.resolution, self.enough)
        matters = max(MATTERS * self.step, self.enough)
        return Search(self.redraw, self.fit, self.path.times, self.enough, exact, matters)

    def _excerpt(self, path: DrawnPath) -> DrawnPath:
        begins, ends = self.stamps[[0, -1]]
        if self.redraw.arrivals:
            begins, ends = self.redraw.begins, self.redraw.ends
        there = (path.times >= begins) & (path.times <= ends + AFTER)
        if there.sum() < FEWEST_FRAMES:
            raise UnusableDrawing(
                f"its times are others than those of the packets: {path.times[0]:.6g} to"
                f" {path.times[-1]:.6g} s, which came in {begins:.6g} to {ends:.6g} s"
            )
        path = path._replace(times=path.times[there], positions=path.positions[there])
        count = len(path.times)
        if count > MOST_FRAMES:
            travelled = np.cumsum(np.linalg.norm(np.diff(path.positions, axis=0), axis=1))
            begin = int((travelled[MOST_FRAMES:] - travelled[:-MOST_FRAMES]).argmax())
            part = slice(begin, begin + MOST_FRAMES)
            path = path._replace(times=path.times[part], positions=path.positions[part])
        self.redraw.forget(float(path.times[0]) - LEAD)
        return path

    def lag(self) -> float:
        """How far it is behind the line through the packets, by their stamps (s).

        NaN: further than that is looked for, as where the sender has another clock.
        """
        times = self.path.times
        own = at_times(self.stamps, self.positions, times)
        steps = np.linalg.norm(np.diff(self.positions, axis=0), axis=1)
        calm = self.fit.counted.copy()
        for leap in np.flatnonzero(steps > LEAP * np.quantile(steps[steps > 0], 0.9)):
            # frames that show it, however late they are: nothing was on the way
            before, after = self.stamps[[leap, leap + 1]]
            calm &= (times < before + EARLIEST) | (times > after + LATEST)
        if calm.sum() < FEWEST_FRAMES:
            return math.nan
        found = Fit(times, self.path.positions, calm).shift(own)
        far = not EARLIEST + 0.01 < found.shift < LATEST - 0.01
        return math.nan if far or not math.isfinite(found.residual) else found.shift


def match(
    packets: Mapping[str, PacketBlock],
    paths: Mapping[str, DrawnPath],
    candidates: Sequence[StrategySpec] = (),
) -> Match:
    """Which of the strategies (none given: all) draws the packets as the game did.

    The frames' times are taken for the receiver's clock, that of the arrivals; without arrival
    times, for the sender's. Raises ``UnusableDrawing`` where nothing can be compared.
    """
    shared: list[_Entity] = []
    reasons = [UnusableDrawing("there is nothing in it")]
    for name in (one for one in packets if one in paths):
        try:
            shared.append(_Entity(name, paths[name], packets[name]))
        except UnusableDrawing as error:
            reasons.append(error)
    if not shared:
        raise reasons[-1]
    moving = sorted((one for one in shared if one.step and one.moved), key=lambda one: -one.moved)
    if not moving:
        raise UnusableDrawing("nothing moves in it, or in the packets of these times")
    moving = moving[:MOST_ENTITIES]
    first = moving[0]
    wanted = candidates or read_specs()
    found = first.search().explanations(wanted, drawn_at_ticks(first.path) is None)
    # some strategies stand until the next packet by themselves
    if found[0].residual > first.enough and first.at_ticks():
        for one in moving[1:]:
            one.at_ticks()
        found = first.search().explanations(wanted)
    without, best = found[0], found[-1]
    smoothed = (
        bool(best.constant)
        and max(CLEARER * max(best.residual, first.enough), MATTERS * first.step) < without.residual
        and best.residual <= max(first.enough, ALIKE * first.step)
    )
    if not smoothed:
        best = without
    return Match(
        best,
        without,
        first.step,
        first.enough,
        smoothed,
        first.lag(),
        first.frame,
        first.tick,
        tuple(_of_entity(one, best) for one in moving),
    )


def _of_entity(entity: _Entity, best: Explanation) -> EntityMatch:
    own = entity.redraw.draw(best.candidate, entity.path.times)
    if best.constant:
        fitted = entity.fit.both(own) if best.shift else entity.fit.constant(own)
    elif best.shift:
        fitted = entity.fit.shift(own)
    else:
        return EntityMatch(entity.name, entity.fit.residual(own), entity.lag(), 0.0, 0.0)
    return EntityMatch(entity.name, fitted.residual, entity.lag(), fitted.shift, fitted.constant)
