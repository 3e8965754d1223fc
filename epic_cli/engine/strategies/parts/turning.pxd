"""How strategies turn what they draw (``turning.h``); without rotations, these do nothing."""

from epic_cli.engine.packets cimport Packet, Sample
from epic_cli.engine.strategies.parts.snapshots cimport Snapshot


cdef extern from "strategies/parts/turning.h" namespace "epic" nogil:
    void slerp_between(const Snapshot&, const Snapshot&, double, Sample&)
    void curve_between(const Snapshot&, const Snapshot&, double, Sample&)

    cdef cppclass TurnChase:
        void clear()
        void aim(const Packet&)
        void step(double, double, Sample&)

    cdef cppclass TurnLine:
        void clear()
        void aim(const Packet&, double, double)
        void move(double)
        void show(Sample&)
