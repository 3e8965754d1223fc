"""What programs that probe a network write: irtt's JSON, RIPE Atlas' ping results, and ping."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from epic_cli.recordings.tables import TableRefusal
from epic_cli.recordings.wording import Problem

if TYPE_CHECKING:
    from epic_cli.network.link import Way

#: Bytes at the beginning that say which it is.
HEAD = 8192

#: More replies that are missing in a row are a counter that was set.
MOST_MISSING = 1000

#: Seconds between packets where nothing says when they were sent: what ping and Atlas do.
USUAL = 1.0

#: Bytes of a line that are shown.
_SHOWN = 200

_BETWEEN = re.compile(r"[\s,]*")

#: What a line of ping is like, for refusals.
REPLY = "as: 64 bytes from 192.0.2.1: icmp_seq=1 ttl=64 time=9.12 ms"

#: What lines of ping have.
_STAMP = re.compile(r"\[(\d+\.\d+)\] ")
_NUMBER = re.compile(r"seq[= ](\d+)")
_TIME = re.compile(r"[=<] ?(\d+(?:[.,]\d+)?) ?ms\b")
_SUMMARY = re.compile(r"(\d+) packets transmitted(?:.*\btime (\d+) ?ms)?")


class Sent(NamedTuple):
    """A packet of a flow: when it was sent (s; None: unknown), its delay (s; None: lost)."""

    flow: str
    time: float | None
    delay: float | None


class Probe(NamedTuple):
    """A program: what its file ``begins`` with, and what ``reads`` the text.

    That gives the packets, and which figures their delays are.
    """

    name: str
    begins: re.Pattern[str]
    reads: Callable[[str, Way], tuple[list[Sent], str]]


def _refused(text: str, place: int, what: str, expected: str) -> TableRefusal:
    begin = text.rfind("\n", 0, place) + 1
    shown = max(begin, place - _SHOWN)
    line = text[shown : place + _SHOWN].partition("\n")[0].encode()
    number = text.count("\n", 0, place) + 1
    caret = len(text[shown:place].encode())
    return TableRefusal(Problem(number, place - begin + 1, line, caret, what, expected))


def _objects(text: str, place: int = 0) -> Iterator[tuple[int, dict[str, Any]]]:
    """The objects of an array that begins there, or one behind the other, and where they begin."""
    decoder, array = json.JSONDecoder(), text[place:].lstrip()[:1] == "["
    place = text.index("[", place) + 1 if array else place
    while (place := _BETWEEN.match(text, place).end()) < len(text):  # type: ignore[union-attr]
        if array and text[place] == "]":
            return
        try:
            one, end = decoder.raw_decode(text, place)
        except (ValueError, RecursionError):
            raise _refused(text, place, "this is cut off, or no JSON", "a whole object") from None
        if not isinstance(one, dict):
            raise _refused(text, place, "this is no object", "{...} for each result")
        yield place, one
        place = end
    if array:
        raise _refused(text, place, "the file is cut off here", "] behind the last result")


def _irtt(text: str, direction: Way) -> tuple[list[Sent], str]:
    """``irtt client -o``: doc/irtt-client.md of irtt 0.9.1, JSON format 1; in nanoseconds."""
    key = text.find('"round_trips"')
    begin = text.find("[", key)
    if min(key, begin) < 0:
        raise _refused(text, len(text), "the file is cut off here", "round_trips")
    way, here = ("receive", "true_down") if direction == "down" else ("send", "true_up")
    trips = []
    for place, one in _objects(text, begin):
        try:
            sent, delay = one["timestamps"]["client"]["send"], one.get("delay") or {}
            at, lost = sent.get("monotonic", sent.get("wall")), str(one["lost"]).lower()
            if lost not in ("false", "true", here):
                continue  # on the other way
            rtt = None if lost != "false" else float(delay["rtt"])
            trips.append((int(at), rtt, math.nan if rtt is None else float(delay.get(way, "nan"))))
        except (KeyError, TypeError, ValueError, AttributeError):
            what = "this is no round trip of irtt"
            raise _refused(text, place, what, "seqno, lost, timestamps and delay") from None
    arrived = [(rtt, one) for _, rtt, one in trips if rtt is not None]
    # clocks that do not agree make one of the ways negative
    known = all(0 <= one <= rtt for rtt, one in arrived)
    first = min((at for at, _, _ in trips), default=0)
    found = [
        Sent("", (at - first) / 1e9, None if rtt is None else (one if known else rtt / 2) / 1e9)
        for at, rtt, one in trips
    ]
    return found, f"delay.{way}" if known else "half of delay.rtt"


def _atlas(text: str, direction: Way) -> tuple[list[Sent], str]:
    """Results of RIPE Atlas' ping: "Measurement Result Format", version 4400 to 5000."""
    del direction
    found = []
    for place, one in _objects(text):
        if one.get("type", "ping") != "ping":
            raise _refused(text, place, f"this is a {one['type']}", "results of type ping")
        try:
            flow, number = f"{one['msm_id']}/{one['prb_id']}", 0
            for each in one["result"]:
                if "dup" not in each and not {"rtt", "x", "error"}.isdisjoint(each):
                    delay = float(each["rtt"]) / 2000 if "rtt" in each else None
                    found.append(Sent(flow, float(one["timestamp"]) + USUAL * number, delay))
                    number += 1
        except (KeyError, TypeError, ValueError):
            what = "this is no ping result of RIPE Atlas"
            raise _refused(text, place, what, "msm_id, prb_id, timestamp and result") from None
    return found, "half of rtt; MEASUREMENT/PROBE are the flows"


def _ping(text: str, direction: Way) -> tuple[list[Sent], str]:
    """What ``ping`` of Linux (-D, -O), BusyBox, macOS and the BSDs prints."""
    del direction
    replies: dict[int, Sent] = {}
    last, place, every, end, stamped = -1, 0, USUAL, 0, False
    for line in text.splitlines(keepends=True):
        number, time, stamp = _NUMBER.search(line), _TIME.search(line), _STAMP.match(line)
        if "bytes from" in line and not (number and time):
            raise _refused(text, place, "this reply has no time", REPLY)
        if number:
            # it has 16 bits
            at = int(number[1]) + 65536 * round((last - int(number[1])) / 65536)
            last = max(last, at)
            if time and at not in replies:
                took = _milliseconds(time) / 1000
                stamped |= stamp is not None
                replies[at] = Sent("", float(stamp[1]) - took if stamp else None, took / 2)
        elif replies and (summary := _SUMMARY.search(line)):
            count = int(summary[1])
            end = min(min(replies) + count, last + 1 + MOST_MISSING)
            every = float(summary[2] or 0) / 1000 / max(count - 1, 1) or every
        place += len(line)
    found, before = [], min(replies, default=0)
    for at in (*sorted(replies), max(last + 1, end)):
        missing = at - before if at - before <= MOST_MISSING else 0
        found += [Sent("", None, None)] * missing
        found += [replies[at]] if at in replies else []
        before = at + 1
    words = "half of time="
    if not stamped:
        words += f"; sent every {every:.4g} s, as nothing says when (ping -D does)"
        found = [one._replace(time=every * place) for place, one in enumerate(found)]
    return found, words


def _windows(text: str, direction: Way) -> tuple[list[Sent], str]:
    """What ``ping`` of Windows prints, in any language: a line for each packet."""
    del direction
    header = re.search(r"^.*:[ \r]*$", text, re.MULTILINE)
    found: list[Sent] = []
    for line in text[header.end() if header else 0 :].strip("\r\n").splitlines():
        if not line.strip():
            break  # behind it are statistics
        time = _TIME.search(line)
        found.append(Sent("", USUAL * len(found), _milliseconds(time) / 2000 if time else None))
    return found, f"half of time=; sent every {USUAL:g} s, as nothing says when"


def _milliseconds(time: re.Match[str]) -> float:
    value = float(time[1].replace(",", "."))
    return value / 2 if "<" in time[0] else value


PROBES = (
    Probe("irtt's JSON", re.compile(r'\A\s*\{\s*"version"\s*:\s*\{\s*"irtt"'), _irtt),
    Probe("results of RIPE Atlas", re.compile(r'\A\s*\[?\s*\{[^\0]*?"prb_id"\s*:'), _atlas),
    Probe("what ping printed", re.compile(r"(?m)^PING \S+|^.*\d+ bytes from .*seq[= ]\d"), _ping),
    Probe("what ping printed", re.compile(r"(?m)\A\s*Pinging |^.*[=<]\d+ ?ms TTL=\d"), _windows),
)


def probe_of(head: str) -> Probe | None:
    """Which program wrote what begins like this; None: none of these."""
    return next((probe for probe in PROBES if probe.begins.search(head)), None)


def sent(probe: Probe, text: str, direction: Way) -> tuple[list[Sent], str]:
    """The packets by the time at which they were sent, and which figures their delays are.

    Raises ``TableRefusal`` where the text is cut off or is something else.
    """
    begin = text.rstrip(" ").rfind("\n") + 1
    end = text[begin:]
    if probe.name.endswith("printed") and end.strip() and not (_TIME.search(end) or "= " in end):
        raise _refused(text, begin, "the file is cut off here", REPLY)
    found, words = probe.reads(text, direction)
    if all(packet.time is not None for packet in found):
        found.sort(key=lambda packet: packet.time or 0.0)
    return found, words
