"""Rows of tables and lines of JSON to packets: lines in the usual form at once, others by field."""

from itertools import permutations

from libc.math cimport NAN, isfinite
from libc.stdint cimport int32_t, int64_t, uint32_t
from libc.string cimport memchr
from libcpp cimport bool as cbool
from libcpp.string cimport string
from libcpp.vector cimport vector

from epic_cli.engine.packets cimport Entities, Packet, PacketBlock, string_view, view


cdef extern from "text/instant.h" namespace "epic" nogil:
    cdef cppclass Instant:
        int64_t whole
        double part

    Instant instant_of(double)


cdef extern from "text/field.h" namespace "epic" nogil:
    const char** FIELD_NAMES "epic::kFieldNames"
    int FIELD_TIME
    int FIELD_QX
    int FIELD_COUNT

cdef extern from "text/record.h" namespace "epic" nogil:
    cdef cppclass EulerAngles:
        int32_t[3] order
        int32_t[3] axis
        double[3] sign

    cdef cppclass TimeUnit:
        double per_second
        cbool iso

    cdef cppclass Plane:
        cbool begun
        double longitude
        double latitude
        void begin(double, double)

    cdef cppclass Units:
        TimeUnit stamp
        TimeUnit arrival
        double delta_per_second
        cbool from_first
        cbool moved
        cbool arrival_moves
        Instant origin
        double[6] scales
        cbool scaled
        int32_t[3] axes
        cbool decimal_comma
        string time_format
        EulerAngles euler
        double angle
        double radian
        cbool delta
        cbool geo
        Plane plane
        double missing
        void set_origin(Instant)

    cdef cppclass Record:
        Record()
        string_view entity
        void fill(const Record&)
        bint set(const Units&, int, string_view, Packet&)
        bint set_number(const Units&, int, double)
        int32_t finish(Units&, Packet&)

    int FIELD_NONE
    int FIELD_NO_ROTATION
    bint is_text(const char*, const char*)


cdef extern from "text/table.h" namespace "epic" nogil:
    cdef cppclass TablePlan:
        vector[int32_t] columns
        char delimiter

    bint scan_cell(const TablePlan&, const Units&, const char*, const char*, int32_t, Record&,
                   Packet&)
    bint scan_row(const TablePlan&, const Units&, const char*, const char*, Record&, Packet&)


cdef extern from "text/json.h" namespace "epic" nogil:
    cdef cppclass JsonNode:
        int32_t field

    cdef cppclass JsonPlan:
        vector[JsonNode] nodes
        int32_t step(int32_t, const string&)

    cdef cppclass EntriesPlan:
        JsonPlan shared
        JsonPlan own
        int32_t node
        cbool numbered

    cdef cppclass Entry:
        Record record
        Packet packet

    bint scan_entries(const EntriesPlan&, const Units&, const char*, const char*, vector[Entry]&)
    bint scan_object(const JsonPlan&, const Units&, const char*, const char*, Record&, Packet&)


# The fields of a packet (keys.py), in the order of the engine's own numbering.
ALL_FIELDS = tuple([FIELD_NAMES[field].decode() for field in range(FIELD_COUNT)])

# The fields that a packet must have; those that it may have; those of its rotation and its spin.
FIELDS, OPTIONAL_FIELDS = ALL_FIELDS[:FIELD_TIME + 1], ALL_FIELDS[FIELD_TIME + 1:]
TURN_FIELDS = ALL_FIELDS[FIELD_QX:]

# How yaw, pitch and roll make a rotation: their order, the axis of each and its sign. An order by
# letters is of turns about the body's own axes, yaw about z, pitch about y, roll about x.
EULER = {
    "".join("zyx"[axis] for axis in order): (order, (2, 1, 0), (1, 1, 1))
    for order in permutations(range(3))
} | {
    "unity": ((0, 1, 2), (1, 0, 2), (1, 1, 1)),
    "godot": ((0, 1, 2), (1, 0, 2), (1, 1, 1)),
    "unreal": ((0, 1, 2), (2, 1, 0), (1, -1, -1)),
}


cdef extern from "packets/quaternion.h" namespace "epic" nogil:
    double DEGREE "epic::kDegree"


cdef class RecordScanner:
    """A maker of packets from named fields: from whole lines where possible, or one by one.

    ``per_second``: this many of the unit of stamps are a second; None: they are dates or times of
    day (ISO 8601). ``arrival_per_second`` is the same of arrivals, ``delta_per_second`` of deltas;
    0: as the stamps. ``origin``: the time, in the stamps' unit, that becomes 0; None: the first
    packet's. Arrivals move with it if ``arrival_moves``; else the first packet's time becomes its
    arrival, if ``origin`` is None. ``scale`` is what lengths and velocities
    are multiplied by, or six such numbers, of x, y, z, vx, vy, vz as the recording has them.
    ``axes`` names the axes that become x, y and z; those that are left out are 0.
    ``decimal_comma``: ``1,5`` is 1.5. ``time_format`` is that of dates, as ``strptime`` has it;
    none: ISO 8601. ``delta``: a packet has what its entity's packet before had, where it lacks it.
    ``geo``: x and y are longitude and latitude in degrees, and become meters from ``place``
    (longitude and latitude in degrees; None: the first packet's), see ``geo.h``. ``euler`` is one
    of ``EULER``. ``angles``: deg or rad, for all of them; none: yaw, pitch and roll are in degrees,
    rotation vectors and spins in radians. ``missing``: a packet with this number for two of its
    axes has no place; NaN: there is none.
    """

    cdef readonly Entities entities
    cdef Units units
    cdef size_t usual               # packets in a block, about
    cdef vector[Record] before      # of each entity, its last one

    def __init__(self, Entities entities=None, *, per_second=1.0, arrival_per_second=0.0,
                 double delta_per_second=0.0, origin=0.0, bint arrival_moves=True, scale=1.0,
                 str axes="xyz", bint decimal_comma=False, str time_format="", bint delta=False,
                 bint geo=False, str euler="zyx", str angles="", double missing=NAN,
                 place=None):
        cdef int index
        self.entities = Entities() if entities is None else entities
        self.units.stamp.iso = per_second is None
        self.units.stamp.per_second = 1.0 if per_second is None else per_second
        if arrival_per_second == 0:
            arrival_per_second = per_second
        self.units.arrival.iso = arrival_per_second is None
        self.units.arrival.per_second = 1.0 if arrival_per_second is None else arrival_per_second
        self.units.delta_per_second = delta_per_second or self.units.stamp.per_second
        self.units.from_first = origin is None
        self.units.arrival_moves = arrival_moves
        if origin:
            self.units.set_origin(instant_of(origin))
        scales = (scale,) * 6 if isinstance(scale, (int, float)) else scale
        for index in range(6):
            self.units.scales[index] = scales[index]
            self.units.scaled |= scales[index] != 1
        for index in range(3):
            self.units.axes[index] = "xyz".index(axes[index]) if index < len(axes) else -1
        self.units.decimal_comma = decimal_comma
        self.units.time_format = time_format.encode()
        self.units.delta = delta
        self.units.geo = geo
        if place is not None:
            self.units.plane.begin(place[0], place[1])
        self.units.missing = missing
        if angles:
            self.units.angle = self.units.radian = 1.0 if angles == "rad" else DEGREE
        for index in range(3):
            self.units.euler.order[index] = EULER[euler][0][index]
            self.units.euler.axis[index] = EULER[euler][1][index]
            self.units.euler.sign[index] = EULER[euler][2][index]

    @property
    def beginning(self):
        """The time (s) that has become 0; None: there is none, or no packet yet."""
        if not self.units.moved:
            return None
        return (self.units.origin.whole + self.units.origin.part) / self.units.stamp.per_second

    @property
    def place(self):
        """Longitude and latitude (degrees) of what has become 0, 0; None: no packet yet."""
        if not self.units.plane.begun:
            return None
        return self.units.plane.longitude, self.units.plane.latitude

    def take_lines(self, PacketBlock block, size_t begin, int64_t line, size_t longest):
        """Add the packets of lines in the usual form, from ``begin`` up to the first other line.

        ``line`` is the number of the first line. A line of more than ``longest`` bytes, with its
        end, counts as another line. Return the place where the first other line begins, and its
        number.
        """
        cdef const char* text = block.text
        cdef size_t size = len(block.text)
        cdef const char* p = text + begin
        cdef const char* end = text + size
        cdef const char* newline
        cdef Packet place
        if block.items.size() == 0:     # later it grows by itself: this may be asked for each line
            block.items.reserve(self.usual)
        with nogil:
            while p < end:
                newline = <const char*>memchr(p, b"\n", end - p)
                if newline == NULL or <size_t>(newline - p) >= longest:
                    break
                place.line = line
                place.offset = <uint32_t>(p - text)
                place.length = <uint32_t>(newline + 1 - p)
                if not is_text(p, newline) or not self.take_line(block, p, newline, place):
                    break
                line += 1
                p = newline + 1
        self.usual = max(self.usual, block.items.size())
        return p - text, line

    def take_rows(self, PacketBlock block not None, ColumnRows rows not None, int64_t line,
                  size_t longest):
        """Add the packets of rows in the usual form, up to the first other row.

        ``line`` is the number of the first row. A row that may have ``longest`` bytes or more
        counts as another row. Return how many rows were taken.
        """
        return 0    # only a table's rows are read from columns

    cdef bint take_line(self, PacketBlock block, const char* p, const char* end,
                        const Packet& place) noexcept nogil:
        """Add the packets of a line at ``place``.

        Return False if the line is not in the usual form.
        """
        cdef Packet packet = place
        cdef Record record
        return self.scan_line(p, end, record, packet) and self.push(block, record, packet)

    cdef bint scan_line(self, const char* p, const char* end, Record& record,
                        Packet& packet) noexcept nogil:
        """Read the fields of a line; return False if the line is not in the usual form."""
        return False

    cdef bint push(self, PacketBlock block, Record& record, Packet& packet) noexcept nogil:
        """Add a packet, if it is complete."""
        if self.units.delta:
            return self.finish(block, record, packet) == FIELD_NONE and packet.entity >= 0
        if record.finish(self.units, packet) != FIELD_NONE:
            return False
        packet.entity = self.entities.names.assign_number(record.entity)
        if packet.entity < 0:
            return False
        block.items.push_back(packet)
        return True

    cdef int32_t finish(self, PacketBlock block, Record& record, Packet& packet) noexcept nogil:
        """Add the packet; return the field that the packet lacks.

        An entity that is no UTF-8 becomes -1.
        """
        cdef int32_t missing
        if self.units.delta:
            packet.entity = self.entities.names.assign_number(record.entity)
            if packet.entity >= 0:
                if self.before.size() <= <size_t>packet.entity:
                    self.before.resize(packet.entity + 1)
                record.fill(self.before[packet.entity])
        missing = record.finish(self.units, packet)
        if missing != FIELD_NONE:
            return missing
        if self.units.delta:
            if packet.entity >= 0:
                self.before[packet.entity] = record
        else:
            packet.entity = self.entities.names.assign_number(record.entity)
        if packet.entity >= 0:
            block.items.push_back(packet)
        return FIELD_NONE

    def add(self, PacketBlock block, dict fields, int64_t line, size_t offset, size_t length):
        """Add a packet from the texts of its fields by name, or return the faulty field.

        ``line``, ``offset`` and ``length`` are the place of the packet's text. An empty text is a
        missing field. Return None, or the ``reason`` and the ``field`` of a ``Refusal``.
        """
        from epic_cli.engine.refusals import Reason

        cdef Packet packet
        cdef Record record
        cdef bytes value
        cdef int32_t missing
        cdef list kept = []         # the record looks into them
        for field, text in fields.items():
            value = text.encode("utf-8", "surrogateescape")
            if field != "entity":
                value = value.strip()
            if value:
                kept.append(value)
                if not record.set(self.units, ALL_FIELDS.index(field), view(value), packet):
                    return self.wrong(field), field
        packet.line = line
        packet.offset = <uint32_t>offset
        packet.length = <uint32_t>length
        packet.has_extras = True    # the caller has not looked
        missing = self.finish(block, record, packet)
        if missing == FIELD_NO_ROTATION:
            return Reason.NOT_A_ROTATION, next(name for name in fields if name in TURN_FIELDS)
        if missing != FIELD_NONE:
            return Reason.FIELD_MISSING, ALL_FIELDS[missing]
        return (Reason.NAME_NOT_UTF8, "entity") if packet.entity < 0 else None

    cdef object wrong(self, str field):
        from epic_cli.engine.keys import type_of_key
        from epic_cli.engine.refusals import REASONS, Reason

        dates = {"time": self.units.stamp.iso, "arrival": self.units.arrival.iso}
        if dates.get(field):
            return Reason.NOT_A_DATE
        if field in ("x", "y") and self.units.geo:
            return Reason.NOT_DEGREES
        if field in FIELDS:
            return Reason.FIELD_NOT_A_NUMBER
        return REASONS.get(type_of_key(field), Reason.FIELD_NOT_A_NUMBER)


cdef class TableScanner(RecordScanner):
    """A reader of a table's rows.

    ``columns`` has for each column the name of its field, or None. ``delimiter`` separates them; a
    blank means any number of blanks.
    """

    cdef TablePlan plan

    def __init__(self, columns, str delimiter=",", Entities entities=None, **units):
        super().__init__(entities, **units)
        for field in columns:
            self.plan.columns.push_back(FIELD_NONE if field is None else ALL_FIELDS.index(field))
        self.plan.delimiter = <char>ord(delimiter)

    cdef bint scan_line(self, const char* p, const char* end, Record& record,
                        Packet& packet) noexcept nogil:
        return scan_row(self.plan, self.units, p, end, record, packet)

    def take_rows(self, PacketBlock block not None, ColumnRows rows not None, int64_t line,
                  size_t longest):
        cdef Packet place
        cdef size_t row = 0
        if rows.columns.size() != self.plan.columns.size() or self.plan.delimiter != b",":
            return 0
        if block.items.size() == 0:
            block.items.reserve(rows.count)
        with nogil:
            place.length = 0        # its text is that of the block's rows
            while row < rows.count:
                place.line = line + <int64_t>row
                place.offset = <uint32_t>row
                if not self.take_row(block, rows, row, longest, place):
                    break
                row += 1
        return row

    cdef bint take_row(self, PacketBlock block, ColumnRows rows, size_t row, size_t longest,
                       const Packet& place) noexcept nogil:
        """Add the packet of a row at ``place``; return False if the row is unusual."""
        cdef Packet packet = place
        cdef Record record
        cdef size_t index, room = rows.room_for(rows.begin + row)
        cdef int32_t field
        cdef double number
        cdef const Column* column
        cdef char* cell
        cdef char* end
        if room >= longest:
            return False
        if rows.cells.size() < room:
            rows.cells.resize(room)
        end = rows.cells.data()
        for index in range(self.plan.columns.size()):
            column = &rows.columns[index]
            field = self.plan.columns[index]
            if is_number(column[0]):
                number = read_number(column[0], rows.begin + row)
                if not isfinite(number):
                    continue
                if field == FIELD_NONE:
                    packet.has_extras = True
                    continue
                if record.set_number(self.units, field, number):
                    continue
            cell, end = end, rows.append(end, column[0], rows.begin + row)
            end[0] = b"\n"
            if not is_text(cell, end):
                return False
            if not scan_cell(self.plan, self.units, cell, end, field, record, packet):
                return False
            end += 1
        return self.push(block, record, packet)


cdef class JsonScanner(RecordScanner):
    """A reader of lines with an object each.

    ``paths`` has for each field that is wanted the names, from the outermost in, that lead to it; a
    name in digits is also the index in an array.
    """

    cdef JsonPlan plan

    def __init__(self, dict paths, Entities entities=None, **units):
        super().__init__(entities, **units)
        fill(self.plan, paths)

    cdef bint scan_line(self, const char* p, const char* end, Record& record,
                        Packet& packet) noexcept nogil:
        return scan_object(self.plan, self.units, p, end, record, packet)


cdef class EntriesScanner(RecordScanner):
    """A reader of lines with an object each that has an entry for each of several entities.

    ``steps`` are the names that lead to the entries, ``paths`` is as in ``JsonScanner`` for what
    they share, and ``own`` for what each of them has. Array entries are named by their index,
    unless each has its own time: then they are states of one entity.
    """

    cdef EntriesPlan plan
    cdef vector[Entry] entries      # of one line

    def __init__(self, steps, dict paths, dict own, Entities entities=None, **units):
        super().__init__(entities, **units)
        fill(self.plan.shared, paths)
        fill(self.plan.own, own)
        self.plan.numbered = "time" not in own
        self.plan.node = 0
        for name in steps:
            self.plan.node = self.plan.shared.step(self.plan.node, name.encode())

    cdef bint take_line(self, PacketBlock block, const char* p, const char* end,
                        const Packet& place) noexcept nogil:
        cdef size_t before = block.items.size()
        cdef size_t index
        cdef Packet* packet
        self.entries.clear()
        if not scan_entries(self.plan, self.units, p, end, self.entries):
            return False
        for index in range(self.entries.size()):
            packet = &self.entries[index].packet
            packet.line = place.line
            packet.offset = place.offset
            packet.length = place.length
            if not self.push(block, self.entries[index].record, packet[0]):
                block.items.resize(before)
                return False
        return True


cdef int fill(JsonPlan& plan, dict paths) except -1:
    """Make a plan of paths, by field."""
    cdef int32_t node
    for field, names in paths.items():
        node = 0
        for name in names:
            node = plan.step(node, name.encode())
        plan.nodes[node].field = ALL_FIELDS.index(field)
    return 0
