"""How far behind the stamps each built-in delay buffer draws, and which setting moves that.

Each model is what the strategy's own docstring says of its clock: ``delay`` is the receiver's time
less the stamp that is drawn, once the clock has settled.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from epic_cli.engine.parameters import Value

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


class Buffer(NamedTuple):
    """A delay buffer: its ``setting``, the ``delay`` that settings come to, and the way back.

    ``settings`` are those with which the delay (s) is the given one, whether or not they are
    allowed. ``by_arrival``: it draws between arrivals, so its delay is not behind the stamps but
    behind the newest arrival.
    """

    setting: str
    delay: Callable[[Written, Line], float]
    settings: Callable[[float, Written, Line], dict[str, Value]]
    by_arrival: bool = False


def _number(settings: Written, name: str, auto: float = 0.0) -> float:
    """A setting's number; ``auto`` where it says a word instead."""
    value = settings[name]
    return auto if isinstance(value, str) else value


def _snapshot_base(settings: Written, line: Line) -> float:
    """With the stamps' own clock the latency is part of the setting."""
    return line.usual if settings["clock"] == "pll" else 0.0


def _snapshot(settings: Written, line: Line) -> float:
    return _snapshot_base(settings, line) + _number(settings, "interpolation_time")


def _source_floor(settings: Written) -> float:
    """The least that cl_interp can be: the longer one of it and the ratio counts."""
    return _number(settings, "cl_interp_ratio") / _number(settings, "cl_updaterate")


def _source(settings: Written, line: Line) -> float:
    behind = max(_number(settings, "cl_interp"), _source_floor(settings))
    return _number(settings, "latency", line.usual) + behind + _number(settings, "tick_interval")


def _source_settings(delay: float, settings: Written, line: Line) -> dict[str, Value]:
    behind = delay - _number(settings, "latency", line.usual) - _number(settings, "tick_interval")
    found: dict[str, Value] = {"cl_interp": behind}
    if behind < _source_floor(settings):
        found["cl_interp_ratio"] = 0.0  # otherwise the ratio would count
    return found


def _hermite(settings: Written, line: Line) -> float:
    return _number(settings, "latency", line.usual) + _number(settings, "playout_delay")


def _geckos(settings: Written, line: Line) -> float:
    rate = _number(settings, "server_fps")
    return line.kept + _number(settings, "interpolation_buffer", 3 / rate if rate else 0.1)


def _mirror(settings: Written, line: Line) -> float:
    interval = _number(settings, "send_interval", line.period)
    if settings["dynamic_adjustment"] == "on":
        tolerance = _number(settings, "dynamic_adjustment_tolerance")
        return line.usual + interval * (1 + tolerance) + line.deviation
    return line.usual + interval * _number(settings, "buffer_time_multiplier")


def _mirror_settings(delay: float, settings: Written, line: Line) -> dict[str, Value]:
    intervals = (delay - line.usual) / _number(settings, "send_interval", line.period)
    return {"buffer_time_multiplier": intervals, "dynamic_adjustment": "off"}


def _frowen(settings: Written, line: Line) -> float:
    tick = _number(settings, "tick_interval", line.period)
    return line.usual + tick * _number(settings, "tick_delay")


def _unity_tick(settings: Written, line: Line) -> float:
    return 1 / _number(settings, "tick_rate", 1 / line.period)


def _unity_base(settings: Written, line: Line) -> float:
    return _number(settings, "latency", line.usual) + _number(settings, "server_buffer")


def _unity(settings: Written, line: Line) -> float:
    usual = 1.0 if settings["mode"] in ("legacy-lerp", "double-lerp") else 2.0
    ticks = _number(settings, "tick_latency", usual)
    return _unity_base(settings, line) + ticks * _unity_tick(settings, line)


def _quake3_base(line: Line) -> float:
    """Its clock goes back 2 ms after each snapshot that came late, else forward by 1.

    Late is what comes less than 5 ms before it is needed (CL_AdjustTimeDelta, CL_SetCGameTime):
    the clock stays where that happens to one in three.
    """
    return line.waited + 0.005


def _quake3(settings: Written, line: Line) -> float:
    return _quake3_base(line) + _number(settings, "cl_time_nudge")


def _gambetta(settings: Written, line: Line) -> float:
    return 1 / _number(settings, "update_rate", 1 / line.period)


#: The built-in strategies of the family, by name.
BUFFERS: Mapping[str, Buffer] = {
    "snapshot": Buffer(
        "interpolation_time",
        _snapshot,
        lambda delay, settings, line: {
            "interpolation_time": delay - _snapshot_base(settings, line)
        },
    ),
    "source": Buffer("cl_interp", _source, _source_settings),
    "hermite": Buffer(
        "playout_delay",
        _hermite,
        lambda delay, settings, line: {
            "playout_delay": delay - _number(settings, "latency", line.usual)
        },
    ),
    "geckos": Buffer(
        "interpolation_buffer",
        _geckos,
        lambda delay, _settings, line: {"interpolation_buffer": delay - line.kept},
    ),
    "mirror": Buffer("buffer_time_multiplier", _mirror, _mirror_settings),
    "james-frowen": Buffer(
        "tick_delay",
        _frowen,
        lambda delay, settings, line: {
            "tick_delay": (delay - line.usual) / _number(settings, "tick_interval", line.period)
        },
    ),
    "unity-ngo": Buffer(
        "tick_latency",
        _unity,
        lambda delay, settings, line: {
            "tick_latency": (delay - _unity_base(settings, line)) / _unity_tick(settings, line)
        },
    ),
    "quake3": Buffer(
        "cl_time_nudge",
        _quake3,
        lambda delay, _settings, line: {"cl_time_nudge": delay - _quake3_base(line)},
    ),
    "gambetta": Buffer(
        "update_rate",
        _gambetta,
        lambda delay, _settings, _line: {"update_rate": 1 / delay},
        by_arrival=True,
    ),
}
