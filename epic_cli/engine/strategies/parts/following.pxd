"""Followers of a drawn or received point, independent of the frame rate (``following.h``)."""

from epic_cli.engine.packets cimport Sample


cdef extern from "strategies/parts/following.h" namespace "epic" nogil:
    double exponential_share(double elapsed, double time)
    double caught_up(double time, double target, double elapsed, double rate, double limit)

    cdef cppclass LowPass:
        void clear()
        void filter(Sample&, const Sample&, double, double, double)
