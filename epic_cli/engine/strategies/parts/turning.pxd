"""How strategies turn what they draw (``turning.h``); without rotations, these do nothing."""

from epic_cli.engine.packets cimport Packet, Quaternion, Sample, Turn, Vec3
from epic_cli.engine.strategies.parts.snapshots cimport Snapshot


cdef extern from "strategies/parts/turning.h" namespace "epic" nogil:
    void slerp_between(const Snapshot&, const Snapshot&, double, Sample&)
    void curve_between(const Snapshot&, const Snapshot&, double, Sample&)
    void angles_between(const Snapshot&, const Snapshot&, double, Sample&)
    Vec3[double] degrees_of(const Quaternion&)
    Vec3[double] degrees_near(const Quaternion&, const Vec3[double]&)
    Quaternion of_degrees(const Vec3[double]&)
    Turn turn_of(const Vec3[double]&, const Vec3[double]&)
    Vec3[double] rates_of(const Turn&)

    cdef cppclass TurnChase:
        void clear()
        void aim(const Packet&)
        void step(double, double, Sample&)

    cdef cppclass TurnLine:
        void clear()
        void aim(const Packet&, double, double)
        void move(double)
        void show(Sample&)
