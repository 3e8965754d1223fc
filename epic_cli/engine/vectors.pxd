"""Small functions of vectors and numbers that several strategies use."""

from libc.math cimport isfinite

from epic_cli.engine.vec3 cimport Vec3, dot


cdef inline bint is_finite(Vec3[double] value) noexcept nogil:
    """Whether no component is infinite or NaN."""
    return isfinite(value.x) and isfinite(value.y) and isfinite(value.z)


cdef inline bint is_beyond(Vec3[double] displacement, double distance) noexcept nogil:
    """Whether a displacement is longer than a snap distance, where 0 stands for no limit."""
    return 0 < distance * distance < dot(displacement, displacement)


cdef inline double clamped(double value, double low, double high) noexcept nogil:
    """The value, or the end of the range that it is beyond."""
    return min(max(value, low), high)


cdef inline tuple components(Vec3[double] value):
    """The vector as Python's tuple."""
    return value.x, value.y, value.z
