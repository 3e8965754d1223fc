// The common words behind a line's numbers: the fast path of scan_tail().
//
//     arrival=-?d+(.d*)?  delta=-?d+(.d*)?  seq=d+  teleport=0|1  entity=NAME
//
// each behind one blank, in any order, where a number has 15 digits at most. Anything else is left
// to scan_tail(). Such a number is m / 10^k with m below 10^15 < 2^53 and k at most 15: both are
// exact, so that the division is the only rounding (Clinger, 1990).
#pragma once

#include <cstring>
#include <string_view>

#include "text/scan.h"

namespace epic {

// Moves p behind the key, if it is at p.
template <size_t size>
inline bool take_key(const char*& p, const char* end, const char (&key)[size]) {
    if (end - p < ptrdiff_t(size - 1) || std::memcmp(p, key, size - 1) != 0) return false;
    p += size - 1;
    return true;
}

// Reads the digits from p on; returns how many there were. Only 15 of them are sure to fit.
inline int take_digits(const char*& p, uint64_t& value) {
    const char* const begin = p;
    for (; is_digit(*p); ++p) value = value * 10 + uint64_t(*p - '0');
    return int(p - begin < 99 ? p - begin : 99);
}

inline bool take_seconds(const char*& p, double& out) {
    const bool negative = *p == '-';
    p += negative;
    uint64_t value = 0;
    int digits = take_digits(p, value), decimals = 0;
    if (!digits) return false;
    if (*p == '.') digits += decimals = take_digits(++p, value);
    if (digits > 15) return false;
    const double magnitude = double(int64_t(value)) / kPowersOfTen[decimals];
    out = negative ? -magnitude : magnitude;
    return true;
}

// Reads the words from p, behind the numbers, to the newline; false: some are uncommon.
inline bool scan_usual_words(const char* p, const char* newline, Packet& packet,
                             std::string_view& entity) {
    while (*p == ' ') {
        ++p;
        if (take_key(p, newline, "arrival=")) {
            if (!take_seconds(p, packet.arrival)) return false;
        } else if (take_key(p, newline, "entity=")) {
            const char* const name = p;
            while (static_cast<unsigned char>(*p) > ' ') ++p;
            if (p == name) return false;
            entity = std::string_view(name, size_t(p - name));
        } else if (take_key(p, newline, "seq=")) {
            uint64_t value = 0;
            const int digits = take_digits(p, value);
            if (!digits || digits > 15) return false;
            packet.sequence = int64_t(value);
        } else if (take_key(p, newline, "delta=")) {
            if (!take_seconds(p, packet.delta)) return false;
        } else if (take_key(p, newline, "teleport=")) {
            if (*p != '0' && *p != '1') return false;
            packet.teleport = *p++ == '1';
        } else {
            return false;
        }
    }
    return p == newline;
}

}  // namespace epic
