"""Places on the globe as receivers log them: GPX and NMEA 0183, read as tables of degrees."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import chain
from typing import TYPE_CHECKING, Any

from epic_cli.recordings import Fit, Format, Head, Unreadable

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

    from epic_cli.recordings import ByteSource
    from epic_cli.recordings.read_spec import ReadSpec

_SENTENCE = re.compile(rb"\$(G[PNLAB]|BD|QZ)(RMC|GGA),([^*\r\n]*)\*([0-9A-Fa-f]{2})\s*")

#: Seconds.
_DAY = 86400


class _PositionLog(Format):
    """A log that is no table, and is made one."""

    unpacked = "csv"
    by_name = False
    mark = rb""

    def detect(self, head: Head) -> Fit:
        """Recognize files by their beginnings."""
        return Fit.CERTAIN if re.search(self.mark, head.begin[:4096]) else Fit.NO

    def unpack(self, source: ByteSource, layout: ReadSpec | None) -> Callable[[], bytes]:
        """Return a function that yields the positions as CSV; both raise ``Unreadable``."""
        rows = filter(None, self.iterate_rows(iter(source.read_more, b"")))
        return lambda: next(rows, b"")

    def iterate_rows(self, data: Iterator[bytes]) -> Iterator[bytes]:
        """Yield the positions as CSV, header first."""
        raise NotImplementedError


class Gpx(_PositionLog):
    """Tracks of GPX 1.0 and 1.1, each an entity by its name."""

    name = "gpx"
    suffixes = (".gpx",)
    mark = rb"^(<\?xml[^>]*\?>|<!--.*?-->|\s)*<(\w+:)?gpx\b"

    def iterate_rows(self, data: Iterator[bytes]) -> Iterator[bytes]:
        """Yield the points of tracks as CSV; routes and waypoints are skipped, having no times."""
        from xml.etree.ElementTree import ParseError, XMLPullParser  # only what is XML needs it

        yield b"time,lat,lon,ele,entity\n"
        parser: Any = XMLPullParser(["end", "start"])
        name, tracks = "", 0
        try:
            for piece in data:
                parser.feed(piece)
                rows = bytearray()
                for event, element in parser.read_events():
                    tag = element.tag.rpartition("}")[2]
                    if event == "start":
                        if tag == "trk":
                            tracks += 1
                            name, track = "", element
                    elif tag == "name" and tracks and not name:
                        name = element.text or ""
                    elif tag == "trkpt":
                        rows += _read_point(element, name or str(tracks))
                        element.clear()
                    elif tag == "trkseg" and tracks:
                        track.clear()
                yield bytes(rows)
            parser.close()
        except (ParseError, LookupError, ValueError) as error:  # or an encoding that expat has not
            raise Unreadable(f"GPX that cannot be read: {error}") from error


def _read_point(element: Element, name: str) -> bytes:
    from epic_cli.recordings.writing import write_csv_field

    own = {word.tag.rpartition("}")[2]: (word.text or "").strip() for word in element}
    place = element.get("lat", ""), element.get("lon", "")
    cells = own.get("time", ""), *place, own.get("ele", ""), " ".join(name.split())
    return (",".join(map(write_csv_field, cells)) + "\n").encode()


class Nmea(_PositionLog):
    """Positions of NMEA 0183: those of a GGA, with its altitude, or of an RMC."""

    name = "nmea"
    suffixes = (".nmea",)
    mark = rb"^[$!][A-Z]{2,5}[A-Z0-9]*,.*\*[0-9A-Fa-f]{2}\s"

    def iterate_rows(self, data: Iterator[bytes]) -> Iterator[bytes]:
        """Yield a row for each time, in seconds from the first; times continue past midnight."""
        yield b"time,lat,lon,alt\n"
        left, first, last, row = b"", None, 0.0, ""
        for piece in chain(data, (b"\n",)):
            *lines, left = (left + piece).split(b"\n")
            rows = []
            for found in filter(None, map(_SENTENCE.fullmatch, lines)):
                fix = _read_fix(found)
                if fix is None:
                    continue
                seconds, place, altitude = fix
                while first is not None and seconds < last - _DAY / 2:
                    seconds += _DAY
                if row and seconds != last:
                    rows.append(row)
                    row = ""
                first, last = (seconds if first is None else first), seconds
                if not row or altitude:  # a GGA has more to say than an RMC
                    row = f"{round(seconds - first, 3)},{place},{altitude}\n"
            yield "".join(rows).encode()
        yield row.encode()
        if first is None:
            raise Unreadable("NMEA without a valid GGA or RMC; AIS: decode it first (gpsdecode)")


def _read_fix(found: re.Match[bytes]) -> tuple[float, str, str] | None:
    """Return time of day (s), latitude and longitude, altitude of a sentence; None: not valid."""
    checksum = 0
    for byte in found[0].partition(b"*")[0][1:]:
        checksum ^= byte
    fields = found[3].decode("ascii", "replace").split(",")
    minimum = found[2] == b"RMC"
    place = fields[2:6] if minimum else fields[1:5]
    valid = fields[1:2] == ["A"] if minimum else fields[5:6] not in ([], [""], ["0"])
    if checksum != int(found[4], 16) or not valid:
        return None
    try:
        stamp = fields[0]
        seconds = int(stamp[:2]) * 3600 + int(stamp[2:4]) * 60 + float(stamp[4:])
        latitude, longitude = _parse_degrees(*place[:2]), _parse_degrees(*place[2:])
        if not 0 <= seconds <= _DAY:
            return None
    except (ValueError, TypeError):
        return None
    altitude = "" if minimum else "".join(fields[8:9])
    return seconds, f"{latitude!r},{longitude!r}", altitude


def _parse_degrees(text: str, side: str) -> float:
    """Convert ``ddmm.mmmm`` with N, S, E or W to degrees."""
    whole, minutes = divmod(float(text), 100)
    degrees = round(whole + minutes / 60, 10)
    return -degrees if side in ("S", "W") else degrees


class _RefusedFormat(_PositionLog):
    """A format that is recognized, and refused with advice."""

    def __init__(self, name: str, mark: bytes, cure: str) -> None:
        self.name, self.mark, self._cure = name, mark, cure

    def unpack(self, source: ByteSource, layout: ReadSpec | None) -> Callable[[], bytes]:
        """Raise ``Unreadable`` with the advice for this format."""
        raise Unreadable(self._cure)


FORMATS = (
    Gpx(), Nmea(),
    _RefusedFormat("kml", rb"^(<\?xml[^>]*\?>|<!--.*?-->|\s)*<(\w+:)?kml\b",
        "KML, which has few times: first gpsbabel -i kml -f FILE.kml -o gpx -F FILE.gpx"),
    _RefusedFormat("otlp", rb'^\s*\{\s*"resource(Metrics|Spans|Logs)"',
        "OpenTelemetry's JSON: first export the data points as JSON lines with time, x, y (jq)"),
    _RefusedFormat("tacview", rb"^FileType=text/acmi",
        "Tacview's ACMI: first export the flight data of its objects as CSV (File, Export)"),
    _RefusedFormat("fit", rb"^\.?.?Type,Local Number,Message,",
        "FitCSVTool's messages: first java -jar FitCSVTool.jar --data record FILE.fit, a table"),
    _RefusedFormat("fcd", rb"^(<\?xml[^>]*\?>|<!--.*?-->|\s)*<fcd-export\b",
        "SUMO's floating car data: first python xml2csv.py FILE.xml, of SUMO's tools/xml"),
)  # fmt: skip
