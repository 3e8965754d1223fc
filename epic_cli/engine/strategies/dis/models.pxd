from epic_cli.engine.packets cimport Motion
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


cdef class DisState:
    cdef DisModel model
    cdef Motion motion
    cdef Vec3[double] acceleration, angular_velocity

    cdef void set_state(self, DisModel model, const Motion& motion, Vec3[double] acceleration,
                        Vec3[double] angular_velocity) noexcept nogil
    cdef Motion after(self, double seconds) noexcept nogil
