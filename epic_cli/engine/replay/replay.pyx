"""The replay loop, from packets through strategies to samples."""

from libc.math cimport INFINITY, NAN, isfinite, isnan
from libc.stdint cimport int32_t

from epic_cli.engine.packets cimport (
    ConnectionTimes, Datagram, Entities, Packet, PacketBlock, Sample, SampleBlock, is_finite,
    same_datagram,
)
from epic_cli.engine.strategies.parts cimport (
    Strategy, begin_after, draw_sample, hear_datagram, is_broken, is_native, meet_other, newest_of,
    restart_clock, take_beside, take_packet,
)


cdef struct RefusedPacket:
    size_t index
    Verdict verdict


cdef class Replay:
    """A replay of packets through one strategy per entity, each drawn at every tick.

    ``make_strategy`` returns a new strategy. Feed a block of packets, then draw until ``draw``
    returns False; at the end of the recording call ``finish`` and draw once more. With ``strict``,
    a refused packet is the last of its block. The samples do not depend on where blocks end.
    Strategies that listen are notified of the packets of other entities. If one entity is drawn
    apart from the others, ``connection`` tells of the others' datagrams, so that its rows are the
    same.

    The strategies are in use, and refuse other calls, until the last sample is drawn, an exception
    is raised, or the replay is closed. The replay draws without the GIL: concurrent calls, from
    another thread or from a strategy, raise ``RuntimeError``.
    """

    cdef readonly Pacing pacing
    cdef readonly Entities entities
    cdef object made                    # the strategies in use
    cdef readonly size_t taken
    cdef readonly size_t discarded
    cdef object make_strategy
    cdef bint strict
    cdef vector[void*] pointers         # to the strategies, in the order of drawing
    cdef vector[int32_t] drawn          # their entities, in the same order
    cdef vector[int32_t] places         # index of each entity in the two above; -1: none yet
    cdef vector[RefusedPacket] refused
    cdef PacketBlock block
    cdef size_t index
    cdef size_t next_entity             # to be drawn at the present tick
    cdef double due
    cdef bint ended                     # there are no more packets
    cdef bint drawing
    cdef bint closed
    cdef bint broken
    cdef bint any_python
    cdef bint listening                 # at least one strategy takes datagrams of others
    cdef Datagram last                  # the datagram of the packet applied last
    cdef ConnectionTimes whole          # of the whole recording, if known from the beginning
    cdef ConnectionTimes heard_apart    # as far as the blocks of one entity tell
    cdef const vector[Datagram]* datagrams      # of the connection; NULL: none
    cdef size_t next_datagram
    cdef size_t joined                  # entities that joined in earlier datagrams
    cdef bint meets                     # another entity joins in the present datagram
    cdef Packet other                   # the next datagram, as a packet
    cdef bint is_usual                  # one_entity.h has this pacing and clock
    cdef object error

    def __init__(self, make_strategy, Pacing pacing not None, Entities entities=None,
                 bint strict=False, ConnectionTimes connection=None):
        self.whole, self.heard_apart = connection, ConnectionTimes()
        self.datagrams = NULL
        if connection is not None:
            if isinstance(pacing, ArrivalPacing):
                connection.sort()
            self.datagrams = &connection.datagrams
        self.last.time = self.last.arrival = NAN
        self.strict = strict
        self.make_strategy = make_strategy
        self.pacing = pacing
        self.entities = Entities() if entities is None else entities
        self.made = StrategiesInUse()
        self.due = -INFINITY
        pacing.restart()
        self.is_usual = (
            type(pacing) in (DemoPacing, ArrivalPacing, FramePacing)
            and type(pacing.clock) in (SingleClock, ExactClock))

    @property
    def strategies(self):
        """The strategies in the order of drawing; a plain Python strategy as its adapter."""
        return list(self.made)

    def feed(self, PacketBlock block not None):
        """Take the next block of packets; the packets of the last block must have been drawn."""
        self.check_idle()
        if self.closed:
            raise RuntimeError("this replay has ended: create another one")
        if self.block is not None and self.index < self.block.items.size():
            raise RuntimeError("the previous block has packets left to draw")
        self.block = block
        self.index = 0
        self.refused.clear()
        if self.whole is None and (self.listening or self.pointers.size() == 0) and (
                block.connection is not None or self.datagrams != NULL):
            self.extend_connection()

    def advance(self, double time):
        """Make the ticks before ``time`` due, given that all later packets arrive at or after it.

        Nothing is due before the first packet.
        """
        self.check_idle()
        if self.pacing.started:
            self.due = max(self.due, time)

    def finish(self):
        """End the input: make the ticks after the last packet due."""
        self.check_idle()
        if not self.ended:
            self.ended = True
            self.due = max(self.due, self.pacing.find_end())

    def draw(self, SampleBlock out not None):
        """Fill ``out`` with the next samples; return True if there may be more."""
        cdef bint more
        self.check_idle()
        if self.closed:
            return False
        self.drawing = True
        with nogil:
            more = self.run(out)
        self.drawing = False
        if self.broken:
            self.close()
            self.raise_error()
        if self.ended and not more:
            self.close()
        return bool(more)

    def horizon(self):
        """Return the times (s) up to which rows are drawn, and up to which rows wait."""
        self.check_idle()
        return self.due, max(self.due, self.pacing.find_end())

    def largest_tick_gap(self, PacketBlock block not None):
        """Return about the most rows that one packet of the block adds, and the packet's index.

        The block must be one that could be fed next.
        """
        cdef double reached = max(self.due, self.pacing.find_end())
        cdef double leap
        cdef double most = 0
        cdef double target
        cdef size_t index
        cdef size_t longest = 0
        self.check_idle()
        # on the demo's clock the first packet has rows from 0 on, by arrival from itself on
        if not self.pacing.started:
            if isinstance(self.pacing, ArrivalPacing):
                reached = INFINITY
            else:
                reached = 0
        for index in range(block.items.size()):
            target = self.pacing.find_row_end(block.items[index])
            if not isfinite(target) or target > self.pacing.clock.get_reach():
                continue                # it will be refused
            leap = (target - reached) / self.pacing.clock.get_tick_length()
            if leap > most:
                most, longest = leap, index
            if target > reached or reached == INFINITY:
                reached = target
        return most * max(self.pointers.size(), 1), longest

    def close(self):
        """End the replay and release its strategies."""
        self.check_idle()
        self.closed = True
        self.end_use()

    cdef int extend_connection(self) except -1:
        """Append the block's datagrams to those that the strategies have not been notified of."""
        cdef ConnectionTimes left = ConnectionTimes(self.heard_apart)
        cdef vector[Datagram]* all = &self.heard_apart.datagrams
        cdef size_t index
        cdef Datagram one
        if self.datagrams == NULL and self.last.time == self.last.time:
            all.push_back(self.last)
            self.next_datagram = self.joined = 1
        if self.next_datagram > 1:
            all.erase(all.begin(), all.begin() + (self.next_datagram - 1))
            self.next_datagram = 1
        if self.block.connection is None:
            left.note(self.block)
        else:
            left.extend(self.block.connection)
        if self.pacing.knows_arrivals:
            left.sort()
        for index in range(left.datagrams.size()):
            one = left.datagrams[index]
            if all.size() == 0 or one.time != all.back().time or one.arrival != all.back().arrival:
                all.push_back(one)
            else:
                self.joined += one.joins
        self.datagrams = all
        return 0

    cdef int check_idle(self) except -1:
        if self.drawing:
            raise RuntimeError("this replay is already drawing, in another thread or in a caller")
        return 0

    cdef int end_use(self) except -1:
        release_strategies(self.made or ())
        return 0

    def refusals(self):
        """Return a ``Refusal`` for each packet of the last block that has no place on the clock."""
        return [
            self.pacing.make_refusal(self.block, packet.index, packet.verdict)
            for packet in self.refused
        ]

    cdef int raise_error(self) except -1:
        cdef Strategy strategy
        error, self.error, self.broken = self.error, None, False
        if error is not None:
            raise error
        for strategy in self.made:
            strategy.raise_error()
        return 0

    # ------------------------------------------------------------- the loop

    cdef bint run(self, SampleBlock out) noexcept nogil:
        cdef Packet* packet
        cdef Verdict verdict
        cdef double before
        cdef RefusedPacket one
        while True:
            if self.is_usual and self.pointers.size() == 1 and not self.any_python and not (
                    self.listening and self.datagrams != NULL):
                self.run_one_entity(out)
            if self.draw_due(out):
                return True
            if self.broken or self.block is None or self.index >= self.block.items.size():
                return False
            packet = &self.block.items[self.index]
            verdict = self.pacing.judge(packet[0])
            if verdict != ACCEPTED:
                one.index = self.index
                one.verdict = verdict
                self.refused.push_back(one)
                self.index = self.block.items.size() if self.strict else self.index + 1
                continue
            if not self.pacing.started:
                self.begin(packet[0])
                if self.broken:
                    return False
            before = self.pacing.due_before(packet[0])
            if before > self.due:
                self.due = before
                continue                # draw the ticks before the packet first
            self.index += 1
            self.apply(packet[0])
            self.due = max(self.due, self.pacing.due_after(packet[0]))

    cdef void run_one_entity(self, SampleBlock out) noexcept nogil:
        """Run the fast loop for a recording of one entity, up to the first exception."""
        cdef Run run
        if self.next_entity == 0 or self.block is None or self.index >= self.block.items.size():
            return              # in the middle of a tick, or no packet left
        run.packet = &self.block.items[self.index]
        run.end = run.packet + (self.block.items.size() - self.index)
        run.out = &out.items
        run.capacity = out.capacity
        run.due = self.due
        run.entity = self.drawn[0]
        self.pacing.clock.lend(run)
        self.pacing.run_entity(run, self.pointers[0])
        self.pacing.clock.take_back(run)
        self.taken += run.taken
        self.discarded += run.discarded
        self.index = self.block.items.size() - (run.end - run.packet)
        self.due = run.due
        if self.index > 0:
            self.last.time = self.block.items[self.index - 1].time
            self.last.arrival = self.block.items[self.index - 1].arrival

    cdef bint draw_due(self, SampleBlock out) noexcept nogil:
        """Draw the ticks that are due; return True if ``out`` is full before the last."""
        cdef Sample sample
        cdef size_t count = self.pointers.size()
        while True:
            while self.next_entity < count:
                if out.full():
                    return True
                sample = Sample()
                sample.time = self.pacing.clock.now
                sample.entity = self.drawn[self.next_entity]
                draw_sample(self.pointers[self.next_entity], sample.time, sample)
                out.items.push_back(sample)
                self.check_strategy(self.pointers[self.next_entity])
                self.next_entity += 1
            if self.broken or not self.pacing.is_behind(self.due):
                return False
            if self.listening and self.datagrams != NULL:
                self.hear_until(self.pacing.clock.find_next_tick())
            self.pacing.clock.step()
            self.next_entity = 0

    cdef void begin(self, const Packet& packet) noexcept nogil:
        """Start the clock with the first packet, after the connection's earlier datagrams."""
        if self.datagrams != NULL:
            if not self.add_entity(packet.entity):
                return
            if self.listening:
                self.lead_in(packet)
        self.pacing.begin(packet)
        if self.datagrams != NULL:
            begin_after(self.pointers[0], self.pacing.clock.now)

    cdef void lead_in(self, const Packet& packet) noexcept nogil:
        """Run the frames and the connection's datagrams before the entity's first packet."""
        cdef double arrival = self.pacing.find_arrival(packet)
        while self.is_before(packet):
            if self.pacing.judge(self.other) == ACCEPTED and not self.any_python:
                if self.pacing.started:
                    self.pass_frames(self.pacing.due_before(self.other))
                else:
                    self.pacing.begin(self.other)
                    begin_after(self.pointers[0], self.pacing.clock.now)
            self.hear_next(self.restart_if_alone(self.datagrams[0][self.next_datagram]))
        if self.pacing.started and self.pacing.judge(packet) == ACCEPTED:
            self.pass_frames(arrival)

    cdef bint restart_if_alone(self, const Datagram& found) noexcept nogil:
        """Restart the strategy's clock if the connection's only entity teleports.

        Return True if it did.
        """
        return (self.joined == 1 and found.teleport and not isnan(found.previous)
                and restart_clock(self.pointers[0], found.time))

    cdef void pass_frames(self, double until) noexcept nogil:
        """Run the frames before the time ``until`` (s) without producing rows."""
        cdef Sample sample
        while self.pacing.is_behind(until):
            self.pacing.clock.step()
            sample = Sample()
            draw_sample(self.pointers[0], self.pacing.clock.now, sample)

    cdef bint look_ahead(self) noexcept nogil:
        """Set ``other`` to the next datagram's times; return False if there is no datagram."""
        if self.next_datagram >= self.datagrams.size():
            return False
        self.other.time = self.datagrams[0][self.next_datagram].time
        self.other.arrival = self.datagrams[0][self.next_datagram].arrival
        self.other.single.time = <float>self.other.time
        return True

    cdef bint is_before(self, const Packet& packet) noexcept nogil:
        """Return True if the next datagram came before the packet, in another datagram.

        Without arrival times the older timestamp comes first.
        """
        if not self.look_ahead() or same_datagram(self.datagrams[0][self.next_datagram], packet):
            return False
        if self.pacing.knows_arrivals:
            return self.pacing.find_arrival(self.other) <= self.pacing.find_arrival(packet)
        return self.other.time <= packet.time

    cdef void hear_next(self, bint restarts=False) noexcept nogil:
        """Tell the strategies of the datagram that ``look_ahead`` found."""
        cdef const Datagram* found = &self.datagrams[0][self.next_datagram]
        cdef size_t place
        self.joined += found.joins
        self.next_datagram += 1
        for place in range(self.pointers.size()):
            hear_datagram(self.pointers[place], found.time, self.pacing.find_now(self.other),
                          NAN if restarts else found.previous)
            self.check_strategy(self.pointers[place])

    cdef void hear_until(self, double time) noexcept nogil:
        """Tell the strategies of the datagrams that arrived up to ``time`` (s)."""
        while self.pacing.knows_arrivals and self.look_ahead() and (
                self.pacing.find_arrival(self.other) <= time):
            self.hear_next()

    cdef bint begins_datagram(self, const Packet& packet, double& previous) noexcept nogil:
        """Return True if a packet is the first of its datagram.

        Let the strategies hear the datagrams before it. Set ``previous`` to the newest
        timestamp, before the datagram, of the entity of its first packet.
        """
        cdef bint begins
        cdef const Datagram* own
        cdef double before
        if self.datagrams == NULL:
            begins = (isfinite(packet.time) and is_finite(packet.position)
                      and is_finite(packet.velocity) and not same_datagram(self.last, packet))
            if begins:
                self.last.time, self.last.arrival = packet.time, packet.arrival
            return begins
        while self.is_before(packet):
            self.hear_next()
        if self.next_datagram < self.datagrams.size():
            own = &self.datagrams[0][self.next_datagram]
            if same_datagram(own[0], packet):
                before = own.previous
                if isnan(previous) and self.restart_if_alone(own[0]):
                    before = NAN
                self.joined += own.joins
                self.next_datagram += 1
                # the entity is no longer alone, from now on or from its own packet on
                self.meets = self.joined > 1 and own.joins > 0
                if self.meets and before != previous and not (
                        isnan(before) and isnan(previous)):
                    meet_other(self.pointers[0], packet.time, self.pacing.find_now(packet))
                (&previous)[0] = before
                return True
        return self.next_datagram == 0 or not same_datagram(
            self.datagrams[0][self.next_datagram - 1], packet)

    cdef bint take_beside_others(self, const Packet& packet, int32_t place) noexcept nogil:
        """Pass a packet to its entity's strategy, and tell the other strategies of its datagram."""
        cdef double previous = newest_of(self.pointers[place])
        cdef bint begins = self.begins_datagram(packet, previous)
        cdef bint joins = self.datagrams == NULL and isnan(previous)
        cdef double now = self.pacing.find_now(packet)
        cdef size_t other
        cdef bint taken
        if begins or joins:
            for other in range(self.pointers.size()):
                if other == <size_t>place:
                    continue
                if begins:
                    hear_datagram(self.pointers[other], packet.time, now, previous)
                    self.check_strategy(self.pointers[other])
                else:
                    meet_other(self.pointers[other], packet.time, now)
        taken = take_beside(self.pointers[place], packet, now, not begins, previous)
        if self.meets:
            self.meets = False
            meet_other(self.pointers[place], packet.time, now)
        return taken

    cdef void apply(self, const Packet& packet) noexcept nogil:
        cdef bint taken
        if <size_t>packet.entity >= self.places.size() or self.places[packet.entity] < 0:
            if not self.add_entity(packet.entity):
                return
        if self.listening and (self.pointers.size() > 1 or self.datagrams != NULL):
            taken = self.take_beside_others(packet, self.places[packet.entity])
        else:
            self.last.time, self.last.arrival = packet.time, packet.arrival
            taken = take_packet(self.pointers[self.places[packet.entity]], packet,
                                self.pacing.find_now(packet))
        if taken:
            self.taken += 1
        else:
            self.discarded += 1
        self.check_strategy(self.pointers[self.places[packet.entity]])

    cdef bint add_entity(self, int32_t entity) noexcept nogil:
        with gil:
            try:
                if self.places.size() <= <size_t>entity:
                    self.places.resize(entity + 1, -1)
                self.drawn.push_back(entity)
                strategy = self.create_strategy(entity)
                self.pointers.push_back(<void*>strategy)
            except BaseException as error:
                self.error, self.broken = error, True
                return False
            self.places[entity] = <int32_t>self.pointers.size() - 1
            # a game draws before an entity's first packet: the tick before is its last frame
            begin_after(<void*>strategy, self.pacing.clock.now)
            # it is first drawn at the next tick, not at the present one
            self.next_entity = self.pointers.size()
            self.pacing.shared = self.pointers.size() > 1
            if self.pointers.size() > 1 and self.listening:
                (<Strategy>strategy).join(self.made[0])
        return True

    cdef Strategy create_strategy(self, int32_t entity):
        """Create the strategy of an entity and take it into use."""
        cdef Strategy strategy
        made = self.make_strategy()
        if not is_native(made):
            from epic_cli.engine.strategies.parts import PythonStrategy

            made = PythonStrategy(made, self.entities.name(entity))
            self.any_python = True
        strategy = made
        strategy.take_into_use()
        self.listening |= strategy.listens
        self.made.append(strategy)
        return strategy

    cdef void check_strategy(self, void* strategy) noexcept nogil:
        """Set ``broken`` if a plain Python strategy has raised an exception."""
        if self.any_python and is_broken(strategy):
            self.broken = True


# ---------------- the strategies in use by a replay


cdef int release_strategies(strategies) except -1:
    cdef Strategy strategy
    for strategy in strategies:
        strategy.end_use()
    return 0


class StrategiesInUse(list):
    """The strategies of one replay, released when the replay is deleted.

    A Python class, because a compiled one gets no ``__del__`` in the stable interface.
    """

    def __del__(self):
        release_strategies(self)
