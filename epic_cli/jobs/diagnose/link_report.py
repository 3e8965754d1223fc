"""The network that a recording shows, in words and as a command that simulates it."""

from __future__ import annotations

import shlex

from epic_cli.jobs.diagnose.link.found import FoundLink
from epic_cli.metrics.digits import seconds, share
from epic_cli.network.link import PERFECT, GilbertElliott
from epic_cli.network.link_spec import differences

#: How figures are written; the rest as it is.
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


def link_options(link: FoundLink) -> str:
    """The options with which ``epic simulate`` makes a network like it."""
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
        f"packet by packet: epic simulate --trace {shlex.quote(path)} {timing}",
        " ".join(f"as parameters: epic simulate {link_options(link)} {timing}".split()),
    ]
    if link.misfit > 0.0005:
        off = seconds(link.misfit)
        lines.append(f"the parameters' delays are {off} off (RMS of the quantiles)")
    lines += [_LOSSES[link.losses], _ZEROS[link.zero]]
    if link.drift:
        drift = f"{-link.drift * 1e6:.3g}"
        lines.append(f"clock drift is left out; add --clock-drift {drift}")
    if link.conditions.duplicate:
        lines.append("duplicates are in the parameters, not in the trace")
    return "".join(f"{line}\n" for line in lines)
