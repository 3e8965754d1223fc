"""Remedies (``Cure``), and their trials on a recording before they are advised (``Bench``)."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from epic_cli.engine.packets import PacketBlock
from epic_cli.engine.parameters import Value
from epic_cli.engine.replay.strategy_spec import StrategySpec, write_spec
from epic_cli.engine.strategies import declaration
from epic_cli.jobs.diagnose.cures.packets import send_once
from epic_cli.jobs.diagnose.redraw import Redraw
from epic_cli.metrics.arrays import compute_lengths, find_minimum
from epic_cli.metrics.digits import format_rough, format_seconds
from epic_cli.metrics.notes import TooFewStates
from epic_cli.metrics.traffic import Traffic
from epic_cli.metrics.truth import (
    JUMP_FACTOR,
    JUMP_FLOOR,
    JUMP_WINDOW,
    Truth,
    compute_sliding_maximum,
    make_truth,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from epic_cli.metrics.arrays import Floats


class DrawingFigure(NamedTuple):
    """A measure by which drawings are judged; lower values are better.

    A change below ``least`` is not mentioned. ``weight`` is the cost of one unit against a step
    error of 1. A remedy that improves another measure may not raise this one by more than
    ``bearable``.
    """

    title: str
    write: Callable[[float], str]
    unit: str
    least: float
    weight: float
    bearable: float


#: The figures of a drawing, by name.
FIGURES = {
    "step_error": DrawingFigure("step error", lambda value: f"{value:.2f}", "", 0.03, 1.0, 0.02),
    "lag": DrawingFigure("lag", format_seconds, "", 0.005, 2.0, math.inf),
    "jumps": DrawingFigure("jumps", format_rough, " a minute", 2.0, 0.02, 2.0),
    "held": DrawingFigure(
        "still frames", lambda value: format_rough(value * 100), " %", 0.005, 2.0, 0.01
    ),
}


class DrawingFigures(NamedTuple):
    """The figures of a drawing against the truth.

    ``step_error`` is the RMS of the drawn step less the true one, at the best constant lag, over
    the RMS of the true steps; ``lag`` that lag behind the sender's time (s); ``jumps`` a minute;
    ``held`` the share of the frames in which it stands while the truth moves.
    """

    step_error: float
    lag: float
    jumps: float
    held: float

    @property
    def cost(self) -> float:
        """Weighted sum of all figures."""
        return sum(f.weight * v for f, v in zip(FIGURES.values(), self, strict=True))


@dataclass(frozen=True)
class Cure:
    """A remedy: a change of sending or drawing that can be tried on a recording.

    ``figure`` is the figure to improve, ``command`` the options (or words) for the change.
    ``drawing`` draws with the remedy (None: as before), from what ``packets`` makes of the packets
    (None: as they are): thinned, with other stamps, sent again. Changed packets define the truth.
    ``against`` draws without the remedy, and suffers from its cause; None: what the ``Bench``
    draws.
    """

    command: str
    figure: str
    drawing: StrategySpec | None = None
    packets: Callable[[PacketBlock], PacketBlock] | None = None
    against: StrategySpec | None = None


class CureTrial(NamedTuple):
    """The trial of a remedy that helps on this recording: ``figure`` falls to ``after``.

    ``changes`` are the other figures that change: name, before, after.
    """

    command: str
    figure: str
    before: float
    after: float
    changes: tuple[tuple[str, float, float], ...] = ()

    @property
    def words(self) -> str:
        """Gain and cost of the remedy: ``step error 0.26 -> 0.12, 17 ms later``."""
        changes = (self[1:4], *self.changes)
        return ", ".join(_write_change(*change) for change in changes)

    @property
    def record(self) -> dict[str, float | str]:
        """The trial as a record, by names."""
        return {key: getattr(self, key) for key in ("command", "figure", "before", "after")}


def _write_change(name: str, before: float, after: float) -> str:
    """Write the change of a figure; write only the difference of lags, as clocks may differ."""
    if name == "lag_by_frame_rate":
        return f"lag by frame rate {_write_milliseconds(before)} -> {_write_milliseconds(after)}"
    if name == "lag":
        return (
            f"{_write_milliseconds(abs(after - before))} {'later' if after > before else 'earlier'}"
        )
    figure = FIGURES[name]
    return f"{figure.title} {figure.write(before)} -> {figure.write(after)}{figure.unit}"


def _write_milliseconds(time: float) -> str:
    return format_seconds(round(time, 3))


#: Length of the turns in which rows choose a cure and judge it (s), or a sixteenth if that is less.
TURN, TURNS = 2.0, 16

#: Least gain of a cure as a share of its figure, and in standard errors; of a lag, in seconds.
BETTER, ERRORS, SOONER = 0.1, 2.0, 0.03

#: Least gain of a cure in cost, and as a share of it.
WORTH, WORTH_SHARE = 0.03, 0.05

#: Range and spacing (s) of the lags that are tried around the usual delay.
LAGS, LAGS_APART = (-0.3, 1.2), 0.02

#: A frame is held if its step is shorter than this share of the true one, which is longer than this
#: share of the usual one.
STANDS, MOVES = 0.02, 0.2

#: Seconds at the beginning that are not judged, or a tenth if that is less.
WARM_UP = 1.0


class MeasuredDrawing(NamedTuple):
    """Sums over each turn (6, n): squared errors and true steps, jumps, held, rows, seconds."""

    sums: Floats
    lag: float

    def figures(self, turns: slice | NDArray[np.intp]) -> DrawingFigures:
        """Return the figures over some of the turns."""
        errors, steps, jumps, held, rows, duration = self.sums[:, turns].sum(axis=1).tolist()
        if not steps or not rows:
            return DrawingFigures(math.nan, self.lag, math.nan, math.nan)
        return DrawingFigures(
            math.sqrt(errors / steps), self.lag, 60 * jumps / duration, held / rows
        )


#: Turns that choose a cure, and turns that judge it.
CHOOSING, JUDGING = slice(0, None, 2), slice(1, None, 2)


class Bench:
    """An entity's packets, frames and drawing, for trials of remedies.

    ``times`` (n) are those of the frames (s), ``drawn`` (n, 3) the positions that the game drew in
    them; None: what ``reference`` draws. ``by_frame``: the game stamps arrivals with the time of
    the frame.
    """

    def __init__(
        self, packets: PacketBlock, times: Floats, reference: StrategySpec,
        drawn: Floats | None = None, by_frame: bool = False,
    ) -> None:  # fmt: skip
        self.packets, self.times, self.reference = packets, times, reference
        self.redraw = Redraw(packets, by_frame)
        self.drawn = self.redraw.draw(reference, times) if drawn is None else drawn
        since = times - times[0]
        turn = min(TURN, float(since[-1]) / TURNS)
        self.turns = (since / turn).astype(int)
        self.counted = since >= min(WARM_UP, 0.1 * float(since[-1]))

    @cached_property
    def truth(self) -> Truth | None:
        """The truth rebuilt from the packets; None if there are too few packets."""
        return _find_truth(self.packets)

    @cached_property
    def before(self) -> MeasuredDrawing | None:
        """The measured drawing without a remedy; None if it cannot be measured."""
        return None if self.truth is None else self.measure(self.drawn, self.truth)

    def measure_spec(self, spec: StrategySpec, phase: float = 0.0) -> MeasuredDrawing | None:
        """Measure a strategy's drawing in frames that are ``phase`` (s) later."""
        shown = self.redraw.draw(spec, self.times + phase)
        return None if self.truth is None else self.measure(shown, self.truth, phase)

    def measure(self, shown: Floats, truth: Truth, phase: float = 0.0) -> MeasuredDrawing | None:
        """Measure a drawing (n, 3), NaN where nothing is drawn, against the truth.

        ``phase`` (s) is added to the times of the frames. Return None if less than half of the rows
        are drawn, or the truth does not move in them.
        """
        used = np.isfinite(shown[:, 0]) & self.counted
        if used.sum() < 0.5 * self.counted.sum():
            return None
        times, shown, turns = self.times[used] + phase, shown[used], self.turns[used][1:]

        def far(lag: float) -> float:
            apart = truth.square_distances(times - lag, shown)
            known = np.isfinite(apart)
            return float(apart[known].mean()) if 2 * known.sum() > len(known) else math.inf

        lags = self._usual_delay + np.arange(*LAGS, LAGS_APART)
        near = min(lags.tolist(), key=far)
        lag, _ = find_minimum(far, near - LAGS_APART, near + LAGS_APART, 10)
        motion = truth.interpolate(times, lag)
        inside = (np.diff(motion.segments) == 0) & (motion.segments[1:] >= 0)
        true = np.where(inside[:, None], np.diff(motion.positions, axis=0), 0.0)
        step = np.diff(shown, axis=0)
        true_far, far_drawn = compute_lengths(true), compute_lengths(step)
        usual = math.sqrt(float(np.square(true_far[inside]).mean())) if inside.any() else 0.0
        if not usual:
            return None
        intervals = np.diff(times)
        longest = compute_sliding_maximum(
            true_far, round(JUMP_WINDOW / float(np.median(intervals)))
        )
        jumps = far_drawn > np.maximum(JUMP_FACTOR * longest, longest + JUMP_FLOOR * usual)
        held = (far_drawn < STANDS * true_far) & (true_far > MOVES * usual)
        rows = (
            np.square(step - true).sum(axis=1), np.square(true_far), jumps, held,
            np.ones(len(step)), intervals,
        )  # fmt: skip
        count = int(self.turns[-1]) + 1
        sums = [np.bincount(turns[inside], row[inside], count) for row in rows]
        return MeasuredDrawing(np.array(sums), lag)

    @cached_property
    def _usual_delay(self) -> float:
        known = [
            packet.arrival - packet.time
            for packet in map(self.packets.__getitem__, range(len(self.packets)))
            if packet.arrival is not None and math.isfinite(packet.time)
        ]
        return float(np.median(known)) if known else 0.0

    def try_cure(self, cure: Cure) -> CureTrial | None:
        """Try a remedy on the recording.

        Return the trial, or None if it has no gain or cannot be tried. A remedy has to improve its
        figure by more than that figure's noise, to be worth its costs, and to raise no other figure
        by more than is bearable. Only rows that did not choose the remedy count.
        """
        drawing, drawn = cure.drawing or cure.against or self.reference, self.drawn
        if cure.against is not None and cure.against != self.reference:
            drawn = self.redraw.draw(cure.against, self.times)
        if cure.packets is None:
            truth, before, redraw = self.truth, self.before, self.redraw
        else:
            packets = cure.packets(self.packets)
            truth, redraw = _find_truth(packets), Redraw(packets, self.redraw.by_frame)
            before = None if truth is None else self.measure(drawn, truth)
        if truth is None or before is None or not redraw.arrivals:
            return None
        after = self.measure(redraw.draw(drawing, self.times), truth)
        return None if after is None else trial(cure, before, after)


#: A clock that wanders little, and follows one that drifts.
STEADY_CLOCK: dict[str, Value] = {"clock": "min", "clock_time": 30.0}


def make_buffer(delay: float, **settings: Value) -> StrategySpec:
    """Return a buffer over the sender's stamps, ``delay`` (s) behind the fastest packet."""
    digits = float(f"{max(delay, 0.0):.3g}")
    return StrategySpec("buffer", {**STEADY_CLOCK, "delay": digits, **settings})


def write_option(spec: StrategySpec) -> str:
    """Return the ``-s`` option for a strategy, its settings in the order of their declaration."""
    order = [setting.name for setting in declaration(spec.name).settings]
    settings = sorted(spec.settings.items(), key=lambda each: order.index(each[0]))
    return f"-s {write_spec(spec.name, dict(settings))}"


def cure_by(spec: StrategySpec, figure: str = "step_error") -> Cure:
    """Return a remedy that replaces the drawing by another strategy."""
    return Cure(write_option(spec), figure, spec)


#: Fewest packets for a trial.
FEWEST = 50

#: Length (s) and frame rate (Hz) of the excerpt on which cures are tried without a drawing.
EXCERPT, FRAMES = 60.0, 60.0


def make_bench(traffic: Traffic, entity: str = "", at: float | None = None) -> Bench | None:
    """Return an entity's recording for trials of remedies; None if no remedy can be tried.

    If the game's drawing is known and understood, remedies are compared with that drawing. Else
    they are compared, in an excerpt around ``at`` (s; None: from the beginning), with a buffer over
    the sender's stamps, whose delay covers a send interval and 95 % of the delays, but no loss.
    """
    match = traffic.drawn
    if match is not None and match.found and match.mechanism is not None:
        path, packets = match.path, traffic.blocks[match.entities[0].entity]
        return Bench(
            packets, path.times, match.mechanism.strategy, path.positions, match.by_frame is True
        )
    if traffic.messages is None or not traffic.placed or not traffic.blocks:
        return None
    name = entity or max(traffic.streams, key=lambda stream: len(stream.times)).name
    block = traffic.blocks.get(name)
    if block is None or name in traffic.senders:  # two movements in one block have no truth
        return None
    begin = -math.inf if at is None else at - EXCERPT / 2
    packets, arrivals = PacketBlock(), []
    for packet in map(block.__getitem__, range(len(block))):
        if packet.arrival is None or packet.time < begin:
            continue
        arrivals.append(packet.arrival)
        packets.append(packet)
        if packet.arrival > arrivals[0] + EXCERPT:
            break
    if len(arrivals) < FEWEST:
        return None
    messages = traffic.messages
    reference = make_buffer(messages.period + messages.find_delay(0.95) - messages.sorted_delays[0])
    times = np.arange(min(arrivals), max(arrivals), 1 / FRAMES)
    return Bench(packets, times, reference)


def _find_truth(packets: PacketBlock) -> Truth | None:
    try:
        # what stands and goes on in turn is the sender's, not the movement's
        return make_truth(send_once(packets))
    except TooFewStates:
        return None


def trial(
    cure: Cure, before: MeasuredDrawing, after: MeasuredDrawing, turns: slice = JUDGING
) -> CureTrial | None:
    """Compare two drawings by all measures; None if the remedy does not help, or costs too much."""
    old, new = before.figures(turns), after.figures(turns)
    was, now = getattr(old, cure.figure), getattr(new, cure.figure)
    gain = was - now
    # a lag has no share: its clock may be another
    needed = SOONER if cure.figure == "lag" else max(FIGURES[cure.figure].least, BETTER * was)
    # NaN: not known
    if not gain > max(needed, ERRORS * _compute_standard_error(cure.figure, before, after, turns)):
        return None
    unsteady = old._replace(lag=0.0).cost
    if not old.cost - new.cost > max(WORTH, WORTH_SHARE * unsteady):
        return None
    changes = []
    for (name, figure), one, other in zip(FIGURES.items(), old, new, strict=True):
        if name == cure.figure:
            continue
        if other - one > figure.bearable + _compute_standard_error(name, before, after, turns):
            return None
        if abs(other - one) > figure.least:
            changes.append((name, one, other))
    return CureTrial(cure.command, cure.figure, was, now, tuple(changes))


def _compute_standard_error(
    figure: str, before: MeasuredDrawing, after: MeasuredDrawing, judging: slice
) -> float:
    """Return the standard error of a figure's mean change from turn to turn; infinite of few."""
    if figure == "lag":  # one for all turns
        return 0.0
    turns = np.arange(before.sums.shape[1])[judging]
    turns = turns[(before.sums[1, turns] > 0) & (after.sums[1, turns] > 0)]
    if len(turns) < 3:
        return math.inf
    place = list(FIGURES).index(figure)
    changes = [
        before.figures(turns[[own]])[place] - after.figures(turns[[own]])[place]
        for own in range(len(turns))
    ]
    return float(np.std(changes, ddof=1)) / math.sqrt(len(turns))
