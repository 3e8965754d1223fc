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


cdef Layout layout_for(width, bint named)
cdef int width_for(list names, limit)
cdef tuple columns_left_out(Layout layout)
cdef bytes table_header(Layout layout)
cdef char* table_row(char* out, const Sample& sample, string_view entity,
                     const Layout& layout, bint color) noexcept nogil
