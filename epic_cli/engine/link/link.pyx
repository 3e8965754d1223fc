"""One direction of a simulated link, one packet at a time."""

from libc.math cimport INFINITY
from libc.stdint cimport int32_t, int64_t, uint32_t
from libcpp cimport bool as cbool
from libcpp.memory cimport unique_ptr
from libcpp.vector cimport vector


cdef extern from "link/portable_maths.h" namespace "epic" nogil:
    cdef cppclass Twister:
        void set_word(size_t index, uint32_t word)
        void set_used(size_t used)


cdef extern from "link/delays.h" namespace "epic" nogil:
    cdef cppclass Conditions:
        double since
        double latency
        double jitter
        int32_t distribution
        double correlation
        cbool bursts
        double to_bad
        double to_good
        double loss_if_bad
        double loss_if_good
        double loss_correlation
        double duplicate
        double reorder
        double reorder_correlation
        int64_t reorder_gap
        double corrupt
        double rate
        double packet_size
        double longest_wait
        int64_t most_waiting
        cbool in_order


cdef extern from "link/link.h" namespace "epic" nogil:
    cdef cppclass LinkCounts:
        int64_t dropped
        int64_t corrupted
        int64_t clipped

    cdef cppclass CLink "epic::Link":
        CLink(const vector[Twister]& sources, vector[Conditions] steps) except +
        void change(const Conditions& now)
        int send(double time, double bytes, double* arrivals)
        const LinkCounts& counts()


# How delays can be distributed, each at its number.
cdef tuple DISTRIBUTIONS = (
    "uniform", "normal", "pareto", "paretonormal", "gamma", "pareto-unbounded",
)

#: The consumers of random numbers, each with its own source.
STREAMS = ("loss", "delay", "duplicate delay", "duplicate", "reorder", "corrupt")


cdef class LinkKernel:
    """The link of ``network.link``, whose conditions are not checked here.

    ``sources`` has a ``random.Random`` for each of ``STREAMS``; they are read, not drawn from.
    ``steps`` are pairs of a time (seconds after the first packet) and the conditions from then on,
    in order, the first at 0.
    """

    cdef unique_ptr[CLink] link

    def __init__(self, sources, steps):
        cdef vector[Twister] twisters
        cdef vector[Conditions] conditions
        for source in sources:
            twisters.push_back(twister_of(source))
        for since, step in steps:
            conditions.push_back(conditions_of(since, step))
        if twisters.size() != <size_t>len(STREAMS) or conditions.empty():
            raise ValueError("a link has a source for each stream, and conditions")
        self.link.reset(new CLink(twisters, conditions))

    def change(self, conditions):
        """Sets the conditions from the next packet on, and drops the scheduled steps."""
        self.link.get().change(conditions_of(0, conditions))

    def send(self, double time, double size=0):
        """When a packet sent at ``time`` (seconds, never going back) arrives.

        No times: lost. Two, in order: duplicated. A ``size`` (bytes) is its length on
        the wire; 0: that of the conditions.
        """
        cdef double[2] arrivals
        cdef int count = self.link.get().send(time, size, arrivals)
        if count == 1:
            return (arrivals[0],)
        return (arrivals[0], arrivals[1]) if count else ()

    @property
    def dropped(self):
        """How many copies of packets the full queue dropped."""
        return self.link.get().counts().dropped

    @property
    def corrupted(self):
        """How many copies of packets were corrupted, and so discarded."""
        return self.link.get().counts().corrupted

    @property
    def clipped(self):
        """How many copies had a delay below 0, clipped to 0."""
        return self.link.get().counts().clipped


cdef Twister twister_of(object source):
    cdef Twister twister
    cdef size_t index
    words = source.getstate()[1]
    for index in range(len(words) - 1):
        twister.set_word(index, words[index])
    twister.set_used(words[len(words) - 1])
    return twister


cdef Conditions conditions_of(double since, object given):
    cdef Conditions now
    now.since = since
    now.latency, now.jitter = given.latency, given.jitter
    now.distribution = DISTRIBUTIONS.index(given.distribution)
    now.correlation = given.correlation
    now.bursts = isinstance(given.loss, tuple)
    if now.bursts:
        now.to_bad, now.to_good, now.loss_if_bad, now.loss_if_good = given.loss
    else:
        now.to_bad, now.to_good, now.loss_if_bad, now.loss_if_good = 0, 1, 1, given.loss
    now.loss_correlation = given.loss_correlation
    now.duplicate = given.duplicate
    now.reorder, now.reorder_correlation = given.reorder, given.reorder_correlation
    now.reorder_gap = given.reorder_gap
    now.corrupt = given.corrupt
    now.rate, now.packet_size = given.rate, given.packet_size
    now.longest_wait = INFINITY if given.queue.seconds is None else given.queue.seconds
    if given.queue.packets is not None:
        now.most_waiting = given.queue.packets
    now.in_order = given.in_order
    return now
