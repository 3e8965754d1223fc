// Followers of a drawn or received point, independent of the frame rate.
#pragma once

#include <algorithm>
#include <cmath>

#include "strategies/parts/turning.h"

namespace epic {

// The share of the rest that an exponential approach with this time constant (s) goes.
inline double exponential_share(double elapsed, double time) { return 1 - std::exp(-elapsed / time); }

// The share of a way that a step of this length, at most, goes.
inline double share_within(const Vec3<double>& way, double most) {
    const double far = std::sqrt(dot(way, way));
    return far <= most ? 1 : most / far;
}

// The nearest point whose coordinates are multiples of `grid`, or the next one `down`; halves go up,
// as Math.round has it.
inline double rounded(double x, double grid, bool down) {
    const double whole = std::floor(x / grid + (down ? 0 : 0.5)) * grid;
    return std::isfinite(whole) ? whole : x;
}

inline Vec3<double> rounded(const Vec3<double>& point, double grid, bool down) {
    return {rounded(point.x, grid, down), rounded(point.y, grid, down),
            rounded(point.z, grid, down)};
}

// A time of playback that goes on by `elapsed` and towards `target`, at most `rate` seconds a
// second faster or slower; what is further off than `limit` (s; 0: nothing is) is there at once,
// what is nearer than `near` is left.
inline double caught_up(double time, double target, double elapsed, double rate, double limit,
                        double near) {
    const double off = target - (time + elapsed);
    if (std::fabs(off) < near) return time + elapsed;
    if (limit > 0 && std::fabs(off) > limit) return target;
    return time + elapsed + std::min(std::max(off, -rate * elapsed), rate * elapsed);
}

}  // namespace epic
