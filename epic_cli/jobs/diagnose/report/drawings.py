"""The way in which a game draws, in sentences."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from epic_cli.engine.strategies import get_declaration
from epic_cli.jobs.diagnose.remedies.trials import LATE
from epic_cli.jobs.diagnose.report.alternatives import (
    describe_alternatives,
    write_strategy_option,
)
from epic_cli.jobs.diagnose.report.compositions import describe_composition
from epic_cli.jobs.diagnose.report.drawbacks import describe_drawback
from epic_cli.jobs.diagnose.report.parts import SAME_TIME
from epic_cli.jobs.diagnose.report.unexplained import describe_unexplained
from epic_cli.metrics.digits import (
    format_seconds,
    format_share,
)

if TYPE_CHECKING:
    from epic_cli.jobs.diagnose.drawn.drawn_match import DrawnMatch
    from epic_cli.jobs.diagnose.drawn.entity_match import EntityMatch
    from epic_cli.jobs.diagnose.fitted import FittedStrategy
    from epic_cli.jobs.diagnose.mechanism import Mechanism
    from epic_cli.jobs.diagnose.remedies.drawing import DrawingAdvice

#: Why no remedy was tried on packets that come seldom and irregularly.
_NO_PATH = (
    "No remedy was tried: packets this far apart, at no fixed rate, may tell where it goes, and not"
    " where it is."
)

#: What tells more of a drawing that is not understood, of packets that arrive between frames.
_READ_IN_FRAMES = (
    "If the game reads packets in its frames or ticks, log the time of that frame as the arrival:"
    " more may be understood then."
)

#: What is off by more steps is not near.
FAR = 1.0

#: Digits of settings that come near, but do not draw the same.
_NEARLY = 3


def describe_drawing(match: DrawnMatch) -> list[str]:
    """Return how the frames were drawn, and how to draw them better; a sentence for each entity."""
    advice, words = match.advice, _describe_entity_drawing(match)
    if match.offset:
        off = ", ".join(f"{each:.6g}" for each in match.offset)
        words.append(f"Everything is drawn {off} off (x, y, z), which is left out here.")
    if match.by_frame:
        words.append("Packets are read by frames: replay with --pacing frame.")
    if match.behind:
        come = (
            "are read behind the frames, and" if match.between_frames else "that come with a frame"
        )
        words.append(f"Packets {come} count from the next one on; epic replay has no such pacing.")
    if match.between_frames and not match.found:
        words.append(_READ_IN_FRAMES)
    words += _describe_remedies(advice)
    return words + [f"- {describe_drawback(each, advice)}" for each in advice.drawbacks]


def _describe_remedies(advice: DrawingAdvice) -> list[str]:
    """Return the best remedy and the one with less lag; or why there is none.

    Each command has a line of its own, so that it can be pasted.
    """
    if (remedy := advice.remedy) is None:
        if not advice.has_path:
            return [_NO_PATH]
        slides = any(each.cause == "slides" for each in advice.drawbacks)
        where = "between the teleports" if slides else "here"
        return [f"Nothing that was tried draws it better {where}."] if advice.tried else []
    if remedy.later < LATE:
        kept = ", as late as now" if remedy.keeps_lag else ""
        return [f"Better here{kept}: {remedy.words}:", remedy.command]
    words = [f"Better here, if lag does no harm: {remedy.words}:", remedy.command]
    if math.isnan(remedy.later):
        return words
    if advice.sooner is None:
        return [*words, "Nothing that was tried is better with much less lag than that."]
    lag = "as late as now" if advice.sooner.keeps_lag else "with less lag"
    return [*words, f"Better, {lag}: {advice.sooner.words}:", advice.sooner.command]


def _describe_entity_drawing(match: DrawnMatch) -> list[str]:
    """Return how the frames were drawn, by parts or by an engine's strategy."""
    found = match.mechanism
    return _describe_engine_strategy(match) if found is None else _describe_mechanism(match, found)


def _describe_engine_strategy(match: DrawnMatch) -> list[str]:
    """Return the engine's strategy that draws the frames, or the one with the least error."""
    best = match.best
    options, behind = (
        write_strategy_option(best.candidate, 6 if match.found else _NEARLY),
        describe_shift(best),
    )
    if match.found:
        own = get_declaration(best.candidate.name).summary
        is_exact = best.residual <= match.enough and match.rest_off is None
        nearly = "" if is_exact else " nearly"
        left = _describe_rest(match)
        lines = [f"The game draws{nearly} what {options} draws{behind}: {left}. That is: {own}."]
        lines[0] += f" {describe_alternatives(match)}".rstrip()
    else:
        lines = [
            f"Not understood: {_describe_error(match)}. Of all strategies and settings,"
            f" {options}{behind} comes nearest.{describe_unexplained(match)}"
        ]
    if not math.isnan(match.lag):
        lines[0] += f" It is {_describe_lag(match.lag)} the packets' stamps."
    if match.found and abs(best.shift) > SAME_TIME:
        lines.append(
            "The difference in time may be a delay of the game, or its frames have another clock"
            f" than the arrivals: then use --drawn FILE,offset={-best.shift * 1e3:.0f}ms."
        )
    if len(match.entities) > 1:
        lines += [_describe_entities(entity) for entity in match.entities]
    return lines


def _describe_mechanism(match: DrawnMatch, found: Mechanism) -> list[str]:
    """Return the way in which the game draws in sentences."""
    command = write_strategy_option(found.strategy, 6 if match.found else _NEARLY)
    rest = describe_unexplained(match)
    if not (match.like or match.found):
        nearest = f" Nearest: {command}." if match.off < FAR else ""
        return [f"Not understood: {_describe_error(match)}.{nearest}{rest}"]
    does = describe_composition(found)
    if match.likely and not match.found:
        left = f"What is left is {_write_error(match.off)} of a step{_write_leaps(match)}."
        return [f"Probably it {does}. {left}{rest}", command]
    if not match.found:
        return [f"Not understood: {_describe_error(match)}. Nearest: it {does}.{rest}", command]
    # the command begins a line, so that it can be pasted
    at = ""
    if match.tick and "every" not in found.strategy.settings:  # it was found at the ticks alone
        at = f" at ticks of {format_seconds(match.tick)}"
        does = f"{does.replace('in each frame', 'in each tick')},{at}"
    error = "exact" if found.exact else _describe_rest(match)
    if match.behind:
        error += ", read behind the frames"
    share = format_share(match.best.share)
    mostly = match.rest_off is not None and match.best.draws_most
    subject = f"In {share} of the frames that move, it" if mostly else "It"
    lines = [f"{subject} {does}.", f"{command} ({error}{at})"]
    if mostly and match.shows_newest:
        lines.append("The other frames show the newest state.")
    if same := describe_alternatives(match):
        lines.append(same)
    if match.snap_range is not None:
        low, high = match.snap_range
        lines.append(f"Any snap from {low:.2g} to {high:.2g} draws the same here.")
    others = {each.entity for each in match.other.entities} if match.other else set()
    lines += [
        f"{each.entity or 'unnamed'}: not understood, off by {_write_error(each.off)} of a step."
        for each in match.entities[1:]
        if not each.found and each.entity not in others
    ]
    if match.other is not None:
        lines[0] = f"{_name_drawn_entities(match)}: {lines[0]}"
        begin, *own = _describe_entity_drawing(match.other)
        names = "" if match.other.other else f"{_name_drawn_entities(match.other)}: "
        lines += [f"{names}{begin}", *own]
    return lines


def _name_drawn_entities(match: DrawnMatch) -> str:
    """Return the names of the entities that a match's strategy draws."""
    first, *others = match.entities
    return ", ".join([first.entity, *(each.entity for each in others if each.found)])


def _describe_rest(match: DrawnMatch) -> str:
    """Return the error of an understood drawing in words, that of few frames apart."""
    if match.rest_off is None:
        return _describe_error(match)
    near, far = match.rest_off
    if not match.best.draws_most:
        return f"off by {_write_error(near)} of a step, and in 1 % of the frames by more"
    share = format_share(match.best.share)
    return f"exact in {share} of the moving frames, else off by {_write_error(far)} of a step"


def _describe_error(match: DrawnMatch) -> str:
    """Return the error of the best strategy in words."""
    return f"off by {_write_error(match.off)} of a step{_write_leaps(match)}"


def _write_leaps(match: DrawnMatch) -> str:
    """Return the words for an error without leaps; empty where nothing leaps."""
    return "" if match.calm is None else " without its leaps"


def _write_error(off: float) -> str:
    percent = 100 * off
    return f"{percent:,.0f} %" if percent >= 100 else f"{round(percent, 2):.3g} %"


def describe_shift(best: FittedStrategy) -> str:
    """Return the difference in time and the low-pass of a match; empty without both."""
    words = ""
    if abs(best.shift) > SAME_TIME:
        words += f", {abs(best.shift) * 1e3:.0f} ms {'later' if best.shift > 0 else 'earlier'}"
    if best.constant:
        words += f", behind a low-pass of {best.constant * 1e3:.3g} ms"
    return words


def _describe_lag(lag: float) -> str:
    if abs(lag) < SAME_TIME:
        return "in time with"
    return f"{abs(lag) * 1e3:.0f} ms {'behind' if lag > 0 else 'ahead of'}"


def _describe_entities(one: EntityMatch) -> str:
    smoothing = f", low-pass of {one.constant * 1e3:.3g} ms" if one.constant else ""
    late = "" if math.isnan(one.lag) else f", {_describe_lag(one.lag)} the packets"
    return f"{one.entity or 'unnamed'}: off by {_write_error(one.off)} of a step{late}{smoothing}."
