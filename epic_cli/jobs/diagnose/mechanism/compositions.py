"""Compositions: how long one is written, and what two of them share."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from epic_cli.engine.replay.strategy_spec import StrategySpec
from epic_cli.engine.strategies import get_declaration
from epic_cli.engine.strategies.parts import ClockRule

if TYPE_CHECKING:
    from epic_cli.jobs.diagnose.fitted import FittedStrategy

#: Compositions of games with parts that no reading shows.
KNOWN = (
    "chase+how=share+share=1",
    "buffer+stamps=arrival+delay=1i+before=none+beyond=freeze",
    "buffer+clock=first+clock_resync=0.05+delay=0.1+late=insert+before=none+beyond=freeze"
    "+monotonic=on+keep=120",
    "buffer+delay=0.2+keep=7",
    "buffer+stamps=ticks+clock=newest+interval=0.05+delay=0.05",
    "buffer+clock=mean+clock_time=1+delay=1.1i+jitter_margin=1+delay_least=1.1i+delay_most=1.2i"
    "+interval_time=2+jitter_time=1+beyond=0.08+beyond_then=return",
    "buffer+clock=min+delay=0.3i+beyond=0.3+low_pass=0.03",
    "buffer+clock=min+delay=0.3i+beyond=0.3+low_pass=0.03+follow=spring",
    "chase+how=linear+time=0.1+start=arrival",
    "buffer+clock=newest+delay=0.1+every=packet+follow=share+follow_share=0.375",
)

#: Settings that define a composition.
NEEDED = ("delay", "time", "share", "speed", "stiffness", "damping", "stamps", "clock", "how")

#: Settings that determine the times of states, or the movement to the goal.
TIMING = ("stamps", "clock", "how", "ahead")

#: How a buffer catches up that goes by no clock.
CLOCKLESS = ("queue", "dequeue", "timer", "timed-queue", "fill", "waypoints", "clamp", "slow")

#: A delay that differs by less, as a share of it, from the interval is one interval.
SLIGHT = 0.02

#: The settings of a buffer over arrivals, or a count of ticks, that takes late packets as new ones.
INSERTS_LATE: dict[str, Any] = {"late": "insert"}


def takes_late_packets(settings: Mapping[str, Any]) -> bool:
    """Return True for settings, all of them, with which a late packet is taken for the newest."""
    inserts = settings["late"] == INSERTS_LATE["late"] and settings["stamps"] != "sender"
    return bool(inserts or settings["late"] == "take")


def measure_description_length(strategy: StrategySpec) -> tuple[int, int, int, int]:
    """Return the length of a strategy's description, as a sort key.

    Settings and digits, digits, rarity of its clock, letters. One send interval (between the last
    two states) is shorter than a number.
    """
    settings = strategy.settings.values()
    digits = [-1 if value == "1i" else len(f"{value}".strip("i").replace(".", "").strip("0"))
              for value in settings
              if not isinstance(value, str) or value[0].isdigit()]  # fmt: skip
    clock = ClockRule[strategy.values.get("clock", "agree").upper()]
    length = sum(digits) + 2 * len(settings)
    return length, sum(digits), clock.value, len(strategy.label)


def make_timing_key(found: FittedStrategy) -> tuple[object, ...]:
    """Return the settings that determine the times of states, or the movement to the goal."""
    values = found.candidate.values
    return tuple(values.get(key) for key in TIMING)


def is_timed_alike(spec: StrategySpec, found: FittedStrategy) -> bool:
    """Return True if a strategy of any numbers is written with the same of these, and ticks."""
    settings = found.candidate.settings
    return all(spec.settings.get(key) == settings.get(key) for key in (*TIMING, "every"))


def make_composition_key(strategy: StrategySpec) -> tuple[object, ...]:
    """Return the settings that are equal for compositions that differ only in numbers."""
    values = strategy.values
    ways = ("stamps", "clock", "curve", "catch_up", "how", "ahead", "follow")
    return tuple(values.get(key) for key in ways)


def draws_last_two_states(settings: Mapping[str, Any], usual: float) -> bool:
    """Return True for a buffer that goes from the last state but one to the newest in an interval.

    It does so from each arrival on: the newest of counted states is there one interval later.
    ``usual`` is the packets' interval (s).
    """
    delay, interval = settings["delay"], settings["interval"]
    usual = interval if interval > 0 else usual
    return (
        settings["stamps"] == "ticks" and settings["clock"] == "newest"
        and (delay == -1 or (abs(delay - usual) < SLIGHT * usual and not interval < 0))
        and settings["catch_up"] == "snap" and not settings["jitter_margin"]
    )  # fmt: skip


def order_settings(found: FittedStrategy) -> FittedStrategy:
    """Return a result with its settings in the order in which they are declared."""
    spec = found.candidate
    names = [setting.name for setting in get_declaration(spec.name).settings]
    ordered = {name: spec.settings[name] for name in names if name in spec.settings}
    return found._replace(candidate=StrategySpec(spec.name, ordered))


def drop_settings(settings: Mapping[str, Any], key: str) -> dict[str, Any]:
    """Return the settings without one."""
    return {name: value for name, value in settings.items() if name != key}


def add_settings(spec: StrategySpec, settings: Mapping[str, Any]) -> StrategySpec:
    """Return the strategy with more settings."""
    return StrategySpec(spec.name, {**spec.settings, **settings})


def convert_to_numbers(spec: StrategySpec) -> StrategySpec:
    """Return the strategy with its settings as numbers, also those written in units."""
    known = get_declaration(spec.name)
    used: dict[str, Any] = known.converted(known.values(spec.settings))
    numbers = {key: used[key] for key in spec.settings if isinstance(used[key], float)}
    positive = {key: value for key, value in numbers.items() if value >= 0}
    return StrategySpec(spec.name, {**spec.settings, **positive})
