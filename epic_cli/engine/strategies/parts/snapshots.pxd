"""A buffer of received states, and the interpolation between two states."""

from epic_cli.engine.packets cimport (
    INTERPOLATED, Motion, OptionalTurn, Packet, Sample, Vec3, clamped, is_beyond,
)
from epic_cli.engine.strategies.parts.curves cimport lerp


cdef extern from "strategies/parts/snapshots.h" namespace "epic" nogil:
    cdef cppclass Snapshot(Motion):
        double time
        double arrival
        double stamp
        OptionalTurn turn

    cdef cppclass SnapshotBuffer:
        void set_capacity()
        void set_capacity(size_t)
        size_t size()
        bint empty()
        bint full()
        Snapshot& operator[](size_t)
        Snapshot& front()
        Snapshot& back()
        void clear()
        void drop_front(size_t)
        void drop_back()
        size_t count_until(double)
        size_t count_sent_until(double)
        Snapshot& made(size_t)
        void insert(size_t, const Snapshot&)
        void insert(size_t, const Packet&, double)
        void append(const Snapshot&)
        void append(const Packet&, double)

    Snapshot make_snapshot(const Packet&, double)

cdef extern from "strategies/parts/turning.h" namespace "epic" nogil:
    void slerp_between(const Snapshot&, const Snapshot&, double, Sample&)


cdef inline double fraction_between(double before, double after, double time) noexcept nogil:
    """Return the fraction, 0 to 1, of the way from ``before`` to ``after`` at ``time``.

    1 if equal.
    """
    if after <= before:
        return 1
    return clamped((time - before) / (after - before), 0, 1)


cdef inline bint is_farther(Vec3[double] a, Vec3[double] b, double distance) noexcept nogil:
    """Return True if two points are farther apart than ``distance`` (0: no limit)."""
    return is_beyond(a - b, distance)


cdef inline void hold_state(const Snapshot& state, const Sample& drawn,
                            Sample& sample) noexcept nogil:
    """Show a state as held: interpolated where first shown, held from then on."""
    sample.hold(state, drawn, INTERPOLATED)
    sample.turn.copy(state.turn)


cdef inline void draw_between(const Snapshot& before, const Snapshot& after, double u,
                              double snap_distance, Sample& sample) noexcept nogil:
    """Interpolate at the fraction u between two states.

    Snap if they are beyond ``snap_distance``.
    """
    cdef const Snapshot* end
    if is_farther(before.position, after.position, snap_distance):
        end = &before if u < 1 else &after
        sample.show(end[0], INTERPOLATED)
        sample.turn.copy(end.turn)
    else:
        slerp_between(before, after, u, sample)
        sample.show(Motion(lerp(before.position, after.position, u),
                           lerp(before.velocity, after.velocity, u)), INTERPOLATED)


cdef inline void draw_at(const Snapshot& before, const Snapshot& after, double time,
                         double snap_distance, Sample& sample) noexcept nogil:
    """Interpolate between two states at the sender's time ``time``.

    Outside, show the nearer state.
    """
    draw_between(before, after, fraction_between(before.time, after.time, time), snap_distance,
                 sample)
