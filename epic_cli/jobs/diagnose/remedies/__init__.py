"""Remedies, and the judgment of their trials on a recording before they are advised."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from epic_cli.engine.packets import PacketBlock
from epic_cli.engine.parameters import Value
from epic_cli.engine.replay.strategy_spec import StrategySpec, write_spec
from epic_cli.engine.strategies import get_declaration
from epic_cli.jobs.diagnose.remedies.metrics import (
    JUDGING,
    METRICS,
    MeasuredFrames,
    MetricValues,
    compute_standard_error,
)
from epic_cli.metrics.digits import format_seconds

#: Least gain of a remedy as a share of its metric, and in standard errors; of a lag, in seconds.
BETTER, ERRORS, SOONER = 0.1, 2.0, 0.03

#: Metrics of rare events: half of a recording has too few of them.
RARE = ("jumps", "held")

#: Least gain of a remedy in cost, and as a share of it: more where it draws later, since a game
#: may have chosen to be early.
WORTH, WORTH_SHARE, LATER_SHARE = 0.03, 0.05, 0.2


@dataclass(frozen=True)
class Remedy:
    """A remedy: a change of what is sent or drawn that can be tried on a recording.

    ``metric`` is the metric to improve, ``command`` the options (or words) for the change.
    ``strategy`` draws with the remedy (None: as before), from what ``packets`` makes of the packets
    (None: as they are): thinned, with other stamps, sent again. Changed packets define the truth.
    ``against`` draws without the remedy, and suffers from its cause; None: what the recording
    draws. ``beside``: it eases what the cause's own cure ends, which holds without it. ``untried``:
    there is nothing to try it on, since the recording has no arrival times.
    """

    command: str
    metric: str
    strategy: StrategySpec | None = None
    packets: Callable[[PacketBlock], PacketBlock] | None = None
    against: StrategySpec | None = None
    beside: bool = False
    untried: bool = False

    @property
    def is_typed(self) -> bool:
        """True for a command that can be typed; else packets were changed, as the words say."""
        return self.command.startswith("-")


class RemedyTrial(NamedTuple):
    """The trial of a remedy that helps on this recording: ``metric`` falls to ``after``.

    ``changes`` are the other metrics that change: name, before, after. ``delay`` (s) is that of the
    buffer that it draws from, if it does. ``knows_lag`` is False where what was drawn is too far
    from the truth to tell how late it is.
    """

    command: str
    metric: str
    before: float
    after: float
    changes: tuple[tuple[str, float, float], ...] = ()
    delay: float | None = None
    knows_lag: bool = True

    @property
    def keeps_lag(self) -> bool:
        """True if it draws as late as before."""
        return self.knows_lag and "lag" not in (self.metric, *(name for name, *_ in self.changes))

    @property
    def later(self) -> float:
        """Seconds of lag that it adds, less than 0 where it takes some; NaN where it is unknown."""
        lags = [each for each in (self[1:4], *self.changes) if each[0] == "lag"]
        return sum(after - before for _, before, after in lags) if self.knows_lag else math.nan

    @property
    def words(self) -> str:
        """Gains and costs of the remedy: ``step error 0.26 -> 0.12, but 17 ms later``."""
        changes = (self[1:4], *self.changes)
        known = [each for each in changes if self.knows_lag or each[0] != "lag"]
        gains, costs = (
            ", ".join(_write_change(*each) for each in known if (each[2] > each[1]) == is_cost)
            for is_cost in (False, True)
        )
        words = f"{gains}, but {costs}" if costs else gains
        return words if self.knows_lag else f"{words}, at an unknown lag"

    @property
    def record(self) -> dict[str, float | str]:
        """The trial as a record, by names."""
        return {
            "command": self.command, "figure": self.metric,
            "before": self.before, "after": self.after, "words": self.words,
        }  # fmt: skip


def _write_change(name: str, before: float, after: float) -> str:
    """Write the change of a metric; write only the difference of lags, as clocks may differ."""
    if name == "lag_by_frame_rate":
        return f"lag by frame rate {_write_milliseconds(before)} -> {_write_milliseconds(after)}"
    if name == "lag":
        return (
            f"{_write_milliseconds(abs(after - before))} {'later' if after > before else 'earlier'}"
        )
    metric = METRICS[name]
    return f"{metric.title} {metric.write(before)} -> {metric.write(after)}{metric.unit}"


def _write_milliseconds(time: float) -> str:
    return format_seconds(round(time, 3))


#: A clock that wanders little, and follows one that drifts.
STEADY_CLOCK: dict[str, Value] = {"clock": "min", "clock_time": 30.0}


def make_buffer(delay: float, **settings: Value) -> StrategySpec:
    """Return a buffer over the sender's stamps, ``delay`` (s) behind the fastest packet."""
    digits = float(f"{max(delay, 0.0):.3g}")
    return StrategySpec("buffer", {**STEADY_CLOCK, "delay": digits, **settings})


def write_option(spec: StrategySpec) -> str:
    """Return the ``-s`` option for a strategy, its settings in the order of their declaration."""
    order = [setting.name for setting in get_declaration(spec.name).settings]
    settings = sorted(spec.settings.items(), key=lambda each: order.index(each[0]))
    return f"-s {write_spec(spec.name, dict(settings))}"


def make_drawing_remedy(spec: StrategySpec, metric: str = "step_error") -> Remedy:
    """Return a remedy that draws with another strategy."""
    return Remedy(write_option(spec), metric, spec)


def judge_remedy(
    remedy: Remedy, before: MeasuredFrames, after: MeasuredFrames, slices: slice = JUDGING
) -> RemedyTrial | None:
    """Compare frames by all metrics; None if the remedy does not help, or costs too much."""
    old, new = (compute_judged_values(each, slices, remedy.metric) for each in (before, after))
    was, now = getattr(old, remedy.metric), getattr(new, remedy.metric)
    gain = was - now
    # a lag has no share: its clock may be another
    needed = SOONER if remedy.metric == "lag" else max(METRICS[remedy.metric].least, BETTER * was)
    knows_lag = before.knows_lag and after.knows_lag
    if remedy.metric == "lag" and not knows_lag:
        return None
    # NaN: not known
    if not gain > max(
        needed, ERRORS * compute_standard_error(remedy.metric, before, after, slices)
    ):
        return None
    unsteady = old._replace(lag=0.0).cost
    share = LATER_SHARE if new.lag > old.lag + SOONER else WORTH_SHARE
    if not old.cost - new.cost > max(WORTH, share * unsteady):
        return None
    changes = []
    for (name, metric), one, other in zip(METRICS.items(), old, new, strict=True):
        if name == remedy.metric:
            continue
        counted = slice(None) if name in RARE else slices
        doubt, bearable = compute_standard_error(name, before, after, counted), metric.bearable
        if name == "jumps":  # a single one, which a short recording shows as many a minute
            bearable = max(bearable, after.compute_rate(1, counted))
        if other - one > bearable + min(doubt, metric.bearable):
            return None
        if abs(other - one) > metric.least:
            changes.append((name, one, other))
    delay = None if remedy.strategy is None else remedy.strategy.settings.get("delay")
    delay = delay if isinstance(delay, float) else None
    return RemedyTrial(remedy.command, remedy.metric, was, now, tuple(changes), delay, knows_lag)


def compute_judged_values(frames: MeasuredFrames, slices: slice, judged: str) -> MetricValues:
    """Return the metrics over some slices, rare events over all unless these are ``judged``."""
    values, whole = frames.compute_values(slices), frames.compute_values(slice(None))._asdict()
    return values._replace(**{name: whole[name] for name in RARE if name != judged})
