"""Blocks of packets and samples: what the engine's parts exchange."""

from cpython.bytes cimport PyBytes_FromStringAndSize
from libc.math cimport isnan
from libc.stdint cimport int64_t
from libc.string cimport memcpy
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

    def number_of(self, str name):
        """The number of an entity, a new one for a new name."""
        cdef bytes text = name.encode()
        return self.names.number_of(view(text))

    cpdef str name(self, int32_t number):
        """The name that has this number."""
        cdef string_view name = self.names.name(number)
        return name.data()[:name.size()].decode()

    def __len__(self):
        return self.names.size()

    def __reduce__(self):
        return entities_of, ([self.name(number) for number in range(len(self))],)


def entities_of(list names):
    """Entities of these names."""
    entities = Entities()
    for name in names:
        entities.number_of(name)
    return entities


cdef class PacketBlock:
    """Packets in the order of their recording, with the text they came from.

    ``refusals`` are the lines of that text that were refused. ``find_field`` finds a field by
    its name in the text of one packet, for formats that are not packet text. Pickled blocks (for
    processes of the same version) have no text, like those of ``part``.
    """

    def __init__(self, Entities entities=None):
        self.entities = Entities() if entities is None else entities
        self.text = b""
        self.refusals = []

    def append(self, packet, int64_t line=0):
        """Adds a ``Packet`` of the Python API, as one line; ``TypeError`` for anything else.

        That is the next ``line`` of this block, unless another is given.
        """
        cdef Packet native
        packet_from_python(packet, native)
        native.entity = self.entities.number_of(entity_of(packet))
        native.line = line or <int64_t>self.items.size() + 1
        self.items.push_back(native)

    def extend(self, PacketBlock other not None):
        """Adds another block's packets without their text, as one line each of this recording.

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
        """Makes room for so many packets in all."""
        self.items.reserve(count)

    def part(self, size_t begin, size_t end):
        """A new block with the packets from one index to before another, without text."""
        cdef PacketBlock copy = PacketBlock(self.entities)
        end = min(end, self.items.size())
        begin = min(begin, end)
        copy.items.assign(self.items.begin() + begin, self.items.begin() + end)
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
        return block_of, (self.entities, bytes(content), PyBytes_FromStringAndSize(
            <const char*>turns.data(), turns.size() * sizeof(PackedTurn)))

    def line_text(self, size_t index):
        """The text that the packet at this index was read from."""
        if index >= self.items.size():
            raise IndexError(index)
        cdef Packet packet = self.items[index]
        return self.text[packet.offset:packet.offset + packet.length]

    def line_texts(self, size_t longest):
        """The line of each packet, each followed by one newline.

        None if one is too long, or was not read from text.
        """
        cdef Packet* packet
        cdef Py_ssize_t length
        cdef size_t index
        cdef const char* begin
        cdef bytes text
        cdef list texts = []
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
        """Whether the first packet has an arrival time."""
        return self.items.size() > 0 and not isnan(self.items[0].arrival)

    def first_name(self):
        """The name of the first packet's entity; empty: it has none."""
        return self.entities.name(self.items[0].entity) if self.items.size() else ""

    def lacks_velocity(self):
        """Whether any of the packets has no velocity."""
        cdef size_t index
        for index in range(self.items.size()):
            if not self.items[index].has_velocity:
                return True
        return False

    def turns(self):
        """Whether any of the packets has a rotation."""
        cdef size_t index
        for index in range(self.items.size()):
            if self.items[index].turn.known():
                return True
        return False

    def keep_entity(self, str name):
        """Drops the packets of all other entities."""
        cdef Packet packet
        cdef vector[Packet] kept
        for packet in self.items:
            if self.entities.name(packet.entity) == name:
                kept.push_back(packet)
        self.items.swap(kept)

    def cut_before(self, size_t index):
        """Drops the packets before the one at this index."""
        self.items.erase(self.items.begin(), self.items.begin() + min(index, self.items.size()))

    def cut_after_line(self, int64_t line):
        """Drops the packets of all later lines."""
        while self.items.size() and self.items.back().line > line:
            self.items.pop_back()

    def cut_at_second_entity(self):
        """Drops all packets from the first one on that is not of the recording's first entity.

        Returns the line and the entity of that packet, or None.
        """
        cdef size_t index
        for index in range(self.items.size()):
            if self.items[index].entity != 0:
                line, entity = self.items[index].line, self.entities.name(self.items[index].entity)
                self.items.resize(index)
                return line, entity
        return None

    def line(self, size_t index):
        """The number of the line, from 1, that the packet at this index was read from."""
        if index >= self.items.size():
            raise IndexError(index)
        return self.items[index].line

    def refusal(self, size_t index, reason, str field, double limit=0):
        """A ``Refusal`` of the packet at this index, for its ``time`` or its ``arrival``."""
        from epic_cli.engine.refusals import Refusal, find_word

        if index >= self.items.size():
            raise IndexError(index)
        cdef Packet packet = self.items[index]
        text = self.text[packet.offset:packet.offset + packet.length]
        # a missing arrival was computed from the time
        wrong = "time" if isnan(packet.arrival) else field
        if self.find_field is not None:
            caret = self.find_field(text, wrong)
        elif wrong == "time":
            caret = packet.caret
        else:
            caret = find_word(text, wrong, packet.caret)
        return Refusal(packet.line, packet.column + caret + 1, text, caret, reason, field, limit)


def block_of(Entities entities not None, bytes content not None, bytes turns not None):
    """Restores a pickled block."""
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
    return block
