"""Samples to rows: how a tick is written, in each of the formats.

A table for people is aligned, and fitted to the width of their screen.
"""

from cpython.buffer cimport PyBUF_READ
from cpython.memoryview cimport PyMemoryView_FromMemory
from libc.stddef cimport size_t
from libc.string cimport memcpy
from libcpp.string cimport string
from libcpp.vector cimport vector

from epic_cli.engine.packets cimport (
    Angles, Entities, NONE, Sample, SampleBlock, Turn, angles_of, string_view,
)
from epic_cli.engine.text.widths import cut, pad, printable, width as columns_of


# How a table is laid out: the widths of its columns, blanks in front included (0: it has none of
# these), and of how many axes positions are shown. If limited, no row is wider than that.
cdef struct Layout:
    int time
    int position
    int axes
    int velocity
    int turn
    int status
    int name
    bint limited


cdef extern from "text/print_number.h" namespace "epic" nogil:
    const char** STATUS "epic::kStatus"
    char* append(char* out, const char* text)
    char* append_column2 "epic::append_column<2>"(char* out, double value, int width, bint limited)
    char* append_column3 "epic::append_column<3>"(char* out, double value, int width, bint limited)


ctypedef const char* Text

COLUMNS = ("time", "x", "y", "z", "vx", "vy", "vz", "status", "entity")

# The width of a status that is written out, two blanks in front; narrower, it is brief.
cdef enum:
    FULL_STATUS = 14
    ANGLE = 8           # the width of yaw, of pitch and of roll

# Layouts without a limit, then for ever smaller screens: the least important parts go first.
_UNLIMITED = (10, 12, 3, 12, 14, 8)
_LAYOUTS = (
    # time, position, axes, velocity, status, name at least
    (10, 12, 3, 12, 14, 10),
    (8, 10, 3, 9, 14, 10),
    (8, 10, 3, 9, 5, 10),
    (9, 9, 3, 0, 5, 8),
    (7, 9, 3, 0, 5, 8),
    (7, 9, 3, 0, 0, 8),
    (7, 9, 2, 0, 0, 8),
    (7, 9, 1, 0, 0, 4),
)

# By status: none, held, interpolated, extrapolated. Sixteen-color codes only.
cdef Text[4] COLORS = [b"\x1b[2m", b"\x1b[31m", b"\x1b[32m", b"\x1b[33m"]
cdef Text[4] BRIEF = [b"none", b"held", b"intp", b"extp"]
cdef Text[4] PADDED = [b"none        ", b"held        ", b"interpolated", b"extrapolated"]


cdef Layout layout_for(width, bint named, bint turns):
    """Return the widest layout that fits a screen of this many columns (None: any width).

    With ``turns`` it has angles, unless the screen is narrow: they go before positions, after
    velocities.
    """
    chosen, room, turn = _UNLIMITED, 0, ANGLE if turns else 0
    if width is not None:
        for chosen in _LAYOUTS:
            time, position, axes, velocity, status, name = chosen
            turn = ANGLE if turns and axes == 3 and status else 0
            room = width - time - axes * position - 3 * (velocity + turn) - status
            if room >= (name if named else 0):
                break
        room = max(room, 3)
    time, position, axes, velocity, status, name = chosen
    return Layout(time, position, axes, velocity, turn, status, (room or name) if named else 0,
                  width is not None)


cdef int width_for(list names, limit):
    """Return the width of a table's file column on a screen of ``limit`` columns.

    0 if there is no room. 0: no room.
    """
    natural = max(columns_of(printable(name)) for name in names)
    room = natural if limit is None else min(natural, limit // 4, limit - 20)
    return room if room >= 4 else 0


cdef tuple columns_left_out(Layout layout):
    """Return the names of the columns that a layout leaves out."""
    gone = ("x", "y", "z")[layout.axes:]
    if not layout.velocity:
        gone += ("vx", "vy", "vz")
    return gone if layout.status else (*gone, "status")


cdef bytes table_header(Layout layout):
    widths = [layout.time] + layout.axes * [layout.position] + (3 - layout.axes) * [0]
    widths += 3 * [layout.velocity] + 3 * [layout.turn]
    names = (*COLUMNS[:7], "yaw", "pitch", "roll")
    line = "".join(f"{name:>{width}}" for name, width in zip(names, widths) if width)
    status = ("  status" if layout.status == FULL_STATUS else " stat") if layout.status else ""
    name = cut("  entity", layout.name) if layout.name else ""
    return f"{line + (status.ljust(layout.status) if name else status)}{name}\n".encode()


cdef char* table_row(char* out, const Sample& sample, string_view entity,
                     const Layout& layout, bint color) noexcept nogil:
    cdef int velocity = layout.velocity
    cdef bint limited = layout.limited
    cdef Angles angles
    cdef bint brief = layout.status < FULL_STATUS
    out = append_column3(out, sample.time, layout.time, limited)
    if sample.status == NONE:
        out = append_dashes(out, layout.position, layout.axes)
        if velocity:
            out = append_dashes(out, velocity, 3)
        if layout.turn:
            out = append_dashes(out, layout.turn, 3)
    else:
        out = append_column2(out, sample.position.x, layout.position, limited)
        if layout.axes > 1:
            out = append_column2(out, sample.position.y, layout.position, limited)
        if layout.axes > 2:
            out = append_column2(out, sample.position.z, layout.position, limited)
        if velocity:
            out = append_column3(out, sample.velocity.x, velocity, limited)
            out = append_column3(out, sample.velocity.y, velocity, limited)
            out = append_column3(out, sample.velocity.z, velocity, limited)
        if layout.turn and sample.turn.known():
            angles = angles_of(sample.turn.value().rotation)
            out = append_column2(out, angles.yaw, layout.turn, limited)
            out = append_column2(out, angles.pitch, layout.turn, limited)
            out = append_column2(out, angles.roll, layout.turn, limited)
        elif layout.turn:
            out = append_dashes(out, layout.turn, 3)
    if layout.status:
        out = append(out, b" " if brief else b"  ")
        if color:
            out = append(out, COLORS[sample.status])
        if brief:
            out = append(out, BRIEF[sample.status])
        else:
            out = append(out, STATUS[sample.status] if entity.empty() else PADDED[sample.status])
        if color:
            out = append(out, b"\x1b[0m")
    if not entity.empty() and layout.name:
        out = append(out, b"  ")
        if limited:
            memcpy(out, entity.data(), entity.size())
            out += entity.size()
        else:
            out = append_escaped(out, entity, b"\\x", False)
    return append(out, b"\n")


cdef char* append_dashes(char* out, int width, int count) noexcept nogil:
    cdef int index
    for _ in range(count):
        for index in range(width - 1):
            out[index] = b" "
        out[width - 1] = b"-"
        out += width
    return out


cdef extern from "text/print_number.h" namespace "epic" nogil:
    char* append(char* out, const char* text)
    bint isfinite "std::isfinite"(double value)

    cdef cppclass SecondsText:
        pass
    char* append_epic_row(char* out, const Sample& sample, SecondsText& seconds)

cdef extern from "text/fast_path/processor.h" namespace "epic" nogil:
    bint takes_wide_ways()

cdef extern from "text/fast_path/shortest.h" namespace "epic" nogil:
    char* append_usual_shortest(char* out, double value)

cdef extern from "text/fast_path/rows.h" namespace "epic" nogil:
    enum:
        ROWS_AT_ONCE "epic::kRowsAtOnce"
    char* append_usual_rows(char* out, const Sample* samples, size_t count, SecondsText& seconds)


# The columns that rows have behind those of the velocity where the recording has rotations.
TURN_COLUMNS = ("qx", "qy", "qz", "qw", "wx", "wy", "wz")

FORMATS = ("epic", "table", "tsv", "csv", "jsonl")

cdef enum RowFormat:
    EPIC
    TABLE
    TSV
    CSV
    JSONL

# More than the longest row has without its name: 14 numbers of up to 313 characters.
cdef enum:
    LONGEST_SAMPLE = 5000

cdef class RowWriter:
    """A writer of samples in one of ``FORMATS``.

    ``epic`` is the demo's own format, byte for byte what C's printf writes. ``table`` is aligned
    for people, colored by status if ``color`` is set, with a column of names if ``named``; on a
    screen of ``width`` columns (20 or more; None: not a screen, no limit) no row is longer than
    that: names are cut, numbers rounded, and the least important columns ``left_out``. The others
    have every digit: the shortest decimal that reads back as the same number. Names of entities are
    escaped where they could steer a terminal or end a row; CSV, which has no escapes, holds them as
    they are unless it is for a screen. ``wide`` writes the demo's format with the fast path; by
    default where the processor has it.

    ``turns``: the recording has rotations. Rows then have columns for them, a table for yaw, pitch
    and roll in degrees, where there is room.

    ``file_column`` is the name of an extra column, the last one (in a table the first), with the
    name that ``begin_file`` was given; a table makes room for those of ``files``.
    """

    cdef readonly str format
    cdef readonly tuple left_out
    cdef RowFormat kind
    cdef bint color
    cdef bint shown
    cdef Layout layout
    cdef vector[string] names
    cdef string out
    cdef SecondsText seconds
    cdef bint wide
    cdef readonly bint turns
    cdef readonly object file_column
    cdef int file_width
    cdef string file            # what each row has of it

    def __init__(self, str row_format="epic", bint color=False, width=None, bint named=True,
                 wide=None, file_column=None, files=(), bint turns=False):
        if row_format not in FORMATS:
            known = ", ".join(FORMATS)
            raise ValueError(f"unknown format {row_format!r}: it must be one of {known}")
        self.format = row_format
        self.kind = <RowFormat><int>FORMATS.index(row_format)
        self.color = color
        self.shown = width is not None
        self.file_column = file_column
        if self.kind == TABLE and file_column is not None:
            self.file_width = width_for([file_column, *files], width)
        self.turns = turns
        self.layout = layout_for(width and width - self.file_width, named, turns)
        self.left_out = columns_left_out(self.layout) if self.kind == TABLE else ()
        if self.kind == TABLE and file_column is not None and not self.file_width:
            self.left_out = (file_column, *self.left_out)
        self.wide = takes_wide_ways() if wide is None else wide

    def header(self):
        """Return the header; empty if the format has none."""
        if self.kind == TABLE:
            return self.file_text(self.file_column) + table_header(self.layout)
        if self.kind == CSV or self.kind == TSV:
            names = (*COLUMNS[:7], *TURN_COLUMNS, *COLUMNS[7:]) if self.turns else COLUMNS
            columns = (b"," if self.kind == CSV else b"\t").join(map(str.encode, names))
            return columns + self.file_text(self.file_column) + b"\n"
        return b""

    def begin_file(self, str name):
        """Take the name of the file that the next rows belong to."""
        self.file = self.file_text(name)

    cdef bytes file_text(self, name):
        """Return a file's name as rows or the header show it; empty without a file column."""
        if self.file_column is None or self.kind == EPIC:
            return b""
        name = name.encode("utf-8", "backslashreplace").decode()
        if self.kind == TABLE:
            return pad(printable(name), self.file_width).encode() if self.file_width else b""
        if self.kind == JSONL:
            return b', "' + escaped(self.file_column, b"\\u00", True) + b'": "' + escaped(
                name, b"\\u00", True) + b'"'
        return b"," + quoted(name, self.shown) if self.kind == CSV else b"\t" + escaped(
            name, b"\\x", False)

    def rows(self, SampleBlock block not None, Entities entities not None):
        """Return the rows of a block's samples."""
        cdef size_t size = self.fill(block, entities)
        return self.out.data()[:size] if size else b""

    def view(self, SampleBlock block not None, Entities entities not None):
        """Return the rows as a ``memoryview``, valid until the next rows are written."""
        cdef size_t size = self.fill(block, entities)
        return PyMemoryView_FromMemory(&self.out[0], size, PyBUF_READ) if size else b""

    cdef size_t fill(self, SampleBlock block, Entities entities) except? 0:
        """Put the rows into ``out``; return their size."""
        cdef size_t size = 0
        cdef size_t index
        cdef char* p
        # the names are escaped on their way out: up to six characters for one
        cdef size_t longest = LONGEST_SAMPLE + 6 * entities.names.longest() + self.file.size()
        cdef bint shorten = self.kind == TABLE and self.layout.limited
        if self.kind == EPIC:
            with nogil:
                size = self.epic_rows(block.items)
            return size
        if shorten:
            self.shorten(entities)
        with nogil:
            for index in range(block.items.size()):
                if self.out.size() < size + longest:
                    self.out.resize(2 * size + longest)
                p = &self.out[0] + size
                if self.kind == TABLE:
                    p = append_string(p, self.file)
                if shorten:
                    p = table_row(p, block.items[index],
                                  string_view(self.names[block.items[index].entity].data(),
                                              self.names[block.items[index].entity].size()),
                                  self.layout, self.color)
                else:
                    p = self.row(p, block.items[index],
                                 entities.names.name(block.items[index].entity))
                size = p - &self.out[0]
        return size

    cdef size_t epic_rows(self, const vector[Sample]& samples) noexcept nogil:
        """Put the rows into ``out``; return their size."""
        cdef size_t size = 0
        cdef size_t index = 0
        cdef size_t count
        cdef char* p
        while index < samples.size():
            count = min(samples.size() - index, <size_t>ROWS_AT_ONCE)
            if self.out.size() < size + LONGEST_SAMPLE * ROWS_AT_ONCE:
                self.out.resize(2 * size + LONGEST_SAMPLE * ROWS_AT_ONCE)
            p = &self.out[0] + size
            if self.wide:
                p = append_usual_rows(p, &samples[index], count, self.seconds)
                index += count
            else:
                p = append_epic_row(p, samples[index], self.seconds)
                index += 1
            size = p - &self.out[0]
        return size

    cdef void shorten(self, Entities entities):
        """Shorten the displayed names to fit their column."""
        cdef size_t index
        for index in range(self.names.size(), entities.names.size()):
            text = escaped(entities.name(<int>index), b"\\x", False).decode()
            self.names.push_back(cut(printable(text), max(self.layout.name - 2, 1)).encode())

    cdef char* row(self, char* out, const Sample& sample, string_view entity) noexcept nogil:
        if self.kind == TABLE:
            return table_row(out, sample, entity, self.layout, self.color)
        if self.kind == JSONL:
            out = append_string(json_row(out, sample, entity), self.file)
            return append(out, b"}\n")
        out = separated_row(out, sample, entity, b"," if self.kind == CSV else b"\t", self.shown,
                            self.turns)
        return append(append_string(out, self.file), b"\n")


cdef Text[7] TURN_KEYS = [b', "qx": ', b', "qy": ', b', "qz": ', b', "qw": ', b', "wx": ',
                          b', "wy": ', b', "wz": ']


cdef double turn_number(const Turn& turn, int index) noexcept nogil:
    """Return the numbers of ``TURN_COLUMNS``."""
    cdef double[7] numbers
    numbers = [turn.rotation.x, turn.rotation.y, turn.rotation.z, turn.rotation.w,
               turn.spin.x, turn.spin.y, turn.spin.z]
    return numbers[index]


cdef char* separated_row(char* out, const Sample& sample, string_view entity,
                         const char* separator, bint shown, bint turns) noexcept nogil:
    cdef double[6] numbers
    cdef int index
    numbers = [sample.position.x, sample.position.y, sample.position.z,
               sample.velocity.x, sample.velocity.y, sample.velocity.z]
    out = append_usual_shortest(out, sample.time)
    for index in range(6):
        out = append(out, separator)
        if sample.status != NONE:
            out = append_usual_shortest(out, numbers[index])
    if turns:
        for index in range(7):
            out = append(out, separator)
            if sample.turn.known():
                out = append_usual_shortest(out, turn_number(sample.turn.value(), index))
    out = append(out, separator)
    out = append(out, STATUS[sample.status])
    out = append(out, separator)
    if separator[0] == b",":
        return append_quoted(out, entity, shown)
    return append_escaped(out, entity, b"\\x", False)


cdef char* json_row(char* out, const Sample& sample, string_view entity) noexcept nogil:
    cdef double[6] numbers
    cdef Text[6] keys
    cdef int index
    numbers = [sample.position.x, sample.position.y, sample.position.z,
               sample.velocity.x, sample.velocity.y, sample.velocity.z]
    keys = [b', "x": ', b', "y": ', b', "z": ', b', "vx": ', b', "vy": ', b', "vz": ']
    out = append(out, b'{"time": ')
    out = append_usual_shortest(out, sample.time)
    for index in range(6):
        out = append(out, keys[index])
        # JSON has neither infinity nor NaN
        if sample.status != NONE and isfinite(numbers[index]):
            out = append_usual_shortest(out, numbers[index])
        else:
            out = append(out, b"null")
    if sample.turn.known():
        for index in range(7):
            out = append(out, TURN_KEYS[index])
            if isfinite(turn_number(sample.turn.value(), index)):
                out = append_usual_shortest(out, turn_number(sample.turn.value(), index))
            else:
                out = append(out, b"null")
    out = append(out, b', "status": "')
    out = append(out, STATUS[sample.status])
    out = append(out, b'", "entity": "')
    out = append_escaped(out, entity, b"\\u00", True)
    return append(out, b'"')
