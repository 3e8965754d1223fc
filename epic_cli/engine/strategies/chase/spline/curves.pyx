"""The seven curves of Decentraland from one state to the next, (p0, v0) to (p1, v1) over T.

Source: decentraland/unity-explorer, InterpolationSpline (Apache-2.0), from the formulas.
"""

from epic_cli.engine.packets cimport Motion, Vec3
from epic_cli.engine.strategies.parts.curves cimport blended, hermite, lerp


cpdef enum Curve:
    LINEAR
    HERMITE
    MONOTONE_Y_HERMITE
    FULL_MONOTONIC_HERMITE
    BEZIER
    VELOCITY_BLENDING
    POSITION_BLENDING


cdef inline double monotone(double velocity, double rate) noexcept nogil:
    """The velocity, limited to between 0 and the average rate; unlimited where that is 0."""
    if rate > 0:
        return min(max(velocity, 0.0), rate)
    if rate < 0:
        return max(min(velocity, 0.0), rate)
    return velocity


cdef inline Vec3[double] end_velocity(Curve curve, Vec3[double] velocity,
                                      Vec3[double] rate) noexcept nogil:
    """An end's velocity as the curve takes it: as received, or such that it is monotone."""
    if curve == MONOTONE_Y_HERMITE:
        return Vec3[double](velocity.x, monotone(velocity.y, rate.y), velocity.z)
    if curve == FULL_MONOTONIC_HERMITE:
        return Vec3[double](monotone(velocity.x, rate.x), monotone(velocity.y, rate.y),
                            monotone(velocity.z, rate.z))
    return velocity


cdef inline Motion along(Curve curve, const Motion& start, const Motion& end, double duration,
                         double t) noexcept nogil:
    """The point of a curve t seconds after its beginning, and its derivative by time."""
    cdef double u = t / duration
    cdef bint blends_velocity = curve == VELOCITY_BLENDING
    if curve == LINEAR:
        return Motion(lerp(start.position, end.position, u),
                      (end.position - start.position) * (1 / duration))
    if blends_velocity or curve == POSITION_BLENDING:
        # blending needs the beginning of the received path
        return blended(start, Motion(end.position - end.velocity * duration, end.velocity),
                       Vec3[double](), duration, t, blends_velocity)
    return hermite(start, end, duration, u)
