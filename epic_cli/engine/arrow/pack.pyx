"""Cells of 64 bits as the buffers of Arrow's columns."""

from cpython.bytes cimport PyBytes_AsString, PyBytes_FromStringAndSize
from libc.math cimport isfinite
from libc.stddef cimport size_t
from libc.stdint cimport INT32_MAX, int32_t, int64_t, uint8_t
from libc.string cimport memcpy


cdef enum Rule:
    FINITE          # of doubles
    NOT_NEGATIVE    # of whole numbers
    NOT_ZERO


cdef bytes mark_cells(bytes cells, Rule rule, size_t* marked):
    """Return a bitmap of the cells that meet a rule; ``marked`` becomes their number."""
    cdef size_t count = <size_t>len(cells) // 8, row
    cdef const double* doubles = <const double*>PyBytes_AsString(cells)
    cdef const int64_t* integers = <const int64_t*>PyBytes_AsString(cells)
    cdef bytes bitmap = bytes((count + 7) // 8)
    cdef uint8_t* bits = <uint8_t*>PyBytes_AsString(bitmap)
    cdef bint met
    marked[0] = 0
    with nogil:
        for row in range(count):
            if rule == FINITE:
                met = isfinite(doubles[row])
            elif rule == NOT_NEGATIVE:
                met = integers[row] >= 0
            else:
                met = integers[row] != 0
            bits[row >> 3] |= met << (row & 7)
            marked[0] += met
    return bitmap


cdef tuple pack_known(bytes cells, Rule rule):
    """Return the validity and the values of cells; those that break the rule are null."""
    cdef size_t known
    validity = mark_cells(cells, rule, &known)
    return None if known == <size_t>len(cells) // 8 else validity, cells


def pack_doubles(bytes cells not None):
    """Return the validity and the values of doubles; those that are not finite are null."""
    return pack_known(cells, FINITE)


def pack_counts(bytes cells not None):
    """Return the validity and the values of whole numbers; those below 0 are null."""
    return pack_known(cells, NOT_NEGATIVE)


def pack_flags(bytes cells not None):
    """Return the validity and the values of flags, which are whole numbers: 0 or not."""
    cdef size_t marked
    return None, mark_cells(cells, NOT_ZERO, &marked)


def pack_names(bytes cells not None, list names not None):
    """Return the validity, the 32-bit offsets and the bytes of texts, given by their numbers.

    ``names`` are the texts as ``bytes``. Raises ``ValueError`` for more than 2 GiB of them.
    """
    cdef size_t count = <size_t>len(cells) // 8, row
    cdef const int64_t* numbers = <const int64_t*>PyBytes_AsString(cells)
    cdef bytes offsets = PyBytes_FromStringAndSize(NULL, 4 * (count + 1))
    cdef int32_t* ends = <int32_t*>PyBytes_AsString(offsets)
    cdef int64_t end = 0
    cdef bytes name, texts
    cdef char* place
    ends[0] = 0
    for row in range(count):
        name = names[numbers[row]]
        end += len(name)
        if end > INT32_MAX:
            raise ValueError("a group of rows has more than 2 GiB of names")
        ends[row + 1] = <int32_t>end
    texts = PyBytes_FromStringAndSize(NULL, end)
    place = PyBytes_AsString(texts)
    for row in range(count):
        name = names[numbers[row]]
        memcpy(place + ends[row], PyBytes_AsString(name), len(name))
    return None, offsets, texts
