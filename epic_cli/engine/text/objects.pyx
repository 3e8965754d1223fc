"""Python objects to the columns that ``ColumnRows`` takes."""

from cpython.bytes cimport PyBytes_AsString, PyBytes_FromStringAndSize
from cpython.float cimport PyFloat_AsDouble
from cpython.long cimport PyLong_AsLongLongAndOverflow
from cpython.unicode cimport PyUnicode_AsUTF8AndSize
from libc.math cimport NAN
from libc.stdint cimport int64_t, uint8_t
from libc.string cimport memchr
from libcpp.vector cimport vector


def pack_objects(values):
    """Return values of one type as a column, in which None is missing.

    Return None for values of other types than float, int, bool and str, and for what must be
    written value by value: integers beyond 64 bits or beside None, texts with a NUL, a carriage
    return or a surrogate. Empty texts among floats are missing, too.
    """
    cdef size_t floats = 0, whole = 0, truths = 0, texts = 0, missing = 0, empty = 0, count = 0
    for value in values:
        count += 1
        if type(value) is float:
            floats += 1
        elif value is None:
            missing += 1
        elif type(value) is str:
            texts += 1
            empty += not value
        elif type(value) is int:
            whole += 1
        elif type(value) is bool:
            truths += 1
        else:
            return None
    if floats and floats + missing + empty == count:
        return pack_floats(values, count)
    if whole and whole == count:
        return pack_integers(values, count)
    if truths and truths == count:
        return "bool", bytes(values), None, None, 0, 0
    return pack_texts(values, count) if texts + missing == count else None


cdef tuple pack_floats(values, size_t count):
    cdef bytes content = PyBytes_FromStringAndSize(NULL, 8 * count)
    cdef double* place = <double*>PyBytes_AsString(content)
    for value in values:
        place[0] = PyFloat_AsDouble(value) if type(value) is float else NAN
        place += 1
    return "float64", content, None, None, 0, 0


cdef tuple pack_integers(values, size_t count):
    cdef bytes content = PyBytes_FromStringAndSize(NULL, 8 * count)
    cdef int64_t* place = <int64_t*>PyBytes_AsString(content)
    cdef int overflow = 0
    for value in values:
        place[0] = PyLong_AsLongLongAndOverflow(value, &overflow)
        if overflow:
            return None
        place += 1
    return "int64", content, None, None, 0, 0


cdef tuple pack_texts(values, size_t count):
    cdef bytes offsets = PyBytes_FromStringAndSize(NULL, 8 * (count + 1))
    cdef bytes validity = bytes((count + 7) // 8)
    cdef int64_t* ends = <int64_t*>PyBytes_AsString(offsets)
    cdef uint8_t* bits = <uint8_t*>PyBytes_AsString(validity)
    cdef vector[char] content
    cdef const char* text
    cdef Py_ssize_t size
    cdef size_t row = 0
    ends[0] = 0
    for value in values:
        if value is not None:
            try:
                text = PyUnicode_AsUTF8AndSize(value, &size)
            except UnicodeEncodeError:      # a surrogate
                return None
            if size and (memchr(text, 0, size) != NULL or memchr(text, b"\r", size) != NULL):
                return None
            content.insert(content.end(), text, text + size)
            bits[row >> 3] |= 1 << (row & 7)
        row += 1
        ends[row] = <int64_t>content.size()
    return ("text64", offsets, content.data()[:content.size()] if content.size() else b"",
            validity, 0, 0)
