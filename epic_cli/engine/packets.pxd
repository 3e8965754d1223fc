from libc.stdint cimport int32_t, int64_t, uint32_t
from libcpp cimport bool as cbool
from libcpp.vector cimport vector

from epic_cli.engine.vec3 cimport Vec3


cdef extern from "<string_view>" namespace "std" nogil:
    cdef cppclass string_view:
        string_view()
        string_view(const char*, size_t)
        const char* data()
        size_t size()
        bint empty()
        char operator[](size_t)


cdef extern from "packet.h" namespace "epic" nogil:
    cdef cppclass Motion:
        Motion()
        Motion(Vec3[double], Vec3[double])
        Vec3[double] position
        Vec3[double] velocity
        Motion operator+(const Motion&)
        Motion operator-(const Motion&)

    cdef cppclass SingleState:
        Vec3[float] position
        Vec3[float] velocity
        float time

    cdef cppclass Packet(Motion):
        Packet()
        double time
        SingleState single
        double arrival
        double delta
        int64_t sequence
        int64_t line
        int64_t column
        uint32_t offset
        uint32_t length
        uint32_t caret
        int32_t entity
        cbool teleport
        cbool has_velocity

    cpdef enum Status:
        NONE
        HELD
        INTERPOLATED
        EXTRAPOLATED

    cdef cppclass Sample(Motion):
        Sample()
        double time
        int32_t status
        int32_t entity
        void show(const Motion&, Status)
        void hold(const Motion&, const Sample&, Status)


cdef extern from "entities.h" namespace "epic" nogil:
    cdef cppclass EntityNames:
        int32_t number_of(string_view) except +
        string_view name(int32_t) except +IndexError
        size_t size()
        size_t longest()


cdef class Entities:
    cdef EntityNames names

    cpdef str name(self, int32_t number)


cdef class PacketBlock:
    cdef vector[Packet] items
    cdef readonly Entities entities
    cdef public bytes text
    cdef public object find_field
    cdef public list refusals


cdef class SampleBlock:
    cdef vector[Sample] items
    cdef readonly size_t capacity

    cdef bint full(self) noexcept nogil


cdef string_view view(bytes text)
cdef int packet_from_python(object source, Packet& packet) except -1
cdef object packet_to_python(const Packet& packet, str entity)
cdef object sample_to_python(const Sample& sample, str entity)
cdef object python_contract()
