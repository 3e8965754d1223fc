"""Interpolation of rotations (``turning.h``); no function does anything for packets without one."""

from epic_cli.engine.packets cimport (
    Motion, OptionalTurn, Packet, Quaternion, Sample, Turn, Vec3,
)
from epic_cli.engine.strategies.parts.snapshots cimport Snapshot


cdef extern from "strategies/parts/turning.h" namespace "epic" nogil:
    void slerp_between(const Snapshot&, const Snapshot&, double, Sample&)
    void nlerp_between(const Snapshot&, const Snapshot&, double, Sample&)
    void unchecked_between(const Snapshot&, const Snapshot&, double, Sample&)
    void curve_between(const Snapshot&, const Snapshot&, double, Sample&)
    void angles_between(const Snapshot&, const Snapshot&, double, Sample&)
    void hpr_between(const Snapshot&, const Snapshot&, double, Sample&)

    cdef enum AngleOrder:
        ZYX
        ZXY
        YXZ

    Vec3[double] angles_from_turn(const Quaternion&)
    Vec3[double] angles_from_turn(const Quaternion&, AngleOrder)
    Quaternion of_degrees(const Vec3[double]&)
    Quaternion of_degrees(const Vec3[double]&, AngleOrder)
    Vec3[double] shorter(const Vec3[double]&, const Vec3[double]&)
    Turn turn_from_degrees(const Vec3[double]&, const Vec3[double]&)
    Vec3[double] angular_rates(const Turn&)

    cdef cppclass TurnChase:
        void clear()
        void aim(const Packet&)
        void aim(const OptionalTurn&)
        void step(double, double, Sample&)
        void stay(Sample&)
        bint known()
        Motion offset()
        void put(const Motion&, Sample&)

    cdef cppclass TurnGlide:
        void clear()
        void aim(const Packet&)
        void move(double)
        void show(double, Sample&)

    cdef cppclass TurnPrediction:
        Motion offset
        void clear()
        void depart(double, const Motion&)
        void limit()
        void receive(const Packet&, double, double, double)
        void show(double, const Motion&, Sample&)

    cdef cppclass TurnFilter:
        Vec3[double] residual
        Vec3[double] spin
        Vec3[double] acceleration
        void begin(const Packet&)
        void predict(const Packet&, double)
        void correct(double, double)
        void correct_spin(const Packet&, double, double)
        void show(double, bint, Sample&)

    cdef cppclass TurnLine:
        void clear()
        bint known()
        void aim(const Packet&, double, double)
        void move(double)
        void show(bint, Sample&)
