"""Columns of numbers and texts to rows of CSV, a block of rows at once.

A table in memory is read as the same table in a file is: its rows are written as CSV, by compiled
code and without a Python object for each cell, and then scanned.
"""

from cpython.buffer cimport PyBUF_SIMPLE, PyBuffer_Release, PyObject_GetBuffer
from libc.math cimport isfinite
from libc.stdint cimport (
    int8_t,
    int16_t,
    int32_t,
    int64_t,
    uint8_t,
    uint16_t,
    uint32_t,
    uint64_t,
)
from libcpp.vector cimport vector


cdef extern from "text/column_cell.h" namespace "epic" nogil:
    char* append_shortest_number "epic::append_repr"(char*, double)
    char* append_unsigned(char*, uint64_t)
    char* append_cell(char*, const char*, size_t, bint)

    enum:
        LONGEST_NUMBER "epic::kLongestNumberCell"


cdef enum ColumnKind:
    KIND_FLOAT32
    KIND_FLOAT64
    KIND_INT8
    KIND_INT16
    KIND_INT32
    KIND_INT64
    KIND_UINT8
    KIND_UINT16
    KIND_UINT32
    KIND_UINT64
    KIND_BOOL       # a byte each
    KIND_BIT        # a bit each, the lowest first, as Arrow has them
    KIND_FIXED      # texts of ``width`` bytes, filled up with NUL
    KIND_TEXT32     # texts in one buffer, between 32-bit offsets
    KIND_TEXT64
    KIND_CELL64     # as texts, of any values
    KIND_EMPTY      # no value in any row


_KINDS = {
    "float32": KIND_FLOAT32, "float64": KIND_FLOAT64,
    "int8": KIND_INT8, "int16": KIND_INT16, "int32": KIND_INT32, "int64": KIND_INT64,
    "uint8": KIND_UINT8, "uint16": KIND_UINT16, "uint32": KIND_UINT32, "uint64": KIND_UINT64,
    "bool": KIND_BOOL, "bit": KIND_BIT, "fixed": KIND_FIXED,
    "text32": KIND_TEXT32, "text64": KIND_TEXT64, "cell64": KIND_CELL64, "empty": KIND_EMPTY,
}

# The kinds of columns that ``ColumnRows`` takes.
COLUMN_KINDS = frozenset(_KINDS)


cdef struct Column:
    ColumnKind kind
    const char* data
    const char* texts
    const uint8_t* valid    # a bit for each row; NULL: all rows have a value
    size_t offset           # of the first row, in values
    size_t width            # of a text of fixed width, in bytes


cdef inline bint is_set(const uint8_t* bits, size_t index) noexcept nogil:
    return bits[index >> 3] >> (index & 7) & 1


cdef class ColumnRows:
    """A writer of rows of CSV from columns of ``count`` values each.

    A column is (kind, values, texts, validity, offset, width): one of ``COLUMN_KINDS``, buffers
    (None for those that the kind has not), the place of its first value, and the bytes of a text
    of fixed width. ``validity`` is a bitmap as Arrow has it; None: all values are there. Values are
    in the machine's byte order. Numbers are written with the shortest decimal that reads back as
    the same double, missing ones and those that are not finite as empty cells, True as 1. A line
    feed in a text becomes a blank. The buffers are held as long as this object lives. Raises
    ``ValueError`` for a buffer that is too small.
    """

    cdef vector[Column] columns
    cdef vector[Py_buffer] buffers
    cdef readonly size_t count

    def __init__(self, columns, size_t count):
        cdef Column column
        self.count = count
        for kind, values, texts, validity, offset, width in columns:
            column.kind = _KINDS[kind]
            column.offset = offset
            column.width = width
            column.texts = NULL
            column.valid = NULL
            column.data = self.hold(values, self.needed(column))
            if column.kind in (KIND_TEXT32, KIND_TEXT64, KIND_CELL64):
                column.texts = self.hold(texts, self.last_text(column))
                if column.texts == NULL:
                    column.texts = b""
            if validity is not None:
                column.valid = <const uint8_t*>self.hold(validity, (column.offset + count + 7) // 8)
            self.columns.push_back(column)

    def __dealloc__(self):
        cdef size_t index
        for index in range(self.buffers.size()):
            PyBuffer_Release(&self.buffers[index])

    cdef size_t needed(self, const Column& column) except? 0:
        """Return how many bytes the values of a column take."""
        cdef size_t end = column.offset + self.count
        if column.kind in (KIND_INT8, KIND_UINT8, KIND_BOOL):
            return end
        if column.kind in (KIND_INT16, KIND_UINT16):
            return 2 * end
        if column.kind in (KIND_FLOAT32, KIND_INT32, KIND_UINT32):
            return 4 * end
        if column.kind in (KIND_FLOAT64, KIND_INT64, KIND_UINT64):
            return 8 * end
        if column.kind == KIND_BIT:
            return (end + 7) // 8
        if column.kind == KIND_FIXED:
            return end * column.width
        if column.kind == KIND_TEXT32:
            return 4 * (end + 1) if self.count else 0
        if column.kind in (KIND_TEXT64, KIND_CELL64):
            return 8 * (end + 1) if self.count else 0
        return 0

    cdef size_t last_text(self, const Column& column) except? 0:
        """Check the offsets of a column of texts; return the end of the last text."""
        cdef size_t index
        cdef int64_t before = 0, at
        if not self.count:
            return 0
        for index in range(column.offset, column.offset + self.count + 1):
            at = self.text_at(column, index)
            if at < before:
                raise ValueError("the offsets of a column of texts go back")
            before = at
        return <size_t>before

    cdef inline int64_t text_at(self, const Column& column, size_t index) noexcept nogil:
        if column.kind == KIND_TEXT32:
            return (<const int32_t*>column.data)[index]
        return (<const int64_t*>column.data)[index]

    cdef const char* hold(self, object values, size_t size) except? NULL:
        """Return a buffer's bytes, of which there must be as many as ``size``."""
        cdef Py_buffer buffer
        if values is None:
            if size:
                raise ValueError("a column has no buffer")
            return NULL
        PyObject_GetBuffer(values, &buffer, PyBUF_SIMPLE)
        self.buffers.push_back(buffer)
        if <size_t>buffer.len < size:
            raise ValueError(f"a column's buffer has {buffer.len} bytes and needs {size}")
        return <const char*>buffer.buf

    def lines(self, size_t begin, size_t end):
        """Return the rows from ``begin`` to before ``end`` as CSV."""
        cdef vector[char] out
        cdef size_t size = 0, row, index, room
        cdef char* place
        end = min(end, self.count)
        with nogil:
            for row in range(begin, end):
                room = 1
                for index in range(self.columns.size()):
                    room += 1 + self.longest(self.columns[index], row)
                if out.size() < size + room:
                    out.resize(2 * size + room)
                place = out.data() + size
                for index in range(self.columns.size()):
                    if index:
                        place[0] = b","
                        place += 1
                    place = self.append(place, self.columns[index], row)
                place[0] = b"\n"
                size = place + 1 - out.data()
        return out.data()[:size] if size else b""

    cdef inline size_t longest(self, const Column& column, size_t row) noexcept nogil:
        """Return how many bytes the cell of a row may take."""
        cdef size_t index = column.offset + row
        if column.kind == KIND_FIXED:
            return 2 * column.width + 2
        if column.kind in (KIND_TEXT32, KIND_TEXT64, KIND_CELL64):
            return 2 * <size_t>(self.text_at(column, index + 1) - self.text_at(column, index)) + 2
        return LONGEST_NUMBER

    cdef char* append(self, char* out, const Column& column, size_t row) noexcept nogil:
        """Append the cell of a row."""
        cdef size_t index = column.offset + row, begin, width
        cdef const char* data = column.data

        if column.valid != NULL and not is_set(column.valid, index):
            return out
        if column.kind == KIND_FLOAT64:
            return append_float(out, (<const double*>data)[index])
        if column.kind == KIND_FLOAT32:
            return append_float(out, (<const float*>data)[index])
        if column.kind == KIND_INT64:
            return append_signed(out, (<const int64_t*>data)[index])
        if column.kind == KIND_INT32:
            return append_signed(out, (<const int32_t*>data)[index])
        if column.kind == KIND_INT16:
            return append_signed(out, (<const int16_t*>data)[index])
        if column.kind == KIND_INT8:
            return append_signed(out, (<const int8_t*>data)[index])
        if column.kind == KIND_UINT64:
            return append_unsigned(out, (<const uint64_t*>data)[index])
        if column.kind == KIND_UINT32:
            return append_unsigned(out, (<const uint32_t*>data)[index])
        if column.kind == KIND_UINT16:
            return append_unsigned(out, (<const uint16_t*>data)[index])
        if column.kind == KIND_UINT8:
            return append_unsigned(out, (<const uint8_t*>data)[index])
        if column.kind == KIND_BOOL:
            return append_unsigned(out, data[index] != 0)
        if column.kind == KIND_BIT:
            return append_unsigned(out, is_set(<const uint8_t*>data, index))
        if column.kind == KIND_FIXED:
            data += index * column.width
            width = column.width
            while width and not data[width - 1]:
                width -= 1
            return append_cell(out, data, width, True)
        if column.kind in (KIND_TEXT32, KIND_TEXT64, KIND_CELL64):
            begin = <size_t>self.text_at(column, index)
            return append_cell(
                out, column.texts + begin, <size_t>self.text_at(column, index + 1) - begin,
                column.kind != KIND_CELL64)
        return out


cdef inline char* append_float(char* out, double value) noexcept nogil:
    return append_shortest_number(out, value) if isfinite(value) else out


cdef inline char* append_signed(char* out, int64_t value) noexcept nogil:
    if value >= 0:
        return append_unsigned(out, <uint64_t>value)
    out[0] = b"-"
    return append_unsigned(out + 1, <uint64_t>0 - <uint64_t>value)
