"""Paths that several strategies share; one evaluation gives position and velocity.

``project`` is the path of a constant acceleration: p0 + v0 t + a t^2 / 2. ``hermite`` is the
cubic that matches position and velocity at both ends:

    p(u) = (2u^3 - 3u^2 + 1) p0 + (u^3 - 2u^2 + u) T v0 + (-2u^3 + 3u^2) p1 + (u^3 - u^2) T v1

for u from 0 to 1 over the duration T. ``damp_critically`` is the exact solution of
x'' = -2 w x' - w^2 x, which brings an offset to zero without overshoot of its own:

    x(t) = (x0 + (v0 + w x0) t) e^(-w t)

``blend_paths`` passes from one projected path into another: the entity is projected forward from
the drawn state (p0, v0) and from the received state (p1, v1, acceleration a), and over the duration
T the first projection passes into the second. With u = t / T:

    blended velocity  vb = v0 + (v1 - v0) u     (position blending: vb = v0)
    own projection    p  = p0 + vb t + a t^2 / 2
    received          p' = p1 + v1 t + a t^2 / 2
    drawn             q  = p + (p' - p) u

Source: Curtiss Murphy, Believable Dead Reckoning for Networked Games, Game Engine Gems 2 (2011).
"""

from libc.math cimport exp, isfinite

from epic_cli.engine.packets cimport Motion, Vec3, dot


cdef inline Vec3[double] lerp(Vec3[double] a, Vec3[double] b, double u) noexcept nogil:
    """Return the point at the fraction u from a to b, as a (1 - u) + b u."""
    return a * (1 - u) + b * u


cdef inline Motion project(const Motion& start, Vec3[double] acceleration,
                           double t) noexcept nogil:
    """Return position and velocity after t seconds of constant acceleration."""
    return Motion(
        start.position + start.velocity * t + acceleration * (0.5 * t * t),
        start.velocity + acceleration * t,
    )


cdef inline Motion hermite(const Motion& start, const Motion& end, double duration,
                           double u) noexcept nogil:
    """Return position and velocity at the fraction u of the cubic Hermite curve between two states.
    """
    cdef double u2 = u * u
    cdef double u3 = u2 * u
    return Motion(
        start.position * (2 * u3 - 3 * u2 + 1)
        + start.velocity * (duration * (u3 - 2 * u2 + u))
        + end.position * (3 * u2 - 2 * u3)
        + end.velocity * (duration * (u3 - u2)),
        (end.position - start.position) * ((6 * u - 6 * u2) / duration)
        + start.velocity * (3 * u2 - 4 * u + 1)
        + end.velocity * (3 * u2 - 2 * u),
    )


cdef inline Motion damp_critically(const Motion& offset, double frequency,
                                   double t) noexcept nogil:
    """Return an offset and its velocity after t seconds of critical damping at ``frequency``
    (rad/s).
    """
    cdef Vec3[double] pull = offset.velocity + offset.position * frequency
    cdef double decay = exp(-frequency * t)
    return Motion(
        (offset.position + pull * t) * decay,
        (offset.velocity - pull * (frequency * t)) * decay,
    )


cdef inline Motion step_damped_spring(const Motion& motion, Vec3[double] target, double smooth_time,
                                      double elapsed) noexcept nogil:
    """Return the motion after one step of a critically damped spring towards the target.

    The step is Unity's SmoothDamp, after Game Programming Gems 4, chapter 1.10, with its
    approximation of e^-x. ``smooth_time`` (s) is about how long the spring takes to reach the
    target.
    """
    cdef double frequency = 2 / max(smooth_time, 0.0001)
    cdef double x = frequency * elapsed
    cdef double decay = 1 / (1 + x + 0.48 * x * x + 0.235 * x * x * x)
    cdef Vec3[double] change = motion.position - target
    cdef Vec3[double] step = (motion.velocity + change * frequency) * elapsed
    return Motion(target + (change + step) * decay,
                  (motion.velocity - step * frequency) * decay)


cdef inline Motion smooth_damp(const Motion& motion, Vec3[double] target, double smooth_time,
                               double elapsed) noexcept nogil:
    """Return the motion after one step of a damped spring that stops at the target, as in Unity."""
    cdef Motion stepped = step_damped_spring(motion, target, smooth_time, elapsed)
    # past the target, or beyond what a double can hold
    if (dot(target - motion.position, stepped.position - target) > 0
            or not isfinite(dot(stepped.position, stepped.velocity))):
        return Motion(target, Vec3[double]())
    return stepped


cdef inline Motion blend_paths(const Motion& drawn, const Motion& received, Vec3[double] a,
                               double duration, double t, bint blends_velocity) noexcept nogil:
    """Return position and velocity of the blended path, t seconds after its start (0 to
    ``duration``).
    """
    cdef double u = t / duration
    cdef Vec3[double] change = (received.velocity - drawn.velocity) * u
    cdef Vec3[double] vb = drawn.velocity + change if blends_velocity else drawn.velocity
    cdef Vec3[double] own_velocity = vb + change if blends_velocity else drawn.velocity
    # both paths have the same acceleration
    cdef Vec3[double] bend = a * (0.5 * t * t)
    cdef Vec3[double] own = drawn.position + vb * t
    cdef Vec3[double] path = received.position + received.velocity * t
    return Motion(
        own + bend + ((path + bend) - (own + bend)) * u,
        own_velocity + (received.velocity - own_velocity) * u + a * t
        + (path - own) * (1 / duration),
    )
