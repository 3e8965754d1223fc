// Numbers to text as printf writes them, without the C library's locale and at several
// times its speed: the exact binary value is rounded, ties to even, as printf("%.2f") does;
// -0.00, inf, nan and -nan included.
#pragma once

#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "packets/packet.h"

namespace epic {

inline char* append(char* out, const char* text) {
    const size_t length = std::strlen(text);
    std::memcpy(out, text, length);
    return out + length;
}

constexpr char kPairs[] =
    "00010203040506070809101112131415161718192021222324252627282930313233343536373839"
    "40414243444546474849505152535455565758596061626364656667686970717273747576777879"
    "8081828384858687888990919293949596979899";

inline char* append_long(char* out, uint64_t value) {
    if (value >= 100000000) return std::to_chars(out, out + 20, value).ptr;
    auto rest = uint32_t(value);
    const int digits = rest < 100       ? 2
                       : rest < 1000    ? 3
                       : rest < 10000   ? 4
                       : rest < 100000  ? 5
                       : rest < 1000000 ? 6
                       : rest < 10000000 ? 7
                                        : 8;
    char* p = out + digits;
    for (; rest >= 10; rest /= 100) std::memcpy(p -= 2, kPairs + 2 * (rest % 100), 2);
    if (p > out) *out = char('0' + rest);
    return out + digits;
}

inline char* append_unsigned(char* out, uint64_t value) {
    if (value >= 100) return append_long(out, value);
    const int pair = value >= 10;
    std::memcpy(out, kPairs + 2 * value + 1 - pair, 2);
    return out + 1 + pair;
}

inline char* append_not_finite(char* out, double value) {
    if (std::signbit(value)) *out++ = '-';
    return append(out, std::isnan(value) ? "nan" : "inf");
}

// printf("%.<Decimals>f"). Needs room for kLongestFixed characters.
constexpr int kLongestFixed = 320;

template <int Decimals>
constexpr uint32_t scale_of() {
    static_assert(Decimals == 2 || Decimals == 3);
    return Decimals == 2 ? 100 : 1000;
}

// A digit count of 1 to 8 and a fraction of two or three digits.
template <int Decimals>
inline char* append_parts(char* out, uint64_t whole, uint32_t tail) {
    out = append_unsigned(out, whole);
    *out++ = '.';
    if constexpr (Decimals == 3) {
        *out++ = char('0' + tail / 100);
        tail %= 100;
    }
    std::memcpy(out, kPairs + 2 * tail, 2);
    return out + 2;
}

// Any value below 2^53, exactly: value = mantissa * 2^-shift, and mantissa * 1000 still fits
// in 64 bits.
template <int Decimals>
inline char* append_exactly(char* out, double magnitude) {
    constexpr uint64_t kScale = scale_of<Decimals>();
    uint64_t bits;
    std::memcpy(&bits, &magnitude, sizeof bits);
    const int field = int(bits >> 52);
    const uint64_t fraction = bits & ((uint64_t(1) << 52) - 1);
    const uint64_t mantissa = field ? fraction | (uint64_t(1) << 52) : fraction;
    const int shift = 1075 - (field ? field : 1);
    const uint64_t scaled = mantissa * kScale;
    uint64_t rounded = 0;
    if (shift == 0) {
        rounded = scaled;
    } else if (shift < 64) {  // beyond that the value is below a quarter of the last digit
        rounded = scaled >> shift;
        const uint64_t rest = scaled & ((uint64_t(1) << shift) - 1);
        const uint64_t half = uint64_t(1) << (shift - 1);
        rounded += rest > half || (rest == half && (rounded & 1));
    }
    return append_parts<Decimals>(out, rounded / kScale, uint32_t(rounded % kScale));
}

// A magnitude in units of its last printed digit; false: it needs the exact method.
template <int Decimals>
inline bool round_scaled(double magnitude, uint32_t& rounded) {
    if (!(magnitude < 4e6)) return false;
    // Adding 2^52 rounds to a whole number. The product is off by less than 1e-6, so that
    // whole number is right unless the product is that close to a half.
    const double scaled = magnitude * scale_of<Decimals>();
    const double shifted = scaled + 0x1p52;
    uint64_t bits;
    std::memcpy(&bits, &shifted, sizeof bits);
    rounded = uint32_t(bits);
    return std::fabs(scaled - (shifted - 0x1p52)) < 0.499999;
}

template <int Decimals>
inline char* append_fixed(char* out, double value) {
    constexpr uint32_t kScale = scale_of<Decimals>();
    const double magnitude = std::fabs(value);
    *out = '-';
    uint32_t rounded;
    if (round_scaled<Decimals>(magnitude, rounded))
        return append_parts<Decimals>(out + std::signbit(value), rounded / kScale,
                                      rounded % kScale);
    if (!std::isfinite(value)) return append_not_finite(out, value);
    if (magnitude < 0x1p53)
        return append_exactly<Decimals>(out + std::signbit(value), magnitude);
    // an integer, of up to 309 digits
    return out + std::snprintf(out, kLongestFixed, "%.0f.%0*d", value, Decimals, 0);
}

// A number in at most `room` characters (6 or more), with as many digits as fit.
inline int print_rounded(char* text, double value, int decimals, int room) {
    int length = room + 1;
    for (int left = decimals; left >= 0 && length > room; --left)
        length = std::snprintf(text, kLongestFixed, "%.*f", left, value);
    for (int left = room; left >= 0 && length > room; --left)
        length = std::snprintf(text, kLongestFixed, "%.*e", left, value);
    return length;
}

// The same, right-aligned in a column of the given width, of which at least one is blank. If
// limited, a number that is too long for its column is rounded; else it widens the column.
template <int Decimals>
inline char* append_column(char* out, double value, int width, bool limited) {
    char text[kLongestFixed];
    auto length = int(append_fixed<Decimals>(text, value) - text);
    if (limited && length >= width) length = print_rounded(text, value, Decimals, width - 1);
    *out++ = ' ';
    for (auto blank = length + 1; blank < width; ++blank) *out++ = ' ';
    std::memcpy(out, text, size_t(length));
    return out + length;
}

// The shortest decimal that reads back as the same double.
inline char* append_shortest(char* out, double value) {
    if (!std::isfinite(value)) return append_not_finite(out, value);
#if defined(__cpp_lib_to_chars) && __cpp_lib_to_chars >= 201611L
    return std::to_chars(out, out + 32, value).ptr;
#else
    for (int digits = 15; digits <= 17; ++digits) {
        const int length = std::snprintf(out, 32, "%.*g", digits, value);
        if (std::strtod(out, nullptr) == value || digits == 17) return out + length;
    }
    return out;
#endif
}

// A row of the demo's format, as its printf writes it:
//
//     pos: %.2f,%.2f,%.2f  vel: %.3f,%.3f,%.3f  time: %.3f

// By status: none, held, interpolated, extrapolated.
constexpr const char* kStatus[4] = {"none", "held", "interpolated", "extrapolated"};

// "  time: " and the whole seconds of the row before, since most rows have the same.
struct SecondsText {
    uint32_t whole = ~uint32_t(0);
    uint32_t length = 0;
    char text[24] = "";
};

inline char* append_time(char* out, double time, SecondsText& seconds) {
    uint32_t thousandths;
    if (std::signbit(time) || !round_scaled<3>(time, thousandths)) {
        out = append(out, " time: ");
        out = append_fixed<3>(out, time);
        return append(out, "\n");
    }
    const uint32_t whole = thousandths / 1000, tail = thousandths % 1000;
    if (whole != seconds.whole) {
        char* p = append(seconds.text, " time: ");
        p = append_unsigned(p, whole);
        *p++ = '.';
        seconds.length = uint32_t(p - seconds.text);
        seconds.whole = whole;
    }
    std::memcpy(out, seconds.text, sizeof seconds.text);
    out += seconds.length;
    *out++ = char('0' + tail / 100);
    std::memcpy(out, kPairs + 2 * (tail % 100), 2);
    out[2] = '\n';
    return out + 3;
}

inline char* append_epic_row(char* out, const Sample& sample, SecondsText& seconds) {
    out = append(out, "pos: ");
    out = append_fixed<2>(out, sample.position.x);
    *out++ = ',';
    out = append_fixed<2>(out, sample.position.y);
    *out++ = ',';
    out = append_fixed<2>(out, sample.position.z);
    out = append(out, "  vel: ");
    out = append_fixed<3>(out, sample.velocity.x);
    *out++ = ',';
    out = append_fixed<3>(out, sample.velocity.y);
    *out++ = ',';
    out = append_fixed<3>(out, sample.velocity.z);
    *out++ = ' ';
    return append_time(out, sample.time, seconds);
}

}  // namespace epic
