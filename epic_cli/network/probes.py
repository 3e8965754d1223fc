"""Readers of files of network probes: irtt's JSON, RIPE Atlas' ping results, and ping's output."""

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

#: Bytes of a file's beginning that identify its program.
HEAD = 8192

#: More missing replies in a row mean that the counter was set.
MOST_MISSING = 1000

#: Seconds between packets without times: the default of ping and Atlas.
USUAL = 1.0

#: Bytes of a line that are shown.
_SHOWN = 200

_BETWEEN = re.compile(r"[\s,]*")

#: An example line of ping, for refusals.
REPLY = "as: 64 bytes from 192.0.2.1: icmp_seq=1 ttl=64 time=9.12 ms"

#: Parts of lines of ping.
_STAMP = re.compile(r"\[(\d+\.\d+)\] ")
_NUMBER = re.compile(r"seq[= ](\d+)")
_TIME = re.compile(r"[=<] ?(\d+(?:[.,]\d+)?) ?ms\b")
_SUMMARY = re.compile(r"(\d+) packets transmitted(?:.*\btime (\d+) ?ms)?")


class Sent(NamedTuple):
    """A packet of a flow: its send time (s; None: unknown) and its delay (s; None: lost)."""

    flow: str
    time: float | None
    delay: float | None


class Probe(NamedTuple):
    """A probing program: ``begins`` matches the start of its files, ``reads`` parses the text.

    ``reads`` returns the packets, and the kind of delay that the file has.
    """

    name: str
    begins: re.Pattern[str]
    reads: Callable[[str, Way], tuple[list[Sent], str]]


def _make_refusal(text: str, place: int, what: str, expected: str) -> TableRefusal:
    begin = text.rfind("\n", 0, place) + 1
    shown = max(begin, place - _SHOWN)
    line = text[shown : place + _SHOWN].partition("\n")[0].encode()
    number = text.count("\n", 0, place) + 1
    caret = len(text[shown:place].encode())
    return TableRefusal(Problem(number, place - begin + 1, line, caret, what, expected))


def _iterate_objects(text: str, place: int = 0) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield each JSON object of an array or a sequence from ``place`` on, with its offset."""
    decoder, array = json.JSONDecoder(), text[place:].lstrip()[:1] == "["
    place = text.index("[", place) + 1 if array else place
    while (place := _BETWEEN.match(text, place).end()) < len(text):  # type: ignore[union-attr]
        if array and text[place] == "]":
            return
        try:
            one, end = decoder.raw_decode(text, place)
        except (ValueError, RecursionError):
            raise _make_refusal(
                text, place, "this is not a complete JSON object", "a whole object"
            ) from None
        if not isinstance(one, dict):
            raise _make_refusal(text, place, "this is not a JSON object", "{...} for each result")
        yield place, one
        place = end
    if array:
        raise _make_refusal(text, place, "the file is cut off here", "] behind the last result")


def _read_irtt(text: str, direction: Way) -> tuple[list[Sent], str]:
    """Parse the file of ``irtt client -o`` (doc/irtt-client.md of irtt 0.9.1, JSON format 1).

    Its times are in nanoseconds.
    """
    key = text.find('"round_trips"')
    begin = text.find("[", key)
    if min(key, begin) < 0:
        raise _make_refusal(text, len(text), "the file is cut off here", "round_trips")
    way, here = ("receive", "true_down") if direction == "down" else ("send", "true_up")
    trips = []
    for place, one in _iterate_objects(text, begin):
        try:
            sent, delay = one["timestamps"]["client"]["send"], one.get("delay") or {}
            at, lost = sent.get("monotonic", sent.get("wall")), str(one["lost"]).lower()
            if lost not in ("false", "true", here):
                continue  # on the other way
            rtt = None if lost != "false" else float(delay["rtt"])
            trips.append((int(at), rtt, math.nan if rtt is None else float(delay.get(way, "nan"))))
        except (KeyError, TypeError, ValueError, AttributeError):
            what = "this is no round trip of irtt"
            raise _make_refusal(text, place, what, "seqno, lost, timestamps and delay") from None
    arrived = [(rtt, one) for _, rtt, one in trips if rtt is not None]
    # clocks that do not agree make one of the ways negative
    known = all(0 <= one <= rtt for rtt, one in arrived)
    first = min((at for at, _, _ in trips), default=0)
    found = [
        Sent("", (at - first) / 1e9, None if rtt is None else (one if known else rtt / 2) / 1e9)
        for at, rtt, one in trips
    ]
    return found, f"delay.{way}" if known else "half of delay.rtt"


def _read_atlas(text: str, direction: Way) -> tuple[list[Sent], str]:
    """Parse results of RIPE Atlas' ping: "Measurement Result Format", version 4400 to 5000."""
    del direction
    found = []
    for place, one in _iterate_objects(text):
        if one.get("type", "ping") != "ping":
            raise _make_refusal(text, place, f"this is a {one['type']}", "results of type ping")
        try:
            flow, number = f"{one['msm_id']}/{one['prb_id']}", 0
            for each in one["result"]:
                if "dup" not in each and not {"rtt", "x", "error"}.isdisjoint(each):
                    delay = float(each["rtt"]) / 2000 if "rtt" in each else None
                    found.append(Sent(flow, float(one["timestamp"]) + USUAL * number, delay))
                    number += 1
        except (KeyError, TypeError, ValueError):
            what = "this is no ping result of RIPE Atlas"
            raise _make_refusal(text, place, what, "msm_id, prb_id, timestamp and result") from None
    return found, "half of rtt; MEASUREMENT/PROBE are the flows"


def _read_ping(text: str, direction: Way) -> tuple[list[Sent], str]:
    """Parse the output of ``ping`` on Linux (-D, -O), BusyBox, macOS and the BSDs."""
    del direction
    replies: dict[int, Sent] = {}
    last, place, every, end, stamped = -1, 0, USUAL, 0, False
    for line in text.splitlines(keepends=True):
        number, time, stamp = _NUMBER.search(line), _TIME.search(line), _STAMP.match(line)
        if "bytes from" in line and not (number and time):
            raise _make_refusal(text, place, "this reply has no time", REPLY)
        if number:
            # it has 16 bits
            at = int(number[1]) + 65536 * round((last - int(number[1])) / 65536)
            last = max(last, at)
            if time and at not in replies:
                took = _read_milliseconds(time) / 1000
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


def _read_windows_ping(text: str, direction: Way) -> tuple[list[Sent], str]:
    """Parse the output of ``ping`` on Windows, in any language: a line per packet."""
    del direction
    header = re.search(r"^.*:[ \r]*$", text, re.MULTILINE)
    found: list[Sent] = []
    for line in text[header.end() if header else 0 :].strip("\r\n").splitlines():
        if not line.strip():
            break  # behind it are statistics
        time = _TIME.search(line)
        found.append(
            Sent("", USUAL * len(found), _read_milliseconds(time) / 2000 if time else None)
        )
    return found, f"half of time=; sent every {USUAL:g} s, as nothing says when"


def _read_milliseconds(time: re.Match[str]) -> float:
    value = float(time[1].replace(",", "."))
    return value / 2 if "<" in time[0] else value


PROBES = (
    Probe("irtt's JSON", re.compile(r'\A\s*\{\s*"version"\s*:\s*\{\s*"irtt"'), _read_irtt),
    Probe("results of RIPE Atlas", re.compile(r'\A\s*\[?\s*\{[^\0]*?"prb_id"\s*:'), _read_atlas),
    Probe(
        "what ping printed", re.compile(r"(?m)^PING \S+|^.*\d+ bytes from .*seq[= ]\d"), _read_ping
    ),
    Probe(
        "what ping printed",
        re.compile(r"(?m)\A\s*Pinging |^.*[=<]\d+ ?ms TTL=\d"),
        _read_windows_ping,
    ),
)


def find_probe(head: str) -> Probe | None:
    """Return the probing program whose files begin like this text, or None."""
    return next((probe for probe in PROBES if probe.begins.search(head)), None)


def list_sent(probe: Probe, text: str, direction: Way) -> tuple[list[Sent], str]:
    """Return the packets in order of sending, and the kind of delay that the file has.

    Raises ``TableRefusal`` where the text is cut off or is something else.
    """
    begin = text.rstrip(" ").rfind("\n") + 1
    end = text[begin:]
    if probe.name.endswith("printed") and end.strip() and not (_TIME.search(end) or "= " in end):
        raise _make_refusal(text, begin, "the file is cut off here", REPLY)
    found, words = probe.reads(text, direction)
    if all(packet.time is not None for packet in found):
        found.sort(key=lambda packet: packet.time or 0.0)
    return found, words
