"""Medians of windows that move over a series."""

from libcpp.algorithm cimport sort
from libcpp.vector cimport vector


def running_medians(const double[::1] values not None, size_t width, size_t stride,
                    double[:] medians not None):
    """The median of each ``width`` values, the windows ``stride`` apart, into ``medians``.

    As many windows as ``medians`` has room for; ``ValueError`` where there are not so many. The
    values are no NaN. A window is kept in order: from one to the next only ``stride`` values go and
    come.
    """
    cdef size_t window, index, begin
    cdef size_t count = medians.shape[0]
    cdef size_t middle = width // 2
    cdef vector[double] ordered
    cdef double* numbers
    cdef const double* first
    if width < 1 or stride < 1:
        raise ValueError("width and stride must be at least 1")
    if count and (count - 1) * stride + width > <size_t>values.shape[0]:
        raise ValueError("too few values for so many windows")
    if count == 0:
        return
    ordered.resize(width)
    numbers = ordered.data()
    first = &values[0]
    for window in range(count):
        begin = window * stride
        if window == 0 or stride >= width:
            for index in range(width):
                numbers[index] = first[begin + index]
            sort(ordered.begin(), ordered.end())
        else:
            for index in range(stride):
                exchange(numbers, width, first[begin - stride + index],
                         first[begin + width - stride + index])
        if width % 2:
            medians[window] = numbers[middle]
        else:
            medians[window] = (numbers[middle - 1] + numbers[middle]) / 2


cdef void exchange(double* ordered, size_t width, double gone, double come) noexcept nogil:
    """Takes one value out of those in order, and puts another one in."""
    cdef size_t place = 0
    while ordered[place] < gone:
        place += 1
    while place + 1 < width and ordered[place + 1] < come:
        ordered[place] = ordered[place + 1]
        place += 1
    while place > 0 and ordered[place - 1] > come:
        ordered[place] = ordered[place - 1]
        place -= 1
    ordered[place] = come
