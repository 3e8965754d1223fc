// Common lines in two steps: the shapes of some of them, then their numbers. Within a step no line
// waits for another one, so that the processor overlaps several of them.
#pragma once

#include <cstring>
#include <string_view>
#include <vector>

#include "packets/entities.h"
#include "text/scan.h"
#include "text/fast_path/line.h"

namespace epic {

// The common words behind a line's numbers: the fast path of scan_tail(). Keys that are one value
// (keys.h), each behind one blank, in any order, as `take` of their types reads them. Anything else
// is left to scan_tail().

// Moves p behind the key, if it is at p.
template <size_t size>
inline bool take_key(const char*& p, const char* end, const char (&key)[size]) {
    if (end - p < ptrdiff_t(size - 1) || std::memcmp(p, key, size - 1) != 0) return false;
    p += size - 1;
    return true;
}

// Reads the words from p, behind the numbers, to the newline; false: some are uncommon.
inline bool scan_usual_words(const char* p, const char* newline, Packet& packet,
                             std::string_view& entity) {
    while (*p == ' ') {
        ++p;
#define EPIC_TAKE(ID, NAME, MEMBER, TYPE, ON_REQUEST) \
        if (take_key(p, newline, NAME "=")) { \
            if (!TYPE::take(p, packet.MEMBER, entity)) return false; \
            continue; \
        }
        EPIC_SCALARS(EPIC_TAKE)
#undef EPIC_TAKE
        return false;
    }
    return p == newline;
}

// The characters of a line that fgets(line, 1024, stdin) reads at once.
constexpr ptrdiff_t kLongestPiece = 1023;

#if EPIC_HAS_WIDE

constexpr int kLinesAtOnce = 32;

// The newline of a line whose numbers end at p; null: the line is not a common one.
EPIC_WIDE const char* usual_newline(const char* p, const char* begin, const char* end) {
    if (__builtin_expect(*p == '\n', 1)) return p;
    if (*p != ' ' && *p != '\r' && *p != '\t') return nullptr;
    const ptrdiff_t most = end - begin < kLongestPiece ? end - begin : kLongestPiece;
    return static_cast<const char*>(std::memchr(p, '\n', size_t(begin + most - p)));
}

// Reads what follows the numbers; false: something is wrong with it.
inline bool scan_words(const UsualLine& line, Packet& packet, EntityNames& names) {
    Scanned result;
    const char* const p = line.numbers_end;
    if (p != line.newline && !scan_usual_words(p, line.newline, packet, result.entity)) {
        if (std::memchr(p, '\0', size_t(line.newline - p))) return false;
        scan_tail(p, line.newline + 1, packet, result);
    }
    if (result.expected != EXPECTED_NOTHING || result.junk) return false;
    packet.entity = names.assign_number(result.entity);
    return packet.entity >= 0;
}

// Takes the lines from p on, up to the first that is uncommon or too near to the end of the text,
// and returns where that one begins. `line` is the number of the line at p, then of that one.
EPIC_WIDE_TARGET inline const char* scan_usual_lines(
    const char* p, const char* end, const char* text, std::vector<Packet>& packets,
    EntityNames& names, int64_t& line) {
    if (p - text < kReadBefore) return p;
    UsualLine lines[kLinesAtOnce];
    for (;;) {
        int count = 0;
        bool usual = true;
        while (count < kLinesAtOnce) {
            UsualLine& found = lines[count];
            usual = end - p > kReadBehind && find_numbers(p, found);
            if (!usual) break;
            found.newline = usual_newline(found.numbers_end, p, end);
            usual = found.newline != nullptr;
            if (!usual) break;
            p = found.newline + 1;
            ++count;
        }
        if (!count) return p;
        for (int i = 0; i < count; ++i) {
            const UsualLine& found = lines[i];
            packets.emplace_back();
            Packet& packet = packets.back();
            if (__builtin_expect(found.all_dotted, 1)) convert<true>(found, packet);
            else convert<false>(found, packet);
            packet.line = line;
            packet.offset = uint32_t(found.begin - text);
            packet.length = uint32_t(found.newline + 1 - found.begin);
            packet.caret = found.caret;
            if (!scan_words(found, packet, names)) {
                packets.pop_back();
                return found.begin;
            }
            ++line;
        }
        if (!usual) return p;
    }
}

#else

inline const char* scan_usual_lines(const char* p, const char*, const char*, std::vector<Packet>&,
                                    EntityNames&, int64_t&) {
    return p;
}

#endif

}  // namespace epic
