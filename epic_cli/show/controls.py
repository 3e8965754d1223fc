"""Sliders, lists and switches of a page, made from the tables of parameters."""

from __future__ import annotations

import math
from typing import Any

from epic_cli.engine.parameter_base import Parameter
from epic_cli.engine.parameters import Choice, Custom, Number, Switch
from epic_cli.engine.replay.playback import TIMING
from epic_cli.network.link import GilbertElliott

#: How often players see a frame.
TICK = TIMING[0]

#: The first two numbers of a Gilbert-Elliott model, each a slider.
_BURSTS = ("good to bad", "bad to good")

#: A number without a range of its own is tried up to so many times its default.
_AROUND = 10.0


def control(parameter: Parameter) -> dict[str, Any]:
    """One control: its kind, what it takes, and how a slider goes."""
    found: dict[str, Any] = {
        "name": parameter.name,
        "help": parameter.help.partition("  [")[0],
        "words": list(parameter.choices),
    }
    match parameter:
        case Number():
            low, high, log = slider(parameter)
            found |= {"kind": "number", "low": low, "high": high, "log": log}
            found |= {"unit": parameter.unit, "whole": parameter.whole, "range": parameter.range}
        case Switch():
            found["kind"] = "switch"
        case Choice():
            found["kind"] = "choice"
            found["words"] = [*([""] if parameter.default is None else []), *parameter.choices]
        case Custom() if parameter is TICK:
            found |= {"kind": "number", "low": 1 / 240, "high": 0.25, "log": True}
            found |= {"unit": "s", "whole": False, "range": "0.05, 1/60, 50ms or 60hz"}
        case Custom() if parameter.kind is GilbertElliott:
            found |= {"kind": "text", "range": parameter.form, "shares": list(_BURSTS)}
        case Custom():
            words = [word for word, _ in parameter.complete()]
            found |= {"kind": "choice" if words else "text", "range": parameter.form}
            found["words"] = ["", *words] if words else []
    return found


def slider(number: Number) -> tuple[float, float, bool]:
    """From where to where a slider goes, and whether on a log scale.

    It is the range worth trying where one is declared, or the whole range where that is short.
    """
    if number.tune is not None:
        low, high = number.tune
        return low, high, number.scale == "log" and low > 0
    usual = number.default if isinstance(number.default, int | float) else 1.0
    high = min(number.high, _AROUND * abs(usual) or 1.0)
    low = max(number.low, -high) if number.low < 0 else number.low
    if math.isfinite(number.high) and number.high <= _AROUND**2 * max(abs(usual), 1.0):
        high = number.high
    return (low, high, False) if low < high else (number.low, number.low + 1, False)


def written(one: Parameter, holder: object) -> str:
    """What a parameter stands at, as it is typed; nothing: it is not set."""
    value = getattr(holder, one.field)
    if one.field == "loss" and isinstance(value, GilbertElliott) != (one.name == "gemodel"):
        return ""
    return "" if value is None else one.write(value)
