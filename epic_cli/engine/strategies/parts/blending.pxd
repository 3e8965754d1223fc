"""Projective blending of one projected path into another.

The entity is projected forward from the drawn state (p0, v0) and from what was received (p1, v1,
acceleration a), and over the duration T the first projection passes into the second. With
u = t / T:

    blended velocity  vb = v0 + (v1 - v0) u     (position blending: vb = v0)
    own projection    p  = p0 + vb t + a t^2 / 2
    received          p' = p1 + v1 t + a t^2 / 2
    drawn             q  = p + (p' - p) u

Source: Curtiss Murphy, Believable Dead Reckoning for Networked Games, Game Engine Gems 2 (2011).
"""

from epic_cli.engine.packets cimport Motion, Vec3


cdef inline Motion blended(const Motion& drawn, const Motion& received, Vec3[double] a,
                           double duration, double t, bint blends_velocity) noexcept nogil:
    """The drawn state t seconds after the beginning, for t from 0 to the duration."""
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
