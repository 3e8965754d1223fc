"""What a difference looks like, in words: its pattern, other options, and what the packets did."""

from __future__ import annotations

import math
from collections.abc import Callable

from epic_cli.engine.replay.playback import Timing
from epic_cli.jobs.check.differences import Diagnosis, Pattern
from epic_cli.jobs.check.outcome import Circumstance, Kind
from epic_cli.metrics.digits import amount, counted, verb


def diagnosis_words(one: Diagnosis) -> str:
    """What a difference looks like, with the figures that this rests on."""
    said = _WORDS[one.pattern]
    return said if isinstance(said, str) else said(one)


def _precision_words(one: Diagnosis) -> str:
    share = f"{one.count:,} of the {one.total:,} numbers that differ"
    if one.pattern is Pattern.DOUBLE:
        words = f"it computes in double precision instead of single: {share} have more digits"
    else:
        words = f"it computes in single precision instead of double: {share} have fewer digits"
    if one.more:
        rows = counted(one.more, "row")
        are = verb(one.more, "is", "are")
        words += (
            f"; that tips a comparison, so that {rows} {are} off by more than rounding from"
            f" {one.time:g} s on"
        )
    return words


def _factor_words(one: Diagnosis) -> str:
    off = abs(one.amount - 1)
    digits = max(6, 1 - math.floor(math.log10(off))) if off else 6
    factor = f"{one.amount:.{digits}f}".rstrip("0").rstrip(".")
    is_are = "is" if one.what == "everything" else "are"
    return f"{one.what} {is_are} {factor} times the expected value"


def _rows(one: Diagnosis) -> str:
    return f"in {one.count} of {counted(one.total, 'row')}"


def _status(one: Diagnosis) -> str:
    kind = f", {one.what}" if one.what else ""
    return f"only the status differs{kind}, {_rows(one)}; all numbers are the same"


def _shifted(one: Diagnosis) -> str:
    ticks, when = abs(int(one.amount)), "late" if one.amount > 0 else "early"
    return f"everything is drawn {counted(ticks, 'tick')} ({one.what} s) {when}"


def _times(one: Diagnosis) -> str:
    when = "later" if one.amount > 0 else "earlier"
    return f"all times are {amount(one.amount)} s {when}, and the rest is the same"


def _offset(one: Diagnosis) -> str:
    more = "more" if one.amount > 0 else "less"
    return f"{one.what} is {amount(one.amount)} {more} throughout"


def _at_first(one: Diagnosis) -> str:
    first = f"in the first {counted(one.count, 'row')} that {verb(one.count, 'differ')}"
    return f"{_factor_words(one)} {first}, more than rounding explains; later errors feed back"


_WORDS: dict[Pattern, str | Callable[[Diagnosis], str]] = {
    Pattern.STATUS: _status,
    Pattern.ENDS_EARLY: lambda one: f"it ends early: nothing from {one.time:g} s on",
    Pattern.BEGINS_LATE: lambda one: f"it begins late: nothing up to {one.time:g} s",
    Pattern.GOES_ON: lambda one: f"it goes on after the expected end, from {one.time:g} s on",
    Pattern.BEGINS_EARLY: lambda one: (
        f"it begins early: rows up to {one.time:g} s where none are expected"
    ),
    Pattern.SHIFTED: _shifted,
    Pattern.TIMES: _times,
    Pattern.CLOCK: lambda one: (
        f"the clock drifts, by {amount(one.amount)} s up to the last row, and the rest is the same:"
        " times are added up in another precision"
    ),
    Pattern.AXES: lambda one: f"axes are mixed up: {one.what}",
    Pattern.FACTOR: lambda one: f"{_factor_words(one)}, more than rounding explains",
    Pattern.FACTOR_AT_FIRST: _at_first,
    Pattern.OFFSET: _offset,
    Pattern.DOUBLE: _precision_words,
    Pattern.SINGLE: _precision_words,
    Pattern.FEW_DIGITS: (
        "the numbers are the same in single precision, but are printed with too few digits: print"
        " them as doubles, with %.17g"
    ),
    Pattern.LAST_DIGIT: lambda one: (
        f"rounding: no more than the last digit that is printed, {_rows(one)}"
    ),
    Pattern.PRECISION: lambda one: (
        f"rounding: no more than {one.amount:.1g} of the numbers' size, as arithmetic in another"
        " order or precision makes it"
    ),
    Pattern.GROWING: lambda one: f"the deviation grows, by about {amount(one.amount)} a second",
    Pattern.BEGINS_AT: lambda one: (
        f"equal (but for rounding) up to {one.time:g} s, and hardly anywhere after that"
    ),
    Pattern.SCATTERED: lambda one: f"scattered, {_rows(one)}, the first time at {one.time:g} s",
    Pattern.NONE: lambda one: f"none known, {_rows(one)}",
}


def timing_words(timing: Timing) -> str:
    """With which options the rows of a port would be the expected ones."""
    return (
        f"these are the rows of --pacing {timing.pacing} --clock {timing.clock}: give epic these"
        " options, or draw as EPIC_PACING and EPIC_CLOCK say"
    )


def circumstance_words(one: Circumstance) -> str:
    """What the packets did just before the first row that differs."""
    packet = f"the packet of {one.time:g} s"
    words = {
        Kind.FIRST: f"{packet}, the first",
        Kind.SECOND: f"{packet}, the second: the send interval is known from here on",
        Kind.LATE: f"{packet} arrives late, {amount(one.amount)} s older than the newest",
        Kind.SAME_STAMP: f"{packet} has the timestamp of the one before",
        Kind.MANY: f"{one.amount:.0f} packets arrive in one row",
        Kind.AFTER_SILENCE: f"{packet} arrives after {amount(one.amount)} s without any",
        Kind.SILENCE: f"no packet for {amount(one.amount)} s",
        Kind.JUMP: f"{packet} is {amount(one.amount)} units off, further than velocities explain",
    }
    return words[one.kind]
