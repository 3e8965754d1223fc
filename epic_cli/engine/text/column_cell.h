// Cells of CSV from the values of columns.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "text/decimal.h"
#include "text/instant.h"
#include "text/print_number.h"

namespace epic {

// Bytes of the longest number (a decimal of 39 digits with sign and point) or time.
constexpr size_t kLongestNumberCell = 48;

// True for a text that would be taken for a number or a truth, or for nothing, or lose blanks at its
// ends, some of which are beyond ASCII.
inline bool needs_quotes(std::string_view text) {
    const auto ends_plainly = [](char c) { return c > ' ' && c < 127; };
    if (text.empty() || !ends_plainly(text.front()) || !ends_plainly(text.back())) return true;
    return text.find_first_not_of("0123456789+-.eE") == text.npos || text == "true" || text == "false";
}

// A text as a cell, quoted where it must be (RFC 4180) or, if `typed`, where it would be read as
// something else; a line feed becomes a blank.
inline char* append_cell(char* out, const char* text, size_t length, bool typed) {
    const auto has = [&](char c) { return std::memchr(text, c, length) != nullptr; };
    const bool quoted = (length && (has(',') || has('"') || has('\r'))) ||
                        (typed && needs_quotes({text, length}));
    if (quoted) *out++ = '"';
    for (size_t i = 0; i < length; ++i) {
        if (text[i] == '"' && quoted) *out++ = '"';
        *out++ = text[i] == '\n' ? ' ' : text[i];
    }
    if (quoted) *out++ = '"';
    return out;
}

// A text of code points of 32 bits, filled up with NUL, as a cell. Takes 4 bytes a code point, and
// one more for each quote.
inline char* append_wide_cell(char* out, const uint32_t* text, size_t length) {
    while (length && !text[length - 1]) --length;
    bool quoted = false;
    for (size_t i = 0; i < length; ++i) {
        const uint32_t c = text[i];
        quoted |= c == ',' || c == '"' || c == '\r';
    }
    char* const begin = out;
    for (size_t i = 0; i < length; ++i) {
        const uint32_t c = text[i];
        if (c == '"') *out++ = '"';
        if (c < 0x80) {
            *out++ = c == '\n' ? ' ' : char(c);
            continue;
        }
        if (c < 0x800) {
            *out++ = char(0xC0 | c >> 6);
        } else {
            if (c < 0x10000) {
                *out++ = char(0xE0 | c >> 12);
            } else {
                *out++ = char(0xF0 | (c >> 18 & 7));
                *out++ = char(0x80 | (c >> 12 & 63));
            }
            *out++ = char(0x80 | (c >> 6 & 63));
        }
        *out++ = char(0x80 | (c & 63));
    }
    if (quoted || needs_quotes({begin, size_t(out - begin)})) {
        std::memmove(begin + 1, begin, size_t(out - begin));
        *begin = '"';
        ++out;
        *out++ = '"';
    }
    return out;
}

// A whole number with leading zeros.
inline char* append_digits(char* out, uint64_t value, int count) {
    for (int i = count; i--; value /= 10) out[i] = char('0' + value % 10);
    return out + count;
}

// A day since 1970-01-01 as YYYY-MM-DD (Howard Hinnant, civil_from_days); nothing outside of the
// years 0 to 9999.
inline char* append_date(char* out, int64_t days) {
    if (days < -719528 || days > 2932896) return out;
    days += 719468;
    const int64_t era = (days >= 0 ? days : days - 146096) / 146097;
    const int64_t day_of_era = days - era * 146097;
    const int64_t year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
    const int64_t day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    const int64_t part = (5 * day_of_year + 2) / 153;
    const int64_t month = part + (part < 10 ? 3 : -9);
    out = append_digits(out, uint64_t(year_of_era + era * 400 + (month <= 2)), 4);
    *out++ = '-';
    out = append_digits(out, uint64_t(month), 2);
    *out++ = '-';
    return append_digits(out, uint64_t(day_of_year - (153 * part + 2) / 5 + 1), 2);
}

// A time since 1970 as Python's isoformat, with nine digits where microseconds do not do.
inline char* append_stamp(char* out, int64_t value, int64_t per_second, bool zoned) {
    const int64_t below = value % per_second;
    const int64_t fraction = below < 0 ? below + per_second : below;
    const int64_t seconds = (value - fraction) / per_second;
    const int64_t second_of_day = (seconds % 86400 + 86400) % 86400;
    char* const begin = out;
    out = append_date(out, (seconds - second_of_day) / 86400);
    if (out == begin) return out;
    *out++ = 'T';
    out = append_digits(out, uint64_t(second_of_day / 3600), 2);
    *out++ = ':';
    out = append_digits(out, uint64_t(second_of_day / 60 % 60), 2);
    *out++ = ':';
    out = append_digits(out, uint64_t(second_of_day % 60), 2);
    if (fraction) {
        const int64_t nanoseconds = fraction * (1000000000 / per_second);
        *out++ = '.';
        out = nanoseconds % 1000 ? append_digits(out, uint64_t(nanoseconds), 9)
                                 : append_digits(out, uint64_t(nanoseconds / 1000), 6);
    }
    if (zoned) out = static_cast<char*>(std::memcpy(out, "+00:00", 6)) + 6;
    return out;
}

// Months, days and nanoseconds as seconds; months, which have no length, stand before these.
inline char* append_interval(char* out, const char* bytes) {
    int32_t months, days;
    int64_t nanoseconds;
    std::memcpy(&months, bytes, 4);
    std::memcpy(&days, bytes + 4, 4);
    std::memcpy(&nanoseconds, bytes + 8, 8);
    if (months) {
        if (months < 0) *out++ = '-';
        out = append_unsigned(out, uint64_t(months < 0 ? -int64_t(months) : months));
        out = static_cast<char*>(std::memcpy(out, " months ", 8)) + 8;
    }
    return append_repr(out, double(days) * 86400 + double(nanoseconds) / 1e9);
}

// A whole number of `size` bytes (4, 8 or 16), `scale` digits of which are behind the point.
inline char* append_decimal(char* out, const char* bytes, size_t size, size_t scale) {
    uint64_t words[2];
    if (size == 16) {
        std::memcpy(words, bytes, 16);
    } else {
        int64_t value = 0;
        int32_t small = 0;
        if (size == 8) std::memcpy(&value, bytes, 8);
        else std::memcpy(&small, bytes, 4), value = small;
        words[0] = uint64_t(value);
        words[1] = value < 0 ? ~uint64_t(0) : 0;
    }
    if (words[1] >> 63) {
        *out++ = '-';
        words[0] = ~words[0] + 1;
        words[1] = ~words[1] + !words[0];
    }
    char digits[40];
    size_t count = 0;
    while (words[0] || words[1] || count <= scale) {
        // divided by ten in parts of 32 bits
        uint64_t rest = 0;
        for (int word = 1; word >= 0; --word) {
            const uint64_t high = rest << 32 | words[word] >> 32;
            const uint64_t low = (high % 10) << 32 | (words[word] & 0xFFFFFFFF);
            words[word] = high / 10 << 32 | low / 10;
            rest = low % 10;
        }
        digits[count++] = char('0' + rest);
    }
    while (count) {
        if (count-- == scale) *out++ = '.';
        *out++ = digits[count];
    }
    return out;
}

// The value of a floating-point number of 16 bits (IEEE 754).
inline double half_to_double(uint16_t bits) {
    const int exponent = bits >> 10 & 31, fraction = bits & 1023;
    double value = exponent ? std::ldexp(1024 + fraction, exponent - 25) : std::ldexp(fraction, -24);
    if (exponent == 31) value = fraction ? NAN : INFINITY;
    return bits >> 15 ? -value : value;
}

}  // namespace epic
