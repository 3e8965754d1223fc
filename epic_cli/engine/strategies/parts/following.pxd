"""Smoothing steps that do not depend on the frame rate (``following.h``)."""

from epic_cli.engine.packets cimport Vec3


cdef extern from "strategies/parts/following.h" namespace "epic" nogil:
    double exponential_share(double elapsed, double time)
    double share_within(const Vec3[double]& way, double most)
    Vec3[double] rounded(const Vec3[double]& point, double grid, bint down)
    double caught_up(double time, double target, double elapsed, double rate, double limit,
                     double near)
