"""The replay loop: packets to strategies to samples."""

from libc.math cimport INFINITY, isfinite
from libc.stdint cimport int32_t

from epic_cli.engine.packets cimport Entities, Packet, PacketBlock, Sample, SampleBlock
from epic_cli.engine.strategies.parts cimport (
    Strategy, begin_after, draw_sample, is_broken, is_native, take_packet,
)


cdef struct RefusedPacket:
    size_t index
    Verdict verdict


cdef class Replay:
    """Runs packets through one strategy per entity and draws each of them at every tick.

    ``make_strategy`` returns a new strategy. Feed a block of packets, then draw until ``draw``
    returns False; at the end of the recording call ``finish`` and draw once more. With ``strict``,
    a refused packet is the last of its block. What is
    drawn does not depend on where one block ends and the next begins.

    Its strategies are in use, and refuse other calls, until the last sample is drawn, an exception
    is raised, or it is closed. It draws without the GIL: concurrent calls, from another thread or
    from a strategy, raise ``RuntimeError``.
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
    cdef vector[int32_t] places         # of each entity in the two above; -1: none yet
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
    cdef bint is_usual                  # a pacing and a clock that one_entity.h knows
    cdef object error

    def __init__(self, make_strategy, Pacing pacing not None, Entities entities=None,
                 bint strict=False):
        self.strict = strict
        self.make_strategy = make_strategy
        self.pacing = pacing
        self.entities = Entities() if entities is None else entities
        self.made = StrategiesInUse()
        self.due = -INFINITY
        pacing.restart()
        self.is_usual = type(pacing) in (DemoPacing, ArrivalPacing) and type(pacing.clock) in (
            SingleClock, ExactClock)

    @property
    def strategies(self):
        """The strategies that draw, in that order; one in plain Python as its adapter."""
        return list(self.made)

    def feed(self, PacketBlock block not None):
        """Takes the next packets; those of the block before must have been drawn."""
        self.check_idle()
        if self.closed:
            raise RuntimeError("this replay has ended: create another one")
        if self.block is not None and self.index < self.block.items.size():
            raise RuntimeError("the previous block has packets left to draw")
        self.block = block
        self.index = 0
        self.refused.clear()

    def advance(self, double time):
        """All later packets arrive at or after ``time``: earlier ticks can be drawn.

        Nothing is due before the first packet.
        """
        self.check_idle()
        if self.pacing.started:
            self.due = max(self.due, time)

    def finish(self):
        """Ends the input: the ticks still due can be drawn."""
        self.check_idle()
        if not self.ended:
            self.ended = True
            self.due = max(self.due, self.pacing.end())

    def draw(self, SampleBlock out not None):
        """Fills ``out`` with the next samples; True: call again, there may be more."""
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
        """Rows are drawn up to the first time; up to the second they wait for more packets.

        The two are equal where nothing waits.
        """
        self.check_idle()
        return self.due, max(self.due, self.pacing.end())

    def largest_tick_gap(self, PacketBlock block not None):
        """The most rows, about, that a packet of this block needs, and its index.

        The block must be one that could be fed next.
        """
        cdef double reached = max(self.due, self.pacing.end())
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
            target = self.pacing.asks_for(block.items[index])
            if not isfinite(target) or target > self.pacing.clock.reach():
                continue                # it will be refused
            leap = (target - reached) / self.pacing.clock.length()
            if leap > most:
                most, longest = leap, index
            if target > reached or reached == INFINITY:
                reached = target
        return most * max(self.pointers.size(), 1), longest

    def close(self):
        """Ends the replay and releases its strategies."""
        self.check_idle()
        self.closed = True
        self.let_go()

    cdef int check_idle(self) except -1:
        if self.drawing:
            raise RuntimeError("this replay is already drawing, in another thread or in a caller")
        return 0

    cdef int let_go(self) except -1:
        let_go_of(self.made or ())
        return 0

    def refusals(self):
        """The packets of this block that have no place on the clock, as ``Refusal``."""
        return [
            self.pacing.refusal(self.block, packet.index, packet.verdict) for packet in self.refused
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
            if self.is_usual and self.pointers.size() == 1 and not self.any_python:
                self.run_one_entity(out)
            if self.draw_due(out):
                return True
            if self.broken or self.block is None or self.index >= self.block.items.size():
                return False
            packet = &self.block.items[self.index]
            verdict = self.pacing.refuses(packet[0])
            if verdict != ACCEPTED:
                one.index = self.index
                one.verdict = verdict
                self.refused.push_back(one)
                self.index = self.block.items.size() if self.strict else self.index + 1
                continue
            if not self.pacing.started:
                self.pacing.begin(packet[0])
            before = self.pacing.before(packet[0])
            if before > self.due:
                self.due = before
                continue                # the ticks before it first
            self.index += 1
            self.apply(packet[0])
            self.due = max(self.due, self.pacing.after(packet[0]))

    cdef void run_one_entity(self, SampleBlock out) noexcept nogil:
        """The fast loop for one entity, up to the first exception."""
        cdef Run run
        if self.next_entity == 0 or self.block is None or self.index >= self.block.items.size():
            return              # in the middle of a tick, or nothing to take
        run.packet = &self.block.items[self.index]
        run.end = run.packet + (self.block.items.size() - self.index)
        run.out = &out.items
        run.capacity = out.capacity
        run.due = self.due
        run.entity = self.drawn[0]
        self.pacing.clock.lend(run)
        self.pacing.follow(run, self.pointers[0])
        self.pacing.clock.take_back(run)
        self.taken += run.taken
        self.discarded += run.discarded
        self.index = self.block.items.size() - (run.end - run.packet)
        self.due = run.due

    cdef bint draw_due(self, SampleBlock out) noexcept nogil:
        """Draws the ticks that are due; True: the block is full before the last of them."""
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
                self.check(self.pointers[self.next_entity])
                self.next_entity += 1
            if self.broken or not self.pacing.behind(self.due):
                return False
            self.pacing.clock.step()
            self.next_entity = 0

    cdef void apply(self, const Packet& packet) noexcept nogil:
        if <size_t>packet.entity >= self.places.size() or self.places[packet.entity] < 0:
            if not self.add_entity(packet.entity):
                return
        if take_packet(self.pointers[self.places[packet.entity]], packet,
                       self.pacing.now(packet)):
            self.taken += 1
        else:
            self.discarded += 1
        self.check(self.pointers[self.places[packet.entity]])

    cdef bint add_entity(self, int32_t entity) noexcept nogil:
        with gil:
            try:
                if self.places.size() <= <size_t>entity:
                    self.places.resize(entity + 1, -1)
                self.drawn.push_back(entity)
                strategy = self.new_strategy(entity)
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
        return True

    cdef Strategy new_strategy(self, int32_t entity):
        """A strategy that is in use from now on."""
        cdef Strategy strategy
        made = self.make_strategy()
        if not is_native(made):
            from epic_cli.engine.strategies.parts import PythonStrategy

            made = PythonStrategy(made, self.entities.name(entity))
            self.any_python = True
        strategy = made
        strategy.take_into_use()
        self.made.append(strategy)
        return strategy

    cdef void check(self, void* strategy) noexcept nogil:
        """Records that a strategy in plain Python has raised an exception."""
        if self.any_python and is_broken(strategy):
            self.broken = True


# ---------------- the strategies in use by a replay


cdef int let_go_of(strategies) except -1:
    cdef Strategy strategy
    for strategy in strategies:
        strategy.let_go()
    return 0


class StrategiesInUse(list):
    """The strategies of one replay, released when the replay is deleted.

    A class of Python, because a compiled one gets no ``__del__`` in the stable interface.
    """

    def __del__(self):
        let_go_of(self)
