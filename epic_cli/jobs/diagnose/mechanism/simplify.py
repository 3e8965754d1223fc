"""Write a result with as few settings and digits as leave its error as small."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from epic_cli.jobs.diagnose.fitted import FittedStrategy
from epic_cli.jobs.diagnose.mechanism.compositions import NEEDED, measure_description_length

if TYPE_CHECKING:
    from epic_cli.jobs.diagnose.comparison import FrameComparison
    from epic_cli.jobs.diagnose.mechanism.variants import Variants


def simplify(
    found: FittedStrategy, comparison: FrameComparison, variants: Variants
) -> FittedStrategy:
    """Return a result without settings that change nothing, with few digits."""
    best = found
    for key in found.candidate.settings:
        for changes in _list_simpler_settings(best, key):
            without = FittedStrategy(variants.change(best.candidate, changes))
            without = comparison.fit(without, 4)
            if comparison.is_as_good(without, found):
                best = without
                break
    best = comparison.shorten_numbers(best)
    spans = comparison.shorten_numbers(variants.write_in_intervals(best))
    shorter = (
        measure_description_length(spans.candidate)[0]
        < measure_description_length(best.candidate)[0] - 1
    )
    return spans if shorter and comparison.is_as_good(spans, found) else best


def _list_simpler_settings(found: FittedStrategy, key: str) -> list[dict[str, Any]]:
    """Return what may stand in the place of a setting; None restores a default."""
    ways: list[dict[str, Any]] = [] if key in NEEDED else [{key: None}]
    if key == "beyond":  # a limit that these frames do not show
        ways.append({key: "unlimited"})
    delay, interval = (found.candidate.settings.get(name) for name in ("delay", "interval"))
    if key == "interval" and isinstance(interval, float) and isinstance(delay, str):
        # the interval may stand there for the sake of the delay alone
        ways.append({key: None, "delay": float(delay.rstrip("i")) * interval})
    if key == "clock_time":  # a mean over less than an interval
        ways.append({key: None, "clock": "newest"})
    if key in ("delay_least", "delay_most"):
        ways.append({key: None, "delay": found.candidate.settings.get(key)})
    return ways
