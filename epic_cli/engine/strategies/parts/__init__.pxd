"""The base class of all strategies, and the clocks and averages that strategies share."""

cimport cython

from libc.math cimport floor
from libcpp.deque cimport deque
from libcpp.vector cimport vector

from epic_cli.engine.packets cimport (
    OptionalTurn, Packet, Sample, SpinEstimate, Turn, Vec3, VelocityEstimate,
)

from epic_cli.engine.strategies.parts.turning cimport TurnFilter

ctypedef bint (*TakePacket)(void* strategy, const Packet& packet, double now) noexcept nogil
ctypedef bint (*TakeBeside)(void* strategy, const Packet& packet, double now,
                            bint same_datagram, double previous) noexcept nogil
ctypedef void (*HearDatagram)(void* strategy, double time, double now,
                              double previous) noexcept nogil
ctypedef void (*MeetOther)(void* strategy, double time, double now) noexcept nogil
ctypedef bint (*RestartClock)(void* strategy, double time) noexcept nogil
ctypedef double (*NewestOf)(void* strategy) noexcept nogil
ctypedef void (*DrawSample)(void* strategy, double at, Sample& sample) noexcept nogil


cdef class Strategy:
    cdef readonly dict settings
    cdef dict own, others       # the same, converted: those with an attribute, and those without

    cdef int apply_settings(self) except -1
    cdef bint empty             # no packet has been accepted, or none since a teleport
    cdef bint drew              # something, of those packets
    cdef double newest          # the newest timestamp accepted; NaN: none yet
    cdef Sample drawn           # the frame before: its time (NaN: none yet), position and status
    cdef VelocityEstimate past  # for packets without a velocity
    cdef SpinEstimate past_spins
    cdef OptionalTurn first     # what is shown before one has been drawn
    cdef readonly bint estimates_velocity
    cdef readonly bint rotates
    cdef readonly bint listens  # to the connection's datagrams
    cdef bint connected         # the connection has other entities
    cdef bint same_datagram     # the packet's datagram has been counted
    cdef double last_offset     # arrival minus timestamp of the newest datagram; NaN: none
    cdef double others_newest   # the newest timestamp of other entities; -infinity: none
    cdef double own_newest      # that of its own entity, accepted or not; NaN: none
    cdef double previous        # before a datagram, the newest of its first packet's entity
    cdef bint clock_restarts    # at a teleport of an entity that is alone
    cdef bint was_heard         # what Python passed last, by hear or by update: its timestamp,
    cdef double last_time, last_arrival
    cdef double heard_newest    # by hear; NaN: none
    cdef bint broken
    cdef bint in_use            # by a replay, which may be drawing without the GIL
    cdef bint takes_any_number

    cdef int check_free(self) except -1
    cdef int take_into_use(self) except -1
    cdef int end_use(self) except -1
    cdef int raise_error(self) except -1

    cdef bint take(self, const Packet& packet, double now) noexcept nogil
    cdef void restart(self) noexcept nogil
    cdef void start_over(self) noexcept nogil
    cdef void hear_other(self, double time, double now, double previous) noexcept nogil
    cdef void meet_other(self, double time, double now) noexcept nogil
    cdef bint restart_clock(self, double time) noexcept nogil
    cdef bint begins_round(self, double begun) noexcept nogil
    cdef int join(self, Strategy peer) except -1
    cdef void leave(self) noexcept nogil
    cdef double find_connection_newest(self) noexcept nogil
    cdef double elapsed(self, double at) noexcept nogil
    cdef double since_drawn(self, double at) noexcept nogil

    cdef bint accept(self, const Packet& packet, double now) noexcept nogil
    cdef void draw(self, double at, Sample& sample) noexcept nogil
    cdef void clear(self) noexcept nogil
    cdef void count_datagram(self, double time, double now) noexcept nogil
    cdef void pass_frame(self, double at) noexcept nogil
    cdef void clear_clock(self) noexcept nogil
    cdef int copy_clock(self, Strategy peer) except -1
    cdef bint teleport(self, const Packet& packet, double now) noexcept nogil


cdef bint has_finite_numbers(const Packet& packet) noexcept nogil
cpdef bint is_native(object made)

ctypedef bint (*IsBroken)(void* strategy) noexcept nogil
ctypedef void (*BeginAfter)(void* strategy, double frame) noexcept nogil

cdef TakePacket take_packet
cdef DrawSample draw_sample
cdef IsBroken is_broken
cdef TakeBeside take_beside
cdef HearDatagram hear_datagram
cdef MeetOther meet_other
cdef RestartClock restart_clock
cdef NewestOf newest_of
cdef TakePacket take_native      # the same, where the strategy is the engine's own
cdef BeginAfter begin_after


cpdef enum class Acceleration:
    NONE
    ESTIMATED


cpdef enum AgeSource:
    AUTO
    STAMP
    ARRIVAL
    ABSOLUTE


@cython.final
cdef class PacketAge:
    cdef AgeSource source
    cdef double least           # the least recent age, on the uncorrected clocks; NaN: none
    cdef double measured        # the receiver's time of the last measurement
    cdef bint agree             # the first packet's age was plausible for a network

    cdef double measure(self, const Packet& packet, double now) noexcept nogil
    cdef void copy(self, PacketAge other) noexcept
    cdef void clear(self) noexcept nogil


@cython.final
cdef class MovingAverage:
    cdef readonly double weight
    cdef readonly double value
    cdef readonly double variance
    cdef readonly long count

    cdef void copy(self, MovingAverage other) noexcept
    cpdef double add(self, double sample) noexcept nogil
    cpdef void clear(self) noexcept nogil


@cython.final
cdef class WeightedTimedAverage:
    cdef readonly double duration
    cdef readonly double value
    cdef double updated

    cpdef void start(self, double value, double now) noexcept nogil
    cpdef double add(self, double sample, double now) noexcept nogil


cdef class Filter(Strategy):
    cdef PacketAge age
    cdef public double max_prediction, max_gap, snap_distance
    cdef double true_at                 # the local time at which the state was true
    cdef Vec3[double] position, velocity
    cdef TurnFilter turn

    cdef void record_true_time(self, const Packet& packet, double now) noexcept nogil

    cdef void begin(self, const Packet& packet) noexcept nogil
    cdef void step(self, const Packet& packet, double period) noexcept nogil
    cdef bint is_sane(self) noexcept nogil

cdef enum:
    MOST = 32


cdef struct Window:
    double arrived[MOST]        # in a ring, the oldest at ``oldest`` once it is full
    double sorted[MOST]
    int size, count, oldest


@cython.final
cdef class SenderTime:
    cdef bint estimates
    cdef readonly double offset
    cdef Window delays
    cdef Window others          # those that differ by more, in a row
    cdef double latest

    cdef void copy(self, SenderTime other) noexcept
    cpdef void add(self, double timestamp, double now) noexcept nogil
    cpdef double time(self, double at) noexcept nogil
    cpdef void clear(self) noexcept nogil


# What a strategy measures as the last interval (the values of the setting ``interval``).
cpdef enum LastInterval:
    STEPS = -4      # between the steps before those that took the last two packets
    STAMPS = -3     # the time between the last two timestamps
    FRAMES = -2     # between the frames that read the last two packets
    ARRIVALS = -1   # between the last two arrivals


@cython.final
cdef class SendInterval:
    cdef bint measures
    cdef double duration        # of an exponential mean; 0: the typical of the last
    cdef int last               # how many of the last are averaged; 0: by one of the other ways
    cdef double share           # of the newest in the mean, or 1
    cdef double least, most     # limits of a mean of the last, s
    cdef double late            # what is measured of a late packet, s
    cdef double mean            # before its limits, s
    cdef readonly double value
    cdef readonly long count    # of the differences measured
    cdef double first_guess
    cdef double newest
    cdef Window differences

    cdef void copy(self, SendInterval other) noexcept
    cpdef void add(self, double timestamp) noexcept nogil
    cdef void add_datagram(self, double timestamp, Strategy strategy) noexcept nogil
    cdef void measure(self, double difference) noexcept nogil
    cpdef void clear(self) noexcept nogil


cdef inline double span_seconds(double span, double interval) noexcept nogil:
    """Return a span in seconds; a negative span counts send intervals."""
    return span if span >= 0 else -span * interval


cdef inline double cut_to_milliseconds(double time) noexcept nogil:
    """Return a time (s) as a game has it that counts whole milliseconds."""
    return floor(time * 1000 + 1e-6) / 1000


# Robert Penner's families, each in, out and both
cpdef enum class Easing:
    IN_QUAD
    OUT_QUAD
    IN_OUT_QUAD
    IN_CUBIC
    OUT_CUBIC
    IN_OUT_CUBIC
    IN_QUART
    OUT_QUART
    IN_OUT_QUART
    IN_QUINT
    OUT_QUINT
    IN_OUT_QUINT
    IN_SINE
    OUT_SINE
    IN_OUT_SINE
    IN_EXPO
    OUT_EXPO
    IN_OUT_EXPO
    IN_CIRC
    OUT_CIRC
    IN_OUT_CIRC
    IN_BACK
    OUT_BACK
    IN_OUT_BACK
    SMOOTHSTEP
    SMOOTHERSTEP
    CSS_EASE
    CSS_EASE_IN
    CSS_EASE_OUT
    CSS_EASE_IN_OUT


cpdef enum class ClockRule:
    AGREE
    FIRST
    MIN
    MEAN
    MEDIAN
    MAX
    NEWEST
    PLL


cdef struct Measured:
    double at, offset           # at: the arrival, s, or the packet's number


@cython.final
cdef class ClockOffset:
    cdef ClockRule rule
    cdef bint counts            # packets in the window, not their time
    cdef double duration, resync, gain, decay, limit, share
    cdef readonly double value
    cdef readonly long count
    cdef double summed, updated
    cdef deque[Measured] recent
    cdef vector[double] ordered     # their offsets, rising, for the median

    cpdef bint add(self, double offset, double now) noexcept nogil
    cdef double average_recent(self, double offset, double at) noexcept nogil
    cdef void insert_offset(self, double offset, double at) noexcept nogil
    cdef void keep_extremes(self, double offset, double at) noexcept nogil
    cpdef void clear(self) noexcept nogil


@cython.final
cdef class Deviation:
    cdef double duration
    cdef readonly double mean, variance
    cdef double updated
    cdef bint empty

    cpdef void add(self, double sample, double now) noexcept nogil
    cpdef double value(self) noexcept nogil
    cpdef void clear(self) noexcept nogil


@cython.final
cdef class RecentValues:
    cdef double duration
    cdef size_t most
    cdef deque[Measured] recent

    cpdef void add(self, double value, double now) noexcept nogil
    cpdef double spread(self) noexcept nogil
    cpdef double largest(self) noexcept nogil
    cpdef double deviation(self) noexcept nogil
    cpdef void clear(self) noexcept nogil


@cython.final
cdef class PhaseLockedLoop:
    cdef readonly double step
    cdef readonly double decay
    cdef readonly double gain
    cdef readonly double limit
    cdef readonly double drift
    cdef readonly double integrator
    cdef readonly double expected
    cdef readonly double started
    cdef readonly long ticks

    cpdef void start(self, double now) noexcept nogil
    cpdef double server_update(self, double now) noexcept nogil
    cdef void copy(self, PhaseLockedLoop other) noexcept
    cpdef double time(self, double now) noexcept nogil
    cpdef double since_start(self, double now) noexcept nogil
    cpdef double server_time(self, double delta) noexcept nogil
