"""A filter that refuses untrusted senders' packets and maps timestamps to the receiver's clock."""

from libc.math cimport INFINITY, NAN, fabs, isfinite, isnan, nearbyint
from libc.stdint cimport int32_t, uint32_t
from libcpp.vector cimport vector

from epic_cli.engine.packets cimport Entities, Packet, PacketBlock, is_finite


cdef extern from "intake/sender_clock.h" namespace "epic" nogil:
    cdef cppclass LowestDelays:
        LowestDelays()
        void add(double, double)
        double drift()

    enum Verdict "epic::SenderClock::Verdict":
        AS_BEFORE "epic::SenderClock::kAsBefore"
        DOUBTFUL "epic::SenderClock::kDoubtful"
        RESET "epic::SenderClock::kReset"

    cdef cppclass SenderClock:
        SenderClock()
        double shift()
        double step()
        Verdict look(double, double)

# A greater difference (s) means another clock, or another unit.
FARTHEST = 3600.0
cdef double FAR = FARTHEST

# A greater time is not in seconds.
cdef double LATEST = 1e11

# Times (s) from here on are Unix times.
cdef double UNIX_BEGIN = 9e8
cdef double UNIX_END = 5e9


# This many delays wait for a verdict on their clock.
cdef size_t DOUBTS = 4096

cdef enum:
    UNKNOWN = -1
    REFUSED = -2        # and below: the reasons, in their order


cdef struct Stamp:
    double time         # in a packet
    double arrival


cdef class PacketFilter:
    """A filter of packets; its memory grows only with the number of admitted names.

    The receiver's clock starts with the first packet, at the packet's time: its delay counts as 0.
    ``origin`` (seconds) becomes 0; None: the first packet's time, if that is a Unix time; NaN: the
    first packet's time. ``refuse_name`` is called with a new entity's name and returns a reason, or
    None. ``reasons`` are two more: a number that is not finite, and a time too far from the clock.
    Times that are counted in few bits start over after ``time_span`` seconds (0: never): of the
    times that one may mean, it is the one nearest to that of the sender's newest packet and what
    has passed since, or to the clock.

    Where a sender's clock is reset (``sender_clock.h``), the times in its packets are shifted by as
    much, so that they continue, with the shortest delay as 0. Until the reset is detected its
    packets count as late, their delays as no delays; those that would arrive before they were sent
    are refused.
    """

    cdef readonly Entities entities
    cdef readonly size_t packets        # admitted
    cdef readonly size_t late           # with a time before that of an earlier arrival
    cdef readonly size_t clock_resets   # how often a sender's clock was reset
    cdef readonly double clock_step     # how far (s) the last of them went back
    cdef object refuse_name
    cdef object tally
    cdef tuple reasons
    cdef list name_reasons
    cdef double time_span
    cdef double given_origin
    cdef bint origin_is_given
    cdef double origin
    cdef double zero                    # of the receiver's clock, on the machine's; NaN: not begun
    cdef double newest                  # arrival
    cdef vector[double] newest_times    # by entity
    cdef dict numbers                   # of the admitted entities, by name
    cdef Entities source                # whose entities the states are of
    cdef vector[int32_t] states
    cdef vector[LowestDelays] lowest    # by sender
    cdef vector[SenderClock] clocks     # by sender
    cdef vector[Stamp] stamps           # the newest, by sender
    cdef vector[vector[Stamp]] doubtful  # times and arrivals, by sender, until a clock is settled

    def __init__(self, refuse_name, tuple reasons, tally, *, origin=None,
                 double time_span=0):
        self.entities = Entities()
        self.refuse_name = refuse_name
        self.reasons = reasons
        self.name_reasons = []
        self.tally = tally
        self.time_span = time_span
        self.origin_is_given = origin is not None
        self.given_origin = 0.0 if origin is None else origin
        self.zero = NAN
        self.newest = -INFINITY
        self.numbers = {}

    @property
    def names(self):
        """The names of the admitted entities."""
        return self.numbers.keys()

    def now(self, double machine):
        """Convert a time (s) of the machine's clock to the receiver's.

        None before the first packet.
        """
        return None if isnan(self.zero) else machine - self.zero

    def admit(self, PacketBlock block not None, bytes ends not None, bytes times not None,
              bytes senders not None, double earliest, PacketBlock into not None):
        """Append the admitted packets of a block to ``into``; return the number refused, by reason.

        The packets were read from datagrams, one after the other: ``ends`` (uint32) are the offsets
        at which the datagrams end, ``times`` (double) their arrivals (s) on the machine's clock,
        ``senders`` (int32) the indices of their senders. An arrival before that of an earlier
        packet, or before ``earliest`` (s), up to which rows have been drawn, is set to that time.
        """
        cdef const uint32_t* end = <const uint32_t*><const char*>ends
        cdef const double* machine = <const double*><const char*>times
        cdef const int32_t* sender = <const int32_t*><const char*>senders
        cdef size_t last = len(times) // sizeof(double) - 1
        cdef size_t datagram = 0
        cdef size_t index
        cdef Packet packet
        cdef dict refused = {}
        if into.entities is not self.entities:
            raise ValueError("the block must share the filter's entities")
        if self.source is not block.entities:
            self.source = block.entities
            self.states.clear()
        self.states.resize(len(block.entities), UNKNOWN)
        for index in range(block.items.size()):
            packet = block.items[index]
            while datagram < last and packet.offset >= end[datagram]:
                datagram += 1
            reason = self.admit_one(packet, machine[datagram], sender[datagram], earliest, into)
            if reason is not None:
                refused[reason] = refused.get(reason, 0) + 1
        refused.pop(False, None)        # packets passed over
        return refused

    cdef object admit_one(self, Packet& packet, double machine, int32_t sender, double earliest,
                          PacketBlock into):
        cdef int32_t state
        cdef double origin = self.origin
        cdef double zero = self.zero
        cdef double time
        cdef double came
        cdef double arrival
        cdef Verdict verdict
        if not (isfinite(packet.time) and isfinite(packet.delta)
                and is_finite(packet.position) and is_finite(packet.velocity)):
            return self.reasons[0]
        state = self.states[packet.entity]
        if state == UNKNOWN:
            state = self.judge_name(packet.entity)
        if state <= REFUSED:
            return self.name_reasons[REFUSED - state]
        if self.clocks.size() <= <size_t>sender:
            self.clocks.resize(sender + 1)
            self.lowest.resize(sender + 1)
            self.doubtful.resize(sender + 1)
            self.stamps.resize(sender + 1, Stamp(NAN, NAN))
        if self.time_span > 0:
            self.unwrap(packet, machine, self.stamps[sender])
        if isnan(zero):
            origin = self.choose_origin(packet.time)
            zero = machine - (packet.time - origin)
        if fabs(packet.time) > LATEST:
            return self.reasons[1]
        time = packet.time - origin + self.clocks[sender].shift()
        came = nearbyint((machine - zero) * 1e6) / 1e6
        verdict = self.clocks[sender].look(came, came - time)
        if verdict == RESET:
            self.reset_clock(sender)
            time = packet.time - origin + self.clocks[sender].shift()
        arrival = max(came, self.newest, earliest)
        if (verdict == DOUBTFUL and time > came) or not fabs(time - arrival) <= FAR:
            return self.reasons[1]
        self.origin, self.zero, self.newest = origin, zero, arrival
        if state == UNKNOWN:
            state = self.admit_name(packet.entity)
        if time != packet.time:
            packet.single.time = <float>time
        packet.time = time
        packet.arrival = arrival
        packet.entity = state
        packet.line = <int32_t>into.items.size() + 1
        packet.column = packet.offset = packet.length = 0
        into.items.push_back(packet)
        self.count_packet(packet, sender, verdict)
        return None

    cdef void unwrap(self, Packet& packet, double machine, Stamp& newest) noexcept:
        cdef double time = packet.time
        cdef double expected = machine - self.zero + self.origin    # of a sender's first packet
        if not isnan(newest.time):
            expected = newest.time + (machine - newest.arrival)
        if not isnan(expected):
            packet.time += self.time_span * nearbyint((expected - time) / self.time_span)
        if packet.time != time:
            packet.single.time = <float>packet.time
        if not packet.time <= newest.time:
            newest.time, newest.arrival = packet.time, machine

    cdef void reset_clock(self, int32_t sender) noexcept:
        self.clock_resets += 1
        self.clock_step = self.clocks[sender].step()
        self.lowest[sender] = LowestDelays()

    cdef int32_t judge_name(self, int32_t entity) except? -100:
        """Return the number of an admitted entity, a refusal's code, or ``UNKNOWN`` for a new name.
        """
        cdef int32_t state
        name = self.source.name(entity)
        number = self.numbers.get(name)
        if number is not None:
            state = number
        else:
            reason = self.refuse_name(name)
            if reason is None:
                return UNKNOWN
            if reason not in self.name_reasons:
                self.name_reasons.append(reason)
            state = REFUSED - <int32_t>self.name_reasons.index(reason)
        self.states[entity] = state
        return state

    cdef int32_t admit_name(self, int32_t entity) except -1:
        name = self.source.name(entity)
        number = self.entities.assign_number(name)
        self.numbers[name] = number
        self.newest_times.resize(len(self.entities), -INFINITY)
        self.states[entity] = number
        return number

    cdef double choose_origin(self, double time):
        if not self.origin_is_given:
            return time if UNIX_BEGIN <= time <= UNIX_END else 0.0
        return time if isnan(self.given_origin) else self.given_origin

    cdef int count_packet(self, const Packet& packet, int32_t sender, Verdict verdict) except -1:
        cdef vector[Stamp]* doubtful = &self.doubtful[sender]
        cdef size_t index
        self.packets += 1
        self.late += packet.time < self.newest_times[packet.entity]
        self.newest_times[packet.entity] = max(self.newest_times[packet.entity], packet.time)
        if verdict == RESET:            # the delay came from another clock
            doubtful.clear()
        if verdict == DOUBTFUL and doubtful.size() < DOUBTS:
            doubtful.push_back(Stamp(packet.time, packet.arrival))
            return 0
        for index in range(doubtful.size()):
            self.count_delay(doubtful[0][index], sender)
        doubtful.clear()
        self.count_delay(Stamp(packet.time, packet.arrival), sender)
        return 0

    cdef int count_delay(self, const Stamp& stamp, int32_t sender) except -1:
        self.tally.count_sent(stamp.time, (stamp.arrival,))
        self.lowest[sender].add(stamp.arrival, stamp.arrival - stamp.time)
        return 0

    def drifts(self):
        """Return each sender's clock drift, the growth of the delay (s) per second.

        None if unknown.
        """
        cdef size_t index
        found = []
        for index in range(self.lowest.size()):
            drift = self.lowest[index].drift()
            found.append(None if isnan(drift) else drift)
        return found
