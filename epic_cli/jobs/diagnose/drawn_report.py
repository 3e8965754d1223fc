"""What a game drew in words: which strategy that is, how late, how near."""

from __future__ import annotations

import math
from typing import Any

from epic_cli.jobs.diagnose.drawn.match import EntityMatch, Match
from epic_cli.jobs.diagnose.drawn.search import Explanation
from epic_cli.metrics.digits import known, three_digits

#: Seconds: a difference of clocks or delays that is none.
SAME_TIME = 0.002


def strategy_options(found: Explanation) -> str:
    """The strategy and its settings, as ``epic replay`` takes them."""
    settings = [f"--set {name}={_value(one)}" for name, one in found.candidate.settings.items()]
    return " ".join([f"-s {found.candidate.name}", *settings])


def _value(value: object) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def drawn_words(match: Match) -> list[str]:
    """What was drawn, in sentences; one for each of several entities."""
    best = match.best
    residual = f"residual {three_digits(best.residual)} (RMS)"
    left = f"{residual}, {round(match.off * 100, 2):.3g} % of the usual step"
    options, behind = strategy_options(best), _behind(best)
    if match.found:
        lines = [f"The game draws what {options} draws{behind}: {left}."]
    elif match.like:
        lines = [f"The game draws nearly, but not exactly, what {options} draws{behind}: {left}."]
    else:
        lines = [
            "No strategy draws what the game drew, with default or other settings. Nearest:"
            f" {options}{behind}: {left}."
        ]
    if not math.isnan(match.lag):
        lines[0] += f" It is {_late(match.lag)} the packets' stamps."
    if abs(best.shift) > SAME_TIME:
        lines.append(
            "The difference in time may be a delay of the game, or its frames have another clock"
            f" than the arrivals: then use --drawn-offset {-best.shift * 1e3:.0f}ms."
        )
    if len(match.entities) > 1:
        lines += [_entity_words(one) for one in match.entities]
    return lines


def _behind(best: Explanation) -> str:
    words = ""
    if abs(best.shift) > SAME_TIME:
        words += f", {abs(best.shift) * 1e3:.0f} ms {'later' if best.shift > 0 else 'earlier'}"
    if best.constant:
        words += f", behind a low-pass of {best.constant * 1e3:.3g} ms"
    return words


def _late(lag: float) -> str:
    if abs(lag) < SAME_TIME:
        return "in time with"
    return f"{abs(lag) * 1e3:.0f} ms {'behind' if lag > 0 else 'ahead of'}"


def _entity_words(one: EntityMatch) -> str:
    smoothing = f", low-pass of {one.constant * 1e3:.3g} ms" if one.constant else ""
    late = "" if math.isnan(one.lag) else f", {_late(one.lag)} the packets"
    return f"{one.entity or 'unnamed'}: residual {three_digits(one.residual)}{late}{smoothing}."


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
