"""Curves that several strategies and the client share.

``hermite`` is the cubic that matches position and velocity at both ends:

    p(u) = (2u^3 - 3u^2 + 1) p0 + (u^3 - 2u^2 + u) T v0 + (-2u^3 + 3u^2) p1 + (u^3 - u^2) T v1

for u from 0 to 1 over the duration T. ``critically_damped`` is the exact solution of
x'' = -2 w x' - w^2 x, which brings an offset to zero without overshoot of its own:

    x(t) = (x0 + (v0 + w x0) t) e^(-w t)
"""

from libc.math cimport exp, isfinite

from epic_cli.engine.vec3 cimport Vec3, dot


cdef inline Vec3[double] lerp(Vec3[double] a, Vec3[double] b, double u) noexcept nogil:
    """The point at the fraction u of the way from a to b, as a (1 - u) + b u."""
    return a * (1 - u) + b * u


cdef inline Vec3[double] hermite(Vec3[double] p0, Vec3[double] v0, Vec3[double] p1,
                                 Vec3[double] v1, double duration, double u) noexcept nogil:
    """The position at u on the cubic from (p0, v0) to (p1, v1)."""
    cdef double u2 = u * u
    cdef double u3 = u2 * u
    return (
        p0 * (2 * u3 - 3 * u2 + 1)
        + v0 * (duration * (u3 - 2 * u2 + u))
        + p1 * (3 * u2 - 2 * u3)
        + v1 * (duration * (u3 - u2))
    )


cdef inline Vec3[double] hermite_velocity(Vec3[double] p0, Vec3[double] v0, Vec3[double] p1,
                                          Vec3[double] v1, double duration,
                                          double u) noexcept nogil:
    """The derivative of ``hermite`` by time."""
    cdef double u2 = u * u
    return (
        (p1 - p0) * ((6 * u - 6 * u2) / duration)
        + v0 * (3 * u2 - 4 * u + 1)
        + v1 * (3 * u2 - 2 * u)
    )


cdef inline Vec3[double] critically_damped(Vec3[double] x0, Vec3[double] v0, double frequency,
                                           double t) noexcept nogil:
    """What is left of the offset x0, which began with the velocity v0, after t seconds."""
    return (x0 + (v0 + x0 * frequency) * t) * exp(-frequency * t)


cdef inline Vec3[double] critically_damped_velocity(Vec3[double] x0, Vec3[double] v0,
                                                    double frequency, double t) noexcept nogil:
    """The derivative of ``critically_damped`` by time."""
    return (v0 - (v0 + x0 * frequency) * (frequency * t)) * exp(-frequency * t)


cdef inline Vec3[double] smooth_damp(Vec3[double] value, Vec3[double] target,
                                     Vec3[double]* velocity, double smooth_time,
                                     double elapsed) noexcept nogil:
    """One step of a critically damped spring towards the target, which it never passes.

    The step is Unity's SmoothDamp, after Game Programming Gems 4, chapter 1.10, with its
    approximation of e^-x. ``smooth_time`` is about how long the way takes.
    """
    cdef double frequency = 2 / max(smooth_time, 0.0001)
    cdef double x = frequency * elapsed
    cdef double decay = 1 / (1 + x + 0.48 * x * x + 0.235 * x * x * x)
    cdef Vec3[double] change = value - target
    cdef Vec3[double] step = (velocity[0] + change * frequency) * elapsed
    cdef Vec3[double] result = target + (change + step) * decay
    velocity[0] = (velocity[0] - step * frequency) * decay
    # past the target, or beyond what a double can hold
    if dot(target - value, result - target) > 0 or not isfinite(dot(result, velocity[0])):
        velocity[0] = Vec3[double]()
        return target
    return result
