"""The curves by which ways are eased: fractions of a way by fractions of its duration.

Those of Robert Penner (easing functions, 2001) are families that ease in, out (backwards) or both
(half of each), in which a power, a sine, an exponential, a circle or a cubic that goes back first
is the ease in. ``SMOOTHSTEP`` is 3u^2 - 2u^3, ``SMOOTHERSTEP`` 6u^5 - 15u^4 + 10u^3 (K. Perlin,
"Improving Noise", 2002); CSS has Bezier curves (CSS Easing Functions Level 1).
"""

from libc.math cimport M_PI, cos, exp2, sqrt

cdef enum:
    ENDS = 3        # in, out and both
    HALVINGS = 50   # of the times in which that of a Bezier curve is sought
    OTHERS = 24     # the first curve of ``Easing`` that is of no family; then, in its order:
    SMOOTHER = 25
    CSS_EASE = 26
    CSS_IN = 27
    CSS_OUT = 28
    CSS_BOTH = 29


cdef inline double ease_in(int family, double u, double back) noexcept nogil:
    """Return the fraction of an ease in at ``u``; ``back``: how far it goes back."""
    if family == 0:
        return u * u
    if family == 1:
        return u * u * u
    if family == 2:
        return u * u * u * u
    if family == 3:
        return u * u * u * u * u
    if family == 4:
        return 1 - cos(M_PI / 2 * u)
    if family == 5:
        return exp2(10 * (u - 1)) if u > 0 else 0
    if family == 6:
        return 1 - sqrt(1 - u * u)
    return u * u * ((back + 1) * u - back)


cdef inline double ease_by_bezier(double x1, double y1, double x2, double y2,
                                  double u) noexcept nogil:
    """Return the fraction of a CSS timing function at ``u``, by bisection."""
    cdef double low = 0
    cdef double high = 1
    cdef double t = 0.5
    cdef int _
    for _ in range(HALVINGS):
        if t * (3 * (1 - t) * ((1 - t) * x1 + t * x2) + t * t) < u:
            low = t
        else:
            high = t
        t = (low + high) / 2
    return t * (3 * (1 - t) * ((1 - t) * y1 + t * y2) + t * t)


cdef inline double ease(int curve, double u) noexcept nogil:
    """Return the fraction of a way that is covered at the fraction ``u`` of its duration.

    ``curve`` is one of ``Easing``.
    """
    cdef int family = curve // ENDS, ends = curve % ENDS
    cdef double both = 2 * min(u, 1 - u)
    if u == 1:
        return 1
    if curve == OTHERS:
        return u * u * (3 - 2 * u)
    if curve == SMOOTHER:
        return u * u * u * (u * (6 * u - 15) + 10)
    if curve == CSS_EASE:
        return ease_by_bezier(0.25, 0.1, 0.25, 1, u)
    if curve == CSS_IN:
        return ease_by_bezier(0.42, 0, 1, 1, u)
    if curve == CSS_OUT:
        return ease_by_bezier(0, 0, 0.58, 1, u)
    if curve == CSS_BOTH:
        return ease_by_bezier(0.42, 0, 0.58, 1, u)
    if ends == 0:   # these go back by 10 % of the way
        return ease_in(family, u, 1.70158)
    if ends == 1:
        return 1 - ease_in(family, 1 - u, 1.70158)
    both = ease_in(family, both, 2.5949095) / 2
    return both if u < 0.5 else 1 - both


cdef inline double slope_of_ease(int curve, double u) noexcept nogil:
    """Return the derivative of ``ease`` at ``u`` (1: constant speed), by differences."""
    cdef double low = max(u - 1e-6, 0.0)
    cdef double high = min(u + 1e-6, 1.0)
    return (ease(curve, high) - ease(curve, low)) / (high - low)
