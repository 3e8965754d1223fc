// The types of a packet's keys that are one value (keys.h): how a value is read, known and written.
//
// `scan` reads a whole text. `take` reads the usual text from p on and moves p behind it, where the
// text ends with a character that is in no value; false: the text is unusual, or wrong.
// `is_known`: the packet has a value. `is_plain`: a row can hold it. `cell`: the value in a column of
// doubles or of 64-bit integers.
#pragma once

#include <charconv>
#include <cmath>
#include <cstdint>
#include <string_view>

#include "text/decimal.h"
#include "text/scan_number.h"

namespace epic {

// The text of a number, all of it, followed by a newline, a blank or a NUL.
inline bool scan_whole_number(std::string_view text, Number& out) {
    return scan_number(text.data(), out) == text.data() + text.size();
}

// A finite number for a key: the engine's clocks could not reach any other.
inline bool scan_seconds(std::string_view text, double& out) {
    Number number;
    if (!scan_whole_number(text, number) || !std::isfinite(number.value)) return false;
    out = number.value;
    return true;
}

// Reads the digits from p on; returns how many there were. Only 15 of them are sure to fit.
inline int take_digits(const char*& p, uint64_t& value) {
    const char* const begin = p;
    for (; is_digit(*p); ++p) value = value * 10 + uint64_t(*p - '0');
    return int(p - begin < 99 ? p - begin : 99);
}

// Reads -?d+(.d*)? of 15 digits at most. Such a number is m / 10^k with m below 10^15 < 2^53 and k
// at most 15: both are exact, so that the division is the only rounding (Clinger, 1990).
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

// The context with which a packet's row is written.
struct RowContext {
    PacketFormat format = PacketFormat::TEXT;
    double shift = 0;       // added to times, s
    std::string_view name;  // the entity's, as the format has it
};

struct Scalar {
    static constexpr bool kHasDefault = false;  // a table has it even where it is not known
    static constexpr bool kLeads = false;       // it is the first column of a table
};

struct Seconds : Scalar {
    static bool scan(std::string_view text, double& out, std::string_view&) {
        return scan_seconds(text, out);
    }
    static bool take(const char*& p, double& out, std::string_view&) { return take_seconds(p, out); }
};

// A time on a clock, s; NaN: unknown.
struct Moment : Seconds {
    static bool is_known(double value, const RowContext&) { return !std::isnan(value); }
    static bool is_plain(double value) { return !std::isinf(value); }
    static double cell(double value, const RowContext& row) {
        return row.shift != 0 ? value + row.shift : value;
    }
    static char* write(char* out, double value, const RowContext& row) {
        return append_number(out, cell(value, row), row.format);
    }
};

// A duration, s; 0 where none is given.
struct Duration : Seconds {
    static constexpr bool kHasDefault = true;
    static bool is_known(double value, const RowContext&) { return value != 0; }
    static bool is_plain(double value) { return std::isfinite(value); }
    static double cell(double value, const RowContext&) { return value; }
    static char* write(char* out, double value, const RowContext& row) {
        return append_number(out, value, row.format);
    }
};

// A whole number from 0 on; -1: none.
struct Count : Scalar {
    static bool scan(std::string_view text, int64_t& out, std::string_view&) {
        const auto end = text.data() + text.size();
        const auto result = std::from_chars(text.data(), end, out);
        return !text.empty() && result.ec == std::errc() && result.ptr == end && out >= 0;
    }
    static bool take(const char*& p, int64_t& out, std::string_view&) {
        uint64_t value = 0;
        const int digits = take_digits(p, value);
        out = int64_t(value);
        return digits && digits <= 15;
    }
    static bool is_known(int64_t value, const RowContext&) { return value >= 0; }
    static bool is_plain(int64_t) { return true; }
    static int64_t cell(int64_t value, const RowContext&) { return value; }
    static char* write(char* out, int64_t value, const RowContext&) {
        return append_unsigned(out, uint64_t(value));
    }
};

struct Flag : Scalar {
    static constexpr bool kHasDefault = true;
    static bool scan(std::string_view text, bool& out, std::string_view&) {
        if (text != "0" && text != "1") return false;
        out = text == "1";
        return true;
    }
    static bool take(const char*& p, bool& out, std::string_view&) {
        if (*p != '0' && *p != '1') return false;
        out = *p++ == '1';
        return true;
    }
    static bool is_known(bool value, const RowContext&) { return value; }
    static bool is_plain(bool) { return true; }
    static int64_t cell(bool value, const RowContext&) { return value; }
    static char* write(char* out, bool value, const RowContext&) {
        *out++ = value ? '1' : '0';
        return out;
    }
};

// The name of the entity, which a packet has as a number: its text stands beside it.
struct Name : Scalar {
    static constexpr bool kLeads = true;
    static bool scan(std::string_view text, int32_t&, std::string_view& name) {
        name = text;
        return !text.empty();
    }
    static bool take(const char*& p, int32_t&, std::string_view& name) {
        const char* const begin = p;
        while (static_cast<unsigned char>(*p) > ' ') ++p;
        name = std::string_view(begin, size_t(p - begin));
        return p > begin;
    }
    static bool is_known(int32_t, const RowContext& row) { return !row.name.empty(); }
    static bool is_plain(int32_t) { return true; }
    static int64_t cell(int32_t value, const RowContext&) { return value; }
    static char* write(char* out, int32_t, const RowContext& row) {
        return append_view(out, row.name);
    }
};

}  // namespace epic
