"""Trajectories: what a position and a velocity, sent once, stand for at any later time.

An idea of Quake III: client and server evaluate the same function, so an entity that flies or
swings needs no more packets. With the age t since the stamp, in seconds:

    stationary, interpolate   p
    linear                    p + v t
    linear-stop               p + v min(max(t, 0), duration)
    sine                      p + v sin(2 pi t / duration)
    gravity                   p + v t - g t^2 / 2 along z

Source: Quake III Arena, BG_EvaluateTrajectory; formulas only (its code is GPL-2.0).
"""

from libc.math cimport M_PI, cos, sin

from epic_cli.engine.vec3 cimport Vec3


cpdef enum Trajectory:
    STATIONARY
    INTERPOLATE
    LINEAR
    LINEAR_STOP
    SINE
    GRAVITY


cdef inline Vec3[double] trajectory_at(Trajectory kind, Vec3[double] position,
                                       Vec3[double] velocity, double age, double duration,
                                       double gravity) noexcept nogil:
    """The position at this age."""
    cdef Vec3[double] result = position
    if kind == LINEAR or kind == GRAVITY:
        result = position + velocity * age
    elif kind == LINEAR_STOP:
        result = position + velocity * min(max(age, 0.0), duration)
    elif kind == SINE:
        result = position + velocity * sin(2 * M_PI * age / duration)
    if kind == GRAVITY:
        result.z -= gravity * age * age / 2
    return result


cdef inline Vec3[double] trajectory_velocity_at(Trajectory kind, Vec3[double] velocity, double age,
                                                double duration, double gravity,
                                                bint quirks) noexcept nogil:
    """The velocity at this age; with quirks as Quake has it, where it is not the derivative."""
    cdef Vec3[double] result
    if kind == LINEAR or kind == GRAVITY:
        result = velocity
    elif kind == LINEAR_STOP and age <= duration and (age >= 0 or quirks):
        result = velocity
    elif kind == SINE:
        result = velocity * (cos(2 * M_PI * age / duration)
                             * (0.5 if quirks else 2 * M_PI / duration))
    if kind == GRAVITY:
        result.z -= gravity * age
    return result
