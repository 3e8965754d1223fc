"""Packet text to packets: lines as the demo reads them."""

from libc.stdint cimport int64_t, uint32_t
from libc.string cimport memchr, memcpy
from libcpp.vector cimport vector

from epic_cli.engine.packets cimport Entities, EntityNames, Packet, PacketBlock, string_view


cdef extern from "text/scan.h" namespace "epic" nogil:
    cdef cppclass Scanned:
        int expected
        const char* where
        string_view entity
        bint junk

    int EXPECTED_NOTHING
    int EXPECTED_TEXT
    Scanned scan_packet(const char*, const char*, Packet&)


cdef extern from "text/fast_path/processor.h" namespace "epic" nogil:
    bint takes_wide_ways()

cdef extern from "text/fast_path/lines.h" namespace "epic" nogil:
    enum:
        LONGEST_PIECE "epic::kLongestPiece"
    const char* scan_usual_lines(const char* p, const char* end, const char* text,
                                 vector[Packet]& packets, EntityNames& names,
                                 int64_t& line) except +


cdef struct Refused:
    int64_t line
    int64_t column
    size_t offset
    size_t length
    size_t caret
    int expected


cdef class TextScanner:
    """A reader of packet text, block by block, exactly as the demo's fgets and sscanf would.

    A line that begins with ``q`` or NUL ends the recording (``ended``), in the line ``end_line``
    (0: not yet); ``torn``: it was a NUL; ``behind``: there are lines behind it, as far as it has
    been read. A line of more than 1023 bytes is read as several, as ``fgets`` returns it; so a
    block keeps at most that much text for the next one, whatever the length of the lines. ``wide``
    takes common lines with the fast path; by default where the processor has it.

    The demo rejects lines that are blank or begin with ``#``; here they are comments, and skipped.
    What the demo reads of them beyond 1023 bytes is read here as well.
    """

    cdef readonly bint ended
    cdef readonly bint torn
    cdef readonly bint behind
    cdef readonly int64_t end_line
    cdef readonly Entities entities
    cdef bytes kept
    cdef int64_t line
    cdef int64_t column
    cdef size_t usual               # packets in a block, about
    cdef bint wide
    cdef bint remark                # the line that goes on is one

    def __init__(self, Entities entities=None, wide=None):
        self.entities = Entities() if entities is None else entities
        self.kept = b""
        self.line = 1
        self.wide = takes_wide_ways() if wide is None else wide

    def scan(self, bytes data, bint final=False):
        """Return the packets of all lines that ``data`` completes, as a ``PacketBlock``.

        With ``final`` the text ends here, and what is left of it is a line as well.
        """
        cdef PacketBlock block = PacketBlock(self.entities)
        cdef vector[Refused] refused
        cdef size_t used
        if self.ended:
            return block
        block.text = self.kept + data if self.kept else data
        cdef const char* text = block.text
        cdef size_t size = len(block.text)
        block.items.reserve(self.usual)
        with nogil:
            used = self.scan_lines(text, size, final, block, refused)
        self.kept = block.text[used:]
        self.usual = block.items.size() + block.items.size() // 8
        for line in refused:
            block.refusals.append(make_refusal(line, block.text))
        return block

    cdef Py_ssize_t scan_lines(self, const char* text, size_t size, bint final,
                               PacketBlock block, vector[Refused]& refused) except -1 nogil:
        cdef const char* p = text
        cdef const char* end = text + size
        cdef const char* newline
        cdef size_t length
        cdef Refused one
        while p < end:
            if self.wide and self.column == 0:
                p = scan_usual_lines(p, end, text, block.items, self.entities.names, self.line)
                if p == end:
                    break
            length = min(<size_t>(end - p), <size_t>LONGEST_PIECE)
            newline = <const char*>memchr(p, b"\n", length)
            if newline != NULL:
                length = newline - p + 1
            elif length < LONGEST_PIECE and not final:
                break
            if p[0] == 0 or p[0] == b"q":
                self.ended, self.torn, self.end_line = True, p[0] == 0, self.line
                newline = <const char*>memchr(p, b"\n", end - p)
                self.behind = newline != NULL and newline + 1 < end
                return size
            one.line = self.line
            one.column = self.column
            one.offset = p - text
            one.length = length
            self.scan_piece(p, block, one)
            if self.column == 0:
                self.remark = is_remark(p, p + length)
            if one.expected != EXPECTED_NOTHING and not self.remark:
                refused.push_back(one)
            if newline != NULL:
                self.line += 1
                self.column = 0
            else:
                self.column += length
            p += length
        return p - text

    cdef int scan_piece(self, const char* piece, PacketBlock block,
                        Refused& one) except -1 nogil:
        cdef Packet* packet
        cdef Scanned scanned
        cdef char[LONGEST_PIECE + 1] copy
        if one.length == LONGEST_PIECE and piece[one.length - 1] != b"\n":
            memcpy(copy, piece, one.length)     # a number must not be read on past its end
            copy[one.length] = 0
            piece = copy
        block.items.emplace_back()
        packet = &block.items.back()
        scanned = scan_packet(piece, piece + one.length, packet[0])
        one.expected = scanned.expected
        one.caret = 0
        if scanned.expected == EXPECTED_NOTHING:
            one.expected = number_entity(self.entities, scanned.entity, packet[0])
            if one.expected != EXPECTED_NOTHING:
                one.caret = scanned.entity.data() - piece
        else:
            one.caret = scanned.where - piece
        if one.expected != EXPECTED_NOTHING:
            block.items.pop_back()
            return 0
        if scanned.junk:
            if block.junk == 0:
                block.junk_line = one.line
            block.junk += 1
        packet.line = one.line
        packet.column = one.column
        packet.offset = <uint32_t>one.offset
        packet.length = <uint32_t>one.length
        return 0


cdef bint is_remark(const char* p, const char* end) noexcept nogil:
    """Return True if a line is blank or begins with ``#``."""
    while p < end and (p[0] == b" " or b"\t" <= p[0] <= b"\r"):
        p += 1
    return p == end or p[0] == b"#"


cdef int number_entity(Entities entities, string_view name, Packet& packet) except -1 nogil:
    packet.entity = entities.names.assign_number(name)
    return EXPECTED_NOTHING if packet.entity >= 0 else EXPECTED_TEXT


def next_piece(bytes line):
    """Return the piece with which such a line continues: 0 is x, 1 the comma behind it, 12 is t.

    None where nothing is missing, or where the existing text is wrong.
    """
    from epic_cli.engine.refusals import piece_after

    cdef const char* text = line
    cdef Packet packet
    cdef Scanned scanned = scan_packet(text, text + len(line), packet)
    if scanned.expected >= EXPECTED_NOTHING:
        return None
    return piece_after(scanned.expected, line[scanned.where - text:])


cdef object make_refusal(Refused one, bytes text):
    from epic_cli.engine.refusals import Refusal, reason_for

    piece = text[one.offset:one.offset + one.length]
    facts = reason_for(one.expected, piece[one.caret:])
    return Refusal(one.line, one.column + one.caret + 1, piece, one.caret, *facts)
