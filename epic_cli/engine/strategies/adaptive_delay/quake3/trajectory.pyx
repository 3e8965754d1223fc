"""Trajectories: the motion that a position and a velocity, sent once, imply at any later time.

An idea of Quake III: client and server evaluate the same function, so an entity that flies or
swings needs no more packets. With the age t since the timestamp, in seconds:

    stationary, interpolate   p
    linear                    p + v t
    linear-stop               p + v min(t, duration)
    sine                      p + v sin(2 pi t / duration)
    gravity                   p + v t - g t^2 / 2 along z

Source: Quake III Arena, BG_EvaluateTrajectory; formulas only (its code is GPL-2.0).
"""

from libc.math cimport M_PI, cos, sin

from epic_cli.engine.packets cimport Motion, Vec3


cpdef enum Trajectory:
    STATIONARY
    INTERPOLATE
    LINEAR
    LINEAR_STOP
    SINE
    GRAVITY


cdef inline Motion trajectory_at(Trajectory kind, const Motion& start, double age, double duration,
                                 double gravity, bint quirks) noexcept nogil:
    """The motion at this age; with quirks Quake's velocity, where it is not the derivative."""
    cdef Vec3[double] position = start.position, velocity
    cdef double phase
    if kind == LINEAR or kind == GRAVITY:
        position = start.position + start.velocity * age
        velocity = start.velocity
    elif kind == LINEAR_STOP:
        position = start.position + start.velocity * min(age, duration)
        if age <= duration:
            velocity = start.velocity
    elif kind == SINE:
        phase = 2 * M_PI * age / duration
        position = start.position + start.velocity * sin(phase)
        velocity = start.velocity * (cos(phase) * (0.5 if quirks else 2 * M_PI / duration))
    if kind == GRAVITY:
        position.z -= gravity * age * age / 2
        velocity.z -= gravity * age
    return Motion(position, velocity)
