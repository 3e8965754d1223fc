"""Projective blending: two projected paths, and the way from the one to the other.

The entity is projected forward from what is drawn (p0, v0) and from what was received (p1, v1,
acceleration a), and over the duration T the first projection passes into the second. With
u = t / T:

    blended velocity  vb = v0 + (v1 - v0) u     (position blending: vb = v0)
    own projection    p  = p0 + vb t + a t^2 / 2
    received          p' = p1 + v1 t + a t^2 / 2
    drawn             q  = p + (p' - p) u

Source: Curtiss Murphy, Believable Dead Reckoning for Networked Games, Game Engine Gems 2 (2011).
"""

from epic_cli.engine.vec3 cimport Vec3


cdef inline Vec3[double] blended(Vec3[double] p0, Vec3[double] v0, Vec3[double] p1,
                                 Vec3[double] v1, Vec3[double] a, double duration, double t,
                                 bint blends_velocity) noexcept nogil:
    """The drawn position t seconds after the beginning, for t from 0 to the duration."""
    cdef double u = t / duration
    cdef Vec3[double] vb = v0 + (v1 - v0) * u if blends_velocity else v0
    cdef Vec3[double] own = p0 + vb * t + a * (0.5 * t * t)
    cdef Vec3[double] received = p1 + v1 * t + a * (0.5 * t * t)
    return own + (received - own) * u


cdef inline Vec3[double] blended_velocity(Vec3[double] p0, Vec3[double] v0, Vec3[double] p1,
                                          Vec3[double] v1, Vec3[double] a, double duration,
                                          double t, bint blends_velocity) noexcept nogil:
    """The derivative of ``blended`` by time."""
    cdef double u = t / duration
    cdef Vec3[double] vb = v0 + (v1 - v0) * u if blends_velocity else v0
    cdef Vec3[double] own = p0 + vb * t
    cdef Vec3[double] own_velocity = vb + (v1 - v0) * u if blends_velocity else v0
    return (
        own_velocity + (v1 - own_velocity) * u + a * t
        + (p1 + v1 * t - own) * (1 / duration)
    )
