"""Small questions about vectors that several strategies ask."""

from libc.math cimport isfinite

from epic_cli.engine.vec3 cimport Vec3, dot


cdef inline bint is_finite(Vec3[double] value) noexcept nogil:
    """Whether no component is infinite or NaN."""
    return isfinite(value.x) and isfinite(value.y) and isfinite(value.z)


cdef inline bint is_beyond(Vec3[double] way, double distance) noexcept nogil:
    """Whether a way is longer than a snap distance; a distance of 0 means that none is."""
    return 0 < distance * distance < dot(way, way)


cdef inline double clamped(double value, double low, double high) noexcept nogil:
    """The value, or the end of the range that it is beyond."""
    return min(max(value, low), high)


cdef inline tuple components(Vec3[double] value):
    """The vector as Python's tuple."""
    return value.x, value.y, value.z
