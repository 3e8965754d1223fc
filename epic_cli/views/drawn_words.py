"""What a game drew in words: which strategy that is, how late, how near."""

from __future__ import annotations

import math
from typing import Any

from epic_cli.analysis.digits import known, three_digits
from epic_cli.analysis.drawn.match import EntityMatch, Match
from epic_cli.analysis.drawn.search import Explanation

#: Seconds: a difference of clocks or delays that is none.
SAME_TIME = 0.002


def strategy_options(found: Explanation) -> str:
    """The strategy and its settings, as ``epic replay`` takes them."""
    settings = [f"--set {name}={_value(one)}" for name, one in found.candidate.settings.items()]
    return " ".join([f"-s {found.candidate.name}", *settings])


def _value(value: object) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def drawn_words(match: Match) -> list[str]:
    """What was drawn, in sentences; a line for each of several entities."""
    best = match.best
    share = f"{round(match.off * 100, 2):.3g}%"
    left = f"{three_digits(best.residual)} is left (RMS), {share} of a usual step"
    options = strategy_options(best)
    behind = _behind(best)
    if match.found:
        told = f"What the game drew is what {options} draws{behind}: {left}."
    elif match.like:
        told = f"What the game drew is like what {options} draws{behind}, but not the same: {left}."
    else:
        told = (
            "No strategy draws what the game drew, with its usual settings or others: the nearest"
            f" is {options}{behind}: {left}."
        )
    known = not math.isnan(match.lag)
    lines = [f"{told} It is {_late(match.lag)} the packets' stamps." if known else told]
    if abs(best.shift) > SAME_TIME:
        lines.append(
            "That may be a delay of the game's own, or the frames' clock is not that of the"
            f" arrivals: then --drawn-offset {-best.shift * 1e3:.0f}ms is right."
        )
    if len(match.entities) > 1:
        lines += [_entity_words(one) for one in match.entities]
    return lines


def _behind(best: Explanation) -> str:
    parts = []
    if abs(best.shift) > SAME_TIME:
        parts.append(f"{abs(best.shift) * 1e3:.0f} ms {'later' if best.shift > 0 else 'earlier'}")
    if best.constant:
        parts.append(f"behind a low-pass of {best.constant * 1e3:.3g} ms")
    return ", " + ", ".join(parts) if parts else ""


def _late(lag: float) -> str:
    if abs(lag) < SAME_TIME:
        return "in time with"
    return f"{abs(lag) * 1e3:.0f} ms {'behind' if lag > 0 else 'ahead of'}"


def _entity_words(one: EntityMatch) -> str:
    smoothing = f", low-pass of {one.constant * 1e3:.3g} ms" if one.constant else ""
    late = "" if math.isnan(one.lag) else f", {_late(one.lag)} the packets"
    name = one.entity or "without a name"
    return f"{name}: {three_digits(one.residual)} is left{late}{smoothing}."


def drawn_record(match: Match) -> dict[str, Any]:
    """The same by names; seconds and lengths."""
    best = match.best
    return {
        "strategy": best.candidate.name,
        "settings": dict(best.candidate.settings),
        "found": match.found,
        "residual": known(best.residual),
        "of_step": known(match.off),
        "lag": known(match.lag),
        "shift": best.shift,
        "low_pass": best.constant,
        "without": known(match.without.residual),
        "entities": [
            {key: known(value) for key, value in one._asdict().items()} for one in match.entities
        ],
    }
