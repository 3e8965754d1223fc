"""What sliders, lists and switches of the page are made of: the tables of parameters."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from epic_cli.engine.parameters import Choice, Custom, Number, Switch
from epic_cli.engine.strategies import declaration, remote_names
from epic_cli.lab.spec import (
    BY_HAND,
    GROUPS,
    MOST_STRATEGIES,
    RECORDED,
    RECORDING,
    SCORE,
    STEPS,
    TICK,
)
from epic_cli.network.link import LINK, PERFECT, GilbertElliott
from epic_cli.network.link_spec import PRESET
from epic_cli.network.paths import PATHS
from epic_cli.network.sender import RECORDED as AS_RECORDED
from epic_cli.network.sender import USUAL_RATE

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from epic_cli.engine.parameter_base import Parameter
    from epic_cli.lab.bench import Experiment
    from epic_cli.live.proxy.link_control import LinkController

#: The first two numbers of a Gilbert-Elliott model, each a slider.
_BURSTS = ("good to bad", "bad to good")

#: A number without a range of its own is tried up to so many times its default.
_AROUND = 10.0


def controls(recording: str = "", own: Sequence[str] = ()) -> dict[str, Any]:
    """All that can be set, for the page; ``recording`` and strategies of the user's ``own``."""
    ways = {RECORDING: f"{recording}, as it arrived", RECORDED: f"{recording}, sent again"}
    return {
        "moves": {**(ways if recording else {}), **{one: one for one in PATHS}, BY_HAND: "drawn"},
        "simulated": [RECORDED, *PATHS, BY_HAND],
        "groups": {
            name: [control(one) for one in group if one.name != "path"]
            for name, group in GROUPS.items()
        },
        "strategies": {name: _strategy(name) for name in (*remote_names(), *own)},
        "most": MOST_STRATEGIES,
        "steps": list(STEPS),
    }


def _strategy(name: str) -> dict[str, Any]:
    declared = declaration(name)
    return {
        "help": declared.summary,
        "settings": [{**control(one), "value": str(one.default)} for one in declared.settings],
    }


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


class LinkControls:
    """The link of a proxy as sliders; ``answer`` answers commands about it."""

    def __init__(self, links: LinkController, answer: Callable[[str], str]) -> None:
        self._links, self._answer = links, answer

    def controls(self) -> list[dict[str, Any]]:
        """What can be set, and what it usually is."""
        words = [{**control(one), "usual": written(one, PERFECT)} for one in _LINK]
        return [{**control(PRESET), "usual": ""}, *words]

    def say(self, command: str) -> str:
        """The answer to a command of a page."""
        allowed = command.partition(" ")[0] in ("set", "blackout", "restore", "reset", "clear")
        return self._answer(command) if allowed else "error: no page may do that"

    def state(self) -> dict[str, dict[str, str]]:
        """By direction what everything stands at."""
        found: dict[str, dict[str, str]] = {}
        for way, one in self._links.directions.items():
            found[way] = {about.name: written(about, one.conditions) for about in _LINK}
            found[way] |= {"preset": self._links.preset, "dark": "on" if one.blackout else ""}
        return found


#: Datagrams have lengths of their own.
_LINK = tuple(one for one in LINK if one.name != "packet_size")


def in_force(experiment: Experiment) -> dict[str, str]:
    """What every control stands at: what was given, what a preset says, or the default."""
    network, link = experiment.network, experiment.network.link
    recorded = network.path is None
    game, tick = experiment.scoring.weighing.game, experiment.spec.timing.tick
    holders = {"movement": network, "sender": network.sender, "link": link}
    holders[SCORE] = SimpleNamespace(game=game, tick=tick)
    found = {}
    for name, group in GROUPS.items():
        for one in group:
            if one.name in ("path", "preset"):
                continue
            found[one.name] = written(one, holders[name])
            if one.name == "send_rate" and not found[one.name]:
                found[one.name] = one.write(AS_RECORDED if recorded else USUAL_RATE)
            if one.name == "duration" and not recorded:
                found[one.name] = one.write(network.seconds)
    found["preset"] = dict(experiment.lab.values).get("preset", "")
    return found
