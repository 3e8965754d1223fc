"""Spellings of packets' fields in other programs, and how names are compared."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple
from unicodedata import combining, normalize

from epic_cli.engine.keys import KEYS

#: Behind a name, in brackets or as its last word: what the numbers are in.
TIME_UNIT_WORDS = {
    **dict.fromkeys(("s", "sec", "secs", "second", "seconds"), "s"),
    **dict.fromkeys(
        ("ms", "msec", "msecs", "millis", "millisec", "millisecs", "millisecond", "milliseconds"),
        "ms",
    ),
    **dict.fromkeys(
        ("us", "usec", "usecs", "micros", "microsec", "microsecond", "microseconds", "µs"), "us"
    ),
    **dict.fromkeys(("ns", "nsec", "nsecs", "nanos", "nanosec", "nanosecond", "nanoseconds"), "ns"),
}

#: The same in brackets, or behind the name of a time: elsewhere it may be the least.
TIME_UNITS_IN_BRACKETS = {
    **TIME_UNIT_WORDS,
    **dict.fromkeys(("min", "mins", "minute", "minutes"), "min"),
    **dict.fromkeys(("h", "hr", "hrs", "hour", "hours"), "h"),
    **dict.fromkeys(("d", "day", "days"), "d"),
}

#: What lengths and velocities may be in, in metres and in metres per second.
LENGTH_UNITS = {
    **dict.fromkeys(("m", "meter", "meters", "metre", "metres", "px"), 1.0),
    **dict.fromkeys(("cm", "centimeters", "centimetres"), 0.01),
    **dict.fromkeys(("mm", "millimeters", "millimetres"), 0.001),
    **dict.fromkeys(("km", "kilometers", "kilometres"), 1000.0),
    **dict.fromkeys(("ft", "foot", "feet", "ftmsl", "ftagl"), 0.3048),
    **dict.fromkeys(("inch", "inches"), 0.0254),
    **dict.fromkeys(("yd", "yards"), 0.9144),
}
SPEED_UNITS = {
    **dict.fromkeys(("mps", "m/s", "m/sec", "m s-1", "m*s^-1", "m.s-1", "px/s"), 1.0),
    **dict.fromkeys(("cm/s", "cmps"), 0.01),
    "mm/s": 0.001,
    **dict.fromkeys(("km/h", "kmh", "kph", "kmph"), 1 / 3.6),
    "km/s": 1000.0,
    **dict.fromkeys(("mph", "mi/h"), 0.44704),
    **dict.fromkeys(("ft/s", "fps"), 0.3048),
    **dict.fromkeys(("ft/min", "fpm"), 0.00508),
    **dict.fromkeys(("kn", "kt", "kts", "knot", "knots"), 1852 / 3600),
}

#: Names of fields that are one column, best first; those of one row are equally good.
SPELLINGS = {key.name: key.spellings for key in KEYS if key.spellings}

#: Clocks whose unit is known.
CLOCKS = {"ms": ("performance now", "perf now", "raf", "dom high res time stamp", "tickcount")}

#: A name with one of these is a time where no other is, unless one of the others is with it, or it
#: is what something lasts.
TIME_WORDS = frozenset((
    "time", "timestamp", "clock", "elapsed", "epoch", "datetime", "zeit", "stamp", "timecode",
    "gametime", "servertime", "simtime", "unixtime", "nowtime",
))  # fmt: skip
NO_TIME_WORDS = frozenset((
    "left", "remaining", "limit", "scale", "delta", "ping", "trip", "rtt", "cooldown", "respawn",
    "reload", "last", "air", "zone", "response", "fixed", "step", "frame", "play", "alive", "dead",
    "death", "spawn", "next", "reaction", "lag", "latency", "jitter", "lap", "best", "warm", "up",
    "down", "stun", "hold", "held", "smooth", "render", "cpu", "gpu", "processing", "duration",
    "interval", "dt", "diff", "received", "receive", "recv", "arrival", "rx",
))  # fmt: skip

#: Names that count instead of measuring time: they need a rate.
TICKS = ("tick", "ticks", "frame", "frames", "frame number", "frame no", "tick number",
         "tick count", "server tick", "sample", "step", "tick id", "frame id", "frame index",
         "server frame", "utc ticks", "game tick", "frame idx", "tick idx", "frameno", "frameid",
         "framenumber", "sim tick", "server tick number", "iteration")  # fmt: skip

#: Words of places on the globe, which are in degrees, and of their heights.
LATITUDES, LONGITUDES = ("lat", "latitude"), ("lon", "lng", "long", "longitude")
PLACES_OF_DEGREES = ("latlng", "latlon", "latlong", "latitudelongitude", "gps")  # in one cell
ALTITUDES = ("geoaltitude", "baroaltitude", "alt", "altitude", "ele", "elevation", "height")

#: Words of a height above the plane of x and y; beside a width it is that of a box.
HEIGHTS = ("height", "hohe", "hoehe", "hauteur", "altura", "altezza", "hoogte")
WIDTHS = frozenset(("width", "breite", "largeur", "ancho", "larghezza", "breedte", "w"))

#: Words around an axis that make it a position or a velocity.
POSITION_WORDS = frozenset((
    "p", "t", "pos", "position", "loc", "location", "coord", "coords", "coordinate", "coordinates",
    "point", "origin", "translation", "xyz", "place", "vec", "vec3", "vector",
))  # fmt: skip
VELOCITY_WORDS = frozenset((
    "v", "vel", "velocity", "speed", "linear", "twist", "linvel", "lin",
))  # fmt: skip

#: Words that say whose or where it is, and change nothing.
NEUTRAL_WORDS = frozenset((
    "world", "global", "field", "header", "msg", "data", "meta", "state", "pose", "transform",
    "entity", "object", "root", "center", "centre", "payload", "params", "event", "message",
    "self", "own", "m",
))  # fmt: skip

#: Words of any entity: beside a ball, a player is one of two.
WHO_WORDS = frozenset(("actor", "player", "agent", "vehicle", "body", "pawn", "character"))

#: Words of the same thing seen otherwise: two of these are two readings, and not two entities.
FRAME_WORDS = frozenset((
    "local", "relative", "raw", "filtered", "smoothed", "estimated", "est", "true", "truth", "gt",
    "measured", "predicted", "server", "client", "authoritative", "interpolated", "rendered",
    "visual", "actual", "corrected", "original", "new", "current", "lerped", "remote", "gps",
    "odom", "map", "net", "sim", "final", "simulated",
))  # fmt: skip

#: Words of what is on the screen, beside where the server says that it is.
DRAWN_WORDS = frozenset((
    "drawn", "draw", "rendered", "render", "visual", "displayed", "display", "shown", "smoothed",
    "interpolated", "lerped", "sprite", "screen",
))  # fmt: skip

#: Words of what is no entity, or somebody's eye, which is one only where there is nothing else.
EYES = frozenset(("camera", "cam", "kamera", "view", "viewer", "eye", "spectator"))

#: Words of vectors and places that are no entity's position.
OTHER_WORDS = frozenset((
    "aim", "aiming", "look", "lookat", "target", "goal", "dest", "destination", "waypoint", "size",
    "scale", "rot", "rotation", "angle", "angles", "euler", "ang", "angular", "quaternion",
    "orientation", "heading", "facing", "dir", "direction", "forward", "fwd", "normal", "tangent",
    "mouse", "cursor", "pointer", "screen", "window", "viewport", "tile", "chunk", "cell", "grid",
    "block", "region", "sector", "spawn", "start", "begin", "home", "anchor", "pivot", "offset",
    "delta", "diff", "error", "err", "min", "max", "bounds", "extent", "extents", "bbox", "dim",
    "width", "accel", "acceleration", "acc", "gyro", "mag", "magnetic", "force", "torque",
    "impulse", "gravity", "input", "stick", "joystick", "axis", "color", "colour", "uv", "noise",
    "sigma", "std", "cov", "var", "prev", "previous", "last", "next", "old", "from", "nearest",
    "hit", "impact", "wind", "punch", "recoil", "kick", "desired", "expected", "setpoint", "drag",
    "ziel", "blick", "maus", "resolution", "res", "count", "momentum", "jerk", "setang", "slot",
    "bounding", "wish", "move", "scroll", "touch", "texture", "tex", "inertia", "omega",
    "angvel", "attitude", "quat", "spin", "rotvec",
))  # fmt: skip

#: The axes by the names that they have, alone or behind a word.
AXES = {
    "x": "x",
    "east": "x",
    "easting": "x",
    "y": "y",
    "north": "y",
    "northing": "y",
    "z": "z",
    "up": "z",
    "altitude": "z",
    "alt": "z",
    "elevation": "z",
}

#: Units that may be the last word of a name.
_UNITS = (TIME_UNIT_WORDS, LENGTH_UNITS, SPEED_UNITS)

#: The same names are looked at by one rule after the other.
_CACHED = 4096

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\d_A-Za-z]+")
_BRACKETS = re.compile(r"[\[({]\s*([^\])}]*?)\s*[\])}]\s*$")
_JOINED = re.compile(r"(p|t|pos|loc|coord|v|vel|velocity|position|location|linvel)([xyz])")
_DERIVED = re.compile(r"\bd([xyz])[\W_]?dt\b", re.IGNORECASE)
_PLACED = re.compile(r"([xyz])(pos|position|loc|location|coord|coordinate|vel|velocity)")


#: Words behind a t that say whose time it is: ``t_send``, ``t_recv``.
_ENDS_OF_A_WAY = frozenset(("send", "sent", "recv", "rcv", "received", "rx", "arrival", "arrived"))


class Name(NamedTuple):
    """A name in words: lower case, without its unit."""

    words: tuple[str, ...]
    unit: str

    @property
    def spelling(self) -> str:
        """The words, without those in front that change nothing."""
        begin = 0
        around = ("field", "header", "msg", "record")
        while begin < len(self.words) - 1 and self.words[begin] in around:
            begin += 1
        words = self.words[begin:]
        if len(words) > 1 and words[0] == "t" and words[1] in _ENDS_OF_A_WAY:
            words = words[1:]
        return " ".join(words)

    @property
    def contained(self) -> str:
        """The spelling without words in front that name what a message contains."""
        words = self.spelling.split(" ")
        return " ".join(words[1:] if words[0] in _CONTENTS else words)


#: What messages call the object that they carry.
_CONTENTS = frozenset(("data", "payload", "message", "event", "params", "detail"))


def is_time_name(name: Name) -> bool:
    """Return True for the name of a time, of a counter or of a unit of time."""
    if name.spelling in TICKS or any(name.spelling in row for row in SPELLINGS["time"]):
        return True
    if name.spelling in TIME_UNITS_IN_BRACKETS:
        return len(name.spelling) > 1 and name.spelling != "min"
    words = set(name.words)
    return bool(words & TIME_WORDS) and not words & NO_TIME_WORDS


class Component(NamedTuple):
    """An axis of a position or velocity; ``group`` holds the words that its sibling axes share."""

    velocity: bool
    axis: str
    group: tuple[str, ...]

    @property
    def rank(self) -> int:
        """Rank of the group, lower if it is more surely the entity's own.

        3 for a thing with a name.
        """
        if self.group in ((), ("v",)):
            return 0
        words = set(self.group) - POSITION_WORDS - VELOCITY_WORDS
        if not words:
            return 1
        if words & EYES:
            return 4
        return 2 if words <= NEUTRAL_WORDS | WHO_WORDS | FRAME_WORDS else 3

    @property
    def thing(self) -> frozenset[str]:
        """Words of the group that name the thing to which the axis belongs."""
        known = POSITION_WORDS | VELOCITY_WORDS | NEUTRAL_WORDS | FRAME_WORDS
        return frozenset(self.group) - known


@lru_cache(_CACHED)
def split_name(text: str) -> Name:
    """Split a column's name, or a path's, into words: ``posX``, ``pos_x`` and ``Position X [m]``.

    The text before a star is left out: it says where the entities are, not which field this is.
    """
    unit, text = "", text.rpartition("*.")[2]
    brackets = _BRACKETS.search(text)
    if brackets and brackets.start():
        within = brackets.group(1).lower()
        if not within.isdigit() and within not in AXES:
            unit, text = within, text[: brackets.start()]
    if not text.isascii():  # letters without their accents
        text = "".join(each for each in normalize("NFD", text) if not combining(each))
    words = [word.lower() for word in _WORD.findall(_DERIVED.sub(r"v\1", text))]
    last = words[-1] if words else ""
    axes = AXES.keys() & {part for word in words[:-1] for part in _split_axis(word)}
    if (
        len(words) > 1
        and (axes or last not in ("px", "fps"))  # p's x, and frames per second
        and (
            any(last in record for record in _UNITS)
            or (last in TIME_UNITS_IN_BRACKETS and TIME_WORDS.intersection(words))
        )
    ):
        unit = unit or last
        words.pop()
    return Name(tuple(words), unit)


@lru_cache(_CACHED)
def parse_component(name: Name) -> Component | None:
    """Return the axis that a name stands for; None if it is not the name of an axis."""
    words = [part for word in name.words for part in _split_axis(word)]
    at = [place for place, word in enumerate(words) if word in AXES]
    indexed = len(words) > 1 and words[-1] in ("0", "1", "2", "3") and not at
    if len(at) == 1:
        axis = AXES[words.pop(at[0])]
    elif indexed:
        axis = "xyz3"[int(words.pop())]
    else:
        return None
    found = Component(any(word in VELOCITY_WORDS for word in words), axis, tuple(words))
    own = (POSITION_WORDS | VELOCITY_WORDS) & set(words)
    numbered = indexed and not own and (found.rank == 3 or set(words) & WHO_WORDS)  # Player1
    return None if OTHER_WORDS & set(words) or numbered or (indexed and found.rank == 3) else found


def _split_axis(word: str) -> tuple[str, ...]:
    joined = _JOINED.fullmatch(word) or _PLACED.fullmatch(word)
    return joined.groups() if joined else (word,)
