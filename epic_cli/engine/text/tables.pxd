from epic_cli.engine.packets cimport Sample, string_view


# How a table is laid out: the widths of its columns, blanks in front included (0: it has none of
# these), and of how many axes positions are shown. Limited, no row is wider than that.
cdef struct Layout:
    int time
    int position
    int axes
    int velocity
    int status
    int name
    bint limited

# Where there is no limit, and for ever smaller screens: what matters least goes first.
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


cdef Layout layout_for(width, bint named)
cdef int width_for(list names, limit)
cdef tuple columns_left_out(Layout layout)
cdef bytes table_header(Layout layout)
cdef char* table_row(char* out, const Sample& sample, string_view entity,
                     const Layout& layout, bint color) noexcept nogil
