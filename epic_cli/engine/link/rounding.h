// Numbers as packets carry them: decimals with six places.
#pragma once

#include <cmath>
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

}  // namespace epic
