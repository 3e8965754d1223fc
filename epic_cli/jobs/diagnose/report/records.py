"""The way in which a game draws, as a record."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from epic_cli.jobs.diagnose.mechanism.supply import convert_to_seconds
from epic_cli.jobs.diagnose.report.alternatives import write_strategy_option
from epic_cli.jobs.diagnose.report.buffers import EMPTY
from epic_cli.jobs.diagnose.report.drawbacks import describe_drawback
from epic_cli.jobs.diagnose.report.drawings import describe_shift
from epic_cli.jobs.diagnose.report.parts import write_beyond
from epic_cli.jobs.diagnose.settings import compute_used_values
from epic_cli.metrics.digits import replace_unknown

if TYPE_CHECKING:
    from epic_cli.jobs.diagnose.drawn.drawn_match import DrawnMatch


def make_drawn_record(match: DrawnMatch) -> dict[str, Any]:
    """Return the match of drawn frames as a record, in seconds and lengths."""
    best = match.best
    return {
        "strategy": best.candidate.name,
        "settings": dict(best.candidate.settings),
        "found": match.found,
        "probably": match.likely,
        "residual": replace_unknown(best.residual),
        "lag": replace_unknown(match.lag),
        "shift": best.shift,
        "low_pass": best.constant,
        "without": replace_unknown(match.without.residual),
        "residual_of_step": replace_unknown(match.off),
        "rest": match.rest or None,
        **_make_mechanism_record(match),
        "entities": [
            {key: replace_unknown(value) for key, value in row._asdict().items()}
            for row in match.entities
        ],
    }


def _make_mechanism_record(match: DrawnMatch) -> dict[str, Any]:
    """Return the way in which the game draws as a record; None for unknown values."""
    found = match.mechanism
    settings: dict[str, Any] = {}
    spec, exact = match.best.candidate, match.best.residual <= match.enough
    interval, supply = math.nan, None
    if found is not None:
        settings, spec, exact = compute_used_values(found.strategy), found.strategy, found.exact
        interval, supply = found.interval, found.supply
    if settings.get("stamps") == "arrival":
        settings["clock"] = None
    if settings.get("how") in ("share", "speed", "interval"):
        del settings["time"]
    stays = "beyond" in settings and write_beyond(settings["beyond"]) in EMPTY
    whole = found is not None or not describe_shift(match.best)

    def convert(name: str) -> float | None:
        return (
            replace_unknown(convert_to_seconds(settings[name], interval))
            if name in settings
            else None
        )

    return {
        "kind": None if found is None else spec.name,
        **{key: settings.get(key) for key in ("stamps", "clock", "curve", "catch_up", "how",
                                              "ahead", "snap")},
        "delay_s": convert("delay"),
        "beyond_s": 0.0 if stays else convert("beyond"),
        "low_pass_s": settings.get("low_pass"),
        "time_s": convert("time"),
        "empty": None if supply is None else replace_unknown(supply.empty),
        "needed_s": None if supply is None else replace_unknown(supply.needed),
        "causes": [
            {
                "cause": each.cause,
                "words": describe_drawback(each, match.advice),
                "trial": each.trial and each.trial.record,
            }
            for each in match.advice.drawbacks
        ],
        "cure": match.advice.remedy and match.advice.remedy.record,
        "cure_with_less_lag": match.advice.sooner and match.advice.sooner.record,
        "exact": exact,
        "pacing": "behind"
        if match.behind
        else {None: None, True: "frame", False: "arrival"}[match.by_frame],
        "command": write_strategy_option(spec) if whole else None,
        "same_as": [same.label for same in match.same_as],
        "snap_range": None if match.snap_range is None else list(match.snap_range),
        "others_show": "newest" if match.shows_newest else None,
        "lacking": [] if match.mechanism is None else list(match.mechanism.lacking),
    }  # fmt: skip
