"""Blocks of packets and samples, which the parts of the engine pass to each other."""

from cpython.buffer cimport PyBUF_SIMPLE, PyBuffer_Release, PyObject_GetBuffer
from cpython.bytes cimport PyBytes_FromStringAndSize
from libc.math cimport INFINITY, NAN, isfinite, isnan
from libc.stdint cimport int32_t, int64_t
from libc.string cimport memcpy
from libcpp.algorithm cimport stable_sort
from libcpp.vector cimport vector


# A packet is plain bytes but for its turn, which comes last.
cdef extern from *:
    """
    #include <cstddef>
    #include <cstring>
    namespace epic {
    struct PackedTurn {
        size_t index;
        Turn turn;
    };
    constexpr size_t kPlainPacket = offsetof(Packet, turn);
    inline void copy_plain(const Packet& packet, char* out) {
        std::memcpy(out, static_cast<const void*>(&packet), kPlainPacket);
    }
    inline void restore_plain(Packet& packet, const char* from) {
        std::memcpy(static_cast<void*>(&packet), from, kPlainPacket);
    }
    }
    """
    cdef cppclass PackedTurn "epic::PackedTurn":
        PackedTurn()
        size_t index
        Turn turn
    void copy_plain "epic::copy_plain"(const Packet&, char*)
    void restore_plain "epic::restore_plain"(Packet&, const char*)


cdef class Entities:
    """The names of a recording's entities, numbered in order of appearance."""

    def assign_number(self, str name):
        """Return the number of an entity; assign the next number to a new name."""
        cdef bytes text = name.encode()
        return self.names.assign_number(view(text))

    cpdef str name(self, int32_t number):
        """Return the name of the entity with this number."""
        cdef string_view name = self.names.name(number)
        return name.data()[:name.size()].decode()

    def __len__(self):
        return self.names.size()

    def list_names(self):
        """Return the names of all entities, in the order of their numbers."""
        return [self.name(number) for number in range(len(self))]

    def __reduce__(self):
        return restore_entities, (self.list_names(),)


def restore_entities(list names):
    """Return the ``Entities`` with these names, from a pickle."""
    entities = Entities()
    for name in names:
        entities.assign_number(name)
    return entities


cdef class NewestStamps:
    """The newest timestamp of each entity in the packets read so far."""


cdef class ConnectionTimes:
    """The timestamp and arrival of each datagram in a recording, of all entities.

    Packets in a row with equal timestamp and arrival are one datagram. Packets that are not finite
    do not count, as strategies discard them. With these times one entity can be drawn apart from
    the others exactly as beside them. A connection that continues ``after`` another connection
    knows which entities sent before.
    """

    def __init__(self, ConnectionTimes after=None):
        self.newest = NewestStamps() if after is None else after.newest

    @property
    def entities(self):
        """The number of entities that have sent a packet."""
        return self.newest.known

    def note(self, PacketBlock block not None):
        """Add the datagrams of a block's packets."""
        cdef size_t index
        for index in range(block.items.size()):
            self.add(block.items[index])

    def extend(self, ConnectionTimes other not None):
        """Append the datagrams of another part of the same recording."""
        self.datagrams.insert(self.datagrams.end(), other.datagrams.begin(), other.datagrams.end())
        self.in_order = False

    def reserve(self, size_t count):
        """Reserve memory for ``count`` datagrams in all."""
        self.datagrams.reserve(count)

    def without(self, const double[::1] timestamps not None):
        """Return a copy without the datagrams that have one of these (sorted) timestamps."""
        cdef ConnectionTimes left = ConnectionTimes()
        cdef Datagram one
        cdef size_t low, high, middle, index
        for index in range(self.datagrams.size()):
            one = self.datagrams[index]
            low, high = 0, timestamps.shape[0]
            while low < high:
                middle = (low + high) // 2
                if timestamps[middle] < one.time:
                    low = middle + 1
                else:
                    high = middle
            if low == <size_t>timestamps.shape[0] or timestamps[low] != one.time:
                left.datagrams.push_back(one)
        return left

    def __len__(self):
        return self.datagrams.size()

    def __reduce__(self):
        return restore_connection, (PyBytes_FromStringAndSize(
            <const char*>self.datagrams.data(), self.datagrams.size() * sizeof(Datagram)),)

    cdef void add(self, const Packet& packet) noexcept nogil:
        cdef Datagram one
        cdef double* newest
        if not (isfinite(packet.time) and is_finite(packet.position)
                and is_finite(packet.velocity)):
            return
        if self.newest.stamps.size() <= <size_t>packet.entity:
            self.newest.stamps.resize(packet.entity + 1, NAN)
        newest = &self.newest.stamps[packet.entity]
        one.time, one.arrival, one.previous = packet.time, packet.arrival, newest[0]
        one.joins, one.teleport = isnan(newest[0]), packet.teleport
        self.newest.known += one.joins
        if not packet.time <= newest[0]:
            newest[0] = packet.time
        if self.datagrams.size() and same_datagram(self.datagrams.back(), packet):
            (&self.datagrams.back()).joins += one.joins
            return
        self.datagrams.push_back(one)
        self.in_order = False

    cdef void sort(self) noexcept nogil:
        """Sort the datagrams by arrival if all have one, as ``sort_by_arrival`` sorts packets."""
        cdef size_t index, kept = 0
        cdef Datagram one
        if self.in_order:
            return
        self.in_order = True
        for index in range(self.datagrams.size()):
            if isnan(self.datagrams[index].arrival):
                return
        stable_sort(self.datagrams.begin(), self.datagrams.end(), &is_earlier_datagram)
        for index in range(self.datagrams.size()):
            one = self.datagrams[index]
            if (kept == 0 or one.time != self.datagrams[kept - 1].time
                    or one.arrival != self.datagrams[kept - 1].arrival):
                self.datagrams[kept] = one
                kept += 1
            else:
                (&self.datagrams[kept - 1]).joins += one.joins
        self.datagrams.resize(kept)


cdef bint is_earlier_datagram(const Datagram& a, const Datagram& b) noexcept nogil:
    return a.arrival < b.arrival


def restore_connection(bytes content not None):
    """Return the ``ConnectionTimes`` with this content, from a pickle."""
    cdef ConnectionTimes connection = ConnectionTimes()
    cdef size_t count = <size_t>len(content) // sizeof(Datagram)
    if count * sizeof(Datagram) != <size_t>len(content):
        raise ValueError("the bytes are not whole datagrams")
    connection.datagrams.resize(count)
    memcpy(connection.datagrams.data(), <const char*>content, len(content))
    return connection


cdef class PacketBlock:
    """Packets in the order of their recording, with the text they came from.

    ``extra_source`` finds what a packet has beside its keys (``recordings/extras.py``; None: in
    packet text). ``refusals`` are the lines of that text that were refused. ``find_field`` finds a
    field by its name in the text of one packet, for formats that are not packet text.
    ``connection`` is that of all entities if the block has the packets of one of several; None
    otherwise. Pickled blocks (for processes of the same version) have no text, like those of
    ``part``.
    """

    def __init__(self, Entities entities=None):
        self.entities = Entities() if entities is None else entities
        self.text = b""
        self.refusals = []

    def append(self, packet, int64_t line=0):
        """Append a ``Packet`` of the Python API; raise ``TypeError`` for anything else.

        ``line`` is the packet's line number; 0: the next line of this block.
        """
        cdef Packet native
        packet_from_python(packet, native)
        native.entity = self.entities.assign_number(find_entity(packet))
        native.line = line or <int64_t>self.items.size() + 1
        self.items.push_back(native)

    def extend(self, PacketBlock other not None):
        """Append another block's packets without their text, numbering their lines on.

        Both blocks must share their ``entities``.
        """
        cdef size_t index
        cdef size_t first = self.items.size()
        cdef Packet* packet
        if other.entities is not self.entities:
            raise ValueError("the blocks must share their entities")
        self.items.insert(self.items.end(), other.items.begin(), other.items.end())
        for index in range(first, self.items.size()):
            packet = &self.items[index]
            packet.line = <int64_t>index + 1
            packet.column = packet.offset = packet.length = 0

    def reserve(self, size_t count):
        """Reserve memory for ``count`` packets in all."""
        self.items.reserve(count)

    def part(self, size_t begin, size_t end):
        """Return a new block, without text, of the packets with indices from ``begin`` to before
        ``end``.
        """
        cdef PacketBlock copy = PacketBlock(self.entities)
        end = min(end, self.items.size())
        begin = min(begin, end)
        copy.items.assign(self.items.begin() + begin, self.items.begin() + end)
        copy.connection = self.connection
        return copy

    def __reduce__(self):
        cdef size_t index
        cdef vector[PackedTurn] turns
        cdef PackedTurn one
        cdef bytearray content = bytearray(self.items.size() * sizeof(Packet))
        for index in range(self.items.size()):
            copy_plain(self.items[index], <char*>content + index * sizeof(Packet))
            if self.items[index].turn.known():
                one.index, one.turn = index, self.items[index].turn.value()
                turns.push_back(one)
        return restore_block, (self.entities, bytes(content), PyBytes_FromStringAndSize(
            <const char*>turns.data(), turns.size() * sizeof(PackedTurn)), self.connection)

    def line_text(self, size_t index):
        """Return the text (bytes) that the packet at this index was read from."""
        if index >= self.items.size():
            raise IndexError(index)
        cdef Packet packet = self.items[index]
        if packet.length == 0 and self.rows is not None:
            return self.rows.lines(packet.offset, packet.offset + 1)
        return self.text[packet.offset:packet.offset + packet.length]

    def hold_text(self):
        """Write the packet text of packets that were read from a table's columns."""
        cdef Packet* packet
        cdef list texts = []
        cdef size_t place = 0, index
        if self.rows is None:
            return
        for index in range(self.items.size()):
            if self.items[index].length == 0:
                texts.append(self.line_text(index))
        cdef bytes text = b"".join(texts)
        self.text = text + self.text    # rows in the usual form come first
        left = iter(texts)
        for index in range(self.items.size()):
            packet = &self.items[index]
            if packet.length:
                packet.offset += <uint32_t>len(text)
            else:
                packet.offset = <uint32_t>place
                packet.length = <uint32_t>len(next(left))
                place += packet.length
        self.rows = None

    def line_texts(self, size_t longest):
        """Return each packet's line as bytes that end with one newline.

        A line is None if it is longer than ``longest``, or if the packet was not read from text.
        """
        cdef Packet* packet
        cdef Py_ssize_t length
        cdef size_t index
        cdef const char* begin
        cdef bytes text
        cdef list texts = []
        self.hold_text()
        for index in range(self.items.size()):
            packet = &self.items[index]
            begin = <const char*>self.text + packet.offset
            length = packet.length
            while length and begin[length - 1] in (b"\r", b"\n"):
                length -= 1
            if not length or length > <Py_ssize_t>longest:
                texts.append(None)
                continue
            text = PyBytes_FromStringAndSize(NULL, length + 1)
            memcpy(<char*>text, begin, length)
            (<char*>text)[length] = b"\n"
            texts.append(text)
        return texts

    def __len__(self):
        return self.items.size()

    def __getitem__(self, size_t index):
        if index >= self.items.size():
            raise IndexError(index)
        return packet_to_python(self.items[index], self.entities.name(self.items[index].entity))

    def begins_with_arrival(self):
        """Return True if the first packet has an arrival time."""
        return self.items.size() > 0 and not isnan(self.items[0].arrival)

    def first_name(self):
        """Return the name of the first packet's entity; empty for an empty block."""
        return self.entities.name(self.items[0].entity) if self.items.size() else ""

    def has_extras(self, size_t index):
        """Return True if the packet's text may hold values that belong to no key."""
        return index < self.items.size() and self.items[index].has_extras

    def any_extras(self):
        """Return True if any packet's text may hold values that belong to no key."""
        cdef size_t index
        for index in range(self.items.size()):
            if self.items[index].has_extras:
                return True
        return False

    def entity(self, size_t index):
        """Return the name of the entity that sent the packet at this index."""
        if index >= self.items.size():
            raise IndexError(index)
        return self.entities.name(self.items[index].entity)

    def words(self, size_t index):
        """Return the words (bytes) of packet text that follow the packet's seven numbers."""
        return self.line_text(index)[self.items[index].caret:]

    def lacks_velocity(self):
        """Return True if any packet has no velocity."""
        cdef size_t index
        for index in range(self.items.size()):
            if not self.items[index].has_velocity:
                return True
        return False

    def turns(self):
        """Return True if any packet has a rotation."""
        cdef size_t index
        for index in range(self.items.size()):
            if self.items[index].turn.known():
                return True
        return False

    def keep_entity(self, str name, ConnectionTimes before=None):
        """Drop the packets of all other entities, but record their datagrams in ``connection``.

        ``before`` is the connection of the blocks before this one.
        """
        cdef Packet packet
        cdef vector[Packet] kept
        cdef ConnectionTimes connection
        for packet in self.items:
            if self.entities.name(packet.entity) == name:
                kept.push_back(packet)
        if self.connection is None:
            connection = ConnectionTimes(before)
            connection.note(self)
            if kept.size() < self.items.size() or connection.entities > 1:
                self.connection = connection
        self.items.swap(kept)

    def cut_before(self, size_t index):
        """Drop the packets before this index."""
        self.items.erase(self.items.begin(), self.items.begin() + min(index, self.items.size()))

    def cut_after_line(self, int64_t line):
        """Drop the packets that were read from lines after ``line``."""
        while self.items.size() and self.items.back().line > line:
            self.items.pop_back()

    def cut_at_second_entity(self):
        """Drop the first packet of a second entity and all packets after it.

        Return the line and the entity of that packet, or None if there is one entity.
        """
        cdef size_t index
        for index in range(self.items.size()):
            if self.items[index].entity != 0:
                line, entity = self.items[index].line, self.entities.name(self.items[index].entity)
                self.items.resize(index)
                return line, entity
        return None

    def line(self, size_t index):
        """Return the line number, from 1, that the packet at this index was read from."""
        if index >= self.items.size():
            raise IndexError(index)
        return self.items[index].line

    def make_refusal(self, size_t index, reason, str field, double limit=0):
        """Return a ``Refusal`` of the ``time`` or ``arrival`` of the packet at this index."""
        from epic_cli.engine.refusals import Refusal, find_word

        if index >= self.items.size():
            raise IndexError(index)
        cdef Packet packet = self.items[index]
        text = self.line_text(index)
        # a missing arrival was computed from the time
        wrong = "time" if isnan(packet.arrival) else field
        if self.find_field is not None:
            caret = self.find_field(text, wrong)
        elif wrong == "time":
            caret = packet.caret
        else:
            caret = find_word(text, wrong, packet.caret)
        return Refusal(packet.line, packet.column + caret + 1, text, caret, reason, field, limit)


def restore_block(Entities entities not None, bytes content not None, bytes turns not None,
                  ConnectionTimes connection):
    """Return the ``PacketBlock`` with this content, from a pickle."""
    cdef PacketBlock block = PacketBlock(entities)
    cdef size_t count = <size_t>len(content) // sizeof(Packet)
    cdef size_t turning = <size_t>len(turns) // sizeof(PackedTurn)
    cdef const PackedTurn* one = <const PackedTurn*><const char*>turns
    cdef size_t index
    if count * sizeof(Packet) != <size_t>len(content) or (
        turning * sizeof(PackedTurn) != <size_t>len(turns)
    ):
        raise ValueError("the bytes are not whole packets")
    block.items.resize(count)
    for index in range(count):
        restore_plain(block.items[index], <const char*>content + index * sizeof(Packet))
    for index in range(turning):
        if one[index].index >= count:
            raise ValueError("the bytes are not whole packets")
        block.items[one[index].index].turn.set(one[index].turn)
    block.connection = connection
    return block


# ---------------- packets and samples of the Python API, in and out


# The Python API's Packet and Sample; the command line starts faster without them.
cdef object contract = None


cdef object python_contract():
    global contract
    if contract is None:
        from epic_cli.engine import contract as loaded
        contract = loaded
    return contract


cdef string_view view(bytes text):
    return string_view(<const char*>text, len(text))


cdef object no_packet(object source):
    from epic_cli.engine.no_packet import why_no_packet

    return TypeError(why_no_packet(source))


cdef str find_entity(object source):
    """Return the name of a packet's entity; raise ``TypeError`` if the name is not text."""
    entity = getattr(source, "entity", None)
    if not isinstance(entity, str):
        raise no_packet(source)
    return entity


cdef int packet_from_python(object source, Packet& packet) except -1:
    """Convert a packet of the Python API; raise ``TypeError`` if the object is not a packet."""
    try:
        x, y, z = source.position
        packet.position = Vec3[double](x, y, z)
        if source.velocity is None:
            packet.has_velocity = False
        else:
            x, y, z = source.velocity
            packet.velocity = Vec3[double](x, y, z)
        packet.time = source.time
        if source.arrival is not None:
            packet.arrival = source.arrival
        packet.teleport = source.teleport
        packet.delta = source.delta
        if source.sequence is not None:
            packet.sequence = source.sequence
        # packets of people's own classes need not have these
        turn_from_python(getattr(source, "rotation", None), getattr(source, "spin", None),
                         packet.turn)
        packet.zero_turn = packet.turn.known() and is_zero(packet.turn.value().rotation)
        if packet.zero_turn:
            packet.turn.clear()
        packet.has_spin = packet.turn.known() and source.spin is not None
        packet.has_extras = bool(getattr(source, "extras", None))
    except (AttributeError, TypeError, ValueError, OverflowError) as error:
        raise no_packet(source) from error
    packet.single.position = narrowed(packet.position)
    packet.single.velocity = narrowed(packet.velocity)
    packet.single.time = <float>packet.time
    return 0


cdef int turn_from_python(rotation, spin, OptionalTurn& turn) except -1:
    """Set ``turn`` to a rotation and a spin of the Python API, unless the rotation is None."""
    cdef Turn found
    if rotation is None:
        return 0
    x, y, z, w = rotation
    found.rotation = Quaternion(x, y, z, w)
    if spin is not None:
        x, y, z = spin
        found.spin = Vec3[double](x, y, z)
    turn.set(found)
    return 0


def is_quaternion(rotation):
    """Return True if four numbers (x, y, z, w) can be a rotation, of any length."""
    x, y, z, w = rotation
    return is_rotation(Quaternion(x, y, z, w))


def turn_between(start, end, double duration, double u):
    """Interpolate rotation and spin at the fraction ``u`` between two rotations ``duration`` s
    apart.

    ``start`` and ``end`` are each a quaternion of any length and a spin (rad/s) or None. The curve
    matches both spins (``hermite_turn``); without one of the spins it is the great circle, at a
    constant spin.
    """
    cdef OptionalTurn first, last
    turn_from_python(start[0], start[1], first)
    turn_from_python(end[0], end[1], last)
    first.value().rotation = normalized(first.value().rotation)
    last.value().rotation = normalized(last.value().rotation)
    if start[1] is None or end[1] is None:
        first.set(slerp_turn(first.value(), last.value(), duration, u))
    else:
        first.set(hermite_turn(first.value(), last.value(), duration, u))
    return rotation_to_python(first), components(first.value().spin)


def angles(rotation):
    """Return a rotation's yaw about z, pitch about y and roll about x, in degrees."""
    x, y, z, w = rotation
    cdef Angles found = angles_of(Quaternion(x, y, z, w))
    return found.yaw, found.pitch, found.roll


cdef tuple rotation_to_python(const OptionalTurn& turn):
    """Return the rotation as a tuple (x, y, z, w), or None if there is none."""
    cdef Quaternion q
    if not turn.known():
        return None
    q = turn.value().rotation
    return q.x, q.y, q.z, q.w


def check_packets(packets):
    """Raise ``TypeError`` for the first object that is not a packet."""
    cdef Packet packet
    for source in packets:
        packet_from_python(source, packet)
        find_entity(source)


cdef object packet_to_python(const Packet& packet, str entity):
    return python_contract().Packet(
        (packet.position.x, packet.position.y, packet.position.z),
        (packet.velocity.x, packet.velocity.y, packet.velocity.z) if packet.has_velocity else None,
        packet.time,
        None if isnan(packet.arrival) else packet.arrival,
        entity,
        bool(packet.teleport),
        None if packet.sequence < 0 else packet.sequence,
        packet.delta,
        rotation_to_python(packet.turn),
        components(packet.turn.value().spin) if packet.has_spin else None,
    )


cdef object sample_to_python(const Sample& sample, str entity):
    return python_contract().Sample(
        sample.time,
        (sample.position.x, sample.position.y, sample.position.z),
        (sample.velocity.x, sample.velocity.y, sample.velocity.z),
        python_contract().STATUSES[sample.status],
        entity,
        rotation_to_python(sample.turn),
        components(sample.turn.value().spin) if sample.turn.known() else None,
    )


# ---------------- blocks of samples: what a strategy draws, tick by tick


# A sample without its turn, which comes last.
cdef extern from *:
    """
    #include <cstddef>
    """
    enum:
        PLAIN_SAMPLE "offsetof(epic::Sample, turn)"


cdef void fill_turns(const vector[Sample]& samples, double* out) noexcept nogil:
    cdef size_t index
    cdef Turn turn
    for index in range(samples.size()):
        turn = Turn(Quaternion(NAN, NAN, NAN, NAN), Vec3[double](NAN, NAN, NAN))
        if samples[index].turn.known():
            turn = samples[index].turn.value()
        (<Turn*>(out + 7 * index))[0] = turn


cdef class SampleBlock:
    """A buffer for up to ``capacity`` samples, which is filled and emptied again and again."""

    def __init__(self, size_t capacity=2048):
        if capacity < 1:
            raise ValueError("a block must hold at least one sample")
        self.capacity = capacity
        self.items.reserve(capacity)

    cdef bint full(self) noexcept nogil:
        return self.items.size() >= self.capacity

    def clear(self):
        """Drop all samples."""
        self.items.clear()

    def __len__(self):
        return self.items.size()

    def samples(self, Entities entities):
        """Return the samples as a list of the Python API's ``Sample``."""
        cdef size_t index
        return [
            sample_to_python(self.items[index], entities.name(self.items[index].entity))
            for index in range(self.items.size())
        ]

    def copy(self):
        """Return a new block with the same samples."""
        cdef SampleBlock copy = SampleBlock(max(self.items.size(), 1))
        copy.items.assign(self.items.begin(), self.items.end())
        return copy

    def rows(self):
        """Return 64 bytes for each sample: position, velocity, time; status and entity as int32."""
        cdef bytearray content = bytearray(self.items.size() * PLAIN_SAMPLE)
        cdef size_t index
        for index in range(self.items.size()):
            memcpy(<char*>content + index * PLAIN_SAMPLE, &self.items[index], PLAIN_SAMPLE)
        return bytes(content)

    def turns(self):
        """Return seven doubles for each sample, as bytes.

        Rotation and spin, NaN without a rotation.
        """
        cdef bytearray content = bytearray(self.items.size() * sizeof(Turn))
        fill_turns(self.items, <double*><char*>content)
        return bytes(content)

    def last(self, Entities entities):
        """Return the last sample as the Python API's ``Sample``.

        Raise ``IndexError`` if there is none.
        """
        if self.items.empty():
            raise IndexError("the block is empty")
        return sample_to_python(self.items.back(), entities.name(self.items.back().entity))


cdef extern from "packets/spool.h" namespace "epic" nogil:
    cdef cppclass Spool:
        vector[char] memory
        void add(const Sample&) except +
        void next_group()
        void moved() except +
        size_t size()
        void begin(const char*) except +
        bint draw(vector[Sample]&, size_t) except +


# Bytes of samples that are held in memory; more of them go to a temporary file, up to the second.
cdef size_t IN_MEMORY = 8 << 20
cdef size_t IN_FILE = 1 << 30


cdef class SampleSpool:
    """A spool that merges the samples of one group of entities after another in order of time.

    Up to 8 MiB are held in memory, and up to 1 GiB in a temporary file.
    """

    cdef Spool kept
    cdef object file
    cdef Py_buffer content
    cdef bint mapped

    def __dealloc__(self):
        if self.mapped:
            PyBuffer_Release(&self.content)

    def close(self):
        """Close the temporary file for writing; its samples can still be drawn."""
        if self.file is not None:
            self.file.close()

    def add(self, SampleBlock block not None):
        """Add samples to the current group; return False if the spool is full."""
        cdef size_t index
        for index in range(block.items.size()):
            self.kept.add(block.items[index])
        if self.kept.memory.size() < IN_MEMORY:
            return True
        if self.kept.size() > IN_FILE:
            return False
        try:
            if self.file is None:
                from tempfile import TemporaryFile  # slow to load

                self.file = TemporaryFile(buffering=0)
            written = self.file.write(
                (<const char*>self.kept.memory.data())[:self.kept.memory.size()])
        except OSError:
            return False                # what it has of them is not used
        if <size_t>written < self.kept.memory.size():
            return False
        self.kept.moved()
        return True

    def next_group(self):
        """Begin another group: later samples belong to it."""
        self.kept.next_group()

    def begin(self):
        """Begin the merge; no samples can be added afterwards."""
        cdef const char* content = NULL
        if self.kept.size() > self.kept.memory.size():
            from mmap import ACCESS_READ, mmap

            PyObject_GetBuffer(mmap(self.file.fileno(), 0, access=ACCESS_READ), &self.content,
                               PyBUF_SIMPLE)
            self.mapped = True
            content = <const char*>self.content.buf
        self.close()
        self.kept.begin(content)

    def draw(self, SampleBlock out not None):
        """Fill ``out`` with the next samples in order of time; return False after the last."""
        return self.kept.draw(out.items, out.capacity)


# ---------------- the order of packets in a recording: grouped by entity, or sorted as sent


# This many packets of an entity stand together where a table is grouped.
cdef size_t TOGETHER = 3

# An entity begins again where its first time lies in this part of what there was.
cdef double BEGINNING = 0.2


cdef class Groups:
    """A finder of the boundaries between entities in a recording that is grouped by entity.

    In such a recording all packets of an entity stand together, and times start over at each
    boundary: that is the order of the file, not lateness.
    """

    cdef readonly int32_t seen      # entities: their numbers are those of their appearance
    cdef int32_t entity
    cdef size_t run
    cdef bint mixed
    cdef double first, newest

    def __init__(self):
        self.entity = -1
        self.first, self.newest = INFINITY, -INFINITY

    def next_group(self, PacketBlock block not None):
        """Return the index of the first packet of the next group, or the block's size."""
        cdef size_t index, run = self.run           # copies, which stay in registers
        cdef int32_t entity = self.entity
        cdef double time, first = self.first, newest = self.newest
        cdef const Packet* packet
        for index in range(block.items.size()):
            packet = &block.items[index]
            time = packet.time if isnan(packet.arrival) else packet.arrival
            if packet.entity != entity:
                if packet.entity < self.seen:
                    self.mixed = True       # one of before: they are not grouped
                elif not self.mixed and run >= TOGETHER and time <= (
                    first + BEGINNING * (newest - first)
                ) and newest > first and is_together(block, index):
                    self.run, self.first, self.newest = 0, INFINITY, -INFINITY
                    self.entity = -1
                    return index
                self.seen = max(self.seen, packet.entity + 1)
                entity = packet.entity
                run = 0
            run += 1
            first = min(first, time)
            newest = max(newest, time)
        self.run, self.entity, self.first, self.newest = run, entity, first, newest
        return block.items.size()


cdef bint is_together(PacketBlock block, size_t begin) noexcept:
    """Return True if the three packets from ``begin`` on belong to one entity, as far as read."""
    cdef size_t index
    for index in range(begin, min(begin + TOGETHER, block.items.size())):
        if block.items[index].entity != block.items[begin].entity:
            return False
    return True


cdef bint is_earlier_packet(const Packet& a, const Packet& b) noexcept nogil:
    return a.arrival < b.arrival


def sort_by_arrival(PacketBlock block not None):
    """Sort the packets by arrival, unless one has no arrival."""
    cdef size_t index
    cdef bint sorted = True
    for index in range(block.items.size()):
        if isnan(block.items[index].arrival):
            return
        sorted &= index == 0 or block.items[index - 1].arrival <= block.items[index].arrival
    if not sorted:
        stable_sort(block.items.begin(), block.items.end(), &is_earlier_packet)


def split_block(PacketBlock block not None, size_t index):
    """Cut the block at an index; return the packets from there on as a block of the same text."""
    cdef PacketBlock rest = PacketBlock(block.entities)
    rest.items.assign(block.items.begin() + index, block.items.end())
    block.items.resize(index)
    rest.text, rest.rows, rest.find_field = block.text, block.rows, block.find_field
    rest.extra_source = block.extra_source
    return rest


def arrival_range(PacketBlock block not None):
    """Return the first and the last arrival (s) of the packets; NaN if one has no arrival."""
    cdef double first = INFINITY, last = -INFINITY
    cdef size_t index
    for index in range(block.items.size()):
        if isnan(block.items[index].arrival):
            return NAN, NAN
        first = min(first, block.items[index].arrival)
        last = max(last, block.items[index].arrival)
    return first, last


def join_by_arrival(PacketBlock block not None, PacketBlock other not None, double until):
    """Merge ``other`` into ``block`` by arrival.

    Cut off and return the packets from ``until`` (s) on.
    """
    cdef size_t base
    cdef size_t index
    cdef PacketBlock rest
    cdef Packet packet
    cdef list texts = []
    block.hold_text()
    other.hold_text()
    base = len(block.text)
    block.text += other.text
    block.refusals += other.refusals
    for packet in other.items:
        packet.offset += base
        block.items.push_back(packet)
    stable_sort(block.items.begin(), block.items.end(), &is_earlier_packet)
    index = block.items.size()
    while index and block.items[index - 1].arrival >= until:
        index -= 1
    rest = split_block(block, index)
    base = 0
    for index in range(rest.items.size()):
        texts.append(rest.line_text(index))
        rest.items[index].offset = base
        base += rest.items[index].length
    rest.text = b"".join(texts)
    return rest


# ---------------- velocities for packets without one, for output formats that need it


cdef class VelocityFiller:
    """An estimator of missing velocities from an entity's earlier packets, as strategies get them.

    One filler serves a whole recording, whose blocks must come in order.
    """

    cdef vector[VelocityEstimate] entities

    def fill(self, PacketBlock block not None):
        """Fill in missing velocities in place; return the number of packets that had none."""
        cdef size_t index, filled = 0
        cdef Packet* packet
        for index in range(block.items.size()):
            packet = &block.items[index]
            if <size_t>packet.entity >= self.entities.size():
                self.entities.resize(packet.entity + 1)
            if packet.has_velocity:
                self.entities[packet.entity].note(packet[0], packet.velocity)
            else:
                self.entities[packet.entity].fill(packet[0])
                filled += 1
        return filled


# ---------------- how the engine was built


cdef extern from *:
    """
    #if defined(__clang__)
    #define EPIC_COMPILER "clang " __clang_version__
    #elif defined(__GNUC__)
    #define EPIC_COMPILER "g++ " __VERSION__
    #else
    #define EPIC_COMPILER "an unknown compiler"
    #endif
    #ifndef EPIC_FLAGS
    #define EPIC_FLAGS ""
    #endif
    """
    const char* EPIC_COMPILER
    const char* EPIC_FLAGS
    int CYTHON_HEX_VERSION


def describe_build():
    """Return the compiler, the flags and the Cython version that built the engine."""
    cdef int version = CYTHON_HEX_VERSION
    cython = f"{version >> 24}.{version >> 16 & 255}.{version >> 8 & 255}"
    return f"{EPIC_COMPILER.decode()} {EPIC_FLAGS.decode()}, Cython {cython}"
