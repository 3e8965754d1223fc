from epic_cli.engine.vec3 cimport Vec3


# In the standard's order and with its numbers.
cpdef enum DisModel:
    STATIC = 1
    FPW
    RPW
    RVW
    FVW
    FPB
    RPB
    RVB
    FVB


cdef struct Reckoned:
    Vec3[double] position
    Vec3[double] velocity


cdef class DisState:
    cdef DisModel model
    cdef Vec3[double] position, velocity, acceleration, angular_velocity

    cdef void set_state(self, DisModel model, Vec3[double] position, Vec3[double] velocity,
                        Vec3[double] acceleration, Vec3[double] angular_velocity) noexcept nogil
    cdef Reckoned after(self, double seconds) noexcept nogil
