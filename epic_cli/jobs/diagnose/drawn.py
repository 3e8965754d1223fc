"""Find the strategy and settings that draw what a game drew, and a smoothing on top of them.

The way of drawing is found from the frames (``mechanism``); engines' strategies are drawn again in
them (``FrameComparison``); their settings, a delay and a first-order low-pass are searched
(``Search``); the best of all is a ``DrawnMatch``.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from epic_cli.engine.parameters import Choice, Number, Value
from epic_cli.engine.replay.strategy_spec import StrategySpec, read_specs
from epic_cli.engine.strategies import declaration, names, system_names
from epic_cli.jobs.diagnose.cures import Bench
from epic_cli.jobs.diagnose.cures.drawing import DrawingAdvice, advise
from epic_cli.jobs.diagnose.frames import Frames, make_frames
from epic_cli.jobs.diagnose.mechanism import Mechanism, glance, mechanism
from epic_cli.jobs.diagnose.mechanism.marks import explain_rest
from epic_cli.jobs.diagnose.redraw import FittedStrategy, FrameComparison, Redraw, at_times
from epic_cli.metrics.arrays import (
    ARRIVAL,
    LARGEST,
    POSITION,
    TIME,
    VELOCITY,
    choose_places,
    compute_lengths,
    find_minimum,
    make_packet_table,
)
from epic_cli.metrics.drawn_path import FEWEST_FRAMES, DrawnPath, UnusableDrawing, find_drawn_ticks

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from epic_cli.engine.packets import PacketBlock
    from epic_cli.jobs.diagnose.mechanism.search import ExplanationSearch
    from epic_cli.metrics.arrays import Floats


#: Range and spacing (s) of the shifts of a game against a strategy.
EARLIEST, LATEST, APART = -0.5, 1.0, 0.02

#: Strategies, the nearest ones, for which another clock and a low-pass are tried.
FINALISTS = 4

#: Values of a setting that are tried, or the most whole numbers.
VALUES, WHOLE = 13, 48

#: Settings, the nearest ones, that are fitted to the last digit; if that is not exact, this many of
#: them are tried at that many values, since some drawings leap near the right one.
SHARPENED, DENSE, DENSELY = 14, 4, 97

#: Time constant (s) from which the fit begins.
SMOOTHED = 0.06

#: Largest error of a simpler explanation, as a multiple of the best.
AS_GOOD = 1.1


class Search(NamedTuple):
    """One entity's frames, and the search for a strategy that draws them.

    A difference below ``enough`` (length) is none. One below ``matters`` hides any smoothing on
    top.
    """

    comparison: FrameComparison
    enough: float
    matters: float

    def explanations(
        self, candidates: Sequence[StrategySpec], thorough: bool = True
    ) -> list[FittedStrategy]:
        """Return the best strategies, without a low-pass and with one, each with few settings.

        Other clocks and low-passes are tried only if the search is ``thorough``.
        """
        off, first = self.comparison.off, self.comparison.glance().off
        usual = [off(FittedStrategy(spec)) for spec in candidates]
        if _select_least_error(usual).residual <= self.enough:
            return [_select_least_error(usual)]
        singles = [first(found) for found in usual]
        for found in usual:
            words = _list_word_options(found.candidate)
            singles += [first(found.changed(word)) for word in words]
            for own in _list_tunable_settings(found.candidate):
                singles.append(
                    self._find_best_value(_state_default_number(found, own), own, VALUES)
                )
        singles.sort(key=lambda one: one.residual)
        singles = [off(each) for each in singles[:SHARPENED]]
        sharp = [self.comparison.short(self.comparison.fit(each)) for each in singles]
        exact = [each for each in sharp if each.residual <= self.comparison.exact]
        for each in sorted(sharp, key=lambda each: each.residual)[: 0 if exact else DENSE]:
            for setting in _list_tunable_settings(each.candidate):
                if setting.name in each.candidate.settings:
                    found = self.comparison.fit(self._find_best_value(each, setting, DENSELY))
                    sharp.append(self.comparison.short(found))
        plain = [*usual, *singles, *sharp]
        if exact:  # ``lerp``, not ``luanti``
            return [min(exact, key=lambda one: names().index(one.candidate.name))]
        if _select_least_error(plain).residual <= self.enough or not thorough:
            return [_find_simplest_strategy(plain, self.enough)]
        late = [
            self._fit_shift(each)
            for each in self._select_nearest_strategies(map(self._shift_by_lateness, usual))
        ]
        plain += late
        without = _find_simplest_strategy(plain, self.enough)
        if _select_least_error(plain).residual <= self.matters:
            return [without]
        smooth = [
            self.comparison.fit(each._replace(constant=SMOOTHED))
            for each in [*self._select_nearest_strategies(usual), *late]
        ]
        return [without, _find_simplest_strategy(smooth, self.enough)]

    def _select_nearest_strategies(self, found: Iterable[FittedStrategy]) -> list[FittedStrategy]:
        """Return the best settings found for each of the strategies with the least error."""
        near: dict[str, FittedStrategy] = {}
        for each in sorted(found, key=lambda each: each.residual):
            near.setdefault(each.candidate.name, each)
        return list(near.values())[:FINALISTS]

    def _find_best_value(
        self, found: FittedStrategy, setting: Number, values: int
    ) -> FittedStrategy:
        """Return the strategy with the best value of one setting in the first frames."""
        comparison = self.comparison.glance()
        steps = list(_iterate_setting_values(setting, values))
        if setting.whole:
            tried = [comparison.off(found.changed({setting.name: step})) for step in steps]
            return _select_least_error([comparison.off(found), *tried])
        return comparison.search(comparison.off(found), setting.name, steps)

    def _shift_by_lateness(self, found: FittedStrategy) -> FittedStrategy:
        """Return the strategy shifted in time by roughly its lateness."""
        comparison = self.comparison
        own = comparison.redraw.draw(found.candidate, comparison.times)
        known = np.isfinite(own[:, 0])
        if known.sum() < FEWEST_FRAMES:
            return found
        shift = _find_lateness(comparison.times[known], own[known], comparison)[0]
        return comparison.off(found._replace(shift=shift))

    def _fit_shift(self, found: FittedStrategy) -> FittedStrategy:
        """Return the strategy with the time shift that fits best.

        Near it, packets change from frame to frame.
        """
        near = (found.shift - APART, found.shift, found.shift + APART)
        return self.comparison.search(found, "", near, 14)


def _find_lateness(
    times: Floats,
    path: Floats,
    comparison: FrameComparison,
    counted: NDArray[np.bool_] | None = None,
) -> tuple[float, float]:
    """Return how much later (s) than ``path`` (n, 3) frames are, and the error left (length)."""
    at = np.flatnonzero(comparison.counted if counted is None else counted)
    at = at[choose_places(len(at), 1000)]
    wanted, drawn = comparison.times[at], comparison.drawn[at]

    def apart(shift: float) -> float:
        far = compute_lengths(at_times(times, path, wanted - shift) - drawn)
        known = np.isfinite(far)
        return float(far[known].mean()) if known.mean() > 0.5 else math.inf

    shifts = np.arange(EARLIEST, LATEST + APART, APART).tolist()
    near = min(shifts, key=apart)
    return find_minimum(apart, near - APART, near + APART)


def _list_tunable_settings(candidate: StrategySpec) -> list[Number]:
    """Return the settings worth tuning, settings in seconds first."""
    settings = declaration(candidate.name).settings
    found = [
        setting for setting in settings if isinstance(setting, Number) and setting.tune is not None
    ]
    return sorted(found, key=lambda one: one.unit != "s")


def _state_default_number(found: FittedStrategy, setting: Number) -> FittedStrategy:
    """Return the strategy with a default setting stated as a number, so that it can be fitted."""
    known = declaration(found.candidate.name)
    value = known.converted(known.values(found.candidate.settings))[setting.name]
    if setting.whole or not isinstance(value, float) or not setting.low <= value < math.inf:
        return found
    stated = found.changed({setting.name: value})
    return stated._replace(residual=found.residual, apart=found.apart)


def _list_word_options(candidate: StrategySpec) -> list[dict[str, Value]]:
    """Return the other values of each choice and switch that is worth trying."""
    known = declaration(candidate.name)
    usual = known.values(candidate.settings)
    return [
        {setting.name: word}
        for setting in known.settings
        if isinstance(setting, Choice) and setting.tune
        for word in setting.choices
        if setting.convert(word) != usual[setting.name]
    ]


def _iterate_setting_values(setting: Number, values: int) -> Iterator[float]:
    low, high = setting.tune or (setting.low, setting.high)
    if setting.whole and high - low < WHOLE:
        yield from (float(index) for index in range(round(low), round(high) + 1))
        return
    space = np.geomspace if setting.scale == "log" else np.linspace
    for row in space(low, high, values):
        yield float(round(row)) if setting.whole else float(f"{row:.4g}")


def _select_least_error(found: Collection[FittedStrategy]) -> FittedStrategy:
    return min(found, key=lambda one: one.residual)


def _find_simplest_strategy(found: Sequence[FittedStrategy], enough: float) -> FittedStrategy:
    """Return the simplest of the strategies whose error is close to the least error.

    Usual settings first, then no shift.
    """
    most = max(AS_GOOD * _select_least_error(found).residual, enough)
    good = [strategy for strategy in found if strategy.residual <= most]
    return min(
        good, key=lambda one: (len(one.candidate.settings) + 2 * bool(one.shift), one.residual)
    )


#: Most frames that are examined, those with the most movement: a minute.
MOST_FRAMES = 9000

#: Most entities that are examined, those with the most movement.
MOST_ENTITIES = 8

#: Seconds until strategies have begun, or a tenth of the frames if that is less.
WARM_UP = 1.0

#: Seconds after the last packet in which frames are examined.
AFTER = 2.0

#: Largest errors, as shares of the usual step, of a drawing that is the same, understood, similar.
SAME, UNDERSTOOD, LIKE = 2e-4, 0.01, 0.2

#: Largest error of a probable explanation (a share of the usual step), and the factor by which the
#: next one is worse.
PROBABLE, AHEAD = 0.05, 1.5

#: Least length of a teleport, as a multiple of the step that 90 % do not exceed.
LEAP = 4.0

#: Multiple of the resolution within which drawings are the same, too.
ROUNDED = 2.5

#: Multiple of the resolution within which a difference is rounding.
EXACT = 1.25

#: Invisible error, as a share of the usual step: below it no low-pass is sought.
MATTERS = 0.02

#: A low-pass is there if the error without it is this many times as large.
CLEARER = 2.0

#: Largest error of frame pacing, as a multiple of that of exact arrivals, for which it is taken.
LIKELY_PACING = 0.7

#: Strategies of parts, which draw what many others do, by fitted numbers.
PARTS = ("buffer", "chase")


class EntityMatch(NamedTuple):
    """The match of a further entity with the strategy found for the first one.

    Times in seconds: ``lag`` behind the packets' stamps, ``shift`` behind the strategy, time
    ``constant`` of a low-pass on top of it (0: none). ``residual`` is the error (RMS, length),
    ``off`` the same as a share of its usual step; ``found``: the strategy draws this entity, too.
    """

    entity: str
    residual: float
    lag: float
    shift: float
    constant: float
    off: float
    found: bool


class DrawnMatch(NamedTuple):
    """The best explanation of what was drawn.

    ``best`` is the strategy; ``without`` is the best one without a low-pass. ``step`` is the usual
    distance from packet to packet (RMS); a distance below ``enough`` is none. ``smoothed``: there
    is a second smoothing. ``tick`` (s) is the time between changes, if these are not in each
    ``frame``. ``path`` are the frames of the first of the ``entities``, ``advice`` is how to draw
    them better. ``by_frame``: packets are stamped with the time of the frame that reads them; None:
    the same is drawn either way. ``mechanism`` composes it of parts, if that explains it no worse
    than a strategy; ``same_as`` are engines' strategies, and other parts, that draw the same.
    ``rest`` is what the difference goes with, where the drawing is not found (``explain_rest``).
    """

    best: FittedStrategy
    without: FittedStrategy
    step: float
    enough: float
    smoothed: bool
    lag: float
    frame: float
    tick: float
    entities: tuple[EntityMatch, ...]
    path: DrawnPath
    advice: DrawingAdvice = DrawingAdvice()
    mechanism: Mechanism | None = None
    same_as: tuple[StrategySpec, ...] = ()
    by_frame: bool | None = None
    rest: str = ""

    @property
    def off(self) -> float:
        """The error of the best strategy, as a share of the usual step."""
        return self.best.residual / self.step

    @property
    def found(self) -> bool:
        """True if the error is small enough to say that the strategy draws the frames."""
        return self.best.residual <= max(self.enough, UNDERSTOOD * self.step)

    @property
    def likely(self) -> bool:
        """True if the strategy is close to the frames, and clearly ahead of all others."""
        ahead = self.mechanism is not None and self.mechanism.lead >= AHEAD
        return not self.found and ahead and self.off <= PROBABLE

    @property
    def like(self) -> bool:
        """True if the strategy resembles the game's drawing."""
        return self.best.residual <= max(self.enough, LIKE * self.step)


class _DrawnEntity:
    """One entity's packets, and the frames of the entity that are examined.

    ``by_frame``: packets are stamped with the time of the frame that reads them.
    """

    def __init__(
        self, name: str, path: DrawnPath, packets: PacketBlock, by_frame: bool = False
    ) -> None:
        self.name = name
        columns = make_packet_table(packets)
        with np.errstate(invalid="ignore"):
            finite = np.isfinite(columns[TIME]) & (np.abs(columns[POSITION]) < LARGEST).all(axis=0)
        #: Packets in the order of their stamps.
        self.table = columns[:, finite][:, np.argsort(columns[TIME][finite], kind="stable")]
        self.stamps, self.positions = self.table[TIME], self.table[POSITION].T
        if len(self.stamps) < FEWEST_FRAMES:
            raise UnusableDrawing(
                f"{len(self.stamps)} packets can be used, and {FEWEST_FRAMES} are needed"
            )
        self.packets, self.redraw = packets, Redraw(packets, by_frame)
        steps = np.linalg.norm(np.diff(self.positions, axis=0), axis=1)
        self.step = float(np.sqrt(np.square(steps[steps > 0]).mean())) if steps.any() else 0.0
        self.all_frames = path
        path = self.frames = self._cut_excerpt(path)
        self.enough = max(SAME * self.step, ROUNDED * path.resolution)
        self.frame, self.tick = path.frame, 0.0
        self.moved = float(np.linalg.norm(np.diff(path.positions, axis=0), axis=1).sum())
        self._set_path(path)

    def _set_path(self, path: DrawnPath) -> None:
        self.path, times = path, path.times
        wait = min(WARM_UP, 0.1 * float(times[-1] - times[0])) if len(times) else 0.0
        counted = times >= max(times[0], self.redraw.begins) + wait
        exact = min(EXACT * path.resolution, self.enough)
        self.comparison = FrameComparison(
            self.redraw, times, path.positions, counted, exact, self.step or 1.0
        )

    def paced(self, by_frame: bool) -> _DrawnEntity:
        """Return the entity, with packets that are read by frames or not, in the same frames."""
        other = _DrawnEntity(self.name, self.all_frames, self.packets, by_frame)
        if self.tick:
            other.at_ticks()
        return other

    def at_ticks(self) -> bool:
        """Switch to the ticks at which positions change; return False if they always change."""
        ticks = find_drawn_ticks(self.path)
        if ticks is not None:
            self._set_path(ticks)
            self.tick = ticks.frame
        return ticks is not None

    def search(self) -> Search:
        """Return the search for a strategy that draws the entity."""
        return Search(self.comparison, self.enough, max(MATTERS * self.step, self.enough))

    def _cut_excerpt(self, path: DrawnPath) -> DrawnPath:
        begins, ends = self.stamps[[0, -1]]
        if self.redraw.arrivals:
            begins, ends = self.redraw.begins, self.redraw.ends
        there = (path.times >= begins) & (path.times <= ends + AFTER)
        if there.sum() < FEWEST_FRAMES:
            raise UnusableDrawing(
                f"the frames are from {path.times[0]:.6g} to {path.times[-1]:.6g} s, the packets"
                f" from {begins:.6g} to {ends:.6g} s: offset=SECONDS moves the frames"
            )
        path = path._replace(times=path.times[there], positions=path.positions[there])
        if len(path.times) > MOST_FRAMES:
            travelled = np.cumsum(np.linalg.norm(np.diff(path.positions, axis=0), axis=1))
            begin = int((travelled[MOST_FRAMES:] - travelled[:-MOST_FRAMES]).argmax())
            part = slice(begin, begin + MOST_FRAMES)
            path = path._replace(times=path.times[part], positions=path.positions[part])
        return path

    def glance(self, other: ExplanationSearch | None = None) -> ExplanationSearch | None:
        """Return a search for the entity's composition in its first frames.

        ``other`` is the one with other arrivals. None without arrivals or enough packets.
        """
        frames = self.seen(self.path)
        return None if frames is None else glance(frames, self.comparison, other)

    def mechanism(self, begun: ExplanationSearch | None = None) -> Mechanism | None:
        """Return the composition that draws the entity; None without arrivals or enough packets.

        ``begun`` is what a glance at it has found.
        """
        frames = self.seen(self.path)
        if frames is None:
            return None
        begun = begun or glance(frames, self.comparison)
        return mechanism(frames, self.comparison, self.enough, begun)

    def seen(self, path: DrawnPath) -> Frames | None:
        """Return frames with the packets that had arrived.

        None without arrivals or enough packets.
        """
        if not self.redraw.arrivals:
            return None
        order = np.argsort(self.table[ARRIVAL], kind="stable")
        table = self.table[:, order][:, np.isfinite(self.table[ARRIVAL][order])]
        arrivals = table[ARRIVAL]
        if self.redraw.by_frame:
            arrivals = _move_to_frames(arrivals, path.times, path.frame)
        frames = make_frames(
            arrivals, table[TIME], table[POSITION].T, table[VELOCITY].T,
            path.times, path.positions,
        )  # fmt: skip
        return frames if min(len(frames.stamps), len(frames.times)) >= FEWEST_FRAMES else None

    def advice(
        self, best: FittedStrategy, parts: Mechanism | None, understood: bool
    ) -> DrawingAdvice:
        """Return how to draw the entity better; ``parts`` are its composition, if known."""
        frames = self.seen(self.frames)
        if frames is None:
            return DrawingAdvice()
        bench = Bench(
            self.packets, self.frames.times, best.candidate, self.frames.positions,
            self.redraw.by_frame,
        )  # fmt: skip
        unchanged = {}
        if understood and not best.shift and self.tick:
            unchanged["ticks"] = best.candidate
        elif understood and not best.shift and best.constant and parts is None:
            unchanged["second-smoothing"] = best.candidate
        return advise(bench, frames, parts if understood else None, unchanged)

    def explain_rest(self, best: FittedStrategy) -> str:
        """Return what the difference between the best strategy and the frames goes with."""
        frames, comparison = self.seen(self.path), self.comparison
        if frames is None:
            return ""
        there = np.isin(self.path.times, frames.times)
        apart = np.full((len(there), 3), np.nan)
        apart[comparison.counted] = comparison.apart(best)
        return explain_rest(frames, np.ones(len(frames.times), bool), apart[there])

    def in_parts(self, parts: Mechanism) -> list[FittedStrategy]:
        """Return a composition as two strategies: without its low-pass, and with its low-pass."""
        settings = dict(parts.strategy.settings)
        if "follow" in settings:  # no exponential low-pass
            return [FittedStrategy(parts.strategy, residual=parts.residual)]
        constant = float(settings.pop("low_pass", 0.0))
        plain = FittedStrategy(StrategySpec(parts.strategy.name, settings))
        with_it = plain._replace(constant=constant, residual=parts.residual)
        return [self.comparison.off(plain), with_it] if constant else [with_it]

    def lag(self) -> float:
        """Return the drawing's lag behind the straight lines between packets, by their stamps (s).

        NaN: beyond the range of the search, as where the sender has another clock.
        """
        times = self.path.times
        steps = np.linalg.norm(np.diff(self.positions, axis=0), axis=1)
        calm = self.comparison.counted.copy()
        for leap in np.flatnonzero(steps > LEAP * np.quantile(steps[steps > 0], 0.9)):
            # frames that show it, however late they are: nothing was on the way
            before, after = self.stamps[[leap, leap + 1]]
            calm &= (times < before + EARLIEST) | (times > after + LATEST)
        if calm.sum() < FEWEST_FRAMES:
            return math.nan
        shift, residual = _find_lateness(self.stamps, self.positions, self.comparison, calm)
        far = not EARLIEST + 0.01 < shift < LATEST - 0.01
        return shift if residual <= self.step and not far else math.nan

    def matched(self, best: FittedStrategy) -> EntityMatch:
        """Return the match of the strategy with this entity, with a fitted delay and low-pass."""
        own = [key for key, value in (("", best.shift), (" ", best.constant)) if value]
        best = self.comparison.fit(best, only=own) if own else self.comparison.off(best)
        off, found = (
            best.residual / self.step,
            best.residual <= max(self.enough, UNDERSTOOD * self.step),
        )
        return EntityMatch(
            self.name, best.residual, self.lag(), best.shift, best.constant, off, found
        )


def match(
    packets: Mapping[str, PacketBlock],
    paths: Mapping[str, DrawnPath],
    candidates: Sequence[StrategySpec] = (),
) -> DrawnMatch:
    """Find the strategy that draws the packets as the game did; without candidates try all.

    The frames' times are taken for the receiver's clock, that of the arrivals; without arrival
    times, for the sender's. Raises ``UnusableDrawing`` where nothing can be compared.
    """
    shared: list[_DrawnEntity] = []
    reasons = [UnusableDrawing("no entity has packets and frames: name it the same in both files")]
    for name in (packet for packet in packets if packet in paths):
        try:
            shared.append(_DrawnEntity(name, paths[name], packets[name]))
        except UnusableDrawing as error:
            reasons.append(error)
    if not shared:
        raise reasons[-1]
    moving = sorted(
        (entity for entity in shared if entity.step and entity.moved), key=lambda one: -one.moved
    )
    if not moving:
        raise UnusableDrawing(
            "nothing moves in these frames, or in the packets of the same times: record movement"
        )
    moving = moving[:MOST_ENTITIES]
    first = moving[0]
    engines = [spec for spec in read_specs() if spec.name not in PARTS]
    known = candidates or [*engines, *map(StrategySpec, system_names())]
    look, others, moving = _take_first_look(moving, known, not candidates)
    first, parts, found = moving[0], look.parts, list[FittedStrategy]()
    same = [] if candidates else [spec for spec, off in look.usual if off <= first.enough]
    if parts is None or not (parts.exact or _is_in_ticks(first, parts)):
        found = _search_strategies(moving, candidates or engines)
        if others and found[-1].residual > max(first.enough, UNDERSTOOD * first.step):
            moving, found = _search_other_pacing(moving, found, others, candidates or engines)
            first = moving[0]
        if first.tick and not candidates:
            parts = first.mechanism()
        if parts is not None:
            # a strategy that is hardly nearer than parts that are understood explains no more
            understood = parts.residual <= UNDERSTOOD * first.step
            factor = CLEARER if understood else AS_GOOD
            if parts.residual > factor * found[-1].residual:
                parts = None
    if parts is not None:
        found = first.in_parts(parts)
        same += parts.same_as
    without, best = found[0], found[-1]
    smoothed = _is_smoothed(first, best, without)
    if parts is None and not smoothed:
        best = without
    found_match = DrawnMatch(
        best,
        without,
        first.step,
        first.enough,
        smoothed,
        first.lag(),
        first.frame,
        first.tick,
        tuple(entity.matched(best) for entity in moving),
        first.frames,
        mechanism=parts,
        same_as=tuple(spec for spec in same if spec != best.candidate),
        by_frame=_find_pacing(first, best),
    )
    return found_match._replace(
        advice=first.advice(best, parts, found_match.found or found_match.likely),
        rest="" if found_match.found else first.explain_rest(best),
    )


class _FirstLook(NamedTuple):
    """The composition of an entity's drawing, and the error of each strategy without a search."""

    parts: Mechanism | None
    usual: list[tuple[StrategySpec, float]]


def _take_first_look(
    moving: list[_DrawnEntity], specs: Sequence[StrategySpec], in_parts: bool
) -> tuple[_FirstLook, list[tuple[StrategySpec, float]], list[_DrawnEntity]]:
    """Return the first look by the better pacing, errors by the other one, and the entities.

    The errors are those of the strategies without a search; there are none if the first pacing
    draws the frames.
    """
    first = moving[0]
    usual = _measure_unchanged_strategies(first, specs)
    begun = first.glance() if in_parts else None
    if not first.redraw.arrivals or _get_least_error(usual, None) <= first.enough:
        return _FirstLook(first.mechanism(begun) if in_parts else None, usual), [], moving
    again = first.paced(by_frame=True)
    others = _measure_unchanged_strategies(again, specs)
    is_usual = _get_least_error(others, None) <= again.enough
    if begun is not None and begun.near[0].residual <= first.enough and not is_usual:
        parts = first.mechanism(begun)
        if parts is not None and parts.residual <= first.enough:
            return _FirstLook(parts, usual), [], moving
    other = again.glance(begun) if in_parts else None
    least = _get_least_error(usual, begun)
    if is_usual or _get_least_error(others, other) < LIKELY_PACING * least:
        parts = again.mechanism(other) if in_parts else None
        return _FirstLook(parts, others), usual, [entity.paced(True) for entity in moving]
    return _FirstLook(first.mechanism(begun) if in_parts else None, usual), others, moving


def _get_least_error(
    usual: list[tuple[StrategySpec, float]], begun: ExplanationSearch | None
) -> float:
    """Return the least error of strategies and of a search (RMS, length)."""
    least = min((off for _, off in usual), default=math.inf)
    return least if begun is None else min(least, begun.near[0].residual)


def _measure_unchanged_strategies(
    first: _DrawnEntity, specs: Sequence[StrategySpec]
) -> list[tuple[StrategySpec, float]]:
    """Return the error of each strategy as it is (RMS, length)."""
    return [(spec, first.comparison.off(FittedStrategy(spec)).residual) for spec in specs]


def _search_other_pacing(
    moving: list[_DrawnEntity],
    found: list[FittedStrategy],
    usual: list[tuple[StrategySpec, float]],
    specs: Sequence[StrategySpec],
) -> tuple[list[_DrawnEntity], list[FittedStrategy]]:
    """Search the nearest strategies with the other pacing; return what explains the frames better.

    ``usual`` are the errors without a search with that pacing; ``found`` was found with the first
    one.
    """
    again = [entity.paced(not entity.redraw.by_frame) for entity in moving]
    nearest = [spec for spec, _ in sorted(usual, key=lambda one: one[1]) if spec in specs]
    others = _search_strategies(again, nearest[: 2 * FINALISTS])
    if others[-1].residual < LIKELY_PACING * found[-1].residual:
        return again, others
    return moving, found


def _is_in_ticks(first: _DrawnEntity, parts: Mechanism) -> bool:
    """Return True if a composition in ticks of its own explains the frames."""
    return "every" in parts.strategy.settings and parts.residual <= UNDERSTOOD * first.step


def _find_pacing(first: _DrawnEntity, best: FittedStrategy) -> bool | None:
    """Return True if packets are read by frames; None if exact arrivals draw as well, or badly."""
    if not first.redraw.arrivals:
        return None
    if best.residual > max(first.enough, PROBABLE * first.step):
        return None
    by_frame = first.redraw.by_frame
    other = first.paced(not by_frame).comparison.off(best)
    near = other.residual <= max(first.enough, AS_GOOD * best.residual)
    return None if near else by_frame


def _move_to_frames(arrivals: Floats, frames: Floats, apart: float) -> Floats:
    """Return the frames (n, s) that read packets: the first at or after each arrival.

    Frames before the first one, and after the last one, are ``apart`` (s).
    """
    at = np.searchsorted(frames, arrivals)
    inside = frames[np.minimum(at, len(frames) - 1)]
    begin = frames[0] - np.floor((frames[0] - arrivals) / apart) * apart
    end = frames[-1] + np.ceil((arrivals - frames[-1]) / apart) * apart
    return np.where(at == 0, begin, np.where(at == len(frames), end, inside))


def _is_smoothed(first: _DrawnEntity, best: FittedStrategy, without: FittedStrategy) -> bool:
    """Return True if the game smooths a second time, after the strategy."""
    return (
        bool(best.constant)
        and max(CLEARER * max(best.residual, first.enough), MATTERS * first.step) < without.residual
        and best.residual <= max(first.enough, UNDERSTOOD * first.step)
    )


def _search_strategies(
    moving: Sequence[_DrawnEntity], candidates: Sequence[StrategySpec]
) -> list[FittedStrategy]:
    """Return the best strategy with fitted settings, without a low-pass and with one."""
    first = moving[0]
    found = first.search().explanations(candidates, find_drawn_ticks(first.path) is None)
    # some strategies stand until the next packet by themselves
    if found[0].residual > first.enough and first.at_ticks():
        for entity in moving[1:]:
            entity.at_ticks()
        found = first.search().explanations(candidates)
    return found
