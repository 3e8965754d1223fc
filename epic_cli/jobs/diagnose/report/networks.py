"""The network of a recording in sentences, and as options."""

from __future__ import annotations

import shlex

from epic_cli.engine import description
from epic_cli.engine.text.widths import printable
from epic_cli.jobs.diagnose.detectors.network.clock_drift import USUAL
from epic_cli.jobs.diagnose.link import FoundLink
from epic_cli.metrics.digits import (
    format_count,
    format_number,
    format_option_share,
    format_seconds,
)
from epic_cli.metrics.traffic import SEVERAL, SHARES, Network
from epic_cli.network.link import PERFECT, GilbertElliott, are_clocks_apart
from epic_cli.network.link_spec import find_word_parameter, list_differences

#: A longer median delay (s) may as well be clocks that do not begin together.
DOUBTFUL = 0.4

#: A delay is shorter than another if it is less than this share of that.
SHORTER = 0.9


def describe_network(network: Network, advised: float | None = None) -> str:
    """Return send rate, network delay, and the delay that a buffer needs, in a sentence.

    ``advised`` is the delay (s) of the buffer that draws better, if there is one.
    """
    middle = format_seconds(network.middle)
    delay = "clocks that differ" if are_clocks_apart(network.middle) else f"median delay {middle}"
    if delay.endswith(middle) and network.middle - network.spread > DOUBTFUL:
        delay += " unless the clocks differ"
    if not network.middle and not network.spread:
        delay = "stamped on arrival, so that delays are not known"
    needed = network.needed[SHARES.index(0.99)]
    shorter = advised is not None and advised < SHORTER * needed
    fewer = "; the one above, chosen by what it draws and how late, has fewer" if shorter else ""
    rate = f"{format_number(network.rate)} messages a second"
    if network.change is not None:
        at, before, after = network.change
        each = " of each entity" if network.rate > SEVERAL * network.entity_rate else ""
        rate = f"{format_number(before)} messages a second{each}, and {format_number(after)} from"
        rate += f" {at:.4g} s on"
    elif network.rate > SEVERAL * network.entity_rate:
        rate += f", {format_number(network.entity_rate)} of each entity"
    return (
        f"{rate}, {delay}; a delay buffer of"
        f" {format_seconds(needed)} behind the fastest packet has 99 % of them in time{fewer}."
    )


def describe_network_details(network: Network) -> str:
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


def describe_unseen_drift(least: float, length: float) -> list[str]:
    """Return the drift (s/s) that cannot be excluded, and a recording length that would show it."""
    if not least > USUAL:
        return []
    return [
        f"A clock drift below {format_number(least * 1e6)} ppm does not show in so short a"
        " recording;"
        f" {format_number(USUAL * 1e6)} ppm would in {format_seconds(length)}."
    ]


#: Parameters that are written as times and as shares.
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


def write_link_option(link: FoundLink) -> str:
    """Return the ``--link`` option for a similar network."""
    words = list_differences(PERFECT, link.conditions)
    return description.write((name, _write_parameter(name, value)) for name, value in words)


def _write_parameter(name: str, value: object) -> str:
    if isinstance(value, GilbertElliott):
        return f"{format_option_share(value.p)},{format_option_share(value.r)}"
    if isinstance(value, float):
        if name in _TIMES:
            return f"{value * 1e3:.4g}ms"
        return format_option_share(value) if name in _SHARES else f"{value:g}"
    return find_word_parameter(name).write(value)


def describe_link(link: FoundLink, path: str) -> str:
    """Return the contents of the trace, commands that replay it, and the basis of its values."""
    timing = f"--send {link.rate:g}hz --movement circle,duration={link.duration:.4g}"
    network, found = description.write([("trace", path)]), write_link_option(link)
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
