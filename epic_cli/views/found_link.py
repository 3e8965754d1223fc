"""The network that a recording shows, in words and as a command that does the like."""

from __future__ import annotations

import shlex

from epic_cli.analysis.diagnosis.link.found import FoundLink
from epic_cli.network.conditions import PERFECT
from epic_cli.network.loss import GilbertElliott
from epic_cli.network.words import differences
from epic_cli.views.diagnosis import seconds, share

#: How figures are written; the rest as it is.
_TIMES, _SHARES = ("latency", "jitter"), ("loss", "duplicate", "reorder")

_LOSSES = {
    "numbers": "lost packets are those whose sequence numbers are missing",
    "stamps": "there are no sequence numbers: packets whose stamps are missing from regular ones"
    " count as lost",
    "unknown": "there are no sequence numbers, and stamps are not regular: losses are not known",
}
_ZEROS = {
    "clocks": "delays are arrivals less stamps, as if both clocks were one",
    "least": "the two clocks are not one: the fastest packet counts as one without delay",
    "jumped": "packets that jumped the queue count as ones without delay",
}


def link_options(link: FoundLink) -> str:
    """The options with which ``epic simulate`` does the like."""
    return " ".join(_option(name, value) for name, value in differences(PERFECT, link.conditions))


def _option(name: str, value: object) -> str:
    option = f"--{name.replace('_', '-')}"
    if value is True:
        return option
    if isinstance(value, GilbertElliott):
        return f"{option} {share(value.p)},{share(value.r)}"
    if isinstance(value, float):
        text = {True: f"{value * 1e3:.4g}ms", False: share(value)}[name in _TIMES]
        return f"{option} {text if name in (*_TIMES, *_SHARES) else f'{value:g}'}"
    return f"{option} {value}"


def link_story(link: FoundLink, path: str) -> str:
    """What is in the trace, the commands that replay it, and what the figures rest on."""
    timing = f"--send-rate {link.rate:g} --duration {link.duration:.4g}"
    lines = [
        f"{path}: {len(link.trace.times):,} packets sent in {seconds(link.duration)},"
        f" {link.lost:,} of them lost",
        f"the same packet by packet: epic simulate --trace {shlex.quote(path)} {timing}",
        " ".join(f"in words: epic simulate {link_options(link)} {timing}".split()),
    ]
    if link.misfit > 0.0005:
        lines.append(f"the words' delays are {seconds(link.misfit)} off (RMS of the quantiles)")
    lines += [_LOSSES[link.losses], _ZEROS[link.zero]]
    if link.drift:
        drift = f"{-link.drift * 1e6:.3g}"
        lines.append(f"the clocks' drift is left out; it is --clock-drift {drift}")
    if link.conditions.duplicate:
        lines.append("copies are in the words, not in the trace")
    return "".join(f"{line}\n" for line in lines)
