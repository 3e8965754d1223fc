"""A trace: one entity's packets drawn by one strategy, as an array of rows."""

from cpython.buffer cimport PyBUF_FORMAT, PyBUF_ND, PyBUF_STRIDES, PyBUF_WRITABLE
from libc.math cimport NAN
from libc.stdint cimport int32_t, int64_t
from libcpp.algorithm cimport sort
from libcpp.utility cimport pair
from libcpp.vector cimport vector

from epic_cli.engine.failures import Portable
from epic_cli.engine.packets cimport (
    NONE, ConnectionTimes, Datagram, Entities, Packet, PacketBlock, Sample, SampleBlock, Vec3,
    fill_turns, same_datagram,
)
from epic_cli.engine.strategies.parts cimport (
    Strategy, draw_sample, hear_datagram, meet_other, take_beside, take_packet,
)

from epic_cli.engine.strategies.parts import adapt_strategy

# A Sample as PEP 3118 describes it: numpy makes a structured array of it without a copy.
cdef bytes SAMPLE = b"T{(3)d:position:(3)d:velocity:d:time:i:status:i:entity:8x}"

# Rows drawn without the GIL between two calls of ``stopped``.
cdef size_t STRETCH = 65536


class TooManyRows(Portable, ValueError):
    """An error: the packets need more rows than ``most``, the number that fits into memory."""

    def __init__(self, most):
        super().__init__(f"there would be more than {most:,} rows")
        self.most = most


cdef class Trace:
    """The samples that one strategy draws for the packets of one entity, as an array.

    The samples equal those of a replay of all entities, as the packets know the ``connection``.
    ``numpy.asarray`` gives the rows as a structured array of the fields ``position`` and
    ``velocity`` (3 numbers each, in the recording's units), ``time`` (seconds), ``status`` and
    ``entity``. ``refusals`` are the packets that have no place on the clock.

    The loop is that of ``Replay``, without the GIL, so that several traces can be drawn in
    parallel; each needs its own pacing, the packets may be shared. ``stopped`` is called now and
    then; True ends the trace early. Raises ``TooManyRows``, and what a strategy in plain Python
    raises. ``expected``, the number of rows if known, limits their memory to that.
    """

    cdef readonly Replay replay
    cdef readonly list refusals
    cdef SampleBlock samples
    cdef Py_ssize_t shape[1]
    cdef Py_ssize_t strides[1]

    def __init__(self, make_strategy, Pacing pacing not None, PacketBlock packets not None,
                 size_t most=5_000_000, stopped=None, size_t expected=0):
        self.replay = Replay(make_strategy, pacing, packets.entities, False, packets.connection)
        self.samples = SampleBlock(STRETCH)
        self.samples.items.reserve(min(expected, most))
        self.replay.feed(packets)
        self.run(most, stopped)
        self.refusals = self.replay.refusals()
        self.replay.finish()
        self.run(most, stopped)

    cdef int run(self, size_t most, object stopped) except -1:
        while self.replay.draw(self.samples):
            if stopped is not None and stopped():
                return 0
            if self.samples.capacity >= most:
                raise TooManyRows(most)
            self.samples.capacity = min(self.samples.capacity + STRETCH, most)
        return 0

    def __len__(self):
        return self.samples.items.size()

    def fill_turns(self, double[:, ::1] numbers not None):
        """Write each row's rotation and spin to ``numbers`` (n x 7); NaN without a rotation."""
        if numbers.shape[0] != <Py_ssize_t>self.samples.items.size() or numbers.shape[1] != 7:
            raise ValueError("the table must have seven columns, and a row for each sample")
        if numbers.shape[0]:
            fill_turns(self.samples.items, &numbers[0, 0])

    def __getbuffer__(self, Py_buffer* buffer, int flags):
        if flags & PyBUF_WRITABLE:
            raise BufferError("a trace is read-only")
        self.shape[0] = <Py_ssize_t>self.samples.items.size()
        self.strides[0] = sizeof(Sample)
        buffer.buf = self.samples.items.data()
        buffer.obj = self
        buffer.len = self.shape[0] * self.strides[0]
        buffer.itemsize = sizeof(Sample)
        buffer.readonly = True
        buffer.ndim = 1
        buffer.format = <char*>SAMPLE if flags & PyBUF_FORMAT else NULL
        buffer.shape = NULL
        if flags & PyBUF_ND:
            buffer.shape = self.shape
        buffer.strides = NULL
        if flags & PyBUF_STRIDES == PyBUF_STRIDES:
            buffer.strides = self.strides
        buffer.suboffsets = NULL
        buffer.internal = NULL


def draw_frames(make_strategy, PacketBlock packets not None, const double[::1] times not None,
                double[:, ::1] drawn not None, bint by_frame=False):
    """Write the position drawn at each of the ``times`` (n) to ``drawn`` (n x 3); NaN if none is.

    A packet (one entity's, in order of arrival) is taken before the first frame at or after its
    arrival; with ``by_frame`` it is taken as if it arrived at that frame. Raise what a strategy in
    plain Python raises.
    """
    cdef Strategy strategy = adapt_strategy(make_strategy())
    cdef size_t place = 0, count = packets.items.size()
    cdef Py_ssize_t frame
    cdef const Packet* packet
    cdef Sample sample
    cdef ConnectionTimes connection = packets.connection
    cdef const vector[Datagram]* others = NULL
    cdef size_t other = 0, joined = 0
    cdef double previous = NAN
    cdef bint begins, known
    cdef double now
    if strategy.listens and connection is not None:
        connection.sort()
        others = &connection.datagrams
    if drawn.shape[0] != times.shape[0] or drawn.shape[1] != 3:
        raise ValueError("the table must have three columns, and a row for each time")
    strategy.take_into_use()
    try:
        with nogil:
            for frame in range(times.shape[0]):
                while place < count and packets.items[place].arrival <= times[frame]:
                    packet = &packets.items[place]
                    now = times[frame] if by_frame else packet.arrival
                    if others == NULL:
                        take_packet(<void*>strategy, packet[0], now)
                    else:
                        while other < others.size() and (
                                others[0][other].arrival <= packet.arrival
                                and not same_datagram(others[0][other], packet[0])):
                            hear_datagram(
                                <void*>strategy, others[0][other].time,
                                now if by_frame else others[0][other].arrival,
                                others[0][other].previous)
                            joined += others[0][other].joins
                            other += 1
                        begins = other < others.size() and same_datagram(
                            others[0][other], packet[0])
                        known = not begins and other > 0 and same_datagram(
                            others[0][other - 1], packet[0])
                        if begins:
                            previous = others[0][other].previous
                            joined += others[0][other].joins
                            if joined > 1 and others[0][other].joins > 0:
                                meet_other(<void*>strategy, packet.time, now)
                            other += 1
                        take_beside(<void*>strategy, packet[0], now, known, previous)
                    place += 1
                while others != NULL and other < others.size() and (
                        others[0][other].arrival <= times[frame]):
                    hear_datagram(
                        <void*>strategy, others[0][other].time,
                        times[frame] if by_frame else others[0][other].arrival,
                        others[0][other].previous)
                    joined += others[0][other].joins
                    other += 1
                sample = Sample()
                draw_sample(<void*>strategy, times[frame], sample)
                if sample.status == NONE:
                    sample.position = Vec3[double](NAN, NAN, NAN)
                drawn[frame, 0] = sample.position.x
                drawn[frame, 1] = sample.position.y
                drawn[frame, 2] = sample.position.z
        strategy.raise_error()
    finally:
        strategy.end_use()


def separate(PacketBlock block not None, dict entities not None, size_t most=0,
             PacketBlock rest=None):
    """Append a block's packets to the blocks of their entities (``entities``, by name).

    Packets keep their order. From the second entity on the blocks share the ``ConnectionTimes`` of
    all packets. With ``rest``, the packets of more than ``most`` entities go to that block. Return
    the number of packets.
    """
    cdef size_t begin = 0, end, count = block.items.size()
    cdef int entity
    cdef PacketBlock into
    cdef Entities names = block.entities
    cdef dict blocks = {}
    cdef ConnectionTimes connection = None
    cdef PacketBlock known
    cdef size_t index
    for into in entities.values():
        connection = into.connection
        break
    if rest is not None and rest.entities is not names:
        raise ValueError("the blocks must share their entities")
    while begin < count:
        entity = block.items[begin].entity
        end = begin + 1
        while end < count and block.items[end].entity == entity:
            end += 1
        into = blocks.get(entity)
        if into is None:
            name = names.name(entity)
            into = entities.get(name)
            if into is None:
                into = rest
                if into is None or <size_t>len(entities) < most:
                    into = entities[name] = PacketBlock(names)
            blocks[entity] = into
        if connection is None and (len(entities) > 1 or into is rest):
            connection = ConnectionTimes()
            for known in entities.values():
                connection.note(known)
                known.connection = connection
        if connection is not None:
            into.connection = connection
            for index in range(begin, end):
                connection.add(block.items[index])
        into.items.insert(into.items.end(), block.items.begin() + begin, block.items.begin() + end)
        begin = end
    return block.items.size()


def most_seen(dict entities not None, PacketBlock rest not None, size_t most):
    """Return the blocks of the ``most`` entities with most packets, by name.

    The entities are those of ``entities`` and of ``rest``; ties go to the first to appear. The
    given blocks are emptied.
    """
    cdef Entities kept = Entities()
    cdef vector[pair[int64_t, int32_t]] order
    cdef PacketBlock block, into
    cdef Packet packet
    cdef int32_t number
    cdef dict found = {}
    for number in range(<int32_t>len(rest.entities)):
        order.push_back(pair[int64_t, int32_t](0, number))
    for block in (*entities.values(), rest):
        for packet in block.items:
            order[packet.entity].first -= 1
    sort(order.begin(), order.end())
    for number in sorted([order[at].second for at in range(min(most, order.size()))]):
        kept.assign_number(rest.entities.name(number))
        found[number] = PacketBlock(kept)
        (<PacketBlock>found[number]).connection = rest.connection
    for block in (*entities.values(), rest):
        for packet in block.items:
            into = found.get(packet.entity)
            if into is not None:
                packet.entity = kept.assign_number(rest.entities.name(packet.entity))
                into.items.push_back(packet)
        block.items = vector[Packet]()
    return {kept.name(number): into for number, into in enumerate(found.values())}
