"""Conversion of packets to compact bytes for a temporary file, and back."""

from cpython.bytes cimport PyBytes_FromStringAndSize
from libc.stdint cimport uint8_t, uint64_t
from libc.string cimport memcpy
from libcpp.vector cimport vector

cdef extern from *:
    """
    #include <cstring>
    namespace epic {
    // The numbers in single precision that reading rounds once from text are mostly those of the
    // numbers in double precision, rounded again.
    inline SingleState round_state(const Packet& packet) {
        SingleState single;
        single.position = {float(packet.position.x), float(packet.position.y),
                           float(packet.position.z)};
        single.velocity = {float(packet.velocity.x), float(packet.velocity.y),
                           float(packet.velocity.z)};
        single.time = float(packet.time);
        return single;
    }
    static_assert(kPlainPacket == 19 * sizeof(uint64_t), "the words of a packet, see WORDS");
    inline bool same_bytes(const SingleState& one, const SingleState& other) {
        return std::memcmp(&one, &other, sizeof one) == 0;
    }
    }
    """
    SingleState round_state "epic::round_state"(const Packet&)
    bint same_bytes "epic::same_bytes"(const SingleState&, const SingleState&)


cdef enum:
    # the plain part of a packet, in words of eight bytes
    WORDS = 19


cdef struct PackedHeader:
    uint64_t packets
    uint64_t turns
    uint8_t rounded             # the single numbers are those of ``round_state``
    uint8_t[WORDS] constant     # the word is the same in all packets, and stored once


def take_packets(PacketBlock block not None):
    """Remove a block's packets and return them as bytes, without text, for ``put_packets``.

    Numbers that are the same in all packets are stored once. Only this process can read the bytes.
    """
    cdef size_t index, word, count = block.items.size()
    cdef PackedHeader header
    cdef vector[uint64_t] words, packed
    cdef vector[PackedTurn] turns
    cdef PackedTurn one
    cdef Packet plain
    cdef SingleState nothing = plain.single
    cdef bytes head
    header.packets, header.rounded = count, True
    for index in range(count):
        if not same_bytes(block.items[index].single, round_state(block.items[index])):
            header.rounded = False
            break
    words.resize(count * WORDS)
    for index in range(count):
        plain = block.items[index]
        if header.rounded:
            plain.single = nothing
        copy_plain(plain, <char*>&words[index * WORDS])
        if plain.turn.known():
            one.index, one.turn = index, plain.turn.value()
            turns.push_back(one)
    header.turns = turns.size()
    packed.reserve(words.size())
    for word in range(WORDS):
        header.constant[word] = True
        for index in range(1, count):
            if words[index * WORDS + word] != words[word]:
                header.constant[word] = False
                break
        for index in range(1 if header.constant[word] and count else count):
            packed.push_back(words[index * WORDS + word])
    block.items = vector[Packet]()
    head = PyBytes_FromStringAndSize(<const char*>&header, sizeof(PackedHeader))
    return head + PyBytes_FromStringAndSize(
        <const char*>packed.data(), packed.size() * sizeof(uint64_t)
    ) + PyBytes_FromStringAndSize(<const char*>turns.data(), turns.size() * sizeof(PackedTurn))


def put_packets(bytes content not None, PacketBlock block not None):
    """Append the packets in the bytes of ``take_packets`` to a block.

    Raise ``ValueError`` for others.
    """
    cdef PackedHeader header
    cdef size_t index, word, size, first = block.items.size(), stored = 0
    cdef const char* place = <const char*>content
    cdef vector[uint64_t] words
    cdef PackedTurn one
    if <size_t>len(content) < sizeof(PackedHeader):
        raise ValueError("the bytes are not packed packets")
    memcpy(&header, place, sizeof(PackedHeader))
    place += sizeof(PackedHeader)
    for word in range(WORDS):
        stored += 1 if header.constant[word] and header.packets else header.packets
    size = sizeof(PackedHeader) + stored * sizeof(uint64_t) + header.turns * sizeof(PackedTurn)
    if size != <size_t>len(content):
        raise ValueError("the bytes are not packed packets")
    words.resize(header.packets * WORDS)
    for word in range(WORDS):
        for index in range(header.packets):
            memcpy(&words[index * WORDS + word], place, sizeof(uint64_t))
            if not header.constant[word]:
                place += sizeof(uint64_t)
        if header.constant[word] and header.packets:
            place += sizeof(uint64_t)
    block.items.resize(first + header.packets)
    for index in range(header.packets):
        restore_plain(block.items[first + index], <const char*>&words[index * WORDS])
        if header.rounded:
            block.items[first + index].single = round_state(block.items[first + index])
    for index in range(header.turns):
        memcpy(<void*>&one, place + index * sizeof(PackedTurn), sizeof(PackedTurn))
        block.items[first + one.index].turn.set(one.turn)
