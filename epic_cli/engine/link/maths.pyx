"""Sine, exponential, logarithm and normal probability with the same bits on every machine."""


cdef extern from "link/portable_maths.h" namespace "epic" nogil:
    const double kTurn
    void c_sine_cosine "epic::sine_cosine"(double turns, double& sine, double& cosine)
    double c_exponential "epic::exponential"(double x)
    double c_logarithm "epic::logarithm"(double x)
    double c_normal_probability "epic::normal_probability"(double z)


#: The angle of a turn, 2 pi.
TURN = kTurn


def sine_cosine(double turns):
    """The sine and the cosine of an angle in turns (1 turn is 360 degrees)."""
    cdef double sine = 0
    cdef double cosine = 0
    c_sine_cosine(turns, sine, cosine)
    return sine, cosine


def exponential(double x):
    """The exponential function, for x up to 709."""
    return c_exponential(x)


def logarithm(double x):
    """The natural logarithm of a positive number."""
    return c_logarithm(x)


def normal_probability(double z):
    """The share of a standard normal distribution that lies below z; never 0 or 1."""
    return c_normal_probability(z)
