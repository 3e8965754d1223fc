"""Tables of ours for other libraries: Polars, DuckDB, PyArrow, pandas."""

from cpython.bytes cimport PyBytes_AsString
from cpython.pycapsule cimport PyCapsule_GetPointer, PyCapsule_New
from cpython.ref cimport Py_DECREF, Py_INCREF
from libc.errno cimport EIO, ENOMEM
from libc.stdint cimport int64_t
from libc.stdlib cimport calloc, free

from epic_cli.engine.arrow cimport (
    NULLABLE, ArrowArray, ArrowArrayStream, ArrowSchema, allocate_children, release_children,
)


cdef class OutgoingStream:
    """A table on its way to another library: its fields and what is left of its batches."""

    cdef list fields
    cdef object batches
    cdef bytes error

    cdef int fill_schema(self, ArrowSchema* schema) except -1:
        """Describe the table: a struct of its columns."""
        cdef int64_t index
        cdef ArrowSchema* child
        own_schema(schema, b"+s", b"")
        if not allocate_children(schema, <int64_t>len(self.fields)):
            raise MemoryError
        for index, (name, form) in enumerate(self.fields):
            child = schema.children[index]
            own_schema(child, form, name)
            child.flags = NULLABLE
        return 0

    cdef int fill_next(self, ArrowArray* array) except -1:
        """Hand out the next batch; after the last one the array is left released."""
        cdef int64_t index, count
        batch = next(self.batches, None)
        if batch is None:
            return 0
        count, columns = batch
        own_array(array, count, (None,))
        if not allocate_children(array, <int64_t>len(self.fields)):
            raise MemoryError
        for index, buffers in enumerate(columns):
            own_array(array.children[index], count, buffers)
        return 0


def export_stream(fields, batches):
    """Return a table as a capsule of Arrow's C stream interface, whose columns are not copied.

    ``fields`` are (name, format) in Arrow's words: ``"g"`` double, ``"l"`` 64-bit integer, ``"b"``
    boolean, ``"U"`` text, ``"n"`` nulls alone. ``batches`` yields (rows, columns); a column is its
    buffers, each of ``bytes``: the validity bitmap (None: all rows have a value), the values, and
    for a text the bytes behind its 64-bit offsets; one of nulls has no buffer. An error of
    ``batches`` is an error of whoever reads the stream.
    """
    cdef ArrowArrayStream* stream = <ArrowArrayStream*>calloc(1, sizeof(ArrowArrayStream))
    cdef OutgoingStream table = OutgoingStream()
    if stream == NULL:
        raise MemoryError
    table.fields = [(name.encode(), form.encode()) for name, form in fields]
    table.batches = iter(batches)
    Py_INCREF(table)
    stream.private_data = <void*>table
    stream.get_schema = get_schema
    stream.get_next = get_next
    stream.get_last_error = get_last_error
    stream.release = release_stream
    return PyCapsule_New(stream, "arrow_array_stream", free_stream)


cdef void own_schema(ArrowSchema* schema, bytes form, bytes name) noexcept:
    """Let a schema hold its texts until it is released."""
    texts = (form, name)
    Py_INCREF(texts)
    schema.private_data = <void*>texts
    schema.format = PyBytes_AsString(form)
    schema.name = PyBytes_AsString(name)
    schema.release = release_schema


cdef int own_array(ArrowArray* array, int64_t count, tuple buffers) except -1:
    """Let an array hold its buffers until it is released."""
    cdef Py_ssize_t index
    array.buffers = <const void**>calloc(len(buffers) + 1, sizeof(void*))
    if array.buffers == NULL:
        raise MemoryError
    Py_INCREF(buffers)
    array.private_data = <void*>buffers
    array.release = release_array
    array.length, array.n_buffers = count, len(buffers)
    if buffers:
        array.null_count = 0 if buffers[0] is None else -1
    else:
        array.null_count = count
    for index, content in enumerate(buffers):
        if content is not None:
            array.buffers[index] = PyBytes_AsString(content)
    return 0


cdef void release_schema(ArrowSchema* schema) noexcept with gil:
    release_children(schema)
    Py_DECREF(<object>schema.private_data)
    schema.release = NULL


cdef void release_array(ArrowArray* array) noexcept with gil:
    release_children(array)
    free(array.buffers)
    Py_DECREF(<object>array.private_data)
    array.release = NULL


cdef int get_schema(ArrowArrayStream* stream, ArrowSchema* schema) noexcept with gil:
    cdef OutgoingStream table = <OutgoingStream>stream.private_data
    schema.release = NULL
    schema.metadata = NULL
    schema.dictionary = NULL
    schema.flags = schema.n_children = 0
    schema.children = NULL
    try:
        table.fill_schema(schema)
    except MemoryError:
        if schema.release != NULL:
            release_schema(schema)
        return ENOMEM
    return 0


cdef int get_next(ArrowArrayStream* stream, ArrowArray* array) noexcept with gil:
    cdef OutgoingStream table = <OutgoingStream>stream.private_data
    array.release = NULL
    array.length = array.null_count = array.offset = array.n_buffers = array.n_children = 0
    array.children = NULL
    array.dictionary = NULL
    try:
        table.fill_next(array)
    except BaseException as error:
        table.error = f"{type(error).__name__}: {error}".encode()
        table.batches = iter(())
        if array.release != NULL:
            release_array(array)
        return EIO
    return 0


cdef const char* get_last_error(ArrowArrayStream* stream) noexcept with gil:
    cdef OutgoingStream table = <OutgoingStream>stream.private_data
    if table.error is None:
        return NULL
    return PyBytes_AsString(table.error)


cdef void release_stream(ArrowArrayStream* stream) noexcept with gil:
    Py_DECREF(<object>stream.private_data)
    stream.release = NULL


cdef void free_stream(object capsule) noexcept:
    """Free a stream that no consumer has taken over."""
    cdef ArrowArrayStream* stream = <ArrowArrayStream*>PyCapsule_GetPointer(
        capsule, "arrow_array_stream")
    if stream.release != NULL:
        stream.release(stream)
    free(stream)
