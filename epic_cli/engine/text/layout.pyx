"""Rows as an aligned table for people, fitted to the width of their screen."""

from libc.string cimport memcpy

from epic_cli.engine.packets cimport NONE, Angles, Sample, angles_of, string_view

from epic_cli.engine.text.widths import cut, printable, width as columns_of


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

# By status: none, held, interpolated, extrapolated. Sixteen-colour codes only.
cdef Text[4] COLOURS = [b"\x1b[2m", b"\x1b[31m", b"\x1b[32m", b"\x1b[33m"]
cdef Text[4] BRIEF = [b"none", b"held", b"intp", b"extp"]
cdef Text[4] PADDED = [b"none        ", b"held        ", b"interpolated", b"extrapolated"]


cdef Layout layout_for(width, bint named, bint turns):
    """The widest layout that fits a screen of so many columns; None: any width.

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
    """The width of a table's column of files on a screen of ``limit`` columns; 0: no room."""
    natural = max(columns_of(printable(name)) for name in names)
    room = natural if limit is None else min(natural, limit // 4, limit - 20)
    return room if room >= 4 else 0


cdef tuple columns_left_out(Layout layout):
    """The names of the columns that a layout leaves out."""
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
            out = append(out, COLOURS[sample.status])
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
