"""Rows that differ, counted without being written."""

from libc.math cimport fabs
from libcpp cimport bool as cbool

from epic_cli.engine.packets cimport NONE, Sample, SampleBlock, Vec3

# So far apart (a number below LARGE), rounded to 2 or 3 digits, they are never the same.
cdef double APART2 = 0.011
cdef double APART3 = 0.0011
cdef double LARGE = 1e6


cdef extern from *:
    """
    #include <cstddef>
    #include <cstring>
    namespace epic {
    // Samples that are the same in every bit, but for how they are turned.
    inline bool same_bits(const Sample& one, const Sample& other) {
        return std::memcmp(static_cast<const void*>(&one), static_cast<const void*>(&other),
                           offsetof(Sample, turn)) == 0;
    }
    }
    """
    cbool same_bits "epic::same_bits"(const Sample&, const Sample&) nogil


cdef bint apart(const Vec3[double]& one, const Vec3[double]& other, double least) noexcept nogil:
    return (
        (fabs(one.x - other.x) > least and fabs(one.x) < LARGE and fabs(other.x) < LARGE)
        or (fabs(one.y - other.y) > least and fabs(one.y) < LARGE and fabs(other.y) < LARGE)
        or (fabs(one.z - other.z) > least and fabs(one.z) < LARGE and fabs(other.z) < LARGE)
    )


def count_apart(SampleBlock before not None, SampleBlock after not None):
    """How many samples certainly print a row that differs from that at the same index.

    Also returns two blocks of the pairs that must be printed to be compared. Samples that are
    equal in every bit are in neither; so are those at the end that have no partner.
    """
    cdef size_t index
    cdef size_t count = 0
    cdef Sample one
    cdef Sample other
    cdef SampleBlock left = SampleBlock(before.capacity)
    cdef SampleBlock right = SampleBlock(before.capacity)
    for index in range(min(before.items.size(), after.items.size())):
        one, other = before.items[index], after.items[index]
        if same_bits(one, other):
            continue
        if one.status != other.status or one.entity != other.entity or (
            one.status != NONE
            and (
                apart(one.position, other.position, APART2)
                or apart(one.velocity, other.velocity, APART3)
            )
        ):
            count += 1
        else:
            left.items.push_back(one)
            right.items.push_back(other)
    return count, left, right
