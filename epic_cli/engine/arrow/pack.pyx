"""Cells of 64 bits as the buffers of Arrow's columns."""

from cpython.bytes cimport PyBytes_AsString, PyBytes_FromStringAndSize
from libc.math cimport isfinite
from libc.stddef cimport size_t
from libc.stdint cimport INT32_MAX, int32_t, int64_t, uint8_t
from libc.string cimport memcpy


def pack_doubles(bytes cells not None):
    """Return the validity and the values of doubles; those that are not finite are null."""
    cdef size_t count = <size_t>len(cells) // 8, row
    cdef const double* values = <const double*>PyBytes_AsString(cells)
    cdef bytes validity = bytes((count + 7) // 8)
    cdef uint8_t* bits = <uint8_t*>PyBytes_AsString(validity)
    cdef size_t known = 0
    with nogil:
        for row in range(count):
            if isfinite(values[row]):
                bits[row >> 3] |= 1 << (row & 7)
                known += 1
    return None if known == count else validity, cells


def pack_counts(bytes cells not None):
    """Return the validity and the values of whole numbers; those below 0 are null."""
    cdef size_t count = <size_t>len(cells) // 8, row
    cdef const int64_t* values = <const int64_t*>PyBytes_AsString(cells)
    cdef bytes validity = bytes((count + 7) // 8)
    cdef uint8_t* bits = <uint8_t*>PyBytes_AsString(validity)
    cdef size_t known = 0
    with nogil:
        for row in range(count):
            if values[row] >= 0:
                bits[row >> 3] |= 1 << (row & 7)
                known += 1
    return None if known == count else validity, cells


def pack_flags(bytes cells not None):
    """Return the validity and the values of flags, which are whole numbers: 0 or not."""
    cdef size_t count = <size_t>len(cells) // 8, row
    cdef const int64_t* values = <const int64_t*>PyBytes_AsString(cells)
    cdef bytes packed = bytes((count + 7) // 8)
    cdef uint8_t* bits = <uint8_t*>PyBytes_AsString(packed)
    with nogil:
        for row in range(count):
            if values[row]:
                bits[row >> 3] |= 1 << (row & 7)
    return None, packed


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
