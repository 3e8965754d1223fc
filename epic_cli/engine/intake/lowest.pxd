cdef extern from "intake/lowest.h" namespace "epic" nogil:
    cdef cppclass LowestDelays:
        LowestDelays()
        void add(double, double)
        double drift()
