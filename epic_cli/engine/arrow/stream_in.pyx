"""Tables of other libraries, read where they lie in memory."""

from cpython.buffer cimport PyBuffer_FillInfo
from cpython.pycapsule cimport PyCapsule_GetPointer
from libc.stdint cimport int64_t
from libc.string cimport memset, strcmp, strlen, strncmp

from epic_cli.engine.arrow cimport ArrowArray, ArrowArrayStream, ArrowSchema

# The kinds of ``ColumnRows`` by Arrow's formats of one letter, and of times by all but their zone.
_KINDS = {
    b"b": "bit", b"c": "int8", b"C": "uint8", b"s": "int16", b"S": "uint16", b"i": "int32",
    b"I": "uint32", b"l": "int64", b"L": "uint64", b"e": "float16", b"f": "float32",
    b"g": "float64", b"u": "text32", b"U": "text64", b"vu": "view",
}
_UNITS = {b"s": 1, b"m": 1_000, b"u": 1_000_000, b"n": 1_000_000_000}

# More bytes than any buffer has: Arrow tells no sizes.
cdef Py_ssize_t UNKNOWN_SIZE = <Py_ssize_t>1 << 62


cdef class IncomingArray:
    """An array that another library has handed over: released with this object."""

    cdef ArrowArray array

    def __cinit__(self):
        memset(&self.array, 0, sizeof(ArrowArray))

    def __dealloc__(self):
        if self.array.release != NULL:
            self.array.release(&self.array)


cdef class ArrowBuffer:
    """A buffer of an array; its size is not known."""

    cdef const void* place
    cdef IncomingArray owner

    def __getbuffer__(self, Py_buffer* buffer, int flags):
        PyBuffer_FillInfo(buffer, self, <void*>self.place, UNKNOWN_SIZE, 1, flags)


cdef class ArrowStream:
    """The rows of a table, or the values of one column, of whatever has Arrow's C stream interface.

    ``capsule`` is what the source's ``__arrow_c_stream__`` returns. ``names`` are its columns';
    ``is_plain`` is True if ``ColumnRows`` can take all of them; if not, the stream itself can be
    given on, as long as nothing was read. Iterating yields (count, columns) for each batch, and
    raises ``ValueError`` with what the library says of an error.
    """

    cdef object capsule
    cdef ArrowArrayStream* stream
    cdef ArrowSchema schema
    cdef bint is_table
    cdef readonly list names
    cdef readonly bint is_plain

    def __cinit__(self, capsule):
        cdef int64_t index
        memset(&self.schema, 0, sizeof(ArrowSchema))
        self.capsule = capsule
        self.stream = <ArrowArrayStream*>PyCapsule_GetPointer(capsule, "arrow_array_stream")
        if self.stream.release == NULL:
            raise ValueError("the Arrow stream was read already")
        self.check(self.stream.get_schema(self.stream, &self.schema))
        self.is_table = strcmp(self.schema.format, b"+s") == 0
        self.names, self.is_plain = [], True
        for index in range(self.count()):
            self.names.append(read_name(self.column(index)))
            self.is_plain &= is_plain(self.column(index))

    def __dealloc__(self):
        if self.schema.release != NULL:
            self.schema.release(&self.schema)

    cdef int64_t count(self) noexcept:
        """Return the number of columns."""
        return self.schema.n_children if self.is_table else 1

    cdef const ArrowSchema* column(self, int64_t index) noexcept:
        """Return the type of a column."""
        return self.schema.children[index] if self.is_table else &self.schema

    def __arrow_c_stream__(self, requested_schema=None):
        """Return the stream itself, from which nothing may have been read."""
        return self.capsule

    cdef int check(self, int status) except -1:
        """Raise ``ValueError`` if a call of the library has failed."""
        cdef const char* words
        if status:
            words = self.stream.get_last_error(self.stream)
            raise ValueError(
                words.decode("utf-8", "replace") if words != NULL else f"Arrow error {status}")
        return 0

    def __iter__(self):
        return self

    def __next__(self):
        cdef IncomingArray batch = IncomingArray()
        cdef int64_t index
        self.check(self.stream.get_next(self.stream, &batch.array))
        if batch.array.release == NULL:
            raise StopIteration
        if not self.is_table:
            return batch.array.length, [make_column(batch, self.column(0), &batch.array, 0)]
        return batch.array.length, [
            make_column(batch, self.column(index), batch.array.children[index], batch.array.offset)
            for index in range(self.count())
        ]


def import_array(schema, array):
    """Return a column of ``ColumnRows``; None for a type that it cannot take.

    ``schema`` and ``array`` are the capsules that ``__arrow_c_array__`` returns.
    """
    cdef IncomingArray owner = IncomingArray()
    cdef ArrowSchema* form = <ArrowSchema*>PyCapsule_GetPointer(schema, "arrow_schema")
    cdef ArrowArray* values = <ArrowArray*>PyCapsule_GetPointer(array, "arrow_array")
    if not is_plain(form):
        return None
    owner.array = values[0]
    values.release = NULL
    return make_column(owner, form, &owner.array, 0)


def is_plain_type(schema):
    """Return True for a type of which ``import_array`` takes columns.

    ``schema`` is the capsule that a type's ``__arrow_c_schema__`` returns.
    """
    return is_plain(<ArrowSchema*>PyCapsule_GetPointer(schema, "arrow_schema"))


cdef str read_name(const ArrowSchema* schema):
    """Return a column's name; empty without one."""
    return schema.name.decode() if schema.name != NULL else ""


cdef bint is_plain(const ArrowSchema* schema) noexcept:
    """Return True for a type of one value a row that ``ColumnRows`` can take."""
    if schema.dictionary != NULL:
        return schema.dictionary.dictionary == NULL and is_plain(schema.dictionary)
    if strcmp(schema.format, b"n") == 0:
        return True
    kind, _ = read_format(schema.format)
    return kind is not None


cdef tuple read_format(const char* form):
    """Return the kind and the width of a column; (None, 0) for those that are not plain."""
    cdef bytes text = form[:strlen(form)]
    if text in _KINDS:
        return _KINDS[text], 0
    if strncmp(form, b"ts", 2) == 0:
        return "stamp" if text.endswith(b":") else "zoned_stamp", _UNITS[text[2:3]]
    if text == b"tdD":
        return "date", 0
    if text == b"tin":
        return "interval", 0
    if strncmp(form, b"tD", 2) == 0:
        return "duration", _UNITS[text[2:3]]
    if strncmp(form, b"d:", 2) == 0:
        parts = text[2:].split(b",")
        bits = int(parts[2]) if len(parts) > 2 else 128
        if bits <= 128 and 0 <= int(parts[1]) <= 38:
            return f"decimal{bits}", int(parts[1])
    return None, 0


cdef tuple make_column(
        IncomingArray owner, const ArrowSchema* schema, const ArrowArray* array, int64_t before):
    """Return a column of ``ColumnRows`` whose first value is ``before`` places into an array."""
    cdef int64_t index, offset = array.offset + before
    if schema.dictionary != NULL:
        keys, _ = read_format(schema.format)
        words = make_column(owner, schema.dictionary, array.dictionary, 0)
        return ("keys", (keys, buffer_at(owner, array, 1), None, None, offset, 0),
                (array.dictionary.length, words), read_validity(owner, array), offset, 0)
    if strcmp(schema.format, b"n") == 0:
        return "empty", None, None, None, 0, 0
    kind, width = read_format(schema.format)
    texts = None
    if kind == "view":
        texts = [buffer_at(owner, array, index) for index in range(2, array.n_buffers - 1)]
    elif array.n_buffers > 2:
        texts = buffer_at(owner, array, 2)
    return kind, buffer_at(owner, array, 1), texts, read_validity(owner, array), offset, width


cdef object read_validity(IncomingArray owner, const ArrowArray* array):
    return None if array.null_count == 0 else buffer_at(owner, array, 0)


cdef object buffer_at(IncomingArray owner, const ArrowArray* array, int64_t index):
    """Return a buffer of an array; None if the array has none there."""
    cdef ArrowBuffer found
    if array.buffers[index] == NULL:
        return None
    found = ArrowBuffer()
    found.place = array.buffers[index]
    found.owner = owner
    return found
