// The shortest decimal that reads back as the same double, directly for most numbers: the fast path
// of append_shortest().
//
// For c * 2^q with 2^52 < c < 2^53 and -89 <= q <= -1, magnitudes from 7e-12 to 2^53. What reads
// back as it lies between (c - 1/2) * 2^q and (c + 1/2) * 2^q, or on one of these if c is even.
// With n = -floor(q * log10(2)), the unit 10^-n is no larger than 2^q, the width of that interval,
// and ten of it are larger: the shortest decimal within is a multiple of 10 * 10^-n, of which there
// is one at most, or else the multiple of 10^-n that is nearest to the value (Giulietti, The
// Schubfach way to render doubles, 2020).
//
// No power of ten has to be rounded here. In units of 10^-n the value is c * 5^n * 2^(q + n), and
//
//     c * 5^n < 2^53 * 5^27 < 2^116
//
// so all comparisons are of whole numbers of 128 bits, scaled by 2^-(q + n).
#pragma once

#include "text/print_number.h"

namespace epic {

#if defined(__SIZEOF_INT128__)

inline constexpr uint64_t kTens[20] = {
    1ULL, 10ULL, 100ULL, 1000ULL, 10000ULL, 100000ULL, 1000000ULL, 10000000ULL, 100000000ULL,
    1000000000ULL, 10000000000ULL, 100000000000ULL, 1000000000000ULL, 10000000000000ULL,
    100000000000000ULL, 1000000000000000ULL, 10000000000000000ULL, 100000000000000000ULL,
    1000000000000000000ULL, 10000000000000000000ULL};

// Return the number of decimal digits of a value above 0.
inline int count_digits(uint64_t value) {
    const int about = (64 - __builtin_clzll(value)) * 1233 >> 12;  // 1233 / 2^12 is log10(2)
    return about + (value >= kTens[about]);
}

inline void put_eight(char* out, uint32_t value) {
    const uint32_t high = value / 10000, low = value % 10000;
    std::memcpy(out, kPairs + 2 * (high / 100), 2);
    std::memcpy(out + 2, kPairs + 2 * (high % 100), 2);
    std::memcpy(out + 4, kPairs + 2 * (low / 100), 2);
    std::memcpy(out + 6, kPairs + 2 * (low % 100), 2);
}

// The digits of a number of known length.
inline void put_digits(char* out, uint64_t value, int digits) {
    for (; digits >= 8; value /= 100000000) put_eight(out + (digits -= 8), value % 100000000);
    for (; digits >= 2; value /= 100)
        std::memcpy(out + (digits -= 2), kPairs + 2 * (value % 100), 2);
    if (digits) *out = char('0' + value);
}

// A decimal of 1 to 17 digits, digits * 10^-decimals, as short as it can be written.
inline char* append_decimal(char* out, uint64_t value, int digits, int decimals) {
    const int whole = digits - decimals;
    if (whole > 0) {
        put_digits(out + 1, value, digits);
        std::memmove(out, out + 1, size_t(whole));
        out[whole] = '.';
        return out + digits + (decimals > 0);
    }
    std::memcpy(out, "0.0000000000000", 15);
    put_digits(out + 2 - whole, value, digits);
    return out + 2 + decimals;
}

// Appends the number; false: it needs the plain code.
inline bool take_shortest(char*& out, double value) {
    static constexpr uint64_t kPowersOfFive[28] = {
        1ULL, 5ULL, 25ULL, 125ULL, 625ULL, 3125ULL, 15625ULL, 78125ULL, 390625ULL, 1953125ULL,
        9765625ULL, 48828125ULL, 244140625ULL, 1220703125ULL, 6103515625ULL, 30517578125ULL,
        152587890625ULL, 762939453125ULL, 3814697265625ULL, 19073486328125ULL, 95367431640625ULL,
        476837158203125ULL, 2384185791015625ULL, 11920928955078125ULL, 59604644775390625ULL,
        298023223876953125ULL, 1490116119384765625ULL, 7450580596923828125ULL};
    using Wide = unsigned __int128;
    uint64_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    const uint64_t fraction = bits & ((uint64_t(1) << 52) - 1);
    const int q = int(bits >> 52 & 0x7FF) - 1075;
    if (q < -89 || q > -1 || fraction == 0) return false;
    const uint64_t c = fraction | uint64_t(1) << 52;
    int decimals = (-q * 1262611 + 4194303) >> 22;  // 1262611 / 2^22 is log10(2); rounded up
    const uint64_t five = kPowersOfFive[decimals];
    const int shift = -(q + decimals) + 1;  // in halves, as the ends of the interval are
    const Wide twice = Wide(2 * c) * five;
    const Wide below = twice - five + (c & 1), above = twice + five - (c & 1);
    const auto reads_back = [&](uint64_t candidate) {
        const Wide at = Wide(candidate) << shift;
        return below <= at && at <= above;
    };
    uint64_t best = uint64_t(twice >> shift);
    const uint64_t tenth = best / 10;
    if (reads_back(10 * tenth)) {
        best = tenth;
        --decimals;
    } else if (reads_back(10 * tenth + 10)) {
        best = tenth + 1;
        --decimals;
    } else {
        const Wide rest = twice - (Wide(best) << shift), half = Wide(1) << (shift - 1);
        const bool up = rest > half || (rest == half && (best & 1));
        best += reads_back(best + up) ? up : !up;
    }
    for (; best % 10000 == 0; decimals -= 4) best /= 10000;
    for (; best % 10 == 0; --decimals) best /= 10;
    // below 0.0001 or so an exponent is shorter, as it is for some large numbers
    const int digits = count_digits(best);
    if (decimals < 0 || decimals > digits + (digits == 1 ? 2 : 3)) return false;
    *out = '-';
    out = append_decimal(out + (bits >> 63), best, digits, decimals);
    return true;
}

#else

inline bool take_shortest(char*&, double) { return false; }

#endif

inline char* append_usual_shortest(char* out, double value) {
    return take_shortest(out, value) ? out : append_shortest(out, value);
}

}  // namespace epic
