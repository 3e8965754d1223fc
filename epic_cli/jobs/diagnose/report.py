"""A diagnosis as a report: findings worst first, the network, what could not be checked."""

from __future__ import annotations

import math
import shlex
from collections.abc import Mapping, Sequence
from typing import Any

from epic_cli.engine import description
from epic_cli.engine.replay.strategy_spec import StrategySpec, write_spec
from epic_cli.engine.strategies import declaration
from epic_cli.engine.strategies.systems import find_system
from epic_cli.engine.text.widths import printable
from epic_cli.jobs.diagnose.cures import CureTrial, write_option
from epic_cli.jobs.diagnose.cures.drawing import GUESSES, Drawback, used_values
from epic_cli.jobs.diagnose.detectors import Detector, Finding, find_detector
from epic_cli.jobs.diagnose.detectors.network.clock_drift import USUAL
from epic_cli.jobs.diagnose.drawn import DrawnMatch, EntityMatch
from epic_cli.jobs.diagnose.link import FoundLink
from epic_cli.jobs.diagnose.mechanism import Mechanism
from epic_cli.jobs.diagnose.mechanism.supply import in_seconds
from epic_cli.jobs.diagnose.redraw import FittedStrategy
from epic_cli.jobs.diagnose.run import Diagnosis
from epic_cli.metrics.digits import (
    format_count,
    format_number,
    format_seconds,
    format_share,
    format_three_digits,
    join_words,
    replace_unknown,
)
from epic_cli.metrics.traffic import SHARES, Network
from epic_cli.network.link import PERFECT, GilbertElliott, are_clocks_apart
from epic_cli.network.link_spec import find_word_parameter, list_differences
from epic_cli.recordings.findings import RecordingFinding, describe_limits, sort_findings
from epic_cli.recordings.wording import FrontEnd
from epic_cli.show import report as model

#: Seconds before and after a moment that are worth a look.
_AROUND = 1.0


def report(name: str, found: Diagnosis) -> model.Report:
    """Return the report of a diagnosis.

    Causes with evidence and remedies, and the network's statistics. The effect of each cause, where
    it shows, and the rule that found it belong to the method.
    """
    drawn = found.drawn is not None
    parts: list[model.Part] = [_describe_doubts(found)] if found.doubts else []
    title = _describe_amount(name, found)
    if found.drawn is not None:  # what was asked for comes first
        parts += ["\n".join(drawn_words(found.drawn)), title]
        title = f"{name}: what the game drew"
    parts += (_make_finding(each, drawn) for each in found.findings)
    if not (found.findings or drawn or found.doubts):
        parts.append(_ONLY_PACKETS)
    method = [*_describe_unseen_drift(*found.unseen)]
    if found.network is not None:
        parts.append(_describe_network(found.network))
        method.insert(0, _describe_network_details(found.network))

    def records() -> list[model.Record]:
        return _make_records(name, found)

    return model.Report(
        title=title,
        parts=parts,
        notes=[
            *_describe_unchecked_causes(found.unable),
            *describe_limits(found.in_recording),
            *map(str, found.left_out),
        ],
        method=method,
        data=model.Data(records=records),
    )


def _make_finding(finding: Finding, drawn: bool) -> model.ReportFinding:
    detector = find_detector(finding.cause)
    method = [
        ("effect", sentence(detector.effect, finding)),
        ("also explains", "; ".join(find_detector(o.cause).title for o in finding.consequences)),
        ("when", _describe_moments(finding)),
        ("compared", _describe_comparison(finding, drawn)),
        ("measured", f"{detector.statistic}."),
        ("reported if", f"{detector.threshold}."),
        ("source", f"{detector.source}."),
    ]
    places = (("first", finding.first), ("worst", finding.worst))
    return model.ReportFinding(
        detector.title,
        sentence(detector.says, finding),
        _list_cure_terms(finding, drawn),
        finding.entities,
        [(name, at) for name, at in places if at is not None],
        [(name, text) for name, text in method if text],
    )


def _make_records(name: str, found: Diagnosis) -> list[model.Record]:
    """Return a record for each finding, and a record for the game's drawing if it was examined."""
    records: list[model.Record] = []
    if found.doubts:
        doubtful = [finding.record() for finding in _list_grave_findings(found)]
        records.append({"recording": name, "in_doubt": doubtful})
    drawn = found.drawn is not None
    records += (_make_record(name, each, drawn) for each in found.findings)
    if found.drawn is not None:
        records.append({"recording": name, "drawn": drawn_record(found.drawn)})
    return records


def _make_record(recording: str, finding: Finding, drawn: bool) -> dict[str, Any]:
    detector = find_detector(finding.cause)
    return {
        "recording": recording,
        "cause": finding.cause,
        "title": detector.title,
        "share": finding.share,
        "statistic": finding.statistic,
        "threshold": finding.threshold,
        "first": finding.first,
        "worst": finding.worst,
        "entities": list(finding.entities),
        "values": dict(finding.values),
        "what": sentence(detector.says, finding),
        "effect": sentence(detector.effect, finding),
        "cure": cure_words(finding, drawn),
        "trial": None if finding.trial is None else finding.trial.record,
        "consequences": [consequence.cause for consequence in finding.consequences],
    }


# ---------------------------------------------------------------- sentences


class _WrittenValue:
    """A value that a sentence formats as seconds, as a share, as a number, or as a count.

    The word for a count is what is counted.
    """

    def __init__(self, value: float | str) -> None:
        self._value = value

    def __format__(self, kind: str) -> str:
        if isinstance(self._value, str):
            return self._value
        ways = {
            "s": format_seconds,
            "share": format_share,
            "number": format_number,
            "": format_number,
        }
        return ways[kind](self._value) if kind in ways else format_count(round(self._value), kind)


class _WrittenValues(dict[str, _WrittenValue]):
    """Values by name; a value that a custom detector lacks is written as its name in braces."""

    def __missing__(self, name: str) -> _WrittenValue:
        """Return the name in braces, as it stands in the sentence."""
        return _WrittenValue(f"{{{name}}}")


def sentence(template: str, finding: Finding) -> str:
    """Fill a detector's sentence with the finding's values."""
    return _fill_template(template, finding.values)


def _fill_template(template: str, values: Mapping[str, float | str]) -> str:
    return template.format_map(
        _WrittenValues({one: _WrittenValue(value) for one, value in values.items()})
    )


def cure_words(finding: Finding, drawn: bool = False) -> str:
    """Return the remedy of a finding, and what its trial on this recording gains and costs.

    Where the game's drawing is known, a remedy that draws is that of the drawing.
    """
    words, trial, remedy = _get_general_cure(finding), finding.trial, finding.remedy
    if remedy is None:
        return f"{words} (Not tried on this recording.)" if words else ""
    draws = remedy.drawing is not None and remedy.packets is None
    if drawn and draws:
        return (
            _NO_GAIN.format(remedy.command)
            if trial is None
            else (f"Draw with {trial.command}: {trial.words}.")
        )
    if trial is not None:
        return f"{words} Tried here with {trial.command}: {trial.words}."
    return _NO_GAIN.format(remedy.command)


_NO_GAIN = "None helps here. Tried without gain: {}."


def _list_cure_terms(finding: Finding, drawn: bool) -> list[tuple[str, str]]:
    """Return the remedy of a finding as terms: the advice, the tried command, the gain."""
    trial, remedy = finding.trial, finding.remedy
    if trial is None or remedy is None:
        words = cure_words(finding, drawn)
        return [("cure", words)] if words else []
    draws = remedy.drawing is not None and remedy.packets is None
    terms = [] if drawn and draws else [("cure", _get_general_cure(finding))]
    return [*terms, ("try", trial.command), ("gain", f"{trial.words}.")]


def _get_general_cure(finding: Finding) -> str:
    """Return the detector's advice against a cause."""
    return sentence(find_detector(finding.cause).cure, finding)


def _describe_comparison(finding: Finding, drawn: bool) -> str:
    """Return what the remedies were compared with; empty if no remedy was tried."""
    remedy = finding.remedy
    if remedy is None:
        return ""
    if remedy.against is None:
        return "with what the game drew." if drawn else ""
    kept = " on both sides, the packets as they are on one" if remedy.drawing is None else ""
    return f"with {write_option(remedy.against)}{kept}."


#: What to do where nothing is wrong with the packets.
_ONLY_PACKETS = (
    "Only the packets were looked at. To judge what the game draws of them, log its frames and add"
    " --drawn FRAMES."
)


def _describe_amount(name: str, found: Diagnosis) -> str:
    """Return the number of findings, and the amount of data."""
    count = len(found.findings)
    words = format_count(count, "finding") if count else "nothing wrong found"
    if found.drawn is not None:  # what the game drew may be wrong all the same
        words, name = f"{words} in the traffic", "The packets"
    if found.doubts:  # how it is read decides what is found
        words = "the input is in doubt"
    return (
        f"{name}: {words} ({format_count(found.packets, 'packet')} in"
        f" {format_seconds(found.duration)})"
    )


def _list_grave_findings(found: Diagnosis) -> list[RecordingFinding]:
    """Return the findings that make the whole diagnosis doubtful, gravest first."""
    return [finding for finding in sort_findings(found.in_recording) if finding.is_error]


def _describe_doubts(found: Diagnosis) -> str:
    """Return the errors of the input and their remedies, one paragraph for each error."""
    said = [
        f"{finding.write_words(FrontEnd.COMMAND_LINE)}." for finding in _list_grave_findings(found)
    ]
    return "\n".join([*said, "What follows is of the recording as it was read."])


def _describe_moments(finding: Finding) -> str:
    """Return the first and the worst time of a finding, with the ``--span`` to look at.

    Empty: it is everywhere.
    """
    if finding.worst is None:
        return ""
    span = f"{max(finding.worst - _AROUND, 0):.2f}:{finding.worst + _AROUND:.2f}"
    begins = "" if finding.first is None else f"first at {finding.first:.2f} s, "
    return f"{begins}worst at {finding.worst:.2f} s (--span {span})"


def _describe_network(network: Network) -> str:
    """Return send rate, network delay, and the delay that a buffer needs, in a sentence."""
    middle = format_seconds(network.middle)
    delay = "clocks that differ" if are_clocks_apart(network.middle) else f"median delay {middle}"
    needed = format_seconds(network.needed[SHARES.index(0.99)])
    return (
        f"{network.rate:.3g} messages a second, {delay}; a delay buffer of {needed} has 99 % of"
        " them in time."
    )


def _describe_network_details(network: Network) -> str:
    """Return the spread of the delays, and the buffer delay for several shares of packets."""
    needs = [
        f"{format_seconds(delay)} for {of * 100:g} %"
        for of, delay in zip(SHARES, network.needed, strict=True)
    ]
    frames = ""
    if network.frame:
        frames = (
            f" The receiver reads once a frame ({1 / network.frame:.3g} Hz), so that packets wait"
            f" up to {format_seconds(network.frame)} for it."
        )
    return (
        f"Delays spread over {format_seconds(network.spread)} from 5 to 95 %. A delay buffer needs"
        f" {needs[0]} of the packets to be in time, {', '.join(needs[1:])}.{frames}"
    )


def _describe_unseen_drift(least: float, length: float) -> list[str]:
    """Return the drift (s/s) that cannot be excluded, and a recording length that would show it."""
    if not least > USUAL:
        return []
    return [
        f"A clock drift below {format_number(least * 1e6)} ppm does not show in so short a"
        " recording;"
        f" {format_number(USUAL * 1e6)} ppm would in {format_seconds(length)}."
    ]


def _describe_unchecked_causes(unable: Sequence[tuple[Detector, tuple[str, ...]]]) -> list[str]:
    """Return the causes that could not be checked, and the data that they need."""
    by_lack: dict[tuple[str, ...], list[str]] = {}
    for detector, lacking in unable:
        by_lack.setdefault(lacking, []).append(detector.name)
    return [
        f"Not checked (no {', no '.join(lack)}): {', '.join(names)}."
        for lack, names in by_lack.items()
    ]


#: Seconds; a smaller difference of clocks or delays is none.
SAME_TIME = 0.002


def strategy_options(found: StrategySpec, digits: int = 6) -> str:
    """Return the option that draws a strategy; its numbers have ``digits`` at most."""
    settings = {
        # a tick that is a little too long is at another time after a while
        key: float(f"{value:.{8 if key == 'every' else digits}g}")
        if isinstance(value, float)
        else value
        for key, value in found.settings.items()
    }
    return f"-s {write_spec(found.name, settings)}"


#: Digits of settings that come near, but do not draw the same.
_NEARLY = 3


def drawn_words(match: DrawnMatch) -> list[str]:
    """Return how the frames were drawn, and how to draw them better; a sentence for each entity."""
    found, advice = match.mechanism, match.advice
    words = _describe_engine_strategy(match) if found is None else mechanism_words(match, found)
    if match.by_frame:
        words.append("Packets are read by frames: replay with --pacing frame.")
    if advice.cure is not None:  # the command begins a line, so that it can be pasted
        words += [f"Better here: {advice.cure.words}:", advice.cure.command]
    return words + [f"- {drawback_words(each, advice.cure)}" for each in advice.drawbacks]


def _describe_engine_strategy(match: DrawnMatch) -> list[str]:
    """Return the engine's strategy that draws the frames, or the one with the least error."""
    best = match.best
    residual = f"residual {format_three_digits(best.residual)} (RMS)"
    left = f"{residual}, {_write_error(match.off)} of the usual step"
    options, behind = (
        strategy_options(best.candidate, 6 if match.found else _NEARLY),
        _describe_shift(best),
    )
    if match.found:
        own = declaration(best.candidate.name).summary
        nearly = "" if best.residual <= match.enough else " nearly"
        lines = [f"The game draws{nearly} what {options} draws{behind}: {left}. That is: {own}."]
        lines[0] += f" {_describe_alternatives(match)}".rstrip()
    else:
        lines = [
            f"Not understood: {_describe_error(match)}. Of all strategies and settings,"
            f" {options}{behind} comes nearest: {residual}."
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


#: The clocks of a buffer, in words that go after "by the sender's stamps".
_CLOCKS = {
    "agree": "",
    "first": ", with the clock offset of the first packet",
    "newest": ", with the clock offset of the newest packet",
    "min": ", with the clock offset of the fastest packet of {time}",
    "max": ", with the clock offset of the slowest packet of {time}",
    "mean": ", with the mean clock offset of {time}",
    "median": ", with the median clock offset of {time}",
    "pll": ", with a clock offset that a control loop follows",
}
_CURVES = {
    "linear": "in straight lines",
    "hermite": "on curves by the packets' velocities",
    "catmull-rom": "on curves through the packets",
}
_APPROACHES = {
    "exponential": "exponentially, with a time constant of {time}",
    "lerp": "by frame / {time} of the rest in each frame",
    "share": "by {share} of the rest in each frame",
    "spring": "as a spring (SmoothDamp) of {time}",
    "speed": "at {speed} a second",
    "interval": "within one send interval",
    "linear": "in a straight line over {time} from {begin}",
    "eased": "eased ({ease}) over {time} from {begin}",
    "growing": "by a share of the rest that grows from 0 to 1 over {time} from {begin}",
}
_BEGINS = {
    "last": "the frame before each arrival",
    "frame": "the frame after each arrival",
}
_AHEAD = {
    "newest": "the newest state",
    "velocity": "the newest state, predicted to now by its velocity,",
    "arrival": "the newest state, predicted by its velocity to when it arrived,",
    "step": "the newest state, predicted by its last step to when it arrived,",
    "interval": "the newest state, predicted by its velocity for one interval,",
    "fixed": "the newest state, predicted by its velocity for {ahead_time},",
}
_MEASURED = {
    -1.0: "the time between the last two packets",
    -2.0: "the time between the frames that took the last two packets",
    -3.0: "the time between the last two timestamps",
}
_FOLLOWS = {
    "exponential": "behind a low-pass of {time}",
    "lerp": "behind a step of frame / {time} of the rest in each frame",
    "share": "behind a step of {share} of the rest in each frame",
    "spring": "behind a spring (SmoothDamp) of {time}",
}


#: What the rest of a drawing goes with that is understood in part.
_RESTS = {
    "packets": " It moves only when a packet comes, and stands in between: advance its time in each"
    " frame.",
    "path": " What is left lies along its path: it is sooner or later than that.",
    "velocity": " What is left follows the packets' velocities.",
    "age": " What is left follows the packets' velocities, and grows until the next packet.",
}


def mechanism_words(match: DrawnMatch, found: Mechanism) -> list[str]:
    """Return the game's way of drawing in sentences."""
    settings = used_values(found.strategy)
    command = strategy_options(found.strategy, 6 if match.found else _NEARLY)
    rest = _RESTS.get(match.rest, "")
    if not match.like:
        return [f"Not understood: {_describe_error(match)}. Nearest: {command}.{rest}"]
    how = _describe_buffer if found.strategy.name == "buffer" else _describe_chase
    does = how(settings, found)
    if not match.found:
        nearest = "Probably" if match.likely else "Nearest:"
        return [f"Not understood: {_describe_error(match)}. {nearest} it {does}.{rest}", command]
    # the command begins a line, so that it can be pasted
    lines = [f"It {does}.", f"{command} ({'exact' if found.exact else _describe_error(match)})"]
    if same := _describe_alternatives(match):
        lines.append(same)
    lines += [
        f"{each.entity or 'unnamed'}: not understood, off by {_write_error(each.off)} of a step."
        for each in match.entities
        if not each.found
    ]
    return lines


def _describe_error(match: DrawnMatch) -> str:
    """Return the error of the best strategy in words."""
    return f"off by {_write_error(match.off)} of a step"


def _write_error(off: float) -> str:
    return f"{round(off * 100, 2):.3g} %"


def _describe_alternatives(match: DrawnMatch) -> str:
    """Return other compositions that draw the same frames; empty if there are none."""
    same = ", ".join(map(_write_alternative, match.same_as))
    lacking = () if match.mechanism is None else match.mechanism.lacking
    tell = (
        f" To tell which, log ten seconds with {join_words([_LACKING[word] for word in lacking])}."
    )
    return f"The same here: {same}.{tell if lacking else ''}" if same else ""


#: What a recording lacks that would tell compositions apart.
_LACKING = {
    "jitter": "50 ms of jitter",
    "frames": "frames of unequal length",
    "turns": "sharp turns",
}


def _write_alternative(spec: StrategySpec) -> str:
    """Return the option of a strategy; behind a system's title where it has the system's name."""
    option = strategy_options(spec)
    system = find_system(spec.name)
    return f"{system.title} ({option})" if system and system.is_composition else option


#: A buffer that keeps fewer states is short of them.
FEW_STATES = 10


def _describe_buffer(settings: dict[str, Any], found: Mechanism) -> str:
    over, supply = settings["clock_time"], found.supply
    time = "the whole session" if math.isinf(over) else f"the last {format_seconds(over)}"
    clock = _CLOCKS[settings["clock"]].format(time=time)
    if settings["clock"] == "mean" and settings["clock_share"]:
        part = format_share(settings["clock_share"])
        clock = f", with a mean clock offset that each packet moves by {part}"
    if settings["start"] == "last":
        clock += ", counted from the frame before each packet"
    stamps = {
        "sender": f"by the sender's stamps{clock}",
        "arrival": "over arrival times",
        "ticks": f"over a count of ticks{clock}",
    }[settings["stamps"]]
    beyond = settings["beyond"]
    beyond = beyond if beyond in _EMPTY else in_seconds(beyond, found.interval)
    frames = ""
    if supply is not None and supply.empty > 0:
        frames = f" ({min(supply.empty * 100, 99):.2g} % of the frames)"
    if beyond <= 0:
        after = f"{_EMPTY[beyond]} when the buffer is empty{frames}"
    else:
        far = "goes on" if math.isinf(beyond) else f"goes on for at most {format_seconds(beyond)}"
        after = f"{far} when the buffer is empty{frames}"
    delay, low_pass = settings["delay"], settings["low_pass"]
    behind = ""
    if low_pass or settings["follow"] == "share":
        part = format_share(settings["follow_share"])
        behind = (
            f", {_FOLLOWS[settings['follow']].format(time=format_seconds(low_pass), share=part)}"
        )
    if beyond > 0 and supply is not None and supply.empty > GUESSES:
        far = "" if math.isinf(beyond) else f", for at most {format_seconds(beyond)}"
        return f"predicts from the newest state, {stamps}{far}{behind}"
    late = format_seconds(in_seconds(delay, found.interval))
    if delay < 0:
        unit = _MEASURED.get(settings["interval"], "the send interval")
        late = f"{-delay:g} x {unit} ({late})"
    if margin := settings["jitter_margin"]:
        late += f" and {margin:.3g} x the jitter"
    if settings["keep"] < FEW_STATES:
        stamps += f" of the last {settings['keep']:g} states"
    curve = _CURVES[settings["curve"]]
    period = format_seconds(settings["interval"] if settings["interval"] > 0 else found.interval)
    if settings["catch_up"] == "queue":
        return (
            f"plays a queue of states {curve}, one each {period}, and never catches up"
            f"{behind}{_write_rounding(settings)}"
        )
    if settings["catch_up"] == "timer":
        return (
            f"goes over the newest interval {curve}, by a timer of its own that begins again each"
            f" {period}, not at packets{behind}{_write_rounding(settings)}"
        )
    catch_up = {
        "none": ", and never catches up after a hitch",
        "rate": ", and catches up at a rate",
    }.get(settings["catch_up"], "")
    return (
        f"draws from a buffer {stamps}, {late} late,"
        f" {curve}, and {after}{catch_up}{behind}{_write_rounding(settings)}"
    )


#: What a buffer does that does not go on beyond its newest state.
_EMPTY = {
    0.0: "holds",
    -2001.0: "freezes what was drawn last",
    -2002.0: "goes back to the oldest state",
    -2003.0: "holds the newest state, from which it goes on to the next,",
}


def _write_rounding(settings: Mapping[str, Any]) -> str:
    grid = settings["rounding"]
    return f", rounded to multiples of {grid:g}" if grid else ""


def _write_steps(settings: Mapping[str, Any]) -> str:
    """Return when a chase steps, where that is not in each frame."""
    every = settings["every"]
    if not every:
        return ""
    if every < 0:
        return ", once a packet"
    between = "on the line between the last two" if settings["between"] == "lerp" else "as they are"
    return f", in ticks of {format_seconds(every)}, drawn {between}"


def _describe_chase(settings: dict[str, Any], found: Mechanism) -> str:
    goal = _AHEAD[settings["ahead"]].format(ahead_time=format_seconds(settings["ahead_time"]))
    if settings["age"] == "arrival":
        goal = goal.replace("to now by its velocity", "by its velocity since it arrived")
    rest = f"{_write_steps(settings)}{_write_rounding(settings)}"
    if settings["how"] == "share" and settings["share"] == 1:
        return f"draws {goal} without any smoothing{rest}"
    time = format_seconds(in_seconds(settings["time"], found.interval))
    if settings["time"] < 0 and settings["interval"] in _MEASURED:
        time = _MEASURED[settings["interval"]]
    how = _APPROACHES[settings["how"]].format(
        time=time, share=format_share(settings["share"]),
        speed=f"{settings['speed']:.4g}", ease=settings["ease"],
        begin=_BEGINS.get(settings["start"], "each arrival"),
    )  # fmt: skip
    if settings["how"] == "interval" and "interval" in found.strategy.settings:
        own = settings["interval"]
        how = f"within {_MEASURED[own] if own in _MEASURED else format_seconds(own)}"
    if settings["start"] == "arrival" and settings["how"] in ("linear", "eased"):
        how += ", on from where that led until then"
    if settings["overshoot"] == "on" and settings["how"] == "spring":
        how += " that may pass it"
    if settings["snap_after"]:
        how += f", there at once after {format_seconds(settings['snap_after'])} without a packet"
    return f"moves toward {goal.rstrip(',')}, {how}{rest}"


#: The drawbacks of a drawing, by cause.
DRAWBACKS = {
    "no-smoothing": "It jumps with each packet.",
    "frame-rate": "It depends on the frame rate: {slow:s} behind at 30 frames a second, {fast:s} at"
    " 144.",
    "standing-frame": "It stands for a frame at each packet.",
    "early-arrival": "It takes {time:s} to each state, and they come every {interval:s}: it stands"
    " in between.",
    "wrong-interval": "It takes {time:s} to each state, and they come every {interval:s}: it never"
    " gets there.",
    "chase-lag": "It is about {time:s} behind its goal, and slows down before each.",
    "arrival-stamps": "It draws the network's jitter ({jitter:s} from 5 to 95 %) as changes of"
    " speed: use the sender's stamps.",
    "counted-ticks": "A count of ticks is shifted by each loss: use the sender's stamps.",
    "wandering-clock": "Its clock wanders by {jitter:s} (5 to 95 %), which shows as changes of"
    " speed.",
    "short-buffer": "Its delay covers {covered:share} of the frames here: {most} need {needed:s}.",
    "long-buffer": "Its delay is longer than this network needs: {most} need {needed:s}.",
    "growing-delay": "Its delay only grows, with each hitch: from {begun:s} to {grown:s} here.",
    "ticks": "It is drawn at ticks, not in each frame.",
    "packet-steps": "It moves only when a packet comes, every {interval:s}, and stands in between.",
    "measured-interval": "It takes the time between the last two packets, which varies by"
    " {jitter:s} (5 to 95 %) here, for the time to the next.",
    "two-in-a-frame": "{doubled:share} of the packets come with another one in the same frame:"
    " there the measured time is 0.",
    "overshoot": "It aims where the velocity leads in one interval: it overshoots at each turn and"
    " loss.",
    "fed-back": "Its growing share is applied to what is drawn: it arrives early, and stands until"
    " the next packet.",
    "wrong-constant": "It counts {time:s} for each packet, and they come every {interval:s}.",
    "oldest-state": "It jumps back to the oldest state when the buffer is empty.",
    "queue": "It plays a state each {time:s}, and they come every {interval:s}: what is late stays"
    " late.",
    "own-timer": "Its timer begins each {time:s} at no packet: it goes back when a packet comes"
    " before or after that.",
    "standing": "It stands in {held:share} of the frames in which the entity moves.",
    "second-smoothing": "A low-pass is on top of what is smooth by itself.",
    "low-pass": "Its low-pass adds {low_pass:s} of lag.",
    "long-extrapolation": "It extrapolates old packets for long, and is pulled back.",
}


def drawback_words(drawback: Drawback, cure: CureTrial | None) -> str:
    """Return a drawback of a drawing, and its own remedy unless the common remedy is the same."""
    words = _fill_template(DRAWBACKS[drawback.cause], drawback.values)
    own = drawback.trial
    if own is None or own == cure:
        return words
    return f"{words} With {own.command.removeprefix('-s ')} alone: {own.words}."


def _make_mechanism_record(match: DrawnMatch) -> dict[str, Any]:
    """Return the game's way of drawing as a record; None for unknown values."""
    found = match.mechanism
    settings: dict[str, Any] = {}
    spec, exact = match.best.candidate, match.best.residual <= match.enough
    interval, supply = math.nan, None
    if found is not None:
        settings, spec, exact = used_values(found.strategy), found.strategy, found.exact
        interval, supply = found.interval, found.supply
    if settings.get("stamps") == "arrival":
        settings["clock"] = None
    if settings.get("how") in ("share", "speed", "interval"):
        del settings["time"]
    beyond = settings.get("beyond")
    whole = found is not None or not _describe_shift(match.best)

    def span(name: str) -> float | None:
        return replace_unknown(in_seconds(settings[name], interval)) if name in settings else None

    return {
        "kind": None if found is None else spec.name,
        **{key: settings.get(key) for key in ("stamps", "clock", "curve", "catch_up", "how",
                                              "ahead", "snap")},
        "delay_s": span("delay"),
        "beyond_s": None if beyond is None else 0.0 if beyond in _EMPTY else span("beyond"),
        "low_pass_s": settings.get("low_pass"),
        "time_s": span("time"),
        "empty": None if supply is None else replace_unknown(supply.empty),
        "needed_s": None if supply is None else replace_unknown(supply.needed),
        "causes": [
            {
                "cause": each.cause,
                "words": drawback_words(each, match.advice.cure),
                "trial": each.trial and each.trial.record,
            }
            for each in match.advice.drawbacks
        ],
        "cure": match.advice.cure and match.advice.cure.record,
        "exact": exact,
        "pacing": {None: None, True: "frame", False: "arrival"}[match.by_frame],
        "command": strategy_options(spec) if whole else None,
        "same_as": [same.label for same in match.same_as],
        "lacking": [] if match.mechanism is None else list(match.mechanism.lacking),
    }  # fmt: skip


def _describe_shift(best: FittedStrategy) -> str:
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
    return (
        f"{one.entity or 'unnamed'}: residual {format_three_digits(one.residual)}{late}{smoothing}."
    )


def drawn_record(match: DrawnMatch) -> dict[str, Any]:
    """Return the match of a drawing as a record, in seconds and lengths."""
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


#: Figures that are written as times and as shares.
_TIMES, _SHARES = ("latency", "jitter"), ("loss", "duplicate", "reorder")

_LOSSES = {
    "numbers": "lost packets are those whose sequence numbers are missing",
    "stamps": "there are no sequence numbers: packets whose stamps are missing from regular ones"
    " count as lost",
    "unknown": "there are no sequence numbers, and stamps are not regular: losses are unknown",
}
_ZEROS = {
    "clocks": "delays are arrival minus stamp, as if both clocks were one",
    "least": "the clocks differ: the fastest packet counts as undelayed",
    "jumped": "packets that jumped the queue count as undelayed",
}


def link_description(link: FoundLink) -> str:
    """Return the ``--link`` option for a similar network."""
    words = list_differences(PERFECT, link.conditions)
    return description.write((name, _write_figure(name, value)) for name, value in words)


def _write_figure(name: str, value: object) -> str:
    if isinstance(value, GilbertElliott):
        return f"{format_share(value.p)},{format_share(value.r)}"
    if isinstance(value, float):
        if name in _TIMES:
            return f"{value * 1e3:.4g}ms"
        return format_share(value) if name in _SHARES else f"{value:g}"
    return find_word_parameter(name).write(value)


def link_story(link: FoundLink, path: str) -> str:
    """Return the contents of the trace, commands that replay it, and the basis of its values."""
    timing = f"--send {link.rate:g}hz --movement circle,duration={link.duration:.4g}"
    network, found = description.write([("trace", path)]), link_description(link)
    found = f"--link {shlex.quote(found)} " if found else ""
    lines = [
        f"{printable(path)}: {len(link.trace.times):,} packets sent in"
        f" {format_seconds(link.duration)},"
        f" {link.lost:,} of them lost",
        f"packet by packet: epic simulate --link {printable(shlex.quote(network))} {timing}",
        f"as parameters: epic simulate {found}{timing}",
    ]
    if link.misfit > 0.0005:
        off = format_seconds(link.misfit)
        lines.append(f"the parameters' delays are {off} off (RMS of the quantiles)")
    lines += [_LOSSES[link.losses], _ZEROS[link.zero]]
    if link.drift:
        drift = f"{-link.drift * 1e6:.3g}"
        lines.append(f"clock drift is left out; add --send clock_drift={drift}")
    if link.conditions.duplicate:
        lines.append("duplicates are in the parameters, not in the trace")
    if pauses := link.pauses:
        lines.append(
            f"nothing was sent for up to {format_seconds(max(pauses))}"
            f" ({format_count(len(pauses), 'pause')}), which is not the network's: to send as"
            " recorded, use --movement truth=RECORDING --send recorded"
        )
    return "".join(f"{line}\n" for line in lines)
