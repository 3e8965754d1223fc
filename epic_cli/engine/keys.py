"""The keys of a packet: one table from which all readers and writers of packets are made.

``engine/build.py`` writes it to ``packets/keys.h`` for the compiled readers and writers; columns,
types, spellings, help and the guide are made of it in Python. A new key is an entry here, a member
of ``Packet`` in ``packets/packet.h`` and one of ``contract.Packet``.
"""

from collections.abc import Collection
from enum import Enum
from itertools import chain
from typing import NamedTuple


class KeyType(Enum):
    """The type of a key's text; the values are those of ``text/scalar.h``."""

    NUMBER = "Number"
    MOMENT = "Moment"  # a time on a clock, which moves with the recording's times
    DURATION = "Duration"
    COUNT = "Count"
    FLAG = "Flag"
    NAME = "Name"
    ROTATION = "Rotation"
    SPIN = "Spin"
    ANGLE = "Angle"


class Form(NamedTuple):
    """A way to write a key in tables and JSON: a group of columns.

    ``needs_all``: a packet has values in all of the columns or in none. ``help`` is that of
    ``--read``.
    """

    columns: tuple[str, ...]
    help: str = ""
    needs_all: bool = True


class Key(NamedTuple):
    """A key of a packet: its name, type, columns and spellings.

    ``name`` is its word in packet text, ``words`` what follows the ``=`` there, by word (none: it
    is one of the seven numbers). ``attribute`` is the field of ``contract.Packet``, which has to be
    ``python``, or may be None where ``absent`` is. ``forms``: the first one is written. Tables have
    its columns always, or only on this ``request``. ``parts`` are its names in layouts of binary
    datagrams. ``spellings``: what other programs call its column, best first; those of one row are
    equally good. ``meaning`` is for the guide. Strategies see all of these keys, and no other.
    """

    name: str
    attribute: str
    type: KeyType
    python: str
    forms: tuple[Form, ...]
    meaning: str
    absent: object = None
    words: tuple[tuple[str, str], ...] = ()
    example: str = ""
    request: str = ""
    parts: tuple[str, ...] = ()
    spellings: tuple[tuple[str, ...], ...] = ()

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns that the key is written in."""
        return self.forms[0].columns

    @property
    def is_scalar(self) -> bool:
        """True if the engine can read and write the value by its type alone."""
        return bool(self.words) and self.type in (
            KeyType.MOMENT, KeyType.NAME, KeyType.COUNT, KeyType.FLAG, KeyType.DURATION
        )  # fmt: skip


KEYS = (
    Key(
        "position", "position", KeyType.NUMBER, "three numbers x, y, z",
        (Form(("x", "y", "z"), "Where it is: a column for each of x, y and z. A * is each of"
              " several entities in one row: x=*_x, x=players.*.x."),),
        "where the entity is, in any unit of length",
        parts=("x", "y", "z"),
    ),
    Key(
        "velocity", "velocity", KeyType.NUMBER, "three numbers vx, vy, vz, or None",
        (Form(("vx", "vy", "vz"), "Its velocity; vx= says that there is none."),),
        "how fast it moves, in that unit per second",
        parts=("vx", "vy", "vz"),
    ),
    Key(
        "time", "time", KeyType.MOMENT, "a number of seconds",
        (Form(("time",), "When the packet was sent: a column of a table, its number from 1 where"
              " there is no header, or a path in a JSON object, pos.0; date+time and sec+nanosec"
              " are two columns; time= with unit=ticks@HZ: its rows are ticks. Without columns the"
              " usual names are recognized."),),
        "when its state was sent, in seconds on the sender's clock",
        parts=("time",),
        spellings=(
            ("time",),
            (
                "t", "ts", "timestamp", "time stamp", "stamp", "datetime", "date time", "utc",
                "utc time", "unix", "unix time", "unix timestamp", "epoch", "epoch time",
                "sim time", "simulation time", "game time", "server time", "world time",
                "remote time", "remote timestamp", "server timestamp", "sent server time",
                "time sent", "match time", "round time", "network time", "time get ticks",
                "client send time", "server send time", "sent timestamp", "send timestamp",
                "sent", "sent at", "send", "send time", "sent time", "tx", "tx time",
                "elapsed", "elapsed time", "base date time", "seconds", "secs", "sec",
                "clock", "time time", "realtime",
                "realtime since startup", "time since startup",
                "time since level load", "time since start", "relative time", "zeit", "temps",
                "tiempo", "performance now", "perf now", "perf counter", "raf", "now", "tickcount",
                "filetime", "file time", "uptime", "timecode",
            ),
            ("client time", "client timestamp", "totl time", "timestep time", "second",
             "frame time", "date", "when", "os clock", "game clock", "local date", "event time",
             "created", "created at", "recorded", "recorded at", "logged", "logged at", "curtime",
             "drawn", "drawn at", "draw time", "rendered at"),
        ),
    ),
    Key(
        "arrival", "arrival", KeyType.MOMENT, "a number of seconds, or None",
        (Form(("arrival",), "When it arrived, by the receiver's clock."),),
        "when the packet came in, in seconds on the receiver's clock",
        words=(("arrival", "SECONDS"),),
        example="arrival=0.183",
        spellings=(
            ("arrival",),
            (
                "arrival time", "arrived", "arrived at", "received", "received at", "receive time",
                "received time", "recv", "recv time", "recv ts", "rx time", "receive timestamp",
                "local time", "rx", "server receive time", "client receive time", "rx timestamp",
                "server receive timestamp", "recv timestamp", "received timestamp", "got", "got at",
                "rcvd", "rcv", "recv at", "rx at", "came", "came at", "came in",
            ),
        ),
    ),
    Key(
        "entity", "entity", KeyType.NAME, "text",
        (Form(("entity",), "The name of the entity; team+number are two columns that only together"
              " name it."),),
        "whose state it is; each entity gets its own strategy",
        absent="",
        words=(("entity", "NAME"),),
        example="entity=tank7",
        parts=("id",),
        spellings=(
            ("entity",),
            (
                "entity id", "player id", "object id", "actor id", "unit id", "net id",
                "network id", "instance id", "vehicle id", "agent id", "track id", "user id",
                "client id", "connection id", "conn id", "peer id", "participant id", "car id",
                "tank id", "unique id", "mmsi", "icao24", "icao 24", "icao", "playerid", "netid",
                "view id", "entity name", "player name", "actor name", "object name", "steam id",
                "guid", "uuid",
            ),
            ("id", "uid"),
            ("name", "player", "actor", "object", "agent", "vehicle", "unit", "subject", "marker",
             "who", "spieler", "joueur", "jugador", "fahrzeug", "objekt", "einheit", "vessel",
             "mover", "tank", "car", "ship", "boat", "drone", "robot",
             "bot", "pawn", "character", "plane", "aircraft", "driver", "pilot", "peer",
             "connection", "callsign", "username", "nickname", "track", "obj", "owner", "ped",
             "npc", "animal", "nick", "user", "client", "participant", "tag id", "jersey", "bib",
             "ent", "mob"),
            ("steamid",),
        ),
    ),
    Key(
        "seq", "sequence", KeyType.COUNT, "a whole number below 2**63, or None",
        (Form(("seq",), "The packet's sequence number; a count of ticks is one where none is left"
              " out."),),
        "the sender's packet number",
        words=(("seq", "NUMBER"),),
        example="seq=12",
        parts=("seq",),
        spellings=(
            ("seq",),
            ("sequence", "seq no", "seq num", "sequence number", "packet number", "packet id"),
        ),
    ),
    Key(
        "teleport", "teleport", KeyType.FLAG, "True or False",
        (Form(("teleport",), "1 where the entity was moved on purpose."),),
        "the entity was moved on purpose: every strategy snaps to it and forgets the past",
        absent=False,
        words=(("teleport", "1"),),
        example="teleport=1",
        parts=("teleport",),
        spellings=(("teleport",), ("teleported", "is teleport")),
    ),
    Key(
        "delta", "delta", KeyType.DURATION, "a number of seconds",
        (Form(("delta",), "How long before its stamp the state was true."),),
        "the age of the state at its time, in seconds",
        absent=0.0,
        words=(("delta", "SECONDS"),),
        example="delta=0.03",
        request="delta",
    ),
    Key(
        "rotation", "rotation", KeyType.ROTATION, "four numbers x, y, z, w, or None",
        (
            Form(("qx", "qy", "qz", "qw"), "A rotation as a quaternion, qx to qw."),
            Form(("yaw", "pitch", "roll"), "A rotation as angles, yaw, pitch and roll.", False),
            Form(("rx", "ry", "rz"), "A rotation as a vector, rx to rz."),
            Form(tuple(f"m{row}{column}" for row in range(3) for column in range(3)),
                 "A rotation as a matrix, m00 to m22."),
        ),
        "how it is turned: a quaternion; or `yaw=`, `pitch=` and `roll=` in degrees",
        words=(("rotation", "X,Y,Z,W"), ("yaw", "DEGREES"), ("pitch", "DEGREES"),
               ("roll", "DEGREES")),
        example="rotation=0,0,0,1",
        request="rotation",
        parts=("qx", "qy", "qz", "qw"),
    ),
    Key(
        "spin", "spin", KeyType.SPIN, "three numbers, or None",
        (Form(("wx", "wy", "wz"), "How fast it turns, wx to wz, in radians a second."),),
        "how fast it turns about the axes of the world, in radians a second",
        words=(("spin", "X,Y,Z"),),
        example="spin=0,0,1.5",
        request="rotation",
        parts=("wx", "wy", "wz"),
    ),
)  # fmt: skip

#: The keys by name.
BY_NAME = {key.name: key for key in KEYS}

#: The words of packet text, and what follows their ``=``.
WORDS = dict(chain.from_iterable(key.words for key in KEYS))

#: The words that say how an entity is turned; those of angles; the forms that columns take.
TURN_WORDS = tuple(word for name in ("rotation", "spin") for word, _ in BY_NAME[name].words)
ANGLES = BY_NAME["rotation"].forms[1].columns
QUATERNION, _, ROTATION_VECTOR, MATRIX = (form.columns for form in BY_NAME["rotation"].forms)
SPIN = BY_NAME["spin"].columns

#: The key of each column, in the order of the engine's own numbering.
COLUMN_KEYS = {column: key for key in KEYS for form in key.forms for column in form.columns}

#: What tables can be asked to have columns for, and the columns that each has.
REQUESTS = tuple({key.request: None for key in KEYS if key.request})
TABLE_COLUMNS = (
    "entity",
    "time",
    *(
        column
        for key in KEYS
        if not key.request and key.name not in ("entity", "time")
        for column in key.columns
    ),
)


def type_of_key(word: str) -> KeyType:
    """Return the type of a key's text, by the key's word in packet text or its column's name."""
    if word in ANGLES:
        return KeyType.ANGLE
    return (COLUMN_KEYS.get(word) or BY_NAME[word]).type


def list_table_columns(requested: Collection[str]) -> tuple[str, ...]:
    """Return the columns of a written table; ``requested`` adds columns written only on request."""
    more = (key.columns for key in KEYS if key.request in requested)
    return (*TABLE_COLUMNS, *chain.from_iterable(more))


def write_header() -> str:
    """Return the text of ``packets/keys.h``: the table as lists for the compiler's preprocessor."""
    scalars = [
        f'{key.name.upper()}, "{key.name}", {key.attribute}, {key.type.value},'
        f" {int(bool(key.request))}"
        for key in KEYS
        if key.is_scalar
    ]
    lists = {
        "FIELDS(FIELD)": [f'{name.upper()}, "{name}"' for name in COLUMN_KEYS],
        "WORDS(WORD)": [f'{word.upper()}, "{word}"' for word in WORDS],
        "SCALARS(SCALAR)": scalars,
        "PARTS(PART)": [f'{part.upper()}, "{part}"' for key in KEYS for part in key.parts],
    }
    entries = (
        f"#define EPIC_{name}"
        + "".join(f" \\\n    {name.partition('(')[2][:-1]}({entry})" for entry in found)
        + "\n"
        for name, found in lists.items()
    )
    return "\n".join(
        (
            "// The keys of a packet. Written by engine/build.py from the table in engine/keys.py:",
            "// change that.",
            "//",
            "// FIELD: a column, in the order of the engine's numbering. WORD: a word of packet",
            "// text. SCALAR: a key that is one value: its name, its member of Packet, its type in",
            "// text/scalar.h, and whether tables have it on request only. PART: a name in layouts",
            "// of binary datagrams.",
            "#pragma once\n",
            *entries,
        )
    )
