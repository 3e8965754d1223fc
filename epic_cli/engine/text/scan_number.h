// Text to numbers as glibc's sscanf("%f") reads them, without the C library's locale and
// at several times its speed.
//
// The token grammar is glibc's (vfscanf), laxness included: "1e", "1e+" and "0x1p" are
// numbers, "0x" and "infi" are not. A number is rounded once, straight from its text, to
// double and to float. (A float made from the double is rounded twice:
// 16777217.0000000001 would become 16777216 where strtof says 16777218.)
#pragma once

#include <charconv>
#include <clocale>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <limits>
#if defined(__APPLE__)
#include <xlocale.h>
#endif

namespace epic {

struct Number {
    double value = 0;   // nearest double
    float single = 0;   // nearest float, rounded once from the text
};

inline bool is_blank(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
inline bool is_digit(char c) { return c >= '0' && c <= '9'; }
inline char lower(char c) { return (c >= 'A' && c <= 'Z') ? char(c + 32) : c; }
inline bool is_hex_digit(char c) { return is_digit(c) || (lower(c) >= 'a' && lower(c) <= 'f'); }

// The longest token that is converted; the demo's own lines cannot hold a longer one.
constexpr int kLongestToken = 1024;

#if defined(_WIN32)
// Whether a number that no double holds is too large; else it is too small. Its digits begin at p.
inline bool is_too_large(const char* p, bool hex) {
    long place = 0;  // of the first digit that is not 0, before the point
    bool dot = false, found = false;
    for (; *p == '.' || (hex ? is_hex_digit(*p) : is_digit(*p)); ++p) {
        if (*p == '.') dot = true;
        else if ((found |= *p != '0') != dot) place += dot ? -1 : 1;
    }
    const long exponent = *p ? std::strtol(p + 1, nullptr, 10) : 0;
    return (hex ? 4 * place : place) > -exponent;
}
#endif

// The slow, exact path for what the fast path leaves: hex, long mantissas, large
// exponents, subnormals and floats that lie half-way between two neighbors.
inline bool convert_exactly(const char* begin, const char* end, Number& out) {
    char token[kLongestToken + 1];
    const auto length = end - begin;
    if (length > kLongestToken) return false;
    std::memcpy(token, begin, size_t(length));
    token[length] = '\0';
#if defined(_WIN32)  // strtod depends on the locale there, and MinGW's strtof rounds twice
    const bool negative = *token == '-';
    const char* p = token + (negative || *token == '+');
    const bool hex = *p == '0' && lower(p[1]) == 'x';
    if (hex) p += 2;
    const auto format = hex ? std::chars_format::hex : std::chars_format::general;
    const char* const stop = token + length;
    double value = 0;  // of "0x." too
    if (std::from_chars(p, stop, value, format).ec == std::errc::result_out_of_range)
        value = is_too_large(p, hex) ? HUGE_VAL : 0;
    float single = 0;
    if (std::from_chars(p, stop, single, format).ec == std::errc::result_out_of_range)
        single = float(value);
    out.value = negative ? -value : value;
    out.single = negative ? -single : single;
#else
    static const locale_t c_locale = newlocale(LC_ALL_MASK, "C", locale_t(0));
    out.value = strtod_l(token, nullptr, c_locale);
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
    // The value is 0, or between 1e-22 and 9.1e37, where no float is subnormal or overflows. The
    // float of this double is the float of the text unless the double is exactly half-way between two
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
    if (matches(p, "nan")) {  // scanf does not read the "(...)" that C allows here
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

// Reads a number at p, as "%f" does after its leading blanks. Returns the character after it, or
// nullptr if there is no number. The text ends with a character that is not part of a number (a
// newline or a NUL), so that no bound has to be checked.
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

}  // namespace epic
