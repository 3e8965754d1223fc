// Numbers as they stand in packets: decimals with six places, and how such a one is printed.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "text/print_number.h"

namespace epic {

// Python's round(value, 6), and 0 for -0: the double nearest to the decimal that is nearest to the
// exact value, of two the even one.
inline double round_to_millionth(double value) {
    const double scaled = value * 1e6;
    if (std::fabs(scaled) < 1e12) {
        // The product is off by less than 2e-4, so its nearest whole number is right unless the
        // product is that close to a half; dividing whole numbers rounds once.
        const double nearest = std::floor(scaled + 0.5);
        if (std::fabs(std::fabs(scaled - nearest) - 0.5) > 2e-4) return nearest / 1e6 + 0.0;
    }
    if (!std::isfinite(value)) return value;
    char text[kLongestFixed + 8];
    std::snprintf(text, sizeof text, "%.6f", value);
    return std::strtod(text, nullptr) + 0.0;
}

// The double nearest to a delay's first three digits: float(f"{value:.2e}").
inline double three_digits(double value) {
    const double power = value < 1e-3   ? 0
                         : value < 1e-2 ? 1e5
                         : value < 1e-1 ? 1e4
                         : value < 1    ? 1e3
                         : value < 10   ? 1e2
                                        : 0;
    const double scaled = value * power;
    const double nearest = std::floor(scaled + 0.5);
    if (power && std::fabs(std::fabs(scaled - nearest) - 0.5) > 1e-9) return nearest / power;
    char text[32];
    std::snprintf(text, sizeof text, "%.2e", value);
    return std::strtod(text, nullptr);
}

// The shortest decimal that reads back as the same double, whole ones without a fraction, if that
// has up to nine places before the point and six behind it; else nullptr. As Python prints it: with
// an exponent below 0.0001.
// Two decimals of 15 digits or less never read as the same double, so none is shorter.
inline char* append_millionths(char* out, double value) {
    const double scaled = std::floor(std::fabs(value) * 1e6 + 0.5);
    if (!(scaled < 1e15) || scaled / 1e6 != std::fabs(value)) return nullptr;
    auto millionths = uint64_t(scaled);
    if (std::signbit(value)) *out++ = '-';
    if (millionths && millionths < 100) {
        if (millionths < 10) return append(append_unsigned(out, millionths), "e-06");
        out = append_unsigned(out, millionths / 10);
        if (millionths % 10) *out++ = '.', *out++ = char('0' + millionths % 10);
        return append(out, "e-05");
    }
    out = append_unsigned(out, millionths / 1000000);
    auto rest = uint32_t(millionths % 1000000);
    if (!rest) return out;
    *out++ = '.';
    for (uint32_t place = 100000; rest; place /= 10) {
        *out++ = char('0' + rest / place);
        rest %= place;
    }
    return out;
}

}  // namespace epic
