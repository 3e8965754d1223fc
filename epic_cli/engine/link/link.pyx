"""A simulation of a one-way link that delays, loses and duplicates packets one at a time."""

from libc.math cimport INFINITY, NAN, ceil
from libc.stdint cimport int32_t, int64_t, uint32_t
from libcpp cimport bool as cbool
from libcpp.map cimport map as ordered_map
from libcpp.memory cimport unique_ptr
from libcpp.utility cimport pair
from libcpp.vector cimport vector

from epic_cli.engine.contract import Packet as NewPacket
from epic_cli.engine.packets cimport Entities, Packet, PacketBlock, packet_from_python


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


# The distributions of delays, each at its number.
cdef tuple DISTRIBUTIONS = (
    "uniform", "normal", "pareto", "paretonormal", "gamma", "pareto-unbounded",
)

#: The streams of random numbers, each with its own source.
STREAMS = ("loss", "delay", "duplicate delay", "duplicate", "reorder", "corrupt")


cdef class LinkKernel:
    """A simulated link (see ``network.link``), whose conditions are not checked here.

    ``sources`` has a ``random.Random`` for each of ``STREAMS``; their states are copied. ``steps``
    are pairs of a time (seconds after the first packet) and the conditions from then on, in order,
    the first at 0.
    """

    cdef unique_ptr[CLink] link

    def __init__(self, sources, steps):
        cdef vector[Twister] twisters
        cdef vector[Conditions] conditions
        for source in sources:
            twisters.push_back(copy_twister(source))
        for since, step in steps:
            conditions.push_back(convert_conditions(since, step))
        if twisters.size() != <size_t>len(STREAMS) or conditions.empty():
            raise ValueError("a link needs a random source for each stream, and conditions")
        self.link.reset(new CLink(twisters, conditions))

    def change(self, conditions):
        """Set the conditions from the next packet on; cancel the changes that were scheduled."""
        self.link.get().change(convert_conditions(0, conditions))

    def send(self, double time, double size=0):
        """Return the arrival times of a packet sent at ``time`` (s, never going back).

        An empty tuple means that the packet is lost; two times, in order, that it is duplicated.
        ``size`` (bytes) is its length on the wire; 0: that of the conditions.
        """
        cdef double[2] arrivals
        cdef int count = self.link.get().send(time, size, arrivals)
        if count == 1:
            return (arrivals[0],)
        return (arrivals[0], arrivals[1]) if count else ()

    @property
    def dropped(self):
        """The number of packet copies that the full queue dropped."""
        return self.link.get().counts().dropped

    @property
    def corrupted(self):
        """The number of packet copies that were corrupted, and so discarded."""
        return self.link.get().counts().corrupted

    @property
    def clipped(self):
        """The number of packet copies whose delay was below 0 and was clipped to 0."""
        return self.link.get().counts().clipped


cdef Twister copy_twister(object source):
    cdef Twister twister
    cdef size_t index
    words = source.getstate()[1]
    for index in range(len(words) - 1):
        twister.set_word(index, words[index])
    twister.set_used(words[len(words) - 1])
    return twister


cdef Conditions convert_conditions(double since, object given):
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


# ---------------- sine, exponential, logarithm, normal probability: the same bits on every machine


cdef extern from "link/portable_maths.h" namespace "epic" nogil:
    const double kTurn
    void c_sine_cosine "epic::sine_cosine"(double turns, double& sine, double& cosine)
    double c_exponential "epic::exponential"(double x)
    double c_logarithm "epic::logarithm"(double x)
    double c_normal_probability "epic::normal_probability"(double z)


#: The angle of a turn, 2 pi.
TURN = kTurn


def sine_cosine(double turns):
    """Return sine and cosine of an angle in turns (1 turn is 360 degrees), the same on all
    machines.
    """
    cdef double sine = 0
    cdef double cosine = 0
    c_sine_cosine(turns, sine, cosine)
    return sine, cosine


def exponential(double x):
    """Return e to the power of x, for x up to 709, the same on all machines."""
    return c_exponential(x)


def logarithm(double x):
    """Return the natural logarithm of a positive number, the same on all machines."""
    return c_logarithm(x)


def normal_probability(double z):
    """Return the share of a standard normal distribution that lies below z; never 0 or 1."""
    return c_normal_probability(z)


# ---------------- states to packets: rounding, repeats, and the marks of teleports


cdef extern from "link/rounding.h" namespace "epic" nogil:
    double round_to_millionth(double value)


cdef object new_tuple = tuple.__new__

cdef class SenderKernel:
    """A sender's memory of the state last sent for each entity, and of how often it was repeated.
    """

    cdef long long repeats
    cdef dict last
    cdef dict repeated

    def __init__(self, repeats):
        self.repeats = -1 if repeats is None else repeats
        self.last = {}
        self.repeated = {}

    def packets(self, states, double sent):
        """Return the packets to send for ``states`` (by entity name), stamped with ``sent`` (s).

        Numbers are rounded to millionths. A state that was sent ``repeats`` times already is left
        out.
        """
        cdef long long count
        cdef list made = []
        sent = round_to_millionth(sent)
        for entity, (position, velocity, teleports, rotation, spin) in states:
            last = self.last.get(entity)
            state = (round_numbers(position), round_numbers(velocity), teleports,
                     round_numbers(rotation), round_numbers(spin))
            if self.repeats >= 0:
                count = self.repeated.get(entity, 0) + 1 if state == last else 0
                self.repeated[entity] = min(count, self.repeats + 1)
                if count > self.repeats:
                    continue
            self.last[entity] = state
            teleport = last is not None and last[2] != teleports
            made.append(new_tuple(
                NewPacket,
                (state[0], state[1], sent, None, entity, teleport, None, 0.0, state[3], state[4],
                 None)))
        return made


cdef object round_numbers(numbers):
    if numbers is None:
        return None
    return tuple([round_to_millionth(number) for number in numbers])


# ---------------- packets in flight, and counts of their outcomes


cdef extern from "link/rounding.h" namespace "epic" nogil:
    double three_digits(double value)


cdef extern from "link/flights.h" namespace "epic" nogil:
    cdef cppclass Flights:
        bint empty()
        double next_arrival()
        void add(double arrival, int64_t sequence, int copy, const vector[Packet]& packets)
        int64_t land(vector[Packet]& arrived)


cdef class Tally:
    """Counts of what happened to datagrams, in memory that does not grow with their number.

    ``reordered`` are those that arrive after one that was sent later (RFC 4737). Delays are kept to
    three digits.
    """

    cdef readonly int64_t sent
    cdef readonly int64_t lost
    cdef readonly int64_t duplicated
    cdef readonly int64_t arrived
    cdef readonly int64_t reordered
    cdef readonly int64_t longest_loss
    cdef int64_t losses_in_a_row
    cdef int64_t latest
    cdef int64_t delayed
    cdef ordered_map[double, int64_t] delays

    def __cinit__(self):
        self.latest = -1

    cpdef count_sent(self, double time, tuple arrivals):
        """Count a datagram sent at ``time``.

        ``arrivals`` are the times at which its copies arrive.
        """
        cdef double arrival
        cdef Py_ssize_t count = len(arrivals)
        self.sent += 1
        if count == 0:
            self.lost += 1
            self.losses_in_a_row += 1
            self.longest_loss = max(self.longest_loss, self.losses_in_a_row)
            return
        self.losses_in_a_row = 0
        self.duplicated += count - 1
        for arrival in arrivals:
            self.delayed += 1
            self.delays[three_digits(arrival - time)] += 1

    cpdef count_arrived(self, int64_t sequence):
        """Count the arrival of the datagram with this sequence number."""
        self.arrived += 1
        self.reordered += sequence < self.latest
        self.latest = max(self.latest, sequence)

    def delay(self, double share):
        """Return the delay (s) that a ``share`` (0 to 1) of the arrivals does not exceed."""
        cdef pair[double, int64_t] delay_count
        cdef int64_t passed = 0
        for delay_count in self.delays:
            passed += delay_count.second
            if passed >= ceil(share * self.delayed):
                return delay_count.first
        return NAN


cdef class Transit:
    """The datagrams on their way from a sender to a receiver, counted in ``tally``.

    All blocks share ``entities``.
    """

    cdef readonly Entities entities
    cdef Tally tally
    cdef Flights flights
    cdef int64_t sequence

    def __init__(self, Tally tally not None):
        self.entities = Entities()
        self.tally = tally

    def send(self, double time, packets, tuple arrivals):
        """Send packets in one datagram at ``time``; its copies arrive at ``arrivals``."""
        cdef vector[Packet] natives
        cdef double arrival
        cdef int copy = 0
        natives.resize(len(packets) if arrivals else 0)
        for packet in packets if arrivals else ():
            packet_from_python(packet, natives[copy])
            natives[copy].entity = self.entities.assign_number(packet.entity)
            copy += 1
        self.tally.count_sent(time, arrivals)
        copy = 0
        for arrival in arrivals:
            self.flights.add(arrival, self.sequence, copy, natives)
            copy += 1
        self.sequence += 1

    def land(self, double time, PacketBlock block not None):
        """Append the packets that have arrived by ``time`` (s) to a block, in order of arrival."""
        while not self.flights.empty() and self.flights.next_arrival() <= time:
            self.tally.count_arrived(self.flights.land(block.items))
