from epic_cli.engine.packets cimport Packet
from epic_cli.engine.vec3 cimport Vec3


cdef extern from "velocity_estimate.h" namespace "epic" nogil:
    cdef cppclass VelocityEstimate:
        VelocityEstimate()
        void note(const Packet&, const Vec3[double]&)
        void fill(Packet&)
