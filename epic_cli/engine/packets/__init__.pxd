"""The packets, samples, and blocks of both that all modules of the engine share."""

from libc.math cimport isfinite
from libc.stdint cimport int32_t, int64_t, uint32_t
from libcpp cimport bool as cbool
from libcpp.vector cimport vector


cdef extern from "packets/vec3.h" namespace "epic" nogil:
    cdef cppclass Vec3[T]:
        T x
        T y
        T z
        Vec3()
        Vec3(T, T, T)
        Vec3[T] operator+(const Vec3[T]&)
        Vec3[T] operator-(const Vec3[T]&)
        Vec3[T] operator*(T)

    T dot[T](const Vec3[T]&, const Vec3[T]&)
    Vec3[T] cross[T](const Vec3[T]&, const Vec3[T]&)
    Vec3[double] widened(const Vec3[float]&)
    Vec3[float] narrowed(const Vec3[double]&)


cdef extern from "packets/quaternion.h" namespace "epic" nogil:
    cdef cppclass Quaternion:
        double x
        double y
        double z
        double w
        Quaternion()
        Quaternion(double, double, double, double)
        Quaternion operator*(const Quaternion&)

    cdef cppclass Turn:
        Turn()
        Turn(Quaternion, Vec3[double])
        Quaternion rotation
        Vec3[double] spin

    cdef cppclass Angles:
        double yaw
        double pitch
        double roll

    Angles angles_of(const Quaternion&)
    double dot(const Quaternion&, const Quaternion&)
    double length(const Quaternion&)
    bint is_rotation(const Quaternion&)
    bint is_turn(const Turn&)
    bint is_zero(const Quaternion&)
    Quaternion inverse(const Quaternion&)
    Quaternion normalized(const Quaternion&)
    Quaternion near_to(const Quaternion&, const Quaternion&)
    Vec3[double] vector_between(const Quaternion&, const Quaternion&)
    Quaternion spun(const Quaternion&, const Vec3[double]&, double)
    Quaternion slerp(const Quaternion&, const Quaternion&, double)
    Quaternion nlerp(const Quaternion&, const Quaternion&, double)
    Turn slerp_turn(const Turn&, const Turn&, double, double)
    Turn hermite_turn(const Turn&, const Turn&, double, double)

    cdef cppclass TurnPiece:
        pass

    TurnPiece turn_piece(const Turn&, const Turn&, double)
    Quaternion rotation_at(const TurnPiece&, double)
    double angle_between(const Quaternion&, const Quaternion&)


cdef extern from "<string_view>" namespace "std" nogil:
    cdef cppclass string_view:
        string_view()
        string_view(const char*, size_t)
        const char* data()
        size_t size()
        bint empty()
        char operator[](size_t)


cdef extern from "packets/packet.h" namespace "epic" nogil:
    cdef cppclass OptionalTurn:
        OptionalTurn()
        bint known() const
        Turn& value() const
        void set(const Turn&)
        void copy(const OptionalTurn&)
        void clear()

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
        cbool has_spin
        cbool zero_turn
        cbool has_extras
        OptionalTurn turn

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
        OptionalTurn turn
        void show(const Motion&, Status)
        void hold(const Motion&, const Sample&, Status)


cdef extern from "packets/entities.h" namespace "epic" nogil:
    cdef cppclass EntityNames:
        int32_t assign_number(string_view) except +
        string_view name(int32_t) except +IndexError
        size_t size()
        size_t longest()


cdef extern from "packets/velocity_estimate.h" namespace "epic" nogil:
    cdef cppclass VelocityEstimate:
        VelocityEstimate()
        void note(const Packet&, const Vec3[double]&)
        void fill(Packet&)

    cdef cppclass SpinEstimate:
        SpinEstimate()
        void fill(Packet&)


cdef class Entities:
    cdef EntityNames names

    cpdef str name(self, int32_t number)


cdef struct Datagram:
    double time, arrival        # as in a packet
    double previous             # newest earlier timestamp of its first packet's entity; NaN: none
    int32_t joins               # entities of which it brings the first packet
    bint teleport               # of its first packet


cdef class NewestStamps:
    cdef vector[double] stamps  # by the number of the entity; NaN: no packet yet
    cdef size_t known           # entities that have sent a packet


cdef class ConnectionTimes:
    cdef vector[Datagram] datagrams
    cdef NewestStamps newest
    cdef bint in_order

    cdef void add(self, const Packet& packet) noexcept nogil
    cdef void sort(self) noexcept nogil


cdef class PacketBlock:
    cdef vector[Packet] items
    cdef readonly Entities entities
    cdef public ConnectionTimes connection   # of all entities, where this is one of several
    cdef public bytes text
    cdef public object rows             # those that packets without a length are from
    cdef public object find_field
    cdef public object extra_source
    cdef public list refusals
    cdef readonly int64_t junk          # lines with something unread behind their numbers
    cdef readonly int64_t junk_line     # the first of them


cdef class SampleBlock:
    cdef vector[Sample] items
    cdef readonly size_t capacity

    cdef bint full(self) noexcept nogil


cdef string_view view(bytes text)
cdef int packet_from_python(object source, Packet& packet) except -1
cdef object packet_to_python(const Packet& packet, str entity)
cdef object sample_to_python(const Sample& sample, str entity)
cdef object python_contract()
cdef void fill_turns(const vector[Sample]& samples, double* out) noexcept nogil
cdef int turn_from_python(rotation, spin, OptionalTurn& turn) except -1


cdef inline bint same_datagram(const Datagram& datagram, const Packet& packet) noexcept nogil:
    """Return True if the packet has the datagram's timestamp and arrival."""
    return datagram.time == packet.time and (
        datagram.arrival == packet.arrival
        or (datagram.arrival != datagram.arrival and packet.arrival != packet.arrival))


cdef inline bint is_finite(Vec3[double] value) noexcept nogil:
    """Return True if all components of the vector are finite."""
    return isfinite(value.x) and isfinite(value.y) and isfinite(value.z)


cdef inline bint is_beyond(Vec3[double] displacement, double distance) noexcept nogil:
    """Return True if the displacement is longer than ``distance`` (0: no limit)."""
    return 0 < distance * distance < dot(displacement, displacement)


cdef inline double clamped(double value, double low, double high) noexcept nogil:
    """Return the value clamped to between ``low`` and ``high``."""
    return min(max(value, low), high)


cdef inline tuple components(Vec3[double] value):
    """Return the vector as a Python tuple (x, y, z)."""
    return value.x, value.y, value.z
