"""JSON documents cut into lines with an object each, as they arrive."""

from libc.stdint cimport int64_t
from libcpp.string cimport string
from libcpp.vector cimport vector

from epic_cli.engine.packets cimport PacketBlock


cdef extern from "text/json_objects.h" namespace "epic" nogil:
    cdef cppclass DocumentPlace:
        int64_t line
        int64_t column

    cdef cppclass Other "epic::ObjectCutter::Other":
        DocumentPlace place
        string text

    cdef cppclass ObjectCutter:
        vector[DocumentPlace] places
        vector[Other] others
        void enter(const char*, const char*, int64_t)
        void cut(const char*, const char*, string&)
        void finish(string&)

    bint shaped_alike "epic::cut_alike"(const char*, const char*, size_t, string&, string&)


def cut_alike(bytes data not None, size_t longest):
    """Return the common shape of a document's objects and a line for each; None if they differ.

    Objects of one shape have the same names in the same order, nested alike, and differ in their
    values only. Also None for objects longer than this many bytes, or of several lines.
    """
    cdef const char* text = data
    cdef string shape
    cdef string lines
    if not shaped_alike(text, text + len(data), longest, shape, lines):
        return None
    return shape.data()[:shape.size()], lines.data()[:lines.size()]


cdef class DocumentCutter:
    """A cutter of JSON objects, in an array or in turn, into lines with known places."""

    cdef ObjectCutter cutter
    cdef int64_t forgotten      # lines whose places are not kept any more

    def enter(self, bytes head not None, int64_t around):
        """Continue behind ``head``, in an array with ``around`` containers around it."""
        cdef const char* text = head
        self.cutter.enter(text, text + len(head), around)

    def cut(self, bytes data not None, bint final=False):
        """Return the next lines of the document."""
        cdef const char* text = data
        cdef size_t size = len(data)
        cdef string out
        with nogil:
            out.reserve(size + 64)
            self.cutter.cut(text, text + size, out)
            if final:
                self.cutter.finish(out)
        return out.data()[:out.size()] if out.size() else b""

    def others(self):
        """Return the first object of each other array: line, column, text."""
        return [
            (other.place.line, other.place.column, other.text.data()[:other.text.size()])
            for other in self.cutter.others
        ]

    def place(self, int64_t line):
        """Return line and column, from 1, in the document, of a line that was cut out of it."""
        cdef int64_t index = line - 1 - self.forgotten
        if not 0 <= index < <int64_t>self.cutter.places.size():
            raise IndexError(line)
        return self.cutter.places[index].line, self.cutter.places[index].column

    def place_packets(self, PacketBlock block not None):
        """Set the places in the document of packets that were read from its lines."""
        cdef size_t index
        cdef int64_t line
        for index in range(block.items.size()):
            line = block.items[index].line - 1 - self.forgotten
            block.items[index].line = self.cutter.places[line].line
            block.items[index].column = self.cutter.places[line].column - 1

    def forget(self, int64_t line):
        """Drop the places of this line and of those above."""
        cdef int64_t count = min(line - self.forgotten, <int64_t>self.cutter.places.size())
        self.cutter.places.erase(self.cutter.places.begin(), self.cutter.places.begin() + count)
        self.forgotten += count
