// Text to numbers as glibc's sscanf("%f") reads them, numbers to text as printf
// writes them, without the C library's locale and at several times its speed.
//
// Reading: the token grammar is glibc's (vfscanf), laxness included: "1e", "1e+" and
// "0x1p" are numbers, "0x" and "infi" are not. A number is rounded once, straight
// from its text, to double and to float. (A float made from the double is rounded
// twice: 16777217.0000000001 would become 16777216 where strtof says 16777218.)
//
// Writing: fixed() rounds the exact binary value, ties to even, as printf("%.2f")
// does; -0.00, inf, nan and -nan included.
#pragma once

#include <charconv>
#include <clocale>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#if defined(__APPLE__)
#include <xlocale.h>
#endif
#if defined(_WIN32)
#include <locale.h>
#endif

namespace epic {

// ------------------------------------------------------------------ reading

struct Number {
    double value = 0;   // nearest double
    float single = 0;   // nearest float, rounded once from the text
};

inline bool is_blank(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
inline bool is_digit(char c) { return c >= '0' && c <= '9'; }
inline char lower(char c) { return (c >= 'A' && c <= 'Z') ? char(c + 32) : c; }
inline bool is_hex_digit(char c) { return is_digit(c) || (lower(c) >= 'a' && lower(c) <= 'f'); }

// The longest token that is converted; the demo's own lines hold no longer one.
constexpr int kLongestToken = 1024;

// The slow, exact way for what the fast path leaves: hex, long mantissas, large
// exponents, subnormals and floats that lie half-way between two neighbours.
inline bool convert_exactly(const char* begin, const char* end, Number& out) {
    char token[kLongestToken + 1];
    const auto length = end - begin;
    if (length > kLongestToken) return false;
    std::memcpy(token, begin, size_t(length));
    token[length] = '\0';
    char* stop = nullptr;
#if defined(_WIN32)
    static const _locale_t c_locale = _create_locale(LC_ALL, "C");
    out.value = _strtod_l(token, &stop, c_locale);
    if (stop == token) return false;
    out.single = _strtof_l(token, nullptr, c_locale);
#else
    static const locale_t c_locale = newlocale(LC_ALL_MASK, "C", locale_t(0));
    out.value = strtod_l(token, &stop, c_locale);
    if (stop == token) return false;
    out.single = strtof_l(token, nullptr, c_locale);
#endif
    return true;
}

inline Number not_a_number(bool negative) {
    Number n;
    n.value = std::copysign(std::numeric_limits<double>::quiet_NaN(), negative ? -1.0 : 1.0);
    n.single = std::copysign(std::numeric_limits<float>::quiet_NaN(), negative ? -1.0f : 1.0f);
    return n;
}

// Powers of ten that a double holds exactly.
constexpr double kPowersOfTen[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                   1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                   1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

// Clinger's fast path: a mantissa below 2^53 times or over an exact power of ten is
// rounded once by the processor. False where that does not hold.
inline bool convert_fast(uint64_t mantissa, int exponent, bool negative, Number& out) {
    if (mantissa > (uint64_t(1) << 53) || exponent < -22 || exponent > 22) return false;
    double value = double(mantissa);
    value = exponent < 0 ? value / kPowersOfTen[-exponent] : value * kPowersOfTen[exponent];
    // It is 0, or between 1e-22 and 9.1e37, where no float is subnormal or overflows. The float
    // of this double is the float of the text unless the double is exactly half-way between two
    // floats: then the text may lie to either side of it.
    uint64_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    if ((bits & 0x1FFFFFFFu) == 0x10000000u) return false;
    out.value = negative ? -value : value;
    out.single = float(out.value);
    return true;
}

// The part of scan_number() after a sign: "nan", "inf" or "infinity" in any case.
inline const char* scan_word(const char* p, bool negative, Number& out) {
    auto matches = [](const char* q, const char* word) {
        for (; *word; ++word, ++q)
            if (lower(*q) != *word) return false;
        return true;
    };
    if (matches(p, "nan")) {  // what may follow in C, "nan(...)", scanf leaves alone
        out = not_a_number(negative);
        return p + 3;
    }
    if (!matches(p, "inf")) return nullptr;
    p += 3;
    if (lower(*p) == 'i') {  // then the whole of "infinity" or nothing
        if (!matches(p, "inity")) return nullptr;
        p += 5;
    }
    out.value = negative ? -HUGE_VAL : HUGE_VAL;
    out.single = float(out.value);
    return p;
}

// The part of scan_number() after "0x".
inline const char* scan_hex(const char* begin, const char* p, Number& out) {
    const char* const digits = p;
    bool any_digit = false, dot = false;
    for (;; ++p) {
        if (is_hex_digit(*p)) any_digit = true;
        else if (*p == '.' && !dot) dot = true;
        else break;
    }
    if (p == digits) return nullptr;  // "0x" alone
    if (any_digit && lower(*p) == 'p') {
        ++p;
        if (*p == '+' || *p == '-') ++p;
        while (is_digit(*p)) ++p;
    }
    return convert_exactly(begin, p, out) ? p : nullptr;
}

// Reads a number at p, as "%f" does after its leading blanks. Returns the character after
// it, or nullptr where there is none. The text ends with a character that is part of no
// number (a newline or a NUL), so that no bound has to be checked.
inline const char* scan_number(const char* p, Number& out) {
    const char* const begin = p;
    const bool negative = *p == '-';
    if (negative || *p == '+') ++p;
    if (!is_digit(*p) && *p != '.') return scan_word(p, negative, out);
    if (*p == '0' && lower(p[1]) == 'x') return scan_hex(begin, p + 2, out);

    const char* const digits = p;
    uint64_t mantissa = 0;
    while (is_digit(*p)) mantissa = mantissa * 10 + uint64_t(*p++ - '0');
    auto count = p - digits;
    int exponent = 0;
    if (*p == '.') {
        const char* const fraction = ++p;
        while (is_digit(*p)) mantissa = mantissa * 10 + uint64_t(*p++ - '0');
        exponent = -int(p - fraction);
        count += p - fraction;
    }
    if (count == 0) return nullptr;
    if (lower(*p) == 'e') {  // "1e" and "1e+" are read whole and count as 1
        ++p;
        const bool minus = *p == '-';
        if (minus || *p == '+') ++p;
        int written = 0;
        for (; is_digit(*p); ++p)
            if (written < 100000) written = written * 10 + (*p - '0');
        exponent += minus ? -written : written;
    }
    // 19 digits fit in the mantissa; more of them, zeros in front included, are rare
    if (count <= 19 && convert_fast(mantissa, exponent, negative, out)) return p;
    return convert_exactly(begin, p, out) ? p : nullptr;
}

// ------------------------------------------------------------------ writing

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
    constexpr uint64_t kScale = Decimals == 2 ? 100 : 1000;
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

template <int Decimals>
inline char* append_fixed(char* out, double value) {
    static_assert(Decimals == 2 || Decimals == 3);
    constexpr uint32_t kScale = Decimals == 2 ? 100 : 1000;
    const double magnitude = std::fabs(value);
    if (magnitude < 4e6) {
        *out = '-';
        out += std::signbit(value);
        // Adding 2^52 rounds to a whole number. The product is off by less than 1e-6, so
        // that whole number is right unless the product is that close to a half.
        const double scaled = magnitude * kScale;
        const double shifted = scaled + 0x1p52;
        if (std::fabs(scaled - (shifted - 0x1p52)) < 0.499999) {
            uint64_t bits;
            std::memcpy(&bits, &shifted, sizeof bits);
            const auto rounded = uint32_t(bits);
            return append_parts<Decimals>(out, rounded / kScale, rounded % kScale);
        }
        return append_exactly<Decimals>(out, magnitude);
    }
    if (!std::isfinite(value)) return append_not_finite(out, value);
    if (magnitude < 0x1p53) {
        *out = '-';
        return append_exactly<Decimals>(out + std::signbit(value), magnitude);
    }
    // an integer, of up to 309 digits
    return out + std::snprintf(out, kLongestFixed, "%.0f.%0*d", value, Decimals, 0);
}

// The same, right-aligned in a column of the given width, of which at least one is blank.
template <int Decimals>
inline char* append_column(char* out, double value, int width) {
    char text[kLongestFixed];
    const auto length = append_fixed<Decimals>(text, value) - text;
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

}  // namespace epic
