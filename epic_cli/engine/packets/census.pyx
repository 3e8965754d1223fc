"""Statistics of a recording's packets per entity, gathered while reading; findings rest on them."""

from libc.math cimport INFINITY, fabs, isfinite, isnan, sqrt
from libc.stdint cimport int32_t, int64_t
from libcpp.algorithm cimport nth_element
from libcpp.vector cimport vector

from collections import namedtuple

from epic_cli.engine.packets cimport (
    Entities, Packet, PacketBlock, Quaternion, Turn, Vec3, dot, inverse, length, normalized,
    vector_between,
)


cdef extern from "packets/quaternion.h" namespace "epic" nogil:
    Vec3[double] turned(const Quaternion&, const Vec3[double]&)
    double dot4 "epic::dot"(const Quaternion&, const Quaternion&)

Track = namedtuple(
    "Track",
    "entity packets first last line same same_line steps doubles driven restarts restart_line backs"
    " downs moves low high arrivals overtaken late delays teleports sequences zeros velocities"
    " away away_line marks back_line",
)

Turning = namedtuple(
    "Turning",
    "entity packets first_line uneven uneven_line flips w x yaw_low yaw_high angle rate spins ratio"
    " world body",
)

Totals = namedtuple(
    "Totals",
    "packets runs overlaps overlap_line entities odd odd_line arrivals zero_turns zero_line"
    " unreal unreal_line"
)

# Larger numbers are hardly positions or times.
cdef double LARGEST = 1e12
cdef double SMALLEST = 1e-30

# Time has started over after this many older packets in a row, each later than the last.
cdef int RESTART = 3
cdef double LEAST_RESTART = 5           # s, or half of what there was

# A rotation of another length is not rounded, but wrong; a step of more (rad) may be another way.
cdef double UNEVEN = 1e-3
cdef double FOLLOWED = 2

# A step of this many usual ones, squared, over this much of all that there is, leads away, unless
# velocities get there; who is back after this many packets at the latest, this near to where it
# was, and has hardly moved meanwhile, had not gone there.
cdef double AWAY = 64
cdef double REACHED = 16
cdef double FAR = 0.0025
cdef int32_t BACK = 8
cdef double NEAR = 0.0625

# The largest number of entities named.
cdef size_t MOST = 1000


# With so few packets, longer or shorter steps (s) mean another unit of time.
cdef int64_t FEW = 6
cdef double LONG = 5, SHORT = 1e-3


cdef struct State:
    int64_t packets, line, same, same_line, restarts, restart_line, back_line, backs, downs, moves
    int64_t arrivals, overtaken, teleports, sequences, zeros, velocities, stretch
    double first, begin, newest, time, steps, doubles, driven, arrival, shortest, longest, latest
    double late
    Vec3[double] low, high, last, before
    int32_t behind, known, away
    int64_t outs, out_line, away_line, first_back
    int64_t[3] votes, hits
    double[3] marks
    double pace                         # the usual step, squared
    Vec3[double] front                  # of the newest packet, as is ``speed``, squared
    double speed
    Vec3[double] home, out              # where an excursion set out, and its first packet


# Of rotations: ``world`` and ``body`` are sums of products of given spins and of those between
# rotations, about either axes, ``given`` and ``shown`` those of their squares.
cdef struct TurnState:
    int64_t packets, line, uneven, uneven_line, flips, spins, stretch
    double w, x, yaw_low, yaw_high, angle, rate, given, shown, world, body, time
    Quaternion first, last
    Vec3[double] spin


cdef class Census:
    """A count of suspicious features in a recording's packets, entity by entity and block by block.

    ``observe`` counts the next block; ``skip`` records that a block was left out, so that no step
    is measured across it. ``tracks`` are the values of each entity in order of appearance:
    ``first`` and ``last``: its least and greatest time (s); ``same``: packets with the time of the
    packet before, at another place; ``steps`` and ``doubles``: the summed distances from packet to
    packet, and from each packet to the second next (smooth movement: twice as much); ``driven``:
    the distance by the velocities; ``restarts``: times that its timestamps started over; ``backs``:
    packets older than the newest; ``downs``: packets older than the packet before; ``low`` and
    ``high``: its bounding box; ``overtaken``: packets that arrived before the packet above them, by
    ``late`` (s) at most after the last; ``delays``: the shortest and the longest (s); ``away``:
    packets of an excursion, which a step far longer than the usual one begins and another ends;
    ``marks``: for each axis the value that most excursions have, and how many have it.

    ``turns`` are the values of the rotations of each entity that has some: ``uneven``: rotations of
    another length than 1; ``flips``: rotations of the other sign than the one before; ``w``: the
    greatest, ``x``: the least (both without sign); ``yaw_low`` and ``yaw_high`` (degrees);
    ``angle``: the greatest angle from the first rotation (rad); ``rate``: the greatest from packet
    to packet (rad/s); of ``spins`` steps with given spins: the ``ratio`` of the given spins to
    those between rotations, and the cosines between them about the axes of the ``world`` and of the
    ``body``.

    Entities after the first ``most`` count in ``totals`` only; there ``unreal`` are packets with a
    number that is not finite.
    """

    cdef vector[State] states
    cdef vector[TurnState] turned
    cdef int64_t packets, runs, overlaps, overlap_line, odd, odd_line, stretch, arrivals
    cdef int64_t zero_turns, zero_line, unreal, unreal_line
    cdef int32_t entity
    cdef size_t most, seen
    cdef double newest
    cdef Entities entities

    def __init__(self, size_t most=0x7FFFFFFF):
        self.most = most
        self.entity = -1
        self.newest = -INFINITY

    def skip(self):
        """Record that a block was left out: no step is measured across the gap."""
        self.stretch += 1

    def observe(self, PacketBlock block not None):
        """Count the packets of the next block."""
        cdef size_t index
        self.entities = block.entities
        with nogil:
            for index in range(block.items.size()):
                self.count_packet(block.items[index])

    cdef void count_packet(self, const Packet& packet) noexcept nogil:
        cdef State* state
        cdef Vec3[double] way
        cdef Vec3[double] at = packet.position
        cdef double size = fabs(at.x) + fabs(at.y) + fabs(at.z)
        cdef double least
        self.packets += 1
        if not isfinite(size) or not isfinite(packet.time):
            self.unreal += 1
            if self.unreal == 1:
                self.unreal_line = packet.line
            return
        if size > LARGEST or fabs(packet.time) > LARGEST or 0 < size < SMALLEST or (
            0 < fabs(packet.time) < SMALLEST
        ):
            self.odd += 1
            if self.odd == 1:
                self.odd_line = packet.line
        self.seen = max(self.seen, <size_t>packet.entity + 1)
        self.runs += packet.entity != self.entity
        self.arrivals += not isnan(packet.arrival)
        if packet.zero_turn:
            self.zero_turns += 1
            if self.zero_turns == 1:
                self.zero_line = packet.line
        if <size_t>packet.entity >= self.most:
            self.entity = packet.entity
            return
        if <size_t>packet.entity >= self.states.size():
            self.states.resize(packet.entity + 1)
        state = &self.states[packet.entity]
        if packet.entity != self.entity:
            self.entity = packet.entity
            if state.packets == 0 and packet.time < self.newest:
                self.overlaps += 1
                if self.overlaps == 1:
                    self.overlap_line = packet.line
        if packet.time > self.newest:
            self.newest = packet.time
        if state.packets == 0:
            state.line = packet.line
            state.first = state.begin = state.newest = packet.time
            state.low = state.high = packet.position
            state.arrival = state.latest = -INFINITY
            state.late = 0
            state.shortest, state.longest = INFINITY, -INFINITY
            state.stretch = -1
            state.away = state.outs = 0
        state.packets += 1
        widen_bounds(state, packet.position)
        if packet.turn.known():
            self.count_turn(packet)
        state.teleports += packet.teleport
        state.sequences += packet.sequence >= 0
        if packet.has_velocity:
            state.velocities += 1
            state.zeros += dot(packet.velocity, packet.velocity) == 0
        if not isnan(packet.arrival):
            state.arrivals += 1
            state.overtaken += packet.arrival < state.arrival
            state.arrival = packet.arrival
            state.latest = max(state.latest, packet.arrival)
            state.late = max(state.late, state.latest - packet.arrival)
            state.shortest = min(state.shortest, packet.arrival - packet.time)
            state.longest = max(state.longest, packet.arrival - packet.time)
        if packet.time < state.first:
            state.first = packet.time
        if state.stretch == self.stretch:
            way = packet.position - state.last
            least = dot(way, way)
            state.moves += least > 0
            if packet.time >= state.newest:
                count_excursion(state, packet)
            if packet.time == state.time and least > 0:
                state.same += 1
                if state.same == 1:
                    state.same_line = packet.line
            state.downs += packet.time < state.time
            if state.known >= 2 and not packet.teleport:
                state.steps += sqrt(least)
                state.driven += sqrt(dot(packet.velocity, packet.velocity)) * fabs(
                    packet.time - state.time)
                way = packet.position - state.before
                state.doubles += sqrt(dot(way, way))
        else:
            state.stretch, state.known, state.away = self.stretch, 0, 0
        if packet.time < state.newest:
            state.backs += 1
            if state.backs == 1:
                state.first_back = packet.line
            state.behind = state.behind + 1 if packet.time > state.time else 1
            if state.behind == 1:
                state.back_line = packet.line
            least = min(LEAST_RESTART, 0.5 * (state.newest - state.begin))
            if state.behind >= RESTART and state.newest - packet.time > least:
                state.restarts += 1
                if state.restarts == 1:
                    state.restart_line = state.back_line
                state.newest = state.begin = packet.time
                state.behind = 0
        else:
            state.newest = packet.time
            state.behind = 0
        if packet.time == state.newest:
            state.front = packet.position
            state.speed = dot(packet.velocity, packet.velocity) if packet.has_velocity else 0
        state.before, state.last, state.time = state.last, packet.position, packet.time
        state.known += 1

    cdef void count_turn(self, const Packet& packet) noexcept nogil:
        cdef Turn turn = packet.turn.value()
        cdef Quaternion rotation = normalized(turn.rotation)
        cdef Vec3[double] way, spin
        cdef double elapsed, angle
        cdef TurnState* state
        if <size_t>packet.entity >= self.turned.size():
            self.turned.resize(packet.entity + 1)
        state = &self.turned[packet.entity]
        if state.packets == 0:
            state.line, state.first, state.stretch = packet.line, rotation, -1
            state.x, state.yaw_low, state.yaw_high = 1, INFINITY, -INFINITY
        state.packets += 1
        if fabs(length(turn.rotation) - 1) > UNEVEN:
            state.uneven += 1
            if state.uneven == 1:
                state.uneven_line = packet.line
        state.w, state.x = max(state.w, fabs(rotation.w)), min(state.x, fabs(rotation.x))
        angle = angles_of(rotation).yaw
        state.yaw_low, state.yaw_high = min(state.yaw_low, angle), max(state.yaw_high, angle)
        way = vector_between(state.first, rotation)
        state.angle = max(state.angle, sqrt(dot(way, way)))
        elapsed = packet.time - state.time
        if state.stretch == self.stretch and elapsed > 0 and not packet.teleport:
            state.flips += dot4(state.last, rotation) < 0
            way = vector_between(state.last, rotation) * (1 / elapsed)
            angle = sqrt(dot(way, way))
            state.rate = max(state.rate, angle)
            if packet.has_spin and angle * elapsed < FOLLOWED:
                spin = (state.spin + turn.spin) * 0.5
                state.spins += 1
                state.given += dot(spin, spin)
                state.shown += dot(way, way)
                state.world += dot(spin, way)
                state.body += dot(spin, turned(inverse(rotation), way))
        state.stretch, state.time, state.last = self.stretch, packet.time, rotation
        state.spin = turn.spin

    @property
    def turns(self):
        """The rotation values (``Turning``) of each entity that has rotations, as a list."""
        cdef TurnState* one
        cdef size_t number
        cdef double scale
        found = []
        for number in range(self.turned.size()):
            one = &self.turned[number]
            scale = sqrt(one.given * one.shown)
            if one.packets:
                found.append(Turning(
                    self.entities.name(<int32_t>number), one.packets, one.line, one.uneven,
                    one.uneven_line, one.flips, one.w, one.x, one.yaw_low, one.yaw_high, one.angle,
                    one.rate, one.spins if scale > 0 else 0,
                    sqrt(one.given / one.shown) if scale > 0 else 0.0,
                    one.world / scale if scale > 0 else 0.0, one.body / scale if scale > 0 else 0.0,
                ))
        return found

    @property
    def doubtful(self):
        """True if something looks wrong even in a recording of few packets."""
        cdef size_t number
        cdef double step
        cdef State* one
        for number in range(self.states.size()):
            one = &self.states[number]
            if one.same or one.restarts or one.backs or one.downs > 1 or one.overtaken:
                return True
            if one.outs:
                return True
            step = (one.newest - one.first) / max(one.packets - 1, 1)
            if one.packets >= FEW and (step >= LONG or 0 < step < SHORT):
                return True
            if one.packets > 2 and (one.first == one.newest or one.doubles < 0.5 * one.steps):
                return True
        return bool(self.overlaps or self.odd or self.unreal)

    @property
    def totals(self):
        """The counts over all entities (``Totals``)."""
        return Totals(self.packets, self.runs, self.overlaps, self.overlap_line,
                      self.seen, self.odd, self.odd_line, self.arrivals,
                      self.zero_turns, self.zero_line, self.unreal, self.unreal_line)

    @property
    def tracks(self):
        """The values (``Track``) of each entity that has a packet with finite numbers, as a list.

        If there are more than ``MOST`` entities, those with most packets; ties go to the first to
        appear.
        """
        cdef State* one
        cdef size_t number
        cdef int64_t least = 0, rest = 0
        cdef vector[int64_t] counts
        for number in range(self.states.size()):
            counts.push_back(-self.states[number].packets)
        if counts.size() > MOST:
            nth_element(counts.begin(), counts.begin() + (MOST - 1), counts.end())
            least = -counts[MOST - 1]
            rest = MOST
            for number in range(counts.size()):
                rest -= -self.states[number].packets < -least
        found = []
        for number in range(self.states.size()):
            one = &self.states[number]
            if one.packets == least:
                rest -= 1
            if one.packets > least or (least and one.packets == least and rest >= 0):
                found.append(Track(
                    self.entities.name(<int32_t>number), one.packets, one.first,
                    max(one.newest, one.time), one.line, one.same, one.same_line, one.steps,
                    one.doubles, one.driven, one.restarts, one.restart_line, one.backs, one.downs,
                    one.moves,
                    (one.low.x, one.low.y, one.low.z), (one.high.x, one.high.y, one.high.z),
                    one.arrivals, one.overtaken, one.late, (one.shortest, one.longest),
                    one.teleports, one.sequences, one.zeros, one.velocities,
                    one.outs, one.out_line,
                    tuple([(one.marks[axis], one.hits[axis]) for axis in range(3)]),
                    one.first_back,
                ))
        return found


cdef void count_excursion(State* state, const Packet& packet) noexcept nogil:
    """Count the packets of an excursion, which begins with a leap off the path and ends with a leap
    back.

    ``packet`` must be no older than those before it: one that the network delivers late is where
    the path was, and would end an excursion that is a teleport.
    """
    cdef Vec3[double] way = packet.position - state.front
    cdef double far, step = dot(way, way)
    cdef bint back
    if step == 0 or packet.teleport:
        state.away += state.away > 0
        return
    if state.pace == 0:
        state.pace = step
    if step <= AWAY * state.pace or is_near(state, packet, step):
        if state.away:
            state.away = state.away + 1 if state.away < BACK else 0
    elif not state.away:
        begin_excursion(state, packet)
    else:
        way = state.front - state.home
        far = dot(way, way)
        way = packet.position - state.home
        back = dot(way, way) < NEAR * far
        way = state.front - state.out
        if back and dot(way, way) < NEAR * far:  # else it went there, and did not leap
            if state.outs == 0:
                state.out_line = state.away_line
            state.outs += state.away
            count_vote(state, 0, state.front.x, state.home.x)
            count_vote(state, 1, state.front.y, state.home.y)
            count_vote(state, 2, state.front.z, state.home.z)
            state.away = 0
        else:
            begin_excursion(state, packet)
    # a median: half of the steps are longer; the first one may have led away
    if state.packets < FEW and step < state.pace:
        state.pace = step
    else:
        state.pace *= 1.5 if step > state.pace else 1 / 1.5


cdef void begin_excursion(State* state, const Packet& packet) noexcept nogil:
    """Take a packet for the first one of an excursion from the newest place."""
    state.home, state.out = state.front, packet.position
    state.away, state.away_line = 1, packet.line


cdef bint is_near(State* state, const Packet& packet, double step) noexcept nogil:
    """Return True if a step is short beside the entity's extent, or explained by a velocity."""
    cdef Vec3[double] way = state.high - state.low
    cdef double elapsed, reach = state.speed
    if step <= FAR * dot(way, way):
        return True
    if packet.has_velocity:
        reach = max(reach, dot(packet.velocity, packet.velocity))
    elapsed = packet.time - state.newest
    return step <= reach * REACHED * elapsed * elapsed


cdef void count_vote(State* state, int axis, double value, double home) noexcept nogil:
    """Count a vote for a value repeated on an axis (Boyer and Moore's majority vote)."""
    if value == home:
        return
    if value == state.marks[axis] and state.votes[axis]:
        state.votes[axis] += 1
        state.hits[axis] += state.away
    elif state.votes[axis]:
        state.votes[axis] -= 1
    else:
        state.marks[axis], state.votes[axis], state.hits[axis] = value, 1, state.away


cdef void widen_bounds(State* state, const Vec3[double]& place) noexcept nogil:
    state.low.x, state.high.x = min(state.low.x, place.x), max(state.high.x, place.x)
    state.low.y, state.high.y = min(state.low.y, place.y), max(state.high.y, place.y)
    state.low.z, state.high.z = min(state.low.z, place.z), max(state.high.z, place.z)
