"""How far behind the stamps each built-in delay buffer draws, and which setting moves that.

Each model is what the strategy's own docstring says of its clock: ``delay`` is the receiver's time
less the stamp that is drawn, once the clock has settled.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from epic_cli.engine.parameter_base import Value

    Written = Mapping[str, Value]


class Line(NamedTuple):
    """What the clocks of delay buffers measure of a network, in seconds.

    ``period`` is the usual time between two messages, ``deviation`` that of the intervals between
    arrivals. Delays are arrivals less stamps: ``least`` is the least of them, ``usual`` the median,
    ``kept`` that of the first message, or of the newest one that differs from it by more than 50 ms
    (the median over all messages); ``waited`` is the wait (``diagnosis.messages.waits``) that
    two thirds of the messages do not exceed.
    """

    period: float
    deviation: float
    least: float
    usual: float
    kept: float
    waited: float


def _number(settings: Written, name: str, auto: float = 0.0) -> float:
    """A setting's number; ``auto`` where it says a word instead."""
    value = settings[name]
    return auto if isinstance(value, str) else value


@dataclass(frozen=True)
class Buffer:
    """A delay buffer that draws ``base`` and its ``setting``, in a ``unit`` of seconds, behind.

    Where the setting is a word, ``auto`` is its number. ``by_arrival``: it draws between arrivals,
    so its delay is not behind the stamps but behind the newest arrival.
    """

    setting: str
    base: Callable[[Written, Line], float]
    unit: Callable[[Written, Line], float] = lambda _settings, _line: 1.0
    auto: Callable[[Written], float] = lambda _settings: 0.0
    by_arrival: bool = False

    def delay(self, settings: Written, line: Line) -> float:
        """The delay (s) that settings come to."""
        number = _number(settings, self.setting, self.auto(settings))
        return self.base(settings, line) + self.unit(settings, line) * number

    def settings(self, delay: float, settings: Written, line: Line) -> dict[str, Value]:
        """The settings with which the delay is the given one, whether or not they are allowed."""
        return {self.setting: (delay - self.base(settings, line)) / self.unit(settings, line)}


class _Source(Buffer):
    """The longer one of cl_interp and the ratio counts, and a tick more."""

    def delay(self, settings: Written, line: Line) -> float:
        behind = max(_number(settings, "cl_interp"), self._least(settings))
        return self.base(settings, line) + behind + _number(settings, "tick_interval")

    def settings(self, delay: float, settings: Written, line: Line) -> dict[str, Value]:
        behind = delay - self.base(settings, line) - _number(settings, "tick_interval")
        found: dict[str, Value] = {"cl_interp": behind}
        if behind < self._least(settings):
            found["cl_interp_ratio"] = 0.0  # otherwise the ratio would count
        return found

    def _least(self, settings: Written) -> float:
        return _number(settings, "cl_interp_ratio") / _number(settings, "cl_updaterate")


class _Mirror(Buffer):
    """Its number of intervals counts where it does not adjust itself to the network."""

    def delay(self, settings: Written, line: Line) -> float:
        if settings["dynamic_adjustment"] != "on":
            return super().delay(settings, line)
        tolerance = _number(settings, "dynamic_adjustment_tolerance")
        return line.usual + self.unit(settings, line) * (1 + tolerance) + line.deviation

    def settings(self, delay: float, settings: Written, line: Line) -> dict[str, Value]:
        return {**super().settings(delay, settings, line), "dynamic_adjustment": "off"}


class _Lightyear(Buffer):
    """Its ratio counts where the jitter is given."""

    def delay(self, settings: Written, line: Line) -> float:
        # the mean deviation of delays, by the standard one of intervals
        jitter = _number(settings, "jitter", 0.6 * line.deviation)
        return super().delay(settings, line) + _number(settings, "jitter_multiple") * jitter

    def settings(self, delay: float, settings: Written, line: Line) -> dict[str, Value]:
        return {**super().settings(delay, settings, line), "jitter": 0.0}


class _Gambetta(Buffer):
    """Its setting is a rate."""

    def delay(self, settings: Written, line: Line) -> float:
        return 1 / _number(settings, self.setting, 1 / line.period)

    def settings(self, delay: float, settings: Written, line: Line) -> dict[str, Value]:
        del settings, line
        return {self.setting: 1 / delay}


def _usual(_settings: Written, line: Line) -> float:
    return line.usual


def _latency(settings: Written, line: Line) -> float:
    return _number(settings, "latency", line.usual)


def _geckos_auto(settings: Written) -> float:
    rate = _number(settings, "server_fps")
    return 3 / rate if rate else 0.1


#: The built-in strategies that have one, by name.
BUFFERS: Mapping[str, Buffer] = {
    # with the stamps' own clock the latency is part of the setting
    "snapshot": Buffer(
        "interpolation_time",
        lambda settings, line: line.usual if settings["clock"] == "pll" else 0.0,
    ),
    "source": _Source("cl_interp", _latency),
    "hermite": Buffer("playout_delay", _latency),
    "panda3d": Buffer(
        "delay",
        lambda settings, line: line.usual if settings["accept_clock_skew"] == "on" else 0.0,
    ),
    "geckos": Buffer("interpolation_buffer", lambda _settings, line: line.kept, auto=_geckos_auto),
    "mirror": _Mirror(
        "buffer_time_multiplier",
        _usual,
        lambda settings, line: _number(settings, "send_interval", line.period),
    ),
    "james-frowen": Buffer(
        "tick_delay",
        _usual,
        lambda settings, line: _number(settings, "tick_interval", line.period),
    ),
    "unity-ngo": Buffer(
        "tick_latency",
        lambda settings, line: _latency(settings, line) + _number(settings, "server_buffer"),
        lambda settings, line: 1 / _number(settings, "tick_rate", 1 / line.period),
        lambda settings: 1.0 if settings["mode"] in ("legacy-lerp", "double-lerp") else 2.0,
    ),
    # Its clock goes back 2 ms after each snapshot that came late, else forward by 1. Late is what
    # comes less than 5 ms before it is needed (CL_AdjustTimeDelta, CL_SetCGameTime): the clock
    # stays where that happens to one in three.
    "quake3": Buffer("cl_time_nudge", lambda _settings, line: line.waited + 0.005),
    "ddnet": Buffer("tick_interval", _usual),
    "lightyear": _Lightyear(
        "send_interval_ratio",
        lambda settings, line: (
            line.usual
            - _number(settings, "rtt") / 2
            + _number(settings, "jitter_margin") * _number(settings, "tick_interval")
        ),
        lambda settings, line: _number(settings, "send_interval", line.period),
    ),
    "gambetta": _Gambetta("update_rate", lambda _settings, _line: 0.0, by_arrival=True),
}
