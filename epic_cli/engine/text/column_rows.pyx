"""Rows of columns of numbers and texts, without a Python object for each cell.

A table in memory is read as the same table in a file is. ``TableScanner`` takes numbers as they
are; a row that needs a closer look is written as CSV and read as text.
"""

from cpython.buffer cimport PyBUF_SIMPLE, PyBuffer_Release, PyObject_GetBuffer
from libc.math cimport NAN, isfinite
from libc.stdint cimport (
    INT64_MIN,
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
    char* append_wide_cell(char*, const uint32_t*, size_t)
    char* append_stamp(char*, int64_t, int64_t, bint)
    char* append_date(char*, int64_t)
    char* append_interval(char*, const char*)
    char* append_decimal(char*, const char*, size_t, size_t)
    double half_to_double(uint16_t)

    enum:
        LONGEST_NUMBER "epic::kLongestNumberCell"


cdef enum ColumnKind:
    KIND_FLOAT16
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
    KIND_WIDE       # texts of ``width`` code points of 32 bits, filled up with NUL
    KIND_TEXT32     # texts in one buffer, between 32-bit offsets
    KIND_TEXT64
    KIND_CELL64     # as texts, of any values
    KIND_VIEW       # texts in place or in one of some buffers, as Arrow's views have them
    KIND_STAMP      # times since 1970, ``width`` units a second
    KIND_ZONED      # as these, in UTC
    KIND_DATE       # days since 1970
    KIND_DURATION   # ``width`` units a second
    KIND_INTERVAL   # months, days and nanoseconds
    KIND_DECIMAL32  # whole numbers, the last ``width`` digits of which are behind the point
    KIND_DECIMAL64
    KIND_DECIMAL128
    KIND_KEYS       # places in a column of words
    KIND_EMPTY      # no value in any row


_KINDS = {
    "float16": KIND_FLOAT16, "float32": KIND_FLOAT32, "float64": KIND_FLOAT64,
    "int8": KIND_INT8, "int16": KIND_INT16, "int32": KIND_INT32, "int64": KIND_INT64,
    "uint8": KIND_UINT8, "uint16": KIND_UINT16, "uint32": KIND_UINT32, "uint64": KIND_UINT64,
    "bool": KIND_BOOL, "bit": KIND_BIT, "fixed": KIND_FIXED, "wide": KIND_WIDE,
    "text32": KIND_TEXT32, "text64": KIND_TEXT64, "cell64": KIND_CELL64, "view": KIND_VIEW,
    "stamp": KIND_STAMP, "zoned_stamp": KIND_ZONED, "date": KIND_DATE, "duration": KIND_DURATION,
    "interval": KIND_INTERVAL,
    "decimal32": KIND_DECIMAL32, "decimal64": KIND_DECIMAL64, "decimal128": KIND_DECIMAL128,
    "keys": KIND_KEYS, "empty": KIND_EMPTY,
}

# The kinds of columns that ``ColumnRows`` takes.
COLUMN_KINDS = frozenset(_KINDS)


# A missing time of NumPy; and the longest text of Arrow's views that lies in the view itself.
cdef int64_t NO_TIME = INT64_MIN
cdef int32_t SHORT_TEXT = 12


cdef struct Column:
    ColumnKind kind
    const char* data
    const char* texts
    const uint8_t* valid    # a bit for each row; NULL: all rows have a value
    size_t offset           # of the first row, in values
    size_t width            # of a text, units of a second, or digits behind the point
    size_t part             # of views the first buffer; of keys the place of keys and words


cdef inline bint is_set(const uint8_t* bits, size_t index) noexcept nogil:
    return bits[index >> 3] >> (index & 7) & 1


cdef class ColumnRows:
    """The rows of columns of ``count`` values each.

    A column is (kind, values, texts, validity, offset, width): one of ``COLUMN_KINDS``, buffers
    (None for those that the kind has not), the place of its first value, and of texts of fixed
    width their characters, of times their units in a second, of decimals the digits behind the
    point. ``texts`` of a view is a list of buffers. A column of keys has the column of its keys for
    ``values``, and (count, column) of its words for ``texts``. ``validity`` is a bitmap as Arrow
    has it; None: all values are there.

    Values are in the machine's byte order. As CSV, numbers are written with the shortest decimal
    that reads back as the same double, missing ones and those that are not finite as empty cells,
    True as 1, times as ISO 8601, durations in seconds. A line feed in a text becomes a blank. The
    buffers are held as long as this object lives. Raises ``ValueError`` for a buffer that is too
    small.
    """

    cdef vector[Column] columns
    cdef vector[Column] parts           # the keys and the words of columns of keys
    cdef vector[const char*] views      # the buffers of columns of views
    cdef vector[Py_ssize_t] view_sizes
    cdef vector[Py_buffer] buffers
    cdef ColumnRows whole               # the rows that these are a part of, which hold the buffers
    cdef size_t begin                   # the place of the first row in the columns
    cdef size_t room                    # bytes that the cells of one width may take
    cdef vector[size_t] varying         # the columns of the others
    cdef vector[char] cells             # room for the cells of a row
    cdef readonly size_t count

    def __init__(self, columns, size_t count):
        cdef size_t index = 0
        self.count = count
        for column in columns:
            self.columns.push_back(self.take(column, count))
        for index in range(self.columns.size()):
            if has_one_width(self.columns[index]):
                self.room += 1 + self.longest(self.columns[index], 0)
            else:
                self.varying.push_back(index)

    def part(self, size_t begin, size_t end):
        """Return the rows from ``begin`` to before ``end``."""
        cdef ColumnRows part = ColumnRows.__new__(ColumnRows)
        part.columns, part.parts, part.views = self.columns, self.parts, self.views
        part.room, part.varying = self.room, self.varying
        part.whole = self
        end = min(end, self.count)
        part.begin = self.begin + min(begin, end)
        part.count = end - min(begin, end)
        return part

    def __len__(self):
        return self.count

    def __bytes__(self):
        return self.lines(0, self.count)

    cdef Column take(self, tuple described, size_t count) except *:
        """Check and hold a column of ``count`` values."""
        cdef Column column, keys, words
        cdef size_t row, number
        kind, values, texts, validity, column.offset, column.width = described
        column.kind = _KINDS[kind]
        column.texts = column.data = NULL
        column.valid = NULL
        column.part = 0
        if validity is not None:
            column.valid = <const uint8_t*>self.hold(validity, (column.offset + count + 7) // 8)
        if column.kind == KIND_KEYS:
            number, content = texts
            keys = self.take(values, count)
            words = self.take(content, number)
            for row in range(count):
                if is_valid(column, row) and read_key(keys, row) >= number:
                    raise ValueError("a key has no word")
            column.part = self.parts.size()
            self.parts.push_back(keys)
            self.parts.push_back(words)
            return column
        column.data = self.hold(values, bytes_needed(column, count))
        if column.kind in (KIND_TEXT32, KIND_TEXT64, KIND_CELL64):
            column.texts = self.hold(texts, last_text(column, count))
            if column.texts == NULL:
                column.texts = b""
        elif column.kind == KIND_VIEW:
            self.take_views(column, texts, count)
        return column

    cdef int take_views(self, Column& column, list buffers, size_t count) except -1:
        """Hold the buffers of a column of views, in which all texts must lie."""
        cdef size_t row, known
        cdef const int32_t* view
        column.part = self.views.size()
        for buffer in buffers:
            self.views.push_back(self.hold(buffer, 0))
            self.view_sizes.push_back(self.buffers.back().len if buffer is not None else 0)
        known = self.views.size() - column.part
        for row in range(count):
            view = view_at(column, row)
            if is_valid(column, row) and (view[0] < 0 or view[0] > SHORT_TEXT and (
                    not 0 <= view[2] < <int64_t>known or view[3] < 0
                    or <int64_t>view[3] + view[0] > self.view_sizes[column.part + view[2]])):
                raise ValueError("a text lies outside of its buffer")
        return 0

    def __dealloc__(self):
        cdef size_t index
        for index in range(self.buffers.size()):
            PyBuffer_Release(&self.buffers[index])

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
            for row in range(self.begin + begin, self.begin + end):
                room = self.room_for(row)
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

    cdef size_t room_for(self, size_t row) noexcept nogil:
        """Return how many bytes the cells of a row may take, with what stands between them."""
        cdef size_t room = 1 + self.room, index
        for index in range(self.varying.size()):
            room += 1 + self.longest(self.columns[self.varying[index]], row)
        return room

    cdef size_t longest(self, const Column& column, size_t row) noexcept nogil:
        """Return how many bytes the cell of a row may take."""
        cdef size_t index = column.offset + row
        if column.kind == KIND_FIXED:
            return 2 * column.width + 2
        if column.kind == KIND_WIDE:
            return 4 * column.width + 2
        if has_one_width(column):
            return LONGEST_NUMBER
        if column.kind in (KIND_TEXT32, KIND_TEXT64, KIND_CELL64):
            return 2 * <size_t>(text_at(column, index + 1) - text_at(column, index)) + 2
        if not is_valid(column, row):
            return 0
        if column.kind == KIND_VIEW:
            return 2 * <size_t>view_at(column, row)[0] + 2
        if column.kind == KIND_KEYS:
            return self.longest(self.parts[column.part + 1],
                                read_key(self.parts[column.part], row))
        return 0

    cdef char* append(self, char* out, const Column& column, size_t row) noexcept nogil:
        """Append the cell of a row."""
        cdef size_t index = column.offset + row, begin, width
        cdef const char* data = column.data
        cdef const int32_t* view

        if not is_valid(column, row):
            return out
        if column.kind in (KIND_FLOAT64, KIND_FLOAT32, KIND_FLOAT16):
            return append_float(out, read_number(column, row))
        if column.kind in (KIND_INT64, KIND_INT32, KIND_INT16, KIND_INT8):
            return append_signed(out, read_signed(column, index))
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
        if column.kind == KIND_WIDE:
            return append_wide_cell(
                out, <const uint32_t*>data + index * column.width, column.width)
        if column.kind in (KIND_TEXT32, KIND_TEXT64, KIND_CELL64):
            begin = <size_t>text_at(column, index)
            return append_cell(
                out, column.texts + begin, <size_t>text_at(column, index + 1) - begin,
                column.kind != KIND_CELL64)
        if column.kind == KIND_VIEW:
            view = view_at(column, row)
            data = <const char*>(view + 1)
            if view[0] > SHORT_TEXT:
                data = self.views[column.part + view[2]] + view[3]
            return append_cell(out, data, <size_t>view[0], True)
        if column.kind == KIND_KEYS:
            return self.append(out, self.parts[column.part + 1],
                               read_key(self.parts[column.part], row))
        if column.kind == KIND_DATE:
            return append_date(out, (<const int32_t*>data)[index])
        if column.kind == KIND_DURATION:
            if (<const int64_t*>data)[index] == NO_TIME:
                return out
            return append_float(out, (<const int64_t*>data)[index] / <double>column.width)
        if column.kind == KIND_INTERVAL:
            return append_interval(out, data + 16 * index)
        if column.kind in (KIND_STAMP, KIND_ZONED):
            if (<const int64_t*>data)[index] == NO_TIME:
                return out
            return append_stamp(out, (<const int64_t*>data)[index], <int64_t>column.width,
                                column.kind == KIND_ZONED)
        if column.kind in (KIND_DECIMAL32, KIND_DECIMAL64, KIND_DECIMAL128):
            width = 4 << (column.kind - KIND_DECIMAL32)
            return append_decimal(out, data + index * width, width, column.width)
        return out


cdef inline bint is_number(const Column& column) noexcept nogil:
    """Return True for a column of numbers that ``read_number`` reads."""
    return column.kind <= KIND_BIT


cdef inline bint has_one_width(const Column& column) noexcept nogil:
    """Return True unless the cells of a column are texts of any length."""
    return column.kind not in (KIND_TEXT32, KIND_TEXT64, KIND_CELL64, KIND_VIEW, KIND_KEYS)


cdef double read_number(const Column& column, size_t row) noexcept nogil:
    """Return the number of a row as the nearest double; NaN if it is missing."""
    cdef size_t index = column.offset + row
    cdef const char* data = column.data
    if not is_valid(column, row):
        return NAN
    if column.kind == KIND_FLOAT64:
        return (<const double*>data)[index]
    if column.kind == KIND_FLOAT32:
        return (<const float*>data)[index]
    if column.kind == KIND_FLOAT16:
        return half_to_double((<const uint16_t*>data)[index])
    if column.kind == KIND_BIT:
        return is_set(<const uint8_t*>data, index)
    if column.kind == KIND_BOOL:
        return data[index] != 0
    if column.kind == KIND_UINT64:
        return (<const uint64_t*>data)[index]
    if column.kind == KIND_UINT32:
        return (<const uint32_t*>data)[index]
    if column.kind == KIND_UINT16:
        return (<const uint16_t*>data)[index]
    if column.kind == KIND_UINT8:
        return (<const uint8_t*>data)[index]
    return read_signed(column, index)


cdef size_t bytes_needed(const Column& column, size_t count) except? 0:
    """Return how many bytes the values of a column take."""
    cdef size_t end = column.offset + count
    if column.kind in (KIND_INT8, KIND_UINT8, KIND_BOOL):
        return end
    if column.kind in (KIND_INT16, KIND_UINT16, KIND_FLOAT16):
        return 2 * end
    if column.kind in (KIND_FLOAT32, KIND_INT32, KIND_UINT32, KIND_DATE, KIND_DECIMAL32):
        return 4 * end
    if column.kind in (KIND_FLOAT64, KIND_INT64, KIND_UINT64, KIND_STAMP, KIND_ZONED,
                       KIND_DURATION, KIND_DECIMAL64):
        return 8 * end
    if column.kind in (KIND_VIEW, KIND_DECIMAL128, KIND_INTERVAL):
        return 16 * end
    if column.kind == KIND_BIT:
        return (end + 7) // 8
    if column.kind == KIND_FIXED:
        return end * column.width
    if column.kind == KIND_WIDE:
        return 4 * end * column.width
    if column.kind == KIND_TEXT32:
        return 4 * (end + 1) if count else 0
    if column.kind in (KIND_TEXT64, KIND_CELL64):
        return 8 * (end + 1) if count else 0
    return 0


cdef size_t last_text(const Column& column, size_t count) except? 0:
    """Check the offsets of a column of texts; return the end of the last text."""
    cdef size_t index
    cdef int64_t before = 0, at
    if not count:
        return 0
    for index in range(column.offset, column.offset + count + 1):
        at = text_at(column, index)
        if at < before:
            raise ValueError("the offsets of a column of texts go back")
        before = at
    return <size_t>before


cdef inline bint is_valid(const Column& column, size_t row) noexcept nogil:
    return column.valid == NULL or is_set(column.valid, column.offset + row)


cdef inline int64_t text_at(const Column& column, size_t index) noexcept nogil:
    if column.kind == KIND_TEXT32:
        return (<const int32_t*>column.data)[index]
    return (<const int64_t*>column.data)[index]


cdef inline const int32_t* view_at(const Column& column, size_t row) noexcept nogil:
    """Return the view of a row: length, then the text, or its beginning, buffer and offset."""
    return <const int32_t*>column.data + 4 * (column.offset + row)


cdef int64_t read_signed(const Column& column, size_t index) noexcept nogil:
    if column.kind == KIND_INT64:
        return (<const int64_t*>column.data)[index]
    if column.kind == KIND_INT32:
        return (<const int32_t*>column.data)[index]
    if column.kind == KIND_INT16:
        return (<const int16_t*>column.data)[index]
    return (<const int8_t*>column.data)[index]


cdef size_t read_key(const Column& keys, size_t row) noexcept nogil:
    """Return the place of a row's word; a negative key has a place beyond all words."""
    cdef size_t index = keys.offset + row
    if keys.kind == KIND_UINT64:
        return <size_t>(<const uint64_t*>keys.data)[index]
    if keys.kind == KIND_UINT32:
        return (<const uint32_t*>keys.data)[index]
    if keys.kind == KIND_UINT16:
        return (<const uint16_t*>keys.data)[index]
    if keys.kind == KIND_UINT8:
        return (<const uint8_t*>keys.data)[index]
    return <size_t>read_signed(keys, index)


cdef inline char* append_float(char* out, double value) noexcept nogil:
    return append_shortest_number(out, value) if isfinite(value) else out


cdef inline char* append_signed(char* out, int64_t value) noexcept nogil:
    if value >= 0:
        return append_unsigned(out, <uint64_t>value)
    out[0] = b"-"
    return append_unsigned(out + 1, <uint64_t>0 - <uint64_t>value)
