"""The extent of a spreadsheet's cells, counted before a library makes them."""

from libc.stdint cimport int64_t
from libc.string cimport memchr, memcmp


cdef class SheetExtent:
    """The number of a sheet's XML elements and cells, and the rows and columns they reach.

    ``is_plain`` stays True as long as each cell begins with ``<c r="A1"``, as all programs write
    them, and nothing could hide a cell: a prefix, a comment, a declaration.
    """

    cdef readonly bint is_plain
    cdef readonly int64_t elements
    cdef readonly int64_t cells
    cdef readonly int64_t rows
    cdef readonly int64_t columns

    def __cinit__(self):
        self.is_plain = True

    def scan(self, bytes text not None):
        """Count what begins in some XML; return the bytes scanned, up to its last ``<``."""
        cdef const char* begin = text
        cdef const char* end = begin + len(text)
        cdef const char* p = <const char*>memchr(begin, b"<", end - begin)
        cdef const char* tag
        with nogil:
            if p == NULL:
                p = end
            while p < end:
                tag = p + 1
                p = <const char*>memchr(tag, b"<", end - tag)
                if p == NULL:       # it may go on in the next text
                    p = tag - 1
                    break
                if tag[0] == b"?":      # an instruction could hold what looks like a cell
                    self.is_plain &= p - tag > 2 and ends_instruction(tag, p)
                elif tag[0] != b"/":
                    self.count(tag, p)
        return p - begin

    cdef void count(self, const char* p, const char* end) noexcept nogil:
        """Count an element whose name begins at ``p``; the next ``<`` stands at ``end``."""
        cdef const char* name = p
        cdef int64_t column = 0, row = 0
        self.elements += 1
        if p == end or p[0] == b"!":
            self.is_plain = False
            return
        while p < end and not is_name_end(p[0]):
            p += 1
        if p - name > 1 and (p - 1)[0] == b"c" and (p - 2)[0] == b":":
            self.is_plain = False
        if name[0] != b"c" or p - name > 1 and continues_name(name[1]):
            return
        if p - name != 1 or end - p < 5 or memcmp(p, b' r="', 4) != 0:
            self.is_plain = False
            return
        p += 4
        name = p
        while p < end and b"A" <= p[0] <= b"Z" and p - name < 3:
            column = 26 * column + (p[0] - 64)
            p += 1
        if p > name:
            name = p
            while p < end and b"0" <= p[0] <= b"9" and p - name < 7:
                row = 10 * row + (p[0] - 48)
                p += 1
            if p > name and p < end and p[0] == b'"':
                self.cells += 1
                self.rows = max(self.rows, row)
                self.columns = max(self.columns, column)
                return
        self.is_plain = False


cdef bint ends_instruction(const char* p, const char* end) noexcept nogil:
    """Return True if only blanks follow the first ``?>``."""
    while p + 1 < end and not (p[0] == b"?" and p[1] == b">"):
        p += 1
    p += 2
    while p < end and (p[0] == b" " or b"\t" <= p[0] <= b"\r"):
        p += 1
    return p == end


cdef bint is_name_end(char c) noexcept nogil:
    return c == b" " or b"\t" <= c <= b"\r" or c == b"/" or c == b">"


cdef bint continues_name(char c) noexcept nogil:
    return (b"a" <= c <= b"z" or b"A" <= c <= b"Z" or b"0" <= c <= b"9"
            or c == b"_" or c == b":" or c == b"." or c == b"-")
