"""Which column or name holds which field of a packet, in which units.

A layout is a value that goes to the readers, and the options that say the same, to be typed, copied
and kept: ``--columns time=timestamp_ms,x=pos_x,y=pos_y --time-unit ms --axes xy``.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Literal, NamedTuple

from epic_cli.recordings.columns import POSITION

if TYPE_CHECKING:
    from typing import TypedDict

    class Units(TypedDict):
        """What ``RecordScanner`` takes."""

        per_second: float | None
        origin: float | None
        scale: float | tuple[float, ...]
        axes: str
        time_format: str
        delta: bool
        geo: bool
        angles: str
        euler: str


#: How many of a unit of time are a second.
TIME_UNITS = {"s": 1.0, "ms": 1e3, "us": 1e6, "ns": 1e9, "min": 1 / 60, "h": 1 / 3600}

#: Those in which Unix times are written.
UNIX_UNITS = ("s", "ms", "us", "ns")

#: What is on or off.
_SWITCHES = ("geo", "delta", "names")

Origin = float | Literal["first"]


class Beginning:
    """The time in seconds that ``first`` stands for; None: no packet has come yet.

    Recordings that share one begin together: the first packet of the one that is read first is
    where all of them are at 0, unless a time has been given.
    """

    def __init__(self, time: float | None = None) -> None:
        self.time = time


class Layout(NamedTuple):
    """How the packets of a table or of JSON lines are laid out; None: to be inferred.

    ``layout_options.LAYOUT`` says what each field up to ``euler`` means. ``columns`` has the place
    of each field: a name, a number from 1 in a table without a header, or a path in an object
    (``pos.0``); an empty text says that there is none. Arrival times move with ``time_origin``.
    ``factors`` are those of the axes and velocities once they are known, of ``scale`` or of units
    in names. ``unless_own``: it does not hold for packet text, nor for this program's own names.
    ``rebase_time``: where it is to be inferred, Unix times under this program's own names begin at
    the first packet, as those of others do. ``beginning``: others have the same ``first``.
    """

    columns: tuple[tuple[str, str], ...] | None = None
    time_unit: str | None = None
    time_origin: Origin | None = None
    axes: str | None = None
    scale: float | None = None
    pattern: str | None = None
    time_format: str | None = None
    geo: bool = False
    delta: bool = False
    names: bool = False
    table: str | None = None
    encoding: str | None = None
    angles: str | None = None
    euler: str | None = None
    unless_own: bool = False
    rebase_time: bool = False
    beginning: Beginning | None = None
    factors: tuple[float, ...] | None = None

    @property
    def is_numbered(self) -> bool:
        """Whether columns are given by their numbers: then no line is a header."""
        return any(place.isdigit() for place in self.places.values())

    @property
    def places(self) -> dict[str, str]:
        """The columns by field, those that are not empty."""
        return {field: column for field, column in self.columns or () if column}

    def beside(self, fields: Collection[str]) -> Layout:
        """That of a file with these fields of a recording, where it has not its own names."""
        kept = tuple(pair for pair in self.columns or () if pair[0] in fields)
        return self._replace(columns=None if self.columns is None else kept, unless_own=True)

    @property
    def units(self) -> Units:
        """What the engine's scanners have to know of a layout that is complete."""
        unit = per_second(self.time_unit or "s")
        if self.time_origin == "first":
            origin = self.beginning.time if self.beginning is not None else None
        else:
            origin = self.time_origin or 0.0
        if origin is not None:
            origin *= unit or 1.0
        axes, scale = self.axes or "xyz", 1.0 if self.scale is None else self.scale
        return {
            "per_second": unit,
            "origin": origin,
            "scale": self.factors or ((scale, scale, 1, 1, 1, 1) if self.geo else scale),
            "axes": axes,
            "time_format": self.time_format or "",
            "delta": self.delta,
            "geo": self.geo,
            "angles": self.angles or "",
            "euler": self.euler or "zyx",
        }

    def items(self) -> list[tuple[str, str]]:
        """The names and values of the options that say the same.

        Where there are others, this program's own names go without saying.
        """
        items = [] if self.pattern is None else [("pattern", self.pattern)]
        if self.time_format is not None:
            items.append(("time-format", self.time_format))
        elif self.time_unit not in (None, "s"):
            items.append(("time-unit", str(self.time_unit)))
        if self.time_origin not in (None, 0.0):
            items.append(("time-origin", _shown(self.time_origin)))
        if self.axes not in (None, "".join(axis for axis in POSITION if axis in self.places)):
            items.append(("axes", str(self.axes)))
        if self.scale is not None:
            items.append(("scale", _shown(self.scale)))
        for name in _SWITCHES:
            items += [(name, "on")] if getattr(self, name) else []
        for name in ("table", "encoding", "angles", "euler"):
            items += [(name, getattr(self, name))] if getattr(self, name) else []
        named = self.pattern is not None or set(POSITION) <= set(self.places)
        own = self._has_own_names and named
        if self.columns is not None and not (items and own):
            pairs = ",".join(f"{field}={column}" for field, column in self.columns)
            items.insert(self.pattern is not None, ("columns", pairs))
        return items

    def options(self) -> str:
        """The options that say the same, for a shell."""
        from shlex import quote  # only what is said needs it

        return " ".join(
            f"--{name}" if name in _SWITCHES else f"--{name} {quote(value)}"
            for name, value in self.items()
        )

    @property
    def is_own(self) -> bool:
        """Whether it is that of this program's own files."""
        usual = (self.time_unit, self.time_origin, self.axes) == ("s", 0.0, "xyz")
        others = self._replace(columns=None, time_unit=None, time_origin=None, axes=None)
        return usual and others.is_empty and self._has_own_names

    @property
    def is_empty(self) -> bool:
        """Whether it says nothing of a recording that packet text could not hold to."""
        own = ("encoding", "names", "unless_own", "rebase_time", "beginning")
        return self._replace(**{one: getattr(Layout(), one) for one in own}) == Layout()

    @property
    def _has_own_names(self) -> bool:
        return all(a == b for a, b in self.columns or ())


def together(known: Mapping[str, str], more: Mapping[str, str]) -> dict[str, str]:
    """Options, and some more; of the columns those that are not named again."""
    options = {**known, **more}
    if "columns" in known and "columns" in more:
        again = {part.partition("=")[0] for part in more["columns"].split(",")}
        before = [one for one in known["columns"].split(",") if one.partition("=")[0] not in again]
        options["columns"] = ",".join([*before, more["columns"]])
    return options


def begun_together(given: Layout | None) -> Layout:
    """A layout for several recordings that are at 0 at the same moment."""
    given = given or Layout()
    known = given.time_origin if isinstance(given.time_origin, float) else None
    return given._replace(beginning=Beginning(known))


def per_second(text: str) -> float | None:
    """How many of a unit of time are a second; None: they are dates. Raises ``ValueError``."""
    if text == "iso":
        return None
    if text in TIME_UNITS:
        return TIME_UNITS[text]
    unit, _, rate = text.partition("@")
    try:
        hertz = float(rate.lower().removesuffix("hz"))
    except ValueError:
        hertz = math.nan
    if unit not in ("tick", "ticks") or not 1e-6 <= hertz <= 1e9:
        raise ValueError(f"{text!r} is not s, ms, us, ns, min, h, iso or ticks@HZ, as ticks@60")
    return hertz


def _shown(value: Origin) -> str:
    return value if isinstance(value, str) else repr(value).removesuffix(".0")
